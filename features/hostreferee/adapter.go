package hostreferee

import (
	"bytes"
	"embed"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/invopop/jsonschema"
	"github.com/pelletier/go-toml/v2"

	"github.com/octet-dev/octet/features/infile"
)

// Placeholders of the talk of an adapter, besides those of a call.
const (
	PlaceExtensions = "{extensions}"
	PlaceName       = "{name}"
	PlaceWorkspace  = "{workspace}"
	PlaceHome       = "{home}"
	PlaceModel      = "{model}"
	PlaceText       = "{text}"
	PlaceCommand    = "{command}"
)

// Adapter says how a host is told what to do.
type Adapter struct {
	Call []string `toml:"call" json:"call" jsonschema:"required,minItems=1" jsonschema_description:"Program and arguments of one run that makes one call: it starts the extension in {extension}, calls {tool} with the JSON object {arguments}, prints the text of the result, ends the extension, and exits with 0 if all of that went well. An interrupt cancels the call."`
	Talk *Talk    `toml:"talk" json:"talk,omitempty" jsonschema_description:"How a conversation is held. Without it scenarios about hooks, commands, sessions and reloads are not applicable."`
}

// Talk is how a conversation is held with a host that reads lines.
type Talk struct {
	Command     []string `toml:"command" json:"command" jsonschema:"required,minItems=1" jsonschema_description:"Program and arguments of a conversation. It starts every extension in a directory below {extensions}, works in {workspace}, keeps what it keeps below {home}, and asks the OpenAI-compatible server at {model} for the answers of the model 'conform'. Once its extensions have started, it does the lines of its standard input one behind the other, and ends with them."`
	Each        []string `toml:"each" json:"each,omitempty" jsonschema_description:"Arguments that are added for every extension; {name} is its name."`
	Env         []string `toml:"env" json:"env,omitempty" jsonschema_description:"Changes to the environment: NAME=value sets, NAME alone removes."`
	File        []File   `toml:"file" json:"file,omitempty" jsonschema_description:"Files that are written before the host starts."`
	Prompt      string   `toml:"prompt" json:"prompt" jsonschema:"required" jsonschema_description:"Line that says {text} to the model. The host runs the hooks, asks the model, calls the tools that the model wants, and goes on until the model has no further call."`
	CommandLine string   `toml:"command_line" json:"command_line,omitempty" jsonschema_description:"Line that executes {command} of an extension with {arguments}, words with blanks between them."`
	Rebuild     string   `toml:"rebuild" json:"rebuild,omitempty" jsonschema_description:"Line that discovers and starts all extensions anew."`
	Write       []string `toml:"write" json:"write,omitempty" jsonschema:"minItems=2,maxItems=2" jsonschema_description:"Name and arguments, a JSON object, of a tool of the host's own with which the model writes a file in the workspace."`
	Reload      string   `toml:"reload" json:"reload,omitempty" jsonschema_description:"Line that replaces the process of the extension {name} by a new one."`
	New         string   `toml:"new" json:"new,omitempty" jsonschema_description:"Line that begins another conversation in the same process."`
	Compact     string   `toml:"compact" json:"compact,omitempty" jsonschema_description:"Line that has the conversation summed up."`
	Status      string   `toml:"status" json:"status,omitempty" jsonschema_description:"Line that shows what there is to say of the extensions, what they did wrong included. Default: the host says that when it happens."`
	End         string   `toml:"end" json:"end,omitempty" jsonschema_description:"Line that ends the host. Default: the end of its input does."`
}

// File is one file that a host needs.
type File struct {
	Path string `toml:"path" json:"path" jsonschema:"required" jsonschema_description:"Where it is: begins with {home} or {workspace}."`
	Text string `toml:"text" json:"text" jsonschema_description:"What is in it; the places stand for the same as in command."`
}

//go:embed adapters/*.toml
var ready embed.FS

// ReadyAdapters are the names of the adapters that are known.
func ReadyAdapters() []string {
	entries, err := ready.ReadDir("adapters")
	if err != nil {
		panic(fmt.Sprintf("hostreferee: %v", err))
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".toml"))
	}
	return names
}

// ReadyAdapter returns an adapter that is known.
func ReadyAdapter(name string) (*Adapter, error) {
	if !slices.Contains(ReadyAdapters(), name) {
		return nil, fmt.Errorf("there is no adapter %q; there are: %s", name, strings.Join(ReadyAdapters(), ", "))
	}
	path := "adapters/" + name + ".toml"
	text, err := ready.ReadFile(path)
	if err != nil {
		return nil, err
	}
	return ParseAdapter(path, text)
}

// AdapterProblem is one fault of an adapter file.
type AdapterProblem struct {
	Path   string
	Line   int // from 1; 0 if the place is not known
	Detail string
}

// Error is "path:line: detail".
func (p AdapterProblem) Error() string {
	if p.Line == 0 {
		return fmt.Sprintf("%s: %s", p.Path, p.Detail)
	}
	return fmt.Sprintf("%s:%d: %s", p.Path, p.Line, p.Detail)
}

// maxAdapterBytes bounds an adapter file.
const maxAdapterBytes = 64 << 10

// LoadAdapter reads an adapter file. Every fault is an AdapterProblem in the joined error.
func LoadAdapter(path string) (*Adapter, error) {
	text, err := infile.Read(path, "an adapter", maxAdapterBytes)
	if err != nil {
		return nil, err
	}
	return ParseAdapter(path, text)
}

