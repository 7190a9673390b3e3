package extension

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/fixture"
	"github.com/octet-dev/octet/process"
)

// playWord as the first argument makes the test program play the fixture.
const playWord = "play-the-fixture"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == playWord {
		fixture.Main([]string{playWord}, os.Args[2:])
	}
	os.Exit(m.Run())
}

// apis are all API versions.
var apis = []string{"0.1", "0.2", "0.3", "0.4"}

// setup is one extension for a test.
type setup struct {
	api    string
	faults []string
	// top and contributes are further lines of the manifest.
	top, contributes string
	options          Options
}

// source writes and loads the manifest of a setup.
func (s setup) source(t *testing.T) *Source {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "demo")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	args, _ := json.Marshal(append([]string{playWord}, s.faults...))
	tools, _ := json.Marshal(fixture.Tools)
	text := fmt.Sprintf("name = \"demo\"\nversion = \"1.2.3\"\napi_version = %q\n%s\n[entrypoint]\ncommand = %q\nargs = %s\n"+
		"env = { MODE = \"quiet\" }\n[contributes]\ntools = %s\n%s\n", s.api, s.top, self, args, tools, s.contributes)
	if err := os.WriteFile(filepath.Join(dir, "extension.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	source, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return source
}

// fast deadlines let a hang be seen quickly.
var fast = Deadlines{
	Shutdown: 300 * time.Millisecond, Exit: 300 * time.Millisecond, Drain: 100 * time.Millisecond,
	Terminate: 300 * time.Millisecond,
}

// patient deadlines are for what must not run out, however slow the machine is.
var patient = Deadlines{Shutdown: time.Minute, Exit: time.Minute, Drain: time.Minute, Terminate: time.Minute, Kill: time.Minute}

// unhurried is an Options.After of a host that waits for the system, which tells late that a process has ended.
func unhurried(time.Duration) <-chan time.Time { return time.After(time.Minute) }

func (s setup) start(t *testing.T) (*Extension, error) {
	t.Helper()
	s.options.ScratchRoot = t.TempDir()
	x, err := Start(t.Context(), s.source(t), s.options)
	if x != nil {
		t.Cleanup(func() { x.Close() })
	}
	left, _ := os.ReadDir(s.options.ScratchRoot)
	if err != nil && len(left) > 0 {
		t.Errorf("scratch directories left behind: %v", left)
	}
	return x, err
}

func (s setup) mustStart(t *testing.T) *Extension {
	t.Helper()
	x, err := s.start(t)
	if err != nil {
		t.Fatal(err)
	}
	return x
}

func callTool(t *testing.T, x *Extension, tool, arguments string) (*ToolResult, error) {
	t.Helper()
	return x.Call(t.Context(), Request{Tool: tool, Arguments: json.RawMessage(arguments)})
}

func mustCall(t *testing.T, x *Extension, tool, arguments string) string {
	t.Helper()
	r, err := callTool(t, x, tool, arguments)
	if err != nil {
		t.Fatal(err)
	}
	return strings.TrimSuffix(r.Text(), "\n")
}

// wantFailure checks kind and words of a failure.
func wantFailure(t *testing.T, err error, kind Kind, words ...string) *Failure {
	t.Helper()
	var failure *Failure
	if !errors.As(err, &failure) {
		t.Fatalf("got %v (%T), want a failure of kind %s", err, err, kind)
	}
	if failure.Kind != kind {
		t.Errorf("kind %s, want %s: %v", failure.Kind, kind, err)
	}
	for _, word := range words {
		if !strings.Contains(failure.Message, word) {
			t.Errorf("message %q lacks %q", failure.Message, word)
		}
	}
	if strings.Contains(failure.Message, "\n") {
		t.Errorf("message of several lines: %q", failure.Message)
	}
	return failure
}

// TestCall_everyAPI: EXT04-INIT-008, EXT03-INIT-029, by the methods that the extension saw.
func TestCall_everyAPI(t *testing.T) {
	for _, api := range apis {
		t.Run(api, func(t *testing.T) {
			x := setup{api: api}.mustStart(t)
			if got := mustCall(t, x, "echo", `{"text":"hé","times":2,"upper":true}`); got != "HÉ HÉ" {
				t.Errorf("echo gave %q", got)
			}
			r, err := callTool(t, x, "count", `{"text":"one two three"}`)
			if err != nil || r.IsError {
				t.Fatalf("count gave %+v, %v", r, err)
			}
			wantStructured, wantMetadata := `{"words":3}`, `{"took_ms":1}`
			if api == "0.1" {
				wantStructured, wantMetadata = "", ""
			}
			if string(r.Structured) != wantStructured || string(r.Metadata) != wantMetadata {
				t.Errorf("structured content %s and metadata %s, want %s and %s", r.Structured, r.Metadata, wantStructured, wantMetadata)
			}
			r, err = callTool(t, x, "fail", "{}")
			if err != nil || !r.IsError || r.Text() != "the disk is full\n" {
				t.Errorf("fail gave %+v, %v", r, err)
			}
			if methods := mustCall(t, x, "look", `{"at":"methods"}`); methods != "initialize tool/call tool/call tool/call tool/call" {
				t.Errorf("the extension saw %q", methods)
			}
			if ending := x.Close(); !ending.Orderly() {
				t.Errorf("ending %+v, want an orderly one", ending)
			}
			if again := x.Close(); !again.Orderly() {
				t.Errorf("second Close gave %+v", again)
			}
			_, err = callTool(t, x, "echo", `{"text":"late"}`)
			wantFailure(t, err, Closed, "shutting down")
		})
	}
}

func TestCall_argumentsAreCheckedFirst(t *testing.T) {
	x := setup{api: "0.4"}.mustStart(t)
	for arguments, want := range map[string]string{
		`{}`:                      "missing property 'text'",
		`{"text":1}`:              `at "/text": got number, want string`,
		`{"text":"a","times":0}`:  "minimum",
		`{"text":"a","tmies":1}`:  "'tmies' not allowed",
		`[]`:                      "want object",
		`{"text":"a","text":"b"}`: `the member "text" comes twice`,
		`{"text":"\ud800"}`:       "surrogate",
		"{\"text\":\"\xff\"}":     "UTF-8",
		`{"text":"` + strings.Repeat("x", 1<<20) + `"}`: "send less",
	} {
		_, err := callTool(t, x, "echo", arguments)
		var mismatch *ArgumentError
		if !errors.As(err, &mismatch) || !strings.Contains(err.Error(), want) {
			t.Errorf("%.40s: %v, want an argument error with %q", arguments, err, want)
		}
	}
	_, err := callTool(t, x, "ecoh", `{}`)
	var unknown *UnknownToolError
	if !errors.As(err, &unknown) || !strings.Contains(err.Error(), `did you mean "echo"?`) {
		t.Errorf("got %v, want an unknown tool", err)
	}
	if methods := mustCall(t, x, "look", `{"at":"methods"}`); methods != "initialize tool/call" {
		t.Errorf("the extension saw %q: something was sent", methods)
	}
}

func TestCall_concurrent(t *testing.T) {
	x := setup{api: "0.4"}.mustStart(t)
	var group sync.WaitGroup
	for i := range 50 {
		group.Go(func() {
			want := fmt.Sprintf("text %d", i)
			r, err := x.Call(context.Background(), Request{Tool: "echo", Arguments: json.RawMessage(fmt.Sprintf(`{"text":%q}`, want))})
			if err != nil || r.Text() != want+"\n" {
				t.Errorf("call %d: %+v, %v", i, r, err)
			}
		})
	}
	group.Wait()
}

// TestCall_badAnswersHurtOnlyTheCall: EXT03-TOOL-015, EXT04-RESULT-011.
func TestCall_badAnswersHurtOnlyTheCall(t *testing.T) {
	for _, api := range apis {
		t.Run(api, func(t *testing.T) {
			x := setup{api: api}.mustStart(t)
			for tool, kind := range map[string]Kind{"refuse": Refused, "wrong": Result, "media": Result} {
				_, err := callTool(t, x, tool, "{}")
				if failure := wantFailure(t, err, kind); failure.Ended != nil {
					t.Errorf("%s: the process was ended: %+v", tool, failure.Ended)
				}
			}
			if got := mustCall(t, x, "echo", `{"text":"alive"}`); got != "alive" {
				t.Errorf("echo gave %q", got)
			}
		})
	}
}

// TestCall_endOfTheProcess: EXT03-SHUT-010, and EXT04-CALL-010: nothing is sent again.
func TestCall_endOfTheProcess(t *testing.T) {
	for _, api := range apis {
		for tool, want := range map[string]string{"crash": "exit code 3", "quit": "exit code 0"} {
			t.Run(api+" "+tool, func(t *testing.T) {
				x := setup{api: api, options: Options{After: unhurried}}.mustStart(t)
				_, err := callTool(t, x, tool, "{}")
				failure := wantFailure(t, err, Closed, "extension process closed", want)
				if tool == "crash" && !strings.Contains(failure.Stderr.String(), "index out of range") {
					t.Errorf("last words %q", failure.Stderr.String())
				}
				_, err = callTool(t, x, "echo", `{"text":"late"}`)
				wantFailure(t, err, Closed)
			})
		}
	}
}

func TestCall_endOfTheOutput(t *testing.T) {
	x := setup{api: "0.4", faults: []string{fixture.IgnoreTerminate}, options: Options{Deadlines: fast}}.mustStart(t)
	_, err := callTool(t, x, "mute", "{}")
	wantFailure(t, err, Closed, "closed its output and had to be killed")
}

// TestCall_floodOfOutput: EXT03-RELOAD-005.
func TestCall_floodOfOutput(t *testing.T) {
	for _, api := range []string{"0.3", "0.4"} {
		t.Run(api, func(t *testing.T) {
			x := setup{api: api, options: Options{Deadlines: fast}}.mustStart(t)
			_, err := callTool(t, x, "flood", "{}")
			failure := wantFailure(t, err, Protocol, "extension message exceeded 1048576 bytes")
			if failure.Ended == nil || failure.Ended.Alive > 0 {
				t.Errorf("ended %+v", failure.Ended)
			}
		})
	}
}

// TestCall_cancelled: EXT04-ORDER-011: on 0.1 the notification is closed, and a diagnostic takes its place.
func TestCall_cancelled(t *testing.T) {
	for _, api := range apis {
		t.Run(api, func(t *testing.T) {
			ctx, cancel := context.WithCancelCause(t.Context())
			var diagnosed []string
			x := setup{api: api, options: Options{
				Deadlines: fast,
				Stderr:    func(process.Line) { cancel(errors.New("enough")) },
				Diagnose:  func(text string) { diagnosed = append(diagnosed, text) },
			}}.mustStart(t)
			_, err := x.Call(ctx, Request{Tool: "slow"})
			failure := wantFailure(t, err, Cancelled, "cancelled")
			if failure.Unsettled || failure.Ended != nil {
				t.Errorf("the extension was not trusted to settle: %+v", failure)
			}
			want := "initialize tool/call $/cancelRequest tool/call"
			if api == "0.1" {
				want = "initialize tool/call tool/call"
			}
			if got := mustCall(t, x, "look", `{"at":"methods"}`); got != want {
				t.Errorf("the extension saw %q, want %q", got, want)
			}
			x.Close()
			if told := strings.Contains(strings.Join(diagnosed, "\n"), "has no cancellation"); told != (api == "0.1") {
				t.Errorf("diagnosed %q", diagnosed)
			}
		})
	}
}

// TestCall_timeout: EXT04-LIMIT-005, EXT04-CALL-010.
func TestCall_timeout(t *testing.T) {
	x := setup{api: "0.4"}.mustStart(t)
	_, err := x.Call(t.Context(), Request{Tool: "slow", Timeout: 50 * time.Millisecond})
	wantFailure(t, err, Timeout, "timed out after 50ms")
	if got := mustCall(t, x, "look", `{"at":"methods"}`); got != "initialize tool/call $/cancelRequest tool/call" {
		t.Errorf("the extension saw %q", got)
	}
}

// TestCall_ignoredCancellationEndsTheProcess: EXT04-CANCEL-012, EXT03-CANCEL-011, MAN-SUPER-003. It waits for the real
// grace of two seconds.
func TestCall_ignoredCancellationEndsTheProcess(t *testing.T) {
	for _, api := range []string{"0.3", "0.4"} {
		t.Run(api, func(t *testing.T) {
			t.Parallel()
			x := setup{api: api, faults: []string{fixture.IgnoreCancel}, options: Options{Deadlines: fast}}.mustStart(t)
			_, err := x.Call(t.Context(), Request{Tool: "slow", Timeout: 50 * time.Millisecond})
			failure := wantFailure(t, err, Timeout, "did not settle it within 2s")
			if !failure.Unsettled || failure.Ended == nil {
				t.Errorf("failure %+v, want an ended process", failure)
			}
		})
	}
}

func TestCall_progress(t *testing.T) {
	x := setup{api: "0.2"}.mustStart(t)
	ctx, cancel := context.WithCancel(t.Context())
	var got []Progress
	_, err := x.Call(ctx, Request{Tool: "slow", Progress: func(p Progress) {
		if got = append(got, p); len(got) == 2 {
			cancel()
		}
	}})
	wantFailure(t, err, Cancelled)
	if len(got) != 2 || got[0].Message != "reading files" || *got[0].Current != 1 || *got[0].Total != 3 || got[0].Unit != "files" ||
		got[1].Stream != "stdout" || string(got[1].Data) != "found 2\nfound 3\n" {
		t.Errorf("progress %+v", got)
	}
}

// TestNotifications: EXT04-NOTE-005, MAN-DIAG-007.
func TestNotifications(t *testing.T) {
	var got []Notification
	var diagnosed []string
	options := Options{
		Notify:   func(n Notification) { got = append(got, n) },
		Diagnose: func(text string) { diagnosed = append(diagnosed, text) },
	}
	x := setup{api: "0.4", contributes: "notifications = true", options: options}.mustStart(t)
	mustCall(t, x, "escape", "{}")
	// What was sent before the answer has arrived by now.
	if len(got) != 2 {
		t.Errorf("%d notifications when the call returned, want 2", len(got))
	}
	x.Close()
	want := []Notification{{"warning", "care", "\x1b]0;title\adone"}, {"info", "", "no level"}}
	if !slices.Equal(got, want) {
		t.Errorf("notifications %+v, want %+v", got, want)
	}
	if len(diagnosed) != 1 || !strings.Contains(diagnosed[0], "does not grow") {
		t.Errorf("diagnosed %q, want the repeated sequence", diagnosed)
	}

	got, diagnosed = nil, nil
	x = setup{api: "0.4", options: options}.mustStart(t)
	mustCall(t, x, "escape", "{}")
	x.Close()
	if len(got) > 0 || len(diagnosed) != 3 || !strings.Contains(diagnosed[1], "undeclared notification") {
		t.Errorf("undeclared: notifications %+v, diagnosed %q", got, diagnosed)
	}
}

// TestStderr_isPassedOnAndDrained: EXT03-PROC-002, EXT03-PROC-011.
func TestStderr_isPassedOnAndDrained(t *testing.T) {
	lines := 0
	x := setup{api: "0.4", faults: []string{fixture.FloodStderr}, options: Options{Stderr: func(process.Line) { lines++ }}}.mustStart(t)
	mustCall(t, x, "echo", `{"text":"x"}`)
	x.Close()
	if lines != 40_000 {
		t.Errorf("%d lines, want 40000", lines)
	}
}

// TestCall_argumentsThatNoFrameCarries: each wire has its own depth, whatever a schema lets through.
func TestCall_argumentsThatNoFrameCarries(t *testing.T) {
	for api, deepest := range map[string]int{"0.1": featurewire.MaxDepth, "0.3": canonicalwire.MaxDepth, "0.4": featurewire.MaxDepth} {
		x := setup{api: api}.mustStart(t)
		for levels, fits := range map[int]bool{deepest - argumentsLevel: true, deepest - argumentsLevel + 1: false} {
			// The object is the first level, and a scalar stands in the innermost array.
			text := `{"any":` + strings.Repeat("[", levels-1) + "1" + strings.Repeat("]", levels-1) + `}`
			if err := x.legible(json.RawMessage(text)); (err == nil) != fits {
				t.Errorf("API %s, %d levels: %v", api, levels, err)
			}
		}
	}
}
