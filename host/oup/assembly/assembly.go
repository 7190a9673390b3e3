// Package assembly puts an OUP server together from a data directory: ledger, conversations, engines, sessions, and
// the handlers on top. A program that embeds the server begins here; octet serve does no more than read options.
package assembly

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"time"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/agent"
	"github.com/octet-dev/octet/host/engine"
	"github.com/octet-dev/octet/host/oup/access"
	"github.com/octet-dev/octet/host/oup/event"
	"github.com/octet-dev/octet/host/oup/house"
	"github.com/octet-dev/octet/host/oup/lane"
	"github.com/octet-dev/octet/host/oup/ledger"
	"github.com/octet-dev/octet/host/oup/live"
	"github.com/octet-dev/octet/host/oup/methods"
	"github.com/octet-dev/octet/host/oup/place"
	"github.com/octet-dev/octet/host/oup/preview"
	"github.com/octet-dev/octet/host/oup/profile"
	"github.com/octet-dev/octet/host/oup/server"
	"github.com/octet-dev/octet/host/oup/snapshot"
	"github.com/octet-dev/octet/host/oup/task"
	"github.com/octet-dev/octet/host/oup/transport"
	"github.com/octet-dev/octet/host/permission"
	"github.com/octet-dev/octet/host/policy"
	"github.com/octet-dev/octet/host/selection"
	"github.com/octet-dev/octet/host/service/dialog"
	"github.com/octet-dev/octet/host/service/provider"
	"github.com/octet-dev/octet/host/session"
	"github.com/octet-dev/octet/host/tool"
)

// Options are what a server is made of. DataDir, Workspace and Models are required.
type Options struct {
	// DataDir holds everything that lasts. One process has it at a time.
	DataDir string
	// Workspace is that of sessions whose client names none: an absolute path, apart from DataDir.
	Workspace string
	// Machine and Invocation decide which extensions there are. The workspace of the invocation is that of each
	// session.
	Machine    selection.Machine
	Invocation selection.Invocation
	// Models makes what serves models, once for each workspace and profile, from an environment in which the keys of
	// the profile are; the second result may be nil.
	Models func(lookup func(string) (string, bool)) (engine.Models, *provider.Registry, error)
	// Model answers where a session has no model yet; empty: the default of Models. Reasoning is as much as it reasons.
	Model, Reasoning string
	Interface        agent.ToolInterface
	Require          []string // tools without which no conversation begins
	Warming          agent.Warming
	Events           lane.Events // empty: lane.V2
	// Local says that only clients on this machine connect; one of them may end the server by calling Shutdown.
	Local    bool
	Shutdown func()
	Token    bool // clients must show one
	// Grace is how long a client is waited for that does not read when its connection ends; 0: 5 seconds.
	Grace   time.Duration
	Release string
	Log     func(error) // for people; nil drops it
}

// Assembly is a server at work. Its methods are for any goroutine.
type Assembly struct {
	Server *server.Server
	House  *house.House
	Ledger *ledger.Ledger
	Store  *session.Store
	Tasks  *task.Supervisor

	Profiles *profile.Store

	options   Options
	previews  *preview.Store
	snapshots *snapshot.Store
	closing   sync.Once
}

// NearError says that tools in the workspace of sessions whose client names none would reach what the server keeps.
type NearError struct{ Workspace, DataDir string }

// Error names both directories, the rule and the remedy.
func (e *NearError) Error() string {
	return fmt.Sprintf("the workspace %q is not apart from the data directory %q: tools there would reach the keys and conversations of everybody; "+
		"name a workspace that is neither in it nor around it, or another data directory", e.Workspace, e.DataDir)
}

// Open takes the data directory, settles what the process before has left, and is then ready to serve. A
// *ledger.LockedError says that another process has the directory, a *NearError that the workspace is not apart from it.
func Open(ctx context.Context, o Options) (_ *Assembly, err error) {
	if o.DataDir == "" || o.Workspace == "" || o.Models == nil {
		return nil, errors.New("assembly: a data directory, a workspace and models are required")
	}
	if place.Apart(o.Workspace, o.DataDir) != nil {
		return nil, &NearError{Workspace: o.Workspace, DataDir: o.DataDir}
	}
	if o.Log == nil {
		o.Log = func(error) {}
	}
	if o.Events == "" {
		o.Events = lane.V2
	}
	a := &Assembly{options: o}
	defer func() {
		if err != nil {
			err = errors.Join(err, a.close(0))
		}
	}()
	sessions := filepath.Join(o.DataDir, "sessions.db")
	// Conversations without a ledger had another one: what clients remember of it is not for the next.
	if a.Ledger, err = (ledger.Options{Successor: there(sessions)}).Open(ctx, o.DataDir); err != nil {
		return nil, err
	}
	if a.Store, err = session.Open(ctx, sessions); err != nil {
		return nil, err
	}
	if a.Profiles, err = o.profiles(); err != nil {
		return nil, err
	}
	if _, err := a.Profiles.IDs(); err != nil { // it would be the fault of every request about them
		return nil, err
	}
	lanes := &lane.Book{}
	if err := a.openBeside(o, lanes); err != nil {
		return nil, err
	}
	a.House, err = house.Open(ctx, house.Options{
		Ledger: a.Ledger, Store: a.Store, Workspace: o.Workspace, Private: o.DataDir, Failed: o.Log, Preview: a.preview(o.Log), Tools: a.tools, Spread: lanes.Spread,
		Model:  func(profile string) string { return a.chosen(o, profile) },
		Engine: func(ctx context.Context, at house.Place) (*engine.Engine, error) { return a.engine(ctx, o, at) },
	})
	if err != nil {
		return nil, err
	}
	gate := &access.Gate{Local: o.Local, Stored: a.Profiles.Has, Owner: a.House.Owner}
	rows := methods.Rows{House: a.House, Ledger: a.Ledger, Lanes: lanes, Gate: gate, Events: o.Events, Home: o.Machine.Home, Log: o.Log}
	rows.Tasks, rows.Previews, rows.Snapshots = a.Tasks, a.previews, a.snapshots
	handlers := with(rows.Handlers(), a.services(o))
	a.Server, err = server.New(server.Options{
		Handlers: handlers, Features: features, Reasons: reasons(handlers), Gate: gate, Lanes: lanes, Shutdown: o.Shutdown, Log: o.Log,
		Spell: rows.Spell, Outbox: transport.OutboxOptions{Grace: o.Grace},
	})
	return a, err
}

