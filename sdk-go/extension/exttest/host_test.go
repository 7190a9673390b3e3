package exttest_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/octet-dev/octet/sdk-go/extension"
	"github.com/octet-dev/octet/sdk-go/extension/exttest"
)

var everyAPI = []extension.API{extension.API01, extension.API02, extension.API03, extension.API04}

type sayArgs struct {
	Text string `json:"text"`
}

type said struct {
	Length int `json:"length"`
}

// sample has one tool for each thing a host can see.
func sample(api extension.API) *extension.Extension {
	ext := extension.New(&extension.Options{API: api})
	extension.AddStructuredTool(ext, "say", "Says it", func(_ context.Context, _ *extension.Call, args sayArgs) (*extension.Result, said, error) {
		return &extension.Result{Content: []string{args.Text, "!"}, Metadata: map[string]any{"by": "say"}}, said{len(args.Text)}, nil
	})
	extension.AddTool(ext, "fail", "Fails", func(context.Context, *extension.Call, struct{}) (*extension.Result, error) {
		return nil, extension.Errorf("no luck today")
	})
	extension.AddTool(ext, "report", "Reports", func(_ context.Context, call *extension.Call, args sayArgs) (*extension.Result, error) {
		return nil, errors.Join(
			call.Progress("half", 1, 2, "parts"),
			call.Output(extension.Stdout, args.Text),
			call.Notify(extension.LevelWarning, "look", "here"),
		)
	})
	extension.AddTool(ext, "wait", "Waits until it is cancelled", func(ctx context.Context, call *extension.Call, _ struct{}) (*extension.Result, error) {
		_ = call.Progress("waiting", 0, 0, "")
		<-ctx.Done()
		return nil, ctx.Err()
	})
	extension.AddTool(ext, "where", "Tells where it runs", func(_ context.Context, call *extension.Call, _ struct{}) (*extension.Result, error) {
		owner := "nobody"
		if o := call.Context().Owner; o != nil {
			owner = fmt.Sprintf("%s/%s/%d", o.SessionID, o.ExtensionInstanceID, o.ProcessGeneration)
		}
		flags := call.Flags()
		return extension.Text(call.Tool(), call.Workspace(), owner,
			fmt.Sprintf("%v %d %q", flags.Bool("loud"), flags.Int("times"), flags.String("word"))), nil
	})
	return ext
}

func TestHost_callOnEveryAPI(t *testing.T) {
	for _, api := range everyAPI {
		t.Run(string(api), func(t *testing.T) {
			host := exttest.Start(t, sample(api))
			result := host.Call("say", map[string]any{"text": "höh"})
			if result.Text != "höh\n!" || result.IsError {
				t.Errorf("result %q, error %v", result.Text, result.IsError)
			}
			if api == extension.API01 {
				if result.Structured != nil || result.Metadata != nil {
					t.Errorf("API 0.1 carries structured content %s or metadata %s", result.Structured, result.Metadata)
				}
				return
			}
			var got said
			if err := result.Decode(&got); err != nil || got.Length != 4 {
				t.Errorf("structured content %s: %v", result.Structured, err)
			}
			if string(result.Metadata) != `{"by":"say"}` {
				t.Errorf("metadata %s", result.Metadata)
			}
		})
	}
}

func TestHost_toolThatFails(t *testing.T) {
	for _, api := range everyAPI {
		host := exttest.Start(t, sample(api))
		if result := host.Call("fail", nil); result.Text != "no luck today" || !result.IsError {
			t.Errorf("API %s: result %q, error %v", api, result.Text, result.IsError)
		}
	}
}

func TestHost_errorAnswers(t *testing.T) {
	for _, api := range everyAPI {
		host := exttest.Start(t, sample(api))
		var answer *exttest.Error
		if _, err := host.TryCall("say", map[string]any{"text": 1}); !errors.As(err, &answer) || answer.Code != -32602 || exttest.IsCancelled(err) {
			t.Errorf("API %s: bad arguments: %v", api, err)
		}
		if _, err := host.TryCall("unknown", nil); !errors.As(err, &answer) || answer.Code != -32601 {
			t.Errorf("API %s: unknown tool: %v", api, err)
		}
	}
}

