package resource

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/extension/extensiontest"
	"github.com/octet-dev/octet/host/service/refs"
)

const (
	register = featurewire.MethodResourceRegister
	release  = featurewire.MethodResourceRelease
	disposes = featurewire.MethodResourceDispose
)

var front = extension.Scope{Owner: extensiontest.DefaultFront}

// refSchema is the closed shape of a reference to a page.
const refSchema = `{"type":"object","properties":{"$resource":{"type":"string"},"type":{"const":"page"}},"required":["$resource","type"],"additionalProperties":false}`

// stage is a process with tools that make and use pages.
type stage struct {
	*extensiontest.Rig
	t       *testing.T
	service *Service
	parent  int64
	status  string // that the process gives of what it disposes of
	asked   []string
}

func play(t *testing.T, f func(s *stage)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		service := New()
		defer service.Close()
		s := &stage{t: t, service: service, status: "completed"}
		s.start("one", 0)
		f(s)
	})
}

// start runs a process of the extension; the one before stays.
func (s *stage) start(instance string, generation int64) {
	s.Rig = extensiontest.Start(s.t, extensiontest.Setup{
		Contributes: `tools = ["work", "use", "make"]`,
		Options:     extension.Options{Bindings: []extension.Binding{s.service.Binding()}, Instance: instance, Generation: generation},
		Initialize: func(result map[string]any) {
			result["tools"] = []any{
				json.RawMessage(`{"name":"work","description":"Works.","parameters":{"type":"object"}}`),
				json.RawMessage(`{"name":"use","description":"Uses.","parameters":{"type":"object","properties":{"page":` + refSchema + `,"in":{"type":"object","properties":{"page":` + refSchema + `}}}},
					"operation":{"id":"use","resource_inputs":[{"path":"/page","type":"page","access":"exclusive"},{"path":"/in/page","type":"page","access":"exclusive"}],"resource_outputs":[]}}`),
				json.RawMessage(`{"name":"make","description":"Makes.","parameters":{"type":"object"},"output_schema":{"type":"object"},
					"operation":{"id":"make","resource_inputs":[],"resource_outputs":[{"path":"/page","type":"page"}]}}`),
			}
		},
	})
	s.Serve(disposes, func(_ int64, params json.RawMessage) (any, error) {
		s.asked = append(s.asked, string(params))
		var p struct {
			Resources []json.RawMessage `json:"resources"`
		}
		if err := json.Unmarshal(params, &p); err != nil {
			return nil, err
		}
		results := []any{}
		for _, ref := range p.Resources {
			results = append(results, map[string]any{"resource": ref, "status": s.status})
		}
		return map[string]any{"results": results}, nil
	})
}

// during runs f inside a call of a tool, which ends with a result.
func (s *stage) during(tool, arguments string, f func(), result map[string]any) error {
	s.Serve(featurewire.MethodToolCall, func(id int64, _ json.RawMessage) (any, error) {
		s.parent = id
		if f != nil {
			f()
		}
		if result == nil {
			return nil, errors.New("it broke")
		}
		return result, nil
	})
	_, err := s.X.Call(context.Background(), extension.Request{Tool: tool, Arguments: json.RawMessage(arguments), Scope: front})
	synctest.Wait()
	return err
}

func (s *stage) must(err error) {
	s.t.Helper()
	if err != nil {
		s.t.Error(err)
	}
}

func (s *stage) done() map[string]any { return s.ToolText("done") }

func (s *stage) ask(method, members string) extensiontest.Answer {
	return s.Ask(method, fmt.Sprintf(`{"parent_request_id":%d,%s}`, s.parent, members))
}

// page registers a page in the current call.
func (s *stage) page() string {
	s.t.Helper()
	a := s.ask(register, `"type":"page"`)
	var ref featurewire.ResourceRef
	a.Decode(s.t, &ref)
	if ref.Resource == "" || len(ref.Resource) > featurewire.MaxResourceTokenBytes || ref.Type != "page" {
		s.t.Errorf("registered %s", a.Result)
	}
	return string(a.Result)
}

// held makes a page that is active.
func (s *stage) held() (page string) {
	s.t.Helper()
	s.must(s.during("work", `{}`, func() { page = s.page() }, s.done()))
	return page
}

func (s *stage) release(page string) extensiontest.Answer {
	return s.ask(release, `"resource":`+page)
}

