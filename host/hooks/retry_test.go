package hooks_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/agent"
	"github.com/octet-dev/octet/host/hooks"
	"github.com/octet-dev/octet/host/service/promptcontext"
)

func poolOf(p *promptcontext.Pool) hooks.Options { return hooks.Options{Pool: p} }

func delay(ms int64) answer {
	return says(fmt.Sprintf(`{"provider_retry":{"delay":{"additional_delay_ms":%d}}}`, ms))
}

var plan = agent.RetryPlan{Kind: "before_generation", Attempt: 2, MaxAttempts: 5, Delay: 10 * time.Second}

// EXT04-HOOK-036, EXT04-HOOK-037: at the cap, one over, and what is far over.
func TestProviderRetry_merge(t *testing.T) {
	for _, c := range []struct {
		name    string
		answers []answer
		want    agent.RetryAdvice
		order   string
	}{
		{"nothing said", []answer{says(`{}`), says(`{"provider_retry":"retry"}`)}, agent.RetryAdvice{}, "ab"},
		{"delays add", []answer{delay(1000), says(`{}`), delay(234)}, agent.RetryAdvice{Delay: 1234 * time.Millisecond}, "abc"},
		{"at the cap", []answer{delay(4999), delay(1)}, agent.RetryAdvice{Delay: 5 * time.Second}, "ab"},
		{"one over the cap", []answer{delay(5000), delay(1)}, agent.RetryAdvice{Delay: 5 * time.Second}, "ab"},
		{"far over the cap", []answer{delay(9007199254740991), delay(9007199254740991)}, agent.RetryAdvice{Delay: 5 * time.Second}, "ab"},
		{"failures leave the plan", []answer{fails, says(`{"provider_retry":"never"}`), delay(7)}, agent.RetryAdvice{Delay: 7 * time.Millisecond}, "abc"},
		{"one stop declines", []answer{delay(7), says(`{"provider_retry":"stop"}`), delay(7)}, agent.RetryAdvice{Stop: true, Delay: 7 * time.Millisecond, Reason: "declined by the extension b"}, "ab"},
		{"a denial is ignored", []answer{says(denial(""))}, agent.RetryAdvice{}, "a"},
	} {
		t.Run(c.name, func(t *testing.T) {
			crew := assemble(t, featurewire.HookProviderRetry, options{}, c.answers...)
			if got := crew.ProviderRetry(t.Context(), scope, plan); got != c.want || crew.order() != c.order {
				t.Errorf("advice %+v, want %+v, diagnostics %q", got, c.want, crew.told)
			}
		})
	}
}

// EXT04-HOOK-032, EXT04-HOOK-033, EXT04-HOOK-034, EXT04-HOOK-035.
func TestProviderRetry_payload(t *testing.T) {
	var payload string
	c := assemble(t, featurewire.HookProviderRetry, options{api: "0.2"}, func(p json.RawMessage) (any, error) {
		payload = string(p)
		return json.RawMessage(`{}`), nil
	})
	c.ProviderRetry(t.Context(), scope, plan)
	if want := `{"attempt":2,"delay_ms":10000,"kind":"before_generation","max_attempts":5,"model":"m/x","operation":null}`; payload != want {
		t.Errorf("payload %s, want %s", payload, want)
	}
	c.ProviderRetry(t.Context(), scope, agent.RetryPlan{Kind: "waiting_for_network", Attempt: 9, Operation: agent.LocalCompaction, Delay: time.Second})
	if want := `{"attempt":9,"delay_ms":1000,"kind":"waiting_for_network","max_attempts":null,"model":"m/x","operation":"local_compaction"}`; payload != want {
		t.Errorf("payload %s, want %s", payload, want)
	}
	payload = ""
	c.ProviderRetry(t.Context(), scope, agent.RetryPlan{Kind: "ordinary", Delay: time.Second})
	if payload != "" || !c.diagnosed("a", "no retry is of the kind") {
		t.Errorf("a kind of no wire: payload %s, diagnostics %q", payload, c.told)
	}
}

// EXT04-HOOK-040: no longer than the retry would wait anyhow, for all together.
func TestProviderRetry_wait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := assemble(t, featurewire.HookProviderRetry, options{}, silent, delay(7))
		start := time.Now()
		got := c.ProviderRetry(t.Context(), scope, agent.RetryPlan{Kind: "stream_start", Delay: 3 * time.Second})
		if took := time.Since(start); took != 3*time.Second || got != (agent.RetryAdvice{}) || c.order() != "a" {
			t.Errorf("advice %+v after %v", got, took)
		}
		c.ProviderRetry(t.Context(), scope, agent.RetryPlan{Kind: "stream_start"})
		if c.order() != "" || time.Since(start) != 3*time.Second {
			t.Error("a retry that comes at once waited for advice")
		}
		c.close()
	})
}

