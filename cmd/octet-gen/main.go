// Octet-gen turns spec/ into the bindings of three languages and the reference.
package main

import (
	"os"

	"github.com/octet-dev/octet/gen/command"
)

func main() {
	os.Exit(command.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
