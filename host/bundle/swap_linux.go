package bundle

import "golang.org/x/sys/unix"

// The system's renaming with flags.
const (
	renameCall      = "renameat2"
	renameSwap      = unix.RENAME_EXCHANGE
	renameExclusive = unix.RENAME_NOREPLACE
)

func rename(flags uint, from, to string) error {
	return unix.Renameat2(unix.AT_FDCWD, from, unix.AT_FDCWD, to, flags)
}
