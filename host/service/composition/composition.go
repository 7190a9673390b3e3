// Package composition lets a tool of an extension call other tools while a model waits for it.
//
// A composing call works with the tools that the model was offered when it made the call, minus those that
// compose; every nested call passes the same permission and the same hooks as one of the model. What is begun
// ends with the composing call at the latest; what has been done stays done. Source: sheet feature 12.8.
package composition

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/service/clip"
	"github.com/octet-dev/octet/host/session"
	"github.com/octet-dev/octet/host/tool"
	"github.com/octet-dev/octet/runtime/peer"
)

// Composing is a tool that may compose. Composition is nil for one that does not.
type Composing interface {
	Composition() *featurewire.ToolComposition
}

// composition says how a tool composes, nil if it does not.
func composition(t tool.Tool) *featurewire.ToolComposition {
	if c, ok := t.(Composing); ok {
		return c.Composition()
	}
	return nil
}

// Visible is what a model is shown of a snapshot: all of it, or the composing tools alone where one of them
// asks that the ordinary ones be reached through it only. All tools of the snapshot can be called.
func Visible(s tool.Snapshot) []tool.Tool {
	var composing []tool.Tool
	only := false
	for _, t := range s.Tools() {
		if c := composition(t); c != nil {
			composing = append(composing, t)
			only = only || c.Mode == featurewire.CompositionModeOnly
		}
	}
	if only {
		return composing
	}
	return s.Tools()
}

// Store keeps the values of composing tools on the branches of sessions, by opaque owner id. Compose returns
// when the batch is on disk; its error wraps session.ErrBound where a bound forbids it.
type Store interface {
	Composed(ctx context.Context, owner, tool string) (map[string]json.RawMessage, error)
	Compose(ctx context.Context, owner, tool string, set map[string]json.RawMessage, remove []string) error
}

// Service serves the composition of all extensions. Make it with New.
type Service struct {
	store Store

	mu   sync.Mutex
	live map[*extension.HostCall]*parent
}

// parent is one composing call, from its first request to its settlement.
type parent struct {
	call  *tool.Call
	tools []tool.Tool // the frozen set
	end   time.Time
	gate  gate
	files *files
	over  <-chan struct{} // closed when the composing call is settled or cancelled

	mu        sync.Mutex
	calls     int
	committed bool
}

// New returns a service.
func New(s Store) *Service { return &Service{store: s, live: map[*extension.HostCall]*parent{}} }

// Binding serves the requests. Bind it where composition is switched on.
func (s *Service) Binding() extension.Binding {
	return extension.Binding{
		Features: []string{featurewire.FeatureToolCompositionV1},
		Requests: map[string]extension.Handler{
			featurewire.MethodCompositionContext: s.context,
			featurewire.MethodCompositionCall:    s.call,
			featurewire.MethodCompositionStore:   s.commit,
		},
	}
}

