package hostreferee

import (
	"context"
	"fmt"
	"io"
	"os"

	"github.com/octet-dev/octet/features/faultypeer"
)

// Inside returns the peer that a command of ours stands for where it can run in this process, which saves a
// start. It is nil for any other command, and for a peer that needs a process of its own.
func Inside(argv []string) func(stdin io.Reader, stdout, stderr io.Writer) int {
	self, err := os.Executable()
	if err != nil || len(argv) < 5 || argv[0] != self || argv[1] != "faulty-peer" {
		return nil
	}
	cfg := faultypeer.Config{API: argv[4], Environment: os.Environ()}
	if argv[2] != "none" {
		cfg.Fault = argv[2]
		if f, found := faultypeer.Find(cfg.Fault); !found || f.Process {
			return nil
		}
	}
	return func(stdin io.Reader, stdout, stderr io.Writer) int {
		if len(argv) > 6 {
			if cfg.Play, err = faultypeer.ReadPlay(argv[6]); err != nil {
				fmt.Fprintln(stderr, err)
				return 1
			}
		}
		return faultypeer.Run(context.Background(), cfg, stdin, stdout, stderr)
	}
}