// ParseAdapter is LoadAdapter for bytes that are already there.
func ParseAdapter(path string, text []byte) (*Adapter, error) {
	dec := toml.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	var a Adapter
	if err := dec.Decode(&a); err != nil {
		return nil, adapterProblems(path, err)
	}
	var faults []error
	fault := func(key, format string, args ...any) {
		faults = append(faults, AdapterProblem{Path: path, Line: lineOf(text, key), Detail: fmt.Sprintf("%s: ", key) + fmt.Sprintf(format, args...)})
	}
	if detail := CheckCall(a.Call); detail != "" {
		fault("call", "%s", detail)
	}
	if a.Talk != nil {
		a.Talk.check(fault)
	}
	if err := errors.Join(faults...); err != nil {
		return nil, err
	}
	return &a, nil
}

// CheckCall says what a command that makes one call lacks; empty if nothing.
func CheckCall(argv []string) string {
	if len(argv) == 0 {
		return "the key is missing or empty; name the program that makes one call, and its arguments"
	}
	for _, place := range []string{PlaceExtension, PlaceTool} {
		if !slices.ContainsFunc(argv, func(word string) bool { return strings.Contains(word, place) }) {
			return fmt.Sprintf("the command does not say where %s goes", place)
		}
	}
	return ""
}

// check tells of every key that says too little.
func (t *Talk) check(fault func(key, format string, args ...any)) {
	if len(t.Command) == 0 {
		fault("command", "the key is missing or empty; name the program that holds a conversation, and its arguments")
	}
	words := slices.Concat(t.Command, t.Each)
	if !slices.ContainsFunc(words, func(w string) bool { return strings.Contains(w, PlaceExtensions) }) {
		fault("command", "the command does not say where %s goes", PlaceExtensions)
	}
	everywhere := slices.Concat(words, t.Env)
	for i, file := range t.File {
		everywhere = append(everywhere, file.Text)
		if !strings.HasPrefix(file.Path, PlaceHome+"/") && !strings.HasPrefix(file.Path, PlaceWorkspace+"/") || strings.Contains(file.Path, "..") {
			fault("path", "file %d is %q; it must lie below %s/ or %s/", i+1, file.Path, PlaceHome, PlaceWorkspace)
		}
	}
	if !slices.ContainsFunc(everywhere, func(w string) bool { return strings.Contains(w, PlaceModel) }) {
		fault("command", "nothing says where %s goes; put it into command, env or the text of a file", PlaceModel)
	}
	for _, line := range []struct{ key, text, place string }{
		{"prompt", t.Prompt, PlaceText}, {"command_line", t.CommandLine, PlaceCommand},
	} {
		switch {
		case line.text == "" && line.key != "prompt":
		case !strings.Contains(line.text, line.place):
			fault(line.key, "it is %q; write the line with %s where that goes", line.text, line.place)
		}
	}
	if t.Write != nil && (len(t.Write) != 2 || !json.Valid([]byte(t.Write[1]))) {
		fault("write", "it is %q; give the name of a tool and its arguments, a JSON object", t.Write)
	}
	for key, text := range map[string]string{
		"prompt": t.Prompt, "command_line": t.CommandLine, "reload": t.Reload, "rebuild": t.Rebuild, "new": t.New, "compact": t.Compact, "status": t.Status, "end": t.End,
	} {
		if strings.ContainsAny(text, "\r\n") {
			fault(key, "it is %q; it must be one line", text)
		}
	}
}

// lineOf finds the line on which a key is set; 0 if it is not.
func lineOf(text []byte, key string) int {
	for i, line := range bytes.Split(text, []byte("\n")) {
		name, _, found := bytes.Cut(line, []byte("="))
		if found && string(bytes.TrimSpace(name)) == key {
			return i + 1
		}
	}
	return 0
}

func adapterProblems(path string, err error) error {
	const known = "known are call, and below talk command, each, env, write, prompt, command_line, reload, rebuild, new, compact, status, end, and file with path and text"
	if strict, is := errors.AsType[*toml.StrictMissingError](err); is {
		var faults []error
		for _, e := range strict.Errors {
			line, _ := e.Position()
			faults = append(faults, AdapterProblem{Path: path, Line: line, Detail: fmt.Sprintf("unknown key %q; %s", strings.Join(e.Key(), "."), known)})
		}
		return errors.Join(faults...)
	}
	if decode, is := errors.AsType[*toml.DecodeError](err); is {
		line, _ := decode.Position()
		return AdapterProblem{Path: path, Line: line, Detail: strings.TrimPrefix(decode.Error(), "toml: ")}
	}
	return AdapterProblem{Path: path, Detail: err.Error()}
}

// AdapterSchemaFile is the name of the published schema of an adapter, beside this file.
const AdapterSchemaFile = "adapter.schema.json"

// AdapterSchema is the JSON Schema of an adapter, read as JSON.
func AdapterSchema() ([]byte, error) {
	r := &jsonschema.Reflector{DoNotReference: true}
	s := r.Reflect(&Adapter{})
	s.ID = ""
	s.Title = "octet-conform adapter"
	s.Description = "How octet-conform tells a host what to do: the file behind --adapter."
	text, err := json.MarshalIndent(s, "", "  ")
	return append(text, '\n'), err
}
