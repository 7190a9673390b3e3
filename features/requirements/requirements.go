// Package requirements holds the sets of rules that a run holds a subject to: one for each API version, frozen
// under a name, so that a rule which is added later accuses nobody who was judged before it.
package requirements

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"path"
	"slices"
	"strings"

	"github.com/octet-dev/octet/features/ledger"
	"github.com/octet-dev/octet/features/report"
	"github.com/octet-dev/octet/features/rulebook"
	"github.com/octet-dev/octet/generated/rules"
)

// Current names the set that is not frozen: every rule that a run judges, at its level in this spec.
const Current = report.CurrentRequirements

// Folder is where the frozen sets are, below the root of the spec: NAME/API.json.
const Folder = "requirements"

// format names the shape of a file.
const format = "octet.requirements/v1"

// Set is what a run of one API version holds a subject to.
type Set struct {
	Name  string
	API   string
	Rules map[string]rules.Level
}

// file is a frozen set. The hash is that of its rules, one "ID level" a line in the order of ids.
type file struct {
	Schema string                 `json:"$schema"`
	Format string                 `json:"format"`
	Name   string                 `json:"name"`
	API    string                 `json:"api"`
	SHA256 string                 `json:"sha256"`
	Rules  map[string]rules.Level `json:"rules"`
}

// Of makes the current set of an API version: the must- and should-rules of all roles that scenarios prove or that
// are judged in every frame.
func Of(api string) (*Set, error) {
	proofs, err := ledger.Proofs()
	if err != nil {
		return nil, err
	}
	s := &Set{Name: Current, API: api, Rules: map[string]rules.Level{}}
	for _, r := range rulebook.All() {
		if r.Level != rules.May && rulebook.Binds(r, api) && proofs[r.ID].Judges(api) {
			s.Rules[r.ID] = r.Level
		}
	}
	return s, nil
}

// Names lists the frozen sets, the oldest first. Their names are numbers.
func Names(spec fs.FS) ([]string, error) {
	entries, err := fs.ReadDir(spec, Folder)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		if e.IsDir() {
			out = append(out, e.Name())
		}
	}
	slices.SortFunc(out, func(a, b string) int {
		if len(a) != len(b) {
			return len(a) - len(b)
		}
		return strings.Compare(a, b)
	})
	return out, nil
}

// ErrUnknown means that there is no set of a name.
var ErrUnknown = errors.New("there is no requirement set")

// Load returns a set by name.
func Load(spec fs.FS, name, api string) (*Set, error) {
	if name == Current {
		return Of(api)
	}
	names, err := Names(spec)
	if err != nil {
		return nil, err
	}
	if !slices.Contains(names, name) {
		return nil, fmt.Errorf("%w %q; use one of %s", ErrUnknown, name, strings.Join(append(names, Current), ", "))
	}
	text, err := fs.ReadFile(spec, path.Join(Folder, name, api+".json"))
	if err != nil {
		return nil, fmt.Errorf("the requirement set %s has nothing about API %s; use a later one", name, api)
	}
	var f file
	if err := json.Unmarshal(text, &f); err != nil {
		return nil, fmt.Errorf("%s/%s/%s.json: %w", Folder, name, api, err)
	}
	s := &Set{Name: f.Name, API: f.API, Rules: f.Rules}
	switch {
	case f.Format != format:
		return nil, fmt.Errorf("%s/%s/%s.json has the format %q, want %q", Folder, name, api, f.Format, format)
	case f.Name != name || f.API != api:
		return nil, fmt.Errorf("%s/%s/%s.json says that it is set %q of API %q", Folder, name, api, f.Name, f.API)
	case f.SHA256 != s.hash():
		return nil, fmt.Errorf("%s/%s/%s.json has been changed: its rules have the hash %s and it says %s; a frozen set never changes", Folder, name, api, s.hash(), f.SHA256)
	}
	return s, nil
}

// hash is over every rule and its level.
func (s *Set) hash() string {
	h := sha256.New()
	for _, id := range slices.Sorted(maps.Keys(s.Rules)) {
		fmt.Fprintf(h, "%s %s\n", id, s.Rules[id])
	}
	return hex.EncodeToString(h.Sum(nil))
}

// Freeze is the file of a set under a name.
func (s *Set) Freeze(name string) ([]byte, error) {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetIndent("", "  ")
	err := enc.Encode(file{Schema: "../../meta/requirements.schema.json", Format: format, Name: name, API: s.API, SHA256: s.hash(), Rules: s.Rules})
	return b.Bytes(), err
}

// Level is that of a rule in the set; false if the set does not hold a subject to it.
func (s *Set) Level(id string) (level string, required bool) {
	l, required := s.Rules[id]
	return string(l), required
}
