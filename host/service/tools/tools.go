// Package tools keeps the catalogs of tools that extensions decide while they run, and the set of tools
// that a model may use.
//
// A change of a catalog is one transaction: the whole catalog that would result is validated, its names are
// reserved against the host and the other extensions, policy takes out what it does not want, the catalog
// is published, and only then the extension is answered. A change that fails anywhere leaves everything as
// it was. A change that was published and cannot be answered ends the generation, whose group goes with it:
// the two sides would no longer mean the same by a revision.
//
// Catalogs never change once they are published. Who takes a snapshot keeps what it has seen, and the calls
// that come of it carry its revision.
//
// Rules: EXT04-DYN, EXT04-ACTIVE. Sheet: feature 11.11, 12.6, 13.4.
package tools

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/runtime/peer"
)

// Catalog is the tools of one generation at one revision.
type Catalog struct {
	Revision int64
	Tools    []*extension.Tool // in ascending order of names
}

// Options of a service. The zero value is good.
type Options struct {
	// Names is where names are reserved. Nil: a register that knows no name of the host.
	Names *Names
	// Allow says whether policy lets a tool in. Nil lets every tool in.
	Allow func(extension string, t *extension.Tool) bool
	// Prompts says that the snippets and guidelines of tools get into the prompt: see Definition. Without it
	// they are not offered.
	Prompts bool
	// Published is told of every catalog that counts from now on, and of nil once a generation has none any
	// more. It must not block. Nil: nobody listens.
	Published func(x *extension.Extension, c *Catalog)
}

// Service keeps the catalogs of all running generations. It may be used by several goroutines.
type Service struct {
	options Options

	mu     sync.Mutex
	groups map[*extension.Extension]*group // under mu
}

// group is the catalog of one generation.
type group struct {
	change sync.Mutex // held during one change, from validation to publication
	now    *Catalog   // under the mutex of the service; nil once it was removed
}

// New makes a service.
func New(o Options) *Service {
	if o.Names == nil {
		o.Names = NewNames()
	}
	return &Service{options: o, groups: map[*extension.Extension]*group{}}
}

// Bindings offer dynamic tools and commands of the process's own choice to every extension.
func (s *Service) Bindings() []extension.Binding {
	bindings := []extension.Binding{
		{
			Features: []string{featurewire.FeatureDynamicTools},
			Requests: map[string]extension.Handler{
				featurewire.MethodToolsRegister:   s.register,
				featurewire.MethodToolsUnregister: s.unregister,
			},
			Started: s.started,
			Ended:   s.remove,
		},
		// Nothing is asked for commands: initialize settles them for the generation.
		{Features: []string{featurewire.FeatureRuntimeCommands}},
	}
	if s.options.Prompts {
		bindings = append(bindings, extension.Binding{Features: []string{featurewire.FeatureToolPromptMetadataV1}})
	}
	return bindings
}

// Catalog is what counts for a generation now, nil if it has none.
func (s *Service) Catalog(x *extension.Extension) *Catalog {
	s.mu.Lock()
	defer s.mu.Unlock()
	if g := s.groups[x]; g != nil {
		return g.now
	}
	return nil
}

// started publishes epoch 0. Names that others have are left out.
func (s *Service) started(x *extension.Extension) {
	c := &Catalog{}
	for _, t := range x.Agreement().Tools {
		switch err := s.options.Names.add(x, t.Name); {
		case err != nil:
			x.Diagnose(fmt.Sprintf("tool %q is left out: %v", t.Name, err))
		case s.allows(x, t):
			c.Tools = append(c.Tools, t)
		}
	}
	c.sort()
	s.mu.Lock()
	s.groups[x] = &group{now: c}
	s.mu.Unlock()
	s.tell(x, c)
}

func (s *Service) allows(x *extension.Extension, t *extension.Tool) bool {
	return s.options.Allow == nil || s.options.Allow(x.Name(), t)
}

func (s *Service) tell(x *extension.Extension, c *Catalog) {
	if s.options.Published != nil {
		s.options.Published(x, c)
	}
}

func (s *Service) register(ctx context.Context, r *extension.Incoming) (peer.Value, error) {
	params, err := featurewire.DecodeToolsRegisterParams(r.Params)
	if err != nil {
		return nil, err
	}
	c, err := s.changed(ctx, r, func(ctx context.Context, before *Catalog) ([]*extension.Tool, error) {
		replaced := map[string]bool{}
		var after []*extension.Tool
		for _, d := range params.Tools {
			t, err := r.Extension.Compile(ctx, d)
			if err != nil {
				return nil, err
			}
			replaced[t.Name] = true
			after = append(after, t)
		}
		for _, t := range before.Tools {
			if !replaced[t.Name] {
				after = append(after, t)
			}
		}
		return after, nil
	})
	if err != nil {
		return nil, err
	}
	return featurewire.ToolsRegisterResult{Revision: c.Revision, Tools: c.names()}, nil
}