// EXT04-HOOK-041, EXT04-HOOK-043, EXT04-HOOK-045, EXT04-HOOK-046, EXT04-HOOK-047.
func TestBeforePersistence(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var payload string
		value := func(text string) answer { return says(`{"persistence_metadata":{"value":` + text + `}}`) }
		large := func(bytes int) string { return `"` + strings.Repeat("x", bytes-2) + `"` }
		c := assemble(t, featurewire.HookBeforePersistence, options{},
			func(p json.RawMessage) (any, error) {
				payload = string(p)
				return json.RawMessage(`{"persistence_metadata":{"value":{"k":1},"public":true}}`), nil
			},
			value(`null`), fails, value(large(featurewire.MaxPersistenceValueBytes)), value(large(featurewire.MaxPersistenceValueBytes+1)),
			says(`{"persistence_metadata":7}`), says(`{}`), says(denial("")),
		)
		got := c.BeforePersistence(t.Context(), scope, agent.Persistence{
			Protocol: "p", StopReason: "end", TextBytes: 1, ToolCalls: 2, Reasonings: 3, Media: 4,
		})
		want := `{"media_part_count":4,"model":"m/x","protocol":"p","reasoning_part_count":3,"run_id":"run:e1","stop_reason":"end","text_bytes":1,"tool_call_count":2}`
		if payload != want {
			t.Errorf("payload %s, want %s", payload, want)
		}
		var names []string
		for name, v := range got.All() {
			names = append(names, name)
			if v.Generation != 5 || v.Public != (name == "a") {
				t.Errorf("%s: generation %d, public %v", name, v.Generation, v.Public)
			}
		}
		slices.Sort(names)
		if fmt.Sprint(names) != "[a b d]" || !c.diagnosed("e", "at most max_persistence_value_bytes (16384)") || !c.diagnosed("c", "no idea") || !c.diagnosed("f", "refused") {
			t.Errorf("namespaces %q, diagnostics %q", names, c.told)
		}
	})
}

// EXT04-HOOK-045: 32 namespaces and 131072 bytes, at the limit and one over.
func TestBeforePersistence_bounds(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		value := func(bytes int) answer {
			return says(`{"persistence_metadata":{"value":"` + strings.Repeat("x", bytes-2) + `"}}`)
		}
		each := featurewire.MaxPersistenceTotalBytes / 8
		full := slices.Repeat([]answer{value(each)}, 8)
		c := assemble(t, featurewire.HookBeforePersistence, options{}, append(full, value(3))...)
		if got := c.BeforePersistence(t.Context(), scope, agent.Persistence{}); got.Len() != 8 || !c.diagnosed("i", "dropped") {
			t.Errorf("%d values, diagnostics %q", got.Len(), c.told)
		}
		most := featurewire.MaxPersistenceNamespaces
		c = assemble(t, featurewire.HookBeforePersistence, options{}, slices.Repeat([]answer{value(3)}, most+1)...)
		if got := c.BeforePersistence(t.Context(), scope, agent.Persistence{}); got.Len() != most || !c.diagnosed(c.rigs[most].X.Name(), "dropped") {
			t.Errorf("%d values, diagnostics %q", got.Len(), c.told)
		}
	})
}

// EXT04-HOOK-042: 200 ms for all together; what came before is kept.
func TestBeforePersistence_wait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := func(json.RawMessage) (any, error) {
			time.Sleep(150 * time.Millisecond)
			return json.RawMessage(`{"persistence_metadata":{"value":1}}`), nil
		}
		c := assemble(t, featurewire.HookBeforePersistence, options{}, slow, slow, slow)
		start := time.Now()
		got := c.BeforePersistence(t.Context(), scope, agent.Persistence{})
		if took := time.Since(start); took != 200*time.Millisecond || got.Len() != 1 {
			t.Errorf("%d values after %v, want one after 200ms", got.Len(), took)
		}
		time.Sleep(time.Second)
		c.close()
	})
}

// EXT04-HOOK-077, EXT04-HOOK-078, EXT04-HOOK-080, EXT04-HOOK-081.
func TestCacheWarming(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var seen []string
		heed := func(a answer) answer {
			return func(p json.RawMessage) (any, error) {
				seen = append(seen, string(p))
				return a(p)
			}
		}
		c := assemble(t, featurewire.HookCacheWarmingDecision, options{},
			heed(says(`{"cache_warming_decision":"stop"}`)), heed(says(`{"cache_warming_decision":null}`)), heed(fails),
			heed(says(`{"cache_warming_decision":"sometimes"}`)), heed(says(denial(""))))
		d := agent.CacheDecision{
			Phase: "idle", WarmCost: 1, MissCost: 2, Continuation: 0.25, ExpectedSavings: -3, Economics: true, Action: agent.WarmCache,
		}
		if got := c.CacheWarming(t.Context(), scope, d); got != agent.StopCache {
			t.Errorf("action %q, want stop", got)
		}
		form := `{"decision":{"action":"%s","continuation_probability":0.25,"economics_available":true,"expected_savings_microdollars":-3,` +
			`"miss_cost_microdollars":2,"phase":"idle","warm_cost_microdollars":1},"model":"m/x"}`
		for n, action := range []string{"warm", "stop", "stop", "stop", "stop"} {
			if want := fmt.Sprintf(form, action); n >= len(seen) || seen[n] != want {
				t.Errorf("the extension %d saw %q, want %s", n, seen, want)
			}
		}
		last := assemble(t, featurewire.HookCacheWarmingDecision, options{}, says(`{"cache_warming_decision":"stop"}`), says(`{"cache_warming_decision":"warm"}`))
		if got := last.CacheWarming(t.Context(), scope, d); got != agent.WarmCache {
			t.Errorf("action %q, want the last one", got)
		}
	})
}

// EXT04-HOOK-079: 200 ms each, and together no longer than the refresh leaves.
func TestCacheWarming_wait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := assemble(t, featurewire.HookCacheWarmingDecision, options{}, silent, silent, silent)
		start := time.Now()
		d := agent.CacheDecision{Phase: "idle", Action: agent.WarmCache}
		if got := c.CacheWarming(t.Context(), scope, d); got != agent.WarmCache || time.Since(start) != 600*time.Millisecond {
			t.Errorf("%q after %v", got, time.Since(start))
		}
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		start = time.Now()
		if got := c.CacheWarming(ctx, scope, d); got != agent.WarmCache || time.Since(start) != 300*time.Millisecond {
			t.Errorf("%q after %v", got, time.Since(start))
		}
		c.close()
	})
}
