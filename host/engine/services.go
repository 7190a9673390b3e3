package engine

import (
	"context"
	"sync"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/agent"
	"github.com/octet-dev/octet/host/discovery"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/hooks"
	"github.com/octet-dev/octet/host/policy"
	"github.com/octet-dev/octet/host/selection"
	"github.com/octet-dev/octet/host/service/artifact"
	"github.com/octet-dev/octet/host/service/dialog"
	"github.com/octet-dev/octet/host/service/lifecycle"
	"github.com/octet-dev/octet/host/service/migration"
	"github.com/octet-dev/octet/host/service/policyintent"
	"github.com/octet-dev/octet/host/service/presentation"
	"github.com/octet-dev/octet/host/service/promptcontext"
	"github.com/octet-dev/octet/host/service/sessions"
	"github.com/octet-dev/octet/host/service/status"
	"github.com/octet-dev/octet/host/service/tools"
	"github.com/octet-dev/octet/host/supervise"
)

// services are what extensions get from this engine, and what it knows of them.
type services struct {
	engine   *Engine
	bindings []extension.Binding

	tools     *tools.Service
	board     *presentation.Board
	pool      promptcontext.Pool
	lifecycle *lifecycle.Service
	hooks     *hooks.Set
	pairs     hooks.Pairs
	artifacts *artifact.Service
	line      line
	sessions  *sessions.Controller // nil where nobody is in front
	reach     *reach

	mu       sync.Mutex
	running  map[generation]*extension.Extension
	last     map[string]*extension.Extension // the process of each name that was admitted last
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
		engine: e, lifecycle: lifecycle.New(), artifacts: artifact.New(),
		running: map[generation]*extension.Extension{}, last: map[string]*extension.Extension{}, observed: map[*Conversation]*observation{},
	}
	s.tools = tools.New(tools.Options{Names: tools.NewNames(e.reserved()...), Prompts: true, Published: s.published})
	s.board = &presentation.Board{
		Foreground: e.foreground,
		Changed:    func(name string) { e.config.Frontend.Show(Presented{Extension: name}) },
	}
	s.hooks = hooks.New(hooks.Options{Ready: e.ready, State: e.state, Pool: &s.pool, Failed: e.openedByFailure})
	intents := policyintent.New(policyintent.Options{Settings: func() policy.Settings { return e.Selection().Policy }})
	s.bindings = append(s.bindings,
		extension.Binding{Started: s.started, Ended: s.ended},
		s.artifacts.Binding(),
		dialog.Binding(e.person()),
		s.board.Binding(),
		s.pool.Binding(),
		s.lifecycle.Binding(),
		migration.Binding(),
		s.hooks.Binding(),
		tools.Active(s),
		status.Binding(func(c status.Contribution) {
			e.config.Frontend.Show(StatusShown{Extension: c.Extension, Surface: string(c.Surface), Text: c.Text})
		}),
	)
	s.bindings = append(append(s.bindings, s.tools.Bindings()...), intents.Bindings()...)
	reach, bindings, err := e.openReach()
	if err != nil {
		return err
	}
	s.reach, s.bindings = reach, append(s.bindings, bindings...)
	if e.config.Providers != nil {
		s.bindings = append(s.bindings, e.config.Providers.Binding())
	}
	e.services = s
	s.bindings = append(s.bindings, e.interactive()...)
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
					e.show(agent.Notified{Notification: agent.Notification{Source: name, Level: n.Level, Title: n.Title, Message: n.Message}})
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
//
// Rules: EXT03-RELOAD-001, EXT03-RELOAD-002.
func (s *services) handover() supervise.Handover {
	return supervise.Handover{Admit: s.admit, Retire: s.retire}
}

func (s *services) admit(ctx context.Context, fresh supervise.Running, previous *supervise.Previous) {
	x := fresh.Extension()
	if x == nil {
		return
	}
	s.lifecycle.Admit(x)
	if previous != nil && previous.Reason == canonicalwire.SessionEndReasonCrash {
		s.mu.Lock()
		old := s.last[x.Name()]
		s.mu.Unlock()
		if old != nil {
			s.pairs.Crash(ctx, old, x)
		}
	}
	s.mu.Lock()
	s.last[x.Name()] = x
	s.mu.Unlock()
	if owner := s.engine.foreground(); owner != "" {
		s.pairs.Activate(ctx, owner, x)
	}
}

func (s *services) retire(ctx context.Context, old supervise.Running, reason supervise.Reason) {
	x := old.Extension()
	if x == nil {
		return
	}
	outcome, ended := featurewire.SettlementOutcomeInterrupted, canonicalwire.SessionOutcomeInterrupted
	if reason == canonicalwire.SessionEndReasonShutdown {
		outcome = featurewire.SettlementOutcomeShutdown
	}
	s.pairs.Retire(ctx, x, hooks.End{Outcome: ended, Reason: reason})
	s.lifecycle.Retire(ctx, x, lifecycle.End{Outcome: outcome, Reason: string(reason)})
}

// gone lets go of what outlives the processes of an extension, because there will be none any more.
func (s *services) gone(name string) {
	s.mu.Lock()
	x := s.last[name]
	delete(s.last, name)
	s.mu.Unlock()
	if x != nil {
		s.reach.children.ShutDown(x)
	}
}

// contribute keeps context for the next prompt.
func (s *services) contribute(x *extension.Extension, list []featurewire.ContextContribution) {
	s.pool.Put(x, list)
}
