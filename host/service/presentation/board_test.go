package presentation

import (
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/extension/extensiontest"
)

type jsonText = json.RawMessage

const declared = "tools = [\"work\"]\ncommands = [\"do\"]\npresentation = true"

var front = extension.Scope{Owner: extensiontest.DefaultFront}

// frontend notes which extensions have changed.
type frontend struct {
	mu    sync.Mutex
	names []string
}

func (f *frontend) changed(name string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.names = append(f.names, name)
}

func (f *frontend) take() []string {
	f.mu.Lock()
	defer f.mu.Unlock()
	names := f.names
	f.names = nil
	return names
}

func board() (*Board, *frontend) {
	f := &frontend{}
	return &Board{Changed: f.changed, Foreground: func() string { return extensiontest.DefaultFront }}, f
}

func start(t *testing.T, b *Board, setup extensiontest.Setup) *extensiontest.Rig {
	t.Helper()
	if setup.Contributes == "" {
		setup.Contributes = declared
	}
	setup.Options.Bindings = []extension.Binding{b.Binding()}
	return extensiontest.Start(t, setup)
}

func update(rig *extensiontest.Rig, revision int, tie string) {
	rig.Tell(featurewire.MethodPresentationUpdate, fmt.Sprintf(`{%s"snapshot":{"revision":%d,"actions":[{"id":"go","label":"Go","command":"do","arguments":["now"],"destructive":true}]}}`, tie, revision))
}

// shown lists what is shown as extension, revision and session.
func (b *Board) text() string {
	var all []string
	for _, s := range b.Snapshots() {
		all = append(all, fmt.Sprint(s.Extension, " ", s.Snapshot.Revision, " ", s.Owner.SessionID))
	}
	return strings.Join(all, "; ")
}

// The owner is that of the parent, or one that was issued, or none; both at once are nothing, and neither
// is an owner of another generation, or another session than the one in front.
//
// EXT04-PRES-008, EXT04-PRES-009, EXT04-PRES-010, EXT04-PRES-012.
func TestBoard_owners(t *testing.T) {
	b, _ := board()
	rig := start(t, b, extensiontest.Setup{Options: extension.Options{Instance: "i", Generation: 2}})
	owner := func(session string) string { return `"resource_owner":` + rig.Owner(session) + "," }
	rig.During(extension.Scope{Owner: "session-2"}, func(parent int64) {
		update(rig, 1, fmt.Sprintf(`"parent_request_id":%d,`, parent)) // not in front
	})
	if got := b.text(); got != "" {
		t.Errorf("another session's snapshot is shown: %s", got)
	}
	rig.During(front, func(parent int64) {
		update(rig, 1, fmt.Sprintf(`"parent_request_id":%d,`, parent))
		update(rig, 2, fmt.Sprintf(`"parent_request_id":%d,`, parent)+owner(front.Owner)) // both
		update(rig, 3, fmt.Sprintf(`"parent_request_id":%d,`, parent+100))
	})
	if got := b.text(); got != "demo 1 session-1" {
		t.Errorf("shown: %s", got)
	}
	update(rig, 4, owner(front.Owner)) // issued, though no request is live
	update(rig, 5, owner("session-9")) // never issued
	update(rig, 6, strings.Replace(owner(front.Owner), `"process_generation":2`, `"process_generation":1`, 1))
	update(rig, 7, strings.Replace(owner(front.Owner), `"i"`, `"j"`, 1))
	rig.Flush()
	if got := b.text(); got != "demo 4 session-1" {
		t.Errorf("shown: %s", got)
	}
	update(rig, 8, "")
	rig.Flush()
	if got := b.text(); got != "demo 8 " {
		t.Errorf("shown: %s", got)
	}
}

// Only growing revisions count, from 0 on, and a snapshot with one fault leaves the shown one alone.
//
// EXT04-PRES-011, EXT04-PRES-013, EXT04-PRES-016.
func TestBoard_revisionsAndFaults(t *testing.T) {
	b, changes := board()
	commands := 0
	rig := start(t, b, extensiontest.Setup{Serve: map[string]func(int64, jsonText) (any, error){
		featurewire.MethodCommandExecute: func(int64, jsonText) (any, error) { commands++; return map[string]any{"text": ""}, nil },
	}})
	for _, revision := range []int{0, 0, 5, 4, 5} {
		update(rig, revision, "")
	}
	for _, bad := range []string{
		`{"snapshot":{"revision":6,"actions":[{"id":"a","label":"a","command":"unknown"}]}}`,
		`{"snapshot":{"revision":7,"actions":[{"id":"a","label":"a","command":"do"},{"id":"a","label":"a","command":"do"}]}}`,
		`{"snapshot":{"revision":-1}}`, `{"snapshot":{"revision":9007199254740992}}`, `{"snapshot":{}}`, `{"snapshot":[]}`, `{}`, `[]`, `7`,
		`{"snapshot":{"revision":8,"status":{"state":"dancing","label":"x"}}}`,
		`{"snapshot":{"revision":9,"status":{"state":"active","label":"` + strings.Repeat("x", featurewire.MaxPresentationLabelBytes+1) + `"}}}`,
	} {
		rig.Tell(featurewire.MethodPresentationUpdate, bad)
	}
	rig.Flush()
	if got := b.text(); got != "demo 5 " {
		t.Errorf("shown: %s", got)
	}
	if got := changes.take(); len(got) != 2 {
		t.Errorf("the frontend was told %d times, want 2", len(got))
	}
	rig.X.Close()
	if !rig.Diagnosed(`command "unknown" is not declared`) || !rig.Diagnosed("revision 4 does not grow behind 5") {
		t.Errorf("diagnostics: %q", rig.Diagnostics())
	}
	if commands != 0 {
		t.Error("a snapshot ran a command")
	}
}

