// Package conversations holds the same scripted host conversations with the showcase extensions of all SDKs:
// what an author gets on the wire must not depend on the language.
package conversations

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/manifestdoc"
)

// What the host of every talk offers.
const (
	concurrency    = featurewire.MaxConcurrentRequests
	canonicalFrame = canonicalwire.MaxFrameBytes
)

// showcases returns the command of each SDK's showcase; see sdk-*/showcase.
func showcases(t *testing.T) map[string][]string {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	program := filepath.Join(t.TempDir(), "showcase")
	build := exec.Command("go", "build", "-o", program, "./sdk-go/showcase")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build the Go showcase: %v\n%s", err, out)
	}
	return map[string][]string{
		"go":         {program},
		"python":     {interpreter(t, root), filepath.Join(root, "sdk-py", "showcase", "showcase.py")},
		"typescript": {found(t, "node"), filepath.Join(root, "sdk-ts", "dist", "showcase", "main.js")},
	}
}

// interpreter prefers the Python environment that the set-up makes.
func interpreter(t *testing.T, root string) string {
	t.Helper()
	own := filepath.Join(root, ".venv", "bin", "python")
	if _, err := os.Stat(own); err == nil {
		return own
	}
	return found(t, "python3")
}

func found(t *testing.T, program string) string {
	t.Helper()
	path, err := exec.LookPath(program)
	if err != nil {
		t.Fatalf("%v; run make setup", err)
	}
	return path
}

func TestConversations_areTheSameInEveryLanguage(t *testing.T) {
	talks, err := readTalks("*.talk")
	if err != nil {
		t.Fatal(err)
	}
	if len(talks) == 0 {
		t.Fatal("no talk was found")
	}
	for language, command := range showcases(t) {
		for _, tk := range talks {
			for _, api := range tk.apis {
				t.Run(strings.Join([]string{language, tk.name, api}, "/"), func(t *testing.T) {
					t.Parallel()
					hold(t, tk, api, command)
				})
			}
		}
	}
}

// contributions is the manifest of the showcase in one API version, as initialize tells it. A hook behind a
// feature is declared only where the feature is offered: a declared one that is not selected is a mismatch.
func contributions(api string, offered []string) dialect.Object {
	if api == dialect.CanonicalAPI {
		return dialect.Contributions(dialect.Object{
			"tools": list("big", "child", "count", "fail", "later", "print", "refuse", "remember", "seen", "use", "wait"),
			"hooks": list(manifestdoc.TableHookPairs[0].First, manifestdoc.TableHookPairs[0].Second),
		})
	}
	var hooks []any
	for i := range featurewire.Hooks {
		if hook := &featurewire.Hooks[i]; contains(hook.Versions, api) && (hook.Feature == "-" || contains(offered, hook.Feature)) {
			hooks = append(hooks, hook.Name)
		}
	}
	given := dialect.Object{
		"tools": list("big", "child", "count", "fail", "forget", "later", "learn", "media", "print", "ready", "refuse", "remember", "report",
			"seen", "use", "wait"),
		"commands": list("echo", "fail"), "hooks": hooks, "ui": list("status", "header", "footer"), "context": true,
		"tool_renderers": list("count"), "notifications": true, "confirmations": true,
	}
	if api != dialect.FrozenAPI {
		given["presentation"], given["menu"] = true, true
	}
	return dialect.Contributions(given)
}

func contains(list []string, value string) bool {
	for _, v := range list {
		if v == value {
			return true
		}
	}
	return false
}

func list(values ...string) []any {
	all := make([]any, 0, len(values))
	for _, v := range values {
		all = append(all, v)
	}
	return all
}

// owner is what every context of the talks carries where the version has owners.
func owner() dialect.Object {
	return dialect.Object{"session_id": "o1", "extension_instance_id": "i1", "process_generation": 1}
}

// context is that of every call.
func (h *held) context() dialect.Object {
	c := dialect.Object{
		"workspace": "/w", "execution_scope": nil,
		"host": dialect.Object{"session_id": "s1", "session_name": nil, "model": "m", "reasoning": nil, "active_skills": []any{}},
	}
	if h.api != dialect.FrozenAPI {
		c["resource_owner"] = owner()
	}
	return c
}
