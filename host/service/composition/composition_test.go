package composition

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/extension/extensiontest"
	"github.com/octet-dev/octet/host/session"
	"github.com/octet-dev/octet/host/tool"
)

// listed is a tool of a test; run is what a nested call of it does.
type listed struct {
	definition tool.Definition
	composes   *featurewire.ToolComposition
	run        func(ctx context.Context, arguments string) (tool.Result, error)
}

func (l *listed) Definition() tool.Definition               { return l.definition }
func (l *listed) Composition() *featurewire.ToolComposition { return l.composes }
func (l *listed) Run(context.Context, tool.Call) (tool.Result, error) {
	panic("only the dispatcher runs tools")
}

// set is the frozen set of a kernel.
type set []tool.Tool

func (s set) Tools() []tool.Tool { return s }
func (s set) Find(name string) tool.Tool {
	for _, t := range s {
		if t.Definition().Name == name {
			return t
		}
	}
	return nil
}

type dispatcher set

func (d dispatcher) Tools() tool.Snapshot { return set(d) }
func (d dispatcher) Call(ctx context.Context, name string, arguments json.RawMessage) (tool.Result, error) {
	return set(d).Find(name).(*listed).run(ctx, string(arguments))
}

// memory is a store of composing tools; it judges no bounds.
type memory struct {
	mu     sync.Mutex
	values map[string]map[string]json.RawMessage
	err    error
}

func (m *memory) Composed(_ context.Context, owner, tool string) (map[string]json.RawMessage, error) {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.values[owner+"/"+tool], m.err
}

func (m *memory) Compose(_ context.Context, owner, tool string, set map[string]json.RawMessage, remove []string) error {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.err != nil {
		return m.err
	}
	if m.values == nil {
		m.values = map[string]map[string]json.RawMessage{}
	}
	m.values[owner+"/"+tool] = set
	return nil
}

func named(name string, effect tool.Effect, run func(ctx context.Context, arguments string) (tool.Result, error)) *listed {
	return &listed{
		definition: tool.Definition{Name: name, Description: "Does " + name + ".", Parameters: json.RawMessage(`{"type":"object"}`), Effect: effect, Parallel: effect == tool.Read},
		run:        run,
	}
}

func says(text string) func(context.Context, string) (tool.Result, error) {
	return func(context.Context, string) (tool.Result, error) { return tool.Said(text), nil }
}

const (
	contextOf = featurewire.MethodCompositionContext
	callOf    = featurewire.MethodCompositionCall
	storeOf   = featurewire.MethodCompositionStore
)

// composing is a running test of one composing call.
type composing struct {
	*extensiontest.Rig
	service *Service
	parent  int64
}

func (c *composing) ask(method, members string) extensiontest.Answer {
	return c.Ask(method, c.params(members))
}

func (c *composing) params(members string) string {
	if members != "" {
		members = "," + members
	}
	return fmt.Sprintf(`{"parent_request_id":%d%s}`, c.parent, members)
}

func start(t *testing.T, s Store) *composing {
	t.Helper()
	service := New(s)
	return &composing{service: service, Rig: extensiontest.Start(t, extensiontest.Setup{Options: extension.Options{Bindings: []extension.Binding{service.Binding()}}})}
}

// compose runs f inside a composing call that has the tools.
func (c *composing) compose(f func(), tools ...tool.Tool) {
	call := &tool.Call{Name: "work", Owner: extensiontest.DefaultFront, Nested: dispatcher(tools)}
	c.DuringCall(extension.Request{Scope: extension.Scope{Owner: call.Owner}, Value: call}, func(parent int64) {
		c.parent = parent
		f()
	})
}

// bubble runs a composing call inside a bubble of time.
func bubble(t *testing.T, f func(t *testing.T, c *composing), tools ...tool.Tool) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		c := start(t, &memory{})
		c.compose(func() { f(t, c) }, tools...)
	})
}

// EXT04-NEST-005
func TestBinding_isOfferedWhereItIsBound(t *testing.T) {
	without := extensiontest.Start(t, extensiontest.Setup{})
	with := start(t, &memory{})
	for rig, want := range map[*extensiontest.Rig]bool{without: false, with.Rig: true} {
		if got := strings.Contains(string(rig.Offer()), featurewire.FeatureToolCompositionV1); got != want {
			t.Errorf("offered: %v, want %v", got, want)
		}
	}
}

