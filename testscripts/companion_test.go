package testscripts

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"sync"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/sdk-go/extension"
)

// companion is an extension that uses what a host with a person offers. Its manifest has the tools note and
// wait, the commands greet, ask, secret, present, wipe and broken, the hook before_tool_call, and declares
// confirmations, notifications and presentation.
func companion() {
	ext := extension.New(&extension.Options{Uses: []string{
		featurewire.FeatureSessionControlV1, featurewire.FeatureSessionCompactionV1, featurewire.FeatureComposer,
	}})
	if slices.Contains(os.Args[1:], "toolless") {
		companionBeside(ext)
		return
	}
	extension.AddTool(ext, "note", "Notes a text, with progress", func(_ context.Context, call *extension.Call, args struct {
		Text string `json:"text"`
	},
	) (*extension.Result, error) {
		_ = call.Progress("writing", 1, 2, "lines")
		_ = call.Notify(extension.LevelInfo, "companion", "noted "+args.Text)
		return extension.Text("noted " + args.Text), nil
	})
	extension.AddTool(ext, "wait", "Waits until it is cancelled", func(ctx context.Context, call *extension.Call, _ struct{}) (*extension.Result, error) {
		_ = call.Notify(extension.LevelInfo, "", "waiting")
		<-ctx.Done()
		return nil, ctx.Err()
	})
	companionBeside(ext)
}

// companionBeside adds what is no tool, and plays the extension.
func companionBeside(ext *extension.Extension) {
	ext.Hooks().BeforeToolCall(func(_ context.Context, _ *extension.HookCall, asked featurewire.BeforeToolCallPayload) (featurewire.BeforeToolCallHookResult, error) {
		if !strings.Contains(string(asked.Arguments), "forbidden") {
			return featurewire.BeforeToolCallHookResult{}, nil
		}
		deny := featurewire.Disposition(featurewire.DispositionDeny{Reason: "the companion forbids it"})
		return featurewire.BeforeToolCallHookResult{Disposition: wirejson.Some(deny)}, nil
	})
	var once sync.Once
	offer(ext, "greet", "/greet NAME", func(_ context.Context, call *extension.CommandCall, args []string) (string, error) {
		return fmt.Sprintf("%s says hello %q", os.Getenv("OCTET_EXTENSION_NAME"), args), nil
	})
	offer(ext, "ask", "", func(ctx context.Context, call *extension.CommandCall, _ []string) (string, error) {
		answer, err := call.Confirmations().Ask(ctx, featurewire.ConfirmationRequestParams{Prompt: "shall I?", Detail: wirejson.Some("it is a test"), Destructive: true})
		return fmt.Sprint("confirmed: ", answer.Confirmed), err
	})
	offer(ext, "secret", "", func(ctx context.Context, call *extension.CommandCall, _ []string) (string, error) {
		answer, err := call.Input().Ask(ctx, "the secret?", true)
		text, given := answer.Value.Get()
		return fmt.Sprintf("given: %v, %d bytes", given, len(text)), err
	})
	offer(ext, "present", "", func(ctx context.Context, call *extension.CommandCall, _ []string) (string, error) {
		revision := int64(0)
		once.Do(func() { revision = 1 })
		err := call.Presentation().Update(ctx, featurewire.PresentationSnapshot{
			Revision: revision,
			Actions: wirejson.Some([]featurewire.PresentationAction{
				{ID: "hi", Label: "Say hi", Command: "greet", Arguments: wirejson.Some([]string{"from the action"})},
				{ID: "wipe", Label: "Wipe everything", Command: "wipe", Destructive: wirejson.Some(true)},
			}),
		})
		return "presented", err
	})
	offer(ext, "branch", "", func(_ context.Context, call *extension.CommandCall, _ []string) (string, error) {
		call.After(func(ctx context.Context, scope *extension.Scope) error {
			forked, err := scope.Session().Fork(ctx, featurewire.SessionForkParams{})
			if err == nil {
				_, err = scope.Session().Switch(ctx, forked.SessionID)
			}
			if err != nil {
				return scope.Notify(extension.LevelError, "", err.Error())
			}
			return scope.Notify(extension.LevelSuccess, "", "switched")
		})
		return "branching", nil
	})
	offer(ext, "draft", "", func(ctx context.Context, call *extension.CommandCall, args []string) (string, error) {
		_, err := call.Composer().Set(ctx, featurewire.ComposerSetParams{Text: strings.Join(args, " ")})
		return "drafted", err
	})
	offer(ext, "wipe", "", func(context.Context, *extension.CommandCall, []string) (string, error) { return "wiped", nil })
	offer(ext, "broken", "", func(context.Context, *extension.CommandCall, []string) (string, error) {
		return "", errors.New("it does not work")
	})
	extension.Main(ext)
}

func offer(ext *extension.Extension, name, usage string, run func(context.Context, *extension.CommandCall, []string) (string, error)) {
	ext.AddCommand(extension.Command{
		Name: name, Description: "Does " + name, Usage: usage,
		Run: func(ctx context.Context, call *extension.CommandCall, args []string) (*extension.CommandResult, error) {
			text, err := run(ctx, call, args)
			return &extension.CommandResult{Text: text}, err
		},
	})
}
