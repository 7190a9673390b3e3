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
		case "faulty-talker":
			cfg := faultyhost.TalkConfig{Fault: os.Args[2], Extensions: os.Args[3], Model: os.Args[4]}
			os.Exit(faultyhost.Talk(context.Background(), cfg, os.Stdin, os.Stdout, os.Stderr))
		case "faulty-host":
			ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
			defer stop()
			os.Exit(faultyHost(ctx, os.Args, "", os.Environ(), os.Stdout, os.Stderr))
		}
	}
	os.Exit(m.Run())
}

// faultyHost is PROGRAM faulty-host FAULT EXTENSION TOOL ARGUMENTS.
func faultyHost(ctx context.Context, args []string, dir string, env []string, stdout, stderr io.Writer) int {
	cfg := faultyhost.Config{Fault: args[2], Directory: args[3], Tool: args[4], Arguments: args[5], Workspace: dir, Environ: env}
	return faultyhost.Run(ctx, cfg, stdout, stderr)
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

func judge(t *testing.T, api, fault string, chosen func(features.Scenario) bool) []verdict.Scenario {
	t.Helper()
	d, err := dialect.For(api)
	if err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	var host hostreferee.HostFunc = faultyHost
	if f, _ := faultyhost.Find(fault, api); f.Alone() {
		host = nil
	}
	scenarios, err := hostreferee.Run(t.Context(), hostreferee.Options{
		Setup: &hostreferee.Setup{
			Dialect: d, Self: self, Host: host, Env: []string{"GORACE=atexit_sleep_ms=0"},
			Adapter: []string{self, "faulty-host", fault, hostreferee.PlaceExtension, hostreferee.PlaceTool, hostreferee.PlaceArguments},
			Talk: &hostreferee.Talk{
				Command: []string{self, "faulty-talker", fault, hostreferee.PlaceExtensions, hostreferee.PlaceModel},
				Prompt:  hostreferee.PlaceText, CommandLine: "/" + hostreferee.PlaceCommand + " " + hostreferee.PlaceArguments,
				Reload: "/reload " + hostreferee.PlaceName, Rebuild: "/rebuild", Write: []string{"write", "{}"}, New: "/new", Compact: "/compact", End: "/exit",
			},
			Wait: 8 * time.Second, Grace: 2 * time.Second,
		},
		Select: chosen, Jobs: 4,
	})
	if err != nil {
		t.Fatalf("%s on API %s: %v", fault, api, err)
	}
	return scenarios
}

// A sound host is accused of nothing.
func TestRun_soundHost(t *testing.T) {
	for _, api := range dialect.Versions() {
		t.Run(api, func(t *testing.T) {
			for _, s := range judge(t, api, "", nil) {
				if s.Class != verdict.Pass {
					t.Errorf("API %s: %s is %s: %s\n%s", api, s.Name, s.Class, s.Reason, s.Stderr)
				}
			}
		})
	}
}

// Every faulty host is caught by the rule that it breaks.
func TestRun_faultyHosts(t *testing.T) {
	slots := make(chan struct{}, 3)
	for _, f := range faultyhost.Faults() {
		t.Run(f.API+"/"+f.Name+"/"+f.Rule, func(t *testing.T) {
			t.Parallel()
			slots <- struct{}{}
			defer func() { <-slots }()
			scenarios := judge(t, f.API, f.Name, func(s features.Scenario) bool { return slices.Contains(s.Rules, f.Rule) })
			for _, s := range scenarios {
				for _, found := range s.Findings {
					if found.Rule == f.Rule {
						return
					}
				}
			}
			t.Errorf("a host of API %s that %s (%s) is not caught by %s: %+v", f.API, f.Doc, f.Name, f.Rule, scenarios)
		})
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
