package extension_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"runtime"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/octet-dev/octet/sdk-go/extension"
)

func TestServe_callsAndErrors(t *testing.T) {
	for _, test := range []struct {
		api         extension.API
		frame, want string
	}{
		{extension.API01, call("0.1", 7, "say", `{"text":"a"}`), `{"id":7,"jsonrpc":"2.0","result":{"content":"a","is_error":false}}`},
		{extension.API02, call("0.2", 7, "say", `{"text":"a"}`), `{"id":7,"jsonrpc":"2.0","result":{"content":[{"text":"a","type":"text"}],"is_error":false}}`},
		{extension.API03, call("0.3", 7, "say", `{"text":"a"}`), `{"id":7,"jsonrpc":"2.0","result":{"content":[{"text":"a","type":"text"}],"is_error":false,"metadata":null}}`},
		{extension.API04, call("0.4", 7, "say", `{"text":"a"}`), `{"id":7,"jsonrpc":"2.0","result":{"content":[{"text":"a","type":"text"}],"is_error":false}}`},
		{extension.API04, call("0.4", 7, "nope", `{}`), `{"error":{"code":-32601,"message":"unknown tool: nope"},"id":7,"jsonrpc":"2.0"}`},
		{extension.API03, call("0.3", 7, "nope", `{}`), `{"error":{"code":-32601,"data":{"method":"nope"},"message":"unknown or unnegotiated method"},"id":7,"jsonrpc":"2.0"}`},
		{extension.API04, call("0.4", 7, "say", `{"text":1}`), `{"error":{"code":-32602,"data":{"detail":"got number, want string","pointer":"/arguments/text","violation":"type"},"message":"Invalid params at \"/arguments/text\": got number, want string"},"id":7,"jsonrpc":"2.0"}`},
		{extension.API03, call("0.3", 7, "say", `{"text":1}`), `{"error":{"code":-32602,"data":{"detail":"got number, want string","pointer":"/arguments/text","violation":"type"},"message":"invalid params"},"id":7,"jsonrpc":"2.0"}`},
		{extension.API03, call("0.3", 7, "say", `[]`), `{"error":{"code":-32602,"data":{"detail":"got array, want object","pointer":"/arguments","violation":"not_object"},"message":"invalid params"},"id":7,"jsonrpc":"2.0"}`},
		{extension.API04, strings.Replace(call("0.4", 7, "say", `{"text":"a"}`), `"context"`, `"catalog_revision":0,"context"`, 1), `{"error":{"code":-32602,"data":{"detail":"the catalog has no revisions: dynamic_tools was not selected","pointer":"/catalog_revision","violation":"forbidden"},"message":"Invalid params at \"/catalog_revision\": the catalog has no revisions: dynamic_tools was not selected"},"id":7,"jsonrpc":"2.0"}`},
		{extension.API03, call("0.3", 7, strings.Repeat("n", 129), `{}`), `{"error":{"code":-32012,"data":{"detail":"the string has 129 bytes, want at most max_tool_name_bytes (128)","pointer":"/name","violation":"bytes"},"message":"extension resource exhausted"},"id":7,"jsonrpc":"2.0"}`},
		{extension.API03, `{"id":7,"jsonrpc":"2.0","method":"shutdown","params":{"now":true}}`, `{"error":{"code":-32602,"data":{"detail":"ShutdownParams has no member \"now\"; leave it out","pointer":"/now","violation":"unknown"},"message":"invalid params"},"id":7,"jsonrpc":"2.0"}`},
		{extension.API04, `{"jsonrpc":"2.0","id":7,"method":"dance","params":{}}`, `{"error":{"code":-32601,"message":"Method not found: dance"},"id":7,"jsonrpc":"2.0"}`},
	} {
		t.Run(string(test.api)+" "+test.frame, func(t *testing.T) {
			l := dial(t, one(test.api, echo))
			l.open(test.api)
			l.send(test.frame)
			l.want(test.want)
			l.send(call(test.api, 8, "say", `{"text":"alive"}`)) // and goes on serving
			if got, err := l.out.ReadString('\n'); err != nil || !strings.Contains(got, "alive") {
				t.Errorf("the next call gives %s (%v)", got, err)
			}
		})
	}
}

