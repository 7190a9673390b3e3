// Command octet is a coding agent: it holds conversations, and runs the extensions that take part in them.
package main

import (
	"context"
	"os"

	"github.com/octet-dev/octet/cmd/octet/cli"
	"github.com/octet-dev/octet/process/guard"
)

func main() {
	guard.Main()
	guard.Install()
	os.Exit(cli.Main(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
