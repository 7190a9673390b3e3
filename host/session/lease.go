package session

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"

	"github.com/gofrs/flock"
)

// lease is the right of one process to write one session: a locked file beside the store. The system
// takes the lock away when the process ends, however it does. The id of the process stands in the file.
type lease struct {
	path string
	lock *flock.Flock
}

// hold takes the lease of a session, or fails with a *BusyError.
func (s *Store) hold(id string) (*lease, error) {
	directory := s.path + ".locks"
	if err := os.MkdirAll(directory, 0o700); err != nil {
		return nil, explain(s.path, err)
	}
	path := filepath.Join(directory, id+".lock")
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() {
		return nil, &Error{Path: path, Kind: ErrReadOnly, Problem: "it is " + fileKind(info) + " where a lock belongs", Remedy: "move it away"}
	}
	for {
		lock := flock.New(path, flock.SetPermissions(0o600))
		locked, err := lock.TryLock()
		if err != nil {
			return nil, explain(s.path, errors.Join(err, lock.Close()))
		}
		if !locked {
			return nil, errors.Join(lock.Close(), &BusyError{Session: id, PID: holder(path)})
		}
		// Whoever gave the lease back has removed the file: it may be another one by now.
		if !current(lock, path) {
			_ = lock.Close()
			continue
		}
		// Where the system keeps others from writing to a locked file, the holder stays unknown.
		_ = os.WriteFile(path, []byte(strconv.Itoa(os.Getpid())+"\n"), 0o600)
		return &lease{path: path, lock: lock}, nil
	}
}

// current reports whether the locked file is still the one that the path names.
func current(lock *flock.Flock, path string) bool {
	locked, err := lock.Stat()
	if err != nil {
		return false
	}
	named, err := os.Stat(path)
	return err == nil && os.SameFile(locked, named)
}

// holder reads who holds a lease, 0 if it cannot be told.
func holder(path string) int {
	text, err := os.ReadFile(path)
	if err != nil {
		return 0
	}
	pid, err := strconv.Atoi(strings.TrimSpace(string(text)))
	if err != nil {
		return 0
	}
	return pid
}

// release gives the lease back.
func (l *lease) release() error {
	err := os.Remove(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		err = nil
	}
	return errors.Join(err, l.lock.Close())
}
