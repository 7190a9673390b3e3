package chat

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/octet-dev/octet/cmd/octet/chat/edit"
	"github.com/octet-dev/octet/host/engine"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/session"
)

// slash is a command of octet itself.
type slash struct {
	name, usage, help string
	// words are what may stand behind the name, for completion.
	words []string
	run   func(c *Chat, ctx context.Context, arguments string) error
}

// slashes are the commands, in the order of the help.
func slashes() []slash {
	return []slash{
		{"help", "/help", "show this", nil, (*Chat).help},
		{"new", "/new", "begin an empty conversation", nil, (*Chat).begin},
		{"sessions", "/sessions", "choose a conversation of this workspace to go on with", nil, (*Chat).sessions},
		{"fork", "/fork", "go on in a copy of this conversation", nil, (*Chat).fork},
		{"name", "/name TEXT", "name this conversation", nil, (*Chat).name},
		{"model", "/model [REFERENCE]", "show who answers, or let another model answer", nil, (*Chat).model},
		{"usage", "/usage", "show what this conversation has used", nil, (*Chat).usage},
		{"compact", "/compact [INSTRUCTIONS]", "sum the conversation up", nil, (*Chat).compact},
		{"extensions", "/extensions [status|reload|inspect|action|menu]", "switch extensions on and off, and look at them", []string{"status", "reload", "inspect", "action", "menu"}, (*Chat).extensions},
		{"reload", "/reload", "discover and start extensions anew", nil, (*Chat).reload},
		{"exit", "/exit", "leave", nil, func(*Chat, context.Context, string) error { return errLeave }},
	}
}

// aliases are other names of commands.
var aliases = map[string]string{"quit": "exit", "?": "help", "resume": "sessions"}

// command carries out a line that began with a slash: a command of octet, or else one of an extension.
func (c *Chat) command(ctx context.Context, text string) error {
	name, arguments, _ := strings.Cut(text, " ")
	arguments = strings.TrimSpace(arguments)
	if other, known := aliases[name]; known {
		name = other
	}
	var names []string
	for _, s := range slashes() {
		if s.name == name {
			return s.run(c, ctx, arguments)
		}
		names = append(names, s.name)
	}
	if err := c.attend(ctx, c.engine.Ready); err != nil {
		return err
	}
	command, err := c.engine.FindCommand(name, names)
	if err != nil {
		return err
	}
	words, err := split(arguments)
	if err != nil {
		return err
	}
	return c.execute(ctx, func(ctx context.Context) (answer string, err error) {
		err = c.inFront(ctx, func(on *engine.Conversation) (err error) {
			answer, err = on.Command(ctx, command, words, c.progress)
			return err
		})
		return answer, err
	})
}

// execute runs something of an extension and shows the text that it answers.
func (c *Chat) execute(ctx context.Context, run func(context.Context) (string, error)) error {
	var answer string
	err := c.attend(ctx, func(ctx context.Context) (err error) {
		answer, err = run(ctx)
		return err
	})
	if err != nil {
		return err
	}
	if answer != "" {
		c.front.say(answer)
	}
	return nil
}

// say shows a text as an answer.
func (f *Front) say(text string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.settleLocked()
	f.sayLocked(f.foreign(strings.TrimRight(text, "\n")) + "\n")
}

// progress shows news of a command.
func (c *Chat) progress(p extension.Progress) {
	c.front.mu.Lock()
	defer c.front.mu.Unlock()
	c.front.statusLocked(strings.TrimSpace(count(p.Current, p.Total, p.Unit) + " " + p.Message + p.Label + " " + p.Detail))
}

// split takes words apart as a shell does: quotes hold blanks together, and a backslash takes the meaning
// of the next character.
func split(text string) ([]string, error) {
	var words []string
	var word strings.Builder
	open, quote, escaped := false, rune(0), false
	for _, r := range text {
		switch {
		case escaped:
			word.WriteRune(r)
			escaped = false
		case r == '\\' && quote != '\'':
			escaped, open = true, true
		case quote != 0 && r == quote:
			quote = 0
		case quote == 0 && (r == '"' || r == '\''):
			quote, open = r, true
		case quote == 0 && (r == ' ' || r == '\t' || r == '\n'):
			if open {
				words = append(words, word.String())
				word.Reset()
			}
			open = false
		default:
			word.WriteRune(r)
			open = true
		}
	}
	if quote != 0 {
		return nil, fmt.Errorf("a quote %c has no end; close it, or put a backslash in front of it", quote)
	}
	if open || escaped {
		words = append(words, word.String())
	}
	return words, nil
}

// row writes a usage and its help, on two lines where the usage is long.
func row(b *strings.Builder, usage, help string) {
	const room = 24
	if len(usage) > room {
		fmt.Fprintf(b, "  %s\n", usage)
		usage = ""
	}
	fmt.Fprintf(b, "  %-*s %s\n", room, usage, help)
}

