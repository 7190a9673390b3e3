package conform

import (
	"fmt"
	"time"

	"github.com/octet-dev/octet/features/minimise"
	"github.com/octet-dev/octet/features/rulebook"
	"github.com/octet-dev/octet/features/steps"
	"github.com/octet-dev/octet/features/verdict"
	"github.com/octet-dev/octet/generated/rules"
)

// What --minimise says besides a time.
const (
	minimiseFew = "few" // the default: it is worth its time as long as somebody will read all of it
	minimiseOff = "off"
)

const (
	fewFailures = 12
	fewLimit    = 20 * time.Second
)

// minimiseLimit is how long minimising may take; 0 for not at all.
func (r *runFlags) minimiseLimit() (time.Duration, error) {
	switch r.minimise {
	case minimiseOff, "":
		return 0, nil
	case minimiseFew:
		return fewLimit, nil
	}
	limit, err := time.ParseDuration(r.minimise)
	if err != nil || limit < 0 {
		return 0, fmt.Errorf("--minimise is %q; use off, few, or a time such as 30s", r.minimise)
	}
	return limit, nil
}

// minimise leaves frames out of the scenarios that are red.
func (inv *invocation) minimise(target *target, flags *runFlags, seed int64, scenarios []verdict.Scenario) error {
	limit, err := flags.minimiseLimit()
	if err != nil || limit == 0 || target.setup == nil {
		return err
	}
	var only map[string]int
	if flags.minimise == minimiseFew {
		limit = onMachine(limit, target.setup.Patience)
		only = minimise.Shown(scenarios, flags.weighs)
		if len(only) > fewFailures {
			fmt.Fprintf(inv.stderr, "octet-conform: %d rules are broken, and their scenarios are shown as they are; --run with one of the rules, or --minimise 1m, leaves out the frames that a failure does not need\n", len(only))
			return nil
		}
	}
	bar := inv.bar("failures minimised")
	defer bar.clear()
	return minimise.Scenarios(inv.ctx, minimise.Options{Setup: target.setup, Seed: seed, Limit: limit, Jobs: flags.jobs, Only: only, Progress: bar.update}, scenarios)
}

// onMachine is a time as it is here: the waits are scaled to the machine, and what is made of many of them is too.
func onMachine(limit time.Duration, waits steps.Patience) time.Duration {
	return time.Duration(float64(limit) * max(1, float64(waits.Answer)/float64(steps.DefaultPatience.Answer)))
}

// weighs reports whether a finding of a rule is shown as a failure, and not as advice.
func (r *runFlags) weighs(rule string) bool {
	known, _ := rulebook.Find(rule)
	return r.strict || known.Level != rules.Should
}
