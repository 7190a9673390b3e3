package edit

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// screen is a terminal that understands what an editor writes.
type screen struct {
	mu      sync.Mutex
	columns int
	rows    [][]rune
	row, at int
	state   string // of an escape sequence
}

func (s *screen) Write(data []byte) (int, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, r := range string(data) {
		s.put(r)
	}
	return len(data), nil
}

func (s *screen) put(r rune) {
	for len(s.rows) <= s.row {
		s.rows = append(s.rows, nil)
	}
	switch {
	case s.state == "\x1b" && r == '[', strings.HasPrefix(s.state, "\x1b[") && (r < '@' || r > '~'):
		s.state += string(r)
	case s.state != "":
		s.command(s.state[2:], r)
		s.state = ""
	case r == 0x1b:
		s.state = "\x1b"
	case r == '\r':
		s.at = 0
	case r == '\n':
		s.row++
	default:
		n := cells(r)
		if s.at+n > s.columns {
			s.row, s.at = s.row+1, 0
			s.put(r)
			return
		}
		for len(s.rows[s.row]) < s.at+n {
			s.rows[s.row] = append(s.rows[s.row], ' ')
		}
		s.rows[s.row][s.at] = r
		for i := 1; i < n; i++ {
			s.rows[s.row][s.at+i] = 0
		}
		s.at += n
	}
}

func (s *screen) command(argument string, r rune) {
	n := 1
	if argument != "" {
		_, _ = fmt.Sscan(argument, &n)
	}
	switch {
	case r == 'A':
		s.row -= n
	case r == 'C':
		s.at += n
	case r == 'J' && argument == "2":
		s.rows = nil
	case r == 'J':
		s.rows = s.rows[:s.row+1]
		s.rows[s.row] = s.rows[s.row][:min(s.at, len(s.rows[s.row]))]
	case r == 'H':
		s.row, s.at = 0, 0
	}
}

func (s *screen) String() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var lines []string
	for _, row := range s.rows {
		lines = append(lines, strings.TrimRight(strings.ReplaceAll(string(row), "\x00", ""), " "))
	}
	return strings.Join(lines, "\n")
}

// typing is an editor on a screen, and the keyboard.
func typing(t *testing.T, columns int, o Options) (*Editor, *screen, io.Writer) {
	t.Helper()
	in, keyboard := io.Pipe()
	s := &screen{columns: columns}
	o.In, o.Out, o.Terminal = in, s, true
	o.Raw = func() (func(), error) { return func() {}, nil }
	o.Size = func() int { return columns }
	e := New(o)
	t.Cleanup(func() { e.Close(); _ = keyboard.Close() })
	return e, s, keyboard
}

// read types keys, each a write of its own, while a line is read.
func read(t *testing.T, e *Editor, keyboard io.Writer, a Ask, keys ...string) (string, error) {
	t.Helper()
	go func() {
		for _, k := range keys {
			_, _ = io.WriteString(keyboard, k)
		}
	}()
	return e.Read(t.Context(), a)
}

func TestRead_edits(t *testing.T) {
	const left, right, home, end, del = "\x1b[D", "\x1b[C", "\x1b[H", "\x1b[F", "\x1b[3~"
	for _, c := range []struct {
		what string
		keys []string
		want string
	}{
		{"plain", []string{"hello\r"}, "hello"},
		{"a line feed ends it too", []string{"hello\n"}, "hello"},
		{"in the middle", []string{"helo", left, "l", "\r"}, "hello"},
		{"at both ends", []string{"ell", home, "h", end, "o", "\r"}, "hello"},
		{"control characters of the shell", []string{"ell\x01h\x05o\r"}, "hello"},
		{"backspace", []string{"helloo\x7f\r"}, "hello"},
		{"delete", []string{"xhello", home, del, "\r"}, "hello"},
		{"delete by Ctrl-D", []string{"xhello", home, "\x04\r"}, "hello"},
		{"kill to the end", []string{"hello there", home, right, right, right, right, right, "\x0b\r"}, "hello"},
		{"kill to the start", []string{"oh hello\x1b[1;5D\x15\r"}, "hello"},
		{"kill a word", []string{"hello there \x17\r"}, "hello "},
		{"by words", []string{"one three", "\x1bb", "two ", "\x1bf", "!", "\r"}, "one two three!"},
		{"more than ASCII", []string{"naïve 日本 🐧", left, "\x7f", "\r"}, "naïve 日本🐧"},
		{"a character in pieces", []string{"caf\xc3", "\xa9\r"}, "café"},
		{"what is pasted keeps its lines", []string{"\x1b[200~one\r\ntwo\x1b[201~!\r"}, "one\ntwo!"},
		{"unknown sequences are nothing", []string{"he\x1b[99~llo\x1b[?1;2c\r"}, "hello"},
		{"escape is nothing", []string{"he", "\x1b", "llo\r"}, "hello"},
		{"at the edges nothing happens", []string{left, "\x7f", "\x17", right, "hello", right, del, "\r"}, "hello"},
	} {
		e, _, keyboard := typing(t, 80, Options{})
		got, err := read(t, e, keyboard, Ask{Prompt: "> "}, c.keys...)
		if got != c.want || err != nil {
			t.Errorf("%s: read %q, %v, want %q", c.what, got, err, c.want)
		}
	}
}

