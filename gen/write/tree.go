// Package write brings the generated files of a repository in line with what the emitters made.
//
// A plan is made by comparing with the disk; applying it touches only files that differ, all of them or
// none.
package write

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/octet-dev/octet/gen/emit"
)

// Roots are the folders that hold generated files. Nothing is written or removed elsewhere.
var Roots = []string{
	"generated",
	"sdk-py/octet_extension/_generated",
	"sdk-py/oup/octet_oup/_generated",
	"sdk-ts/src/_generated",
	"sdk-ts/oup/src/_generated",
	"spec/reference",
}

// marker is what a generated file carries in its first line.
var marker = []byte(strings.TrimSuffix(emit.Marker(""), "; DO NOT EDIT."))

// markerReach is how far into a file the marker is looked for.
const markerReach = 512

// Plan is the difference between a repository and the files it should hold. Paths are relative to the
// root of the repository, ascending.
type Plan struct {
	Changed    []string // on disk with other bytes
	Missing    []string // not on disk
	Unexpected []string // generated earlier, and no longer

	root string
	want map[string][]byte
	have map[string][]byte // old bytes of Changed and Unexpected
}

// Compare makes the plan. It refuses a file outside Roots and a path that comes twice.
func Compare(root string, files []emit.File) (*Plan, error) {
	dir, err := os.OpenRoot(root)
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	p := &Plan{root: root, want: map[string][]byte{}, have: map[string][]byte{}}
	for _, f := range files {
		if !inRoots(f.Path) {
			return nil, fmt.Errorf("the generated file %q lies outside %s; emit it under one of them", f.Path, strings.Join(Roots, ", "))
		}
		if _, twice := p.want[f.Path]; twice {
			return nil, fmt.Errorf("the generated file %q is emitted twice; let one emitter own it", f.Path)
		}
		if !bytes.Contains(f.Data[:min(len(f.Data), markerReach)], marker) {
			return nil, fmt.Errorf("the generated file %q does not carry the marker; start it with emit.Marker", f.Path)
		}
		p.want[f.Path] = f.Data
		old, err := dir.ReadFile(f.Path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			p.Missing = append(p.Missing, f.Path)
		case err != nil:
			return nil, err
		case !bytes.Equal(old, f.Data):
			p.Changed = append(p.Changed, f.Path)
			p.have[f.Path] = old
		}
	}
	if err := p.findStale(dir); err != nil {
		return nil, err
	}
	slices.Sort(p.Changed)
	slices.Sort(p.Missing)
	slices.Sort(p.Unexpected)
	return p, nil
}

func inRoots(name string) bool {
	if path.Clean(name) != name || !filepath.IsLocal(filepath.FromSlash(name)) {
		return false
	}
	return slices.ContainsFunc(Roots, func(r string) bool { return strings.HasPrefix(name, r+"/") })
}

func (p *Plan) findStale(dir *os.Root) error {
	for _, root := range Roots {
		err := fs.WalkDir(dir.FS(), root, func(name string, entry fs.DirEntry, err error) error {
			if errors.Is(err, fs.ErrNotExist) {
				return nil
			}
			if err != nil || !entry.Type().IsRegular() {
				return err
			}
			if _, wanted := p.want[name]; wanted {
				return nil
			}
			data, err := dir.ReadFile(name)
			if err != nil {
				return err
			}
			if bytes.Contains(data[:min(len(data), markerReach)], marker) {
				p.Unexpected = append(p.Unexpected, name)
				p.have[name] = data
			}
			return nil
		})
		if err != nil {
			return err
		}
	}
	return nil
}

// Empty reports whether there is nothing to do.
func (p *Plan) Empty() bool { return len(p.Changed)+len(p.Missing)+len(p.Unexpected) == 0 }

// Apply carries the plan out. New files are first written beside their places and then renamed; if
// anything fails the tree is put back as it was.
func (p *Plan) Apply() (err error) {
	dir, err := os.OpenRoot(p.root)
	if err != nil {
		return err
	}
	defer dir.Close()
	t := &transaction{dir: dir, have: p.have}
	defer func() {
		if err != nil {
			err = errors.Join(err, t.undo())
		}
	}()
	for _, name := range slices.Concat(p.Missing, p.Changed) {
		if err := t.stage(name, p.want[name]); err != nil {
			return err
		}
	}
	if err := t.commit(); err != nil {
		return err
	}
	for _, name := range p.Unexpected {
		if err := t.remove(name); err != nil {
			return err
		}
	}
	return nil
}

// transaction is one application of a plan.
type transaction struct {
	dir     *os.Root
	have    map[string][]byte
	folders []string // made by this transaction, outer before inner
	staged  []string // files with a temporary twin
	done    []string // files renamed into place
	removed []string
}

func temporary(name string) string { return path.Join(path.Dir(name), "."+path.Base(name)+".tmp") }

func (t *transaction) stage(name string, data []byte) error {
	if err := t.folder(path.Dir(name)); err != nil {
		return err
	}
	t.staged = append(t.staged, name)
	return t.dir.WriteFile(temporary(name), data, 0o644)
}

func (t *transaction) folder(name string) error {
	if _, err := t.dir.Stat(name); err == nil {
		return nil
	}
	if err := t.folder(path.Dir(name)); err != nil {
		return err
	}
	if err := t.dir.Mkdir(name, 0o755); err != nil {
		return err
	}
	t.folders = append(t.folders, name)
	return nil
}

func (t *transaction) commit() error {
	for _, name := range t.staged {
		if err := t.dir.Rename(temporary(name), name); err != nil {
			return err
		}
		t.done = append(t.done, name)
	}
	return nil
}

func (t *transaction) remove(name string) error {
	if err := t.dir.Remove(name); err != nil {
		return err
	}
	t.removed = append(t.removed, name)
	// A folder that still holds something stays: that is no failure.
	for folder := path.Dir(name); !slices.Contains(Roots, folder); folder = path.Dir(folder) {
		if t.dir.Remove(folder) != nil {
			break
		}
	}
	return nil
}

// undo restores the tree as far as the disk lets it and returns what it could not restore.
func (t *transaction) undo() error {
	var errs []error
	for _, name := range t.staged {
		err := t.dir.Remove(temporary(name))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			errs = append(errs, err)
		}
	}
	for _, name := range slices.Concat(t.done, t.removed) {
		old, existed := t.have[name]
		if !existed {
			errs = append(errs, t.dir.Remove(name))
			continue
		}
		errs = append(errs, t.dir.MkdirAll(path.Dir(name), 0o755), t.dir.WriteFile(name, old, 0o644))
	}
	for _, name := range slices.Backward(t.folders) {
		errs = append(errs, t.dir.Remove(name))
	}
	return errors.Join(errs...)
}
