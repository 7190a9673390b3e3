package hostreferee

import (
	"bytes"
	"fmt"
	"io"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/octet-dev/octet/features/dialect"
)

// pieces keeps every write by itself.
type pieces struct{ written []string }

func (p *pieces) Write(b []byte) (int, error) {
	p.written = append(p.written, string(b))
	return len(b), nil
}

func (p *pieces) Close() error { return nil }

// perform plays a schedule to a host that says the same every time.
func perform(t *testing.T, name string, seed int64, d dialect.Dialect) []string {
	t.Helper()
	s, found := scheduleOf(name, seed, d)
	if !found {
		t.Fatalf("no schedule is called %q", name)
	}
	path := filepath.Join(t.TempDir(), "script.json")
	if err := s.save(path); err != nil {
		t.Fatal(err)
	}
	input := strings.Join([]string{
		string(d.Request("1", dialect.Initialize, d.Initialize(dialect.Extension{Name: "peer"}))),
		string(d.Request("2", dialect.ToolCall, d.Call("echo", dialect.Object{"text": "said"}))),
		string(d.Notification(dialect.Cancel, d.Cancel("2", "user"))),
		`{"id":"p-1","result":{}}`, `{"id":"p-2","result":{}}`, `{"id":"p-3","result":{}}`,
		string(d.Request("3", dialect.Shutdown, dialect.Object{})),
	}, "\n") + "\n"
	var out pieces
	if _, err := Play(path, io.NopCloser(strings.NewReader(input)), &out, &bytes.Buffer{}); err != nil {
		t.Fatal(err)
	}
	return out.written
}

// stalls are schedules in which an extension that waits for its host to end it never returns.
func stalls(name string, seed int64, d dialect.Dialect) bool {
	s, _ := scheduleOf(name, seed, d)
	for _, m := range s.Moves {
		if m.Does == actStall || m.Does == actCloseInput {
			return true
		}
	}
	return false
}

func TestSchedules_theSameSeedWritesTheSamePieces(t *testing.T) {
	for _, api := range []string{"0.3", "0.4"} {
		d, err := dialect.For(api)
		if err != nil {
			t.Fatal(err)
		}
		for _, k := range schedules {
			different := map[string]bool{}
			for seed := range int64(6) {
				if stalls(k.name, seed, d) {
					continue
				}
				first, again := perform(t, k.name, seed, d), perform(t, k.name, seed, d)
				if len(first) == 0 || !reflect.DeepEqual(first, again) {
					t.Errorf("API %s, %q under seed %d writes %q and %q", api, k.name, seed, first, again)
				}
				different[fmt.Sprint(first)] = true
			}
			if len(different) < 2 && k.name != "one byte per write" && k.name != "a request behind the answer of its parent" && len(different) > 0 {
				t.Errorf("API %s, %q: six seeds write the same", api, k.name)
			}
		}
	}
	if len(schedules) < 8 {
		t.Errorf("%d schedules; at least eight", len(schedules))
	}
}

func TestParsePlot_refusesWhatIsNoScript(t *testing.T) {
	for _, text := range []string{"dance", "exit soon", "say", "contribute []"} {
		if _, err := parsePlot(text); err == nil {
			t.Errorf("%q is taken for a script", text)
		}
	}
	s, err := parsePlot("select a b\non tool/call\nsay 1\nsay 2\nthen\nsay 3\nexit 4")
	want := []move{{On: "tool/call", Says: []string{"1", "2"}}, {Says: []string{"3"}, Does: "exit 4"}}
	if err != nil || !reflect.DeepEqual(s.Moves, want) || len(s.Selects) != 2 {
		t.Errorf("got %+v, %v; want the moves %+v", s, err, want)
	}
}
