package cli

import (
	"errors"
	"fmt"
	"os"
	"strings"
	"sync/atomic"
	"unicode/utf8"

	"github.com/spf13/pflag"

	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/process"
	"github.com/octet-dev/octet/runtime/manifest"
	"github.com/octet-dev/octet/runtime/manifest/folder"
)

// target is the extension that a command is about, with the flags that all such commands share.
type target struct {
	dir       string
	workspace string
	flags     []string
	output    string
	verbose   bool
	notified  atomic.Int64 // notifications so far
}

// The legal values of --output.
const (
	outputText = "text"
	outputJSON = "json"
)

func (t *target) register(set *pflag.FlagSet) {
	set.StringArrayVar(&t.flags, "flag", nil, "")
	set.StringVar(&t.output, "output", outputText, "")
	set.StringVar(&t.workspace, "workspace", "", "")
	set.BoolVarP(&t.verbose, "verbose", "v", false, "")
}

func (t *target) check(path string) error {
	if t.output != outputText && t.output != outputJSON {
		return usagef("--output is %q, want %s or %s", t.output, outputText, outputJSON)
	}
	if info, err := os.Stat(path); err != nil || !info.IsDir() {
		return usagef("%q is not a directory; name the directory that holds %s", path, manifest.FileName())
	}
	if info, err := os.Stat(t.workspace); t.workspace != "" && (err != nil || !info.IsDir()) {
		return usagef("--workspace %q is not a directory", t.workspace)
	}
	t.dir = path
	return nil
}

// load reads and judges the manifest. Its problems go to standard error, each with its place.
func (t *target) load(c *console) (*extension.Source, error) {
	source, err := extension.Load(t.dir)
	var invalid *extension.ManifestError
	var unreadable *folder.Error
	switch {
	case errors.As(err, &invalid):
		for _, line := range problemLines(invalid.Path, invalid.Verdict.Problems) {
			c.line(line)
		}
	case errors.As(err, &unreadable):
		return nil, fmt.Errorf("%w; %s (%s)", err, unreadable.Remedy, unreadable.Rule)
	case err == nil:
		for _, line := range problemLines(source.Folder.ManifestPath, source.Warnings) {
			c.line(line)
		}
	}
	return source, err
}

// maxProblems is how many problems of a manifest are shown as text.
const maxProblems = 100

// problemLines writes problems with their places, rules and remedies, and counts those beyond the bound.
func problemLines(path string, problems []manifest.Problem) []string {
	var lines []string
	for _, p := range problems[:min(len(problems), maxProblems)] {
		lines = append(lines,
			plain(fmt.Sprintf("%s:%d:%d: %s: %s (%s)", path, p.Line, p.Column, p.Severity, p.Message, p.Rule)),
			plain("    "+p.Remedy))
	}
	if more := len(problems) - maxProblems; more > 0 {
		lines = append(lines, "and "+countText(more, "more problem", "more problems")+"; octet extension inspect --no-start --output json shows all")
	}
	return lines
}

// options connects an extension to the console.
func (t *target) options(c *console) extension.Options {
	options := extension.Options{
		Workspace: t.workspace,
		Flags:     t.flags,
		Bindings:  t.alone(c),
		Notify: func(n extension.Notification) {
			switch count := t.notified.Add(1); {
			case count == maxNotified+1:
				c.note("%d notifications are shown; further ones are counted", maxNotified)
				return
			case count > maxNotified:
				return
			}
			words := []string{n.Level}
			if n.Title != "" {
				words = append(words, n.Title)
			}
			c.line(plain(strings.Join(append(words, n.Message), ": ")))
		},
	}
	if t.verbose {
		options.Stderr = func(line process.Line) { c.line(c.paint(dim, plain("stderr: "+line.Text))) }
		options.Diagnose = func(text string) { c.line(c.paint(dim, plain("diagnostic: "+text))) }
	}
	return options
}

// maxNotified is how many notifications of an extension are shown.
const maxNotified = 20

