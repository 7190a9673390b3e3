package testscripts

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/sdk-go/extension"
)

// desk is an extension that uses the line and the terminal of the person. It has the commands offered, line,
// tty and hold.
func desk() {
	ext := extension.New(&extension.Options{Uses: []string{
		featurewire.FeatureComposer, featurewire.FeatureTerminalHandoff, featurewire.FeatureSessionControlV1,
		featurewire.FeatureAutocompleteEditV1, featurewire.FeatureLifecycleEventsV2,
	}})
	told := func(_ context.Context, session *extension.Scope) {
		_ = session.Notify(extension.LevelInfo, "", "the key was pressed")
	}
	ext.AddShortcut(extension.Shortcut{ID: "desk.press", Key: "ctrl+t", Description: "Presses", Run: told})
	ext.AddShortcut(extension.Shortcut{ID: "desk.never", Key: "ctrl+c", Description: "Is taken", Run: told})
	ext.OnReady(func(ctx context.Context, session *extension.Scope) {
		_, _ = session.Autocomplete().Register(ctx, 1)
	})
	ext.OnAutocomplete(func(_ context.Context, _ *extension.Scope, asked featurewire.UiAutocompleteCompleteParams) (featurewire.UiAutocompleteCompleteResult, error) {
		before := asked.Text[:asked.Cursor]
		prefix := before[strings.LastIndexAny(before, " ")+1:]
		result := featurewire.UiAutocompleteCompleteResult{Prefix: prefix, Items: []featurewire.AutocompleteItem{}}
		for _, name := range []string{"@adam", "@adele", "@bob()"} {
			if strings.HasPrefix(prefix, "@") && strings.HasPrefix(name, prefix) {
				item := featurewire.AutocompleteItem{Value: name, Label: name, Description: wirejson.Some("a person")}
				if strings.HasSuffix(name, ")") {
					item.CursorOffsetBytes = wirejson.Some(int64(len(name) - 1))
				}
				result.Items = append(result.Items, item)
			}
		}
		return result, nil
	})
	lost := make(chan string, 1)
	ext.Events().TerminalGrantLost(func(_ context.Context, e featurewire.TerminalGrantLostParams) { lost <- e.Reason })
	offer(ext, "offered", "", func(_ context.Context, call *extension.CommandCall, _ []string) (string, error) {
		return "offered: " + strings.Join(call.Features(), " "), nil
	})
	offer(ext, "line", "", func(ctx context.Context, call *extension.CommandCall, _ []string) (string, error) {
		if err := call.Composer().Insert(ctx, "drafted"); err != nil {
			return "", err
		}
		got, err := call.Composer().Get(ctx)
		return "the line is " + got.Text, err
	})
	offer(ext, "tty", "", func(ctx context.Context, call *extension.CommandCall, _ []string) (string, error) {
		grant, err := call.Terminal().Acquire(ctx)
		if err != nil {
			return "", err
		}
		_ = call.Notify(extension.LevelInfo, "", "held back")
		text, err := askAtTerminal(fmt.Sprintf("%d columns, %d rows; your name? ", grant.Columns, grant.Rows))
		if err != nil {
			return "", err
		}
		err = call.Terminal().Release(ctx)
		return "the name is " + text, err
	})
	offer(ext, "hold", "", func(ctx context.Context, call *extension.CommandCall, _ []string) (string, error) {
		if _, err := call.Terminal().Acquire(ctx); err != nil {
			return "", err
		}
		call.After(func(ctx context.Context, scope *extension.Scope) error {
			created, err := scope.Session().Create(ctx, featurewire.SessionCreateParams{})
			if err == nil {
				_, err = scope.Session().Switch(ctx, created.SessionID)
			}
			if err != nil {
				return scope.Notify(extension.LevelError, "", err.Error())
			}
			return scope.Notify(extension.LevelInfo, "", "lost because "+<-lost)
		})
		return "holding", nil
	})
	extension.Main(ext)
}

// askAtTerminal talks to the person without the host.
func askAtTerminal(question string) (string, error) {
	tty, err := os.OpenFile("/dev/tty", os.O_RDWR, 0)
	if err != nil {
		return "", err
	}
	defer func() { _ = tty.Close() }()
	if _, err := tty.WriteString(question); err != nil {
		return "", err
	}
	text, err := bufio.NewReader(tty).ReadString('\n')
	return strings.TrimSpace(text), err
}
