package hostreferee_test

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/octet-dev/octet/features/hostreferee"
)

func TestParseAdapter_bad(t *testing.T) {
	const sound = "call = [\"h\", \"{extension}\", \"{tool}\"]\n[talk]\ncommand = [\"h\", \"{extensions}\", \"{model}\"]\nprompt = \"{text}\"\n"
	if _, err := hostreferee.ParseAdapter("a.toml", []byte(sound)); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ old, new, want string }{
		{"call =", "calls =", `a.toml:1: unknown key "calls"; known are call, `},
		{"call = [", "call = ", "a.toml:1: "},
		{`"{tool}"`, `"tool"`, "a.toml:1: call: the command does not say where {tool} goes"},
		{`["h", "{extension}", "{tool}"]`, `[]`, "a.toml:1: call: the key is missing or empty; name the program"},
		{`["h", "{extensions}", "{model}"]`, `[]`, "a.toml:3: command: the key is missing or empty; name the program"},
		{"{extensions}", "here", "a.toml:3: command: the command does not say where {extensions} goes"},
		{"{model}", "there", "a.toml:3: command: nothing says where {model} goes; put it into command, env or the text of a file"},
		{"{text}", "say", `a.toml:4: prompt: it is "say"; write the line with {text} where that goes`},
		{"prompt =", "reload = \"a\\nb\"\nprompt =", `a.toml:4: reload: it is "a\nb"; it must be one line`},
		{"prompt =", "write = [\"w\", \"{\"]\nprompt =", `a.toml:4: write: it is ["w" "{"]; give the name of a tool and its arguments, a JSON object`},
		{"prompt =", "command_line = \"/x\"\nprompt =", `a.toml:4: command_line: it is "/x"; write the line with {command} where that goes`},
		{"prompt = \"{text}\"\n", "prompt = \"{text}\"\n[[talk.file]]\npath = \"{home}/../x\"\n", `a.toml:6: path: file 1 is "{home}/../x"; it must lie below {home}/ or {workspace}/`},
		{"prompt = \"{text}\"\n", "prompt = 7\n", "a.toml:4: "},
	} {
		_, err := hostreferee.ParseAdapter("a.toml", []byte(strings.Replace(sound, c.old, c.new, 1)))
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("with %q in place of %q: got %v, want %s...", c.new, c.old, err, c.want)
		}
	}
}

func TestLoadAdapter_tooLarge(t *testing.T) {
	path := filepath.Join(t.TempDir(), "a.toml")
	if err := os.WriteFile(path, bytes.Repeat([]byte("# more\n"), 20000), 0o600); err != nil {
		t.Fatal(err)
	}
	if _, err := hostreferee.LoadAdapter(path); err == nil || !strings.Contains(err.Error(), "has more than 65536 bytes") {
		t.Error(err)
	}
}

// Every adapter that is known is sound.
func TestReadyAdapter(t *testing.T) {
	for _, name := range hostreferee.ReadyAdapters() {
		if a, err := hostreferee.ReadyAdapter(name); err != nil || a.Talk == nil {
			t.Errorf("%s: %v", name, err)
		}
	}
	if _, err := hostreferee.ReadyAdapter("nobody"); err == nil || err.Error() != `there is no adapter "nobody"; there are: octet` {
		t.Error(err)
	}
}

var update = flag.Bool("update", false, "write the published schema")

// The published schema is what the types say.
func TestAdapterSchema_isPublished(t *testing.T) {
	want, err := hostreferee.AdapterSchema()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(hostreferee.AdapterSchemaFile, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(hostreferee.AdapterSchemaFile)
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Equal(got, want) {
		t.Errorf("%s is not what the types say; run 'go test ./features/hostreferee -run Schema -update'", hostreferee.AdapterSchemaFile)
	}
}

// The guide shows the adapter as it is.
func TestReadyAdapter_isInTheGuide(t *testing.T) {
	guide, err := os.ReadFile(filepath.Join("..", "..", "docs", "guide", "hosts.md"))
	if err != nil {
		t.Fatal(err)
	}
	adapter, err := os.ReadFile(filepath.Join("adapters", "octet.toml"))
	if err != nil {
		t.Fatal(err)
	}
	if !bytes.Contains(guide, append([]byte("```toml\n"), adapter...)) {
		t.Error("docs/guide/hosts.md shows another adapter of octet than adapters/octet.toml")
	}
}