func TestRead_ends(t *testing.T) {
	e, s, keyboard := typing(t, 80, Options{})
	if _, err := read(t, e, keyboard, Ask{Prompt: "> "}, "half", "\x03"); !errors.Is(err, ErrInterrupted) {
		t.Errorf("Ctrl-C is %v", err)
	}
	if _, err := read(t, e, keyboard, Ask{Prompt: "> "}, "\x04"); !errors.Is(err, io.EOF) {
		t.Errorf("Ctrl-D is %v", err)
	}
	why := errors.New("nobody wants to know any more")
	ctx, cancel := context.WithCancelCause(t.Context())
	go cancel(why)
	if _, err := e.Read(ctx, Ask{Prompt: "sure? "}); !errors.Is(err, why) {
		t.Errorf("a question that is taken back is %v", err)
	}
	if got, err := read(t, e, keyboard, Ask{Prompt: "> "}, "on\r"); got != "on" || err != nil {
		t.Errorf("the next line is %q, %v", got, err)
	}
	if want := "> half^C\n>\nsure?\n> on"; s.String() != want {
		t.Errorf("the screen is\n%s\nwant\n%s", s, want)
	}
}

func TestRead_endsForEverybody(t *testing.T) {
	in, keyboard := io.Pipe()
	e := New(Options{
		In: in, Out: &screen{columns: 80}, Terminal: true, Raw: func() (func(), error) { return func() {}, nil }, Size: func() int { return 80 },
	})
	defer e.Close()
	_ = keyboard.Close()
	for range 3 {
		if _, err := e.Read(t.Context(), Ask{Prompt: "> "}); !errors.Is(err, io.EOF) {
			t.Errorf("the end is %v", err)
		}
	}
}

func TestRead_wraps(t *testing.T) {
	e, s, keyboard := typing(t, 10, Options{})
	got, _ := read(t, e, keyboard, Ask{Prompt: "> "}, "1234567890123", "\x1b[H", "a", "\x1b[F", "z", "\r")
	if want := "> a1234567\n890123z"; got != "a1234567890123z" || s.String() != want {
		t.Errorf("read %q, the screen is\n%s\nwant\n%s", got, s, want)
	}
	// Exactly one row, and a wide character that does not fit behind nine cells.
	e, s, keyboard = typing(t, 10, Options{})
	_, _ = read(t, e, keyboard, Ask{Prompt: "> "}, "12345678\r")
	_, _ = read(t, e, keyboard, Ask{Prompt: "> "}, "1234567日\r")
	if want := "> 12345678\n\n> 1234567\n日"; s.String() != want {
		t.Errorf("the screen is\n%s\nwant\n%s", s, want)
	}
}

func TestRead_secretIsNotShown(t *testing.T) {
	h := OpenHistory("")
	e, s, keyboard := typing(t, 80, Options{History: h})
	got, err := read(t, e, keyboard, Ask{Prompt: "key: ", Secret: true, Keep: true}, "hush\r")
	if got != "hush" || err != nil || strings.Contains(s.String(), "h") || len(h.list()) != 0 {
		t.Errorf("read %q, %v; the screen is %q, the history %q", got, err, s, h.list())
	}
}

func TestPrint_standsAboveTheLine(t *testing.T) {
	e, s, keyboard := typing(t, 20, Options{})
	e.Print("before\n")
	done := make(chan struct{})
	go func() {
		defer close(done)
		_, _ = e.Read(t.Context(), Ask{Prompt: "> "})
	}()
	_, _ = io.WriteString(keyboard, "a long line that wraps")
	e.waitFor("a long line that wraps")
	e.Print("news\nof two lines")
	_, _ = io.WriteString(keyboard, "!\r")
	<-done
	if want := "before\nnews\nof two lines\n> a long line that w\nraps!"; s.String() != want {
		t.Errorf("the screen is\n%s\nwant\n%s", s, want)
	}
}

// waitFor waits until the line is what was typed: the pump is a goroutine of its own.
func (e *Editor) waitFor(text string) {
	e.until(func() bool { return string(e.line.text) == text })
}

