package methods_test

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/host/oup/key"
	"github.com/octet-dev/octet/host/oup/live"
	"github.com/octet-dev/octet/host/oup/task"
)

// crowd is many clients that delete each other's sessions.
type crowd struct {
	*world
	keys  []string
	turns atomic.Int64
	forks atomic.Int64
}

// asked is what a client of a crowd has asked for, by id.
type asked map[string]struct{ method, key string }

// act sends a few requests in one write and waits for their answers.
func (w *crowd) act(c *client, r *rand.Rand, all asked) {
	var batch []byte
	var ids []string
	for range 1 + r.IntN(4) {
		key := w.keys[r.IntN(len(w.keys))]
		p := params{"session_id": key}
		method := ""
		switch n := r.IntN(26); {
		case n < 6:
			method = oupwire.MethodSessionOpen
			if n == 0 {
				p["after"] = params{"stream": key, "seq": r.IntN(50)}
			}
		case n < 11:
			method = oupwire.MethodTurnStart
			text := []string{"wait", "one", `call shell {"command":"true"}`, `call task_start {"command":"exec sleep 1000"}`}[r.IntN(4)]
			p["turn_id"], p["input"] = turnID(int(w.turns.Add(1))), []any{params{"kind": "text", "text": text}}
		case n < 14:
			method = oupwire.MethodSessionDelete
		case n < 15:
			method = oupwire.MethodSessionFork
			p["new_chat_id"] = "child" + turnID(int(w.forks.Add(1)))
		case n < 16:
			method = oupwire.MethodSessionAppendMessage
			p["role"], p["content"], p["source"] = "user", "added", "test"
		case n < 17:
			method = oupwire.MethodTaskList
		case n < 18:
			method = oupwire.MethodSessionRollback
			p["num_turns"] = 1
		case n < 19:
			method = oupwire.MethodSessionStatusRead
		case n < 22:
			key, p["approval_id"] = c.lately(oupwire.MethodApprovalRequested, "approval_id", key)
			method = oupwire.MethodApprovalRespond
			p["session_id"], p["decision"], p["approval_scope"] = key, "approve", "session"
		case n < 25:
			key, p["task_id"] = c.lately(oupwire.MethodTaskUpdated, "task_id", key)
			method, p["session_id"] = oupwire.MethodTaskRestartFromNode, key
		default:
			method = oupwire.MethodSessionHydrate
			p["include"] = []string{"messages", "turns", "pending_approvals"}
		}
		line, id := c.request(method, p)
		all[id] = struct{ method, key string }{method, key}
		batch = append(batch, line...)
		if method != oupwire.MethodSessionAppendMessage { // it waits for the end of a turn, which a request may be waited for in
			ids = append(ids, id)
		}
	}
	if err := c.write(batch); err != nil {
		c.Error(err)
		return
	}
	for _, id := range ids {
		c.answer(id)
	}
}

// lately is what the last event of a method says under a name, with its session; where there is none, an id that nobody
// has, and the session that is given.
func (c *client) lately(method, name, session string) (key, id string) {
	for _, f := range slices.Backward(c.all()) {
		if f.Method == method {
			var p map[string]any
			_ = json.Unmarshal(f.Params, &p) // what is no text is none
			key, _ = p["session_id"].(string)
			id, _ = p[name].(string)
			return key, id
		}
	}
	return session, turnID(0)
}

// judge looks at everything that a client was told: no fault of the server, nothing of a session behind the answer to its
// deletion, numbers that ascend, and an end to every turn that was told to begin.
func (c *client) judge(all asked) {
	type position struct {
		gone bool
		seq  int64
	}
	at := map[string]*position{}
	running := map[string]bool{}
	for _, f := range c.all() {
		if f.ID != nil {
			of := all[*f.ID]
			switch {
			case f.Error != nil && f.Error.Code == -32603:
				c.Errorf("%s in %s: %s", of.method, of.key, f.text)
			case f.Error != nil:
			case of.method == oupwire.MethodSessionOpen:
				at[of.key] = &position{}
			case of.method == oupwire.MethodSessionDelete && at[of.key] != nil:
				at[of.key].gone = true
			}
			continue
		}
		var p struct {
			Session string `json:"session_id"`
			Turn    string `json:"turn_id"`
			Cursor  *oupwire.Cursor
			Payload struct{ Type string }
		}
		if err := json.Unmarshal(f.Params, &p); err != nil {
			c.Fatal(err)
		}
		if f.Method == oupwire.MethodProtocolReplayLossy {
			c.Errorf("who reads loses: %s", f.text)
		}
		where := at[p.Session]
		switch {
		case p.Session == "":
			continue
		case where == nil:
			c.Errorf("told of a session that was never open: %s", f.text)
			continue
		case where.gone:
			c.Errorf("told of a session behind the answer to its deletion: %s", f.text)
		case p.Cursor != nil && p.Cursor.Seq < where.seq:
			c.Errorf("behind %d: %s", where.seq, f.text)
		case p.Cursor != nil:
			where.seq = p.Cursor.Seq
		}
		switch {
		case f.Method == oupwire.MethodTurnStarted:
			running[p.Turn] = true
		case p.Payload.Type == "turn_terminal":
			delete(running, p.Turn)
		}
	}
	for turn := range running {
		c.Errorf("turn %s was told to begin and never to end", turn)
	}
}

