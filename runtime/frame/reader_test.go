package frame

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
	"testing/iotest"

	"pgregory.net/rapid"
)

// read cuts text into frames and returns them with the end: "" for EOF, else the fault.
func read(r *Reader) (frames []string, end error) {
	for {
		payload, err := r.Next()
		if err != nil {
			if err == io.EOF {
				err = nil
			}
			return frames, err
		}
		frames = append(frames, string(payload))
	}
}

func TestReader_cutsFrames(t *testing.T) {
	long := strings.Repeat("x", 100)
	for _, c := range []struct {
		name  string
		rule  string // that binds a host who reads so, or empty
		wire  Wire
		text  string
		bound int
		want  []string
		fault Fault // 0: the stream ends well
	}{
		{"one frame", "EXT03-FRAME-015", Canonical, "{\"a\":1}\n", 100, []string{`{"a":1}`}, 0},
		{"two frames", "", Canonical, "1\n22\n", 100, []string{"1", "22"}, 0},
		{"nothing", "EXT03-FRAME-015", Canonical, "", 100, nil, 0},
		{"at the bound", "EXT03-FRAME-010", Canonical, "{\"a\":1}\n", 7, []string{`{"a":1}`}, 0},
		{"one over", "", Canonical, "{\"a\":1}\n", 6, nil, TooLong},
		{"one over without LF", "EXT03-FRAME-011", Canonical, "1234567", 6, nil, TooLong},
		{"second over", "", Canonical, "1\n" + long + "\n2\n", 99, []string{"1"}, TooLong},
		{"no LF", "EXT03-FRAME-014", Canonical, "{\"a\":1}", 100, nil, Cut},
		{"no LF behind a frame", "EXT03-FRAME-014", Canonical, "1\n2", 100, []string{"1"}, Cut},
		{"lone space", "EXT03-FRAME-014", Canonical, " ", 100, nil, Cut},
		{"empty line", "EXT03-FRAME-013", Canonical, "1\n\n2\n", 100, []string{"1"}, Empty},
		{"CR LF", "EXT03-FRAME-012", Canonical, "1\r\n2\n", 100, nil, EndsCR},
		{"CR LF alone", "EXT03-FRAME-012", Canonical, "\r\n", 100, nil, EndsCR},
		{"CR LF over the bound", "", Canonical, "12\r\n", 2, nil, TooLong},
		{"leading space is the caller's", "", Canonical, " 1\n", 100, []string{" 1"}, 0},
		{"feature frame", "", Feature, "{}\n{ }\n", 100, []string{"{}", "{ }"}, 0},
		{"feature slack", "", Feature, "\n\r\n  \n\t{} \r\n\n", 100, []string{"{}"}, 0},
		{"feature CR inside the trimmed end", "", Feature, "{}\r \r\n", 100, []string{"{}"}, 0},
		{"feature no LF", "EXT04-FRAME-014", Feature, "{}\n{}", 100, []string{"{}"}, Cut},
		{"feature blanks at the end", "", Feature, "{}\n \r\t", 100, []string{"{}"}, 0},
		{"feature at the bound", "", Feature, "123\n", 3, []string{"123"}, 0},
		{"feature over the bound by white space", "EXT04-FRAME-014", Feature, "123 \n", 3, nil, TooLong},
		{"feature over the bound by CR", "", Feature, "123\r\n", 3, nil, TooLong},
		{"feature form feed stays", "", Feature, "{}\f\n", 100, []string{"{}\f"}, 0},
	} {
		c.name = strings.TrimSpace(c.rule + " " + c.name)
		for style, src := range map[string]io.Reader{
			"whole":  strings.NewReader(c.text),
			"bytes":  iotest.OneByteReader(strings.NewReader(c.text)),
			"halves": iotest.HalfReader(strings.NewReader(c.text)),
			"eof":    iotest.DataErrReader(strings.NewReader(c.text)),
		} {
			r := NewReader(src, c.wire, Extension, c.bound)
			got, err := read(r)
			if strings.Join(got, "|") != strings.Join(c.want, "|") || len(got) != len(c.want) {
				t.Errorf("%s, %s: frames %q, want %q", c.name, style, got, c.want)
			}
			var e *Error
			switch {
			case c.fault == 0 && err != nil:
				t.Errorf("%s, %s: ends with %v, want io.EOF", c.name, style, err)
			case c.fault != 0 && (!errors.As(err, &e) || e.Fault != c.fault || e.Bound != c.bound || e.Wire != c.wire):
				t.Errorf("%s, %s: ends with %v, want fault %d under bound %d", c.name, style, err, c.fault, c.bound)
			}
			if _, again := r.Next(); again == nil || c.fault != 0 && again != err {
				t.Errorf("%s, %s: a call behind the end gives %v, want the same end", c.name, style, again)
			}
		}
	}
}

