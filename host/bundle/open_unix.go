//go:build unix

package bundle

import (
	"os"

	"golang.org/x/sys/unix"
)

// openNoFollow opens a file for reading unless it is a link, and never waits for the other end of a fifo.
func openNoFollow(path string) (*os.File, error) {
	return os.OpenFile(path, os.O_RDONLY|unix.O_NOFOLLOW|unix.O_NONBLOCK, 0)
}