func TestServe_shutdownAnswersWhatIsOwedFirst(t *testing.T) {
	for api, want := range map[extension.API][]string{
		extension.API01: {`{"error":{"code":-32000,"data":{"reason":"shutdown"},"message":"extension error"},"id":7,"jsonrpc":"2.0"}`, shutdownDone},
		extension.API02: {`{"error":{"code":-32800,"data":{"reason":"shutdown"},"message":"request cancelled"},"id":7,"jsonrpc":"2.0"}`, shutdownDone},
		extension.API03: {`{"error":{"code":-32800,"data":{"reason":"shutdown","terminal":"cancelled"},"message":"request cancelled"},"id":7,"jsonrpc":"2.0"}`, `{"id":9,"jsonrpc":"2.0","result":{"terminal":"shutdown"}}`},
		extension.API04: {`{"error":{"code":-32800,"data":{"reason":"shutdown"},"message":"request cancelled"},"id":7,"jsonrpc":"2.0"}`, shutdownDone},
	} {
		t.Run(string(api), func(t *testing.T) {
			l := dial(t, one(api, listening))
			l.open(api)
			l.send(call(api, 7, "say", `{"text":""}`), shutdown)
			l.want(want...)
			if err := l.end(); err != nil {
				t.Errorf("served %v", err)
			}
		})
	}
}

func TestServe_shutdownWithoutParams(t *testing.T) {
	l := dial(t, one(extension.API04, echo))
	l.open(extension.API04)
	l.send(`{"jsonrpc":"2.0","id":9,"method":"shutdown"}`)
	l.want(shutdownDone)
	if err := l.end(); err != nil {
		t.Errorf("served %v", err)
	}
}

func TestServe_cancellation(t *testing.T) {
	for api, want := range map[extension.API]string{
		extension.API02: `{"error":{"code":-32800,"data":{"reason":"user"},"message":"request cancelled"},"id":7,"jsonrpc":"2.0"}`,
		extension.API03: `{"error":{"code":-32800,"data":{"reason":"user","terminal":"cancelled"},"message":"request cancelled"},"id":7,"jsonrpc":"2.0"}`,
		extension.API04: `{"error":{"code":-32800,"data":{"reason":"user"},"message":"request cancelled"},"id":7,"jsonrpc":"2.0"}`,
	} {
		t.Run(string(api), func(t *testing.T) {
			l := dial(t, one(api, listening))
			l.open(api)
			l.send(cancelSeven) // of an id that is not in use: no effect, nothing remembered
			l.send(call(api, 7, "say", `{"text":""}`), call(api, 8, "say", `{"text":""}`), cancelSeven, cancelSeven)
			l.want(want)
			l.send(shutdown)
			if got, _ := l.out.ReadString('\n'); !strings.Contains(got, `"id":8`) {
				t.Errorf("the other call was disturbed: %s", got)
			}
		})
	}
}

// What the handler returns although it was cancelled is an ordinary outcome; only an error becomes the
// cancellation.
func TestServe_cancelledCallThatSucceeds(t *testing.T) {
	l := dial(t, one(extension.API04, func(ctx context.Context, _ *extension.Call, _ textArgs) (*extension.Result, error) {
		<-ctx.Done()
		return extension.Text(context.Cause(ctx).Error()), nil
	}))
	l.open(extension.API04)
	l.send(call(extension.API04, 7, "say", `{"text":""}`), cancelSeven)
	l.want(`{"id":7,"jsonrpc":"2.0","result":{"content":[{"text":"request cancelled: user","type":"text"}],"is_error":false}}`)
}

func TestServe_cancelledCallThatFailsOtherwise(t *testing.T) {
	l := dial(t, one(extension.API04, func(ctx context.Context, _ *extension.Call, _ textArgs) (*extension.Result, error) {
		<-ctx.Done()
		return nil, errors.New("the download broke off")
	}))
	l.open(extension.API04)
	l.send(call(extension.API04, 7, "say", `{"text":""}`), cancelSeven)
	l.want(`{"error":{"code":-32800,"data":{"reason":"user"},"message":"request cancelled"},"id":7,"jsonrpc":"2.0"}`)
}

