package extension

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/octet-dev/octet/process"
	"github.com/octet-dev/octet/runtime/envelope"
	"github.com/octet-dev/octet/runtime/frame"
	"github.com/octet-dev/octet/runtime/peer"
)

// Ask is one request of the host. The methods of Extension make those that have a meaning of their own
// here; services make the others with Do.
type Ask struct {
	Method string
	// Subject is the name of the tool, command or hook, for HostCall.
	Subject string
	Params  peer.Value
	// Scope says on whose behalf; params that carry a context must carry Extension.Context of it.
	Scope Scope
	// Value is handed to services in HostCall.Value.
	Value any
	// Timeout bounds the wait for the answer; 0 means the request deadline of the options.
	Timeout time.Duration
	// Progress is called for every progress event, in order; never after the request has returned.
	Progress func(Progress)
	// Detached returns at the end of the context or of the timeout and leaves the settling behind: an
	// extension that does not settle the cancelled request within the grace is ended all the same.
	Detached bool

	// issued is called with the request before it is sent; its error keeps it from being sent.
	issued func(h *HostCall) error
}

var (
	errCallDeadline = errors.New("the deadline of the call is over")
	errShuttingDown = errors.New("the extension is shutting down")
	// errSettled is the cause of the end of what belonged to a host request.
	errSettled = errors.New("the request it belongs to is settled")
)

// Do sends one request and waits for its answer. Ending the context cancels it on the wire and then waits
// for the answer, for two seconds at most; an answer that won the race is returned as if nothing had
// happened. An extension that does not answer a cancelled request is ended. Nothing is sent twice.
//
// The error is a *Failure.
func (x *Extension) Do(ctx context.Context, a Ask) ([]byte, error) {
	if !x.admit() {
		return nil, x.unadmitted()
	}
	if a.Timeout == 0 {
		a.Timeout = x.options.Deadlines.Request
	}
	if a.Detached {
		return x.doDetached(ctx, a)
	}
	defer x.calls.Done()
	// What the extension sent before its answer is delivered before Do returns.
	defer x.events.flush()
	answer, err := x.ask(ctx, a)
	return answer, x.explained(err)
}

// doDetached is Do for a caller that must not wait for the settling.
func (x *Extension) doDetached(ctx context.Context, a Ask) ([]byte, error) {
	type outcome struct {
		answer []byte
		err    error
	}
	ctx, cancel := context.WithTimeoutCause(ctx, a.Timeout, errCallDeadline)
	done := make(chan outcome, 1)
	go func() {
		defer x.calls.Done()
		defer cancel()
		answer, err := x.ask(ctx, a)
		done <- outcome{answer, err}
	}()
	var o outcome
	select {
	case o = <-done:
	case <-ctx.Done():
		select {
		case o = <-done: // it won
		default:
			kind, message := ending(a, context.Cause(ctx))
			o.err = &Failure{Kind: kind, Cause: context.Cause(ctx), Message: message}
		}
	}
	x.events.flush()
	return o.answer, x.explained(o.err)
}

// ask is Do behind the admission.
func (x *Extension) ask(ctx context.Context, a Ask) ([]byte, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(errSettled)
	ctx, cancelDeadline := context.WithTimeoutCause(ctx, a.Timeout, errCallDeadline)
	defer cancelDeadline()
	stop := context.AfterFunc(x.life, func() { cancel(peer.Reason("shutdown")) })
	defer stop()

	h := &HostCall{
		Method: a.Method, Subject: a.Subject, Scope: a.Scope, Owner: x.owner(a.Scope), Value: a.Value,
		ctx: ctx, progress: a.Progress,
	}
	if a.issued != nil {
		if err := a.issued(h); err != nil {
			return nil, err
		}
	}
	answer, err := x.conn.Do(ctx, peer.Call{
		Method: a.Method,
		Params: a.Params,
		Issued: func(id envelope.ID) { x.enter(h, id) },
	})
	over := context.Cause(ctx)
	x.leave(h, err != nil && over != nil)
	cancel(errSettled)
	h.children.Wait() // each is answered already, or is called off now
	if err != nil {
		return nil, x.askFailed(a, over, err)
	}
	return answer, nil
}

