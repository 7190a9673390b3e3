package extension_test

import (
	"context"
	"encoding/json"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/extension/extensiontest"
	"github.com/octet-dev/octet/runtime/peer"
)

// front is the scope of the session in the foreground, and other that of another one.
var (
	front = extension.Scope{Owner: extensiontest.DefaultFront}
	other = extension.Scope{Owner: "session-2"}
)

// seen is a binding that keeps what arrived and answers with an empty object, or as the test says.
type seen struct {
	mu    sync.Mutex
	last  *extension.Incoming
	count int
	serve extension.Handler
}

func (s *seen) handle(ctx context.Context, r *extension.Incoming) (peer.Value, error) {
	s.mu.Lock()
	s.last = r
	s.count++
	serve := s.serve
	s.mu.Unlock()
	if serve != nil {
		return serve(ctx, r)
	}
	return peer.Raw("{}"), nil
}

func (s *seen) incoming() *extension.Incoming {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.last
}

// binding serves every request of extensions, behind every feature.
func (s *seen) binding() extension.Binding {
	b := extension.Binding{Requests: map[string]extension.Handler{}, Notices: map[string]func(*extension.Incoming){}}
	for _, f := range featurewire.Features {
		b.Features = append(b.Features, f.Name)
	}
	for _, m := range featurewire.Methods {
		if m.Parent == "" {
			continue
		}
		if m.Notification {
			b.Notices[m.Name] = func(r *extension.Incoming) { _, _ = s.handle(context.Background(), r) }
		} else {
			b.Requests[m.Name] = s.handle
		}
	}
	return b
}

// rig starts an extension to which every feature is open that its name allows.
func (s *seen) rig(t *testing.T, api, name string) *extensiontest.Rig {
	return extensiontest.Start(t, extensiontest.Setup{
		API: api, Name: name, Contributes: "tools = [\"work\"]\ncommands = [\"do\"]\npresentation = true",
		Options: extension.Options{Bindings: []extension.Binding{s.binding()}, Instance: "instance-1", Generation: 3},
	})
}

// tie makes params with a parent and an owner, each left out where it is 0 or empty.
func tie(parent int64, owner string) string {
	p := map[string]json.RawMessage{}
	if parent != 0 {
		p["parent_request_id"] = json.RawMessage(fmt.Sprint(parent))
	}
	if owner != "" {
		p["resource_owner"] = json.RawMessage(owner)
	}
	text, _ := json.Marshal(p)
	return string(text)
}

const (
	invalid  = featurewire.CodeInvalidParams
	noOwner  = featurewire.CodeNotForegroundOwner
	required = featurewire.MethodInputRequest
	retained = featurewire.MethodComposerGet
	settling = featurewire.MethodSessionCompact
	toolOnly = featurewire.MethodCompositionContext
)

// A request that needs an active parent takes over its owner, whatever it names itself.
//
// EXT04-NEG-030, EXT04-PARENT-007, EXT04-PARENT-008, EXT04-PARENT-009, EXT04-OWNER-011, EXT04-OWNER-012.
func TestCorrelate_requiredParent(t *testing.T) {
	s := &seen{}
	r := s.rig(t, "0.4", "")
	r.During(front, func(parent int64) {
		r.Ask(required, tie(parent, r.Owner("session-2"))).OK(t, "{}")
		in := s.incoming()
		if in.Parent == nil || in.Parent.ID != parent || in.Parent.Subject != "work" || in.Owner != r.X.OwnerOf(front.Owner) {
			t.Errorf("parent %+v and owner %+v, want those of the call", in.Parent, in.Owner)
		}
		if want := (extension.Owner{SessionID: "session-1", InstanceID: "instance-1", Generation: 3}); in.Owner != want {
			t.Errorf("owner %+v, want %+v", in.Owner, want)
		}
		r.Ask(required, tie(0, "")).Refused(t, invalid, "")
		r.Ask(required, `{"parent_request_id":"2"}`).Refused(t, invalid, "")
		r.Ask(required, tie(parent+1, "")).Refused(t, noOwner, "not_foreground_owner")
	})
	before := s.count
	r.Ask(required, tie(2, r.Owner(front.Owner))).Refused(t, noOwner, "not_foreground_owner")
	if s.count != before {
		t.Error("a service saw a request without an active parent")
	}
}

