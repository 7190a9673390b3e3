package autocomplete

import (
	"context"
	"errors"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/runtime/peer"
)

type item = featurewire.AutocompleteItem

// fake completes as it is told.
type fake struct {
	name   string
	edits  bool
	answer func(p featurewire.UiAutocompleteCompleteParams) featurewire.UiAutocompleteCompleteResult
	takes  time.Duration
	asked  []featurewire.UiAutocompleteCompleteParams
	notes  []string
}

func (f *fake) Name() string { return f.name }
func (f *fake) Has(feature string) bool {
	return feature == featurewire.FeatureAutocomplete || f.edits && feature == featurewire.FeatureAutocompleteEditV1
}
func (f *fake) Diagnose(text string) { f.notes = append(f.notes, text) }

func (f *fake) Complete(ctx context.Context, p featurewire.UiAutocompleteCompleteParams, timeout time.Duration) (*featurewire.UiAutocompleteCompleteResult, error) {
	f.asked = append(f.asked, p)
	if f.takes > timeout {
		time.Sleep(timeout)
		return nil, context.DeadlineExceeded
	}
	time.Sleep(f.takes)
	r := f.answer(p)
	return &r, nil
}

func offers(prefix string, items ...item) func(featurewire.UiAutocompleteCompleteParams) featurewire.UiAutocompleteCompleteResult {
	return func(featurewire.UiAutocompleteCompleteParams) featurewire.UiAutocompleteCompleteResult {
		return featurewire.UiAutocompleteCompleteResult{Prefix: prefix, Items: items}
	}
}

func plain(value string) item {
	return item{Value: value, Label: value, Description: wirejson.Null[string]()}
}

func edits(value string, after, offset int64) item {
	i := plain(value)
	i.ReplaceAfterBytes, i.CursorOffsetBytes = wirejson.Some(after), wirejson.Some(offset)
	return i
}

func service(t *testing.T, list ...*fake) *Service {
	t.Helper()
	s := New(func() bool { return true })
	for i, f := range list {
		got, err := s.register(f, []byte(`{"revision":`+string(rune('1'+i))+`}`))
		if err != nil || string(got.AppendJSON(nil)) != `{"accepted":true}` {
			t.Fatalf("registration: %v, %v", got, err)
		}
	}
	return s
}

// EXT04-COMPLETE-004, EXT04-COMPLETE-005
func TestRegister(t *testing.T) {
	s := service(t)
	if _, err := s.register(&fake{}, []byte(`{"revision":0,"parent_request_id":7}`)); err != nil {
		t.Errorf("with a parent: %v", err)
	}
	var e *peer.Error
	if _, err := s.register(&fake{}, []byte(`{}`)); !errors.As(err, &e) || e.Code != featurewire.CodeInvalidParams || !strings.HasPrefix(e.Message, "invalid_request ") {
		t.Errorf("without a revision: %v", err)
	}
	s.interactive = func() bool { return false }
	if _, err := s.register(&fake{}, []byte(`{"revision":1}`)); err == nil {
		t.Error("accepted without an interactive frontend")
	}
	b := s.Binding()
	if !slices.Equal(b.Features, []string{featurewire.FeatureAutocomplete, featurewire.FeatureAutocompleteEditV1}) {
		t.Errorf("it stands behind %q", b.Features)
	}
}

// EXT04-COMPLETE-006
func TestComplete_asksWhoRegisteredWithTextCursorAndRevision(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f, other := &fake{name: "f", answer: offers("x", plain("xyz"))}, &fake{name: "other"}
		s := service(t, f)
		for _, cursor := range []int{-1, 2, 5} { // 2 lies inside ü
			if got, _ := s.Complete(t.Context(), Editor{Text: "xüx", Cursor: cursor}); got != nil {
				t.Errorf("cursor %d: got an offer", cursor)
			}
		}
		if got, _ := s.Complete(t.Context(), Editor{Text: strings.Repeat("x", featurewire.MaxEditorTextBytes+1), Cursor: 1}); got != nil || len(f.asked) > 0 {
			t.Errorf("asked %v for what cannot be completed", f.asked)
		}
		got, _ := s.Complete(t.Context(), Editor{Text: "xüx", Cursor: 4})
		if got == nil || got.Extension != "f" || len(got.Items) != 1 {
			t.Fatalf("got %v", got)
		}
		if want := (featurewire.UiAutocompleteCompleteParams{Text: "xüx", Cursor: 4, Revision: 1}); len(f.asked) != 1 || string(f.asked[0].AppendJSON(nil)) != string(want.AppendJSON(nil)) {
			t.Errorf("asked %v", f.asked)
		}
		s.forget(f)
		if got, _ := s.Complete(t.Context(), Editor{Text: "x", Cursor: 1}); got != nil || len(f.asked) != 1 || len(other.asked) != 0 {
			t.Error("asked who is not registered")
		}
	})
}

