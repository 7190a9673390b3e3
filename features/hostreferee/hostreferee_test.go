package hostreferee_test

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/octet-dev/octet/features"
	"github.com/octet-dev/octet/features/actor"
	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/features/faultyhost"
	"github.com/octet-dev/octet/features/faultypeer"
	"github.com/octet-dev/octet/features/hostmonitor"
	"github.com/octet-dev/octet/features/hostreferee"
	"github.com/octet-dev/octet/features/rulebook"
	"github.com/octet-dev/octet/features/selftest"
	"github.com/octet-dev/octet/features/tap"
	"github.com/octet-dev/octet/features/verdict"
)

// TestMain lets this program play the host and its extensions when it is called by their names.
func TestMain(m *testing.M) {
	if len(os.Args) > 1 {
		switch os.Args[1] {
		case "host-peer":
			os.Exit(hostPeer(os.Args[2:]))
		case "faulty-peer":
			name := strings.TrimPrefix(os.Args[2], "none")
			cfg := faultypeer.Config{API: os.Args[4], Fault: name, Environment: os.Environ()}
			if len(os.Args) > 6 {
				var err error
				if cfg.Play, err = faultypeer.ReadPlay(os.Args[6]); err != nil {
					fmt.Fprintln(os.Stderr, err)
					os.Exit(1)
				}
			}
			os.Exit(faultypeer.Run(context.Background(), cfg, os.Stdin, os.Stdout, os.Stderr))
		case "actor":
			os.Exit(actor.Run(context.Background(), os.Args[2], os.Stdin, os.Stdout, os.Stderr))
		case selftest.TalkerWord:
			os.Exit(selftest.PlayTalker(context.Background(), os.Args[2:], os.Stdin, os.Stdout, os.Stderr))
		case selftest.HostWord:
			ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
			defer stop()
			os.Exit(selftest.PlayHost(ctx, os.Args[2:], "", os.Environ(), os.Stdout, os.Stderr))
		}
	}
	os.Exit(m.Run())
}

// hostPeer is host-peer --report-to ADDRESS -- COMMAND..., or with --plot FILE behind the address.
func hostPeer(args []string) int {
	conn, err := hostreferee.Report(args[1])
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	defer func() { _ = conn.Close() }()
	if args[2] == "--plot" {
		signal.Ignore(syscall.SIGPIPE)
		code, err := hostreferee.Play(args[3], os.Stdin, os.Stdout, conn)
		if err != nil {
			fmt.Fprintln(os.Stderr, err)
			return 1
		}
		return code
	}
	code, err := tap.Run(tap.Options{Command: exec.Command(args[3], args[4:]...), Inside: hostreferee.Inside(args[3:]), Stdin: os.Stdin, Stdout: os.Stdout, Stderr: os.Stderr, Transcript: conn})
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		return 1
	}
	return code
}

// Waits for a host that hangs, and for what it has left. A sound host is given more: it costs nothing where all is
// well, however busy the machine.
const (
	wait   = 8 * time.Second
	grace  = 2 * time.Second
	longer = 10
)

func options(t *testing.T) selftest.HostOptions {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return selftest.HostOptions{Self: self, Wait: wait, Grace: grace, Env: []string{"GORACE=atexit_sleep_ms=0"}, Jobs: 3}
}

// A sound host is accused of nothing.
func TestRun_soundHost(t *testing.T) {
	opts := options(t)
	opts.Wait, opts.Grace = longer*wait, longer*grace
	for _, api := range dialect.Versions() {
		t.Run(api, func(t *testing.T) {
			setup, err := selftest.HostSetup("", api, opts)
			if err != nil {
				t.Fatal(err)
			}
			scenarios, err := hostreferee.Run(t.Context(), hostreferee.Options{Setup: setup, Jobs: 4})
			if err != nil {
				t.Fatal(err)
			}
			for _, s := range scenarios {
				if s.Class != verdict.Pass {
					t.Errorf("API %s: %s is %s: %s\n%s", api, s.Name, s.Class, s.Reason, s.Stderr)
				}
			}
		})
	}
}

