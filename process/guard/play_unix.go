//go:build unix

package guard

import (
	"io"
	"os"
	"os/signal"
	"runtime/debug"
	"syscall"
	"time"

	"github.com/octet-dev/octet/process"
)

// needed: no system of this kind ends the trees of a program that dies.
const needed = true

// root keeps the guard from holding a file system that somebody wants to take away.
const root = "/"

// environment of the guard. It carries no tag, so it is no member of any tree.
var environment = []string{"GOMAXPROCS=1", "GOGC=20"}

// ownSession keeps signals to the terminal and the group of the program away.
func ownSession() *syscall.SysProcAttr { return &syscall.SysProcAttr{Setsid: true} }

// The times of the end: how often it is looked for survivors, and for how long.
const (
	lookInterval = 5 * time.Millisecond
	lookLimit    = 10 * time.Second
)

// play is the guard. It returns when the program at the other end has gone and nothing of its trees is
// left, or the system cannot end it.
func play(in io.Reader, out io.WriteCloser) {
	// Whoever ends the program politely ends its processes too, and it needs us until then. It may also be
	// dead already, so that nobody hears us.
	signal.Ignore(os.Interrupt, syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT, syscall.SIGPIPE)
	debug.FreeOSMemory()
	_, _ = io.WriteString(out, hello)
	_ = out.Close()
	end(listen(in), time.Now().Add(lookLimit))
}

// end kills trees until nothing is left of them: one may have started another process meanwhile.
func end(left map[uint64]process.Tree, late time.Time) {
	for {
		for key, t := range left {
			if process.KillTree(t.PID, t.Tag) == 0 {
				delete(left, key)
			}
		}
		if len(left) == 0 || time.Now().After(late) {
			return
		}
		time.Sleep(lookInterval)
	}
}