// EXT04-NEST-006
func TestDefinition_ofAComposingTool(t *testing.T) {
	for _, c := range []struct {
		composition string
		bound, good bool
	}{
		{`{"mode":"on","inline_budget":0}`, true, true},
		{`{"mode":"only","inline_budget":16000}`, true, true},
		{`{"mode":"on","inline_budget":16001}`, true, false},
		{`{"mode":"on","inline_budget":0,"stray":1}`, true, false},
		{`{"mode":"off","inline_budget":0}`, true, false},
		{`{"mode":"on","inline_budget":0}`, false, false},
	} {
		var bindings []extension.Binding
		if c.bound {
			bindings = []extension.Binding{New(&memory{}).Binding()}
		}
		_, err := extensiontest.TryStart(t, extensiontest.Setup{
			Options: extension.Options{Bindings: bindings},
			Initialize: func(result map[string]any) {
				result["tools"] = []any{json.RawMessage(`{"name":"work","description":"Works.","parameters":{"type":"object"},"composition":` + c.composition + `}`)}
			},
		})
		if (err == nil) != c.good {
			t.Errorf("%s, offered %v: %v", c.composition, c.bound, err)
		}
	}
}

// EXT04-NEST-007
func TestVisible(t *testing.T) {
	a, b := named("a", tool.Read, nil), named("b", tool.Write, nil)
	on, only := named("on", tool.External, nil), named("only", tool.External, nil)
	on.composes = &featurewire.ToolComposition{Mode: featurewire.CompositionModeOn}
	only.composes = &featurewire.ToolComposition{Mode: featurewire.CompositionModeOnly}
	for _, c := range []struct{ all, want []tool.Tool }{
		{[]tool.Tool{a, b}, []tool.Tool{a, b}},
		{[]tool.Tool{a, b, on}, []tool.Tool{a, b, on}},
		{[]tool.Tool{a, b, on, only}, []tool.Tool{on, only}},
		{[]tool.Tool{a, only}, []tool.Tool{only}},
	} {
		if got := Visible(set(c.all)); !slices.Equal(got, c.want) {
			t.Errorf("of %d tools %d are visible, want %d", len(c.all), len(got), len(c.want))
		}
	}
}

// EXT04-NEST-008
func TestParent_isALiveBoundToolCall(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, &memory{})
		requests := map[string]string{contextOf: "", callOf: `"name":"a","arguments":{}`, storeOf: `"set":{},"delete":[]`}
		scope := extension.Scope{Owner: extensiontest.DefaultFront}
		refused := func(why, extra string, code int64) {
			for method, members := range requests {
				if members != "" && extra != "" {
					members += ","
				}
				if a := c.ask(method, members+extra); a.Refusal == nil || a.Refusal.Code != code {
					t.Errorf("%s, %s: %+v, want error %d", why, method, a, code)
				}
			}
		}
		c.DuringCommand(extension.Execution{Scope: scope}, func(parent int64) {
			c.parent = parent
			refused("a command", "", featurewire.CodeNotForegroundOwner)
		})
		for _, value := range []any{nil, "other", (*tool.Call)(nil), &tool.Call{Name: "work"}} {
			c.DuringCall(extension.Request{Scope: scope, Value: value}, func(parent int64) {
				c.parent = parent
				refused(fmt.Sprintf("unbound %T", value), "", featurewire.CodeNotForegroundOwner)
			})
		}
		refused("settled", "", featurewire.CodeNotForegroundOwner)
		c.compose(func() {
			refused("with an owner", `"resource_owner":`+c.Owner(scope.Owner), featurewire.CodeInvalidParams)
			c.ask(callOf, `"name":"a","arguments":{}`).OK(t, `{"value":"x"}`)
			c.parent = 0
			refused("initialize or none", "", featurewire.CodeInvalidParams)
		}, named("a", tool.Read, says("x")))
		synctest.Wait()
		if n := len(c.service.live); n != 0 {
			t.Errorf("%d settled calls are kept", n)
		}
	})
}

