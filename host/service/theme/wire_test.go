package theme

import (
	"strings"
	"testing"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/extension/extensiontest"
)

func TestBinding(t *testing.T) {
	d := &drawn{verdict: Verdict{Status: canonicalwire.ThemeSelectStatusSelected}}
	rig := extensiontest.Start(t, extensiontest.Setup{API: canonicalwire.Version03, Options: extension.Options{Bindings: []extension.Binding{Binding(d)}}})
	rig.Ask(canonicalwire.MethodThemeSelect, wish("demo", "dark", "accent")).OK(t, `{"status":"selected","theme_id":"night"}`)
	rig.Ask(canonicalwire.MethodThemeSelect, wish("me", "dark", "accent")).Refused(t, canonicalwire.CodeCapabilityMismatch, "")
	rig.Ask(canonicalwire.MethodThemeSelect, wish("demo", "dark", "sparkle")).Refused(t, canonicalwire.CodeInvalidParams, "")
	without := extensiontest.Start(t, extensiontest.Setup{API: canonicalwire.Version03})
	if strings.Contains(string(without.Offer()), canonicalwire.CapabilityThemeSelection) {
		t.Errorf("offered where nothing is drawn: %s", without.Offer())
	}
}
