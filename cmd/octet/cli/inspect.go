package cli

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/octet-dev/octet/generated/manifestdoc"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/process"
	"github.com/octet-dev/octet/runtime/manifest"
	"github.com/octet-dev/octet/runtime/manifest/folder"
)

// inspectCommand is octet extension inspect.
type inspectCommand struct {
	target
	noStart bool
}

func extensionInspect() *command {
	var inspect inspectCommand
	return &command{
		name: "inspect", short: "Show what an extension is and offers.", help: helpExtensionInspect,
		flags: func(set *pflag.FlagSet) {
			set.BoolVar(&inspect.noStart, "no-start", false, "")
			inspect.register(set)
		},
		run: inspect.run,
	}
}

func (inspect *inspectCommand) run(ctx context.Context, c *console, args []string) (int, error) {
	switch {
	case len(args) == 0:
		return exitUsage, usagef("octet extension inspect needs a directory; write octet extension inspect DIR")
	case len(args) > 1:
		return exitUsage, usagef("unexpected argument %q; octet extension inspect takes one directory", args[1])
	}
	if err := inspect.check(args[0]); err != nil {
		return exitUsage, err
	}
	if inspect.noStart {
		return inspect.judge(c)
	}
	source, err := inspect.load(c)
	if err != nil {
		return exitExtension, err
	}
	if _, err := source.Manifest.FlagValues(inspect.flags); err != nil {
		return exitUsage, usagef("--flag: %v", err)
	}
	ctx, stop := interrupts(ctx, func() { c.note("cancelling") }, process.KillAll)
	code, err := inspect.held(ctx, c, source)
	return stop(code), err
}

// held starts the extension, ends it, and shows what it is.
func (inspect *inspectCommand) held(ctx context.Context, c *console, source *extension.Source) (int, error) {
	x, err := extension.Start(ctx, source, inspect.options(c))
	if err != nil {
		return inspect.report(c, err)
	}
	agreement, withheld := x.Agreement(), x.Withheld()
	inspect.close(c, x)
	if inspect.output == outputJSON {
		return exitOK, c.json(describe(source, agreement, withheld))
	}
	c.print(plain(manifestText(source.Folder.Dir, source.Manifest) + "\n" + agreementText(agreement, withheld)))
	return exitOK, nil
}

// problem is the JSON form of a manifest problem.
type problem struct {
	Rule     string            `json:"rule"`
	Severity manifest.Severity `json:"severity"`
	Line     int               `json:"line,omitempty"`
	Column   int               `json:"column,omitempty"`
	Path     string            `json:"path,omitempty"`
	Message  string            `json:"message"`
	Remedy   string            `json:"remedy"`
}

func problems(list []manifest.Problem) []problem {
	converted := make([]problem, len(list))
	for i, p := range list {
		converted[i] = problem{p.Rule, p.Severity, p.Line, p.Column, p.Pointer, p.Message, p.Remedy}
	}
	return converted
}

// judgement is the JSON form of what --no-start finds.
type judgement struct {
	Directory string                `json:"directory"`
	Valid     bool                  `json:"valid"`
	Summary   string                `json:"summary,omitempty"`
	Problems  []problem             `json:"problems"`
	Manifest  *manifestdoc.Manifest `json:"manifest,omitempty"`
}

// judge looks at the manifest alone and starts nothing.
func (inspect *inspectCommand) judge(c *console) (int, error) {
	opened, err := folder.Open(inspect.dir, folder.LoadLimit)
	var unreadable *folder.Error
	if errors.As(err, &unreadable) {
		return exitTool, inspect.unreadable(c, unreadable)
	}
	verdict := opened.Judge()
	code := exitTool
	if verdict.OK() {
		code = exitOK
	}
	if inspect.output == outputJSON {
		j := judgement{Directory: opened.Dir, Valid: verdict.OK(), Summary: verdict.Summary(), Problems: problems(verdict.Problems)}
		if verdict.OK() {
			j.Manifest = &verdict.Manifest.Document
		}
		return code, c.json(j)
	}
	var b strings.Builder
	if verdict.OK() {
		b.WriteString(plain(manifestText(opened.Dir, verdict.Manifest)) + "\n")
	}
	for _, line := range problemLines(opened.ManifestPath, verdict.Problems) {
		b.WriteString(line + "\n")
	}
	if !verdict.OK() {
		b.WriteString("\n" + plain(verdict.Summary()) + "\n")
	}
	b.WriteString(count(verdict.Problems) + "\n")
	c.print(b.String())
	return code, nil
}

func (inspect *inspectCommand) unreadable(c *console, e *folder.Error) error {
	if inspect.output == outputJSON {
		return c.json(judgement{
			Directory: inspect.dir, Summary: e.Message,
			Problems: []problem{{Rule: e.Rule, Severity: manifest.Error, Message: e.Message, Remedy: e.Remedy}},
		})
	}
	c.print(plain(fmt.Sprintf("error: %s (%s)\n    %s\n\n1 error\n", e.Message, e.Rule, e.Remedy)))
	return nil
}

// count reads "no problems", "1 error" or "2 errors, 1 warning".
func count(list []manifest.Problem) string {
	numbers := map[manifest.Severity]int{}
	for _, p := range list {
		numbers[p.Severity]++
	}
	var parts []string
	for _, severity := range []manifest.Severity{manifest.Error, manifest.Warning} {
		switch n := numbers[severity]; n {
		case 0:
		case 1:
			parts = append(parts, "1 "+string(severity))
		default:
			parts = append(parts, fmt.Sprintf("%d %ss", n, severity))
		}
	}
	if len(parts) == 0 {
		return "no problems"
	}
	return strings.Join(parts, ", ")
}

// json prints a value as indented JSON.
func (c *console) json(value any) error {
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	encoder.SetIndent("", "  ")
	if err := encoder.Encode(value); err != nil {
		return fmt.Errorf("output: %w", err)
	}
	c.print(b.String())
	return nil
}
