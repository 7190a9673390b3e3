package methods_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/host/oup/task"
)

// texts reads the texts of a session's messages.
func (c *client) texts(session string) []string {
	c.Helper()
	var page oupwire.SessionMessagesPageResult
	c.do(oupwire.MethodSessionMessagesPage, params{"session_id": session}, &page)
	texts := []string{}
	for i, m := range page.Messages {
		if m.Seq.Or(-1) != int64(i) {
			c.Errorf("row %d has seq %d", i, m.Seq.Or(-1))
		}
		texts = append(texts, string(m.Role)+" "+m.Content)
	}
	return texts
}

func (c *client) wantTexts(session string, want ...string) {
	c.Helper()
	if got := c.texts(session); !slices.Equal(got, want) {
		c.Errorf("%s holds %q, want %q", session, got, want)
	}
}

// TestMessagesPage covers OUP-SESSION-007 to OUP-SESSION-012 and the texts of S67.
func TestMessagesPage(t *testing.T) {
	w := newWorld(t)
	c := w.stdio().hello().open(sessionA)
	for n := range 3 {
		c.turn(sessionA, n, fmt.Sprint("line ", n))
	}
	page := func(members params) (p oupwire.SessionMessagesPageResult, seqs []int64) {
		t.Helper()
		members["session_id"] = sessionA
		c.do(oupwire.MethodSessionMessagesPage, members, &p)
		for _, m := range p.Messages {
			seqs = append(seqs, m.Seq.Or(-1))
		}
		return p, seqs
	}
	for _, x := range []struct {
		members params
		seqs    []int64
		more    bool
		next    int64
	}{
		{params{}, []int64{0, 1, 2, 3, 4, 5}, false, 6},
		{params{"limit": 2}, []int64{0, 1}, true, 2},
		{params{"limit": 2, "offset": 4}, []int64{4, 5}, true, 6},
		{params{"limit": 2, "offset": 6}, nil, false, 6},
		{params{"offset": 99999}, nil, false, 10000},
		{params{"limit": 100000}, []int64{0, 1, 2, 3, 4, 5}, false, 6},
		{params{"since_seq": 2, "offset": 1}, []int64{4, 5}, false, 3},
		{params{"since_seq": 9007199254740991}, nil, false, 0},
	} {
		if p, seqs := page(x.members); !slices.Equal(seqs, x.seqs) || p.HasMore != x.more || p.NextOffset != x.next {
			t.Errorf("%v: rows %v, more %v, next %d", x.members, seqs, p.HasMore, p.NextOffset)
		}
	}
	c.refused(oupwire.MethodSessionMessagesPage, params{"session_id": sessionA, "limit": 0}, -32602, "")
	for n := range 3 { // each fits into a frame, two do not
		text := strings.Repeat(string(rune('a'+n)), 400<<10)
		c.do(oupwire.MethodSessionAppendMessage, params{"session_id": sessionA, "role": "user", "content": text, "source": "t"}, nil)
	}
	p, seqs := page(params{"offset": 6})
	if !slices.Equal(seqs, []int64{6, 7}) || !p.Truncated.Or(false) || !p.HasMore || p.NextOffset != 8 {
		t.Errorf("large rows: %v, %v, %v, %d", seqs, p.Truncated, p.HasMore, p.NextOffset)
	}
	if p, seqs = page(params{"offset": p.NextOffset}); !slices.Equal(seqs, []int64{8}) || p.Truncated.Or(false) || len(p.Messages[0].Content) != 400<<10 {
		t.Errorf("the rest: %v", seqs)
	}
	c.do(oupwire.MethodSessionAppendMessage, params{"session_id": sessionA, "role": "user", "content": strings.Repeat("\u0001", 160<<10), "source": "t"}, nil)
	if p, _ = page(params{"offset": 9}); len(p.Messages) != 1 || len(p.Messages[0].Unknown) != 1 || len(p.Messages[0].Content) < 100<<10 {
		t.Errorf("a text that JSON makes too long is not cut")
	}
	var hydrated oupwire.SessionHydrateResult
	c.do(oupwire.MethodSessionHydrate, params{"session_id": sessionA}, &hydrated)
	kept := hydrated.Messages.Or(nil)
	if !hydrated.Truncated.Or(false) || len(kept) == 0 || kept[len(kept)-1].Seq != 9 {
		t.Errorf("a session that does not fit hydrates to %d rows, truncated %v", len(kept), hydrated.Truncated)
	}
}

