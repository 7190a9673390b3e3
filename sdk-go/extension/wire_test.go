package extension_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"os"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/octet-dev/octet/sdk-go/extension"
)

// TestMain plays an extension where a test asks for a process, and else fails the run when goroutines outlive
// the tests.
func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		playRole(role)
	}
	code := m.Run()
	left := leftover()
	for late := time.Now().Add(time.Minute); left != "" && time.Now().Before(late); left = leftover() {
		runtime.Gosched() // what a test has let go of may not have had a processor yet
	}
	if left != "" && code == 0 {
		fmt.Fprintf(os.Stderr, "goroutines are left of the tests:\n%s\n", left)
		code = 1
	}
	os.Exit(code)
}

// leftover returns the stacks of goroutines that run our code.
func leftover() string {
	buffer := make([]byte, 1<<20)
	var ours []string
	for stack := range strings.SplitSeq(string(buffer[:runtime.Stack(buffer, true)]), "\n\n") {
		if strings.Contains(stack, "octet-dev/octet") && !strings.Contains(stack, "TestMain") {
			ours = append(ours, stack)
		}
	}
	return strings.Join(ours, "\n\n")
}

// line is one session with a test in the place of the host, which speaks in literal frames.
type line struct {
	t      *testing.T
	in     *io.PipeWriter
	out    *bufio.Reader
	closer io.Closer // of out
	ended  chan error
}

// dial serves an extension.
func dial(t *testing.T, ext *extension.Extension) *line {
	t.Helper()
	in, toExtension := io.Pipe()
	fromExtension, out := io.Pipe()
	l := &line{t: t, in: toExtension, out: bufio.NewReader(fromExtension), closer: fromExtension, ended: make(chan error, 1)}
	go func() { l.ended <- ext.Serve(context.Background(), in, out) }()
	t.Cleanup(func() {
		_ = toExtension.Close()
		_ = fromExtension.Close()
	})
	return l
}

// send writes frames, each with its line feed.
func (l *line) send(frames ...string) {
	l.t.Helper()
	for _, f := range frames {
		if _, err := io.WriteString(l.in, f+"\n"); err != nil {
			l.t.Fatalf("send %s: %v", f, err)
		}
	}
}

// want reads frames and compares them with literal text.
func (l *line) want(frames ...string) {
	l.t.Helper()
	for _, f := range frames {
		got, err := l.out.ReadString('\n')
		if err != nil || got != f+"\n" {
			l.t.Fatalf("got  %s (%v)\nwant %s", strings.TrimSuffix(got, "\n"), err, f)
		}
	}
}

// next reads one frame, which must hold a part.
func (l *line) next(part string) {
	l.t.Helper()
	if got, err := l.out.ReadString('\n'); err != nil || !strings.Contains(got, part) {
		l.t.Fatalf("got %s (%v), want a frame with %s", got, err, part)
	}
}

// end waits for the end of the session, in which nothing more may be written.
func (l *line) end() error {
	l.t.Helper()
	watchdog := time.AfterFunc(time.Minute, func() {
		l.t.Error("the session does not end")
		_ = l.in.Close()
		_ = l.closer.Close()
	})
	defer watchdog.Stop()
	rest, err := io.ReadAll(l.out)
	if len(rest) > 0 || err != nil {
		l.t.Errorf("the extension wrote %q (%v) before its end", rest, err)
	}
	return <-l.ended
}

// open initializes, for tests that are about something else.
func (l *line) open(api extension.API) {
	l.t.Helper()
	l.send(initialize(api))
	if got, err := l.out.ReadString('\n'); err != nil || !strings.Contains(got, `"result"`) {
		l.t.Fatalf("initialize: %s (%v)", got, err)
	}
}

