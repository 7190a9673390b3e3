package extension

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"

	"github.com/octet-dev/octet/generated/canonicalwire"
)

// Source is the directory that a migration reads. Paths are those of the wire: relative, with slashes, without
// dots. No symbolic link is followed, also none that stays inside, and nothing can be written. It is closed
// when the function that got it returns.
type Source struct {
	*Scope
	root *os.Root
}

// mostSourceBytes bounds a file that is read: no answer could carry more.
const mostSourceBytes = canonicalwire.MaxFrameBytes

// openSource opens a source root, which must be a directory of its own.
func openSource(path string) (*Source, error) {
	if !filepath.IsAbs(path) {
		return nil, errors.New("the path is not absolute")
	}
	info, err := os.Lstat(path)
	if err != nil {
		return nil, errors.New("there is nothing that can be read")
	}
	if !info.IsDir() {
		return nil, errors.New("it is no directory; a symbolic link to one is not followed")
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, errors.New("the directory cannot be opened")
	}
	if opened, err := root.Stat("."); err != nil || !os.SameFile(info, opened) {
		_ = root.Close() // it is another one by now
		return nil, errors.New("the directory was replaced")
	}
	return &Source{root: root}, nil
}

func (s *Source) close() { _ = s.root.Close() } // it was only read

// Stat describes a file or directory. The error is an fs.ErrNotExist where there is none.
func (s *Source) Stat(path string) (fs.FileInfo, error) {
	if err := checkPath(path); err != nil {
		return nil, err
	}
	var info fs.FileInfo
	for end := range len(path) + 1 {
		if end < len(path) && path[end] != '/' {
			continue
		}
		var err error
		if info, err = s.root.Lstat(filepath.FromSlash(path[:end])); err != nil {
			return nil, err
		}
		if info.Mode()&fs.ModeSymlink != 0 {
			return nil, fmt.Errorf("%q is a symbolic link, which is not followed", path[:end])
		}
	}
	return info, nil
}

// ReadFile returns the content of a regular file of at most a frame. The error is an fs.ErrNotExist where
// there is none.
func (s *Source) ReadFile(path string) ([]byte, error) {
	info, err := s.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%q is no regular file", path)
	}
	file, err := s.root.Open(filepath.FromSlash(path))
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }() // it was only read
	if opened, err := file.Stat(); err != nil || !os.SameFile(info, opened) {
		return nil, fmt.Errorf("%q was replaced while it was opened", path)
	}
	content, err := io.ReadAll(io.LimitReader(file, mostSourceBytes+1))
	if err == nil && len(content) > mostSourceBytes {
		err = fmt.Errorf("%q has more than %d bytes", path, mostSourceBytes)
	}
	return content, err
}

// ReadDir returns the names in a directory, ascending; the empty path is the source root.
func (s *Source) ReadDir(path string) ([]string, error) {
	name := "."
	if path != "" {
		if _, err := s.Stat(path); err != nil {
			return nil, err
		}
		name = filepath.FromSlash(path)
	}
	directory, err := s.root.Open(name)
	if err != nil {
		return nil, err
	}
	defer func() { _ = directory.Close() }() // it was only read
	names, err := directory.Readdirnames(-1)
	slices.Sort(names)
	return names, err
}

// checkPath reports a path that does not lead below a source root by itself, on any system.
func checkPath(path string) error {
	drive := len(path) > 1 && path[1] == ':' && (path[0]|0x20 >= 'a' && path[0]|0x20 <= 'z')
	if !fs.ValidPath(path) || path == "." || drive || strings.ContainsAny(path, "\\\x00") {
		return fmt.Errorf("%q is no path below the source root; write it with slashes, relative and without dots", path)
	}
	return nil
}

// detected is what detections have reported in this process.
type detected struct {
	mu    sync.Mutex
	paths map[string]bool
}

func (d *detected) add(paths []string) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if d.paths == nil {
		d.paths = map[string]bool{}
	}
	for _, path := range paths {
		if len(d.paths) < mostDetected {
			d.paths[path] = true
		}
	}
}

func (d *detected) has(path string) bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return d.paths[path]
}
