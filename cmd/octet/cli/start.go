package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/spf13/pflag"

	"github.com/octet-dev/octet/host/flags"
	"github.com/octet-dev/octet/host/policy"
	"github.com/octet-dev/octet/host/selection"
	"github.com/octet-dev/octet/runtime/manifest"
)

// ordinary is a start of octet without a command. Only it takes the flags of extensions.
type ordinary struct {
	globals
	talk          talk
	help, version bool
	// unknown says why no extension has flags here; nil if that is known.
	unknown error
}

// options registers what octet itself has.
func (o *ordinary) options(set *pflag.FlagSet) {
	set.BoolVarP(&o.help, "help", "h", false, "")
	set.BoolVar(&o.version, "version", false, "")
	o.globals.register(set)
	o.talk.register(set)
}

// start reads the command line of an ordinary start.
func start(ctx context.Context, c *console, root *command, args []string) (int, error) {
	var o ordinary
	set, err := o.extensionFlags(root, args)
	if err != nil {
		if wantsHelp(args) {
			c.print(help(nil))
		}
		for line := range strings.SplitSeq(err.Error(), "\n") {
			c.errorf("%s", line)
		}
		return exitUsage, nil
	}
	parser := pflag.NewFlagSet(root.name, pflag.ContinueOnError)
	parser.SetOutput(io.Discard)
	o.options(parser)
	set.AddTo(parser)
	words := flags.Expand(args)
	if err := set.Check(parser, words); err != nil {
		return exitUsage, &usageError{err.Error()}
	}
	if err := parser.Parse(words); err != nil {
		var unknown *pflag.NotExistError
		if errors.As(err, &unknown) && o.unknown != nil && !errors.Is(o.unknown, errUnreadable) {
			return refused(c, o.unknown) // it may be a flag of an extension that could not be looked for
		}
		return exitUsage, flagError(err, parser, root.name)
	}
	switch rest := parser.Args(); {
	case o.help:
		if o.unknown != nil {
			c.note("the flags of extensions are not shown: %v", o.unknown)
		}
		c.print(help(set.Help()))
		return exitOK, nil
	case o.version:
		c.printf("octet %s (implements octet %s)\n", Release, manifest.OctetVersion())
		return exitOK, nil
	case len(rest) > 0 && root.has(rest[0]):
		return exitUsage, usagef("options stand behind the command; write octet %s and then the options", rest[0])
	case len(rest) > 0:
		return exitUsage, usagef("unknown command %q of octet; %s", rest[0], suggestion(rest[0], root.group))
	}
	if word := swallowed(root, args); word != "" {
		return exitUsage, usagef("%q counts as the name of an extension here; options stand behind the command: write octet %s and then the options", word, word)
	}
	if err := o.talk.check(); err != nil {
		return exitUsage, err
	}
	invocation, err := o.invocation()
	if err != nil {
		return exitUsage, err
	}
	if err := set.Validate(); err != nil {
		if _, err := selection.Configure(machine(), invocation); err != nil {
			return refused(c, err) // it comes first
		}
		return exitUsage, &usageError{err.Error()}
	}
	return o.converse(ctx, c, set, invocation)
}

// has reports whether a command of the group has a name.
func (c *command) has(name string) bool {
	return slices.ContainsFunc(c.group, func(each *command) bool { return each.name == name })
}

// swallowed finds a command that a list option took for another name of an extension: the first word of such
// an option is meant as a name whatever it says, a later one hardly ever.
func swallowed(root *command, args []string) string {
	at := 0 // words behind the last list option; 0: there is none
	for _, word := range args {
		switch {
		case word == "--":
			return ""
		case word == "--"+flags.OptionEnableExtension, word == "--"+flags.OptionTrustExtension:
			at = 1
		case strings.HasPrefix(word, "-"):
			at = 0
		case at > 1 && root.has(word):
			return word
		case at > 0:
			at++
		}
	}
	return ""
}

var errUnreadable = errors.New("the options cannot be read")

// extensionFlags finds the flags of extensions before the command line is parsed, for which they must be
// known. What is wrong with options or configuration is left to the parser and to settle, so that it is
// told once. A collision is an error.
func (o *ordinary) extensionFlags(root *command, args []string) (*flags.Set, error) {
	none, _ := flags.Register(nil, nil)
	scan, ok := flags.Prescan(args)
	if !ok {
		o.unknown = errUnreadable
		return none, nil
	}
	s, err := selection.Resolve(machine(), selection.Invocation{
		SafeMode: scan.SafeMode, EffectPolicy: scan.EffectPolicy, Workspace: scan.Workspace, WorkspaceTrusted: scan.WorkspaceTrusted,
		Directories: scan.Directories, Enable: scan.Enable, Trust: scan.Trust,
	}, policy.Session)
	if err != nil {
		o.unknown = err
		return none, nil
	}
	return flags.Register(s.Flagged(), reserved(root))
}

// reserved lists the long options that octet has, on any of its commands.
func reserved(root *command) []string {
	set := pflag.NewFlagSet(root.name, pflag.ContinueOnError)
	new(ordinary).options(set)
	var names []string
	set.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	var walk func(cmd *command)
	walk = func(cmd *command) {
		for _, inner := range cmd.group {
			walk(inner)
		}
		if cmd.flags != nil {
			own := pflag.NewFlagSet(cmd.name, pflag.ContinueOnError)
			cmd.flags(own)
			own.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
		}
	}
	walk(root)
	return names
}

func wantsHelp(args []string) bool {
	return slices.Contains(args, "--help") || slices.Contains(args, "-h")
}

// help is the help of octet with the flags of extensions.
func help(lines []flags.Line) string {
	var b strings.Builder
	b.WriteString(helpRoot + "\nOptions of a conversation:\n" + helpTalk + "\nOptions that decide which extensions there are:\n" + helpGlobals)
	extension := ""
	for _, line := range lines {
		if line.Extension != extension {
			extension = line.Extension
			fmt.Fprintf(&b, "\nFlags of extension %s:\n", extension)
		}
		fmt.Fprintf(&b, "  %-26s %s\n", line.Spelling, plain(line.Text))
	}
	return b.String() + "\n" + exitCodes
}
