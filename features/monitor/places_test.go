package monitor

import (
	"slices"
	"testing"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/features/rulebook"
	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
)

// Every message that an extension may send beyond the core has rules for its params, and every service check and
// grant is about such a message.
func TestPlaces_coverEveryService(t *testing.T) {
	bare := []string{featurewire.MethodTerminalAcquire, featurewire.MethodTerminalRelease} // nothing but a parent
	core := []string{dialect.Progress, dialect.Notification, dialect.Cancel}
	for _, m := range featurewire.Methods {
		if m.Direction == wirejson.HostToExtension || slices.Contains(core, m.Name) {
			continue
		}
		if paramsPlaces[m.Name] == nil && !slices.Contains(bare, m.Name) {
			t.Errorf("%s has no rule for its params", m.Name)
		}
	}
	for name := range serviceChecks {
		if m := featurewire.LookupMethod(name); m == nil || m.Direction != wirejson.ExtensionToHost {
			t.Errorf("a check is about %q, which no extension sends", name)
		}
	}
	for name := range grants {
		if m := featurewire.LookupMethod(name); m == nil || m.Direction != wirejson.ExtensionToHost {
			t.Errorf("a grant is about %q, which no extension sends", name)
		}
	}
}

func TestPlaces_nameKnownRules(t *testing.T) {
	for _, id := range serviceRules() {
		if r, ok := rulebook.Find(id); !ok || r.Role != "extension" {
			t.Errorf("%s is no rule of an extension", id)
		}
	}
}

func TestPresentable(t *testing.T) {
	for address, want := range map[string]bool{
		"https://example.com/a":      true,
		"http://93.184.216.34/":      true,
		"https://example.com:8443/":  true,
		"ftp://example.com/":         false,
		"/a":                         false,
		"https://me@example.com/":    false,
		"http://LOCALHOST/":          false,
		"http://printer.local./":     false,
		"http://10.0.0.1/":           false,
		"http://[::1]/":              false,
		"http://[::ffff:127.0.0.1]/": false,
		"http://[fe80::1]/":          false,
		"http://224.0.0.1/":          false,
		"http://0.0.0.0/":            false,
		"https://":                   false,
		"javascript:alert(1)":        false,
	} {
		if got := presentable(address); got != want {
			t.Errorf("%q: %t, want %t", address, got, want)
		}
	}
}