// The table of owners: a live parent, a settled one with its owner, and everything that is refused.
//
// EXT04-OWNER-012, EXT04-OWNER-013, EXT04-OWNER-014, EXT04-OWNER-017, EXT04-OWNER-018, MAN-IDENTITY-006.
func TestCorrelate_retainedParent(t *testing.T) {
	for _, api := range []string{"0.2", "0.4"} {
		t.Run(api, func(t *testing.T) {
			s := &seen{}
			r := s.rig(t, api, "")
			var parent int64
			r.During(front, func(id int64) {
				parent = id
				r.Ask(retained, tie(parent, `{"session_id":"foreign","extension_instance_id":"x","process_generation":0}`)).OK(t, "{}")
				if in := s.incoming(); in.Parent == nil || in.Owner.SessionID != front.Owner {
					t.Errorf("owner %+v, want that of the parent", in.Owner)
				}
			})
			r.During(other, func(id int64) {
				r.Ask(retained, tie(id, "")).Refused(t, noOwner, "not_foreground_owner")
				r.Ask(retained, tie(id, r.Owner(front.Owner))).Refused(t, noOwner, "not_foreground_owner")
			})
			r.During(extension.Scope{}, func(id int64) {
				r.Ask(retained, tie(id, r.Owner(front.Owner))).Refused(t, noOwner, "not_foreground_owner")
			})
			r.Ask(retained, tie(parent, r.Owner(front.Owner))).OK(t, "{}")
			if in := s.incoming(); in.Parent != nil || in.Owner.SessionID != front.Owner {
				t.Errorf("behind the answer: parent %+v, owner %+v", in.Parent, in.Owner)
			}
			r.Ask(retained, tie(parent, "")).Refused(t, noOwner, "not_foreground_owner")
			r.Ask(retained, tie(0, r.Owner(front.Owner))).Refused(t, invalid, "invalid_request")
			r.Ask(retained, tie(99, r.Owner(front.Owner))).Refused(t, noOwner, "not_foreground_owner")
			for _, wrong := range []string{
				`{"session_id":"session-1","extension_instance_id":"instance-2","process_generation":3}`,
				`{"session_id":"session-1","extension_instance_id":"instance-1","process_generation":2}`,
				`{"session_id":"session-1","extension_instance_id":"instance-1"}`,
				`7`,
			} {
				r.Ask(retained, tie(parent, wrong)).Refused(t, noOwner, "not_foreground_owner")
			}
			r.SetFront("session-3") // which this process was never told of
			r.Ask(retained, tie(parent, r.Owner("session-3"))).Refused(t, noOwner, "not_foreground_owner")
			r.SetFront("session-2")
			r.Ask(retained, tie(parent, r.Owner(front.Owner))).Refused(t, noOwner, "not_foreground_owner")
			r.Ask(retained, tie(parent, r.Owner("session-2"))).OK(t, "{}")
			r.SetFront("")
			r.Ask(retained, tie(parent, r.Owner("session-2"))).Refused(t, noOwner, "not_foreground_owner")
			r.During(extension.Scope{}, func(id int64) { // nobody's request is not about nobody's session
				r.Ask(retained, tie(id, "")).Refused(t, noOwner, "not_foreground_owner")
			})
		})
	}
}

func TestCorrelate_settledParent(t *testing.T) {
	s := &seen{}
	r := s.rig(t, "0.4", "")
	var parent int64
	r.During(front, func(id int64) {
		parent = id
		r.Ask(settling, tie(id, r.Owner(front.Owner))).Refused(t, invalid, "invalid_request")
	})
	r.Ask(settling, tie(parent, r.Owner(front.Owner))).OK(t, "{}")
	r.Ask(settling, tie(parent, "")).Refused(t, noOwner, "not_foreground_owner")
	r.Ask(settling, tie(0, r.Owner(front.Owner))).Refused(t, invalid, "invalid_request")
	r.Ask(settling, tie(99, r.Owner(front.Owner))).Refused(t, noOwner, "not_foreground_owner")
}

func TestCorrelate_toolCallAsParent(t *testing.T) {
	s := &seen{}
	r := s.rig(t, "0.4", "")
	var parent int64
	r.During(front, func(id int64) {
		parent = id
		r.Ask(toolOnly, tie(id, "")).OK(t, "{}")
	})
	r.DuringCommand(extension.Execution{Scope: front}, func(id int64) {
		r.Ask(toolOnly, tie(id, "")).Refused(t, noOwner, "not_foreground_owner")
		r.Ask(required, tie(id, "")).OK(t, "{}")
	})
	r.Ask(toolOnly, tie(parent, r.Owner(front.Owner))).Refused(t, noOwner, "not_foreground_owner")
}

