// Package registry finds models by what people write for them: openai:gpt-5, local/qwen3, scripted:demo.yaml.
//
// A reference names a provider, a slash or a colon, and a model as the provider calls it. The providers
// openai and anthropic are always there, others stand in the file providers.toml of the user, or come from
// extensions.
package registry

import (
	"context"
	"fmt"
	"maps"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/octet-dev/octet/host/diagnostic"
	"github.com/octet-dev/octet/host/model"
	"github.com/octet-dev/octet/host/model/anthropic"
	"github.com/octet-dev/octet/host/model/openai"
	"github.com/octet-dev/octet/host/model/scripted"
	"github.com/octet-dev/octet/runtime/manifest/near"
)

// Options are what a registry works with. The zero value knows the built-in providers alone.
type Options struct {
	// Home is the home directory of the user, where .octet/providers.toml lies. Empty: no file is read.
	Home string
	// Directory is where relative names of scripts begin. Empty: the working directory.
	Directory string
	// Lookup reads the environment; nil: os.LookupEnv.
	Lookup func(name string) (string, bool)
	// Default is the reference that the configuration names, "" for none.
	Default string
	// Extensions yields the providers that extensions serve at the moment; nil: none.
	Extensions func() []model.Provider
	// Settle waits until extensions have said what they serve; nil: there is nothing to wait for.
	Settle func(ctx context.Context)
	// Transport makes connections; nil: that of package net/http.
	Transport http.RoundTripper
	// After is the clock of scripts: it behaves like time.After. Nil means time.After.
	After func(time.Duration) <-chan time.Time
}

// Registry finds models. Its methods may be called from any goroutine.
type Registry struct {
	options   Options
	providers []Declaration // by name
	told      []diagnostic.Diagnostic
}

// New reads the file of the user. A file that is wrong is an error: *FileError, several of them joined.
func New(options Options) (*Registry, error) {
	if options.Lookup == nil {
		options.Lookup = os.LookupEnv
	}
	r := &Registry{options: options}
	declared, told, err := readHome(options.Home)
	if err != nil {
		return nil, err
	}
	r.told = told
	for _, d := range builtin() {
		if !slices.ContainsFunc(declared, func(other Declaration) bool { return other.Name == d.Name }) {
			declared = append(declared, d)
		}
	}
	for _, d := range declared {
		for i := range d.Models {
			d.Models[i].Provider = d.Name
		}
	}
	slices.SortFunc(declared, func(a, b Declaration) int { return strings.Compare(a.Name, b.Name) })
	r.providers = declared
	return r, nil
}

// Diagnostics are what there is to tell about the file of the user.
func (r *Registry) Diagnostics() []diagnostic.Diagnostic { return r.told }

// Default is the reference that is used where nobody names one: that of the configuration, else the first
// model of a built-in provider whose key is set, else "".
func (r *Registry) Default() string {
	if r.options.Default != "" {
		return r.options.Default
	}
	for _, d := range r.providers {
		if key, _ := d.key(r.options.Lookup); d.first != "" && key != "" {
			return d.Name + ":" + d.first
		}
	}
	return ""
}

// Open returns who serves a model. It sends nothing. What is not known of the model is zero in its Info.
func (r *Registry) Open(ctx context.Context, reference string) (model.Provider, model.Info, error) {
	if reference == "" {
		return nil, model.Info{}, fmt.Errorf("no model is named, and none is the default; %s", r.remedy())
	}
	name, wanted, whole := split(reference)
	if !whole {
		return r.openBare(ctx, reference)
	}
	if name == scripted.Name {
		return r.openScript(wanted)
	}
	for _, d := range r.providers {
		if d.Name == name {
			return r.openDeclared(d, wanted)
		}
	}
	r.settle(ctx)
	for _, p := range r.fromExtensions() {
		if p.Name() == name {
			return served(ctx, p, wanted)
		}
	}
	return nil, model.Info{}, fmt.Errorf("there is no provider %q of models; %s", name, r.guess(name))
}

