package call

import (
	"bufio"
	"context"
	"fmt"
	"io"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/runtime/canonical"
)

// The bare echo is the floor: one write and one read on each side, no JSON at all, the same frame.

func serveEcho(in io.ReadCloser, out io.WriteCloser) error {
	lines := bufio.NewReaderSize(in, featurewire.MaxLineBytes)
	for {
		line, err := lines.ReadSlice('\n')
		if err != nil {
			return err
		}
		if _, err := out.Write(line); err != nil {
			return err
		}
	}
}

// echo sends a frame of its own for each text, made once.
type echo struct {
	in    io.WriteCloser
	lines *bufio.Reader
	turns chan struct{} // whose turn it is to write, then to read
	reads chan struct{}
	line  []byte
	text  string
}

func dialEcho(_ context.Context, in io.WriteCloser, out io.ReadCloser) (client, error) {
	return &echo{
		in: in, lines: bufio.NewReaderSize(out, featurewire.MaxLineBytes),
		turns: make(chan struct{}, 1), reads: make(chan struct{}, 1),
	}, nil
}

func (e *echo) Call(_ context.Context, text string) error {
	e.turns <- struct{}{}
	if e.text != text {
		e.text, e.line = text, frameOf(text)
	}
	line := e.line
	_, err := e.in.Write(line)
	<-e.turns
	if err != nil {
		return err
	}
	e.reads <- struct{}{}
	defer func() { <-e.reads }()
	back, err := e.lines.ReadSlice('\n')
	if err == nil && len(back) != len(line) {
		err = fmt.Errorf("%d bytes were sent and %d came back", len(line), len(back))
	}
	return err
}

func (e *echo) Close() error { return e.in.Close() }

// frameOf is the frame of a call as octet writes it.
func frameOf(text string) []byte {
	frame := append([]byte(nil), `{"id":1000,"jsonrpc":"2.0","method":`...)
	frame = canonical.AppendString(frame, featurewire.MethodToolCall)
	frame = append(frame, `,"params":`...)
	frame = params(text).AppendJSON(frame)
	return append(frame, "}\n"...)
}
