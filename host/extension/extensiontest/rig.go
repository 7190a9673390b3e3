package extensiontest

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

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/process"
)

// Setup says which extension, and which host.
type Setup struct {
	// API is the version; empty means 0.4.
	API string
	// Name is that of the extension; empty means "demo".
	Name string
	// Contributes are lines of that table of the manifest. Empty means the tool "work" and the command "do".
	Contributes string
	// Top are further lines at the top of the manifest.
	Top string
	// Select says what of the offer is selected. Nil: everything.
	Select func(name string) bool
	// Initialize, if set, changes the result of initialize before it is sent.
	Initialize func(result map[string]any)
	// Early, if set, runs before initialize is answered, with its id and params.
	Early func(r *Rig, id int64, params json.RawMessage)
	// Serve is what the extension does with requests, from the start: see Rig.Serve.
	Serve map[string]func(id int64, params json.RawMessage) (any, error)
	// Options are those of the host. Launch, ScratchRoot and Workspace are set here, Foreground where it is
	// nil.
	Options extension.Options
}

// Rig is a running extension and the test behind it.
type Rig struct {
	X *extension.Extension // its instance and generation are those of Owner

	t       testing.TB
	setup   Setup
	program *program
	write   sync.Mutex

	mu          sync.Mutex
	front       string
	handlers    map[string]func(id int64, params json.RawMessage) (any, error)
	answers     map[string]chan Answer // of Ask and Send, by the id as JSON
	last        int                    // number in the id of the last Send
	told        []Told
	changed     sync.Cond // told has grown; its lock is mu
	diagnostics []string
	offer       json.RawMessage
}

// Told is one notification of the host.
type Told struct {
	Method string
	Params json.RawMessage
}

// RefuseError makes a served request be answered with an error.
type RefuseError struct {
	Code    int64
	Message string
}

// Error is the message.
func (e *RefuseError) Error() string { return e.Message }

// Silence makes a served request stay unanswered.
var Silence = &RefuseError{}

// Start starts the extension, and ends it with the test. A failed start ends the test.
func Start(t testing.TB, s Setup) *Rig {
	t.Helper()
	r, err := TryStart(t, s)
	if err != nil {
		t.Fatalf("start of the test extension: %v", err)
	}
	return r
}

// TryStart is Start for a test that expects a refusal. The rig is there even then, without X.
func TryStart(t testing.TB, s Setup) (*Rig, error) {
	t.Helper()
	if s.API == "" {
		s.API = featurewire.Version04
	}
	if s.Name == "" {
		s.Name = "demo"
	}
	r := &Rig{
		t: t, setup: s, front: DefaultFront, handlers: map[string]func(int64, json.RawMessage) (any, error){},
		answers: map[string]chan Answer{}, program: newProgram(),
	}
	r.changed.L = &r.mu
	for method, f := range s.Serve {
		r.handlers[method] = f
	}
	options := s.Options
	options.Launch = func(process.Options) (extension.Program, error) {
		go r.play()
		return r.program, nil
	}
	options.Workspace, options.ScratchRoot = t.TempDir(), t.TempDir()
	diagnose := options.Diagnose
	options.Diagnose = func(text string) {
		r.mu.Lock()
		r.diagnostics = append(r.diagnostics, text)
		r.mu.Unlock()
		if diagnose != nil {
			diagnose(text)
		}
	}
	if options.Foreground == nil {
		options.Foreground = r.foreground
	}
	x, err := extension.Start(context.Background(), Source(t, s), options)
	r.X = x
	if x != nil {
		t.Cleanup(func() { x.Close() })
	}
	return r, err
}

// DefaultFront is the opaque owner id of the session in the foreground.
const DefaultFront = "session-1"

// Source writes and loads the manifest of a setup.
func Source(t testing.TB, s Setup) *extension.Source {
	t.Helper()
	dir := filepath.Join(t.TempDir(), s.Name)
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	if s.Contributes == "" {
		s.Contributes = "tools = [\"work\"]\ncommands = [\"do\"]"
		if s.API == canonicalVersion {
			s.Contributes = `tools = ["work"]`
		}
	}
	text := fmt.Sprintf("name = %q\nversion = \"1.2.3\"\napi_version = %q\n%s\n[entrypoint]\ncommand = %q\n[contributes]\n%s\n",
		s.Name, s.API, s.Top, self, s.Contributes)
	if err := os.WriteFile(filepath.Join(dir, "extension.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	source, err := extension.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return source
}

// SetFront says which session is in the foreground; empty for none.
func (r *Rig) SetFront(owner string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.front = owner
}

func (r *Rig) foreground() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.front
}

// Offer is what the host offered: protocol on the feature wire, contract on the canonical one.
func (r *Rig) Offer() json.RawMessage {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.offer
}

// Diagnostics are those that the host told so far.
func (r *Rig) Diagnostics() []string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return append([]string(nil), r.diagnostics...)
}

// Diagnosed reports whether a diagnostic holds the words.
func (r *Rig) Diagnosed(words string) bool {
	return strings.Contains(strings.Join(r.Diagnostics(), "\n"), words)
}

// Exit ends the extension as if it had crashed.
func (r *Rig) Exit(code int) { r.program.exit(process.StageSelf, process.State{Code: code}) }

// Deafen makes the extension not read its input, as if the pipe were full: what the host writes waits until
// hear is called, or the extension ends. Calling hear twice is harmless.
func (r *Rig) Deafen() (hear func()) { return r.program.deafen() }

// play reads what the host sends until the input ends.
func (r *Rig) play() {
	lines := bufio.NewReader(r.program.input)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			r.program.exit(process.StageSelf, process.State{})
			r.settleAll()
			return
		}
		r.take(line)
	}
}

// settleAll ends what is still waited for.
func (r *Rig) settleAll() {
	r.mu.Lock()
	defer r.mu.Unlock()
	for id, waiting := range r.answers {
		delete(r.answers, id)
		waiting <- Answer{CalledOff: "the host has closed the connection"}
	}
	r.changed.Broadcast()
}

// Raw sends one frame as it is; the line feed is added.
func (r *Rig) Raw(frame string) {
	r.write.Lock()
	defer r.write.Unlock()
	// The host may have gone: then nobody cares.
	_, _ = r.program.output.Write([]byte(frame + "\n"))
}

// send writes a frame in the canonical spelling.
func (r *Rig) send(frame map[string]any) { r.Raw(spelled(frame)) }

// spelled is a frame in the canonical spelling.
func spelled(frame map[string]any) string {
	frame["jsonrpc"] = "2.0"
	text, err := json.Marshal(frame)
	if err != nil {
		panic(fmt.Sprintf("extensiontest: frame %v: %v", frame, err))
	}
	return string(canonical(text))
}

// canonical spells JSON as the canonical wire wants it.
func canonical(text []byte) []byte {
	doc, err := wirejson.Parse(text, wirejson.DefaultMaxDepth)
	if err != nil {
		panic(fmt.Sprintf("extensiontest: %s: %v", text, err))
	}
	defer doc.Release()
	return doc.Root().Raw()
}
