package extension

import (
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"reflect"
	goruntime "runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/octet-dev/octet/host/fixture"
	"github.com/octet-dev/octet/process"
)

func TestStart_agreement(t *testing.T) {
	for _, api := range apis {
		t.Run(api, func(t *testing.T) {
			a := setup{api: api, contributes: `commands = ["note"]`}.mustStart(t).Agreement()
			want := Agreement{
				API: api, Wire: "extension-feature", MaxFrameBytes: 1 << 20, MaxConcurrentRequests: 4, MaxTools: 256,
				Features: []string{"content_parts", "progress_decoration", "request_cancellation", "request_progress"},
				Commands: []Command{{"note", "Does nothing.", "/note"}},
			}
			switch api {
			case "0.1":
				want.Features, want.MaxConcurrentRequests = nil, 64
			case "0.3":
				want.Wire, want.Features, want.Commands = "extension-canonical", nil, nil
				want.Capabilities = []string{"content_parts", "core", "request_cancellation", "tool_call"}
				want.Methods = []string{"initialize", "shutdown", "tool/call", "$/cancelRequest"}
			}
			var names []string
			for _, tool := range a.Tools {
				names = append(names, tool.Name)
			}
			if !slices.Equal(names, fixture.Tools) {
				t.Errorf("tools %q, want %q", names, fixture.Tools)
			}
			got := *a
			got.Tools = nil
			for _, list := range []*[]string{&got.Methods, &want.Methods, &got.Capabilities, &want.Capabilities} {
				slices.Sort(*list)
			}
			if len(got.Commands) == 0 {
				got.Commands = nil
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("agreement\n%+v, want\n%+v", got, want)
			}
		})
	}
}

// TestStart_failures: EXT04-FRAME-013, EXT04-INIT-018, EXT03-INIT-033, EXT03-INIT-036, EXT03-INIT-039,
// MAN-DIAG-009.
func TestStart_failures(t *testing.T) {
	for _, api := range []string{"0.3", "0.4"} {
		for _, c := range []struct {
			fault string
			kind  Kind
			words string
		}{
			{fixture.CrashAtStart, Closed, "ended with exit code 3"},
			{fixture.HangAtStart, Timeout, "did not answer initialize within 300ms"},
			{fixture.RefuseInitialize, Initialize, "refused to initialize: extension RPC error -320"},
			{fixture.WrongAPI, Initialize, "answered initialize with what cannot be accepted"},
			{fixture.NoCatalog, Initialize, "tools"},
			{fixture.RepeatedTools, Initialize, "twice"},
			{fixture.NamelessTool, Initialize, "cannot be accepted"},
			{fixture.WrongTools, Initialize, `lacks the declared tool "count"`},
			{fixture.ExtraTool, Initialize, `has the undeclared tool "surplus"; declare it in contributes`},
			{fixture.Unselectable, Initialize, "cannot be accepted"},
			{fixture.GarbageAtStart, Protocol, "extension protocol error: `demo`: "},
		} {
			t.Run(api+" "+c.fault, func(t *testing.T) {
				t.Parallel()
				options := Options{Deadlines: fast}
				switch c.kind {
				case Timeout:
					options.Deadlines.Initialize = 300 * time.Millisecond
				case Closed:
					options.After = unhurried
				}
				_, err := setup{api: api, faults: []string{c.fault}, options: options}.start(t)
				failure := wantFailure(t, err, c.kind, c.words)
				if failure.Ended == nil || failure.Ended.Alive > 0 {
					t.Errorf("process %+v, want an ended one", failure.Ended)
				}
			})
		}
	}
}

func TestStart_parametersMustBeASchemaOnTheFeatureWire(t *testing.T) {
	_, err := setup{api: "0.4", faults: []string{fixture.BadParameters}}.start(t)
	wantFailure(t, err, Initialize, `parameters do not have the type "object"`)
	x := setup{api: "0.3", faults: []string{fixture.BadParameters}}.mustStart(t)
	if len(x.Agreement().Tools) != len(fixture.Tools) {
		t.Error("the canonical wire allows any JSON there")
	}
}

