package extension

import (
	"context"
	"slices"

	"github.com/octet-dev/octet/generated/canonicalservice"
	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/featureservice"
	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/runtime/negotiation"
)

const (
	dynamicToolsFeature    = featurewire.FeatureDynamicTools
	runtimeCommandsFeature = featurewire.FeatureRuntimeCommands
)

// plan is what an extension has registered. It does not change once a session has begun.
type plan struct {
	tools     []*Tool    // ascending by name
	commands  []*Command // ascending by name
	hooks     map[string]hook
	events    map[string][]event // by method
	shortcuts []Shortcut

	context      func(context.Context, *Scope, string) ([]Contribution, error)
	statuses     map[featurewire.UiSurface]statusFunc
	menu         func(context.Context, *Scope) (featurewire.MenuCollectResult, error)
	renderers    map[string]func(context.Context, *Scope, Rendering) ([]featurewire.ToolRenderSegment, error)
	autocomplete func(context.Context, *Scope, featurewire.UiAutocompleteCompleteParams) (featurewire.UiAutocompleteCompleteResult, error)
	dispose      func(context.Context, *Scope, featurewire.ResourceRef) error
	intercept    func(context.Context, *Scope, string) (string, error)

	ready    []func(context.Context, *Scope)
	sessions sessionHooks
	migrate  *Migration
	accept   func(context.Context, canonicalwire.ProviderStreamRequest) error
	stream   func(context.Context, *Inference) error
}

// hook is one registered hook.
type hook struct {
	row *wirejson.Hook
	run featureservice.Hook[*HookCall]
}

// event is one registered handler of a notification: it reads the params and returns what is to be run.
type event func(params []byte) (func(context.Context), error)

type statusFunc func(ctx context.Context, scope *Scope) (*Status, error)

// has reports whether an API version has a feature or capability.
func (a API) has(name string) bool {
	if a == API03 {
		c := canonicalwire.LookupCapability(name)
		return c != nil && c.Offer == "optional"
	}
	f := featurewire.LookupFeature(name)
	return f != nil && slices.Contains(f.Versions, string(a))
}

// features returns the features that the plan asks for, with what they depend on, in the order of the table.
func (e *Extension) features(p *plan) []string {
	wanted := append([]string{featurewire.FeatureRequestProgress, featurewire.FeatureProgressDecoration}, e.options.Uses...)
	for method := range p.events {
		if m := featurewire.LookupMethod(method); m != nil {
			wanted = append(wanted, negotiation.GateFeature(m.Gate))
		}
	}
	for _, h := range p.hooks {
		wanted = append(wanted, h.row.Feature)
	}
	for _, t := range p.tools {
		wanted = append(wanted, t.extra.features()...)
	}
	for feature, registered := range map[string]bool{
		featurewire.FeatureShortcuts:                len(p.shortcuts) > 0,
		featurewire.FeatureAutocomplete:             p.autocomplete != nil,
		featurewire.FeatureResourceRefsV1:           p.dispose != nil,
		featurewire.FeatureTerminalInputInterceptV1: p.intercept != nil,
	} {
		if registered {
			wanted = append(wanted, feature)
		}
	}
	return e.closure(wanted)
}

// closure completes features by what they depend on and puts them into the order of the table.
func (e *Extension) closure(wanted []string) []string {
	taken := map[string]bool{}
	var take func(name string)
	take = func(name string) {
		f := featurewire.LookupFeature(name)
		if f == nil || taken[name] {
			return
		}
		taken[name] = true
		for _, need := range f.DependsOn {
			take(need)
		}
	}
	for _, name := range wanted {
		take(name)
	}
	if e.options.UsesAll {
		asked := askedFeatures()
		if taken[featurewire.FeatureAutocomplete] {
			take(featurewire.FeatureAutocompleteEditV1)
		}
		for i := range featurewire.Features {
			if name := featurewire.Features[i].Name; !asked[name] {
				take(name)
			}
		}
	}
	var list []string
	for i := range featurewire.Features {
		f := &featurewire.Features[i]
		if slices.Contains(f.Versions, string(e.api)) && taken[f.Name] {
			list = append(list, f.Name)
		}
	}
	return list
}

