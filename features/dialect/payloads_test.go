package dialect

import (
	"slices"
	"testing"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
)

// Every hook of the spec can be asked, and is asked soundly.
func TestHooks_haveSoundPayloads(t *testing.T) {
	var declared []string
	for _, h := range featurewire.Hooks {
		declared = append(declared, h.Name)
	}
	for _, api := range []string{"0.1", "0.2", "0.4"} {
		d, err := For(api)
		if err != nil {
			t.Fatal(err)
		}
		names, params := d.Hooks(declared, "octet")
		for i, name := range names {
			row, _ := d.Hook(name)
			if v, broken := d.Violation(row.Payload, Encode(params[i]["payload"])); broken {
				t.Errorf("API %s: the payload of %s: %v", api, name, v)
			}
			if v, broken := d.Violation(d.Shape(featurewire.MethodHookRun).Params, Encode(params[i])); broken {
				t.Errorf("API %s: the params of %s: %v", api, name, v)
			}
		}
		if api == "0.4" && !slices.Equal(names, declared) {
			t.Errorf("hooks %q are asked, want %q", names, declared)
		}
	}
}

// Every event of the spec is told, and soundly.
func TestEvents_areSound(t *testing.T) {
	d, err := For("0.4")
	if err != nil {
		t.Fatal(err)
	}
	told := map[string]bool{}
	for _, e := range d.Events(func(string) bool { return true }, []string{"stop"}) {
		told[e.Method] = true
		if v, broken := d.Violation(d.Shape(e.Method).Params, Encode(e.Params)); broken {
			t.Errorf("%s: %v", e.Method, v)
		}
	}
	// What hangs on something that the extension has is sent where that is known.
	elsewhere := []string{featurewire.MethodCancelRequest, featurewire.MethodShortcutTrigger, featurewire.MethodTerminalGrantLost, featurewire.MethodUIEditorText}
	for _, m := range featurewire.Methods {
		if m.Notification && m.Direction == wirejson.HostToExtension && !told[m.Name] && !slices.Contains(elsewhere, m.Name) {
			t.Errorf("%s is never told", m.Name)
		}
	}
}

func TestEvents_needTheirFeatures(t *testing.T) {
	d, err := For("0.2")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range d.Events(func(feature string) bool { return feature == featurewire.FeatureLifecycleEvents }, nil) {
		if !featurewire.LifecycleEvent(e.Method).Known() {
			t.Errorf("%s is told to an extension that has not selected it", e.Method)
		}
	}
}