func TestStart_cancelled(t *testing.T) {
	ctx, cancel := context.WithCancelCause(t.Context())
	enough := errors.New("enough")
	source := setup{api: "0.4", faults: []string{fixture.HangAtStart}}.source(t)
	_, err := Start(ctx, source, Options{Stderr: func(process.Line) { cancel(enough) }})
	wantFailure(t, err, Cancelled)
	if !errors.Is(err, enough) {
		t.Errorf("got %v, want the cause of the context", err)
	}
}

// TestStart_entrypoint: MAN-ENTRY-006, MAN-ENTRY-007, MAN-ENTRY-008.
func TestStart_entrypoint(t *testing.T) {
	bin := t.TempDir()
	script := "#!/bin/sh\nexit 5\n"
	for name, mode := range map[string]os.FileMode{"found": 0o700, "unmarked": 0o600} {
		if err := os.WriteFile(filepath.Join(bin, name), []byte(script), mode); err != nil {
			t.Fatal(err)
		}
	}
	environ := func(name string) (string, bool) {
		if name == "PATH" {
			return bin, true
		}
		return "", false
	}
	for _, c := range []struct {
		name, command string
		files         map[string]string
		kind          Kind
		words         string
	}{
		{"beside the manifest", "run", map[string]string{"run": "#!/bin/sh\nexit 6\n"}, Closed, "exit code 6"},
		{"beside wins over the path", "found", map[string]string{"found": "#!/bin/sh\nexit 6\n"}, Closed, "exit code 6"},
		{"on the path", "found", nil, Closed, "exit code 5"},
		{"relative with separators", "bin/run", map[string]string{"bin/run": "#!/bin/sh\nexit 6\n"}, Closed, "exit code 6"},
		{"absolute", filepath.Join(bin, "found"), nil, Closed, "exit code 5"},
		{"missing", "absent", nil, Launch, "extension entrypoint is missing"},
		{"missing with separators", "bin/found", nil, Launch, "extension entrypoint is missing"},
		{"missing absolute", filepath.Join(bin, "absent"), nil, Launch, "extension entrypoint is missing"},
		{"not executable on the path", "unmarked", nil, Launch, "extension entrypoint is missing"},
		{"directory", "sub", map[string]string{"sub/file": ""}, Launch, "extension entrypoint is missing"},
	} {
		t.Run(c.name, func(t *testing.T) {
			dir := filepath.Join(t.TempDir(), "demo")
			text := "name = \"demo\"\nversion = \"1.0.0\"\napi_version = \"0.4\"\n[entrypoint]\ncommand = \"" + filepath.ToSlash(c.command) + "\"\n"
			files := map[string]string{"extension.toml": text}
			for name, content := range c.files {
				files[name] = content
			}
			for name, content := range files {
				path := filepath.Join(dir, name)
				if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
					t.Fatal(err)
				}
				if err := os.WriteFile(path, []byte(content), 0o700); err != nil {
					t.Fatal(err)
				}
			}
			source, err := Load(dir)
			if err != nil {
				t.Fatal(err)
			}
			_, err = Start(t.Context(), source, Options{Environ: environ, After: unhurried})
			wantFailure(t, err, c.kind, c.words)
		})
	}
}

