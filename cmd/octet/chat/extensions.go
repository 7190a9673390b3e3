package chat

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/octet-dev/octet/host/activation"
	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/engine"
	"github.com/octet-dev/octet/host/session"
	"github.com/octet-dev/octet/host/supervise"
)

// extensions is /extensions and what stands behind it.
func (c *Chat) extensions(ctx context.Context, arguments string) error {
	words, err := split(arguments)
	if err != nil {
		return err
	}
	if err := c.attend(ctx, c.engine.Ready); err != nil {
		return err
	}
	if len(words) == 0 {
		return c.switchboard(ctx)
	}
	rest := words[1:]
	switch words[0] {
	case "status":
		if len(rest) > 1 {
			return errors.New("write /extensions status, or /extensions status EXTENSION")
		}
		return c.status(rest)
	case "reload":
		return c.reloadExtensions(ctx, rest)
	case "inspect":
		if len(rest) != 1 {
			return errors.New("write /extensions inspect agent-session:ID")
		}
		return c.inspect(ctx, rest[0])
	case "action":
		if len(rest) != 2 {
			return errors.New("write /extensions action EXTENSION ACTION-ID; /extensions status shows them")
		}
		return c.execute(ctx, func(ctx context.Context) (string, error) {
			return c.current().Action(ctx, rest[0], rest[1], c.progress)
		})
	case "menu":
		if len(rest) != 1 {
			return errors.New("write /extensions menu EXTENSION")
		}
		return c.menu(ctx, rest[0])
	}
	return fmt.Errorf("/extensions has no %q; it has status, reload, inspect, action and menu", words[0])
}

// switchboard switches extensions on and off.
func (c *Chat) switchboard(ctx context.Context) error {
	changed := false
	for at := 0; ; {
		menu, err := c.activation.Menu()
		if err != nil {
			return err
		}
		if len(menu.Items) == 0 {
			c.front.say("there are no extensions; octet extension new writes one, octet extension install installs one")
			return nil
		}
		title := "Extensions, as " + menu.File + " has them"
		if menu.ReadOnly != "" {
			title = "Extensions, not to be changed here: " + menu.ReadOnly
			if !c.front.options.Ask {
				c.front.say(title + "\n" + strings.Join(itemLines(menu), "\n"))
				return nil
			}
		}
		if at, err = c.choose(ctx, title, itemLines(menu), at); err != nil || at < 0 {
			if changed && err == nil {
				c.front.Note("/reload makes the change count")
			}
			return err
		}
		name := menu.Items[at].Name
		enabled, err := c.activation.Toggle(ctx, menu, name)
		switch {
		case err != nil:
			c.front.Note("%s", c.front.paint(yellow, Plain(err.Error())))
		case enabled:
			changed = true
			c.front.Note("%s is enabled", name)
		default:
			changed = true
			c.front.Note("%s is disabled", name)
		}
	}
}

func itemLines(m *activation.Menu) []string {
	lines := make([]string, len(m.Items))
	for i, item := range m.Items {
		mark := "[ ]"
		if item.Enabled {
			mark = "[x]"
		}
		text := fmt.Sprintf("%s %s %s", mark, item.Name, item.Version)
		if item.Bundle {
			text += " (bundle)"
		}
		if item.Scope != "" && item.Scope != "global" {
			text += " (" + string(item.Scope) + ")"
		}
		if item.Unavailable != "" {
			text += " unavailable: " + item.Unavailable
		} else if item.Description != "" {
			text += "  " + item.Description
		}
		lines[i] = line(text)
	}
	return lines
}

// status shows everything about extensions.
//
// Rules: MAN-SURFACE-006, MAN-SURFACE-007.
func (c *Chat) status(names []string) error {
	var b strings.Builder
	shown := 0
	for _, x := range c.engine.Statuses() {
		if len(names) > 0 && names[0] != x.Name {
			continue
		}
		if shown++; shown > 1 {
			b.WriteByte('\n')
		}
		b.WriteString(statusText(x))
	}
	if shown == 0 && len(names) > 0 {
		return fmt.Errorf("no extension %q is discovered; /extensions status shows all", names[0])
	}
	if shown == 0 {
		b.WriteString("no extensions discovered\n")
	}
	for _, p := range c.engine.Presentations() {
		if len(names) > 0 && names[0] != p.Extension {
			continue
		}
		b.WriteString("\n" + presentationText(p))
	}
	if told, dropped := c.engine.Diagnostics(); len(told) > 0 && len(names) == 0 {
		b.WriteString("\ndiagnostics\n")
		if dropped > 0 {
			fmt.Fprintf(&b, "  %d older ones are not shown\n", dropped)
		}
		for _, d := range told {
			fmt.Fprintf(&b, "  %s; %s\n", d, d.Remedy)
		}
	}
	c.front.say(Plain(b.String()))
	return nil
}

