package bundle

import (
	"bytes"
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
)

// staged is a bundle that is complete but not yet where it counts.
type staged struct {
	directory string // private; holds the bundle under its id
	id        string
}

func (s staged) path() string { return filepath.Join(s.directory, s.id) }

// discard deletes what is left of the staging.
func (s staged) discard() { _ = removeAll(s.directory) }

// stage extracts an archive that was inspected, and writes its record, into a private directory of the
// same file system. The archive is opened and hashed again: what was not inspected is not used.
func (m Manager) stage(archive *Archive, record Record) (_ staged, err error) {
	directory, err := os.MkdirTemp(m.Root, stagingPrefix)
	if err != nil {
		return staged{}, m.trouble(m.Root, "cannot be written", err)
	}
	s := staged{directory: directory, id: record.ID}
	defer func() {
		if err != nil {
			s.discard()
		}
	}()
	root, err := os.OpenRoot(directory)
	if err != nil {
		return staged{}, m.trouble(directory, "cannot be opened", err)
	}
	defer func() { _ = root.Close() }()
	_, file, err := open(archive.Path)
	if err != nil {
		return staged{}, err
	}
	defer func() { _ = file.Close() }()
	digest, _, err := read(file, func(e entry) error { return extract(root, e) })
	if err != nil && !isRefusal(err) {
		return staged{}, m.trouble(directory, "cannot be written", err)
	}
	if err == nil && digest != archive.SHA256 {
		err = changed(archive.Path, archive.SHA256, digest)
	}
	if err != nil {
		return staged{}, about(archive.Path, err)
	}
	text, err := record.encode()
	if err == nil {
		err = writeFile(root, entry{path: record.ID + "/" + RecordName, mode: modePlain, size: int64(len(text)), data: bytes.NewReader(text)})
	}
	if err == nil {
		err = syncTree(directory)
	}
	if err != nil {
		return staged{}, m.trouble(directory, "cannot be written", err)
	}
	return s, nil
}

func isRefusal(err error) bool {
	var known *Refusal
	return errors.As(err, &known)
}

// extract writes one entry below a root that nothing can lead out of.
func extract(root *os.Root, e entry) error {
	if e.directory() {
		return makeDirectory(root, e.path)
	}
	if parent := path.Dir(e.path); parent != "." {
		if err := makeDirectory(root, parent); err != nil {
			return err
		}
	}
	return writeFile(root, e)
}

// makeDirectory makes a directory and those above it, with the mode that extraction gives.
func makeDirectory(root *os.Root, path string) error {
	for end := range len(path) + 1 {
		if end < len(path) && path[end] != '/' {
			continue
		}
		err := root.Mkdir(path[:end], modeDirectory.Perm())
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err != nil {
			return err
		}
		// The mask of the process counts for nothing here.
		if err := root.Chmod(path[:end], modeDirectory.Perm()); err != nil {
			return err
		}
	}
	return nil
}

// writeFile writes a file that must not exist, through to the disk.
func writeFile(root *os.Root, e entry) (err error) {
	file, err := root.OpenFile(e.path, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, file.Close()) }()
	if count, err := io.Copy(file, e.data); err != nil {
		var cause *fs.PathError
		if errors.As(err, &cause) {
			return err
		}
		return truncated(err, e, count)
	}
	if err := file.Chmod(e.mode); err != nil {
		return err
	}
	return file.Sync()
}

// syncTree makes the names of everything below a directory durable.
func syncTree(directory string) error {
	return filepath.WalkDir(directory, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			syncDirectory(path)
		}
		return err
	})
}

// syncDirectory makes names durable where the system can do that.
func syncDirectory(path string) {
	if directory, err := os.Open(path); err == nil {
		_ = directory.Sync()
		_ = directory.Close()
	}
}

// removeAll deletes a tree of ours, also where a bundle made parts of it read-only later.
func removeAll(path string) error {
	err := os.RemoveAll(path)
	if err == nil {
		return nil
	}
	_ = filepath.WalkDir(path, func(path string, entry fs.DirEntry, err error) error {
		if err == nil && entry.IsDir() {
			_ = os.Chmod(path, 0o700)
		}
		return nil
	})
	return os.RemoveAll(path)
}

// publish gives a staged bundle its place, which is free.
func (m Manager) publish(s staged, id string) error {
	place := filepath.Join(m.Root, id)
	if err := renameNew(s.path(), place); err != nil {
		return m.trouble(place, "cannot be published", err)
	}
	syncDirectory(m.Root)
	return nil
}

// exchange puts a staged bundle in the place of another one: in one step where the system can; else the
// old one is moved aside, and moved back if the new one cannot take its place.
func (m Manager) exchange(s staged, id string) error {
	place := filepath.Join(m.Root, id)
	err := swap(s.path(), place)
	if errors.Is(err, errors.ErrUnsupported) {
		err = m.moveAside(s, id)
	}
	if err != nil {
		return m.trouble(place, "cannot be replaced; the earlier bundle is as it was", err)
	}
	syncDirectory(m.Root)
	return nil
}

// moveAside is exchange without help of the system.
func (m Manager) moveAside(s staged, id string) error {
	place, aside := filepath.Join(m.Root, id), filepath.Join(m.Root, asidePrefix+id)
	if err := os.Rename(place, aside); err != nil {
		return err
	}
	if err := renameNew(s.path(), place); err != nil {
		return errors.Join(err, os.Rename(aside, place))
	}
	_ = removeAll(aside)
	return nil
}
