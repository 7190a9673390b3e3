// Command guard is an example extension on API 0.4 with a hook: it sees each tool call before it runs, and
// denies shell commands that delete whole trees.
package main

import (
	"context"
	"encoding/json"
	"regexp"
	"slices"
	"sync/atomic"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/sdk-go/extension"
)

func main() { extension.Main(guard()) }

// shells are the names under which hosts give a shell to a model.
var shells = []string{"bash", "shell"}

// deletesTrees finds rm with both of its dangerous flags, however they are written.
var deletesTrees = regexp.MustCompile(`\brm\s+(-\w*r\w*f|-\w*f\w*r|-r\s+-f|-f\s+-r)`)

func guard() *extension.Extension {
	ext := extension.New(nil)
	ext.Hooks().BeforeToolCall(beforeToolCall)
	ext.AddCommand(extension.Command{
		Name: "guard", Description: "Says how many tool calls were denied in this session.",
		Run: func(_ context.Context, call *extension.CommandCall, _ []string) (*extension.CommandResult, error) {
			n := denials(call).Load()
			text, err := json.Marshal(map[string]int64{"denied": n})
			return &extension.CommandResult{Text: string(text)}, err
		},
	})
	return ext
}

func beforeToolCall(_ context.Context, call *extension.HookCall, asked featurewire.BeforeToolCallPayload) (featurewire.BeforeToolCallHookResult, error) {
	var arguments struct {
		Command string `json:"command"`
	}
	if !slices.Contains(shells, asked.Name) || json.Unmarshal(asked.Arguments, &arguments) != nil || !deletesTrees.MatchString(arguments.Command) {
		return featurewire.BeforeToolCallHookResult{}, nil // no opinion
	}
	denials(call).Add(1)
	deny := featurewire.Disposition(featurewire.DispositionDeny{Reason: "it deletes a whole tree: name the files instead"})
	return featurewire.BeforeToolCallHookResult{Disposition: wirejson.Some(deny)}, nil
}

// denials counts for the session that a call belongs to, and for no other.
func denials(scope extension.Scoped) *atomic.Int64 {
	return extension.Memory(scope, func() *atomic.Int64 { return new(atomic.Int64) })
}
