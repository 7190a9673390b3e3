package cli

import (
	"context"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"text/tabwriter"
	"time"
	"unicode"

	"github.com/spf13/pflag"

	"github.com/octet-dev/octet/host/session"
	"github.com/octet-dev/octet/runtime/manifest/near"
)

// exitStore is the exit code of a session store that cannot be used, or of a session that is not whole.
const exitStore = 1

const sessionExitCodes = `Exit codes:
  0    done
  1    the store cannot be used, or part of the session cannot be read
  2    the command line is wrong, or there is no such session
` + signalExitCodes

const helpSessions = `octet sessions looks at stored conversations. It starts no extension.

Usage:
  octet sessions list                show the sessions, the latest first
  octet sessions show ID             show one session and what was said in it
  octet sessions export ID           write one session out, as JSON lines or to be read
  octet sessions delete ID [ID ...]  delete sessions for good

An ID may be cut short as long as only one session begins with it.

Sessions are kept in sessions.db in the data directory: --data-dir, OCTET_DATA_DIR, or ~/.octet.

Each explains itself: octet sessions list --help.
`

func sessions() *command {
	return &command{
		name: "sessions", short: "Look at stored conversations.", help: helpSessions,
		group: []*command{sessionsList(), sessionsShow(), sessionsExport(), sessionsDelete()},
	}
}

// storeOptions say which store a command is about.
type storeOptions struct {
	dataDir string
	given   *pflag.FlagSet
}

const helpDataDir = `  --data-dir DIR             where sessions are kept; OCTET_DATA_DIR or ~/.octet by default
`

func (o *storeOptions) register(set *pflag.FlagSet) {
	o.given = set
	set.StringVar(&o.dataDir, "data-dir", "", "")
}

// path is the file of the store.
func (o *storeOptions) path() (string, error) {
	if o.given.Changed("data-dir") {
		if o.dataDir == "" {
			return "", usagef("--data-dir has an empty value; give one, or drop it")
		}
		if strings.ContainsFunc(o.dataDir, unicode.IsControl) {
			return "", usagef("--data-dir has a control character (%q); name a directory without one", o.dataDir)
		}
		absolute, err := filepath.Abs(o.dataDir)
		return filepath.Join(absolute, "sessions.db"), err
	}
	path := storePath()
	if strings.ContainsFunc(path, unicode.IsControl) {
		return "", usagef("the place for sessions has a control character (%q); name another with --data-dir or OCTET_DATA_DIR", filepath.Dir(path))
	}
	if path == "" {
		return "", usagef("the home directory is unknown, so there is no place for sessions; name one with --data-dir or OCTET_DATA_DIR")
	}
	return path, nil
}

// reader opens the store to look at it, and says if not all of it can be seen. Without a file, or with an
// empty one, it is nil: there is nothing to see.
func (o *storeOptions) reader(ctx context.Context, c *console) (*session.Store, error) {
	path, err := o.path()
	if err != nil {
		return nil, err
	}
	store, err := session.Options{}.OpenReader(ctx, path)
	switch {
	case errors.Is(err, session.ErrMissing):
		return nil, nil
	case err == nil && store.Trouble() != nil:
		c.note("%s", store.Trouble())
	}
	return store, err
}

// resolve finds the session that a word means: an id, or the beginning of one.
func (o *storeOptions) resolve(ctx context.Context, store *session.Store, word string) (session.Info, error) {
	if store == nil {
		path, err := o.path()
		if err != nil {
			return session.Info{}, err
		}
		return session.Info{}, usagef("there is no session %q: %s does not exist or is empty; see octet sessions list", word, path)
	}
	const shown = 5
	found, err := store.Find(ctx, word, shown+1)
	switch {
	case err != nil:
		return session.Info{}, err
	case word != "" && len(found) == 1:
		return store.Info(ctx, found[0])
	case word != "" && len(found) > 1:
		if found[0] == word { // the beginning of another one
			return store.Info(ctx, word)
		}
		more := ""
		if len(found) > shown {
			found, more = found[:shown], " and more"
		}
		return session.Info{}, usagef("%q is the beginning of several sessions: %s%s; write more of the one you mean", word, strings.Join(found, ", "), more)
	}
	return session.Info{}, usagef("there is no session %q; %s", word, o.suggest(ctx, store, word))
}

// suggest names the session that was probably meant.
func (o *storeOptions) suggest(ctx context.Context, store *session.Store, word string) string {
	latest, err := store.List(ctx, session.Filter{Children: true, Limit: 1000})
	if err != nil || len(latest) == 0 {
		return "there are none"
	}
	ids := make([]string, len(latest))
	for i, info := range latest {
		ids[i] = info.ID
		// Half an id with a mistake in it is held against half an id.
		if len(word) >= 4 && len(word) < len(info.ID) {
			ids[i] = info.ID[:len(word)]
		}
	}
	if guess := near.Find(word, ids); guess != "" {
		return fmt.Sprintf("did you mean %q?", guess)
	}
	for _, info := range latest {
		if word != "" && strings.EqualFold(info.Name, word) {
			return fmt.Sprintf("the session of that name is %q", info.ID)
		}
	}
	return "see octet sessions list"
}