// split takes a reference apart at its first slash or colon.
func split(reference string) (provider, name string, whole bool) {
	i := strings.IndexAny(reference, "/:")
	if i <= 0 || i == len(reference)-1 {
		return "", "", false
	}
	return reference[:i], reference[i+1:], true
}

// openBare finds a model that is named without its provider.
func (r *Registry) openBare(ctx context.Context, reference string) (model.Provider, model.Info, error) {
	r.settle(ctx)
	var full, all []string
	for _, info := range r.Models(ctx) {
		ref := info.Provider + ":" + info.Model
		all = append(all, ref, info.Model)
		if info.Model == reference {
			full = append(full, ref)
		}
	}
	switch {
	case len(full) == 1:
		return r.Open(ctx, full[0])
	case len(full) > 1:
		return nil, model.Info{}, fmt.Errorf("model %q: several providers have it; name one of %s", reference, strings.Join(full, ", "))
	}
	text := "write PROVIDER:MODEL; " + r.guess(reference)
	if meant := near.Find(reference, all); meant != "" {
		text = fmt.Sprintf("did you mean %q?", meant)
	}
	return nil, model.Info{}, fmt.Errorf("model %q is not known; %s", reference, text)
}

func (r *Registry) openScript(file string) (model.Provider, model.Info, error) {
	named := file
	if !filepath.IsAbs(file) && r.options.Directory != "" {
		file = filepath.Join(r.options.Directory, file)
	}
	script, err := scripted.Load(file)
	if err != nil {
		return nil, model.Info{}, err
	}
	script.Info.Model = named
	return scripted.New(script, scripted.Options{After: r.options.After}), script.Info, nil
}

func (r *Registry) openDeclared(d Declaration, wanted string) (model.Provider, model.Info, error) {
	key, source := d.key(r.options.Lookup)
	if key == "" && d.KeyVariable != "" {
		return nil, model.Info{}, fmt.Errorf("provider %q needs a key: set the variable %s, or api_key of [providers.%s] in %s",
			d.Name, d.KeyVariable, d.Name, r.file())
	}
	base, err := r.Base(d)
	if err != nil {
		return nil, model.Info{}, err
	}
	info := d.info(wanted)
	return Fit(r.connect(d, base, key, source), info), info, nil
}

// Base is where a declared provider is: its own address, or that of the variable which may replace it; empty: that of
// its protocol.
func (r *Registry) Base(d Declaration) (string, error) {
	if d.BaseURL != "" || d.baseVariable == "" {
		return d.BaseURL, nil
	}
	base, _ := r.options.Lookup(d.baseVariable)
	if base != "" {
		if err := CheckBaseURL(base); err != nil {
			return "", fmt.Errorf("provider %q: the variable %s %w", d.Name, d.baseVariable, err)
		}
	}
	return base, nil
}

// server is a provider that can say how it is asked for its models.
type server interface {
	model.Provider
	Listing(ctx context.Context) (*http.Request, error)
}

// connect makes the provider of a declaration.
func (r *Registry) connect(d Declaration, base, key, source string) server {
	if d.Protocol == anthropic.Messages {
		return anthropic.New(anthropic.Options{
			Name: d.Name, BaseURL: base, Key: key, KeySource: source, Headers: d.Headers, Catalog: d.Models, Transport: r.options.Transport,
		})
	}
	return openai.New(openai.Options{
		Name: d.Name, Protocol: d.Protocol, BaseURL: base, Key: key, KeySource: source, Headers: d.Headers, Catalog: d.Models,
		Transport: r.options.Transport,
	})
}

// Inline returns who serves a model at a server that whoever asks names completely: nothing of the
// environment and of the file of the user goes there, keys least of all.
func (r *Registry) Inline(d Declaration, info model.Info) model.Provider {
	info.Provider = d.Name
	d.Models = []model.Info{info}
	return Fit(r.connect(d, d.BaseURL, d.Key, ""), info)
}

// Listing is the request for the models of a server that whoever asks names completely, as Inline asks it.
func (r *Registry) Listing(ctx context.Context, d Declaration) (*http.Request, error) {
	return r.connect(d, d.BaseURL, d.Key, "").Listing(ctx)
}

