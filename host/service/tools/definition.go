package tools

import (
	"encoding/json"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/tool"
)

// maxCatalogBytes bounds what a generation may keep described at a time: as much as one initialize result
// could carry. The wire names no value.
//
// Rule: EXT04-TOOL-014.
const maxCatalogBytes = featurewire.MaxLineBytes

// size counts the bytes of the definitions in a catalog, their prompt metadata included.
func size(list []*extension.Tool) int {
	total := 0
	for _, t := range list {
		total += len(t.Name) + len(t.Description) + len(t.Parameters) + len(t.OutputSchema) + len(t.Snippet) + len(t.Sampling)
		for _, line := range t.Guidelines {
			total += len(line)
		}
	}
	return total
}

// noSchema are the parameters of a tool that describes none.
var noSchema = json.RawMessage(`{"type":"object"}`)

// Definition is a tool of an extension as models and prompts see it. What it does to the world is not known,
// and so its effect is the strongest; prompt metadata changes nothing else.
//
// Rule: EXT04-TOOL-020.
func Definition(provider string, t *extension.Tool) tool.Definition {
	d := tool.Definition{
		Name: t.Name, Description: t.Description, Parameters: t.Parameters, Output: t.OutputSchema,
		Effect: tool.External, Parallel: true, Snippet: t.Snippet, Guidelines: t.Guidelines, Provider: provider,
	}
	if t.Arguments() == nil {
		d.Parameters = noSchema
	}
	return d
}
