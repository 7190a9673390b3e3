package rulebook_test

import (
	"slices"
	"testing"

	"github.com/octet-dev/octet/features/rulebook"
)

func TestFind(t *testing.T) {
	r, ok := rulebook.Find("EXT03-READ-009")
	if !ok || r.ID != "EXT03-READ-009" || !rulebook.Binds(r, "0.3") || rulebook.Binds(r, "0.4") || !rulebook.Judged(r) {
		t.Errorf("got %+v, %v", r, ok)
	}
	if _, ok := rulebook.Find("EXT03-READ-999"); ok {
		t.Error("a rule was found that does not exist")
	}
}

func TestNear(t *testing.T) {
	for _, wrong := range []string{"EXT03-READ-09", "ext03-read-0090", "EXT3-READ-009", "EXT03-REED-009", "read-009"} {
		if near := rulebook.Near(wrong); !slices.Contains(near, "EXT03-READ-009") {
			t.Errorf("near %q: got %v", wrong, near)
		}
	}
	if near := rulebook.Near("nothing like it"); near != nil {
		t.Errorf("got %v, want none", near)
	}
}
