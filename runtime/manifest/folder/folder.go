// Package folder opens the directory of an extension and reads the manifest in it, without following a
// link out of it and without reading more than a bound.
package folder

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/octet-dev/octet/generated/manifestdoc"
	"github.com/octet-dev/octet/runtime/manifest"
)

// Folder is the directory of one extension with the bytes of its manifest.
type Folder struct {
	Dir          string // canonical absolute path
	Name         string // last element of Dir, which the manifest's name must equal
	ManifestPath string // absolute path of the manifest
	Data         []byte // the manifest
}

// The bounds on the size of a manifest.
const (
	// LoadLimit is for a manifest that is loaded by its directory.
	LoadLimit int64 = manifestdoc.MaxManifestLoadBytes
	// DiscoveryLimit is for a manifest that discovery found.
	DiscoveryLimit int64 = manifestdoc.MaxManifestBytes
)

// Error says why a directory holds no manifest that could be judged.
type Error struct {
	Rule    string // id of the rule that is broken
	Path    string
	Message string // what is wrong, as one line
	Remedy  string
	Cause   error // from the operating system; may be nil
}

// Error is the message.
func (e *Error) Error() string { return e.Message }

// Unwrap returns the cause, so that callers can ask for fs.ErrNotExist.
func (e *Error) Unwrap() error { return e.Cause }

// Open reads the manifest of a directory. It reads one byte more than the limit at most. The error is an
// *Error.
func Open(path string, limit int64) (*Folder, error) {
	dir, err := canonical(path)
	if err != nil {
		return nil, unreadable(path, err, "name a directory that holds an "+manifest.FileName())
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, unreadable(dir, err, "name a directory that holds an "+manifest.FileName())
	}
	defer func() { _ = root.Close() }()
	return In(root, dir, limit)
}

// In reads the manifest of a directory that is open already. Dir is its canonical absolute path, for
// messages and for the folder. The root stays open. The error is an *Error.
func In(root *os.Root, dir string, limit int64) (*Folder, error) {
	f := &Folder{Dir: dir, Name: filepath.Base(dir), ManifestPath: filepath.Join(dir, manifest.FileName())}
	data, err := read(root, f.ManifestPath, limit)
	if err != nil {
		return nil, err
	}
	f.Data = data
	return f, nil
}

func canonical(path string) (string, error) {
	absolute, err := filepath.Abs(path)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(absolute)
}

func read(root *os.Root, path string, limit int64) ([]byte, error) {
	name := manifest.FileName()
	before, err := root.Lstat(name)
	if err != nil {
		return nil, unreadable(path, err, "write the manifest")
	}
	if !before.Mode().IsRegular() {
		return nil, irregular(path, before)
	}
	file, err := root.Open(name)
	if err != nil {
		return nil, unreadable(path, err, "make the file readable")
	}
	defer func() { _ = file.Close() }()
	// The file may have been exchanged for a link in between.
	opened, err := file.Stat()
	if err != nil {
		return nil, unreadable(path, err, "try again")
	}
	if !os.SameFile(before, opened) {
		return nil, irregular(path, opened)
	}
	data, err := io.ReadAll(io.LimitReader(file, limit+1))
	if err != nil {
		return nil, unreadable(path, err, "try again")
	}
	if int64(len(data)) > limit {
		return nil, tooLarge(path, max(opened.Size(), int64(len(data))), limit)
	}
	return data, nil
}

func unreadable(path string, err error, remedy string) error {
	var cause *fs.PathError
	if errors.As(err, &cause) {
		err = cause.Err
	}
	return &Error{
		Rule: "MAN-FILE-001", Path: path, Cause: err, Remedy: remedy,
		Message: fmt.Sprintf("cannot read extension manifest %s: %s", path, err),
	}
}

func irregular(path string, info fs.FileInfo) error {
	kind := "not a regular file"
	switch mode := info.Mode(); {
	case mode&fs.ModeSymlink != 0:
		kind = "a symbolic link"
	case mode.IsDir():
		kind = "a directory"
	case mode.IsRegular():
		kind = "another file than a moment ago"
	}
	return &Error{
		Rule: "MAN-FILE-006", Path: path, Remedy: "put the file itself there",
		Message: fmt.Sprintf("cannot read extension manifest %s: it is %s", path, kind),
	}
}

func tooLarge(path string, size, limit int64) error {
	rule := "MAN-FILE-004"
	if limit == DiscoveryLimit {
		rule = "MAN-FILE-005"
	}
	return &Error{
		Rule: rule, Path: path, Remedy: "shorten it",
		Message: fmt.Sprintf("extension manifest %s is %d bytes; limit is %d", path, size, limit),
	}
}

// Judge judges the manifest together with the name of its directory.
func (f *Folder) Judge() manifest.Verdict {
	return manifest.Judge(f.Data, manifest.Context{Directory: f.Name})
}
