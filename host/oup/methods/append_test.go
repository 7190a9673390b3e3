package methods_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/octet-dev/octet/generated/oupwire"
)

// TestAppendMessage covers OUP-APPEND-001 to OUP-APPEND-004, in the order of one write.
func TestAppendMessage(t *testing.T) {
	w := newWorld(t)
	c := w.stdio().hello()
	add := func(role, text string, more params) params {
		p := params{"session_id": sessionA, "role": role, "content": text, "source": "test"}
		for name, value := range more {
			p[name] = value
		}
		return p
	}
	for _, refused := range []params{add("assistant", "nobody asked", nil), add("user", "x", params{"source": strings.Repeat("s", 201)})} {
		c.refused(oupwire.MethodSessionAppendMessage, refused, -32602, "")
		c.refused(oupwire.MethodSessionStatusRead, params{"session_id": sessionA}, oupwire.ErrUnknownSession.Code, "unknown_session")
	}
	var first, again oupwire.SessionAppendMessageResult
	c.do(oupwire.MethodSessionAppendMessage, add("user", "one", params{"client_message_id": "m1"}), &first)
	c.do(oupwire.MethodSessionAppendMessage, add("user", "one", params{"client_message_id": "m1"}), &again)
	if fmt.Sprint(first) != fmt.Sprint(again) {
		t.Errorf("a second try gives %+v behind %+v", again, first)
	}
	var requests []any
	for n := range 20 {
		requests = append(requests, oupwire.MethodSessionAppendMessage, add("user", fmt.Sprint("n", n), nil))
	}
	requests = append(requests, oupwire.MethodTurnStart, params{"session_id": sessionA, "turn_id": turnID(1), "input": []any{params{"kind": "text", "text": "go"}}})
	answers := c.together(requests...)
	for n, f := range answers[:20] {
		var to oupwire.SessionAppendMessageResult
		if f.Error != nil || json.Unmarshal(f.Result, &to) != nil || to.Seq != int64(n+1) {
			t.Errorf("message %d went to %s", n, f.text)
		}
	}
	if answers[20].Error != nil {
		t.Fatal(answers[20].text)
	}
	c.open(sessionA)
	for c.ask(oupwire.MethodTurnStateGet, params{"session_id": sessionA, "turn_id": turnID(1)}); !strings.Contains(strings.Join(c.texts(sessionA), "\n"), "heard go"); {
	}
	texts := c.texts(sessionA)
	if len(texts) != 23 || texts[20] != "user n19" || texts[21] != "user go" {
		t.Errorf("rows %q", texts)
	}
	for name, bad := range map[string]params{
		"blank": add("user", " \n", nil), "long": add("user", strings.Repeat("x", 1000001), nil), "source": add("user", "x", params{"source": strings.Repeat("s", 201)}),
		"thread": add("user", "x", params{"thread_id": "t"}),
	} {
		if f := c.ask(oupwire.MethodSessionAppendMessage, bad); f.Error == nil || f.Error.Code != -32602 {
			t.Errorf("%s: %.200s", name, f.text)
		}
	}
	if got := c.texts(sessionA); len(got) != 23 {
		t.Errorf("%d rows behind refusals", len(got))
	}
}

// added are the params of a message of the user.
func added(session, text string) params {
	return params{"session_id": session, "role": "user", "content": text, "source": "test"}
}

// together sends requests, each a method and its params, in one write, and returns their answers.
func (c *client) together(requests ...any) (answers []*frame) {
	c.Helper()
	for _, id := range c.burst(requests...) {
		answers = append(answers, c.answer(id))
	}
	return answers
}

// burst sends requests, each a method and its params, in one write.
func (c *client) burst(requests ...any) (ids []string) {
	c.Helper()
	var all []byte
	for pair := range slices.Chunk(requests, 2) {
		line, id := c.request(pair[0].(string), pair[1])
		all, ids = append(all, line...), append(ids, id)
	}
	if err := c.write(all); err != nil {
		c.Fatal(err)
	}
	return ids
}

