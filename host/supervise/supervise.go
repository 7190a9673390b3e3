// Package supervise keeps extensions running. A Supervisor holds the generations of one extension: it
// starts the first, restarts after a crash with growing pauses, replaces on demand with the candidate
// first, parks what cannot be helped, and admits every operation to exactly one generation. A Fleet is all
// of them together: started and shut down in parallel, listed by name, with one catalog of their tools.
//
// Operations are never repeated: what a dead generation left open has ended with an error.
//
// Rules: MAN-RESTART, MAN-RELOADING, MAN-SUPER, EXT04-RELOAD. Sheet: manifest 9.3 to 9.5, feature 14.
package supervise

import (
	"context"
	"time"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/manifestdoc"
	"github.com/octet-dev/octet/host/extension"
)

// Instance is one started and initialized generation. An *extension.Extension is one.
type Instance interface {
	// Agreement is what initialize settled.
	Agreement() *extension.Agreement
	// Call sends one tool call.
	Call(ctx context.Context, r extension.Request) (*extension.ToolResult, error)
	// Drain says that it is going to be closed: nothing new begins on its behalf.
	Drain()
	// Done is closed once the process or its connection has ended, whoever wanted it.
	Done() <-chan struct{}
	// Err says why, once Done is closed; nil if nothing is known.
	Err() error
	// Close brings it down in stages and returns when nothing is left. Every further call returns the
	// Ending of the first.
	Close() extension.Ending
	// Kill ends the process tree at once. Close must still be called.
	Kill()
}

// Launch tells a Starter which generation it starts.
type Launch struct {
	Name string
	// InstanceID is the fence of this supervisor: the extension_instance_id of owners.
	InstanceID string
	// Generation is the number that the generation has once it is in service: the process_generation of
	// owners. It is 1 for the first. A candidate that is dropped gives its number back.
	Generation int64
	// Launched is to be called once the process runs and before initialize is sent, with what ends it at
	// once; never nil.
	Launched func(kill func())
}

// Starter starts and initializes one generation, and leaves nothing behind if it returns an error. An error
// wrapped by Permanent says that another attempt is of no use.
type Starter func(ctx context.Context, launch Launch) (Instance, error)

// Running is a generation in service.
type Running struct {
	Instance
	Name       string
	InstanceID string
	Generation int64
}

// Extension is the instance as what it is in a product; nil for anything else.
func (r Running) Extension() *extension.Extension {
	x, _ := r.Instance.(*extension.Extension)
	return x
}

// State is where a supervisor or its generation stands.
type State string

// The states. A supervisor begins in Stopped. Rules: MAN-RESTART-012, EXT04-RELOAD-001.
const (
	Starting     State = "starting"     // a process is being launched; none is in service
	Initializing State = "initializing" // it runs and has not yet answered initialize
	Ready        State = "ready"        // it is in service
	Draining     State = "draining"     // it admits nothing new
	Degraded     State = "degraded"     // it did not settle what was cancelled and is being ended
	Crashed      State = "crashed"      // it ended by itself and is being cleared away
	Backoff      State = "backoff"      // a restart waits for its time
	Parked       State = "parked"       // nothing is tried until somebody reloads
	Stopped      State = "stopped"      // not started, or shut down
)

// Lifecycle says how long processes live.
type Lifecycle = manifestdoc.RuntimeLifecycle

// MaxErrorBytes bounds the last error of a Status. Sheet: manifest 9.2.
const MaxErrorBytes = featurewire.MaxLifecycleReasonBytes

// Status is one supervisor at one moment.
type Status struct {
	Name  string
	State State
	// Generation is that of the last generation that was in service; 0 if none ever was.
	Generation int64
	InstanceID string
	API        string   // of that generation; empty if none ever was
	Features   []string // feature wire: the selected features; canonical wire: the selected capabilities
	Pending    int      // operations that run now
	Attempts   int      // restarts since it was last ready for long enough
	// LastError is why it is not ready, or why it lately was not; at most MaxErrorBytes.
	LastError string
	// Retry is when the next restart is due, zero unless the state is Backoff.
	Retry time.Time
	// Since is when the state began.
	Since     time.Time
	Lifecycle Lifecycle
	Shared    bool
	Tools     []string // of the catalog in service, in its order
	Commands  []string
}

// Report is the outcome of one start or reload.
type Report struct {
	Name string
	// Generation is the one in service now, 0 if there is none.
	Generation int64
	// Previous is the last one before it that was in service, 0 if there was none.
	Previous int64
	// Replaced: Generation was started by this very start or reload.
	Replaced bool
	// Graceful: the previous one was shut down by this reload, answered and ended by itself.
	Graceful bool
	// State is the one afterwards.
	State State
	// Err is why nothing was replaced; nil if something was, or if there was nothing to do.
	Err error
}

// Reason says why a generation goes.
type Reason = canonicalwire.SessionEndReason

// Previous is a generation that has gone.
type Previous struct {
	Generation int64
	Reason     Reason
}

// Handover are the moments between two generations. Each function may be nil. For one extension they are
// called one after the other, without a lock held, and the supervisor waits for them; they have to return
// when their context ends, which is HandoverTime after the call at the latest, and must not reload or
// close.
type Handover struct {
	// Retire is called for a generation that is shut down in order, after its last operation has ended and
	// before shutdown is sent: the last moment for lifecycle events that are still owed to it.
	Retire func(ctx context.Context, old Running, reason Reason)
	// Admit is called for a new generation before its first operation is admitted. What it is owed about a
	// generation that crashed comes here, in front of everything else. Previous is nil the first time.
	Admit func(ctx context.Context, fresh Running, previous *Previous)
}

// HandoverTime bounds each function of a Handover.
const HandoverTime = 2 * time.Second

// Change is one step of a fleet.
type Change struct {
	Name       string
	State      State
	Generation int64
	// Revision is that of the catalog in force now.
	Revision uint64
	// Reason says why it failed, where the state is one of failure; at most MaxErrorBytes.
	Reason string
}
