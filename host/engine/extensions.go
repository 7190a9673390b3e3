package engine

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/discovery"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/policy"
	"github.com/octet-dev/octet/host/selection"
	"github.com/octet-dev/octet/host/service/dialog"
	"github.com/octet-dev/octet/host/service/progress"
	"github.com/octet-dev/octet/host/supervise"
	"github.com/octet-dev/octet/host/tool"
	"github.com/octet-dev/octet/runtime/manifest/near"
)

// Command is a command of an extension in service.
type Command struct {
	Extension, Name, Description, Usage string
}

// Commands lists the commands of all extensions in service, by name and then by extension. Two extensions
// may use one name.
//
// Rules: MAN-SURFACE-008.
func (e *Engine) Commands() []Command {
	var list []Command
	catalog := e.fleet.Catalog()
	for i := range catalog.Entries {
		for _, c := range catalog.Entries[i].Commands {
			list = append(list, Command{catalog.Entries[i].Name, c.Name, c.Description, c.Usage})
		}
	}
	slices.SortFunc(list, func(a, b Command) int {
		return cmp.Or(cmp.Compare(a.Name, b.Name), cmp.Compare(a.Extension, b.Extension))
	})
	return list
}

// UnknownCommandError says that no extension in service has a command, or that several have it.
type UnknownCommandError struct {
	Name  string
	Guess string
	// Extensions have a command of the name; more than one.
	Extensions []string
}

// Error says which it may have been.
func (e *UnknownCommandError) Error() string {
	switch {
	case len(e.Extensions) > 0:
		return fmt.Sprintf("the extensions %s have a command %q; write /EXTENSION:%s", strings.Join(e.Extensions, ", "), e.Name, e.Name)
	case e.Guess != "":
		return fmt.Sprintf("there is no command %q; did you mean %q?", e.Name, e.Guess)
	}
	return fmt.Sprintf("there is no command %q; /help lists them", e.Name)
}

// FindCommand finds the one command that a word means: NAME, or EXTENSION:NAME where several have it. The
// others are further words that would have been possible. The error is an *UnknownCommandError.
func (e *Engine) FindCommand(word string, others []string) (Command, error) {
	owner, name, qualified := strings.Cut(word, ":")
	if !qualified {
		owner, name = "", word
	}
	unknown := &UnknownCommandError{Name: word}
	var found []Command
	names := slices.Clone(others)
	for _, c := range e.Commands() {
		names = append(names, c.Name)
		if c.Name == name && (owner == "" || owner == c.Extension) {
			found = append(found, c)
		}
	}
	switch len(found) {
	case 1:
		return found[0], nil
	case 0:
		unknown.Guess = near.Find(word, names)
		return Command{}, unknown
	}
	for _, c := range found {
		unknown.Extensions = append(unknown.Extensions, c.Extension)
	}
	return Command{}, unknown
}

// Command runs a command of an extension on behalf of the conversation, and keeps what it contributes for
// the next prompt. Ending the context cancels it.
func (c *Conversation) Command(ctx context.Context, command Command, arguments []string, progress func(extension.Progress)) (string, error) {
	return c.execute(ctx, command.Extension, extension.Execution{Command: command.Name, Arguments: arguments, Scope: c.scope(), Progress: progress})
}

func (c *Conversation) execute(ctx context.Context, name string, x extension.Execution) (text string, err error) {
	ctx, done, err := c.admit(ctx)
	if err != nil {
		return "", err
	}
	defer done()
	var shown func()
	x.Progress, shown = bounded(x.Progress)
	defer shown()
	err = c.engine.use(ctx, name, func(ctx context.Context, running *extension.Extension) error {
		answer, err := running.Execute(ctx, x)
		if err != nil {
			return err
		}
		c.engine.services.contribute(running, answer.Context)
		text = answer.Text
		return nil
	})
	return text, err
}

// bounded takes news without ever holding up whoever has them, however slow they are shown. The function that it
// returns shows what is left.
func bounded(show func(extension.Progress)) (take func(extension.Progress), rest func()) {
	if show == nil {
		return nil, func() {}
	}
	sink := progress.NewSink(func(p tool.Progress) { show(extension.Progress(p)) })
	return func(p extension.Progress) { sink.Put(progress.Of(p)) }, func() { sink.Close() }
}

var errNoProcess = errors.New("the extension is no process")

// Action runs what an extension presents for choosing, once the person has confirmed it if it destroys
// something. It runs the command of the extension that presents it, whoever else has one of that name.
//
// Rules: MAN-SURFACE-008, MAN-SURFACE-010.
func (c *Conversation) Action(ctx context.Context, name, id string, progress func(extension.Progress)) (string, error) {
	action, err := c.engine.services.board.Action(name, id)
	if err != nil {
		return "", err
	}
	x := extension.Execution{Command: action.Command, Arguments: action.Arguments, Scope: c.scope(), Progress: progress}
	if action.Destructive {
		yes, err := c.engine.person().Confirm(ctx, dialog.Question{
			Extension: name, Owner: action.Owner, Prompt: action.Label, Destructive: true,
		})
		if err != nil {
			return "", err
		}
		if !yes {
			return "", errors.New("the action was not confirmed")
		}
		x.Value = &dialog.Approval{}
	}
	// What was confirmed is what is shown now: not another revision, nor another generation.
	again, err := c.engine.services.board.Action(name, id)
	if err != nil || again.On != action.On || again.Revision != action.Revision {
		return "", fmt.Errorf("the action %q of extension %q has changed; look at it again", id, name)
	}
	return c.execute(ctx, name, x)
}

