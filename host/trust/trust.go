// Package trust decides who trusts an extension: the policy, the command line, or a grant of the user.
// Trust never enables anything, and nothing here is written anywhere.
//
// Sheet: manifest 6.
package trust

import (
	"fmt"
	"path/filepath"
	"slices"
	"strings"

	"github.com/octet-dev/octet/host/diagnostic"
	"github.com/octet-dev/octet/runtime/manifest"
)

// Basis says what an extension is trusted on.
type Basis string

// The kinds of trust. Nobody is the absence of it.
const (
	Nobody     Basis = ""
	Implicit   Basis = "implicit"   // the effect policy, for whatever source was selected
	Invocation Basis = "invocation" // --trust-extension, for whatever source was selected
	Source     Basis = "source"     // a grant for exactly this manifest
	Bare       Basis = "bare"       // a grant for the copy of the user's own directory
)

// By says in words who or what trusts; empty for Nobody.
func (b Basis) By() string {
	switch b {
	case Implicit:
		return "the effect policy"
	case Invocation:
		return "--trust-extension"
	case Source:
		return "a grant for this manifest"
	case Bare:
		return "a grant for the global extension"
	default:
		return ""
	}
}

// Subject is a selected extension.
type Subject struct {
	Name         string
	Global       bool   // it lies in the user's own directory of extensions
	ManifestPath string // canonical and absolute
}

// Grant is one persistent grant.
type Grant struct {
	Text         string // as written
	Name         string
	ManifestPath string // canonical; empty for a bare name
}

// GrantError says why a text is no grant.
type GrantError struct {
	Text   string
	Reason string
	Remedy string
}

// Error names the grant and the reason.
func (e *GrantError) Error() string {
	return fmt.Sprintf("invalid source-bound extension trust grant %q: %s", e.Text, e.Reason)
}

// Canonical resolves the links in the path of a directory that must exist, like filepath.EvalSymlinks.
type Canonical func(path string) (string, error)

// ParseGrant reads NAME or NAME@/ABSOLUTE/PATH/extension.toml. The directory of the manifest must exist;
// whether the manifest does is not looked at. The error is a *GrantError.
func ParseGrant(text string, canonical Canonical) (Grant, error) {
	name, path, bound := strings.Cut(text, "@")
	wrong := func(reason, remedy string) (Grant, error) {
		return Grant{}, &GrantError{Text: text, Reason: reason, Remedy: remedy}
	}
	switch {
	case name == "":
		return wrong("the name of the extension is missing", "write NAME, or NAME@ and the path of its manifest")
	case !bound:
		return Grant{Text: text, Name: name}, nil
	case !filepath.IsAbs(path):
		return wrong("the manifest path must be absolute", "write the whole path behind the at sign; octet extension list shows the grant")
	case filepath.Base(path) != manifest.FileName() || strings.HasSuffix(path, string(filepath.Separator)):
		return wrong("the manifest path must end in "+manifest.FileName(), "name the manifest, not its directory")
	}
	parent, err := canonical(filepath.Dir(path))
	if err != nil {
		return wrong(fmt.Sprintf("cannot normalize manifest parent for %s: %v", path, err), "correct the path, or remove the grant")
	}
	return Grant{Text: text, Name: name, ManifestPath: filepath.Join(parent, manifest.FileName())}, nil
}

// Grants is every explicit trust of one invocation.
type Grants struct {
	persistent []Grant
	invocation []string
}

// Read takes the persistent grants and the names of --trust-extension. A grant that cannot be read grants
// nothing and gives a warning. From is the place of the persistent grants, for the diagnostics.
func Read(persistent, invocation []string, from string, canonical Canonical) (Grants, []diagnostic.Diagnostic) {
	grants := Grants{invocation: invocation}
	var found []diagnostic.Diagnostic
	for _, text := range persistent {
		grant, err := ParseGrant(text, canonical)
		if wrong, isWrong := err.(*GrantError); isWrong {
			found = append(found, diagnostic.Diagnostic{
				Level: diagnostic.Warning, Path: from, Rule: "MAN-TRUST-008", Message: err.Error(), Remedy: wrong.Remedy,
			})
			continue
		}
		grants.persistent = append(grants.persistent, grant)
	}
	return grants, found
}

// Basis says what the subject is trusted on. Implicit is whether the policy trusts what is enabled; an
// explicit grant is named first, so that taking implicit trust away shows what is left.
func (g Grants) Basis(s Subject, implicit bool) Basis {
	if slices.Contains(g.invocation, s.Name) {
		return Invocation
	}
	best := Nobody
	for _, grant := range g.persistent {
		if basis := grant.covers(s); basis == Source || basis != Nobody && best == Nobody {
			best = basis
		}
	}
	if best == Nobody && implicit {
		return Implicit
	}
	return best
}

// covers says how a persistent grant covers a subject. A bare name never leaves the user's own directory.
func (g Grant) covers(s Subject) Basis {
	switch {
	case g.Name != s.Name:
		return Nobody
	case g.ManifestPath != "" && g.ManifestPath == s.ManifestPath:
		return Source
	case g.ManifestPath == "" && s.Global:
		return Bare
	}
	return Nobody
}

// Unmatched tells of grants that cover none of the selected extensions. One-shot grants go by name.
func (g Grants) Unmatched(subjects []Subject, from string) []diagnostic.Diagnostic {
	var found []diagnostic.Diagnostic
	for _, grant := range g.persistent {
		covered := slices.ContainsFunc(subjects, func(s Subject) bool { return grant.covers(s) != Nobody })
		if !covered {
			found = append(found, diagnostic.Diagnostic{
				Level: diagnostic.Info, Path: from, Rule: "MAN-DIAG-002",
				Message: fmt.Sprintf("trust grant %q has no matching discovered extension source", grant.Text),
				Remedy:  "install the extension it names, or remove the grant",
			})
		}
	}
	for _, name := range g.invocation {
		if !slices.ContainsFunc(subjects, func(s Subject) bool { return s.Name == name }) {
			found = append(found, diagnostic.Diagnostic{
				Level: diagnostic.Info, Path: "--trust-extension", Rule: "MAN-DIAG-002",
				Message: fmt.Sprintf("one-shot trust grant %q has no discovered extension", name),
				Remedy:  "octet extension list shows what is discovered",
			})
		}
	}
	return found
}

// Copyable is the persistent grant that covers exactly this subject.
func Copyable(s Subject) string {
	if s.Global {
		return s.Name
	}
	return s.Name + "@" + s.ManifestPath
}
