package extension

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/runtime/negotiation"
)

// declared writes and loads a manifest that declares the tools a and b and, where the API has some, the
// command note.
func declared(t *testing.T, api string) *Source {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "demo")
	if err := os.Mkdir(dir, 0o700); err != nil {
		t.Fatal(err)
	}
	text := "name = \"demo\"\nversion = \"1.2.3\"\napi_version = \"" + api + "\"\n[entrypoint]\ncommand = \"run\"\n[contributes]\ntools = [\"a\", \"b\"]\n"
	if api != "0.3" {
		text += "commands = [\"note\"]\n"
	}
	if err := os.WriteFile(filepath.Join(dir, "extension.toml"), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	source, err := Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return source
}

// judge does with an answer to initialize what Start does, short of a process.
func judge(t *testing.T, api, answer string) error {
	t.Helper()
	w, err := newWire(identity{source: declared(t, api), workspace: "/w"})
	if err != nil {
		t.Fatal(err)
	}
	x := &Extension{wire: w, events: newEvents(nil)}
	defer x.events.close()
	if x.agreement, _, err = w.accept([]byte(answer)); err == nil {
		err = x.compile(t.Context())
	}
	return err
}

const (
	toolA       = `{"name":"a","description":"Does a.","parameters":{"type":"object","properties":{}}}`
	toolB       = `{"name":"b","description":"Does b.","parameters":{"type":"object"}}`
	oneCommand  = `"commands":[{"name":"note","description":"Notes."}]`
	oneProtocol = `,"protocol":{"version":"@","features":["request_cancellation","content_parts"],"limits":{"max_concurrent_requests":4}}`
)

// many are tool or command definitions with different names.
func many(n int, definition string) string {
	all := make([]string, n)
	for i := range all {
		all[i] = strings.Replace(definition, "#", fmt.Sprint("n", i), 1)
	}
	return strings.Join(all, ",")
}