// TestHydrate covers OUP-HYDRATE-001 to OUP-HYDRATE-012 for a session with a tool, an added message and a turn that
// runs.
func TestHydrate(t *testing.T) {
	w := newWorld(t)
	c := w.stdio().hello().open(sessionA)
	c.turn(sessionA, 1, `call read {"path":"missing.txt"}`)
	c.do(oupwire.MethodSessionAppendMessage, params{"session_id": sessionA, "role": "assistant", "content": "by the way", "source": "cron"}, nil)
	c.start(sessionA, 2, "wait")
	<-w.reached
	var h oupwire.SessionHydrateResult
	c.do(oupwire.MethodSessionHydrate, params{"session_id": sessionA}, &h)
	close(w.gate)
	var roles []string
	for _, m := range h.Messages.Or(nil) {
		roles = append(roles, fmt.Sprint(m.Role, " ", m.ToolName.Or(""), len(m.ToolCalls.Or(nil)), m.Source.Or(""), m.MessageID.IsAbsent()))
	}
	if want := []string{"user 0false", "assistant 1false", "tool read0false", "assistant 0false", "assistant 0cronfalse", "user 0false"}; !slices.Equal(roles, want) {
		t.Errorf("rows %q", roles)
	}
	var threads []string
	for _, x := range h.Threads.Or(nil) {
		threads = append(threads, fmt.Sprint(x.RootSeq, " ", x.MessageSeqs, x.Status, x.TurnID.Or("")))
	}
	if want := []string{"0 [0 1 2 3 4]completed" + turnID(1), "5 [5]active" + turnID(2)}; !slices.Equal(threads, want) {
		t.Errorf("streams %q", threads)
	}
	turns := h.Turns.Or(nil)
	if len(turns) != 2 || turns[0].State != oupwire.TurnStateCompleted || turns[0].CompletedAt.IsAbsent() || turns[1].State != oupwire.TurnStateActive || !turns[1].CompletedAt.IsAbsent() {
		t.Errorf("turns %+v", turns)
	}
	all, tools, children := h.ProjectionEnvelopes.Or(nil), h.ReplayedToolEnvelopes.Or(nil), h.ReplayedEnvelopes.Or(nil)
	last := map[string]int64{}
	for _, e := range all {
		if e.Seq != last[e.ThreadID]+1 {
			t.Errorf("stream %s goes on with %d behind %d", e.ThreadID, e.Seq, last[e.ThreadID])
		}
		last[e.ThreadID] = e.Seq
	}
	if fmt.Sprint(last) != fmt.Sprint(h.ProjectionThreadSequences.Or(nil)) || len(last) != 3 {
		t.Errorf("greatest numbers %v, told %v", last, h.ProjectionThreadSequences)
	}
	if len(tools) != 2 || len(children) != 1 || len(h.ReplayedProjectionEnvelopes.Or(nil)) != len(all) || len(h.ProjectionSnapshot.Or(oupwire.ProjectionSnapshot{}).Envelopes) != len(all) {
		t.Errorf("%d envelopes, %d of tools, %d of children", len(all), len(tools), len(children))
	}
	c.terminal(2)
	after := oupwire.SessionHydrateResult{}
	c.do(oupwire.MethodSessionHydrate, params{"session_id": sessionA, "after": params{"stream": sessionA, "seq": h.Cursor.Seq}}, &after)
	for _, e := range after.ProjectionEnvelopes.Or(nil) {
		if e.Seq != last[e.ThreadID]+1 {
			t.Errorf("behind the cursor comes %d, want %d", e.Seq, last[e.ThreadID]+1)
		}
		last[e.ThreadID] = e.Seq
	}
	if len(after.Messages.Or(nil)) < 5 || len(after.ProjectionEnvelopes.Or(nil)) == 0 || after.Cursor.Seq <= h.Cursor.Seq {
		t.Errorf("behind a cursor: %d rows, %d envelopes, cursor %d", len(after.Messages.Or(nil)), len(after.ProjectionEnvelopes.Or(nil)), after.Cursor.Seq)
	}
	for _, x := range []struct {
		include []string
		want    string
	}{
		{[]string{"turns"}, "cursor,session_id,turns"},
		{[]string{"nothing"}, "cursor,session_id"},
		{[]string{"pending_approvals", "x"}, "cursor,pending_approvals,pending_questions,session_id"},
		{[]string{"threads", "threads"}, "cursor,session_id,threads"},
	} {
		f := c.ask(oupwire.MethodSessionHydrate, params{"session_id": sessionA, "include": x.include})
		members := map[string]json.RawMessage{}
		if err := json.Unmarshal(f.Result, &members); err != nil {
			t.Fatal(err)
		}
		delete(members, "context_state")
		var names []string
		for name := range members {
			names = append(names, name)
		}
		slices.Sort(names)
		if got := strings.Join(names, ","); got != x.want {
			t.Errorf("include %q gives %s", x.include, got)
		}
	}
	c.refused(oupwire.MethodSessionHydrate, params{"session_id": sessionA, "include": make([]string, 33)}, -32602, "include_too_large")
	c.refused(oupwire.MethodSessionHydrate, params{"session_id": sessionA, "after": params{"stream": sessionA, "seq": 1 << 40}}, -32110, "cursor_expired")
	c.refused(oupwire.MethodSessionHydrate, params{"session_id": sessionA, "after": params{"stream": "else", "seq": 1}}, -32111, "cursor_stream_mismatch")
}

