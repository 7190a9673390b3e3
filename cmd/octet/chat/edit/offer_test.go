package edit

import (
	"context"
	"errors"
	"io"
	"slices"
	"strings"
	"testing"
	"time"
)

// words are an offer for the word in front of the cursor.
type words []string

func (w words) Rows() []string { return w }

func (w words) Apply(item int, text string, cursor int) (string, int, error) {
	start := strings.LastIndexByte(text[:cursor], ' ') + 1
	if w[item] == "torn" {
		return "", 0, errors.New("it would cut a character in two")
	}
	text = text[:start] + w[item] + text[cursor:]
	return text, start + len(w[item]), nil
}

// Others are asked first, items are gone through by pressing again, and without an offer the words of the host
// count, if there is time for them.
func TestSuggest(t *testing.T) {
	for _, c := range []struct {
		what, typed string
		tabs        int
		offer       words
		late        bool
		want, shown string
	}{
		{"one item is taken at the cursor", "say é x\x1b[D\x1b[D", 1, words{"être"}, false, "say être x", ""},
		{"several are shown", "h", 1, words{"hello", "help"}, false, "h", "hello  help"},
		{"and gone through", "h", 2, words{"hello", "help"}, false, "hello", "hello  help"},
		{"one after the other", "h", 3, words{"hello", "help"}, false, "help", "hello  help"},
		{"from the start", "h", 4, words{"hello", "help"}, false, "hello", "hello  help"},
		{"one that does not fit is passed over", "h", 3, words{"torn", "help"}, false, "help", "torn  help"},
		{"none is the host's turn", "fi", 1, nil, false, "files ", ""},
		{"unless no time is left", "fi", 1, nil, true, "fi", ""},
	} {
		e, s, keyboard := typing(t, 80, Options{Complete: func(string) (int, []string) { return 0, []string{"files"} }})
		asked := 0
		e.SetSuggest(func(_ context.Context, text string, cursor int, current func() bool) (Offer, bool) {
			if asked++; c.offer != nil && !current() || cursor != len(strings.TrimSuffix(text, " x")) {
				t.Errorf("%s: asked for %q at %d", c.what, text, cursor)
			}
			if c.offer == nil {
				return nil, !c.late
			}
			return c.offer, true
		})
		lines := make(chan string)
		go func() {
			text, _ := e.Read(t.Context(), Ask{Prompt: "> ", Keep: true})
			lines <- text
		}()
		_, _ = io.WriteString(keyboard, c.typed+"\t")
		if c.offer != nil {
			e.until(func() bool { return e.chosen != nil })
		}
		_, _ = io.WriteString(keyboard, strings.Repeat("\t", c.tabs-1)+"\r")
		if got := <-lines; got != c.want || !strings.Contains(s.String(), c.shown) {
			t.Errorf("%s: read %q, want %q; the screen is\n%s", c.what, got, c.want, s)
		}
		if asked != 1 {
			t.Errorf("%s: asked %d times", c.what, asked)
		}
	}
}

// until spins until something holds of the editor.
func (e *Editor) until(holds func() bool) {
	late := time.Now().Add(time.Minute)
	for done := false; !done; {
		if time.Now().After(late) {
			panic("what is waited for does not come")
		}
		e.mu.Lock()
		done = holds()
		e.mu.Unlock()
	}
}

// What comes when something was typed, or written by others, counts for nothing. Nobody waits meanwhile.
func TestSuggest_late(t *testing.T) {
	for _, c := range []struct {
		what      string
		meanwhile func(e *Editor, keyboard io.Writer)
		want      string
	}{
		{"typed", func(e *Editor, keyboard io.Writer) {
			_, _ = io.WriteString(keyboard, "x")
			e.until(func() bool { return len(e.keys) == 1 })
		}, "hx"},
		{"written", func(e *Editor, _ io.Writer) { e.Replace("other") }, "other"},
		{"printed", func(e *Editor, _ io.Writer) { e.Print("news\n") }, "hello"},
	} {
		e, s, keyboard := typing(t, 80, Options{})
		e.SetSuggest(func(_ context.Context, _ string, _ int, current func() bool) (Offer, bool) {
			c.meanwhile(e, keyboard)
			if current() != (c.want == "hello") {
				t.Errorf("%s: current is %v", c.what, current())
			}
			return words{"hello"}, true
		})
		lines := make(chan string)
		go func() {
			text, _ := e.Read(t.Context(), Ask{Prompt: "> ", Keep: true})
			lines <- text
		}()
		_, _ = io.WriteString(keyboard, "h\t")
		e.until(func() bool { return string(e.line.text) == c.want })
		_, _ = io.WriteString(keyboard, "\r")
		if got := <-lines; got != c.want {
			t.Errorf("%s: read %q, want %q; the screen is\n%s", c.what, got, c.want, s)
		}
	}
}

func TestWhole(t *testing.T) {
	for text, whole := range map[string][]int{
		"ab": {0, 1, 2}, "é": {0, 2}, "e\u0301x": {0, 3, 4}, "\r\n": {0, 2}, "👩\u200d👩": {0, 11}, "👍🏽": {0, 8},
		"🇩🇪🇫🇷": {0, 8, 16}, "\u1112\u1161 ": {0, 6, 7}, "❤\ufe0f": {0, 6}, "": {0},
	} {
		for at := -1; at <= len(text)+1; at++ {
			if got, want := Whole(text, at), slices.Contains(whole, at); got != want {
				t.Errorf("%q at %d is %v, want %v", text, at, got, want)
			}
		}
	}
}

// Keys that the editor has no use for are told while a line is composed, and not in a question.
func TestPress(t *testing.T) {
	for typed, want := range map[string]string{
		"\x07": "ctrl+g", "\x14": "ctrl+t", "\x1bx": "alt+x", "\x1b7": "alt+7", "\x1bOP": "f1", "\x1b[15~": "f5", "\x1b[24~": "f12",
		"\x1bb": "", "\x1b[A": "", "\x1bX": "", "\x1a": "",
	} {
		e, _, keyboard := typing(t, 80, Options{})
		var pressed []string
		e.SetPress(func(key string) { pressed = append(pressed, key) })
		text, err := read(t, e, keyboard, Ask{Prompt: "> ", Keep: true}, "a", typed, "\x05\r")
		if strings.Join(pressed, " ") != want || text != "a" && want != "" || err != nil {
			t.Errorf("%q pressed %q and read %q, %v; want %q", typed, pressed, text, err, want)
		}
		if want != "" && Bindable(want) != nil {
			t.Errorf("%s is not to be bound: %v", want, Bindable(want))
		}
		pressed = nil
		if _, err := read(t, e, keyboard, Ask{Prompt: "? "}, typed, "\r"); err != nil || pressed != nil {
			t.Errorf("%q pressed %q in a question, %v", typed, pressed, err)
		}
	}
	for key, why := range map[string]string{
		"ctrl+c": "uses it", "ctrl+z": "uses it", "ctrl+shift+t": "does not tell it from", "alt+b": "by words",
		"super+x": "none that a line editor sees", "": "none that", "x": "none that", "f13": "none that",
	} {
		if err := Bindable(key); err == nil || !strings.Contains(err.Error(), why) {
			t.Errorf("%q: %v, want %q", key, err, why)
		}
	}
}
