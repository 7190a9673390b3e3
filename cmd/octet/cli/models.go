package cli

import (
	"os"

	"github.com/octet-dev/octet/host/doctor"
	"github.com/octet-dev/octet/host/model"
	"github.com/octet-dev/octet/host/model/registry"
)

// models finds who serves a model: the built-in providers, those of the user's file, and those that
// extensions serve at the moment.
func models(chosen string, extensions func() []model.Provider) (*registry.Registry, error) {
	return registry.New(registry.Options{Home: machine().Home, Lookup: os.LookupEnv, Default: chosen, Extensions: extensions})
}

// providerKeys are the variables in which the built-in providers of models look for their keys.
func providerKeys() []doctor.Key {
	return []doctor.Key{{Provider: "anthropic", Variable: "ANTHROPIC_API_KEY"}, {Provider: "openai", Variable: "OPENAI_API_KEY"}}
}
