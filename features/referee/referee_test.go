package referee_test

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/octet-dev/octet/features"
	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/features/faultypeer"
	"github.com/octet-dev/octet/features/referee"
	"github.com/octet-dev/octet/features/steps"
	"github.com/octet-dev/octet/features/subject"
	"github.com/octet-dev/octet/features/verdict"
)

func setup(t *testing.T, start subject.Starter) *steps.Setup {
	t.Helper()
	d, err := dialect.For("0.4")
	if err != nil {
		t.Fatal(err)
	}
	return &steps.Setup{
		Dialect:   d,
		Extension: dialect.Extension{Name: "peer", Version: "1.0.0", Contributes: faultypeer.Fault{}.Contributes()},
		Starter:   start,
		Patience:  steps.DefaultPatience,
	}
}

var sound = subject.Func(func(ctx context.Context, env []string, in io.Reader, out, log io.Writer) int {
	return faultypeer.Run(ctx, faultypeer.Config{API: "0.4", Environment: env}, in, out, log)
})

func keys(scenarios []verdict.Scenario) []string {
	var out []string
	for _, s := range scenarios {
		out = append(out, features.Scenario{File: s.File, Line: s.Line}.Key())
	}
	return out
}

func TestRun_keepsTheOrderOfThePlan(t *testing.T) {
	opts := referee.Options{Setup: setup(t, sound), Select: referee.Matches([]string{"shutdown"}), Jobs: 3, Seed: 5}
	plan, err := referee.Plan(opts)
	if err != nil || len(plan) < 3 {
		t.Fatalf("%d scenarios, %v", len(plan), err)
	}
	progress := 0
	opts.Progress = func(done, total int) {
		if progress++; done != progress || total != len(plan) {
			t.Errorf("progress: %d of %d at call %d", done, total, progress)
		}
	}
	results, err := referee.Run(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	var want []string
	for _, s := range plan {
		want = append(want, s.Key())
	}
	if got := keys(results); !slices.Equal(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
	for _, s := range results {
		if s.Class != verdict.Pass && s.Class != verdict.NotApplicable {
			t.Errorf("%s: %s: %s", s.Name, s.Class, s.Reason)
		}
	}
}

func TestRun_endsEarly(t *testing.T) {
	done, cancel := context.WithCancel(t.Context())
	cancel()
	for name, run := range map[string]func() ([]verdict.Scenario, error){
		"context": func() ([]verdict.Scenario, error) {
			return referee.Run(done, referee.Options{Setup: setup(t, sound), Select: referee.Matches([]string{"shutdown"})})
		},
		"until": func() ([]verdict.Scenario, error) {
			return referee.Run(t.Context(), referee.Options{Setup: setup(t, sound), Select: referee.Matches([]string{"shutdown"}), Until: func(verdict.Scenario) bool { return true }})
		},
	} {
		results, err := run()
		if err != nil || len(results) < 3 {
			t.Fatalf("%s: %d results, %v", name, len(results), err)
		}
		if last := results[len(results)-1]; last.Class != verdict.Errored || last.Reason == "" {
			t.Errorf("%s: a scenario that did not run is %s: %q", name, last.Class, last.Reason)
		}
	}
}

func TestRun_interruptedScenariosSayNothing(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	silent := subject.Func(func(ctx context.Context, _ []string, in io.Reader, _, _ io.Writer) int {
		cancel()
		_, _ = io.Copy(io.Discard, in)
		return 0
	})
	results, err := referee.Run(ctx, referee.Options{Setup: setup(t, silent), Select: referee.Matches([]string{"shutdown"}), Jobs: 2})
	if err != nil || len(results) < 3 {
		t.Fatalf("%d results, %v", len(results), err)
	}
	for _, s := range results {
		if !s.Interrupted() || len(s.Findings) > 0 {
			t.Errorf("%s: %s %q with %d findings, want errored and interrupted", s.Name, s.Class, s.Reason, len(s.Findings))
		}
	}
}

// passing is the sound peer, which gets only some of the lines; it does not end before it must.
func passing(pass func(n int, line []byte) bool) subject.Func {
	return func(ctx context.Context, env []string, in io.Reader, out, log io.Writer) int {
		read, write := io.Pipe()
		go func() {
			lines := bufio.NewReader(in)
			for n := 0; ; n++ {
				line, err := lines.ReadBytes('\n')
				if err != nil {
					break
				}
				if pass(n, line) {
					_, _ = write.Write(line)
				}
			}
			<-ctx.Done()
			_ = write.Close()
		}()
		return faultypeer.Run(ctx, faultypeer.Config{API: "0.4", Environment: env}, read, out, log)
	}
}

func TestRun_givesUpOnWhatDoesNotServe(t *testing.T) {
	for name, c := range map[string]struct {
		pass  func(n int, line []byte) bool
		stops bool
	}{
		"answers nothing":         {func(int, []byte) bool { return false }, true},
		"hangs behind initialize": {func(n int, _ []byte) bool { return n == 0 }, true},
		"breaks rules by silence": {func(n int, line []byte) bool { return n == 0 || bytes.Contains(line, []byte("conform/probe")) }, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := setup(t, passing(c.pass))
			s.Patience = steps.DefaultPatience.Scale(0.03)
			results, err := referee.Run(t.Context(), referee.Options{Setup: s, Select: referee.Matches([]string{"shutdown", "call"}), Jobs: 2})
			if err != nil {
				t.Fatal(err)
			}
			ran, unrun := 0, 0
			for _, r := range results {
				if !r.Unrun {
					ran++
					continue
				}
				unrun++
				if r.Class != verdict.NoAnswer || len(r.Findings) != len(r.Rules) || !strings.Contains(r.Reason, "the extension does not serve: 8 scenarios in a row got no answer; the remaining ") {
					t.Errorf("%s: %s %q with %d findings", r.Name, r.Class, r.Reason, len(r.Findings))
				}
			}
			if ran < 8 || c.stops != (unrun > 0) {
				t.Errorf("%d scenarios ran, %d did not", ran, unrun)
			}
		})
	}
}

func TestRun_ofWhatCannotStart(t *testing.T) {
	results, err := referee.Run(t.Context(), referee.Options{Setup: setup(t, subject.Command{Path: "/nowhere/at/all"}), Select: referee.Matches([]string{"EXT04-SHUT-001"})})
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range results {
		if s.Class != verdict.Errored {
			t.Errorf("%s: %s, want errored: that it does not start says nothing about the extension", s.Name, s.Class)
		}
	}
}

func TestRun_ofNothing(t *testing.T) {
	if _, err := referee.Run(t.Context(), referee.Options{Setup: setup(t, sound), Select: referee.Matches([]string{"EXT09-*"})}); !errors.Is(err, referee.ErrNothing) {
		t.Errorf("got %v, want ErrNothing", err)
	}
}

func TestMatches(t *testing.T) {
	s := features.Scenario{Name: "A call is cancelled twice", File: "feature_wire/cancel.feature", Line: 9, Rules: []string{"EXT04-CANCEL-004"}}
	for pattern, want := range map[string]bool{
		"EXT04-CANCEL-004": true, "ext04-cancel-004": true, "EXT04-CANCEL-*": true, "*-004": true, "cancel": true, "cancelled twice": true, "A call*": true,
		"feature_wire/cancel.feature": true, "feature_wire/cancel.feature:9": true, "*": true,
		"EXT04-CANCEL": true, "ext04-cancel-": true, "EXT04": true, "EXT04-CAN": false, "-": false,
		"EXT04-CANCEL-00": false, "EXT03-*": false, "shutdown": false, "feature_wire/cancel.feature:8": false, "*-005": false,
	} {
		if got := referee.Matches([]string{pattern})(s); got != want {
			t.Errorf("%q: got %v, want %v", pattern, got, want)
		}
	}
	if referee.Matches(nil) != nil {
		t.Error("no pattern is a selection")
	}
}
