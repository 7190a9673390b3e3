package extension_test

import (
	"context"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/extension/extensiontest"
	"github.com/octet-dev/octet/runtime/peer"
)

// themes is a rig of API 0.3 whose extension may select themes; serve answers.
func themes(t *testing.T, serve extension.Handler) *extensiontest.Rig {
	t.Helper()
	b := extension.Binding{
		Capabilities: []string{canonicalwire.CapabilityThemeSelection},
		Requests:     map[string]extension.Handler{canonicalwire.MethodThemeSelect: serve},
	}
	return extensiontest.Start(t, extensiontest.Setup{API: "0.3", Options: extension.Options{Bindings: []extension.Binding{b}}})
}

const aTheme = `{"namespace":"demo","theme_id":"t","role":"accent","scope":"extension"}`

// selected decodes and says yes.
func selected(_ context.Context, r *extension.Incoming) (peer.Value, error) {
	if _, err := canonicalwire.DecodeThemeSelectParams(r.Params); err != nil {
		return nil, err
	}
	return peer.Raw(`{"status":"selected"}`), nil
}

// EXT03-METHOD-011, EXT03-ORDER-015: params that break their model hurt their request alone.
func TestCanonical_badParams(t *testing.T) {
	r := themes(t, selected)
	for _, bad := range []string{`{}`, `[]`, `{"namespace":7}`, strings.Replace(aTheme, `}`, `,"more":1}`, 1)} {
		r.Ask(canonicalwire.MethodThemeSelect, bad).Refused(t, canonicalwire.CodeInvalidParams, canonicalwire.ErrInvalidParams.Message)
	}
	r.Ask(canonicalwire.MethodThemeSelect, aTheme).OK(t, `{"status":"selected"}`)
	r.SendAs("77", canonicalwire.MethodThemeSelect, aTheme).Wait().OK(t, "")
	r.SendAs(`"77"`, canonicalwire.MethodThemeSelect, aTheme).Wait().OK(t, "")
	r.Ask(canonicalwire.MethodBusDeclare, `{}`).Refused(t, canonicalwire.CodeUnknownMethod, canonicalwire.ErrUnknownMethod.Message)
}

// EXT03-CANCEL-014, EXT03-CANCEL-015, EXT03-CANCEL-016.
func TestCanonical_cancelledByTheExtension(t *testing.T) {
	started := make(chan struct{}, 1)
	r := themes(t, func(ctx context.Context, q *extension.Incoming) (peer.Value, error) {
		started <- struct{}{}
		<-ctx.Done()
		return nil, ctx.Err()
	})
	p := r.Send(canonicalwire.MethodThemeSelect, aTheme)
	<-started
	r.Cancel(p)
	r.Cancel(p)
	r.Cancel(&extensiontest.Pending{ID: `"never"`})
	p.Wait().Refused(t, canonicalwire.CodeRequestCancelled, canonicalwire.ErrRequestCancelled.Message)
	r.Cancel(p)
	r.Flush()
}

// EXT03-ENV-025: 128 at once, one more is refused, and no id counts twice.
func TestCanonical_limits(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		r := themes(t, func(context.Context, *extension.Incoming) (peer.Value, error) {
			<-release
			return peer.Raw(`{"status":"selected"}`), nil
		})
		var all []*extensiontest.Pending
		for range featurewire.MaxChildRequests {
			all = append(all, r.Send(canonicalwire.MethodThemeSelect, aTheme))
		}
		r.Ask(canonicalwire.MethodThemeSelect, aTheme).Refused(t, canonicalwire.CodeResourceExhausted, "")
		close(release)
		for _, p := range all {
			p.Wait().OK(t, "")
		}
		r.SendAs(all[0].ID, canonicalwire.MethodThemeSelect, aTheme).Wait().Refused(t, canonicalwire.CodeInvalidRequest, "")
		r.Ask(canonicalwire.MethodThemeSelect, aTheme).OK(t, "")
		r.X.Close()
	})
}

// No observation of the feature wire, and nothing that no wire has, is sent on API 0.3.
//
// EXT03-HOOK-019, EXT04-ORDER-012.
func TestNotify_foreign(t *testing.T) {
	r := themes(t, selected)
	for _, method := range []string{featurewire.MethodSessionStarted, featurewire.MethodSessionSettled, featurewire.MethodModelSelected, "ui/terminal-input"} {
		if err := r.X.Notify(t.Context(), method, peer.Raw("{}")); err == nil {
			t.Errorf("%s is sent on 0.3", method)
		}
	}
	s := &seen{}
	if err := s.rig(t, "0.4", "").X.Notify(t.Context(), "ui/terminal-input", peer.Raw("{}")); err == nil {
		t.Error("ui/terminal-input is sent on 0.4")
	}
}
