package ledger

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gofrs/flock"
	"github.com/octet-dev/octet/host/oup/protocol"
)

// lockName is the file in a data directory that is locked. It stays when the lock is given back: whoever
// removes it would let two processes hold two files of one name.
const lockName = "ledger.lock"

// LockedError says that another process has the data directory.
type LockedError struct {
	Directory string
	PID       int // of that process; 0: unknown
}

// Word is what a server prints in front of the sentence, so that programs can tell.
func (e *LockedError) Word() string { return protocol.Text("data_dir_locked") }

// Error names the directory, the holder and the remedy.
func (e *LockedError) Error() string {
	holder := "another server"
	if e.PID != 0 {
		holder = fmt.Sprintf("another server (process %d)", e.PID)
	}
	return fmt.Sprintf("data directory %q is in use by %s; end that one first, or name another directory with --data-dir", e.Directory, holder)
}

// Unwrap returns ErrLocked.
func (e *LockedError) Unwrap() error { return ErrLocked }

// lock is the right of one process to a data directory. The system takes it away when the process ends,
// however it does.
type lock struct{ file *flock.Flock }

// lockDirectory takes a data directory, and makes it if it is missing.
func lockDirectory(directory string) (*lock, error) {
	path := filepath.Join(directory, lockName)
	if err := os.MkdirAll(directory, 0o700); err != nil {
		return nil, explain(path, err)
	}
	if err := checkRegular(path); err != nil {
		return nil, explain(path, err)
	}
	if err := checkUnlinked(path); err != nil {
		return nil, err
	}
	file := flock.New(path, flock.SetPermissions(0o600))
	locked, err := file.TryLock()
	if err == nil && !locked && gone(holder(path)) {
		// What the holder was about to start has its files until it runs, however dead the holder is.
		ctx, cancel := context.WithTimeout(context.Background(), inheritedWait)
		defer cancel()
		if locked, err = file.TryLockContext(ctx, inheritedLook); errors.Is(err, context.DeadlineExceeded) {
			err = nil
		}
	}
	if err != nil {
		return nil, explain(path, errors.Join(err, file.Close()))
	}
	if !locked {
		return nil, errors.Join(file.Close(), &LockedError{Directory: directory, PID: holder(path)})
	}
	// Where the system keeps others from reading a locked file, the holder stays unknown.
	_ = os.WriteFile(path, []byte(strconv.Itoa(os.Getpid())+"\n"), 0o600)
	return &lock{file: file}, nil
}

// checkUnlinked refuses a link in the place of the lock: what it leads to would be written over.
func checkUnlinked(path string) error {
	info, err := os.Lstat(path)
	if err != nil || info.Mode()&fs.ModeSymlink == 0 {
		return nil // what cannot be looked at cannot be locked either
	}
	return &Error{Path: path, Kind: ErrNotLedger, Problem: "it is a link, and what it leads to is no lock", Remedy: "move it away" + elsewhere}
}

// A lock whose holder has ended is waited for so long, and looked at so often.
const (
	inheritedWait = 5 * time.Second
	inheritedLook = 5 * time.Millisecond
)

// gone reports whether a process has ended; of 0, which is nobody, nothing is known.
func gone(pid int) bool {
	if pid == 0 {
		return false
	}
	p, err := os.FindProcess(pid)
	if err != nil {
		return true
	}
	defer func() { _ = p.Release() }()
	return errors.Is(p.Signal(syscall.Signal(0)), os.ErrProcessDone)
}

// holder reads who holds a lock, 0 if it cannot be told.
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

func (l *lock) release() error { return l.file.Close() }