func TestServe_deafHandler(t *testing.T) {
	for _, trigger := range []string{cancelSeven, shutdown} {
		synctest.Test(t, func(t *testing.T) {
			release := make(chan struct{})
			l := dial(t, one(extension.API04, deaf(release)))
			l.open(extension.API04)
			started := time.Now()
			l.send(call(extension.API04, 7, "say", `{"text":""}`), trigger)
			got, err := l.out.ReadString('\n')
			if err != nil || !strings.Contains(got, `"code":-32800`) {
				t.Errorf("got %s (%v), want a cancellation", got, err)
			}
			if took := time.Since(started); took < time.Second || took > 1100*time.Millisecond {
				t.Errorf("answered after %s, want half of the two seconds a host gives", took)
			}
			close(release)
			if trigger == cancelSeven {
				l.send(shutdown)
			}
			l.want(shutdownDone)
			if err := l.end(); err != nil {
				t.Errorf("served %v", err)
			}
		})
	}
}

func TestServe_handlerFailures(t *testing.T) {
	for _, test := range []struct {
		name    string
		handler func() (*extension.Result, error)
		want    string // the result
		log     string // what stderr has to hold; empty: nothing may be there
	}{
		{"tool error", func() (*extension.Result, error) { return nil, extension.Errorf("no %s", "luck") }, `{"content":[{"text":"no luck","type":"text"}],"is_error":true}`, ""},
		{"wrapped tool error", func() (*extension.Result, error) { return nil, fmt.Errorf("outer: %w", extension.Errorf("inner")) }, `{"content":[{"text":"inner","type":"text"}],"is_error":true}`, ""},
		{"other error", func() (*extension.Result, error) { return nil, io.ErrUnexpectedEOF }, `{"content":[{"text":"tool \"say\": unexpected EOF","type":"text"}],"is_error":true}`, `extension: tool "say": unexpected EOF`},
		{"panic", func() (*extension.Result, error) { panic("oh no") }, `{"content":[{"text":"tool \"say\": panicked: oh no","type":"text"}],"is_error":true}`, "goroutine "},
		{"nil dereference", func() (*extension.Result, error) {
			var r *extension.Result
			r.IsError = true
			return r, nil
		}, `{"content":[{"text":"tool \"say\": panicked: runtime error: invalid memory address or nil pointer dereference","type":"text"}],"is_error":true}`, "goroutine "},
		{"long error", func() (*extension.Result, error) {
			return nil, errors.New(strings.Repeat("é", 1<<19))
		}, `{"content":[{"text":"tool \"say\": ` + strings.Repeat("é", (4<<10-12)/2) + `","type":"text"}],"is_error":true}`, "é"},
		{"long error cut inside of a character", func() (*extension.Result, error) {
			return nil, errors.New("x" + strings.Repeat("é", 1<<19))
		}, `{"content":[{"text":"tool \"say\": x` + strings.Repeat("é", (4<<10-14)/2) + `","type":"text"}],"is_error":true}`, "é"},
		{"long panic", func() (*extension.Result, error) { panic(strings.Repeat("x", 1<<20)) }, `{"content":[{"text":"tool \"say\": panicked: ` + strings.Repeat("x", 4<<10-22) + `","type":"text"}],"is_error":true}`, "goroutine "},
		{"long tool error", func() (*extension.Result, error) {
			return nil, extension.Errorf("%s", strings.Repeat("x", 1<<13))
		}, `{"content":[{"text":"` + strings.Repeat("x", 1<<13) + `","type":"text"}],"is_error":true}`, ""},
		{"nothing", func() (*extension.Result, error) { return nil, nil }, `{"content":[{"text":"","type":"text"}],"is_error":false}`, ""},
		{"failed result", func() (*extension.Result, error) {
			return &extension.Result{Content: []string{"a", "b"}, IsError: true}, nil
		}, `{"content":[{"text":"a","type":"text"},{"text":"b","type":"text"}],"is_error":true}`, ""},
		{"metadata", func() (*extension.Result, error) {
			return &extension.Result{Metadata: map[string]any{"b": 1.5, "a": []int(nil)}}, nil
		}, `{"content":[{"text":"","type":"text"}],"is_error":false,"metadata":{"a":[],"b":1.5}}`, ""},
		{"metadata without a JSON form", func() (*extension.Result, error) {
			return &extension.Result{Metadata: map[string]any{"f": func() {}}}, nil
		}, "", "the metadata has no JSON form"},
		{"text that is not UTF-8", func() (*extension.Result, error) { return extension.Text("a\xffb"), nil }, `{"content":[{"text":"a` + "\uFFFD" + `b","type":"text"}],"is_error":false}`, ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			var log bytes.Buffer
			ext := extension.New(&extension.Options{Log: &log})
			extension.AddTool(ext, "say", "Says it", func(context.Context, *extension.Call, textArgs) (*extension.Result, error) { return test.handler() })
			l := dial(t, ext)
			l.send(strings.Replace(initialize(extension.API04), `"tools":[]`, `"tools":["say"]`, 1))
			if _, err := l.out.ReadString('\n'); err != nil {
				t.Fatal(err)
			}
			l.send(call(extension.API04, 7, "say", `{"text":""}`))
			got, err := l.out.ReadString('\n')
			if want := `{"id":7,"jsonrpc":"2.0","result":` + test.want + "}\n"; err != nil || (test.want != "" && got != want) {
				t.Errorf("got  %s (%v)\nwant %s", got, err, want)
			}
			l.send(shutdown)
			l.want(shutdownDone)
			if err := l.end(); err != nil {
				t.Errorf("served %v", err)
			}
			if text := log.String(); !strings.Contains(text, test.log) || (test.log == "") != (text == "") {
				t.Errorf("stderr is %q, want %q in it", text, test.log)
			}
		})
	}
}