const (
	// lastWords is how many of the last lines of standard error a failure shows.
	lastWords = 10
	// maxShown bounds every line of an extension that a failure shows, in bytes.
	maxShown = 400
)

// words shows the first and the last lines of standard error.
func (c *console) words(tail process.Tail) {
	first := int64(len(tail.First))
	from := max(first, tail.Total-lastWords, tail.Dropped()) // number of the line to go on with
	heading := "the extension's last words on standard error:"
	if from > first {
		heading = "the extension's first and last words on standard error:"
	}
	c.line(heading)
	for _, line := range tail.First {
		c.line("    " + shown(line))
	}
	switch left := from - first; {
	case left == 1:
		c.line("    ... 1 line left out ...")
	case left > 1:
		c.line(fmt.Sprintf("    ... %d lines left out ...", left))
	}
	for number := from; number < tail.Total; number++ {
		c.line("    " + shown(tail.Lines[number-tail.Dropped()]))
	}
}

// ignored sums up the messages that were of no use, in one line.
func (c *console) ignored(sum extension.Ignored) {
	last, whole := bounded(plain(sum.Last))
	if !whole {
		last += "... (cut)"
	}
	switch sum.Count {
	case 0:
	case 1:
		c.note("1 message was ignored or refused: %s", last)
	default:
		c.note("%d messages were ignored or refused; the last: %s", sum.Count, last)
	}
}

// shown is a line of standard error as it is printed, with a mark where its rest is missing.
func shown(line process.Line) string {
	text, whole := bounded(plain(line.Text))
	if !whole || line.Cut {
		text += "... (cut)"
	}
	return text
}

// bounded cuts a text that is longer than maxShown between two characters.
func bounded(text string) (short string, whole bool) {
	if len(text) <= maxShown {
		return text, true
	}
	end := maxShown
	for !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end], false
}

// report shows a failure of an extension and returns the exit code for it.
func (t *target) report(c *console, err error) (int, error) {
	var failure *extension.Failure
	if !errors.As(err, &failure) {
		var unknownTool *extension.UnknownToolError
		var arguments *extension.ArgumentError
		var unknownFlag *manifest.UnknownFlagError
		if errors.As(err, &unknownTool) || errors.As(err, &arguments) || errors.As(err, &unknownFlag) {
			return exitUsage, &usageError{err.Error()}
		}
		return exitExtension, err
	}
	c.errorf("%s", failure.Message)
	// A cancelled extension that settled has nothing to explain.
	settled := failure.Kind == extension.Cancelled && !failure.Unsettled
	if len(failure.Stderr.Lines) > 0 && !t.verbose && !settled {
		c.words(failure.Stderr)
	}
	if !t.verbose && !settled {
		c.ignored(failure.Ignored)
	}
	switch failure.Kind {
	case extension.Refused, extension.Result:
		return exitTool, nil
	case extension.Timeout:
		return exitTimeout, nil
	case extension.Cancelled:
		return exitCancelled, nil
	default:
		return exitExtension, nil
	}
}

// close brings an extension down and tells if it had to be forced.
func (t *target) close(c *console, x *extension.Extension) {
	ending := x.Close()
	if more := t.notified.Load() - maxNotified; more > 0 {
		c.note("%d more notifications were not shown", more)
	}
	report := ending.Process
	switch {
	case ending.Asked && report.Stage != process.StageSelf:
		c.note("the extension did not end when it was asked to: %s", report.Stage)
	case ending.Misanswered:
		c.note("the extension ended with an invalid answer to shutdown: %s", report.State)
	case ending.Asked && !ending.Answered:
		c.note("the extension ended without an answer to shutdown: %s", report.State)
	case ending.Asked && report.State.Code != 0:
		c.note("the extension ended with %s", report.State)
	}
	if report.Left > 0 {
		c.note("the extension left %s behind; ended now", countText(report.Left, "process", "processes"))
	}
	if report.Alive > 0 {
		c.note("%s of the extension could not be ended", countText(report.Alive, "process", "processes"))
	}
}
