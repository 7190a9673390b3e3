package engine

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/model"
)

// scriptVariable makes the test binary play the extension of a script, which is its value.
const scriptVariable = "OCTET_TEST_SCRIPT"

// script is what an extension does. It notes every frame that it reads, selects all that is offered, and
// answers as told. Keys are a method, or a method and the name of the hook, tool or command behind a colon.
type script struct {
	Name     string                     `json:"-"`    // of the extension; empty: demo
	Seen     string                     `json:"seen"` // the file of the notes
	Tools    []json.RawMessage          `json:"tools,omitempty"`
	Commands []json.RawMessage          `json:"commands,omitempty"`
	Answers  map[string]json.RawMessage `json:"answers,omitempty"`
	// Asks are requests that it makes before it answers; the answers are noted.
	Asks map[string][]ask `json:"asks,omitempty"`
}

type ask struct {
	Method string         `json:"method"`
	Params map[string]any `json:"params"`
}

// act is an extension at work.
type act struct {
	script
	mu      sync.Mutex
	notes   *os.File
	answers map[string]chan string
}

// frame is a message that the extension reads.
type frame struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

func init() {
	if text := os.Getenv(scriptVariable); text != "" {
		perform(text)
		os.Exit(0)
	}
}

func perform(text string) {
	a := &act{answers: map[string]chan string{}}
	if err := json.Unmarshal([]byte(text), &a.script); err != nil {
		panic(err)
	}
	var err error
	if a.notes, err = os.OpenFile(a.Seen, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600); err != nil {
		panic(err)
	}
	if value, set := os.LookupEnv("SSH_AUTH_SOCK"); set {
		a.note("given", "SSH_AUTH_SOCK="+value)
	}
	lines := bufio.NewReader(os.Stdin)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var f frame
		if err := json.Unmarshal(line, &f); err != nil {
			panic(err)
		}
		if f.Method == "" {
			a.mu.Lock()
			waiting := a.answers[string(f.ID)]
			a.mu.Unlock()
			waiting <- string(f.Result) + string(f.Error)
			continue
		}
		a.note(f.Method, string(f.Params))
		if f.ID == nil {
			continue
		}
		if f.Method == featurewire.MethodShutdown {
			a.serve(f)
			return
		}
		go a.serve(f)
	}
}

func (a *act) note(what, text string) {
	a.mu.Lock()
	defer a.mu.Unlock()
	fmt.Fprintf(a.notes, "%d %s %s\n", os.Getpid(), what, text)
}

func (a *act) send(message map[string]any) {
	message["jsonrpc"] = "2.0"
	text, err := json.Marshal(message)
	if err != nil {
		panic(err)
	}
	a.mu.Lock()
	defer a.mu.Unlock()
	fmt.Println(string(text))
}

func (a *act) serve(f frame) {
	var subject struct {
		Name    string `json:"name"`
		Hook    string `json:"hook"`
		Command string `json:"command"`
	}
	_ = json.Unmarshal(f.Params, &subject)
	key := f.Method + ":" + subject.Name + subject.Hook + subject.Command
	for n, q := range a.Asks[key] {
		id := fmt.Sprintf("%q", fmt.Sprintf("%s-%d", f.ID, n))
		answer := make(chan string, 1)
		a.mu.Lock()
		a.answers[id] = answer
		a.mu.Unlock()
		q.Params["parent_request_id"] = f.ID
		a.send(map[string]any{"id": json.RawMessage(id), "method": q.Method, "params": q.Params})
		a.note("answered", <-answer)
	}
	var result any = map[string]any{}
	switch given := a.Answers[key]; {
	case given != nil:
		result = given
	case a.Answers[f.Method] != nil:
		result = a.Answers[f.Method]
	case f.Method == featurewire.MethodInitialize:
		result = a.initialize(f.Params)
	case f.Method == featurewire.MethodToolCall:
		result = map[string]any{"content": []any{map[string]any{"type": "text", "text": "done"}}, "is_error": false}
	case f.Method == featurewire.MethodCommandExecute:
		result = map[string]any{"text": "done"}
	case f.Method == featurewire.MethodContextCollect:
		result = []any{}
	case f.Method == featurewire.MethodHookRun && a.canonical():
		result = map[string]any{"disposition": map[string]any{"kind": canonicalwire.DispositionKindContinue}}
	case f.Method == featurewire.MethodShutdown && a.canonical():
		result = map[string]any{"terminal": canonicalwire.ShutdownTerminalShutdown}
	}
	a.send(map[string]any{"id": f.ID, "result": result})
}

