package oupreferee

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

// Adapter says how a server is started, and what to say to its model so that it does what a scenario is about.
type Adapter struct {
	Stdio      []string `toml:"stdio" json:"stdio,omitempty" jsonschema_description:"Program and arguments of a server over standard streams. {data} is an empty directory for what it keeps, {workspace} one to work in."`
	WebSocket  []string `toml:"websocket" json:"websocket,omitempty" jsonschema_description:"Program and arguments of a server over WebSocket on 127.0.0.1, port {port}, that lets clients with the token {token} in."`
	WorkSecret []string `toml:"work_secret" json:"work_secret,omitempty" jsonschema_description:"Program and arguments that print a work secret of the session {session}, good for {seconds} seconds, beside the server that listens on {port}: base64url of JSON with the token of it, or the token itself."`
	Env        []string `toml:"env" json:"env,omitempty" jsonschema_description:"Changes to the environment: NAME=value sets, NAME alone removes."`
	File       []File   `toml:"file" json:"file,omitempty" jsonschema_description:"Files that are written before the server starts."`
	Ask        Ask      `toml:"ask" json:"ask" jsonschema_description:"What to say in a turn so that it does something. Scenarios about what is not here are not applicable."`
}

// Ask are inputs of turns.
type Ask struct {
	Text         string `toml:"text" json:"text,omitempty" jsonschema_description:"The model answers with a text of a few words."`
	Tool         string `toml:"tool" json:"tool,omitempty" jsonschema_description:"It uses a tool that needs no approval, and says something then."`
	BrokenTool   string `toml:"broken_tool" json:"broken_tool,omitempty" jsonschema_description:"It uses a tool with arguments, an output or an error that are longer than what a frame shows."`
	Approval     string `toml:"approval" json:"approval,omitempty" jsonschema_description:"It uses a tool that needs an approval, and says something once that is decided, whatever was decided."`
	TwoApprovals string `toml:"two_approvals" json:"two_approvals,omitempty" jsonschema_description:"It uses the same tool twice, one call behind the other, each of which needs an approval."`
	Questions    string `toml:"-" json:"-"` // two at once, of servers of ours alone
	Question     string `toml:"question" json:"question,omitempty" jsonschema_description:"It asks the person one question with answers on offer."`
	Long         string `toml:"long" json:"long,omitempty" jsonschema_description:"It begins an answer and does not come to its end until it is interrupted."`
	Failure      string `toml:"failure" json:"failure,omitempty" jsonschema_description:"The model fails."`
	Plan         string `toml:"plan" json:"plan,omitempty" jsonschema_description:"It makes a plan."`
	Progress     string `toml:"progress" json:"progress,omitempty" jsonschema_description:"Progress is told that is no part of the conversation."`
	Large        string `toml:"large" json:"large,omitempty" jsonschema_description:"It answers with a text of more than 524288 bytes."`
	Task         string `toml:"task" json:"task,omitempty" jsonschema_description:"It starts a background task, with an approval where that is needed, and says something then. The task writes more than 65536 bytes that begin with éé, leaves two files as artifacts, of which one is text and one is not, and ends well."`
	EndlessTask  string `toml:"endless_task" json:"endless_task,omitempty" jsonschema_description:"It starts a background task in the same way, which writes a few words and does not end by itself."`
	Activity     string `toml:"activity" json:"activity,omitempty" jsonschema_description:"Something goes on in the background once, which is told with a text of more than 2000 times the letter x."`
	Activities   string `toml:"activities" json:"activities,omitempty" jsonschema_description:"More than 41 things of one origin go on in the background within a second or so."`
	Change       string `toml:"change" json:"change,omitempty" jsonschema_description:"It changes a file in a way that can be shown."`
}

