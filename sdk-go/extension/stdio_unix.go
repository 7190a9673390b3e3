//go:build unix

package extension

import (
	"fmt"
	"os"

	"golang.org/x/sys/unix"
)

// takeStdio moves the protocol's streams to descriptors of their own, which no child inherits. What else the
// program prints goes to stderr from then on, also what C code or a child prints, and nobody else can read
// the host's bytes: descriptor 1 becomes a copy of stderr, descriptor 0 the null device.
func takeStdio() (in, out *os.File, err error) {
	if in, err = moved(0, "stdin"); err != nil {
		return nil, nil, err
	}
	if out, err = moved(1, "stdout"); err != nil {
		return nil, nil, err
	}
	null, err := os.Open(os.DevNull)
	if err != nil {
		return nil, nil, err
	}
	defer func() { _ = null.Close() }()
	if err := replace(int(null.Fd()), 0); err != nil {
		return nil, nil, fmt.Errorf("replace stdin: %w", err)
	}
	if err := replace(2, 1); err != nil {
		return nil, nil, fmt.Errorf("replace stdout: %w", err)
	}
	return in, out, nil
}

// firstFree is the lowest descriptor that is none of the three standard streams.
const firstFree = 3

func moved(fd uintptr, name string) (*os.File, error) {
	duplicate, err := unix.FcntlInt(fd, unix.F_DUPFD_CLOEXEC, firstFree)
	if err != nil {
		return nil, fmt.Errorf("duplicate %s: %w", name, err)
	}
	return os.NewFile(uintptr(duplicate), name), nil
}