// TestStorm_ofDeletions: sessions are deleted, opened, forked, read and worked in on several connections at once. What
// each is told keeps its order, and nothing is left.
func TestStorm_ofDeletions(t *testing.T) {
	seed := rand.Uint64()
	t.Logf("seed %d", seed)
	w := &crowd{world: newWorld(t), keys: []string{"_main:local:one", "_main:local:one#topic", "two"}}
	clients := []*client{w.stdio().hello(), w.socket("").hello(), w.stdio().hello(), w.socket("").hello()}
	lists := make([]asked, len(clients))
	var crowd sync.WaitGroup
	for i, c := range clients {
		lists[i] = asked{}
		crowd.Go(func() {
			r := rand.New(rand.NewPCG(seed, uint64(i)))
			for range 40 {
				w.act(c, r, lists[i])
			}
		})
	}
	// Nobody answers requests: who deletes takes them back. "wait" waits for that too.
	drained := make(chan struct{})
	go func() {
		for {
			select {
			case <-w.reached:
			case <-w.stopped:
			case <-drained:
				return
			}
		}
	}()
	crowd.Wait()
	for _, key := range w.keys { // what still runs ends so
		f := clients[0].ask(oupwire.MethodSessionDelete, params{"session_id": key})
		if f.Error != nil && f.kind() != "unknown_session" {
			t.Errorf("%s is not deleted: %s", key, f.text)
		}
	}
	close(drained)
	for i, c := range clients {
		for id := range lists[i] {
			c.answer(id)
		}
		for _, key := range w.keys { // behind what is left to tell of the one before
			line, id := c.request(oupwire.MethodSessionOpen, params{"session_id": key})
			lists[i][id] = struct{ method, key string }{oupwire.MethodSessionOpen, key}
			if err := c.write(line); err != nil {
				t.Fatal(err)
			}
			c.answer(id)
		}
		c.close()
		c.judge(lists[i])
	}
	for _, key := range w.keys {
		if list, err := w.Tasks.List(key); err != nil || len(list) != 0 {
			t.Errorf("tasks of %s are left: %v, %v", key, list, err)
		}
		if list := w.House.Sessions(); len(list) > 0 && strings.Contains(list[0].Key(), key) && list[0].Running() != "" {
			t.Errorf("%s runs a turn", key)
		}
	}
}

// TestTaskRestart_inASessionThatGoes: nothing is begun that would outlive it.
func TestTaskRestart_inASessionThatGoes(t *testing.T) {
	w := newWorld(t)
	c := w.stdio().hello().open(sessionA)
	ended, err := w.Tasks.Start(task.Spec{Session: sessionA, Command: "true", Workspace: w.work})
	if err != nil {
		t.Fatal(err)
	}
	c.until(0, "the end of the task", func(f *frame) bool {
		return f.Method == oupwire.MethodTaskUpdated && strings.Contains(f.text, `"completed"`)
	})
	k, err := key.Parse(sessionA)
	if err != nil {
		t.Fatal(err)
	}
	s, err := w.House.Find(t.Context(), k)
	if err != nil {
		t.Fatal(err)
	}
	if err := s.Retire(t.Context(), live.ErrDeleted); err != nil { // as a deletion begins
		t.Fatal(err)
	}
	c.refused(oupwire.MethodTaskRestartFromNode, params{"session_id": sessionA, "task_id": ended.ID}, oupwire.CodeUnknownTaskID, "unknown_task")
	if list, err := w.Tasks.List(sessionA); err != nil || len(list) != 1 {
		t.Errorf("the tasks are %v, %v", list, err)
	}
}
