package extension

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/octet-dev/octet/generated/wirejson"
)

// declaration is what the manifest contributes, as far as the host passes it on. On the canonical wire it is
// opaque, so whatever has another shape counts as not declared.
type declaration struct {
	has   map[string]bool     // members that are true, or lists that are not empty
	names map[string][]string // members that are lists; absent where the host says nothing
}

// Members of the contributions that the SDK compares with what is registered.
const (
	toolsMember    = "tools"
	commandsMember = "commands"
	hooksMember    = "hooks"
)

func declarationOf(contributes json.RawMessage) declaration {
	d := declaration{has: map[string]bool{}, names: map[string][]string{}}
	document, err := wirejson.Parse(contributes, wirejson.DefaultMaxDepth)
	if err != nil {
		return d
	}
	defer document.Release()
	for c := document.Root().Members(); c.Next(); {
		name := string(c.Key())
		switch value := c.Value(); value.Kind() {
		case wirejson.KindBool:
			d.has[name] = value.Bool()
		case wirejson.KindArray:
			list := []string{}
			for walk := value.Elements(); walk.Next(); {
				list = append(list, walk.Value().Text())
			}
			d.names[name], d.has[name] = list, len(list) > 0
		}
	}
	return d
}

// lists reports whether a member lists a name.
func (d declaration) lists(member, name string) bool { return slices.Contains(d.names[member], name) }

// declarationGate returns the member of the contributions that a gate of the method table names.
func declarationGate(gate string) (member string, is bool) {
	word, _, _ := strings.Cut(gate, " ")
	return strings.CutPrefix(word, "contributes.")
}