func TestReader_reportsSlack(t *testing.T) {
	r := NewReader(strings.NewReader("{}\n{}\r\n\n{}\n {}\n\r\n  \n{} \r\n{}\n"), Feature, Extension, 10)
	for n, want := range []Slack{0, SlackCR, SlackBlank, SlackSpace, SlackBlank | SlackCR | SlackSpace, 0} {
		if _, err := r.Next(); err != nil || r.Slack() != want {
			t.Errorf("frame %d: slack %b, %v, want %b", n, r.Slack(), err, want)
		}
	}
}

// scripted hands out one piece a Read and counts how far it was read.
type scripted struct {
	pieces []string
	reads  int
	onRead func(n int)
}

func (s *scripted) Read(p []byte) (int, error) {
	s.reads++
	if s.onRead != nil {
		s.onRead(s.reads)
	}
	if len(s.pieces) == 0 {
		return 0, io.EOF
	}
	n := copy(p, s.pieces[0])
	if s.pieces[0] = s.pieces[0][n:]; s.pieces[0] == "" {
		s.pieces = s.pieces[1:]
	}
	return n, nil
}

func TestReader_boundAppliesToBufferedBytes(t *testing.T) {
	r := NewReader(strings.NewReader("12345678\n12345678\n123\n"), Canonical, Extension, 8)
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	if !r.Buffered() {
		t.Fatal("the second frame should have arrived with the first")
	}
	r.SetBound(7)
	_, err := r.Next()
	if e := (*Error)(nil); !errors.As(err, &e) || e.Fault != TooLong || e.Bound != 7 {
		t.Errorf("got %v, want the buffered frame refused under bound 7", err)
	}
	r = NewReader(strings.NewReader("1\n12345678\n"), Canonical, Extension, 4)
	if _, err := r.Next(); err != nil {
		t.Fatal(err)
	}
	r.SetBound(8)
	if got, err := r.Next(); string(got) != "12345678" {
		t.Errorf("got %q, %v, want the buffered frame accepted under bound 8", got, err)
	}
}

func TestReader_boundMaySwitchDuringRead(t *testing.T) {
	src := &scripted{pieces: []string{"12345", "678\n"}}
	r := NewReader(src, Canonical, Extension, 4)
	src.onRead = func(n int) {
		if n == 1 {
			r.SetBound(8)
		}
	}
	if got, err := r.Next(); string(got) != "12345678" {
		t.Errorf("got %q, %v, want the frame judged by the bound in force when its bytes arrive", got, err)
	}
}

// EXT03-FRAME-011: at the first byte over the bound, and no later one is kept.
func TestReader_givesUpWithoutReadingOn(t *testing.T) {
	src := &scripted{pieces: []string{"1234", "5", "6789", "\n1\n"}}
	r := NewReader(src, Canonical, Extension, 4)
	_, err := r.Next()
	if e := (*Error)(nil); !errors.As(err, &e) || e.Fault != TooLong {
		t.Fatalf("got %v, want the line refused at its fifth byte", err)
	}
	if _, again := r.Next(); again != err || src.reads != 2 || r.buf != nil {
		t.Errorf("after the refusal: %v, %d reads and %d bytes kept, want the same error, 2 and none", again, src.reads, len(r.buf))
	}
}

// endless is a line that never ends.
type endless struct{ read int }

func (e *endless) Read(p []byte) (int, error) {
	for i := range p {
		p[i] = 'x'
	}
	e.read += len(p)
	return len(p), nil
}

