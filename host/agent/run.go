package agent

import (
	"context"
	"errors"
	"sync"
	"sync/atomic"
	"time"

	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/model"
	"github.com/octet-dev/octet/host/session"
)

// Errors of an agent. Causes of a context decide how a run that it ends is settled.
var (
	// ErrBusy: a run or a compaction is going on.
	ErrBusy = errors.New("the agent is busy; wait for the run to end, or steer it")
	// ErrIdle: there is no run that could be told something.
	ErrIdle = errors.New("no run is going on that could be told something")
	// ErrInterrupted as the cause of a context settles a run as interrupted.
	ErrInterrupted = errors.New("interrupted")
	// ErrDisconnected as the cause settles a run as frontend_disconnected.
	ErrDisconnected = errors.New("the frontend is gone")
	// ErrShutdown as the cause settles a run as shutdown.
	ErrShutdown = errors.New("the host is shutting down")
	// ErrNothingToCompact: there is too little to sum up.
	ErrNothingToCompact = errors.New("there is nothing to sum up yet")
)

// Agent holds one conversation. Its methods may be called from any goroutine.
type Agent struct {
	mu      sync.Mutex
	options Options       // changed only by who has the agent
	taken   bool          // by a run, a compaction or a change
	free    chan struct{} // closed while it is not taken
	running string        // the run
	plain   atomic.Bool   // summaries are made without a model
	inbox   *inbox        // of the run

	// Of who has the agent.
	measured measure
	warmed   int // refreshes of the cache since the last answer
	last     *model.Request
	lastUsed conversation.Usage
	lastAt   time.Time
}

// New makes an agent. An error names the option that is missing.
func New(options Options) (*Agent, error) {
	complete, err := options.complete()
	if err != nil {
		return nil, err
	}
	free := make(chan struct{})
	close(free)
	return &Agent{options: complete, free: free}, nil
}

// take makes the caller the only one who works with the conversation, until release.
func (a *Agent) take() error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.taken {
		return ErrBusy
	}
	a.taken, a.free = true, make(chan struct{})
	return nil
}

func (a *Agent) release() {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.taken, a.running, a.inbox = false, "", nil
	close(a.free)
}

// Running is the id of the run that is going on, empty if there is none or it is not stored yet.
func (a *Agent) Running() string {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.running
}

// Idle waits until nothing runs, or the context ends.
func (a *Agent) Idle(ctx context.Context) error {
	for {
		a.mu.Lock()
		taken, free := a.taken, a.free
		a.mu.Unlock()
		if !taken {
			return nil
		}
		select {
		case <-free:
		case <-ctx.Done():
			return context.Cause(ctx)
		}
	}
}

// Session is the conversation.
func (a *Agent) Session() Journal {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.options.Session
}

// SetModel lets another model answer from here on; that is stored. ErrBusy.
func (a *Agent) SetModel(ctx context.Context, p model.Provider, info model.Info, reasoning string) error {
	if err := a.take(); err != nil {
		return err
	}
	defer a.release()
	if p == nil || info.Model == "" {
		return errors.New("an agent needs a provider and a model")
	}
	change := session.ModelChange{Provider: p.Name(), Model: info.Model, Reasoning: reasoning}
	if _, err := a.options.Session.Commit(ctx, session.Batch{Entries: []session.Entry{{Value: change}}}); err != nil {
		return err
	}
	a.mu.Lock()
	a.options.Provider, a.options.Model, a.options.Reasoning = p, info, reasoning
	a.mu.Unlock()
	a.forget()
	a.options.Emit(ModelChanged{Provider: change.Provider, Model: change.Model, Reasoning: change.Reasoning})
	return nil
}

// SetSession goes on in another conversation. ErrBusy.
func (a *Agent) SetSession(j Journal) error {
	if err := a.take(); err != nil {
		return err
	}
	defer a.release()
	if j == nil {
		return errors.New("an agent needs a session")
	}
	a.mu.Lock()
	a.options.Session = j
	a.mu.Unlock()
	a.forget()
	return nil
}

// forget drops what is known of the last request.
func (a *Agent) forget() {
	a.measured, a.last, a.warmed, a.lastUsed = measure{}, nil, 0, conversation.Usage{}
}

// Run takes one prompt to its end: as many turns as it needs. It returns once the outcome is stored and
// emitted. The error is ErrBusy, or that of a store that could not keep the outcome; a run that failed,
// was cancelled or denied is an Outcome without error.
func (a *Agent) Run(ctx context.Context, p Prompt) (Outcome, error) {
	if err := a.take(); err != nil {
		return Outcome{}, err
	}
	defer a.release()
	r := a.begin(ctx)
	a.mu.Lock()
	a.inbox = &r.inbox
	a.mu.Unlock()
	return r.settle(r.converse(p))
}