// there reports whether a file is, or cannot be told to be missing.
func there(path string) bool {
	_, err := os.Lstat(path)
	return !errors.Is(err, fs.ErrNotExist)
}

// openBeside opens what is kept beside the conversations. What runs in the background tells of itself through the
// ledger, whoever is connected.
func (a *Assembly) openBeside(o Options, lanes *lane.Book) (err error) {
	if a.previews, err = preview.Open(filepath.Join(o.DataDir, "previews")); err != nil {
		return err
	}
	if a.snapshots, err = snapshot.Open(snapshot.Options{Directory: filepath.Join(o.DataDir, "snapshots"), Skip: []string{o.DataDir}}); err != nil {
		return err
	}
	a.Tasks, err = task.Open(task.Options{
		Directory: filepath.Join(o.DataDir, "tasks"), Log: o.Log, Lost: lanes.Lossy,
		Tell: func(session, method string, news wirejson.Encoder) error {
			_, err := a.Ledger.Append(context.Background(), event.Of(session, method, news, ledger.Subject{}, ledger.Within))
			return err
		},
		Later: func(session, method string, news wirejson.Encoder) {
			a.Ledger.Owe(event.Of(session, method, news, ledger.Subject{}, ledger.Within))
		},
	})
	return err
}

// tools are those with which a model runs commands beside the conversation.
func (a *Assembly) tools(s *live.Session) []tool.Tool {
	return a.Tasks.Tools(task.Place{Session: s.Key(), Turn: s.Running, Workspace: s.Workspace()})
}

// preview keeps how changes look and returns the id of the preview, empty where that cannot be done.
func (a *Assembly) preview(log func(error)) func(session string, changes []tool.Change) string {
	return func(session string, changes []tool.Change) string {
		files := make([]oupwire.DiffFile, 0, len(changes))
		title := ""
		for _, change := range changes {
			files = append(files, preview.Made(change))
			title = change.Path
		}
		if len(changes) > 1 {
			title = strconv.Itoa(len(changes)) + " files"
		}
		id, err := a.previews.Put(session, title, files...)
		if err != nil {
			log(err)
		}
		return id
	}
}

// engine opens the engine of a place.
func (a *Assembly) engine(ctx context.Context, o Options, at house.Place) (*engine.Engine, error) {
	models, provided, err := o.models(a.Profiles, at.Profile)
	if err != nil {
		return nil, err
	}
	invocation := o.Invocation
	invocation.Workspace = at.Workspace
	return engine.Open(ctx, engine.Config{
		Machine: o.Machine, Invocation: invocation, Surface: policy.Session, Store: a.Store, Models: models, Providers: provided,
		Frontend: nobody{o.Log}, Model: o.Model, Reasoning: o.Reasoning, Interface: o.Interface, Require: o.Require, Warming: o.Warming,
	})
}

// patience is how long turns go on while clients are told of the end. The first clients answer within that; what
// works for the others must not go on until they are given up.
const patience = time.Second

// Close closes all connections with the reason, ends what runs, and gives the data directory back, within about the
// limit. Every turn that ran has its end on disk then.
func (a *Assembly) Close(reason transport.Reason, limit time.Duration) (err error) {
	a.closing.Do(func() {
		told := make(chan struct{})
		go func() {
			defer close(told)
			a.Server.Close(reason)
		}()
		select {
		case <-told:
		case <-time.After(patience):
		}
		if a.House != nil {
			a.House.Close(limit)
		}
		<-told
		err = a.close(limit)
	})
	return err
}

// close closes what is open, the ledger last.
func (a *Assembly) close(limit time.Duration) error {
	if a.House != nil {
		a.House.Close(limit)
	}
	var errs []error
	if a.Tasks != nil {
		errs = append(errs, a.Tasks.Close())
	}
	if a.previews != nil {
		errs = append(errs, a.previews.Close())
	}
	if a.snapshots != nil {
		errs = append(errs, a.snapshots.Close())
	}
	if a.Store != nil {
		errs = append(errs, a.Store.Close())
	}
	if a.Ledger != nil {
		errs = append(errs, a.Ledger.Close())
	}
	return errors.Join(errs...)
}

// nobody is the frontend of an engine outside of any session: questions are denied, and what goes wrong is logged.
type nobody struct{ log func(error) }

var errNobody = errors.New("nobody is there to be asked outside of a session")

// Ask denies.
func (nobody) Ask(context.Context, permission.Question) (permission.Answer, error) {
	return permission.Answer{}, errNobody
}

// Confirm says no.
func (nobody) Confirm(context.Context, dialog.Question) (bool, error) { return false, nil }

// Input gives nothing.
func (nobody) Input(context.Context, dialog.Input) (string, bool, error) { return "", false, nil }

// Show logs what people should know.
func (n nobody) Show(e agent.Event) {
	if d, is := e.(engine.Diagnosed); is {
		n.log(errors.New(d.String()))
	}
}
