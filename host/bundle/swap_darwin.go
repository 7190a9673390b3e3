package bundle

import "golang.org/x/sys/unix"

// The system's renaming with flags.
const (
	renameCall      = "renameatx_np"
	renameSwap      = unix.RENAME_SWAP
	renameExclusive = unix.RENAME_EXCL
)

func rename(flags uint, from, to string) error {
	return unix.RenameatxNp(unix.AT_FDCWD, from, unix.AT_FDCWD, to, uint32(flags))
}
