package agent

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/model"
	"github.com/octet-dev/octet/host/permission"
	"github.com/octet-dev/octet/host/schema"
	"github.com/octet-dev/octet/host/tool"
)

// call is one call on its way: of the model, or of another call.
type call struct {
	id        string
	parent    string
	name      string
	arguments json.RawMessage
}

// dispatch takes calls through their stations: is there such a tool, do the arguments fit, do hooks let it
// pass, is it permitted; then it runs, and hooks are told of it. With a parent it is the tool.Dispatcher of
// that call.
type dispatch struct {
	*batch
	parent string
	direct bool         // the model makes the call itself, or through run_tool
	count  atomic.Int64 // nested calls
	over   chan struct{}
}

var _ tool.Dispatcher = (*dispatch)(nil)

// Tools are those of the request, without discover_tools and run_tool.
func (d *dispatch) Tools() tool.Snapshot { return d.offer.Snapshot }

// Call is a nested call.
func (d *dispatch) Call(ctx context.Context, name string, arguments json.RawMessage) (tool.Result, error) {
	select {
	case <-d.over:
		return tool.Result{}, fmt.Errorf("call of %q: the call it belongs to is over", name)
	default:
	}
	if d.offer.isMeta(name) {
		return tool.Failed(fmt.Sprintf("%s cannot be called on behalf of another call; call the tool itself.", name)), nil
	}
	id := fmt.Sprintf("%s/%d", d.parent, d.count.Add(1))
	result := d.call(ctx, call{id: id, parent: d.parent, name: name, arguments: arguments})
	if ctx.Err() != nil {
		return tool.Result{}, context.Cause(ctx)
	}
	return result, nil
}

// call answers a call in any case, and tells how it ended.
func (d *dispatch) call(ctx context.Context, c call) tool.Result {
	began := d.Clock.Now()
	result, provider, status := d.answer(ctx, c)
	d.post(finishedEvent(d.at(), c, provider, status, result, d.Clock.Now().Sub(began)))
	return result
}

func finishedEvent(at At, c call, provider string, status ToolStatus, result tool.Result, took time.Duration) ToolFinished {
	content := result.Content
	if content == nil {
		content = []conversation.Part{}
	}
	return ToolFinished{
		At: at, CallID: c.id, Parent: c.parent, Name: c.name, Provider: provider, Status: status, Changes: result.Changes,
		Result: ToolResult{Content: content, IsError: result.IsError, Details: result.Details}, Millis: took.Milliseconds(),
	}
}

func (d *dispatch) answer(ctx context.Context, c call) (result tool.Result, provider string, status ToolStatus) {
	t := d.find(c.name)
	if t == nil {
		return tool.Failed(d.unknown(c.name)), "", ToolFailed
	}
	definition := t.Definition()
	provider = definition.Provider
	if problem := checkArguments(ctx, definition, c.arguments); problem != "" {
		if ctx.Err() != nil {
			return tool.Failed(neverRan), provider, ToolCancelled
		}
		return tool.Failed(problem), provider, ToolFailed
	}
	order := tool.Call{ID: c.id, Name: c.name, Arguments: c.arguments, Owner: d.Session.Owner()}
	var added []Context
	summary := tool.Summary{}
	if !d.offer.isMeta(c.name) {
		if describer, ok := t.(tool.Describer); ok {
			summary = describer.Describe(c.arguments)
			order.Asked = summary.Asked
		}
		opinion := d.Hooks.BeforeToolCall(ctx, d.callScope(c), order)
		d.say(opinion.Notifications)
		if opinion.Deny != nil {
			return tool.Failed("The call was denied: " + *opinion.Deny), provider, ToolDenied
		}
		added = opinion.Context
		if denied := d.permit(ctx, c, definition, summary); denied != "" {
			if ctx.Err() != nil {
				return tool.Failed(neverRan), provider, ToolCancelled
			}
			return tool.Failed(denied), provider, ToolDenied
		}
	}
	if ctx.Err() != nil {
		return tool.Failed(neverRan), provider, ToolCancelled
	}
	d.post(ToolStarted{
		At: d.at(), CallID: c.id, Parent: c.parent, Name: c.name, Provider: provider, Arguments: c.arguments, Summary: summary,
	})
	result, status = d.perform(ctx, t, order)
	if d.offer.isMeta(c.name) {
		result.Changes = nil // the nested call has told of them
		return result, provider, status
	}
	d.mutated(ctx, c, result.Changes)
	if status != ToolCancelled {
		d.say(d.Hooks.AfterToolCall(ctx, d.callScope(c), order, result))
	}
	return withContext(recorded(result), added), provider, status
}

// find finds a tool for a call, nil if there is none.
func (d *dispatch) find(name string) tool.Tool {
	if d.direct {
		return d.offer.direct(name)
	}
	return d.offer.Find(name)
}

func (d *dispatch) callScope(c call) Scope {
	s := d.scope()
	s.Execution = c.id
	return s
}

func (d *dispatch) say(notifications []Notification) {
	for _, n := range notifications {
		d.post(Notified{d.at(), n})
	}
}