// EXT04-NEST-009, EXT04-NEST-012
func TestContext(t *testing.T) {
	typed := named("b", tool.Read, nil)
	typed.definition.Output = json.RawMessage(`{"type":"object"}`)
	self := named("work", tool.External, nil)
	self.composes = &featurewire.ToolComposition{Mode: featurewire.CompositionModeOn}
	bubble(t, func(t *testing.T, c *composing) {
		c.ask(contextOf, "").OK(t, `{"limits":{"max_calls":256,"timeout_ms":30000},"store":{},"tools":[
			{"name":"a","description":"Does a.","parameters":{"type":"object"}},
			{"name":"b","description":"Does b.","parameters":{"type":"object"},"output_schema":{"type":"object"}}]}`)
		c.ask(contextOf, `"stray":1`).Refused(t, featurewire.CodeInvalidParams, "")
		c.ask(callOf, `"name":"work","arguments":{}`).Refused(t, featurewire.CodeInvalidParams, "")
		c.ask(callOf, `"name":"missing","arguments":{}`).Refused(t, featurewire.CodeInvalidParams, "")
	}, named("a", tool.Read, nil), typed, self)
}

// EXT04-NEST-009, EXT04-NEST-011
func TestContext_asAFile(t *testing.T) {
	wordy := named("a", tool.Read, nil)
	wordy.definition.Description = strings.Repeat("x", inlineMost)
	bubble(t, func(t *testing.T, c *composing) {
		var result featurewire.CompositionContextResult
		c.ask(contextOf, "").Decode(t, &result)
		file, ok := result.ContextFile.Get()
		if !ok || !result.Tools.IsAbsent() {
			t.Fatalf("the context is not in a file")
		}
		text := read(t, c, file)
		if got, err := featurewire.DecodeCompositionContextResult(text); err != nil || len(got.Tools.Or(nil)) != 1 {
			t.Errorf("the file holds %.60s: %v", text, err)
		}
	}, wordy)
}

// read takes a file as a reader should, and takes it away.
func read(t *testing.T, c *composing, f featurewire.ScratchFile) []byte {
	t.Helper()
	path := filepath.Join(c.X.Scratch(), f.Path)
	if filepath.Base(f.Path) != f.Path {
		t.Errorf("%q is no flat name", f.Path)
	}
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	digest := sha256.Sum256(text)
	if int64(len(text)) != f.Bytes || hex.EncodeToString(digest[:]) != f.Sha256 {
		t.Errorf("%d bytes, said to be %d", len(text), f.Bytes)
	}
	if err := os.Remove(path); err != nil {
		t.Error(err)
	}
	return text
}

// EXT04-NEST-010, EXT04-NEST-015
func TestCall_values(t *testing.T) {
	typed := named("typed", tool.Read, func(_ context.Context, arguments string) (tool.Result, error) {
		r := tool.Said("one letter")
		if arguments == `{"a":1}` {
			r.Details = &conversation.Details{Structured: json.RawMessage(`{"letters":1}`)}
		}
		return r, nil
	})
	typed.definition.Output = json.RawMessage(`{"type":"object"}`)
	bubble(t, func(t *testing.T, c *composing) {
		c.ask(callOf, `"name":"text","arguments":{}`).OK(t, `{"value":"a\nb"}`)
		c.ask(callOf, `"name":"typed","arguments":{"a":1}`).OK(t, `{"value":{"letters":1}}`)
		c.ask(callOf, `"name":"typed","arguments":{}`).Refused(t, featurewire.CodeInternalError, "")
		c.ask(callOf, `"name":"fails","arguments":{}`).Refused(t, featurewire.CodeInternalError, "no such file")
		c.ask(callOf, `"name":"breaks","arguments":{}`).Refused(t, featurewire.CodeInternalError, "machine on fire")
		for _, members := range []string{
			`"name":"text"`, `"name":"","arguments":{}`, `"name":"` + strings.Repeat("n", 129) + `","arguments":{}`, `"name":"text","arguments":[]`,
			`"name":"text","arguments":{"a":` + strings.Repeat("[", 33) + strings.Repeat("]", 33) + `}`,
			`"name":"text","arguments":{"a":"` + strings.Repeat("x", 131072-7) + `"}`,
		} {
			c.ask(callOf, members).Refused(t, featurewire.CodeInvalidParams, "")
		}
		c.ask(callOf, `"name":"text","arguments":{"a":`+strings.Repeat("[", 32)+strings.Repeat("]", 32)+`}`).OK(t, "")
		c.ask(callOf, `"name":"text","arguments":{"a":"`+strings.Repeat("x", 131072-8)+`"}`).OK(t, "")
	}, typed, named("text", tool.Read, func(context.Context, string) (tool.Result, error) {
		return tool.Result{Content: []conversation.Part{conversation.TextPart("a"), {Kind: conversation.Image}, conversation.TextPart("b")}}, nil
	}), named("fails", tool.Read, func(context.Context, string) (tool.Result, error) { return tool.Failed("no such file"), nil }),
		named("breaks", tool.Read, func(context.Context, string) (tool.Result, error) {
			return tool.Result{}, errors.New("machine on fire")
		}))
}

