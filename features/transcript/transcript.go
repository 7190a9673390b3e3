// Package transcript is a conversation as a file: one JSON object a line, a header and then the frames of
// both lanes in the order in which they passed.
package transcript

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/features/infile"
	"github.com/octet-dev/octet/features/wire"
)

// Format names the shape of the file.
const Format = "octet.conform.transcript/v1"

// Header is the first line.
type Header struct {
	Format  string   `json:"format"`
	API     string   `json:"api,omitempty"` // empty: initialize did not say
	Command []string `json:"command,omitempty"`
	// Failure is what the conversation shows; nil for one that was only listened to.
	Failure *Failure `json:"failure,omitempty"`
	// Fuzz says that the conversation was made up: every request in it is owed an answer.
	Fuzz *Fuzz `json:"fuzz,omitempty"`
}

// Failure is a broken rule and the scenario that found it.
type Failure struct {
	Rule    string `json:"rule"`
	Message string `json:"message"`
	Frame   *int   `json:"frame,omitempty"` // index, from 0; absent if the failure is in no single frame
	Step    bool   `json:"step,omitempty"`  // a step of the scenario has found it, and not a look at every frame
	Missing bool   `json:"missing_prerequisite,omitempty"`

	Scenario string   `json:"scenario,omitempty"` // its name
	File     string   `json:"file,omitempty"`     // of the scenario
	Line     int      `json:"line,omitempty"`     // of the scenario
	Steps    int      `json:"steps,omitempty"`    // of it that were taken
	Seed     int64    `json:"seed,omitempty"`     // of its schedule
	Sent     []string `json:"sent,omitempty"`     // origins of the host's frames before any was left out
}

// Fuzz says where a made-up conversation comes from.
type Fuzz struct {
	Seed int64 `json:"seed"`
	Run  int   `json:"run"`
}

// line is every other line. Exactly one of text and base64 is present.
type line struct {
	Lane     string  `json:"lane"`
	Origin   string  `json:"origin,omitempty"` // what the scenario calls a frame of the host
	AtMS     float64 `json:"at_ms"`
	Text     *string `json:"text,omitempty"`
	Base64   []byte  `json:"base64,omitempty"`
	LineFeed bool    `json:"line_feed"`
}

// Writer writes a transcript as it happens. Its methods may be called from one goroutine at a time.
type Writer struct {
	w   *json.Encoder
	err error
}

// NewWriter writes the header.
func NewWriter(w io.Writer, h Header) *Writer {
	enc := json.NewEncoder(w)
	enc.SetEscapeHTML(false)
	h.Format = Format
	return &Writer{w: enc, err: enc.Encode(h)}
}

// Add writes a frame. Errors are kept for Err.
func (w *Writer) Add(f wire.Frame) {
	if w.err != nil {
		return
	}
	l := line{Lane: f.Lane.String(), AtMS: float64(f.At.Microseconds()) / 1000, LineFeed: f.Ended, Origin: f.Origin}
	if utf8.Valid(f.Bytes) {
		text := string(f.Bytes)
		l.Text = &text
	} else {
		l.Base64 = f.Bytes
	}
	w.err = w.w.Encode(l)
}

// Err is the first error of writing.
func (w *Writer) Err() error { return w.err }

// Bounds of a file that is read.
const (
	maxFrames = 100_000
	maxLine   = 8 << 20
	maxBytes  = 64 << 20
)

// Read reads a transcript. The error names file and line.
func Read(path string) (Header, []wire.Frame, error) {
	file, err := infile.Open(path, "a transcript", maxBytes)
	if errors.Is(err, infile.ErrTooLarge) {
		err = fmt.Errorf("%w; %s", err, cutIt(path))
	}
	if err != nil {
		return Header{}, nil, err
	}
	defer func() { _ = file.Close() }()
	var h Header
	var frames []wire.Frame
	lines := bufio.NewScanner(file)
	lines.Buffer(nil, maxLine)
	n := 0
	for lines.Scan() {
		n++
		if n == 1 {
			err = header(lines.Bytes(), &h)
		} else {
			var f wire.Frame
			if f, err = ParseFrame(lines.Bytes(), n-2); err == nil {
				frames = append(frames, f)
			}
		}
		if err == nil && len(frames) > maxFrames {
			err = fmt.Errorf("there are more than %d frames; %s", maxFrames, cutIt(path))
		}
		if err != nil {
			return h, nil, fmt.Errorf("%s:%d: %w", path, n, err)
		}
	}
	switch err := lines.Err(); {
	case err != nil:
		return h, nil, fmt.Errorf("%s:%d: %w", path, n+1, err)
	case n == 0:
		return h, nil, fmt.Errorf("%s is empty; octet-conform tap writes transcripts", path)
	}
	return h, frames, nil
}

// cutIt says how a transcript that is too long is read: its first lines are a transcript, too.
func cutIt(path string) string {
	return fmt.Sprintf("its first lines are a transcript as well: head -n 10000 %s > first.jsonl", path)
}

func header(text []byte, h *Header) error {
	if err := json.Unmarshal(text, h); err != nil {
		return fmt.Errorf("no header of a transcript: %w", err)
	}
	if h.Format != Format {
		return fmt.Errorf("the format is %q, want %q", h.Format, Format)
	}
	if h.API != "" {
		if _, err := dialect.For(h.API); err != nil {
			return fmt.Errorf("the api is %q, want one of %s; use the octet-conform that wrote the transcript", h.API, strings.Join(dialect.Versions(), ", "))
		}
	}
	return nil
}

// maxAtMS bounds the time of a frame: a year.
const maxAtMS = 365 * 24 * 60 * 60 * 1000

// ParseFrame reads one line behind the header; index becomes that of the frame.
func ParseFrame(text []byte, index int) (wire.Frame, error) {
	var l line
	if err := json.Unmarshal(text, &l); err != nil {
		return wire.Frame{}, err
	}
	if !(l.AtMS >= 0 && l.AtMS <= maxAtMS) {
		return wire.Frame{}, fmt.Errorf("at_ms is %v, want 0 to %d", l.AtMS, maxAtMS)
	}
	f := wire.Frame{Index: index, At: time.Duration(l.AtMS * float64(time.Millisecond)), Bytes: l.Base64, Ended: l.LineFeed, Origin: l.Origin}
	switch l.Lane {
	case wire.ToSubject.String():
		f.Lane = wire.ToSubject
	case wire.FromSubject.String():
		f.Lane = wire.FromSubject
	default:
		return f, fmt.Errorf("the lane is %q, want %q or %q", l.Lane, wire.ToSubject, wire.FromSubject)
	}
	if l.Text != nil {
		if l.Base64 != nil {
			return f, errors.New("a frame has text or base64, not both")
		}
		f.Bytes = []byte(*l.Text)
	}
	f.Size = len(f.Bytes)
	return f, nil
}

// Kept lists the origins of the frames that have one, in their order.
func Kept(frames []wire.Frame) []string {
	var out []string
	for _, f := range frames {
		if f.Origin != "" {
			out = append(out, f.Origin)
		}
	}
	return out
}