// TestAppendMessage_inFrontOfWhatFollows: OUP-APPEND-006. What is asked in the same write finds the message, in a session
// that was there and in one that the message makes.
func TestAppendMessage_inFrontOfWhatFollows(t *testing.T) {
	of := params{"session_id": sessionA}
	turn := params{"session_id": sessionA, "turn_id": turnID(9), "input": []any{params{"kind": "text", "text": "go"}}}
	for method, next := range map[string]struct {
		params params
		want   string // part of the answer
	}{
		oupwire.MethodSessionHydrate:      {params{"session_id": sessionA, "include": []string{"messages"}}, "said first"},
		oupwire.MethodSessionMessagesPage: {of, "said first"},
		oupwire.MethodSessionTitleSet:     {params{"session_id": sessionA, "title": "named"}, `"title":"named"`},
		oupwire.MethodSessionStatusRead:   {of, sessionA},
		oupwire.MethodSessionSnapshot:     {of, sessionA},
		oupwire.MethodSessionFork:         {params{"session_id": sessionA, "new_chat_id": "child"}, `"copied_messages":1`},
		oupwire.MethodSessionRollback:     {params{"session_id": sessionA, "num_turns": 1}, `"dropped_turns":1`},
		oupwire.MethodSessionBtw:          {params{"session_id": sessionA, "question": "what now"}, "heard"},
		oupwire.MethodSessionCompact:      {of, `"compacted":`},
		oupwire.MethodTurnStart:           {turn, `"accepted":true`},
		oupwire.MethodSessionDelete:       {of, `"result":{}`},
	} {
		for name, connect := range both {
			try := func(t *testing.T, opens bool) {
				w := newWorld(t)
				c := connect(w).hello()
				if opens {
					c.open(sessionA)
				}
				answers := c.together(oupwire.MethodSessionAppendMessage, added(sessionA, "said first"), method, next.params)
				for _, f := range answers {
					if f.Error != nil {
						t.Fatal(f.text)
					}
				}
				if !strings.Contains(answers[1].text, next.want) {
					t.Errorf("behind the message comes %s, want %s", answers[1].text, next.want)
				}
				if method == oupwire.MethodSessionDelete {
					c.refused(oupwire.MethodSessionStatusRead, of, oupwire.ErrUnknownSession.Code, "unknown_session")
				}
			}
			t.Run(method+"/"+name+"/new", func(t *testing.T) { try(t, false) })
			t.Run(method+"/"+name+"/open", func(t *testing.T) { try(t, true) })
		}
	}
}

// TestAppendMessage_behindATurn: a message goes behind the turn that was accepted in front of it, and keeps nothing
// waiting that ends the turn; so does the deletion that ends both.
func TestAppendMessage_behindATurn(t *testing.T) {
	start := params{"session_id": sessionA, "turn_id": turnID(1), "input": []any{params{"kind": "text", "text": `call shell {"command":"echo made > made.txt"}`}}}
	for name, connect := range both {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			c := connect(w).hello().open(sessionA)
			ids := c.burst(oupwire.MethodTurnStart, start, oupwire.MethodSessionAppendMessage, added(sessionA, "one"), oupwire.MethodSessionAppendMessage, added(sessionA, "two"))
			approval := c.notice(oupwire.MethodApprovalRequested)
			var asked struct {
				ID string `json:"approval_id"`
			}
			if err := json.Unmarshal(approval.Params, &asked); err != nil {
				t.Fatal(err)
			}
			if got := c.texts(sessionA); slices.Contains(got, "user one") || slices.Contains(got, "user two") {
				t.Errorf("while the turn waits there is %q", got)
			}
			c.do(oupwire.MethodApprovalRespond, params{"session_id": sessionA, "approval_id": asked.ID, "decision": "approve"}, nil)
			for _, id := range ids {
				if f := c.answer(id); f.Error != nil {
					t.Fatal(f.text)
				}
			}
			if got := c.texts(sessionA); !slices.Equal(got[len(got)-3:], []string{"assistant done", "user one", "user two"}) {
				t.Errorf("behind the turn there is %q", got)
			}
			ids = c.burst(oupwire.MethodTurnStart, params{"session_id": sessionA, "turn_id": turnID(2), "input": []any{params{"kind": "text", "text": "wait"}}},
				oupwire.MethodSessionAppendMessage, added(sessionA, "three"), oupwire.MethodSessionDelete, params{"session_id": sessionA})
			if f := c.answer(ids[1]); f.Error != nil && f.kind() != "unknown_session" { // it is added behind the turn's end, or too late
				t.Errorf("a message to what is being deleted: %s", f.text)
			}
			if f := c.answer(ids[2]); f.Error != nil {
				t.Error(f.text)
			}
			c.refused(oupwire.MethodSessionStatusRead, params{"session_id": sessionA}, oupwire.ErrUnknownSession.Code, "unknown_session")
		})
	}
}

// TestAppendMessage_moreThanCanWait: those for which there is no place are refused, the others go in in their order, and
// the next ones too.
func TestAppendMessage_moreThanCanWait(t *testing.T) {
	w := newWorld(t)
	c := w.stdio().hello().open(sessionA)
	c.start(sessionA, 1, "wait")
	<-w.reached
	var requests []any
	for n := range 70 {
		requests = append(requests, oupwire.MethodSessionAppendMessage, added(sessionA, fmt.Sprint(n)))
	}
	ids := c.burst(requests...)
	for _, id := range ids[64:] {
		if f := c.answer(id); f.Error == nil || f.Error.Code != oupwire.ErrRuntimeNotReady.Code {
			t.Fatalf("without a place: %s", f.text)
		}
	}
	close(w.gate)
	c.answer(ids[0])
	want := []string{"user wait", "assistant heard wait"}
	for n, id := range ids[:64] {
		want = append(want, fmt.Sprint("user ", n))
		if f := c.answer(id); f.Error != nil {
			t.Fatal(f.text)
		}
		if n < 20 { // they wait for each other
			ids = append(ids, c.send(oupwire.MethodSessionAppendMessage, added(sessionA, fmt.Sprint("late ", n))))
		}
	}
	for n, id := range ids[70:] {
		want = append(want, fmt.Sprint("user late ", n))
		if f := c.answer(id); f.Error != nil {
			t.Fatal(f.text)
		}
	}
	if got := c.texts(sessionA); !slices.Equal(got, want) {
		t.Errorf("there is %q", got)
	}
}
