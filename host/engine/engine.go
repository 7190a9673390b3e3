// Package engine puts one workspace together: which extensions there are and run, the services that they
// get, the tools of all of them, the store, and a conversation with a model on top. The terminal is one
// frontend of it; a server is another.
//
// It decides nothing itself: every decision is in the package that it asks for it.
package engine

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/octet-dev/octet/host/agent"
	"github.com/octet-dev/octet/host/diagnostic"
	"github.com/octet-dev/octet/host/model"
	"github.com/octet-dev/octet/host/policy"
	"github.com/octet-dev/octet/host/selection"
	"github.com/octet-dev/octet/host/service/provider"
	"github.com/octet-dev/octet/host/service/terminal"
	"github.com/octet-dev/octet/host/session"
	"github.com/octet-dev/octet/host/supervise"
	"github.com/octet-dev/octet/host/tool/builtin"
)

// Models finds models by what people write for them.
type Models interface {
	// Open returns who serves a model. The error says which references there are.
	Open(ctx context.Context, reference string) (model.Provider, model.Info, error)
	// Default is the reference that is used where nobody names one, "" if there is none.
	Default() string
}

// Config is what an engine works with. Store, Models and Frontend are required.
type Config struct {
	Machine    selection.Machine
	Invocation selection.Invocation
	// Surface says what is started; extensions start on policy.Session alone.
	Surface policy.Surface
	// Flags are the words of the command line for the flags of an extension; nil: none.
	Flags func(extension string) []string
	// Store is where conversations are kept. The engine does not close it.
	Store    *session.Store
	Models   Models
	Frontend Frontend
	// Providers are the models that extensions serve; nil: they serve none.
	Providers *provider.Registry
	// Model is the reference of the model; empty: that of the session, or the default.
	Model     string
	Reasoning string
	Interface agent.ToolInterface
	// Interactive says that a person is in front: extensions may control the session in front then.
	Interactive bool
	// Line is the line that the person edits; nil: none is edited.
	Line Line
	// Terminal is that of the person, where extensions can have it for a while; nil: they cannot.
	Terminal terminal.Frontend
	// Warming says when the provider's cache is kept alive while a conversation waits; zero: never.
	Warming agent.Warming
	// Clock is the time of runs and of waiting; nil: the system's.
	Clock agent.Clock
	// Require are names of tools without which no conversation begins.
	Require []string
}

// Engine is one workspace at work. Its methods may be called from any goroutine.
type Engine struct {
	config   Config
	services *services
	fleet    *supervise.Fleet
	builtin  *builtin.Tools
	log      diagnostic.Log

	started chan struct{} // closed once every extension has started or is parked

	// reloading orders reloads; it is held for as long as one takes.
	reloading sync.Mutex

	mu        sync.Mutex
	selection *selection.Selection
	open      map[*Conversation]bool
	front     *Conversation // the one that the person sees, nil if there is none
	closed    bool

	fronting sync.Mutex // orders conversations that come to the front
	changing change
	dialogs  atomic.Int64 // so many were begun

	unanswered sync.Map // extension/hook that a warning was given for

	closeOnce sync.Once
	ending    []supervise.Ending
}

// Open selects and starts. It does not wait for extensions: Ready does. A wrong invocation or configuration
// is an error as in selection.Resolve; an extension that does not start is a diagnostic.
func Open(ctx context.Context, config Config) (*Engine, error) {
	if config.Store == nil || config.Models == nil || config.Frontend == nil {
		return nil, errors.New("engine: a store, models and a frontend are required")
	}
	selected, err := selection.Resolve(config.Machine, config.Invocation, config.Surface)
	if err != nil {
		return nil, err
	}
	e := &Engine{
		config: config, selection: selected, started: make(chan struct{}), open: map[*Conversation]bool{},
	}
	if err := e.openTools(selected); err != nil {
		return nil, err
	}
	if err := e.serve(); err != nil {
		return nil, err
	}
	e.diagnose(selected.Diagnostics...)
	e.stopped(selected)
	e.fleet = supervise.NewFleet(e.members(selected), supervise.FleetOptions{
		Options: supervise.Options{Handover: e.services.handover()}, Reserved: e.reserved(), OnChange: e.changed,
	})
	go func() {
		defer close(e.started)
		e.reported(e.fleet.Start(context.WithoutCancel(ctx)))
	}()
	return e, nil
}

