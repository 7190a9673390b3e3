package hooks_test

import (
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/hooks"
)

var loading = options{more: hooks.Options{Resources: true}}

// skills answers with n paths of a size.
func skills(n, size int) answer {
	list := make([]string, n)
	for i := range list {
		list[i] = "/" + fmt.Sprintf("%03d", i) + strings.Repeat("x", size-4)
	}
	text, _ := json.Marshal(map[string]any{"resource_paths": map[string]any{"skill_paths": list}})
	return says(string(text))
}

func discover(t *testing.T, c *crew) hooks.Resources {
	t.Helper()
	return c.DiscoverResources(t.Context(), scope, "/work", featurewire.ResourcesDiscoverReasonReload)
}

// EXT04-HOOK-092, EXT04-HOOK-095, EXT04-HOOK-096, EXT04-HOOK-097.
func TestDiscoverResources(t *testing.T) {
	payloads := make(chan string, 1)
	first := func(p json.RawMessage) (any, error) {
		payloads <- string(p)
		return says(`{"resource_paths":{"skill_paths":["/s1","/s2"],"prompt_paths":["/p"],"theme_paths":[]}}`)(p)
	}
	bad := []string{
		`{"resource_paths":{"skill_paths":null}}`, `{"resource_paths":{"skill_paths":["rel"]}}`, `{"resource_paths":{"skill_paths":["/a/../b"]}}`,
		`{"resource_paths":{"skills":[]}}`, `{"resource_paths":{"skill_paths":["/a\u0007"]}}`, `{"resource_paths":{},"context":[]}`, `{}`,
	}
	answers := []answer{first, says(`{"resource_paths":{}}`), fails}
	for _, text := range bad {
		answers = append(answers, says(text))
	}
	c := assemble(t, featurewire.HookResourcesDiscover, loading, append(answers, says(`{"resource_paths":{"theme_paths":["/t"]}}`))...)
	slices.Reverse(c.rigs) // whoever is registered first
	got := discover(t, c)
	if payload := <-payloads; payload != `{"cwd":"/work","reason":"reload"}` {
		t.Errorf("payload %s", payload)
	}
	if len(got.By) != 3 || got.By[0].Extension != "a" || !slices.Equal(got.By[0].Skills, []string{"/s1", "/s2"}) || !slices.Equal(got.By[0].Prompts, []string{"/p"}) ||
		got.By[0].Owner.SessionID != scope.Owner || got.By[0].Owner.Generation != 5 || got.By[1].Skills != nil || got.By[2].Themes[0] != "/t" {
		t.Errorf("got %+v", got.By)
	}
	for n := range bad {
		if name := string(rune('d' + n)); !c.diagnosed(name, "refused") {
			t.Errorf("%s: diagnostics %q", bad[n], c.told)
		}
	}
}

// EXT04-HOOK-095: at the limits and one over, for one and for all.
func TestDiscoverResources_bounds(t *testing.T) {
	const longest, room = featurewire.MaxResourcePathBytes, featurewire.MaxResourcePathsBytes
	for _, c := range []struct {
		name    string
		answers []answer
		kept    int
		dropped string
	}{
		{"paths of one", []answer{skills(64, 10), skills(65, 10)}, 1, "b"},
		{"bytes of one", []answer{skills(room/longest, longest), skills(room/longest+1, longest)}, 1, "b"},
		{"paths of all", []answer{skills(64, 10), skills(64, 10), skills(64, 10), skills(64, 10), skills(1, 10)}, 4, "e"},
		{"bytes of all", append(slices.Repeat([]answer{skills(room/longest, longest)}, 8), skills(1, 4)), 8, "i"},
		{"contributors", slices.Repeat([]answer{skills(1, 10)}, 17), 16, "q"},
	} {
		t.Run(c.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				crew := assemble(t, featurewire.HookResourcesDiscover, loading, c.answers...)
				if got := discover(t, crew); len(got.By) != c.kept || len(crew.told) != 1 || !strings.HasPrefix(crew.told[0], c.dropped+": ") {
					t.Errorf("%d are kept, want %d; diagnostics %.300q", len(got.By), c.kept, crew.told)
				}
			})
		})
	}
}

// EXT04-HOOK-094: 5 s for each, all at once.
func TestDiscoverResources_wait(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		c := assemble(t, featurewire.HookResourcesDiscover, loading, silent, silent, skills(1, 10))
		if order := c.order(); order != "" {
			t.Errorf("asked %q while they initialize", order)
		}
		start := time.Now()
		if got := discover(t, c); len(got.By) != 1 || time.Since(start) != 5*time.Second {
			t.Errorf("%d contributors after %v", len(got.By), time.Since(start))
		}
		c.close()
	})
}

// The first theme that is preferred counts, where it is a file among the paths.
func TestDiscoverResources_defaultTheme(t *testing.T) {
	file := filepath.Join(t.TempDir(), "theme.toml")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	prefers := func(theme string, paths ...string) answer {
		text, _ := json.Marshal(map[string]any{"resource_paths": map[string]any{"theme_paths": append([]string{}, paths...), "default_theme": theme}})
		return says(string(text))
	}
	c := assemble(t, featurewire.HookResourcesDiscover, loading,
		prefers(file), prefers(filepath.Dir(file), filepath.Dir(file)), says(`{"resource_paths":{"default_theme":null}}`),
		prefers(file, "/t", file), prefers("/t", "/t"))
	if got := discover(t, c); got.DefaultTheme != file || len(got.By) != 5 || !c.diagnosed("a", "none of the theme paths") || !c.diagnosed("b", "no file") {
		t.Errorf("default theme %q, diagnostics %q", got.DefaultTheme, c.told)
	}
}