// permit asks whether a call may run. It returns what the model is told if not.
func (d *dispatch) permit(ctx context.Context, c call, definition tool.Definition, summary tool.Summary) string {
	request := permission.Request{Run: d.id, CallID: c.id, Tool: definition, Summary: summary, Arguments: c.arguments}
	ruling := d.Permission.Judge(request)
	if ruling.Decision == permission.Ask {
		select {
		case d.asking <- struct{}{}:
		case <-ctx.Done():
			return neverRan
		}
		defer func() { <-d.asking }()
		// What was answered meanwhile may hold for this call too.
		if ruling = d.Permission.Judge(request); ruling.Decision == permission.Ask {
			d.post(PermissionAsked{
				At: d.at(), CallID: c.id, Name: c.name, Effect: definition.Effect, Summary: summary, Reason: ruling.Reason, Scopes: ruling.Scopes,
			})
			ruling = d.Permission.Ask(ctx, request)
			d.post(PermissionDecided{At: d.at(), CallID: c.id, Name: c.name, Decision: ruling.Decision, Reason: ruling.Reason})
		}
	} else if ruling.Decision == permission.Deny {
		d.post(PermissionDecided{At: d.at(), CallID: c.id, Name: c.name, Decision: ruling.Decision, Reason: ruling.Reason})
	}
	if ruling.Decision == permission.Allow {
		return ""
	}
	if ruling.Reason == "" {
		return "The call was denied."
	}
	return "The call was denied: " + ruling.Reason
}

// perform runs a tool. It answers even where the tool breaks.
func (d *dispatch) perform(ctx context.Context, t tool.Tool, order tool.Call) (result tool.Result, status ToolStatus) {
	nested := &dispatch{batch: d.batch, parent: order.ID, direct: d.offer.isMeta(order.Name), over: make(chan struct{})}
	progress := &progress{dispatch: d, id: order.ID}
	order.Nested, order.Progress = nested, progress.tell
	result, err := runGuarded(ctx, t, order)
	close(nested.over)
	progress.close()
	switch {
	case err != nil && ctx.Err() != nil:
		return tool.Failed(wasStopped), ToolCancelled
	case err != nil:
		return tool.Failed(fmt.Sprintf("%s gave no result: %v", order.Name, err)), ToolFailed
	case result.IsError:
		return result, ToolFailed
	}
	return result, ToolCompleted
}

// runGuarded turns a panic of a tool into an error: one broken tool must not end the host.
func runGuarded(ctx context.Context, t tool.Tool, order tool.Call) (result tool.Result, err error) {
	defer func() {
		if broken := recover(); broken != nil {
			err = fmt.Errorf("the tool broke: %v", broken)
		}
	}()
	return t.Run(ctx, order)
}

// progress hands on news of a call until it is over.
type progress struct {
	dispatch *dispatch
	id       string
	mu       sync.RWMutex // held for reading while news is handed on
	closed   bool
}

func (p *progress) tell(news tool.Progress) {
	p.mu.RLock()
	defer p.mu.RUnlock()
	if p.closed {
		return
	}
	p.dispatch.post(ToolProgress{
		At: p.dispatch.at(), CallID: p.id, Message: news.Message, Current: news.Current, Total: news.Total, Unit: news.Unit,
		Stream: news.Stream, Data: validText(string(news.Data)), Label: news.Label, Detail: news.Detail,
	})
}

// close returns once the last news is handed on.
func (p *progress) close() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.closed = true
}

// recorded keeps what was changed with the result.
func recorded(result tool.Result) tool.Result {
	if result.Changes == nil {
		return result
	}
	details := conversation.Details{}
	if result.Details != nil {
		details = *result.Details
	}
	if details.Metadata == nil {
		if text, err := json.Marshal(map[string]any{"changes": result.Changes}); err == nil {
			details.Metadata = text
		}
	}
	result.Details = &details
	return result
}

// withContext adds what hooks contribute to a result.
func withContext(result tool.Result, added []Context) tool.Result {
	for _, c := range added {
		c.Label, c.Content = validText(c.Label), validText(c.Content)
		if strings.TrimSpace(c.Content) != "" {
			result.Content = append(slices.Clip(result.Content), c.part())
		}
	}
	return result
}

// checkArguments says what is wrong with arguments, empty if nothing is.
func checkArguments(ctx context.Context, d tool.Definition, arguments json.RawMessage) string {
	compiled, err := schema.Compile(ctx, parameters(d))
	if err != nil {
		return fmt.Sprintf("%s cannot be called: its parameters are broken: %v", d.Name, err)
	}
	err = compiled.Check(ctx, arguments)
	var mismatch *schema.MismatchError
	var written string
	switch {
	case err == nil:
		return ""
	case json.Unmarshal(arguments, &written) == nil && model.Legible([]byte(written)) != nil:
		return fmt.Sprintf("The arguments of %s are no JSON: %v", d.Name, model.Legible([]byte(written)))
	case errors.As(err, &mismatch):
		return fmt.Sprintf("The arguments of %s do not fit: %v. Its parameters are: %s", d.Name, err, parameters(d))
	}
	return fmt.Sprintf("The arguments of %s cannot be read: %v", d.Name, err)
}
