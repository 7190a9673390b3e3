package methods_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/host/oup/transport"
)

// The tests of this file do what existing clients of the protocol do, through real pipes and sockets.

// TestClients_severalRequestsInOneWrite asks before any answer, and five more things at once when the session is
// open.
func TestClients_severalRequestsInOneWrite(t *testing.T) {
	for name, connect := range both {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			c := connect(w)
			var first, second []byte
			var ids []string
			put := func(to *[]byte, method string, p params) {
				line, id := c.request(method, p)
				*to, ids = append(*to, line...), append(ids, id)
			}
			put(&first, oupwire.MethodConfigCapabilitiesList, params{})
			put(&first, oupwire.MethodSessionOpen, params{"session_id": sessionA})
			put(&first, oupwire.MethodPermissionProfileList, params{"session_id": sessionA})
			if err := c.write(first); err != nil {
				t.Fatal(err)
			}
			if f := c.answer(ids[1]); f.Error != nil {
				t.Fatal(f.text)
			}
			for _, m := range []string{oupwire.MethodSessionHydrate, oupwire.MethodSessionStatusRead, oupwire.MethodPermissionProfileList, oupwire.MethodApprovalScopesList, oupwire.MethodSnapshotList} {
				put(&second, m, params{"session_id": sessionA})
			}
			if err := c.write(second); err != nil {
				t.Fatal(err)
			}
			for _, id := range ids {
				if f := c.answer(id); f.Error != nil {
					t.Errorf("%s", f.text)
				}
			}
		})
	}
}

// TestClients_stateChangesKeepTheirOrder names a session in one write with what depends on it.
func TestClients_stateChangesKeepTheirOrder(t *testing.T) {
	for name, connect := range both {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			c := connect(w).hello()
			var all []byte
			var last string
			for _, x := range []struct {
				method string
				p      params
			}{
				{oupwire.MethodSessionOpen, params{"session_id": sessionA}},
				{oupwire.MethodSessionTitleSet, params{"session_id": sessionA, "title": "one"}},
				{oupwire.MethodSessionTitleSet, params{"session_id": sessionA, "title": "two"}},
				{oupwire.MethodSessionFork, params{"session_id": sessionA, "new_chat_id": "b"}},
				{oupwire.MethodSessionDelete, params{"session_id": sessionA}},
				{oupwire.MethodSessionList, params{}},
			} {
				line, id := c.request(x.method, x.p)
				all, last = append(all, line...), id
			}
			if err := c.write(all); err != nil {
				t.Fatal(err)
			}
			var list oupwire.SessionListResult
			if err := json.Unmarshal(c.answer(last).Result, &list); err != nil {
				t.Fatal(err)
			}
			if len(list.Sessions) != 1 || list.Sessions[0].ID != "_main:local:b" || list.Sessions[0].Title.Or("") != "two" {
				t.Errorf("left: %+v", list)
			}
		})
	}
}

// TestClients_noHelloOnStdio uses what the default set of standard streams has.
func TestClients_noHelloOnStdio(t *testing.T) {
	w := newWorld(t)
	c := w.stdio().open(sessionA)
	c.turn(sessionA, 1, "hello")
	for _, m := range []string{oupwire.MethodSessionHydrate, oupwire.MethodThreadGraphGet, oupwire.MethodSessionMessagesPage, oupwire.MethodTaskList, oupwire.MethodSessionSnapshot} {
		c.do(m, params{"session_id": sessionA}, nil)
	}
	c.do(oupwire.MethodTurnStateGet, params{"session_id": sessionA, "turn_id": turnID(1)}, nil)
	c.refused(oupwire.MethodUserQuestionRespond, params{"session_id": sessionA, "question_id": turnID(5), "answers": []any{}}, -32106, "user_question_unknown")
}

// TestClients_twoSocketsOneWithoutASession keeps the second one quiet, and it can call what needs no session.
func TestClients_twoSocketsOneWithoutASession(t *testing.T) {
	w := newWorld(t)
	working, idle := w.socket("").hello().open(sessionA), w.socket("").hello()
	working.turn(sessionA, 1, "hello")
	idle.do(oupwire.MethodConfigCapabilitiesList, params{}, nil)
	idle.do(oupwire.MethodSessionList, params{}, nil)
	idle.do(oupwire.MethodTurnStart, params{"session_id": sessionA, "turn_id": turnID(2), "input": []any{params{"kind": "text", "text": "from the side"}}}, nil)
	working.terminal(2)
	idle.wantTexts(sessionA, "user hello", "assistant heard hello", "user from the side", "assistant heard from the side")
	for _, f := range idle.all() {
		if f.Method != "" && f.Method != oupwire.MethodServerHeartbeat {
			t.Errorf("it is told %s", f.text)
		}
	}
}

