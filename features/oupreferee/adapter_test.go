package oupreferee_test

import (
	"bytes"
	"flag"
	"os"
	"strings"
	"testing"

	"github.com/octet-dev/octet/features/oupreferee"
)

var update = flag.Bool("update", false, "rewrite the published schema")

func TestParseAdapter_bad(t *testing.T) {
	const sound = "stdio = [\"s\"]\n[ask]\ntext = \"Hello.\"\n"
	if a, err := oupreferee.ParseAdapter("a.toml", []byte(sound)); err != nil || a.Ask.Text != "Hello." {
		t.Fatal(a, err)
	}
	for _, c := range []struct{ old, new, want string }{
		{"stdio =", "studio =", "a.toml: unknown key"},
		{`["s"]`, `"s"`, "a.toml: "},
		{"[ask]", "work_secret = [\"s\", \"issue\"]\n[ask]", "a.toml: the command work_secret does not say where {session} goes"},
		{"[ask]", "[[file]]\npath = \"/etc/x\"\ntext = \"\"\n[ask]", `a.toml: the path of a file is "/etc/x"; begin it with {data}/ or {workspace}/`},
		{"[ask]", "[[file]]\npath = \"{data}/../x\"\ntext = \"\"\n[ask]", `a.toml: the path of a file is "{data}/../x"; `},
	} {
		_, err := oupreferee.ParseAdapter("a.toml", []byte(strings.Replace(sound, c.old, c.new, 1)))
		if err == nil || !strings.HasPrefix(err.Error(), c.want) {
			t.Errorf("with %q in place of %q: got %v, want %s...", c.new, c.old, err, c.want)
		}
	}
}

// Every adapter that is known is sound, and starts a server over both transports.
func TestReadyAdapters(t *testing.T) {
	for _, name := range oupreferee.ReadyAdapters() {
		if a, err := oupreferee.LoadAdapter(name); err != nil || a.Stdio == nil || a.WebSocket == nil || a.WorkSecret == nil || a.Ask.Text == "" {
			t.Errorf("%s: %v", name, err)
		}
	}
}

func TestAdapterSchema_isCurrent(t *testing.T) {
	want, err := oupreferee.AdapterSchema()
	if err != nil {
		t.Fatal(err)
	}
	if *update {
		if err := os.WriteFile(oupreferee.AdapterSchemaFile, want, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	got, err := os.ReadFile(oupreferee.AdapterSchemaFile)
	if err != nil || !bytes.Equal(got, want) {
		t.Errorf("%s is not what the types say (%v); run 'go test ./features/oupreferee -update'", oupreferee.AdapterSchemaFile, err)
	}
}
