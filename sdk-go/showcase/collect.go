package main

import (
	"context"
	"encoding/json"
	"errors"
	"strings"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/sdk-go/extension"
)

// addCollectors adds what the host collects.
func (s *showcase) addCollectors() {
	s.ext.OnContext(func(_ context.Context, _ *extension.Scope, prompt string) ([]extension.Contribution, error) {
		if prompt == "" {
			prompt = "none"
		}
		return []extension.Contribution{{Label: "showcase", Content: prompt, Placement: featurewire.ContextPlacementSystemSuffix}}, nil
	})
	s.ext.OnStatus(featurewire.UiSurfaceStatus, func(context.Context, *extension.Scope) (*extension.Status, error) {
		return &extension.Status{Text: "ready", Priority: 1}, nil
	})
	s.ext.OnStatus(featurewire.UiSurfaceHeader, func(context.Context, *extension.Scope) (*extension.Status, error) { return nil, nil })
	s.ext.OnStatus(featurewire.UiSurfaceFooter, func(context.Context, *extension.Scope) (*extension.Status, error) {
		return nil, errors.New("no footer")
	})
	s.ext.OnRender("count", func(_ context.Context, _ *extension.Scope, what extension.Rendering) ([]featurewire.ToolRenderSegment, error) {
		return []featurewire.ToolRenderSegment{{Text: what.Output, StyleRole: wirejson.Null[string]()}}, nil
	})
	if s.api != extension.API01 {
		s.ext.OnMenu(menu)
	}
}

func menu(context.Context, *extension.Scope) (featurewire.MenuCollectResult, error) {
	item := func(id, label, command string, arguments []string, destructive, recommended bool) featurewire.MenuItem {
		return featurewire.MenuItem{
			ID: id, Label: label, Command: wirejson.Some(command), Arguments: wirejson.Some(arguments),
			Destructive: wirejson.Some(destructive), Recommended: wirejson.Some(recommended),
		}
	}
	return featurewire.MenuCollectResult{Title: wirejson.Some("Showcase"), Items: []featurewire.MenuItem{
		item("echo", "Echo", "echo", []string{"hi"}, false, true),
		{ID: "more", Label: "More", Items: wirejson.Some([]featurewire.MenuItem{item("fail", "Fail", "fail", []string{}, true, false)})},
	}}, nil
}

// addEditor adds what answers to typing, and the disposing of resources.
func (s *showcase) addEditor() {
	s.ext.AddShortcut(extension.Shortcut{
		ID: "showcase:hello", Key: "ctrl+shift+h", Description: "Say hello",
		Run: func(context.Context, *extension.Scope) {
			s.record.add(featurewire.MethodShortcutTrigger, featurewire.ShortcutTriggerParams{ID: "showcase:hello"})
		},
	})
	s.ext.OnAutocomplete(func(_ context.Context, _ *extension.Scope, asked featurewire.UiAutocompleteCompleteParams) (featurewire.UiAutocompleteCompleteResult, error) {
		result := featurewire.UiAutocompleteCompleteResult{Items: []featurewire.AutocompleteItem{}}
		before := asked.Text[:min(asked.Cursor, int64(len(asked.Text)))]
		switch {
		case strings.HasSuffix(before, "/he"):
			result.Prefix = "/he"
			result.Items = append(result.Items, featurewire.AutocompleteItem{Value: "/hello", Label: "/hello", Description: wirejson.Null[string]()})
		case strings.HasSuffix(before, "/ed") && s.api == extension.API04:
			result.Prefix = "/ed"
			result.Items = append(result.Items, featurewire.AutocompleteItem{
				Value: "/edit(\n)", Label: "/edit", Description: wirejson.Null[string](),
				ReplaceAfterBytes: wirejson.Some(int64(1)), CursorOffsetBytes: wirejson.Some(int64(6)),
			})
		}
		return result, nil
	})
	if s.api != extension.API04 {
		return
	}
	s.ext.OnDispose(s.dispose)
	s.ext.OnIntercept(func(_ context.Context, _ *extension.Scope, data string) (string, error) {
		if data == "q" {
			return "", nil
		}
		return data, nil
	})
}

// dispose records the resources of one request together.
func (s *showcase) dispose(_ context.Context, scope *extension.Scope, resource featurewire.ResourceRef) error {
	s.record.addIn(scope, featurewire.MethodResourceDispose, func(before json.RawMessage) wirejson.Encoder {
		asked := featurewire.ResourceDisposeParams{}
		if before != nil {
			if err := asked.UnmarshalJSON(before); err != nil {
				panic(err) // it was written here
			}
		}
		asked.Resources = append(asked.Resources, resource)
		return asked
	})
	return nil
}