func TestReader_holdsNoMoreThanTheBound(t *testing.T) {
	for wire, rule := range map[Wire]string{Feature: "EXT04-FRAME-014", Canonical: "EXT03-FRAME-011"} {
		t.Run(rule, func(t *testing.T) {
			src := &endless{}
			_, err := NewReader(src, wire, Extension, 1048576).Next()
			if e := (*Error)(nil); !errors.As(err, &e) || e.Fault != TooLong {
				t.Fatalf("an endless line gives %v, want it refused", err)
			}
			if src.read != 1048577 {
				t.Errorf("read %d bytes, want the bound and one more", src.read)
			}
		})
	}
	r := NewReader(strings.NewReader("1\n"), Canonical, Extension, 1<<30)
	if _, err := r.Next(); err != nil || len(r.buf) > firstBuffer {
		t.Errorf("a small frame under a large bound takes a buffer of %d bytes, want at most %d", len(r.buf), firstBuffer)
	}
}

func TestReader_givesLargeBuffersBack(t *testing.T) {
	text := strings.Repeat("x", 300<<10) + "\n" + strings.Repeat("1\n", 3*firstBuffer)
	src := &scripted{pieces: append([]string{text[:300<<10+1]}, strings.SplitAfter(text[300<<10+1:], "\n")...)}
	r := NewReader(src, Canonical, Extension, 1<<20)
	if _, err := r.Next(); err != nil || len(r.buf) < 300<<10 {
		t.Fatalf("%v with a buffer of %d", err, len(r.buf))
	}
	for range shrinkAfter + 1 {
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
	}
	if len(r.buf) > keepBuffer {
		t.Errorf("the buffer holds %d bytes after %d small frames, want at most %d", len(r.buf), shrinkAfter+1, keepBuffer)
	}
}

func TestReader_passesFaultsOfTheStreamOn(t *testing.T) {
	broken := errors.New("broken pipe")
	r := NewReader(io.MultiReader(strings.NewReader("1\n2"), iotest.ErrReader(broken)), Canonical, Extension, 8)
	if got, err := r.Next(); string(got) != "1" {
		t.Fatal(string(got), err)
	}
	if _, err := r.Next(); err != broken {
		t.Errorf("got %v, want %v", err, broken)
	}
	if _, err := NewReader(iotest.ErrReader(nil), Canonical, Extension, 8).Next(); err != io.ErrNoProgress {
		t.Errorf("a source that returns nothing gives %v, want %v", err, io.ErrNoProgress)
	}
}

func TestReader_readsOncePerFrame(t *testing.T) {
	src := &scripted{pieces: []string{"{\"a\":1}\n", "{\"b\":2}\n"}}
	r := NewReader(src, Canonical, Extension, 100)
	for n := 1; n <= 2; n++ {
		if _, err := r.Next(); err != nil || src.reads != n {
			t.Errorf("frame %d: %v after %d reads, want %d", n, err, src.reads, n)
		}
	}
}

// naive cuts text the obvious way.
func naive(wire Wire, text string, bound int) (frames []string, fault Fault) {
	for text != "" {
		line, rest, found := strings.Cut(text, "\n")
		if len(line) > bound {
			return frames, TooLong
		}
		trimmed := strings.Trim(line, " \t\r")
		switch {
		case !found && (wire == Canonical || trimmed != ""):
			return frames, Cut
		case wire == Canonical && line == "":
			return frames, Empty
		case wire == Canonical && line[len(line)-1] == '\r':
			return frames, EndsCR
		case wire == Canonical:
			frames = append(frames, line)
		case trimmed != "":
			frames = append(frames, trimmed)
		}
		text = rest
	}
	return frames, 0
}

func compare(t interface {
	Helper()
	Fatalf(string, ...any)
}, wire Wire, text string, bound int, src io.Reader,
) {
	t.Helper()
	want, fault := naive(wire, text, bound)
	got, err := read(NewReader(src, wire, Host, bound))
	if strings.Join(got, "\n") != strings.Join(want, "\n") {
		t.Fatalf("%v wire, bound %d: %q cut into %q, want %q", wire, bound, text, got, want)
	}
	var e *Error
	if fault == 0 && err != nil || fault != 0 && (!errors.As(err, &e) || e.Fault != fault) {
		t.Fatalf("%v wire, bound %d: %q ends with %v, want fault %d", wire, bound, text, err, fault)
	}
}

