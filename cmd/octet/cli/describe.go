package cli

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"

	"github.com/octet-dev/octet/generated/manifestdoc"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/runtime/manifest"
)

// description is the JSON form of an extension that has been started.
type description struct {
	Directory string               `json:"directory"`
	Manifest  manifestdoc.Manifest `json:"manifest"`
	Warnings  []problem            `json:"warnings"`
	API       string               `json:"api_version"`
	Wire      string               `json:"wire"`
	// The feature wire has features, the canonical wire capabilities and methods.
	Features     []string `json:"features,omitempty"`
	Capabilities []string `json:"capabilities,omitempty"`
	Methods      []string `json:"methods,omitempty"`
	// Withheld needs a conversation, and was not offered for want of one.
	Withheld []string             `json:"withheld,omitempty"`
	Limits   limits               `json:"limits"`
	Tools    []toolDescription    `json:"tools"`
	Commands []commandDescription `json:"commands"`
}

type limits struct {
	MaxFrameBytes         int64 `json:"max_frame_bytes"`
	MaxConcurrentRequests int64 `json:"max_concurrent_requests"`
	MaxTools              int64 `json:"max_tools"`
}

type toolDescription struct {
	Name         string          `json:"name"`
	Description  string          `json:"description"`
	Parameters   json.RawMessage `json:"parameters"`
	OutputSchema json.RawMessage `json:"output_schema,omitempty"`
}

type commandDescription struct {
	Name        string `json:"name"`
	Description string `json:"description"`
	Usage       string `json:"usage,omitempty"`
}

func describe(source *extension.Source, a *extension.Agreement, withheld []string) description {
	d := description{
		Directory: source.Folder.Dir, Manifest: source.Manifest.Document, Warnings: problems(source.Warnings),
		API: a.API, Wire: a.Wire, Features: a.Features, Capabilities: a.Capabilities, Methods: a.Methods, Withheld: withheld,
		Limits: limits{a.MaxFrameBytes, a.MaxConcurrentRequests, a.MaxTools},
		Tools:  []toolDescription{}, Commands: []commandDescription{},
	}
	for _, t := range a.Tools {
		d.Tools = append(d.Tools, toolDescription{t.Name, t.Description, t.Parameters, t.OutputSchema})
	}
	for _, command := range a.Commands {
		d.Commands = append(d.Commands, commandDescription(command))
	}
	return d
}

// rows writes pairs of a label and a value; rows without a value are left out.
func rows(b *strings.Builder, pairs ...[2]string) {
	for _, pair := range pairs {
		if pair[1] != "" {
			fmt.Fprintf(b, "%-14s %s\n", pair[0], pair[1])
		}
	}
}

// manifestText shows a manifest with its defaults.
func manifestText(dir string, m *manifest.Manifest) string {
	var b strings.Builder
	rows(&b,
		[2]string{"name", m.Name},
		[2]string{"version", m.Version},
		[2]string{"description", m.Description},
		[2]string{"directory", dir},
		[2]string{"API", m.API + ", " + m.Wire() + " wire"},
		[2]string{"requires", m.RequiresOctet},
		[2]string{"command", strings.Join(append([]string{m.Entrypoint.Command}, m.Entrypoint.Args...), " ")},
		[2]string{"capabilities", capabilities(m.Capabilities)},
		[2]string{"tools", strings.Join(m.Contributes.Tools, ", ")},
		[2]string{"commands", strings.Join(m.Contributes.Commands, ", ")},
		[2]string{"hooks", join(m.Contributes.Hooks)},
		[2]string{"surfaces", join(m.Contributes.UI)},
		[2]string{"renders", strings.Join(m.Contributes.ToolRenderers, ", ")},
		[2]string{"may also", switches(m.Contributes)},
		[2]string{"runtime", string(m.Runtime.Lifecycle) + ", " + string(m.Runtime.Sharing)},
	)
	for _, flag := range m.Contributes.Flags {
		rows(&b, [2]string{"flag", flagText(flag)})
	}
	for _, shortcut := range m.Contributes.Shortcuts {
		rows(&b, [2]string{"shortcut", shortcut.Name + " on " + shortcut.Key + ": " + shortcut.Description})
	}
	return b.String()
}

func capabilities(c manifest.Capabilities) string {
	parts := []string{"filesystem " + string(c.Filesystem)}
	if c.Process {
		parts = append(parts, "process")
	}
	if c.Network {
		parts = append(parts, "network")
	}
	if len(c.Secrets) > 0 {
		parts = append(parts, "secrets "+strings.Join(c.Secrets, " "))
	}
	if len(c.Environment) > 0 {
		parts = append(parts, "environment "+strings.Join(c.Environment, " "))
	}
	return strings.Join(parts, ", ")
}

func switches(c manifest.Contributes) string {
	var on []string
	for _, each := range []struct {
		name string
		on   bool
	}{
		{"add context", c.Context},
		{"notify", c.Notifications},
		{"ask for confirmation", c.Confirmations},
		{"present snapshots", c.Presentation},
		{"offer a menu", c.Menu},
		{"provide models", c.Providers},
	} {
		if each.on {
			on = append(on, each.name)
		}
	}
	return strings.Join(on, ", ")
}

func flagText(flag manifestdoc.Flag) string {
	text := fmt.Sprintf("%s (%s, default %s)", flag.Name, flag.Type, flag.Default)
	if description := flag.Description.Or(""); description != "" {
		text += ": " + description
	}
	return text
}

func join[T ~string](list []T) string {
	words := make([]string, len(list))
	for i, word := range list {
		words[i] = string(word)
	}
	return strings.Join(words, ", ")
}

// agreementText shows what initialize settled, and what could not be offered.
func agreementText(a *extension.Agreement, withheld []string) string {
	var b strings.Builder
	rows(&b,
		[2]string{"negotiated", "API " + a.API},
		[2]string{"features", strings.Join(a.Features, ", ")},
		[2]string{"capabilities", strings.Join(a.Capabilities, ", ")},
		[2]string{"methods", strings.Join(a.Methods, ", ")},
		[2]string{"not offered", strings.Join(withheld, ", ")},
		[2]string{"limits", fmt.Sprintf("%d bytes a frame, %d requests at once, %d tools", a.MaxFrameBytes, a.MaxConcurrentRequests, a.MaxTools)},
	)
	for _, t := range a.Tools {
		fmt.Fprintf(&b, "\ntool %s\n  %s\n  parameters %s\n", t.Name, indent(t.Description), schemaText(t.Parameters))
		if t.OutputSchema != nil {
			fmt.Fprintf(&b, "  output %s\n", schemaText(t.OutputSchema))
		}
	}
	for _, command := range a.Commands {
		fmt.Fprintf(&b, "\ncommand /%s\n  %s\n", command.Name, indent(command.Description))
		if command.Usage != "" {
			fmt.Fprintf(&b, "  usage %s\n", command.Usage)
		}
	}
	return b.String()
}

func indent(text string) string { return strings.ReplaceAll(text, "\n", "\n  ") }

func schemaText(schema json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, schema, "  ", "  ") != nil {
		return string(schema)
	}
	return b.String()
}
