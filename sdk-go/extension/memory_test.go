package extension_test

import (
	"context"
	"fmt"
	"sync/atomic"
	"testing"
	"testing/synctest"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/sdk-go/extension"
	"github.com/octet-dev/octet/sdk-go/extension/exttest"
)

// counting has a tool that counts its calls per owner.
func counting(api extension.API) *extension.Extension {
	options := quietOptions(api)
	if api != extension.API03 {
		options.Uses = []string{featurewire.FeatureLifecycleEvents}
	}
	ext := extension.New(options)
	extension.AddTool(ext, "count", "Counts", func(_ context.Context, call *extension.Call, _ struct{}) (*extension.Result, error) {
		count := extension.Memory(call, func() *atomic.Int64 { return new(atomic.Int64) })
		if name := extension.Memory(call, func() string { return "fresh" }); name != "fresh" {
			return nil, fmt.Errorf("the text is %q", name)
		}
		return extension.Text(fmt.Sprint(count.Add(1))), nil
	})
	if api == extension.API03 {
		ext.OnSessionEnd(func(context.Context, extension.SessionEnd) {})
	}
	return ext
}

// countAs calls the tool for an owner; an empty session is none.
func countAs(host *exttest.Host, session, instance string, generation int64) string {
	where := map[string]any{"workspace": "/w", "execution_scope": nil, "host": map[string]any{"session_id": "host-" + session}}
	if session != "" {
		where["resource_owner"] = map[string]any{"session_id": session, "extension_instance_id": instance, "process_generation": generation}
	}
	raw, err := host.Ask(featurewire.MethodToolCall, map[string]any{"name": "count", "arguments": map[string]any{}, "context": where})
	if err != nil {
		return err.Error()
	}
	result, err := featurewire.DecodeToolCallResult(raw)
	if err != nil {
		return err.Error()
	}
	return result.Content[0].(featurewire.TextPart).Text
}

func TestMemory_belongsToOneOwner(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := exttest.Start(t, counting(extension.API04))
		for i, step := range []struct {
			session, instance string
			generation        int64
			want              string
		}{
			{"a", "i", 1, "1"},
			{"a", "i", 1, "2"},
			{"b", "i", 1, "1"},
			{"a", "i", 1, "3"}, // sessions beside each other
			{"", "", 0, "1"},
			{"", "", 0, "2"}, // the process
			{"a", "i", 2, "1"},
			{"a", "i", 1, "1"}, // another generation replaces it, for good
			{"b", "j", 1, "1"},
			{"b", "j", 1, "2"}, // another instance
		} {
			if got := countAs(host, step.session, step.instance, step.generation); got != step.want {
				t.Errorf("step %d: %s, want %s", i, got, step.want)
			}
		}
	})
}

func TestMemory_endsWithTheSession(t *testing.T) {
	for _, name := range []string{"a", "host-a"} { // either name of it
		synctest.Test(t, func(t *testing.T) {
			host := exttest.Start(t, counting(extension.API04))
			countAs(host, "a", "i", 1)
			countAs(host, "b", "i", 1)
			host.Tell(featurewire.MethodSessionSettled, map[string]any{"session_id": name, "outcome": "completed", "duration_ms": 1})
			synctest.Wait()
			if a, b := countAs(host, "a", "i", 1), countAs(host, "b", "i", 1); a != "1" || b != "2" {
				t.Errorf("%s settled: a counts %s, b %s", name, a, b)
			}
		})
	}
	synctest.Test(t, func(t *testing.T) {
		host := exttest.StartWith(t, counting(extension.API03), &exttest.Options{SessionHooks: true, Owner: &someOwner})
		host.Call("count", nil)
		host.EndSession(extension.SessionEnd{Owner: extension.Owner{SessionID: "else"}, Outcome: "completed", Reason: "shutdown"})
		if result := host.Call("count", nil); result.Text != "2" {
			t.Errorf("another session ended: %s", result.Text)
		}
		host.EndSession(extension.SessionEnd{Owner: someOwner, Outcome: "completed", Reason: "shutdown"})
		if result := host.Call("count", nil); result.Text != "1" {
			t.Errorf("the session ended: %s", result.Text)
		}
	})
}

// A host that names ever new sessions does not fill the memory.
func TestMemory_isBounded(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host := exttest.Start(t, counting(extension.API04))
		countAs(host, "first", "i", 1)
		for i := range 255 {
			countAs(host, fmt.Sprint("s", i), "i", 1)
		}
		if got := countAs(host, "first", "i", 1); got != "2" {
			t.Errorf("within the bound: %s", got)
		}
		countAs(host, "one more", "i", 1) // in place of s0, used longest ago
		if first, gone := countAs(host, "first", "i", 1), countAs(host, "s0", "i", 1); first != "3" || gone != "1" {
			t.Errorf("the one in use counts %s, the one used longest ago %s", first, gone)
		}
	})
}
