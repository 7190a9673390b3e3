package supervise

import (
	"fmt"
	"slices"

	"github.com/octet-dev/octet/host/diagnostic"
	"github.com/octet-dev/octet/host/extension"
)

// Catalog is what the extensions in service offer, at one moment. It never changes; a later one has a
// higher revision.
type Catalog struct {
	Revision uint64
	Entries  []CatalogEntry // ascending by name
	// Conflicts are the tools that are left out because their names belong to somebody else.
	Conflicts []Conflict
}

// CatalogEntry is one extension of a Catalog. Operations on it go through Supervisor.Use.
type CatalogEntry struct {
	Name       string
	InstanceID string
	Generation int64
	Agreement  *extension.Agreement
	Tools      []*extension.Tool // those in force, in the order of the extension
	Commands   []extension.Command
}

// Find returns the entry and the tool of a name, nil if there is none.
func (c *Catalog) Find(tool string) (*CatalogEntry, *extension.Tool) {
	for i := range c.Entries {
		for _, t := range c.Entries[i].Tools {
			if t.Name == tool {
				return &c.Entries[i], t
			}
		}
	}
	return nil, nil
}

// same reports whether two catalogs offer the same of the same generations.
func (c *Catalog) same(other *Catalog) bool {
	return slices.Equal(c.Conflicts, other.Conflicts) && slices.EqualFunc(c.Entries, other.Entries, func(a, b CatalogEntry) bool {
		// Agreements and tools never change, so it is enough that they are the same ones.
		return a.Name == b.Name && a.InstanceID == b.InstanceID && a.Generation == b.Generation &&
			a.Agreement == b.Agreement && slices.Equal(a.Tools, b.Tools)
	})
}

// Conflict is a tool whose name is taken.
type Conflict struct {
	Tool  string
	Name  string // of the extension that does not get it
	Owner string // of the extension that has it; empty: it is the host's
}

// String says who wanted what and who has it.
func (c Conflict) String() string {
	owner := "the host"
	if c.Owner != "" {
		owner = fmt.Sprintf("extension `%s`", c.Owner)
	}
	return fmt.Sprintf("tool %q of extension `%s` has the name of a tool of %s; rename it", c.Tool, c.Name, owner)
}

// StaleError says that a generation is not the one in service, and not the candidate for it.
type StaleError struct {
	Name               string
	Generation, Serves int64
}

// Error names the extension and both generations.
func (e *StaleError) Error() string {
	return fmt.Sprintf("generation %d of extension `%s` is not in service: %d is", e.Generation, e.Name, e.Serves)
}

// UnknownError says that there is no extension of that name.
type UnknownError struct {
	Name  string
	Known []string
}

// Error names it and those that there are.
func (e *UnknownError) Error() string {
	return fmt.Sprintf("no extension `%s` is enabled; there are %q", e.Name, e.Known)
}

// Catalog returns the one in force. It is never nil.
func (f *Fleet) Catalog() *Catalog {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.catalog
}

// view is what a supervisor has to offer now.
func (s *Supervisor) view() (entry CatalogEntry, serves bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if !s.servesLocked() || s.agreement == nil {
		return CatalogEntry{}, false
	}
	return CatalogEntry{
		Name: s.member.Name, InstanceID: s.id, Generation: s.number, Agreement: s.agreement,
		Tools: s.tools, Commands: s.agreement.Commands,
	}, true
}

// publish makes the catalog anew. A tool stays with the extension that has it; one that nobody has goes to
// the first by name. A catalog equal to the one before keeps its revision.
func (f *Fleet) publish() (revision uint64) {
	f.mu.Lock()
	defer f.mu.Unlock()
	next := &Catalog{Revision: f.catalog.Revision}
	offers := map[string][]string{} // tool, then the extensions that have one of that name
	for _, s := range f.members {
		if entry, serves := s.view(); serves {
			next.Entries = append(next.Entries, entry)
			for _, t := range entry.Tools {
				offers[t.Name] = append(offers[t.Name], entry.Name)
			}
		}
	}
	owners := make(map[string]string, len(offers))
	for tool, names := range offers {
		owners[tool] = names[0]
		if owner, owned := f.owners[tool]; owned && slices.Contains(names, owner) {
			owners[tool] = owner
		}
		if slices.Contains(f.options.Reserved, tool) {
			owners[tool] = ""
		}
	}
	for i := range next.Entries {
		entry := &next.Entries[i]
		var kept []*extension.Tool
		for _, t := range entry.Tools {
			if owner := owners[t.Name]; owner != entry.Name {
				next.Conflicts = append(next.Conflicts, Conflict{Tool: t.Name, Name: entry.Name, Owner: owner})
				continue
			}
			kept = append(kept, t)
		}
		entry.Tools = kept
	}
	f.owners = owners
	if next.same(f.catalog) {
		return f.catalog.Revision
	}
	for _, c := range next.Conflicts {
		if !slices.Contains(f.catalog.Conflicts, c) {
			f.find(c.Name).tell(diagnostic.Warning, "", "rename the tool", "%s", c)
		}
	}
	next.Revision++
	f.catalog = next
	return next.Revision
}

// find looks a member up that is known to be there.
func (f *Fleet) find(name string) *Supervisor {
	return f.members[slices.IndexFunc(f.members, func(s *Supervisor) bool { return s.Name() == name })]
}

// reserve hands a catalog to a supervisor unless a name in it belongs to somebody else.
func (f *Fleet) reserve(s *Supervisor, generation int64, tools []*extension.Tool) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	taken := &ConflictError{Name: s.Name()}
	for _, t := range tools {
		owner, owned := f.owners[t.Name]
		if slices.Contains(f.options.Reserved, t.Name) {
			owner, owned = "", true
		}
		if owned && owner != s.Name() {
			taken.Conflicts = append(taken.Conflicts, Conflict{Tool: t.Name, Name: s.Name(), Owner: owner})
		}
	}
	if len(taken.Conflicts) > 0 {
		return taken
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	tools = slices.Clone(tools)
	switch {
	case generation == s.number && s.current != nil && !s.current.closed:
		s.tools = tools
	case generation == s.number+1:
		s.staged = &tools
	default:
		return &StaleError{Name: s.Name(), Generation: generation, Serves: s.number}
	}
	return nil
}
