// Package ledger tells of each rule what proves it, what shows that the proof can fail, and what was found about
// it in runs.
package ledger

import (
	"slices"
	"sync"

	"github.com/octet-dev/octet/features"
	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/features/faultyhost"
	"github.com/octet-dev/octet/features/faultymanifest"
	"github.com/octet-dev/octet/features/faultypeer"
	"github.com/octet-dev/octet/features/hostmonitor"
	"github.com/octet-dev/octet/features/monitor"
	"github.com/octet-dev/octet/features/oupclient"
	"github.com/octet-dev/octet/features/oupmonitor"
	"github.com/octet-dev/octet/features/oupserver"
)

// Proof is what stands behind one rule.
type Proof struct {
	Scenarios []Scenario // each name and file once
	Faulty    []Faulty
	Heard     bool // judged in every frame of every scenario

	apis []string // on which a scenario or the hearing judges it
}

// Judges reports whether runs of an API version judge the rule.
func (p *Proof) Judges(api string) bool { return p != nil && slices.Contains(p.apis, api) }

// Scenario is one that proves a rule. The rows of an outline are one.
type Scenario struct{ Name, File string }

// Faulty is a program, or a manifest, that breaks a rule.
type Faulty struct {
	Kind string // one of the kinds
	Name string
	Doc  string // behind "a peer that"
}

// The kinds of what is faulty.
const (
	KindPeer     = "peer"
	KindHost     = "host"
	KindManifest = "manifest"
	KindServer   = "server"
	KindClient   = "client"
)

// Proofs are those of every rule that has any, by its id.
var Proofs = sync.OnceValues(proofs)

func proofs() (map[string]*Proof, error) {
	all := map[string]*Proof{}
	at := func(id string) *Proof {
		if all[id] == nil {
			all[id] = &Proof{}
		}
		return all[id]
	}
	for _, list := range []func() ([]features.Scenario, error){features.Scenarios, features.HostScenarios, features.ManifestScenarios, features.ServerScenarios, features.ClientScenarios} {
		scenarios, err := list()
		if err != nil {
			return nil, err
		}
		for _, s := range scenarios {
			for _, id := range s.Rules {
				if p, named := at(id), (Scenario{s.Name, s.File}); !slices.Contains(p.Scenarios, named) {
					p.Scenarios = append(p.Scenarios, named)
				}
				at(id).apis = append(at(id).apis, s.APIs...)
			}
		}
	}
	for _, f := range faultypeer.Faults() {
		at(f.Rule).Faulty = append(at(f.Rule).Faulty, Faulty{KindPeer, f.Name, f.Doc})
	}
	for _, f := range faultyhost.Faults() {
		at(f.Rule).Faulty = append(at(f.Rule).Faulty, Faulty{KindHost, f.Name, f.Doc})
	}
	for _, f := range faultymanifest.Faults() {
		at(f.Rule).Faulty = append(at(f.Rule).Faulty, Faulty{KindManifest, f.Name, f.Doc})
	}
	for _, f := range oupserver.Faults() {
		at(f.Rule).Faulty = append(at(f.Rule).Faulty, Faulty{KindServer, f.Name, f.Doc})
	}
	for _, f := range oupclient.Faults() {
		at(f.Rule).Faulty = append(at(f.Rule).Faulty, Faulty{KindClient, f.Name, f.Doc})
	}
	for _, id := range append(oupmonitor.ServerRules(), oupmonitor.ClientRules()...) {
		at(id).Heard = true
	}
	for _, api := range dialect.Versions() {
		d, err := dialect.For(api)
		if err != nil {
			return nil, err
		}
		for _, id := range append(monitor.Rules(d), hostmonitor.Rules(d)...) {
			at(id).Heard = true
			at(id).apis = append(at(id).apis, api)
		}
	}
	return all, nil
}
