package engine

import (
	"context"
	"encoding/json"
	"errors"
	"os"

	"github.com/octet-dev/octet/host/agent"
	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/service/agents"
	"github.com/octet-dev/octet/host/service/bulk"
	"github.com/octet-dev/octet/host/service/bus"
	"github.com/octet-dev/octet/host/service/composition"
	"github.com/octet-dev/octet/host/service/entries"
	"github.com/octet-dev/octet/host/service/resource"
	"github.com/octet-dev/octet/host/session"
)

// reach is what extensions reach of the open conversations: what belongs to their sessions, and what lives
// and ends with them.
type reach struct {
	engine    *Engine
	children  *agents.Service
	resources *resource.Service
	bulk      *bulk.Storage
	bus       *bus.Bus
	fronted   bool // a conversation was in front before; under the mutex of the engine
}

// openReach makes the services and returns what binds them.
func (e *Engine) openReach() (*reach, []extension.Binding, error) {
	directory, err := os.MkdirTemp("", "octet-bulk-")
	if err != nil {
		return nil, nil, err
	}
	storage, err := bulk.Open(bulk.Options{Directory: directory})
	if err != nil {
		return nil, nil, err
	}
	r := &reach{engine: e, resources: resource.New(), bulk: storage, bus: bus.New()}
	r.children = agents.New(agents.Options{Roots: family{e}})
	return r, []extension.Binding{
		r.children.Binding(), r.resources.Binding(), r.bulk.Binding(), r.bus.Binding(),
		composition.New(store{e}).Binding(), entries.Binding(store{e}),
	}, nil
}

// opened follows a conversation that has come to the front.
func (r *reach) opened(c *Conversation) {
	r.children.AdmitOwner(c.session.Owner())
	r.engine.mu.Lock()
	again := r.fronted
	r.fronted = true
	r.engine.mu.Unlock()
	if again && r.engine.config.Interactive { // elsewhere the others go on
		r.bus.Reset()
	}
}

// settled lets go of what lives with a conversation, before its session is closed.
func (r *reach) settled(c *Conversation) {
	owner := c.session.Owner()
	if err := r.children.SettleRoot(context.Background(), owner); err != nil {
		r.engine.failed("the usage of child agents is not stored", err)
	}
	r.engine.services.artifacts.Forget(owner)
	r.children.RetireOwner(owner)
	r.resources.RetireOwner(owner)
	r.bulk.RetireOwner(owner)
}

// close ends everything. No extension runs any more.
func (r *reach) close() error {
	r.children.Close()
	r.resources.Close()
	r.bus.Close()
	return r.bulk.Close()
}

// journal is the session as the agent of a conversation writes it. The children of a run are stopped and
// booked before its end is stored.
type journal struct {
	*session.Session
	children *agents.Service
}

// Commit writes a batch.
func (j journal) Commit(ctx context.Context, batch session.Batch) (session.Receipt, error) {
	if batch.Settle != nil {
		if err := j.children.SettleRoot(ctx, j.Owner()); err != nil {
			return session.Receipt{}, err
		}
	}
	if batch.Start != "" {
		j.children.BeginRun(j.Owner())
	}
	return j.Session.Commit(ctx, batch)
}

// store is the sessions that are open, for what extensions keep in them.
type store struct{ engine *Engine }

func (s store) of(owner string) (*Conversation, error) {
	if c := s.engine.owned(owner); c != nil {
		return c, nil
	}
	return nil, entries.ErrGone
}

// Composed and Compose keep the values of composing tools.
func (s store) Composed(ctx context.Context, owner, tool string) (map[string]json.RawMessage, error) {
	c, err := s.of(owner)
	if err != nil {
		return nil, err
	}
	return c.session.Composed(ctx, tool)
}

func (s store) Compose(ctx context.Context, owner, tool string, set map[string]json.RawMessage, remove []string) error {
	c, err := s.of(owner)
	if err != nil {
		return err
	}
	return c.session.Compose(ctx, tool, set, remove)
}

// AppendEntry and the others are what session_entries and message_injection ask for.
func (s store) AppendEntry(ctx context.Context, owner string, e entries.Entry) (string, error) {
	c, err := s.of(owner)
	if err != nil {
		return "", err
	}
	receipt, err := c.session.Commit(ctx, session.Batch{Entries: []session.Entry{{
		Value: session.Extension{Extension: e.Extension, Kind: e.Type, Data: e.Data},
	}}})
	if err != nil {
		return "", err
	}
	return string(receipt.Entries[0]), nil
}

func (s store) SetName(ctx context.Context, owner, name string) error {
	c, err := s.of(owner)
	if err != nil {
		return err
	}
	return c.SetName(ctx, name)
}

func (s store) SetLabel(ctx context.Context, owner, entry, label string) error {
	c, err := s.of(owner)
	if err != nil {
		return err
	}
	err = c.session.Label(ctx, session.EntryID(entry), label)
	if errors.Is(err, session.ErrNoEntry) {
		return errors.Join(entries.ErrUnknownEntry, err)
	}
	return err
}

// Inject puts a message into a conversation. What is said for the user begins a run, or follows the one that
// goes on.
func (s store) Inject(ctx context.Context, owner, source string, m conversation.Message) error {
	c, err := s.of(owner)
	if err != nil {
		return err
	}
	if m.Role != conversation.User {
		_, err := c.session.Commit(ctx, session.Batch{Entries: []session.Entry{{Value: session.Injected{Source: source, Message: m}}}})
		return err
	}
	if c.agent.FollowUp(m.PlainText()) == nil {
		return nil
	}
	if c.say != nil {
		c.say(m.PlainText())
		return nil
	}
	go func() {
		// It is told like any other run; one that the person has begun meanwhile goes first, and this one is
		// said to have found no room.
		if _, err := c.Prompt(context.Background(), agent.Prompt{Text: m.PlainText()}); err != nil && !errors.Is(err, ErrClosed) {
			s.engine.failed("a message of extension "+source+" was not taken", err)
		}
	}()
	return nil
}