// EXT04-RES-005
func TestBinding_offer(t *testing.T) {
	play(t, func(s *stage) {
		if want := `"resource_refs_v1":{"max_records":256,"max_registrations_per_parent":32}`; !strings.Contains(string(s.Offer()), want) {
			t.Errorf("offered %s, want %s", s.Offer(), want)
		}
	})
}

// EXT04-RES-007, EXT04-RES-013
func TestRequests_needALiveToolCall(t *testing.T) {
	play(t, func(s *stage) {
		page := s.held()
		s.ask(register, `"type":"page"`).Refused(t, featurewire.CodeNotForegroundOwner, "")
		s.release(page).Refused(t, featurewire.CodeNotForegroundOwner, "")
		s.must(s.during("work", `{}`, func() {
			for _, members := range []string{`"type":""`, `"type":"1page"`, `"type":"` + strings.Repeat("p", 129) + `"`, `"kind":"page"`} {
				s.ask(register, members).Refused(t, featurewire.CodeInvalidParams, "")
			}
			s.ask(register, `"type":"`+strings.Repeat("p", 128)+`"`).OK(t, "")
			for _, ref := range []string{`{}`, `7`, strings.Replace(page, `{`, `{"stray":1,`, 1)} {
				s.release(ref).Refused(t, featurewire.CodeInvalidParams, "")
			}
			s.release(`{"$resource":"nobody","type":"page"}`).Refused(t, featurewire.CodeNotForegroundOwner, "not_foreground_owner ")
			s.release(strings.Replace(page, `"page"`, `"tab"`, 1)).Refused(t, featurewire.CodeNotForegroundOwner, "not_foreground_owner ")
		}, s.done()))
		s.DuringCall(extension.Request{}, func(parent int64) { // no session owns it
			s.parent = parent
			s.ask(register, `"type":"page"`).Refused(t, featurewire.CodeNotForegroundOwner, "not_foreground_owner ")
		})
		s.DuringCall(extension.Request{Scope: extension.Scope{Owner: "session-2"}}, func(parent int64) {
			s.parent = parent
			s.release(page).Refused(t, featurewire.CodeNotForegroundOwner, "not_foreground_owner ")
		})
	})
}

// EXT04-RES-008
func TestRegister_bounds(t *testing.T) {
	play(t, func(s *stage) {
		var last string
		for range featurewire.MaxResources / featurewire.MaxResourceRegistrations {
			s.must(s.during("work", `{}`, func() {
				for range featurewire.MaxResourceRegistrations {
					last = s.page()
				}
				s.ask(register, `"type":"page"`).Refused(t, featurewire.CodeInvalidParams, "bounds_exceeded ")
			}, s.done()))
		}
		s.must(s.during("work", `{}`, func() {
			s.ask(register, `"type":"page"`).Refused(t, featurewire.CodeInvalidParams, "bounds_exceeded ")
			s.release(last).OK(t, `{"retired":true,"cleanup":"pending"}`)
			synctest.Wait()
			s.page() // in the place of the one that is cleaned up
			s.ask(register, `"type":"page"`).Refused(t, featurewire.CodeInvalidParams, "bounds_exceeded ")
		}, s.done()))
	})
}

// EXT04-RES-009, EXT04-RES-014
func TestRelease(t *testing.T) {
	for _, status := range []string{"completed", "failed"} {
		play(t, func(s *stage) {
			s.status = status
			page := s.held()
			s.must(s.during("work", `{}`, func() {
				s.release(page).OK(t, `{"retired":true,"cleanup":"pending"}`)
				synctest.Wait()
				s.release(page).OK(t, `{"retired":true,"cleanup":"`+status+`"}`)
			}, s.done()))
			if want := []string{`{"reason":"retired","resources":[` + page + `]}`}; !slices.Equal(s.asked, want) {
				t.Errorf("asked %q, want %q", s.asked, want)
			}
			if err := s.during("use", `{"page":`+page+`}`, nil, s.done()); err == nil || !strings.Contains(err.Error(), errRetired.Error()) {
				t.Errorf("a retired resource is taken in: %v", err)
			}
		})
	}
}

