package artifact

import (
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
)

var (
	errLink    = errors.New("the path leads over a symbolic link; name the file itself")
	errSpecial = errors.New("the path names no regular file")
	errChanged = errors.New("the file was exchanged while it was opened; publish it again")
	errScratch = errors.New("the scratch directory is not there, or was exchanged")
	errPath    = errors.New("the path leads out of the scratch directory or to nothing")
)

// openScratch opens the scratch directory, which has to be the directory itself.
func openScratch(path string) (*os.Root, error) {
	before, err := os.Lstat(path)
	if err != nil || !before.IsDir() {
		return nil, errScratch
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, errScratch
	}
	if after, err := root.Stat("."); err != nil || !os.SameFile(before, after) {
		_ = root.Close()
		return nil, errScratch
	}
	return root, nil
}

// readFile reads a regular file below the scratch directory. No link is followed, no pipe waited for, and
// never more than one byte beyond the size is read.
//
// Rule: EXT04-ART-008.
func readFile(scratch *os.Root, path string, size int64) ([]byte, error) {
	dir := scratch
	defer func() {
		if dir != scratch {
			_ = dir.Close()
		}
	}()
	steps := strings.FieldsFunc(path, func(r rune) bool { return r == '/' })
	for i, step := range steps {
		if step == "." {
			continue
		}
		if step == ".." || strings.ContainsAny(step, "\\:\x00") && os.PathSeparator == '\\' {
			return nil, errPath
		}
		if i == len(steps)-1 {
			return readRegular(dir, step, size)
		}
		next, err := enter(dir, step)
		if err != nil {
			return nil, err
		}
		if dir != scratch {
			_ = dir.Close()
		}
		dir = next
	}
	return nil, errPath
}

// enter opens a directory that is no link, also when somebody puts a link there meanwhile.
func enter(dir *os.Root, name string) (*os.Root, error) {
	before, err := dir.Lstat(name)
	switch {
	case err != nil:
		return nil, errPath
	case before.Mode()&os.ModeSymlink != 0:
		return nil, errLink
	case !before.IsDir():
		return nil, errPath
	}
	next, err := dir.OpenRoot(name)
	if err != nil {
		return nil, errPath
	}
	if after, err := next.Stat("."); err != nil || !os.SameFile(before, after) {
		_ = next.Close()
		return nil, errChanged
	}
	return next, nil
}

func readRegular(dir *os.Root, name string, size int64) ([]byte, error) {
	before, err := dir.Lstat(name)
	switch {
	case err != nil:
		return nil, errPath
	case before.Mode()&os.ModeSymlink != 0:
		return nil, errLink
	case !before.Mode().IsRegular():
		return nil, errSpecial
	case before.Size() != size:
		return nil, wrongSize(size, before.Size())
	}
	file, err := open(dir, name, before)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	data := make([]byte, size)
	if n, err := io.ReadFull(file, data); err != nil {
		return nil, wrongSize(size, int64(n))
	}
	if n, _ := file.Read(make([]byte, 1)); n != 0 {
		return nil, wrongSize(size, size+1)
	}
	return data, nil
}

// open opens the file that was looked at, and no other one that has taken its place. It waits for nothing.
func open(dir *os.Root, name string, before os.FileInfo) (*os.File, error) {
	file, err := dir.OpenFile(name, os.O_RDONLY|noWait, 0)
	if err != nil {
		return nil, errPath
	}
	if after, err := file.Stat(); err != nil || !os.SameFile(before, after) {
		_ = file.Close()
		return nil, errChanged
	}
	return file, nil
}

func wrongSize(said, found int64) error {
	return fmt.Errorf("size says %d bytes, and there are %d", said, found)
}
