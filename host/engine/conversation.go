package engine

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/agent"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/model"
	"github.com/octet-dev/octet/host/permission"
	"github.com/octet-dev/octet/host/service/composition"
	"github.com/octet-dev/octet/host/session"
	"github.com/octet-dev/octet/host/tool"
)

// Conversation is one session with a model, open for this process alone.
type Conversation struct {
	engine   *Engine
	session  *session.Session
	agent    *agent.Agent
	fresh    bool // it was made by this conversation, and goes with it if nothing was said
	frontend Frontend
	apart    bool                      // the frontend is not that of the engine
	profile  func() permission.Profile // nil: none bounds it
	own      []tool.Tool               // of this conversation alone
	say      func(text string)         // nil: see Opening

	life context.Context // ends with the conversation; its cause settles the run
	end  context.CancelCauseFunc
	runs sync.WaitGroup
	// turn holds one token: who has it may run the agent. Sessions are controlled between two runs.
	turn       chan struct{}
	waits      chan struct{} // holds one token once the conversation waits again
	compacting atomic.Bool

	arguments map[string][]byte // of running calls, by id; the emitting goroutine has it

	mu        sync.Mutex
	name      string
	provider  string
	model     model.Info
	reasoning string
	active    []string // the tools that the model may use; nil: all
	closed    bool

	closeOnce sync.Once
	closeErr  error
}

// ErrClosed says that the engine or the conversation is closed.
var ErrClosed = errors.New("the conversation is closed")

// NewSession begins an empty conversation and puts it in front of the person.
func (e *Engine) NewSession(ctx context.Context) (*Conversation, error) {
	reference, err := e.reference("")
	if err != nil {
		return nil, err
	}
	info, err := e.config.Store.Create(ctx, session.New{Workspace: e.Workspace(), Model: reference})
	if err != nil {
		return nil, err
	}
	c, err := e.converse(ctx, info, true)
	if err != nil {
		_, _ = e.config.Store.Delete(ctx, info.ID) // nothing is in it
	}
	return c, err
}

// Resume goes on with a conversation. Session errors are those of session.Store.Begin.
func (e *Engine) Resume(ctx context.Context, id string) (*Conversation, error) {
	info, err := e.config.Store.Info(ctx, id)
	if err != nil {
		return nil, err
	}
	return e.converse(ctx, info, false)
}

// Opening says how a conversation is held that is one of many.
type Opening struct {
	// Frontend is shown the events of this conversation alone, and is asked on its behalf; nil: that of the engine.
	Frontend Frontend
	// Profile bounds what its tools may do without being asked about, beside the policy; nil: nothing does. It is
	// asked about every call.
	Profile func() permission.Profile
	// Say takes what an extension says in the name of the user while no run goes on; it must not wait. Nil: a run
	// begins with it.
	Say func(text string)
	// Tools are those that this conversation has beside the others. Names that are taken are left out.
	Tools []tool.Tool
}

// Attach goes on with a conversation beside others. Errors are those of Resume.
func (e *Engine) Attach(ctx context.Context, id string, o Opening) (*Conversation, error) {
	info, err := e.config.Store.Info(ctx, id)
	if err != nil {
		return nil, err
	}
	return e.hold(ctx, info, false, o)
}

// Fork begins a conversation with what was said in another one up to an entry, its head if that is empty.
func (e *Engine) Fork(ctx context.Context, id string, at session.EntryID) (*Conversation, error) {
	info, err := e.config.Store.Fork(ctx, id, at)
	if err != nil {
		return nil, err
	}
	return e.converse(ctx, info, false)
}

// reference is the model to use for a session that used one.
func (e *Engine) reference(used string) (string, error) {
	for _, reference := range []string{e.config.Model, used, e.config.Models.Default()} {
		if reference != "" {
			return reference, nil
		}
	}
	return "", ErrNoModel
}

// ErrNoModel says that nobody named a model and there is no default.
var ErrNoModel = errors.New("no model is chosen: use --model, or set the key of a provider; octet doctor tells which are set")

// ModelError says that a model cannot be had.
type ModelError struct {
	Reference string
	Err       error
}

// Error names the model and says why.
func (e *ModelError) Error() string { return fmt.Sprintf("model %s: %v", e.Reference, e.Err) }

// Unwrap returns the cause.
func (e *ModelError) Unwrap() error { return e.Err }