// sampled is how many faulty hosts stand for the one that is judged here. All are judged by make selftest.
const sampled = 6

// Faulty hosts are caught by the rules that they break.
func TestRun_faultyHosts(t *testing.T) {
	opts := options(t)
	opts.Sample = sampled
	results, err := selftest.Hosts(t.Context(), opts)
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]int{}
	for _, r := range results {
		seen[r.API]++
		if r.Verdict != selftest.Caught {
			t.Errorf("host %q on API %s: %s, want rule %q red; others: %v", r.Fault, r.API, r.Verdict, r.Rule, r.Others)
		}
	}
	if all := len(faultyhost.Faults()); len(results) < all/sampled || len(results) > all/sampled+len(seen) || len(seen) != len(dialect.Versions()) {
		t.Errorf("%d of %d faulty hosts were judged, by version %v", len(results), all, seen)
	}
}

// Every judged rule of a host is proven by a scenario, or by the monitor that hears every one, on every version
// it binds, and has a faulty host. What is proven so says so.
func TestScenarios_areProven(t *testing.T) {
	broken := map[string]bool{}
	for _, f := range faultyhost.Faults() {
		broken[f.Rule] = true
	}
	proven := map[string][]string{}
	all, err := features.HostScenarios()
	if err != nil {
		t.Fatal(err)
	}
	for _, s := range all {
		if len(s.Rules) == 0 || len(s.APIs) == 0 {
			t.Errorf("%s %q has %d rules and %d API versions; it needs both", s.Key(), s.Name, len(s.Rules), len(s.APIs))
		}
		for _, id := range s.Rules {
			proven[id] = append(proven[id], s.APIs...)
		}
	}
	for _, api := range dialect.Versions() {
		d, err := dialect.For(api)
		if err != nil {
			t.Fatal(err)
		}
		for _, id := range hostmonitor.Rules(d) {
			if rulebook.BindsID(id, api) {
				proven[id] = append(proven[id], api)
			}
		}
	}
	for id := range proven {
		if r, found := rulebook.Find(id); !found || r.Role != "host" || !rulebook.Judged(r) {
			t.Errorf("a scenario names %s, which is no rule of hosts that a run judges; remove its no_peer, or the tag", id)
		}
	}
	for _, r := range rulebook.All() {
		if r.Role != "host" || !rulebook.Judged(r) {
			continue
		}
		for _, api := range r.Versions {
			if !slices.Contains(proven[r.ID], api) {
				t.Errorf("%s is proven by no scenario on API %s: %s", r.ID, api, r.Text)
			}
		}
		if !broken[r.ID] {
			t.Errorf("%s is broken by no faulty host: %s", r.ID, r.Text)
		}
	}
}

// A host that does nothing at all costs a few waits, not one for each of hundreds of scenarios.
func TestRun_deadHost(t *testing.T) {
	d, err := dialect.For("0.4")
	if err != nil {
		t.Fatal(err)
	}
	starts := 0
	setup := &hostreferee.Setup{
		Dialect: d, Adapter: []string{"dead", hostreferee.PlaceExtension, hostreferee.PlaceTool}, Wait: time.Millisecond, Grace: grace, Self: os.Args[0],
		Host: func(ctx context.Context, _ []string, _ string, _ []string, _, _ io.Writer) int {
			starts++
			<-ctx.Done()
			return 1
		},
	}
	scenarios, err := hostreferee.Run(t.Context(), hostreferee.Options{Setup: setup})
	if err != nil {
		t.Fatal(err)
	}
	untried := 0
	for _, s := range scenarios {
		if s.Class == verdict.NoAnswer && strings.HasPrefix(s.Reason, "not tried: the host hung in 3 scenarios") {
			untried++
		} else if s.Class == verdict.Pass {
			t.Errorf("%s passes with a host that does nothing", s.Name)
		}
	}
	if starts != 3 || untried < len(scenarios)/2 {
		t.Errorf("the host was started %d times, and %d of %d scenarios say that they were not tried", starts, untried, len(scenarios))
	}
}
