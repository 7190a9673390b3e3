// Package shortcut keeps the keyboard shortcuts that extensions register while they initialize, and tells
// them when one is pressed.
//
// Rules: EXT04-SHORTCUT. Sheet: feature 12.3, 10.2.
package shortcut

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/service/refusal"
	"github.com/octet-dev/octet/runtime/peer"
)

// Keys says whether a frontend can give a key away. The error says why not; nil Keys give every key.
type Keys func(key string) error

// Shortcut is one that was admitted.
type Shortcut struct {
	Extension            string
	ID, Key, Description string
}

// Book holds the shortcuts of all running extensions. It may be used by several goroutines.
type Book struct {
	keys Keys

	mu    sync.Mutex
	pages map[*extension.Extension]*page // under mu
}

// page is what one generation has registered.
type page struct {
	list []Shortcut
	// closed: initialize was answered, and nothing more is admitted.
	closed bool
}

// New returns an empty book.
func New(keys Keys) *Book { return &Book{keys: keys, pages: map[*extension.Extension]*page{}} }

// Binding offers shortcuts to every extension.
func (b *Book) Binding() extension.Binding {
	return extension.Binding{
		Features: []string{featurewire.FeatureShortcuts},
		Requests: map[string]extension.Handler{featurewire.MethodShortcutRegister: b.register},
		Started:  b.close,
		Ended:    b.forget,
	}
}

func (b *Book) register(_ context.Context, r *extension.Incoming) (peer.Value, error) {
	params, err := featurewire.DecodeShortcutRegisterParams(r.Params)
	if err != nil {
		return nil, refusal.Of(err)
	}
	s := Shortcut{Extension: r.Extension.Name(), ID: params.ID, Key: params.Key, Description: params.Description}
	if err := b.admit(r.Extension, s); err != nil {
		r.Extension.Diagnose(fmt.Sprintf("shortcut %q is not available: %v", params.ID, err))
		return nil, err
	}
	return featurewire.ShortcutRegisterResult{}, nil
}

// admit writes a shortcut down. The error is the refusal.
func (b *Book) admit(x *extension.Extension, s Shortcut) error {
	if s.ID == "" || s.Key == "" {
		return extension.RefuseInvalid("a shortcut needs an id and a key")
	}
	if b.keys != nil {
		if err := b.keys(s.Key); err != nil {
			return extension.RefuseInvalid(fmt.Sprintf("key %q: %v", s.Key, err))
		}
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	p := b.pages[x]
	if p == nil {
		p = &page{}
		b.pages[x] = p
	}
	switch {
	case p.closed:
		return extension.RefuseInvalid("shortcuts are registered before initialize is answered")
	case len(p.list) >= featurewire.MaxShortcuts:
		return extension.RefuseBounds(fmt.Sprintf("an extension has at most %d shortcuts", featurewire.MaxShortcuts))
	case slices.ContainsFunc(p.list, func(o Shortcut) bool { return o.ID == s.ID }):
		return extension.RefuseInvalid(fmt.Sprintf("shortcut %q is registered already", s.ID))
	}
	// An older generation of the same extension keeps its key until this one takes over.
	for _, other := range b.pages {
		if slices.ContainsFunc(other.list, func(o Shortcut) bool { return o.Key == s.Key && (other == p || o.Extension != s.Extension) }) {
			return extension.RefuseInvalid(fmt.Sprintf("key %q is taken", s.Key))
		}
	}
	p.list = append(p.list, s)
	return nil
}

// close takes the registrations of a generation as they are, if it has selected shortcuts after all.
func (b *Book) close(x *extension.Extension) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.pages[x] == nil || !x.Has(featurewire.FeatureShortcuts) {
		b.pages[x] = &page{}
	}
	b.pages[x].closed = true
}

func (b *Book) forget(x *extension.Extension) {
	b.mu.Lock()
	defer b.mu.Unlock()
	delete(b.pages, x)
}

// List is what can be pressed now, by key. Of two generations of one extension the newer counts.
func (b *Book) List() []Shortcut {
	b.mu.Lock()
	defer b.mu.Unlock()
	var list []Shortcut
	for x, p := range b.pages {
		if p.closed && b.latestLocked(x) {
			list = append(list, p.list...)
		}
	}
	slices.SortFunc(list, func(a, b Shortcut) int { return strings.Compare(a.Key, b.Key) })
	return list
}

// latestLocked reports whether no newer generation of the same extension is open.
func (b *Book) latestLocked(x *extension.Extension) bool {
	for other, p := range b.pages {
		if p.closed && other.Name() == x.Name() && other.Generation() > x.Generation() {
			return false
		}
	}
	return true
}

// Press tells the extension that a key was pressed. It reports whether the key is a shortcut at all; the
// error says why the extension could not be told.
func (b *Book) Press(ctx context.Context, key string) (known bool, err error) {
	x, id := b.find(key)
	if x == nil {
		return false, nil
	}
	return true, x.Notify(ctx, featurewire.MethodShortcutTrigger, featurewire.ShortcutTriggerParams{ID: id})
}

func (b *Book) find(key string) (*extension.Extension, string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for x, p := range b.pages {
		if !p.closed || !b.latestLocked(x) {
			continue
		}
		for _, s := range p.list {
			if s.Key == key {
				return x, s.ID
			}
		}
	}
	return nil, ""
}
