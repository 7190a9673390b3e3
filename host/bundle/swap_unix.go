//go:build linux || darwin

package bundle

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// swap exchanges two directories in one step. It wraps errors.ErrUnsupported where the file system cannot.
func swap(a, b string) error { return renameAs(renameSwap, a, b) }

// renameNew gives a directory a name that nothing has.
func renameNew(from, to string) error {
	err := renameAs(renameExclusive, from, to)
	if errors.Is(err, errors.ErrUnsupported) {
		return renameFree(from, to)
	}
	return err
}

// renameAs renames with flags. What old kernels and some file systems say of flags that they do not know is
// marked as errors.ErrUnsupported.
func renameAs(flags uint, from, to string) error {
	err := os.NewSyscallError(renameCall, rename(flags, from, to))
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.ENOTSUP) {
		return errors.Join(errors.ErrUnsupported, err)
	}
	return err
}
