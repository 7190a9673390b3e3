package discovery

import (
	"path/filepath"

	"github.com/octet-dev/octet/host/diagnostic"
)

// Scope says which kind of root an extension comes from.
type Scope string

// The scopes, the weakest first.
const (
	Global   Scope = "global"   // the user's own directory
	Project  Scope = "project"  // the workspace, once it is trusted
	Explicit Scope = "explicit" // named on the command line
)

// Root is a directory whose direct children are extensions.
type Root struct {
	Scope Scope
	Dir   string // absolute
	// Base is the directory that Dir lies in and that counts as given: no link between it and the
	// extensions is followed. Empty means the parent of Dir.
	Base string
}

// Places is where extensions may be.
type Places struct {
	Home             string // of the user; one that is not absolute counts as unknown
	Workspace        string // absolute; empty: there is none
	WorkspaceTrusted bool
	Directories      []string // of --extension-dir, in the order of the command line
}

// extensions is where a home or a workspace keeps its extensions, in parts of a path.
var extensions = filepath.Join(".octet", "extensions")

// Roots lists the roots, the weakest first. The project root of a workspace that is not trusted is not
// among them; it is told of if it exists, without a look into it.
//
// Rules: MAN-DISCOVER-002, MAN-DISCOVER-006, MAN-DISCOVER-007.
func Roots(p Places) ([]Root, []diagnostic.Diagnostic) {
	var roots []Root
	var found []diagnostic.Diagnostic
	if filepath.IsAbs(p.Home) {
		dir := filepath.Join(p.Home, extensions)
		roots = append(roots, Root{Scope: Global, Dir: dir})
	} else {
		found = append(found, diagnostic.Diagnostic{
			Level: diagnostic.Info, Path: filepath.Join("~", extensions), Rule: "MAN-DISCOVER-007",
			Message: "global extensions are left out because the home directory of the user is unknown",
			Remedy:  "set the variable that names your home directory to an absolute path",
		})
	}
	if p.Workspace != "" {
		root := Root{Scope: Project, Dir: filepath.Join(p.Workspace, extensions), Base: p.Workspace}
		switch {
		case p.WorkspaceTrusted:
			roots = append(roots, root)
		case exists(root.Dir):
			found = append(found, diagnostic.Diagnostic{
				Level: diagnostic.Info, Path: root.Dir, Rule: "MAN-DISCOVER-006",
				Message: "project extensions are ignored because the workspace is not trusted",
				Remedy:  "review them, then use --workspace-trusted",
			})
		}
	}
	for _, dir := range p.Directories {
		if absolute, err := filepath.Abs(dir); err == nil {
			roots = append(roots, Root{Scope: Explicit, Dir: absolute})
		} else {
			found = append(found, unusable(dir, "inspect", err))
		}
	}
	return last(roots), found
}

// last keeps the last of several roots with one path: the same directory named twice shadows nothing.
func last(roots []Root) []Root {
	var kept []Root
	for i, root := range roots {
		again := false
		for _, later := range roots[i+1:] {
			again = again || later.Dir == root.Dir
		}
		if !again {
			kept = append(kept, root)
		}
	}
	return kept
}