func (s *Service) unregister(ctx context.Context, r *extension.Incoming) (peer.Value, error) {
	params, err := featurewire.DecodeToolsUnregisterParams(r.Params)
	if err != nil {
		return nil, err
	}
	c, err := s.changed(ctx, r, func(_ context.Context, before *Catalog) ([]*extension.Tool, error) {
		return slices.DeleteFunc(slices.Clone(before.Tools), func(t *extension.Tool) bool {
			return slices.Contains(params.Names, t.Name)
		}), nil
	})
	if err != nil {
		return nil, err
	}
	return featurewire.ToolsUnregisterResult{Revision: c.Revision, Tools: c.names()}, nil
}

// changed makes one change: next yields the whole catalog that would result, validated tool by tool.
//
// Rule: EXT04-DYN-014.
func (s *Service) changed(ctx context.Context, r *extension.Incoming, next func(context.Context, *Catalog) ([]*extension.Tool, error)) (*Catalog, error) {
	x := r.Extension
	// Schemas come from the extension, and work on one may take for ever.
	ctx, cancel := context.WithTimeoutCause(ctx, patience, errSlow)
	defer cancel()
	s.mu.Lock()
	g := s.groups[x]
	s.mu.Unlock()
	if g == nil {
		return nil, extension.RefuseService("the extension is going")
	}
	g.change.Lock()
	defer g.change.Unlock()
	before := s.Catalog(x)
	if before == nil {
		return nil, extension.RefuseService("the extension is going")
	}
	after, err := next(ctx, before)
	if err != nil {
		return nil, refused(ctx, err)
	}
	if len(after) > featurewire.MaxTools {
		return nil, extension.RefuseMalformed(fmt.Sprintf("the catalog would have %d tools, more than %d", len(after), featurewire.MaxTools))
	}
	if n := size(after); n > maxCatalogBytes {
		return nil, extension.RefuseMalformed(fmt.Sprintf("the catalog would have %d bytes, more than %d; describe less", n, maxCatalogBytes))
	}
	reserved, err := s.options.Names.reserve(x, names(after))
	if err != nil {
		return nil, extension.RefuseMalformed(err.Error())
	}
	c := &Catalog{Revision: before.Revision + 1, Tools: slices.DeleteFunc(after, func(t *extension.Tool) bool { return !s.allows(x, t) })}
	c.sort()
	if ctx.Err() != nil { // nothing has happened yet
		reserved.giveBack()
		return nil, refused(ctx, ctx.Err())
	}
	s.mu.Lock()
	gone := s.groups[x] != g || g.now == nil
	if !gone {
		g.now = c
	}
	s.mu.Unlock()
	if gone {
		reserved.giveBack()
		return nil, extension.RefuseService("the extension is going")
	}
	s.options.Names.keep(x, c.names())
	s.tell(x, c)
	r.Behind(func(delivered bool) {
		if !delivered {
			s.unanswered(x)
		}
	})
	return c, nil
}

// unanswered takes back what was published and could not be answered.
//
// Rule: EXT04-DYN-015.
func (s *Service) unanswered(x *extension.Extension) {
	s.remove(x)
	x.Terminate("the answer to a change of its tools could not be delivered")
}

// remove takes the group of a generation away. It is harmless to do so twice.
func (s *Service) remove(x *extension.Extension) {
	s.mu.Lock()
	g := s.groups[x]
	delete(s.groups, x)
	if g != nil {
		g.now = nil
	}
	s.mu.Unlock()
	s.options.Names.release(x)
	if g != nil {
		s.tell(x, nil)
	}
}

// patience bounds the work on one change.
const patience = featurewire.RequestTimeoutMs * time.Millisecond

var errSlow = fmt.Errorf("the schemas take longer than %s to read; simplify them", patience)

// refused tells a definition that is wrong from work that was cut short.
func refused(ctx context.Context, err error) error {
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, errSlow) {
		return cause
	}
	if errors.Is(context.Cause(ctx), errSlow) {
		err = errSlow
	}
	if answer := (*peer.Error)(nil); errors.As(err, &answer) {
		return err
	}
	return extension.RefuseMalformed(err.Error())
}

func (c *Catalog) sort() {
	slices.SortFunc(c.Tools, func(a, b *extension.Tool) int { return strings.Compare(a.Name, b.Name) })
}

func (c *Catalog) names() []string { return names(c.Tools) }

func names(list []*extension.Tool) []string {
	all := make([]string, len(list))
	for i, t := range list {
		all[i] = t.Name
	}
	return all
}