// EXT04-RES-015
func TestClean_unknownEndsTheProcess(t *testing.T) {
	play(t, func(s *stage) {
		page := s.held()
		released := make(chan struct{}) // before it is told: the end of the process would be faster than the answer
		s.Serve(disposes, func(int64, json.RawMessage) (any, error) {
			<-released
			return map[string]any{"results": []any{}}, nil
		})
		s.Serve(featurewire.MethodToolCall, func(id int64, _ json.RawMessage) (any, error) {
			s.parent = id
			s.release(page).OK(t, `{"retired":true,"cleanup":"pending"}`)
			close(released)
			return s.done(), nil
		})
		_, _ = s.X.Call(context.Background(), extension.Request{Tool: "work", Scope: front})
		<-s.X.Done()
		synctest.Wait()
		if !s.Diagnosed("unknown whether resources were cleaned up") {
			t.Errorf("diagnosed %q", s.Diagnostics())
		}
	})
}

// EXT04-RES-010
func TestSettle_activeWithTheResultOrNotAtAll(t *testing.T) {
	play(t, func(s *stage) {
		typed := func(content string) map[string]any {
			r := s.done()
			r["structured_content"] = json.RawMessage(content)
			return r
		}
		failed := s.done()
		failed["is_error"] = true
		var page string
		make := func() { page = s.page() }
		use := func() error { return s.during("use", `{"page":`+page+`}`, nil, s.done()) }

		s.must(s.during("work", `{}`, func() {
			make()
			s.Serve(disposes, func(int64, json.RawMessage) (any, error) { t.Error("disposed of"); return nil, nil })
		}, s.done()))
		s.must(use())
		s.start("one", 1)
		for name, c := range map[string]struct {
			tool   string
			result map[string]any
		}{
			"it says it failed": {"work", failed}, "it is an error": {"work", nil},
			"the result is invalid":            {"work", map[string]any{"content": []any{}, "is_error": false}},
			"it exports a foreign one":         {"make", typed(`{"page":{"$resource":"foreign","type":"page"}}`)},
			"it exports no reference":          {"make", typed(`{"page":7}`)},
			"it exports another type":          {"make", typed(`{"page":{"$resource":"foreign","type":"tab"}}`)},
			"it exports a foreign one in deep": {"make", typed(`{"list":[{"x":{"$resource":"foreign","type":"page"}}]}`)},
		} {
			s.asked = nil
			err := s.during(c.tool, `{}`, make, c.result)
			if c.result != nil && c.tool == "make" && err == nil {
				t.Errorf("%s: the result is admitted", name)
			}
			if len(s.asked) != 1 || !strings.Contains(s.asked[0], page) {
				t.Errorf("%s: asked to dispose of %q, want %s", name, s.asked, page)
			}
			if use() == nil {
				t.Errorf("%s: the resource can be used", name)
			}
		}
	})
}

// EXT04-RES-010: what a result exports is registered by its own call.
func TestCheck_exportsOfTheCall(t *testing.T) {
	play(t, func(s *stage) {
		r := s.done()
		s.must(s.during("make", `{}`, func() {
			r["structured_content"] = json.RawMessage(`{"page":` + s.page() + `}`)
		}, r))
		again := s.done()
		again["structured_content"] = r["structured_content"]
		s.must(s.during("make", `{}`, nil, again)) // an active one may be told again
	})
}

// EXT04-RES-011, EXT04-RES-012
func TestDispatch_pins(t *testing.T) {
	play(t, func(s *stage) {
		page, other := s.held(), s.held()
		for _, arguments := range []string{
			`{"page":{"$resource":"foreign","type":"page"}}`, `{"page":` + page + `,"in":{"page":` + page + `}}`,
		} {
			if err := s.during("use", arguments, func() { t.Error("sent") }, s.done()); err == nil {
				t.Errorf("%s is dispatched", arguments)
			}
		}
		s.must(s.during("use", `{}`, nil, s.done()))
		s.Serve(featurewire.MethodToolCall, func(id int64, params json.RawMessage) (any, error) {
			if strings.Contains(string(params), other) {
				return s.done(), nil
			}
			s.parent = id
			s.release(page).Refused(t, featurewire.CodeNotForegroundOwner, "resource_busy ")
			_, err := s.X.Call(context.Background(), extension.Request{Tool: "use", Arguments: json.RawMessage(`{"page":` + page + `}`), Scope: front})
			if err == nil || !strings.Contains(err.Error(), "resource_busy ") {
				t.Errorf("a second call has it too: %v", err)
			}
			_, err = s.X.Call(context.Background(), extension.Request{Tool: "use", Arguments: json.RawMessage(`{"page":` + other + `,"in":{"page":` + page + `}}`), Scope: front})
			if err == nil {
				t.Error("a second call has it and another one")
			}
			_, err = s.X.Call(context.Background(), extension.Request{Tool: "use", Arguments: json.RawMessage(`{"page":` + other + `}`), Scope: front})
			s.must(err)
			return s.done(), nil
		})
		_, err := s.X.Call(context.Background(), extension.Request{Tool: "use", Arguments: json.RawMessage(`{"in":{"page":` + page + `}}`), Scope: front})
		s.must(err)
		s.must(s.during("work", `{}`, func() { s.release(page).OK(t, "") }, s.done()))
	})
}

