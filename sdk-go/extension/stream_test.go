package extension_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/sdk-go/extension"
	"github.com/octet-dev/octet/sdk-go/extension/exttest"
)

var streamRequest = object{"stream_id": "s-1", "provider_id": "p", "model_id": "m", "request": object{}}

// events returns what a stream has sent, a line each.
func events(t *testing.T, host *exttest.Host) string {
	t.Helper()
	var lines []string
	for _, m := range host.Sent() {
		event, err := canonicalwire.DecodeProviderStreamEvent(m.Params)
		if err != nil {
			t.Fatalf("%s: %v", m.Params, err)
		}
		lines = append(lines, fmt.Sprintf("%s %d %s %s", event.StreamID, event.Sequence, event.Kind, event.Payload))
	}
	return strings.Join(lines, "\n")
}

func streaming(log *lockedBuffer, accept func(context.Context, canonicalwire.ProviderStreamRequest) error, f func(context.Context, *extension.Inference) error) *extension.Extension {
	ext := extension.New(&extension.Options{API: extension.API03, Log: log})
	ext.OnProviderStream(accept, f)
	return ext
}

func TestProviderStream_sendsItsEvents(t *testing.T) {
	send := func(kinds ...canonicalwire.ProviderStreamEventKind) func(context.Context, *extension.Inference) error {
		return func(ctx context.Context, stream *extension.Inference) error {
			for _, kind := range kinds {
				if err := stream.Send(ctx, kind, json.RawMessage(`{"a":1}`)); err != nil {
					return err
				}
			}
			return nil
		}
	}
	for name, c := range map[string]struct {
		run       func(context.Context, *extension.Inference) error
		want, log string
	}{
		"finished by itself": {send("started", "finished"), "s-1 0 started {\"a\":1}\ns-1 1 finished {\"a\":1}", ""},
		"finished for it":    {send("started"), "s-1 0 started {\"a\":1}\ns-1 1 finished {}", ""},
		"failed":             {func(context.Context, *extension.Inference) error { return errors.New(`no "luck"`) }, `s-1 0 error {"message":"no \"luck\""}`, `stream "s-1": no "luck"`},
		"panicked":           {func(context.Context, *extension.Inference) error { panic("oh no") }, `s-1 0 error {"message":"the handler of the stream did not return"}`, "stream panicked: oh no"},
		"exited":             {func(context.Context, *extension.Inference) error { runtime.Goexit(); return nil }, `s-1 0 error {"message":"the handler of the stream did not return"}`, "stream ended its goroutine"},
		"failed at length":   {func(context.Context, *extension.Inference) error { return errors.New(strings.Repeat("x", 5000)) }, `s-1 0 error {"message":"` + strings.Repeat("x", 4096) + `"}`, "xxx"},
		"behind its end": {func(ctx context.Context, stream *extension.Inference) error {
			if err := errors.Join(stream.Send(ctx, "error", json.RawMessage(`{}`)), stream.Send(ctx, "usage", json.RawMessage(`{}`))); err == nil || !strings.Contains(err.Error(), "the stream has ended") {
				return fmt.Errorf("behind the end: %v", err)
			}
			return nil
		}, `s-1 0 error {}`, ""},
		"out of bounds": {func(ctx context.Context, stream *extension.Inference) error {
			for _, payload := range []string{`null`, `"` + strings.Repeat("x", canonicalwire.MaxProviderStreamEventBytes) + `"`} {
				var v *wirejson.Violation
				if err := stream.Send(ctx, "usage", json.RawMessage(payload)); !errors.As(err, &v) || v.Pointer != "/payload" {
					return fmt.Errorf("%.9s: %v", payload, err)
				}
			}
			return nil
		}, `s-1 0 finished {}`, ""},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log lockedBuffer
				host := exttest.Start(t, streaming(&log, nil, c.run))
				got, err := host.Ask(canonicalwire.MethodProviderStream, streamRequest)
				if err != nil || string(got) != `{"accepted":true,"stream_id":"s-1"}` {
					t.Errorf("answered %s, %v", got, err)
				}
				synctest.Wait()
				if got := events(t, host); got != c.want {
					t.Errorf("sent %s\nwant %s", got, c.want)
				}
				if !strings.Contains(log.String(), c.log) || c.log == "" && log.String() != "" {
					t.Errorf("log %s", log.String())
				}
			})
		})
	}
}