func statusText(x engine.ExtensionStatus) string {
	var b strings.Builder
	row := func(label, value string) {
		if value != "" {
			fmt.Fprintf(&b, "%-16s %s\n", label, line(value))
		}
	}
	yes := func(why string) string {
		if why == "" {
			return "no"
		}
		return "yes, by " + why
	}
	row("name", x.Name)
	row("version", x.Version)
	row("source", string(x.Source))
	row("manifest", x.ManifestPath)
	row("manifest SHA-256", x.Digest)
	row("archive SHA-256", x.Archive)
	row("enabled", yes(x.Enabled))
	row("trusted", yes(x.Trusted))
	if x.Grant != "" {
		row("grant", fmt.Sprintf("trusted_extensions = [%q], or for one run --trust-extension %s", x.Grant, x.Name))
	}
	running := "no"
	if x.Running {
		running = fmt.Sprintf("yes, generation %d", x.Health.Generation)
	} else if x.Why != "" {
		running = "no: " + x.Why
	}
	row("running", running)
	row("API", x.API)
	row("negotiated", strings.Join(x.Health.Features, ", "))
	row("compatibility", x.Compatible)
	if x.Health.State != "" {
		health := fmt.Sprintf("%s, %d pending", x.Health.State, x.Health.Pending)
		if x.Health.LastError != "" {
			health += ", last error: " + x.Health.LastError
		}
		row("health", health)
		sharing := "isolated"
		if x.Health.Shared {
			sharing = "shared"
		}
		row("runtime", fmt.Sprintf("%s, %s, instance %s", x.Health.Lifecycle, sharing, x.Health.InstanceID))
	}
	row("telemetry", x.Telemetry)
	row("tools", strings.Join(x.Tools, ", "))
	row("commands", strings.Join(x.Commands, ", "))
	row("hooks", strings.Join(x.Hooks, ", "))
	row("ui", strings.Join(x.UI, ", "))
	for _, said := range x.Said {
		row("said", cut(said, 200))
	}
	return b.String()
}

func (c *Chat) reloadExtensions(ctx context.Context, names []string) error {
	if len(names) > 1 {
		return errors.New("write /extensions reload, or /extensions reload EXTENSION")
	}
	name := strings.Join(names, "")
	var reports []supervise.Report
	err := c.attend(ctx, func(ctx context.Context) error {
		reports = c.engine.ReloadExtensions(ctx, name)
		return nil
	})
	c.reports(reports)
	return err
}

func (c *Chat) reload(ctx context.Context, _ string) error {
	var reports []supervise.Report
	err := c.attend(ctx, func(ctx context.Context) (err error) {
		reports, err = c.engine.Reload(ctx)
		return err
	})
	if err == nil {
		c.reports(reports)
	}
	return err
}

// reports tells what became of reloads.
func (c *Chat) reports(reports []supervise.Report) {
	if len(reports) == 0 {
		c.front.say("no extensions run")
	}
	for _, r := range reports {
		text := fmt.Sprintf("%s: %s, generation %d", r.Name, r.State, r.Generation)
		switch {
		case r.Err != nil:
			text = fmt.Sprintf("%s: %v; it is %s", r.Name, r.Err, r.State)
			c.failed = true
		case r.Replaced && r.Previous > 0 && r.Graceful:
			text += ", the one before ended by itself"
		case r.Replaced && r.Previous > 0:
			text += ", the one before had to be ended"
		}
		c.front.say(text)
	}
}

// agentSession is how a child of a conversation is referred to.
const agentSession = "agent-session:"

// inspect shows what a child of the conversation in front has said. It changes nothing.
//
// Rules: MAN-SURFACE-010.
func (c *Chat) inspect(ctx context.Context, reference string) error {
	id, isSession := strings.CutPrefix(reference, agentSession)
	if !isSession {
		return fmt.Errorf("%q is no child; write %sID", reference, agentSession)
	}
	info, err := c.engine.Store().Info(ctx, id)
	if err != nil && !errors.Is(err, session.ErrNotFound) {
		return err
	}
	if err != nil || info.Parent != c.current().ID() {
		return fmt.Errorf("this conversation has no child %q", id)
	}
	branch, err := c.engine.Store().Branch(ctx, id)
	if err != nil {
		return err
	}
	c.front.say(transcript(branch))
	return nil
}

// transcript writes what was said, for people.
func transcript(branch []session.Stored) string {
	var b strings.Builder
	for _, stored := range branch {
		var m conversation.Message
		switch value := stored.Value.(type) {
		case session.Message:
			m = value.Message
		case session.Injected:
			m = value.Message
		case session.Compaction:
			fmt.Fprintf(&b, "summary: %s\n", value.Summary)
			continue
		default:
			continue
		}
		for _, part := range m.Parts {
			switch part.Kind {
			case conversation.ToolCall:
				fmt.Fprintf(&b, "%s calls %s %s\n", m.Role, part.Name, cut(line(string(part.Arguments)), 200))
			case conversation.ToolResult:
				fmt.Fprintf(&b, "%s %s: %s\n", m.Role, part.Name, cut(line(part.PlainText()), 200))
			case conversation.Text:
				fmt.Fprintf(&b, "%s: %s\n", m.Role, part.Text)
			}
		}
	}
	if b.Len() == 0 {
		return "nothing was said yet"
	}
	return Plain(b.String())
}
