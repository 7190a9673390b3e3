package actor_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"path/filepath"
	"testing"

	"github.com/octet-dev/octet/features/actor"
)

// stage is a running actor.
type stage struct {
	t     *testing.T
	in    *io.PipeWriter
	lines *bufio.Scanner
	code  chan int
}

func play(t *testing.T, p actor.Part) *stage {
	t.Helper()
	path := filepath.Join(t.TempDir(), "part.json")
	if err := p.Save(path); err != nil {
		t.Fatal(err)
	}
	in, stdin := io.Pipe()
	stdout, out := io.Pipe()
	s := &stage{t: t, in: stdin, lines: bufio.NewScanner(stdout), code: make(chan int, 1)}
	go func() {
		s.code <- actor.Run(context.Background(), path, in, out, io.Discard)
		_ = out.Close()
	}()
	t.Cleanup(func() { _ = stdin.Close() })
	return s
}

// says writes a line, and wants returns what comes next.
func (s *stage) says(line string) {
	s.t.Helper()
	if _, err := io.WriteString(s.in, line+"\n"); err != nil {
		s.t.Fatal(err)
	}
}

func (s *stage) wants(want string) {
	s.t.Helper()
	if !s.lines.Scan() || s.lines.Text() != want {
		s.t.Fatalf("got %s, want %s", s.lines.Text(), want)
	}
}

func TestRun(t *testing.T) {
	s := play(t, actor.Part{API: "0.4", Leaves: []string{"x"}, Replies: map[string][]actor.Reply{
		"hook/run before_prompt": {{Result: json.RawMessage(`{"a":1}`)}, {Error: json.RawMessage(`{"code":-32603,"message":"no"}`)}},
		"tool/call slow":         {{Holds: true}},
		"tool/call asking": {{
			Asks:   []actor.Message{{Method: "composer/get", Params: json.RawMessage(`{"parent_request_id":"«parent»","resource_owner":"«owner»"}`)}},
			Behind: []actor.Message{{Method: "extension/notification", Params: json.RawMessage(`{"message":"told"}`), Tell: true}},
		}},
		"tool/call gone": {{Exits: true}},
	}})
	s.says(`{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocol":{"version":"0.4","required_features":["r"],"optional_features":["x","y"]}}}`)
	s.wants(`{"id":1,"jsonrpc":"2.0","result":{"api_version":"0.4","commands":[],"protocol":{"features":["r","y"],"limits":{"max_concurrent_requests":64},"version":"0.4"},"tools":[]}}`)
	hook := `"method":"hook/run","params":{"hook":"before_prompt"}}`
	s.says(`{"jsonrpc":"2.0","id":2,` + hook)
	s.wants(`{"id":2,"jsonrpc":"2.0","result":{"a":1}}`)
	for _, id := range []string{"3", "4"} {
		s.says(`{"jsonrpc":"2.0","id":` + id + `,` + hook)
		s.wants(`{"error":{"code":-32603,"message":"no"},"id":` + id + `,"jsonrpc":"2.0"}`)
	}
	s.says(`{"jsonrpc":"2.0","id":5,"method":"tool/call","params":{"name":"slow"}}`)
	s.says(`{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":5}}`)
	s.wants(`{"error":{"code":-32800,"data":{"reason":"user"},"message":"request cancelled"},"id":5,"jsonrpc":"2.0"}`)
	s.says(`{"jsonrpc":"2.0","id":6,"method":"tool/call","params":{"name":"asking","arguments":{"text":"hi"},"context":{"resource_owner":{"o":1}}}}`)
	s.wants(`{"id":"a-1","jsonrpc":"2.0","method":"composer/get","params":{"parent_request_id":6,"resource_owner":{"o":1}}}`)
	s.says(`{"jsonrpc":"2.0","id":"a-1","result":{}}`)
	s.wants(`{"id":6,"jsonrpc":"2.0","result":{"content":[{"text":"hi","type":"text"}],"is_error":false}}`)
	s.wants(`{"jsonrpc":"2.0","method":"extension/notification","params":{"message":"told"}}`)
	s.says(`{"jsonrpc":"2.0","id":7,"method":"tool/call","params":{"name":"gone"}}`)
	if code := <-s.code; code != 3 {
		t.Errorf("code %d, want 3", code)
	}
}
