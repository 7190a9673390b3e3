package extension

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"

	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/runtime/negotiation"
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

// compareManifest tells the author about catalogs that the host will refuse, and about hooks that will not
// come.
func (s *server) compareManifest(agreed *session) {
	if !agreed.has(dynamicToolsFeature) {
		s.compare(agreed.declared, toolsMember, toolNames(s.plan.tools))
	}
	if !agreed.has(runtimeCommandsFeature) {
		s.compare(agreed.declared, commandsMember, commandNames(s.plan.commands))
	}
	var undeclared, unopened []string
	for _, name := range slices.Sorted(maps.Keys(s.plan.hooks)) {
		feature := negotiation.GateFeature(s.plan.hooks[name].row.Feature)
		switch {
		case !agreed.declared.lists(hooksMember, name):
			undeclared = append(undeclared, name)
		case feature != "" && !agreed.has(feature):
			unopened = append(unopened, name)
		}
	}
	if len(undeclared) > 0 {
		s.ext.log.printf("the manifest does not declare the hooks [%s], which have handlers: they will not come", strings.Join(undeclared, ", "))
	}
	if len(unopened) > 0 {
		s.ext.log.printf("the hooks [%s] will not come: this host does not offer their features", strings.Join(unopened, ", "))
	}
}

func (s *server) compare(declared declaration, member string, names []string) {
	listed, known := declared.names[member]
	listed = slices.Sorted(slices.Values(listed))
	if known && !slices.Equal(names, listed) {
		s.ext.log.printf("the manifest declares the %[1]s [%[2]s], the program has [%[3]s]: make contributes.%[1]s agree with it",
			member, strings.Join(listed, ", "), strings.Join(names, ", "))
	}
}
