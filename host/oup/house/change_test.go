package house_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/oup/event"
	"github.com/octet-dev/octet/host/oup/house"
	"github.com/octet-dev/octet/host/oup/key"
	"github.com/octet-dev/octet/host/oup/ledger"
	"github.com/octet-dev/octet/host/oup/live"
	folders "github.com/octet-dev/octet/host/oup/place"
	"github.com/octet-dev/octet/host/session"
)

// say holds a turn.
func say(t *testing.T, r *rig, s *live.Session, id, text string) {
	t.Helper()
	begin(t, s, id, text)
	r.follow(s.Key()).ended(id)
	waitIdle(t, s)
}

// texts are what is said in a branch, a word for each row.
func texts(t *testing.T, s *live.Session) string {
	t.Helper()
	branch, err := s.Branch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	var list []string
	for _, i := range live.Rows(branch) {
		switch v := branch[i].Value.(type) {
		case session.Message:
			list = append(list, string(v.Message.Role)+":"+v.Message.PlainText())
		case session.Injected:
			list = append(list, string(v.Message.Role)+":"+v.Message.PlainText())
		}
	}
	return strings.Join(list, ", ")
}

func TestRollback(t *testing.T) {
	r := newPlace(t).open(nil)
	s := r.session(chat)
	for n, text := range []string{"one", "two", "three"} {
		say(t, r, s, turn(n+1), text)
	}
	before, err := r.ledger.Window(t.Context(), chat)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Rollback(t.Context(), 0); !errors.Is(err, live.ErrNoTurns) {
		t.Errorf("of no turns: %v", err)
	}
	done, err := s.Rollback(t.Context(), 2)
	if err != nil || done.Turns != 2 || done.Before.Seq != before.Head || done.Event.Seq != before.Head+1 {
		t.Errorf("%+v, %v", done, err)
	}
	if got, want := texts(t, s), "user:one, assistant:heard one"; got != want {
		t.Errorf("left is %s", got)
	}
	say(t, r, s, turn(4), "four")
	requests := r.brain.requests()
	if last := requests[len(requests)-1]; len(last.Messages) != 3 || last.Messages[2].PlainText() != "four" {
		t.Errorf("the model was told %+v", last.Messages)
	}
	if got := r.follow(chat); got.until("the end", func(stored ledger.Stored) bool { return isEnd(stored, turn(4)) }).Seq == 0 || !strings.Contains(got.told(), "user three") {
		t.Error("earlier events are gone")
	}
	if done, err = s.Rollback(t.Context(), 9); err != nil || done.Turns != 2 {
		t.Errorf("more than there are: %+v, %v", done, err)
	}
	if done, err = s.Rollback(t.Context(), 1); err != nil || done.Turns != 0 || texts(t, s) != "" {
		t.Errorf("of an empty session: %+v, %v", done, err)
	}
	gate := r.brain.gate()
	begin(t, s, turn(5), "five")
	var busy *live.InProgressError
	if _, err := s.Rollback(t.Context(), 1); !errors.As(err, &busy) || busy.Turn != turn(5) {
		t.Errorf("while a turn runs: %v", err)
	}
	close(gate)
	r.follow(chat).ended(turn(5))
}

func TestFork(t *testing.T) {
	r := newPlace(t).open(nil)
	s := r.session("work:local:chat#build")
	say(t, r, s, turn(1), "one")
	say(t, r, s, turn(2), "two")
	parent := parse(t, "work:local:chat#build")
	forked, err := r.Fork(t.Context(), parent, "child", -1)
	if err != nil || forked.Key.String() != "work:local:child" || forked.Copied != 4 {
		t.Fatalf("%+v, %v", forked, err)
	}
	child, err := r.Find(t.Context(), forked.Key)
	if err != nil {
		t.Fatal(err)
	}
	if got, want := texts(t, child), "user:one, assistant:heard one, user:two, assistant:heard two"; got != want {
		t.Errorf("copied were %s", got)
	}
	if window, err := r.ledger.Window(t.Context(), forked.Key.String()); err != nil || window.Head != 0 {
		t.Errorf("the child was told of: %+v, %v", window, err)
	}
	say(t, r, child, turn(1), "three") // the ids of turns are those of one session
	for last, want := range map[int]string{3: "assistant:heard one, user:two, assistant:heard two", 0: "", 9: "user:one, assistant:heard one, user:two, assistant:heard two"} {
		forked, err := r.Fork(t.Context(), parent, "child-"+string(rune('0'+last)), last)
		if err != nil || forked.Copied != min(last, 4) {
			t.Errorf("%+v, %v", forked, err)
		}
		child, err := r.Find(t.Context(), forked.Key)
		if err != nil {
			t.Fatal(err)
		}
		if got := texts(t, child); got != want {
			t.Errorf("the last %d are %s", last, got)
		}
		say(t, r, child, turn(1), "more")
	}
	var exists *house.ExistsError
	for _, last := range []int{-1, 1} {
		if _, err := r.Fork(t.Context(), parent, "child", last); !errors.As(err, &exists) {
			t.Errorf("a child that exists: %v", err)
		}
	}
	for _, name := range []string{"", "a b", "../x", strings.Repeat("a", 129), "a#b", "a:b"} {
		if _, err := r.Fork(t.Context(), parent, name, -1); !errors.Is(err, key.ErrChatID) {
			t.Errorf("%q: %v", name, err)
		}
	}
	if _, err := r.Fork(t.Context(), parse(t, "nobody"), "other", -1); !errors.As(err, new(*house.UnknownError)) {
		t.Errorf("of nothing: %v", err)
	}
	raw, err := parse(t, "web-123").Child("other")
	if err != nil || raw.String() != "other" {
		t.Errorf("the child of a handle is %q, %v", raw, err)
	}
}

