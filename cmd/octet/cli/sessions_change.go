package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"

	"github.com/spf13/pflag"

	"github.com/octet-dev/octet/host/session"
)

// sessionsExportCommand is octet sessions export.
type sessionsExportCommand struct {
	storeOptions
	form, file string
}

const helpSessionsExport = `octet sessions export writes one session out, without anything that is private to an extension.

Usage:
  octet sessions export ID [options]

Options:
  --format FORMAT            jsonl (default): every record as a JSON object a line, all branches; or markdown: the
                             conversation as it stands, to be read
  --file FILE                write to FILE, which must not exist; standard output by default
` + helpDataDir + `  -h, --help                 show this text

What cannot be read of a damaged session is left out and told of.

Examples:
  octet sessions export 3f8k --format markdown
  octet sessions export 3f8k --file session.jsonl

` + sessionExitCodes

func sessionsExport() *command {
	var e sessionsExportCommand
	return &command{
		name: "export", short: "Write one session out.", help: helpSessionsExport,
		flags: func(set *pflag.FlagSet) {
			e.storeOptions.register(set)
			set.StringVar(&e.form, "format", string(session.JSONL), "")
			set.StringVar(&e.file, "file", "", "")
		},
		run: e.run,
	}
}

func (e *sessionsExportCommand) run(ctx context.Context, c *console, args []string) (int, error) {
	if err := oneSession("export", args); err != nil {
		return exitUsage, err
	}
	if form := session.Format(e.form); form != session.JSONL && form != session.Markdown {
		return exitUsage, usagef("--format is %q, want %s or %s", e.form, session.JSONL, session.Markdown)
	}
	return failed(e.export(ctx, c, args[0]))
}

func (e *sessionsExportCommand) export(ctx context.Context, c *console, word string) (err error) {
	store, err := e.reader(ctx, c)
	if err != nil {
		return err
	}
	if store != nil {
		defer func() { err = errors.Join(err, store.Close()) }()
	}
	info, err := e.resolve(ctx, store, word)
	if err != nil {
		return err
	}
	if e.file == "" {
		return store.Export(ctx, info.ID, c.out, session.Format(e.form))
	}
	file, err := os.OpenFile(e.file, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if errors.Is(err, fs.ErrExist) {
		return usagef("--file: %q exists; name a file that does not", e.file)
	}
	if err != nil {
		return err
	}
	err = store.Export(ctx, info.ID, file, session.Format(e.form))
	if closeErr := file.Close(); err == nil {
		err = closeErr
	}
	if err != nil && !errors.Is(err, session.ErrDamaged) {
		return errors.Join(err, os.Remove(e.file))
	}
	return err
}

// sessionsDeleteCommand is octet sessions delete.
type sessionsDeleteCommand struct {
	storeOptions
	yes bool
}

const helpSessionsDelete = `octet sessions delete deletes sessions for good, and with them the sessions that work for them.

Usage:
  octet sessions delete ID [ID ...] [options]

Options:
  -y, --yes                  do not ask
` + helpDataDir + `  -h, --help                 show this text

A session that is in use is not deleted. If one of several cannot be deleted, none is.

Examples:
  octet sessions delete 3f8k
  octet sessions delete 3f8k 9c2m --yes

` + sessionExitCodes

func sessionsDelete() *command {
	var d sessionsDeleteCommand
	return &command{
		name: "delete", short: "Delete sessions.", help: helpSessionsDelete,
		flags: func(set *pflag.FlagSet) {
			d.storeOptions.register(set)
			set.BoolVarP(&d.yes, "yes", "y", false, "")
		},
		run: d.run,
	}
}

func (d *sessionsDeleteCommand) run(ctx context.Context, c *console, args []string) (int, error) {
	if len(args) == 0 {
		return exitUsage, usagef("octet sessions delete needs the id of a session; octet sessions list shows them")
	}
	return failed(d.delete(ctx, c, args))
}

func (d *sessionsDeleteCommand) delete(ctx context.Context, c *console, words []string) (err error) {
	path, err := d.path()
	if err != nil {
		return err
	}
	if _, err := os.Lstat(path); errors.Is(err, fs.ErrNotExist) {
		_, err := d.resolve(ctx, nil, words[0])
		return err
	}
	store, err := session.Open(ctx, path)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	var ids []string
	for _, word := range words {
		info, err := d.resolve(ctx, store, word)
		if err != nil {
			return err
		}
		ids = append(ids, info.ID)
		children, err := store.List(ctx, session.Filter{Parent: info.ID})
		if err != nil {
			return err
		}
		if d.yes {
			continue
		}
		question := fmt.Sprintf("delete session %s (%s, %s", info.ID, shorten(nameOf(info), 60), countText(info.Entries, "entry", "entries"))
		if len(children) > 0 {
			question += ", " + countText(len(children), "session", "sessions") + " that work for it"
		}
		agreed, err := c.agrees(question + ") for good?")
		if err != nil {
			return err
		}
		if !agreed {
			return errors.New("nothing was deleted; answer with y, or use --yes")
		}
	}
	count, err := store.Delete(ctx, ids...)
	if err != nil {
		return err
	}
	c.print("deleted " + countText(count, "session", "sessions") + "\n")
	return nil
}

// agrees asks a question that is answered with yes or no on standard input. No answer is no.
func (c *console) agrees(question string) (bool, error) {
	c.mu.Lock()
	c.clearLocked()
	_, _ = io.WriteString(c.err, plain(question)+" [y/N] ")
	c.mu.Unlock()
	if c.in == nil {
		c.line("")
		return false, nil
	}
	line, err := c.in.ReadString('\n')
	if err != nil {
		// The cursor stands behind the question.
		c.line("")
	}
	if err != nil && !errors.Is(err, io.EOF) {
		return false, fmt.Errorf("standard input: %w", err)
	}
	answer := strings.ToLower(strings.TrimSpace(line))
	return answer == "y" || answer == "yes", nil
}