// TestStart_fileBesideTheManifestMustRun: MAN-DIAG-004, MAN-LAUNCH-010.
func TestStart_fileBesideTheManifestMustRun(t *testing.T) {
	dir := filepath.Join(t.TempDir(), "demo")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	for name, text := range map[string]string{
		"extension.toml": "name = \"demo\"\nversion = \"1.0.0\"\napi_version = \"0.4\"\n[entrypoint]\ncommand = \"run\"\n", "run": "#!/bin/sh\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	source, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	_, err = Start(t.Context(), source, Options{})
	wantFailure(t, err, Launch, "failed to launch extension `demo`", "permission denied")
}

func TestStart_wrongOptions(t *testing.T) {
	source := setup{api: "0.4"}.source(t)
	if _, err := Start(t.Context(), source, Options{Workspace: filepath.Join(t.TempDir(), "none")}); err == nil || !strings.Contains(err.Error(), "not a directory") {
		t.Errorf("got %v, want a refused workspace", err)
	}
	if _, err := Start(t.Context(), source, Options{Flags: []string{"x"}}); err == nil || !strings.Contains(err.Error(), "undeclared CLI flag") {
		t.Errorf("got %v, want a refused flag", err)
	}
}

// TestStart_environmentAndDirectory: EXT04-ENVIRON-001, EXT04-ENVIRON-002, EXT04-ENVIRON-003,
// EXT04-ENVIRON-004, EXT04-ENVIRON-005, EXT04-ENVIRON-006, EXT03-PROC-012, EXT03-PROC-013,
// MAN-LAUNCH-005, MAN-LAUNCH-009.
func TestStart_environmentAndDirectory(t *testing.T) {
	for _, api := range []string{"0.3", "0.4"} {
		t.Run(api, func(t *testing.T) {
			workspace, err := filepath.EvalSymlinks(t.TempDir())
			if err != nil {
				t.Fatal(err)
			}
			t.Setenv("OCTET_TEST_SECRET", "1")
			t.Setenv("SSH_AUTH_SOCK", "/agent")
			x := setup{api: api, faults: []string{"an argument", "$HOME"}, options: Options{Workspace: workspace}}.mustStart(t)
			if got := mustCall(t, x, "look", `{"at":"directory"}`); got != workspace {
				t.Errorf("started in %q, want %q", got, workspace)
			}
			if got, want := mustCall(t, x, "look", `{"at":"arguments"}`), playWord+" an argument $HOME"; got != want {
				t.Errorf("arguments %q, want %q", got, want)
			}
			environment := strings.Split(mustCall(t, x, "look", `{"at":"environment"}`), "\n")
			for _, want := range []string{
				"OCTET_EXTENSION_API_VERSION=" + api, "OCTET_EXTENSION_NAME=demo", "OCTET_WORKSPACE=" + workspace,
				"OCTET_EXTENSION_DIR=" + x.source.Folder.Dir, "OCTET_EXTENSION_MANIFEST=" + x.source.Folder.ManifestPath,
				"OCTET_EXTENSION_SCRATCH=" + x.scratch, "MODE=quiet", "PATH=" + os.Getenv("PATH"),
			} {
				if !slices.Contains(environment, want) {
					t.Errorf("the environment lacks %q", want)
				}
			}
			for _, entry := range environment {
				if strings.Contains(entry, "SECRET") || strings.Contains(entry, "SSH_AUTH_SOCK") {
					t.Errorf("the environment has %q", entry)
				}
			}
			if info, err := os.Stat(x.scratch); err != nil || !info.IsDir() {
				t.Errorf("scratch directory: %v", err)
			}
			x.Close()
			if _, err := os.Stat(x.scratch); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("scratch directory after Close: %v", err)
			}
		})
	}
}

