package assembly_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"

	"github.com/octet-dev/octet/generated/oupwire"
)

// TestOpen_takesNoOldCursorsForThoseOfANewLedger: S71. A ledger that was moved away, as its messages advise, is followed
// by one whose numbers are others: a cursor of the old one is refused, however much comes.
func TestOpen_takesNoOldCursorsForThoseOfANewLedger(t *testing.T) {
	root := t.TempDir()
	o := options(t, root)
	d := open(t, o)
	talk := func(c *caller, id int) {
		t.Helper()
		c.ok(oupwire.MethodTurnStart, fmt.Sprintf(`{"session_id":"local:k","turn_id":"7d0c2f1e-5a0b-4a57-9a60-0d2f5f6c1a%02d","input":[{"kind":"text","text":"Hello"}]}`, id))
		c.terminal()
	}
	c := d.connect()
	opened := c.ok(oupwire.MethodSessionOpen, `{"session_id":"local:k"}`)["opened"].(map[string]any)
	talk(c, 1)
	d.close()
	for _, suffix := range []string{"", "-wal", "-shm"} {
		name := filepath.Join(o.DataDir, "ledger.db"+suffix)
		if err := os.Rename(name, filepath.Join(root, "away"+suffix)); err != nil && (suffix == "" || !os.IsNotExist(err)) {
			t.Fatal(err)
		}
	}

	d = open(t, o)
	c = d.connect()
	old, err := json.Marshal(opened["cursor"])
	if err != nil || opened["cursor"] == nil {
		t.Fatalf("opened was %v, %v", opened, err)
	}
	again := func() {
		t.Helper()
		_, failure := c.call(oupwire.MethodSessionOpen, `{"session_id":"local:k","after":`+string(old)+`}`)
		if failure == nil || int(failure.Code) != oupwire.CodeCursorOutOfRange {
			t.Errorf("the old cursor %s gets %+v", old, failure)
		}
	}
	again()
	c.ok(oupwire.MethodSessionOpen, `{"session_id":"local:k"}`)
	talk(c, 2)
	talk(c, 3)
	again()
}
