package chat

import (
	"context"
	"fmt"
	"strings"

	"github.com/octet-dev/octet/host/service/menu"
	"github.com/octet-dev/octet/host/service/presentation"
	"github.com/octet-dev/octet/host/session"
)

// menu shows the menu of an extension until the person closes it.
func (c *Chat) menu(ctx context.Context, name string) error {
	var opened menu.Menu
	err := c.attend(ctx, func(ctx context.Context) (err error) {
		opened, err = c.current().Menu(ctx, name)
		return err
	})
	if err != nil {
		return err
	}
	return c.level(ctx, name, opened.Title, opened.Items)
}

func (c *Chat) level(ctx context.Context, name, title string, items []menu.Item) error {
	if len(items) == 0 {
		c.front.say("the menu of " + name + " is empty")
		return nil
	}
	lines := make([]string, len(items))
	for i, item := range items {
		lines[i] = strings.TrimSpace(item.Label + "  " + item.Description)
	}
	at, err := c.choose(ctx, line(title), lines, 0)
	if err != nil || at < 0 {
		return err
	}
	if chosen := items[at]; len(chosen.Items) > 0 {
		return c.level(ctx, name, chosen.Label, chosen.Items)
	}
	return c.execute(ctx, func(ctx context.Context) (string, error) {
		return c.current().Choose(ctx, name, items[at], c.progress)
	})
}

// presentationText shows what an extension presents.
func presentationText(p presentation.Shown) string {
	var b strings.Builder
	fmt.Fprintf(&b, "%s presents\n", line(p.Extension))
	for _, a := range p.Snapshot.Activities.Or(nil) {
		fmt.Fprintf(&b, "  %s: %s\n", a.State, line(a.Summary))
	}
	for _, a := range p.Snapshot.Actions.Or(nil) {
		warning := ""
		if a.Destructive.Or(false) {
			warning = ", cannot be undone"
		}
		fmt.Fprintf(&b, "  action %s: %s%s\n", line(a.ID), line(a.Label), warning)
	}
	return b.String()
}

// usageText shows what a conversation has used.
func usageText(t session.Totals) string {
	u := t.Usage
	text := fmt.Sprintf("%d tokens: %d input, %d output, %d reasoning, %d read from the cache, %d written to it",
		u.Tokens(), u.Input, u.Output, u.Reasoning, u.CacheRead, u.CacheWrite)
	if u.CostMicrodollars != nil {
		text += fmt.Sprintf("; $%.4f", float64(*u.CostMicrodollars)/1e6)
	}
	if delegated := t.Delegated.Tokens(); delegated > 0 {
		text += fmt.Sprintf("; %d of it by children", delegated)
	}
	if t.Uncertain {
		text += "\nthese are known subtotals: something was used that nobody counted"
	}
	return text
}