func TestProviderStream_declines(t *testing.T) {
	for name, c := range map[string]struct {
		err  error
		want string
	}{
		"declined": {&extension.Declined{Reason: "no such model"}, `{"accepted":false,"reason":"no such model","stream_id":"s-1"}`},
		"failed":   {errors.New("secret"), ""},
	} {
		synctest.Test(t, func(t *testing.T) {
			var log lockedBuffer
			host := exttest.Start(t, streaming(&log, func(context.Context, canonicalwire.ProviderStreamRequest) error { return c.err },
				func(context.Context, *extension.Inference) error { t.Error("a declined stream runs"); return nil }))
			got, err := host.Ask(canonicalwire.MethodProviderStream, streamRequest)
			var answer *exttest.Error
			if string(got) != c.want || (c.want == "") != (errors.As(err, &answer) && answer.Code == canonicalwire.CodeInternalError) {
				t.Errorf("%s: %s, %v", name, got, err)
			}
			synctest.Wait()
			if sent := host.Sent(); len(sent) != 0 {
				t.Errorf("%s: sent %v", name, sent)
			}
		})
	}
}

func TestProviderStream_isCancelled(t *testing.T) {
	for name, end := range map[string]func(*exttest.Host){
		"by the host": func(h *exttest.Host) {
			h.Tell(canonicalwire.MethodProviderCancel, object{"stream_id": "s-1", "reason": "user"})
		},
		"by a shutdown": func(h *exttest.Host) { h.Close() },
	} {
		synctest.Test(t, func(t *testing.T) {
			var log lockedBuffer
			ended := make(chan error, 2)
			host := exttest.Start(t, streaming(&log, nil, func(ctx context.Context, stream *extension.Inference) error {
				<-ctx.Done()
				ended <- context.Cause(ctx)
				return ctx.Err()
			}))
			for want := range 2 { // the second one while the first is open: declined
				got, err := host.Ask(canonicalwire.MethodProviderStream, streamRequest)
				if accepted := strings.Contains(string(got), `"accepted":true`); err != nil || accepted != (want == 0) {
					t.Errorf("%s: request %d: %s, %v", name, want, got, err)
				}
			}
			host.Tell(canonicalwire.MethodProviderCancel, object{"stream_id": "another"})
			synctest.Wait()
			if len(ended) != 0 {
				t.Errorf("%s: ended by the cancellation of another stream", name)
			}
			start := time.Now()
			end(host)
			if err := <-ended; err == nil || time.Since(start) != 0 {
				t.Errorf("%s: ended with %v after %s", name, err, time.Since(start))
			}
		})
	}
}

func TestEventsV03(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log lockedBuffer
		var heard []string
		ext := extension.New(&extension.Options{API: extension.API03, Log: &log})
		ext.EventsV03().BusLifecycle(func(_ context.Context, event canonicalwire.BusLifecycleParams) {
			heard = append(heard, string(event.AppendJSON(nil)))
		})
		host := exttest.Start(t, ext)
		if !strings.Contains(host.Initialized(), canonicalwire.CapabilityEventBus) {
			t.Errorf("selected %s", host.Initialized())
		}
		host.Tell(canonicalwire.MethodBusLifecycle, object{"kind": "binding", "binding_id": "b", "binding_revision": 1})
		host.Tell(canonicalwire.MethodBusLifecycle, object{"kind": "nonsense"})
		synctest.Wait()
		if fmt.Sprint(heard) != `[{"binding_id":"b","binding_revision":1,"kind":"binding"}]` || !strings.Contains(log.String(), "bus/lifecycle dropped, it is malformed") {
			t.Errorf("heard %v; log %s", heard, log.String())
		}
	})
}