func TestReader_agreesWithNaiveCut(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		parts := rapid.SliceOf(rapid.SampledFrom([]string{"\n", "\r", " ", "{}", "[1]", "\n\n", strings.Repeat("y", 5000)})).Draw(t, "parts")
		text := strings.Join(parts, "")
		bound := rapid.SampledFrom([]int{1, 2, 3, 8, 4999, 5000, 10000}).Draw(t, "bound")
		wire := rapid.SampledFrom([]Wire{Feature, Canonical}).Draw(t, "wire")
		var src io.Reader = strings.NewReader(text)
		if rapid.Bool().Draw(t, "halves") {
			src = iotest.HalfReader(src)
		}
		compare(t, wire, text, bound, src)
	})
}

func FuzzReader(f *testing.F) {
	for _, text := range []string{"{}\n", "{}\r\n", "\n\n", "{}", "a\nb\n", "\r", "x\n\r\n \n", "12345678901\n1"} {
		f.Add(text, uint8(10), true, uint8(3))
		f.Add(text, uint8(2), false, uint8(1))
	}
	f.Fuzz(func(t *testing.T, text string, bound uint8, canonical bool, piece uint8) {
		wire := Feature
		if canonical {
			wire = Canonical
		}
		size := int(piece)%16 + 1
		var pieces []string
		for rest := text; rest != ""; {
			n := min(size, len(rest))
			pieces, rest = append(pieces, rest[:n]), rest[n:]
		}
		compare(t, wire, text, int(bound)+1, &scripted{pieces: pieces})
	})
}

func TestWriter_writesOneFrameAtOnce(t *testing.T) {
	var got []string
	w := NewWriter(writerFunc(func(p []byte) (int, error) {
		got = append(got, string(p))
		return len(p), nil
	}), Canonical, Host, 7)
	payload := append(make([]byte, 0, 64), `{"a":1}`...)
	for range 2 {
		if err := w.WriteFrame(payload); err != nil {
			t.Fatal(err)
		}
	}
	if strings.Join(got, "|") != "{\"a\":1}\n|{\"a\":1}\n" {
		t.Errorf("wrote %q, want two whole frames in two calls", got)
	}
	if tail := payload[:cap(payload)]; !bytes.Equal(tail[7:], make([]byte, 57)) {
		t.Error("the writer changed bytes behind the caller's payload")
	}
}

type writerFunc func([]byte) (int, error)

func (f writerFunc) Write(p []byte) (int, error) { return f(p) }

func TestWriter_refusesWhatIsNoFrame(t *testing.T) {
	var out bytes.Buffer
	w := NewWriter(&out, Canonical, Extension, 3)
	for text, fault := range map[string]Fault{"": Empty, "1234": TooLong, "1\n2": Inner, "1\r": EndsCR} {
		var e *Error
		if err := w.WriteFrame([]byte(text)); !errors.As(err, &e) || e.Fault != fault {
			t.Errorf("WriteFrame(%q) = %v, want fault %d", text, err, fault)
		}
	}
	if err := w.WriteFrame([]byte("123")); err != nil || out.String() != "123\n" {
		t.Errorf("a good frame behind refused ones: %v, %q", err, out.String())
	}
	w.SetBound(2)
	if err := w.WriteFrame([]byte("123")); err == nil || w.Bound() != 2 {
		t.Error("a lowered bound must hold for the next frame")
	}
}

func TestWriter_writesSeveralFramesAtOnce(t *testing.T) {
	var got []string
	w := NewWriter(writerFunc(func(p []byte) (int, error) {
		got = append(got, string(p))
		return len(p), nil
	}), Feature, Host, 3)
	if err := w.WriteFrames([][]byte{[]byte("1"), []byte("22"), []byte("333")}); err != nil {
		t.Fatal(err)
	}
	var e *Error
	if err := w.WriteFrames([][]byte{[]byte("4"), []byte("5555")}); !errors.As(err, &e) || e.Fault != TooLong {
		t.Errorf("a frame over the bound gives %v", err)
	}
	if err := w.WriteFrame([]byte("6")); err != nil || strings.Join(got, "|") != "1\n22\n333\n|6\n" {
		t.Errorf("wrote %q, %v, want three frames in one call and none of the refused", got, err)
	}
	calls := 0
	w = NewWriter(writerFunc(func(p []byte) (int, error) { calls++; return len(p) - 1, nil }), Feature, Host, 9)
	for range 2 {
		if err := w.WriteFrames([][]byte{[]byte("{}"), []byte("{}")}); err != io.ErrShortWrite || calls != 1 {
			t.Errorf("half a frame: %v after %d calls, want the same error and no further call", err, calls)
		}
	}
}