// parent returns the composing call of a request. Its state lasts until the call is settled.
func (s *Service) parent(r *extension.Incoming) (*parent, error) {
	call, ok := r.Parent.Value.(*tool.Call)
	if !ok || call == nil || call.Nested == nil {
		return nil, extension.RefuseService("the call cannot compose: no tools are bound to it")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.live[r.Parent]
	if p != nil {
		return p, nil
	}
	p = &parent{
		call: call, end: time.Now().Add(featurewire.CompositionTimeoutMs * time.Millisecond),
		files: &files{dir: r.Extension.Scratch()}, over: r.Parent.Done(),
	}
	for _, t := range call.Nested.Tools().Tools() {
		if composition(t) == nil {
			p.tools = append(p.tools, t)
		}
	}
	s.live[r.Parent] = p
	go s.settle(r.Parent, p)
	return p, nil
}

// settle forgets a composing call once it is over.
func (s *Service) settle(h *extension.HostCall, p *parent) {
	<-h.Done()
	s.mu.Lock()
	delete(s.live, h)
	s.mu.Unlock()
	p.files.remove()
}

func (s *Service) context(ctx context.Context, r *extension.Incoming) (peer.Value, error) {
	if _, err := featurewire.DecodeCompositionContextParams(r.Params); err != nil {
		return nil, extension.RefuseMalformed(err.Error())
	}
	p, err := s.parent(r)
	if err != nil {
		return nil, err
	}
	values, err := s.store.Composed(ctx, p.call.Owner, p.call.Name)
	if err != nil {
		return nil, failure(ctx, err)
	}
	store, err := json.Marshal(values)
	if err != nil {
		return nil, err
	}
	if values == nil {
		store = json.RawMessage("{}")
	}
	tools := []featurewire.CompositionTool{}
	for _, t := range p.tools {
		d := t.Definition()
		listed := featurewire.CompositionTool{Name: d.Name, Description: d.Description, Parameters: d.Parameters}
		if d.Output != nil {
			listed.OutputSchema = wirejson.Some(d.Output)
		}
		tools = append(tools, listed)
	}
	result := featurewire.CompositionContextResult{
		Tools: wirejson.Some(tools), Store: wirejson.Some(json.RawMessage(store)),
		Limits: wirejson.Some(featurewire.CompositionLimits{TimeoutMs: featurewire.CompositionTimeoutMs, MaxCalls: featurewire.MaxCompositionCalls}),
	}
	text := result.AppendJSON(nil)
	if len(text) <= inlineMost {
		return result, nil
	}
	file, err := p.files.write(text)
	if err != nil {
		return nil, err
	}
	return featurewire.CompositionContextResult{ContextFile: wirejson.Some(file)}, nil
}

func (s *Service) call(ctx context.Context, r *extension.Incoming) (peer.Value, error) {
	q, err := featurewire.DecodeCompositionCallParams(r.Params)
	if err != nil {
		return nil, extension.RefuseMalformed(err.Error())
	}
	doc, err := wirejson.Parse(q.Arguments, featurewire.MaxCompositionDepth)
	if err != nil {
		return nil, extension.RefuseMalformed(fmt.Sprintf("arguments: %v; nest them %d levels deep at most", err, featurewire.MaxCompositionDepth))
	}
	doc.Release()
	p, err := s.parent(r)
	if err != nil {
		return nil, err
	}
	i := slices.IndexFunc(p.tools, func(t tool.Tool) bool { return t.Definition().Name == q.Name })
	if i < 0 {
		return nil, extension.RefuseMalformed(fmt.Sprintf("no tool %q can be called here", q.Name))
	}
	if err := p.count(); err != nil {
		return nil, err
	}
	r.Waits()
	return p.run(ctx, p.tools[i].Definition(), slices.Clone(q.Arguments))
}

// count admits one call more.
func (p *parent) count() error {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.calls >= featurewire.MaxCompositionCalls {
		return extension.RefuseBounds(fmt.Sprintf("the call has made its %d nested calls", featurewire.MaxCompositionCalls))
	}
	p.calls++
	return nil
}

var errDeadline = errors.New("the time for nested calls is over")

// run makes one nested call.
func (p *parent) run(ctx context.Context, d tool.Definition, arguments json.RawMessage) (peer.Value, error) {
	ctx, cancel := context.WithDeadlineCause(ctx, p.end, errDeadline)
	defer cancel()
	leave, err := p.gate.enter(ctx, safe(d))
	if err != nil {
		return nil, failure(ctx, err)
	}
	defer leave()
	select {
	case <-p.over:
		// Nested calls are called off one after the other: the one whose turn has come does not know it yet.
		<-ctx.Done()
		return nil, failure(ctx, ctx.Err())
	default:
	}
	result, err := p.call.Nested.Call(ctx, d.Name, arguments)
	switch {
	case err != nil:
		return nil, failure(ctx, err)
	case result.IsError:
		return nil, extension.RefuseFailed(clip.Text(plainText(result), faultMost))
	}
	value, err := valueOf(d, result)
	if err != nil {
		return nil, err
	}
	if len(value) <= inlineMost {
		return featurewire.CompositionCallResult{Value: wirejson.Some(value)}, nil
	}
	file, err := p.files.write(value)
	if err != nil {
		return nil, err
	}
	return featurewire.CompositionCallResult{ValueFile: wirejson.Some(file)}, nil
}

// safe reports whether calls of a tool may overlap.
func safe(d tool.Definition) bool {
	return d.Parallel && (d.Effect == tool.None || d.Effect == tool.Read)
}

// valueOf is what a nested call yields: structured content where the tool has a schema of it, else its text.
func valueOf(d tool.Definition, r tool.Result) (json.RawMessage, error) {
	if d.Output == nil {
		return wirejson.AppendString(nil, plainText(r)), nil
	}
	if r.Details == nil || r.Details.Structured == nil {
		return nil, extension.RefuseFailed(fmt.Sprintf("the tool %q has given no structured content", d.Name))
	}
	return r.Details.Structured, nil
}

func plainText(r tool.Result) string {
	return conversation.Message{Role: conversation.Tool, Parts: r.Content}.PlainText()
}

// faultMost bounds the text of an error answer, in bytes.
const faultMost = 4096

// failure is the answer to a nested call without a result, and to a store that fails.
func failure(ctx context.Context, err error) error {
	cause := context.Cause(ctx)
	switch {
	case errors.Is(cause, errDeadline):
		return extension.RefuseFailed(errDeadline.Error())
	case cause != nil:
		return cause
	}
	return extension.RefuseFailed(clip.Text(err.Error(), faultMost))
}

func (s *Service) commit(ctx context.Context, r *extension.Incoming) (peer.Value, error) {
	q, err := featurewire.DecodeCompositionStoreParams(r.Params)
	if err != nil {
		return nil, extension.RefuseMalformed(err.Error())
	}
	var set map[string]json.RawMessage
	if err := json.Unmarshal(q.Set, &set); err != nil {
		return nil, extension.RefuseMalformed(err.Error())
	}
	p, err := s.parent(r)
	if err != nil {
		return nil, err
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.committed {
		return nil, extension.RefuseMalformed("the call has committed already; put everything into one commit")
	}
	switch err := s.store.Compose(ctx, p.call.Owner, p.call.Name, set, q.Delete); {
	case errors.Is(err, session.ErrBound):
		return nil, extension.RefuseBounds(clip.Text(err.Error(), faultMost))
	case err != nil:
		return nil, failure(ctx, err)
	}
	p.committed = true
	return featurewire.CompositionStoreResult{}, nil
}
