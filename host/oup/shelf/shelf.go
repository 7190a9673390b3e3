// Package shelf keeps small documents in the data directory, each under the name of whoever owns it: a
// session, a workspace. A document is there in whole or not at all, also when the process is killed.
//
// The name of an owner may be any text. It is never a part of a path: its folder is called by a digest of it.
package shelf

import (
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

const (
	// ownerFile has the name of the owner in the folder of its documents.
	ownerFile = "owner"
	// maxOwnerBytes bounds the name of an owner.
	maxOwnerBytes = 64 << 10
	maxNameBytes  = 128
	// unfinished begins the names of files that are being written.
	unfinished = ".part-"
)

// Shelf is a directory with a folder for every owner. Its methods may be called from any goroutine; two that
// change the same document are the caller's to order.
type Shelf struct{ root *os.Root }

// Open opens a directory, and makes it for the user alone if it is missing.
func Open(directory string) (*Shelf, error) {
	if err := os.MkdirAll(directory, 0o700); err != nil {
		return nil, fmt.Errorf("shelf: %w", err)
	}
	root, err := os.OpenRoot(directory)
	if err != nil {
		return nil, fmt.Errorf("shelf: %w", err)
	}
	return &Shelf{root}, nil
}

// Close gives the directory back.
func (s *Shelf) Close() error { return s.root.Close() }

// folder is where the documents of an owner are.
func folder(owner string) string {
	sum := sha256.Sum256([]byte(owner))
	return hex.EncodeToString(sum[:16])
}

// checkName refuses names that are no plain file names of ours.
func checkName(name string) error {
	plain := func(r rune) bool {
		return r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= '0' && r <= '9' || r == '-' || r == '_' || r == '.'
	}
	if name == "" || len(name) > maxNameBytes || name[0] == '.' || name == ownerFile ||
		strings.IndexFunc(name, func(r rune) bool { return !plain(r) }) >= 0 {
		return fmt.Errorf("shelf: %.140q is no name of a document", name)
	}
	return nil
}

// Put writes a document, in the place of an older one with that name.
func (s *Shelf) Put(owner, name string, data []byte) error {
	if err := checkName(name); err != nil {
		return err
	}
	dir, err := s.make(owner)
	if err != nil {
		return err
	}
	return s.write(path.Join(dir, name), data)
}

// make makes the folder of an owner.
func (s *Shelf) make(owner string) (string, error) {
	dir := folder(owner)
	_, err := s.root.Stat(path.Join(dir, ownerFile))
	if err == nil {
		return dir, nil
	}
	if !errors.Is(err, fs.ErrNotExist) {
		return "", fmt.Errorf("shelf: %w", err)
	}
	if len(owner) > maxOwnerBytes {
		return "", fmt.Errorf("shelf: the name of an owner has %d bytes, at most %d", len(owner), maxOwnerBytes)
	}
	if err := s.root.MkdirAll(dir, 0o700); err != nil {
		return "", fmt.Errorf("shelf: %w", err)
	}
	return dir, s.write(path.Join(dir, ownerFile), []byte(owner))
}

// write puts a file in place in one step, through another one that is on disk before it counts.
func (s *Shelf) write(name string, data []byte) (err error) {
	part := path.Join(path.Dir(name), unfinished+rand.Text())
	file, err := s.root.OpenFile(part, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("shelf: %w", err)
	}
	_, err = file.Write(data)
	if err = errors.Join(err, file.Sync(), file.Close()); err == nil {
		err = s.root.Rename(part, name)
	}
	if err != nil {
		_ = s.root.Remove(part)
		return fmt.Errorf("shelf: %w", err)
	}
	return nil
}

// Get reads a document of at most so many bytes. The error is fs.ErrNotExist where there is none.
func (s *Shelf) Get(owner, name string, most int64) ([]byte, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	return s.read(path.Join(folder(owner), name), most)
}

func (s *Shelf) read(name string, most int64) ([]byte, error) {
	file, err := s.root.Open(name)
	if err != nil {
		return nil, fmt.Errorf("shelf: %w", err)
	}
	defer func() { _ = file.Close() }()
	data, err := io.ReadAll(io.LimitReader(file, most+1))
	if err != nil {
		return nil, fmt.Errorf("shelf: %w", err)
	}
	if int64(len(data)) > most {
		return nil, fmt.Errorf("shelf: %q has more than %d bytes", name, most)
	}
	return data, nil
}

// Names lists the documents of an owner, ascending. What is left of interrupted writing is not one.
func (s *Shelf) Names(owner string) ([]string, error) {
	entries, err := fs.ReadDir(s.root.FS(), folder(owner))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("shelf: %w", err)
	}
	var names []string
	for _, entry := range entries {
		if entry.Type().IsRegular() && checkName(entry.Name()) == nil {
			names = append(names, entry.Name())
		}
	}
	return names, nil
}

// Remove removes a document; one that is not there counts as removed.
func (s *Shelf) Remove(owner, name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	if err := s.root.Remove(path.Join(folder(owner), name)); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("shelf: %w", err)
	}
	return nil
}

// Forget removes everything of an owner.
func (s *Shelf) Forget(owner string) error {
	if err := s.root.RemoveAll(folder(owner)); err != nil {
		return fmt.Errorf("shelf: %w", err)
	}
	return nil
}

// Owners lists who has a folder, in no particular order, and clears away what interrupted writing has left.
// Call it before anybody writes.
func (s *Shelf) Owners() ([]string, error) {
	entries, err := fs.ReadDir(s.root.FS(), ".")
	if err != nil {
		return nil, fmt.Errorf("shelf: %w", err)
	}
	var owners []string
	for _, entry := range entries {
		if !entry.IsDir() {
			continue
		}
		files, err := fs.ReadDir(s.root.FS(), entry.Name())
		if err != nil {
			return nil, fmt.Errorf("shelf: %w", err)
		}
		for _, file := range files {
			if strings.HasPrefix(file.Name(), unfinished) {
				_ = s.root.Remove(path.Join(entry.Name(), file.Name()))
			}
		}
		owner, err := s.read(path.Join(entry.Name(), ownerFile), maxOwnerBytes)
		if err == nil && folder(string(owner)) == entry.Name() {
			owners = append(owners, string(owner))
		}
	}
	slices.Sort(owners)
	return owners, nil
}

// Folder opens a folder of an owner that holds files which are too large for documents, and makes it.
func (s *Shelf) Folder(owner, name string) (*os.Root, error) {
	if err := checkName(name); err != nil {
		return nil, err
	}
	dir, err := s.make(owner)
	if err != nil {
		return nil, err
	}
	dir = path.Join(dir, name)
	if err := s.root.MkdirAll(dir, 0o700); err != nil {
		return nil, fmt.Errorf("shelf: %w", err)
	}
	root, err := s.root.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("shelf: %w", err)
	}
	return root, nil
}

// FolderPath is the path of such a folder, for other programs.
func (s *Shelf) FolderPath(owner, name string) string {
	return filepath.Join(s.root.Name(), folder(owner), name)
}

// RemoveFolder removes such a folder with everything in it.
func (s *Shelf) RemoveFolder(owner, name string) error {
	if err := checkName(name); err != nil {
		return err
	}
	if err := s.root.RemoveAll(path.Join(folder(owner), name)); err != nil {
		return fmt.Errorf("shelf: %w", err)
	}
	return nil
}
