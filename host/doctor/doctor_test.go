package doctor

import (
	"os"
	"path/filepath"
	"testing"

	"github.com/octet-dev/octet/host/discovery"
	"github.com/octet-dev/octet/host/selection"
)

func TestInterpreter(t *testing.T) {
	path := filepath.Join(t.TempDir(), "program")
	for text, want := range map[string]string{
		"#!/usr/bin/env python3\nprint()": "python3",
		"#!/usr/bin/env -S node --x\n":    "node",
		"#!/bin/sh\n":                     "/bin/sh",
		"#! /bin/sh -e":                   "/bin/sh",
		"#!\n":                            "",
		"\x7fELF":                         "",
		"":                                "",
	} {
		if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
		if got := interpreter(path); got != want {
			t.Errorf("%q is run by %q, want %q", text, got, want)
		}
	}
	if got := interpreter(filepath.Join(path, "missing")); got != "" {
		t.Errorf("what is missing is run by %q", got)
	}
}

func TestWorst(t *testing.T) {
	if got := Worst(nil); got != OK {
		t.Errorf("nothing is %s", got)
	}
	if got := Worst([]Finding{{Status: Warning}, {Status: Problem}, {Status: Note}}); got != Problem {
		t.Errorf("the worst is %s", got)
	}
}

// A home that is no directory is a problem, and the rest is still examined.
func TestExamine_goesOn(t *testing.T) {
	variables := map[string]string{"SECRET_KEY": "hush"}
	p := Patient{
		Machine: selection.Machine{
			Home: "nowhere", Discoverer: &discovery.Discoverer{},
			Lookup: func(name string) (string, bool) { value, found := variables[name]; return value, found },
		},
		Invocation: selection.Invocation{Workspace: t.TempDir()},
		Keys:       []Key{{"one", "SECRET_KEY"}, {"two", "OTHER_KEY"}},
		Terminal:   Terminal{Input: true, Output: true, Kind: "xterm", Width: 80, Height: 24, NoColour: true},
	}
	found := map[string]Finding{}
	for _, f := range Examine(t.Context(), p) {
		found[f.Check] = f
	}
	for check, want := range map[string]Status{
		"home": Problem, "data": Problem, "config": OK, "extensions": Note, "model keys": OK, "terminal": OK, "program go": Note,
	} {
		if found[check].Status != want {
			t.Errorf("%s is %+v, want %s", check, found[check], want)
		}
	}
	if got := found["model keys"].Summary; got != "SECRET_KEY set" {
		t.Errorf("keys are told as %q", got)
	}
	if got := found["terminal"].Summary; got != "xterm, 80 columns, 24 lines, NO_COLOR set" {
		t.Errorf("the terminal is told as %q", got)
	}
}
