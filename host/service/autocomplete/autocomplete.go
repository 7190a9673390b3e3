// Package autocomplete asks extensions how the text in the editor could go on.
//
// Extensions register; Complete asks them one after the other, in the order of their names, until one has
// something, all within one budget. What one answers is judged when it arrives, and again by Apply when the
// person accepts it. Source: sheet feature 12.7.
package autocomplete

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/service/refusal"
	"github.com/octet-dev/octet/runtime/peer"
)

// Completer is a process that completes. *extension.Extension is one.
type Completer interface {
	Name() string
	Has(feature string) bool
	Diagnose(text string)
	Complete(ctx context.Context, p featurewire.UiAutocompleteCompleteParams, timeout time.Duration) (*featurewire.UiAutocompleteCompleteResult, error)
}

// Service is the completion of one editor. Make it with New.
type Service struct {
	interactive func() bool

	mu         sync.Mutex
	registered map[Completer]int64 // with the revision
}

// New returns the completion of an editor. Interactive says whether a person is at it right now.
func New(interactive func() bool) *Service {
	return &Service{interactive: interactive, registered: map[Completer]int64{}}
}

// Binding serves the registration. Bind it only to an interactive frontend.
func (s *Service) Binding() extension.Binding {
	return extension.Binding{
		Features: []string{featurewire.FeatureAutocomplete, featurewire.FeatureAutocompleteEditV1},
		Requests: map[string]extension.Handler{
			featurewire.MethodUIAutocompleteRegister: func(_ context.Context, r *extension.Incoming) (peer.Value, error) {
				return s.register(r.Extension, r.Params)
			},
		},
		Ended: func(x *extension.Extension) { s.forget(x) },
	}
}

func (s *Service) register(c Completer, params []byte) (peer.Value, error) {
	p, err := featurewire.DecodeUiAutocompleteRegisterParams(params)
	switch {
	case err != nil:
		return nil, refusal.Of(err)
	case !s.interactive():
		return nil, extension.RefuseInvalid("no interactive frontend completes")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.registered[c] = p.Revision
	return featurewire.UiAutocompleteRegisterResult{Accepted: true}, nil
}

func (s *Service) forget(c Completer) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.registered, c)
}

// revision returns what a process registered last.
func (s *Service) revision(c Completer) (int64, bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	revision, ok := s.registered[c]
	return revision, ok
}

// chain lists who is to be asked, in order.
func (s *Service) chain() []Completer {
	s.mu.Lock()
	defer s.mu.Unlock()
	var list []Completer
	for c := range s.registered {
		list = append(list, c)
	}
	slices.SortFunc(list, func(a, b Completer) int { return cmp.Compare(a.Name(), b.Name()) })
	return list
}

// Editor is the text to be completed.
type Editor struct {
	Text   string
	Cursor int // in bytes, on a character boundary
	// Current reports whether the editor still shows that text and cursor and has the focus. Nil: it does.
	Current func() bool
}

func (e *Editor) current() bool { return e.Current == nil || e.Current() }

// Offer is what an extension has.
type Offer struct {
	Extension string
	Prefix    string // what each item replaces before the cursor
	Items     []featurewire.AutocompleteItem

	text   string
	cursor int
}

// Complete asks the extensions and returns the first offer, or nil where none has one in time: then the host's
// own completion of paths has its turn, in what is left of the budget. The rest is that time.
func (s *Service) Complete(ctx context.Context, e Editor) (offer *Offer, rest time.Duration) {
	end := time.Now().Add(featurewire.AutocompleteMs * time.Millisecond)
	if e.Cursor < 0 || e.Cursor > len(e.Text) || len(e.Text) > featurewire.MaxEditorTextBytes || !boundary(e.Text, e.Cursor) {
		return nil, time.Until(end)
	}
	for _, c := range s.chain() {
		left := time.Until(end)
		if left <= 0 || ctx.Err() != nil || !e.current() {
			break
		}
		if offer := s.ask(ctx, c, &e, left); offer != nil {
			return offer, time.Until(end)
		}
	}
	return nil, max(0, time.Until(end))
}

// ask asks one extension. A fault of it is a diagnostic, and leaves the text to the next.
func (s *Service) ask(ctx context.Context, c Completer, e *Editor, left time.Duration) *Offer {
	revision, ok := s.revision(c)
	if !ok {
		return nil
	}
	result, err := c.Complete(ctx, featurewire.UiAutocompleteCompleteParams{Text: e.Text, Cursor: int64(e.Cursor), Revision: revision}, left)
	if err != nil {
		return nil // it has been diagnosed where it happened
	}
	if now, ok := s.revision(c); !ok || now != revision || !e.current() {
		return nil
	}
	offer := &Offer{Extension: c.Name(), Prefix: result.Prefix, Items: result.Items, text: e.Text, cursor: e.Cursor}
	if err := offer.check(c.Has(featurewire.FeatureAutocompleteEditV1)); err != nil {
		c.Diagnose("a completion is refused: " + err.Error())
		return nil
	}
	if len(offer.Items) == 0 {
		return nil
	}
	return offer
}

