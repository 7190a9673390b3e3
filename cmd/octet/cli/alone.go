package cli

import (
	"context"
	"errors"
	"slices"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/manifestdoc"
	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/hooks"
	"github.com/octet-dev/octet/host/policy"
	"github.com/octet-dev/octet/host/selection"
	"github.com/octet-dev/octet/host/service/dialog"
	"github.com/octet-dev/octet/host/service/entries"
	"github.com/octet-dev/octet/host/service/lifecycle"
	"github.com/octet-dev/octet/host/service/policyintent"
	"github.com/octet-dev/octet/host/service/tools"
)

// alone are the services for an extension that is started by itself, without a conversation: whatever needs
// none. Hooks and observations belong to conversations, so there are never any to run or to tell; they are
// offered all the same, because an extension that declares a hook must be offered its feature. Everything
// that would need a conversation is withheld, artifacts too: they belong to the session of a call.
//
// Rule: EXT04-NEG-025.
func (t *target) alone(c *console) []extension.Binding {
	catalogs := tools.New(tools.Options{Prompts: true})
	intents := policyintent.New(policyintent.Options{Settings: t.settings})
	gated := entries.Binding(noConversation{})
	gated.Features = []string{featurewire.FeatureSessionEntries}
	gated.Offer = declaresSessionOperations
	hooked := hooks.New(hooks.Options{Ready: func() []*extension.Extension { return nil }}).Binding()
	hooked.Capabilities = nil // on the canonical wire a hook may be declared and never be run
	bindings := []extension.Binding{
		lifecycle.New().Binding(), dialog.Binding(nobody{c}), gated, hooked,
	}
	return slices.Concat(bindings, catalogs.Bindings(), intents.Bindings())
}

// settings are the policy that a conversation in the workspace would have; the strictest where the
// configuration cannot be read.
func (t *target) settings() policy.Settings {
	s, err := selection.Configure(machine(), selection.Invocation{Workspace: t.workspace})
	if err != nil {
		return policy.Settings{}.Safe()
	}
	return s.Policy
}

// declaresSessionOperations reports whether a hook of the manifest needs the feature of session entries.
func declaresSessionOperations(s *extension.Source) bool {
	return slices.ContainsFunc(s.Manifest.Contributes.Hooks, func(h manifestdoc.Hook) bool {
		row := featurewire.LookupHook(string(h))
		return row != nil && row.Feature == featurewire.FeatureSessionEntries
	})
}

// nobody answers questions: with no. Whoever calls one tool has given its arguments, and waits for its result.
type nobody struct{ console *console }

func (n nobody) Confirm(_ context.Context, q dialog.Question) (bool, error) {
	n.console.note("%s asks: %s; nobody is asked here, so the answer is no", q.Extension, q.Prompt)
	return false, nil
}

func (n nobody) Input(_ context.Context, i dialog.Input) (string, bool, error) {
	n.console.note("%s asks: %s; nobody is asked here, so there is no answer", i.Extension, i.Prompt)
	return "", false, nil
}

// noConversation is where nothing can be left.
type noConversation struct{}

var errNoConversation = errors.New("there is no conversation")

func (noConversation) AppendEntry(context.Context, string, entries.Entry) (string, error) {
	return "", errNoConversation
}
func (noConversation) SetName(context.Context, string, string) error { return errNoConversation }
func (noConversation) SetLabel(context.Context, string, string, string) error {
	return errNoConversation
}

func (noConversation) Inject(context.Context, string, string, conversation.Message) error {
	return errNoConversation
}
