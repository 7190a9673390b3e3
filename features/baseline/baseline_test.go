package baseline_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/octet-dev/octet/features/baseline"
)

func rules(n int) []string {
	var out []string
	for i := range n {
		out = append(out, fmt.Sprintf("X-A-%03d", i))
	}
	return out
}

func read(t *testing.T, text string, known []string) (*baseline.List, error) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "known.txt")
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return baseline.Read(path, known)
}

func TestList(t *testing.T) {
	l, err := read(t, "# why\n\nX-A-001  answered * times\nX-A-00* gone\nX-A-002 never\n", rules(3))
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		rule, message string
		want          bool
	}{
		{"X-A-001", "answered 2 times", true},
		{"X-A-001", "answered\n 17  times", true},
		{"X-A-001", "answered 2 times, then died", false},
		{"X-A-000", "answered 2 times", false},
		{"X-A-000", "gone", true},
	} {
		if got := l.Knows(c.rule, c.message); got != c.want {
			t.Errorf("%s %q: known is %v, want %v", c.rule, c.message, got, c.want)
		}
	}
	all := func(string) bool { return true }
	stale := l.Stale(all, rules(3))
	if len(stale) != 1 || stale[0].Line != 5 {
		t.Errorf("got %d stale entries, want the one of line 5", len(stale))
	}
	if stale := l.Stale(func(rule string) bool { return rule != "X-A-002" }, rules(3)); stale != nil {
		t.Errorf("an entry for a rule that was not judged is stale: %v", stale)
	}
}

func TestRead_refuses(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"X-A-001\n", "known.txt:1: \"X-A-001\" has no message"},
		{"\nX-B-001 x\n", "known.txt:2: no rule is called \"X-B-001\""},
		{"X-A-* x\n", fmt.Sprintf("names %d rules, and at most %d", baseline.MaxWidth+1, baseline.MaxWidth)},
		{strings.Repeat("#", 1<<20) + "\n", "more than 1048576 bytes"},
	} {
		if _, err := read(t, c.text, rules(baseline.MaxWidth+1)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("got %v, want an error with %q", err, c.want)
		}
	}
	if _, err := read(t, "X-A-* x\n", rules(baseline.MaxWidth)); err != nil {
		t.Errorf("%d rules in one entry are refused: %v", baseline.MaxWidth, err)
	}
}

// What Pin makes of a message matches the message again, whatever numbers and stars stand in it.
func TestPin(t *testing.T) {
	for _, message := range []string{"id 7 after 12.5 ms", "a * b", "two\nlines", "(1+1)"} {
		l, err := read(t, "X-A-000 "+baseline.Pin(message)+"\n", rules(1))
		if err != nil || !l.Knows("X-A-000", message) {
			t.Errorf("%q is not known as %q: %v", message, baseline.Pin(message), err)
		}
	}
}

func TestRead_saysWhatToDoWithoutAList(t *testing.T) {
	_, err := baseline.Read(filepath.Join(t.TempDir(), "none"), nil)
	if err == nil || !strings.Contains(err.Error(), "does not exist; name one that does") {
		t.Errorf("got %v, want what to do about a list that does not exist", err)
	}
}
