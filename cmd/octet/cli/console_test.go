package cli

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"

	"github.com/octet-dev/octet/host/extension"
)

// onTerminal is a console that believes to be a terminal.
func onTerminal(colour bool) (c *console, out, err *bytes.Buffer) {
	out, err = &bytes.Buffer{}, &bytes.Buffer{}
	return &console{out: &output{to: out}, err: err, outTerminal: true, errTerminal: true, colour: colour}, out, err
}

func TestPlain(t *testing.T) {
	for text, want := range map[string]string{
		"plain text, é and €\n\tindented":  "plain text, é and €\n\tindented",
		"\x1b[31mred\x1b[0m":               `\x1b[31mred\x1b[0m`,
		"bell\a, back\b, del\x7f, nul\x00": `bell\x07, back\x08, del\x7f, nul\x00`,
		"return\rover":                     `return\x0dover`,
		"c1 \u009b31m":                     `c1 \x9b31m`,
		"turned \u202e around \u2066":      `turned \u202e around \u2066`,
	} {
		if got := plain(text); got != want {
			t.Errorf("plain(%q) = %q, want %q", text, got, want)
		}
	}
}

func TestConsole_statusIsRewrittenOnATerminal(t *testing.T) {
	c, out, err := onTerminal(false)
	c.status("one\nline")
	c.status("two")
	c.line("a line")
	c.status("three")
	c.print("result\n")
	c.clear()
	if want := "one line\r        \rtwo\r   \ra line\nthree\r     \r"; err.String() != want {
		t.Errorf("standard error %q, want %q", err, want)
	}
	if out.String() != "result\n" {
		t.Errorf("standard output %q", out)
	}
}

func TestConsole_statusIsCutToOneLine(t *testing.T) {
	c, _, err := onTerminal(false)
	c.status(string(bytes.Repeat([]byte("x"), 200)))
	if got := len([]rune(err.String())); got != maxStatus {
		t.Errorf("status of %d characters, want %d", got, maxStatus)
	}
}

func TestConsole_statusIsALineElsewhere(t *testing.T) {
	var out, err bytes.Buffer
	c := newConsole(&out, &err)
	c.status("one")
	c.status("two")
	if err.String() != "one\ntwo\n" {
		t.Errorf("standard error %q", &err)
	}
}

func TestConsole_colours(t *testing.T) {
	c, _, err := onTerminal(true)
	c.errorf("no %s", "\x1b[2J")
	if want := "\x1b[31moctet:\x1b[0m no \\x1b[2J\n"; err.String() != want {
		t.Errorf("coloured %q, want %q", err, want)
	}
	c, _, err = onTerminal(false)
	c.errorf("no")
	c.note("but")
	if want := "octet: no\noctet: note: but\n"; err.String() != want {
		t.Errorf("plain %q, want %q", err, want)
	}
}

func TestConsole_aFileIsNoTerminal(t *testing.T) {
	f, err := os.Create(filepath.Join(t.TempDir(), "out"))
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = f.Close() }()
	if c := newConsole(f, f); c.outTerminal || c.errTerminal || c.colour {
		t.Errorf("a file is taken for a terminal: %+v", c)
	}
}

func TestConsole_resultIsPlainOnATerminalOnly(t *testing.T) {
	c, out, _ := onTerminal(false)
	c.result("\x1b[2J")
	if out.String() != `\x1b[2J` {
		t.Errorf("a terminal got %q", out)
	}
	var file bytes.Buffer
	newConsole(&file, &bytes.Buffer{}).result("\x1b[2J")
	if file.String() != "\x1b[2J" {
		t.Errorf("a file got %q", &file)
	}
}

func TestShowProgress(t *testing.T) {
	n := func(i int64) *int64 { return &i }
	for _, c := range []struct {
		progress extension.Progress
		want     string
	}{
		{extension.Progress{Message: "reading"}, "progress: reading\n"},
		{extension.Progress{Message: "reading", Current: n(2)}, "progress 2: reading\n"},
		{extension.Progress{Message: "reading", Current: n(2), Total: n(3)}, "progress 2/3: reading\n"},
		{extension.Progress{Message: "reading", Current: n(2), Total: n(3), Unit: "files"}, "progress 2/3 files: reading\n"},
		{extension.Progress{Message: "reading", Total: n(3), Unit: "files"}, "progress: reading\n"},
		{extension.Progress{Stream: "stderr", Data: []byte("a\nb\xff\n")}, "stderr: a\nstderr: b\uFFFD\n"},
	} {
		var err bytes.Buffer
		showProgress(newConsole(&bytes.Buffer{}, &err), c.progress)
		if err.String() != c.want {
			t.Errorf("%+v shows %q, want %q", c.progress, &err, c.want)
		}
	}
}
