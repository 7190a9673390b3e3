package menu

import (
	"testing"

	"github.com/octet-dev/octet/generated/featurewire"
)

// FuzzJudge holds that whatever an extension answers is refused, or can be shown within its bounds.
func FuzzJudge(f *testing.F) {
	for _, seed := range []string{
		listed(), listed(item("a", `,"recommended":true`), item("b", "")), nested(featurewire.MaxMenuLevels), nested(featurewire.MaxMenuLevels + 1),
		`{"title":null,"detail":"a\nb","status":{"state":"active","label":"x"},"items":[{"id":"m","label":"m","items":[]}]}`,
	} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := featurewire.DecodeMenuCollectResult(data)
		if err != nil || Judge(m, []string{"do"}) != nil {
			return
		}
		var count func(list []Item, level int) int
		count = func(list []Item, level int) int {
			total := len(list)
			for _, each := range list {
				if each.Command != "" && each.Command != "do" || each.Command != "" && len(each.Items) > 0 || each.Command == "" && each.Destructive {
					t.Errorf("%+v is shown", each)
				}
				if level > featurewire.MaxMenuLevels {
					t.Errorf("level %d is shown", level)
				}
				total += count(each.Items, level+1)
			}
			return total
		}
		if n := count(shown("demo", m).Items, 1); n > featurewire.MaxMenuItems {
			t.Errorf("%d items are shown", n)
		}
	})
}