// TestStart_initializeParams: EXT04-INIT-009, EXT04-INIT-010, EXT04-INIT-011, EXT04-INIT-012, EXT04-INIT-013,
// EXT04-INIT-014, EXT04-INIT-015, EXT04-INIT-016, EXT04-INIT-019, EXT01-INIT-003, EXT03-INIT-031,
// EXT03-INIT-037, EXT03-INIT-038, EXT03-INIT-040, EXT03-INIT-041, EXT04-NEG-028, MAN-HOST-005.
func TestStart_initializeParams(t *testing.T) {
	contributes := `commands = ["note"]
ui = ["status"]
notifications = true
presentation = true
menu = true
flags = [{ name = "watch", type = "boolean", default = false }, { name = "depth", type = "integer", default = 3 }]
shortcuts = [{ name = "s", key = "k", description = "d" }]
[capabilities]
filesystem = "workspace"
secrets = ["token"]
environment = ["SSH_AUTH_SOCK"]`
	t.Setenv("SSH_AUTH_SOCK", "/secret/agent")
	for _, api := range apis {
		t.Run(api, func(t *testing.T) {
			s := setup{api: api, top: `requires_octet = "^0.8"`, contributes: contributes, options: Options{Flags: []string{"depth=7"}}}
			if api == "0.1" {
				s.contributes = "commands = [\"note\"]\nui = [\"status\"]\nnotifications = true\n[capabilities]\nfilesystem = \"workspace\"\nsecrets = [\"token\"]"
				s.options.Flags = nil
			}
			x := s.mustStart(t)
			var got map[string]any
			if err := json.Unmarshal([]byte(mustCall(t, x, "look", `{"at":"initialize"}`)), &got); err != nil {
				t.Fatal(err)
			}
			tools := make([]any, len(fixture.Tools))
			for i, name := range fixture.Tools {
				tools[i] = name
			}
			want := map[string]any{
				"api_version": api, "octet_version": "0.8.0", "workspace": x.options.Workspace,
				"extension": map[string]any{
					"name": "demo", "version": "1.2.3", "manifest_path": x.source.Folder.ManifestPath, "source": "explicit",
				},
				"capabilities": map[string]any{"filesystem": "workspace", "process": false, "network": false, "secrets": []any{"token"}},
				"contributes": map[string]any{
					"tools": tools, "commands": []any{"note"}, "hooks": []any{}, "ui": []any{"status"}, "context": false,
					"tool_renderers": []any{}, "notifications": true, "confirmations": false, "presentation": true, "menu": true,
				},
				"flag_values": []any{map[string]any{"name": "depth", "value": 7.0}, map[string]any{"name": "watch", "value": false}},
				"host": map[string]any{
					"session_id": nil, "session_name": nil, "model": nil, "reasoning": nil, "active_skills": []any{},
				},
				"protocol": map[string]any{
					"version": api, "required_features": []any{"request_cancellation", "content_parts"},
					"optional_features": []any{"request_progress", "progress_decoration"}, "limits": map[string]any{"max_concurrent_requests": 64.0},
				},
			}
			common := want["contributes"].(map[string]any)
			switch api {
			case "0.1":
				delete(want, "protocol")
				delete(want, "flag_values")
				delete(common, "presentation")
				delete(common, "menu")
				delete(want["capabilities"].(map[string]any), "secrets")
			case "0.3":
				delete(want, "protocol")
				delete(common, "presentation")
				delete(common, "menu")
				want["contract"] = map[string]any{
					"schema": "octet.extension.api/0.3", "encoding": "octet-canonical-json-v1",
					"required_capabilities": []any{"content_parts", "core", "request_cancellation", "tool_call"}, "optional_capabilities": []any{},
					"required_methods": []any{"$/cancelRequest", "initialize", "shutdown", "tool/call"}, "optional_methods": []any{},
					"limits": map[string]any{"max_concurrent_requests": 64.0, "max_frame_bytes": 1048576.0, "max_tools": 256.0},
				}
				contract := got["contract"].(map[string]any)
				for _, list := range []string{"required_capabilities", "required_methods"} {
					slices.SortFunc(contract[list].([]any), func(a, b any) int { return strings.Compare(a.(string), b.(string)) })
				}
			}
			if !reflect.DeepEqual(got, want) {
				t.Errorf("got\n%v\nwant\n%v", got, want)
			}
		})
	}
}

