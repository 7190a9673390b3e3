package session_test

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/octet-dev/octet/host/session"
)

func TestList_pagesFromTheLatest(t *testing.T) {
	now := time.UnixMilli(1_000_000)
	path := filepath.Join(t.TempDir(), "sessions.db")
	store, err := session.Options{Now: func() time.Time { now = now.Add(time.Second); return now }}.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	var ids []string
	for i := range 5 {
		ids = append(ids, create(t, store, session.New{Workspace: fmt.Sprintf("/w%d", i%2)}).ID)
	}
	create(t, store, session.New{Workspace: "/w0", Parent: ids[0]})
	slices.Reverse(ids)
	var got []string
	after := ""
	for range 3 {
		page, err := store.List(t.Context(), session.Filter{Limit: 2, After: after})
		if err != nil {
			t.Fatal(err)
		}
		for _, info := range page {
			got = append(got, info.ID)
			after = info.ID
		}
	}
	want(t, "pages", strings.Join(got, " "), strings.Join(ids, " "))
	for _, c := range []struct {
		filter session.Filter
		count  int
	}{
		{session.Filter{Workspace: "/w0"}, 3},
		{session.Filter{Workspace: "/w0", Children: true}, 4},
		{session.Filter{Parent: ids[4]}, 1},
		{session.Filter{Limit: 1}, 1},
	} {
		list, err := store.List(t.Context(), c.filter)
		if err != nil {
			t.Fatal(err)
		}
		want(t, fmt.Sprintf("%+v", c.filter), len(list), c.count)
	}
	if _, err := store.List(t.Context(), session.Filter{After: "nobody"}); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("page behind an unknown session: got %v", err)
	}
	// A new record makes a session the latest.
	s := take(t, store, ids[4])
	appendTexts(t, s, "x")
	list, err := store.List(t.Context(), session.Filter{Limit: 1})
	if err != nil || list[0].ID != ids[4] {
		t.Errorf("latest: got %v, %v, want %s", list, err, ids[4])
	}
}

func TestFind_byPrefix(t *testing.T) {
	store := open(t)
	id := create(t, store, session.New{}).ID
	create(t, store, session.New{})
	found, err := store.Find(t.Context(), id[:10], 5)
	if err != nil || len(found) != 1 || found[0] != id {
		t.Errorf("got %v, %v", found, err)
	}
	all, err := store.Find(t.Context(), "", 5)
	if err != nil || len(all) != 2 {
		t.Errorf("every session: got %v, %v", all, err)
	}
	if none, err := store.Find(t.Context(), "%", 5); err != nil || len(none) != 0 {
		t.Errorf("a pattern: got %v, %v", none, err)
	}
}

func TestDelete_takesChildrenAlong(t *testing.T) {
	store := open(t)
	parent := create(t, store, session.New{})
	child := create(t, store, session.New{Parent: parent.ID})
	create(t, store, session.New{Parent: child.ID})
	other := begin(t, store)
	appendTexts(t, other, "stays")
	s := take(t, store, child.ID)
	appendTexts(t, s, "goes")
	if _, err := store.Delete(t.Context(), parent.ID); !errors.Is(err, session.ErrBusy) {
		t.Fatalf("delete with a busy child: got %v, want ErrBusy", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	count, err := store.Delete(t.Context(), parent.ID, child.ID, parent.ID)
	if err != nil || count != 3 {
		t.Fatalf("got %d, %v, want 3 deleted", count, err)
	}
	for _, id := range []string{parent.ID, child.ID} {
		if _, err := store.Info(t.Context(), id); !errors.Is(err, session.ErrNotFound) {
			t.Errorf("session %s: got %v, want ErrNotFound", id, err)
		}
	}
	want(t, "texts of another", strings.Join(texts(t, other), " "), "stays")
	data, err := os.ReadFile(store.Path())
	if err != nil {
		t.Fatal(err)
	}
	if strings.Contains(string(data), `"goes"`) {
		t.Error("what was deleted still stands in the file")
	}
	if _, err := store.Create(t.Context(), session.New{Parent: parent.ID}); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("child of a deleted session: got %v, want ErrNotFound", err)
	}
}

func TestNameAndLabel_atTheBoundAndOneOver(t *testing.T) {
	store := open(t)
	s := begin(t, store)
	id := appendTexts(t, s, "a")[0]
	for _, c := range []struct {
		length int
		ok     bool
	}{{4096, true}, {4097, false}, {0, true}} {
		text := strings.Repeat("n", c.length)
		if err := s.SetName(t.Context(), text); (err == nil) != c.ok || err != nil && !errors.Is(err, session.ErrBound) {
			t.Errorf("name of %d bytes: got %v", c.length, err)
		}
		if err := s.Label(t.Context(), id, text); (err == nil) != c.ok || err != nil && !errors.Is(err, session.ErrBound) {
			t.Errorf("label of %d bytes: got %v", c.length, err)
		}
		if !c.ok {
			continue
		}
		info, err := s.Info(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		entry, err := s.Entry(t.Context(), id)
		if err != nil {
			t.Fatal(err)
		}
		want(t, "name", info.Name, text)
		want(t, "label", entry.Label, text)
	}
	if err := s.Label(t.Context(), "e-9", "x"); !errors.Is(err, session.ErrNoEntry) {
		t.Errorf("label of an unknown entry: got %v", err)
	}
}

func TestFiles_belongToTheUserAlone(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Log("modes mean nothing on Windows")
		return
	}
	store := open(t)
	begin(t, store)
	for path, mode := range map[string]os.FileMode{
		filepath.Dir(store.Path()): os.ModeDir | 0o700, store.Path(): 0o600, store.Path() + "-wal": 0o600,
		store.Path() + "-shm": 0o600, store.Path() + ".locks": os.ModeDir | 0o700,
	} {
		info, err := os.Stat(path)
		if err != nil {
			t.Fatal(err)
		}
		want(t, path, info.Mode(), mode)
	}
}
