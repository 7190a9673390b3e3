package replay_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"strings"
	"testing"
	"time"

	"github.com/octet-dev/octet/features/replay"
	"github.com/octet-dev/octet/features/subject"
	"github.com/octet-dev/octet/features/wire"
)

func frames(lines ...string) []wire.Frame {
	var out []wire.Frame
	for i, text := range lines {
		f := wire.Frame{Index: i, Lane: wire.ToSubject, Ended: true}
		if rest, heard := strings.CutPrefix(text, "<"); heard {
			f.Lane, text = wire.FromSubject, rest
		}
		f.Bytes, f.Size = []byte(text), len(text)
		out = append(out, f)
	}
	return out
}

// play runs a subject that answers each line by a function, and returns what it read.
func play(t *testing.T, answer func(line string) string, script ...string) (*replay.Result, []string) {
	t.Helper()
	var read []string
	starter := subject.Func(func(_ context.Context, _ []string, stdin io.Reader, stdout, _ io.Writer) int {
		for lines := bufio.NewScanner(stdin); lines.Scan(); {
			read = append(read, lines.Text())
			if text := answer(lines.Text()); text != "" {
				fmt.Fprintln(stdout, text)
			}
		}
		return 0
	})
	r, err := replay.Run(t.Context(), replay.Options{Starter: starter, Frames: frames(script...), Wait: 300 * time.Millisecond})
	if err != nil {
		t.Fatal(err)
	}
	return r, read
}

// A frame of the host waits for what the subject said in front of it, and an answer finds the id of now.
func TestRun_follows(t *testing.T) {
	r, read := play(t, func(line string) string {
		switch line {
		case `{"id":1,"method":"go"}`:
			return `{"id":"now-7","method":"ask"}`
		case `{"id":"now-7","result":{"id":"c-1"}}`:
			return `{"id":1,"result":{}}`
		}
		return ""
	},
		`{"id":1,"method":"go"}`,
		`<{"id":"c-1","method":"ask"}`,
		`{"id":"c-1","result":{"id":"c-1"}}`,
		`<{"id":1,"result":{}}`,
		`{"id":2,"method":"go on"}`)
	if len(r.Missing) > 0 {
		t.Errorf("missing are %v, want nothing", r.Missing)
	}
	if got := strings.Join(read, " "); got != `{"id":1,"method":"go"} {"id":"now-7","result":{"id":"c-1"}} {"id":2,"method":"go on"}` {
		t.Errorf("the subject read %s", got)
	}
}

// What a subject said in the transcript and does not say now is told, and the play goes on.
func TestRun_missing(t *testing.T) {
	r, read := play(t, func(string) string { return "" }, `{"id":1,"method":"go"}`, `<{"id":1,"result":{}}`, `{"id":2,"method":"go on"}`)
	if len(r.Missing) != 1 || r.Missing[0].Index != 1 || len(read) != 2 {
		t.Errorf("missing are %v and %d lines were read, want the answer and two", r.Missing, len(read))
	}
}

func TestRun_judges(t *testing.T) {
	start := `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"api_version":"0.4","octet_version":"0.8.0"}}`
	r, _ := play(t, func(string) string { return `{"jsonrpc":"2.0","id":9,"result":{}}` }, start)
	for _, f := range r.Found {
		if f.By == wire.FromSubject && f.Rule != "" {
			return
		}
	}
	t.Errorf("an answer that nobody asked for is not found: %v", r.Found)
}