// EXT04-COMPLETE-007
func TestComplete_emptyItemsLeaveItToTheNextInOneBudget(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		a := &fake{name: "a", answer: offers(""), takes: 200 * time.Millisecond}
		b := &fake{name: "b", answer: offers("", plain("b")), takes: 200 * time.Millisecond}
		c := &fake{name: "c", answer: offers("", plain("c"))}
		s := service(t, c, b, a)
		got, rest := s.Complete(t.Context(), Editor{})
		if got == nil || got.Extension != "b" || rest != 100*time.Millisecond || len(c.asked) > 0 {
			t.Errorf("got %v with %s left", got, rest)
		}
		a.takes, b.takes = 300*time.Millisecond, 300*time.Millisecond
		start := time.Now()
		got, rest = s.Complete(t.Context(), Editor{})
		if took := time.Since(start); got != nil || rest != 0 || took != 500*time.Millisecond || len(c.asked) > 0 {
			t.Errorf("got %v with %s left after %s", got, rest, took)
		}
		a.takes, b.answer, b.takes, c.answer = 0, offers(""), 0, offers("")
		if got, rest := s.Complete(t.Context(), Editor{}); got != nil || rest != 500*time.Millisecond {
			t.Errorf("nobody has anything: got %v with %s left for paths", got, rest)
		}
	})
}

// EXT04-COMPLETE-008
func TestComplete_ignoresWhatIsStale(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var s *Service
		f := &fake{name: "f"}
		s = service(t, f)
		again := func(featurewire.UiAutocompleteCompleteParams) featurewire.UiAutocompleteCompleteResult {
			if _, err := s.register(f, []byte(`{"revision":9}`)); err != nil {
				t.Fatal(err)
			}
			return offers("", plain("x"))(featurewire.UiAutocompleteCompleteParams{})
		}
		f.answer = again
		if got, _ := s.Complete(t.Context(), Editor{}); got != nil {
			t.Error("an answer for the revision before is shown")
		}
		if got, _ := s.Complete(t.Context(), Editor{}); got == nil {
			t.Error("an answer for this revision is not shown")
		}
		current := true
		f.answer = func(p featurewire.UiAutocompleteCompleteParams) featurewire.UiAutocompleteCompleteResult {
			current = false
			return offers("", plain("x"))(p)
		}
		if got, _ := s.Complete(t.Context(), Editor{Current: func() bool { return current }}); got != nil {
			t.Error("an answer for an editor that lost the focus is shown")
		}
		f.answer = func(p featurewire.UiAutocompleteCompleteParams) featurewire.UiAutocompleteCompleteResult {
			s.forget(f)
			return offers("", plain("x"))(p)
		}
		if got, _ := s.Complete(t.Context(), Editor{}); got != nil {
			t.Error("an answer of who is gone is shown")
		}
	})
}

