package extension_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/sdk-go/extension"
	"github.com/octet-dev/octet/sdk-go/extension/exttest"
)

// acting serves an extension whose one tool does something with its call, and makes that call.
func acting(t *testing.T, act func(*extension.Call) error) *line {
	t.Helper()
	l := dial(t, one(extension.API04, func(_ context.Context, call *extension.Call, _ textArgs) (*extension.Result, error) {
		return nil, act(call)
	}))
	l.open(extension.API04)
	l.send(call(extension.API04, 7, "say", `{"text":""}`))
	return l
}

const emptyResult = `{"id":7,"jsonrpc":"2.0","result":{"content":[{"text":"","type":"text"}],"is_error":false}}`

func progressFrame(sequence int, event string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","method":"$/progress","params":{"event":%s,"request_id":7,"sequence":%d}}`, event, sequence)
}

func TestCall_progressFrames(t *testing.T) {
	l := acting(t, func(call *extension.Call) error {
		return errors.Join(
			call.Progress("reading", 3, 10, "files"),
			call.Progress("none yet", 0, 10, ""),
			call.Progress("many", 5, 0, ""),
			call.Progress("nothing to count", 0, 0, ""),
			call.Progress("too much", 1<<62, 1<<62, ""),
			call.Progress("red \x1b[31malert\x1b[0m\a", 0, 0, ""),
		)
	})
	l.want(
		progressFrame(1, `{"current":3,"message":"reading","total":10,"type":"status","unit":"files"}`),
		progressFrame(2, `{"current":0,"message":"none yet","total":10,"type":"status"}`),
		progressFrame(3, `{"current":5,"message":"many","type":"status"}`),
		progressFrame(4, `{"message":"nothing to count","type":"status"}`),
		progressFrame(5, `{"current":9007199254740991,"message":"too much","total":9007199254740991,"type":"status"}`),
		progressFrame(6, `{"message":"red alert","type":"status"}`),
		emptyResult,
	)
}

func TestCall_progressRefusesNegativeCounts(t *testing.T) {
	l := acting(t, func(call *extension.Call) error {
		for _, count := range []struct {
			current, total int64
			pointer        string
		}{{-3, 10, "/current"}, {-3, 0, "/current"}, {3, -10, "/total"}, {0, -1, "/total"}} {
			var refused *wirejson.Violation
			err := call.Progress("backwards", count.current, count.total, "")
			if !errors.As(err, &refused) || refused.Kind != wirejson.OutOfRange || refused.Pointer != count.pointer {
				t.Errorf("%d of %d gives %v", count.current, count.total, err)
			}
		}
		return call.Progress("onward", 1, 1, "")
	})
	l.want(progressFrame(1, `{"current":1,"message":"onward","total":1,"type":"status"}`), emptyResult)
}

func TestCall_outputFrames(t *testing.T) {
	l := acting(t, func(call *extension.Call) error {
		return errors.Join(
			call.Output(extension.Stdout, "a\n"),
			call.Output(extension.Stderr, "\x1b[1mbold"),
			call.Output(extension.Stdout, "\xff\xfe"),
			call.Output(extension.Stdout, ""),
		)
	})
	l.want(
		progressFrame(1, `{"data":"a\n","encoding":"utf8","stream":"stdout","type":"output"}`),
		progressFrame(2, `{"data":"\u001b[1mbold","encoding":"utf8","stream":"stderr","type":"output"}`),
		progressFrame(3, `{"data":"//4=","encoding":"base64","stream":"stdout","type":"output"}`),
		emptyResult,
	)
}

func TestCall_outputInPieces(t *testing.T) {
	for _, text := range []string{
		strings.Repeat("x", 8192),
		strings.Repeat("x", 8193),
		strings.Repeat("x", 8191) + "ß" + strings.Repeat("y", 9000),
		strings.Repeat("\U0001F427", 5000),
		strings.Repeat("\xff", 20_000),
		strings.Repeat("x", 8190) + "\x80\x80\x80\x80\x80" + "tail",
	} {
		ext := one(extension.API04, func(_ context.Context, call *extension.Call, args textArgs) (*extension.Result, error) {
			return nil, call.Output(extension.Stdout, text)
		})
		r := exttest.Start(t, ext).Call("say", textArgs{})
		var whole strings.Builder
		for i, piece := range r.Output {
			whole.WriteString(piece.Text)
			if size := len(piece.Text); size > 8192 || (size < 8190 && i < len(r.Output)-1) {
				t.Errorf("piece %d of %d has %d bytes", i, len(r.Output), size)
			}
			if utf8.ValidString(text) && !utf8.ValidString(piece.Text) {
				t.Errorf("piece %d cuts a character in two", i)
			}
		}
		if whole.String() != text {
			t.Errorf("%d bytes of output arrive as %d others", len(text), whole.Len())
		}
	}
}

