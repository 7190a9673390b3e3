// Package conversations holds the same scripted host conversations with the showcase extensions of all SDKs:
// what an author gets on the wire must not depend on the language.
package conversations

import (
	"flag"
	"testing"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
)

// pattern names other talks than those of this directory, such as one that is being written.
var pattern = flag.String("talks", "*.talk", "the files of the talks to hold")

func allTalks(t *testing.T) []*talk {
	t.Helper()
	talks, err := readTalks(*pattern)
	if err != nil {
		t.Fatal(err)
	}
	if len(talks) == 0 {
		t.Fatal("no talk was found")
	}
	return talks
}

func TestConversations_areTheSameInEveryLanguage(t *testing.T) {
	talks := allTalks(t)
	for _, s := range showcases(t) {
		for _, tk := range talks {
			for _, api := range tk.apis {
				t.Run(s.language+"/"+tk.name+"/"+api, func(t *testing.T) {
					t.Parallel()
					p := startProgram(t, s.command, api)
					if said, err := hold(tk, api, p); err != nil {
						t.Errorf("%v\nthe talk so far:\n%s\nstandard error:\n%s", err, said, p.Stderr())
					}
				})
			}
		}
	}
}

// TestConversations_leaveNothingOut demands a talk for every feature, capability and method of both wires.
func TestConversations_leaveNothingOut(t *testing.T) {
	offered, hosts, extensions := map[string]bool{}, map[string]bool{}, map[string]bool{}
	hooks := map[string]bool{}
	for _, tk := range allTalks(t) {
		for _, api := range tk.apis {
			for _, name := range tk.offer {
				offered[api+" "+name] = true
			}
			wire := wireOf(api)
			for _, l := range tk.lines {
				method, _ := l.frame["method"].(string)
				switch l.action {
				case start:
					hosts[wire+dialect.Initialize] = true
				case shutdown:
					hosts[wire+dialect.Shutdown] = true
				case send:
					hosts[wire+method] = true
					if params, ok := l.frame["params"].(dialect.Object); ok && method == featurewire.MethodHookRun {
						hooks[api+" "+show(params["hook"])] = true
					}
				case expect, expectAlso:
					extensions[wire+method] = true
				}
			}
		}
	}
	for _, f := range featurewire.Features {
		for _, api := range f.Versions {
			if !f.Required && !offered[api+" "+f.Name] {
				t.Errorf("no talk on %s offers the feature %s", api, f.Name)
			}
		}
	}
	for _, c := range canonicalwire.Capabilities {
		if c.Offer == "optional" && !offered[dialect.CanonicalAPI+" "+c.Name] {
			t.Errorf("no talk offers the capability %s", c.Name)
		}
	}
	for _, h := range featurewire.Hooks {
		for _, api := range h.Versions {
			if !hooks[api+" "+show(h.Name)] {
				t.Errorf("no talk on %s runs the hook %s", api, h.Name)
			}
		}
	}
	for wire, methods := range map[string][]wirejson.Method{"feature ": featurewire.Methods, "canonical ": canonicalwire.Methods} {
		for _, m := range methods {
			switch {
			case m.Status == "deferred":
			case m.Direction != wirejson.ExtensionToHost && !hosts[wire+m.Name]:
				t.Errorf("no talk has the host send %s on the %swire", m.Name, wire)
			case m.Direction != wirejson.HostToExtension && !extensions[wire+m.Name]:
				t.Errorf("no talk has the extension send %s on the %swire", m.Name, wire)
			}
		}
	}
}

func wireOf(api string) string {
	if api == dialect.CanonicalAPI {
		return "canonical "
	}
	return "feature "
}
