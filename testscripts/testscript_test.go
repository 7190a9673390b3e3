// Package testscripts holds transcripts of our commands: what they print, and how they end.
package testscripts

import (
	"context"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/octet-dev/octet/cmd/octet-conform/conform"
	"github.com/octet-dev/octet/cmd/octet/cli"
	"github.com/octet-dev/octet/gen/command"
	"github.com/octet-dev/octet/host/fixture"
)

// TestMain makes this program play our commands, and the extension that the transcripts call, when it
// is started under one of their names.
func TestMain(m *testing.M) {
	testscript.Main(m, map[string]func(){
		"octet": func() {
			os.Exit(cli.Main(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
		},
		"octet-conform": func() {
			os.Exit(conform.Main(context.Background(), os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
		},
		"octet-gen": func() {
			os.Exit(command.Main(os.Args[1:], os.Stdin, os.Stdout, os.Stderr))
		},
		"fixture":   func() { fixture.Main(nil, os.Args[1:]) },
		"companion": companion, "desk": desk, "modelserver": modelServer, "faulty-host": faultyHost, "oup": oup,
	})
}

func TestScripts(t *testing.T) {
	testscript.Run(t, testscript.Params{
		Dir:                 ".",
		RequireExplicitExec: true,
		RequireUniqueNames:  true,
		UpdateScripts:       os.Getenv("UPDATE_TRANSCRIPTS") != "",
		Setup: func(env *testscript.Env) error {
			// A race-enabled child would rest for a second before it ends.
			env.Setenv("GORACE", "atexit_sleep_ms=0")
			root, err := filepath.Abs("..")
			env.Setenv("REPOSITORY", root)
			env.Setenv("CONTROL", "evil\x1bdir") // a name with a character that steers a terminal
			return err
		},
		Cmds: map[string]func(*testscript.TestScript, bool, []string){
			"exits":   exits,
			"orphans": orphans,
			"expand":  expand,
			// Stores of sessions, and what goes wrong with them.
			"sessions": sessions,
			"damage":   damage, "sessionid": sessionid, "hold": hold,
			// Archives of bundles, sound and hostile.
			"bundle":   bundleArchive,
			"snapshot": snapshot,
		},
	})
}

// exits CODE PROGRAM ARG... runs a program like exec and demands its exit code.
func exits(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 {
		ts.Fatalf("usage: exits CODE PROGRAM [ARG...]")
	}
	want, err := strconv.Atoi(args[0])
	if err != nil {
		ts.Fatalf("exit code %q is no number", args[0])
	}
	got := 0
	if err := ts.Exec(args[1], args[2:]...); err != nil {
		var ended *exec.ExitError
		if !errors.As(err, &ended) {
			ts.Fatalf("%s: %v", args[1], err)
		}
		got = ended.ExitCode()
	}
	if got != want {
		ts.Fatalf("%s ended with %d, want %d", args[1], got, want)
	}
}
