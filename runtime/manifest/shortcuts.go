package manifest

import (
	"fmt"
	"strings"

	"github.com/octet-dev/octet/runtime/manifest/tomltree"
)

// shortcutKeys looks for two shortcuts on one key. Case is set aside for ASCII letters only.
func (j *judge) shortcutKeys() {
	seen := map[string]bool{}
	for i := range j.doc.elements("contributes", "shortcuts") {
		pointer := fmt.Sprintf("/contributes/shortcuts/%d/key", i)
		n := j.doc.values[pointer]
		if n == nil || n.Kind != tomltree.String || j.broken(pointer) {
			continue
		}
		folded := foldASCII(n.Text)
		if seen[folded] {
			j.error("MAN-SHORTCUT-007", "shortcuts", pointer, fmt.Sprintf("duplicate shortcut key `%s`", n.Text),
				"choose another key for one of them")
		}
		seen[folded] = true
	}
}

func foldASCII(text string) string {
	return strings.Map(func(r rune) rune {
		if r >= 'A' && r <= 'Z' {
			return r + 'a' - 'A'
		}
		return r
	}, text)
}
