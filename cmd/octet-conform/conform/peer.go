package conform

import (
	"os"
	"os/signal"
	"syscall"
	"time"

	"github.com/octet-dev/octet/features/actor"
	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/features/faultypeer"
	"github.com/octet-dev/octet/features/report"
	"github.com/octet-dev/octet/features/selftest"
)

// faultyPeer is one of the peers that prove the referee, so that one binary is enough to run selftest.
func (inv *invocation) faultyPeer() int {
	f := inv.flags()
	api := f.String("api", "", "API version")
	play := f.String("play", "", "file with what the peer asks")
	if code, ok := inv.parse(f); !ok {
		return code
	}
	if err := oneOf("api", *api, dialect.Versions()...); err != nil || f.NArg() != 1 {
		return inv.wrong("faulty-peer needs the name of a fault and --api")
	}
	name := f.Arg(0)
	if name == "none" {
		name = ""
	}
	// A peer has to see a broken output as an error; the default is to die of it.
	signal.Ignore(syscall.SIGPIPE)
	cfg := faultypeer.Config{API: *api, Fault: name, Environment: os.Environ()}
	if *play != "" {
		var err error
		if cfg.Play, err = faultypeer.ReadPlay(*play); err != nil {
			return inv.unable(err)
		}
	}
	return faultypeer.Run(inv.ctx, cfg, inv.stdin, inv.stdout, inv.stderr)
}

// faultyHost is one of the hosts that prove the referee of hosts.
func (inv *invocation) faultyHost() int {
	f := inv.flags()
	if code, ok := inv.parse(f); !ok {
		return code
	}
	if f.NArg() != 4 {
		return inv.wrong("faulty-host needs a fault, the directory of an extension, a tool, and its arguments")
	}
	return selftest.PlayHost(inv.ctx, f.Args(), "", os.Environ(), inv.stdout, inv.stderr)
}

// faultyTalker is such a host in a conversation.
func (inv *invocation) faultyTalker() int {
	f := inv.flags()
	if code, ok := inv.parse(f); !ok {
		return code
	}
	if f.NArg() != 3 {
		return inv.wrong("faulty-talker needs a fault, the directory of its extensions, and the address of its model")
	}
	return selftest.PlayTalker(inv.ctx, f.Args(), inv.stdin, inv.stdout, inv.stderr)
}

// actor is an extension of a conversation with a host: it plays the part that is in a file.
func (inv *invocation) actor() int {
	f := inv.flags()
	if code, ok := inv.parse(f); !ok {
		return code
	}
	if f.NArg() != 1 {
		return inv.wrong("actor needs the file with its part")
	}
	signal.Ignore(syscall.SIGPIPE)
	return actor.Run(inv.ctx, f.Arg(0), inv.stdin, inv.stdout, inv.stderr)
}

// holdTime is how long a process that stands for a forgotten descendant lives at most.
const holdTime = time.Minute

// nothing is a child for calibration, which ends at once; with --hold it stands for a descendant that an
// extension leaves behind, and waits to be ended.
func (inv *invocation) nothing() int {
	f := inv.flags()
	hold := f.Bool("hold", false, "do not end")
	if code, ok := inv.parse(f); !ok {
		return code
	}
	if *hold {
		select {
		case <-inv.ctx.Done():
		case <-time.After(holdTime):
		}
	}
	return report.ExitClean
}
