package nativehost

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"unicode/utf8"
)

// Version is the one version of the protocol.
const Version = 1

// MaxFrameBytes bounds a line in either direction, its line feed included.
const MaxFrameBytes = 1 << 20

// maxMessageBytes bounds what an error says.
const maxMessageBytes = 2048

// The codes of protocol_error.
const (
	codeTooLarge    = "frame_too_large"
	codeEncoding    = "invalid_encoding"
	codeJSON        = "invalid_json"
	codeVersion     = "unsupported_version"
	codeCommand     = "unknown_command"
	codeRequest     = "invalid_request"
	codeUnsupported = "unsupported"
	codeModel       = "model_unavailable"
	codeSession     = "session_unavailable"
	codeHost        = "host_failed"
	codeOutput      = "output_too_large"
)

// refusal is what a protocol_error says.
type refusal struct{ code, text string }

func (e *refusal) Error() string { return e.text }

func refuse(code, format string, args ...any) *refusal {
	return &refusal{code, fmt.Sprintf(format, args...)}
}

// lines reads frames.
type lines struct{ r *bufio.Reader }

func newLines(r io.Reader) *lines { return &lines{bufio.NewReaderSize(r, 64<<10)} }

// next returns a line without its line feed. A line that breaks a bound is a *refusal, and the one behind it
// comes next. The end is io.EOF.
func (l *lines) next() ([]byte, error) {
	var line []byte
	for {
		piece, err := l.r.ReadSlice('\n')
		if len(line)+len(piece) > MaxFrameBytes {
			return nil, l.skip(err)
		}
		line = append(line, piece...)
		switch {
		case err == nil:
			return judgeText(line[:len(line)-1])
		case errors.Is(err, bufio.ErrBufferFull):
		case errors.Is(err, io.EOF) && len(line) > 0:
			return nil, refuse(codeJSON, "the input ends within a line; every request ends with a line feed")
		default:
			return nil, err
		}
	}
}

// skip drops the rest of a line.
func (l *lines) skip(err error) error {
	for errors.Is(err, bufio.ErrBufferFull) {
		_, err = l.r.ReadSlice('\n')
	}
	return refuse(codeTooLarge, "the line has more than %d bytes with its line feed; send less", MaxFrameBytes)
}

func judgeText(line []byte) ([]byte, error) {
	if !utf8.Valid(line) {
		return nil, refuse(codeEncoding, "the line is not UTF-8")
	}
	return line, nil
}

// frame is an event as it is written. Consumers accept members that they do not know.
type frame struct {
	ProtocolVersion int     `json:"protocol_version"`
	RequestID       *string `json:"request_id"` // null where none could be read
	Seq             int64   `json:"seq"`
	Type            string  `json:"type"`
	RunID           string  `json:"run_id,omitempty"`
	SessionID       string  `json:"session_id,omitempty"`
	Data            any     `json:"data"`
}

// answers writes the events of one request.
type answers struct {
	w     io.Writer
	frame frame // with what all events share
	ended bool  // the terminal event is out
	err   error // of the first write that failed
}

// say writes an event. One that is too large ends the request with a protocol_error in its place; it
// reports whether the request goes on.
func (a *answers) say(kind string, data any) bool {
	if a.ended || a.err != nil {
		return false
	}
	f := a.frame
	f.Seq, f.Type, f.Data = f.Seq+1, kind, data
	line, err := encode(f)
	if err != nil || len(line) > MaxFrameBytes {
		f.Type, f.Data = eventError, refuse(codeOutput, "the event %s does not fit a line of %d bytes; the request ends here", kind, MaxFrameBytes).data()
		a.ended = true
		if line, err = encode(f); err != nil {
			a.err = err
			return false
		}
	}
	a.frame.Seq = f.Seq
	_, a.err = a.w.Write(line)
	return a.err == nil && !a.ended
}

// finish writes the terminal event.
func (a *answers) finish(kind string, data any) {
	a.say(kind, data)
	a.ended = true
}

// fail writes a protocol_error, which is terminal.
func (a *answers) fail(err error) {
	var r *refusal
	if !errors.As(err, &r) {
		r = refuse(codeHost, "%v", err)
	}
	a.finish(eventError, r.data())
}

func (e *refusal) data() any {
	text := e.text
	if len(text) > maxMessageBytes {
		text = strings.ToValidUTF8(text[:maxMessageBytes], "") + "..."
	}
	return map[string]string{"code": e.code, "message": text}
}

// encode writes a line. HTML is no concern here.
func encode(f frame) ([]byte, error) {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	if err := e.Encode(f); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}
