package cli

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/spf13/pflag"

	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/session"
)

// sessionsShowCommand is octet sessions show.
type sessionsShowCommand struct {
	storeOptions
	format
	limit int
	after string
}

const helpSessionsShow = `octet sessions show tells about one session, and a line for each of its entries up to where it stands.

Usage:
  octet sessions show ID [options]

Options:
  --limit N                  how many entries at most; 20 by default, 0 for all
  --after ENTRY              go on behind this entry
` + helpDataDir + `  --json, --output json      print what is known of the session as JSON; octet sessions export has the entries
  -h, --help                 show this text

Examples:
  octet sessions show 3f8k
  octet sessions show 3f8k --after e-20

` + sessionExitCodes

func sessionsShow() *command {
	var s sessionsShowCommand
	return &command{
		name: "show", short: "Show one session.", help: helpSessionsShow,
		flags: func(set *pflag.FlagSet) {
			s.storeOptions.register(set)
			s.format.register(set)
			set.IntVar(&s.limit, "limit", defaultPage, "")
			set.StringVar(&s.after, "after", "", "")
		},
		run: s.run,
	}
}

func (s *sessionsShowCommand) run(ctx context.Context, c *console, args []string) (int, error) {
	if err := oneSession("show", args); err != nil {
		return exitUsage, err
	}
	if s.limit < 0 {
		return exitUsage, usagef("--limit is %d, want 0 or more", s.limit)
	}
	if err := s.format.check(); err != nil {
		return exitUsage, err
	}
	return failed(s.show(ctx, c, args[0]))
}

func oneSession(command string, args []string) error {
	switch {
	case len(args) == 0:
		return usagef("octet sessions %s needs the id of a session; octet sessions list shows them", command)
	case len(args) > 1:
		return usagef("unexpected argument %q; octet sessions %s takes one id", args[1], command)
	}
	return nil
}

func (s *sessionsShowCommand) show(ctx context.Context, c *console, word string) (err error) {
	store, err := s.reader(ctx, c)
	if err != nil {
		return err
	}
	if store != nil {
		defer func() { err = errors.Join(err, store.Close()) }()
	}
	info, err := s.resolve(ctx, store, word)
	if err != nil {
		return err
	}
	if s.json {
		return c.json(info)
	}
	branch, damage := store.Branch(ctx, info.ID)
	if damage != nil && !errors.Is(damage, session.ErrDamaged) {
		return damage
	}
	page, more, err := s.page(branch, info.ID)
	if err != nil {
		return err
	}
	c.print(plain(sessionText(info) + entriesText(page)))
	if more {
		c.note("there are more; go on with octet sessions show %s --after %s", word, page[len(page)-1].ID)
	}
	return damage
}

// page is the part of a branch that is shown.
func (s *sessionsShowCommand) page(branch []session.Stored, id string) (page []session.Stored, more bool, err error) {
	start := 0
	if s.after != "" {
		start = -1
		for i, entry := range branch {
			if string(entry.ID) == s.after {
				start = i + 1
			}
		}
		if start < 0 {
			return nil, false, usagef("--after: session %s has no entry %q where it stands; octet sessions show %s --limit 0 shows all", id, s.after, id)
		}
	}
	page = branch[start:]
	if s.limit > 0 && len(page) > s.limit {
		return page[:s.limit], true, nil
	}
	return page, false, nil
}

func sessionText(info session.Info) string {
	var b strings.Builder
	table := [][2]string{
		{"id", info.ID},
		{"name", oneLine(info.Name)},
		{"title", info.Title},
		{"workspace", info.Workspace},
		{"model", info.Model},
		{"created", timeText(info.Created)},
		{"updated", timeText(info.Updated)},
		{"entries", fmt.Sprint(info.Entries)},
		{"stands at", string(info.Head)},
		{"works for", info.Parent},
	}
	if info.Fork != nil {
		table = append(table, [2]string{"forked from", strings.TrimSuffix(info.Fork.Session+" at "+string(info.Fork.Entry), " at ")})
	}
	if info.Running != "" {
		table = append(table, [2]string{"running", info.Running})
	}
	if info.Usage.Usage.Tokens() > 0 || info.Usage.Uncertain {
		table = append(table, [2]string{"used", info.Usage.Text()})
	}
	rows(&b, table...)
	return b.String()
}

// entriesText shows a line for every entry.
func entriesText(entries []session.Stored) string {
	if len(entries) == 0 {
		return ""
	}
	var b strings.Builder
	b.WriteString("\n")
	for _, entry := range entries {
		label := ""
		if entry.Label != "" {
			label = "[" + oneLine(entry.Label) + "] "
		}
		fmt.Fprintf(&b, "%-8s %-10s %s\n", entry.ID, kindOf(entry.Value), label+shorten(summary(entry.Value), 96))
	}
	return b.String()
}

func kindOf(value session.Value) string {
	switch value := value.(type) {
	case session.Message:
		return string(value.Message.Role)
	case session.ModelChange:
		return "model"
	case session.Composition:
		return "values"
	default:
		return value.Type()
	}
}

// summary tells in one line what an entry holds, without what is private to an extension.
func summary(value session.Value) string {
	switch value := value.(type) {
	case session.Message:
		if value.Display != "" {
			return value.Display
		}
		return messageSummary(value.Message)
	case session.Injected:
		return messageSummary(value.Message)
	case session.Compaction:
		return "up to " + string(value.FirstKept) + ": " + value.Summary
	case session.Extension:
		return value.Extension + ": " + value.Kind
	case session.ModelChange:
		return strings.TrimPrefix(value.Provider+"/"+value.Model, "/")
	case session.Composition:
		return "of " + value.Tool
	}
	return ""
}

func messageSummary(message conversation.Message) string {
	var words []string
	for _, part := range message.Parts {
		switch part.Kind {
		case conversation.Text:
			words = append(words, part.Text)
		case conversation.ToolCall:
			words = append(words, part.Name+" "+string(part.Arguments))
		case conversation.ToolResult:
			verdict := ": "
			if part.IsError {
				verdict = " fails: "
			}
			words = append(words, part.Name+verdict+part.PlainText())
		case conversation.Image, conversation.Audio:
			words = append(words, "["+string(part.Kind)+"]")
		}
	}
	return strings.Join(words, " ")
}

// shorten makes a text one line of bounded length.
func shorten(text string, length int) string {
	line := []rune(oneLine(text))
	if len(line) <= length {
		return string(line)
	}
	return string(line[:length-1]) + "…"
}
