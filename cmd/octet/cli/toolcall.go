package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync/atomic"
	"time"

	"github.com/spf13/pflag"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/model"
	"github.com/octet-dev/octet/host/schema"
)

// callCommand is octet tool call.
type callCommand struct {
	target
	tool      string
	arguments []string
	json      string
	timeout   time.Duration
	given     *pflag.FlagSet
}

func toolCall() *command {
	var call callCommand
	return &command{
		name: "call", short: "Start an extension, call one of its tools, and end it.", help: helpToolCall,
		flags: func(set *pflag.FlagSet) {
			call.given = set
			set.StringArrayVar(&call.arguments, "arg", nil, "")
			set.StringVar(&call.json, "json", "", "")
			set.DurationVar(&call.timeout, "timeout", 0, "")
			call.register(set)
		},
		run: call.run,
	}
}

func (call *callCommand) check(args []string) error {
	switch {
	case len(args) < 2:
		return usagef("octet tool call needs a directory and a tool; write octet tool call DIR TOOL")
	case len(args) > 2:
		return usagef("unexpected argument %q; give arguments of the tool as --arg name=value", args[2])
	case call.given.Changed("json") && len(call.arguments) > 0:
		return usagef("--arg and --json exclude each other; use one of them")
	case call.given.Changed("timeout") && call.timeout <= 0:
		return usagef("--timeout %s is not above zero", call.timeout)
	}
	call.tool = args[1]
	return call.target.check(args[0])
}

func (call *callCommand) run(ctx context.Context, c *console, args []string) (int, error) {
	if err := call.check(args); err != nil {
		return exitUsage, err
	}
	words := make([]schema.Word, len(call.arguments))
	for i, text := range call.arguments {
		word, err := schema.ParseWord(text)
		if err != nil {
			return exitUsage, usagef("--arg: %v", err)
		}
		words[i] = word
	}
	source, err := call.load(c)
	if err != nil {
		return exitExtension, err
	}
	// A flag that the manifest does not declare is a wrong command line; nothing is started for it.
	if _, err := source.Manifest.FlagValues(call.flags); err != nil {
		return exitUsage, usagef("--flag: %v", err)
	}
	return call.started(ctx, c, source, words)
}

func (call *callCommand) started(ctx context.Context, c *console, source *extension.Source, words []schema.Word) (int, error) {
	var running atomic.Pointer[extension.Extension]
	ctx, stop := interrupts(ctx,
		func() { c.note("cancelling; interrupt again to end the extension at once") },
		func() {
			if x := running.Load(); x != nil {
				x.Kill()
			}
		})
	code, err := call.held(ctx, c, source, words, running.Store)
	return stop(code), err
}

// held starts the extension, calls, and ends it. Running is told of it.
func (call *callCommand) held(ctx context.Context, c *console, source *extension.Source, words []schema.Word, running func(*extension.Extension)) (int, error) {
	options := call.options(c)
	if call.given.Changed("timeout") {
		options.Deadlines.Initialize = min(call.timeout, featurewire.RequestTimeoutMs*time.Millisecond)
	}
	x, err := extension.Start(ctx, source, options)
	if err != nil {
		return call.report(c, err)
	}
	running(x)
	if withheld := x.Withheld(); call.verbose && len(withheld) > 0 {
		c.line(c.paint(dim, "not offered, for want of a conversation: "+strings.Join(withheld, ", ")))
	}
	code, err := call.call(ctx, c, x, words)
	c.clear()
	call.close(c, x)
	return code, err
}

func (call *callCommand) call(ctx context.Context, c *console, x *extension.Extension, words []schema.Word) (int, error) {
	arguments, err := call.typed(x, words)
	if err != nil {
		return exitUsage, &usageError{err.Error()}
	}
	result, err := x.Call(ctx, extension.Request{
		Tool: call.tool, Arguments: arguments, Timeout: call.timeout, Progress: func(p extension.Progress) { showProgress(c, p) },
	})
	c.clear()
	if err != nil {
		return call.report(c, err)
	}
	if err := call.show(c, result); err != nil {
		return exitExtension, err
	}
	if result.IsError {
		c.errorf("tool %q reports an error", call.tool)
		return exitTool, nil
	}
	return exitOK, nil
}

// typed makes the arguments from the command line, by the tool's own schema.
func (call *callCommand) typed(x *extension.Extension, words []schema.Word) (json.RawMessage, error) {
	tool, err := x.Tool(call.tool)
	if err != nil {
		return nil, err
	}
	if call.given.Changed("json") {
		var object map[string]json.RawMessage
		if err := json.Unmarshal([]byte(call.json), &object); err != nil || object == nil {
			return nil, fmt.Errorf("--json is not a JSON object: %s", jsonFault(err))
		}
		if err := model.Legible([]byte(call.json)); err != nil {
			return nil, fmt.Errorf("--json: %w", err)
		}
		return json.RawMessage(call.json), nil
	}
	if tool.Arguments() == nil {
		if len(words) > 0 {
			return nil, fmt.Errorf("tool %q describes no arguments; use --json", call.tool)
		}
		return json.RawMessage("{}"), nil
	}
	arguments, err := tool.Arguments().Arguments(words)
	if err != nil {
		return nil, fmt.Errorf("--arg: %w", err)
	}
	return arguments, nil
}

// jsonFault says in one line what is wrong with a text that should be a JSON object.
func jsonFault(err error) string {
	var syntax *json.SyntaxError
	switch {
	case err == nil:
		return "it is null"
	case errors.As(err, &syntax):
		return fmt.Sprintf("%v at byte %d", err, syntax.Offset)
	default:
		return "it is another JSON value"
	}
}

// show prints the result to standard output.
func (call *callCommand) show(c *console, result *extension.ToolResult) error {
	if call.output == outputText {
		c.result(result.Text())
		return nil
	}
	content := result.Content
	if content == nil {
		content = []extension.Part{}
	}
	return c.json(struct {
		Content    []extension.Part `json:"content"`
		IsError    bool             `json:"is_error"`
		Structured json.RawMessage  `json:"structured_content,omitempty"`
		Metadata   json.RawMessage  `json:"metadata,omitempty"`
	}{content, result.IsError, result.Structured, result.Metadata})
}

// showProgress writes one progress event to standard error.
func showProgress(c *console, p extension.Progress) {
	if p.Stream != "" {
		for line := range strings.SplitSeq(strings.TrimSuffix(string(p.Data), "\n"), "\n") {
			c.line(plain(p.Stream + ": " + strings.ToValidUTF8(line, "\uFFFD")))
		}
		return
	}
	var count string
	switch {
	case p.Current != nil && p.Total != nil:
		count = fmt.Sprintf(" %d/%d", *p.Current, *p.Total)
	case p.Current != nil:
		count = fmt.Sprintf(" %d", *p.Current)
	}
	if count != "" && p.Unit != "" {
		count += " " + p.Unit
	}
	c.status(fmt.Sprintf("progress%s: %s", count, p.Message))
}
