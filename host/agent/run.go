package agent

import (
	"context"
	"errors"
	"sync"

	"github.com/octet-dev/octet/host/model"
)

// Errors of an agent. Causes of a context decide how a run that it ends is settled.
var (
	// ErrBusy: a run or a compaction is going on.
	ErrBusy = errors.New("the agent is busy; wait for the run to end, or steer it")
	// ErrIdle: there is no run that could be told something.
	ErrIdle = errors.New("no run is going on")
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
	options Options

	mu   sync.Mutex
	idle chan struct{} // closed while nothing runs
}

// New makes an agent. An error names the option that is missing.
func New(options Options) (*Agent, error) { return &Agent{options: options}, nil }

// Run takes one prompt to its end: as many turns as it needs. It returns once the outcome is stored and
// emitted. The error is ErrBusy, or that of a store that could not keep the outcome; a run that failed,
// was cancelled or denied is an Outcome without error.
func (a *Agent) Run(ctx context.Context, p Prompt) (Outcome, error) { return Outcome{}, nil }

// Steer tells the model something with the next request of the run: behind the results of the calls that
// run now. ErrIdle if there is no run, or it is ending.
func (a *Agent) Steer(text string) error { return nil }

// FollowUp tells the model something once it would be done; the run goes on with it. ErrIdle as for Steer.
func (a *Agent) FollowUp(text string) error { return nil }

// Running is the id of the run that is going on, empty if there is none or it is not stored yet.
func (a *Agent) Running() string { return "" }

// Idle waits until nothing runs, or the context ends.
func (a *Agent) Idle(ctx context.Context) error { return nil }

// Compact sums up the conversation at once. ErrBusy, ErrNothingToCompact, or why there is no summary; then
// the conversation is as it was.
func (a *Agent) Compact(ctx context.Context, instructions string) (Compaction, error) {
	return Compaction{}, nil
}

// Warm refreshes the provider's cache if that pays, for frontends that wait for a person. It reports
// whether a request was made. ErrBusy.
func (a *Agent) Warm(ctx context.Context) (bool, error) { return false, nil }

// SetModel lets another model answer from here on; that is stored. ErrBusy.
func (a *Agent) SetModel(ctx context.Context, p model.Provider, info model.Info, reasoning string) error {
	return nil
}

// SetSession goes on in another conversation. ErrBusy.
func (a *Agent) SetSession(j Journal) error { return nil }

// Session is the conversation.
func (a *Agent) Session() Journal { return a.options.Session }