// TestRollback covers OUP-ROLLBACK-001 to OUP-ROLLBACK-007.
func TestRollback(t *testing.T) {
	w := newWorld(t)
	c := w.stdio().hello().open(sessionA)
	for n := range 3 {
		c.turn(sessionA, n, fmt.Sprint("line ", n))
	}
	c.refused(oupwire.MethodSessionRollback, params{"session_id": sessionA, "num_turns": 0}, -32602, "invalid_num_turns")
	var done oupwire.SessionRollbackResult
	c.do(oupwire.MethodSessionRollback, params{"session_id": sessionA, "num_turns": 1}, &done)
	if done.DroppedTurns != 1 || len(done.Thread.Messages) != 4 || len(done.Thread.Turns) != 2 || len(done.Thread.Threads) != 2 {
		t.Errorf("left: %+v", done)
	}
	c.wantTexts(sessionA, "user line 0", "assistant heard line 0", "user line 1", "assistant heard line 1")
	var h oupwire.SessionHydrateResult
	c.do(oupwire.MethodSessionHydrate, params{"session_id": sessionA}, &h)
	for _, e := range h.ProjectionEnvelopes.Or(nil) {
		if e.TurnID == turnID(2) {
			t.Errorf("an envelope of the turn that was taken out: %s", e.AppendJSON(nil))
		}
	}
	if len(h.Turns.Or(nil)) != 2 || len(h.ProjectionEnvelopes.Or(nil)) == 0 || h.Cursor.Seq <= done.Thread.Cursor.Seq {
		t.Errorf("%d turns, %d envelopes, cursor %d behind %d", len(h.Turns.Or(nil)), len(h.ProjectionEnvelopes.Or(nil)), h.Cursor.Seq, done.Thread.Cursor.Seq)
	}
	c.start(sessionA, 4, "wait")
	<-w.reached
	c.refused(oupwire.MethodSessionRollback, params{"session_id": sessionA, "num_turns": 1}, -32602, "turn_in_progress")
	close(w.gate)
	c.terminal(4)
	c.do(oupwire.MethodSessionRollback, params{"session_id": sessionA, "num_turns": 4294967295}, &done)
	if done.DroppedTurns != 3 || len(done.Thread.Messages) != 0 {
		t.Errorf("everything taken out: %+v", done)
	}
	// The events are still there for who comes back with a cursor.
	again := w.stdio().hello()
	again.do(oupwire.MethodSessionOpen, params{"session_id": sessionA, "after": params{"stream": sessionA, "seq": 0}}, nil)
	again.terminal(2)
}