// EXT04-NEST-011
func TestCall_filesHaveBounds(t *testing.T) {
	size := 0
	big := named("big", tool.Read, func(context.Context, string) (tool.Result, error) {
		return tool.Said(strings.Repeat("x", size-2)), nil // and two quotes
	})
	var kept string
	synctest.Test(t, func(t *testing.T) {
		c := start(t, &memory{})
		c.compose(func() {
			var result featurewire.CompositionCallResult
			size = inlineMost
			c.ask(callOf, `"name":"big","arguments":{}`).Decode(t, &result)
			if !result.ValueFile.IsAbsent() {
				t.Error("what fits is in a file")
			}
			for range 2 {
				size = featurewire.MaxCompositionFileBytes
				c.ask(callOf, `"name":"big","arguments":{}`).Decode(t, &result)
				file, _ := result.ValueFile.Get()
				if text := read(t, c, file); len(text) != size || text[0] != '"' {
					t.Errorf("%d bytes", len(text))
				}
			}
			size++
			c.ask(callOf, `"name":"big","arguments":{}`).Refused(t, featurewire.CodeInternalError, "")
			size = inlineMost + 1
			handed := c.service.live[theOnly(c.service)].files
			for len(handed.names) < featurewire.MaxCompositionFiles-1 {
				handed.names = append(handed.names, "gone")
			}
			c.ask(callOf, `"name":"big","arguments":{}`).Decode(t, &result)
			file, _ := result.ValueFile.Get()
			kept = filepath.Join(c.X.Scratch(), file.Path)
			c.ask(callOf, `"name":"big","arguments":{}`).Refused(t, featurewire.CodeInvalidParams, "bounds_exceeded ")
			if info, err := os.Stat(kept); err != nil || info.Mode().Perm() != 0o600 {
				t.Errorf("%v %v", info, err)
			}
		}, big)
		synctest.Wait()
		if _, err := os.Stat(kept); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("a file nobody has read outlives its call: %v", err)
		}
	})
}

func theOnly(s *Service) *extension.HostCall {
	for h := range s.live {
		return h
	}
	return nil
}

// EXT04-NEST-013
func TestCall_numberAndTime(t *testing.T) {
	waits := named("waits", tool.Read, func(ctx context.Context, _ string) (tool.Result, error) {
		<-ctx.Done()
		return tool.Result{}, context.Cause(ctx)
	})
	quick := named("quick", tool.Read, says("x"))
	bubble(t, func(t *testing.T, c *composing) {
		for range featurewire.MaxCompositionCalls {
			c.ask(callOf, `"name":"quick","arguments":{}`).OK(t, `{"value":"x"}`)
		}
		c.ask(callOf, `"name":"quick","arguments":{}`).Refused(t, featurewire.CodeInvalidParams, "bounds_exceeded ")
	}, quick)
	synctest.Test(t, func(t *testing.T) {
		c := start(t, &memory{})
		call := &tool.Call{Name: "work", Owner: extensiontest.DefaultFront, Nested: dispatcher{waits, quick}}
		c.DuringCall(extension.Request{Scope: extension.Scope{Owner: call.Owner}, Value: call, Timeout: time.Hour}, func(parent int64) {
			c.parent = parent
			start := time.Now()
			c.ask(contextOf, "").OK(t, "")
			time.Sleep(10 * time.Second)
			c.ask(callOf, `"name":"waits","arguments":{}`).Refused(t, featurewire.CodeInternalError, errDeadline.Error())
			if took := time.Since(start); took != 30*time.Second {
				t.Errorf("took %s, want 30 s from the first request on", took)
			}
			c.ask(callOf, `"name":"quick","arguments":{}`).Refused(t, featurewire.CodeInternalError, errDeadline.Error())
		})
	})
}

