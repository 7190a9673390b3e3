package provider_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/extension/extensiontest"
	"github.com/octet-dev/octet/host/service/provider"
)

// EXT03-PROVIDER-005, EXT03-PROVIDER-006, EXT03-PROVIDER-007, EXT03-PROVIDER-016, EXT03-PROVIDER-017
func TestCatalog_registersUpdatesAndUnregistersAtOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		changes := 0
		r := provider.New(provider.Options{Changed: func() { changes++ }})
		one := join(t, r, "one")
		one.Ask(register, declares("zed", "b", "a")).OK(t, `{"model_ids":["zed/a","zed/b"],"provider_ids":["zed"],"revision":1}`)
		one.Ask(register, declares("acme", "x")).OK(t, `{"model_ids":["acme/x","zed/a","zed/b"],"provider_ids":["acme","zed"],"revision":2}`)
		one.Ask(update, declares("zed", "c")).OK(t, `{"model_ids":["acme/x","zed/c"],"provider_ids":["acme","zed"],"revision":3}`)
		if got := ids(t, r); !slices.Equal(got, []string{"acme/x", "zed/c"}) {
			t.Errorf("offered are %v", got)
		}
		one.Ask(unregister, `{"provider_id":"zed"}`).OK(t, `{"model_ids":["acme/x"],"provider_ids":["acme"],"revision":4}`)
		if changes != 4 {
			t.Errorf("%d changes are told, want 4", changes)
		}
	})
}

// EXT03-PROVIDER-008, EXT03-PROVIDER-012, EXT03-PROVIDER-013, EXT03-PROVIDER-014, EXT03-PROVIDER-015, EXT03-PROVIDER-019
func TestCatalog_refusesAndStaysAsItWas(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := provider.New(provider.Options{Reserved: func(id string) bool { return id == "openai" }})
		one, two := join(t, r, "one"), join(t, r, "two")
		one.Ask(register, declares("p", "m")).OK(t, "")
		with := func(old, new string) string { return strings.Replace(declares("q", "m"), old, new, 1) }
		for name, c := range map[string]struct {
			rig            *extensiontest.Rig
			method, params string
			code           int64
		}{
			"empty provider":          {one, register, declares("", "m"), invalid},
			"provider with a slash":   {one, register, declares("a/b", "m"), invalid},
			"empty model":             {one, register, declares("q", ""), invalid},
			"model with a slash":      {one, register, declares("q", "a/b"), invalid},
			"model twice":             {one, register, declares("q", "m", "n", "m"), invalid},
			"no window":               {one, register, with(`"context_window":1000`, `"context_window":0`), invalid},
			"no output":               {one, register, with(`"max_output_tokens":100`, `"max_output_tokens":0`), invalid},
			"credential":              {one, register, with(`"auth":{"kind"`, `"auth":{"credential":"x","kind"`), invalid},
			"endpoint":                {one, register, with(`"id":"q"`, `"endpoint":"https://x","id":"q"`), invalid},
			"own id again":            {one, register, declares("p", "n"), invalid},
			"another's id":            {two, register, declares("p", "n"), invalid},
			"the host's id":           {one, register, declares("openai", "n"), invalid},
			"update of another's":     {two, update, declares("p", "n"), foreign},
			"update of nobody's":      {two, update, declares("none", "n"), invalid},
			"removal of another's":    {two, unregister, `{"provider_id":"p"}`, foreign},
			"removal of nobody's":     {two, unregister, `{"provider_id":"none"}`, invalid},
			"id over its bound":       {one, register, declares(strings.Repeat("x", canonicalwire.MaxProviderIDBytes+1), "m"), exhausted},
			"update with model twice": {one, update, declares("p", "n", "n"), invalid},
		} {
			c.rig.Ask(c.method, c.params).Refused(t, c.code, "")
			if got := ids(t, r); !slices.Equal(got, []string{"p/m"}) {
				t.Errorf("%s: offered are %v", name, got)
			}
		}
		one.Ask(register, declares(strings.Repeat("x", canonicalwire.MaxProviderIDBytes), "m")).OK(t, "")
	})
}

func numbered(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprintf("m%03d", i)
	}
	return list
}

// EXT03-PROVIDER-011
func TestCatalog_boundsAllExtensionsTogether(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := provider.New(provider.Options{})
		one, two := join(t, r, "one"), join(t, r, "two")
		for i := range canonicalwire.MaxProviders {
			rig := one
			if i%2 == 1 {
				rig = two
			}
			rig.Ask(register, declares(fmt.Sprintf("p%02d", i))).OK(t, "")
		}
		two.Ask(register, declares("more")).Refused(t, exhausted, "")
		one.Ask(unregister, `{"provider_id":"p00"}`).OK(t, "")
		two.Ask(register, declares("more")).OK(t, "")
	})
	synctest.Test(t, func(t *testing.T) {
		r := provider.New(provider.Options{})
		one, two := join(t, r, "one"), join(t, r, "two")
		one.Ask(register, declares("a", numbered(canonicalwire.MaxProviderModels-1)...)).OK(t, "")
		two.Ask(register, declares("b", "m", "n")).Refused(t, exhausted, "")
		two.Ask(register, declares("b", "m")).OK(t, "")
		two.Ask(update, declares("b", "m", "n")).Refused(t, exhausted, "")
		two.Ask(update, declares("b", "n")).OK(t, "")
		one.Ask(update, declares("a", "m")).OK(t, `{"model_ids":["a/m","b/n"],"provider_ids":["a","b"],"revision":4}`)
	})
}