// TestStart_flagValuesOnlyWhereThereAreFlags: EXT04-INIT-013, EXT03-INIT-030, which always sends the list.
func TestStart_flagValuesOnlyWhereThereAreFlags(t *testing.T) {
	for api, want := range map[string]bool{"0.2": false, "0.3": true, "0.4": false} {
		x := setup{api: api}.mustStart(t)
		if got := strings.Contains(mustCall(t, x, "look", `{"at":"initialize"}`), `"flag_values":[]`); got != want {
			t.Errorf("API %s sends an empty list: %t, want %t", api, got, want)
		}
	}
}

// TestCall_params: EXT03-TOOL-016, EXT04-CALL-008 (no session owns the call, and the catalog never
// changes), EXT01-CALL-001, EXT04-OWNER-003, EXT01-OWNER-001.
func TestCall_params(t *testing.T) {
	for _, api := range apis {
		x := setup{api: api}.mustStart(t)
		var got map[string]any
		if err := json.Unmarshal([]byte(mustCall(t, x, "look", `{"at":"params"}`)), &got); err != nil {
			t.Fatal(err)
		}
		want := map[string]any{
			"name": "look", "arguments": map[string]any{"at": "params"},
			"context": map[string]any{
				"workspace": x.options.Workspace, "execution_scope": nil,
				"host": map[string]any{"session_id": nil, "session_name": nil, "model": nil, "reasoning": nil, "active_skills": []any{}},
			},
		}
		if !reflect.DeepEqual(got, want) {
			t.Errorf("API %s: params %v, want %v", api, got, want)
		}
	}
}

// TestDeadlines_areThoseOfTheSpec: EXT04-INIT-017, EXT03-INIT-032, EXT04-LIMIT-005, EXT04-SHUT-008,
// EXT03-SHUT-009, MAN-SUPER-002. What happens when they are over is tested with shorter ones.
func TestDeadlines_areThoseOfTheSpec(t *testing.T) {
	got := Deadlines{}.filled()
	want := Deadlines{
		Initialize: 30 * time.Second, Request: 30 * time.Second, Drain: 2 * time.Second, Shutdown: 2 * time.Second, Exit: 2 * time.Second,
		Terminate: terminateGrace, Kill: killGrace,
	}
	if got != want {
		t.Errorf("deadlines %+v, want %+v", got, want)
	}
	if own := (Deadlines{Request: time.Minute}).filled(); own.Request != time.Minute {
		t.Errorf("our own request deadline became %s", own.Request)
	}
}

// TestStart_brokeredVariable: EXT04-ENVIRON-005, MAN-LAUNCH-004.
func TestStart_brokeredVariable(t *testing.T) {
	const value = "/run/agent.sock"
	t.Setenv("SSH_AUTH_SOCK", value)
	for _, api := range []string{"0.2", "0.4"} {
		var diagnosed []string
		x := setup{
			api: api, contributes: "[capabilities]\nenvironment = [\"SSH_AUTH_SOCK\"]",
			options: Options{Diagnose: func(text string) { diagnosed = append(diagnosed, text) }},
		}.mustStart(t)
		if got := mustCall(t, x, "look", `{"at":"environment"}`); !strings.Contains(got, "SSH_AUTH_SOCK="+value) {
			t.Errorf("API %s: the variable did not arrive", api)
		}
		if got := mustCall(t, x, "look", `{"at":"initialize"}`); strings.Contains(got, value) {
			t.Errorf("API %s: initialize tells the value", api)
		}
		x.Close()
		if strings.Contains(strings.Join(diagnosed, "\n"), value) {
			t.Errorf("API %s: a diagnostic tells the value: %q", api, diagnosed)
		}
	}
}

