package config

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"
)

// lockWait is how often a lock that somebody else holds is tried again.
const lockWait = 20 * time.Millisecond

// Save makes a change in a configuration file and reports whether there was anything to change. The file
// is replaced in one step: whoever reads it sees the text before or behind the change, also after a crash.
// Two writers wait for each other, until the context ends. A missing file and its directory are made, for
// the user alone; links are followed and stay.
func Save(ctx context.Context, path string, change Change) (changed bool, err error) {
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		return false, fmt.Errorf("configuration %s: %w", path, err)
	}
	lock := flock.New(path + ".lock")
	if _, err := lock.TryLockContext(ctx, lockWait); err != nil {
		return false, fmt.Errorf("configuration %s: lock: %w", path, err)
	}
	defer func() { err = errors.Join(err, lock.Close()) }()
	target := path
	if real, err := filepath.EvalSymlinks(path); err == nil {
		target = real
	}
	text, mode, err := current(target)
	if err != nil {
		return false, fmt.Errorf("configuration %s: %w", path, err)
	}
	edited, err := change.Apply(text)
	switch {
	case err != nil:
		return false, fmt.Errorf("configuration %s: %w", path, err)
	case len(edited) > MaxFileBytes:
		return false, fmt.Errorf("configuration %s: it would be longer than %d bytes; shorten it", path, MaxFileBytes)
	case string(edited) == string(text):
		return false, nil
	}
	if err := replace(target, edited, mode); err != nil {
		return false, fmt.Errorf("configuration %s: %w", path, err)
	}
	return true, nil
}

// current reads the file that is to be changed; one that is missing is empty.
func current(path string) ([]byte, fs.FileMode, error) {
	file, err := openRegular(os.Stat, os.Open, path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0o600, nil
	}
	if err != nil {
		return nil, 0, cause(err)
	}
	defer func() { _ = file.Close() }()
	info, err := file.Stat()
	if err != nil {
		return nil, 0, cause(err)
	}
	text, err := io.ReadAll(io.LimitReader(file, MaxFileBytes+1))
	if err == nil && len(text) > MaxFileBytes {
		err = fmt.Errorf("it is longer than %d bytes; shorten it", MaxFileBytes)
	}
	return text, info.Mode().Perm(), err
}

// replace puts a text in the place of a file, through a file beside it that is on disk before it counts.
func replace(path string, text []byte, mode fs.FileMode) (err error) {
	file, err := os.CreateTemp(filepath.Dir(path), ".config-*.toml")
	if err != nil {
		return err
	}
	defer func() {
		if err != nil {
			_ = file.Close()
			_ = os.Remove(file.Name())
		}
	}()
	if _, err := file.Write(text); err != nil {
		return err
	}
	if err := file.Chmod(mode); err != nil {
		return err
	}
	if err := file.Sync(); err != nil {
		return err
	}
	if err := file.Close(); err != nil {
		return err
	}
	if err := os.Rename(file.Name(), path); err != nil {
		return err
	}
	syncDirectory(filepath.Dir(path))
	return nil
}

// syncDirectory makes the new name durable where the system can do that; the text is either way.
func syncDirectory(path string) {
	if dir, err := os.Open(path); err == nil {
		_ = dir.Sync()
		_ = dir.Close()
	}
}