// TestClients_tokenAndFeaturesInTheQuery shows neither a header nor a hello.
func TestClients_tokenAndFeaturesInTheQuery(t *testing.T) {
	w := newWorld(t, func(w *world) { w.token = "s+cret/=" })
	if _, answer, err := websocket.Dial(t.Context(), w.url+"/api/ui-protocol/ws", nil); err == nil || answer == nil || answer.StatusCode != 401 {
		t.Errorf("without a token: %v", err)
	}
	for _, query := range []string{
		"?token=s%2Bcret%2F%3D&ui_feature=state.session_hydrate.v1&ui_feature=auxiliary.rest_to_ws.v1",
		"?_token=s%2Bcret%2F%3D&ui_features=state.session_hydrate.v1,auxiliary.rest_to_ws.v1",
		"?token=s%2Bcret%2F%3D&x-octos-ui-features=state.session_hydrate.v1+auxiliary.rest_to_ws.v1",
	} {
		c := w.socket(query).open(sessionA)
		c.do(oupwire.MethodSessionHydrate, params{"session_id": sessionA}, nil)
		c.do(oupwire.MethodSessionMessagesPage, params{"session_id": sessionA}, nil)
		c.refused(oupwire.MethodThreadGraphGet, params{"session_id": sessionA}, -32004, "")
	}
}

// TestClients_anyUUIDNamesATurn takes turn ids of version 4 and 7, in small letters and large.
func TestClients_anyUUIDNamesATurn(t *testing.T) {
	w := newWorld(t)
	c := w.stdio().hello().open(sessionA)
	for _, id := range []string{"9b2e8c1a-5f0d-4c3e-8a7b-1d2e3f4a5b6c", "018f4a5b-6c7d-7e8f-9a0b-1c2d3e4f5a6b", "9B2E8C1A-5F0D-4C3E-8A7B-1D2E3F4A5B6D"} {
		var started oupwire.TurnStartResult
		c.do(oupwire.MethodTurnStart, params{"session_id": sessionA, "turn_id": id, "input": []any{params{"kind": "text", "text": "x"}}}, &started)
		if !started.Accepted {
			t.Error("it does not say that it is accepted")
		}
		c.until(0, "the end of "+id, func(f *frame) bool { return strings.Contains(f.text, id) && strings.Contains(f.text, "turn_terminal") })
	}
	c.refused(oupwire.MethodTurnStart, params{"session_id": sessionA, "turn_id": "not-a-uuid", "input": []any{params{"kind": "text", "text": "x"}}}, -32602, "")
}

// TestClients_unknownMembersPass sends params with members that no document has.
func TestClients_unknownMembersPass(t *testing.T) {
	for name, connect := range both {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			c := connect(w).hello()
			for _, r := range rows([]string{
				oupwire.MethodSessionOpen, oupwire.MethodSessionHydrate, oupwire.MethodSessionList, oupwire.MethodTurnStart, oupwire.MethodTaskList,
			}) {
				p := sample(r.method, sessionA)
				p["ui_theme"], p["_meta"] = "dark", params{"a": []any{1, nil}}
				c.do(r.method, p, nil)
			}
			c.terminal(77)
		})
	}
}

// TestClients_methodsWithoutLooking calls what is not offered, and what does not exist.
func TestClients_methodsWithoutLooking(t *testing.T) {
	w := newWorld(t)
	c := w.stdio().hello().open(sessionA)
	for _, m := range []string{oupwire.MethodMonitorList, oupwire.MethodLoopList, oupwire.MethodServerShutdown, oupwire.MethodSkillActionList} {
		f := c.refused(m, params{"session_id": sessionA}, -32004, "")
		if f.Error != nil && !strings.Contains(string(f.Error.Data), m) {
			t.Errorf("%s: the detail does not name it: %s", m, f.text)
		}
	}
	c.refused("no/such/method", params{}, -32601, "")
	c.turn(sessionA, 1, "still here")
}

// TestClients_pingIsSilent sends notifications, known and unknown, which are no requests and get no answer.
func TestClients_pingIsSilent(t *testing.T) {
	for name, connect := range both {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			c := connect(w)
			for range 3 {
				if err := c.write([]byte(`{"jsonrpc":"2.0","method":"ping","params":{"ts":1}}` + "\n" + `{"jsonrpc":"2.0","method":"no/such"}` + "\n")); err != nil {
					t.Fatal(err)
				}
			}
			c.do(oupwire.MethodConfigCapabilitiesList, params{}, nil)
			if len(c.all()) != 1 {
				t.Errorf("%d frames came", len(c.all()))
			}
		})
	}
}

