package autocomplete

import (
	"encoding/json"
	"testing"
	"testing/synctest"
	"time"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/extension/extensiontest"
)

// EXT04-COMPLETE-004, EXT04-COMPLETE-005, EXT04-COMPLETE-010
func TestBinding(t *testing.T) {
	for _, c := range []struct {
		api   string
		edits bool
	}{{"0.4", true}, {"0.2", false}} {
		synctest.Test(t, func(t *testing.T) {
			interactive := false
			s := New(func() bool { return interactive })
			rig := extensiontest.Start(t, extensiontest.Setup{API: c.api, Options: extension.Options{Bindings: []extension.Binding{s.Binding()}}})
			if !rig.X.Has(featurewire.FeatureAutocomplete) || rig.X.Has(featurewire.FeatureAutocompleteEditV1) != c.edits {
				t.Errorf("%s is offered %s", c.api, rig.Offer())
			}
			rig.Ask(featurewire.MethodUIAutocompleteRegister, `{"revision":3}`).Refused(t, featurewire.CodeInvalidParams, "invalid_request ")
			interactive = true
			rig.Ask(featurewire.MethodUIAutocompleteRegister, `{"revision":3}`).OK(t, `{"accepted":true}`)
			answer := `{"prefix":"x","items":[{"value":"xy","label":"l","description":null}]}`
			rig.Serve(featurewire.MethodUIAutocompleteComplete, func(_ int64, params json.RawMessage) (any, error) {
				if string(params) != `{"cursor":1,"revision":3,"text":"x"}` {
					t.Errorf("asked %s", params)
				}
				return json.RawMessage(answer), nil
			})
			e := Editor{Text: "x", Cursor: 1}
			if offer, _ := s.Complete(t.Context(), e); offer == nil {
				t.Errorf("no offer: %q", rig.Diagnostics())
			}
			answer = `{"prefix":"x","items":[{"value":"xy","label":"l","description":null,"replace_after_bytes":0}]}`
			if offer, _ := s.Complete(t.Context(), e); (offer != nil) != c.edits {
				t.Errorf("an edit on %s: %v, %q", c.api, offer, rig.Diagnostics())
			}
			rig.X.Close()
			synctest.Wait()
			if len(s.registered) != 0 {
				t.Error("registered behind the end of its process")
			}
		})
	}
	if rig := extensiontest.Start(t, extensiontest.Setup{}); rig.X.Has(featurewire.FeatureAutocomplete) {
		t.Error("offered without an editor")
	}
}

// EXT04-COMPLETE-008: late.
func TestComplete_late(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		s := New(func() bool { return true })
		rig := extensiontest.Start(t, extensiontest.Setup{Options: extension.Options{Bindings: []extension.Binding{s.Binding()}}})
		rig.Ask(featurewire.MethodUIAutocompleteRegister, `{"revision":3}`).OK(t, `{"accepted":true}`)
		rig.Serve(featurewire.MethodUIAutocompleteComplete, func(int64, json.RawMessage) (any, error) {
			time.Sleep(time.Second)
			return json.RawMessage(`{"prefix":"","items":[{"value":"v","label":"l","description":null}]}`), nil
		})
		start := time.Now()
		if offer, rest := s.Complete(t.Context(), Editor{}); offer != nil || rest != 0 || time.Since(start) != 500*time.Millisecond {
			t.Errorf("%v with %s left after %s", offer, rest, time.Since(start))
		}
		time.Sleep(time.Second)
	})
}