// A handler that ends its goroutine, as a failing assertion of a test does, has failed like any other.
func TestServe_handlerThatEndsItsGoroutine(t *testing.T) {
	for _, api := range everyAPI {
		var log lockedBuffer
		ext := extension.New(&extension.Options{API: api, Log: &log})
		extension.AddTool(ext, "say", "Says it", func(context.Context, *extension.Call, textArgs) (*extension.Result, error) {
			runtime.Goexit()
			return nil, nil
		})
		l := dial(t, ext)
		l.open(api)
		l.send(call(api, 7, "say", `{"text":""}`))
		got, err := l.out.ReadString('\n')
		if err != nil || !strings.Contains(got, `tool \"say\": ended its goroutine: return an error`) || !strings.Contains(got, `"is_error":true`) {
			t.Errorf("API %s: got %s (%v)", api, got, err)
		}
		l.send(shutdown)
		l.next(`"id":9,`)
		if err := l.end(); err != nil {
			t.Errorf("API %s: served %v", api, err)
		}
		if !strings.Contains(log.String(), `tool "say": ended its goroutine`) {
			t.Errorf("API %s: stderr is %q", api, log.String())
		}
	}
}

// At the end of stdin calls that are running may finish; nobody has cancelled them.
func TestServe_endOfInput(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := dial(t, one(extension.API04, func(ctx context.Context, _ *extension.Call, _ textArgs) (*extension.Result, error) {
			time.Sleep(900 * time.Millisecond)
			return extension.Text("done"), ctx.Err()
		}))
		l.open(extension.API04)
		l.send(call(extension.API04, 7, "say", `{"text":""}`))
		_ = l.in.Close()
		l.want(`{"id":7,"jsonrpc":"2.0","result":{"content":[{"text":"done","type":"text"}],"is_error":false}}`)
		if err := l.end(); err != nil {
			t.Errorf("served %v", err)
		}
	})
}

func TestServe_endOfInputIsABound(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := dial(t, one(extension.API04, listening))
		l.open(extension.API04)
		l.send(call(extension.API04, 7, "say", `{"text":""}`))
		started := time.Now()
		_ = l.in.Close()
		if err := l.end(); err != nil {
			t.Errorf("served %v", err)
		}
		if took := time.Since(started); took < time.Second || took > 1100*time.Millisecond {
			t.Errorf("ended after %s, want a second", took)
		}
	})
}

func TestServe_lostOutput(t *testing.T) {
	in, toExtension := io.Pipe()
	out, w := io.Pipe()
	served := make(chan error, 1)
	go func() { served <- one(extension.API04, echo).Serve(context.Background(), in, w) }()
	_ = out.Close()
	if _, err := io.WriteString(toExtension, initialize(extension.API04)+"\n"); err != nil {
		t.Fatal(err)
	}
	if err := within(t, "the end", served); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("served %v, want the error of the stream", err)
	}
}

