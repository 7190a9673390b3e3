package builtin

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// files is what the tools do with files: inside an os.Root, or anywhere.
type files interface {
	Stat(name string) (fs.FileInfo, error)
	Lstat(name string) (fs.FileInfo, error)
	Readlink(name string) (string, error)
	OpenFile(name string, flag int, perm fs.FileMode) (*os.File, error)
	MkdirAll(name string, perm fs.FileMode) error
	Rename(old, new string) error
	Remove(name string) error
	// FS shows a directory and what is below it; links in it are not followed out of the root.
	FS(dir string) fs.FS
}

// workspace is the directory that tools work on.
type workspace struct {
	dir      string // absolute and clean
	real     string // without links
	root     *os.Root
	external bool
}

func openWorkspace(dir string, external bool) (*workspace, error) {
	dir = filepath.Clean(dir)
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, fmt.Errorf("workspace: %w", err)
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("workspace: %w", err)
	}
	return &workspace{dir: dir, real: real, root: root, external: external}, nil
}

func (w *workspace) close() error { return w.root.Close() }

// place is a path that a tool was told.
type place struct {
	files
	name   string // for files
	shown  string // as people and the model see it
	rooted bool   // name is relative to the workspace, and nothing leads out of it
}

// relative is a path relative to the workspace; ok is false if it lies outside, as it is written.
func (w *workspace) relative(path string) (rel string, ok bool) {
	if !filepath.IsAbs(path) {
		rel = filepath.Clean(path)
		return rel, filepath.IsLocal(rel)
	}
	for _, base := range []string{w.dir, w.real} {
		if rel, err := filepath.Rel(base, path); err == nil && filepath.IsLocal(rel) {
			return rel, true
		}
	}
	return filepath.Clean(path), false
}

// locate finds a path. It does not look at the disk.
func (w *workspace) locate(path string) (place, error) {
	if path == "" || strings.ContainsRune(path, 0) {
		return place{}, fmt.Errorf("%q is no path", path)
	}
	rel, inside := w.relative(filepath.FromSlash(path))
	switch {
	case inside && !w.external:
		return place{inRoot{w.root}, rel, filepath.ToSlash(rel), true}, nil
	case inside:
		return place{anywhere{}, filepath.Join(w.dir, rel), filepath.ToSlash(rel), false}, nil
	case !w.external:
		return place{}, fmt.Errorf("%q lies outside the workspace %q, and external paths are switched off; name a path inside of it", path, w.dir)
	}
	if !filepath.IsAbs(rel) {
		rel = filepath.Join(w.dir, rel)
	}
	return place{anywhere{}, rel, rel, false}, nil
}

// outside reports whether a path leads out of the workspace: as it is written, or, where nothing else keeps it
// inside, by the links on its way as they are now.
func (w *workspace) outside(path string) bool {
	rel, inside := w.relative(filepath.FromSlash(path))
	if !inside || !w.external {
		return !inside
	}
	leads, ok := follow(w.real, rel)
	if ok {
		leads, err := filepath.Rel(w.real, leads)
		ok = err == nil && filepath.IsLocal(leads)
	}
	return !ok
}

// mostLinks is how many links are followed on the way of one path, as systems do.
const mostLinks = 40

// follow is where a path leads below a directory that is named without links. What is not there is taken as it is
// written: a link may name a file that is to be made. ok is false where there are too many links.
func follow(dir, path string) (leads string, ok bool) {
	separator := string(filepath.Separator)
	rest := strings.Split(path, separator)
	for links := 0; len(rest) > 0; {
		name := rest[0]
		rest = rest[1:]
		switch name {
		case "", ".":
			continue
		case "..":
			dir = filepath.Dir(dir)
			continue
		}
		next := filepath.Join(dir, name)
		target, err := os.Readlink(next)
		if err != nil { // no link, or nothing at all
			dir = next
			continue
		}
		if links++; links > mostLinks {
			return "", false
		}
		if filepath.IsAbs(target) {
			dir = filepath.VolumeName(target) + separator
			target = strings.TrimPrefix(target, filepath.VolumeName(target))
		}
		rest = append(strings.Split(target, separator), rest...)
	}
	return dir, true
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

// regular looks at a file that must be a plain one.
func (p place) regular() (fs.FileInfo, error) {
	info, err := p.Stat(p.name)
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

// inRoot are the files below the workspace.
type inRoot struct{ *os.Root }

func (r inRoot) FS(dir string) fs.FS {
	sub, err := fs.Sub(r.Root.FS(), filepath.ToSlash(dir))
	if err != nil {
		return broken{err}
	}
	return sub
}

type broken struct{ err error }

func (b broken) Open(string) (fs.File, error) { return nil, b.err }

// anywhere are all files.
type anywhere struct{}

func (anywhere) Stat(name string) (fs.FileInfo, error)  { return os.Stat(name) }
func (anywhere) Lstat(name string) (fs.FileInfo, error) { return os.Lstat(name) }
func (anywhere) Readlink(name string) (string, error)   { return os.Readlink(name) }
func (anywhere) OpenFile(name string, flag int, perm fs.FileMode) (*os.File, error) {
	return os.OpenFile(name, flag, perm)
}
func (anywhere) MkdirAll(name string, perm fs.FileMode) error { return os.MkdirAll(name, perm) }
func (anywhere) Rename(old, new string) error                 { return os.Rename(old, new) }
func (anywhere) Remove(name string) error                     { return os.Remove(name) }
func (anywhere) FS(dir string) fs.FS                          { return os.DirFS(dir) }