// check judges an offer against the text that it was asked for.
func (o *Offer) check(edits bool) error {
	if len(o.Items) > featurewire.MaxCompletionItems {
		return fmt.Errorf("it has %d items, more than %d", len(o.Items), featurewire.MaxCompletionItems)
	}
	if !strings.HasSuffix(o.text[:o.cursor], o.Prefix) || !boundary(o.text, o.cursor-len(o.Prefix)) {
		return fmt.Errorf("its prefix %q does not stand before the cursor", o.Prefix)
	}
	if err := checkText(o.Prefix, edits); err != nil {
		return fmt.Errorf("its prefix %w", err)
	}
	for i := range o.Items {
		item := &o.Items[i]
		description, _ := item.Description.Get()
		for _, each := range []struct {
			text  string
			lines bool
		}{{item.Value, edits}, {item.Label, false}, {description, false}} {
			if err := checkText(each.text, each.lines); err != nil {
				return fmt.Errorf("a text of item %d %w", i, err)
			}
		}
		if !edits && !(item.ReplaceAfterBytes.IsAbsent() && item.CursorOffsetBytes.IsAbsent()) {
			return fmt.Errorf("item %d edits, which was not negotiated", i)
		}
		if _, _, err := edit(o.text, o.cursor, o.Prefix, item); err != nil {
			return fmt.Errorf("item %d %w", i, err)
		}
	}
	return nil
}

func checkText(text string, lines bool) error {
	switch {
	case len(text) > featurewire.MaxCompletionBytes:
		return fmt.Errorf("is longer than %d bytes", featurewire.MaxCompletionBytes)
	case strings.ContainsFunc(text, func(r rune) bool {
		return unicode.IsControl(r) && !(lines && (r == '\n' || r == '\t' || r == '\r'))
	}):
		return errors.New("contains a control character")
	}
	return nil
}

// ErrStale is for an offer that was made for another text or cursor.
var ErrStale = errors.New("the text has changed since it was completed")

// Apply returns the text and the cursor behind the acceptance of an item, in an editor that still shows what
// was completed. Whole reports whether a position lies between two characters as the editor knows them; nil
// means any boundary of UTF-8.
func (o *Offer) Apply(e Editor, item int, whole func(text string, at int) bool) (text string, cursor int, err error) {
	if item < 0 || item >= len(o.Items) || e.Text != o.text || e.Cursor != o.cursor || !e.current() {
		return "", 0, ErrStale
	}
	text, cursor, err = edit(e.Text, e.Cursor, o.Prefix, &o.Items[item])
	if err != nil || whole == nil {
		return text, cursor, err
	}
	start := e.Cursor - len(o.Prefix)
	after := e.Cursor + int(o.Items[item].ReplaceAfterBytes.Or(0))
	if !whole(e.Text, start) || !whole(e.Text, after) || !whole(text, cursor) {
		return "", 0, errors.New("it would cut a character in two")
	}
	return text, cursor, nil
}

// edit replaces what an item replaces.
func edit(text string, cursor int, prefix string, item *featurewire.AutocompleteItem) (string, int, error) {
	start, after := cursor-len(prefix), int64(cursor)+item.ReplaceAfterBytes.Or(0)
	offset := item.CursorOffsetBytes.Or(int64(len(item.Value)))
	switch {
	case item.ReplaceAfterBytes.Or(0) < 0 || after > int64(len(text)) || !boundary(text, int(after)):
		return "", 0, errors.New("replaces behind the cursor what is not there, or part of a character")
	case offset < 0 || offset > int64(len(item.Value)) || !boundary(item.Value, int(offset)):
		return "", 0, errors.New("puts the cursor outside of its value, or into a character")
	}
	result := text[:start] + item.Value + text[after:]
	if len(result) > featurewire.MaxEditorTextBytes {
		return "", 0, fmt.Errorf("makes the text longer than %d bytes", featurewire.MaxEditorTextBytes)
	}
	return result, start + int(offset), nil
}

// boundary reports whether a position lies between two characters of UTF-8.
func boundary(text string, at int) bool {
	return at == len(text) || at < len(text) && utf8.RuneStart(text[at])
}
