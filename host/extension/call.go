package extension

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/process"
	"github.com/octet-dev/octet/runtime/envelope"
	"github.com/octet-dev/octet/runtime/frame"
	"github.com/octet-dev/octet/runtime/peer"
)

// Request is one tool call.
type Request struct {
	Tool string
	// Arguments are one JSON object; nil means none.
	Arguments json.RawMessage
	// Timeout bounds the wait for the answer; 0 means the request deadline of the options.
	Timeout time.Duration
	// Progress is called for every progress event, in order; never after Call has returned.
	Progress func(Progress)
}

// call is a running call.
type call struct {
	progress func(Progress)
	sequence int64 // of the last progress event; they start above 0
}

var (
	errCallDeadline = errors.New("the deadline of the call is over")
	errShuttingDown = errors.New("the extension is shutting down")
)

// Call sends one tool call and waits for its answer. Arguments that do not fit the tool's parameters are
// not sent. Ending the context cancels the call on the wire and then waits for the answer, for two
// seconds at most; an answer that won the race is returned as if nothing had happened. An extension that
// does not answer a cancelled call is ended.
//
// The error is an *UnknownToolError, an *ArgumentError or a *Failure.
func (x *Extension) Call(ctx context.Context, r Request) (*ToolResult, error) {
	tool, err := x.Tool(r.Tool)
	if err != nil {
		return nil, err
	}
	if r.Arguments == nil {
		r.Arguments = json.RawMessage("{}")
	}
	if r.Timeout == 0 {
		r.Timeout = x.options.Deadlines.Request
	}
	if tool.arguments != nil {
		if err := tool.arguments.Check(ctx, r.Arguments); err != nil {
			if ctx.Err() != nil {
				return nil, x.callCancelled(ctx, r, peer.ErrNotSent)
			}
			return nil, &ArgumentError{Tool: r.Tool, Err: err}
		}
	}
	if !x.admit() {
		return nil, &Failure{Kind: Closed, Cause: errShuttingDown, Message: fmt.Sprintf("extension `%s` is shutting down", x.source.Manifest.Name)}
	}
	defer x.calls.Done()
	// What the extension sent before its answer is delivered before Call returns.
	defer x.events.flush()

	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	ctx, cancelDeadline := context.WithTimeoutCause(ctx, r.Timeout, errCallDeadline)
	defer cancelDeadline()
	stop := context.AfterFunc(x.life, func() { cancel(peer.Reason("shutdown")) })
	defer stop()
	result, err := x.send(ctx, tool, r)
	return result, x.explained(err)
}

func (x *Extension) send(ctx context.Context, tool *Tool, r Request) (*ToolResult, error) {
	var id envelope.ID
	answer, err := x.conn.Do(ctx, peer.Call{
		Method: featurewire.MethodToolCall,
		Params: x.wire.call(tool.Name, r.Arguments),
		Issued: func(issued envelope.ID) {
			id = issued
			x.mu.Lock()
			defer x.mu.Unlock()
			x.running[issued.Wire()] = &call{progress: r.Progress}
		},
	})
	x.mu.Lock()
	delete(x.running, id.Wire())
	x.mu.Unlock()
	if err != nil {
		return nil, x.callFailed(ctx, r, err)
	}
	result, err := x.wire.result(ctx, tool, answer)
	if err != nil {
		x.events.diagnostic(fmt.Sprintf("result of tool %q is refused: %v", tool.Name, err))
		return nil, &Failure{
			Kind: Result, Cause: err, Stderr: x.process.Stderr(),
			Message: fmt.Sprintf("result of tool %q is refused: %v", tool.Name, err),
		}
	}
	return result, nil
}

// callFailed turns an error of the connection into a Failure.
func (x *Extension) callFailed(ctx context.Context, r Request, err error) error {
	var answer *peer.Error
	var framing *frame.Error
	var broken *peer.ProtocolError
	switch {
	case ctx.Err() != nil && (peer.IsCancelled(err) || !errors.As(err, &answer)):
		return x.callCancelled(ctx, r, err)
	case errors.As(err, &answer):
		return &Failure{
			Kind: Refused, Cause: err, Stderr: x.process.Stderr(),
			Message: fmt.Sprintf("extension RPC error %d: %s%s", answer.Code, answer.Message, detail(answer.Data)),
		}
	case errors.As(err, &framing) && framing.From == frame.Host:
		return &ArgumentError{Tool: r.Tool, Err: fmt.Errorf("the call exceeds %d bytes; send less", framing.Bound)}
	case errors.As(err, &broken) && x.conn.Err() == nil:
		// Only this call is hurt.
		return &Failure{Kind: Result, Cause: err, Stderr: x.process.Stderr(), Message: "the answer is refused: " + protocolDetail(broken)}
	default:
		return x.ended(err)
	}
}

