package agent

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/octet-dev/octet/host/model"
	"github.com/octet-dev/octet/host/permission"
	"github.com/octet-dev/octet/host/tool"
)

// offer is the tools of one request.
type offer struct {
	tool.Snapshot             // all that can be called
	open          []tool.Tool // what the model may call itself
	meta          []tool.Tool // discover_tools and run_tool, with the fixed interface
	shown         []tool.Tool // what the model is told of, in order
}

// snapshot takes the tools for one request.
func (r *run) snapshot() (*offer, error) {
	snapshot, err := r.Tools.Snapshot(r.ctx)
	if err != nil {
		if r.ctx.Err() != nil {
			return nil, r.interrupted()
		}
		return nil, &ending{Failed, CodeTools, "the tools are not available: " + err.Error()}
	}
	o := &offer{Snapshot: snapshot, open: r.Visible(snapshot)}
	for _, t := range o.open {
		if r.Interface == Fixed && !slices.Contains(FixedTools, t.Definition().Name) {
			continue
		}
		if r.visible(t.Definition()) {
			o.shown = append(o.shown, t)
		}
	}
	if r.Interface == Fixed {
		o.meta = []tool.Tool{discoverTools{r: r, open: o.open}, runTool{}}
		o.shown = append(o.shown, o.meta...)
		slices.SortFunc(o.shown, func(a, b tool.Tool) int { return strings.Compare(a.Definition().Name, b.Definition().Name) })
	}
	return o, nil
}

// visible reports whether the policy leaves a tool to the model at all.
func (r *run) visible(d tool.Definition) bool {
	return r.Permission.Judge(permission.Request{Run: r.id, Tool: d}).Decision != permission.Deny
}

// direct finds a tool that the model may call itself, nil if there is none.
func (o *offer) direct(name string) tool.Tool {
	for _, list := range [][]tool.Tool{o.meta, o.open} {
		if i := slices.IndexFunc(list, func(t tool.Tool) bool { return t.Definition().Name == name }); i >= 0 {
			return list[i]
		}
	}
	return nil
}

// isMeta reports whether a tool only leads to others.
func (o *offer) isMeta(name string) bool {
	return slices.ContainsFunc(o.meta, func(t tool.Tool) bool { return t.Definition().Name == name })
}

// tools are the tools as a model is told of them.
func (o *offer) tools() []model.Tool {
	tools := make([]model.Tool, len(o.shown))
	for i, t := range o.shown {
		d := t.Definition()
		tools[i] = model.Tool{Name: d.Name, Description: d.Description, Parameters: parameters(d)}
	}
	return tools
}

// parameters are those of a definition, or of a tool that takes none.
func parameters(d tool.Definition) json.RawMessage {
	if len(d.Parameters) == 0 {
		return json.RawMessage(`{"type":"object","properties":{}}`)
	}
	return d.Parameters
}

// prompt is the system prompt. What tools add to it is taken from the first request of a run and stays for
// all of it, so that the beginning of every request is the same.
//
// EXT04-TOOL-015 to EXT04-TOOL-019.
func (r *run) prompt(o *offer) string {
	if r.system == nil {
		text := r.assembleSystem(o)
		r.system = &text
	}
	return *r.system
}

func (r *run) assembleSystem(o *offer) string {
	var sections []string
	add := func(text string) {
		if strings.TrimSpace(text) != "" {
			sections = append(sections, strings.TrimSpace(text))
		}
	}
	for _, c := range r.context {
		if c.Placement == SystemPrefix {
			add(c.text())
		}
	}
	add(r.System)
	add(toolSection(o.shown))
	for _, c := range r.context {
		if c.Placement == SystemSuffix {
			add(c.text())
		}
	}
	return strings.Join(sections, "\n\n")
}

func toolSection(shown []tool.Tool) string {
	var snippets, guidelines []string
	for _, t := range shown {
		d := t.Definition()
		if snippet := strings.TrimSpace(d.Snippet); snippet != "" {
			snippets = append(snippets, "- "+d.Name+": "+snippet)
		}
		for _, line := range d.Guidelines {
			line = "- " + strings.TrimSpace(line)
			if line != "- " && !slices.Contains(guidelines, line) {
				guidelines = append(guidelines, line)
			}
		}
	}
	var sections []string
	if snippets != nil {
		sections = append(sections, "Tools:\n"+strings.Join(snippets, "\n"))
	}
	if guidelines != nil {
		sections = append(sections, "Guidelines:\n"+strings.Join(guidelines, "\n"))
	}
	return strings.Join(sections, "\n\n")
}
