package testscripts

import (
	"context"
	"os"
	"os/signal"

	"github.com/octet-dev/octet/features/faultyhost"
)

// faultyHost is a host with one fault: faulty-host FAULT EXTENSION TOOL ARGUMENTS.
func faultyHost() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	os.Exit(faultyhost.Run(ctx, faultyhost.Config{
		Fault: os.Args[1], Directory: os.Args[2], Tool: os.Args[3], Arguments: os.Args[4], Environ: os.Environ(),
	}, os.Stdout, os.Stderr))
}