func (c *Chat) help(ctx context.Context, _ string) error {
	if err := c.attend(ctx, c.engine.Ready); err != nil {
		return err
	}
	var b strings.Builder
	b.WriteString("Write what you want done. Commands begin with a slash:\n\n")
	for _, s := range slashes() {
		row(&b, s.usage, s.help)
	}
	if commands := c.engine.Commands(); len(commands) > 0 {
		b.WriteString("\nOf extensions:\n\n")
		for _, x := range commands {
			usage := "/" + x.Name
			if x.Usage != "" {
				usage = x.Usage
				if !strings.HasPrefix(usage, "/") {
					usage = "/" + x.Name + " " + usage
				}
			}
			row(&b, line(usage), fmt.Sprintf("%s (%s)", line(x.Description), x.Extension))
		}
	}
	if shortcuts := c.engine.Shortcuts(); len(shortcuts) > 0 {
		b.WriteString("\nKeys of extensions, while a line is typed:\n\n")
		for _, s := range shortcuts {
			row(&b, s.Key, fmt.Sprintf("%s (%s)", line(s.Description), s.Extension))
		}
	}
	b.WriteString("\nCtrl-C cancels what runs, Ctrl-D leaves. Tab completes commands and files, the arrows\n" +
		"go through what was typed before, and Ctrl-R looks in it for what stands there.\n")
	c.front.say(b.String())
	return nil
}

// open puts another conversation in front.
func (c *Chat) open(ctx context.Context, make func(context.Context) (*engine.Conversation, error)) error {
	before := c.current()
	var next *engine.Conversation
	err := c.attend(ctx, func(ctx context.Context) (err error) {
		next, err = make(ctx)
		return err
	})
	if err != nil {
		return err
	}
	c.conversation.Store(next)
	if err := before.Close(); err != nil {
		return err
	}
	return c.told(ctx)
}

// told says which conversation is in front.
func (c *Chat) told(ctx context.Context) error {
	info, err := c.current().Info(ctx)
	if err != nil {
		return err
	}
	provider, model, _ := c.current().Model()
	text := fmt.Sprintf("session %s, %s %s", info.ID, provider, model.Model)
	if info.Entries > 0 {
		text += fmt.Sprintf(", %d entries", info.Entries)
	}
	c.front.Note("%s", c.front.paint(dim, Plain(text)))
	return nil
}

func (c *Chat) begin(ctx context.Context, _ string) error { return c.open(ctx, c.engine.NewSession) }

func (c *Chat) fork(ctx context.Context, _ string) error {
	id := c.current().ID()
	return c.open(ctx, func(ctx context.Context) (*engine.Conversation, error) { return c.engine.Fork(ctx, id, "") })
}

// sessions lists the conversations of the workspace and goes on with one: the one that is named, or chosen.
func (c *Chat) sessions(ctx context.Context, id string) error {
	if id == "" {
		list, err := c.engine.Store().List(ctx, session.Filter{Workspace: c.engine.Workspace(), Limit: 50})
		if err != nil {
			return err
		}
		list = slices.DeleteFunc(list, func(i session.Info) bool { return i.Entries == 0 || i.ID == c.current().ID() })
		if len(list) == 0 {
			c.front.say("there is no other conversation in this workspace")
			return nil
		}
		lines := make([]string, len(list))
		for i, info := range list {
			lines[i] = describe(info)
		}
		at, err := c.choose(ctx, "Go on with which conversation?", lines, 0)
		if err != nil || at < 0 {
			return err
		}
		id = list[at].ID
	}
	found, err := c.engine.Store().Find(ctx, id, 2)
	switch {
	case err != nil:
		return err
	case len(found) == 0:
		return fmt.Errorf("no session %q; /sessions lists them", id)
	case len(found) > 1 && found[0] != id:
		return fmt.Errorf("%q is the beginning of several sessions; write more of it", id)
	case found[0] == c.current().ID():
		return errors.New("that conversation is in front already")
	}
	return c.open(ctx, func(ctx context.Context) (*engine.Conversation, error) { return c.engine.Resume(ctx, found[0]) })
}

func describe(i session.Info) string {
	title := i.Title
	if i.Name != "" {
		title = i.Name
	}
	return fmt.Sprintf("%s  %s  %s", i.ID, i.Updated.Local().Format("2006-01-02 15:04"), line(title))
}

// choose lets the person choose; -1 is none.
func (c *Chat) choose(ctx context.Context, title string, lines []string, at int) (int, error) {
	c.front.clear()
	chosen, err := c.front.options.Editor.Choose(ctx, title, lines, at)
	if errors.Is(err, edit.ErrClosed) || errors.Is(err, edit.ErrInterrupted) {
		return -1, nil
	}
	return chosen, err
}

func (c *Chat) name(ctx context.Context, name string) error {
	if name == "" {
		return errors.New("/name needs a name; write /name TEXT")
	}
	return c.current().SetName(ctx, name)
}

func (c *Chat) model(ctx context.Context, reference string) error {
	if reference == "" {
		provider, info, reasoning := c.current().Model()
		text := fmt.Sprintf("%s %s", provider, info.Model)
		if reasoning != "" {
			text += ", reasoning " + reasoning
		}
		c.front.say(text)
		return nil
	}
	name, reasoning, _ := strings.Cut(reference, " ")
	if err := c.attend(ctx, func(ctx context.Context) error { return c.current().SetModel(ctx, name, strings.TrimSpace(reasoning)) }); err != nil {
		return err
	}
	return c.told(ctx)
}

func (c *Chat) usage(ctx context.Context, _ string) error {
	info, err := c.current().Info(ctx)
	if err != nil {
		return err
	}
	c.front.say(usageText(info.Usage))
	return nil
}

func (c *Chat) compact(ctx context.Context, instructions string) error {
	return c.attend(ctx, func(ctx context.Context) error {
		_, err := c.current().Compact(ctx, instructions)
		return err
	})
}