func TestRead_history(t *testing.T) {
	h := OpenHistory(filepath.Join(t.TempDir(), "deep", "history"))
	for _, text := range []string{"first", "second", "second", "third\nof two", "  "} {
		if err := h.Add(text); err != nil {
			t.Fatal(err)
		}
	}
	h = OpenHistory(h.path)
	const up, down, search = "\x1b[A", "\x1b[B", "\x12"
	for _, c := range []struct {
		keys []string
		want string
	}{
		{[]string{up, "\r"}, "third\nof two"},
		{[]string{up, up, up, up, up, "\r"}, "first"},
		{[]string{"draft", up, up, down, down, down, "\r"}, "draft"},
		{[]string{"s", search, "\r"}, "second"},
		{[]string{"ir", search, search, search, "\r"}, "first"},
		{[]string{"none", search, "\r"}, "none"},
	} {
		e, _, keyboard := typing(t, 80, Options{History: &History{lines: h.list()}})
		if got, _ := read(t, e, keyboard, Ask{Prompt: "> ", Keep: true}, c.keys...); got != c.want {
			t.Errorf("%q read %q, want %q", c.keys, got, c.want)
		}
	}
	if info, err := os.Stat(h.path); err != nil || info.Mode().Perm() != 0o600 {
		t.Errorf("the file is %v, %v", info, err)
	}
}

func TestHistory_isBounded(t *testing.T) {
	path := filepath.Join(t.TempDir(), "history")
	h := OpenHistory(path)
	for i := range 2*maxHistory + 1 {
		if err := h.Add(fmt.Sprint(i)); err != nil {
			t.Fatal(err)
		}
	}
	if list := OpenHistory(path).list(); len(list) != maxHistory || list[maxHistory-1] != fmt.Sprint(2*maxHistory) {
		t.Errorf("kept %d, the last is %q", len(list), list[len(list)-1])
	}
	if err := os.WriteFile(path, []byte("\"good\"\nbad\n\"better\"\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	if list := OpenHistory(path).list(); len(list) != 2 {
		t.Errorf("of a damaged file %q was read", list)
	}
}

func TestRead_completes(t *testing.T) {
	complete := func(text string) (int, []string) {
		start := strings.LastIndexByte(text, ' ') + 1
		var words []string
		for _, word := range []string{"alpha", "alpine", "beta", "dir/"} {
			if strings.HasPrefix(word, text[start:]) {
				words = append(words, word)
			}
		}
		return start, words
	}
	for _, c := range []struct{ typed, want, shown string }{
		{"b\t", "beta ", ""},
		{"say al\t", "say alp", ""},
		{"d\t", "dir/", ""},
		{"alp\t", "alp", "alpha   alpine"},
		{"x\t", "x", ""},
	} {
		e, s, keyboard := typing(t, 80, Options{Complete: complete})
		got, _ := read(t, e, keyboard, Ask{Prompt: "> "}, c.typed, "\r")
		if got != c.want || !strings.Contains(s.String(), c.shown) {
			t.Errorf("%q read %q, want %q; the screen is\n%s", c.typed, got, c.want, s)
		}
	}
}

func TestRead_plain(t *testing.T) {
	var out bytes.Buffer
	e := New(Options{In: strings.NewReader("one\r\ntwo\nlast"), Out: &out})
	defer e.Close()
	for _, want := range []string{"one", "two", "last"} {
		if got, err := e.Read(t.Context(), Ask{Prompt: "> "}); got != want || err != nil {
			t.Errorf("read %q, %v, want %q", got, err, want)
		}
	}
	if _, err := e.Read(t.Context(), Ask{}); !errors.Is(err, io.EOF) {
		t.Errorf("the end is %v", err)
	}
	// Whoever asks behind the end is told of it too.
	if _, err := e.Read(t.Context(), Ask{}); !errors.Is(err, io.EOF) {
		t.Errorf("the end is %v a second time", err)
	}
	if out.Len() != 0 {
		t.Errorf("a pipe was shown %q", &out)
	}
	in, _ := io.Pipe()
	e = New(Options{In: in, Out: &out, Prompt: true})
	defer e.Close()
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := e.Read(ctx, Ask{Prompt: "> "}); !errors.Is(err, context.Canceled) || out.String() != "> " {
		t.Errorf("read %v, shown %q", err, &out)
	}
}

func FuzzDecode(f *testing.F) {
	for _, seed := range []string{"hello\r", "\x1b[A", "\x1b[200~x\x1b[201~", "\x1b", "\x1b[", "\xff\xc3", "\x1b[1;5C\x1bOA\x1bb"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, typed []byte) {
		for len(typed) > 0 {
			_, used := decode(typed, true)
			if used <= 0 || used > len(typed) {
				t.Fatalf("used %d of %q", used, typed)
			}
			typed = typed[used:]
		}
	})
}
