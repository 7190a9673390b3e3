package main

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"strings"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/sdk-go/extension"
)

// addFeatureTools adds what only the feature wire has.
func (s *showcase) addFeatureTools() {
	s.ext.OnReady(func(_ context.Context, session *extension.Scope) { s.session.set(session) })
	add(s, "report", report)
	add(s, "learn", learn)
	add(s, "forget", func(ctx context.Context, call *extension.Call, args nameArgs) (string, error) {
		return changed(call.DynamicTools().Unregister(ctx, args.Name))
	})
	add(s, "ready", s.ready)
	extension.AddTool(s.ext, "media", describe("media"), media)
}

func report(_ context.Context, call *extension.Call, _ noArgs) (string, error) {
	for _, step := range []func() error{
		func() error { return call.Progress("1 of 2", 1, 2, "files") },
		func() error { return call.Output(extension.Stdout, "done\n") },
		func() error { return call.Decorate("Indexing", "") },
	} {
		if err := step(); err != nil && !errors.Is(err, extension.ErrNotNegotiated) {
			return "", &extension.ToolError{Message: name(err)}
		}
	}
	return "ok", nil
}

func learn(ctx context.Context, call *extension.Call, args nameArgs) (string, error) {
	return changed(call.DynamicTools().Register(ctx, extension.NewTool(args.Name, describe(args.Name),
		func(_ context.Context, call *extension.Call, _ noArgs) (*extension.Result, error) {
			return extension.Text(fmt.Sprintf("%s in epoch %d", call.Tool(), call.CatalogRevision())), nil
		})))
}

// changed says what a change of the catalog gave.
func changed(catalog extension.Catalog, err error) (string, error) {
	if err != nil {
		return "", &extension.ToolError{Message: name(err)}
	}
	return fmt.Sprintf("epoch %d: %s", catalog.Revision, strings.Join(catalog.Tools, ", ")), nil
}

// ready speaks through the scope of the session, for which it waits: it may be a moment behind initialize.
func (s *showcase) ready(ctx context.Context, _ *extension.Call, _ noArgs) (string, error) {
	select {
	case <-s.session.arrived():
	case <-ctx.Done():
		return "", ctx.Err()
	}
	err := s.session.get().Notifications().Show(ctx, featurewire.Notification{
		Level: wirejson.Some(featurewire.NotificationLevelSuccess), Message: "ready",
	})
	if err != nil {
		return "", &extension.ToolError{Message: name(err)}
	}
	return "shown", nil
}

func media(ctx context.Context, call *extension.Call, _ noArgs) (*extension.Result, error) {
	picture, err := base64.StdEncoding.DecodeString(dot)
	if err != nil {
		return nil, err
	}
	const kind = string(featurewire.ArtifactMediaTypeImagePng)
	id, err := call.Publish(ctx, kind, picture)
	if err != nil {
		return nil, &extension.ToolError{Message: name(err)}
	}
	result := extension.Text("one pixel")
	result.Media = []extension.Media{{ArtifactID: id, MimeType: kind, Text: "grey dot"}}
	return result, nil
}

func (s *showcase) addCommands() {
	s.ext.AddCommand(extension.Command{
		Name: "echo", Description: describe("echo"),
		Run: func(_ context.Context, _ *extension.CommandCall, args []string) (*extension.CommandResult, error) {
			text := strings.Join(args, " ")
			return &extension.CommandResult{
				Text:          text,
				Notifications: []extension.Notification{{Message: "echoed"}},
				Context:       []extension.Contribution{{Label: "echo", Content: text}},
			}, nil
		},
	})
	s.ext.AddCommand(extension.Command{
		Name: "fail", Description: describe("fail"),
		Run: func(context.Context, *extension.CommandCall, []string) (*extension.CommandResult, error) {
			return nil, extension.Errorf("no luck")
		},
	})
}
