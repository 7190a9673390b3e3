package bundle

import (
	"errors"
	"os"

	"golang.org/x/sys/unix"
)

// swap exchanges two directories in one step. It wraps errors.ErrUnsupported where the file system cannot.
func swap(a, b string) error {
	return supported(os.NewSyscallError("renameat2", unix.Renameat2(unix.AT_FDCWD, a, unix.AT_FDCWD, b, unix.RENAME_EXCHANGE)))
}

// renameNew gives a directory a name that nothing has.
func renameNew(from, to string) error {
	err := supported(os.NewSyscallError("renameat2", unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, unix.RENAME_NOREPLACE)))
	if errors.Is(err, errors.ErrUnsupported) {
		return renameFree(from, to)
	}
	return err
}

// supported marks what old kernels and some file systems say of flags that they do not know.
func supported(err error) error {
	if errors.Is(err, unix.EINVAL) || errors.Is(err, unix.ENOSYS) || errors.Is(err, unix.ENOTSUP) {
		return errors.Join(errors.ErrUnsupported, err)
	}
	return err
}