// of is the input for a phrase; empty where the adapter has none.
func (a Ask) of(phrase string) string {
	return map[string]string{
		"says something": a.Text, "uses a tool": a.Tool, "uses a tool badly": a.BrokenTool, "needs an approval": a.Approval,
		"needs two approvals": a.TwoApprovals, "asks a question": a.Question, "asks two questions": a.Questions, "takes long": a.Long, "fails": a.Failure,
		"makes a plan": a.Plan, "tells progress": a.Progress, "says a lot": a.Large, "changes a file": a.Change,
		startsTask: a.Task, startsEndlessTask: a.EndlessTask, hasActivity: a.Activity, hasActivities: a.Activities,
	}[phrase]
}

// Own is what the servers of package oupserver understand.
var Own = Ask{
	Text: "Say something.", Tool: "PLAY tool", BrokenTool: "PLAY broken tool", Approval: "PLAY approval", TwoApprovals: "PLAY two approvals",
	Question: "PLAY question", Questions: "PLAY two questions", Long: "PLAY long", Failure: "PLAY failure", Plan: "PLAY plan", Progress: "PLAY progress", Large: "PLAY large", Change: "PLAY change",
	Task: "PLAY task", EndlessTask: "PLAY endless task", Activity: "PLAY activity", Activities: "PLAY much activity",
}

// File is one file that a server needs.
type File struct {
	Path string `toml:"path" json:"path" jsonschema:"required" jsonschema_description:"Where it is: begins with {data} or {workspace}."`
	Text string `toml:"text" json:"text" jsonschema_description:"What is in it; the places stand for the same as in commands."`
}

//go:embed adapters/*.toml
var ready embed.FS

// ReadyAdapters are the names of the adapters that are known.
func ReadyAdapters() []string {
	entries, err := ready.ReadDir("adapters")
	if err != nil {
		panic(fmt.Sprintf("oupreferee: %v", err))
	}
	var names []string
	for _, e := range entries {
		names = append(names, strings.TrimSuffix(e.Name(), ".toml"))
	}
	return names
}

// maxAdapterBytes bounds an adapter file.
const maxAdapterBytes = 256 << 10

// LoadAdapter reads an adapter: one that is known by its name, or a file.
func LoadAdapter(name string) (*Adapter, error) {
	path := name
	var text []byte
	var err error
	if slices.Contains(ReadyAdapters(), name) {
		path = "adapters/" + name + ".toml"
		text, err = ready.ReadFile(path)
	} else {
		text, err = infile.Read(path, "an adapter", maxAdapterBytes)
	}
	if err != nil {
		return nil, err
	}
	return ParseAdapter(path, text)
}

// ParseAdapter reads an adapter. The error names the file.
func ParseAdapter(path string, text []byte) (*Adapter, error) {
	dec := toml.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	var a Adapter
	if err := dec.Decode(&a); err != nil {
		var strict *toml.StrictMissingError
		if errors.As(err, &strict) {
			return nil, fmt.Errorf("%s: unknown key: %s", path, strings.Join(strings.Fields(strict.String()), " "))
		}
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	if len(a.WorkSecret) > 0 && !slices.ContainsFunc(a.WorkSecret, func(word string) bool { return strings.Contains(word, PlaceSession) }) {
		return nil, fmt.Errorf("%s: the command work_secret does not say where %s goes", path, PlaceSession)
	}
	for _, f := range a.File {
		if !strings.HasPrefix(f.Path, PlaceData+"/") && !strings.HasPrefix(f.Path, PlaceWorkspace+"/") || strings.Contains(f.Path, "..") {
			return nil, fmt.Errorf("%s: the path of a file is %q; begin it with %s/ or %s/", path, f.Path, PlaceData, PlaceWorkspace)
		}
	}
	return &a, nil
}

// AdapterSchemaFile is the name of the published schema of an adapter, beside this file.
const AdapterSchemaFile = "adapter.schema.json"

// AdapterSchema is the JSON Schema of an adapter, read as JSON.
func AdapterSchema() ([]byte, error) {
	r := &jsonschema.Reflector{DoNotReference: true}
	s := r.Reflect(&Adapter{})
	s.ID = ""
	s.Title = "octet-conform OUP adapter"
	s.Description = "How octet-conform starts an OUP server and what it says to its model: the file behind --adapter."
	text, err := json.MarshalIndent(s, "", "  ")
	return append(text, '\n'), err
}