// EXT04-PRES-007.
func TestBoard_needsTheDeclaration(t *testing.T) {
	b, _ := board()
	rig := start(t, b, extensiontest.Setup{Contributes: "tools = [\"work\"]\ncommands = [\"do\"]"})
	update(rig, 1, "")
	rig.Flush()
	bare := start(t, b, extensiontest.Setup{Name: "bare", Select: func(string) bool { return false }})
	update(bare, 1, "")
	bare.Flush()
	if got := b.text(); got != "bare 1 " {
		t.Errorf("shown: %s, want that of the declared one, which selected no feature", got)
	}
}

// The 33rd snapshot of a second waits with all behind it; the newest is shown when the second is over, and
// opens the next one. One diagnostic tells of each such second.
//
// EXT04-PRES-014.
func TestBoard_windows(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, changes := board()
		rig := start(t, b, extensiontest.Setup{})
		revision := 0
		send := func(count int) {
			for range count {
				revision++
				update(rig, revision, "")
			}
			synctest.Wait()
		}
		send(featurewire.MaxPresentationUpdates)
		if got := len(changes.take()); got != 32 || b.text() != "demo 32 " {
			t.Errorf("%d changes, shown: %s", got, b.text())
		}
		send(3)
		if got := len(changes.take()); got != 0 || b.text() != "demo 32 " {
			t.Errorf("%d changes in a full second, shown: %s", got, b.text())
		}
		time.Sleep(window - 1)
		synctest.Wait()
		if b.text() != "demo 32 " {
			t.Errorf("shown before the second is over: %s", b.text())
		}
		time.Sleep(time.Nanosecond)
		synctest.Wait()
		if got := len(changes.take()); got != 1 || b.text() != "demo 35 " {
			t.Errorf("%d changes, shown: %s", got, b.text())
		}
		send(featurewire.MaxPresentationUpdates) // 31 more fit
		if got := len(changes.take()); got != 31 || b.text() != "demo 66 " {
			t.Errorf("%d changes, shown: %s", got, b.text())
		}
		time.Sleep(window)
		synctest.Wait()
		if b.text() != "demo 67 " {
			t.Errorf("shown: %s", b.text())
		}
		time.Sleep(window)
		send(featurewire.MaxPresentationUpdates)
		time.Sleep(window) // to the instant at which the next second opens
		send(1)
		if b.text() != "demo 100 " {
			t.Errorf("shown: %s", b.text())
		}
		rig.X.Close()
		told := 0
		for _, text := range rig.Diagnostics() {
			if strings.Contains(text, "more than 32 in one second") {
				told++
			}
		}
		if told != 2 {
			t.Errorf("%d diagnostics, want one for each full second: %q", told, rig.Diagnostics())
		}
	})
}

// EXT04-PRES-015.
func TestBoard_clears(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		b, changes := board()
		rig := start(t, b, extensiontest.Setup{Options: extension.Options{Instance: "i", Generation: 1}})
		process := start(t, b, extensiontest.Setup{Name: "process"})
		rig.During(front, func(parent int64) { update(rig, 7, fmt.Sprintf(`"parent_request_id":%d,`, parent)) })
		update(process, 1, "")
		process.Flush()
		b.Clear(front.Owner)
		if got := b.text(); got != "demo 7 session-1; process 1 " {
			t.Errorf("shown: %s", got)
		}
		b.Clear("session-2")
		if got := b.text(); got != "process 1 " {
			t.Errorf("shown behind a change of owner: %s", got)
		}
		next := start(t, b, extensiontest.Setup{Options: extension.Options{Instance: "i", Generation: 2}})
		update(next, 0, "") // it may begin anew
		next.Flush()
		if got := b.text(); got != "demo 0 ; process 1 " {
			t.Errorf("shown: %s", got)
		}
		// What waits for the next second goes with its session.
		next.During(front, func(parent int64) {
			for revision := range 40 {
				update(next, revision+1, fmt.Sprintf(`"parent_request_id":%d,`, parent))
			}
		})
		b.Clear("session-2")
		time.Sleep(2 * window)
		synctest.Wait()
		if got := b.text(); got != "process 1 " {
			t.Errorf("a snapshot of the session before came up: %s", got)
		}
		update(next, 50, "")
		next.Flush()
		// What waits for the next second goes with its generation, and so does a crash.
		for revision := range 40 {
			update(process, revision+2, "")
		}
		process.Flush()
		changes.take()
		process.Exit(1)
		<-process.X.Done()
		process.X.Close()
		if got := b.text(); got != "demo 50 " || !slices.Equal(changes.take(), []string{"process"}) {
			t.Errorf("shown: %s", got)
		}
		time.Sleep(2 * window)
		synctest.Wait()
		if got := b.text(); got != "demo 50 " || changes.take() != nil {
			t.Errorf("a late snapshot came up: %s", got)
		}
	})
}

func TestBoard_Action(t *testing.T) {
	b, _ := board()
	rig := start(t, b, extensiontest.Setup{})
	if _, err := b.Action("demo", "go"); err == nil || err.Error() != `extension "demo" shows no actions` {
		t.Errorf("%v", err)
	}
	rig.During(front, func(parent int64) { update(rig, 3, fmt.Sprintf(`"parent_request_id":%d,`, parent)) })
	a, err := b.Action("demo", "go")
	if err != nil || a.On != rig.X || a.Owner.SessionID != front.Owner || a.Revision != 3 || a.Command != "do" || !slices.Equal(a.Arguments, []string{"now"}) || !a.Destructive {
		t.Errorf("%+v %v", a, err)
	}
	if _, err := b.Action("demo", "stop"); err == nil || err.Error() != `extension "demo" shows no action "stop"` {
		t.Errorf("%v", err)
	}
}
