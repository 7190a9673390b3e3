package menu

import (
	"context"
	"errors"
	"fmt"

	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/service/dialog"
)

// Open asks an extension for its menu, on behalf of the session of the scope. There always is one: the
// generated one stands in where the extension has none, is late, or breaks a rule.
//
// Rules: EXT04-MENU-005, EXT04-MENU-006.
func Open(ctx context.Context, x *extension.Extension, scope extension.Scope) Menu {
	var names []string
	var commands []Command
	for _, c := range x.Agreement().Commands {
		names = append(names, c.Name)
		commands = append(commands, Command{Name: c.Name, Description: c.Description})
	}
	answer, err := x.CollectMenu(ctx, scope)
	if err == nil {
		if err = Judge(*answer, names); err == nil {
			return shown(x.Name(), *answer)
		}
		x.Diagnose("the menu is refused: " + err.Error())
	}
	why := err.Error()
	if undeclared := (*extension.UndeclaredError)(nil); errors.As(err, &undeclared) {
		why = "" // nothing is wrong
	}
	return Generated(x.Name(), commands, why)
}

// ErrDeclined is what Choose returns when the person does not confirm a destructive action.
var ErrDeclined = errors.New("the action was not confirmed")

// Choice is an action that the person has chosen.
type Choice struct {
	Item  Item
	Scope extension.Scope
	// Progress is shown in place of the menu.
	Progress func(extension.Progress)
}

// Choose runs an action. A destructive one is confirmed by the person first, and what the command then
// asks to be confirmed first counts as confirmed. Ending ctx cancels the command: that is how the person
// stops it. It may run for half an hour.
//
// Rules: EXT04-MENU-008, EXT04-MENU-009, EXT04-CMD-006, EXT04-CMD-008.
func Choose(ctx context.Context, x *extension.Extension, person dialog.Person, c Choice) (*extension.CommandResult, error) {
	if c.Item.Command == "" {
		return nil, fmt.Errorf("item %q is a submenu; choose one of its items", c.Item.ID)
	}
	run := extension.Execution{
		Command: c.Item.Command, Arguments: c.Item.Arguments, Scope: c.Scope, Menu: true, Progress: c.Progress,
	}
	if c.Item.Destructive {
		if err := confirm(ctx, x.Name(), person, c); err != nil {
			return nil, err
		}
		run.Value = &dialog.Approval{}
	}
	return x.Execute(ctx, run)
}

func confirm(ctx context.Context, extension string, person dialog.Person, c Choice) error {
	if person == nil {
		return ErrDeclined
	}
	yes, err := person.Confirm(ctx, dialog.Question{
		Extension: extension, Prompt: c.Item.Label, Detail: c.Item.Description, Destructive: true,
	})
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return fmt.Errorf("%w: %w", ErrDeclined, err)
	case !yes:
		return ErrDeclined
	}
	return nil
}