func TestCall_notificationFrames(t *testing.T) {
	l := acting(t, func(call *extension.Call) error {
		return errors.Join(
			call.Notify(extension.LevelInfo, "", "plain"),
			call.Notify(extension.LevelError, "a\x1b]0;title\x07b", "c\x9bd\u009b1me\rf\ng\th\x00"),
		)
	})
	l.want(
		`{"jsonrpc":"2.0","method":"notification","params":{"level":"info","message":"plain"}}`,
		`{"jsonrpc":"2.0","method":"notification","params":{"level":"error","message":"c`+"\uFFFD"+`def\ng\th","title":"ab"}}`,
		emptyResult,
	)
}

func TestCall_misuse(t *testing.T) {
	ext := one(extension.API04, func(_ context.Context, call *extension.Call, args textArgs) (*extension.Result, error) {
		if args.Text == "level" {
			return nil, call.Notify("loud", "", "x")
		}
		return nil, call.Output("stdin", "x")
	})
	host := exttest.Start(t, ext)
	for text, want := range map[string]string{
		"level":  `level "loud" is none of "info", "success", "warning" and "error"`,
		"stream": `stream "stdin" is neither "stdout" nor "stderr"`,
	} {
		if r := host.Call("say", textArgs{text}); !r.IsError || !strings.Contains(r.Text, want) {
			t.Errorf("text %q, want %q", r.Text, want)
		}
	}
	if notes := host.Notifications(); len(notes) > 0 {
		t.Errorf("sent all the same: %v", notes)
	}
}

// What a goroutine that outlives its call sends is not sent.
func TestCall_behindItsAnswer(t *testing.T) {
	var kept *extension.Call
	host := exttest.Start(t, one(extension.API04, func(_ context.Context, call *extension.Call, _ textArgs) (*extension.Result, error) {
		kept = call
		return nil, nil
	}))
	host.Call("say", textArgs{})
	all := func(when string) {
		for what, err := range map[string]error{
			"progress": kept.Progress("late", 0, 0, ""),
			"output":   kept.Output(extension.Stdout, "late"),
			"notify":   kept.Notify(extension.LevelInfo, "", "late"),
		} {
			if !errors.Is(err, extension.ErrCallOver) {
				t.Errorf("%s %s: %v, want %v", what, when, err, extension.ErrCallOver)
			}
		}
	}
	all("behind the answer")
	host.Close()
	all("behind shutdown")
	if notes := host.Notifications(); len(notes) > 0 {
		t.Errorf("sent all the same: %v", notes)
	}

	l := dial(t, one(extension.API04, func(_ context.Context, call *extension.Call, _ textArgs) (*extension.Result, error) {
		kept = call
		return nil, nil
	}))
	l.open(extension.API04)
	l.send(call(extension.API04, 7, "say", `{"text":""}`))
	l.want(emptyResult)
	_ = l.in.Close()
	if err := l.end(); err != nil {
		t.Fatal(err)
	}
	all("behind the end of the stream")
}

func TestCall_whatIsNotNegotiated(t *testing.T) {
	for _, test := range []struct {
		api              extension.API
		options          *exttest.Options
		progress, notify error
	}{
		{extension.API01, nil, extension.ErrNotNegotiated, nil},
		{extension.API02, nil, nil, nil},
		{extension.API03, nil, extension.ErrNotNegotiated, extension.ErrNotNegotiated},
		{extension.API04, nil, nil, nil},
		{extension.API04, &exttest.Options{NoProgress: true}, extension.ErrNotNegotiated, nil},
		{extension.API04, &exttest.Options{NoNotifications: true}, nil, extension.ErrNotNegotiated},
		{extension.API01, &exttest.Options{NoNotifications: true}, extension.ErrNotNegotiated, extension.ErrNotNegotiated},
	} {
		exttest.StartWith(t, one(test.api, func(_ context.Context, call *extension.Call, _ textArgs) (*extension.Result, error) {
			if err := call.Progress("x", 0, 0, ""); !errors.Is(err, test.progress) {
				t.Errorf("API %s, %+v: progress gives %v, want %v", test.api, test.options, err, test.progress)
			}
			if err := call.Output(extension.Stdout, "x"); !errors.Is(err, test.progress) {
				t.Errorf("API %s, %+v: output gives %v, want %v", test.api, test.options, err, test.progress)
			}
			if err := call.Notify(extension.LevelInfo, "", "x"); !errors.Is(err, test.notify) {
				t.Errorf("API %s, %+v: notify gives %v, want %v", test.api, test.options, err, test.notify)
			}
			return nil, nil
		}), test.options).Call("say", textArgs{})
	}
}

