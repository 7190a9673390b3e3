package cli

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"

	"github.com/spf13/pflag"

	"github.com/octet-dev/octet/cmd/release"
	"github.com/octet-dev/octet/host/scaffold"
)

// newCommand is octet extension new.
type newCommand struct {
	language, api, dir, sdk string
	given                   *pflag.FlagSet
}

func extensionNew() *command {
	var n newCommand
	return &command{
		name: "new", short: "Write a new extension.", help: helpExtensionNew,
		flags: func(set *pflag.FlagSet) {
			n.given = set
			set.StringVar(&n.language, "lang", "", "")
			set.StringVar(&n.api, "api", scaffold.APIs[0], "")
			set.StringVar(&n.dir, "dir", ".", "")
			set.StringVar(&n.sdk, "sdk", "", "")
		},
		run: n.run,
	}
}

const helpExtensionNew = `octet extension new writes a small extension that works: manifest, code, tests, and a profile for octet-conform,
which it passes before anybody has changed a line.

Usage:
  octet extension new NAME --lang go|python|typescript [--api 0.4|0.3]

Flags:
  --lang LANGUAGE    go, python or typescript
  --api VERSION      0.4 (default), the current version; or 0.3, the canonical one
  --dir DIR          where the directory NAME is made; the current directory by default
  --sdk DIR          a clone of octet whose SDK is used; by default the clone that this octet was built in,
                     or else the published SDK of this release
  -h, --help         show this text

NAME starts with a lower-case letter and goes on with lower-case letters, digits and hyphens, 64 bytes at most. Nothing
that exists is changed: where there is something called NAME, nothing is written.

Examples:
  octet extension new word-index --lang python
  octet extension new word-index --lang go --api 0.3 --dir ~/.octet/extensions

` + exitCodes

func (n *newCommand) run(_ context.Context, c *console, args []string) (int, error) {
	switch {
	case len(args) == 0:
		return exitUsage, usagef("octet extension new needs a name; write octet extension new NAME --lang LANGUAGE")
	case len(args) > 1:
		return exitUsage, usagef("unexpected argument %q; octet extension new takes one name", args[1])
	case !n.given.Changed("lang"):
		return exitUsage, usagef("octet extension new needs a language; add --lang %s", strings.Join(scaffold.Languages, ", --lang "))
	}
	sdk, err := n.clone()
	if err != nil {
		return exitUsage, err
	}
	written, err := scaffold.Write(scaffold.Options{
		Parent: n.dir, Name: args[0], Language: n.language, API: n.api, SDK: sdk, Release: release.Published(),
	})
	var word *scaffold.WordError
	switch {
	case errors.As(err, &word), errors.Is(err, scaffold.ErrExists):
		return exitUsage, &usageError{err.Error()}
	case err != nil:
		return exitTool, fmt.Errorf("nothing was written: %w", err)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s: wrote %s\n\nNext:\n  cd %s\n", written.Dir, strings.Join(written.Files, ", "), written.Dir)
	for _, step := range written.Steps {
		fmt.Fprintf(&b, "  %s\n", step)
	}
	c.print(plain(b.String()))
	return exitOK, nil
}

// clone finds the clone of octet whose SDKs a new extension uses, "" for the published ones.
func (n *newCommand) clone() (string, error) {
	if !n.given.Changed("sdk") {
		program, err := os.Executable()
		if err == nil {
			program, err = filepath.EvalSymlinks(program)
		}
		if dir := filepath.Dir(filepath.Dir(program)); err == nil && isClone(dir) {
			return dir, nil
		}
		return "", nil
	}
	dir, err := filepath.Abs(n.sdk)
	if err != nil || !isClone(dir) {
		return "", usagef("--sdk %q is no clone of octet: it lacks sdk-go, sdk-py or sdk-ts; name one, or drop it", n.sdk)
	}
	return dir, nil
}

func isClone(dir string) bool {
	for _, part := range []string{"go.mod", "sdk-go", "sdk-py", "sdk-ts"} {
		if _, err := os.Stat(filepath.Join(dir, part)); err != nil {
			return false
		}
	}
	return true
}