// enter makes a request of the host known as live, in front of its frame.
func (x *Extension) enter(h *HostCall, id envelope.ID) {
	h.ID, _ = id.Wire().Int()
	x.mu.Lock()
	defer x.mu.Unlock()
	x.running[h.ID] = h
	x.lastID = max(x.lastID, h.ID)
	if !h.Owner.IsZero() {
		x.sessions[h.Owner.SessionID] = true
	}
}

// leave makes it known as settled. A cancelled one leaves a tombstone.
func (x *Extension) leave(h *HostCall, cancelled bool) {
	x.mu.Lock()
	defer x.mu.Unlock()
	delete(x.running, h.ID)
	if cancelled && h.ID != 0 {
		x.tombs.add(h.ID)
	}
}

// askFailed turns an error of the connection into a Failure. Over is why the context has ended, nil if it
// has not.
func (x *Extension) askFailed(a Ask, over, err error) error {
	var answer *peer.Error
	var framing *frame.Error
	var broken *peer.ProtocolError
	switch {
	case over != nil && (peer.IsCancelled(err) || !errors.As(err, &answer)):
		return x.askCancelled(a, over, err)
	case errors.As(err, &answer):
		return &Failure{
			Kind: Refused, Cause: err, Stderr: x.process.Stderr(),
			Message: fmt.Sprintf("extension RPC error %d: %s%s", answer.Code, remote(answer.Message), detail(answer.Data)),
		}
	case errors.As(err, &framing) && framing.From == frame.Host:
		return &Failure{
			Kind: Unsent, Cause: err,
			Message: fmt.Sprintf("extension request `%s` exceeds %d bytes; send less", a.Method, framing.Bound),
		}
	case errors.As(err, &broken) && broken.Blame == peer.Local && x.conn.Err() == nil:
		return &Failure{Kind: Unsent, Cause: err, Message: "extension request `" + a.Method + "` was not sent: " + protocolDetail(broken)}
	case errors.As(err, &broken) && x.conn.Err() == nil:
		// Only this request is hurt.
		return &Failure{Kind: Result, Cause: err, Stderr: x.process.Stderr(), Message: "the answer is refused: " + protocolDetail(broken)}
	default:
		return x.ended(err)
	}
}

// maxRemoteText bounds what a failure repeats of the text of an error answer, in bytes.
const maxRemoteText = 4096

// remote is the text of an error answer in one line and within the bound.
func remote(text string) string {
	const mark = "... (cut)"
	whole := len(text)
	text = strings.ToValidUTF8(text[:min(whole, maxRemoteText)], "")
	if whole > maxRemoteText {
		text += mark
	}
	return strings.NewReplacer("\r\n", " ", "\n", " ", "\r", " ").Replace(text)
}

// detail shows the data of an error answer that is a short text or object.
func detail(data []byte) string {
	const longest = 300
	if len(data) == 0 || len(data) > longest || string(data) == "null" {
		return ""
	}
	return " " + remote(string(data))
}

// ending says how a request ended whose context has.
func ending(a Ask, cause error) (Kind, string) {
	if errors.Is(cause, errCallDeadline) || errors.Is(cause, context.DeadlineExceeded) {
		return Timeout, fmt.Sprintf("extension request `%s` timed out after %s", a.Method, a.Timeout)
	}
	return Cancelled, fmt.Sprintf("extension request `%s` cancelled: %v", a.Method, cause)
}

// askCancelled reports a request whose context ended. An extension that neither settled it nor is gone is
// ended: what it is doing is unknown.
func (x *Extension) askCancelled(a Ask, over, err error) error {
	failure := &Failure{Cause: err}
	failure.Kind, failure.Message = ending(a, over)
	if x.wire.profile().Cancel == "" {
		x.events.diagnostic(fmt.Sprintf("API %s has no cancellation: %s %q goes on, and its answer will be dropped", x.source.Manifest.API, a.Method, a.Subject))
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

// admit counts a request in, unless no new one is admitted.
func (x *Extension) admit() bool {
	x.mu.Lock()
	defer x.mu.Unlock()
	if x.closing {
		return false
	}
	x.calls.Add(1)
	return true
}

func (x *Extension) unadmitted() *Failure {
	return &Failure{Kind: Closed, Cause: errShuttingDown, Message: fmt.Sprintf("extension `%s` is shutting down", x.source.Manifest.Name)}
}
