package builtin

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// place is a path that a tool was told, seen from a directory that is held open: whoever moves links meanwhile changes
// nothing any more.
type place struct {
	space *workspace
	root  *os.Root // the directory itself, or the nearest one on the way that is there
	name  string   // in root
	real  string   // without links
	shown string   // as people and the model see it
}

// anchor opens the nearest directory on the way to a path without links, and looks whether it is the right one.
func (w *workspace) anchor(real, shown string) (place, error) {
	p := place{space: w, real: real, shown: shown}
	if w.own(real) {
		return p, errOwn(shown, w.private)
	}
	at := real
	for info, err := os.Lstat(at); (err != nil || !info.IsDir()) && at != filepath.Dir(at); info, err = os.Lstat(at) {
		at = filepath.Dir(at)
	}
	var err error
	if p.name, err = filepath.Rel(at, real); err != nil {
		return p, p.explain(err)
	}
	if rel, local := filepath.Rel(w.real, at); local == nil && filepath.IsLocal(rel) {
		p.root, err = w.root.OpenRoot(rel)
	} else {
		p.root, err = os.OpenRoot(at)
	}
	if err != nil {
		return p, p.explain(err)
	}
	if info, err := p.root.Stat("."); err != nil || !really(at, info) {
		p.close()
		return p, p.changed()
	}
	return p, nil
}

func (p place) close() { _ = p.root.Close() } // it was only looked at

// really reports whether what was opened is what stands at a path, with no link on its way.
func really(path string, opened fs.FileInfo) bool {
	leads, ok := follow(top(path))
	now, err := os.Lstat(path)
	return ok && leads == path && err == nil && os.SameFile(now, opened)
}

func (p place) changed() error {
	return fmt.Errorf("%q was changed by somebody else meanwhile; look at it again", p.shown)
}

// installed are directories that may stand beside octet's data and are none of it: people put there what models are to
// read, and what they write extensions in.
var installed = []string{"extensions", "skills"}

// own reports whether a path lies in octet's own data, by what the directories on its way are and not by how they are
// spelled. A workspace below them is one that a person has chosen, and its files are the person's; a server takes none.
func (w *workspace) own(real string) bool {
	if w.private == "" {
		return false
	}
	private, err := os.Stat(w.private)
	if err != nil {
		return false
	}
	below := ""
	for at := real; ; at = filepath.Dir(at) {
		if info, err := os.Stat(at); err == nil && os.SameFile(info, private) {
			return !slices.Contains(installed, below)
		}
		if at == w.real || at == filepath.Dir(at) {
			return false
		}
		below = filepath.Base(at)
	}
}

// errOwn names the rule and the remedy.
func errOwn(shown, private string) error {
	return fmt.Errorf("%q lies in %q, where octet keeps its own keys and conversations: no file tool reaches it, whoever allows it; work on a copy outside of it, or keep octet's data elsewhere (--data-dir)", shown, private)
}

// regular looks at a file that must be a plain one.
func (p place) regular() (fs.FileInfo, error) {
	info, err := p.root.Lstat(p.name)
	switch {
	case err != nil:
		return nil, p.explain(err)
	case info.IsDir():
		return nil, fmt.Errorf("%q is a directory; use list", p.shown)
	case !info.Mode().IsRegular():
		return nil, fmt.Errorf("%q is no plain file (%s)", p.shown, info.Mode().Type())
	}
	return info, nil
}

// open opens a plain file for reading.
func (p place) open() (*os.File, fs.FileInfo, error) {
	if _, err := p.regular(); err != nil {
		return nil, nil, err
	}
	file, err := p.root.Open(p.name)
	if err != nil {
		return nil, nil, p.explain(err)
	}
	info, err := file.Stat()
	if err != nil || !really(p.real, info) {
		_ = file.Close()
		return nil, nil, p.changed()
	}
	return file, info, nil
}

// isDir reports whether the place is a directory: then it is held itself.
func (p place) isDir() bool { return p.name == "." }

// tree shows a directory and what is below it, without octet's own data.
func (p place) tree() fs.FS { return tree{p.root.FS(), p} }

type tree struct {
	files fs.FS
	place place
}

// Open opens what a walk has come to. It follows no link.
func (t tree) Open(name string) (fs.File, error) {
	file, err := t.files.Open(name)
	if err != nil {
		return nil, err
	}
	real := filepath.Join(t.place.real, filepath.FromSlash(name))
	info, err := file.Stat()
	switch {
	case err != nil:
	case !really(real, info):
		err = t.place.changed()
	case info.IsDir() && t.place.space.own(real):
		err = errOwn(name, t.place.space.private)
	default:
		return file, nil
	}
	_ = file.Close()
	return nil, &fs.PathError{Op: "open", Path: name, Err: err}
}

// explain words what went wrong with a path, without repeating how the system spells it.
func (p place) explain(err error) error {
	var pathError *fs.PathError
	var linkError *os.LinkError
	cause := err
	if errors.As(err, &pathError) {
		cause = pathError.Err
	} else if errors.As(err, &linkError) {
		cause = linkError.Err
	}
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return fmt.Errorf("%q does not exist", p.shown)
	case errors.Is(err, fs.ErrPermission):
		return fmt.Errorf("%q: permission denied", p.shown)
	case strings.Contains(cause.Error(), "escapes from parent"):
		return fmt.Errorf("%q leads out of the workspace, and external paths are switched off", p.shown)
	}
	return fmt.Errorf("%q: %w", p.shown, cause)
}