// EXT04-RES-011: a cancelled call has what it took in until it is settled.
func TestDispatch_cancellationDoesNotUnpin(t *testing.T) {
	play(t, func(s *stage) {
		page := s.held()
		let := make(chan struct{})
		s.Serve(featurewire.MethodToolCall, func(int64, json.RawMessage) (any, error) {
			<-let
			return nil, &extensiontest.RefuseError{Code: featurewire.CodeRequestCancelled, Message: "request cancelled"}
		})
		ctx, cancel := context.WithCancel(context.Background())
		done := make(chan error, 1)
		go func() {
			_, err := s.X.Call(ctx, extension.Request{Tool: "use", Arguments: json.RawMessage(`{"page":` + page + `}`), Scope: front})
			done <- err
		}()
		synctest.Wait()
		cancel()
		synctest.Wait()
		use := func() error {
			_, err := s.X.Call(context.Background(), extension.Request{Tool: "use", Arguments: json.RawMessage(`{"page":` + page + `}`), Scope: front})
			return err
		}
		if err := use(); err == nil || !strings.Contains(err.Error(), "resource_busy") {
			t.Errorf("free in the middle of a cancelled call: %v", err)
		}
		close(let)
		if err := <-done; err == nil {
			t.Error("the cancelled call has a result")
		}
		s.Serve(featurewire.MethodToolCall, func(int64, json.RawMessage) (any, error) { return s.done(), nil })
		s.must(use())
	})
}

// EXT04-RES-016
func TestRetireOwner(t *testing.T) {
	play(t, func(s *stage) {
		page := s.held()
		s.service.RetireOwner("session-2")
		synctest.Wait()
		if len(s.asked) != 0 {
			t.Errorf("another session lost %q", s.asked)
		}
		s.must(s.during("use", `{"page":`+page+`}`, func() {
			s.service.RetireOwner(front.Owner)
			synctest.Wait()
			if len(s.asked) != 0 {
				t.Error("disposed of while a call has it")
			}
		}, s.done()))
		if len(s.asked) != 1 {
			t.Errorf("asked to dispose of %q", s.asked)
		}
		if s.during("use", `{"page":`+page+`}`, nil, s.done()) == nil {
			t.Error("it can be used still")
		}
	})
}

// EXT04-RES-016: nothing of one generation is there in the next; one that only tries to start changes nothing.
func TestGenerations(t *testing.T) {
	play(t, func(s *stage) {
		page := s.held()
		old := s.Rig
		s.start("one", 1)
		if s.during("use", `{"page":`+page+`}`, nil, s.done()) == nil {
			t.Error("the next generation has it")
		}
		next := s.Rig
		s.Rig = old
		s.must(s.during("use", `{"page":`+page+`}`, nil, s.done()))
		next.X.Close()
		s.must(s.during("use", `{"page":`+page+`}`, nil, s.done()))
		s.X.Close()
		if n := len(s.service.held); n != 0 {
			t.Errorf("%d generations are remembered", n)
		}
	})
}

func FuzzRefs(f *testing.F) {
	f.Add(`{"page":{"$resource":"a","type":"page"}}`, "/page")
	f.Add(`[{"a":{"$resource":"a","type":"page"}}]`, "/a~1b/~0")
	f.Fuzz(func(t *testing.T, value, pointer string) {
		_, _, _ = refAt(json.RawMessage(value), pointer, "page")
		_ = refs.In(json.RawMessage(value), featurewire.DecodeResourceRefValue)
	})
}
