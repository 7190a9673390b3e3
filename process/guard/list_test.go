package guard

import (
	"reflect"
	"strings"
	"testing"

	"github.com/octet-dev/octet/process"
)

func TestList_roundTrip(t *testing.T) {
	for _, tree := range []process.Tree{
		{Key: 1}, {Key: 2, PID: 77, Tag: "A=b c\n\"\xff"}, {Key: 1<<64 - 1, PID: 1<<31 - 1, Gone: true},
	} {
		line := string(encode(tree))
		if strings.Count(line, "\n") != 1 {
			t.Errorf("%+v takes several lines: %q", tree, line)
		}
		if got, ok := decode(strings.TrimSuffix(line, "\n")); !ok || got != tree {
			t.Errorf("%+v came back as %+v", tree, got)
		}
	}
}

// No line makes the guard signal more than a tree.
func TestList_refusals(t *testing.T) {
	for _, line := range []string{
		"", "+", "+ 1 2", `+ 1 -1 ""`, `+ 1 1 ""`, `+ 1 x ""`, `+ -1 5 ""`, `* 1 5 ""`, `+ 1 5 tag`, `+ 1 99999999999 ""`,
	} {
		if got, ok := decode(line); ok {
			t.Errorf("%q reads as %+v", line, got)
		}
	}
}

func TestListen(t *testing.T) {
	a, b := process.Tree{Key: 1, PID: 10, Tag: "A=1"}, process.Tree{Key: 2, PID: 20, Tag: "B=" + strings.Repeat("x", 5000)}
	gone := b
	gone.Gone = true
	text := string(encode(process.Tree{Key: 1, Tag: "A=1"})) + string(encode(a)) + "nonsense\n" + string(encode(b))
	for _, c := range []struct {
		text string
		want map[uint64]process.Tree
	}{
		{"", map[uint64]process.Tree{}},
		{text, map[uint64]process.Tree{1: a, 2: b}},
		{text + string(encode(gone)), map[uint64]process.Tree{1: a}},
		{text + `+ 3 30 "cut`, map[uint64]process.Tree{1: a, 2: b}},
		{text + strings.Repeat("y", 2*maxLine) + "\n" + string(encode(gone)), map[uint64]process.Tree{1: a}},
	} {
		if got := listen(strings.NewReader(c.text)); !reflect.DeepEqual(got, c.want) {
			t.Errorf("left %v, want %v", got, c.want)
		}
	}
}