func TestServe_contextEnds(t *testing.T) {
	in, toExtension := io.Pipe()
	_, out := io.Pipe()
	defer toExtension.Close()
	ctx, cancel := context.WithCancelCause(context.Background())
	served := make(chan error, 1)
	go func() { served <- one(extension.API04, echo).Serve(ctx, in, out) }()
	why := errors.New("enough")
	cancel(why)
	if err := within(t, "the end", served); !errors.Is(err, why) {
		t.Errorf("served %v, want %v", err, why)
	}
}

// Frames over the bound: the tool is told nothing, the host gets an error or, where results have room for one, a
// failed result; the session lives.
func TestServe_resultOverTheFrameBound(t *testing.T) {
	for api, want := range map[extension.API]string{
		extension.API03: `{"error":{"code":-32012,"message":"extension resource exhausted"},"id":7,"jsonrpc":"2.0"}`,
		extension.API04: `{"id":7,"jsonrpc":"2.0","result":{"content":[{"text":"the result is too large: feature frame of the extension: payload exceeds the bound of 1048576 bytes (EXT04-FRAME-004)","type":"text"}],"is_error":true}}`,
		extension.API01: `{"id":7,"jsonrpc":"2.0","result":{"content":"the result is too large: feature frame of the extension: payload exceeds the bound of 1048576 bytes (EXT04-FRAME-004)","is_error":true}}`,
	} {
		l := dial(t, one(api, func(context.Context, *extension.Call, textArgs) (*extension.Result, error) {
			return extension.Text(strings.Repeat("x", 1<<20)), nil
		}))
		l.open(api)
		l.send(call(api, 7, "say", `{"text":""}`))
		l.want(want)
		l.send(shutdown)
		if got, err := l.out.ReadString('\n'); err != nil || !strings.Contains(got, `"id":9`) {
			t.Errorf("API %s: %s (%v)", api, got, err)
		}
	}
}

// On 0.3 the selected bound holds for both directions.
func TestServe_selectedFrameBound(t *testing.T) {
	l := dial(t, one(extension.API03, func(_ context.Context, _ *extension.Call, args textArgs) (*extension.Result, error) {
		return extension.Text(args.Text, args.Text), nil
	}))
	l.send(strings.Replace(initialize(extension.API03), `"max_frame_bytes":65536`, `"max_frame_bytes":1500`, 1))
	if got, err := l.out.ReadString('\n'); err != nil || !strings.Contains(got, `"max_frame_bytes":1500`) {
		t.Fatalf("initialize: %s (%v)", got, err)
	}
	l.send(call(extension.API03, 7, "say", `{"text":"`+strings.Repeat("x", 900)+`"}`))
	l.want(`{"error":{"code":-32012,"message":"extension resource exhausted"},"id":7,"jsonrpc":"2.0"}`)
	go io.WriteString(l.in, call(extension.API03, 8, "say", `{"text":"`+strings.Repeat("x", 1500)+`"}`)+"\n")
	if err := l.end(); err == nil || !strings.Contains(err.Error(), "payload exceeds the bound of 1500 bytes") {
		t.Errorf("served %v, want a frame over the bound", err)
	}
}

// As many calls as were selected run at the same time; one more is refused, on 0.3 by its own error.
func TestServe_concurrentCalls(t *testing.T) {
	for api, refusal := range map[extension.API]string{
		extension.API03: `{"error":{"code":-32012,"message":"extension resource exhausted"},"id":102,"jsonrpc":"2.0"}`,
		extension.API04: `{"error":{"code":-32000,"message":"extension request queue is full"},"id":102,"jsonrpc":"2.0"}`,
	} {
		var running sync.WaitGroup
		running.Add(2)
		ext := extension.New(&extension.Options{API: api, Concurrency: 2, Log: io.Discard})
		extension.AddTool(ext, "say", "Says it", func(ctx context.Context, _ *extension.Call, args textArgs) (*extension.Result, error) {
			running.Done()
			<-ctx.Done()
			return extension.Text(args.Text), nil
		})
		l := dial(t, ext)
		l.open(api)
		l.send(call(api, 100, "say", `{"text":""}`), call(api, 101, "say", `{"text":""}`))
		running.Wait() // both are running
		l.send(call(api, 102, "say", `{"text":""}`))
		l.want(refusal)
		l.send(shutdown) // is never refused
		for range 3 {
			if got, err := l.out.ReadString('\n'); err != nil || !strings.Contains(got, `"result"`) {
				t.Errorf("API %s: %s (%v)", api, got, err)
			}
		}
	}
}