func TestDelete(t *testing.T) {
	r := newPlace(t).open(nil)
	k := parse(t, chat)
	if err := r.Delete(t.Context(), k, house.Parting{}); !errors.As(err, new(*house.UnknownError)) {
		t.Errorf("of nothing: %v", err)
	}
	s := r.session(chat)
	asked := r.brain.stall()
	begin(t, s, turn(1), "one")
	<-asked
	f := r.follow(chat)
	f.until("the turn", func(stored ledger.Stored) bool { return stored.Number == 1 })
	if err := r.Delete(t.Context(), k, house.Parting{}); err != nil {
		t.Fatal(err)
	}
	if end := f.ended(turn(1)); end.Outcome != oupwire.TurnOutcomeInterrupted {
		t.Errorf("the turn ended %+v", end)
	}
	if _, err := r.Find(t.Context(), k); !errors.As(err, new(*house.UnknownError)) {
		t.Errorf("it is still there: %v", err)
	}
	if _, err := s.Start(t.Context(), live.Turn{ID: turn(2), Text: "two"}); !errors.Is(err, live.ErrRetired) {
		t.Errorf("a turn of a deleted session: %v", err)
	}
	head := f.seen[len(f.seen)-1].Seq
	fresh := r.session(chat)
	if texts(t, fresh) != "" {
		t.Errorf("the new one says %s", texts(t, fresh))
	}
	stored, err := fresh.Opened(t.Context(), oupwire.SessionOpened{})
	if err != nil || stored.Seq != head+1 {
		t.Errorf("numbers go on with %d behind %d, %v", stored.Seq, head, err)
	}
}

// TestDelete_thatWasCutShort: a process that ends between the two files leaves nothing that a new session would tell.
func TestDelete_thatWasCutShort(t *testing.T) {
	p := newPlace(t)
	r := p.open(nil)
	keys := []string{chat, "_main:local:child"}
	for _, text := range append(keys, "_main:local:parent") {
		say(t, r, r.session(text), turn(1), "secret")
	}
	r.Rest(time.Now().Add(time.Hour))
	for _, text := range keys {
		if _, err := r.store.Delete(t.Context(), r.session(text).ID()); err != nil {
			t.Fatal(err)
		}
	}
	r.close()
	r = p.open(nil)
	fresh := r.session(chat)
	if _, err := r.Fork(t.Context(), parse(t, "_main:local:parent"), "child", -1); err != nil {
		t.Fatal(err)
	}
	for _, text := range keys {
		window, err := r.ledger.Replay(t.Context(), text, nil, func(stored ledger.Stored) error {
			t.Errorf("%s tells %s", text, stored.Body)
			return nil
		})
		if err != nil || window.Head == 0 {
			t.Errorf("%+v, %v", window, err)
		}
	}
	if _, err := fresh.Start(t.Context(), live.Turn{ID: turn(1), Text: "one"}); !errors.As(err, new(*live.UsedError)) {
		t.Errorf("the id of a turn of the session before: %v", err)
	}
	begin(t, fresh, turn(2), "two")
	waitIdle(t, fresh)
}