// EXT04-NEST-014
func TestCall_whatOverlaps(t *testing.T) {
	var mu sync.Mutex
	running, most, alone := 0, 0, true
	var let chan struct{}
	body := func(exclusive bool) func(context.Context, string) (tool.Result, error) {
		return func(context.Context, string) (tool.Result, error) {
			mu.Lock()
			running++
			most = max(most, running)
			alone = alone && (!exclusive || running == 1)
			mu.Unlock()
			<-let
			mu.Lock()
			running--
			mu.Unlock()
			return tool.Said("x"), nil
		}
	}
	unsafeRead := named("lonely", tool.Read, body(true))
	unsafeRead.definition.Parallel = false
	tools := []tool.Tool{named("read", tool.Read, body(false)), unsafeRead}
	for _, effect := range []tool.Effect{tool.Write, tool.Command, tool.External} {
		l := named(string(effect), effect, body(true))
		l.definition.Parallel = true // its effect counts
		tools = append(tools, l)
	}
	bubble(t, func(t *testing.T, c *composing) {
		let = make(chan struct{})
		var waiting []*extensiontest.Pending
		send := func(name string) {
			waiting = append(waiting, c.Send(callOf, c.params(`"name":"`+name+`","arguments":{}`)))
			synctest.Wait()
		}
		for range 6 {
			send("read")
		}
		mu.Lock()
		if running != featurewire.MaxCompositionReads {
			t.Errorf("%d reads overlap", running)
		}
		mu.Unlock()
		for _, name := range []string{"write", "read", "command", "external", "lonely", "read"} {
			send(name)
		}
		for range waiting {
			let <- struct{}{}
			synctest.Wait()
		}
		for _, p := range waiting {
			p.Wait().OK(t, `{"value":"x"}`)
		}
		if most != featurewire.MaxCompositionReads || !alone {
			t.Errorf("at most %d ran together, those that must be alone were: %v", most, alone)
		}
	}, tools...)
}

// EXT04-NEST-018
func TestCall_endsWithItsParent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := start(t, &memory{})
		ended := make(chan error, 1)
		done := 0
		waits := named("waits", tool.Write, func(ctx context.Context, _ string) (tool.Result, error) {
			<-ctx.Done()
			ended <- context.Cause(ctx)
			return tool.Result{}, ctx.Err()
		})
		quick := named("quick", tool.Write, func(context.Context, string) (tool.Result, error) { done++; return tool.Said("x"), nil })
		var running, queued *extensiontest.Pending
		c.compose(func() {
			c.ask(callOf, `"name":"quick","arguments":{}`).OK(t, "")
			running = c.Send(callOf, c.params(`"name":"waits","arguments":{}`))
			synctest.Wait()
			queued = c.Send(callOf, c.params(`"name":"quick","arguments":{}`))
			synctest.Wait()
		}, waits, quick)
		if err := <-ended; err == nil {
			t.Error("the running one goes on")
		}
		for name, p := range map[string]*extensiontest.Pending{"running": running, "queued": queued} {
			if a := p.Wait(); a.CalledOff == "" {
				t.Errorf("the %s one is answered: %+v", name, a)
			}
		}
		synctest.Wait()
		if done != 1 {
			t.Errorf("%d quick calls were made, want the one before the settlement", done)
		}
	})
}

// EXT04-NEST-016
func TestStore_oneCommit(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		m := &memory{err: fmt.Errorf("it: %w", session.ErrBound)}
		c := start(t, m)
		c.compose(func() {
			c.ask(storeOf, `"set":{"a":1},"delete":[]`).Refused(t, featurewire.CodeInvalidParams, "bounds_exceeded ")
			m.err = errors.New("disk full")
			c.ask(storeOf, `"set":{"a":1},"delete":[]`).Refused(t, featurewire.CodeInternalError, "disk full")
			c.ask(contextOf, ``).Refused(t, featurewire.CodeInternalError, "disk full")
			m.err = nil
			for _, members := range []string{`"set":{}`, `"delete":[]`, `"set":[],"delete":[]`, `"set":{},"delete":[1]`, `"set":{},"delete":["` + strings.Repeat("k", 1025) + `"]`} {
				c.ask(storeOf, members).Refused(t, featurewire.CodeInvalidParams, "")
			}
			c.ask(storeOf, `"set":{"a":1},"delete":["b"]`).OK(t, `{}`)
			c.ask(storeOf, `"set":{"a":2},"delete":[]`).Refused(t, featurewire.CodeInvalidParams, "")
		})
		c.compose(func() { c.ask(storeOf, `"set":{"a":2},"delete":[]`).OK(t, `{}`) })
	})
}