// run is one prompt on its way, or a compaction outside of any. All of it belongs to one goroutine, except
// what is said to be shared.
type run struct {
	*Options
	agent   *Agent
	ctx     context.Context
	started time.Time
	inbox   inbox // shared, under agent.mu

	id      string
	turn    int
	context []Context // for the system prompt
	system  *string   // assembled once

	ids       map[string]bool // of all calls of the conversation
	text      string          // the last answer
	turns     int             // answers
	calls     int
	usage     conversation.Usage
	uncertain bool
	uncompact bool // a compaction has failed: none is begun by itself any more
}

func (a *Agent) begin(ctx context.Context) *run {
	return &run{Options: &a.options, agent: a, ctx: ctx, started: a.options.Clock.Now(), ids: map[string]bool{}}
}

func (r *run) at() At { return At{Run: r.id, Turn: r.turn} }

func (r *run) scope() Scope {
	return Scope{
		Session: r.Session.ID(), Owner: r.Session.Owner(), Run: r.id, Turn: r.turn,
		Provider: r.Provider.Name(), Model: r.Model.Model, Reasoning: r.Reasoning,
	}
}

func (r *run) notify(notifications []Notification) {
	for _, n := range notifications {
		r.Emit(Notified{r.at(), n})
	}
}

// commit writes a batch, also when the run is being cancelled.
func (r *run) commit(batch session.Batch) (session.Receipt, error) {
	receipt, err := r.Session.Commit(context.WithoutCancel(r.ctx), batch)
	if err != nil {
		return receipt, &ending{Failed, CodeStore, "the conversation cannot be stored: " + err.Error()}
	}
	return receipt, nil
}

// branch reads the conversation.
func (r *run) branch() ([]session.Stored, error) {
	branch, err := r.Session.Branch(context.WithoutCancel(r.ctx))
	if err != nil {
		return nil, &ending{Failed, CodeStore, "the conversation cannot be read: " + err.Error()}
	}
	for _, stored := range branch {
		if m, ok := stored.Value.(session.Message); ok {
			for _, call := range m.Message.ToolCalls() {
				r.ids[call.CallID] = true
			}
		}
	}
	return branch, nil
}

// converse goes through the turns of a run. Nil means that the model was done.
func (r *run) converse(p Prompt) error {
	if err := r.open(p); err != nil {
		return err
	}
	for more := true; more; r.turn++ {
		var err error
		if more, err = r.once(); err != nil {
			return err
		}
	}
	r.turn--
	r.notify(r.Hooks.AfterResponse(r.ctx, r.scope(), r.text))
	return nil
}

// ending is why a run ends before the model was done.
type ending struct {
	status Status
	code   string
	reason string
}

func (e *ending) Error() string { return e.reason }

// interrupted says how the end of the context ends the run.
func (r *run) interrupted() error {
	cause := context.Cause(r.ctx)
	end := &ending{Cancelled, CodeCancelled, "the run was cancelled"}
	for status, known := range map[Status]error{Interrupted: ErrInterrupted, Disconnected: ErrDisconnected, Shutdown: ErrShutdown} {
		if errors.Is(cause, known) {
			end = &ending{status, string(status), known.Error()}
		}
	}
	switch {
	case errors.Is(cause, context.DeadlineExceeded):
		end.reason = "the run took longer than it may"
	case cause != nil && !errors.Is(cause, context.Canceled):
		end.reason = cause.Error()
	}
	return end
}

// settle stores and tells the one outcome.
func (r *run) settle(failure error) (Outcome, error) {
	outcome := Outcome{
		Run: r.id, Status: Completed, Text: r.text, Turns: r.turns, Calls: r.calls, Usage: r.usage, Uncertain: r.uncertain,
		Duration: r.Clock.Now().Sub(r.started), Undelivered: r.agent.closeInbox(),
	}
	if failure != nil {
		end := &ending{Failed, CodeProvider, failure.Error()}
		errors.As(failure, &end)
		outcome.Status, outcome.Code, outcome.Reason = end.status, end.code, end.reason
	}
	var err error
	if r.id != "" {
		var receipt *ending
		_, err = r.commit(session.Batch{Settle: &session.Settlement{
			Run: r.id, Outcome: outcome.Status.stored(), Code: outcome.Code, Text: outcome.Reason,
		}})
		if errors.As(err, &receipt) && outcome.Status != Failed {
			outcome.Status, outcome.Code, outcome.Reason = receipt.status, receipt.code, receipt.reason
		}
		r.Permission.Settled(r.id)
	}
	r.Emit(RunSettled{Outcome: outcome, Millis: outcome.Duration.Milliseconds()})
	return outcome, err
}

// stored is the status as the store names it.
func (s Status) stored() session.Outcome {
	switch s {
	case Completed:
		return session.Completed
	case Cancelled:
		return session.Cancelled
	case Failed, Denied:
		return session.Errored
	}
	return session.Interrupted
}
