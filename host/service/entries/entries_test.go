package entries

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/extension/extensiontest"
)

// store notes what is left in sessions.
type store struct {
	mu  sync.Mutex
	log []string
	id  string
	err error
}

func (s *store) note(format string, args ...any) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.err == nil {
		s.log = append(s.log, fmt.Sprintf(format, args...))
	}
	return s.err
}

func (s *store) AppendEntry(_ context.Context, owner string, e Entry) (string, error) {
	return s.id, s.note("%s: %s %s %.20s %s", owner, e.Extension, e.Type, e.Data, e.Hook)
}

func (s *store) SetName(_ context.Context, owner, name string) error {
	return s.note("%s: name %.20q", owner, name)
}

func (s *store) SetLabel(_ context.Context, owner, entry, label string) error {
	return s.note("%s: label %.20s %.20q", owner, entry, label)
}

func (s *store) Inject(_ context.Context, owner, extension string, m conversation.Message) error {
	return s.note("%s: %s says as %s %.20q", owner, extension, m.Role, m.PlainText())
}

func (s *store) want(t *testing.T, lines ...string) {
	t.Helper()
	s.mu.Lock()
	defer s.mu.Unlock()
	if !slices.Equal(s.log, lines) {
		t.Errorf("the store was told\n%s\nwant\n%s", strings.Join(s.log, "\n"), strings.Join(lines, "\n"))
	}
	s.log = nil
}

var front = extension.Scope{Owner: extensiontest.DefaultFront}

// served runs f with a request of params inside a tool call of the session in front.
func served(t *testing.T, f func(s *store, rig *extensiontest.Rig, ask func(method, members string) extensiontest.Answer)) {
	t.Helper()
	s := &store{id: "e-1"}
	rig := extensiontest.Start(t, extensiontest.Setup{Options: extension.Options{Bindings: []extension.Binding{Binding(s)}}})
	rig.During(front, func(parent int64) {
		f(s, rig, func(method, members string) extensiontest.Answer {
			return rig.Ask(method, fmt.Sprintf(`{"parent_request_id":%d,%s}`, parent, members))
		})
	})
}

func long(n int) string { return strings.Repeat("x", n) }

// EXT04-ENTRY-002, EXT04-ENTRY-003, EXT04-ENTRY-004
func TestEntries(t *testing.T) {
	served(t, func(s *store, _ *extensiontest.Rig, ask func(method, members string) extensiontest.Answer) {
		ask(featurewire.MethodSessionAppendEntry, `"entry_type":"note","data":{"a":[1]}`).OK(t, `{"entry_id":"e-1"}`)
		ask(featurewire.MethodSessionAppendEntry, `"entry_type":"note","data":null`).OK(t, `{"entry_id":"e-1"}`)
		ask(featurewire.MethodSessionSetName, `"name":"Work"`).OK(t, `{}`)
		ask(featurewire.MethodSessionSetName, `"name":""`).OK(t, `{}`)
		ask(featurewire.MethodSessionSetLabel, `"entry_id":"e-7","label":"here"`).OK(t, `{}`)
		ask(featurewire.MethodSessionSetLabel, `"entry_id":"e-7","label":""`).OK(t, `{}`)
		s.want(t,
			`session-1: demo note {"a":[1]} `, `session-1: demo note null `, `session-1: name "Work"`, `session-1: name ""`,
			`session-1: label e-7 "here"`, `session-1: label e-7 ""`)
		s.id = long(256)
		for _, c := range []struct{ method, fits, over string }{
			{featurewire.MethodSessionAppendEntry, `"data":1,"entry_type":"` + long(128) + `"`, `"data":1,"entry_type":"` + long(129) + `"`},
			{featurewire.MethodSessionAppendEntry, `"entry_type":"t","data":"` + long(65534) + `"`, `"entry_type":"t","data":"` + long(65535) + `"`},
			{featurewire.MethodSessionSetName, `"name":"` + long(4096) + `"`, `"name":"` + long(4097) + `"`},
			{featurewire.MethodSessionSetLabel, `"label":"l","entry_id":"` + long(256) + `"`, `"label":"l","entry_id":"` + long(257) + `"`},
			{featurewire.MethodSessionSetLabel, `"entry_id":"e","label":"` + long(4096) + `"`, `"entry_id":"e","label":"` + long(4097) + `"`},
		} {
			ask(c.method, c.fits).OK(t, "")
			ask(c.method, c.over).Refused(t, featurewire.CodeInvalidParams, "bounds_exceeded ")
			ask(c.method, `"stray":1`).Refused(t, featurewire.CodeInvalidParams, "invalid_request ")
		}
	})
}

