package cli

import (
	"os"

	"github.com/octet-dev/octet/host/doctor"
	"github.com/octet-dev/octet/host/model/registry"
	"github.com/octet-dev/octet/host/service/provider"
)

// models finds who serves a model: the built-in providers, those of the user's file, and those that
// extensions serve at the moment.
func models(chosen string) (*registry.Registry, *provider.Registry, error) {
	return modelsWith(chosen, os.LookupEnv)
}

// modelsWith is models with keys from another environment.
func modelsWith(chosen string, lookup func(string) (string, bool)) (*registry.Registry, *provider.Registry, error) {
	var known *registry.Registry
	provided := provider.New(provider.Options{Reserved: func(id string) bool { return known.Declares(id) }})
	known, err := registry.New(registry.Options{
		Home: machine().Home, Lookup: lookup, Default: chosen, Extensions: provided.Providers, Settle: provided.Settle,
	})
	return known, provided, err
}

// providerKeys are the variables in which the built-in providers of models look for their keys.
func providerKeys() []doctor.Key {
	return []doctor.Key{{Provider: "anthropic", Variable: "ANTHROPIC_API_KEY"}, {Provider: "openai", Variable: "OPENAI_API_KEY"}}
}
