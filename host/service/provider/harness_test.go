package provider_test

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"sync"
	"testing"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/extension/extensiontest"
	"github.com/octet-dev/octet/host/model"
	"github.com/octet-dev/octet/host/service/provider"
)

const (
	register   = canonicalwire.MethodProvidersRegister
	update     = canonicalwire.MethodProvidersUpdate
	unregister = canonicalwire.MethodProvidersUnregister
	request    = canonicalwire.MethodProviderAuthRequest
	revoke     = canonicalwire.MethodProviderAuthRevoke
	event      = canonicalwire.MethodProviderEvent

	invalid   = canonicalwire.CodeInvalidParams
	foreign   = canonicalwire.CodeCapabilityMismatch
	exhausted = canonicalwire.CodeResourceExhausted
)

// join starts an extension that gets the services of a registry.
func join(t *testing.T, r *provider.Registry, name string) *extensiontest.Rig {
	t.Helper()
	return joinAs(t, r, name, 1)
}

func joinAs(t *testing.T, r *provider.Registry, name string, generation int64) *extensiontest.Rig {
	t.Helper()
	return extensiontest.Start(t, extensiontest.Setup{
		API: "0.3", Name: name, Contributes: `tools = ["work"]`,
		Options: extension.Options{Bindings: []extension.Binding{r.Binding()}, Instance: fmt.Sprint(name, generation), Generation: generation},
	})
}

func definition(id, kind string) string {
	return fmt.Sprintf(`{"auth":{"kind":%q},"id":%q,"label":"Provider"}`, kind, id)
}

func modelOf(id string) string {
	return fmt.Sprintf(`{"api_name":"api-%s","capabilities":{"parallel_tool_calls":true,"reasoning":true,"structured_output":false,"tools":true},"context_window":1000,"id":%q,"max_output_tokens":100,"protocol":"openai_chat"}`, id, id)
}

// declares is the params of a registration.
func declares(id string, models ...string) string {
	list := make([]string, len(models))
	for i, m := range models {
		list[i] = modelOf(m)
	}
	return fmt.Sprintf(`{"models":[%s],"provider":%s}`, strings.Join(list, ","), definition(id, "none"))
}

// ids are the providers and models that a registry has to offer.
func ids(t *testing.T, r *provider.Registry) []string {
	t.Helper()
	list := []string{}
	for _, p := range r.Providers() {
		infos, err := p.Models(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		for _, info := range infos {
			list = append(list, info.Provider+"/"+info.Model)
		}
	}
	return list
}

// asking is one inference on its way.
type asking struct {
	done     chan struct{}
	response *model.Response
	err      error

	mu     sync.Mutex
	deltas []model.Delta
}

func said(text string) model.Request {
	return model.Request{Model: "m", Messages: []conversation.Message{conversation.Say(conversation.User, text)}}
}

// serving is an extension with a provider "p" of the model "m" that accepts streams; what it was asked
// arrives in the channel.
func serving(t *testing.T, r *provider.Registry) (*extensiontest.Rig, chan canonicalwire.ProviderStreamRequest) {
	t.Helper()
	rig := join(t, r, "one")
	rig.Ask(register, declares("p", "m")).OK(t, `{"model_ids":["p/m"],"provider_ids":["p"],"revision":1}`)
	asked := make(chan canonicalwire.ProviderStreamRequest, 1)
	rig.Serve(canonicalwire.MethodProviderStream, func(_ int64, params json.RawMessage) (any, error) {
		p, err := canonicalwire.DecodeProviderStreamRequest(params)
		if err != nil {
			return nil, err
		}
		asked <- p
		return canonicalwire.ProviderStreamAccepted{StreamID: p.StreamID, Accepted: true}, nil
	})
	return rig, asked
}

// tell sends an event.
func tell(rig *extensiontest.Rig, stream string, sequence int, kind, payload string) {
	rig.Tell(event, fmt.Sprintf(`{"kind":%q,"payload":%s,"sequence":%d,"stream_id":%q}`, kind, payload, sequence, stream))
}

// failure checks the error of an inference.
func failure(t *testing.T, err error, phase model.Phase, words string) {
	t.Helper()
	var f *model.Error
	if !errors.As(err, &f) || f.Phase != phase || f.Retry || !strings.Contains(f.Message, words) {
		t.Errorf("error is %+v, want phase %s without a retry that says %q", err, phase, words)
	}
}
