package extension_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/sdk-go/extension"
	"github.com/octet-dev/octet/sdk-go/extension/exttest"
)

func named(name, text string) *extension.Tool {
	return extension.NewTool(name, "Says "+text, func(_ context.Context, call *extension.Call, _ struct{}) (*extension.Result, error) {
		return extension.Text(fmt.Sprintf("%s %d", text, call.CatalogRevision())), nil
	})
}

// changing is a running extension with the static tool "base" and a way into its catalog.
func changing(t *testing.T, options *exttest.Options) (*exttest.Host, extension.DynamicTools) {
	t.Helper()
	own := quietOptions(extension.API04)
	own.DynamicTools = true
	ext := extension.New(own)
	ext.Add(named("base", "base"))
	session := make(chan *extension.Scope, 1)
	ext.OnReady(func(_ context.Context, scope *extension.Scope) { session <- scope })
	host := exttest.StartWith(t, ext, options)
	return host, (<-session).DynamicTools()
}

// pinned calls a tool of an epoch.
func pinned(host *exttest.Host, tool string, revision int64) (string, error) {
	raw, err := host.Ask(featurewire.MethodToolCall, map[string]any{"name": tool, "arguments": map[string]any{}, "catalog_revision": revision})
	if err != nil {
		return "", err
	}
	result, err := featurewire.DecodeToolCallResult(raw)
	if err != nil {
		return "", err
	}
	return result.Content[0].(featurewire.TextPart).Text, nil
}

func TestDynamicTools_changeTheCatalog(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host, tools := changing(t, nil)
		if c := tools.Current(); c.Revision != 0 || fmt.Sprint(c.Tools) != "[base]" {
			t.Errorf("at first %v", c)
		}
		c, err := tools.Register(t.Context(), named("one", "first"), named("two", "second"))
		if err != nil || c.Revision != 1 || fmt.Sprint(c.Tools) != "[base one two]" {
			t.Fatalf("%v, %v", c, err)
		}
		if c, err = tools.Register(t.Context(), named("one", "replaced")); err != nil || c.Revision != 2 {
			t.Fatalf("%v, %v", c, err)
		}
		if c, err = tools.Unregister(t.Context(), "two", "nobody"); err != nil || c.Revision != 3 || fmt.Sprint(c.Tools) != "[base one]" {
			t.Fatalf("%v, %v", c, err)
		}
		for _, q := range []struct {
			tool     string
			revision int64
			want     string
		}{
			{"one", 1, "first 1"},
			{"one", 2, "replaced 2"},
			{"one", 3, "replaced 3"},
			{"two", 2, "second 2"},
			{"base", 0, "base 0"},
			{"two", 3, "unknown tool: two (-32601)"},
			{"one", 0, "unknown tool: one (-32601)"},
			{"one", 4, "unknown or retired tool catalog revision: 4 (-32602)"},
			{"one", 42, "unknown or retired tool catalog revision: 42 (-32602)"},
		} {
			text, err := pinned(host, q.tool, q.revision)
			if err != nil {
				text = err.Error()
			}
			if text != q.want {
				t.Errorf("%s in epoch %d: %s, want %s", q.tool, q.revision, text, q.want)
			}
		}
		if result := host.Call("one", nil); result.Text != "replaced 0" {
			t.Errorf("without an epoch: %s", result.Text)
		}
	})
}

func TestDynamicTools_keepEightEpochs(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host, tools := changing(t, nil)
		for i := range 9 {
			if _, err := tools.Register(t.Context(), named("one", fmt.Sprint("text ", i))); err != nil {
				t.Fatal(err)
			}
		}
		for revision := range int64(10) {
			_, err := pinned(host, "base", revision)
			if kept := revision >= 2; kept != (err == nil) {
				t.Errorf("epoch %d: %v", revision, err)
			}
		}
	})
}

// While a change is on its way, its epoch can be called already; refused, it never was.
func TestDynamicTools_stagedAndRolledBack(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		answer := make(chan error)
		host, tools := changing(t, &exttest.Options{Services: map[string]exttest.Service{
			"tools.register": func(context.Context, json.RawMessage) (any, error) {
				if err := <-answer; err != nil {
					return nil, err
				}
				return featurewire.ToolsRegisterResult{Revision: 1, Tools: []string{"base"}}, nil
			},
		}})
		done := make(chan error, 1)
		register := func() {
			go func() {
				_, err := tools.Register(t.Context(), named("one", "first"))
				done <- err
			}()
			synctest.Wait()
		}
		register()
		if text, err := pinned(host, "one", 1); text != "first 1" {
			t.Errorf("staged: %s, %v", text, err)
		}
		answer <- &exttest.Error{Code: featurewire.CodeInvalidParams, Message: "name conflict"}
		var refused *extension.HostError
		if err := <-done; !errors.As(err, &refused) || refused.Message != "name conflict" {
			t.Errorf("refused: %v", err)
		}
		if _, err := pinned(host, "one", 1); err == nil || tools.Current().Revision != 0 {
			t.Errorf("rolled back: %v, %v", err, tools.Current())
		}
		register()
		answer <- nil
		if err := <-done; err != nil {
			t.Error(err)
		}
		if c := tools.Current(); c.Revision != 1 || fmt.Sprint(c.Tools) != "[base]" {
			t.Errorf("policy left the tool out, but the catalog is %v", c)
		}
		if _, err := pinned(host, "one", 1); err == nil {
			t.Error("a tool the host left out can be called")
		}
	})
}