func TestHost_progressOutputAndNotifications(t *testing.T) {
	host := exttest.Start(t, sample(extension.API04))
	result := host.Call("report", map[string]any{"text": "line\n"})
	if result.IsError {
		t.Fatal(result.Text)
	}
	if len(result.Progress) != 1 || result.Progress[0] != (exttest.Progress{Message: "half", Current: 1, Total: 2, Unit: "parts"}) {
		t.Errorf("progress %+v", result.Progress)
	}
	if len(result.Output) != 1 || result.Output[0] != (exttest.Output{Stream: extension.Stdout, Text: "line\n"}) {
		t.Errorf("output %+v", result.Output)
	}
	notes := host.Notifications()
	if len(notes) != 1 || notes[0] != (exttest.Notification{Level: extension.LevelWarning, Title: "look", Message: "here"}) {
		t.Errorf("notifications %+v", notes)
	}
}

func TestHost_whatIsNotNegotiated(t *testing.T) {
	for _, test := range []struct {
		api     extension.API
		options *exttest.Options
	}{
		{extension.API01, nil},
		{extension.API03, nil},
		{extension.API04, &exttest.Options{NoProgress: true, NoNotifications: true}},
	} {
		host := exttest.StartWith(t, sample(test.api), test.options)
		result := host.Call("report", map[string]any{"text": "x"})
		if !result.IsError || !strings.Contains(result.Text, "not negotiated") || len(result.Progress)+len(result.Output) > 0 {
			t.Errorf("API %s: result %q with progress %v", test.api, result.Text, result.Progress)
		}
	}
}

func TestPending_cancel(t *testing.T) {
	for _, api := range everyAPI[1:] {
		host := exttest.Start(t, sample(api))
		pending := host.Begin("wait", nil)
		if api != extension.API03 {
			if progress, ok := pending.NextProgress(); !ok || progress.Message != "waiting" {
				t.Fatalf("API %s: progress %+v, %v", api, progress, ok)
			}
		}
		pending.Cancel("enough")
		_, err := pending.Wait()
		if !exttest.IsCancelled(err) || !strings.Contains(err.Error(), "enough") {
			t.Errorf("API %s: error %v, want a cancellation with its reason", api, err)
		}
		if _, ok := pending.NextProgress(); ok {
			t.Errorf("API %s: progress behind the end", api)
		}
	}
}

func TestPending_nextProgressIsNeverLost(t *testing.T) {
	host := exttest.Start(t, sample(extension.API04))
	pending := host.Begin("report", map[string]any{"text": ""})
	if _, err := pending.Wait(); err != nil {
		t.Fatal(err)
	}
	if progress, ok := pending.NextProgress(); !ok || progress.Message != "half" {
		t.Errorf("progress %+v, %v; want what came before the end", progress, ok)
	}
}

func TestHost_closeCancelsWhatRuns(t *testing.T) {
	for _, api := range everyAPI {
		host := exttest.Start(t, sample(api))
		pending := host.Begin("wait", nil)
		host.Close()
		if _, err := pending.Wait(); err == nil || (api != extension.API01) != exttest.IsCancelled(err) {
			t.Errorf("API %s: error %v", api, err)
		}
		host.Close()
	}
}

func TestHost_options(t *testing.T) {
	options := &exttest.Options{
		Workspace: "/w", Owner: &extension.Owner{SessionID: "s", ExtensionInstanceID: "i", ProcessGeneration: 3},
		Flags: map[string]any{"loud": true, "times": 2, "word": "w"},
	}
	for _, api := range everyAPI[1:] {
		host := exttest.StartWith(t, sample(api), options)
		if got, want := host.Call("where", nil).Text, "where\n/w\ns/i/3\ntrue 2 \"w\""; got != want {
			t.Errorf("API %s: %q, want %q", api, got, want)
		}
	}
	host := exttest.Start(t, sample(extension.API01))
	if got, want := host.Call("where", nil).Text, "where\n/workspace\nnobody\nfalse 0 \"\""; got != want {
		t.Errorf("API 0.1: %q, want %q", got, want)
	}
}

