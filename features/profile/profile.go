// Package profile reads conform.toml: how a stranger's extension may be exercised, which tools to call
// with which arguments, and what to expect.
package profile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"
	"github.com/pelletier/go-toml/v2"

	"github.com/octet-dev/octet/features/infile"
)

// FileName is the profile's name beside a manifest.
const FileName = "conform.toml"

// maxFileBytes bounds a profile.
const maxFileBytes = 256 << 10

// Profile is the content of conform.toml.
type Profile struct {
	Call    []Call    `toml:"call" json:"call,omitempty" jsonschema_description:"Calls that are safe to make. The first one that is expected to be ok serves wherever a scenario needs a call."`
	Slow    *Call     `toml:"slow" json:"slow,omitempty" jsonschema_description:"A call that takes at least some seconds unless it is cancelled. Cancellation scenarios use it."`
	Failing *Call     `toml:"failing" json:"failing,omitempty" jsonschema_description:"A call that fails without harm."`
	Command []Command `toml:"command" json:"command,omitempty" jsonschema_description:"Commands that are safe to execute. Default: every command without arguments, where calls may be made up at all."`
	Hook    []Hook    `toml:"hook" json:"hook,omitempty" jsonschema_description:"Payloads that declared hooks are asked with, besides one that is made up for each."`
	Prompt  []string  `toml:"prompt" json:"prompt,omitempty" jsonschema_description:"Prompts that hooks and context are asked about. Default: one that means nothing."`
	Large   *Call     `toml:"large" json:"large,omitempty" jsonschema_description:"A call whose result is larger than 65536 bytes. API 0.3 only."`
	Setup   string    `toml:"setup" json:"setup,omitempty" jsonschema_description:"A directory beside the profile with a setup that the migration adapter detects. It is copied before the adapter sees it. Default: one is made up. API 0.3 only."`

	places places
}

// Call is one tool call.
type Call struct {
	Tool      string         `toml:"tool" json:"tool" jsonschema:"required" jsonschema_description:"Name of a tool that initialize announces."`
	Arguments map[string]any `toml:"arguments" json:"arguments,omitempty" jsonschema_description:"Arguments of the call. Default: none."`
	Expect    Expect         `toml:"expect" json:"expect,omitempty" jsonschema:"enum=ok,enum=tool_error,enum=error" jsonschema_description:"ok: a result whose is_error is false. tool_error: a result whose is_error is true. error: an error response. Default: ok, for the failing call tool_error."`
}

// Command is one execution of a command.
type Command struct {
	Name      string   `toml:"name" json:"name" jsonschema:"required" jsonschema_description:"Name of a command that initialize announces."`
	Arguments []string `toml:"arguments" json:"arguments,omitempty" jsonschema_description:"Arguments of the command. Default: none."`
}

// Hook is one question to a hook.
type Hook struct {
	Name    string         `toml:"name" json:"name" jsonschema:"required" jsonschema_description:"Name of a hook that the manifest declares."`
	Payload map[string]any `toml:"payload" json:"payload" jsonschema:"required" jsonschema_description:"The payload of that hook."`
}

// Expect is the outcome that a call should have.
type Expect string

// The outcomes.
const (
	OK        Expect = "ok"
	ToolError Expect = "tool_error"
	Error     Expect = "error"
)

// Problem is one fault of a profile file.
type Problem struct {
	Path   string
	Line   int // from 1; 0 if the place is not known
	Detail string
}

// Error is "path:line: detail".
func (p Problem) Error() string {
	if p.Line == 0 {
		return fmt.Sprintf("%s: %s", p.Path, p.Detail)
	}
	return fmt.Sprintf("%s:%d: %s", p.Path, p.Line, p.Detail)
}

// Load reads a profile. Every fault of the file is a Problem in the joined error.
func Load(path string) (*Profile, error) {
	data, err := infile.Read(path, "a profile", maxFileBytes)
	if err != nil {
		return nil, err
	}
	p, err := Parse(path, data)
	if p == nil || p.Setup == "" {
		return p, err
	}
	p.Setup = filepath.Join(filepath.Dir(path), p.Setup)
	if info, missing := os.Stat(p.Setup); missing != nil || !info.IsDir() {
		err = errors.Join(err, Problem{Path: path, Detail: fmt.Sprintf("setup: %q is no directory; name one with a setup to import", p.Setup)})
	}
	return p, err
}

// Beside loads the profile next to a manifest, or returns nil if there is none.
func Beside(dir string) (*Profile, error) {
	p, err := Load(filepath.Join(dir, FileName))
	if errors.Is(err, os.ErrNotExist) {
		return nil, nil
	}
	return p, err
}

