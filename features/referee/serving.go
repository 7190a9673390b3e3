package referee

import (
	"fmt"
	"sync"

	"github.com/octet-dev/octet/features/steps"
	"github.com/octet-dev/octet/features/verdict"
)

// streak is how many scenarios in a row may get no answer before the subject is asked whether it serves
// at all.
const streak = 8

// serving watches for a subject that answers nothing, because every one of its scenarios would cost the
// whole of a deadline.
type serving struct {
	setup *steps.Setup

	mu     sync.Mutex // held while the subject is asked, so that it is asked once
	silent int        // scenarios in a row
	known  bool       // it was asked
}

// over takes a scenario that has ended, with the number of frames that the subject said in it, and reports
// whether the subject serves nobody. One that breaks rules by silence still answers elsewhere, so a streak
// is only the reason to ask.
func (v *serving) over(s verdict.Scenario, said int) bool {
	v.mu.Lock()
	defer v.mu.Unlock()
	// The answer to initialize alone is no service.
	switch bare := said <= 1; {
	case s.Class == verdict.NoAnswer, s.Class == verdict.Fail && bare:
		v.silent++
	case (s.Class == verdict.Fail || s.Class == verdict.Pass) && !bare:
		v.silent = 0
	}
	if v.known || v.silent < streak {
		return false
	}
	v.known = true
	return !steps.Serves(v.setup)
}

// leaveOut is the verdict on one of so many scenarios that were not run because the subject serves nobody.
func leaveOut(s *verdict.Scenario, n int) {
	s.Class, s.Unrun = verdict.NoAnswer, true
	s.Reason = fmt.Sprintf("the extension does not serve: %d scenarios in a row got no answer; the remaining %d were not run", streak, n)
	for _, rule := range s.Rules {
		s.Findings = append(s.Findings, verdict.Finding{Rule: rule, Message: s.Reason, Frame: -1, Offset: -1, Silent: true, Missing: true, Unrun: true})
	}
}
