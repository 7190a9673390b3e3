package extension

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/runtime/peer"
)

// Command is something that the person starts by its name, without the model.
type Command struct {
	// Name is what the person types behind the slash; the manifest declares the same names.
	Name string
	// Description says in a line what the command does.
	Description string
	// Usage shows how it is written, such as "/clock [zone]"; empty for none.
	Usage string
	// Run runs it. A nil result is an empty text. An error is written to stderr; the host hears only that the
	// command failed.
	Run func(ctx context.Context, call *CommandCall, args []string) (*CommandResult, error)
}

// CommandCall is one call of a command. Its methods may be used from any goroutine.
type CommandCall struct {
	Scope
	command string
}

// Command returns the name the command was called by.
func (c *CommandCall) Command() string { return c.command }

// CommandResult is what a command returns.
type CommandResult struct {
	Text          string         // for the person
	Notifications []Notification // for the person, beside the text
	Context       []Contribution // for the model, with the next prompt
}

// Notification is a message to the person.
type Notification struct {
	Level          Level // LevelInfo by default
	Title, Message string
}

// Contribution is text for the model.
type Contribution struct {
	Label, Content string
	Placement      featurewire.ContextPlacement // behind the prompt by default
}

func (n Notification) wire() (featurewire.Notification, error) {
	if n.Level == "" {
		n.Level = LevelInfo
	}
	return notification(n.Level, n.Title, n.Message)
}

func (c Contribution) wire() featurewire.ContextContribution {
	w := featurewire.ContextContribution{Label: c.Label, Content: c.Content}
	if c.Placement != "" {
		w.Placement = wirejson.Some(c.Placement)
	}
	return w
}

func contributions(list []Contribution) []featurewire.ContextContribution {
	wired := make([]featurewire.ContextContribution, len(list))
	for i, c := range list {
		wired[i] = c.wire()
	}
	return wired
}

func (r *CommandResult) wire() (wirejson.Encoder, error) {
	if r == nil {
		r = &CommandResult{}
	}
	wired := featurewire.CommandExecuteResult{
		Text: r.Text, Context: wirejson.Some(contributions(r.Context)),
	}
	notifications := make([]featurewire.Notification, len(r.Notifications))
	for i, n := range r.Notifications {
		var err error
		if notifications[i], err = n.wire(); err != nil {
			return nil, err
		}
	}
	wired.Notifications = wirejson.Some(notifications)
	return wired, nil
}

// AddCommand adds a command. It panics if its name or description is empty or not legal, if it has no Run, if
// the name is taken, on API 0.3, which has no commands, and once the extension is serving.
func (e *Extension) AddCommand(c Command) {
	e.register(fmt.Sprintf("command %q", c.Name), featureVersions, func(p *plan) {
		if c.Run == nil {
			panic(fmt.Sprintf("extension: command %q: it has no Run", c.Name))
		}
		definition := c.definition()
		if err := definition.Validate(); err != nil {
			panic(fmt.Sprintf("extension: command %q: %v", c.Name, err))
		}
		at, taken := slices.BinarySearchFunc(p.commands, c.Name, compareCommand)
		if taken {
			panic(fmt.Sprintf("extension: command %q: a command of that name has been added", c.Name))
		}
		p.commands = slices.Insert(p.commands, at, &c)
	})
}

func compareCommand(c *Command, name string) int { return strings.Compare(c.Name, name) }

func (c *Command) definition() featurewire.CommandDefinition {
	definition := featurewire.CommandDefinition{Name: c.Name, Description: c.Description}
	if c.Usage != "" {
		definition.Usage = wirejson.Some(c.Usage)
	}
	return definition
}

// Commands returns the names of the commands, ascending: what contributes.commands of the manifest lists.
func (e *Extension) Commands() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	return commandNames(e.plan.commands)
}

func commandNames(commands []*Command) []string {
	names := make([]string, 0, len(commands))
	for _, c := range commands {
		names = append(names, c.Name)
	}
	return names
}

func (s *server) command(ctx context.Context, r *peer.Request) (peer.Value, error) {
	asked, where, err := s.decodeCommand(r.Params)
	if err != nil {
		return nil, err
	}
	at, found := slices.BinarySearchFunc(s.plan.commands, asked.Name, compareCommand)
	if !found {
		return nil, s.fail(&refusal{row: featurewire.ErrUnknownMethod, message: "unknown command: " + asked.Name})
	}
	call := &CommandCall{command: asked.Name}
	call.init(s, requestScope, r, ctx, where)
	return s.guard(ctx, "command "+asked.Name, func() (wirejson.Encoder, error) {
		result, err := s.plan.commands[at].Run(ctx, call, asked.Arguments)
		if err != nil {
			return nil, err
		}
		return result.wire()
	})
}

func (s *server) decodeCommand(params json.RawMessage) (featurewire.CommandExecuteParams, Context, error) {
	if s.ext.api == API01 {
		asked, err := featurewire.DecodeCommandExecuteParamsV01(params)
		return featurewire.CommandExecuteParams{Name: asked.Name, Arguments: asked.Arguments}, contextV01(asked.Context), err
	}
	asked, err := featurewire.DecodeCommandExecuteParams(params)
	return asked, contextOf(asked.Context), err
}
