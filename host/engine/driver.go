package engine

import (
	"context"
	"errors"
	"fmt"

	"github.com/octet-dev/octet/host/agent"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/service/sessions"
	"github.com/octet-dev/octet/host/session"
)

// interactive are the bindings that only an engine with a person in front of it has: control of the session
// in front, and the line that is being typed.
func (e *Engine) interactive() []extension.Binding {
	if !e.config.Interactive {
		return nil
	}
	c := sessions.New(driver{e})
	e.services.sessions = c
	bindings := []extension.Binding{sessions.Control(c), sessions.Compact(c, driver{e}), sessions.Lifecycle(c)}
	return append(bindings, e.edited()...)
}

// driver controls the session in front on behalf of extensions.
type driver struct{ engine *Engine }

var errNoFront = errors.New("no conversation is in front")

// Idle waits until nothing runs in the conversation in front, and keeps it so.
func (d driver) Idle(ctx context.Context) (id string, release func(), err error) {
	c := d.engine.Front()
	if c == nil {
		return "", nil, errNoFront
	}
	select {
	case c.turn <- struct{}{}:
		return c.ID(), func() { <-c.turn }, nil
	case <-c.life.Done():
		return "", nil, context.Cause(c.life)
	case <-ctx.Done():
		return "", nil, context.Cause(ctx)
	}
}

// Create makes an empty session of the workspace and does not switch to it.
func (d driver) Create(ctx context.Context) (string, error) {
	reference, err := d.engine.reference("")
	if err != nil {
		return "", err
	}
	info, err := d.engine.config.Store.Create(ctx, session.New{Workspace: d.engine.Workspace(), Model: reference})
	return info.ID, err
}

// Fork copies the session in front and does not switch to the copy.
func (d driver) Fork(ctx context.Context) (string, error) {
	c := d.engine.Front()
	if c == nil {
		return "", errNoFront
	}
	info, err := d.engine.config.Store.Fork(ctx, c.ID(), "")
	return info.ID, err
}

// Switch puts an existing session of the workspace in front.
func (d driver) Switch(ctx context.Context, id string) (string, error) {
	c := d.engine.Front()
	if c == nil {
		return "", errNoFront
	}
	if c.ID() == id {
		return id, nil
	}
	info, err := d.engine.config.Store.Info(ctx, id)
	if err != nil {
		return "", err
	}
	if info.Workspace != d.engine.Workspace() {
		return "", fmt.Errorf("session %q belongs to another workspace", id)
	}
	// What asked for it belongs to the conversation that goes: from here on its end has no effect.
	defer d.engine.changing.begin()()
	next, err := d.engine.converse(context.WithoutCancel(ctx), info, false)
	if err != nil {
		return "", err
	}
	return next.ID(), nil
}

// Reload opens the session in front anew from disk. Where that fails an empty one takes its place.
func (d driver) Reload(ctx context.Context) (string, error) {
	c := d.engine.Front()
	if c == nil {
		return "", errNoFront
	}
	ctx = context.WithoutCancel(ctx)
	c.fresh = false // it is not to go with this conversation
	id := c.ID()
	defer d.engine.changing.begin()()
	if err := c.close(errReread); err != nil {
		return "", err
	}
	next, err := d.engine.Resume(ctx, id)
	if err != nil {
		if _, instead := d.engine.NewSession(ctx); instead != nil {
			return "", errors.Join(err, instead)
		}
		return "", err
	}
	return next.ID(), nil
}

// Compact sums the conversation in front up. The controller holds it idle.
func (d driver) Compact(ctx context.Context, instructions string) (sessions.Compaction, error) {
	c := d.engine.Front()
	if c == nil {
		return sessions.Compaction{}, errNoFront
	}
	made, err := c.agent.Compact(ctx, instructions)
	return sessions.Compaction{EntryID: string(made.Entry), Summary: made.Summary, FirstKept: string(made.FirstKept)}, err
}

// Compacting reports whether the conversation in front is being summed up, hooks included.
func (d driver) Compacting() bool {
	c := d.engine.Front()
	return c != nil && c.compacting.Load()
}

// compacted keeps track of compactions.
func (c *Conversation) compacted(event agent.Event) {
	switch event.(type) {
	case agent.CompactionStarted:
		c.compacting.Store(true)
	case agent.CompactionSettled, agent.CompactionFailed, agent.RunSettled:
		c.compacting.Store(false)
	}
}

// hold waits for the turn of an operation that the conversation must not run twice.
func (c *Conversation) hold(ctx context.Context) (release func(), err error) {
	select {
	case c.turn <- struct{}{}:
		return func() { <-c.turn }, nil
	case <-ctx.Done():
		return nil, context.Cause(ctx)
	}
}