// detail shows the data of an error answer that is a short text or object.
func detail(data []byte) string {
	const longest = 300
	if len(data) == 0 || len(data) > longest || string(data) == "null" {
		return ""
	}
	return " " + string(data)
}

// callCancelled reports a call whose context ended. An extension that neither settled it nor is gone is
// ended: what it is doing is unknown.
func (x *Extension) callCancelled(ctx context.Context, r Request, err error) error {
	failure := &Failure{
		Kind: Cancelled, Cause: err,
		Message: fmt.Sprintf("extension request `%s` cancelled: %v", featurewire.MethodToolCall, context.Cause(ctx)),
	}
	if cause := context.Cause(ctx); errors.Is(cause, errCallDeadline) || errors.Is(cause, context.DeadlineExceeded) {
		failure.Kind = Timeout
		failure.Message = fmt.Sprintf("extension request `%s` timed out after %s", featurewire.MethodToolCall, r.Timeout)
	}
	if x.wire.profile().Cancel == "" {
		x.events.diagnostic(fmt.Sprintf("API %s has no cancellation: tool %q goes on, and its answer will be dropped", x.source.Manifest.API, r.Tool))
	}
	settled := peer.IsCancelled(err) || errors.Is(err, peer.ErrNotSent) || errors.Is(err, peer.ErrClosed) || x.wire.profile().Cancel == ""
	if !settled {
		ended := x.failed(failure.Kind, "", err)
		failure.Unsettled, failure.Ended = true, ended.Ended
		switch {
		case x.killed.Load():
			failure.Message += "; the extension was killed"
		case ended.Ended.Stage == process.StageSelf:
			failure.Message += fmt.Sprintf("; the extension ended with %s", ended.Ended.State)
		default:
			failure.Message += fmt.Sprintf("; the extension did not settle it within %s and %s", x.wire.profile().Grace, ended.Ended.Stage)
		}
	}
	failure.Stderr = x.process.Stderr()
	return failure
}

// admit counts a call in, unless no new one is admitted.
func (x *Extension) admit() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closing {
		return false
	}
	x.calls.Add(1)
	return true
}

// notice takes notifications of the extension, on the reading goroutine.
func (x *Extension) notice(n *peer.Notice) {
	switch n.Method {
	case featurewire.MethodProgress:
		x.progressed(n.Params)
	case featurewire.MethodNotification:
		x.notified(n.Params)
	}
}

func (x *Extension) progressed(params []byte) {
	decoded, err := featurewire.DecodeProgressParams(params)
	if err != nil {
		x.ignore("progress is dropped: " + err.Error())
		return
	}
	live := x.conn.InFlight(envelope.FromWire(decoded.RequestID))
	x.mu.Lock()
	running := x.running[decoded.RequestID]
	if !live {
		running = nil // its answer has arrived, though nobody has taken it yet
	}
	late := running == nil || decoded.Sequence <= running.sequence
	if !late {
		running.sequence = decoded.Sequence
	}
	x.mu.Unlock()
	switch {
	case running == nil:
		x.ignore(fmt.Sprintf("progress is dropped: request %s is not running", decoded.RequestID))
	case late:
		x.ignore(fmt.Sprintf("progress is dropped: sequence %d of request %s does not grow", decoded.Sequence, decoded.RequestID))
	case running.progress != nil:
		event, err := progress(decoded.Event)
		if err != nil {
			x.ignore("progress is dropped: " + err.Error())
			return
		}
		x.events.post(func() { running.progress(event) })
	}
}

func (x *Extension) notified(params []byte) {
	decoded, err := featurewire.DecodeNotification(params)
	switch {
	case err != nil:
		x.ignore("notification is dropped: " + err.Error())
	case !x.source.Manifest.Contributes.Notifications:
		x.ignore("notification is dropped: extension emitted undeclared notification capability; set notifications = true in contributes")
	case x.options.Notify != nil:
		n := Notification{
			Level: string(decoded.Level.Or(featurewire.NotificationLevelInfo)), Title: decoded.Title.Or(""), Message: decoded.Message,
		}
		x.events.post(func() { x.options.Notify(n) })
	}
}
