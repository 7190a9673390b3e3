package bundle

import (
	"errors"
	"io/fs"
	"os"
)

// renameFree gives a directory a name that nothing has, on systems that cannot check it in the same step.
// Everybody who makes directories here holds the lock.
func renameFree(from, to string) error {
	if _, err := os.Lstat(to); !errors.Is(err, fs.ErrNotExist) {
		return errors.Join(fs.ErrExist, err)
	}
	return os.Rename(from, to)
}
