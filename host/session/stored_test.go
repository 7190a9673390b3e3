package session_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/session"
)

// TestStore_hasNoPlaceForEnablementTrustOrResourcePaths looks at every column and every member that can be
// stored. MAN-STORE-002.
func TestStore_hasNoPlaceForEnablementTrustOrResourcePaths(t *testing.T) {
	store := open(t)
	begin(t, store)
	rows, err := database(t, store.Path()).QueryContext(t.Context(), "SELECT m.name || '.' || c.name FROM sqlite_schema m, pragma_table_info(m.name) c")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	var names []string
	for rows.Next() {
		var name string
		if err := rows.Scan(&name); err != nil {
			t.Fatal(err)
		}
		names = append(names, name)
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	for _, value := range []any{
		session.Message{},
		session.Injected{},
		session.Compaction{},
		session.Extension{},
		session.ModelChange{},
		session.Composition{},
		session.UsageRecord{},
		session.Uncertainty{},
		session.Settlement{},
		session.MetadataValue{},
		conversation.Part{},
		session.Info{},
	} {
		kind := reflect.TypeOf(value)
		for i := range kind.NumField() {
			names = append(names, kind.Name()+"."+kind.Field(i).Name)
		}
	}
	if len(names) < 60 {
		t.Errorf("saw %d names, want at least 60: %v", len(names), names)
	}
	for _, name := range names {
		for _, word := range []string{"enable", "trust", "grant", "path", "manifest", "policy"} {
			if strings.Contains(strings.ToLower(name), word) {
				t.Errorf("%s could hold what no session stores", name)
			}
		}
	}
}

// TestRecords_areStrictJSON stores what is no UTF-8 and reads back what is. MAN-STORE-006.
func TestRecords_areStrictJSON(t *testing.T) {
	store := open(t)
	s := begin(t, store)
	receipt, err := s.Commit(t.Context(), session.Batch{
		Start: session.RunOfFirst, Entries: []session.Entry{said(conversation.User, "half a character \xc3 and a line\nend")},
		Usage: []session.UsageRecord{{Kind: session.UsageTurn}}, Uncertainty: []session.Uncertainty{{Reason: "r\xff"}},
	})
	if err != nil {
		t.Fatal(err)
	}
	if err := s.SetHead(t.Context(), receipt.Entries[0]); err != nil {
		t.Fatal(err)
	}
	rows, err := database(t, store.Path()).QueryContext(t.Context(), "SELECT kind, payload FROM records")
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = rows.Close() }()
	kinds := []string{"session"}
	for rows.Next() {
		var kind string
		var payload []byte
		if err := rows.Scan(&kind, &payload); err != nil {
			t.Fatal(err)
		}
		kinds = append(kinds, kind)
		if !utf8.Valid(payload) || !json.Valid(payload) || payload[0] != '{' || strings.ContainsAny(string(payload), "\n\r") {
			t.Errorf("%s is no line of JSON: %q", kind, payload)
		}
	}
	if err := rows.Err(); err != nil {
		t.Fatal(err)
	}
	for line := range strings.Lines(export(t, store, s.ID(), session.JSONL)) {
		var record struct{ Record string }
		if err := json.Unmarshal([]byte(line), &record); err != nil || !utf8.ValidString(line) || !slices.Contains(kinds, record.Record) {
			t.Errorf("%q: %v", line, err)
		}
	}
	for _, kind := range []string{"entry", "head", "checkpoint", "usage", "usage_uncertainty"} {
		if !slices.Contains(kinds, kind) {
			t.Errorf("no record of kind %s was written: %v", kind, kinds)
		}
	}
}

// TestTornLog_losesWhatWasNotWhole cuts the log at every place in its last transaction: what stands before
// is intact, and the rest is as if it had never been. MAN-STORE-006.
func TestTornLog_losesWhatWasNotWhole(t *testing.T) {
	store := open(t)
	s := begin(t, store)
	appendTexts(t, s, "one", "two")
	log := store.Path() + "-wal"
	info, err := os.Stat(log)
	if err != nil {
		t.Fatal(err)
	}
	whole := info.Size()
	appendTexts(t, s, "three")
	file, err := os.ReadFile(store.Path())
	if err != nil {
		t.Fatal(err)
	}
	full, err := os.ReadFile(log)
	if err != nil {
		t.Fatal(err)
	}
	for cut := whole; cut <= int64(len(full)); cut += 509 {
		path := filepath.Join(t.TempDir(), "sessions.db")
		if err := os.WriteFile(path, file, 0o600); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path+"-wal", full[:cut], 0o600); err != nil {
			t.Fatal(err)
		}
		torn := take(t, openAt(t, path), s.ID())
		if got := strings.Join(texts(t, torn), " "); got != "one two" {
			t.Errorf("cut at %d of %d: got %q", cut, len(full), got)
		}
		appendTexts(t, torn, "again")
		want(t, "behind the cut", strings.Join(texts(t, torn), " "), "one two again")
	}
}
