// Package conform is the command line of octet-conform: flags, then a call into features.
package conform

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/octet-dev/octet/cmd/release"
	"github.com/octet-dev/octet/features/oupreferee"
	"github.com/octet-dev/octet/features/report"
	"github.com/octet-dev/octet/features/selftest"
	"github.com/octet-dev/octet/features/verdict"
)

// command is one subcommand.
type command struct {
	name   string
	usage  string // arguments, for the help
	brief  string
	hidden bool
	run    func(*invocation) int
}

func commands() []command {
	return []command{
		{name: "extension", usage: "DIR | --api VERSION -- CMD ARGS...", brief: "judge an extension process", run: (*invocation).extension},
		{name: "host", usage: "--adapter octet | -- CMD {extension} {tool} {arguments}", brief: "judge a host: our peers are its extensions", run: (*invocation).host},
		{name: "server", usage: "--adapter octet | --stdio -- CMD ARGS... | --url URL --token T", brief: "judge an OUP server: we are its clients", run: (*invocation).server},
		{name: "client", usage: "-- CMD {url} {token} {session} {prompt} {decision}", brief: "judge an OUP client: we are its server", run: (*invocation).client},
		{name: "manifest", usage: "DIR | FILE", brief: "judge a manifest alone, and start nothing", run: (*invocation).manifest},
		{name: "smoke", usage: "DIR", brief: "see in a few seconds whether an extension works at all", run: (*invocation).smoke},
		{name: "vectors", usage: "-- CMD ARGS...", brief: "judge a codec, driven over every vector of the spec", run: (*invocation).vectors},
		{name: "init", usage: "DIR", brief: "write a conform.toml that says how the extension may be exercised", run: (*invocation).init},
		{name: "tap", usage: "-- CMD ARGS...", brief: "pass a live conversation through and judge both sides of it", run: (*invocation).tap},
		{name: "view", usage: "TRANSCRIPT", brief: "show a transcript of tap and judge it again", run: (*invocation).view},
		{name: "replay", usage: "TRANSCRIPT DIR | TRANSCRIPT -- CMD ARGS... | TRANSCRIPT --adapter NAME", brief: "have the conversation of a transcript again, with an extension or a host", run: (*invocation).replay},
		{name: "fuzz", usage: "DIR | --api VERSION -- CMD ARGS...", brief: "make conversations up and look for one that an extension does not stand", run: (*invocation).fuzz},
		{name: "report", usage: "BEFORE.json AFTER.json", brief: "compare two runs: which rules got worse or better", run: (*invocation).report},
		{name: "ledger", usage: "--report LABEL=FILE.json ... --out FILE", brief: "tell of every rule what proves it and what runs found", run: (*invocation).ledger},
		{name: "list", usage: "[PATTERN...]", brief: "list the rules", run: (*invocation).list},
		{name: "explain", usage: "RULE", brief: "tell what a rule says and what proves it", run: (*invocation).explain},
		{name: "selftest", usage: "", brief: "prove the referee: every faulty peer must be caught", run: (*invocation).selftest},
		{name: "faulty-peer", usage: "FAULT --api VERSION", hidden: true, run: (*invocation).faultyPeer},
		{name: selftest.HostWord, usage: "FAULT EXTENSION TOOL ARGUMENTS", hidden: true, run: (*invocation).faultyHost},
		{name: selftest.TalkerWord, usage: "FAULT EXTENSIONS MODEL", hidden: true, run: (*invocation).faultyTalker},
		{name: oupreferee.ServerWord, usage: "FAULT [--port N]", hidden: true, run: (*invocation).faultyServer},
		{name: oupreferee.ClientWord, usage: "FAULT --prompt TEXT ...", hidden: true, run: (*invocation).faultyClient},
		{name: oupreferee.RelayWord, usage: "ADDRESS", hidden: true, run: (*invocation).oupRelay},
		{name: "host-peer", hidden: true, run: (*invocation).hostPeer},
		{name: "actor", usage: "PART.json", hidden: true, run: (*invocation).actor},
		{name: "nothing", hidden: true, run: (*invocation).nothing},
	}
}

// invocation is one run of one subcommand.
type invocation struct {
	ctx            context.Context
	command        command
	args           []string
	stdin          io.Reader
	stdout, stderr io.Writer
}

// Main runs the command line and returns the exit code: 0 clean, 1 findings, 2 wrong usage, 3 could not
// judge.
func Main(ctx context.Context, args []string, stdin io.Reader, stdout, stderr io.Writer) int {
	if len(args) == 0 {
		fmt.Fprintf(stderr, "octet-conform: a command is missing; use one of %s, or see 'octet-conform --help'\n", strings.Join(names(), ", "))
		return report.ExitUsage
	}
	out := &output{to: stdout}
	inv := &invocation{ctx: ctx, args: args[1:], stdin: stdin, stdout: out, stderr: stderr}
	switch args[0] {
	case "help", "--help", "-h":
		help(out)
		return inv.outcome(report.ExitClean, out)
	case "--version":
		fmt.Fprintf(out, "octet-conform %s\n", release.Number)
		return inv.outcome(report.ExitClean, out)
	}
	for _, c := range commands() {
		if c.name != args[0] {
			continue
		}
		inv.command = c
		switch {
		case c.hidden: // a peer looks after the wire that its output is
			inv.stdout = stdout
		case c.name != "tap": // which ends with its reader, as the extension would that it stands for
			outliveReader()
		}
		return inv.outcome(c.run(inv), out)
	}
	fmt.Fprintf(stderr, "octet-conform: command %q is unknown; use one of %s\n", args[0], strings.Join(names(), ", "))
	return report.ExitUsage
}

