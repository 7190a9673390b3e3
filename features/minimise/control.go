package minimise

import (
	"context"
	"fmt"
	"maps"
	"os"
	"strings"
	"sync"
	"time"

	"github.com/octet-dev/octet/features/faultypeer"
	"github.com/octet-dev/octet/features/selftest"
	"github.com/octet-dev/octet/features/steps"
	"github.com/octet-dev/octet/features/verdict"
)

// control is a sound extension that plays the same scenario. What a step expects holds only behind what the
// scenario has done before: without the frame that cancels a call, nobody owes the error of a cancelled call. So a
// smaller conversation counts only if an extension without a fault passes it.
type control struct {
	setup *steps.Setup
	key   string
	wrote map[string]int // frames by step, of the whole scenario
}

// controls finds sound peers for the scenarios of a version.
type controls struct {
	setups []*steps.Setup
	dir    string
}

// prompt is how long a sound peer is waited for, which answers at once or never.
var prompt = steps.Patience{Initialize: 300 * time.Millisecond, Answer: 200 * time.Millisecond, Grace: 200 * time.Millisecond, End: 200 * time.Millisecond}

// sure multiplies the waits of a try that has failed for a wait alone: the machine may have been busy.
const sure = 8

func newControls(api string) (*controls, error) {
	dir, err := os.MkdirTemp("", "octet-minimise-")
	if err != nil {
		return nil, err
	}
	c := &controls{dir: dir}
	peers := []faultypeer.Fault{{API: api}}
	for _, v := range faultypeer.Variants() {
		if v.API == api && v.Full() {
			peers = append(peers, v)
		}
	}
	for _, f := range peers {
		setup, err := selftest.Setup(f, selftest.Options{Patience: prompt}, dir)
		if err != nil {
			c.remove()
			return nil, err
		}
		setup.Learn()
		c.setups = append(c.setups, setup)
	}
	return c, nil
}

// remove takes back what the peers have used.
func (c *controls) remove() { _ = os.RemoveAll(c.dir) }

// find returns the first sound peer that passes a scenario; nil if none does.
func (c *controls) find(ctx context.Context, key string, whole part) (*control, error) {
	for _, setup := range c.setups {
		found := &control{key: key, wrote: map[string]int{}}
		s := *setup
		var mu sync.Mutex
		s.Wrote = func(origin string) {
			mu.Lock()
			defer mu.Unlock()
			found.wrote[stepOf(origin)]++
		}
		result, err := play(ctx, &s, key, whole)
		if err == nil && waited(result) {
			clear(found.wrote)
			s.Patience = s.Patience.Scale(sure)
			result, err = play(ctx, &s, key, whole)
		}
		if err != nil {
			return nil, err
		}
		if result.Class == verdict.Pass {
			found.setup = setup
			return found, nil
		}
	}
	return nil, nil
}

// stepOf is the step that a frame of a step was written by; empty for answers.
func stepOf(origin string) string {
	step, _, _ := strings.Cut(origin, ".")
	if strings.Trim(step, "0123456789") != "" {
		return ""
	}
	return step
}

// passes reports whether the sound peer passes a part of a conversation. all are the frames that the subject was
// sent in the whole one, in their order. A step that writes another number of frames to the peer, because the two
// have other tools, is left out whole or not at all; but for the last one, in which the subject failed.
func (c *control) passes(ctx context.Context, all []string, p part) (bool, error) {
	total, kept := map[string]int{}, map[string]int{}
	last := ""
	for _, origin := range all {
		step := stepOf(origin)
		total[step]++
		if p.kept[origin] {
			kept[step]++
		}
		if step != "" {
			last = step
		}
	}
	q := part{seed: p.seed, steps: p.steps, sent: p.sent, kept: maps.Clone(p.kept)}
	for step, n := range c.wrote {
		if step == "" || n == total[step] || step == last {
			continue
		}
		for i := range n {
			q.kept[fmt.Sprintf("%s.%d", step, i+1)] = kept[step] > 0
		}
	}
	result, err := play(ctx, c.setup, c.key, q)
	if err == nil && waited(result) {
		longer := *c.setup
		longer.Patience = longer.Patience.Scale(sure)
		result, err = play(ctx, &longer, c.key, q)
	}
	return result.Class == verdict.Pass, err
}
