package nativehost_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/octet-dev/octet/host/nativehost"
)

// MAN-NATIVE-008
func TestServe_helloModelsShutdown(t *testing.T) {
	p := newPlace(t)
	p.variables["OPENAI_API_KEY"] = "sk-secret-value"
	list := p.talk(`{"protocol_version":1,"request_id":"a","command":"hello"}
{"request_id":"b.1:x_-","command":"models","offline":true,"protocol_version":1}
{"protocol_version":1,"request_id":"c","command":"shutdown"}
{"protocol_version":1,"request_id":"d","command":"hello"}
`)
	if got := types(list); got != "hello models shutdown" {
		t.Fatalf("events are %s; nothing follows a shutdown", got)
	}
	var hello struct {
		SDKVersion        string `json:"sdk_version"`
		ProtocolVersion   int    `json:"protocol_version"`
		MaxFrameBytes     int    `json:"max_frame_bytes"`
		MaxConcurrentRuns int    `json:"max_concurrent_runs"`
		Commands          []string
		Features          map[string]bool
	}
	list[0].decode(t, &hello)
	if hello.SDKVersion != "0.8.0" || hello.ProtocolVersion != 1 || hello.MaxFrameBytes != 1048576 || hello.MaxConcurrentRuns != 1 || len(hello.Commands) != 4 {
		t.Errorf("hello is %+v", hello)
	}
	for feature, want := range map[string]bool{
		"streaming": true, "persistent_sessions": true, "seed_history": true, "typed_media_input": true, "typed_image_input": true, "typed_audio_input": true,
		"prompt_display_text": true, "inline_models": true, "tools": true, "skills": false, "extensions": true, "process_group_abort": true, "in_band_abort": false,
	} {
		if got, ok := hello.Features[feature]; !ok || got != want {
			t.Errorf("feature %s is %v (%v), want %v", feature, got, ok, want)
		}
	}
	var models struct {
		Models []struct {
			Provider, Model          string
			Input                    []string `json:"input_modalities"`
			Vision, Audio, Available bool
		}
		Default string
	}
	list[1].decode(t, &models)
	seen := map[string]bool{}
	for _, m := range models.Models {
		seen[m.Provider] = m.Available
		if !m.Vision || m.Audio || len(m.Input) != 2 {
			t.Errorf("model is %+v", m)
		}
	}
	if !seen["openai"] || seen["anthropic"] || models.Default != "openai:gpt-5" {
		t.Errorf("available are %v, default %q", seen, models.Default)
	}
	if bytes.Contains(list[1].Data, []byte("sk-secret")) {
		t.Error("the catalog tells a key")
	}
}

