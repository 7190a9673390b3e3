package conform

import (
	"os"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/features/faultypeer"
)

// faultyPeer is one of the peers that prove the referee, so that one binary is enough to run selftest.
func (inv *invocation) faultyPeer() int {
	f := inv.flags()
	api := f.String("api", "", "API version")
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
	cfg := faultypeer.Config{API: *api, Fault: name, Environment: os.Environ()}
	return faultypeer.Run(inv.ctx, cfg, inv.stdin, inv.stdout, inv.stderr)
}