// serving finds who serves a model. An extension may: where nobody else does, they are waited for.
func (e *Engine) serving(ctx context.Context, reference string) (model.Provider, model.Info, error) {
	provider, info, err := e.config.Models.Open(ctx, reference)
	if err != nil {
		if late := e.Ready(ctx); late != nil {
			return nil, model.Info{}, late
		}
		provider, info, err = e.config.Models.Open(ctx, reference)
	}
	if err != nil {
		return nil, model.Info{}, &ModelError{reference, err}
	}
	return provider, info, nil
}

// converse opens a session and puts it in front.
func (e *Engine) converse(ctx context.Context, info session.Info, fresh bool) (*Conversation, error) {
	return e.hold(ctx, info, fresh, Opening{})
}

func (e *Engine) hold(ctx context.Context, info session.Info, fresh bool, o Opening) (*Conversation, error) {
	if len(e.config.Require) > 0 {
		if err := e.Ready(ctx); err != nil {
			return nil, err
		}
		if err := e.missing(); err != nil {
			return nil, err
		}
	}
	reference, err := e.reference(info.Model)
	if err != nil {
		return nil, err
	}
	provider, described, err := e.serving(ctx, reference)
	if err != nil {
		return nil, err
	}
	held, err := e.config.Store.Begin(ctx, info.ID)
	if err != nil {
		return nil, err
	}
	c := &Conversation{
		engine: e, session: held, fresh: fresh, name: info.Name, frontend: o.Frontend, profile: o.Profile, own: o.Tools, say: o.Say,
		provider: provider.Name(), model: described, reasoning: e.config.Reasoning, arguments: map[string][]byte{},
		turn: make(chan struct{}, 1), waits: make(chan struct{}, 1),
	}
	c.apart = c.frontend != nil
	if !c.apart {
		c.frontend = e.config.Frontend
	}
	c.life, c.end = context.WithCancelCause(context.Background())
	c.agent, err = agent.New(c.options(provider))
	if err != nil {
		return nil, errors.Join(err, held.Close())
	}
	if reference != info.Model && !fresh {
		if err := c.agent.SetModel(ctx, provider, described, c.reasoning); err != nil {
			return nil, errors.Join(err, held.Close())
		}
	}
	// From here on nothing but a closed engine is in the way: the one that is in front ends before this one begins.
	if e.config.Interactive {
		e.fronting.Lock()
		defer e.fronting.Unlock()
		if before := e.Front(); before != nil {
			if err := before.close(errSwitched); err != nil {
				e.failed("a session was not given back in order", err)
			}
		}
	}
	e.mu.Lock()
	if e.closed {
		e.mu.Unlock()
		return nil, errors.Join(ErrClosed, held.Close())
	}
	e.open[c] = true
	if e.config.Warming.Every > 0 {
		c.runs.Add(1)
		go c.keepWarm()
	}
	e.front = c
	e.mu.Unlock()
	e.services.reach.opened(c)
	e.services.opened(ctx, c)
	if e.services.sessions != nil {
		e.services.sessions.Rebind()
	}
	c.frontend.Show(SessionOpened{
		Session: info.ID, Name: info.Name, Resumed: info.Entries > 0, Provider: provider.Name(), Model: described.Model,
		ByExtension: e.changing.going() != nil,
	})
	return c, nil
}

// options are what the agent of the conversation works with.
func (c *Conversation) options(provider model.Provider) agent.Options {
	e := c.engine
	return agent.Options{
		Provider: provider, Model: c.model, Reasoning: c.reasoning,
		Tools: toolSource{c}, Interface: e.config.Interface, Visible: composition.Visible,
		Warming: e.config.Warming, Clock: e.config.Clock, Session: journal{c.session, e.services.reach.children}, Permission: e.gate(c.session.Owner(), c.profile),
		Hooks: e.services.hooks, Emit: c.emit, System: system(e.Workspace()),
	}
}

// system is the beginning of the system prompt.
func system(workspace string) string {
	return "You are octet, a coding agent. You help a person with the software in the workspace " + workspace + ".\n" +
		"Use the tools that you are given: look before you change something, and say what you have done. Paths are " +
		"relative to the workspace. Be brief."
}

// emit passes the events of the agent on.
func (c *Conversation) emit(event agent.Event) {
	c.compacted(event)
	c.engine.services.observe(c, event)
	c.frontend.Show(event)
	switch e := event.(type) {
	case agent.ToolStarted:
		c.arguments[e.CallID] = e.Arguments
	case agent.ToolFinished:
		if drawn, ok := c.engine.services.rendered(c, e, c.arguments[e.CallID]); ok {
			c.frontend.Show(drawn)
		}
		delete(c.arguments, e.CallID)
	}
}

// ID is the id of the session.
func (c *Conversation) ID() string { return c.session.ID() }