// EXT03-PROVIDER-009, EXT03-PROVIDER-010
func TestCatalog_belongsToTheGeneration(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := provider.New(provider.Options{})
		old := joinAs(t, r, "one", 1)
		old.Ask(register, declares("p", "m")).OK(t, "")
		old.Ask(register, declares("q", "m")).OK(t, "")
		// While an extension is replaced, its next process registers what its last one still holds.
		next := joinAs(t, r, "one", 2)
		next.Ask(register, declares("p", "new")).OK(t, `{"model_ids":["p/new","q/m"],"provider_ids":["p","q"],"revision":3}`)
		next.Ask(update, declares("q", "x")).Refused(t, foreign, "")
		old.Ask(register, declares("p", "m")).Refused(t, invalid, "")
		old.X.Close()
		synctest.Wait()
		if got := ids(t, r); !slices.Equal(got, []string{"p/new"}) {
			t.Errorf("behind the end of the old process %v are offered", got)
		}
		next.Exit(1)
		synctest.Wait()
		next.X.Close()
		if got := ids(t, r); len(got) > 0 {
			t.Errorf("behind the crash of the new process %v are offered", got)
		}
	})
}

func TestCatalog_fallsBackWhereACandidateFails(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := provider.New(provider.Options{})
		old := joinAs(t, r, "one", 1)
		old.Ask(register, declares("p", "m")).OK(t, "")
		next := joinAs(t, r, "one", 2)
		next.Ask(register, declares("p", "new")).OK(t, "")
		next.X.Close()
		synctest.Wait()
		if got := ids(t, r); !slices.Equal(got, []string{"p/m"}) {
			t.Errorf("behind the end of the candidate %v are offered", got)
		}
	})
}

// EXT03-PROVIDER-018
func TestCatalog_takesTheEndOfTheFirstBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		changes := 0
		r := provider.New(provider.Options{Changed: func() { changes++ }})
		one := join(t, r, "one")
		if r.Complete(one.X) {
			t.Error("the batch is complete before it was said")
		}
		for range 2 {
			one.Tell(canonicalwire.MethodProvidersComplete, `{}`)
		}
		one.Flush()
		if !r.Complete(one.X) || changes != 1 {
			t.Errorf("complete is %v after %d changes, want one", r.Complete(one.X), changes)
		}
		one.Ask(register, declares("p", "m")).OK(t, "")
		one.Ask(unregister, `{"provider_id":"p"}`).OK(t, "")
	})
}

// EXT03-METHOD-014
func TestCatalog_endsAProcessThatBreaksTheEndOfTheBatch(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		one := join(t, provider.New(provider.Options{}), "one")
		one.Tell(canonicalwire.MethodProvidersComplete, `{"extra":1}`)
		<-one.X.Done()
	})
}

// EXT03-PROVIDER-020
func TestCatalog_offersOnlyWhatCanBeStreamed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := provider.New(provider.Options{})
		rig := extensiontest.Start(t, extensiontest.Setup{
			API: "0.3", Contributes: `tools = ["work"]`, Options: extension.Options{Bindings: []extension.Binding{r.Binding()}},
			Select: func(name string) bool {
				return name != canonicalwire.CapabilityProviderStream && !strings.HasPrefix(name, "provider/")
			},
		})
		rig.Ask(register, declares("p", "m")).OK(t, `{"model_ids":["p/m"],"provider_ids":["p"],"revision":1}`)
		if got := ids(t, r); len(got) > 0 {
			t.Errorf("offered are %v, which nobody streams", got)
		}
	})
}

func TestSettle_waitsForFirstBatches(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		r := provider.New(provider.Options{})
		begin := time.Now()
		r.Settle(t.Context())
		one, two := join(t, r, "one"), join(t, r, "two")
		one.Tell(canonicalwire.MethodProvidersComplete, `{}`)
		one.Flush()
		r.Settle(t.Context())
		if took := time.Since(begin); took != 3*time.Second {
			t.Errorf("a process that says nothing is awaited for %v, want 3s", took)
		}
		two.X.Close()
		r.Settle(t.Context())
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		join(t, r, "three")
		r.Settle(ctx)
		if took := time.Since(begin); took != 3*time.Second {
			t.Errorf("processes that are gone or complete, and an ended context, take %v", took-3*time.Second)
		}
	})
}
