package command

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"

	"github.com/octet-dev/octet/gen/diff"
)

// edited returns a copy of the repository of a golden case, changed by edits of its spec files: file, old
// text, new text.
func edited(t *testing.T, edits ...[3]string) string {
	t.Helper()
	root := repository(t)
	for _, e := range edits {
		file := filepath.Join(root, "spec", e[0])
		data, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(data), e[1]) {
			t.Fatalf("%s does not hold %s", e[0], e[1])
		}
		if err := os.WriteFile(file, []byte(strings.Replace(string(data), e[1], e[2], 1)), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

var (
	narrower = [3]string{"dock/models.json", `"name": {"type": "string"`, `"name": {"type": "string", "x-max-bytes": 4`}
	prose    = [3]string{"dock/features.json", `"offered": "`, `"offered": "not `}
	wider    = [3]string{"dock/errors.json", `"errors": [`, `"errors": [{"name": "fog", "code": -7, "message": "fog", "fixed": false, "description": "Fog.", "x-source": "test"},`}
)

func TestDiff_endsWithTheVerdict(t *testing.T) {
	old := repository(t)
	for _, c := range []struct {
		name  string
		new   string
		flags []string
		want  int
	}{
		{"same", old, nil, exitOK},
		{"compatible", edited(t, wider), nil, exitOK},
		{"compatible inside a released version", edited(t, wider), []string{"--frozen"}, exitFound},
		{"unknown", edited(t, prose), nil, exitUnknown},
		{"breaking", edited(t, narrower), nil, exitFound},
		{"breaking beside unknown", edited(t, narrower, prose), nil, exitFound},
		{"breaking for the other role", edited(t, narrower), []string{"--role", "extension"}, exitOK},
		{"breaking for this role", edited(t, narrower), []string{"--role", "host"}, exitFound},
		{"breaking in the other direction", edited(t, narrower), []string{"--direction", "write"}, exitOK},
		{"breaking on this wire", edited(t, narrower), []string{"--wire", "dock-wire"}, exitFound},
		{"only the spec folder", filepath.Join(old, "spec"), nil, exitOK},
	} {
		code, stdout, stderr := run(append([]string{"diff", old, c.new}, c.flags...)...)
		if code != c.want || stderr != "" {
			t.Errorf("%s: exit %d, want %d\n%s%s", c.name, code, c.want, stdout, stderr)
		}
	}
}

func TestDiff_refusesWrongCommandLines(t *testing.T) {
	root := repository(t)
	empty := t.TempDir()
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"diff"}, `octet-gen: diff needs two specs; write octet-gen diff OLD NEW; see octet-gen --help`},
		{[]string{"diff", root}, `octet-gen: diff needs two specs; write octet-gen diff OLD NEW; see octet-gen --help`},
		{[]string{"diff", root, root, root}, `octet-gen: unexpected argument "` + root + `"; options start with --; see octet-gen --help`},
		{[]string{"diff", root, root, "--role", "guest"}, `octet-gen: --role is "guest"; use extension or host or client or server; see octet-gen --help`},
		{[]string{"diff", root, root, "--direction", "up"}, `octet-gen: --direction is "up"; use read or write; see octet-gen --help`},
		{[]string{"diff", root, root, "--format", "xml"}, `octet-gen: --format is "xml"; use text or json; see octet-gen --help`},
		{[]string{"diff", root, root, "--wire", "none"}, `octet-gen: unknown wire "none"; want one of dock-wire; see octet-gen --help`},
		{[]string{"diff", root, root, "--root", root}, `octet-gen: --root belongs to generate and list; see octet-gen --help`},
		{[]string{"list", "--frozen"}, `octet-gen: --frozen belongs to diff; see octet-gen --help`},
		{[]string{"diff", root, empty}, `octet-gen: ` + empty + `: holds neither wires.json nor spec/wires.json; name a folder that does, or write "embedded"`},
	} {
		code, stdout, stderr := run(c.args...)
		if code != exitUsage || stdout != "" || stderr != c.want+"\n" {
			t.Errorf("%v: exit %d, stdout %q\ngot  %swant %s", c.args, code, stdout, stderr, c.want)
		}
	}
}