// failed makes the outcome of a command of an error of the store.
func failed(err error) (int, error) {
	var usage *usageError
	switch {
	case err == nil:
		return exitOK, nil
	case errors.As(err, &usage):
		return exitUsage, err
	case errors.Is(err, session.ErrNotFound):
		return exitUsage, &usageError{err.Error()}
	}
	return exitStore, err
}

// sessionsListCommand is octet sessions list.
type sessionsListCommand struct {
	storeOptions
	format
	workspace, after, parent string
	all                      bool
	limit                    int
}

const defaultPage = 20

const helpSessionsList = `octet sessions list shows sessions, the one with the latest entry first.

Usage:
  octet sessions list [options]

Options:
  --workspace DIR            only sessions of this workspace
  --children-of ID           only sessions that work for this one
  --all                      sessions that work for another one too
  --limit N                  how many at most; 20 by default, 0 for all
  --after ID                 go on behind this one
` + helpDataDir + `  --json, --output json      print everything as JSON
  -h, --help                 show this text

Examples:
  octet sessions list --workspace .
  octet sessions list --limit 50 --after 3f8k2m0q

` + sessionExitCodes

func sessionsList() *command {
	var l sessionsListCommand
	return &command{
		name: "list", short: "Show the sessions.", help: helpSessionsList,
		flags: func(set *pflag.FlagSet) {
			l.storeOptions.register(set)
			l.format.register(set)
			set.StringVar(&l.workspace, "workspace", "", "")
			set.StringVar(&l.parent, "children-of", "", "")
			set.BoolVar(&l.all, "all", false, "")
			set.IntVar(&l.limit, "limit", defaultPage, "")
			set.StringVar(&l.after, "after", "", "")
		},
		run: l.run,
	}
}

func (l *sessionsListCommand) run(ctx context.Context, c *console, args []string) (int, error) {
	switch {
	case len(args) > 0:
		return exitUsage, usagef("unexpected argument %q; octet sessions list takes options only", args[0])
	case l.limit < 0:
		return exitUsage, usagef("--limit is %d, want 0 or more", l.limit)
	}
	if err := l.format.check(); err != nil {
		return exitUsage, err
	}
	return failed(l.list(ctx, c))
}

func (l *sessionsListCommand) list(ctx context.Context, c *console) (err error) {
	store, err := l.reader(ctx, c)
	if err != nil {
		return err
	}
	var found []session.Info
	more := false
	if store != nil || l.after != "" || l.parent != "" {
		if store != nil {
			defer func() { err = errors.Join(err, store.Close()) }()
		}
		filter, err := l.filter(ctx, store)
		if err != nil {
			return err
		}
		if found, err = store.List(ctx, filter); err != nil {
			return err
		}
		if l.limit > 0 && len(found) > l.limit {
			found, more = found[:l.limit], true
		}
	}
	if l.json {
		description := sessionListDescription{Sessions: append([]session.Info{}, found...)}
		if more {
			description.After = found[len(found)-1].ID
		}
		return c.json(description)
	}
	if len(found) == 0 {
		c.print("no sessions\n")
		return nil
	}
	c.print(plain(sessionTable(found)))
	if more {
		c.note("there are more; go on with octet sessions list --after %s", found[len(found)-1].ID)
	}
	return nil
}

// filter asks for one session more than is shown, to know whether there are more.
func (l *sessionsListCommand) filter(ctx context.Context, store *session.Store) (session.Filter, error) {
	filter := session.Filter{Children: l.all}
	if l.limit > 0 {
		filter.Limit = l.limit + 1
	}
	for _, reference := range []struct {
		word string
		into *string
	}{{l.after, &filter.After}, {l.parent, &filter.Parent}} {
		if reference.word == "" {
			continue
		}
		info, err := l.resolve(ctx, store, reference.word)
		if err != nil {
			return filter, err
		}
		*reference.into = info.ID
	}
	if l.workspace != "" {
		absolute, err := filepath.Abs(l.workspace)
		if err != nil {
			return filter, err
		}
		if canonical, err := filepath.EvalSymlinks(absolute); err == nil {
			absolute = canonical
		}
		filter.Workspace = absolute
	}
	return filter, nil
}

type sessionListDescription struct {
	Sessions []session.Info `json:"sessions"`
	After    string         `json:"next_after,omitempty"` // for the next page; empty on the last
}

// sessionTable shows a line for every session.
func sessionTable(list []session.Info) string {
	var b strings.Builder
	table := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	_, _ = fmt.Fprintln(table, "ID\tUPDATED\tENTRIES\tMODEL\tNAME")
	for _, info := range list {
		model := info.Model
		if model == "" {
			model = "-"
		}
		_, _ = fmt.Fprintf(table, "%s\t%s\t%d\t%s\t%s\n", info.ID, info.Updated.Format(listTime), info.Entries, oneLine(model), oneLine(nameOf(info)))
	}
	_ = table.Flush()
	return b.String()
}

const listTime = "2006-01-02 15:04"

// nameOf is what a session is called where nobody has named it.
func nameOf(info session.Info) string {
	switch {
	case info.Name != "":
		return info.Name
	case info.Title != "":
		return info.Title
	}
	return "-"
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// timeText tells a time to the second.
func timeText(t time.Time) string { return t.Format("2006-01-02 15:04:05 UTC") }

// countText is "1 entry" or "3 entries".
func countText[N int | int64](count N, one, many string) string {
	if count == 1 {
		return "1 " + one
	}
	return fmt.Sprint(count, " ", many)
}
