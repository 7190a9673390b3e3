package selftest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/octet-dev/octet/features"
	"github.com/octet-dev/octet/features/oupreferee"
	"github.com/octet-dev/octet/features/oupserver"
	"github.com/octet-dev/octet/features/referee"
)

// servers stands for a program in what became of an OUP server.
const servers = "server"

// ServerOptions say how faulty OUP servers are judged.
type ServerOptions struct {
	// Wait is that of oupreferee.Setup. A server without a fault gets ten times as much, and so does a faulty one that
	// went uncaught.
	Wait time.Duration
	// Sample is how many faults stand for the one that is judged; under 2 all are.
	Sample int
	// Seed orders the scenarios; 0 is the order of the files.
	Seed int64
	// Jobs is how many servers are judged at a time.
	Jobs int
	// Only chooses by name and rule; nil for all.
	Only func(name, rule string) bool
	// Progress is called behind every server, never twice at a time; nil for none.
	Progress func(done, total int)
}

// suspectServer is a server to be judged.
type suspectServer struct {
	oupserver.Fault
	transport string
	rules     []string // that a sound one is judged by; nil for all
}

func (s suspectServer) result(v Verdict) Result {
	return Result{Program: servers, Fault: s.Name, Rule: s.Rule, API: oupreferee.API, Verdict: v}
}

// chosen are the servers to be judged, sound ones first.
func (o ServerOptions) chosen() []suspectServer {
	var faulty []suspectServer
	var rules []string
	for i, f := range oupserver.Faults() {
		if o.Only != nil && !o.Only(f.Name, f.Rule) || i%max(o.Sample, 1) != 0 {
			continue
		}
		transport := f.Transport
		if transport == "" {
			transport = oupreferee.Stdio
		}
		faulty = append(faulty, suspectServer{Fault: f, transport: transport})
		rules = append(rules, f.Rule)
	}
	if o.Only == nil {
		rules = nil
	} else if len(rules) == 0 {
		return nil
	}
	var all []suspectServer
	if o.Sample > 1 {
		return faulty // a sound one has every scenario to run
	}
	for _, transport := range []string{oupreferee.Stdio, oupreferee.WebSocket} {
		all = append(all, suspectServer{transport: transport, rules: rules})
		for _, f := range oupserver.Variants() {
			all = append(all, suspectServer{Fault: f, transport: transport, rules: rules})
		}
	}
	return append(all, faulty...)
}

// Servers judges OUP servers of ours, in this process. A context that is done ends the run at once.
func Servers(ctx context.Context, opts ServerOptions) ([]Result, error) {
	cases := opts.chosen()
	patient := opts
	patient.Wait = longPatience * opts.Wait
	results, at, err := each(cases, opts.Jobs, opts.Progress, func(s suspectServer) (Result, error) {
		return judge(ctx, s.Rule == "", s.result(Unknown), opts, patient, func(o ServerOptions) (Result, error) {
			if s.Rule == "" {
				o.Wait *= longPatience // once more: no wait of a sound one is over where all is well
			}
			return attemptServer(ctx, s, o)
		})
	})
	if err != nil {
		return nil, fmt.Errorf("server %q: %w", cases[at].Name, err)
	}
	return results, nil
}

// attemptServer runs the scenarios that prove the expected rule; those that are chosen for a sound server.
func attemptServer(ctx context.Context, s suspectServer, opts ServerOptions) (Result, error) {
	run := oupreferee.Options{Setup: ServerSetup(s.Fault, s.transport, opts.Wait), Jobs: scenariosAtATime, Seed: opts.Seed}
	if s.Rule != "" || s.rules != nil {
		run.Select = func(sc features.Scenario) bool {
			return slices.ContainsFunc(sc.Rules, func(id string) bool { return id == s.Rule || slices.Contains(s.rules, id) })
		}
	}
	scenarios, err := oupreferee.Run(ctx, run)
	if err != nil && !(s.Rule == "" && errors.Is(err, referee.ErrNothing)) {
		return Result{}, err
	}
	return weighScenarios(s.result(Missed), scenarios), nil
}

// beats is how often the heart of a server of ours beats.
const beats = 50 * time.Millisecond

// ServerSetup describes the run of one server of ours.
func ServerSetup(f oupserver.Fault, transport string, wait time.Duration) *oupreferee.Setup {
	setup := &oupreferee.Setup{
		Target: oupreferee.Target{Transport: transport, Inside: &f, Heartbeat: beats, Wait: wait}, Ask: oupreferee.Own, Wait: wait, Beats: true,
	}
	other := setup.Target
	other.Transport = map[string]string{oupreferee.Stdio: oupreferee.WebSocket, oupreferee.WebSocket: oupreferee.Stdio}[transport]
	setup.Other = &other
	return setup
}
