// Package launch plans the start of an extension: where its executable may be and which environment it
// gets. It looks at no file and at no variable itself; the caller does, so that every rule can be tested
// without a machine that happens to fit.
package launch

import (
	"path/filepath"
	"strings"
)

// Candidate is one place where the executable may be. The first one that exists is used.
type Candidate struct {
	Path string
	// Search says that the place comes from the search path: anything there that cannot be executed is
	// passed over, while a file beside the manifest is used as it is.
	Search bool
}

// Search is what the host knows about finding programs.
type Search struct {
	// Path lists the directories of the search path. Relative ones are passed over: they would make the
	// choice depend on the workspace.
	Path []string
	// Extensions are tried behind a name that has none; Windows only.
	Extensions []string
}

// Candidates lists where a command of a manifest in dir may be, best first. An absolute command stands
// for itself. A bare name is looked for beside the manifest, then along the search path. A relative
// command with separators is looked for beside the manifest only.
//
// Rules: MAN-ENTRY-006, MAN-ENTRY-007, MAN-ENTRY-008.
func Candidates(command, dir string, search Search) []Candidate {
	if filepath.IsAbs(command) {
		return search.spellings(command, false)
	}
	found := search.spellings(filepath.Join(dir, filepath.FromSlash(command)), false)
	if !bare(command) {
		return found
	}
	for _, place := range search.Path {
		if filepath.IsAbs(place) {
			found = append(found, search.spellings(filepath.Join(place, command), true)...)
		}
	}
	return found
}

// bare reports whether a command is a plain name. The names of the directory itself and of its parent
// are none.
func bare(command string) bool {
	return !strings.ContainsRune(command, '/') && !strings.ContainsRune(command, filepath.Separator) &&
		command != "." && command != ".."
}

func (s Search) spellings(path string, searched bool) []Candidate {
	found := []Candidate{{Path: path, Search: searched}}
	if filepath.Ext(path) == "" {
		for _, extension := range s.Extensions {
			found = append(found, Candidate{Path: path + extension, Search: searched})
		}
	}
	return found
}