// Info describes the session as it is now.
func (c *Conversation) Info(ctx context.Context) (session.Info, error) { return c.session.Info(ctx) }

// Branch is what was said so far.
func (c *Conversation) Branch(ctx context.Context) ([]session.Stored, error) {
	return c.session.Branch(ctx)
}

// Model is who answers: the provider, the model, and how much it reasons.
func (c *Conversation) Model() (provider string, info model.Info, reasoning string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.provider, c.model, c.reasoning
}

// scope is on whose behalf extensions are asked. What owns things of extensions is opaque, and never the id
// that the session is shown by.
//
// Rule: EXT04-OWNER-006.
func (c *Conversation) scope() extension.Scope {
	c.mu.Lock()
	defer c.mu.Unlock()
	shown := extension.HostState{SessionID: c.ID(), SessionName: c.name, Model: c.model.Model}
	if c.reasoning != "" {
		shown.Reasoning = wirejson.AppendString(nil, c.reasoning)
	}
	return extension.Scope{Owner: c.session.Owner(), Host: shown}
}

// Prompt takes what the person says to its end. Ending the context cancels the run.
func (c *Conversation) Prompt(ctx context.Context, p agent.Prompt) (agent.Outcome, error) {
	ctx, done, err := c.admit(ctx)
	if err != nil {
		return agent.Outcome{}, err
	}
	defer done()
	if err := c.engine.Ready(ctx); err != nil {
		return cancelled(err)
	}
	release, err := c.hold(ctx)
	switch {
	case errors.Is(err, errSwitched), errors.Is(err, errReread):
		return agent.Outcome{}, ErrClosed // it is not lost: another conversation can take it
	case err != nil:
		return cancelled(err)
	}
	defer release()
	defer c.rested()
	return c.agent.Run(ctx, p)
}

// Steer tells the model something with the next request of the run. agent.ErrIdle if there is no run, or it is
// ending. It may be called while an event is shown.
func (c *Conversation) Steer(text string) error { return c.agent.Steer(text) }

// Aside asks the model about the conversation without becoming a part of it, also while a run goes on.
func (c *Conversation) Aside(ctx context.Context, question string) (agent.Aside, error) {
	ctx, done, err := c.admit(ctx)
	if err != nil {
		return agent.Aside{}, err
	}
	defer done()
	return c.agent.Aside(ctx, question)
}

// SetPlainCompaction says whether the conversation is summed up without asking a model.
func (c *Conversation) SetPlainCompaction(plain bool) { c.agent.SetPlain(plain) }

// Rewind goes back to an entry of the conversation, or to its beginning if that is empty, and waits until nothing
// runs. What was said since stays on disk, and no model is told it any more. session.ErrNoEntry.
func (c *Conversation) Rewind(ctx context.Context, to session.EntryID) error {
	return c.between(ctx, func() error {
		if err := c.session.SetHead(ctx, to); err != nil {
			return err
		}
		return c.agent.SetSession(c.agent.Session()) // what it knows of the last request is void
	})
}

// Add appends to the conversation without asking a model, and waits until nothing runs. What is appended is made
// from the branch as it is then; an error of it is returned, and nothing is appended.
func (c *Conversation) Add(ctx context.Context, make func(branch []session.Stored) ([]session.Entry, error)) (ids []session.EntryID, err error) {
	err = c.between(ctx, func() error {
		ids, err = c.add(ctx, make)
		return err
	})
	return ids, err
}

// AddNow is Add for who does not wait: ErrBusy where something runs.
func (c *Conversation) AddNow(ctx context.Context, make func(branch []session.Stored) ([]session.Entry, error)) ([]session.EntryID, error) {
	ctx, done, err := c.admit(ctx)
	if err != nil {
		return nil, err
	}
	defer done()
	select {
	case c.turn <- struct{}{}:
	default:
		return nil, ErrBusy
	}
	defer func() { <-c.turn }()
	return c.add(ctx, make)
}

// add is Add for who holds the turn.
func (c *Conversation) add(ctx context.Context, make func(branch []session.Stored) ([]session.Entry, error)) ([]session.EntryID, error) {
	branch, err := c.session.Branch(ctx)
	if err != nil {
		return nil, err
	}
	entries, err := make(branch)
	if err != nil || len(entries) == 0 {
		return nil, err
	}
	return c.session.Append(ctx, entries...)
}

// between does something while nothing runs.
func (c *Conversation) between(ctx context.Context, do func() error) error {
	ctx, done, err := c.admit(ctx)
	if err != nil {
		return err
	}
	defer done()
	release, err := c.hold(ctx)
	if err != nil {
		return err
	}
	defer release()
	return do()
}

