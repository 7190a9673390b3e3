package extension_test

import (
	"testing"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/extension/extensiontest"
)

// What the manifest does not open never reaches a service.
func TestNotices_undeclared(t *testing.T) {
	for method, c := range map[string]struct{ params, declares string }{
		featurewire.MethodNotification:        {`{"message":"m"}`, "notifications = true"},
		featurewire.MethodContextContribution: {`{"label":"l","content":"c"}`, "context = true"},
		featurewire.MethodStatusContribution:  {`{"surface":"status","text":"t"}`, `ui = ["status"]`},
		featurewire.MethodPresentationUpdate:  {`{}`, "presentation = true"},
	} {
		for _, declared := range []bool{false, true} {
			s := &seen{}
			contributes := `tools = ["work"]`
			if declared {
				contributes += "\n" + c.declares
			}
			r := extensiontest.Start(t, extensiontest.Setup{
				Contributes: contributes, Options: extension.Options{Bindings: []extension.Binding{s.binding()}},
			})
			r.Tell(method, c.params)
			r.Flush()
			r.X.Close()
			if arrived := s.incoming() != nil; arrived != declared || r.Diagnosed("undeclared") == declared {
				t.Errorf("%s, declared %v: arrived %v, diagnostics %q", method, declared, arrived, r.Diagnostics())
			}
		}
	}
}

// A notification that is open and nobody's is dropped with a diagnostic.
func TestNotices_unbound(t *testing.T) {
	r := extensiontest.Start(t, extensiontest.Setup{Contributes: "tools = [\"work\"]\npresentation = true"})
	r.Tell(featurewire.MethodPresentationUpdate, `{}`)
	r.Flush()
	r.X.Close()
	if !r.Diagnosed("no service for it") {
		t.Errorf("diagnostics %q", r.Diagnostics())
	}
}

// API 0.1 ties nothing: a question is asked for the process.
func TestCorrelate_legacy(t *testing.T) {
	s := &seen{}
	r := extensiontest.Start(t, extensiontest.Setup{
		API: "0.1", Contributes: "tools = [\"work\"]\nconfirmations = true", Options: extension.Options{Bindings: []extension.Binding{s.binding()}},
	})
	r.During(front, func(int64) {
		r.Ask(featurewire.MethodConfirmationRequest, `{"message":"sure?"}`).OK(t, "{}")
	})
	if in := s.incoming(); in.Parent != nil || !in.Owner.IsZero() {
		t.Errorf("incoming %+v", in)
	}
}