// ReloadExtensions replaces running processes, candidate first: of one extension, or of all if the name is
// empty. It selects nothing anew.
func (e *Engine) ReloadExtensions(ctx context.Context, name string) []supervise.Report {
	e.reloading.Lock()
	defer e.reloading.Unlock()
	if name != "" {
		return []supervise.Report{e.fleet.Reload(ctx, name)}
	}
	return e.fleet.ReloadAll(ctx)
}

// Reload discovers and selects anew and rebuilds what runs: what is new starts, what is no longer selected
// ends, and shared processes of equal content go on. It waits until the conversation in front is idle. An
// error leaves everything as it is.
func (e *Engine) Reload(ctx context.Context) ([]supervise.Report, error) {
	e.reloading.Lock()
	defer e.reloading.Unlock()
	if c := e.Front(); c != nil {
		if err := c.Idle(ctx); err != nil {
			return nil, err
		}
	}
	if err := e.Ready(ctx); err != nil {
		return nil, err
	}
	selected, err := selection.Resolve(e.config.Machine, e.config.Invocation, e.config.Surface)
	if err != nil {
		return nil, err
	}
	e.mu.Lock()
	e.selection = selected
	e.mu.Unlock()
	e.diagnose(selected.Diagnostics...)
	e.stopped(selected)
	members := e.members(selected)
	before := e.fleet.Status()
	reports := e.fleet.Rebuild(ctx, members)
	for _, status := range before {
		if !slices.ContainsFunc(members, func(m supervise.Member) bool { return m.Name == status.Name }) {
			e.services.gone(status.Name)
		}
	}
	e.reported(reports)
	return reports, nil
}

// ExtensionStatus is everything there is to tell about one extension.
//
// Rules: MAN-SURFACE-006, MAN-SURFACE-007.
type ExtensionStatus struct {
	Name         string
	Version      string
	Source       discovery.Scope
	ManifestPath string
	// Digest is that of the manifest's bytes, "unavailable" where they cannot be read as they were.
	Digest string
	// Archive is the digest of the archive that the bundle was installed from, empty where there is none.
	Archive  string
	Enabled  string // by what; empty: no
	Trusted  string // on what; empty: not
	Grant    string // to be copied, where trust is missing
	Reason   policy.Reason
	Why      string // it does not start; empty if it does
	API      string
	Health   supervise.Status // zero where it is not supervised
	Running  bool
	Tools    []string
	Commands []string
	Hooks    []string
	UI       []string
	// Compatible is compatible, unavailable, not_applicable, or incompatible and why.
	Compatible string
	// Telemetry is the feature of the telemetry about delegation that was negotiated, empty for none.
	Telemetry string
	// Said are its last lines on standard error and diagnostics.
	Said []string
}

// Statuses describes every discovered extension, by name.
func (e *Engine) Statuses() []ExtensionStatus {
	s := e.Selection()
	health := map[string]supervise.Status{}
	for _, status := range e.fleet.Status() {
		health[status.Name] = status
	}
	var list []ExtensionStatus
	for i := range s.Extensions {
		x := &s.Extensions[i]
		status := describe(x, s.Policy)
		if h, supervised := health[x.Name]; supervised {
			status.Health, status.Running = h, h.State == supervise.Ready || h.State == supervise.Draining
			if status.Running {
				status.Tools, status.Commands = h.Tools, h.Commands
			}
			status.Compatible = compatibility(h)
			if slices.Contains(h.Features, featurewire.FeatureDelegationTelemetryV1) {
				status.Telemetry = featurewire.FeatureDelegationTelemetryV1
			}
			status.Said = e.said(x.Name)
		}
		list = append(list, status)
	}
	return list
}

// said are the last things that an extension's logs hold.
func (e *Engine) said(name string) []string {
	supervisor := e.fleet.Get(name)
	if supervisor == nil {
		return nil
	}
	const most = 5
	kept, _ := supervisor.Log().Entries()
	var lines []string
	for _, d := range kept[max(0, len(kept)-most):] {
		lines = append(lines, d.Message)
	}
	stderr, _ := supervisor.Stderr().Entries()
	for _, d := range stderr[max(0, len(stderr)-most):] {
		lines = append(lines, "stderr: "+d.Message)
	}
	return lines
}

// compatibility says whether what was negotiated is what the host needs.
func compatibility(h supervise.Status) string {
	switch {
	case h.Generation == 0 && h.LastError != "":
		return "incompatible: " + oneLine(h.LastError)
	case h.Generation == 0:
		return "unavailable"
	}
	return "compatible"
}
