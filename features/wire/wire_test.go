package wire_test

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"
	"time"

	"github.com/octet-dev/octet/features/wire"
)

func TestSplitter(t *testing.T) {
	const bound = 8
	want := []struct {
		payload string
		ended   bool
	}{{"one", true}, {"", true}, {"12345678", true}, {"12345678", false}, {"9", true}, {"end", false}}
	text := "one\n\n12345678\n123456789\nend"
	for name, r := range map[string]io.Reader{
		"whole": strings.NewReader(text), "byte by byte": iotest.OneByteReader(strings.NewReader(text)), "with the error": iotest.DataErrReader(strings.NewReader(text)),
	} {
		t.Run(name, func(t *testing.T) {
			s := wire.NewSplitter(r, bound)
			for i, w := range want {
				payload, ended, err := s.Next()
				if err != nil || string(payload) != w.payload || ended != w.ended {
					t.Fatalf("line %d: got %q, %v, %v, want %q, %v", i, payload, ended, err, w.payload, w.ended)
				}
			}
			if payload, _, err := s.Next(); !errors.Is(err, io.EOF) {
				t.Errorf("at the end: got %q, %v", payload, err)
			}
		})
	}
	s := wire.NewSplitter(iotest.ErrReader(io.ErrClosedPipe), bound)
	if _, _, err := s.Next(); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("got %v, want the reader's error", err)
	}
}

func TestRecorder_isBounded(t *testing.T) {
	r := wire.NewRecorder(nil)
	big := make([]byte, 1<<20)
	for range 20 {
		if f := r.Add(wire.FromSubject, big, true); f.Cut() {
			t.Fatal("the frame that is handed back was cut")
		}
	}
	for range 5000 {
		r.Add(wire.ToSubject, nil, true)
	}
	kept, dropped := r.Frames()
	total := 0
	for _, f := range kept {
		total += len(f.Bytes)
	}
	if len(kept) != 4096 || len(kept)+dropped != 5020 || total > 17<<20 {
		t.Errorf("kept %d frames and %d bytes, dropped %d", len(kept), total, dropped)
	}
	if last := kept[19]; last.Size != 1<<20 || !last.Cut() {
		t.Errorf("frame 19: size %d, %d bytes kept", last.Size, len(last.Bytes))
	}
}

// The first piece of a line without end is kept, of the others the beginning and the size.
func TestRecorder_keepsOnePieceOfALineWithoutEnd(t *testing.T) {
	r := wire.NewRecorder(nil)
	const size = 2 << 20
	for range 5 {
		if got := r.Add(wire.FromSubject, make([]byte, size), false); len(got.Bytes) != size {
			t.Errorf("%d bytes came back", len(got.Bytes))
		}
	}
	whole := make([]byte, 1<<20)
	r.Add(wire.FromSubject, whole, true)
	r.Add(wire.FromSubject, []byte("left behind"), false)
	frames, _ := r.Frames()
	for i, f := range frames {
		if want := map[int]int{0: size, 5: len(whole), 6: 11}[i]; want != 0 && len(f.Bytes) != want || want == 0 && len(f.Bytes) > 1000 {
			t.Errorf("of frame %d %d bytes are kept", i, len(f.Bytes))
		}
		if f.Cut() != (i > 0 && i < 5) {
			t.Errorf("frame %d is cut: %v", i, f.Cut())
		}
	}
}

func TestRender(t *testing.T) {
	now := time.Unix(0, 0)
	r := wire.NewRecorder(func() time.Time { now = now.Add(time.Millisecond); return now })
	r.Add(wire.ToSubject, []byte(`{"a":"é"}`), true)
	r.Add(wire.FromSubject, []byte("\x1b[2J\xffx\u2028"), true)
	r.Add(wire.FromSubject, []byte("0123456789"), false)
	frames, _ := r.Frames()
	var out bytes.Buffer
	if err := wire.Render(&out, frames, wire.RenderOptions{Bytes: 9, Mark: 1}); err != nil {
		t.Fatal(err)
	}
	want := "     0      1.0ms --> {\"a\":\"é\" ... (10 bytes)\n" +
		">    1      2.0ms <-- \\x1b[2J\\xffx\\u2028\n" +
		"     2      3.0ms <-- 012345678 ... (10 bytes) (no line feed)\n"
	if out.String() != want {
		t.Errorf("got:\n%s\nwant:\n%s", out.String(), want)
	}

	var many []wire.Frame
	for i := range 40 {
		many = append(many, wire.Frame{Index: i, Ended: true})
	}
	out.Reset()
	if err := wire.Render(&out, many, wire.RenderOptions{Frames: 10, Mark: -1}); err != nil {
		t.Fatal(err)
	}
	if n := strings.Count(out.String(), "\n"); n != 11 || !strings.Contains(out.String(), "... 30 frames left out") {
		t.Errorf("%d lines:\n%s", n, out.String())
	}
}
