//go:build linux

// Command caller measures one program that answers calls on its standard input and output: it reads a plan from its own
// standard input and prints samples. It composes frames beforehand and looks at no more of an answer than where it ends,
// so the same small cost stands on top of every subject, whatever language and library it is written in.
package main

import (
	"fmt"
	"os"

	"github.com/octet-dev/octet/bench/sample"
)

func main() {
	if err := run(); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
}

func run() error {
	p, err := readPlan(os.Stdin)
	if err != nil {
		return err
	}
	measure := calls
	if p.Case != "" {
		measure = starts
	}
	samples, err := measure(p)
	if err != nil {
		return err
	}
	return sample.Write(os.Stdout, samples...)
}