// TestClose_stages: EXT04-SHUT-007, EXT04-SHUT-008, EXT03-SHUT-009, EXT03-SHUT-010, EXT03-PROC-010,
// MAN-SUPER-009, MAN-SUPER-010.
func TestClose_stages(t *testing.T) {
	for _, api := range apis {
		for _, c := range []struct {
			faults []string
			want   Ending
		}{
			{nil, Ending{Asked: true, Answered: true}},
			{[]string{fixture.WrongFarewell}, Ending{Asked: true, Misanswered: true}},
			{[]string{fixture.ExitCode}, Ending{Asked: true, Answered: true, Process: process.Report{State: process.State{Code: 7}}}},
			{[]string{fixture.LeaveChild}, Ending{Asked: true, Answered: true, Process: process.Report{Left: 1}}},
			{[]string{fixture.IgnoreShutdown}, Ending{Asked: true, Process: process.Report{Stage: process.StageClose}}},
			{
				[]string{fixture.IgnoreShutdown, fixture.IgnoreTerminate},
				Ending{Asked: true, Process: process.Report{Stage: process.StageKill, State: process.State{Code: -1, Signal: "killed"}}},
			},
			{
				[]string{fixture.StayAfterShutdown, fixture.IgnoreTerminate},
				Ending{Asked: true, Answered: true, Process: process.Report{Stage: process.StageKill, State: process.State{Code: -1, Signal: "killed"}}},
			},
		} {
			t.Run(api+" "+strings.Join(c.faults, " "), func(t *testing.T) {
				t.Parallel()
				deadlines := patient // but for what is to run out
				if !c.want.Answered && !c.want.Misanswered {
					deadlines.Shutdown = fast.Shutdown
				}
				if c.want.Process.Stage != process.StageSelf {
					deadlines.Exit = fast.Exit
				}
				if c.want.Process.Stage == process.StageKill {
					deadlines.Terminate = fast.Terminate
				}
				x := setup{api: api, faults: c.faults, options: Options{Deadlines: deadlines}}.mustStart(t)
				mustCall(t, x, "echo", `{"text":"x"}`)
				got := x.Close()
				if c.want.Misanswered && got.Process.Stage == process.StageClose {
					got.Process.Stage = process.StageSelf // a broken answer ends the stream at once: closing races the exit
				}
				if got != c.want {
					t.Errorf("ending %+v, want %+v", got, c.want)
				}
			})
		}
	}
}

// TestClose_cancelsRunningCalls: EXT04-SHUT-009.
func TestClose_cancelsRunningCalls(t *testing.T) {
	for _, api := range apis {
		t.Run(api, func(t *testing.T) {
			t.Parallel()
			under := make(chan struct{})
			deadlines := patient
			deadlines.Drain = fast.Drain
			x := setup{api: api, options: Options{Deadlines: deadlines, Stderr: func(process.Line) { close(under) }}}.mustStart(t)
			failed := make(chan error)
			go func() {
				_, err := x.Call(context.Background(), Request{Tool: "slow"})
				failed <- err
			}()
			<-under
			ending := x.Close()
			wantFailure(t, <-failed, Cancelled, "shutdown")
			if !ending.Orderly() {
				t.Errorf("ending %+v, want an orderly one", ending)
			}
		})
	}
}

// TestClose_legacyDoesNotDrain: EXT01-SHUT-001. With a drain this would take an hour.
func TestClose_legacyDoesNotDrain(t *testing.T) {
	under := make(chan struct{})
	deadlines := patient
	deadlines.Drain = time.Hour
	x := setup{api: "0.1", options: Options{Deadlines: deadlines, Stderr: func(process.Line) { close(under) }}}.mustStart(t)
	failed := make(chan error)
	go func() {
		_, err := x.Call(context.Background(), Request{Tool: "slow"})
		failed <- err
	}()
	<-under
	if ending := x.Close(); !ending.Orderly() {
		t.Errorf("ending %+v, want an orderly one", ending)
	}
	wantFailure(t, <-failed, Cancelled)
}

