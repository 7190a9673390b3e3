package minimise

import (
	"context"
	"fmt"
	"regexp"
	"slices"

	"github.com/octet-dev/octet/features"
	"github.com/octet-dev/octet/features/referee"
	"github.com/octet-dev/octet/features/steps"
	"github.com/octet-dev/octet/features/verdict"
	"github.com/octet-dev/octet/features/wire"
)

// part is a part of a scenario's conversation.
type part struct {
	seed  int64
	steps int             // taken; 0 for all
	sent  map[string]bool // the host's frames in the whole of it; nil for a conversation that nothing is left out of
	kept  map[string]bool // of those
}

// omits reports whether a frame is left out: of what the steps write, everything that is not kept, because the
// whole conversation may have ended in front of it; of the answers only those that were there.
func (p part) omits(origin string) bool {
	return !p.kept[origin] && (stepOf(origin) != "" || p.sent[origin])
}

// play runs one scenario, or a part of it.
func play(ctx context.Context, setup *steps.Setup, key string, p part) (verdict.Scenario, error) {
	s := *setup
	s.Steps = p.steps
	if p.sent != nil {
		s.Omit = p.omits
	}
	out, err := referee.Run(ctx, referee.Options{
		Setup: &s, Seed: p.seed, Jobs: 1, Select: func(s features.Scenario) bool { return s.Key() == key },
	})
	if err != nil {
		return verdict.Scenario{}, fmt.Errorf("scenario %s: %w", key, err)
	}
	return out[0], nil
}

func set(words []string) map[string]bool {
	out := map[string]bool{}
	for _, w := range words {
		out[w] = true
	}
	return out
}

// cause is what makes a failure the same as another one.
type cause struct {
	rule string
	step bool   // a step has found it
	text string // what it found, without numbers; empty if every frame is looked at
	gone bool   // it is a prerequisite of the scenario
}

// Primary chooses the finding that a scenario is red for: of one of the rules that it proves, if it can.
func Primary(s verdict.Scenario) (verdict.Finding, bool) {
	if s.Class != verdict.Fail && s.Class != verdict.NoAnswer || s.Unrun {
		return verdict.Finding{}, false
	}
	at := slices.IndexFunc(s.Findings, func(f verdict.Finding) bool { return slices.Contains(s.Rules, f.Rule) && !f.Missing })
	if at < 0 {
		at = slices.IndexFunc(s.Findings, func(f verdict.Finding) bool { return f.Rule != "" })
	}
	if at < 0 {
		return verdict.Finding{}, false
	}
	return s.Findings[at], true
}

func causeOf(f verdict.Finding) cause {
	c := cause{rule: f.Rule, step: f.Step, gone: f.Missing}
	if f.Step {
		c.text = numbers.ReplaceAllString(f.Message, "#")
	}
	return c
}

// numbers are ids, counts and times: they say nothing about what a failure is.
var numbers = regexp.MustCompile(`[0-9]+(\.[0-9]+)?(ms|s|µs)?`)

// shows reports whether a scenario is red for the same cause.
func (c cause) shows(s verdict.Scenario) bool {
	return slices.ContainsFunc(s.Findings, func(f verdict.Finding) bool { return causeOf(f) == c })
}

// origins are those of the host's frames, in the order in which they passed.
func origins(frames []wire.Frame) []wire.Frame {
	return slices.DeleteFunc(slices.Clone(frames), func(f wire.Frame) bool { return f.Origin == "" })
}

// Conversation is that of a scenario, as a transcript has it.
type Conversation struct {
	Scenario string   // its key
	Sent     []string // origins of the host's frames in the whole of it
	Kept     []string // of those that are sent
	Steps    int      // that are taken
	Finding  verdict.Finding
	Seed     int64
}

// Played is what came of a conversation.
type Played struct {
	Result verdict.Scenario
	Shows  bool // the same failure
	// Void says that a sound extension fails as well: the scenario expects something that nobody has asked for
	// without the frames that are left out.
	Void bool
}

// Play has a conversation once more.
func Play(ctx context.Context, setup *steps.Setup, c Conversation) (Played, error) {
	p := part{seed: c.Seed, steps: c.Steps, sent: set(c.Sent), kept: set(c.Kept)}
	result, err := play(ctx, setup, c.Scenario, p)
	out := Played{Result: result, Shows: causeOf(c.Finding).shows(result)}
	if err != nil || !out.Shows || !c.Finding.Step || len(c.Sent) == len(c.Kept) {
		return out, err
	}
	all, err := newControls(setup.Dialect.API())
	if err != nil {
		return out, err
	}
	defer all.remove()
	sound, err := all.find(ctx, c.Scenario, part{seed: c.Seed, steps: c.Steps})
	if err != nil || sound == nil {
		return out, err
	}
	passes, err := sound.passes(ctx, c.Sent, p)
	out.Void, out.Shows = !passes, passes
	return out, err
}
