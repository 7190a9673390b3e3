package cli

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/spf13/pflag"
	"golang.org/x/term"

	"github.com/octet-dev/octet/cmd/octet/chat"
	"github.com/octet-dev/octet/cmd/octet/chat/edit"
	"github.com/octet-dev/octet/host/activation"
	"github.com/octet-dev/octet/host/agent"
	"github.com/octet-dev/octet/host/config"
	"github.com/octet-dev/octet/host/engine"
	"github.com/octet-dev/octet/host/flags"
	"github.com/octet-dev/octet/host/policy"
	"github.com/octet-dev/octet/host/selection"
	"github.com/octet-dev/octet/host/session"
)

// talk are the options of a conversation.
type talk struct {
	store storeOptions

	prompt        string
	output        string
	model         string
	reasoning     string
	session, fork string
	last          bool
	tools         string
	require       []string
	verbose       bool
	given         *pflag.FlagSet
	lines         *lineWriter // what -p prints
}

const outputStream = "stream-json"

func (t *talk) register(set *pflag.FlagSet) {
	t.given = set
	set.StringVarP(&t.prompt, "prompt", "p", "", "")
	set.StringVar(&t.output, "output", outputText, "")
	set.StringVar(&t.model, "model", "", "")
	set.StringVar(&t.reasoning, "reasoning", "", "")
	set.StringVar(&t.session, "session", "", "")
	set.BoolVarP(&t.last, "continue", "c", false, "")
	set.StringVar(&t.fork, "fork", "", "")
	set.StringVar(&t.tools, "tool-interface", "", "")
	set.Var((*nameList)(&t.require), "require-tool", "")
	set.BoolVarP(&t.verbose, "verbose", "v", false, "")
	t.store.register(set)
	for name, words := range map[string][]string{
		"output":         {outputText, outputJSON, outputStream},
		"tool-interface": {string(agent.Direct), string(agent.Fixed)},
	} {
		_ = set.SetAnnotation(name, annotationValues, words) // it was registered above
	}
}

// check looks at the options alone.
func (t *talk) check() error {
	asked := t.given.Changed("prompt")
	chosen := 0
	for _, name := range []string{"session", "continue", "fork"} {
		if t.given.Changed(name) {
			chosen++
		}
	}
	for _, name := range []string{"model", "session", "fork"} {
		if f := t.given.Lookup(name); f.Changed && f.Value.String() == "" {
			return usagef("--%s has an empty value; give one, or drop it", name)
		}
	}
	switch {
	case t.output != outputText && t.output != outputJSON && t.output != outputStream:
		return usagef("--output is %q, want %s, %s or %s", t.output, outputText, outputJSON, outputStream)
	case t.output != outputText && !asked:
		return usagef("--output %s goes with -p PROMPT", t.output)
	case asked && strings.TrimSpace(t.prompt) == "":
		return usagef("-p has an empty prompt; give one, or - for standard input")
	case chosen > 1:
		return usagef("--session, --continue and --fork exclude each other; use one of them")
	case t.tools != "" && t.tools != string(agent.Direct) && t.tools != string(agent.Fixed):
		return usagef("--tool-interface is %q, want %s or %s", t.tools, agent.Direct, agent.Fixed)
	}
	return nil
}

