package profile

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"

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
	if !known && configured.Route.BaseURL == "" {
		return nil, model.Info{}, fmt.Errorf("the family %q is not known here, so its address is needed; give base_url", configured.Family)
	}
	if apiKey == "" {
		apiKey = m.Store.keyFor(m.Profile, configured)
	}
	if apiKey == "" && !keyless(configured) {
		return nil, model.Info{}, noKey(configured)
	}
	info := model.Info{Provider: configured.Family, Model: configured.Model}
	for _, one := range declared.Models {
		if one.Model == configured.Model {
			info = one
		}
	}
	if configured.Route.BaseURL != "" {
		if err := registry.CheckBaseURL(configured.Route.BaseURL); err != nil {
			return nil, model.Info{}, fmt.Errorf("base_url %w", err)
		}
		declared.BaseURL, declared.Headers = configured.Route.BaseURL, nil
	}
	if !known || configured.Route.BaseURL != "" {
		declared.Protocol = Protocol(configured)
	}
	declared.Name, declared.Key = configured.Family, apiKey
	return m.Registry.Inline(declared, info), info, nil
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

// Listing is the request for the models that a provider has. The error is ErrNoKey where it needs a key.
func (m Models) Listing(ctx context.Context, configured Model, apiKey string) (*http.Request, error) {
	configured = m.Store.Settled(configured)
	base := configured.Route.BaseURL
	if base != "" {
		if err := registry.CheckBaseURL(base); err != nil {
			return nil, fmt.Errorf("base_url %w", err)
		}
	}
	declared, known := m.Registry.Declared(configured.Family)
	protocol := Protocol(configured)
	if base == "" && known {
		base, protocol = declared.BaseURL, declared.Protocol
	}
	if apiKey == "" {
		apiKey = m.Store.keyFor(m.Profile, configured)
	}
	if apiKey == "" && !keyless(configured) {
		return nil, noKey(configured)
	}
	if base == "" {
		if base = defaultBases[protocol]; !known {
			return nil, fmt.Errorf("the family %q is not known here, so its address is needed; give base_url", configured.Family)
		}
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, strings.TrimSuffix(base, "/")+"/models", nil)
	if err != nil {
		return nil, errors.New("base_url is no address")
	}
	if apiKey != "" && protocol == anthropic.Messages {
		request.Header.Set("x-api-key", apiKey)
		request.Header.Set(anthropic.VersionHeader, anthropic.Version)
	} else if apiKey != "" {
		request.Header.Set("Authorization", "Bearer "+apiKey)
	}
	return request, nil
}

// defaultBases are where the built-in providers are.
var defaultBases = map[string]string{
	openai.Chat: "https://api.openai.com/v1", openai.Responses: "https://api.openai.com/v1", anthropic.Messages: "https://api.anthropic.com/v1",
}
