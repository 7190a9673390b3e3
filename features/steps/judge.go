package steps

import (
	"errors"
	"fmt"
	"slices"

	"github.com/octet-dev/octet/features/verdict"
)

// Judge turns the end of a scenario's steps into its verdict. The monitor's findings are already in it.
func (w *World) Judge(s *verdict.Scenario, err error) {
	var o *Outcome
	switch {
	case err == nil:
	case errors.As(err, &o) && o.Class == verdict.NotApplicable:
		s.Class, s.Reason = verdict.NotApplicable, o.Text
	case errors.As(err, &o) && o.Class != verdict.Errored:
		s.Class, s.Reason = o.Class, o.Text
		s.Findings = append(s.Findings, w.stepFindings(o)...)
		if o.Rule != "" && !slices.Contains(w.rules, o.Rule) {
			s.Idle = fmt.Sprintf("the scenario ended early, at %s: %s", o.Rule, o.Text)
		}
	default:
		s.Class, s.Reason = verdict.Errored, err.Error()
		return
	}
	if err == nil && len(s.Findings) > 0 {
		s.Class, s.Reason = verdict.Fail, s.Findings[0].Message
	}
	if s.Class == verdict.NotApplicable && len(s.Findings) > 0 {
		s.Class, s.Reason = verdict.Fail, s.Findings[0].Message
	}
}

// stepFindings blames the rule that the step named, or every rule that the scenario proves.
func (w *World) stepFindings(o *Outcome) []verdict.Finding {
	rules := w.rules
	if o.Rule != "" {
		rules = []string{o.Rule}
	}
	var out []verdict.Finding
	for _, rule := range rules {
		out = append(out, verdict.Finding{Rule: rule, Message: o.Text, Frame: o.Frame, Offset: -1, Step: true, Missing: o.Missing, Silent: o.Class == verdict.NoAnswer})
	}
	return out
}
