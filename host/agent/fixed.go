package agent

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"unicode"

	"github.com/octet-dev/octet/host/tool"
)

// FixedTools are the four tools that the fixed interface shows. With them a model does most of its work in
// one step: look at a file, change a part of it, write one, run something. What the others do is rarer, or
// can be had from a command, and is found with discover_tools.
var FixedTools = []string{"edit", "read", "shell", "write"}

// The names of the tools that lead to all others.
const (
	discoverToolsName = "discover_tools"
	runToolName       = "run_tool"
)

// Bounds of discover_tools.
const (
	mostFound  = 10
	mostListed = 200
)

// discoverTools searches the tools that the model may call in one request.
type discoverTools struct {
	r    *run
	open []tool.Tool
}

// Definition never changes.
func (discoverTools) Definition() tool.Definition {
	return tool.Definition{
		Name: discoverToolsName, Effect: tool.None, Parallel: true,
		Description: "Find tools beyond the ones listed here. With a query: the best matches with their parameters. Without: the names of all. Run what you find with run_tool.",
		Parameters:  json.RawMessage(`{"type":"object","properties":{"query":{"type":"string","description":"Words for what the tool should do, or a name."}},"additionalProperties":false}`),
		Snippet:     "find tools beyond these",
		Guidelines:  []string{"More tools than the listed ones may be there: look with discover_tools when a listed tool does not fit."},
	}
}

// Run answers with names, or with matches and their parameters.
func (t discoverTools) Run(_ context.Context, c tool.Call) (tool.Result, error) {
	var arguments struct {
		Query string `json:"query"`
	}
	if err := json.Unmarshal(c.Arguments, &arguments); err != nil {
		return tool.Failed(err.Error()), nil
	}
	var found []tool.Definition
	for _, other := range t.open {
		if d := other.Definition(); t.r.visible(d) && !slices.Contains(FixedTools, d.Name) {
			found = append(found, d)
		}
	}
	words := split(arguments.Query)
	if len(words) == 0 {
		return tool.Said(listTools(found)), nil
	}
	return tool.Said(matchTools(found, words)), nil
}

func listTools(found []tool.Definition) string {
	if len(found) == 0 {
		return "There are no further tools."
	}
	var b strings.Builder
	for i, d := range found {
		if i == mostListed {
			fmt.Fprintf(&b, "... and %d more: give a query\n", len(found)-i)
			break
		}
		line, _, _ := strings.Cut(d.Description, "\n")
		fmt.Fprintf(&b, "%s: %s\n", d.Name, line)
	}
	return b.String()
}

func matchTools(found []tool.Definition, words []string) string {
	score := func(d tool.Definition) (n int) {
		name, description := strings.ToLower(d.Name), strings.ToLower(d.Description)
		for _, word := range words {
			if strings.Contains(name, word) {
				n += 3
			}
			if strings.Contains(description, word) {
				n++
			}
		}
		return n
	}
	matches := slices.DeleteFunc(slices.Clone(found), func(d tool.Definition) bool { return score(d) == 0 })
	slices.SortStableFunc(matches, func(a, b tool.Definition) int { return cmp.Compare(score(b), score(a)) })
	if len(matches) == 0 {
		return "No tool matches. All further tools:\n" + listTools(found)
	}
	var b strings.Builder
	for _, d := range matches[:min(len(matches), mostFound)] {
		fmt.Fprintf(&b, "%s: %s\nparameters: %s\n\n", d.Name, d.Description, parameters(d))
	}
	if more := len(matches) - mostFound; more > 0 {
		fmt.Fprintf(&b, "... and %d more: give more words\n", more)
	}
	return b.String()
}

func split(text string) []string {
	return strings.FieldsFunc(strings.ToLower(text), func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) })
}

// runTool calls any tool of the request by name.
type runTool struct{}

// Definition never changes.
func (runTool) Definition() tool.Definition {
	return tool.Definition{
		Name: runToolName, Effect: tool.None, Parallel: true,
		Description: "Run any tool by its name, such as one that discover_tools has found. The arguments must fit its parameters.",
		Parameters: json.RawMessage(`{"type":"object","properties":{"name":{"type":"string","description":"The name of the tool."},` +
			`"arguments":{"type":"object","description":"The arguments of that tool."}},"required":["name"],"additionalProperties":false}`),
		Snippet: "run a tool that discover_tools has found",
	}
}

// Run hands the call on.
func (runTool) Run(ctx context.Context, c tool.Call) (tool.Result, error) {
	name, arguments, err := runArguments(c.Arguments)
	if err != nil {
		return tool.Failed(err.Error()), nil
	}
	return c.Nested.Call(ctx, name, arguments)
}

func runArguments(data json.RawMessage) (name string, arguments json.RawMessage, err error) {
	var order struct {
		Name      string          `json:"name"`
		Arguments json.RawMessage `json:"arguments"`
	}
	if err := json.Unmarshal(data, &order); err != nil {
		return "", nil, fmt.Errorf("the arguments of %s cannot be read: %w", runToolName, err)
	}
	if len(bytes.TrimSpace(order.Arguments)) == 0 {
		order.Arguments = json.RawMessage("{}")
	}
	return order.Name, order.Arguments, nil
}

// unknown tells a model that there is no such tool, and what it may have meant.
func (d *dispatch) unknown(name string) string {
	var names []string
	known := d.offer.Tools()
	if d.direct {
		known = slices.Concat(d.offer.open, d.offer.meta)
	}
	for _, t := range known {
		names = append(names, t.Definition().Name)
	}
	slices.SortStableFunc(names, func(a, b string) int { return cmp.Compare(distance(a, name), distance(b, name)) })
	var near []string
	for _, n := range names {
		if distance(n, name) <= max(2, len(name)/3) || name != "" && strings.Contains(n, name) || strings.Contains(name, n) {
			near = append(near, fmt.Sprintf("%q", n))
		}
	}
	text := fmt.Sprintf("There is no tool %q.", clip(name, 128))
	switch {
	case len(near) > 0:
		text += " Did you mean " + strings.Join(near[:min(3, len(near))], " or ") + "?"
	case len(names) > 0:
		text += " The tools are: " + strings.Join(names[:min(50, len(names))], ", ") + "."
	}
	return text
}

func clip(text string, most int) string {
	if len(text) <= most {
		return text
	}
	return validText(text[:most]) + "..."
}

// distance is how many edits lead from one name to another.
func distance(a, b string) int {
	const most = 128
	a, b = a[:min(len(a), most)], b[:min(len(b), most)]
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			cost := diagonal
			if a[i] != b[j] {
				cost++
			}
			diagonal = row[j+1]
			row[j+1] = min(cost, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}