func TestAddMessage(t *testing.T) {
	r := newPlace(t).open(nil)
	s := r.session(chat)
	add := func(role oupwire.AppendRole, text, id, thread string) (live.AddedTo, error) {
		return s.AddMessage(t.Context(), live.Added{Role: role, Text: text, Source: "test", ClientMessageID: id, Thread: thread})
	}
	var wrong *live.AddError
	if _, err := add("assistant", "early", "", ""); !errors.As(err, &wrong) {
		t.Errorf("an assistant without a user: %v", err)
	}
	user, err := add("user", "question", "m1", "")
	if err != nil || user.Row != 0 || user.Thread == "" {
		t.Fatalf("%+v, %v", user, err)
	}
	again, err := add("user", "question", "m1", "")
	if err != nil || !again.Again || again.Row != 0 || again.Thread != user.Thread {
		t.Errorf("once more: %+v, %v", again, err)
	}
	answer, err := add("assistant", "answer", "", "")
	if err != nil || answer.Row != 1 || answer.Thread != user.Thread {
		t.Errorf("%+v, %v", answer, err)
	}
	if _, err := add("system", "rule", "", ""); err != nil {
		t.Error(err)
	}
	for _, c := range []live.Added{
		{Role: "user", Text: " "},
		{Role: "nobody", Text: "x"},
		{Role: "user", Text: "x", Thread: user.Thread},
		{Role: "assistant", Text: "x", Thread: turn(7)},
		{Role: "user", Text: "x", Source: strings.Repeat("a", 201)},
		{Role: "user", Text: strings.Repeat("ä", 1_000_001)},
	} {
		if _, err := s.AddMessage(t.Context(), c); !errors.As(err, &wrong) {
			t.Errorf("%.40s: %v", c.Text, err)
		}
	}
	say(t, r, s, turn(1), "now")
	if late, err := add("assistant", "late", "", turn(1)); err != nil || late.Thread != turn(1) {
		t.Errorf("%+v, %v", late, err)
	}
	if _, err := s.AddMessage(t.Context(), live.Added{Role: "assistant", Text: "done", Source: "background", Thread: turn(1), Task: "task-1", Call: "call-1"}); err != nil {
		t.Error(err)
	}
	if got, want := texts(t, s), "user:question, assistant:answer, system:rule, user:now, assistant:heard now, assistant:late, assistant:done"; got != want {
		t.Errorf("said was %s", got)
	}
	requests := r.brain.requests()
	if n := len(requests); n != 1 || requests[0].Messages[0].Role != conversation.User {
		t.Errorf("the model was asked %d times: %+v", n, requests)
	}
	f := r.follow(chat)
	child := f.until("the late answer", func(stored ledger.Stored) bool { return stored.Subject.Kind == event.Child })
	if !strings.HasPrefix(f.told(), "user question\npersisted answer\nturn/started\nuser now\n") || child.Number != 1 || !strings.HasPrefix(child.Subject.ID, turn(1)+":background:") {
		t.Errorf("told was\n%s%+v", f.told(), child.Subject)
	}
	task := f.until("what the task came to", func(stored ledger.Stored) bool { return stored.Subject.ID == turn(1)+":background:task-1" })
	envelope, _, err := event.EnvelopeOf(task)
	if err != nil {
		t.Fatal(err)
	}
	if data := envelope.Payload.(oupwire.SpawnCompletePayload).Data; data.ParentTurnID != turn(1) || data.TaskID != "task-1" || data.ToolCallID.Or("") != "call-1" || data.Content != "done" || envelope.Seq != 1 {
		t.Errorf("told is %+v", envelope)
	}
	r.close()
	r = r.place.open(nil) // what was added is no turn that a restart would have to end
	if strings.Contains(r.follow(chat).everything(), "terminal errored") {
		t.Error("a message that was added got an end")
	}
}

// everything is what is told so far.
func (f *follower) everything() string {
	f.t.Helper()
	head := f.reader.Window().Head
	f.until("the newest event", func(s ledger.Stored) bool { return s.Seq == head })
	return f.told()
}

func TestCompact(t *testing.T) {
	r := newPlace(t).open(nil)
	s := r.session(chat)
	if done, err := s.Compact(t.Context()); err != nil || done.Done {
		t.Errorf("of nothing: %+v, %v", done, err)
	}
	nothing := r.follow(chat).everything()
	if want := "context/compaction_started\ncontext/compaction_completed\n"; nothing != want {
		t.Errorf("a pass with nothing to do is told as\n%s", nothing)
	}
	long := strings.Repeat("word ", 4000)
	for n := range 8 {
		say(t, r, s, turn(n+1), long)
	}
	done, err := s.Compact(t.Context())
	if err != nil || !done.Done || done.After >= done.Before {
		t.Errorf("%+v, %v", done, err)
	}
	told := r.follow(chat).everything()
	if strings.Count(told, "context/compaction_started\n") != 2 || strings.Count(told, "context/compaction_completed\n") != 2 {
		t.Errorf("told was %.2000s", told[len(told)-200:])
	}
}

