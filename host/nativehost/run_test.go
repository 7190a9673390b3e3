package nativehost_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/octet-dev/octet/host/agent"
	"github.com/octet-dev/octet/host/session"
)

// MAN-NATIVE-011
func TestRun_tellsFromAcceptedToOneFinalResult(t *testing.T) {
	p := newPlace(t)
	p.write("a.txt", "content of a\n")
	p.write("demo.yaml", `
script: 1
steps:
  - {reasoning: hm, text: I look., chunk: 3, calls: [{name: read, arguments: {path: a.txt}}], usage: {input: 5, output: 2}}
  - {when: {result_contains: content of a}, text: It says content.}
`)
	list := p.talk(p.request("demo.yaml", `"session_id":"my.session"`))
	want := "accepted started provider_lifecycle model_delta"
	if got := types(list); !strings.HasPrefix(got, want) || !strings.HasSuffix(got, "settled final_result") || !strings.Contains(got, "tool_start tool_finish") || strings.Count(got, "model_step") != 2 {
		t.Errorf("events are %s", got)
	}
	text := ""
	for _, e := range list {
		if e.RunID != "run-1" || e.SessionID != "my.session" {
			t.Errorf("event %s is of run %q and session %q", e.Type, e.RunID, e.SessionID)
		}
		if e.Type == "model_delta" {
			var d struct{ Kind, Text string }
			if e.decode(t, &d); d.Kind == "text" {
				text += d.Text
			}
		}
	}
	f := result(t, list)
	if f.Status != "completed" || f.Output != "It says content." || f.Error != nil || f.ToolCalls != 1 || f.Steps != 2 || len(f.FilesChanged) != 0 {
		t.Errorf("result is %+v", f)
	}
	if text != "I look."+f.Output {
		t.Errorf("deltas add up to %q", text)
	}
	if f.SessionFile != filepath.Join(p.workspace, ".octet", "sessions", "sessions.db") {
		t.Errorf("the session file is %s", f.SessionFile)
	}
	if _, err := os.Stat(f.SessionFile); err != nil {
		t.Error(err)
	}
	var final map[string]json.RawMessage
	list[len(list)-1].decode(t, &final)
	for _, member := range []string{"status", "output", "error", "filesChanged", "toolCalls", "steps", "sessionFile"} {
		if _, ok := final[member]; !ok {
			t.Errorf("the result has no %s", member)
		}
	}
}

// MAN-NATIVE-012
func TestRun_isControlled(t *testing.T) {
	const script = `
script: 1
steps:
  - {calls: [{name: shell, arguments: {command: "touch made"}}]}
  - {text: done}
`
	p := newPlace(t)
	p.variables["OCTET_EFFECT_POLICY"] = "unsafe_host"
	p.write("demo.yaml", script)
	list := p.talk(p.request("demo.yaml", `"allow_file_mutation":true`))
	if got := types(list); !strings.Contains(got, "tool_policy tool_finish") || strings.Contains(got, "tool_start") {
		t.Errorf("events are %s, want a denial", got)
	}
	for _, e := range list {
		var d struct{ Decision, Status, Policy string }
		if e.decode(t, &d); e.Type == "tool_policy" && d.Decision != "deny" || e.Type == "tool_finish" && d.Status != "denied" || e.Type == "started" && d.Policy != "controlled" {
			t.Errorf("%s is %s", e.Type, e.Data)
		}
	}
	if _, err := os.Stat(filepath.Join(p.workspace, "made")); err == nil {
		t.Error("the command ran")
	}
	if f := result(t, list); f.Status != "completed" {
		t.Errorf("result is %+v", f)
	}
}

func TestRun_changesFilesOnlyWithLeave(t *testing.T) {
	const script = `
script: 1
steps:
  - {when: {offers: write}, calls: [{name: write, arguments: {path: made.txt, content: x}}, {name: write, arguments: {path: ../outside.txt, content: x}}]}
  - {when: {result_of: write}, text: done}
  - {text: I may not.}
`
	p := newPlace(t)
	p.write("demo.yaml", script)
	if f := result(t, p.talk(p.request("demo.yaml"))); f.Output != "I may not." || len(f.FilesChanged) != 0 {
		t.Errorf("without leave: %+v", f)
	}
	f := result(t, p.talk(p.request("demo.yaml", `"allow_file_mutation":true,"allow_external_paths":false`)))
	if f.Output != "done" || len(f.FilesChanged) != 1 || f.FilesChanged[0] != "made.txt" || f.ToolCalls != 2 {
		t.Errorf("with leave: %+v", f)
	}
	if _, err := os.Stat(filepath.Join(filepath.Dir(p.workspace), "outside.txt")); err == nil {
		t.Error("a file outside the workspace was written")
	}
	if f := result(t, p.talk(p.request("demo.yaml", `"allow_file_mutation":true,"tools":["read"]`))); f.Output != "I may not." {
		t.Errorf("with a list of tools: %+v", f)
	}
	if f := result(t, p.talk(p.request("demo.yaml", `"allow_file_mutation":true,"tools":false`))); f.Output != "I may not." {
		t.Errorf("without tools: %+v", f)
	}
}