func TestAccept_feature(t *testing.T) {
	all, features := []string{"0.1", "0.2", "0.4"}, []string{"0.2", "0.4"}
	for _, c := range []struct {
		binds    string
		versions []string
		old, new string // what is changed in a good answer
		words    string // of the refusal; empty: it is accepted
	}{
		{"EXT04-NEG-011", all, `"api_version":"@"`, `"api_version":"@"`, ""},
		{"EXT04-NEG-011", []string{"0.1", "0.4"}, `"api_version":"@"`, `"api_version":"0.2"`, "0.2"},
		{"EXT04-NEG-011", []string{"0.1", "0.2"}, `"api_version":"@"`, `"api_version":"0.4"`, "0.4"},
		{"EXT04-NEG-011", all, `"api_version":"@"`, `"api_version":"@.0"`, "api_version"},
		{"EXT04-NEG-011", all, `"api_version":"@",`, ``, "api_version"},
		{"EXT04-NEG-011", all, `"api_version":"@"`, `"api_version":@`, "api_version"},
		{"EXT04-NEG-012", features, oneProtocol, ``, "protocol"},
		{"EXT04-NEG-012", features, oneProtocol, `,"protocol":null`, "protocol"},
		{"EXT04-NEG-012", []string{"0.4"}, `"version":"@"`, `"version":"0.2"`, "EXT04-NEG-001"},
		{"EXT04-NEG-012", []string{"0.2"}, `"version":"@"`, `"version":"0.4"`, "EXT04-NEG-001"},
		{"EXT04-NEG-012", features, `"version":"@",`, ``, "version"},
		{"EXT01-NEG-001", []string{"0.1"}, oneCommand, oneCommand + oneProtocol, "protocol"},
		{"EXT01-NEG-001", []string{"0.1"}, oneCommand, oneCommand + `,"protocol":{}`, "protocol"},
		{"EXT01-NEG-001", []string{"0.1"}, oneCommand, oneCommand + `,"protocol":null`, "protocol"},
		{"EXT04-NEG-019", all, toolA + `,` + toolB, toolB + `,` + toolA, ""},
		{"EXT04-NEG-019", all, toolA + `,`, ``, `lacks the declared tool "a"`},
		{"EXT04-NEG-019", all, toolA, toolA + `,` + strings.Replace(toolA, `"a"`, `"c"`, 1), `undeclared tool "c"`},
		{"EXT04-NEG-019", all, `"name":"a"`, `"name":"A"`, `"a"`},
		{"EXT04-NEG-019", all, toolA, toolA + `,` + toolA, "/tools/1"},
		{"EXT04-NEG-019", all, toolA + `,` + toolB, many(257, strings.Replace(toolA, `"a"`, `"#"`, 1)), "256"},
		{"EXT04-NEG-019", all, oneCommand, `"commands":[]`, `lacks the declared command "note"`},
		{"EXT04-NEG-019", all, `{"name":"note"`, `{"name":"memo","description":"Memo."},{"name":"note"`, `undeclared command "memo"`},
		{"EXT04-NEG-019", all, `{"name":"note"`, `{"name":"note","description":"Twice."},{"name":"note"`, "/commands/1"},
		{"EXT04-NEG-019", all, oneCommand, `"commands":[` + many(257, `{"name":"#","description":"x"}`) + `]`, "256"},
		{"EXT04-TOOL-007", all, `"Does a."`, `""`, "/tools/0/description"},
		{"EXT04-TOOL-007", all, `"description":"Does a.",`, ``, "/tools/0/description"},
		{"EXT04-TOOL-007", all, `,"parameters":{"type":"object","properties":{}}`, ``, "/tools/0/parameters"},
		{"EXT04-TOOL-007", all, `{"type":"object","properties":{}}`, `null`, "/tools/0/parameters"},
		{"EXT04-TOOL-007", all, `{"type":"object","properties":{}}`, `[]`, `parameters`},
		{"EXT04-TOOL-007", all, `{"type":"object","properties":{}}`, `true`, `parameters`},
		{"EXT04-TOOL-007", all, `{"type":"object","properties":{}}`, `{"properties":{}}`, `parameters`},
		{"EXT04-TOOL-007", all, `{"type":"object","properties":{}}`, `{"type":"string"}`, `parameters`},
		{"EXT04-TOOL-007", all, `{"type":"object","properties":{}}`, `{"type":["object"]}`, `parameters`},
		{"EXT04-TOOL-007", all, `{"type":"object","properties":{}}`, `{"type":"object","properties":7}`, `parameters`},
		{"EXT04-TOOL-007", features, `"properties":{}}`, `"properties":{}},"output_schema":{"type":"object","required":["n"]}`, ""},
		{"EXT04-TOOL-007", features, `"properties":{}}`, `"properties":{}},"output_schema":null`, ""},
		{"EXT04-TOOL-007", features, `"properties":{}}`, `"properties":{}},"output_schema":[]`, "output_schema"},
		{"EXT04-TOOL-007", features, `"properties":{}}`, `"properties":{}},"output_schema":{"$ref":"#"}`, `"$ref"`},
		{"EXT04-TOOL-007", features, `"properties":{}}`, `"properties":{}},"output_schema":{"type":"object","properties":{"n":7}}`, `tool "a"`},
		{"EXT04-TOOL-007", features, `"properties":{}}`, `"properties":{}},"output_schema":{"type":"objekt"}`, `tool "a"`},
		{"EXT01-TOOL-002", []string{"0.1"}, `"properties":{}}`, `"properties":{}},"output_schema":{"type":"object"}`, "output_schema"},
	} {
		for _, api := range c.versions {
			answer := `{"api_version":"@","tools":[` + toolA + `,` + toolB + `],` + oneCommand
			if api != "0.1" {
				answer += oneProtocol
			}
			answer += `}`
			if !strings.Contains(answer, c.old) {
				t.Fatalf("a good answer of API %s lacks %s", api, c.old)
			}
			answer = strings.ReplaceAll(strings.Replace(answer, c.old, c.new, 1), "@", api)
			t.Run(fmt.Sprintf("%s %s %.60s", c.binds, api, c.new), func(t *testing.T) {
				err := judge(t, api, answer)
				if c.words == "" && err != nil || c.words != "" && (err == nil || !strings.Contains(err.Error(), c.words)) {
					t.Errorf("%.300s: %v, want a refusal with %q", answer, err, c.words)
				}
			})
		}
	}
}

