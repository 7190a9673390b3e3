package services

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/features/subject"
	cw "github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/wirejson"
)

// trusting is a view of an extension whose every message is in order.
type trusting struct{}

func (trusting) Result() json.RawMessage { return nil }
func (trusting) Refusal(int) string      { return "" }

// contracted makes the host of an extension of the canonical wire and a way to ask it.
func contracted(t *testing.T) (*Host, func(method, params string) []string) {
	t.Helper()
	d, err := dialect.For(dialect.CanonicalAPI)
	if err != nil {
		t.Fatal(err)
	}
	h := New(d, dialect.Extension{Name: "peer"}, trusting{})
	return h, func(method, params string) []string {
		var out []string
		for _, frame := range h.Answer(subject.Message{ID: `"c-1"`, Method: method, Fields: map[string]json.RawMessage{"params": json.RawMessage(params)}}) {
			out = append(out, string(frame))
		}
		return out
	}
}

func TestHost_servesEveryRequestOfTheCanonicalWire(t *testing.T) {
	n := 0
	for _, m := range cw.Methods {
		if m.Direction != wirejson.ExtensionToHost || m.Notification || m.Status == "deferred" {
			continue
		}
		n++
		if contractServed[m.Name] == nil {
			t.Errorf("%s has no answer", m.Name)
		}
	}
	if n < 14 || n != len(contractServed) {
		t.Errorf("%d requests of extensions and %d answers, want as many of both and at least 14", n, len(contractServed))
	}
}

// What the host says on the bus follows from what the extension has said before, and keeps its models.
func TestHost_bus(t *testing.T) {
	h, ask := contracted(t)
	if got := string(h.Bind().AppendJSON(nil)); got != `{"binding_id":"binding-1","binding_revision":1,"kind":"binding"}` {
		t.Errorf("the first notice is %s", got)
	}
	topic := `{"binding_id":"binding-1","topic":"bus.peer.news"}`
	payload := `{"binding_id":"binding-1","topic":"bus.peer.news","payload":{"title":"octet"}}`
	for _, step := range []struct {
		method, params, want string
		frames               int
	}{
		{cw.MethodBusSubscribe, topic, `"state":"pending","topic_revision":0`, 1},
		{cw.MethodBusDeclare, `{"binding_id":"binding-1","topic":"bus.peer.news","fields":[]}`, `"kind":"topic_available"`, 2},
		{cw.MethodBusSubscribe, topic, `"state":"active","topic_revision":1`, 1},
		{cw.MethodBusPublish, payload, `"payload":{"title":"octet"}`, 2},
		{cw.MethodBusUnsubscribe, topic, `"result":{"binding_id":"binding-1"}`, 1},
		{cw.MethodBusPublish, payload, `"sequence":2`, 1},
		{cw.MethodBusPublish, strings.Replace(payload, "binding-1", "binding-0", 1), `"code":-32011`, 1},
	} {
		got := ask(step.method, step.params)
		if len(got) != step.frames || !strings.Contains(got[len(got)-1], step.want) {
			t.Errorf("%s %s: got %q, want %d frames, the last with %s", step.method, step.params, got, step.frames, step.want)
		}
	}
	if h.Announce() != nil {
		t.Error("a topic is announced although the extension waits for none")
	}
	h.Bind()
	if got := ask(cw.MethodBusSubscribe, topic); !strings.Contains(got[0], `"code":-32011`) {
		t.Errorf("a request under the former binding: got %q, want a refusal", got)
	}
}

func TestHost_conduct(t *testing.T) {
	h, ask := contracted(t)
	h.Refuse(cw.MethodSessionCreate, "internal_error")
	if got := ask(cw.MethodSessionCreate, `{}`); !strings.Contains(got[0], `"code":-32603`) {
		t.Errorf("a refused method: got %q, want internal_error", got)
	}
	h.Wait(Everything)
	if got := ask(cw.MethodSessionFork, `{}`); got != nil {
		t.Errorf("a method that waits: got %q, want nothing", got)
	}
	if got := h.Waiting(); len(got) != 1 || got[0].Method != cw.MethodSessionFork {
		t.Errorf("waiting: got %v, want one request", got)
	}
	if got := h.Resume(); len(got) != 1 || !strings.Contains(string(got[0]), `"session_id"`) {
		t.Errorf("what waited: got %q, want one result", got)
	}
	if got := ask(cw.MethodSessionCreate, `{}`); !strings.Contains(got[0], `"session_id"`) {
		t.Errorf("as usual again: got %q, want a result", got)
	}
	if !h.Asked(cw.MethodSessionFork) || h.Asked(cw.MethodSessionReload) {
		t.Error("what was asked is not remembered")
	}
}
