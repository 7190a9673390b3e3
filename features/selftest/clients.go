package selftest

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/octet-dev/octet/features"
	"github.com/octet-dev/octet/features/oupclient"
	"github.com/octet-dev/octet/features/oupreferee"
	"github.com/octet-dev/octet/features/referee"
)

// clients stands for a program in what became of an OUP client.
const clients = "client"

// suspectClient is a client to be judged.
type suspectClient struct {
	oupclient.Fault
	rules []string // that a sound one is judged by; nil for all
}

func (s suspectClient) result(v Verdict) Result {
	return Result{Program: clients, Fault: s.Name, Rule: s.Rule, API: oupreferee.API, Verdict: v}
}

func (o ServerOptions) chosenClients() []suspectClient {
	var faulty []suspectClient
	var rules []string
	for i, f := range oupclient.Faults() {
		if o.Only != nil && !o.Only(f.Name, f.Rule) || i%max(o.Sample, 1) != 0 {
			continue
		}
		faulty = append(faulty, suspectClient{Fault: f})
		rules = append(rules, f.Rule)
	}
	switch {
	case o.Only != nil && len(rules) == 0:
		return nil
	case o.Sample > 1:
		return faulty // a sound one has every scenario to run
	case o.Only == nil:
		rules = nil
	}
	return append([]suspectClient{{rules: rules}}, faulty...)
}

// Clients judges OUP clients of ours, in this process. A context that is done ends the run at once.
func Clients(ctx context.Context, opts ServerOptions) ([]Result, error) {
	cases := opts.chosenClients()
	patient := opts
	patient.Wait = longPatience * opts.Wait
	results, at, err := each(cases, opts.Jobs, opts.Progress, func(s suspectClient) (Result, error) {
		return judge(ctx, s.Rule == "", s.result(Unknown), opts, patient, func(o ServerOptions) (Result, error) { return attemptClient(ctx, s, o) })
	})
	if err != nil {
		return nil, fmt.Errorf("client %q: %w", cases[at].Name, err)
	}
	return results, nil
}

// clientWaits is how many times the wait for one frame a client gets for its whole turn.
const clientWaits = 4

func attemptClient(ctx context.Context, s suspectClient, opts ServerOptions) (Result, error) {
	run := oupreferee.ClientOptions{Setup: ClientSetup(s.Fault, opts.Wait), Jobs: scenariosAtATime, Seed: opts.Seed}
	if s.Rule != "" || s.rules != nil {
		run.Select = func(sc features.Scenario) bool {
			return slices.ContainsFunc(sc.Rules, func(id string) bool { return id == s.Rule || slices.Contains(s.rules, id) })
		}
	}
	scenarios, err := oupreferee.RunClient(ctx, run)
	if err != nil && !(s.Rule == "" && errors.Is(err, referee.ErrNothing)) {
		return Result{}, err
	}
	return weighScenarios(s.result(Missed), scenarios), nil
}

// ClientSetup describes the run of one client of ours.
func ClientSetup(f oupclient.Fault, wait time.Duration) *oupreferee.ClientSetup {
	return &oupreferee.ClientSetup{Inside: &f, Wait: clientWaits * wait}
}