// TestAccept_commandsAtTheLimit: EXT04-NEG-019, MAN-SUPER-001. As many commands as may be are accepted where
// the manifest declares them all; one more is refused, declared or not.
func TestAccept_commandsAtTheLimit(t *testing.T) {
	for _, api := range []string{"0.1", "0.2", "0.4"} {
		for n, words := range map[int]string{256: "", 257: "at most max_commands (256)"} {
			t.Run(fmt.Sprintf("%s with %d", api, n), func(t *testing.T) {
				source := declared(t, api)
				source.Manifest.Contributes.Commands = nil
				for i := range n {
					source.Manifest.Contributes.Commands = append(source.Manifest.Contributes.Commands, fmt.Sprint("n", i))
				}
				answer := `{"api_version":"@","tools":[` + toolA + `,` + toolB + `],"commands":[` + many(n, `{"name":"#","description":"x"}`) + `]`
				if api != "0.1" {
					answer += oneProtocol
				}
				w, err := newWire(identity{source: source, workspace: "/w"})
				if err != nil {
					t.Fatal(err)
				}
				agreement, _, err := w.accept([]byte(strings.ReplaceAll(answer, "@", api) + "}"))
				switch {
				case words != "" && (err == nil || !strings.Contains(err.Error(), words) || !strings.Contains(err.Error(), "/commands")):
					t.Errorf("%v, want a refusal of /commands with %q", err, words)
				case words == "" && err != nil:
					t.Error(err)
				case words == "" && len(agreement.Commands) != n:
					t.Errorf("%d commands are agreed on, want %d", len(agreement.Commands), n)
				}
			})
		}
	}
}

func TestAccept_canonicalToolsOverTheSelectedLimit(t *testing.T) {
	const good = `{"api_version":"0.3","contract":{"capabilities":["content_parts","core","request_cancellation","tool_call"],"encoding":"octet-canonical-json-v1",` +
		`"limits":{"max_concurrent_requests":4,"max_frame_bytes":65536,"max_tools":2},"methods":["$/cancelRequest","initialize","shutdown","tool/call"],` +
		`"schema":"octet.extension.api/0.3"},"tools":[` + toolA + `,` + toolB + `]}`
	if err := judge(t, "0.3", good); err != nil {
		t.Fatalf("as many tools as selected: %v", err)
	}
	t.Run("EXT03-INIT-035", func(t *testing.T) {
		err := judge(t, "0.3", strings.Replace(good, `"max_tools":2`, `"max_tools":1`, 1))
		var m *negotiation.Mismatch
		if !errors.As(err, &m) || m.Code.Name != "resource_exhausted" || m.Rule != "EXT03-INIT-004" {
			t.Errorf("one tool more than selected: %v", err)
		}
	})
	t.Run("EXT03-INIT-035 over the maximum", func(t *testing.T) {
		all := `{"name":"c","description":"","parameters":7}` + strings.Repeat(`,{"name":"c","description":"","parameters":7}`, 256)
		err := judge(t, "0.3", strings.Replace(strings.Replace(good, toolA+`,`+toolB, all, 1), `"max_tools":2`, `"max_tools":256`, 1))
		var v *wirejson.Violation
		if !errors.As(err, &v) || v.ErrorName != "resource_exhausted" {
			t.Errorf("257 tools: %v", err)
		}
	})
}