// EXT04-COMPLETE-009, EXT04-COMPLETE-010
func TestComplete_refusesWhole(t *testing.T) {
	many := func(n int) []item {
		var list []item
		for range n {
			list = append(list, plain("v"))
		}
		return list
	}
	described := func(text string) item {
		i := plain("v")
		i.Description = wirejson.Some(text)
		return i
	}
	long := strings.Repeat("x", 1024)
	for name, c := range map[string]struct {
		prefix string
		items  []item
		base   bool // good without edits
		edit   bool // good with them
	}{
		"as many as may be":          {"", many(32), true, true},
		"one more":                   {"", many(33), false, false},
		"one good and one bad":       {"", []item{plain("v"), plain("\x1b[m")}, false, false},
		"longest value":              {"", []item{plain(long)}, true, true},
		"longer value":               {"", []item{{Value: long + "x", Label: "l"}}, false, false},
		"longer label":               {"", []item{{Value: "v", Label: long + "x"}}, false, false},
		"longer description":         {"", []item{described(long + "x")}, false, false},
		"control in the label":       {"", []item{{Value: "v", Label: "a\tb"}}, false, false},
		"control in the description": {"", []item{described("a\nb")}, false, false},
		"lines in the value":         {"", []item{{Value: "a\n\t\rb", Label: "l"}}, false, true},
		"C1 in the value":            {"", []item{{Value: "a\u0085", Label: "l"}}, false, false},
		"the prefix":                 {"ab", []item{plain("abc")}, true, true},
		"another prefix":             {"b a", []item{plain("abc")}, false, false},
		"longer than the text":       {"xx ab", []item{plain("abc")}, false, false},
		"edits":                      {"", []item{edits("v", 0, 0)}, false, true},
		"replaces the rest":          {"", []item{edits("v", 3, 1)}, false, true},
		"replaces more":              {"", []item{edits("v", 4, 1)}, false, false},
		"cuts a character":           {"", []item{edits("v", 1, 1)}, false, false},
		"cursor behind the value":    {"", []item{edits("v", 0, 2)}, false, false},
		"cursor inside a character":  {"", []item{edits("ü", 0, 1)}, false, false},
	} {
		for _, with := range []bool{false, true} {
			f := &fake{name: "f", edits: with, answer: offers(c.prefix, c.items...)}
			got, _ := service(t, f).Complete(t.Context(), Editor{Text: "x abüc", Cursor: 4})
			good := c.base && !with || c.edit && with
			if (got != nil) != good || (len(f.notes) == 0) != good {
				t.Errorf("%s, edits %v: got %v and %q", name, with, got, f.notes)
			}
		}
	}
}

func TestComplete_boundsTheResult(t *testing.T) {
	full := strings.Repeat("x", featurewire.MaxEditorTextBytes)
	for value, good := range map[string]bool{"y": true, "yy": false} {
		f := &fake{name: "f", answer: offers("x", plain(value))}
		if got, _ := service(t, f).Complete(t.Context(), Editor{Text: full, Cursor: 1}); (got != nil) != good {
			t.Errorf("%q for one byte of a full editor: %v", value, f.notes)
		}
	}
}

// EXT04-COMPLETE-011, EXT04-COMPLETE-012
func TestApply(t *testing.T) {
	e := Editor{Text: "x abüc", Cursor: 4}
	f := &fake{name: "f", edits: true, answer: offers("ab", plain("able"), edits("f(ä)", 2, 2))}
	offer, _ := service(t, f).Complete(t.Context(), e)
	if offer == nil {
		t.Fatal(f.notes)
	}
	for n, want := range []struct {
		text   string
		cursor int
	}{{"x ableüc", 6}, {"x f(ä)c", 4}} {
		text, cursor, err := offer.Apply(e, n, nil)
		if err != nil || text != want.text || cursor != want.cursor {
			t.Errorf("item %d: %q at %d, %v", n, text, cursor, err)
		}
	}
	stale := []Editor{{Text: "x abüd", Cursor: 4}, {Text: "x abüc", Cursor: 3}, {Text: e.Text, Cursor: 4, Current: func() bool { return false }}}
	for _, other := range stale {
		if _, _, err := offer.Apply(other, 0, nil); !errors.Is(err, ErrStale) {
			t.Errorf("%q at %d: %v", other.Text, other.Cursor, err)
		}
	}
	for _, n := range []int{-1, 2} {
		if _, _, err := offer.Apply(e, n, nil); err == nil {
			t.Errorf("item %d is applied", n)
		}
	}
	for _, cut := range []int{2, 6} { // start and end of what the second item replaces
		whole := func(_ string, at int) bool { return at != cut }
		if _, _, err := offer.Apply(e, 1, whole); err == nil {
			t.Errorf("a character is cut at %d", cut)
		}
	}
	if _, _, err := offer.Apply(e, 1, func(text string, at int) bool { return text == e.Text || at != 4 }); err == nil {
		t.Error("the cursor lands inside a character")
	}
}

func FuzzOffer(f *testing.F) {
	f.Add("x abüc", 4, "ab", "v", int64(0), int64(1), true)
	f.Fuzz(func(t *testing.T, text string, cursor int, prefix, value string, after, offset int64, with bool) {
		c := &fake{name: "f", edits: with, answer: offers(prefix, edits(value, after, offset), plain(value))}
		e := Editor{Text: text, Cursor: cursor}
		if offer, _ := service(t, c).Complete(t.Context(), e); offer != nil {
			for n := range offer.Items {
				if result, at, err := offer.Apply(e, n, nil); err == nil && (at < 0 || at > len(result)) {
					t.Errorf("cursor %d of %q", at, result)
				}
			}
		}
	})
}