func TestDynamicTools_hostOutOfStep(t *testing.T) {
	for name, c := range map[string]struct {
		answer exttest.Service
		want   string
	}{
		"revision skipped": {exttest.Answer(featurewire.ToolsRegisterResult{Revision: 2, Tools: []string{"base", "one"}}), "the revision is 2, want 1"},
		"malformed":        {exttest.Answer(exttest.Malformed(`{"revision":1}`)), "malformed"},
	} {
		synctest.Test(t, func(t *testing.T) {
			_, tools := changing(t, &exttest.Options{Services: map[string]exttest.Service{"tools.register": c.answer}})
			var broken *extension.ResultError
			if _, err := tools.Register(t.Context(), named("one", "first")); !errors.As(err, &broken) || !strings.Contains(err.Error(), c.want) {
				t.Errorf("%s: %v", name, err)
			}
			if tools.Current().Revision != 0 {
				t.Errorf("%s: the catalog is %v", name, tools.Current())
			}
		})
	}
}

// A change whose caller has gone comes into force all the same: the host may have published it.
func TestDynamicTools_outliveTheirCaller(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		release := make(chan struct{})
		_, tools := changing(t, &exttest.Options{Services: map[string]exttest.Service{"tools.register": func(context.Context, json.RawMessage) (any, error) {
			<-release
			return featurewire.ToolsRegisterResult{Revision: 1, Tools: []string{"base", "one"}}, nil
		}}})
		ctx, cancel := context.WithCancel(t.Context())
		done := make(chan error, 1)
		go func() {
			_, err := tools.Register(ctx, named("one", "first"))
			done <- err
		}()
		synctest.Wait()
		cancel()
		if err := <-done; !errors.Is(err, extension.ErrCancelled) || !errors.Is(err, context.Canceled) {
			t.Errorf("the caller hears %v", err)
		}
		close(release)
		synctest.Wait()
		if c := tools.Current(); c.Revision != 1 || fmt.Sprint(c.Tools) != "[base one]" {
			t.Errorf("the catalog is %v", c)
		}
	})
}

func TestDynamicTools_refuseLocally(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		host, tools := changing(t, nil)
		many := make([]*extension.Tool, featurewire.MaxTools)
		for i := range many {
			many[i] = named(fmt.Sprint("tool", i), "x")
		}
		for name, change := range map[string]func() (extension.Catalog, error){
			"no tool": func() (extension.Catalog, error) { return tools.Register(t.Context()) },
			"no name": func() (extension.Catalog, error) { return tools.Unregister(t.Context()) },
			"twice": func() (extension.Catalog, error) {
				return tools.Register(t.Context(), named("one", "a"), named("one", "b"))
			},
			"bad name":     func() (extension.Catalog, error) { return tools.Register(t.Context(), named("a b", "a")) },
			"names twice":  func() (extension.Catalog, error) { return tools.Unregister(t.Context(), "one", "one") },
			"one too many": func() (extension.Catalog, error) { return tools.Register(t.Context(), many...) },
		} {
			if c, err := change(); err == nil {
				t.Errorf("%s: accepted as %v", name, c)
			}
		}
		if sent := host.Sent(); len(sent) != 0 {
			t.Errorf("sent %v", sent)
		}
	})
	synctest.Test(t, func(t *testing.T) {
		_, tools := changing(t, &exttest.Options{Withhold: []string{featurewire.FeatureDynamicTools}})
		if _, err := tools.Register(t.Context(), named("one", "x")); !errors.Is(err, extension.ErrNotNegotiated) {
			t.Errorf("not offered: %v", err)
		}
	})
}

func TestTool_extras(t *testing.T) {
	all := func() *extension.Tool {
		return named("one", "x").Prompt("Says it", "Say it once").Compose(featurewire.CompositionModeOn, 100).
			ConstrainedSampling(json.RawMessage(`{"regex":"a+"}`)).
			Operation(featurewire.OperationDescriptor{ID: "say", ResourceInputs: []featurewire.OperationInput{}, ResourceOutputs: []featurewire.OperationOutput{}})
	}
	var log lockedBuffer
	start := func(withhold ...string) string {
		ext := extension.New(&extension.Options{Log: &log})
		ext.Add(all())
		return exttest.StartWith(t, ext, &exttest.Options{Withhold: withhold}).Initialized()
	}
	full := start()
	for _, want := range []string{
		`"prompt_snippet":"Says it"`, `"prompt_guidelines":["Say it once"]`, `"composition":{"inline_budget":100,"mode":"on"}`,
		`"constrained_sampling":{"regex":"a+"}`, `"operation":{"id":"say","resource_inputs":[],"resource_outputs":[]}`,
	} {
		if !strings.Contains(full, want) {
			t.Errorf("%s lacks %s", full, want)
		}
	}
	if log.String() != "" {
		t.Errorf("log %s", log.String())
	}
	bare := start(featurewire.FeatureToolPromptMetadataV1, featurewire.FeatureToolCompositionV1, featurewire.FeatureOperationDescriptorsV1)
	for _, member := range []string{"prompt_", "composition", "constrained_sampling", "operation"} {
		if strings.Contains(bare, member) {
			t.Errorf("%s holds %s without its feature", bare, member)
		}
	}
	if n := strings.Count(log.String(), "is left out, this host does not offer it"); n != 4 {
		t.Errorf("%d lines in the log: %s", n, log.String())
	}
	for _, api := range []extension.API{extension.API01, extension.API02, extension.API03} {
		func() {
			defer func() {
				if text := fmt.Sprint(recover()); !strings.Contains(text, "has no tool_prompt_metadata_v1: leave it out") {
					t.Errorf("API %s: panic %q", api, text)
				}
			}()
			extension.New(quietOptions(api)).Add(all())
		}()
	}
}
