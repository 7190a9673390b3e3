// Package promptcontext gathers the context that extensions add to a prompt: what they contribute unasked,
// which waits for the next prompt, and what they answer when they are asked.
//
// Rules: EXT04-CTX, MAN-SUPER-007. Sheet: feature 8.3, 11.3, manifest 9.2.
package promptcontext

import (
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/extension"
)

// Contribution is one piece of context. Its texts are plain.
type Contribution struct {
	Extension string
	Label     string // people can inspect it under this
	Content   string
	Placement featurewire.ContextPlacement
}

// size is what a contribution takes of the room of a turn.
func (c Contribution) size() int { return len(c.Label) + len(c.Content) }

func contribution(extension string, c featurewire.ContextContribution) Contribution {
	return Contribution{
		Extension: extension, Label: c.Label, Content: c.Content,
		Placement: c.Placement.Or(featurewire.ContextPlacementPromptSuffix),
	}
}

// Pool keeps what was contributed until a prompt takes it. It may be used by several goroutines.
type Pool struct {
	mu      sync.Mutex
	waiting []entry // under mu; in order of arrival
	bytes   int     // under mu
}

type entry struct {
	x *extension.Extension
	c Contribution
}

// Binding takes contributions from every extension that declares context.
func (p *Pool) Binding() extension.Binding {
	return extension.Binding{
		Notices: map[string]func(*extension.Incoming){featurewire.MethodContextContribution: p.contributed},
		Ended:   p.forget,
	}
}

func (p *Pool) contributed(n *extension.Incoming) {
	decoded, err := featurewire.DecodeContextContribution(n.Params)
	if err == nil {
		err = p.put(n.Extension, contribution(n.Extension.Name(), decoded))
	}
	if err != nil {
		n.Extension.Diagnose("context is dropped: " + err.Error())
	}
}

// Put adds what an extension answered beside something else, a command for example. What finds no room is
// dropped with a diagnostic.
func (p *Pool) Put(x *extension.Extension, list []featurewire.ContextContribution) {
	for _, each := range list {
		if err := p.put(x, contribution(x.Name(), each)); err != nil {
			x.Diagnose("context is dropped: " + err.Error())
		}
	}
}

func (p *Pool) put(x *extension.Extension, c Contribution) error {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case len(p.waiting) >= featurewire.MaxPendingContexts:
		return fmt.Errorf("%d contributions wait for the next prompt already", featurewire.MaxPendingContexts)
	case p.bytes+c.size() > featurewire.MaxContextBytes:
		return tooLarge(c)
	}
	p.waiting = append(p.waiting, entry{x, c})
	p.bytes += c.size()
	return nil
}

// Take empties the pool: for the prompt that is being made, in the order of the names of extensions, and of
// arrival for each.
func (p *Pool) Take() []Contribution {
	p.mu.Lock()
	defer p.mu.Unlock()
	var all []Contribution
	for _, e := range p.waiting {
		all = append(all, e.c)
	}
	slices.SortStableFunc(all, func(a, b Contribution) int { return strings.Compare(a.Extension, b.Extension) })
	p.waiting, p.bytes = nil, 0
	return all
}

// forget drops what a generation contributed.
func (p *Pool) forget(x *extension.Extension) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.waiting = slices.DeleteFunc(p.waiting, func(e entry) bool {
		if e.x == x {
			p.bytes -= e.c.size()
		}
		return e.x == x
	})
}

// Turn is the context of one turn. It holds the contributions of all extensions to the bounds they share.
// It is used by one goroutine.
type Turn struct {
	kept  []Contribution
	bytes int
}

// Add takes contributions as long as there is room; the error tells of those that found none.
func (t *Turn) Add(list ...Contribution) error {
	dropped := 0
	var first error
	for _, c := range list {
		err := t.add(c)
		if err == nil {
			continue
		}
		if dropped++; first == nil {
			first = err
		}
	}
	if dropped == 0 {
		return nil
	}
	return fmt.Errorf("%d contributions are dropped; the first: %w", dropped, first)
}

func (t *Turn) add(c Contribution) error {
	switch {
	case len(c.Label) > featurewire.MaxContextLabelBytes:
		return fmt.Errorf("a label of %d bytes is longer than %d", len(c.Label), featurewire.MaxContextLabelBytes)
	case len(t.kept) >= featurewire.MaxPendingContexts:
		return fmt.Errorf("a turn has at most %d contributions", featurewire.MaxPendingContexts)
	case t.bytes+c.size() > featurewire.MaxContextBytes:
		return tooLarge(c)
	}
	t.kept = append(t.kept, c)
	t.bytes += c.size()
	return nil
}

// Collected takes what one extension answered when it was asked.
func (t *Turn) Collected(extension string, answer []featurewire.ContextContribution) error {
	list := make([]Contribution, len(answer))
	for i, each := range answer {
		list[i] = contribution(extension, each)
	}
	return t.Add(list...)
}

// Contributions are those that were taken, in their order.
func (t *Turn) Contributions() []Contribution { return t.kept }

func tooLarge(c Contribution) error {
	return fmt.Errorf("with %q the context would exceed %d bytes; contribute less", c.Label, featurewire.MaxContextBytes)
}