// envelopes are those of a client by stream, checked for gaps: existing clients take one for lost data.
func (c *client) envelopes() map[string]int64 {
	c.Helper()
	c.mu.Lock()
	defer c.mu.Unlock()
	last := map[string]int64{}
	for _, f := range c.frames {
		if f.Method != oupwire.MethodProjectionEnvelope {
			continue
		}
		var e struct {
			Thread string `json:"thread_id"`
			Seq    int64  `json:"seq"`
		}
		if err := json.Unmarshal(f.Params, &e); err != nil {
			c.Fatal(err)
		}
		if e.Seq != last[e.Thread]+1 {
			c.Errorf("stream %s goes on with %d behind %d", e.Thread, e.Seq, last[e.Thread])
		}
		last[e.Thread] = e.Seq
	}
	return last
}

// TestClients_noGaps runs turns with a tool, a steer and an interrupt.
func TestClients_noGaps(t *testing.T) {
	w := newWorld(t)
	c := w.socket("").hello().open(sessionA)
	c.turn(sessionA, 1, `call list {}`)
	c.start(sessionA, 2, "wait")
	<-w.reached
	c.do(oupwire.MethodTurnSteer, params{"session_id": sessionA, "expected_turn_id": turnID(2), "input": []any{params{"kind": "text", "text": "and this"}}}, nil)
	close(w.gate)
	c.terminal(2)
	w.gate = make(chan struct{})
	c.start(sessionA, 3, "wait")
	<-w.reached
	var stopped oupwire.TurnInterruptResult
	c.do(oupwire.MethodTurnInterrupt, params{"session_id": sessionA, "turn_id": turnID(3)}, &stopped)
	if outcome := c.terminal(3); outcome != "interrupted" || !stopped.Interrupted {
		t.Errorf("turn 3 %s, %+v", outcome, stopped)
	}
	if last := c.envelopes(); len(last) != 3 {
		t.Errorf("streams %v", last)
	}
	if text := strings.Join(c.texts(sessionA), "\n"); !strings.Contains(text, "heard and this") {
		t.Errorf("the steer is not taken: %s", text)
	}
}

// TestClients_comeBackBehind1012 are told that the server starts anew, and open again with the last cursor.
func TestClients_comeBackBehind1012(t *testing.T) {
	w := newWorld(t)
	c := w.socket("").hello().open(sessionA)
	c.turn(sessionA, 1, "hello")
	c.mu.Lock()
	seen := int64(0)
	for _, f := range c.frames {
		var p struct {
			Cursor oupwire.Cursor `json:"cursor"`
		}
		if f.Method == oupwire.MethodProjectionEnvelope && strings.Contains(f.text, "user_message") && json.Unmarshal(f.Params, &p) == nil {
			seen = p.Cursor.Seq
		}
	}
	c.mu.Unlock()
	w.Server.Close(transport.Restart)
	<-c.ended
	if code := websocket.CloseStatus(c.end); code != 1012 {
		t.Errorf("closed with %d: %v", code, c.end)
	}
	again := newWorldOf(t, w)
	back := again.socket("").hello()
	back.do(oupwire.MethodSessionOpen, params{"session_id": sessionA, "after": params{"stream": sessionA, "seq": seen}}, nil)
	if outcome := back.terminal(1); outcome != "completed" {
		t.Errorf("the turn %s", outcome)
	}
	back.notice(oupwire.MethodSessionOpen)
	for _, f := range back.all() {
		if strings.Contains(f.text, `"user_message"`) {
			t.Errorf("what was seen is told again: %s", f.text)
		}
	}
	back.turn(sessionA, 2, "go on")
}

// newWorldOf opens the data directory of another world, which it closes.
func newWorldOf(t *testing.T, old *world) *world {
	t.Helper()
	if err := old.Assembly.Close(transport.Restart, patience/6); err != nil {
		t.Fatal(err)
	}
	return newWorld(t, func(w *world) { w.data, w.work = old.data, old.work })
}

