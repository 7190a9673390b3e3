package toolname_test

import (
	"regexp"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/octet-dev/octet/host/model"
	"github.com/octet-dev/octet/host/model/toolname"
)

func TestNames_keepLegalOnes(t *testing.T) {
	long := strings.Repeat("a", 64)
	names := toolname.For([]model.Tool{{Name: "read_file-2"}, {Name: long}}, 64)
	if names.Wire("read_file-2") != "read_file-2" || names.Wire(long) != long {
		t.Error("a legal name is changed")
	}
	if wire := names.Wire(long + "a"); len(wire) != 64 {
		t.Errorf("a long name becomes %q of %d bytes, want 64", wire, len(wire))
	}
	if names.Ours("invented") != "invented" {
		t.Error("a name that was not offered is changed")
	}
}

func TestNames_areLegalDistinctAndComeBack(t *testing.T) {
	legal := regexp.MustCompile(`^[a-zA-Z0-9_-]{1,64}$`)
	rapid.Check(t, func(t *rapid.T) {
		names := rapid.SliceOfDistinct(rapid.StringMatching(`[a-z._/é-]{1,140}`), rapid.ID).Draw(t, "names")
		tools := make([]model.Tool, len(names))
		for i, name := range names {
			tools[i].Name = name
		}
		translated := toolname.For(tools, 64)
		for _, name := range names {
			wire := translated.Wire(name)
			if !legal.MatchString(wire) {
				t.Fatalf("%q becomes %q, which is not legal", name, wire)
			}
			if back := translated.Ours(wire); back != name {
				t.Fatalf("%q comes back as %q", name, back)
			}
		}
	})
}
