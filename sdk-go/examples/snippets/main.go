// Command snippets is an example extension on API 0.4 whose catalog changes while it runs: each text that is
// saved becomes a tool of its own.
package main

import (
	"context"
	"fmt"
	"strings"

	"github.com/octet-dev/octet/sdk-go/extension"
)

func main() { extension.Main(tools()) }

type saveArgs struct {
	Name string `json:"name" jsonschema:"description=The name of the new tool: letters\\, digits\\, - and _."`
	Text string `json:"text" jsonschema:"description=What the tool answers."`
}

type dropArgs struct {
	Name string `json:"name" jsonschema:"description=The name of the tool to remove."`
}

func tools() *extension.Extension {
	ext := extension.New(&extension.Options{DynamicTools: true})
	extension.AddTool(ext, "save_snippet", "Saves a text under a name; from then on there is a tool of that name.", save)
	extension.AddTool(ext, "drop_snippet", "Removes a saved text and its tool.", drop)
	return ext
}

func save(ctx context.Context, call *extension.Call, args saveArgs) (*extension.Result, error) {
	if args.Name == "save_snippet" || args.Name == "drop_snippet" {
		return nil, extension.Errorf("the name %q is taken: choose another one", args.Name)
	}
	snippet := extension.NewTool(args.Name, "Answers the saved text "+args.Name+".",
		func(context.Context, *extension.Call, struct{}) (*extension.Result, error) {
			return extension.Text(args.Text), nil
		})
	return changed(call.DynamicTools().Register(ctx, snippet))
}

func drop(ctx context.Context, call *extension.Call, args dropArgs) (*extension.Result, error) {
	if args.Name == "save_snippet" || args.Name == "drop_snippet" {
		return nil, extension.Errorf("%q cannot be removed", args.Name)
	}
	return changed(call.DynamicTools().Unregister(ctx, args.Name))
}

// changed tells the model what it can call from now on.
func changed(catalog extension.Catalog, err error) (*extension.Result, error) {
	if err != nil {
		return nil, extension.Errorf("the tools stay as they were: %v", err)
	}
	return extension.Text(fmt.Sprintf("epoch %d: %s", catalog.Revision, strings.Join(catalog.Tools, ", "))), nil
}
