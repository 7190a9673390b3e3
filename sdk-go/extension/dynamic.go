package extension

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"sync/atomic"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
)

// DynamicTools changes the catalog of a running extension. It needs Options.DynamicTools and a host that
// offers dynamic_tools. Each change is one transaction: it is staged here, sent, and in force with what the
// host accepts of it when the host has answered; a refusal leaves the catalog as it was.
type DynamicTools struct{ s *Scope }

// DynamicTools returns the changing of the catalog.
func (s *Scope) DynamicTools() DynamicTools { return DynamicTools{s} }

// Catalog is one epoch of the catalog.
type Catalog struct {
	Revision int64    // 0 is what initialize has said
	Tools    []string // the names the host has accepted, ascending
}

// Current returns the catalog in force.
func (d DynamicTools) Current() Catalog {
	epoch := d.s.server.catalog.now.Load()
	return Catalog{epoch.revision, toolNames(epoch.tools)}
}

// Register adds tools, each in place of one of the same name, and returns the new catalog. The host may leave
// some out. When ctx ends first, the change goes on and comes into force all the same.
func (d DynamicTools) Register(ctx context.Context, tools ...*Tool) (Catalog, error) {
	if len(tools) == 0 {
		return Catalog{}, errors.New("there is no tool to register: name one")
	}
	session := d.s.session
	params := featurewire.ToolsRegisterParams{}
	names := map[string]*Tool{}
	for _, t := range tools {
		if _, twice := names[t.name]; twice {
			return Catalog{}, fmt.Errorf("tool %q is there twice: register it once", t.name)
		}
		if err := d.s.server.ext.dialect.checkTool(t); err != nil {
			return Catalog{}, fmt.Errorf("tool %q: %w", t.name, err)
		}
		names[t.name] = t
		params.Tools = append(params.Tools, d.s.server.defined(t, session))
	}
	return d.change(ctx, featurewire.MethodToolsRegister, params, func(now []*Tool) []*Tool {
		next := slices.DeleteFunc(slices.Clone(now), func(t *Tool) bool { return names[t.name] != nil })
		return append(next, slices.Collect(maps.Values(names))...)
	})
}

// Unregister removes tools and returns the new catalog. Names that are not there are ignored. When ctx ends
// first, the change goes on and comes into force all the same.
func (d DynamicTools) Unregister(ctx context.Context, names ...string) (Catalog, error) {
	if len(names) == 0 {
		return Catalog{}, errors.New("there is no tool to unregister: name one")
	}
	return d.change(ctx, featurewire.MethodToolsUnregister, featurewire.ToolsUnregisterParams{Names: names}, func(now []*Tool) []*Tool {
		return slices.DeleteFunc(slices.Clone(now), func(t *Tool) bool { return slices.Contains(names, t.name) })
	})
}

// change runs one transaction, behind those that were begun before it.
func (d DynamicTools) change(ctx context.Context, method string, params wirejson.Encoder, stage func([]*Tool) []*Tool) (Catalog, error) {
	m := featurewire.LookupMethod(method)
	if err := d.s.may(m); err != nil {
		return Catalog{}, err
	}
	if err := params.Validate(); err != nil {
		return Catalog{}, err
	}
	type outcome struct {
		catalog Catalog
		err     error
	}
	done := make(chan outcome, 1)
	began := d.s.server.spawn("catalog change", func(life context.Context) error {
		catalog, err := d.s.server.transact(life, m, params, stage)
		done <- outcome{catalog, err}
		return nil
	})
	if !began {
		return Catalog{}, &cancelledError{method, errAnswered}
	}
	select {
	case o := <-done:
		return o.catalog, o.err
	case <-ctx.Done():
		return Catalog{}, &cancelledError{method, context.Cause(ctx)}
	}
}

// epoch is one state of the catalog. It never changes.
type epoch struct {
	revision int64
	tools    []*Tool // ascending by name
}

// catalog holds the epochs that can be called. changing is held for a whole transaction, mu for a look.
type catalog struct {
	now      atomic.Pointer[epoch]
	changing sync.Mutex

	mu   sync.Mutex
	kept []*epoch // committed, the last one in force
	next *epoch   // staged, while a transaction is on its way
}

func (c *catalog) start(tools []*Tool) {
	first := &epoch{0, tools}
	c.now.Store(first)
	c.kept = []*epoch{first}
}

// at returns the tools of an epoch, or false for one that is unknown or retired.
func (c *catalog) at(revision int64) ([]*Tool, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, e := range c.kept {
		if e.revision == revision {
			return e.tools, true
		}
	}
	if c.next != nil && c.next.revision == revision {
		return c.next.tools, true
	}
	return nil, false
}

func (c *catalog) stage(e *epoch) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.next = e
}

func (c *catalog) commit(e *epoch) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.next = nil
	c.kept = append(c.kept, e)
	if older := len(c.kept) - featurewire.MaxRetainedCatalogs; older > 0 { // what a model has seen it may still call
		c.kept = slices.Clone(c.kept[older:])
	}
	c.now.Store(e)
}

// transact sends one change and puts in force what the host accepts.
func (s *server) transact(ctx context.Context, m *wirejson.Method, params wirejson.Encoder, stage func([]*Tool) []*Tool) (Catalog, error) {
	c := &s.catalog
	c.changing.Lock()
	defer c.changing.Unlock()
	now := c.now.Load()
	tools := stage(now.tools)
	slices.SortFunc(tools, func(a, b *Tool) int { return compareName(a, b.name) })
	if len(tools) > featurewire.MaxTools {
		return Catalog{}, fmt.Errorf("the catalog would have %d tools, more than %d: unregister some", len(tools), featurewire.MaxTools)
	}
	c.stage(&epoch{now.revision + 1, tools})
	defer c.stage(nil)
	var answer featurewire.ToolsRegisterResult
	err := s.own(ctx).ask(ctx, m, params.AppendJSON(nil), func(result []byte) (err error) {
		answer, err = featurewire.DecodeToolsRegisterResult(result) // both methods answer alike
		return err
	})
	if err != nil {
		return Catalog{}, err
	}
	if answer.Revision != now.revision+1 {
		return Catalog{}, &ResultError{m.Name, fmt.Errorf("the revision is %d, want %d: the catalog stays as it was", answer.Revision, now.revision+1)}
	}
	accepted := slices.DeleteFunc(slices.Clone(tools), func(t *Tool) bool { return !slices.Contains(answer.Tools, t.name) })
	c.commit(&epoch{answer.Revision, accepted})
	return Catalog{answer.Revision, toolNames(accepted)}, nil
}