// TestRegister_misuse panics with the thing, the rule and the remedy.
func TestRegister_misuse(t *testing.T) {
	quiet := func(api extension.API) *extension.Extension { return extension.New(quietOptions(api)) }
	run := func(context.Context, *extension.CommandCall, []string) (*extension.CommandResult, error) {
		return nil, nil
	}
	press := func(context.Context, *extension.Scope) {}
	for want, add := range map[string]func(){
		`event turn/started: API 0.1 does not have it: use API "0.2", "0.4"`: func() {
			quiet(extension.API01).Events().TurnStarted(nil)
		},
		`hook model_turn_end: API 0.2 does not have it: use API "0.4"`: func() { quiet(extension.API02).Hooks().ModelTurnEnd(nil) },
		`hook "before_prompt" has a handler already`: func() {
			hooks := quiet(extension.API04).Hooks()
			hooks.BeforePrompt(nil)
			hooks.BeforePrompt(nil)
		},
		`event bus/event: API 0.4 does not have it`:   func() { quiet(extension.API04).EventsV03().BusEvent(nil) },
		`command "go": API 0.3 does not have it`:      func() { quiet(extension.API03).AddCommand(extension.Command{Name: "go", Description: "d", Run: run}) },
		`command "go": it has no Run`:                 func() { quiet(extension.API04).AddCommand(extension.Command{Name: "go", Description: "d"}) },
		`command "/go": CommandDefinition at "/name"`: func() { quiet(extension.API04).AddCommand(extension.Command{Name: "/go", Description: "d", Run: run}) },
		`command "go": a command of that name has been add`: func() {
			twice(func(e *extension.Extension) { e.AddCommand(extension.Command{Name: "go", Description: "d", Run: run}) })
		},
		`shortcut "s": it has no Run`: func() { quiet(extension.API04).AddShortcut(extension.Shortcut{ID: "s", Key: "k", Description: "d"}) },
		`shortcut "s": a shortcut of that id has been add`: func() {
			twice(func(e *extension.Extension) {
				e.AddShortcut(extension.Shortcut{ID: "s", Key: "k", Description: "d", Run: press})
			})
		},
		`shortcut "s": ShortcutRegisterParams at "/key"`: func() {
			quiet(extension.API04).AddShortcut(extension.Shortcut{ID: "s", Key: strings.Repeat("k", 129), Description: "d", Run: press})
		},
		`migration adapter: it needs Detect and Import`:          func() { quiet(extension.API03).SetMigration(extension.Migration{}) },
		`API 0.4 has nothing called "event_bus" to use`:          func() { extension.New(&extension.Options{Uses: []string{"event_bus"}}) },
		`API 0.3 has nothing called "composer" to use`:           func() { extension.New(&extension.Options{API: extension.API03, Uses: []string{"composer"}}) },
		`API 0.1 has nothing called "dynamic_tools" to use`:      func() { extension.New(&extension.Options{API: extension.API01, DynamicTools: true}) },
		`ready handler: the extension is already serving: regis`: func() { e := quiet(extension.API04); exttest.Start(t, e); e.OnReady(press) },
		`ready handler: the extension is nil: make one with New`: func() { var e *extension.Extension; e.OnReady(press) },
	} {
		func() {
			defer func() {
				if text := fmt.Sprint(recover()); !strings.Contains(text, want) {
					t.Errorf("panic %q, want one with %q", text, want)
				}
			}()
			add()
		}()
	}
}

func twice(add func(*extension.Extension)) {
	e := extension.New(quietOptions(extension.API04))
	add(e)
	add(e)
}
