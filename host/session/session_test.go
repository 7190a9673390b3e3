package session_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"runtime"
	"strings"
	"testing"

	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/session"
)

// open makes a store in a directory of its own.
func open(t *testing.T) *session.Store {
	t.Helper()
	return openAt(t, filepath.Join(t.TempDir(), "data", "sessions.db"))
}

func openAt(t *testing.T, path string) *session.Store {
	t.Helper()
	store, err := session.Open(t.Context(), path)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = store.Close() })
	return store
}

func create(t *testing.T, store *session.Store, n session.New) session.Info {
	t.Helper()
	info, err := store.Create(t.Context(), n)
	if err != nil {
		t.Fatal(err)
	}
	return info
}

// begin makes a session and takes it.
func begin(t *testing.T, store *session.Store) *session.Session {
	t.Helper()
	return take(t, store, create(t, store, session.New{Workspace: "/workspace"}).ID)
}

func take(t *testing.T, store *session.Store, id string) *session.Session {
	t.Helper()
	s, err := store.Begin(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = s.Close() })
	return s
}

func said(role conversation.Role, text string) session.Entry {
	return session.Entry{Value: session.Message{Message: conversation.Say(role, text)}}
}

func appendTexts(t *testing.T, s *session.Session, texts ...string) []session.EntryID {
	t.Helper()
	var entries []session.Entry
	for _, text := range texts {
		entries = append(entries, said(conversation.User, text))
	}
	ids, err := s.Append(t.Context(), entries...)
	if err != nil {
		t.Fatal(err)
	}
	return ids
}

// texts are the plain texts of the messages on the branch to the head.
func texts(t *testing.T, s *session.Session) []string {
	t.Helper()
	branch, err := s.Branch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return plain(branch)
}

func plain(branch []session.Stored) []string {
	var list []string
	for _, entry := range branch {
		if m, ok := entry.Value.(session.Message); ok {
			list = append(list, m.Message.PlainText())
		}
	}
	return list
}

func want[T comparable](t *testing.T, what string, got, want T) {
	t.Helper()
	if got != want {
		t.Errorf("%s: got %v, want %v", what, got, want)
	}
}

func TestAppend_isReadBackInOrderAlsoByAnotherStore(t *testing.T) {
	store := open(t)
	s := begin(t, store)
	first := appendTexts(t, s, "one", "two")
	appendTexts(t, s, "three")
	want(t, "texts", strings.Join(texts(t, s), " "), "one two three")
	want(t, "head", s.Head(), session.EntryID("e-3"))
	branch, err := openAt(t, store.Path()).Branch(t.Context(), s.ID())
	if err != nil {
		t.Fatal(err)
	}
	want(t, "texts of another store", strings.Join(plain(branch), " "), "one two three")
	want(t, "parent of the first", branch[0].Parent, "")
	want(t, "parent of the third", branch[2].Parent, first[1])
}

func TestAppend_keepsEveryKindOfValue(t *testing.T) {
	s := begin(t, open(t))
	cost := int64(7)
	values := []session.Value{
		session.Message{
			Run: "r", Provider: "p", Model: "m", Stop: "end", Display: "shown",
			Message: conversation.Message{Role: conversation.Assistant, Parts: []conversation.Part{
				{Kind: conversation.Text, Text: "a <b> & \u2028 \x00 c"},
				{Kind: conversation.Image, MediaType: "image/png", Data: []byte{0, 1, 255}},
				{Kind: conversation.ToolCall, CallID: "c", Name: "n", Arguments: json.RawMessage(`{"z":1,"a":2}`)},
				{Kind: conversation.ToolResult, CallID: "c", Name: "n", IsError: true, Details: &conversation.Details{Structured: json.RawMessage(`[1]`)}},
			}},
		},
		session.Injected{Source: "ext", Message: conversation.Say(conversation.System, "x"), Run: "r"},
		session.Compaction{Summary: "s", FirstKept: "e-1", Frames: [][]byte{{1}}, Instructions: "i", TokensBefore: 5, Source: "ext"},
		session.Extension{Extension: "ext", Kind: "k", Data: json.RawMessage(`{"b":1}`)},
		session.ModelChange{Provider: "p", Model: "m2", Reasoning: "high"},
		session.Composition{Tool: "t", Set: map[string]json.RawMessage{"k": json.RawMessage(`1`)}, Delete: []string{"d"}},
		session.Unknown{Kind: "later", Raw: json.RawMessage(`{"type":"later","more":[1,null]}`)},
	}
	var entries []session.Entry
	for _, v := range values {
		entries = append(entries, session.Entry{Value: v})
	}
	if _, err := s.Append(t.Context(), entries...); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Commit(t.Context(), session.Batch{Usage: []session.UsageRecord{{Kind: session.UsageTurn, Usage: conversation.Usage{Input: 1, CostMicrodollars: &cost}}}}); err != nil {
		t.Fatal(err)
	}
	branch, err := s.Branch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range values {
		if !reflect.DeepEqual(branch[i].Value, v) {
			t.Errorf("%s: got %+v, want %+v", v.Type(), branch[i].Value, v)
		}
	}
	info, err := s.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want(t, "model", info.Model, "p:m2")
	want(t, "cost", *info.Usage.Usage.CostMicrodollars, cost)
}

func TestAppend_writesAllOfABatchOrNothing(t *testing.T) {
	s := begin(t, open(t))
	appendTexts(t, s, "kept")
	_, err := s.Append(t.Context(), said(conversation.User, "lost"), session.Entry{Value: session.Extension{Extension: "x", Kind: "k", Data: json.RawMessage("{")}})
	if err == nil {
		t.Fatal("an entry that is no JSON was accepted")
	}
	want(t, "texts", strings.Join(texts(t, s), " "), "kept")
	want(t, "head", s.Head(), session.EntryID("e-1"))
	want(t, "next id", appendTexts(t, s, "next")[0], session.EntryID("e-2"))
}