// MAN-NATIVE-005, MAN-NATIVE-006
func TestServe_refusesBadInputAndReadsOn(t *testing.T) {
	hello := `{"protocol_version":1,"request_id":"ok","command":"hello"}` + "\n"
	pad := func(bytes int) string { // a hello of exactly so many bytes with its line feed
		return strings.Replace(hello, "{", "{"+strings.Repeat(" ", bytes-len(hello)), 1)
	}
	for _, c := range []struct{ name, line, code, id string }{
		{"blank", "\n", "invalid_json", ""},
		{"no JSON", "hello\n", "invalid_json", ""},
		{"no object", "[1]\n", "invalid_json", ""},
		{"two values", "{} {}\n", "invalid_json", ""},
		{"member twice", `{"protocol_version":1,"request_id":"x","request_id":"y","command":"hello"}` + "\n", "invalid_json", ""},
		{"not UTF-8", "{\"a\":\"\xff\"}\n", "invalid_encoding", ""},
		{"one byte too long", pad(nativehost.MaxFrameBytes + 1), "frame_too_large", ""},
		{"much too long", strings.Repeat("x", 3*nativehost.MaxFrameBytes) + "\n", "frame_too_large", ""},
		{"no version", `{"request_id":"x","command":"hello"}` + "\n", "unsupported_version", "x"},
		{"version 2", `{"protocol_version":2,"request_id":"x","command":"hello"}` + "\n", "unsupported_version", "x"},
		{"version as text", `{"protocol_version":"1","request_id":"x","command":"hello"}` + "\n", "unsupported_version", "x"},
		{"no id", `{"protocol_version":1,"command":"hello"}` + "\n", "invalid_request", ""},
		{"id with a blank", `{"protocol_version":1,"request_id":"a b","command":"hello"}` + "\n", "invalid_request", ""},
		{"id too long", `{"protocol_version":1,"request_id":"` + strings.Repeat("a", 129) + `","command":"hello"}` + "\n", "invalid_request", ""},
		{"no command", `{"protocol_version":1,"request_id":"x"}` + "\n", "invalid_request", "x"},
		{"unknown command", `{"protocol_version":1,"request_id":"x","command":"helo"}` + "\n", "unknown_command", "x"},
		{"abort", `{"protocol_version":1,"request_id":"x","command":"abort"}` + "\n", "unknown_command", "x"},
		{"unknown member", `{"protocol_version":1,"request_id":"x","command":"hello","offline":true}` + "\n", "invalid_request", "x"},
		{"member of another case", `{"protocol_version":1,"request_id":"x","command":"models","Offline":true}` + "\n", "invalid_request", "x"},
		{"wrong type", `{"protocol_version":1,"request_id":"x","command":"models","offline":"yes"}` + "\n", "invalid_request", "x"},
	} {
		t.Run(c.name, func(t *testing.T) {
			list := newPlace(t).talk(c.line + hello)
			if got := types(list); got != "protocol_error hello" {
				t.Fatalf("events are %s", got)
			}
			code, message := list[0].fault(t)
			id := ""
			if list[0].RequestID != nil {
				id = *list[0].RequestID
			}
			if code != c.code || id != c.id || message == "" || len(message) > 2100 {
				t.Errorf("error is %s of %q: %q, want %s of %q", code, id, message, c.code, c.id)
			}
		})
	}
	if got := types(newPlace(t).talk(pad(nativehost.MaxFrameBytes))); got != "hello" {
		t.Errorf("a line of exactly the bound gives %s", got)
	}
	id := strings.Repeat("a", 128)
	if got := types(newPlace(t).talk(`{"protocol_version":1,"request_id":"` + id + `","command":"hello"}` + "\n")); got != "hello" {
		t.Errorf("an id of exactly the bound gives %s", got)
	}
}

// MAN-NATIVE-007
func TestServe_endOfFile(t *testing.T) {
	if list := newPlace(t).talk(""); len(list) > 0 {
		t.Errorf("an empty input gives %s", types(list))
	}
	list := newPlace(t).talk(`{"protocol_version":1,"request_id":"x","command":"shutdown"}` + "\n")
	if got := types(list); got != "shutdown" {
		t.Errorf("events are %s", got)
	}
	list = newPlace(t).talk(`{"protocol_version":1,"request_id":"x","command":"hel`)
	if code, _ := list[0].fault(t); len(list) != 1 || code != "invalid_json" {
		t.Errorf("half a line gives %s", types(list))
	}
}

// broken is an output that nobody reads.
type broken struct{}

func (broken) Write([]byte) (int, error) { return 0, io.ErrClosedPipe }

func TestServe_endsWhereNobodyReads(t *testing.T) {
	host := nativehost.New(nativehost.Options{In: strings.NewReader(`{"protocol_version":1,"request_id":"x","command":"hello"}` + "\n"), Out: broken{}})
	if err := host.Serve(context.Background()); !errors.Is(err, io.ErrClosedPipe) {
		t.Errorf("the host ends with %v", err)
	}
}

func TestServe_endsWithItsContext(t *testing.T) {
	reader, writer := io.Pipe()
	defer func() { _ = writer.Close() }()
	ctx, cancel := context.WithCancelCause(context.Background())
	why := errors.New("enough")
	cancel(why)
	if err := nativehost.New(nativehost.Options{In: reader, Out: io.Discard}).Serve(ctx); !errors.Is(err, why) {
		t.Errorf("the host ends with %v", err)
	}
}

