package session_test

import (
	"errors"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/session"
)

func TestKey_belongsToOneSession(t *testing.T) {
	store := open(t)
	create(t, store, session.New{Workspace: "/w"}) // any number of sessions have none
	create(t, store, session.New{Workspace: "/w"})
	made := create(t, store, session.New{Workspace: "/w", Key: "a:local:b#c"})
	found, err := store.Keyed(t.Context(), "a:local:b#c")
	if err != nil || found.ID != made.ID || found.Key != "a:local:b#c" {
		t.Errorf("found is %+v, %v", found, err)
	}
	for _, key := range []string{"", "a:local:b", "other"} {
		if got, err := store.Keyed(t.Context(), key); !errors.Is(err, session.ErrNotFound) {
			t.Errorf("%q is %+v, %v", key, got, err)
		}
	}
	if _, err := store.Create(t.Context(), session.New{Key: "a:local:b#c"}); !errors.Is(err, session.ErrExists) {
		t.Errorf("a second one: %v", err)
	}
	if _, err := store.ForkAs(t.Context(), made.ID, "", "a:local:b#c"); !errors.Is(err, session.ErrExists) {
		t.Errorf("a fork with it: %v", err)
	}
	fork, err := store.ForkAs(t.Context(), made.ID, "", "fork")
	if err != nil || fork.Key != "fork" {
		t.Errorf("%+v, %v", fork, err)
	}
	if plain, err := store.Fork(t.Context(), made.ID, ""); err != nil || plain.Key != "" {
		t.Errorf("%+v, %v", plain, err)
	}
	list, err := store.List(t.Context(), session.Filter{Keyed: true})
	want(t, "keyed sessions", len(list), 2)
	if err != nil {
		t.Error(err)
	}
	if _, err := store.Delete(t.Context(), made.ID); err != nil {
		t.Fatal(err)
	}
	create(t, store, session.New{Key: "a:local:b#c"}) // it is free again
}

func TestKey_isGivenOnceToMany(t *testing.T) {
	store := open(t)
	var made atomic.Int64
	var tasks sync.WaitGroup
	for range 8 {
		tasks.Go(func() {
			_, err := store.Create(t.Context(), session.New{Key: "one"})
			if err == nil {
				made.Add(1)
			} else if !errors.Is(err, session.ErrExists) {
				t.Error(err)
			}
		})
	}
	tasks.Wait()
	want(t, "sessions", made.Load(), int64(1))
}

func TestSettled_saysHowARunEnded(t *testing.T) {
	store := open(t)
	s := begin(t, store)
	run := func(id string) {
		t.Helper()
		if _, err := s.Commit(t.Context(), session.Batch{Start: id, Entries: []session.Entry{said(conversation.User, id)}}); err != nil {
			t.Fatal(err)
		}
	}
	settled := func(id string) string {
		t.Helper()
		end, found, err := store.Settled(t.Context(), s.ID(), id)
		if err != nil {
			t.Fatal(err)
		}
		if !found {
			return "-"
		}
		return string(end.Outcome) + " " + end.Code
	}
	run("one")
	want(t, "a run that goes on", settled("one"), "-")
	for _, id := range []string{"one", "two"} {
		if id == "two" {
			run(id)
		}
		if _, err := s.Commit(t.Context(), session.Batch{Settle: &session.Settlement{Run: id, Outcome: session.Cancelled, Code: "x-" + id}}); err != nil {
			t.Fatal(err)
		}
	}
	want(t, "the first", settled("one"), "cancelled x-one")
	want(t, "the second", settled("two"), "cancelled x-two")
	want(t, "one that never was", settled("three"), "-")
	if _, _, err := store.Settled(t.Context(), "nobody", "one"); !errors.Is(err, session.ErrNotFound) {
		t.Error(err)
	}
}

// TestMigration_ofAStoreWithoutKeys: it can be read as it is, and gets keys once it is written.
func TestMigration_ofAStoreWithoutKeys(t *testing.T) {
	path := filepath.Join(t.TempDir(), "sessions.db")
	if err := session.OpenWith(t.Context(), path, session.Migrations()[:1]); err != nil {
		t.Fatal(err)
	}
	if _, err := database(t, path).ExecContext(t.Context(), `INSERT INTO sessions
		(id, workspace, name, model, title, created, updated, entries, head, last, parent, origin, running, usage)
		VALUES ('old', '/w', 'kept', '', '', 1, 1, 0, 0, 0, '', '', '', '{}')`); err != nil {
		t.Fatal(err)
	}
	reader, err := session.Options{}.OpenReader(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	list, err := reader.List(t.Context(), session.Filter{})
	if err != nil || len(list) != 1 || list[0].Name != "kept" {
		t.Errorf("read are %+v, %v", list, err)
	}
	if list, err := reader.List(t.Context(), session.Filter{Keyed: true}); err != nil || len(list) != 0 {
		t.Errorf("keyed are %+v, %v", list, err)
	}
	if _, err := reader.Keyed(t.Context(), "x"); !errors.Is(err, session.ErrNotFound) {
		t.Error(err)
	}
	if err := reader.Close(); err != nil {
		t.Fatal(err)
	}
	store := openAt(t, path)
	create(t, store, session.New{Key: "new"})
	list, err = store.List(t.Context(), session.Filter{})
	var names []string
	for _, info := range list {
		names = append(names, info.Name+info.Key)
	}
	want(t, "sessions", strings.Join(names, " "), "new kept")
	if err != nil {
		t.Error(err)
	}
}
