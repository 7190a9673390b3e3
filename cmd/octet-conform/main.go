// Command octet-conform judges programs that speak an octet wire.
package main

import (
	"context"
	"os"
	"os/signal"
	"syscall"

	"github.com/octet-dev/octet/cmd/octet-conform/conform"
	"github.com/octet-dev/octet/features/selftest"
	"github.com/octet-dev/octet/process/guard"
)

func main() {
	guard.Main()
	// A faulty host may leave its extension behind, for the referee to find.
	if len(os.Args) < 2 || os.Args[1] != selftest.HostWord && os.Args[1] != selftest.TalkerWord {
		guard.Install()
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	code := conform.Main(ctx, os.Args[1:], os.Stdin, os.Stdout, os.Stderr)
	stop()
	os.Exit(code)
}
