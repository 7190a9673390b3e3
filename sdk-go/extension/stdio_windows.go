package extension

import (
	"fmt"
	"os"

	"golang.org/x/sys/windows"
)

// takeStdio keeps the protocol's stdout for itself. What else the program prints through os.Stdout, and what
// a child prints that gets the standard handle, goes to stderr from then on.
func takeStdio() (in, out *os.File, err error) {
	in, out = os.Stdin, os.Stdout
	if err := windows.SetStdHandle(windows.STD_OUTPUT_HANDLE, windows.Handle(os.Stderr.Fd())); err != nil {
		return nil, nil, fmt.Errorf("replace stdout: %w", err)
	}
	os.Stdout = os.Stderr
	return in, out, nil
}