func TestRun_keepsAndResumesSessions(t *testing.T) {
	p := newPlace(t)
	p.write("first.yaml", "script: 1\nsteps: [{when: {user_contains: hello}, text: first answer}]")
	p.write("second.yaml", "script: 1\nsteps: [{text: second answer}]")
	f := result(t, p.talk(p.request("first.yaml", `"session_id":"s-1","prompt_display_text":"(hi)","history":[{"role":"user","content":"before"},{"role":"assistant","content":"then"},{"role":"system","content":"note"}],"session_dir":"kept"`)))
	if f.Status != "completed" || f.SessionFile != filepath.Join(p.workspace, "kept", "sessions.db") {
		t.Fatalf("result is %+v", f)
	}
	list := p.talk(p.request("first.yaml", `"session_id":"s-1","session_dir":"kept"`))
	if code, message := list[0].fault(t); code != "session_unavailable" || !strings.Contains(message, "set resume_session") {
		t.Errorf("beginning it again: %s %q", code, message)
	}
	again := result(t, p.talk(p.request("second.yaml", `"session_id":"s-1","resume_session":true,"session_dir":"kept"`)))
	if again.Session != f.Session || again.Output != "second answer" {
		t.Errorf("resumed is %+v, want session %s", again, f.Session)
	}
	store, err := session.Open(t.Context(), f.SessionFile)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	branch, err := store.Branch(t.Context(), f.Session)
	if err != nil {
		t.Fatal(err)
	}
	var said []string
	for _, entry := range branch {
		switch v := entry.Value.(type) {
		case session.Message:
			said = append(said, string(v.Message.Role)+":"+v.Message.PlainText()+v.Display)
		case session.Injected:
			said = append(said, "injected:"+v.Message.PlainText())
		}
	}
	if got := strings.Join(said, "|"); got != "user:before|assistant:then|injected:note|user:hello(hi)|assistant:first answer|user:hello|assistant:second answer" {
		t.Errorf("the session holds %s", got)
	}
	if f := result(t, p.talk(p.request("second.yaml", `"session_id":"`+f.Session+`","resume_session":true,"session_dir":"kept"`))); f.Session != again.Session {
		t.Errorf("by its id: %+v", f)
	}
}

func TestRun_blockedAndFailed(t *testing.T) {
	p := newPlace(t)
	p.write("loop.yaml", "script: 1\nsteps: [{calls: [{name: list}], repeat: always}]")
	if f := result(t, p.talk(p.request("loop.yaml", `"max_turns":2`))); f.Status != "blocked" || f.Error == nil || f.Error.Code != agent.CodeTurns || f.Steps != 2 {
		t.Errorf("over the turns: %+v", f)
	}
	p.write("broken.yaml", "script: 1\nsteps: [{error: {status: 400, message: it is broken}}]")
	if f := result(t, p.talk(p.request("broken.yaml"))); f.Status != "error" || f.Error == nil || !strings.Contains(f.Error.Message, "it is broken") {
		t.Errorf("a broken model: %+v", f)
	}
	p.write("retry.yaml", "script: 1\nsteps: [{error: {status: 500, retry_after: 1ms}}, {text: half, error: {phase: interrupted_inference}}, {text: fine}]")
	list := p.talk(p.request("retry.yaml"))
	if got := types(list); !strings.Contains(got, "provider_retry") || !strings.Contains(got, "candidate_rejected") {
		t.Errorf("events are %s", got)
	}
	if f := result(t, list); f.Status != "completed" || f.Output != "fine" {
		t.Errorf("result is %+v", f)
	}
}

