package assembly_test

import (
	"database/sql"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/host/oup/task"
)

// execute changes a file of the data directory behind the server's back.
func (d *desk) execute(name, query string) {
	d.t.Helper()
	db, err := sql.Open("sqlite", filepath.Join(d.data, name))
	if err != nil {
		d.t.Fatal(err)
	}
	_, err = db.Exec(query)
	if err := errors.Join(err, db.Close()); err != nil {
		d.t.Fatal(err)
	}
}

// TestFullDisk_isToldAsThat: what cannot be stored is refused by one kind and a sentence without a path, nothing of it
// is there afterwards, and the same works once there is room.
func TestFullDisk_isToldAsThat(t *testing.T) {
	d := open(t, options(t, t.TempDir()))
	c := d.connect()
	c.ok(oupwire.MethodSessionOpen, `{"session_id":"local:here"}`)
	const turn = `{"session_id":"local:here","turn_id":"7d0c2f1e-5a0b-4a57-9a60-0d2f5f6c1a01","input":[{"kind":"text","text":"Hello"}]}`
	refused := func(method, params string) {
		t.Helper()
		_, failure := c.call(method, params)
		if failure == nil || failure.Code != oupwire.CodeRuntimeNotReady || !strings.Contains(string(failure.Data.Or(nil)), `"kind":"runtime_unavailable"`) ||
			!strings.Contains(failure.Message, "disk of the server") || strings.Contains(failure.Message, d.data) {
			t.Errorf("%s on a full disk gives %+v", method, failure)
		}
	}
	for file, methods := range map[string]map[string]string{
		"ledger.db:events": {
			oupwire.MethodSessionOpen: `{"session_id":"local:fresh"}`, oupwire.MethodTurnStart: turn,
		},
		"sessions.db:sessions": {
			oupwire.MethodSessionOpen: `{"session_id":"local:fresh"}`, oupwire.MethodSessionFork: `{"session_id":"local:here","new_chat_id":"child"}`,
		},
	} {
		file, table, _ := strings.Cut(file, ":")
		d.execute(file, `CREATE TRIGGER full BEFORE INSERT ON `+table+` BEGIN SELECT RAISE(ABORT, 'full'); END`)
		for method, params := range methods {
			refused(method, params)
		}
		if list := c.ok(oupwire.MethodSessionList, `{}`)["sessions"].([]any); len(list) != 1 {
			t.Errorf("%s is full, and there are %v", file, list)
		}
		d.execute(file, `DROP TRIGGER full`)
	}
	c.ok(oupwire.MethodSessionOpen, `{"session_id":"local:fresh"}`)
	c.ok(oupwire.MethodSessionFork, `{"session_id":"local:here","new_chat_id":"child"}`)
	if got := c.ok(oupwire.MethodTurnStart, turn); got["accepted"] != true {
		t.Errorf("once there is room a turn gives %v", got)
	}
}

// TestOpen_onAFullDisk: what was at work when the last server died does not keep the next one from opening.
func TestOpen_onAFullDisk(t *testing.T) {
	o := options(t, t.TempDir())
	d := open(t, o)
	c := d.connect()
	c.ok(oupwire.MethodSessionOpen, `{"session_id":"local:here"}`)
	started, err := d.Tasks.Start(task.Spec{Session: "local:here", Command: "true", Workspace: o.Workspace})
	if err != nil {
		t.Fatal(err)
	}
	for r := started; !r.Terminal(); runtime.Gosched() {
		if r, err = d.Tasks.Get("local:here", started.ID); err != nil {
			t.Fatal(err)
		}
	}
	d.close()
	// The record as a kill leaves it.
	records, err := filepath.Glob(filepath.Join(d.data, "tasks", "*", started.ID+".json"))
	if err != nil || len(records) != 1 {
		t.Fatalf("the records are %v, %v", records, err)
	}
	text, err := os.ReadFile(records[0])
	if err != nil {
		t.Fatal(err)
	}
	running := strings.Replace(string(text), `"State":"completed"`, `"State":"running"`, 1)
	if err := os.WriteFile(records[0], []byte(running), 0o600); err != nil || running == string(text) {
		t.Fatalf("the record is %s, %v", text, err)
	}
	d.execute("ledger.db", `CREATE TRIGGER full BEFORE INSERT ON events BEGIN SELECT RAISE(ABORT, 'full'); END`)
	d = open(t, o)
	if r, err := d.Tasks.Get("local:here", started.ID); err != nil || r.State != oupwire.TaskRuntimeStateFailed || r.Error != "orphaned_by_restart" {
		t.Errorf("the task is %+v, %v", r, err)
	}
	if !d.Ledger.Owes("local:here") {
		t.Error("nobody tells the end of the task later")
	}
	d.execute("ledger.db", `DROP TRIGGER full`)
	c = d.connect()
	c.ok(oupwire.MethodSessionOpen, `{"session_id":"local:here","after":{"stream":"local:here","seq":0}}`)
	limit := time.Now().Add(time.Minute)
	for told := false; !told; {
		text, err := c.Read()
		if err != nil || time.Now().After(limit) {
			t.Fatalf("the end of the task is not told: %v", err)
		}
		told = strings.Contains(string(text), oupwire.MethodTaskUpdated) && strings.Contains(string(text), started.ID) && strings.Contains(string(text), `"failed"`)
	}
}
