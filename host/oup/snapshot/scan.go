package snapshot

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"syscall"
	"time"
	"unicode/utf8"
)

// leftAlone are folders that other tools keep in order themselves.
var leftAlone = []string{".git", ".hg", ".svn", ".jj", "node_modules", "target", ".venv", "__pycache__"}

// settled is how old a change must be to be told from another one by its time.
const settled = 2 * time.Second

// stagingPrefix begins the name of the folder in which files wait to be put back.
const stagingPrefix = ".octet-restore-"

// scan fills the list of a snapshot and keeps the content of every file in it. What the last snapshot knows and
// what has not changed since is not read again.
func (s *Store) scan(ctx context.Context, root, objects *os.Root, last, m *manifest) error {
	known := map[string]file{}
	if last != nil {
		for _, f := range last.Files {
			known[f.Path] = f
		}
	}
	skip := s.skipped()
	total := int64(0)
	err := fs.WalkDir(root.FS(), ".", func(name string, entry fs.DirEntry, err error) error {
		switch {
		case ctx.Err() != nil:
			return context.Cause(ctx)
		case err != nil && name != ".":
			return nil //nolint:nilerr // what cannot be read is not kept, and not touched either
		case err != nil:
			return err
		case entry.IsDir():
			return passOver(root, name, entry, skip)
		case !entry.Type().IsRegular() || !utf8.ValidString(name):
			return nil
		}
		f, large, err := s.keep(root, objects, name, known, last)
		switch {
		case err != nil:
			return err
		case large:
			m.Skipped = append(m.Skipped, name)
			return nil
		case f.Path == "":
			return nil
		}
		m.Files = append(m.Files, f)
		if total += f.Size; total > s.options.MaxBytes {
			return &TooLargeError{fmt.Sprintf("%d bytes", s.options.MaxBytes)}
		}
		if len(m.Files) > s.options.MaxFiles {
			return &TooLargeError{fmt.Sprintf("%d files", s.options.MaxFiles)}
		}
		return nil
	})
	var large *TooLargeError
	if err != nil && !errors.As(err, &large) && ctx.Err() == nil {
		return fmt.Errorf("snapshot: %w", err)
	}
	byPath := func(a, b file) int { return strings.Compare(a.Path, b.Path) }
	slices.SortFunc(m.Files, byPath)
	slices.Sort(m.Skipped)
	return err
}

// skipped looks at the folders that are never looked into.
func (s *Store) skipped() []fs.FileInfo {
	var list []fs.FileInfo
	for _, name := range s.options.Skip {
		if info, err := os.Stat(name); err == nil {
			list = append(list, info)
		}
	}
	return list
}

// passOver decides about a folder.
func passOver(root *os.Root, name string, entry fs.DirEntry, skip []fs.FileInfo) error {
	if name == "." {
		return nil
	}
	if slices.Contains(leftAlone, entry.Name()) || strings.HasPrefix(entry.Name(), stagingPrefix) {
		return fs.SkipDir
	}
	info, err := root.Lstat(name)
	if err != nil || slices.ContainsFunc(skip, func(s fs.FileInfo) bool { return os.SameFile(s, info) }) {
		return fs.SkipDir
	}
	return nil
}

// keep keeps the content of a file. The file has no path where it has gone or cannot be read.
func (s *Store) keep(root, objects *os.Root, name string, known map[string]file, last *manifest) (f file, large bool, err error) {
	// Something else may stand there by now: one that would keep us waiting is not waited for.
	from, err := root.OpenFile(name, os.O_RDONLY|syscall.O_NONBLOCK, 0)
	if err != nil {
		return file{}, false, nil //nolint:nilerr // as above
	}
	defer func() { _ = from.Close() }()
	info, err := from.Stat()
	if err != nil || !info.Mode().IsRegular() {
		return file{}, false, nil //nolint:nilerr // as above
	}
	if info.Size() > s.options.MaxFileBytes {
		return file{}, true, nil
	}
	f = file{Path: name, Mode: info.Mode().Perm(), Size: info.Size(), Time: info.ModTime().UnixNano()}
	if old, ok := known[name]; ok && old.Size == f.Size && old.Time == f.Time && info.ModTime().Add(settled).Before(last.Time) {
		if at, err := objects.Stat(old.Sum); err == nil && at.Size() == old.Size {
			f.Sum = old.Sum
			return f, false, nil
		}
	}
	if f.Sum, f.Size, err = keepContent(objects, from, s.options.MaxFileBytes); err != nil {
		return file{}, false, err
	}
	return f, f.Size > s.options.MaxFileBytes, nil
}

// keepContent copies content under its digest. What is longer than most is cut, and not kept.
func keepContent(objects *os.Root, from io.Reader, most int64) (sum string, size int64, err error) {
	part := "part-" + rand.Text()
	to, err := objects.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return "", 0, err
	}
	defer func() { _ = objects.Remove(part) }() // it is there no more where it was kept
	hash := sha256.New()
	size, err = io.Copy(io.MultiWriter(to, hash), io.LimitReader(from, most+1))
	if err = errors.Join(err, to.Close()); err != nil || size > most {
		return "", size, err
	}
	sum = hex.EncodeToString(hash.Sum(nil))
	if info, err := objects.Stat(sum); err == nil && info.Size() == size {
		return sum, size, nil
	}
	return sum, size, objects.Rename(part, sum)
}

// parents are the folders above a path, the highest first.
func parents(name string) (list []string) {
	for dir := path.Dir(name); dir != "."; dir = path.Dir(dir) {
		list = append(list, dir)
	}
	slices.Reverse(list)
	return list
}
