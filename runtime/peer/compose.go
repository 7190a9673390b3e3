package peer

import (
	"context"
	"errors"
	"strconv"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/runtime/canonical"
	"github.com/octet-dev/octet/runtime/envelope"
	"github.com/octet-dev/octet/runtime/frame"
)

// composeResult writes the result frame, or the error that stands for a result that cannot be sent, and reports
// which of them it is.
func (c *Conn) composeResult(r *Request, v Value) (*buffer, given) {
	p := c.profileNow()
	f, err := c.tryResult(p, r, v)
	if err == nil {
		return f, resultGiven
	}
	c.diagnose(Diagnostic{Blame: Local, Method: r.Method, ID: r.ID, Text: "result cannot be sent", Err: err})
	var fault *frame.Error
	tooLong := errors.As(err, &fault) && fault.Fault == frame.TooLong
	if tooLong && r.instead != nil {
		if f, err = c.tryResult(p, r, r.instead(err)); err == nil {
			return f, resultGiven
		}
	}
	if tooLong && p.canonical() {
		return composeError(r.ID, Fail(p.Errors.Exhausted, nil)), errorGiven
	}
	return composeError(r.ID, Fail(p.Errors.Internal, nil)), errorGiven
}

// tryResult writes a result frame, or says why it cannot be sent.
func (c *Conn) tryResult(p *Profile, r *Request, v Value) (*buffer, error) {
	f := newBuffer()
	f.b = r.ID.AppendJSON(append(f.b, `{"id":`...))
	f.b = v.AppendJSON(append(f.b, `,"jsonrpc":"2.0","result":`...))
	f.b = append(f.b, '}')
	if err := c.checkOutgoing(p, f.b); err != nil {
		f.release()
		return nil, err
	}
	return f, nil
}

// composeFailure writes the error frame for what a handler returned.
func (c *Conn) composeFailure(r *Request, err error) *buffer {
	p := c.profileNow()
	e := c.toWire(p, r, err)
	f := composeError(r.ID, e)
	if bad := c.checkOutgoing(p, f.b); bad != nil {
		f.release()
		c.diagnose(Diagnostic{Blame: Local, Method: r.Method, ID: r.ID, Text: "error cannot be sent with its data", Err: bad})
		f = composeError(r.ID, &Error{Code: e.Code, Message: clip([]byte(e.Message))})
	}
	return f
}

// toWire finds the error answer for what a handler returned.
func (c *Conn) toWire(p *Profile, r *Request, err error) *Error {
	var e *Error
	var cancelled *CancelledError
	var violation *wirejson.Violation
	var syntax *wirejson.SyntaxError
	switch {
	case errors.As(err, &e):
		if sent := p.lawful(e); sent != nil {
			return sent
		}
		err = errors.New("the canonical wire has no such error: " + e.Error())
	case errors.As(context.Cause(r.ctx), &cancelled) &&
		(errors.Is(err, context.Canceled) || errors.As(err, new(*CancelledError))):
		return c.cancellation(cancelled)
	case errors.As(err, &violation), errors.As(err, &syntax):
		return p.violation(violation, syntax)
	}
	if err == nil {
		err = errors.New("the handler returned neither a value nor an error")
	}
	c.diagnose(Diagnostic{Blame: Local, Method: r.Method, ID: r.ID, Text: "handler failed", Err: err})
	return Fail(p.Errors.Internal, nil)
}

func (c *Conn) profileNow() *Profile {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.profile
}

// cancellation is the answer to a cancelled request.
func (c *Conn) cancellation(why *CancelledError) *Error {
	p := c.profileNow()
	return Fail(p.Errors.Cancelled, cancelledData{reason: why.Reason, terminal: p.canonical()})
}

// cancelledData is the data of a cancellation: the reason if there was one and, on the canonical wire,
// the terminal word.
type cancelledData struct {
	reason   string
	terminal bool
}

// AppendJSON implements Value.
func (d cancelledData) AppendJSON(dst []byte) []byte {
	dst = append(dst, '{')
	if d.reason != "" {
		dst = canonical.AppendString(append(dst, `"reason":`...), d.reason)
	}
	if d.terminal {
		if d.reason != "" {
			dst = append(dst, ',')
		}
		dst = canonical.AppendString(append(dst, `"terminal":`...), canonicalwire.CancelTerminalCancelled)
	}
	return append(dst, '}')
}

// composeError writes an error frame.
func composeError(id envelope.ID, e *Error) *buffer {
	f := newBuffer()
	f.b = strconv.AppendInt(append(f.b, `{"error":{"code":`...), e.Code, 10)
	if e.Data != nil {
		f.b = append(append(f.b, `,"data":`...), e.Data...)
	}
	f.b = canonical.AppendString(append(f.b, `,"message":`...), e.Message)
	f.b = id.AppendJSON(append(f.b, `},"id":`...))
	f.b = append(f.b, `,"jsonrpc":"2.0"}`...)
	return f
}