// Parse is Load for bytes that are already there.
func Parse(path string, data []byte) (*Profile, error) {
	dec := toml.NewDecoder(bytes.NewReader(data))
	dec.DisallowUnknownFields()
	var p Profile
	if err := dec.Decode(&p); err != nil {
		return nil, problems(path, err)
	}
	p.places = placesOf(data)
	var faults []error
	for _, f := range foreigners(data) {
		faults = append(faults, Problem{Path: path, Line: f.line, Detail: f.detail()})
	}
	for _, c := range p.calls() {
		if key, detail := c.check(); detail != "" {
			faults = append(faults, Problem{Path: path, Line: p.places.of(c.where, key), Detail: c.where + ": " + detail})
		}
	}
	for i, c := range p.Command {
		if c.Name == "" {
			faults = append(faults, Problem{Path: path, Line: p.places[fmt.Sprintf("command %d", i+1)], Detail: fmt.Sprintf(`command %d: the key "name" is missing; name a command that initialize announces`, i+1)})
		}
	}
	for i, h := range p.Hook {
		if h.Name == "" || h.Payload == nil {
			faults = append(faults, Problem{Path: path, Line: p.places[fmt.Sprintf("hook %d", i+1)], Detail: fmt.Sprintf(`hook %d: the key "name" or "payload" is missing; name a declared hook and give it a payload`, i+1)})
		}
	}
	return &p, errors.Join(faults...)
}

// Unknown names the calls of tools that are not in a list, each as a Problem in the joined error.
func (p *Profile) Unknown(path string, tools []string) error {
	var faults []error
	for _, c := range p.calls() {
		if !slices.Contains(tools, c.call.Tool) {
			known := "no tool"
			if len(tools) > 0 {
				known = strings.Join(tools, ", ")
			}
			faults = append(faults, Problem{Path: path, Line: p.places.of(c.where, "tool"), Detail: fmt.Sprintf("%s: the extension has no tool %q; it announces %s", c.where, c.call.Tool, known)})
		}
	}
	return errors.Join(faults...)
}

// Unspellable names the calls and payloads that a wire cannot carry, each as a Problem in the joined error.
func (p *Profile) Unspellable(path string, spellable func(string) bool) error {
	var faults []error
	check := func(where, key string, value any) {
		if text, err := json.Marshal(value); err != nil || !spellable(string(text)) {
			faults = append(faults, Problem{Path: path, Line: p.places.of(where, key), Detail: where + ": its values have no spelling on the wire of this extension; use integers of at most 9007199254740991"})
		}
	}
	for _, c := range p.calls() {
		check(c.where, "arguments", c.call.Arguments)
	}
	for i, h := range p.Hook {
		check(fmt.Sprintf("hook %d", i+1), "payload", h.Payload)
	}
	return errors.Join(faults...)
}

func problems(path string, err error) error {
	var strict *toml.StrictMissingError
	if errors.As(err, &strict) {
		var faults []error
		for _, e := range strict.Errors {
			line, _ := e.Position()
			faults = append(faults, Problem{Path: path, Line: line, Detail: fmt.Sprintf("unknown key %q; known are call, slow, failing, large with tool, arguments and expect, command with name and arguments, hook with name and payload, prompt, and setup", strings.Join(e.Key(), "."))})
		}
		return errors.Join(faults...)
	}
	var decode *toml.DecodeError
	if errors.As(err, &decode) {
		line, _ := decode.Position()
		return Problem{Path: path, Line: line, Detail: strings.TrimPrefix(decode.Error(), "toml: ")}
	}
	return Problem{Path: path, Detail: err.Error()}
}

type located struct {
	where string
	call  *Call
	usual Expect
}

func (p *Profile) calls() []located {
	var all []located
	for i := range p.Call {
		all = append(all, located{fmt.Sprintf("call %d", i+1), &p.Call[i], OK})
	}
	if p.Slow != nil {
		all = append(all, located{"slow", p.Slow, OK})
	}
	if p.Failing != nil {
		all = append(all, located{"failing", p.Failing, ToolError})
	}
	if p.Large != nil {
		all = append(all, located{"large", p.Large, OK})
	}
	return all
}

// check fills the default expectation and names the first fault, and the key that has it.
func (l located) check() (key, detail string) {
	if l.call.Tool == "" {
		return "tool", `the key "tool" is missing; name a tool that initialize announces`
	}
	if l.call.Arguments == nil {
		l.call.Arguments = map[string]any{}
	}
	switch l.call.Expect {
	case "":
		l.call.Expect = l.usual
	case OK, ToolError, Error:
	default:
		return "expect", fmt.Sprintf("expect is %q; it is one of %q, %q, %q", l.call.Expect, OK, ToolError, Error)
	}
	return "", ""
}

// SchemaFile is the name of the published schema of a profile, beside this file.
const SchemaFile = "profile.schema.json"

// Schema is the JSON Schema of a profile, read as JSON.
func Schema() ([]byte, error) {
	r := &jsonschema.Reflector{DoNotReference: true}
	s := r.Reflect(&Profile{})
	s.ID = ""
	s.Title = "octet-conform profile"
	s.Description = "How octet-conform may exercise an extension: conform.toml beside its manifest."
	text, err := json.MarshalIndent(s, "", "  ")
	return append(text, '\n'), err
}
