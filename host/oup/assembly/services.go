package assembly

import (
	"context"
	"maps"
	"os"
	"time"

	"github.com/octet-dev/octet/host/engine"
	"github.com/octet-dev/octet/host/model/registry"
	"github.com/octet-dev/octet/host/oup/key"
	"github.com/octet-dev/octet/host/oup/profile"
	"github.com/octet-dev/octet/host/oup/rpc"
	"github.com/octet-dev/octet/host/oup/services"
	"github.com/octet-dev/octet/host/service/provider"
)

// profiles opens the profiles of the data directory.
func (o Options) profiles() (*profile.Store, error) {
	lookup := o.Machine.Lookup
	if lookup == nil {
		lookup = os.LookupEnv
	}
	known, err := o.known(lookup)
	if err != nil {
		return nil, err
	}
	families := map[string]string{}
	for _, name := range known.Providers() {
		if declared, ok := known.Declared(name); ok {
			families[name] = declared.KeyVariable
		}
	}
	return profile.Open(o.DataDir, lookup, families), nil
}

// known are the providers of models that the machine knows. An embedder with models of its own has the built-in ones.
func (o Options) known(lookup func(string) (string, bool)) (*registry.Registry, error) {
	models, _, err := o.Models(lookup)
	if err != nil {
		return nil, err
	}
	if known, is := models.(*registry.Registry); is {
		return known, nil
	}
	return registry.New(registry.Options{Lookup: lookup})
}

// models are the models as a profile has them. Models of an embedder's own are the same for all.
func (o Options) models(profiles *profile.Store, id string) (engine.Models, *provider.Registry, error) {
	models, provided, err := o.Models(profiles.Lookup(id))
	if known, is := models.(*registry.Registry); is && err == nil {
		return profile.Models{Registry: known, Store: profiles, Profile: id}, provided, nil
	}
	return models, provided, err
}

// Answers says why no profile has anybody yet who serves a model. Extensions bring theirs later, with an engine.
func (a *Assembly) Answers(ctx context.Context, model string) error {
	ids, err := a.Profiles.IDs()
	if err != nil {
		return err
	}
	var first error
	for _, id := range ids {
		models, _, err := a.options.models(a.Profiles, id)
		if err == nil {
			_, _, err = models.Open(ctx, model)
		}
		if err == nil {
			return nil
		}
		if first == nil || id == key.Default() {
			first = err
		}
	}
	return first
}

// chosen is the model that a profile has chosen, where the operator leaves the choice to it.
func (a *Assembly) chosen(o Options, profile string) string {
	if o.Model != "" {
		return ""
	}
	list, err := a.Profiles.List(profile)
	if err != nil || list.Primary == nil {
		return ""
	}
	return list.Primary.Reference()
}

// services are the handlers that are about the server.
func (a *Assembly) services(o Options) map[string]rpc.Handler {
	rows := services.Rows{
		House: a.House, Profiles: a.Profiles, Model: o.Model, Home: o.Machine.Home, Release: o.Release, Started: time.Now(), Now: time.Now, Token: o.Token,
		Models: func(id string) (profile.Models, error) {
			known, err := o.known(a.Profiles.Lookup(id))
			return profile.Models{Registry: known, Store: a.Profiles, Profile: id}, err
		},
		Default: func(id string) string {
			models, _, err := o.models(a.Profiles, id)
			if err != nil {
				return ""
			}
			return models.Default()
		},
	}
	return rows.Handlers()
}

// with joins groups of handlers.
func with(groups ...map[string]rpc.Handler) map[string]rpc.Handler {
	all := map[string]rpc.Handler{}
	for _, group := range groups {
		maps.Copy(all, group)
	}
	return all
}