// Sequences go out in order whoever reports; the test host fails on one that does not grow.
func TestCall_progressFromManyGoroutines(t *testing.T) {
	const reporters, reports = 8, 20
	host := exttest.Start(t, one(extension.API04, func(_ context.Context, call *extension.Call, _ textArgs) (*extension.Result, error) {
		var all sync.WaitGroup
		for range reporters {
			all.Go(func() {
				for range reports {
					if err := call.Progress("x", 0, 0, ""); err != nil {
						t.Error(err)
					}
				}
			})
		}
		all.Wait()
		return nil, nil
	}))
	if got := len(host.Call("say", textArgs{}).Progress); got != reporters*reports {
		t.Errorf("%d reports arrived, want %d", got, reporters*reports)
	}
}

func TestCall_contextOfTheFeatureWire(t *testing.T) {
	l := dial(t, one(extension.API04, func(_ context.Context, call *extension.Call, _ textArgs) (*extension.Result, error) {
		c := call.Context()
		return extension.Text(call.Workspace(), c.ExecutionScope, fmt.Sprint(*c.Owner), c.SessionID, c.SessionName, c.Model, string(c.JSON)), nil
	}))
	l.open(extension.API04)
	where := `{"execution_scope":"scope","host":{"active_skills":[],"model":"m","session_id":"s","session_name":"n"},"resource_owner":{"extension_instance_id":"i","process_generation":2,"session_id":"o"},"workspace":"/other"}`
	l.send(`{"jsonrpc":"2.0","id":7,"method":"tool/call","params":{"name":"say","arguments":{"text":""},"context":` + where + `}}`)
	l.want(`{"id":7,"jsonrpc":"2.0","result":{"content":[{"text":"/other","type":"text"},{"text":"scope","type":"text"},{"text":"{o i 2}","type":"text"},{"text":"s","type":"text"},{"text":"n","type":"text"},{"text":"m","type":"text"},{"text":` + fmt.Sprintf("%q", where) + `,"type":"text"}],"is_error":false}}`)
}

// On 0.3 the context is opaque: one in the shape of the other wire's is understood.
func TestCall_contextOfTheCanonicalWire(t *testing.T) {
	for where, want := range map[string]string{
		`{}`:    `{"text":"/w","type":"text"},{"text":"","type":"text"},{"text":"true","type":"text"}`,
		`"any"`: `{"text":"/w","type":"text"},{"text":"","type":"text"},{"text":"true","type":"text"}`,
		`{"execution_scope":null,"host":{"model":"m"},"resource_owner":7,"workspace":"/other"}`: `{"text":"/w","type":"text"},{"text":"","type":"text"},{"text":"true","type":"text"}`,
		`{"execution_scope":null,"host":{"model":"m","session_id":null},"workspace":"/other"}`:  `{"text":"/other","type":"text"},{"text":"m","type":"text"},{"text":"true","type":"text"}`,
	} {
		l := dial(t, one(extension.API03, func(_ context.Context, call *extension.Call, _ textArgs) (*extension.Result, error) {
			c := call.Context()
			return extension.Text(call.Workspace(), c.Model, fmt.Sprint(c.Owner == nil)), nil
		}))
		l.open(extension.API03)
		l.send(`{"id":7,"jsonrpc":"2.0","method":"tool/call","params":{"arguments":{"text":""},"context":` + where + `,"name":"say"}}`)
		l.want(`{"id":7,"jsonrpc":"2.0","result":{"content":[` + want + `],"is_error":false,"metadata":null}}`)
	}
}

func TestCall_flagsAreTheCallers(t *testing.T) {
	host := exttest.StartWith(t, one(extension.API04, func(_ context.Context, call *extension.Call, args textArgs) (*extension.Result, error) {
		flags := call.Flags()
		seen := fmt.Sprint(flags)
		flags["more"] = true // changes nothing for the next call
		return extension.Text(seen), nil
	}), &exttest.Options{Flags: map[string]any{"depth": -3, "name": "x", "on": true}})
	for range 2 {
		if got := host.Call("say", textArgs{}).Text; got != "map[depth:-3 name:x on:true]" {
			t.Errorf("flags %s", got)
		}
	}
}