// TestFork covers OUP-FORK-001 to OUP-FORK-005.
func TestFork(t *testing.T) {
	w := newWorld(t)
	c := w.stdio().hello().open(sessionA + "#topic")
	for n := range 2 {
		c.turn(sessionA+"#topic", n, fmt.Sprint("line ", n))
	}
	var made oupwire.SessionForkResult
	c.do(oupwire.MethodSessionFork, params{"session_id": sessionA + "#topic", "new_chat_id": "b"}, &made)
	if made.NewSessionID != "_main:local:b" || made.CopiedMessages != 4 {
		t.Errorf("made %+v", made)
	}
	c.wantTexts("_main:local:b", "user line 0", "assistant heard line 0", "user line 1", "assistant heard line 1")
	c.do(oupwire.MethodSessionFork, params{"session_id": sessionA + "#topic", "new_chat_id": "c", "copy_messages": 1}, &made)
	c.wantTexts("_main:local:c", "assistant heard line 1")
	c.refused(oupwire.MethodSessionFork, params{"session_id": sessionA + "#topic", "new_chat_id": "b"}, -32602, "child_exists")
	for _, name := range []string{"", "a/b", "ä", strings.Repeat("x", 129), "a:b", "a#b"} {
		c.refused(oupwire.MethodSessionFork, params{"session_id": sessionA + "#topic", "new_chat_id": name}, -32602, "invalid_new_chat_id")
	}
	c.open("_main:local:b").turn("_main:local:b", 9, "more")
	c.wantTexts(sessionA+"#topic", "user line 0", "assistant heard line 0", "user line 1", "assistant heard line 1")
}

// TestListing covers OUP-SESSION-001 to OUP-SESSION-005, OUP-APPEND-005 and the titles of OUP-SESSION-014.
func TestListing(t *testing.T) {
	w := newWorld(t)
	other := filepath.Join(filepath.Dir(w.work), "other")
	if err := os.Mkdir(other, 0o700); err != nil {
		t.Fatal(err)
	}
	c := w.stdio().hello()
	for _, s := range []string{"_main:local:a", "_main:local:b#child-1", "_main:local:b#default.tasks", "plain"} {
		c.open(s)
	}
	c.do(oupwire.MethodSessionOpen, params{"session_id": "_main:local:c", "cwd": other}, nil)
	c.do(oupwire.MethodSessionTitleSet, params{"session_id": "plain", "title": "  A\x00title\t"}, nil)
	c.turn("_main:local:a", 1, "hello")
	names := func(list []oupwire.SessionInfo) (out []string) {
		for _, s := range list {
			out = append(out, fmt.Sprint(s.ID, " ", s.MessageCount, " ", s.Title.Or("")))
		}
		slices.Sort(out)
		return out
	}
	var all oupwire.SessionListResult
	for _, p := range []any{nil, params{}} {
		c.do(oupwire.MethodSessionList, p, &all)
		if got := names(all.Sessions); !slices.Equal(got, []string{"_main:local:a 2 hello", "_main:local:c 0 ", "plain 0 A title"}) || !all.WorkspaceRoot.IsAbsent() || !all.ProfileID.IsAbsent() {
			t.Errorf("all: %q", got)
		}
	}
	c.do(oupwire.MethodSessionList, params{"cwd": other}, &all)
	if got := names(all.Sessions); !slices.Equal(got, []string{"_main:local:c 0 "}) || all.WorkspaceRoot.Or("") != other || all.ProfileID.Or("") != "_main" {
		t.Errorf("of one workspace: %q", got)
	}
	var history oupwire.SessionHistoryListResult
	c.do(oupwire.MethodSessionHistoryList, params{"limit": 2}, &history)
	seen := names(history.Sessions)
	if history.Total != 3 || history.NextOffset.Or(0) != 2 || len(seen) != 2 {
		t.Errorf("first page: %+v", history)
	}
	c.do(oupwire.MethodSessionHistoryList, params{"offset": 2}, &history)
	if seen = append(seen, names(history.Sessions)...); !history.NextOffset.IsNull() || len(seen) != 3 {
		t.Errorf("second page: %+v", history)
	}
	c.do(oupwire.MethodSessionHistoryList, params{"workspaces": []string{other, "/nowhere", "/etc"}}, &history)
	if history.Coverage != "partial" || len(history.Sessions) != 1 || !slices.Equal(history.UnavailableWorkspaces, []string{"/nowhere", "/etc"}) || !slices.Equal(history.Workspaces, []string{other}) {
		t.Errorf("of workspaces: %+v", history)
	}
	c.refused(oupwire.MethodSessionHistoryList, params{"workspaces": make([]string, 129)}, -32602, "")
	for _, title := range []string{"", " \t", strings.Repeat("ä", 201)} {
		c.refused(oupwire.MethodSessionTitleSet, params{"session_id": "plain", "title": title}, -32602, "")
	}
	c.do(oupwire.MethodSessionTitleSet, params{"session_id": "plain", "title": strings.Repeat("ä", 200)}, nil)
	c.do(oupwire.MethodSessionDelete, params{"session_id": "plain"}, nil)
	c.refused(oupwire.MethodSessionDelete, params{"session_id": "plain"}, -32100, "unknown_session")
	c.refused(oupwire.MethodSessionTitleSet, params{"session_id": "plain", "title": "x"}, -32100, "unknown_session")
	bare := w.socket("?ui_feature=auxiliary.rest_to_ws.v1")
	bare.refused(oupwire.MethodSessionList, params{"cwd": other}, -32602, "feature_required")
}

