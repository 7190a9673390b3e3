package extension_test

import (
	"context"
	"fmt"
	"runtime"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/sdk-go/extension"
	"github.com/octet-dev/octet/sdk-go/extension/exttest"
)

func settled(delta string) featurewire.MessageUpdatedParams {
	return featurewire.MessageUpdatedParams{MessageID: "m", Delta: delta, Deltas: 1}
}

// listener hears updates of messages with a handler of the test.
func listener(log *lockedBuffer, handle func(ctx context.Context, event featurewire.MessageUpdatedParams)) *extension.Extension {
	ext := extension.New(&extension.Options{Log: log})
	ext.Events().MessageUpdated(handle)
	extension.AddTool(ext, "caught", "Waits for events", func(ctx context.Context, call *extension.Call, _ struct{}) (*extension.Result, error) {
		return extension.Text("up"), call.CatchUp(ctx)
	})
	return ext
}

func TestEvents_comeOneAtATimeInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log lockedBuffer
		var heard []string // a race would be found: the handlers share it without a lock
		host := exttest.Start(t, listener(&log, func(_ context.Context, event featurewire.MessageUpdatedParams) {
			time.Sleep(time.Millisecond)
			heard = append(heard, event.Delta)
		}))
		var want []string
		for i := range 100 {
			want = append(want, fmt.Sprint(i))
			host.Tell(featurewire.MethodMessageUpdated, settled(want[i]))
		}
		host.Call("caught", nil)
		if fmt.Sprint(heard) != fmt.Sprint(want) {
			t.Errorf("heard %v", heard)
		}
	})
}

// A slow handler holds up neither requests nor answers; what it cannot take is dropped with one line.
func TestEvents_floodIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log lockedBuffer
		release := make(chan struct{})
		heard := 0
		host := exttest.Start(t, listener(&log, func(context.Context, featurewire.MessageUpdatedParams) {
			<-release
			heard++
		}))
		for range 5000 {
			host.Tell(featurewire.MethodMessageUpdated, settled(""))
		}
		call := host.Begin("caught", nil)
		synctest.Wait()
		close(release)
		if result, err := call.Wait(); err != nil || result.IsError {
			t.Errorf("a call behind the flood: %v, %v", result, err)
		}
		if heard != 4096 && heard != 4097 { // one more where the first handler began before the queue was full
			t.Errorf("%d events were handled", heard)
		}
		if n := strings.Count(log.String(), "too many events wait"); n != 1 {
			t.Errorf("%d lines tell about it: %s", n, log.String())
		}
		before := heard
		host.Tell(featurewire.MethodMessageUpdated, settled("x"))
		host.Call("caught", nil)
		if heard != before+1 {
			t.Errorf("behind the flood events are still dropped: %d after %d; log %s", heard, before, log.String())
		}
	})
}

// Large events are bounded by their bytes.
func TestEvents_floodOfLargeOnesIsBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log lockedBuffer
		release := make(chan struct{})
		heard := 0
		host := exttest.Start(t, listener(&log, func(context.Context, featurewire.MessageUpdatedParams) {
			<-release
			heard++
		}))
		large := settled(strings.Repeat("x", 1_000_000))
		for range 20 {
			host.Tell(featurewire.MethodMessageUpdated, large)
		}
		synctest.Wait()
		close(release)
		host.Call("caught", nil)
		if heard != 16 && heard != 17 || !strings.Contains(log.String(), "too many events wait") {
			t.Errorf("%d events were handled; log %s", heard, log.String())
		}
	})
}

func TestEvents_surviveFailingHandlersAndMalformedOnes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log lockedBuffer
		heard := 0
		host := exttest.Start(t, listener(&log, func(_ context.Context, event featurewire.MessageUpdatedParams) {
			heard++
			switch event.Delta {
			case "panic":
				panic("oh no")
			case "exit":
				runtime.Goexit()
			}
		}))
		for _, params := range []any{settled("panic"), map[string]any{}, settled("exit"), map[string]any{"message_id": 7}, settled("fine")} {
			host.Tell(featurewire.MethodMessageUpdated, params)
		}
		host.Call("caught", nil)
		if heard != 3 || strings.Count(log.String(), "message/updated dropped, it is malformed") != 2 || !strings.Contains(log.String(), "event handler panicked: oh no") || !strings.Contains(log.String(), "event handler ended its goroutine") {
			t.Errorf("heard %d; log %s", heard, log.String())
		}
	})
}