func names() []string {
	var out []string
	for _, c := range commands() {
		if !c.hidden {
			out = append(out, c.name)
		}
	}
	return out
}

// usageWidth is the column of the arguments of a command; behind longer ones the text begins on a line of its own.
const usageWidth = 52

func help(w io.Writer) {
	fmt.Fprint(w, "octet-conform judges programs that speak an octet wire.\n\nUsage: octet-conform COMMAND ...\n\n")
	for _, c := range commands() {
		if !c.hidden {
			usage, gap := c.usage, ""
			if len(usage) > usageWidth {
				usage, gap = "", c.usage+"\n"+strings.Repeat(" ", 13)
			}
			fmt.Fprintf(w, "  %-10s %s%-*s %s\n", c.name, gap, usageWidth, usage, c.brief)
		}
	}
	fmt.Fprint(w, "\nExit codes: 0 clean, 1 findings, 2 wrong usage, 3 could not judge, 141 nobody reads standard output any more.\n'octet-conform COMMAND --help' shows the flags of a command, 'octet-conform --version' the release.\n")
}

// flags returns an empty flag set for the subcommand.
func (inv *invocation) flags() *pflag.FlagSet {
	f := pflag.NewFlagSet(inv.command.name, pflag.ContinueOnError)
	f.SetOutput(io.Discard)
	f.SortFlags = false
	return f
}

// parse reads the flags. When it returns false, the subcommand ends with the code.
func (inv *invocation) parse(f *pflag.FlagSet) (code int, ok bool) {
	err := f.Parse(inv.args)
	switch {
	case errors.Is(err, pflag.ErrHelp):
		fmt.Fprintf(inv.stdout, "Usage: octet-conform %s\n\n%s", strings.TrimSpace(inv.command.name+" "+inv.command.usage), sentence(inv.command.brief))
		if f.HasFlags() {
			fmt.Fprintf(inv.stdout, "\n%s", f.FlagUsages())
		}
		return report.ExitClean, false
	case err != nil:
		return inv.wrong("%v; see 'octet-conform %s --help'", err, inv.command.name), false
	}
	return 0, true
}

func sentence(s string) string {
	if s == "" {
		return ""
	}
	return strings.ToUpper(s[:1]) + s[1:] + ".\n"
}

// wrong reports a wrong command line in one line.
func (inv *invocation) wrong(format string, args ...any) int {
	fmt.Fprintf(inv.stderr, "octet-conform: %s\n", fmt.Sprintf(format, args...))
	return report.ExitUsage
}

// unable reports that nothing could be judged.
func (inv *invocation) unable(err error) int {
	if inv.unread(err) {
		return exitUnread
	}
	for text := range strings.SplitSeq(err.Error(), "\n") {
		fmt.Fprintf(inv.stderr, "octet-conform: %s\n", text)
	}
	return report.ExitUnable
}

// interruptedError is the end of a run from outside: what was found until then is no verdict.
type interruptedError struct {
	judged, all int
	what        string
	broken      []string // rules that were seen broken until then
}

func (e interruptedError) Error() string {
	text := fmt.Sprintf("interrupted: %d of %d %s judged", e.judged, e.all, e.what)
	if len(e.broken) > 0 {
		text += "; broken until then: " + strings.Join(e.broken, ", ")
	}
	return text
}

// interruption is the error of a run that ended before all of it was judged, or nil.
func interruption(scenarios []verdict.Scenario) error {
	e := interruptedError{all: len(scenarios), what: "scenarios"}
	for _, s := range scenarios {
		if s.Interrupted() {
			continue
		}
		e.judged++
		for _, f := range s.Findings {
			if f.Rule != "" && !slices.Contains(e.broken, f.Rule) {
				e.broken = append(e.broken, f.Rule)
			}
		}
	}
	if e.judged == e.all {
		return nil
	}
	slices.Sort(e.broken)
	return e
}

// split separates the arguments in front of "--" from those behind it.
func split(f *pflag.FlagSet) (before, after []string) {
	n := f.ArgsLenAtDash()
	if n < 0 {
		return f.Args(), nil
	}
	return f.Args()[:n], f.Args()[n:]
}

// terminal reports whether a writer is one.
func terminal(w io.Writer) bool {
	if o, wrapped := w.(*output); wrapped {
		w = o.to
	}
	f, ok := w.(*os.File)
	if !ok {
		return false
	}
	info, err := f.Stat()
	return err == nil && info.Mode()&os.ModeCharDevice != 0 && os.Getenv("TERM") != "dumb"
}

// colored reports whether text for this writer may have colours.
func colored(w io.Writer) bool { return terminal(w) && os.Getenv("NO_COLOR") == "" }

// quoted lists values of a flag as they are read in a sentence.
func quoted(values []string) string {
	var out []string
	for _, v := range values {
		out = append(out, strconv.Quote(v))
	}
	return strings.Join(out, ", ")
}

// oneOf refuses a value that is not in a list.
func oneOf(flag, value string, allowed ...string) error {
	if !slices.Contains(allowed, value) {
		return fmt.Errorf("--%s is %q; use one of %s", flag, value, strings.Join(allowed, ", "))
	}
	return nil
}