// served finds a model of a provider that lists all it has.
func served(ctx context.Context, p model.Provider, wanted string) (model.Provider, model.Info, error) {
	infos, err := p.Models(ctx)
	if err != nil {
		return nil, model.Info{}, fmt.Errorf("provider %q cannot say which models it has: %w", p.Name(), err)
	}
	var names []string
	for _, info := range infos {
		if info.Model == wanted {
			return Fit(p, info), info, nil
		}
		names = append(names, info.Model)
	}
	text := "it has no models"
	if meant := near.Find(wanted, names); meant != "" {
		text = fmt.Sprintf("did you mean %q?", meant)
	} else if len(names) > 0 {
		text = "it has: " + strings.Join(names, ", ")
	}
	return nil, model.Info{}, fmt.Errorf("provider %q has no model %q; %s", p.Name(), wanted, text)
}

func (r *Registry) settle(ctx context.Context) {
	if r.options.Settle != nil {
		r.options.Settle(ctx)
	}
}

func (r *Registry) fromExtensions() []model.Provider {
	if r.options.Extensions == nil {
		return nil
	}
	return r.options.Extensions()
}

// Models lists what is known of models, by provider and name: the built-in table, the file of the user,
// and what extensions serve. Providers serve more than what is listed. A provider that cannot say what it
// has is left out.
func (r *Registry) Models(ctx context.Context) []model.Info {
	var list []model.Info
	for _, d := range r.providers {
		list = append(list, d.Models...)
	}
	for _, p := range r.fromExtensions() {
		if infos, err := p.Models(ctx); err == nil {
			list = append(list, infos...)
		}
	}
	slices.SortStableFunc(list, func(a, b model.Info) int {
		if a.Provider != b.Provider {
			return strings.Compare(a.Provider, b.Provider)
		}
		return strings.Compare(a.Model, b.Model)
	})
	return list
}

// Declares reports whether a provider is built in or stands in the file of the user: no extension may
// take its name.
func (r *Registry) Declares(provider string) bool {
	return provider == scripted.Name || slices.ContainsFunc(r.providers, func(d Declaration) bool { return d.Name == provider })
}

// Declared is how a provider is declared, without its key; ok is false where it is not. Only the built-in ones and
// those of the user's file are.
func (r *Registry) Declared(provider string) (d Declaration, ok bool) {
	i := slices.IndexFunc(r.providers, func(d Declaration) bool { return d.Name == provider })
	if i < 0 {
		return Declaration{}, false
	}
	d = r.providers[i]
	d.Key, d.Models, d.Headers = "", slices.Clone(d.Models), maps.Clone(d.Headers)
	return d, true
}

// Providers are the names of the declared ones, sorted.
func (r *Registry) Providers() []string {
	names := make([]string, len(r.providers))
	for i, d := range r.providers {
		names[i] = d.Name
	}
	return names
}

// Usable reports whether a provider could be asked: it is known, and its key is set if it needs one.
func (r *Registry) Usable(provider string) bool {
	for _, d := range r.providers {
		if d.Name == provider {
			key, _ := d.key(r.options.Lookup)
			return key != "" || d.KeyVariable == ""
		}
	}
	return slices.ContainsFunc(r.fromExtensions(), func(p model.Provider) bool { return p.Name() == provider })
}

func (r *Registry) file() string {
	if r.options.Home == "" {
		return fileName
	}
	return File(r.options.Home)
}

// remedy says how a model is named for the first time.
func (r *Registry) remedy() string {
	var variables []string
	for _, d := range r.providers {
		if d.first != "" && d.KeyVariable != "" {
			variables = append(variables, d.KeyVariable)
		}
	}
	return fmt.Sprintf("set %s, or name a model, for example scripted:FILE", strings.Join(variables, " or "))
}

func (r *Registry) guess(name string) string {
	names := []string{scripted.Name}
	for _, d := range r.providers {
		names = append(names, d.Name)
	}
	for _, p := range r.fromExtensions() {
		names = append(names, p.Name())
	}
	slices.Sort(names)
	return guess(name, names)
}
