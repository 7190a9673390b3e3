package discovery

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/octet-dev/octet/host/diagnostic"
	"github.com/octet-dev/octet/runtime/manifest"
	"github.com/octet-dev/octet/runtime/manifest/folder"
)

// MaxRootEntries bounds the entries of a root, whatever they are. Sheet: manifest 4.2.
const MaxRootEntries = 4096

// candidate is a directory of a root that holds a manifest, or a reason why that manifest cannot be read.
type candidate struct {
	scope  Scope
	name   string
	path   string // of the manifest
	folder *folder.Folder
	fault  error
}

// scan lists the candidates of one root in the order of their paths. It reads the names of its entries
// and, of directories, whether they hold a manifest; manifests of candidates that lose their name are not
// read. It follows no link below the base of the root and runs nothing.
func scan(root Root) (found []candidate, told []diagnostic.Diagnostic) {
	opened, dir, told := openRoot(root)
	if opened == nil {
		return nil, told
	}
	defer func() { _ = opened.Close() }()
	entries, err := list(opened)
	if err != nil {
		return nil, append(told, unusable(dir, "scan", err))
	}
	if len(entries) > MaxRootEntries {
		return nil, append(told, warning(dir, "MAN-DISCOVER-011",
			fmt.Sprintf("the directory has more than %d entries and is ignored", MaxRootEntries),
			"move what is no extension elsewhere"))
	}
	slices.SortFunc(entries, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	for _, entry := range entries {
		c, refusal := look(opened, dir, entry)
		if refusal != nil {
			told = append(told, *refusal)
		}
		if c != nil {
			c.scope = root.Scope
			found = append(found, *c)
		}
	}
	return found, told
}

// list reads one entry more than the bound at most.
func list(root *os.Root) ([]fs.DirEntry, error) {
	dir, err := root.Open(".")
	if err != nil {
		return nil, err
	}
	defer func() { _ = dir.Close() }()
	entries, err := dir.ReadDir(MaxRootEntries + 1)
	if errors.Is(err, io.EOF) {
		err = nil
	}
	return entries, err
}

// look decides whether an entry of a root is a candidate. Plain files, hidden directories and directories
// without a manifest are none, in silence.
func look(root *os.Root, dir string, entry fs.DirEntry) (*candidate, *diagnostic.Diagnostic) {
	name, path := entry.Name(), filepath.Join(dir, entry.Name())
	refuse := func(rule, message, remedy string) (*candidate, *diagnostic.Diagnostic) {
		d := warning(path, rule, message, remedy)
		return nil, &d
	}
	switch {
	case entry.Type()&fs.ModeSymlink != 0:
		return refuse("MAN-DISCOVER-013", "an extension must not be a symbolic link", "move the directory itself here, or name its parent by --extension-dir")
	case !entry.IsDir() || strings.HasPrefix(name, "."):
		return nil, nil
	}
	child, err := enter(root, name)
	if err != nil {
		d := unusable(path, "inspect", err)
		return nil, &d
	}
	defer func() { _ = child.Close() }()
	info, err := child.Lstat(manifest.FileName())
	manifestPath := filepath.Join(path, manifest.FileName())
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, nil
	case err != nil:
		d := unusable(manifestPath, "inspect", err)
		return nil, &d
	case !validName(name):
		return refuse("MAN-DISCOVER-016", fmt.Sprintf("the directory name %q is none for an extension", name),
			"use ASCII letters, digits, dots, underscores and hyphens, and the name that the manifest has")
	case info.Mode()&fs.ModeSymlink != 0:
		path = manifestPath
		return refuse("MAN-DISCOVER-015", "a manifest must not be a symbolic link", "put the file itself there")
	case !info.Mode().IsRegular():
		path = manifestPath
		return refuse("MAN-DISCOVER-015", "a manifest must be a regular file", "put a file there")
	}
	return &candidate{name: name, path: manifestPath}, nil
}