// TestClients_leaveInTheMiddle closes a socket while its turn runs, which goes on.
func TestClients_leaveInTheMiddle(t *testing.T) {
	w := newWorld(t)
	c := w.socket("").hello().open(sessionA)
	c.start(sessionA, 1, "wait")
	<-w.reached
	c.close()
	other := w.socket("").hello().open(sessionA)
	var state oupwire.TurnStateGetResult
	other.do(oupwire.MethodTurnStateGet, params{"session_id": sessionA, "turn_id": turnID(1)}, &state)
	if state.State != oupwire.TurnStateActive || !state.Running.IsAbsent() {
		t.Errorf("the turn of a socket that left is %+v", state)
	}
	close(w.gate)
	if outcome := other.terminal(1); outcome != "completed" {
		t.Errorf("it %s", outcome)
	}
}

// TestClients_brokenFrames sends bytes that are no frames; the connection goes on.
func TestClients_brokenFrames(t *testing.T) {
	w := newWorld(t)
	c := w.stdio()
	long := append(bytes.Repeat([]byte("x"), 3<<20), '\n')
	for _, x := range []struct {
		line []byte
		code int64
	}{
		{[]byte("{\n"), -32700},
		{[]byte("\n"), -32700},
		{[]byte("[]\n"), -32700},
		{[]byte("\xff\xfe\n"), -32700},
		{[]byte(`{"jsonrpc":"2.0","id":7,"method":"x","params":{}}` + "\n"), -32700},
		{[]byte(`{"jsonrpc":"1.0","id":"a","method":"x","params":{}}` + "\n"), -32600},
		{long, -32005},
		{[]byte(`{"jsonrpc":"2.0","id":"a","method":"x"}` + "\n"), -32700},
	} {
		c.mu.Lock()
		from := len(c.frames)
		c.mu.Unlock()
		if err := c.write(x.line); err != nil {
			t.Fatal(err)
		}
		f, _ := c.until(from, fmt.Sprintf("the answer to %.40q", x.line), func(*frame) bool { return true })
		if f.ID != nil || f.Error == nil || f.Error.Code != x.code {
			t.Errorf("%.40q: %s, want %d", x.line, f.text, x.code)
		}
	}
	c.open(sessionA).turn(sessionA, 1, "still here")
}

// TestClients_pathTricks names sessions and workspaces that try to lead elsewhere.
func TestClients_pathTricks(t *testing.T) {
	w := newWorld(t)
	c := w.stdio().hello()
	outside := filepath.Join(filepath.Dir(w.data), "outside")
	if err := os.MkdirAll(outside, 0o700); err != nil {
		t.Fatal(err)
	}
	list := func() string {
		var names []string
		for _, dir := range []string{filepath.Dir(w.data), outside, w.work} {
			entries, err := os.ReadDir(dir)
			if err != nil {
				t.Fatal(err)
			}
			for _, e := range entries {
				names = append(names, e.Name())
			}
		}
		return strings.Join(names, " ")
	}
	before := list()
	for i, session := range []string{"../../outside", "_main:local:../../outside/x", "/etc/passwd", "a\x00b", "..", "_main:local:a#../../../outside", `..\..\outside`} {
		c.open(session)
		// Nobody is asked for leave, so what needs it is denied.
		c.do(oupwire.MethodPermissionProfileSet, params{"session_id": session, "update": params{"approval_policy": "never"}}, nil)
		c.turn(session, 100+i, `call write {"path":"../outside/f.txt","content":"x"}`)
		c.do(oupwire.MethodSnapshotList, params{"session_id": session}, nil)
		c.do(oupwire.MethodSessionDelete, params{"session_id": session}, nil)
	}
	if after := list(); after != before {
		t.Errorf("there is %s, and was %s", after, before)
	}
	for _, cwd := range []string{"/etc", "/", "/usr/../etc", "relative", w.work + "/missing", w.data + "/../../../../../../etc"} {
		if f := c.ask(oupwire.MethodSessionOpen, params{"session_id": "_main:local:cwd", "cwd": cwd}); f.Error == nil || f.Error.Code != -32602 || !strings.HasPrefix(f.kind(), "cwd_") {
			t.Errorf("cwd %s: %s", cwd, f.text)
		}
	}
	linked := filepath.Join(filepath.Dir(w.work), "linked")
	if err := os.Symlink(w.data, linked); err != nil {
		t.Log("no links here: ", err)
		linked = w.data
	}
	for _, cwd := range []string{w.data, filepath.Join(w.data, "previews"), filepath.Dir(w.data), "~", linked, filepath.Join(linked, "snapshots")} {
		c.refused(oupwire.MethodSessionOpen, params{"session_id": "_main:local:cwd", "cwd": cwd}, -32602, "cwd_system_path_banned")
	}
	c.refused(oupwire.MethodSessionHydrate, params{"session_id": "_main:local:cwd"}, -32100, "unknown_session")
}
