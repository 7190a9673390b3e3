package extension

import (
	"context"
	"errors"
	"fmt"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/runtime/peer"
)

// OnAutocomplete has f called when the person types, once the extension has registered a revision, as
// scope.Autocomplete().Register(ctx, 1) does in a function of OnReady. It needs API 0.2 or 0.4 and asks for
// the feature autocomplete. The members for edits may be set where autocomplete_edit_v1 is used and offered.
// It panics on another API and once the extension is serving.
func (e *Extension) OnAutocomplete(f func(ctx context.Context, scope *Scope, asked featurewire.UiAutocompleteCompleteParams) (featurewire.UiAutocompleteCompleteResult, error)) {
	e.register("autocomplete handler", laterVersions, func(p *plan) { p.autocomplete = f })
}

// OnDispose has f called for each resource that the host retires; its error says that disposing has failed.
// Without it every resource counts as disposed of. It needs API 0.4 and asks for the feature resource_refs_v1.
// It panics on another API and once the extension is serving.
func (e *Extension) OnDispose(f func(ctx context.Context, scope *Scope, resource featurewire.ResourceRef) error) {
	e.register("dispose handler", lastVersion, func(p *plan) { p.dispose = f })
}

// OnIntercept has f called with what the person types into the terminal; what it returns takes its place, and
// the empty text consumes it. It needs API 0.4 and asks for the feature terminal_input_intercept_v1. It panics
// on another API and once the extension is serving.
func (e *Extension) OnIntercept(f func(ctx context.Context, scope *Scope, data string) (string, error)) {
	e.register("intercept handler", lastVersion, func(p *plan) { p.intercept = f })
}

func (s *server) complete(ctx context.Context, r *peer.Request) (peer.Value, error) {
	asked, err := featurewire.DecodeUiAutocompleteCompleteParams(r.Params)
	switch {
	case err != nil:
		return nil, err
	case s.plan.autocomplete == nil:
		return nil, s.unserved(r)
	}
	return s.guard(ctx, "autocomplete handler", func() (wirejson.Encoder, error) {
		result, err := s.plan.autocomplete(ctx, s.scoped(ctx, r, Context{}), asked)
		if err != nil || s.session.Load().has(featurewire.FeatureAutocompleteEditV1) {
			return result, err
		}
		return withoutEdits(result)
	})
}

var errEdits = errors.New("an item has members for edits, which this host does not take: " + featurewire.FeatureAutocompleteEditV1 + " was not negotiated")

// withoutEdits returns a result in the model that has no members for edits.
func withoutEdits(result featurewire.UiAutocompleteCompleteResult) (wirejson.Encoder, error) {
	plain := featurewire.UiAutocompleteCompleteResultV02{Prefix: result.Prefix, Items: []featurewire.AutocompleteItemV02{}, Unknown: result.Unknown}
	for _, item := range result.Items {
		if !item.ReplaceAfterBytes.IsAbsent() || !item.CursorOffsetBytes.IsAbsent() {
			return nil, errEdits
		}
		plain.Items = append(plain.Items, featurewire.AutocompleteItemV02{
			Value: item.Value, Label: item.Label, Description: item.Description, Unknown: item.Unknown,
		})
	}
	return plain, nil
}

func (s *server) disposeAll(ctx context.Context, r *peer.Request) (peer.Value, error) {
	asked, err := featurewire.DecodeResourceDisposeParams(r.Params)
	if err != nil {
		return nil, err
	}
	return s.guard(ctx, "dispose handler", func() (wirejson.Encoder, error) {
		scope := s.scoped(ctx, r, Context{})
		result := featurewire.ResourceDisposeResult{Results: []featurewire.DisposedResource{}}
		for _, resource := range asked.Resources {
			done := featurewire.DisposedResource{Resource: resource, Status: featurewire.DisposeStatusCompleted}
			if err := s.disposeOne(ctx, scope, resource); err != nil {
				s.ext.log.printf("resource %q of type %q: %v", resource.Resource, resource.Type, err)
				done.Status = featurewire.DisposeStatusFailed
			}
			result.Results = append(result.Results, done)
		}
		return result, nil
	})
}

// disposeOne keeps a panic to the one resource it is about.
func (s *server) disposeOne(ctx context.Context, scope *Scope, resource featurewire.ResourceRef) (err error) {
	if s.plan.dispose == nil {
		return nil
	}
	defer func() {
		if value := recover(); value != nil {
			err = fmt.Errorf("disposing of it panicked: %v", value)
		}
	}()
	return s.plan.dispose(ctx, scope, resource)
}

func (s *server) interceptInput(ctx context.Context, r *peer.Request) (peer.Value, error) {
	asked, err := featurewire.DecodeUiTerminalInputInterceptParams(r.Params)
	switch {
	case err != nil:
		return nil, err
	case s.plan.intercept == nil:
		return nil, s.unserved(r)
	}
	owner := ownerFrom(asked.ResourceOwner)
	return s.guard(ctx, "intercept handler", func() (wirejson.Encoder, error) {
		data, err := s.plan.intercept(ctx, s.scoped(ctx, r, Context{Owner: &owner}), asked.Data)
		return featurewire.UiTerminalInputInterceptResult{Data: data}, err
	})
}
