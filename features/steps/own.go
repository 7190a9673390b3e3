package steps

import (
	"errors"

	"github.com/octet-dev/octet/features/verdict"
)

// ownRules are the rules that some steps prove wherever they stand. A scenario about something else ends with such a
// step as well, and its own rules must not be blamed for it.
type ownRules struct {
	farewell       string // shutdown is answered
	farewellResult string // with a result
	order          string // behind the calls that run
	exit           string // the process exits behind it
	unknownMethod  string // a method outside the protocol is refused
}

func (w *World) ownRules() ownRules {
	if w.setup.Dialect.Canonical() {
		return ownRules{
			farewell: "EXT03-SHUT-002", farewellResult: "EXT03-SHUT-001", order: "EXT03-SHUT-004", exit: "EXT03-SHUT-005",
			unknownMethod: "EXT03-METHOD-001",
		}
	}
	return ownRules{
		farewell: "EXT04-SHUT-001", farewellResult: "EXT04-SHUT-002", order: "EXT04-SHUT-003", exit: "EXT04-SHUT-005",
		unknownMethod: "EXT04-ERR-001",
	}
}

// parting reports whether the last request is a shutdown that a step has asked for.
func (w *World) parting() bool { return w.farewell != "" && w.last == w.farewell }

// blameEnd blames a rule about the end for what a step has found behind a shutdown that was answered, and the missing
// answer where it was not. An answer that a host reads late may have come unseen.
func (w *World) blameEnd(rule string, err error) error {
	if w.parting() && !w.mon.Left() {
		if _, unanswered := w.conv.Await(answers(w.last), w.setup.Patience.moment()); unanswered != nil {
			return blame(w.ownRules().farewell, err)
		}
	}
	if w.parting() || w.mon.Left() {
		return blame(rule, err)
	}
	return err
}

// blame makes a rule the one that a step has found broken, in place of those of the scenario.
func blame(rule string, err error) error {
	var o *Outcome
	if errors.As(err, &o) && o.Rule == "" && (o.Class == verdict.Fail || o.Class == verdict.NoAnswer) {
		blamed := *o
		blamed.Rule = rule
		return &blamed
	}
	return err
}
