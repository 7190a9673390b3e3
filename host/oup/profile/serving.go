package profile

import (
	"context"
	"fmt"
	"net/http"
	"slices"

	"github.com/octet-dev/octet/host/model"
	"github.com/octet-dev/octet/host/model/anthropic"
	"github.com/octet-dev/octet/host/model/openai"
	"github.com/octet-dev/octet/host/model/registry"
)

// Models are the models as one profile has them: those that it has configured in front, with its keys, and behind
// them what the machine knows. The registry must look keys up with Store.Lookup of the same profile.
type Models struct {
	*registry.Registry
	Store   *Store
	Profile string
}

// Default is the model in use, or that of the machine where the profile has none.
func (m Models) Default() string {
	if list, err := m.Store.List(m.Profile); err == nil && list.Primary != nil {
		return list.Primary.Reference()
	}
	return m.Registry.Default()
}

// Open returns who serves a model.
func (m Models) Open(ctx context.Context, reference string) (model.Provider, model.Info, error) {
	list, err := m.Store.List(m.Profile)
	if err != nil {
		return nil, model.Info{}, err
	}
	for _, configured := range list.All() {
		if configured.Reference() == reference && m.own(configured) {
			return m.Serve(configured, "")
		}
	}
	return m.Registry.Open(ctx, reference)
}

// own reports whether a model is reached as the profile says, and not as the machine knows.
func (m Models) own(configured Model) bool {
	return configured.Route.BaseURL != "" || !m.Registry.Declares(configured.Family)
}

// Serve returns who serves a model as a profile configures it; apiKey is used in the place of the stored one.
func (m Models) Serve(configured Model, apiKey string) (model.Provider, model.Info, error) {
	configured = m.Store.Settled(configured)
	declared, known := m.Registry.Declared(configured.Family)
	asDeclared := known && configured.Route.BaseURL == "" && configured.Route.Variable == declared.KeyVariable && apiKey == ""
	if configured.Family == scripted || asDeclared {
		return m.Registry.Open(context.Background(), configured.Reference())
	}
	declared, err := m.reached(configured, apiKey)
	if err != nil {
		return nil, model.Info{}, err
	}
	info := model.Info{Provider: configured.Family, Model: configured.Model}
	for _, one := range declared.Models {
		if one.Model == configured.Model {
			info = one
		}
	}
	return m.Registry.Inline(declared, info), info, nil
}

// reached is the server of a model with its address and its key: that of the family, or the one that the model names,
// which is shown nothing that is the family's. The error is ErrNoKey where it needs a key.
func (m Models) reached(configured Model, apiKey string) (registry.Declaration, error) {
	declared, known := m.Registry.Declared(configured.Family)
	named := configured.Route.BaseURL
	if !known && named == "" {
		return declared, fmt.Errorf("the family %q is not known here, so its address is needed; give base_url", configured.Family)
	}
	if apiKey == "" {
		apiKey = m.Store.keyFor(m.Profile, configured)
	}
	if apiKey == "" && !keyless(configured) {
		return declared, noKey(configured)
	}
	declared.Name, declared.Key = configured.Family, apiKey
	if named == "" {
		var err error
		declared.BaseURL, err = m.Registry.Base(declared)
		return declared, err
	}
	if err := registry.CheckBaseURL(named); err != nil {
		return declared, fmt.Errorf("base_url %w", err)
	}
	declared.BaseURL, declared.Headers, declared.Protocol = named, nil, Protocol(configured)
	return declared, nil
}

// Protocol is what a model speaks.
func Protocol(m Model) string {
	switch {
	case slices.Contains(registry.Protocols, m.Route.Type):
		return m.Route.Type
	case m.Route.Type == anthropic.Messages, m.Route.Type == "anthropic", m.Route.Type == DefaultType && m.Family == "anthropic":
		return anthropic.Messages
	}
	return openai.Chat
}

// Listing is the request for the models that the server of a model has. The error is ErrNoKey where it needs a key.
func (m Models) Listing(ctx context.Context, configured Model, apiKey string) (*http.Request, error) {
	reached, err := m.reached(m.Store.Settled(configured), apiKey)
	if err != nil {
		return nil, err
	}
	return m.Registry.Listing(ctx, reached)
}