// MAN-NATIVE-006: an event that is too large becomes the terminal protocol_error.
func TestRun_replacesOversizedOutput(t *testing.T) {
	p := newPlace(t)
	p.write("large.yaml", "script: 1\nsteps: [{text: '"+strings.Repeat("x", 600<<10)+"', chunk: 100000, repeat: always, stop: end}]")
	list := p.talk(p.request("large.yaml"))
	if f := result(t, list); len(f.Output) != 600<<10 {
		t.Errorf("an answer that fits has %d bytes", len(f.Output))
	}
	// The event of the whole message has it once more, escaped: over the bound with what is around it.
	p.write("control.json", `{"script":1,"steps":[{"text":"`+strings.Repeat(`\u0001`, (1<<20-64)/6)+`"}]}`)
	list = p.talk(p.request("control.json") + `{"protocol_version":1,"request_id":"next","command":"hello"}` + "\n")
	last := list[len(list)-2]
	if last.Type != "protocol_error" || list[len(list)-1].Type != "hello" {
		t.Fatalf("events are %s", types(list))
	}
	if code, _ := last.fault(t); code != "output_too_large" {
		t.Errorf("the code is %s", code)
	}
	for _, e := range list[:len(list)-2] {
		if e.Type == "final_result" {
			t.Error("a final result beside the error")
		}
	}
}

// MAN-NATIVE-001, MAN-NATIVE-009: an enabled and trusted extension is told about and not started.
func TestRun_discoversExtensionsAndStartsNone(t *testing.T) {
	p := newPlace(t)
	marker := filepath.Join(p.workspace, "started")
	p.write("ext/alpha/extension.toml", "name = \"alpha\"\nversion = \"1.0.0\"\napi_version = \"0.4\"\n[entrypoint]\ncommand = \"/bin/sh\"\nargs = [\"-c\", \"touch "+marker+"\"]\n[capabilities]\nfilesystem = \"none\"\nprocess = false\nnetwork = false\n[contributes]\ntools = [\"fly\"]\n")
	p.write("ext/broken/extension.toml", "name = 1\n")
	p.write("demo.yaml", "script: 1\nsteps: [{when: {offers: fly}, text: flown}, {text: walked}]")
	list := p.talk(p.request("demo.yaml", `"extension_paths":[`+quote(filepath.Join(p.workspace, "ext"))+`],"enabled_extensions":["alpha"],"trusted_extensions":["alpha"]`))
	if f := result(t, list); f.Output != "walked" {
		t.Errorf("result is %+v", f)
	}
	if _, err := os.Stat(marker); err == nil {
		t.Error("the extension was started")
	}
	var started struct {
		Extensions []struct {
			Name             string
			Enabled, Running bool
			Trusted          bool
			Reason           string
		}
		Diagnostics []string
	}
	list[1].decode(t, &started)
	if len(started.Extensions) != 1 || started.Extensions[0].Name != "alpha" || !started.Extensions[0].Enabled || started.Extensions[0].Running || started.Extensions[0].Reason == "" {
		t.Errorf("extensions are %+v", started.Extensions)
	}
	if !started.Extensions[0].Trusted {
		t.Error("the grant of the request is not told")
	}
	// Full access would trust it by itself; the policy is another one, whatever the configuration says.
	p.variables["OCTET_EFFECT_POLICY"] = "unsafe_host"
	again := p.talk(p.request("demo.yaml", `"extension_paths":[`+quote(filepath.Join(p.workspace, "ext"))+`],"enabled_extensions":["alpha"]`))
	var untrusted struct {
		Extensions []struct{ Enabled, Trusted bool }
	}
	again[1].decode(t, &untrusted)
	if len(untrusted.Extensions) != 1 || !untrusted.Extensions[0].Enabled || untrusted.Extensions[0].Trusted {
		t.Errorf("without a grant extensions are %+v", untrusted.Extensions)
	}
	if len(started.Diagnostics) == 0 || len(p.told) == 0 || !strings.Contains(strings.Join(started.Diagnostics, "\n"), "broken") {
		t.Errorf("diagnostics are %q, told %q", started.Diagnostics, p.told)
	}
}

func quote(text string) string {
	quoted, _ := json.Marshal(text)
	return string(quoted)
}