// cancelled is the outcome of a run that was given up before it began.
func cancelled(reason error) (agent.Outcome, error) {
	status := agent.Cancelled
	switch {
	case errors.Is(reason, agent.ErrShutdown):
		status = agent.Shutdown
	case errors.Is(reason, agent.ErrInterrupted):
		status = agent.Interrupted
	}
	return agent.Outcome{Status: status, Code: agent.CodeCancelled, Reason: "it was given up before it began"}, nil
}

// admit counts an operation in, whose context ends with the conversation.
func (c *Conversation) admit(ctx context.Context) (context.Context, func(), error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.closed {
		return nil, nil, ErrClosed
	}
	c.runs.Add(1)
	ctx, cancel := context.WithCancelCause(ctx)
	stop := context.AfterFunc(c.life, func() { cancel(context.Cause(c.life)) })
	return ctx, func() { stop(); cancel(nil); c.runs.Done() }, nil
}

// Idle waits until nothing runs.
func (c *Conversation) Idle(ctx context.Context) error { return c.agent.Idle(ctx) }

// Compact sums the conversation up.
func (c *Conversation) Compact(ctx context.Context, instructions string) (agent.Compaction, error) {
	ctx, done, err := c.admit(ctx)
	if err != nil {
		return agent.Compaction{}, err
	}
	defer done()
	release, err := c.hold(ctx)
	if err != nil {
		return agent.Compaction{}, err
	}
	defer release()
	return c.agent.Compact(ctx, instructions)
}

// CompactUnless is Compact for who does not wait for what runs once a channel is closed: ErrBusy.
func (c *Conversation) CompactUnless(ctx context.Context, busy <-chan struct{}) (agent.Compaction, error) {
	ctx, done, err := c.admit(ctx)
	if err != nil {
		return agent.Compaction{}, err
	}
	defer done()
	select {
	case c.turn <- struct{}{}:
	case <-busy:
		return agent.Compaction{}, ErrBusy
	case <-ctx.Done():
		return agent.Compaction{}, context.Cause(ctx)
	}
	defer func() { <-c.turn }()
	return c.agent.Compact(ctx, "")
}

// ErrBusy says that something else runs that was not waited for.
var ErrBusy = errors.New("the conversation is busy; ask again when nothing runs")

// SetModel lets another model answer from here on.
func (c *Conversation) SetModel(ctx context.Context, reference, reasoning string) error {
	provider, info, err := c.engine.serving(ctx, reference)
	if err != nil {
		return err
	}
	if err := c.agent.SetModel(ctx, provider, info, reasoning); err != nil {
		return err
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.provider, c.model, c.reasoning = provider.Name(), info, reasoning
	return nil
}

// SetName names the session.
func (c *Conversation) SetName(ctx context.Context, name string) error {
	if err := c.session.SetName(ctx, name); err != nil {
		return err
	}
	c.mu.Lock()
	c.name = name
	c.mu.Unlock()
	c.engine.services.tell(c, featurewire.MethodSessionInfoChanged, news{"name": name})
	return nil
}

// Close ends what runs as interrupted and gives the session back.
func (c *Conversation) Close() error { return c.close(agent.ErrInterrupted) }

// close ends the conversation for a reason that its run is settled with.
func (c *Conversation) close(reason error) error {
	c.closeOnce.Do(func() {
		c.mu.Lock()
		c.closed = true
		c.mu.Unlock()
		c.end(reason)
		c.runs.Wait()
		c.engine.services.settled(c, reason)
		c.engine.services.reach.settled(c)
		e := c.engine
		e.mu.Lock()
		delete(e.open, c)
		front := e.front == c
		if front {
			e.front = e.another()
		}
		e.mu.Unlock()
		if front {
			e.left()
		}
		info, err := c.session.Info(context.Background())
		c.closeErr = c.session.Close()
		if c.fresh && err == nil && info.Entries == 0 {
			_, _ = e.config.Store.Delete(context.Background(), info.ID)
		}
	})
	return c.closeErr
}

// Latest is the session of the workspace that was used last, or session.ErrNotFound.
func (e *Engine) Latest(ctx context.Context) (session.Info, error) {
	list, err := e.config.Store.List(ctx, session.Filter{Workspace: e.Workspace(), Limit: 1})
	if err != nil {
		return session.Info{}, err
	}
	if len(list) == 0 {
		return session.Info{}, fmt.Errorf("workspace %s: %w", e.Workspace(), session.ErrNotFound)
	}
	return list[0], nil
}