func TestReader_knowsWhetherAFrameIsThere(t *testing.T) {
	src := &scripted{pieces: []string{"1\n\r\n \n2\n\n3", "\n"}}
	r := NewReader(src, Feature, Extension, 9)
	if r.Ready() {
		t.Error("a frame is there before anything was read")
	}
	for n, want := range []bool{true, false, false} {
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
		if r.Ready() != want {
			t.Errorf("behind frame %d: Ready is %v, want %v", n+1, !want, want)
		}
	}
}

func TestWriter_staysBrokenAfterTheDestination(t *testing.T) {
	calls := 0
	w := NewWriter(writerFunc(func(p []byte) (int, error) { calls++; return len(p) - 1, nil }), Feature, Host, 9)
	if err := w.WriteFrame([]byte("{}")); err != io.ErrShortWrite {
		t.Errorf("got %v, want %v", err, io.ErrShortWrite)
	}
	if err := w.WriteFrame([]byte("{}")); err != io.ErrShortWrite || calls != 1 {
		t.Errorf("behind half a frame: %v after %d calls, want the same error and no call", err, calls)
	}
}

func TestError_namesTheRuleOfItsWriter(t *testing.T) {
	rules := map[Wire]map[Side]string{
		Canonical: {
			Extension: "EXT03-FRAME-005 EXT03-FRAME-001 EXT03-FRAME-003 EXT03-FRAME-002 EXT03-FRAME-004",
			Host:      "EXT03-LIMIT-006 EXT03-FRAME-009 EXT03-FRAME-009 EXT03-FRAME-009 EXT03-FRAME-009",
		},
		Feature: {
			Extension: "EXT04-FRAME-004 EXT04-FRAME-002 EXT04-FRAME-008 EXT04-FRAME-008 EXT04-FRAME-001",
			Host:      "EXT04-FRAME-012 EXT04-FRAME-011 EXT04-FRAME-011 EXT04-FRAME-011 EXT04-FRAME-011",
		},
	}
	for wire, sides := range rules {
		for side, want := range sides {
			for n, rule := range strings.Fields(want) {
				e := &Error{Fault: TooLong + Fault(n), Wire: wire, From: side, Bound: 5}
				if e.Rule() != rule {
					t.Errorf("fault %d of the %s on the %s wire: rule %s, want %s", e.Fault, side, wire, e.Rule(), rule)
				}
				for _, part := range []string{rule, side.String(), wire.String(), "5"} {
					if !strings.Contains(e.Error(), part) {
						t.Errorf("%q does not name %q", e, part)
					}
				}
			}
		}
	}
	if Host.Other() != Extension || Extension.Other() != Host {
		t.Error("each side is the other's other")
	}
}

func TestBound_belowOneByteIsRefused(t *testing.T) {
	for name, f := range map[string]func(){
		"reader": func() { NewReader(strings.NewReader(""), Canonical, Host, 0) },
		"writer": func() { NewWriter(io.Discard, Canonical, Host, 0) },
	} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("a %s without room for a frame must panic", name)
				}
			}()
			f()
		}()
	}
}

func TestReader_impossibleSourcePanics(t *testing.T) {
	for _, n := range []int{-1, 1 << 20} {
		func() {
			defer func() {
				if recover() == nil {
					t.Errorf("a source that returns %d must panic", n)
				}
			}()
			_, _ = NewReader(liar(n), Canonical, Host, 100).Next()
		}()
	}
}

type liar int

func (n liar) Read([]byte) (int, error) { return int(n), nil }

// A large frame now and then keeps the large buffer.
func TestReader_keepsALargeBufferInUse(t *testing.T) {
	large := strings.Repeat("x", 300<<10) + "\n"
	var pieces []string
	for range 3 {
		pieces = append(pieces, large)
		for range shrinkAfter / 2 {
			pieces = append(pieces, "1\n")
		}
	}
	r := NewReader(&scripted{pieces: pieces}, Canonical, Extension, 1<<20)
	var kept []byte
	for n := range pieces {
		if _, err := r.Next(); err != nil {
			t.Fatal(err)
		}
		if n == 0 {
			kept = r.buf
		}
		if &r.buf[0] != &kept[0] {
			t.Fatalf("frame %d was read into another buffer than the first", n)
		}
	}
}