func TestAppend_ofACancelledContextWritesNothing(t *testing.T) {
	s := begin(t, open(t))
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := s.Append(ctx, said(conversation.User, "lost")); err == nil {
		t.Error("a cancelled context was not refused")
	}
	want(t, "entries", len(texts(t, s)), 0)
}

func TestSetHead_branchesAndKeepsWhatIsBehind(t *testing.T) {
	s := begin(t, open(t))
	ids := appendTexts(t, s, "a", "b", "c")
	if err := s.SetHead(t.Context(), ids[0]); err != nil {
		t.Fatal(err)
	}
	appendTexts(t, s, "d")
	want(t, "texts", strings.Join(texts(t, s), " "), "a d")
	if err := s.SetHead(t.Context(), ids[2]); err != nil {
		t.Fatal(err)
	}
	want(t, "texts of the first branch", strings.Join(texts(t, s), " "), "a b c")
	if err := s.SetHead(t.Context(), ""); err != nil {
		t.Fatal(err)
	}
	want(t, "texts at the beginning", len(texts(t, s)), 0)
	for _, id := range []session.EntryID{"e-99", "e-4", "x", "e-0", "e--1", "e-"} { // e-4 is the record of a head
		if err := s.SetHead(t.Context(), id); !errors.Is(err, session.ErrNoEntry) {
			t.Errorf("head %q: got %v, want ErrNoEntry", id, err)
		}
	}
}

func TestFork_hasTheBranchWithIdsLabelsAndMetadata(t *testing.T) {
	store := open(t)
	s := begin(t, store)
	var m session.Metadata
	if err := m.Add("a.b", session.MetadataValue{Value: json.RawMessage(`1`)}); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Append(t.Context(), session.Entry{Value: session.Message{Message: conversation.Say(conversation.User, "a")}, Metadata: m}); err != nil {
		t.Fatal(err)
	}
	ids := appendTexts(t, s, "b", "c")
	if err := s.Label(t.Context(), ids[0], "here"); err != nil {
		t.Fatal(err)
	}
	fork, err := store.Fork(t.Context(), s.ID(), ids[0])
	if err != nil {
		t.Fatal(err)
	}
	want(t, "origin", *fork.Fork, session.Origin{Session: s.ID(), Entry: ids[0]})
	forked := take(t, store, fork.ID)
	appendTexts(t, forked, "z")
	branch, err := forked.Branch(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want(t, "texts", strings.Join(plain(branch), " "), "a b z")
	want(t, "label", branch[1].Label, "here")
	want(t, "id", branch[1].ID, ids[0])
	if v, found := branch[0].Metadata.Get("a.b"); !found || string(v.Value) != "1" {
		t.Errorf("metadata: got %q", v.Value)
	}
	want(t, "texts of the source", strings.Join(texts(t, s), " "), "a b c")
	if fork.Owner == s.Owner() {
		t.Error("a fork has the owner of its source")
	}
	if _, err := store.Fork(t.Context(), s.ID(), "e-77"); !errors.Is(err, session.ErrNoEntry) {
		t.Errorf("fork at an unknown entry: got %v", err)
	}
}

func TestBegin_isGivenToOneAtATime(t *testing.T) {
	store := open(t)
	s := begin(t, store)
	_, err := openAt(t, store.Path()).Begin(t.Context(), s.ID())
	var busy *session.BusyError
	if !errors.As(err, &busy) || !errors.Is(err, session.ErrBusy) {
		t.Fatalf("second begin: got %v, want a BusyError", err)
	}
	if runtime.GOOS != "windows" {
		want(t, "holder", busy.PID, os.Getpid())
	}
	if _, err := store.Delete(t.Context(), s.ID()); !errors.Is(err, session.ErrBusy) {
		t.Errorf("delete of a held session: got %v, want ErrBusy", err)
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	if _, err := s.Append(t.Context(), said(conversation.User, "late")); !errors.Is(err, session.ErrClosed) {
		t.Errorf("append behind close: got %v, want ErrClosed", err)
	}
	again := take(t, store, s.ID())
	if err := again.Close(); err != nil {
		t.Fatal(err)
	}
	if left, _ := filepath.Glob(store.Path() + ".locks/*"); len(left) > 0 {
		t.Errorf("lock files stay behind: %v", left)
	}
}

func TestBegin_ofAnUnknownSessionLeavesNothing(t *testing.T) {
	store := open(t)
	if _, err := store.Begin(t.Context(), "nobody"); !errors.Is(err, session.ErrNotFound) {
		t.Errorf("got %v, want ErrNotFound", err)
	}
	if _, err := os.Stat(store.Path() + ".locks"); err == nil {
		t.Error("a lock directory was made")
	}
}

func TestOwner_isOpaqueAndStable(t *testing.T) {
	// MAN-STORE-001, MAN-IDENTITY-007: an extension gets an opaque id that stays when a session is opened again.
	store := open(t)
	s := begin(t, store)
	other := begin(t, store)
	owner := s.Owner()
	if len(owner) != 64 || strings.Contains(owner, s.ID()) || owner == other.Owner() {
		t.Errorf("owner %q of session %s is not opaque or not its own", owner, s.ID())
	}
	if err := s.Close(); err != nil {
		t.Fatal(err)
	}
	want(t, "owner when opened again", take(t, openAt(t, store.Path()), s.ID()).Owner(), owner)
	elsewhere := open(t)
	info, err := s.Info(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	want(t, "owner in a listing", info.Owner, owner)
	if begin(t, elsewhere).Owner() == owner {
		t.Error("two stores share an owner")
	}
}
