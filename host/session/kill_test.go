package session_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/octet-dev/octet/host/session"
)

// TestKill_losesNothingAcknowledged kills a writer process many times, at random points, and looks for
// everything it was told to be stored.
func TestKill_losesNothingAcknowledged(t *testing.T) {
	store := open(t)
	id := create(t, store, session.New{Workspace: "/w"}).ID
	random := rand.New(rand.NewPCG(1, 2))
	acknowledged := map[session.EntryID]int{} // length of the text
	run, running, orphans := "", false, 0
	const kills = 30
	for range kills {
		cmd := child(t, "append", store.Path(), id)
		said := lines(t, cmd)
		left := 1 + random.IntN(40)
		for said.Scan() {
			words := strings.Fields(said.Text())
			if running && words[0] == "run" {
				t.Errorf("run %s was left behind and has no terminal", run)
			}
			switch words[0] {
			case "orphan":
				want(t, "orphan", words[1], run)
				running = false
				orphans++
			case "run":
				run, running = words[1], true
				acknowledged[session.EntryID(strings.TrimPrefix(run, "run:"))] = len("start")
			case "entries":
				for _, entry := range words[1:3] {
					var length int
					if _, err := fmt.Sscan(words[3], &length); err != nil {
						t.Fatal(err)
					}
					acknowledged[session.EntryID(entry)] = length
				}
			default:
				t.Errorf("the writer says %q", said.Text())
			}
			// What it says between the kill and its end counts too.
			if left--; left == 0 {
				if err := cmd.Process.Kill(); err != nil {
					t.Fatal(err)
				}
			}
		}
		_ = cmd.Wait()
	}
	branch, err := store.Branch(t.Context(), id)
	if err != nil {
		t.Fatal(err)
	}
	stored := map[session.EntryID]int{}
	for _, entry := range branch {
		stored[entry.ID] = len(entry.Value.(session.Message).Message.PlainText())
	}
	for entry, length := range acknowledged {
		if got, found := stored[entry]; !found || got != length {
			t.Errorf("entry %s was acknowledged with %d bytes; stored: %v, %d bytes", entry, length, found, got)
		}
	}
	if orphans < kills/2 || len(acknowledged) < kills {
		t.Errorf("%d orphans and %d entries: the writers did not get to write", orphans, len(acknowledged))
	}
	t.Logf("%d kills, %d entries acknowledged, %d stored", kills, len(acknowledged), len(stored))
}
