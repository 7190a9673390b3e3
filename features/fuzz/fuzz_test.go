package fuzz_test

import (
	"context"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"reflect"
	"slices"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/features/faultypeer"
	"github.com/octet-dev/octet/features/fuzz"
	"github.com/octet-dev/octet/features/selftest"
	"github.com/octet-dev/octet/features/steps"
	"github.com/octet-dev/octet/features/subject"
	"github.com/octet-dev/octet/features/vectors"
	"github.com/octet-dev/octet/gen/derive"
	"github.com/octet-dev/octet/gen/load"
	"github.com/octet-dev/octet/spec"
)

const seed = 20

// The long form, make fuzz-peers, has more conversations and others.
var (
	runs   = flag.Int("runs", 40, "conversations with each sound peer")
	others = flag.Int64("seed", seed, "what conversations with sound peers are made from")
)

func setupOf(t *testing.T, f faultypeer.Fault, scale float64) *steps.Setup {
	t.Helper()
	setup, err := selftest.Setup(f, selftest.Options{Patience: steps.DefaultPatience.Scale(scale)}, t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return setup
}

// everyVector are the values that the spec holds and those that follow from its models.
func everyVector(t *testing.T) []vectors.Vector {
	t.Helper()
	all, err := allVectors()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

var allVectors = sync.OnceValues(func() ([]vectors.Vector, error) {
	loaded, err := load.Load(spec.Files)
	if err != nil {
		return nil, err
	}
	all, err := vectors.Load(spec.Files)
	for _, w := range loaded.Wires {
		document, derr := derive.Document(w)
		derived, rerr := vectors.Read("derived-"+w.Name+".json", document)
		all, err = append(all, derived...), errors.Join(err, derr, rerr)
	}
	return all, err
})

// once leaves a profile no call but the sample: the tour of a full peer is made for one call of a process.
func once(setup *steps.Setup) *steps.Setup {
	setup.Profile.Call = setup.Profile.Call[:1]
	return setup
}

// Nothing is found in peers that keep every rule, however odd they are.
func TestRun_soundPeers(t *testing.T) {
	peers := faultypeer.Variants()
	for _, api := range dialect.Versions() {
		peers = append(peers, faultypeer.Fault{API: api})
	}
	for _, f := range peers {
		t.Run(f.API+" "+f.Name, func(t *testing.T) {
			t.Parallel()
			report, err := fuzz.Run(t.Context(), fuzz.Options{Setup: once(setupOf(t, f, 1)), Vectors: everyVector(t), Seed: *others, Runs: *runs, Jobs: 2, Most: 3, Shrink: 20 * time.Second})
			if err != nil {
				t.Fatal(err)
			}
			for _, found := range report.Failures {
				t.Errorf("seed %d, run %d breaks %s: %s", *others, found.Run, found.Finding.Rule, found.Finding.Message)
				for _, frame := range found.Result.Frames {
					t.Logf("%s %.300s  (%s)", frame.Lane, frame.Bytes, frame.Origin)
				}
			}
			t.Logf("%d runs, %d lines", report.Runs, report.Lines)
		})
	}
}

// planted are faults that need no special scenario: what breaks them is part of any conversation.
func planted() []faultypeer.Fault {
	var out []faultypeer.Fault
	for i, f := range faultypeer.Faults() {
		if !f.Process && i%10 == 0 {
			out = append(out, f)
		}
	}
	return out
}

// wanted is how many of those must be found.
const wanted = 20

// Faults are found at a fixed seed within so many conversations, under their own rule, and the smallest
// conversation shows them again.
func TestRun_faultyPeers(t *testing.T) {
	var mu sync.Mutex
	found := map[string]int{}
	t.Run("faults", func(t *testing.T) {
		for _, f := range planted() {
			t.Run(f.Name, func(t *testing.T) {
				t.Parallel()
				setup := once(setupOf(t, f, 0.15))
				report, err := fuzz.Run(t.Context(), fuzz.Options{Setup: setup, Vectors: everyVector(t), Seed: seed, Runs: 60, Jobs: 1, Most: 1, Time: 20 * time.Second, Shrink: 5 * time.Second})
				if err != nil {
					t.Fatal(err)
				}
				for _, each := range report.Failures {
					if each.Finding.Rule != f.Rule {
						continue
					}
					mu.Lock()
					found[f.Name] = each.Lines
					mu.Unlock()
					shows(t, setup, each)
				}
			})
		}
	})
	if len(found) < wanted {
		t.Errorf("%d of %d faults were found under their rule, want at least %d", len(found), len(planted()), wanted)
	}
	t.Logf("%d of %d faults: %v", len(found), len(planted()), found)
}

// shows plays the smallest conversation again, as a transcript keeps it.
func shows(t *testing.T, setup *steps.Setup, f fuzz.Failure) {
	t.Helper()
	if !f.Least {
		return
	}
	items, err := fuzz.Items(f.Result.Frames)
	if err != nil {
		t.Fatal(err)
	}
	again, err := fuzz.Play(t.Context(), setup, items)
	if err != nil {
		t.Fatal(err)
	}
	for _, found := range again.Findings {
		if found.Rule == f.Finding.Rule {
			return
		}
	}
	t.Errorf("%s does not show in the %d lines of its transcript", f.Finding.Rule, len(items))
}

// The same seed makes the same conversations.
func TestGenerate_repeats(t *testing.T) {
	material := fuzz.Gather(setupOf(t, faultypeer.Fault{API: "0.4"}, 1), nil, everyVector(t))
	for run := range 50 {
		a, b := material.Generate(seed, run, 30), material.Generate(seed, run, 30)
		if !reflect.DeepEqual(a, b) {
			t.Fatalf("run %d differs", run)
		}
	}
}

// Conversations hold params of every method that a host sends, legal and broken, on every version.
func TestGenerate_derives(t *testing.T) {
	for _, api := range dialect.Versions() {
		setup := setupOf(t, faultypeer.Fault{API: api}, 1)
		d := setup.Dialect
		material := fuzz.Gather(setup, nil, everyVector(t))
		legal, broken := map[string]map[string]bool{}, map[string]map[string]bool{}
		for run := range 400 {
			for _, item := range material.Generate(seed, run, 30) {
				var m struct {
					Method string          `json:"method"`
					Params json.RawMessage `json:"params"`
				}
				if json.Unmarshal(item.Line, &m) != nil || len(m.Params) == 0 || d.Shape(m.Method).Params == "" {
					continue
				}
				kind := legal
				if _, bad := d.Violation(d.Shape(m.Method).Params, m.Params); bad {
					kind = broken
				}
				if kind[m.Method] == nil {
					kind[m.Method] = map[string]bool{}
				}
				kind[m.Method][string(m.Params)] = true
			}
		}
		for _, method := range d.HostMethods() {
			// A second initialize, and a shutdown with odd params on one of the wires, mean something of their own.
			if method.Name == dialect.Initialize || method.Name == dialect.Shutdown {
				continue
			}
			if len(legal[method.Name]) < 2 || len(broken[method.Name]) < 4 {
				t.Errorf("API %s: %s is sent with %d legal and %d broken params, want at least 2 and 4", api, method.Name, len(legal[method.Name]), len(broken[method.Name]))
			}
		}
	}
}

// What is found does not depend on how many conversations are had at a time.
func TestRun_jobs(t *testing.T) {
	f, found := faultypeer.Find("ends-at-refusal")
	if !found {
		t.Fatal("there is no such fault")
	}
	var first []string
	for _, jobs := range []int{1, 8, 3} {
		report, err := fuzz.Run(t.Context(), fuzz.Options{Setup: once(setupOf(t, f, 1)), Vectors: everyVector(t), Seed: seed, Runs: 60, Jobs: jobs, Most: 2})
		if err != nil {
			t.Fatal(err)
		}
		var now []string
		for _, each := range report.Failures {
			now = append(now, fmt.Sprint(each.Run, " ", each.Finding.Rule))
		}
		if first == nil {
			first = now
		}
		if len(now) != 2 || !slices.Equal(now, first) {
			t.Errorf("%d at a time find %q, want the two %q", jobs, now, first)
		}
	}
}

// An extension that was only late once, as on a machine with much else to do, is not accused.
func TestRun_lateOnce(t *testing.T) {
	setup := once(setupOf(t, faultypeer.Fault{API: "0.4"}, 0.2))
	sound, ok := setup.Starter.(subject.Func)
	if !ok {
		t.Fatalf("the starter is a %T", setup.Starter)
	}
	var starts atomic.Int64
	setup.Starter = subject.Func(func(ctx context.Context, env []string, stdin io.Reader, stdout, stderr io.Writer) int {
		if starts.Add(1) == 2 {
			_, _ = io.Copy(io.Discard, stdin) // reads everything and answers nothing
			return 0
		}
		return sound(ctx, env, stdin, stdout, stderr)
	})
	report, err := fuzz.Run(t.Context(), fuzz.Options{Setup: setup, Seed: seed, Runs: 2})
	if err != nil {
		t.Fatal(err)
	}
	for _, f := range report.Failures {
		t.Errorf("run %d breaks %s: %s", f.Run, f.Finding.Rule, f.Finding.Message)
	}
	if starts.Load() < 4 {
		t.Errorf("%d starts, want at least 4: the late one again as well", starts.Load())
	}
}