// Child agents fall back to an owner only with their lifetime feature, and then it must fit a live parent.
//
// EXT04-OWNER-012.
func TestCorrelate_agents(t *testing.T) {
	s := &seen{}
	for _, api := range []string{"0.2", "0.4"} {
		t.Run(api, func(t *testing.T) {
			lifetime := api == "0.4"
			r := s.rig(t, api, "octet-subagents")
			var parent int64
			r.During(front, func(id int64) {
				parent = id
				r.Ask(featurewire.MethodAgentList, tie(id, "")).OK(t, "{}")
				r.Ask(featurewire.MethodAgentList, tie(id, r.Owner(front.Owner))).OK(t, "{}")
				if a := r.Ask(featurewire.MethodAgentList, tie(id, r.Owner("session-2"))); lifetime {
					a.Refused(t, noOwner, "not_foreground_owner")
				} else {
					a.OK(t, "{}")
				}
			})
			if a := r.Ask(featurewire.MethodAgentList, tie(parent, r.Owner(front.Owner))); lifetime {
				a.OK(t, "{}")
			} else {
				a.Refused(t, noOwner, "")
			}
			r.SetFront("session-9") // agents need no foreground
			r.During(other, func(id int64) { r.Ask(featurewire.MethodAgentList, tie(id, "")).OK(t, "{}") })
		})
	}
}

// A cancelled parent admits nothing while it is remembered, not even together with its owner.
//
// EXT04-OWNER-015, EXT04-OWNER-016.
func TestCorrelate_cancelledParent(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &seen{}
		r := s.rig(t, "0.4", "")
		r.During(front, func(int64) {}) // tells of the owner
		ctx, cancel := context.WithCancel(t.Context())
		ids := make(chan int64, 1)
		release := make(chan struct{})
		r.Serve(featurewire.MethodToolCall, func(id int64, _ json.RawMessage) (any, error) {
			ids <- id
			<-release
			return nil, &extensiontest.RefuseError{Code: featurewire.CodeRequestCancelled, Message: "request cancelled"}
		})
		done := make(chan error, 1)
		go func() {
			_, err := r.X.Call(ctx, extension.Request{Tool: "work", Scope: front})
			done <- err
		}()
		parent := <-ids
		cancel()
		synctest.Wait()
		for _, method := range []string{required, retained, settling} {
			r.Ask(method, tie(parent, r.Owner(front.Owner))).Refused(t, noOwner, "not_foreground_owner")
		}
		close(release)
		<-done
		for _, method := range []string{required, retained, settling} {
			r.Ask(method, tie(parent, r.Owner(front.Owner))).Refused(t, noOwner, "not_foreground_owner")
		}
		r.X.Close()
	})
}

// A child ends with its parent: its handler's context does, the extension is told, and no answer follows.
//
// EXT04-PARENT-005, EXT04-PARENT-006.
func TestFollow_childEndsWithItsParent(t *testing.T) {
	s := &seen{}
	started, ended := make(chan struct{}), make(chan error, 1)
	s.serve = func(ctx context.Context, r *extension.Incoming) (peer.Value, error) {
		close(started)
		<-ctx.Done()
		ended <- context.Cause(ctx)
		return peer.Raw(`{}`), nil
	}
	r := s.rig(t, "0.4", "")
	var child *extensiontest.Pending
	r.During(front, func(parent int64) {
		child = r.Send(required, tie(parent, ""))
		<-started
	})
	if a := child.Wait(); a.CalledOff == "" {
		t.Errorf("the child ended with %+v, want it called off", a)
	}
	<-ended
	r.Flush()
}

// What the extension gives up is answered as cancelled, once.
func TestFollow_cancelledChild(t *testing.T) {
	s := &seen{}
	started := make(chan struct{})
	s.serve = func(ctx context.Context, r *extension.Incoming) (peer.Value, error) {
		close(started)
		<-ctx.Done()
		return nil, ctx.Err()
	}
	r := s.rig(t, "0.4", "")
	r.During(front, func(parent int64) {
		child := r.Send(required, tie(parent, ""))
		<-started
		r.Cancel(child)
		child.Wait().Refused(t, featurewire.CodeRequestCancelled, "")
	})
}