// MAN-NATIVE-013: ending the context, as a signal does, ends the run with all it owes.
func TestServe_abortsARun(t *testing.T) {
	p := newPlace(t)
	p.write("slow.yaml", "script: 1\nsteps: [{text: beginning, chunk: 5, pause: 1h}]")
	ctx, cancel := context.WithCancelCause(t.Context())
	reader, writer := io.Pipe()
	defer func() { _ = writer.Close() }()
	var out bytes.Buffer
	watched := &watch{Buffer: &out, word: `"model_delta"`, f: func() { cancel(agent.ErrShutdown) }}
	host := p.hostOn(reader, watched)
	done := make(chan error, 1)
	go func() { done <- host.Serve(ctx) }()
	if _, err := io.WriteString(writer, p.request("slow.yaml")); err != nil {
		t.Fatal(err)
	}
	if err := <-done; err == nil {
		t.Error("the host ends as if nothing had happened")
	}
	list := events(t, out.Bytes())
	if f := result(t, list); f.Status != "error" || f.Error == nil {
		t.Errorf("result is %+v", f)
	}
}

// watch calls f once a word is written.
type watch struct {
	*bytes.Buffer
	word string
	f    func()
}

func (w *watch) Write(b []byte) (int, error) {
	if bytes.Contains(b, []byte(w.word)) {
		w.f()
	}
	return w.Buffer.Write(b)
}

func TestRun_inlineRoute(t *testing.T) {
	const key = "sk-inline-secret"
	var authorization, team string
	var sent map[string]any
	server := newServer(t, func(w http.ResponseWriter, r *http.Request) {
		authorization, team = r.Header.Get("Authorization"), r.Header.Get("X-Team")
		_ = json.NewDecoder(r.Body).Decode(&sent)
		if sent["model"] == "bad" {
			w.WriteHeader(http.StatusUnauthorized)
			_, _ = io.WriteString(w, `{"error":{"message":"wrong key `+key+`"}}`)
			return
		}
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = io.WriteString(w, `data: {"choices":[{"index":0,"delta":{"content":"from afar"},"finish_reason":"stop"}]}`+"\n\ndata: [DONE]\n\n")
	})
	p := newPlace(t)
	p.variables["OPENAI_API_KEY"] = "sk-of-the-environment"
	route := `"base_url":"` + server + `","provider_mode":"openai-compatible","api_key":"` + key + `","custom_headers":{"X-Team":"red"},"provider":"mine","context_window_tokens":1000,"max_output_tokens":77,"input_modalities":["text"],"supports_reasoning":true,"reasoning":"low","offline":true`
	list := p.talk(strings.Replace(p.request("x", route), "scripted:x", "good", 1))
	if f := result(t, list); f.Status != "completed" || f.Output != "from afar" {
		t.Errorf("result is %+v", f)
	}
	if authorization != "Bearer "+key || team != "red" || sent["reasoning_effort"] != "low" {
		t.Errorf("sent are %q, %q, %v", authorization, team, sent)
	}
	list = p.talk(strings.Replace(p.request("x", route), "scripted:x", "bad", 1))
	if f := result(t, list); f.Status != "error" || strings.Contains(f.Error.Message, key) || !strings.Contains(f.Error.Message, "401") {
		t.Errorf("result is %+v", f)
	}
	for _, e := range list {
		if bytes.Contains(e.Data, []byte(key)) {
			t.Errorf("the key is told: %s", e.Data)
		}
	}
}

func TestRun_showsMediaAndFiles(t *testing.T) {
	p := newPlace(t)
	p.write("demo.yaml", `
script: 1
steps:
  - {when: {user_contains: hello, system_contains: "the rules are"}, text: seen}
`)
	p.write("rules.md", "the rules are simple")
	p.write("shot.png", "\x89PNG\r\n\x1a\nxxxx")
	f := result(t, p.talk(p.request("demo.yaml", `"context_files":["rules.md"],"image_paths":["shot.png"],"working_dir":"."`)))
	if f.Output != "seen" {
		t.Errorf("result is %+v", f)
	}
	store, err := session.Open(t.Context(), f.SessionFile)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = store.Close() }()
	branch, err := store.Branch(t.Context(), f.Session)
	if err != nil {
		t.Fatal(err)
	}
	first := branch[0].Value.(session.Message).Message
	if len(first.Parts) != 2 || first.Parts[1].MediaType != "image/png" {
		t.Errorf("the prompt is %+v", first.Parts)
	}
	list := p.talk(p.request("demo.yaml", `"image_paths":["rules.md"]`))
	if _, message := list[0].fault(t); !strings.Contains(message, "is no image") {
		t.Errorf("a text as an image: %q", message)
	}
	if err := os.Symlink("/etc/hosts", filepath.Join(p.workspace, "link")); err == nil {
		list = p.talk(p.request("demo.yaml", `"context_files":["link"]`))
		if list[0].Type != "protocol_error" {
			t.Error("a link that leads out of the workspace is followed")
		}
	}
}