// askedFeatures returns the features under which the host asks, so that they are of no use to an extension
// that has registered nothing for them.
func askedFeatures() map[string]bool {
	asked := map[string]bool{featurewire.FeatureAutocompleteEditV1: true}
	for i := range featurewire.Hooks {
		if f := featurewire.LookupFeature(featurewire.Hooks[i].Feature); f != nil && !gatesService(f.Name) {
			asked[f.Name] = true
		}
	}
	asked[featurewire.FeatureAutocomplete] = true
	asked[featurewire.FeatureTerminalInputInterceptV1] = true
	return asked
}

// gatesService reports whether a feature opens something that an extension sends.
func gatesService(feature string) bool {
	return slices.ContainsFunc(featurewire.Methods, func(m wirejson.Method) bool {
		return m.Direction == wirejson.ExtensionToHost && negotiation.GateFeature(m.Gate) == feature
	})
}

// lifecycleEvents returns the events to subscribe to, nil for all of them: also where the author listens to
// none, because the memory of a session is dropped when it settles.
func (p *plan) lifecycleEvents() []featurewire.LifecycleEvent {
	var heard []featurewire.LifecycleEvent
	all := 0
	for i := range featurewire.Methods {
		m := &featurewire.Methods[i]
		if negotiation.GateFeature(m.Gate) != featurewire.FeatureLifecycleEvents {
			continue
		}
		all++
		if p.events[m.Name] != nil {
			heard = append(heard, featurewire.LifecycleEvent(m.Name))
		}
	}
	if len(heard) == all {
		return nil
	}
	return heard
}

// capabilities returns the optional capabilities that the plan asks for. Session hooks are a matter of the
// manifest.
func (e *Extension) capabilities(p *plan, sessionHooks bool) []string {
	wanted := slices.Clone(e.options.Uses)
	for method := range p.events {
		if m := canonicalwire.LookupMethod(method); m != nil {
			wanted = append(wanted, m.Gate)
		}
	}
	if p.migrate != nil {
		wanted = append(wanted, canonicalwire.CapabilityMigrationAdapterV1)
	}
	if p.stream != nil {
		wanted = append(wanted, canonicalwire.CapabilityProviderStream)
	}
	var list []string
	for _, c := range canonicalwire.Capabilities {
		served := c.Name == canonicalwire.CapabilityMigrationAdapterV1 || c.Name == canonicalwire.CapabilityProviderStream
		want := slices.Contains(wanted, c.Name) || e.options.UsesAll && !served
		if c.Name == canonicalwire.CapabilityLifecycleEvents {
			want = sessionHooks
		}
		if want {
			list = append(list, c.Name)
		}
	}
	return list
}

// Events registers what the extension hears on API 0.2 and 0.4. Handlers run one at a time, in the order in
// which the host sends; what they register asks for the feature. A method panics on an API version that does
// not have the event, and once the extension is serving.
func (e *Extension) Events() featureservice.Events {
	return featureservice.NewEvents(func(m *wirejson.Method, handle featureservice.Event) { e.hear(m, event(handle)) })
}

// EventsV03 registers what the extension hears on API 0.3, as Events does.
func (e *Extension) EventsV03() canonicalservice.Events {
	return canonicalservice.NewEvents(func(m *wirejson.Method, handle canonicalservice.Event) { e.hear(m, event(handle)) })
}

func (e *Extension) hear(m *wirejson.Method, handle event) {
	e.register("event "+m.Name, m.Versions, func(p *plan) {
		if p.events == nil {
			p.events = map[string][]event{}
		}
		p.events[m.Name] = append(p.events[m.Name], handle)
	})
}

// OnReady has f called once initialize has been answered. The scope is that of the session: it offers what
// needs no request, for as long as the session lasts. f runs on a goroutine of its own; its context ends when
// the extension shuts down.
func (e *Extension) OnReady(f func(ctx context.Context, session *Scope)) {
	e.register("ready handler", allVersions, func(p *plan) { p.ready = append(p.ready, f) })
}

// The API versions by what they carry.
var (
	featureVersions = featurewire.Versions
	laterVersions   = slices.DeleteFunc(slices.Clone(featurewire.Versions), func(v string) bool { return v == featurewire.Version01 })
	lastVersion     = []string{featurewire.Version04}
	canonicalOnly   = canonicalwire.Versions
	allVersions     = slices.Concat(featurewire.Versions, canonicalwire.Versions)
)