// MAN-NATIVE-010
func TestRun_bounds(t *testing.T) {
	item := func(kind string) string {
		return fmt.Sprintf(`{"type":%q,"media_type":"%s/x","data":"eA=="}`, kind, kind)
	}
	repeat := func(text string, n int) string { return strings.TrimSuffix(strings.Repeat(text+",", n), ",") }
	for _, c := range []struct {
		name, fits, breaks, words string
	}{
		{"prompt_display_text", `"prompt_display_text":"` + strings.Repeat("x", 256<<10) + `"`, `"prompt_display_text":"` + strings.Repeat("x", 256<<10+1) + `"`, "262144"},
		{"system_prompt", `"system_prompt":"` + strings.Repeat("x", 512<<10) + `"`, `"system_prompt":"` + strings.Repeat("x", 512<<10+1) + `"`, "524288"},
		{"history", `"history":[` + repeat(`{"role":"user","content":"x"}`, 256) + `]`, `"history":[` + repeat(`{"role":"user","content":"x"}`, 257) + `]`, "256"},
		{"images", `"media":[` + repeat(item("image"), 8) + `]`, `"media":[` + repeat(item("image"), 9) + `]`, "8 and 4"},
		{"audio", `"media":[` + repeat(item("audio"), 4) + `]`, `"media":[` + repeat(item("audio"), 5) + `]`, "8 and 4"},
		{"media", `"media":[` + repeat(item("image"), 8) + "," + repeat(item("audio"), 4) + `]`, `"media":[` + repeat(item("image"), 8) + "," + repeat(item("audio"), 5) + `]`, "12"},
		{"max_turns", `"max_turns":1`, `"max_turns":0`, "at least 1"},
		{"session_id", `"session_id":"` + strings.Repeat("a", 128) + `"`, `"session_id":"` + strings.Repeat("a", 129) + `"`, "128"},
	} {
		t.Run(c.name, func(t *testing.T) {
			p := newPlace(t)
			p.write("demo.yaml", "script: 1\nsteps: [{text: hi, repeat: always}]")
			if f := result(t, p.talk(p.request("demo.yaml", c.fits))); f.Status != "completed" {
				t.Errorf("at the bound: %+v", f)
			}
			list := p.talk(p.request("demo.yaml", c.breaks))
			if types(list) != "protocol_error" {
				t.Fatalf("over the bound: %s", types(list))
			}
			if code, message := list[0].fault(t); code != "invalid_request" || !strings.Contains(message, c.words) {
				t.Errorf("over the bound: %s %q", code, message)
			}
		})
	}
	p := newPlace(t)
	p.write("demo.yaml", "script: 1\nsteps: [{text: hi, repeat: always}]")
	for bytes, want := range map[int]string{512 << 10: "final_result", 512<<10 + 1: "protocol_error"} {
		list := p.talk(strings.Replace(p.request("demo.yaml"), `"prompt":"hello"`, `"prompt":"`+strings.Repeat("x", bytes)+`"`, 1))
		if last := list[len(list)-1].Type; last != want {
			t.Errorf("a prompt of %d bytes gives %s", bytes, last)
		}
	}
}

