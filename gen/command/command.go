// Package command is octet-gen: it reads the command line, runs the emitters and writes what they made.
package command

import (
	"bufio"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/octet-dev/octet/gen/emit"
	"github.com/octet-dev/octet/gen/golang"
	"github.com/octet-dev/octet/gen/load"
	"github.com/octet-dev/octet/gen/model"
	"github.com/octet-dev/octet/gen/python"
	"github.com/octet-dev/octet/gen/reference"
	"github.com/octet-dev/octet/gen/typescript"
	"github.com/octet-dev/octet/gen/write"
)

// Exit codes.
const (
	exitOK    = 0
	exitFound = 1 // the spec is at fault, --check found a difference, or the disk failed
	exitUsage = 2
)

const usage = `octet-gen makes the bindings and the reference from spec/.

  octet-gen generate [--check] [--root DIR]   write what differs, remove what is stale
  octet-gen list [--wire NAME] [--root DIR]   print one method a line, tab-separated, with a header
  octet-gen diff OLD NEW [--role R] [--direction D] [--wire NAME] [--frozen] [--format F]
                                              say what breaks between two specs, and show a message that does

Run it from anywhere inside the repository, or name the repository with --root.
A fault of the spec is printed as "file: pointer: message", every one of them, and nothing is written.

  --check      generate: write nothing; print what would change and exit 1 if anything would
  --wire NAME  list, diff: only this wire
  --root DIR   generate, list: the repository; default: the nearest folder upwards that holds spec/wires.json
  --help       this text

OLD and NEW are folders that hold wires.json or spec/wires.json, or the word "embedded" for the spec this
program was built with. Every change is judged twice for each role: a peer made from NEW reads what one made
from OLD writes, and writes what that one reads.

  --role R       diff: only this role: extension, host, client or server
  --direction D  diff: only what that role does, read or write
  --frozen       diff: any change of an API version that OLD has already is breaking
  --format F     diff: text (default) or json, as gen/diff/diff.schema.json describes

Exit codes: 0 done, 1 faults or differences, 2 wrong command line. Of diff: 0 compatible, 1 breaking,
2 wrong command line or a spec that cannot be read, 3 nothing breaking, but something unknown.
`

// emitters lists every target, in the order in which they run.
func emitters() []emit.Emitter {
	return []emit.Emitter{golang.New(), python.New(), typescript.New(), reference.New()}
}

// Main runs one command line, without the program's name, and returns the exit code.
func Main(args []string, _ io.Reader, stdout, stderr io.Writer) int {
	c := &command{stdout: bufio.NewWriter(stdout), stderr: stderr, paint: paintFor(stdout)}
	code := c.main(args)
	if err := c.stdout.Flush(); err != nil && !errors.Is(c.told, err) {
		return c.fail(err)
	}
	return code
}

// main reads the command line and runs it.
func (c *command) main(args []string) int {
	flags := pflag.NewFlagSet("octet-gen", pflag.ContinueOnError)
	flags.SetOutput(io.Discard)
	flags.Usage = func() {}
	flags.BoolVar(&c.check, "check", false, "")
	flags.StringVar(&c.wire, "wire", "", "")
	flags.StringVar(&c.root, "root", "", "")
	flags.StringVar(&c.role, "role", "", "")
	flags.StringVar(&c.direction, "direction", "", "")
	flags.StringVar(&c.format, "format", formatText, "")
	flags.BoolVar(&c.frozen, "frozen", false, "")
	err := flags.Parse(args)
	switch {
	case errors.Is(err, pflag.ErrHelp):
		fmt.Fprint(c.stdout, usage)
		return exitOK
	case err != nil:
		return c.misuse("%v", err)
	}
	return c.run(flags)
}

type command struct {
	stdout     *bufio.Writer // keeps the first failure, of which Main tells whatever command ran
	stderr     io.Writer
	told       error // what fail has shown
	paint      paint
	check      bool
	wire, root string

	role, direction, format string
	frozen                  bool
}