func (*act) canonical() bool {
	return os.Getenv("OCTET_EXTENSION_API_VERSION") == canonicalwire.Version03
}

func (a *act) initialize(params []byte) any {
	var p struct {
		Protocol *featurewire.ProtocolOffer
		Contract *canonicalwire.ContractOffer
	}
	if err := json.Unmarshal(params, &p); err != nil {
		panic(err)
	}
	tools := append([]json.RawMessage{}, a.Tools...)
	if o := p.Contract; o != nil {
		return map[string]any{"api_version": canonicalwire.Version03, "tools": tools, "contract": map[string]any{
			"schema": o.Schema, "encoding": o.Encoding, "limits": o.Limits,
			"capabilities": append(o.RequiredCapabilities, o.OptionalCapabilities...), "methods": append(o.RequiredMethods, o.OptionalMethods...),
		}}
	}
	o := p.Protocol
	return map[string]any{"api_version": o.Version, "tools": tools, "commands": append([]json.RawMessage{}, a.Commands...), "protocol": map[string]any{
		"version": o.Version, "features": append(o.RequiredFeatures, o.OptionalFeatures...), "limits": map[string]any{"max_concurrent_requests": 8},
	}}
}

// deck has the model take steps, and answer what it is told behind the last one.
func (s *stage) deck(steps ...func() *model.Response) {
	s.brain.answer = func(_ context.Context, r model.Request) (*model.Response, error) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.requests = append(s.requests, r)
		if len(steps) == 0 {
			return said("fine"), nil
		}
		step := steps[0]
		steps = steps[1:]
		return step(), nil
	}
}

// calling asks for tools: name, then arguments, each.
func calling(words ...string) func() *model.Response {
	return func() *model.Response {
		m := conversation.Message{Role: conversation.Assistant}
		for i := 0; i < len(words); i += 2 {
			m.Parts = append(m.Parts, conversation.Part{
				Kind: conversation.ToolCall, CallID: fmt.Sprintf("c%d", i/2+1), Name: words[i], Arguments: json.RawMessage(words[i+1]),
			})
		}
		return &model.Response{Message: m, Stop: model.StopTools, UsageKnown: true}
	}
}

// stage is a scene with one extension that follows a script, and a conversation in front.
type stage struct {
	*scene
	t     *testing.T
	notes string
	c     *Conversation

	mu       sync.Mutex
	requests []model.Request
}

// demo is the name of the extension on a stage.
const demo = "demo"

// onStage starts an extension of an API version with what its manifest contributes. Change may be nil.
func onStage(t *testing.T, api, contributes string, s script, change func(*Config)) *stage {
	t.Helper()
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	g := &stage{t: t, notes: filepath.Join(t.TempDir(), "notes")}
	s.Seen = g.notes
	text, err := json.Marshal(s)
	if err != nil {
		t.Fatal(err)
	}
	if s.Name == "" {
		s.Name = demo
	}
	dir := filepath.Join(t.TempDir(), s.Name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	manifest := fmt.Sprintf("name = %q\nversion = \"1.0.0\"\napi_version = %q\n[entrypoint]\ncommand = %q\n[entrypoint.env]\n%s = '%s'\n[contributes]\n%s\n",
		s.Name, api, self, scriptVariable, text, contributes)
	if err := os.WriteFile(filepath.Join(dir, "extension.toml"), []byte(manifest), 0o600); err != nil {
		t.Fatal(err)
	}
	g.scene = open(t, func(c *Config) {
		c.Machine.Lookup = os.LookupEnv
		c.Invocation.Directories, c.Invocation.Enable = []string{filepath.Dir(dir)}, []string{s.Name}
		if change != nil {
			change(c)
		}
	})
	g.deck()
	if err := g.Ready(t.Context()); err != nil {
		t.Fatal(err)
	}
	if len(g.ready()) != 1 {
		told, _ := g.Diagnostics()
		t.Fatalf("the extension has not started: %+v; %q", told, g.said(s.Name))
	}
	g.c = begin(t, g.scene)
	return g
}

// seen are the notes of the extension so far: process, method and params.
func (g *stage) seen() []string {
	g.t.Helper()
	text, err := os.ReadFile(g.notes)
	if err != nil {
		g.t.Fatal(err)
	}
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

// of are the params that came with a method, in order.
func (g *stage) of(method string) (params []string) {
	g.t.Helper()
	for _, line := range g.seen() {
		if words := strings.SplitN(line, " ", 3); words[1] == method {
			params = append(params, words[2])
		}
	}
	return params
}