// stored is a store in one session.
type stored struct{ *session.Session }

func (s stored) Composed(ctx context.Context, _, tool string) (map[string]json.RawMessage, error) {
	return s.Session.Composed(ctx, tool)
}

func (s stored) Compose(ctx context.Context, _, tool string, set map[string]json.RawMessage, remove []string) error {
	return s.Session.Compose(ctx, tool, set, remove)
}

// EXT04-NEST-016, EXT04-NEST-017: with sessions on disk.
func TestStore_bounds(t *testing.T) {
	store, err := session.Options{}.Open(t.Context(), filepath.Join(t.TempDir(), "sessions.db"))
	if err != nil {
		t.Fatal(err)
	}
	defer store.Close()
	info, err := store.Create(t.Context(), session.New{Workspace: t.TempDir()})
	if err != nil {
		t.Fatal(err)
	}
	s, err := store.Begin(t.Context(), info.ID)
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	c := start(t, stored{s})
	commit := func(set, remove string, code int64) {
		t.Helper()
		c.compose(func() {
			answer := c.ask(storeOf, `"set":{`+set+`},"delete":[`+remove+`]`)
			if code == 0 {
				answer.OK(t, `{}`)
			} else {
				answer.Refused(t, code, "")
			}
		})
	}
	many := func(n int, form string) string {
		var list []string
		for i := range n {
			list = append(list, fmt.Sprintf(form, i))
		}
		return strings.Join(list, ",")
	}
	commit(many(4096, `"k%d":1`), "", 0)
	commit("", many(4096, `"k%d"`), 0)
	commit(many(4097, `"k%d":1`), "", featurewire.CodeInvalidParams)
	commit(many(2048, `"k%d":1`), many(2049, `"k%d"`), featurewire.CodeInvalidParams)
	commit(`"`+strings.Repeat("k", 1024)+`":1`, `"`+strings.Repeat("k", 1024)+`"`, 0)
	commit(`"`+strings.Repeat("k", 1025)+`":1`, "", featurewire.CodeInvalidParams)
	commit("", `"`+strings.Repeat("k", 1024)+`"`, 0)
	value := `"` + strings.Repeat("v", 262142) + `"`
	commit(`"a":`+value, "", 0)
	commit(`"a":"x`+value[1:], "", featurewire.CodeInvalidParams)
	commit(`"b":`+value+`,"c":`+value, "", 0)
	commit(`"d":`+value, "", featurewire.CodeInvalidParams) // with its keys more than 1 MiB
	commit(`"d":`+value, `"a"`, 0)
	c.compose(func() {
		var result featurewire.CompositionContextResult
		c.ask(contextOf, "").Decode(t, &result)
		if file, ok := result.ContextFile.Get(); !ok || file.Bytes < 3*262144 {
			t.Errorf("the store is said to be %+v", file)
		}
	})
	// It follows the branch: behind a way back it is as it was there.
	branch, err := s.Branch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	if err := s.SetHead(t.Context(), branch[1].ID); err != nil {
		t.Fatal(err)
	}
	c.compose(func() {
		c.ask(contextOf, "").OK(t, `{"limits":{"max_calls":256,"timeout_ms":30000},"store":{},"tools":[]}`)
	})
	other, err := s.Composed(t.Context(), "other")
	if err != nil || len(other) != 0 {
		t.Errorf("another tool has %v, %v", other, err)
	}
}

// The extension may give a nested call up; what runs for it ends with that, and the composing call goes on.
//
// EXT04-CANCEL-018
func TestCall_givenUp(t *testing.T) {
	started, ended := make(chan struct{}), make(chan struct{})
	slow := named("slow", tool.Read, func(ctx context.Context, _ string) (tool.Result, error) {
		close(started)
		<-ctx.Done()
		close(ended)
		return tool.Result{}, context.Cause(ctx)
	})
	c := start(t, &memory{})
	c.compose(func() {
		p := c.Send(callOf, c.params(`"name":"slow","arguments":{}`))
		<-started
		c.Cancel(p)
		p.Wait().Refused(t, featurewire.CodeRequestCancelled, "")
		<-ended
		c.ask(callOf, `"name":"quick","arguments":{}`).OK(t, `{"value":"x"}`)
	}, slow, named("quick", tool.Read, says("x")))
}
