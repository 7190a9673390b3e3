package extension

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"time"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/runtime/frame"
	"github.com/octet-dev/octet/runtime/peer"
)

// Request is one tool call.
type Request struct {
	Tool string
	// Definition is the tool where it is not one of initialize: a dynamic one, as Compile made it.
	Definition *Tool
	// Revision is the catalog epoch that the model saw. It is sent where dynamic_tools is negotiated.
	Revision int64
	// Arguments are one JSON object; nil means none.
	Arguments json.RawMessage
	// Scope says on whose behalf.
	Scope Scope
	// Value is handed to services in HostCall.Value.
	Value any
	// Timeout bounds the wait for the answer; 0 means the request deadline of the options.
	Timeout time.Duration
	// Progress is called for every progress event, in order; never after Call has returned.
	Progress func(Progress)
}

// Call sends one tool call and waits for its answer, as Do does. Arguments that do not fit the tool's
// parameters are not sent.
//
// The error is an *UnknownToolError, an *ArgumentError or a *Failure.
func (x *Extension) Call(ctx context.Context, r Request) (*ToolResult, error) {
	tool := r.Definition
	if tool == nil {
		var err error
		if tool, err = x.Tool(r.Tool); err != nil {
			return nil, err
		}
	}
	if r.Arguments == nil {
		r.Arguments = json.RawMessage("{}")
	}
	if r.Timeout == 0 {
		r.Timeout = x.options.Deadlines.Request
	}
	a := Ask{
		Method: featurewire.MethodToolCall, Subject: tool.Name, Scope: r.Scope, Value: r.Value,
		Timeout: r.Timeout, Progress: r.Progress,
	}
	if tool.arguments != nil {
		if err := tool.arguments.Check(ctx, r.Arguments); err != nil {
			if ctx.Err() != nil {
				return nil, x.askCancelled(a, context.Cause(ctx), peer.ErrNotSent)
			}
			return nil, &ArgumentError{Tool: tool.Name, Err: err}
		}
	}
	if err := x.legible(r.Arguments); err != nil {
		return nil, &ArgumentError{Tool: tool.Name, Err: err}
	}
	if !x.admit() {
		return nil, x.unadmitted()
	}
	defer x.calls.Done()
	// What the extension sent before its answer is delivered before Call returns.
	defer x.events.flush()
	a.Params = x.wire.call(x, tool.Name, r)
	guarded := guards{extension: x, tool: tool, arguments: r.Arguments}
	a.issued = guarded.dispatch
	result, err := x.call(ctx, tool, a, &guarded)
	guarded.settle(err == nil)
	return result, x.explained(err)
}

// argumentsLevel is where the arguments of a call stand in its frame: in params, which stand in the message.
const argumentsLevel = 2

// legible refuses arguments that no frame can carry: a member that comes twice, half a surrogate pair, too many levels.
// A schema sees none of that.
func (x *Extension) legible(arguments json.RawMessage) error {
	document, err := wirejson.Parse(arguments, x.wire.maxDepth()-argumentsLevel)
	if err == nil {
		document.Release()
	}
	return err
}

func (x *Extension) call(ctx context.Context, tool *Tool, a Ask, guarded *guards) (*ToolResult, error) {
	answer, err := x.ask(ctx, a)
	if err != nil {
		var framing *frame.Error
		if errors.As(err, &framing) && framing.From == frame.Host {
			return nil, &ArgumentError{Tool: tool.Name, Err: fmt.Errorf("the call exceeds %d bytes; send less", framing.Bound)}
		}
		return nil, err
	}
	result, err := x.wire.result(ctx, tool, answer)
	x.conn.Recycle(answer) // the models keep copies
	if err == nil {
		err = x.resolveMedia(ctx, a.Scope, result)
	}
	if err == nil {
		err = guarded.check(result)
	}
	if err != nil {
		x.events.diagnostic(fmt.Sprintf("result of tool %q is refused: %v", tool.Name, err))
		return nil, &Failure{
			Kind: Result, Cause: err, Stderr: x.process.Stderr(),
			Message: fmt.Sprintf("result of tool %q is refused: %v", tool.Name, err),
		}
	}
	return result, nil
}
