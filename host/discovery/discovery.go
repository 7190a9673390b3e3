// Package discovery finds the extensions of a machine and reads their manifests. It reads metadata and
// nothing else: no file of an extension but its manifest is opened, and none is run.
//
// Sheet: manifest 3 and 4.
package discovery

import (
	"cmp"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"path/filepath"
	"slices"
	"sync/atomic"

	"github.com/octet-dev/octet/host/diagnostic"
	"github.com/octet-dev/octet/runtime/manifest"
	"github.com/octet-dev/octet/runtime/manifest/folder"
)

// Entry is a selected extension with a legal manifest. Treat it as read-only.
type Entry struct {
	Name         string
	Scope        Scope
	ManifestPath string // canonical and absolute
	Digest       string // SHA-256 of the manifest's bytes, in hexadecimal
	Folder       *folder.Folder
	Manifest     *manifest.Manifest
	Warnings     []manifest.Problem
}

// Snapshot is the outcome of one pass. It never changes; consumers swap whole snapshots.
type Snapshot struct {
	Generation  uint64   // ascends with every pass of a Discoverer
	Entries     []*Entry // ascending by name
	Diagnostics []diagnostic.Diagnostic
}

// Entry finds an entry by name, nil if there is none.
func (s *Snapshot) Entry(name string) *Entry {
	for _, entry := range s.Entries {
		if entry.Name == name {
			return entry
		}
	}
	return nil
}

// Discoverer numbers its passes. The zero value is ready; it may be used from any goroutine.
type Discoverer struct{ generation atomic.Uint64 }