func TestEvents_endWithTheSession(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var log lockedBuffer
		began := 0
		host := exttest.Start(t, listener(&log, func(ctx context.Context, _ featurewire.MessageUpdatedParams) {
			began++
			<-ctx.Done()
		}))
		host.Tell(featurewire.MethodMessageUpdated, settled("1"))
		host.Tell(featurewire.MethodMessageUpdated, settled("2"))
		synctest.Wait()
		host.Close()
		if began != 1 {
			t.Errorf("%d handlers began", began)
		}
	})
}

// Registrations ask for their features; subscriptions name what is heard.
func TestEvents_askForTheirFeatures(t *testing.T) {
	ignore := func(context.Context, featurewire.TurnStartedParams) {}
	ext := extension.New(quietOptions(extension.API04))
	ext.Events().TurnStarted(ignore)
	host := exttest.Start(t, ext)
	selected := host.Initialized()
	if !strings.Contains(selected, `"lifecycle_events":["turn/started"]`) || !strings.Contains(selected, `"features":["request_cancellation","content_parts","request_progress","progress_decoration","lifecycle_events"]`) {
		t.Errorf("selected %s", selected)
	}
	plain := exttest.Start(t, extension.New(quietOptions(extension.API04))).Initialized()
	if strings.Contains(plain, "lifecycle_events") {
		t.Errorf("without a handler: %s", plain)
	}
	withheld := exttest.StartWith(t, ext, &exttest.Options{Withhold: []string{featurewire.FeatureLifecycleEvents}}).Initialized()
	if strings.Contains(withheld, "lifecycle_events") {
		t.Errorf("where it is not offered: %s", withheld)
	}
}

func TestShortcuts(t *testing.T) {
	for name, c := range map[string]struct {
		options *exttest.Options
		runs    int
		log     string
	}{
		"admitted": {nil, 1, ""},
		"refused": {
			&exttest.Options{Services: map[string]exttest.Service{"shortcuts.register": exttest.Refuse(featurewire.CodeInvalidParams, "invalid_request taken")}}, 0,
			`shortcut "a:b" will not run: shortcut/register: invalid_request taken (-32602)`,
		},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var log lockedBuffer
				pressed := 0
				ext := extension.New(&extension.Options{Log: &log})
				ext.AddShortcut(extension.Shortcut{ID: "a:b", Key: "ctrl+x", Description: "Does it", Run: func(_ context.Context, session *extension.Scope) {
					pressed++
					if err := session.Notify(extension.LevelInfo, "", "pressed"); err != nil {
						t.Error(err)
					}
				}})
				host := exttest.StartWith(t, ext, c.options)
				sent := host.Sent()
				if len(sent) != 1 || string(sent[0].Params) != `{"description":"Does it","id":"a:b","key":"ctrl+x","parent_request_id":1}` {
					t.Errorf("sent %v", sent)
				}
				for _, id := range []string{"a:b", "a:c"} {
					host.Tell(featurewire.MethodShortcutTrigger, featurewire.ShortcutTriggerParams{ID: id})
				}
				synctest.Wait()
				if pressed != c.runs || len(host.Notifications()) != c.runs || !strings.Contains(log.String(), c.log) {
					t.Errorf("pressed %d times, %v; log %s", pressed, host.Notifications(), log.String())
				}
			})
		})
	}
	ext := extension.New(quietOptions(extension.API04))
	ext.AddShortcut(extension.Shortcut{ID: "a:b", Key: "k", Description: "d", Run: func(context.Context, *extension.Scope) {}})
	if sent := exttest.StartWith(t, ext, &exttest.Options{Withhold: []string{featurewire.FeatureShortcuts}}).Sent(); len(sent) != 0 {
		t.Errorf("where shortcuts are not offered: %v", sent)
	}
}