// TestStart_capabilitiesAreLeftOutWhenEmpty: MAN-CAP-009.
func TestStart_capabilitiesAreLeftOutWhenEmpty(t *testing.T) {
	for _, api := range apis {
		x := setup{api: api, contributes: "[capabilities]\nsecrets = []\nenvironment = []"}.mustStart(t)
		var got struct {
			Capabilities map[string]any `json:"capabilities"`
		}
		if err := json.Unmarshal([]byte(mustCall(t, x, "look", `{"at":"initialize"}`)), &got); err != nil {
			t.Fatal(err)
		}
		if want := map[string]any{"filesystem": "none", "process": false, "network": false}; !reflect.DeepEqual(got.Capabilities, want) {
			t.Errorf("API %s: capabilities %v, want %v", api, got.Capabilities, want)
		}
	}
}

// TestClose_leavesNothing starts and ends extensions in every way and looks for goroutines and files.
func TestClose_leavesNothing(t *testing.T) {
	run := func() {
		scratch := t.TempDir()
		for _, api := range apis {
			for _, tool := range []string{"echo", "crash", "flood"} {
				x, err := Start(t.Context(), setup{api: api}.source(t), Options{ScratchRoot: scratch, Deadlines: fast})
				if err != nil {
					t.Fatal(err)
				}
				_, _ = callTool(t, x, tool, `{"text":"x"}`)
				_, _ = callTool(t, x, tool, `{}`)
				x.Close()
			}
			_, err := Start(t.Context(), setup{api: api, faults: []string{fixture.NoCatalog}}.source(t), Options{ScratchRoot: scratch, Deadlines: fast})
			wantFailure(t, err, Initialize)
		}
		if left, err := os.ReadDir(scratch); err != nil || len(left) > 0 {
			t.Errorf("scratch directories left: %v, %v", left, err)
		}
	}
	run() // whatever is made once is made now
	goroutines, files := goruntime.NumGoroutine(), openFiles(t)
	run()
	// What is over for us may have a last step to take.
	for limit := time.Now().Add(time.Minute); goruntime.NumGoroutine() > goroutines; goruntime.Gosched() {
		if time.Now().After(limit) {
			stacks := make([]byte, 1<<16)
			t.Fatalf("%d goroutines before, %d after:\n%s", goroutines, goruntime.NumGoroutine(), stacks[:goruntime.Stack(stacks, true)])
		}
	}
	if now := openFiles(t); now > files {
		t.Errorf("%d files open before, %d after", files, now)
	}
}

// openFiles counts our open files where the system shows them.
func openFiles(t *testing.T) int {
	t.Helper()
	list, err := os.ReadDir("/proc/self/fd")
	if errors.Is(err, fs.ErrNotExist) {
		return 0
	}
	if err != nil {
		t.Fatal(err)
	}
	return len(list)
}

func TestKill_endsEverything(t *testing.T) {
	under := make(chan struct{})
	x := setup{
		api: "0.4", faults: []string{fixture.IgnoreCancel, fixture.IgnoreTerminate, fixture.LeaveChild},
		options: Options{Stderr: func(line process.Line) {
			if strings.HasPrefix(line.Text, "slow") {
				close(under)
			}
		}},
	}.mustStart(t)
	failed := make(chan error)
	go func() {
		_, err := x.Call(context.Background(), Request{Tool: "slow"})
		failed <- err
	}()
	<-under
	x.Kill()
	wantFailure(t, <-failed, Closed, "killed")
	if ending := x.Close(); ending.Process.Alive > 0 || ending.Asked {
		t.Errorf("ending %+v", ending)
	}
}

// TestEscapedChild holds the pipes in a session of its own when the extension crashes.
func TestEscapedChild(t *testing.T) {
	x := setup{api: "0.4", faults: []string{fixture.EscapeChild}}.mustStart(t)
	_, err := callTool(t, x, "crash", "{}")
	failure := wantFailure(t, err, Closed, "exit code 3")
	if failure.Ended.Left != 1 || failure.Ended.Alive != 0 {
		t.Errorf("ended %+v, want one left behind and none alive", failure.Ended)
	}
}