// Discover makes one pass over the places. Whatever is broken there becomes a diagnostic.
//
// Rules: MAN-DISCOVER-001, MAN-DISCOVER-003, MAN-DISCOVER-017, MAN-DISCOVER-018, MAN-DISCOVER-020,
// MAN-DISCOVER-021.
func (d *Discoverer) Discover(places Places) *Snapshot {
	s := &Snapshot{}
	roots, told := Roots(places)
	s.Diagnostics = told
	type definition struct {
		candidate
		root Root
	}
	winners := map[string]definition{}
	for _, root := range roots {
		candidates, told := scan(root)
		s.Diagnostics = append(s.Diagnostics, told...)
		for _, c := range candidates {
			if lower, shadowed := winners[c.name]; shadowed {
				s.Diagnostics = append(s.Diagnostics, diagnostic.Diagnostic{
					Level: diagnostic.Info, Path: lower.path, Rule: "MAN-DISCOVER-017",
					Message: fmt.Sprintf("extension %q is shadowed by %s", c.name, c.path),
					Remedy:  "nothing, or remove one of them",
				})
			}
			winners[c.name] = definition{c, root}
		}
	}
	var judged []*Entry
	for _, winner := range winners {
		winner.read(winner.root)
		entry, told := judge(winner.candidate)
		s.Diagnostics = append(s.Diagnostics, told...)
		if entry != nil {
			judged = append(judged, entry)
		}
	}
	entries, told := unique(judged)
	s.Entries, s.Diagnostics = entries, append(s.Diagnostics, told...)
	// What was found in a map is told in the order of paths, like everything else.
	slices.SortStableFunc(s.Diagnostics, func(a, b diagnostic.Diagnostic) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	s.Generation = d.generation.Add(1)
	return s
}

// judge turns a candidate into an entry, nil if its manifest cannot be used.
func judge(c candidate) (*Entry, []diagnostic.Diagnostic) {
	if c.fault != nil {
		return nil, []diagnostic.Diagnostic{fault(c)}
	}
	verdict := manifest.Judge(c.folder.Data, manifest.Context{Directory: c.name})
	told := problems(c.path, verdict)
	if !verdict.OK() {
		return nil, told
	}
	digest := sha256.Sum256(c.folder.Data)
	return &Entry{
		Name: verdict.Manifest.Name, Scope: c.scope, ManifestPath: c.folder.ManifestPath,
		Digest: hex.EncodeToString(digest[:]), Folder: c.folder, Manifest: verdict.Manifest, Warnings: verdict.Problems,
	}, told
}

// fault tells why the manifest of a selected candidate could not be read.
func fault(c candidate) diagnostic.Diagnostic {
	d := diagnostic.Diagnostic{
		Level: diagnostic.Error, Path: c.path, Rule: "MAN-DISCOVER-010", Message: c.fault.Error(),
		Remedy: "make it readable, or remove it; it is skipped",
	}
	var unreadable *folder.Error
	if errors.As(c.fault, &unreadable) {
		d.Rule, d.Remedy = unreadable.Rule, unreadable.Remedy
	}
	return d
}

// maxProblems is how many problems of one manifest are told.
const maxProblems = 20

// directoryRule is the rule that a manifest has the name of its directory.
const directoryRule = "MAN-TOP-002"

// problems tells what is wrong with a manifest, each with its place. A manifest whose only fault is the
// name of its directory is a warning: it may be a copy that somebody put aside.
func problems(path string, verdict manifest.Verdict) []diagnostic.Diagnostic {
	var told []diagnostic.Diagnostic
	onlyName := !slices.ContainsFunc(verdict.Problems, func(p manifest.Problem) bool {
		return p.Severity == manifest.Error && p.Rule != directoryRule
	})
	for _, p := range verdict.Problems {
		d := diagnostic.Diagnostic{
			Level: diagnostic.Error, Path: path, Line: p.Line, Column: p.Column, Rule: p.Rule, Message: p.Message, Remedy: p.Remedy,
		}
		switch {
		case p.Rule == directoryRule && onlyName:
			d.Level, d.Rule, d.Message = diagnostic.Warning, "MAN-IDENTITY-001", p.Message+"; ignored"
		case p.Severity == manifest.Warning:
			d.Level = diagnostic.Warning
		}
		told = append(told, d)
	}
	if more := len(told) - maxProblems; more > 0 {
		told = append(told[:maxProblems], diagnostic.Diagnostic{
			Level: diagnostic.Info, Path: path, Message: fmt.Sprintf("%d more problems are not shown", more),
			Remedy: "octet extension inspect --no-start shows more",
		})
	}
	return told
}

// unique sorts entries by name. Of two with one name the first path stays. The rule on directory names
// leaves no such pair on a file system that tells names apart by their case.
//
// Rule: MAN-IDENTITY-003.
func unique(entries []*Entry) ([]*Entry, []diagnostic.Diagnostic) {
	slices.SortFunc(entries, func(a, b *Entry) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.ManifestPath, b.ManifestPath))
	})
	var kept []*Entry
	var told []diagnostic.Diagnostic
	for _, entry := range entries {
		if len(kept) > 0 && kept[len(kept)-1].Name == entry.Name {
			told = append(told, warning(entry.ManifestPath, "MAN-IDENTITY-003",
				fmt.Sprintf("extension %q is there already as %s; the first manifest wins", entry.Name, kept[len(kept)-1].ManifestPath),
				"rename or remove one of them"))
			continue
		}
		kept = append(kept, entry)
	}
	return kept, told
}

// ErrSourceChanged says that an entry is not what discovery read.
var ErrSourceChanged = errors.New("extension source changed before activation")

// Recheck reads the manifest of an entry again, and returns ErrSourceChanged if it is another one, is
// gone, or lies behind a link now. Whoever starts an entry calls it first.
func (e *Entry) Recheck() error {
	again, err := folder.Open(filepath.Dir(e.ManifestPath), folder.DiscoveryLimit)
	if err != nil {
		return fmt.Errorf("%w: %w", ErrSourceChanged, err)
	}
	digest := sha256.Sum256(again.Data)
	if again.ManifestPath != e.ManifestPath || hex.EncodeToString(digest[:]) != e.Digest {
		return fmt.Errorf("%w: %s", ErrSourceChanged, e.ManifestPath)
	}
	return nil
}