// TestPermissions covers OUP-PERMISSION-001 to OUP-PERMISSION-008.
func TestPermissions(t *testing.T) {
	w := newWorld(t)
	c := w.stdio().hello().open(sessionA).open("other")
	set := func(update params, more ...string) params {
		p := params{"session_id": sessionA, "update": update}
		if len(more) > 0 {
			p["runtime_mode"] = more[0]
		}
		return p
	}
	for _, x := range []struct {
		p       params
		mode    string
		network string
		applied bool
	}{
		{set(params{}), "workspace_write", "deny", false},
		{set(params{"mode": "read-only"}), "read_only", "deny", true},
		{set(params{"approval_policy": "never"}), "read_only", "deny", true},
		{set(params{"approval_policy": "ask", "mode": "danger-full-access", "network": "allow"}), "danger_full_access", "allow", true},
		{set(params{}, "solo"), "danger_full_access", "allow", false},
		{set(params{"mode": "workspace_write", "network": "deny"}, "whatever"), "workspace_write", "deny", true},
	} {
		var got oupwire.PermissionProfileSetResult
		c.do(oupwire.MethodPermissionProfileSet, x.p, &got)
		if string(got.Current.Mode) != x.mode || string(got.Current.Network) != x.network || got.Applied != x.applied {
			t.Errorf("%v gives %+v", x.p, got)
		}
	}
	for _, p := range []params{
		set(params{"mode": "danger_full_access"}, "multi_tenant"), set(params{"mode": "danger_full_access"}, ""), set(params{"approval_policy": "never"}, ""),
		set(params{"network": "allow"}, "x"),
	} {
		c.refused(oupwire.MethodPermissionProfileSet, p, -32120, "permission_profile_disallowed")
	}
	c.refused(oupwire.MethodPermissionProfileSet, set(params{"approval_policy": "sometimes"}), -32602, "permission_profile_invalid_approval_policy")
	var list oupwire.PermissionProfileListResult
	c.do(oupwire.MethodPermissionProfileList, params{"session_id": sessionA}, &list)
	if list.Current.Mode != oupwire.PermissionModeWorkspaceWrite || len(list.Profiles.Or(nil)) != 3 {
		t.Errorf("on offer: %+v", list)
	}
}