func TestRun_refuses(t *testing.T) {
	p := newPlace(t)
	p.write("demo.yaml", "script: 1\ninput: [text]\nreasoning: [low]\nsteps: [{text: hi}]")
	p.write("note.txt", "no image")
	for members, want := range map[string]string{
		`"resume_session":true`:                     "resume_session needs session_id",
		`"resume_session":true,"session_id":"none"`: `there is no session "none"`,
		`"resume_session":true,"session_id":"a","history":[{"role":"user","content":"x"}]`:      "history goes with a new session",
		`"history":[{"role":"tool","content":"x"}]`:                                             `history[0].role is "tool"`,
		`"history":[{"role":"user","content":"x","name":"y"}]`:                                  "/history/0/name is unknown here",
		`"media":[{"type":"video","media_type":"video/x","data":"eA=="}]`:                       `media[0].type is "video"`,
		`"media":[{"type":"image","media_type":"audio/x","data":"eA=="}]`:                       "no media type of an image",
		`"media":[{"type":"image","media_type":"image/png","data":""}]`:                         "media[0].data is empty",
		`"media":[{"type":"image","media_type":"image/png","data":"eA=="}]`:                     "does not take",
		`"media":[{"type":"image","media_type":"image/png","data":"eA=="}],"image_paths":["a"]`: "exclude each other",
		`"image_paths":["../a"]`:                                   "takes no images",
		`"context_files":["../../etc/passwd"]`:                     "is not inside the workspace",
		`"context_files":["none"]`:                                 `"none" cannot be read`,
		`"working_dir":"/"`:                                        "is not inside the workspace",
		`"working_dir":"note.txt"`:                                 "is no directory of the workspace",
		`"reasoning":"high"`:                                       "the model has low",
		`"tools":["fly"]`:                                          `tools holds "fly"`,
		`"tools":"all"`:                                            "tools is true, false or a list",
		`"session_dir":"a\u001bb"`:                                 `session_dir: "a\x1bb" has a control character`,
		`"skill_paths":["x"]`:                                      "no skills",
		`"effect_policy":"unsafe_host"`:                            "/effect_policy is unknown here",
		`"base_url":"https://h"`:                                   "an inline route needs base_url and provider_mode",
		`"base_url":"ftp://h","provider_mode":"openai-compatible"`: "is no base URL",
		`"base_url":"https://h","provider_mode":"telepathy"`:       `provider_mode is "telepathy"`,
		`"base_url":"https://h","provider_mode":"openai-compatible","custom_headers":{"a b":"c"}`: "is no header",
		`"base_url":"https://h","provider_mode":"openai-compatible","offline":true`:               "needs the network",
	} {
		list := p.talk(p.request("demo.yaml", members))
		if types(list) != "protocol_error" {
			t.Errorf("%s: events are %s", members, types(list))
			continue
		}
		if _, message := list[0].fault(t); !strings.Contains(message, want) {
			t.Errorf("%s: error is %q, want %q", members, message, want)
		}
	}
	list := p.talk(p.request("none.yaml"))
	if code, message := list[0].fault(t); code != "model_unavailable" || !strings.Contains(message, "none.yaml") {
		t.Errorf("a missing script: %s %q", code, message)
	}
	list = p.talk(strings.Replace(p.request("demo.yaml"), `"workspace":"`, `"workspace":"relative`, 1))
	if _, message := list[0].fault(t); !strings.Contains(message, "must be an absolute path") {
		t.Errorf("a relative workspace: %q", message)
	}
}

func FuzzServe(f *testing.F) {
	f.Add([]byte(`{"protocol_version":1,"request_id":"a","command":"hello"}` + "\n"))
	f.Add([]byte(`{"protocol_version":1,"request_id":"a","command":"models"}` + "\nx\n{\n"))
	f.Add([]byte(`{"protocol_version":1,"request_id":"a","command":"run","run_id":"r","workspace":"relative","model":"m","prompt":"p","tools":[1],"media":[{"data":"%"}]}`))
	f.Add([]byte("\r\n\x00\n" + `{"protocol_version":1.0,"request_id":"a"}`))
	f.Fuzz(func(t *testing.T, input []byte) {
		if bytes.Contains(input, []byte(`"run"`)) && bytes.Contains(input, []byte(`/`)) {
			return // such a run could name any directory of this machine
		}
		p := newPlace(t)
		var out bytes.Buffer
		if err := p.host(bytes.NewBuffer(input), &out).Serve(context.Background()); err != nil {
			t.Fatalf("the host ends with %v", err)
		}
		list := events(t, out.Bytes())
		for _, e := range list {
			if e.Type == "shutdown" {
				return
			}
		}
		lines := bytes.Count(input, []byte("\n"))
		if len(input) > 0 && input[len(input)-1] != '\n' {
			lines++
		}
		if len(list) != lines {
			t.Errorf("%d answers to %d lines", len(list), lines)
		}
	})
}
