package engine

import (
	"context"
	"sync"

	"github.com/octet-dev/octet/host/agent"
	"github.com/octet-dev/octet/host/discovery"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/policy"
	"github.com/octet-dev/octet/host/selection"
	"github.com/octet-dev/octet/host/service/artifact"
	"github.com/octet-dev/octet/host/service/dialog"
	"github.com/octet-dev/octet/host/service/lifecycle"
	"github.com/octet-dev/octet/host/service/migration"
	"github.com/octet-dev/octet/host/service/policyintent"
	"github.com/octet-dev/octet/host/service/presentation"
	"github.com/octet-dev/octet/host/service/promptcontext"
	"github.com/octet-dev/octet/host/service/status"
	"github.com/octet-dev/octet/host/service/tools"
	"github.com/octet-dev/octet/host/supervise"

	"github.com/octet-dev/octet/generated/featurewire"
)

// services are what extensions get from this engine, and what it knows of them.
type services struct {
	engine   *Engine
	bindings []extension.Binding

	tools     *tools.Service
	board     *presentation.Board
	pool      promptcontext.Pool
	lifecycle *lifecycle.Service

	mu       sync.Mutex
	running  map[generation]*extension.Extension
	observed map[*Conversation]*observation
}

// generation names one process.
type generation struct {
	name, instance string
	number         int64
}

// serve makes the services.
func (e *Engine) serve() error {
	s := &services{
		engine: e, lifecycle: lifecycle.New(),
		running: map[generation]*extension.Extension{}, observed: map[*Conversation]*observation{},
	}
	s.tools = tools.New(tools.Options{Names: tools.NewNames(e.reserved()...), Published: s.published})
	s.board = &presentation.Board{
		Foreground: e.foreground,
		Changed:    func(name string) { e.config.Frontend.Show(Presented{Extension: name}) },
	}
	intents := policyintent.New(policyintent.Options{Settings: func() policy.Settings { return e.Selection().Policy }})
	s.bindings = append(s.bindings,
		extension.Binding{Started: s.started, Ended: s.ended},
		artifact.New().Binding(),
		dialog.Binding(e.config.Frontend),
		s.board.Binding(),
		s.pool.Binding(),
		s.lifecycle.Binding(),
		migration.Binding(),
		status.Binding(func(c status.Contribution) {
			e.config.Frontend.Show(StatusShown{Extension: c.Extension, Surface: string(c.Surface), Text: c.Text})
		}),
	)
	s.bindings = append(append(s.bindings, s.tools.Bindings()...), intents.Bindings()...)
	e.services = s
	return nil
}

// product says how extensions are started.
func (e *Engine) product(s *selection.Selection) supervise.Product {
	return supervise.Product{
		Workspace: s.Workspace, Partition: "octet",
		Options: func(entry *discovery.Entry, launch supervise.Launch) extension.Options {
			name := entry.Name
			options := extension.Options{
				Bindings: e.services.bindings, Instance: launch.InstanceID, Generation: launch.Generation,
				Environ: e.config.Machine.Lookup, Foreground: e.foreground,
				Notify: func(n extension.Notification) {
					e.config.Frontend.Show(agent.Notified{Notification: agent.Notification{Source: name, Level: n.Level, Title: n.Title, Message: n.Message}})
				},
			}
			if e.config.Flags != nil {
				options.Flags = e.config.Flags(name)
			}
			return options
		},
	}
}

// started and ended keep the processes that run.
func (s *services) started(x *extension.Extension) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.running[generation{x.Name(), x.Instance(), x.Generation()}] = x
}

func (s *services) ended(x *extension.Extension) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.running, generation{x.Name(), x.Instance(), x.Generation()})
}

// catalog is what an entry of the fleet offers, with the epoch that a call of it names.
func (s *services) catalog(entry *supervise.CatalogEntry) (list []*extension.Tool, epoch int64) {
	s.mu.Lock()
	x := s.running[generation{entry.Name, entry.InstanceID, entry.Generation}]
	s.mu.Unlock()
	if x != nil && x.Has(featurewire.FeatureDynamicTools) {
		if c := s.tools.Catalog(x); c != nil {
			return c.Tools, c.Revision
		}
	}
	return entry.Tools, 0
}

// published hands a catalog to the fleet.
func (s *services) published(x *extension.Extension, c *tools.Catalog) {
	if c == nil || !x.Has(featurewire.FeatureDynamicTools) {
		return // the fleet knows the tools of initialize, and that a generation is gone
	}
	if err := s.engine.fleet.Publish(x.Name(), x.Generation(), c.Tools); err != nil {
		x.Diagnose("tools are not offered: " + err.Error())
	}
}

// handover tells generations of what runs when they come and go.
func (s *services) handover() supervise.Handover {
	return supervise.Handover{
		Admit: func(_ context.Context, fresh supervise.Running, _ *supervise.Previous) {
			if x := fresh.Extension(); x != nil {
				s.lifecycle.Admit(x)
			}
		},
		Retire: func(ctx context.Context, old supervise.Running, reason supervise.Reason) {
			if x := old.Extension(); x != nil {
				s.lifecycle.Retire(ctx, x, lifecycle.End{Outcome: featurewire.SettlementOutcomeInterrupted, Reason: string(reason)})
			}
		},
	}
}

// contribute keeps context for the next prompt; contributed takes what was kept.
func (s *services) contribute(x *extension.Extension, list []featurewire.ContextContribution) {
	s.pool.Put(x, list)
}

func (s *services) contributed() []agent.Context {
	var list []agent.Context
	for _, c := range s.pool.Take() {
		list = append(list, agent.Context{Source: c.Extension, Label: c.Label, Content: c.Content, Placement: agent.Placement(c.Placement)})
	}
	return list
}

// hooks are those of the extensions for a conversation.
func (s *services) hooks(*Conversation) agent.Hooks { return agent.NoHooks{} }

// close ends what has no owner.
func (s *services) close() {}