const (
	contributes = `{"tools":[],"commands":[],"hooks":[],"ui":[],"context":false,"tool_renderers":[],"notifications":true,"confirmations":false}`
	grants      = `{"filesystem":"none","process":false,"network":false}`
	identity    = `{"name":"x","version":"1.0.0","manifest_path":"/x/extension.toml","source":"explicit"}`
	contract    = `{"encoding":"octet-canonical-json-v1","limits":{"max_concurrent_requests":8,"max_frame_bytes":65536,"max_tools":256},"optional_capabilities":[],"optional_methods":[],"required_capabilities":["content_parts","core","request_cancellation","tool_call"],"required_methods":["$/cancelRequest","initialize","shutdown","tool/call"],"schema":"octet.extension.api/0.3"}`
)

// initialize returns the first request of a host, with the id 1.
func initialize(api extension.API) string {
	switch api {
	case extension.API01:
		return `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"api_version":"0.1","octet_version":"0.8.0","extension":` + identity +
			`,"workspace":"/w","capabilities":` + grants + `,"contributes":` + contributes + `,"host":{}}}`
	case extension.API03:
		return `{"id":1,"jsonrpc":"2.0","method":"initialize","params":{"api_version":"0.3","capabilities":{},"contract":` + contract +
			`,"contributes":{},"extension":{},"flag_values":[],"host":{},"octet_version":"0.8.0","workspace":"/w"}}`
	default:
		return `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"api_version":"` + string(api) + `","octet_version":"0.8.0","extension":` + identity +
			`,"workspace":"/w","capabilities":` + grants + `,"contributes":` + contributes +
			`,"host":{},"protocol":{"version":"` + string(api) + `","required_features":["request_cancellation","content_parts"],"optional_features":["request_progress","artifacts"],"limits":{"max_concurrent_requests":64}}}}`
	}
}

// call returns a tool call.
func call(api extension.API, id int, tool, arguments string) string {
	if api == extension.API03 {
		return fmt.Sprintf(`{"id":%d,"jsonrpc":"2.0","method":"tool/call","params":{"arguments":%s,"context":{},"name":%q}}`, id, arguments, tool)
	}
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%d,"method":"tool/call","params":{"name":%q,"arguments":%s,"context":{"workspace":"/w","execution_scope":null,"host":{}}}}`, id, tool, arguments)
}

const (
	shutdown     = `{"id":9,"jsonrpc":"2.0","method":"shutdown","params":{}}`
	cancelSeven  = `{"jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":7,"reason":"user"}}`
	shutdownDone = `{"id":9,"jsonrpc":"2.0","result":{}}`
)

var everyAPI = []extension.API{extension.API01, extension.API02, extension.API03, extension.API04}

type textArgs struct {
	Text string `json:"text"`
}

// quietOptions keep diagnostics that a test provokes out of its output.
func quietOptions(api extension.API) *extension.Options {
	return &extension.Options{API: api, Log: io.Discard}
}

// one returns an extension with one tool, "say".
func one(api extension.API, handler func(context.Context, *extension.Call, textArgs) (*extension.Result, error)) *extension.Extension {
	ext := extension.New(quietOptions(api))
	extension.AddTool(ext, "say", "Says it", handler)
	return ext
}

func echo(_ context.Context, _ *extension.Call, args textArgs) (*extension.Result, error) {
	return extension.Text(args.Text), nil
}

// deaf returns a handler that does not listen to its context before release is closed.
func deaf(release <-chan struct{}) func(context.Context, *extension.Call, textArgs) (*extension.Result, error) {
	return func(context.Context, *extension.Call, textArgs) (*extension.Result, error) {
		<-release
		return extension.Text("late"), nil
	}
}

// listening waits for its context.
func listening(ctx context.Context, _ *extension.Call, _ textArgs) (*extension.Result, error) {
	<-ctx.Done()
	return nil, ctx.Err()
}

// within fails a test that waits in real time for longer than any wait of the SDK.
func within(t *testing.T, what string, done <-chan error) error {
	t.Helper()
	select {
	case err := <-done:
		return err
	case <-time.After(time.Minute):
		t.Fatalf("%s takes longer than a minute", what)
		return nil
	}
}