// Ready waits until every extension has started or is parked.
func (e *Engine) Ready(ctx context.Context) error {
	select {
	case <-e.started:
		return nil
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}

// Selection is what was selected last. Treat it as read-only.
func (e *Engine) Selection() *selection.Selection {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.selection
}

// Workspace is the canonical root of the workspace.
func (e *Engine) Workspace() string { return e.Selection().Workspace }

// Fleet are the extensions.
func (e *Engine) Fleet() *supervise.Fleet { return e.fleet }

// Store is where conversations are kept.
func (e *Engine) Store() *session.Store { return e.config.Store }

// Models are those that conversations can be had with.
func (e *Engine) Models() Models { return e.config.Models }

// Diagnostics are what was told so far, and how many older ones were dropped.
func (e *Engine) Diagnostics() ([]diagnostic.Diagnostic, int) { return e.log.Entries() }

// Close settles every run as ended by the shutdown, gives the sessions back, and takes the extensions down,
// all within the limit: supervise.ProductCap, or supervise.SignalCap behind a signal. It returns when nothing
// is left.
func (e *Engine) Close(limit time.Duration) []supervise.Ending {
	e.closeOnce.Do(func() {
		begun := time.Now()
		e.mu.Lock()
		e.closed = true
		list := make([]*Conversation, 0, len(e.open))
		for c := range e.open {
			list = append(list, c)
		}
		e.mu.Unlock()
		if e.services.sessions != nil {
			e.services.sessions.Close()
		}
		var tasks sync.WaitGroup
		for _, c := range list {
			tasks.Go(func() { c.close(agent.ErrShutdown) })
		}
		settled := make(chan struct{})
		go func() { tasks.Wait(); close(settled) }()
		select {
		case <-settled:
		case <-time.After(limit / 2): // a run that does not settle loses its extensions
		}
		e.ending = e.fleet.Close(max(limit-time.Since(begun), limit/4))
		e.services.line.close()
		<-settled
		<-e.started
		_ = e.builtin.Close() // it was read or written to the end
		if err := e.services.reach.close(); err != nil {
			e.failed("what extensions left is not taken away", err)
		}
	})
	return e.ending
}

// Kill ends every process of an extension at once. Close must still be called.
func (e *Engine) Kill() { e.fleet.Kill() }

// members are the extensions that would start, as a fleet takes them.
func (e *Engine) members(s *selection.Selection) []supervise.Member {
	product := e.product(s)
	var members []supervise.Member
	for i := range s.Extensions {
		if x := &s.Extensions[i]; x.Reason == policy.Started {
			members = append(members, product.Member(x.Entry))
		}
	}
	return members
}

// reserved are the tool names that no extension gets.
func (e *Engine) reserved() []string {
	names := []string{"discover_tools", "run_tool"}
	for _, t := range e.builtin.Tools() {
		names = append(names, t.Definition().Name)
	}
	return names
}

// stopped tells, once per cause, that enabled extensions do not start.
func (e *Engine) stopped(s *selection.Selection) {
	for _, line := range s.Stopped() {
		e.diagnose(diagnostic.Diagnostic{Level: diagnostic.Warning, Rule: "MAN-START-013", Message: line, Remedy: "octet extension list tells more"})
	}
}

// reported tells of extensions that did not start.
//
// Rules: MAN-START-012, MAN-DIAG-004.
func (e *Engine) reported(reports []supervise.Report) {
	for _, r := range reports {
		if r.Err == nil {
			continue
		}
		e.diagnose(diagnostic.Diagnostic{
			Level: diagnostic.Error, Rule: "MAN-DIAG-004",
			Message: fmt.Sprintf("extension %q launch failed: %v", r.Name, r.Err),
			Remedy:  "octet goes on without it; correct it, then /extensions reload",
		})
	}
}

// diagnose keeps diagnostics and shows them.
func (e *Engine) diagnose(list ...diagnostic.Diagnostic) {
	e.log.Add(list...)
	for _, d := range list {
		e.show(Diagnosed{d})
	}
}

// show shows news that belong to no conversation: to the frontend of the engine, and to those of conversations that
// have their own.
func (e *Engine) show(news agent.Event) {
	e.config.Frontend.Show(news)
	e.mu.Lock()
	var others []Frontend
	for c := range e.open {
		if c.apart {
			others = append(others, c.frontend)
		}
	}
	e.mu.Unlock()
	for _, f := range others {
		f.Show(news)
	}
}

// failed tells of something that went wrong beside what anybody waits for.
func (e *Engine) failed(what string, err error) {
	e.diagnose(diagnostic.Diagnostic{Level: diagnostic.Warning, Message: what + ": " + err.Error()})
}

// changed passes a step of an extension on.
func (e *Engine) changed(c supervise.Change) {
	e.show(ExtensionChanged{Name: c.Name, State: c.State, Generation: c.Generation, Reason: c.Reason})
}

// missing says which required tools nobody offers.
func (e *Engine) missing() error {
	var lacking []string
	catalog := e.fleet.Catalog()
	for _, name := range e.config.Require {
		_, found := catalog.Find(name)
		if found == nil && e.builtin.Find(name) == nil {
			lacking = append(lacking, fmt.Sprintf("%q", name))
		}
	}
	if len(lacking) == 0 {
		return nil
	}
	return &MissingToolsError{Names: strings.Join(lacking, ", ")}
}

// MissingToolsError says that required tools are not offered.
type MissingToolsError struct{ Names string }

// Error names them.
func (e *MissingToolsError) Error() string {
	return "nobody offers the required tools " + e.Names + "; enable the extension that has them, or drop --require-tool"
}