func TestDiff_saysWhichSpecIsBroken(t *testing.T) {
	old, broken := repository(t), edited(t, [3]string{"dock/models.json", `"required": ["ship"]`, `"required": ["boat"]`})
	code, stdout, stderr := run("diff", old, broken)
	want := "octet-gen: " + broken + `: spec/dock/models.json: /$defs/LandParams/required/0: LandParams requires "boat", which is no property; add the property or drop the name` + "\n"
	if code != exitUsage || stdout != "" || stderr != want {
		t.Errorf("exit %d, stdout %q\ngot  %swant %s", code, stdout, stderr, want)
	}
}

// A released spec may hold rules that the loader of today refuses.
func TestDiff_looksAtWiresAlone(t *testing.T) {
	old := edited(t, [3]string{"rules/dock.json", `"rules": [`, `"rules": [{},`})
	if code, _, stderr := run("list", "--root", old); code != exitFound || stderr == "" {
		t.Fatalf("the rules are not broken: exit %d", code)
	}
	if code, stdout, stderr := run("diff", old, repository(t)); code != exitOK || stderr != "" {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
}

func TestDiff_knowsItsOwnSpec(t *testing.T) {
	code, stdout, stderr := run("diff", "embedded", "../..")
	if code != exitOK || stdout != "no difference on the wire\n" || stderr != "" {
		t.Errorf("exit %d: %s%s", code, stdout, stderr)
	}
}

func TestDiff_printsTheDocumentedJSON(t *testing.T) {
	schema, err := jsonschema.NewCompiler().Compile("../diff/diff.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	old, new := repository(t), edited(t, narrower, prose, wider)
	code, stdout, stderr := run("diff", old, new, "--format", "json")
	if code != exitFound || stderr != "" {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	instance, err := jsonschema.UnmarshalJSON(strings.NewReader(stdout))
	if err != nil {
		t.Fatal(err)
	}
	if err := schema.Validate(instance); err != nil {
		t.Error(err)
	}
	var got jsonReport
	if err := json.Unmarshal([]byte(stdout), &got); err != nil {
		t.Fatal(err)
	}
	seen := map[diff.Verdict]int{}
	for _, c := range got.Changes {
		seen[c.Verdict]++
	}
	if got.Verdict != diff.Breaking || got.Old != old || got.New != new || len(seen) != 3 {
		t.Errorf("verdict %s, %v", got.Verdict, seen)
	}
	_, stdout, _ = run("diff", old, old, "--format", "json")
	if instance, err := jsonschema.UnmarshalJSON(strings.NewReader(stdout)); err != nil || schema.Validate(instance) != nil {
		t.Errorf("no change: %v\n%s", err, stdout)
	}
}

func TestReport_shortensLongWitnesses(t *testing.T) {
	for text, want := range map[string]string{
		`{"x":"` + strings.Repeat("a", 5000) + `é"}`:                        `{"x":"aa...(5000 times)é"}`,
		`{"x":[` + strings.Repeat(`{"id":"é"},`, 30) + `{"id":"é"}]}`:       `{"x":[{"id":"é"},{"id":"é"},...(30 times){"id":"é"}]}`,
		`{"x":"aaaaaaaaaaaaaaaaaaa"}`:                                       `{"x":"aaaaaaaaaaaaaaaaaaa"}`,
		`{"x":"` + strings.Repeat("a", 30) + strings.Repeat("b", 30) + `"}`: `{"x":"aa...(30 times)bb...(30 times)"}`,
	} {
		if got := abridged(text); got != want {
			t.Errorf("got  %s\nwant %s", got, want)
		}
	}
	var long strings.Builder
	for i := range 400 {
		long.WriteString("é" + strconv.Itoa(i*7919))
	}
	if got := abridged(long.String()); len(got) > 430 || !strings.HasSuffix(got, " bytes)") || strings.Contains(got, "\uFFFD") {
		t.Error(got)
	}
}

func TestReport_coloursOnATerminalOnly(t *testing.T) {
	r := report{changes: []diff.Change{{Wire: "w", Subject: "S", Reason: "changed", Verdict: diff.Unknown, Role: diff.Host, Direction: diff.Read, Note: "prose"}}}
	var plain, painted strings.Builder
	r.text(&plain, paintFor(&plain))
	r.text(&painted, colours)
	if strings.Contains(plain.String(), "\x1b") || !strings.Contains(painted.String(), "\x1b[33munknown") {
		t.Errorf("plain %q\npainted %q", plain.String(), painted.String())
	}
}
