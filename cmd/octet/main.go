// Command octet runs extensions: it calls their tools and shows what they are.
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
