package extension_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"testing"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/extension/extensiontest"
	"github.com/octet-dev/octet/runtime/peer"
)

// EXT04-ORDER-013: a shortcut is registered in front of the answer to initialize, and never behind it.
func TestEarly_shortcut(t *testing.T) {
	var incoming *extension.Incoming
	shortcuts := extension.Binding{
		Features: []string{featurewire.FeatureShortcuts},
		Requests: map[string]extension.Handler{featurewire.MethodShortcutRegister: func(_ context.Context, r *extension.Incoming) (peer.Value, error) {
			incoming = r
			return featurewire.ShortcutRegisterResult{}, nil
		}},
	}
	params := func(parent int64) string {
		return fmt.Sprintf(`{"parent_request_id":%d,"id":"a","key":"ctrl+a","description":"d"}`, parent)
	}
	early := func(r *extensiontest.Rig, id int64, _ json.RawMessage) {
		r.Ask(featurewire.MethodShortcutRegister, params(id)).OK(t, "{}")
		r.Ask(featurewire.MethodShortcutRegister, params(id+1)).Refused(t, featurewire.CodeInvalidParams, "invalid_request")
		r.Ask(featurewire.MethodComposerGet, params(id)).Refused(t, featurewire.CodeUnknownMethod, "unsupported_feature")
	}
	r := extensiontest.Start(t, extensiontest.Setup{Early: early, Options: extension.Options{Bindings: []extension.Binding{shortcuts}}})
	if incoming == nil || incoming.Parent != nil || !incoming.Owner.IsZero() {
		t.Errorf("incoming %+v, want one of the process", incoming)
	}
	r.Ask(featurewire.MethodShortcutRegister, params(1)).Refused(t, featurewire.CodeInvalidParams, "invalid_request")

	without := func(r *extensiontest.Rig, id int64, _ json.RawMessage) {
		r.Ask(featurewire.MethodShortcutRegister, params(id)).Refused(t, featurewire.CodeUnknownMethod, "unsupported_feature")
	}
	extensiontest.Start(t, extensiontest.Setup{Early: without})
}

// Bindings hear of the beginning in front of everything else, and of the end once.
func TestBinding_startedAndEnded(t *testing.T) {
	var heard []string
	b := extension.Binding{
		Started: func(x *extension.Extension) { heard = append(heard, "started "+x.Agreement().API) },
		Ended:   func(*extension.Extension) { heard = append(heard, "ended") },
	}
	other := extension.Binding{
		Offer:   func(s *extension.Source) bool { return s.Manifest.Name == "somebody-else" },
		Started: func(*extension.Extension) { t.Error("a binding that does not apply was told") },
	}
	r := extensiontest.Start(t, extensiontest.Setup{Options: extension.Options{Bindings: []extension.Binding{b, other}}})
	r.X.Close()
	r.X.Close()
	if !slices.Equal(heard, []string{"started 0.4", "ended"}) {
		t.Errorf("heard %q", heard)
	}
	heard = nil
	_, err := extensiontest.TryStart(t, extensiontest.Setup{
		Options: extension.Options{Bindings: []extension.Binding{b}}, Initialize: func(result map[string]any) { result["api_version"] = "0.2" },
	})
	if err == nil || !slices.Equal(heard, []string{"ended"}) {
		t.Errorf("a failed start: %v, heard %q", err, heard)
	}
}

// A service may tell the extension something in front of everything else, and hears whether its answer has
// its place.
func TestBinding_notifiesAndFollowsItsAnswer(t *testing.T) {
	delivered := make(chan bool, 2)
	b := extension.Binding{
		Capabilities: []string{canonicalwire.CapabilityProviderStream, canonicalwire.CapabilityThemeSelection},
		Started: func(x *extension.Extension) {
			if err := x.Notify(context.Background(), canonicalwire.MethodProviderCancel, canonicalwire.ProviderStreamCancelParams{StreamID: "s"}); err != nil {
				t.Errorf("a notification at the start: %v", err)
			}
		},
		Requests: map[string]extension.Handler{canonicalwire.MethodThemeSelect: func(_ context.Context, r *extension.Incoming) (peer.Value, error) {
			r.Behind(func(ok bool) { delivered <- ok })
			if string(r.Params) == "{}" {
				return nil, errors.New("no theme")
			}
			return peer.Raw(`{"status":"denied"}`), nil
		}},
	}
	r := extensiontest.Start(t, extensiontest.Setup{API: "0.3", Options: extension.Options{Bindings: []extension.Binding{b}}})
	r.WaitTold(canonicalwire.MethodProviderCancel, 1)
	r.Ask(canonicalwire.MethodThemeSelect, `{"a":1}`).OK(t, "")
	if !<-delivered {
		t.Error("a result was not delivered")
	}
	r.Ask(canonicalwire.MethodThemeSelect, `{}`).Refused(t, canonicalwire.CodeInternalError, "")
	if <-delivered {
		t.Error("an error counts as a result")
	}
}