// owners says which commands know a flag.
var owners = []struct {
	flag     string
	commands []string
}{
	{"check", []string{"generate"}},
	{"wire", []string{"list", "diff"}},
	{"root", []string{"generate", "list"}},
	{"role", []string{"diff"}},
	{"direction", []string{"diff"}},
	{"format", []string{"diff"}},
	{"frozen", []string{"diff"}},
}

// misuse reports a wrong command line.
func (c *command) misuse(format string, args ...any) int {
	fmt.Fprintf(c.stderr, "octet-gen: "+format+"; see octet-gen --help\n", args...)
	return exitUsage
}

// fail reports an error that is not about the command line.
func (c *command) fail(err error) int {
	c.told = err
	for _, line := range strings.Split(err.Error(), "\n") {
		fmt.Fprintf(c.stderr, "octet-gen: %s\n", line)
	}
	return exitFound
}

func (c *command) run(flags *pflag.FlagSet) int {
	const commands = "generate, list or diff"
	if flags.NArg() == 0 {
		return c.misuse("no command; want %s", commands)
	}
	name, arguments := flags.Arg(0), 0
	switch name {
	case "generate", "list":
	case "diff":
		arguments = 2
	default:
		return c.misuse("unknown command %q; want %s", name, commands)
	}
	if flags.NArg() > 1+arguments {
		return c.misuse("unexpected argument %q; options start with --", flags.Arg(1+arguments))
	}
	for _, o := range owners {
		if flags.Changed(o.flag) && !slices.Contains(o.commands, name) {
			return c.misuse("--%s belongs to %s", o.flag, strings.Join(o.commands, " and "))
		}
	}
	if name == "diff" {
		return c.diff(flags.Args()[1:])
	}
	root, err := c.repository()
	if err != nil {
		return c.misuse("%v", err)
	}
	spec, err := readSpec(root)
	if err != nil {
		return c.fail(err)
	}
	if name == "list" {
		return c.list(spec)
	}
	return c.generate(root, spec)
}

// readSpec loads the spec of a repository and follows no link out of it.
func readSpec(root string) (*model.Spec, error) {
	dir, err := os.OpenRoot(filepath.Join(root, "spec"))
	if err != nil {
		return nil, err
	}
	defer dir.Close()
	return load.Load(dir.FS())
}

// repository returns the folder that holds spec/.
func (c *command) repository() (string, error) {
	holds := func(dir string) bool {
		_, err := os.Stat(filepath.Join(dir, "spec", "wires.json"))
		return err == nil
	}
	if c.root != "" {
		if !holds(c.root) {
			return "", fmt.Errorf("%q holds no spec/wires.json; name a repository with --root", c.root)
		}
		return c.root, nil
	}
	dir, err := os.Getwd()
	if err != nil {
		return "", err
	}
	for !holds(dir) {
		parent := filepath.Dir(dir)
		if parent == dir {
			return "", errors.New("no spec/wires.json here or above; name a repository with --root")
		}
		dir = parent
	}
	return dir, nil
}

// Files runs every emitter over the spec.
func Files(spec *model.Spec) ([]emit.File, error) {
	var files []emit.File
	for _, e := range emitters() {
		made, err := e.Emit(spec)
		if err != nil {
			return nil, err
		}
		files = append(files, made...)
	}
	return files, nil
}

func (c *command) generate(root string, spec *model.Spec) int {
	files, err := Files(spec)
	if err != nil {
		return c.fail(err)
	}
	plan, err := write.Compare(root, files)
	if err != nil {
		return c.fail(err)
	}
	c.print("changed", plan.Changed)
	c.print("missing", plan.Missing)
	c.print("unexpected", plan.Unexpected)
	if c.check {
		if !plan.Empty() {
			_ = c.stdout.Flush() // in front of what it means; a failure is kept
			fmt.Fprintln(c.stderr, "octet-gen: generated files differ from spec/; run octet-gen generate and commit the result")
			return exitFound
		}
		return exitOK
	}
	if err := plan.Apply(); err != nil {
		return c.fail(err)
	}
	return exitOK
}

func (c *command) print(what string, names []string) {
	for _, name := range names {
		fmt.Fprintf(c.stdout, "%-10s %s\n", what, name)
	}
}
