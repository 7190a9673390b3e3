package engine

import (
	"context"
	"fmt"
	"path/filepath"
	"slices"

	"github.com/octet-dev/octet/host/agent"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/permission"
	"github.com/octet-dev/octet/host/selection"
	"github.com/octet-dev/octet/host/supervise"
	"github.com/octet-dev/octet/host/tool/builtin"
)

// openTools opens the host's own tools.
func (e *Engine) openTools(s *selection.Selection) error {
	opened, err := builtin.Open(builtin.Options{
		Workspace: s.Workspace, AllowExternalPaths: s.Policy.AllowExternalPaths, Private: filepath.Dir(e.config.Store.Path()),
	})
	if err != nil {
		return err
	}
	e.builtin = opened
	return nil
}

// gate decides about the calls of one conversation, by its owner.
func (e *Engine) gate(owner string, profile func() permission.Profile) permission.Gate {
	return permission.New(permission.Options{Settings: e.Selection().Policy, Asker: approver{e.person(), owner}, Profile: profile})
}

// ready are the processes in service, in the order of names.
func (e *Engine) ready() []*extension.Extension {
	var list []*extension.Extension
	for _, running := range e.fleet.Ready() {
		if x := running.Extension(); x != nil {
			list = append(list, x)
		}
	}
	return list
}

// state is what extensions are shown of the session that a hook is run for.
func (e *Engine) state(s agent.Scope) extension.HostState {
	if c := e.owned(s.Owner); c != nil {
		return c.scope().Host
	}
	return extension.HostState{SessionID: s.Session, Model: s.Model}
}

// SetActive replaces the set of tools that the model of a session may use. It is what extensions ask for
// with active_tools.
func (s *services) SetActive(_ context.Context, owner string, names []string) error {
	c := s.engine.owned(owner)
	if c == nil {
		return fmt.Errorf("the session is not open")
	}
	snapshot, err := toolSource{c}.all()
	if err != nil {
		return err
	}
	for _, name := range names {
		if snapshot.Find(name) == nil {
			return fmt.Errorf("there is no tool %q", name)
		}
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.active = append([]string{}, names...)
	return nil
}

// offers reports whether the model of a conversation may use a tool.
func (c *Conversation) offers(name string) bool {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.active == nil || slices.Contains(c.active, name)
}

// use runs something on the generation of an extension in service.
func (e *Engine) use(ctx context.Context, name string, run func(context.Context, *extension.Extension) error) error {
	supervisor := e.fleet.Get(name)
	if supervisor == nil {
		unknown := &supervise.UnknownError{Name: name}
		for _, status := range e.fleet.Status() {
			unknown.Known = append(unknown.Known, status.Name)
		}
		return unknown
	}
	return supervisor.Use(ctx, func(ctx context.Context, on supervise.Running) error {
		x := on.Extension()
		if x == nil {
			return errNoProcess
		}
		return run(ctx, x)
	})
}
