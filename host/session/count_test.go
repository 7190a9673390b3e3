package session_test

import (
	"path/filepath"
	"testing"

	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/session"
)

// counted demands that the count of a session is what its branch holds.
func counted(t *testing.T, store *session.Store, id string, count int64) {
	t.Helper()
	info, err := store.Info(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	branch, err := store.Branch(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	var there int64
	for _, stored := range branch {
		switch stored.Value.(type) {
		case session.Message, session.Injected:
			there++
		}
	}
	want(t, "messages on the branch", there, count)
	want(t, "messages", info.Messages, count)
}

func TestMessages_areCountedOnTheBranchToTheHead(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sessions.db")
	store := openAt(t, path)
	s := begin(t, store)
	counted(t, store, s.ID(), 0)
	ids, err := s.Append(t.Context(), said(conversation.User, "one"), session.Entry{Value: session.ModelChange{Model: "m"}}, said(conversation.Assistant, "two"),
		session.Entry{Value: session.Injected{Message: conversation.Say(conversation.User, "three")}})
	if err != nil {
		t.Fatal(err)
	}
	counted(t, store, s.ID(), 3)
	if err := s.SetHead(t.Context(), ids[1]); err != nil {
		t.Fatal(err)
	}
	counted(t, store, s.ID(), 1)
	if _, err := s.Append(t.Context(), said(conversation.Assistant, "another")); err != nil {
		t.Fatal(err)
	}
	counted(t, store, s.ID(), 2)
	whole, err := store.Fork(t.Context(), s.ID(), "")
	if err != nil {
		t.Fatal(err)
	}
	counted(t, store, whole.ID, 2)
	part, err := store.Fork(t.Context(), s.ID(), ids[2])
	if err != nil {
		t.Fatal(err)
	}
	counted(t, store, part.ID, 2)
	empty := create(t, store, session.New{})
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if err := store.Close(); err != nil {
		t.Fatal(err)
	}

	// What an earlier version has written is counted when it is upgraded, and read without a count before.
	if _, err := database(t, path).ExecContext(t.Context(), `ALTER TABLE sessions DROP COLUMN profile; ALTER TABLE sessions DROP COLUMN messages;
		PRAGMA user_version = 2`); err != nil {
		t.Fatal(err)
	}
	reader, err := session.Options{}.OpenReader(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	if info, err := reader.Info(t.Context(), s.ID()); err != nil || info.Messages != 0 || info.Entries != 5 {
		t.Errorf("read is %+v, %v", info, err)
	}
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
	store = openAt(t, path)
	for id, count := range map[string]int64{s.ID(): 2, whole.ID: 2, part.ID: 2, empty.ID: 0} {
		counted(t, store, id, count)
	}
}

func TestProfile_isKeptAndGoesAlongWithAFork(t *testing.T) {
	store := open(t)
	made := create(t, store, session.New{Key: "web-1", Profile: "work"})
	fork, err := store.ForkAs(t.Context(), made.ID, "", "web-2")
	if err != nil {
		t.Fatal(err)
	}
	if err := store.SetName(t.Context(), made.ID, "named"); err != nil {
		t.Fatal(err)
	}
	for _, key := range []string{"web-1", fork.Key} {
		info, err := store.Keyed(t.Context(), key)
		if err != nil || info.Profile != "work" {
			t.Errorf("%s is of %q, %v", key, info.Profile, err)
		}
	}
	want(t, "what nobody said", create(t, store, session.New{}).Profile, "")
}