// converse holds a conversation: one prompt, or line by line.
func (o *ordinary) converse(ctx context.Context, c *console, set *flags.Set, invocation selection.Invocation) (int, error) {
	settled, err := selection.Configure(machine(), invocation)
	if err != nil {
		return refused(c, err)
	}
	prompt := o.talk.prompt
	if prompt == "-" {
		if prompt, err = promptFrom(c.in); err != nil {
			return exitUsage, err
		}
	}
	path, err := o.talk.store.path()
	if err != nil {
		return failed(err)
	}
	store, err := session.Open(ctx, path)
	if err != nil {
		return failed(err)
	}
	defer func() { _ = store.Close() }()
	at, err := o.talk.at(ctx, store)
	if err != nil {
		return failed(err)
	}
	served, provided, err := models(settled.Config.Word(config.Model))
	if err != nil {
		return exitUsage, err
	}
	if o.talk.fresh() && cmp.Or(o.talk.model, served.Default()) == "" {
		return exitUsage, &usageError{engine.ErrNoModel.Error()} // nothing is started for that
	}
	// A reader that goes away is an error of the write, and not the end of this program: extensions are to be
	// taken down in order.
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)
	defer signal.Stop(broken)
	f, editor, finish := o.talk.front(c)
	defer finish()
	ctx, signals := shutdowns(ctx)
	return signals.finish(o.held(ctx, c, engine.Config{
		Machine: machine(), Invocation: invocation, Surface: policy.Session, Flags: set.Words, Store: store,
		Models: served, Providers: provided, Frontend: f, Model: o.talk.model,
		Reasoning: cmp.Or(o.talk.reasoning, settled.Config.Word(config.Reasoning)),
		Interface: agent.ToolInterface(cmp.Or(o.talk.tools, settled.Config.Word(config.ToolInterface))), Require: o.talk.require,
		Interactive: !o.talk.given.Changed("prompt"), Line: f.Line(), Terminal: f.Terminal(),
		Warming: warming(settled.Config),
	}, signals, held{f, editor, at, prompt}))
}

// held is what a conversation is held with.
type held struct {
	front  *chat.Front
	editor *edit.Editor
	at     opening
	prompt string
}

// held opens an engine, holds a conversation, and takes all down again, within the bound of a signal if one came.
func (o *ordinary) held(ctx context.Context, c *console, settings engine.Config, signals *shutdown, h held) (int, error) {
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	c.out.onLoss(func() { cancel(agent.ErrDisconnected) })
	e, err := engine.Open(ctx, settings)
	if err != nil {
		return refused(c, err)
	}
	defer func() { e.Close(signals.limit()) }()
	signals.hastens(e.Kill)
	signals.attend(o.talk.given.Changed("prompt"))
	return o.talk.run(ctx, c, e, h, settings.Invocation)
}

// warmEvery is shorter than the five minutes that providers keep a cache for.
const warmEvery = 270 * time.Second

// warming says how the cache of a conversation that waits is kept alive: not at all, unless it is switched on.
func warming(c *config.Effective) agent.Warming {
	if !c.Bool(config.CacheWarming) {
		return agent.Warming{}
	}
	return agent.Warming{Every: warmEvery}
}

// maxPrompt is how many bytes of standard input are taken for a prompt.
const maxPrompt = 1 << 20

func promptFrom(in io.Reader) (string, error) {
	text, err := io.ReadAll(io.LimitReader(in, maxPrompt+1))
	switch {
	case err != nil:
		return "", usagef("the prompt cannot be read from standard input: %v", err)
	case len(text) > maxPrompt:
		return "", usagef("the prompt on standard input is longer than %d bytes; put it into a file and name that", maxPrompt)
	case strings.TrimSpace(string(text)) == "":
		return "", usagef("standard input has no prompt")
	}
	return string(text), nil
}

// fresh says that an empty conversation begins.
func (t *talk) fresh() bool { return t.session == "" && t.fork == "" && !t.last }

// opening begins the conversation that the options name.
type opening func(context.Context, *engine.Engine) (*engine.Conversation, error)

// at finds which conversation the options mean, before anything is started for it.
func (t *talk) at(ctx context.Context, store *session.Store) (opening, error) {
	switch {
	case t.session != "":
		info, err := t.store.resolve(ctx, store, t.session)
		return func(ctx context.Context, e *engine.Engine) (*engine.Conversation, error) {
			return e.Resume(ctx, info.ID)
		}, err
	case t.fork != "":
		info, err := t.store.resolve(ctx, store, t.fork)
		return func(ctx context.Context, e *engine.Engine) (*engine.Conversation, error) {
			return e.Fork(ctx, info.ID, "")
		}, err
	case t.last:
		return func(ctx context.Context, e *engine.Engine) (*engine.Conversation, error) {
			info, err := e.Latest(ctx)
			if errors.Is(err, session.ErrNotFound) {
				return nil, usagef("there is no conversation in %s yet; start without --continue", e.Workspace())
			}
			if err != nil {
				return nil, err
			}
			return e.Resume(ctx, info.ID)
		}, nil
	}
	return func(ctx context.Context, e *engine.Engine) (*engine.Conversation, error) { return e.NewSession(ctx) }, nil
}

