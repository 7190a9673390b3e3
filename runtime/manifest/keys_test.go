package manifest

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/octet-dev/octet/spec"
)

// keyTables are the keys of every table, and what a document says in front of one of them.
var keyTables = []struct{ model, pointer, head, keys string }{
	{"Manifest", "", "", "name version api_version requires_octet description entrypoint capabilities contributes runtime"},
	{"Entrypoint", "/entrypoint", "[entrypoint]\n", "command args env"},
	{"Capabilities", "/capabilities", "[capabilities]\n", "filesystem process network secrets environment"},
	{
		"Contributes", "/contributes", "[contributes]\n",
		"tools commands hooks ui context tool_renderers notifications confirmations presentation flags menu shortcuts providers",
	},
	{"Flag", "/contributes/flags/0", "[[contributes.flags]]\n", "name type default description"},
	{"Shortcut", "/contributes/shortcuts/0", "[[contributes.shortcuts]]\n", "name key description"},
	{"Runtime", "/runtime", "[runtime]\n", "lifecycle sharing"},
}

// specTables are the keys of every table of the spec, in ascending order.
func specTables(t *testing.T) map[string][]string {
	t.Helper()
	text, err := spec.Files.ReadFile("manifest/models.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Defs map[string]struct {
			Properties map[string]json.RawMessage `json:"properties"`
		} `json:"$defs"`
	}
	if err := json.Unmarshal(text, &file); err != nil {
		t.Fatal(err)
	}
	tables := map[string][]string{}
	for name, model := range file.Defs {
		if len(model.Properties) > 0 {
			tables[name] = slices.Sorted(maps.Keys(model.Properties))
		}
	}
	return tables
}

// spellings are the ways in which a key is written in other words of the same meaning.
func spellings(key string) []string {
	words := strings.Split(key, "_")
	camel := words[0]
	for _, word := range words[1:] {
		camel += strings.ToUpper(word[:1]) + word[1:]
	}
	return []string{
		key, strings.ToUpper(key), strings.ToUpper(key[:1]) + key[1:], camel, strings.ReplaceAll(key, "_", "-"), strings.ReplaceAll(key, "_", ""),
		key + "s", strings.TrimSuffix(key, "s"), "_" + key, key + "_", "octet_" + key, "octet-" + key, "extension_" + key, words[0], words[len(words)-1],
	}
}

// The accepted keys of every table are those that the spec lists and no others, so that no name of earlier
// days can be one: neither one that a table of another place has, nor another spelling, nor one that only
// looks like the name of this project.
//
// MAN-FILE-013.
func TestKeys_haveNoAlias(t *testing.T) {
	candidates := map[string]bool{"octet_version": true, "requires": true, "requires_host": true, "host_version": true, "engine": true, "octet_extension": true, "OCTET_": true}
	for _, table := range keyTables {
		for key := range strings.FieldsSeq(table.keys) {
			for _, spelling := range spellings(key) {
				candidates[spelling] = true
			}
		}
	}
	unseen := specTables(t)
	for _, table := range keyTables {
		keys := strings.Fields(table.keys)
		if got := unseen[table.model]; !slices.Equal(got, slices.Sorted(slices.Values(keys))) {
			t.Errorf("%s has the keys %q in the spec, want %q", table.model, got, keys)
		}
		delete(unseen, table.model)
		for _, key := range slices.Sorted(maps.Keys(candidates)) {
			verdict := Judge([]byte(table.head+key+" = 1\n"), Context{Directory: "demo"})
			refused := slices.ContainsFunc(verdict.Problems, func(p Problem) bool {
				return p.Rule == "MAN-FILE-007" && p.Pointer == table.pointer+"/"+key
			})
			if refused == slices.Contains(keys, key) {
				t.Errorf("%q accepts the key %q: %t, want %t", table.pointer, key, !refused, refused)
			}
		}
	}
	for model := range unseen {
		t.Errorf("the table %s of the spec is not looked at", model)
	}
}
