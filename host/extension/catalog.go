package extension

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/schema"
)

// Tool is one tool of a running extension.
type Tool struct {
	Name         string
	Description  string
	Parameters   json.RawMessage // JSON Schema of the arguments
	OutputSchema json.RawMessage // JSON Schema of the structured content; nil if there is none

	// What API 0.4 adds, where the features behind it were selected: text for the system prompt, the right to
	// call other tools, what a call does to resources, and a contract for providers that nobody here reads.
	Snippet     string
	Guidelines  []string
	Composition *featurewire.ToolComposition
	Operation   *featurewire.OperationDescriptor
	Sampling    json.RawMessage

	// arguments and output are nil where the schema is none that could be compiled.
	arguments, output *schema.Schema
}

// Arguments is the compiled schema of the arguments, nil if the tool's parameters are no schema. The
// canonical wire allows any JSON there.
func (t *Tool) Arguments() *schema.Schema { return t.arguments }

// Command is one slash command of a running extension.
type Command struct {
	Name, Description, Usage string
}

// Agreement is what initialize settled.
type Agreement struct {
	API      string
	Wire     string
	Features []string // feature wire: the selected ones
	// Canonical wire: the selected names.
	Capabilities, Methods []string
	// The bounds in force.
	MaxFrameBytes, MaxConcurrentRequests, MaxTools int64

	Tools    []*Tool
	Commands []Command
	// Events are the lifecycle events that the extension subscribed to; none without the feature.
	Events []string
}

// setOf makes a set of names.
func setOf(names []string) map[string]bool {
	set := make(map[string]bool, len(names))
	for _, name := range names {
		set[name] = true
	}
	return set
}

// compile prepares the schemas of a tool. Strict means that the wire demands schemas; otherwise one that
// does not compile is only worth a diagnostic.
func (t *Tool) compile(ctx context.Context, strict bool, diagnose func(string)) error {
	for _, part := range []struct {
		what string
		text json.RawMessage
		into **schema.Schema
	}{
		{"parameters", t.Parameters, &t.arguments},
		{"output schema", t.OutputSchema, &t.output},
	} {
		if part.text == nil {
			continue
		}
		compiled, err := schema.Compile(ctx, part.text)
		switch {
		case err == nil:
			*part.into = compiled
		case strict || ctx.Err() != nil:
			return fmt.Errorf("tool %q: %s: %w", t.Name, part.what, err)
		default:
			diagnose(fmt.Sprintf("tool %q: %s cannot be used for checks: %v", t.Name, part.what, err))
		}
	}
	return nil
}

// sameNames compares a catalog with what the manifest declares. Neither may hold a name twice.
func sameNames(what string, got, declared []string) error {
	if missing := without(declared, got); len(missing) > 0 {
		return fmt.Errorf("the catalog lacks the declared %s %s", what, strings.Join(missing, ", "))
	}
	if extra := without(got, declared); len(extra) > 0 {
		return fmt.Errorf("the catalog has the undeclared %s %s; declare it in contributes", what, strings.Join(extra, ", "))
	}
	return nil
}

// without lists the names that are not among others.
func without(names, others []string) []string {
	var left []string
	for _, name := range names {
		if !slices.Contains(others, name) {
			left = append(left, fmt.Sprintf("%q", name))
		}
	}
	return left
}
