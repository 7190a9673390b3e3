package report

// missedBecause says of a budget that is missed, by its two first columns, why, and what comes next.
var missedBecause = map[string]string{}