// front makes the frontend of the console.
func (t *talk) front(c *console) (f *chat.Front, editor *edit.Editor, finish func()) {
	asked := t.given.Changed("prompt")
	history := edit.OpenHistory("")
	if store, err := t.store.path(); err == nil && !asked {
		history = edit.OpenHistory(filepath.Join(filepath.Dir(store), "history"))
	}
	o := chat.Options{Out: c.out, Notes: c.err, Verbose: t.verbose, Quiet: asked && !c.outTerminal || t.output != outputText}
	typed := c.stdin != nil && term.IsTerminal(int(c.stdin.Fd()))
	switch {
	case typed && c.outTerminal:
		editor = edit.OfTerminal(c.stdin, c.outFile, history)
		o.Ask, o.Terminal = true, os.Getenv("TERM") != "dumb"
		o.Colour = o.Terminal && os.Getenv("NO_COLOR") == ""
	case typed && c.errTerminal: // the answer goes elsewhere; questions still find the person
		editor = edit.OfTerminal(c.stdin, c.err.(*os.File), history)
		o.Ask = true
	default:
		editor = edit.New(edit.Options{In: c.in, Out: c.out, History: history})
	}
	t.lines = &lineWriter{out: c.out}
	if t.output == outputStream {
		o.Sink = t.lines.event
	}
	o.Editor, o.Echo = editor, !typed && (c.outTerminal || t.verbose)
	f = chat.NewFront(o)
	return f, editor, editor.Close
}

// run opens the conversation and holds it.
func (t *talk) run(ctx context.Context, c *console, e *engine.Engine, h held, invocation selection.Invocation) (int, error) {
	if t.given.Changed("prompt") {
		return t.once(ctx, c, e, h.front, h.at, h.prompt)
	}
	conversation, err := h.at(ctx, e)
	if err != nil {
		return notOpened(ctx, err)
	}
	talk := chat.New(h.front, e, conversation, &activation.Editor{
		Machine: machine(), Invocation: invocation, Tools: e.Taken, Required: t.require,
	})
	h.editor.SetComplete(talk.Complete)
	talk.Greet(Release)
	ok, err := talk.Run(ctx)
	switch {
	case err != nil && ctx.Err() == nil:
		return exitTool, err
	case !ok:
		return exitTool, nil
	}
	return exitOK, nil
}

// notOpened makes the outcome of a conversation that could not be opened.
func notOpened(ctx context.Context, err error) (int, error) {
	var usage *usageError
	var lacking *engine.MissingToolsError
	var unserved *engine.ModelError
	switch {
	case ctx.Err() != nil:
		return exitCancelled, nil
	case errors.As(err, &usage):
		return exitUsage, err
	case errors.As(err, &unserved), errors.Is(err, engine.ErrNoModel), errors.Is(err, session.ErrNotFound):
		return exitUsage, &usageError{err.Error()}
	case errors.As(err, &lacking):
		return exitExtension, err
	}
	return exitTool, err
}

const helpTalk = `  -p, --prompt PROMPT        one prompt instead of lines; - reads it from standard input
  --output FORMAT            of -p: text (default), json, one object with the outcome, or stream-json, events as lines
  --model PROVIDER:MODEL     who answers: anthropic:..., openai:..., or scripted:FILE, which needs no key
  --reasoning LABEL          how much the model reasons, a label of the model
  -c, --continue             go on with the latest conversation of this workspace
  --session ID               go on with this one; octet sessions list shows them
  --fork ID                  go on in a copy of it
  --tool-interface KIND      direct (default) shows models every tool; fixed shows a list that never changes
  --require-tool NAMES       begin nothing unless these tools are there; takes a comma list
  --data-dir DIR             where sessions and the history are; OCTET_DATA_DIR or ~/.octet by default
  -v, --verbose              tell what extensions do
`