// EXT04-INJECT-002, EXT04-INJECT-003, EXT04-INJECT-004
func TestInjection(t *testing.T) {
	served(t, func(s *store, _ *extensiontest.Rig, ask func(method, members string) extensiontest.Answer) {
		ask(featurewire.MethodSessionSendMessage, `"role":"assistant","text":"a"`).OK(t, `{}`)
		ask(featurewire.MethodSessionSendMessage, `"role":"system","text":"b"`).OK(t, `{}`)
		ask(featurewire.MethodSessionSendUserMessage, `"text":"c"`).OK(t, `{}`)
		s.want(t, `session-1: demo says as assistant "a"`, `session-1: demo says as system "b"`, `session-1: demo says as user "c"`)
		for _, role := range []string{`"user"`, `"tool"`, `""`, `null`, `7`} {
			ask(featurewire.MethodSessionSendMessage, `"text":"x","role":`+role).Refused(t, featurewire.CodeInvalidParams, "invalid_request ")
		}
		s.want(t)
		ask(featurewire.MethodSessionSendMessage, `"role":"system","text":"`+long(262144)+`"`).OK(t, `{}`)
		ask(featurewire.MethodSessionSendUserMessage, `"text":"`+long(262144)+`"`).OK(t, `{}`)
		ask(featurewire.MethodSessionSendMessage, `"role":"system","text":"`+long(262145)+`"`).Refused(t, featurewire.CodeInvalidParams, "bounds_exceeded ")
		ask(featurewire.MethodSessionSendUserMessage, `"text":"`+long(262145)+`"`).Refused(t, featurewire.CodeInvalidParams, "bounds_exceeded ")
		ask(featurewire.MethodSessionSendUserMessage, `"text":7`).Refused(t, featurewire.CodeInvalidParams, "invalid_request ")
	})
}

func TestEntries_storeFails(t *testing.T) {
	served(t, func(s *store, rig *extensiontest.Rig, ask func(method, members string) extensiontest.Answer) {
		requests := map[string]string{
			featurewire.MethodSessionAppendEntry: `"entry_type":"t","data":1`, featurewire.MethodSessionSetName: `"name":"n"`,
			featurewire.MethodSessionSetLabel: `"entry_id":"e","label":"l"`, featurewire.MethodSessionSendMessage: `"role":"system","text":"x"`,
			featurewire.MethodSessionSendUserMessage: `"text":"x"`,
		}
		for _, c := range []struct {
			err       error
			code      int64
			beginning string
		}{
			{errors.New("disk full"), featurewire.CodeInternalError, ""},
			{fmt.Errorf("it: %w", ErrUnknownEntry), featurewire.CodeInvalidParams, "invalid_request "},
			{fmt.Errorf("it: %w", ErrGone), featurewire.CodeNotForegroundOwner, "not_foreground_owner "},
		} {
			s.err = c.err
			for method, members := range requests {
				ask(method, members).Refused(t, c.code, c.beginning)
			}
		}
		s.err = nil
		for _, id := range []string{"", long(257)} {
			s.id = id
			ask(featurewire.MethodSessionAppendEntry, requests[featurewire.MethodSessionAppendEntry]).Refused(t, featurewire.CodeInternalError, "")
		}
	})
}

// An entry that is left while a hook is awaited is left on the ground of that hook, and so is none behind it.
func TestAppendEntry_insideAHook(t *testing.T) {
	s := &store{id: "e-1"}
	rig := extensiontest.Start(t, extensiontest.Setup{
		Contributes: "tools = [\"work\"]\nhooks = [\"model_turn_start\"]",
		Options:     extension.Options{Bindings: []extension.Binding{Binding(s)}},
	})
	var parent int64
	entry := func() extensiontest.Answer {
		return rig.Ask(featurewire.MethodSessionAppendEntry, fmt.Sprintf(`{"parent_request_id":%d,"entry_type":"t","data":1,"resource_owner":%s}`, parent, rig.Owner(front.Owner)))
	}
	rig.Serve(featurewire.MethodHookRun, func(id int64, _ json.RawMessage) (any, error) {
		parent = id
		entry().OK(t, `{"entry_id":"e-1"}`)
		return map[string]any{}, nil
	})
	payload := featurewire.ModelTurnStartPayload{RunID: "run:e-0"}
	if _, err := rig.X.RunHook(t.Context(), extension.HookRun{Hook: featurewire.HookModelTurnStart, Scope: front, Payload: payload}); err != nil {
		t.Fatal(err)
	}
	s.want(t, "session-1: demo t 1 "+featurewire.HookModelTurnStart)
	entry().OK(t, "")
	s.want(t, "session-1: demo t 1 ")
}
