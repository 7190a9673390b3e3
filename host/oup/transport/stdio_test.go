package transport

import (
	"bytes"
	"errors"
	"io"
	"net"
	"runtime"
	"strings"
	"testing"
	"testing/iotest"

	"github.com/octet-dev/octet/generated/oupwire"
)

// reading returns a connection that reads text, some bytes at a time.
func reading(text string) *Stdio {
	return NewStdio(io.NopCloser(iotest.HalfReader(strings.NewReader(text))), discard{})
}

type discard struct{}

func (discard) Write(p []byte) (int, error) { return len(p), nil }
func (discard) Close() error                { return nil }

// TestStdio_readsLines: OUP-STDIO-002 a CR before the LF is taken off, OUP-STDIO-003 a last line without LF counts.
func TestStdio_readsLines(t *testing.T) {
	c := reading("{\"a\":1}\n{\"b\":2}\r\n\n{\"c\":3}")
	for _, want := range []string{`{"a":1}`, `{"b":2}`, ``, `{"c":3}`} {
		got, err := c.Read()
		if err != nil || string(got) != want {
			t.Errorf("read %q, %v; want %q", got, err, want)
		}
	}
	if _, err := c.Read(); !errors.Is(err, io.EOF) {
		t.Errorf("the end gives %v, want io.EOF", err)
	}
}

// TestStdio_dropsALineOverTheBound: exactly the bound is read, OUP-STDIO-004 a longer line is dropped up to its LF.
func TestStdio_dropsALineOverTheBound(t *testing.T) {
	full := strings.Repeat("x", oupwire.MaxTextFrameBytes)
	c := reading(full + "\n" + full + "\r\n" + full + "y\n" + "{}\n" + full + full)
	for i, want := range []int{len(full), len(full), -1, 2, -1} {
		got, err := c.Read()
		var tooLarge *TooLargeError
		switch {
		case want < 0 && (!errors.As(err, &tooLarge) || tooLarge.Limit != oupwire.MaxTextFrameBytes):
			t.Errorf("line %d gives %d bytes and %v, want a *TooLargeError", i, len(got), err)
		case want >= 0 && (err != nil || len(got) != want):
			t.Errorf("line %d gives %d bytes and %v, want %d", i, len(got), err, want)
		}
	}
}

// endless never ends its line; it counts what it gave.
type endless struct{ given, most int }

func (e *endless) Read(p []byte) (int, error) {
	if e.given >= e.most {
		return 0, io.EOF
	}
	for i := range p {
		p[i] = 'x'
	}
	e.given += len(p)
	return len(p), nil
}
func (*endless) Close() error { return nil }

// TestStdio_neverHoldsALongLineWhole: OUP-STDIO-004.
func TestStdio_neverHoldsALongLineWhole(t *testing.T) {
	const most = 64 << 20
	c := NewStdio(&endless{most: most}, discard{})
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	if _, err := c.Read(); err == nil {
		t.Error("a line over the bound was read")
	}
	runtime.ReadMemStats(&after)
	if took := after.TotalAlloc - before.TotalAlloc; took > 16<<20 {
		t.Errorf("a line of %d MiB took %d MiB", most>>20, took>>20)
	}
}

// TestStdio_writesOneLineInOneWrite: and refuses what is no line; OUP-FRAME-003 the bound.
func TestStdio_writesOneLineInOneWrite(t *testing.T) {
	out := &writes{}
	c := NewStdio(io.NopCloser(strings.NewReader("")), out)
	if err := c.Write([]byte(`{"a":1}`)); err != nil {
		t.Fatal(err)
	}
	if len(out.all) != 1 || out.all[0] != "{\"a\":1}\n" {
		t.Errorf("wrote %q", out.all)
	}
	for name, frame := range map[string][]byte{
		"LF": []byte("{\n}"), "CR": []byte("{\r}"), "long": bytes.Repeat([]byte("x"), oupwire.MaxTextFrameBytes+1),
	} {
		if err := c.Write(frame); err == nil {
			t.Errorf("%s: a frame that is none was written", name)
		}
	}
	if err := c.Close(Ended); err != nil {
		t.Fatal(err)
	}
	if err := c.Write([]byte("{}")); !errors.Is(err, net.ErrClosed) || len(out.all) != 1 {
		t.Errorf("behind Close: %v, wrote %q", err, out.all)
	}
}

type writes struct{ all []string }

func (w *writes) Write(p []byte) (int, error) { w.all = append(w.all, string(p)); return len(p), nil }
func (*writes) Close() error                  { return nil }

func TestStdio_closeEndsAReadOfAPipe(t *testing.T) {
	in, far := io.Pipe()
	defer far.Close()
	c := NewStdio(in, discard{})
	ended := make(chan error, 1)
	go func() { _, err := c.Read(); ended <- err }()
	if err := c.Close(Ended); err != nil {
		t.Fatal(err)
	}
	if err := <-ended; !errors.Is(err, net.ErrClosed) {
		t.Errorf("the read ended with %v, want net.ErrClosed", err)
	}
	if c.Info().Transport != oupwire.TransportStdio {
		t.Errorf("transport is %q", c.Info().Transport)
	}
}
