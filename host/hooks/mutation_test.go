package hooks_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/agent"
)

func rescan(ids string) answer {
	return says(`{"post_mutation":{"action":"request_rescan","resource_ids":[` + ids + `]}}`)
}

func mutation(n int) agent.Mutation {
	return agent.Mutation{ID: fmt.Sprint("m", n), Kind: "configuration", State: "committed", Resources: []string{"resource:settings", "resource:mcp", "resource:settings"}}
}

// EXT04-HOOK-049, EXT04-HOOK-050, EXT04-HOOK-055, EXT04-HOOK-056, EXT04-HOOK-058.
func TestPostMutation(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		payloads := make(chan string, 1)
		first := func(p json.RawMessage) (any, error) {
			payloads <- string(p)
			return rescan(`"resource:settings"`)(p)
		}
		c := assemble(t, featurewire.HookPostMutation, options{}, first, rescan(`"resource:settings","resource:mcp"`), fails,
			says(`{"post_mutation":{"action":"no_rescan"}}`), says(`{"post_mutation":{"action":"request_rescan","resource_ids":[]}}`),
			rescan(`"resource:other","resource:mcp"`), says(`{}`))
		got := c.PostMutation(t.Context(), scope, mutation(1))
		if want := []string{"resource:mcp", "resource:settings"}; !slices.Equal(got, want) {
			t.Errorf("rescans %q, want %q", got, want)
		}
		want := `{"affected_resources":["resource:mcp","resource:settings"],"generation":1,"kind":"configuration","mutation_id":"m1","state":"committed"}`
		if payload := <-payloads; payload != want {
			t.Errorf("payload %s, want %s", payload, want)
		}
		if !c.diagnosed("f", `"resource:other" is ignored`) || !c.diagnosed("c", "no idea") || !c.diagnosed("e", "refused") {
			t.Errorf("diagnostics %q", c.told)
		}
	})
}

func resources(n int) []string {
	list := make([]string, n)
	for i := range list {
		list[i] = fmt.Sprint("r", i)
	}
	return list
}

// Nothing that is no payload is sent.
func TestPostMutation_badPayload(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		for n, m := range []agent.Mutation{
			{ID: "A B", Kind: "resource", State: "committed"},
			{ID: "a", Kind: "other", State: "committed"},
			{ID: "b", Kind: "resource", State: "begun"},
			{ID: "c", Kind: "resource", State: "committed", Resources: resources(featurewire.MaxAffectedResources + 1)},
		} {
			c := assemble(t, featurewire.HookPostMutation, options{}, rescan(`"r"`))
			if got := c.PostMutation(t.Context(), scope, m); len(got) > 0 || c.order() != "" || !c.diagnosed("a", "was not sent") {
				t.Errorf("case %d: %q, diagnostics %q", n, got, c.told)
			}
		}
	})
}

// EXT04-HOOK-050: as many resources as fit.
func TestPostMutation_resources(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := assemble(t, featurewire.HookPostMutation, options{}, rescan(`"r0"`))
		m := agent.Mutation{ID: "m", Kind: "resource", State: "rolled_back", Resources: resources(featurewire.MaxAffectedResources)}
		if got := c.PostMutation(t.Context(), scope, m); len(got) != 1 {
			t.Errorf("%q, diagnostics %q", got, c.told)
		}
	})
}

// EXT04-HOOK-053: all at once, 250 ms each.
func TestPostMutation_wait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		slow := func(p json.RawMessage) (any, error) {
			time.Sleep(249 * time.Millisecond)
			return rescan(`"resource:mcp"`)(p)
		}
		c := assemble(t, featurewire.HookPostMutation, options{}, silent, slow, slow, rescan(`"resource:settings"`))
		start := time.Now()
		got := c.PostMutation(t.Context(), scope, mutation(1))
		if took := time.Since(start); took != 250*time.Millisecond || len(got) != 2 {
			t.Errorf("%q after %v, want both after 250ms", got, took)
		}
		c.close()
	})
}

// EXT04-HOOK-054: among the last 256, and no longer.
func TestPostMutation_deliveredOnce(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := assemble(t, featurewire.HookPostMutation, options{}, says(`{}`))
		for n := range featurewire.MaxRememberedMutations {
			c.PostMutation(t.Context(), scope, mutation(n))
		}
		if n := len(c.order()); n != featurewire.MaxRememberedMutations {
			t.Errorf("%d deliveries", n)
		}
		c.PostMutation(t.Context(), scope, mutation(0))
		if c.order() != "" {
			t.Error("the oldest that is remembered was delivered again")
		}
		c.PostMutation(t.Context(), scope, mutation(999))
		c.order()
		if c.PostMutation(t.Context(), scope, mutation(0)); c.order() != "a" {
			t.Error("one that is forgotten was not delivered")
		}
		if c.PostMutation(t.Context(), scope, mutation(2)); c.order() != "" {
			t.Error("a younger one was forgotten")
		}
	})
}

// EXT04-HOOK-057: what was asked for an owner that is no more is void.
func TestPostMutation_ownerChanges(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var c *crew
		c = assemble(t, featurewire.HookPostMutation, options{}, func(p json.RawMessage) (any, error) {
			c.OwnerChanged()
			return rescan(`"resource:mcp"`)(p)
		})
		if got := c.PostMutation(t.Context(), scope, mutation(1)); len(got) > 0 {
			t.Errorf("rescans %q", got)
		}
	})
}