// read reads the manifest of a candidate. What is wrong with it stays with the candidate.
func (c *candidate) read(root Root) {
	opened, dir, _ := openRoot(root)
	if opened == nil {
		c.fault = errChanged
		return
	}
	defer func() { _ = opened.Close() }()
	child, err := enter(opened, c.name)
	if err != nil {
		c.fault = err
		return
	}
	defer func() { _ = child.Close() }()
	c.folder, c.fault = folder.In(child, filepath.Join(dir, c.name), folder.DiscoveryLimit)
}

var errChanged = errors.New("it changed while it was looked at; try again")

// enter opens a child directory that is no link, also when somebody puts a link there meanwhile.
func enter(root *os.Root, name string) (*os.Root, error) {
	before, err := root.Lstat(name)
	if err != nil {
		return nil, err
	}
	if !before.IsDir() {
		return nil, errChanged
	}
	child, err := root.OpenRoot(name)
	if err != nil {
		return nil, err
	}
	if after, err := child.Stat("."); err != nil || !os.SameFile(before, after) {
		_ = child.Close()
		return nil, errChanged
	}
	return child, nil
}

// openRoot opens a root without following a link below its base. A root that is missing gives nothing at
// all; whatever else keeps it shut is told.
func openRoot(root Root) (*os.Root, string, []diagnostic.Diagnostic) {
	base := root.Base
	if base == "" {
		base = filepath.Dir(root.Dir)
	}
	canonical, err := filepath.EvalSymlinks(base)
	if err != nil {
		return nil, "", missing(root.Dir, "canonicalize", err)
	}
	at, err := os.OpenRoot(canonical)
	if err != nil {
		return nil, "", missing(root.Dir, "inspect", err)
	}
	steps, err := filepath.Rel(base, root.Dir)
	if err != nil {
		_ = at.Close()
		return nil, "", missing(root.Dir, "inspect", err)
	}
	dir := canonical
	for step := range strings.SplitSeq(steps, string(filepath.Separator)) {
		if step == "." { // the root of the file system is its own parent
			continue
		}
		dir = filepath.Join(dir, step)
		next, refusal := descend(at, step, dir)
		_ = at.Close()
		if next == nil {
			return nil, "", refusal
		}
		at = next
	}
	return at, dir, nil
}

// descend goes one step down towards a root.
func descend(at *os.Root, step, dir string) (*os.Root, []diagnostic.Diagnostic) {
	info, err := at.Lstat(step)
	switch {
	case err != nil:
		return nil, missing(dir, "inspect", err)
	case info.Mode()&fs.ModeSymlink != 0:
		return nil, []diagnostic.Diagnostic{warning(dir, "MAN-DISCOVER-009",
			"a directory of extensions must not be a symbolic link; it is skipped", "name the directory that the link leads to")}
	case !info.IsDir():
		return nil, []diagnostic.Diagnostic{warning(dir, "MAN-DISCOVER-009",
			"extensions need a directory, and this is none", "name the directory whose children are extensions")}
	}
	next, err := enter(at, step)
	if err != nil {
		return nil, missing(dir, "inspect", err)
	}
	return next, nil
}

// missing passes over what does not exist and tells of every other failure.
func missing(dir, what string, err error) []diagnostic.Diagnostic {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return []diagnostic.Diagnostic{unusable(dir, what, err)}
}

// unusable tells of something that the system does not let us look at.
func unusable(path, what string, err error) diagnostic.Diagnostic {
	var cause *fs.PathError
	if errors.As(err, &cause) {
		err = cause.Err
	}
	return warning(path, "MAN-DISCOVER-010", fmt.Sprintf("cannot %s it: %v", what, err), "make it readable, or remove it; it is skipped")
}

func warning(path, rule, message, remedy string) diagnostic.Diagnostic {
	return diagnostic.Diagnostic{Level: diagnostic.Warning, Path: path, Rule: rule, Message: message, Remedy: remedy}
}

func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}

// validName reports whether a directory may hold an extension, as far as its name goes.
func validName(name string) bool {
	if name == "" || name == "." || name == ".." {
		return false
	}
	for _, c := range []byte(name) {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (c < '0' || c > '9') && !strings.ContainsRune("._-", rune(c)) {
			return false
		}
	}
	return true
}