func TestWorkspace(t *testing.T) {
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	file, link, good := filepath.Join(root, "file"), filepath.Join(root, "link"), filepath.Join(root, "good")
	if err := errors.Join(os.WriteFile(file, nil, 0o600), os.Symlink("/etc", link), os.Mkdir(good, 0o700)); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{filepath.Join(root, "none"), file} {
		if _, err := newPlaceAt(t, path).tryOpen(t.Context(), nil); err == nil {
			t.Errorf("%s is the workspace of a server", path)
		}
	}
	r := newPlace(t).open(nil)
	k := parse(t, chat)
	s, made, err := r.Make(t.Context(), k, house.New{Workspace: good})
	if err != nil || !made || s.Workspace() != good {
		t.Fatalf("%v, %v", made, err)
	}
	if again, made, err := r.Make(t.Context(), k, house.New{Workspace: root}); err != nil || made || again != s {
		t.Errorf("another workspace for a session that is there: %v, %v", made, err)
	}
	for _, path := range []string{file, link, "/etc", "relative", filepath.Join(root, "none")} {
		var refused *folders.Error
		if _, _, err := r.Make(t.Context(), parse(t, "other"), house.New{Workspace: path}); !errors.As(err, &refused) {
			t.Errorf("%s is a workspace: %v", path, err)
		}
	}
	if _, err := r.Find(t.Context(), parse(t, "other")); !errors.As(err, new(*house.UnknownError)) {
		t.Errorf("a refused session is there: %v", err)
	}
}

// TestMake_keepsTheOwner: who comes second, at the same moment and for another profile, does not get the session.
func TestMake_keepsTheOwner(t *testing.T) {
	r := newPlace(t).open(nil)
	s, made, err := r.Make(t.Context(), parse(t, "web-1"), house.New{Profile: "work"})
	if err != nil || !made || s.Owner() != "work" || house.PlaceOf(s).Profile != "work" {
		t.Fatalf("%v, %v", made, err)
	}
	if again, _, err := r.Make(t.Context(), parse(t, "web-1"), house.New{Profile: "work"}); err != nil || again != s {
		t.Error(err)
	}
	var foreign *key.ScopeError
	if _, _, err := r.Make(t.Context(), parse(t, "web-1"), house.New{Profile: "other"}); !errors.As(err, &foreign) || foreign.Expected != "work" {
		t.Errorf("another profile: %v", err)
	}
	for text, want := range map[string]string{"work:local:a": "work", "web-2": key.Default()} {
		if s, _, err := r.Make(t.Context(), parse(t, text), house.New{}); err != nil || s.Owner() != want {
			t.Errorf("%s: %v", text, err)
		}
	}
}

func TestFiles_stayInside(t *testing.T) {
	r := newPlace(t).open(nil)
	s := r.session(chat)
	outside := filepath.Join(filepath.Dir(r.workspace), "secret.png")
	if err := errors.Join(
		os.WriteFile(outside, []byte("secret"), 0o600), os.Symlink(outside, filepath.Join(r.workspace, "link.png")),
		os.WriteFile(filepath.Join(r.workspace, "in.txt"), []byte("x"), 0o600), os.WriteFile(filepath.Join(r.workspace, "in.png"), []byte("x"), 0o600),
	); err != nil {
		t.Fatal(err)
	}
	for _, path := range []string{"../secret.png", outside, "link.png", "none.png", "/etc/passwd", ".", ""} {
		_, err := s.Start(t.Context(), live.Turn{ID: turn(1), Text: "look", Files: []oupwire.FileRef{{Path: path, Mime: "image/png"}}})
		var refused *live.FileError
		if !errors.As(err, &refused) || refused.Path != path {
			t.Errorf("%q: %v", path, err)
		}
	}
	started, err := s.Start(t.Context(), live.Turn{ID: turn(1), Text: "look", Files: []oupwire.FileRef{
		{Path: "in.png", Mime: "image/png"}, {Path: filepath.Join(r.workspace, "in.txt"), Mime: "text/plain"},
	}})
	if err != nil {
		t.Fatal(err)
	}
	started.Go()
	r.follow(chat).ended(turn(1))
	said := r.brain.requests()[0].Messages[0]
	if len(said.Parts) != 2 || said.Parts[0].Text != "look\n[attached file: in.txt]" || string(said.Parts[1].Data) != "x" {
		t.Errorf("the model was told %+v", said)
	}
}
