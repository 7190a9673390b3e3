package builtin

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// workspace is the directory that tools work on.
type workspace struct {
	dir      string // absolute and clean
	real     string // without links
	root     *os.Root
	external bool
	private  string // octet's own data; empty for none
}

func openWorkspace(dir string, external bool, private string) (*workspace, error) {
	dir = filepath.Clean(dir)
	real, err := filepath.EvalSymlinks(dir)
	if err != nil {
		return nil, fmt.Errorf("workspace: %w", err)
	}
	real, ok := follow(top(real))
	if !ok {
		return nil, fmt.Errorf("workspace %q: more than %d links on its way", dir, mostLinks)
	}
	root, err := os.OpenRoot(real)
	if err != nil {
		return nil, fmt.Errorf("workspace: %w", err)
	}
	return &workspace{dir: dir, real: real, root: root, external: external, private: private}, nil
}

func (w *workspace) close() error { return w.root.Close() }

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

// leads is where a path that a tool was told leads by the links on its way as they are now, and how people and the model
// see it.
func (w *workspace) leads(path string) (real, shown string, err error) {
	if path == "" || strings.ContainsRune(path, 0) {
		return "", "", fmt.Errorf("%q is no path", path)
	}
	rel, inside := w.relative(filepath.FromSlash(path))
	ok := false
	if inside {
		shown = filepath.ToSlash(rel)
		real, ok = follow(w.real, rel)
	} else {
		if !filepath.IsAbs(rel) {
			rel = filepath.Join(w.dir, rel)
		}
		shown = rel
		real, ok = follow(top(rel))
	}
	if !ok {
		return "", "", fmt.Errorf("%q: more than %d links on its way; name the file itself", shown, mostLinks)
	}
	return real, shown, nil
}

// holds reports whether a path without links lies in the workspace.
func (w *workspace) holds(real string) bool {
	rel, err := filepath.Rel(w.real, real)
	return err == nil && filepath.IsLocal(rel)
}

// locate finds a path and holds on to the directory that it is in. asked is where the path led when leave was asked for,
// empty where nobody asked: what a link made of it since then is refused. The caller closes the place.
func (w *workspace) locate(path, asked string) (place, error) {
	real, shown, err := w.leads(path)
	switch {
	case err != nil:
		return place{}, err
	case asked != "" && asked != real:
		return place{}, fmt.Errorf("%q leads to %q now, and to %q when leave for it was asked: a link was changed meanwhile; call the tool again", shown, real, asked)
	case !w.external && !w.holds(real):
		return place{}, fmt.Errorf("%q leads out of the workspace %q, and external paths are switched off; name a path inside of it", path, w.dir)
	}
	return w.anchor(real, shown)
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

// top splits an absolute path into the root of its file system and the rest, as follow takes them.
func top(path string) (dir, rest string) {
	volume := filepath.VolumeName(path)
	return volume + string(filepath.Separator), path[len(volume):]
}