// TestPreviewAndSnapshot covers OUP-PREVIEW-001 to OUP-PREVIEW-006: a tool writes a file, and that is shown and taken
// back.
func TestPreviewAndSnapshot(t *testing.T) {
	w := newWorld(t)
	c := w.stdio().hello().open(sessionA).open("_main:local:other")
	if err := os.WriteFile(filepath.Join(w.work, "x.txt"), []byte("old\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	c.turn(sessionA, 1, `call write {"path":"x.txt","content":"new\n"}`)
	f, _ := c.until(0, "news of the file", func(f *frame) bool { return strings.Contains(f.text, "file_mutation") })
	_, id, _ := strings.Cut(f.text, `"preview_id":"`)
	id, _, _ = strings.Cut(id, `"`)
	var got oupwire.DiffPreviewGetResult
	c.do(oupwire.MethodDiffPreviewGet, params{"session_id": sessionA, "preview_id": id}, &got)
	files := got.Preview.Files.Or(nil)
	if len(files) != 1 || files[0].Path != "x.txt" || files[0].Status != oupwire.DiffFileStatusModified || len(files[0].Hunks.Or(nil)) != 1 {
		t.Errorf("the preview is %s", got.AppendJSON(nil))
	}
	c.refused(oupwire.MethodDiffPreviewGet, params{"session_id": "_main:local:other", "preview_id": id}, -32103, "unknown_preview")
	c.refused(oupwire.MethodDiffPreviewGet, params{"session_id": sessionA, "preview_id": turnID(9)}, -32103, "unknown_preview")

	var list, first oupwire.SnapshotListResult
	elsewhere := filepath.Join(filepath.Dir(w.work), "elsewhere")
	if err := os.Mkdir(elsewhere, 0o700); err != nil {
		t.Fatal(err)
	}
	c.do(oupwire.MethodSessionOpen, params{"session_id": "_main:local:fresh", "cwd": elsewhere}, nil)
	c.do(oupwire.MethodSnapshotList, params{"session_id": "_main:local:fresh"}, &first)
	if len(first.Snapshots) != 1 || !first.Available {
		t.Errorf("a fresh workspace has %+v", first)
	}
	c.do(oupwire.MethodSnapshotList, params{"session_id": sessionA}, &list)
	if len(list.Snapshots) != 1 || !list.Enabled || !list.Available {
		t.Fatalf("snapshots %+v", list)
	}
	before := c.texts(sessionA)
	c.start("_main:local:other", 2, "wait")
	<-w.reached
	restore := params{"session_id": sessionA, "snapshot_id": list.Snapshots[0].ID}
	if f := c.refused(oupwire.MethodSnapshotRestore, restore, -32602, ""); f.Error != nil && !strings.Contains(f.Error.Message, "turn") {
		t.Errorf("while a turn runs: %s", f.text)
	}
	close(w.gate)
	c.terminal(2)
	var done oupwire.SnapshotRestoreResult
	c.do(oupwire.MethodSnapshotRestore, restore, &done)
	if text, err := os.ReadFile(filepath.Join(w.work, "x.txt")); err != nil || string(text) != "old\n" {
		t.Errorf("the file holds %q, %v", text, err)
	}
	if done.Restored != list.Snapshots[0].ID || len(done.Snapshots) < 2 || !slices.Equal(c.texts(sessionA), before) {
		t.Errorf("restored: %+v", done)
	}
	c.refused(oupwire.MethodSnapshotRestore, params{"session_id": sessionA, "snapshot_id": "../../etc"}, -32602, "")
	var filesResult oupwire.SessionFilesListResult
	c.do(oupwire.MethodSessionFilesList, params{"session_id": sessionA}, &filesResult)
	if len(filesResult.Files) != 1 || filesResult.Files[0].Path != "x.txt" || filesResult.Files[0].SizeBytes != 4 {
		t.Errorf("files %+v", filesResult)
	}
}

// TestTasks covers the rows of tasks through the wire, and that they are told when a session is opened.
func TestTasks(t *testing.T) {
	w := newWorld(t)
	c := w.stdio().hello().open(sessionA)
	made, err := w.Tasks.Start(task.Spec{Session: sessionA, Tool: "t", Source: oupwire.TaskSourceUser, Command: `printf 'h€llo'; printf x >"$OCTET_TASK_ARTIFACTS/a.txt"`, Workspace: w.work})
	if err != nil {
		t.Fatal(err)
	}
	c.until(0, "its end", func(f *frame) bool {
		return f.Method == oupwire.MethodTaskUpdated && strings.Contains(f.text, `"completed"`)
	})
	c.notice(oupwire.MethodTaskOutputDelta)
	about := func(more params) params {
		p := params{"session_id": sessionA, "task_id": made.ID}
		for name, value := range more {
			p[name] = value
		}
		return p
	}
	var out oupwire.TaskOutputReadResult
	c.do(oupwire.MethodTaskOutputRead, about(params{"cursor": params{"offset": 2}, "limit_bytes": 5}), &out)
	if out.Text != "llo" || out.Cursor.Offset != 4 || out.NextCursor.Offset != 7 || out.TotalBytes != 7 || out.Truncated || !out.Complete {
		t.Errorf("output %s", out.AppendJSON(nil))
	}
	var artifact oupwire.TaskArtifactReadResult
	c.do(oupwire.MethodTaskArtifactRead, about(params{"artifact_id": "output-01", "limit_bytes": 0}), &artifact)
	if artifact.Content.Or("") != "x" || artifact.Artifact.Path.Or("") != "artifacts/a.txt" {
		t.Errorf("artifact %s", artifact.AppendJSON(nil))
	}
	c.refused(oupwire.MethodTaskArtifactRead, about(nil), -32602, "task_artifact_selector_invalid")
	c.refused(oupwire.MethodTaskArtifactRead, about(params{"path": "../x"}), -32170, "task_artifact_not_found")
	c.refused(oupwire.MethodTaskArtifactList, about(params{"agent_id": "a"}), -32170, "not_found")
	c.refused(oupwire.MethodTaskCancel, about(nil), -32602, "task_already_terminal")
	c.refused(oupwire.MethodTaskCancel, params{"task_id": made.ID}, -32602, "")
	c.refused(oupwire.MethodTaskRestartFromNode, params{"task_id": made.ID}, -32602, "")
	c.refused(oupwire.MethodTaskCancel, params{"session_id": "_main:local:else", "task_id": made.ID}, -32104, "unknown_task")
	c.refused(oupwire.MethodTaskOutputRead, params{"session_id": sessionA, "task_id": turnID(1)}, -32104, "unknown_task")
	c.refused(oupwire.MethodTaskOutputRead, params{"session_id": "_main:local:never", "task_id": made.ID}, -32100, "unknown_session")
	running, err := w.Tasks.Start(task.Spec{Session: sessionA, Command: "exec sleep 1000", Workspace: w.work})
	if err != nil {
		t.Fatal(err)
	}
	c.refused(oupwire.MethodTaskRestartFromNode, params{"session_id": sessionA, "task_id": running.ID}, -32602, "task_still_active")
	var cancelled oupwire.TaskCancelResult
	c.do(oupwire.MethodTaskCancel, params{"session_id": sessionA, "task_id": running.ID}, &cancelled)
	if cancelled.Status != oupwire.TaskRuntimeStateCancelled {
		t.Errorf("cancelled: %+v", cancelled)
	}
	var again oupwire.TaskRestartFromNodeResult
	c.do(oupwire.MethodTaskRestartFromNode, about(params{"node_id": "n"}), &again)
	if again.OriginalTaskID != made.ID || again.NewTaskID == made.ID || !again.FromNode.IsAbsent() {
		t.Errorf("again: %+v", again)
	}
	var list oupwire.TaskListResult
	c.do(oupwire.MethodTaskList, params{"session_id": "_main:local:a#x", "topic": " "}, &list)
	if len(list.Tasks.Or(nil)) != 0 || list.Topic.Or("") != " " {
		t.Errorf("tasks of a topic: %s", list.AppendJSON(nil))
	}
	c.do(oupwire.MethodTaskList, params{"session_id": sessionA}, &list)
	if len(list.Tasks.Or(nil)) != 3 {
		t.Errorf("tasks: %s", list.AppendJSON(nil))
	}
	later := w.socket("").hello()
	later.do(oupwire.MethodSessionOpen, params{"session_id": sessionA}, nil)
	later.notice(oupwire.MethodSessionOpen)
	told := 0
	for _, f := range later.all() {
		if f.Method == oupwire.MethodTaskUpdated {
			told++
		}
	}
	if told < 3 {
		t.Errorf("%d tasks are told when the session is opened", told)
	}
}

// TestDelete covers OUP-SESSION-016 to OUP-SESSION-018: everything that runs in a session ends with it, and a fresh
// one under its key goes on with the numbers.
func TestDelete(t *testing.T) {
	w := newWorld(t)
	c := w.stdio().hello().open(sessionA)
	running, err := w.Tasks.Start(task.Spec{Session: sessionA, Command: "exec sleep 1000", Workspace: w.work})
	if err != nil {
		t.Fatal(err)
	}
	c.start(sessionA, 1, "wait")
	<-w.reached
	c.do(oupwire.MethodSessionDelete, params{"session_id": sessionA}, nil)
	for _, m := range []string{oupwire.MethodSessionHydrate, oupwire.MethodSessionDelete, oupwire.MethodSessionStatusGet} {
		c.refused(m, params{"session_id": sessionA}, -32100, "unknown_session")
	}
	before, err := w.Ledger.Window(t.Context(), sessionA)
	if err != nil || before.Oldest <= before.Head {
		t.Errorf("events are kept: %+v, %v", before, err)
	}
	if list, err := w.Tasks.List(sessionA); err != nil || len(list) != 0 {
		t.Errorf("task %s is still there: %v", running.ID, err)
	}
	var opened oupwire.SessionOpenResult
	c.do(oupwire.MethodSessionOpen, params{"session_id": sessionA}, &opened)
	if cursor := opened.Opened.Cursor.Or(oupwire.Cursor{}); cursor.Seq != before.Head+1 {
		t.Errorf("a fresh session begins at %d behind %d", cursor.Seq, before.Head)
	}
	c.wantTexts(sessionA)
	c.refused(oupwire.MethodTurnStart, params{"session_id": sessionA, "turn_id": turnID(1), "input": []any{params{"kind": "text", "text": "x"}}}, -32600, "turn_id_in_use")
	c.turn(sessionA, 2, "afresh")
}

// TestDelete_answersBehindTheLastEvent covers OUP-SESSION-017 and OUP-TURN-009: the end of what ran comes in front of the
// answer, and what is made under the same key later comes to nobody who has not opened it.
func TestDelete_answersBehindTheLastEvent(t *testing.T) {
	w := newWorld(t)
	c := w.stdio().hello()
	seen := 0
	for n := range 20 {
		other := w.stdio().hello().open(sessionA)
		c.open(sessionA).start(sessionA, 2*n, "wait")
		<-w.reached
		c.do(oupwire.MethodSessionDelete, params{"session_id": sessionA}, nil)
		frames := c.all()
		if !slices.ContainsFunc(frames[seen:], func(f *frame) bool { return strings.Contains(f.text, `"turn_terminal"`) }) {
			t.Fatalf("the end of turn %d is not told in front of the answer", 2*n)
		}
		seen = len(frames)
		if outcome := other.terminal(2 * n); outcome != "interrupted" {
			t.Errorf("turn %d %s", 2*n, outcome)
		}
		c.open(sessionA).turn(sessionA, 2*n+1, "afresh")
		other.do(oupwire.MethodConfigCapabilitiesList, params{}, nil)
		if slices.ContainsFunc(other.all(), func(f *frame) bool { return strings.Contains(f.text, turnID(2*n+1)) }) {
			t.Fatal("a fresh session is told to who had the deleted one open")
		}
		other.close()
		if slices.ContainsFunc(c.all()[seen:], func(f *frame) bool { return strings.Contains(f.text, turnID(2*n)) }) {
			t.Fatal("the deleted session is told of behind the answer")
		}
		seen = len(c.all())
	}
}

// TestHydrate_rightBehindTheStart reads a session in the write that starts its turn: what the user said is there,
// wherever it is stored by then.
func TestHydrate_rightBehindTheStart(t *testing.T) {
	w := newWorld(t)
	c := w.stdio().hello().open(sessionA)
	for n := range 20 {
		start, started := c.request(oupwire.MethodTurnStart, params{
			"session_id": sessionA, "turn_id": turnID(n), "client_message_id": fmt.Sprint("m", n), "input": []any{params{"kind": "text", "text": fmt.Sprint("line ", n)}},
		})
		read, hydrate := c.request(oupwire.MethodSessionHydrate, params{"session_id": sessionA})
		if err := c.write(append(start, read...)); err != nil {
			t.Fatal(err)
		}
		if f := c.answer(started); f.Error != nil {
			t.Fatal(f.text)
		}
		var h oupwire.SessionHydrateResult
		if f := c.answer(hydrate); f.Error != nil || json.Unmarshal(f.Result, &h) != nil {
			t.Fatal(f.text)
		}
		at := slices.IndexFunc(h.Messages.Or(nil), func(m oupwire.HydratedMessage) bool { return m.TurnID.Or("") == turnID(n) })
		if at != 2*n || h.Messages.Or(nil)[at].Seq != int64(at) || h.Messages.Or(nil)[at].Content != fmt.Sprint("line ", n) || h.Messages.Or(nil)[at].ClientMessageID.Or("") != fmt.Sprint("m", n) {
			t.Errorf("turn %d is at %d of %d rows", n, at, len(h.Messages.Or(nil)))
		}
		c.terminal(n)
	}
}
