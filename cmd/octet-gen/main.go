// Octet-gen turns spec/ into the bindings of three languages and the reference.
package main

import (
	"fmt"
	"os"

	"github.com/octet-dev/octet/cmd/release"
	"github.com/octet-dev/octet/gen/command"
)

func main() {
	if len(os.Args) == 2 && os.Args[1] == "--version" {
		if _, err := fmt.Println("octet-gen", release.Number); err != nil {
			fmt.Fprintln(os.Stderr, "octet-gen:", err)
			os.Exit(1)
		}
		return
	}
	os.Exit(command.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
}
