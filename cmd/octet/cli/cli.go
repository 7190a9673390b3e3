// Package cli is the command octet: words in, an exit code out. The work is done by the packages of host.
package cli

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/octet-dev/octet/cmd/release"
	"github.com/octet-dev/octet/host/flags"
	"github.com/octet-dev/octet/runtime/manifest/near"
)

// Release is the number of this release of the commands.
var Release = release.Number

// The exit codes, as the help documents them.
const (
	exitOK        = 0
	exitTool      = 1   // the tool reports an error, or the manifest has errors
	exitUsage     = 2   // the command line is wrong
	exitExtension = 3   // the extension could not be started, or broke the protocol
	exitTimeout   = 4   // the extension did not answer in time
	exitLocked    = 5   // another server has the data directory
	exitCancelled = 130 // interrupted, as shells report it
	exitPipe      = 141 // nobody reads standard output any more, as shells report it
)

// usageError is a wrong command line. It is shown as one line.
type usageError struct{ text string }

func (e *usageError) Error() string { return e.text }

func usagef(format string, args ...any) error { return &usageError{fmt.Sprintf(format, args...)} }

// command is one command or a group of them.
type command struct {
	name  string
	short string
	help  string // the whole help text
	group []*command
	// run executes the command with its words after the flags have been taken out.
	run func(ctx context.Context, c *console, args []string) (int, error)
	// flags adds the command's flags and remembers where their values go.
	flags func(set *pflag.FlagSet)
	// selects: the command has the options that select extensions, some of which take several words.
	selects bool
}

// Main runs one command line.
func Main(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	c := newConsole(stdout, stderr)
	c.in = bufio.NewReader(stdin)
	c.stdin, _ = stdin.(*os.File)
	defer quits()()
	return c.outcome(dispatch(ctx, c, root(), nil, args))
}

func root() *command {
	return &command{
		name: "octet", help: helpRoot,
		group: []*command{
			{name: "tool", short: "Call the tools of an extension.", help: helpTool, group: []*command{toolCall()}},
			{name: "extension", short: "Look at extensions.", help: helpExtension, group: []*command{
				extensionList(), extensionInspect(), extensionNew(), extensionInstall(), extensionUpdate(), extensionRemove(),
			}},
			sessions(),
			configShow(),
			doctorExamine(),
			serveClients(),
			auth(),
			hostServe(),
			completion(),
		},
	}
}

// dispatch walks down the commands along the words. The path holds the names so far.
func dispatch(ctx context.Context, c *console, cmd *command, path, args []string) (int, error) {
	path = append(path, cmd.name)
	if cmd.group == nil {
		return cmd.execute(ctx, c, path, args)
	}
	if len(path) == 1 && (len(args) == 0 || strings.HasPrefix(args[0], "-")) {
		return start(ctx, c, cmd, args)
	}
	if len(args) == 0 {
		return exitUsage, usagef("%s needs a command: %s; see %s --help", strings.Join(path, " "), list(cmd.group), strings.Join(path, " "))
	}
	word := args[0]
	switch {
	case word == "-h" || word == "--help":
		c.print(cmd.help)
		return exitOK, nil
	case word == "help" && len(path) == 1:
		return dispatch(ctx, c, cmd, nil, append(slices.Clone(args[1:]), "--help"))
	case strings.HasPrefix(word, "-"):
		return exitUsage, usagef("unknown flag %q of %s; see %s --help", word, strings.Join(path, " "), strings.Join(path, " "))
	}
	for _, next := range cmd.group {
		if next.name == word {
			return dispatch(ctx, c, next, path, args[1:])
		}
	}
	return exitUsage, usagef("unknown command %q of %s; %s", word, strings.Join(path, " "), suggestion(word, cmd.group))
}

func suggestion(word string, group []*command) string {
	names := make([]string, len(group))
	for i, cmd := range group {
		names[i] = cmd.name
	}
	if guess := near.Find(word, names); guess != "" {
		return fmt.Sprintf("did you mean %q?", guess)
	}
	return "there are: " + list(group)
}

func list(group []*command) string {
	names := make([]string, len(group))
	for i, cmd := range group {
		names[i] = cmd.name
	}
	return strings.Join(names, ", ")
}

func (cmd *command) execute(ctx context.Context, c *console, path, args []string) (int, error) {
	set := pflag.NewFlagSet(cmd.name, pflag.ContinueOnError)
	set.SetOutput(io.Discard)
	set.SortFlags = false
	help := set.BoolP("help", "h", false, "")
	cmd.flags(set)
	if cmd.selects {
		args = flags.Expand(args)
	}
	if err := set.Parse(args); err != nil {
		if errors.Is(err, pflag.ErrHelp) {
			c.print(cmd.help)
			return exitOK, nil
		}
		return exitUsage, flagError(err, set, strings.Join(path, " "))
	}
	if *help {
		c.print(cmd.help)
		return exitOK, nil
	}
	return cmd.run(ctx, c, set.Args())
}

// flagError makes the parser's error one line with a remedy.
func flagError(err error, set *pflag.FlagSet, path string) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return usagef("%v; see %s --help", err, path)
	}
	var names []string
	set.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	name := unknown.GetSpecifiedName()
	if guess := near.Find(name, names); guess != "" {
		return usagef("unknown flag --%s of %s; did you mean --%s?", name, path, guess)
	}
	return usagef("unknown flag --%s of %s; see %s --help", name, path, path)
}