// MAN-SUPER-005: eight requests are worked on, the ninth waits, and one that waits for others gives its worker back.
func TestWorkers(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &seen{}
		var working, waits atomic.Int32
		var release chan struct{}
		s.serve = func(ctx context.Context, r *extension.Incoming) (peer.Value, error) {
			working.Add(1)
			if waits.Add(-1) >= 0 {
				r.Waits()
				r.Waits()
			}
			<-release
			return peer.Raw("{}"), nil
		}
		r := s.rig(t, "0.4", "")
		for waiting, want := range []int32{8, 9} {
			working.Store(0)
			waits.Store(int32(waiting))
			release = make(chan struct{})
			r.During(front, func(parent int64) {
				var all []*extensiontest.Pending
				for range 9 {
					all = append(all, r.Send(required, tie(parent, "")))
				}
				synctest.Wait()
				if n := working.Load(); n != want {
					t.Errorf("%d requests are worked on while %d of them wait, want %d", n, waiting, want)
				}
				close(release)
				for _, p := range all {
					p.Wait().OK(t, "{}")
				}
			})
		}
		r.X.Close()
	})
}

// A request that would be the 129th unanswered one is refused, and harms nobody.
func TestServe_tooManyRequests(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := &seen{}
		release := make(chan struct{})
		s.serve = func(ctx context.Context, r *extension.Incoming) (peer.Value, error) {
			<-release
			return peer.Raw("{}"), nil
		}
		r := s.rig(t, "0.4", "")
		r.During(front, func(parent int64) {
			var all []*extensiontest.Pending
			for range featurewire.MaxChildRequests {
				all = append(all, r.Send(required, tie(parent, "")))
			}
			r.Ask(required, tie(parent, "")).Refused(t, invalid, "bounds_exceeded")
			close(release)
			for _, p := range all {
				p.Wait().OK(t, "{}")
			}
			r.Ask(required, tie(parent, "")).OK(t, "{}")
		})
		r.X.Close()
	})
}

// EXT04-ENV-022: an integer id that a live request of the host has could not be cancelled unambiguously.
func TestServe_idOfAHostRequest(t *testing.T) {
	s := &seen{}
	r := s.rig(t, "0.4", "")
	r.During(front, func(parent int64) {
		r.SendAs(fmt.Sprint(parent), required, tie(parent, "")).Wait().Refused(t, featurewire.CodeInvalidRequest, "")
		r.SendAs(fmt.Sprint(parent+1), required, tie(parent, "")).Wait().OK(t, "{}")
	})
}

func TestServe_unboundAndUnnegotiated(t *testing.T) {
	s := &seen{}
	b := s.binding()
	delete(b.Requests, featurewire.MethodComposerSet)
	r := extensiontest.Start(t, extensiontest.Setup{
		Select:  func(name string) bool { return name != featurewire.FeatureArtifacts },
		Options: extension.Options{Bindings: []extension.Binding{b}},
	})
	r.During(front, func(parent int64) {
		for _, method := range []string{featurewire.MethodComposerSet, featurewire.MethodArtifactPublish, "no/such"} {
			r.Ask(method, tie(parent, "")).Refused(t, featurewire.CodeUnknownMethod, "unsupported_feature "+method)
		}
	})
}

func TestNotices_ties(t *testing.T) {
	s := &seen{}
	r := s.rig(t, "0.4", "")
	r.During(front, func(parent int64) {
		r.Tell(featurewire.MethodPresentationUpdate, tie(parent, ""))
		r.Ask(required, tie(0, "")) // answers come behind notices in front of them
		if in := s.incoming(); in == nil || in.Owner.SessionID != front.Owner || in.Parent == nil {
			t.Fatalf("a snapshot of a parent arrived as %+v", in)
		}
	})
	for n, c := range []struct {
		params, words string
		owner         string
	}{
		{tie(0, ""), "", ""},
		{tie(0, r.Owner(front.Owner)), "", front.Owner},
		{tie(2, r.Owner(front.Owner)), "exclude each other", ""},
		{tie(2, ""), "request 2 is not active", ""},
		{tie(0, r.Owner("session-8")), "not one that this process was given", ""},
	} {
		s.mu.Lock()
		s.last = nil
		s.mu.Unlock()
		r.Tell(featurewire.MethodPresentationUpdate, c.params)
		r.Flush()
		in := s.incoming()
		if c.words != "" && (in != nil || !r.Diagnosed(c.words)) || c.words == "" && (in == nil || in.Owner.SessionID != c.owner) {
			t.Errorf("case %d: arrived as %+v, diagnostics %q", n, in, r.Diagnostics())
		}
	}
}