func TestHost_tools(t *testing.T) {
	for _, api := range everyAPI {
		host := exttest.Start(t, sample(api))
		var names []string
		for _, tool := range host.Tools() {
			names = append(names, tool.Name)
			if hasSchema := tool.OutputSchema != nil; hasSchema != (tool.Name == "say" && api != extension.API01) {
				t.Errorf("API %s: tool %q has an output schema: %v", api, tool.Name, hasSchema)
			}
		}
		if got := strings.Join(names, " "); got != "fail report say wait where" {
			t.Errorf("API %s: tools %s", api, got)
		}
	}
}

// recorder is a test handle that notes failures instead of reporting them.
type recorder struct {
	testing.TB
	failures []string
	cleanups []func()
}

func (r *recorder) Helper()             {}
func (r *recorder) Logf(string, ...any) {}
func (r *recorder) Cleanup(f func())    { r.cleanups = append(r.cleanups, f) }
func (r *recorder) Errorf(format string, args ...any) {
	r.failures = append(r.failures, fmt.Sprintf(format, args...))
}

func (r *recorder) Fatalf(format string, args ...any) {
	r.Errorf(format, args...)
	panic(r)
}

// run calls f and returns what it reported; its Fatalf ends it.
func (r *recorder) run(f func()) []string {
	func() {
		defer func() {
			if v := recover(); v != nil && v != any(r) {
				panic(v)
			}
		}()
		f()
	}()
	return r.failures
}

func TestHost_failsTheTest(t *testing.T) {
	t.Run("call answered with an error", func(t *testing.T) {
		r := &recorder{TB: t}
		failures := r.run(func() {
			host := exttest.Start(r, sample(extension.API04))
			t.Cleanup(host.Close)
			host.Call("unknown", nil)
		})
		if len(failures) != 1 || !strings.Contains(failures[0], "unknown tool: unknown") {
			t.Errorf("failures %q", failures)
		}
	})
	t.Run("arguments without a JSON form", func(t *testing.T) {
		r := &recorder{TB: t}
		failures := r.run(func() {
			host := exttest.Start(r, sample(extension.API04))
			t.Cleanup(host.Close)
			host.Begin("say", func() {})
		})
		if len(failures) != 1 || !strings.Contains(failures[0], "unsupported type") {
			t.Errorf("failures %q", failures)
		}
	})
	t.Run("flags on API 0.1", func(t *testing.T) {
		r := &recorder{TB: t}
		failures := r.run(func() {
			exttest.StartWith(r, sample(extension.API01), &exttest.Options{Flags: map[string]any{"a": true}})
		})
		if len(failures) != 1 || !strings.Contains(failures[0], "has no flags") {
			t.Errorf("failures %q", failures)
		}
		for _, f := range r.cleanups {
			f()
		}
	})
	t.Run("handler that ignores its context", func(t *testing.T) {
		synctest.Test(t, func(t *testing.T) {
			r := &recorder{TB: t}
			release := make(chan struct{})
			ext := extension.New(nil)
			extension.AddTool(ext, "deaf", "Does not listen", func(context.Context, *extension.Call, struct{}) (*extension.Result, error) {
				<-release
				return nil, nil
			})
			host := exttest.Start(r, ext)
			pending := host.Begin("deaf", nil)
			started := time.Now()
			failures := r.run(host.Close)
			if len(failures) != 1 || !strings.Contains(failures[0], "ignores its context") {
				t.Errorf("failures %q", failures)
			}
			if took := time.Since(started); took > 5*time.Second {
				t.Errorf("close took %s", took)
			}
			if _, err := pending.Wait(); !exttest.IsCancelled(err) {
				t.Errorf("the call ended with %v, want a cancellation", err)
			}
			close(release)
		})
	})
}
