package flags

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"testing"

	"github.com/spf13/pflag"

	"github.com/octet-dev/octet/generated/manifestdoc"
	"github.com/octet-dev/octet/runtime/manifest"
)

// extension makes a manifest with flags, given as TOML tables.
func extension(t *testing.T, name string, flags ...string) *manifest.Manifest {
	t.Helper()
	verdict := manifest.Judge(fmt.Appendf(nil, "name = %q\nversion = \"1.0.0\"\napi_version = \"0.4\"\n[entrypoint]\ncommand = \"run\"\n[contributes]\nflags = [%s]\n",
		name, strings.Join(flags, ", ")), manifest.Context{})
	if !verdict.OK() {
		t.Fatal(verdict.Problems)
	}
	return verdict.Manifest
}

const (
	watch = `{ name = "watch", type = "boolean", default = false, description = "Look again" }`
	label = `{ name = "label", type = "string", default = "" }`
	depth = `{ name = "depth", type = "integer", default = 3 }`
)

// parse registers the flags of demo beside options of the parser's own and parses a command line.
func parse(t *testing.T, args []string, flags ...string) (*Set, []string, error) {
	t.Helper()
	s, err := Register([]*manifest.Manifest{extension(t, "demo", flags...)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	parser := pflag.NewFlagSet("octet", pflag.ContinueOnError)
	parser.SetOutput(io.Discard)
	parser.String("workspace", "", "")
	parser.StringP("prompt", "p", "", "")
	parser.BoolP("verbose", "v", false, "")
	s.AddTo(parser)
	if err := s.Check(parser, args); err != nil {
		return s, nil, err
	}
	if err := parser.Parse(args); err != nil {
		return s, nil, err
	}
	return s, parser.Args(), s.Validate()
}

func values(t *testing.T, s *Set) string {
	t.Helper()
	list, err := s.Values("demo")
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, v := range list {
		got = append(got, fmt.Sprintf("%s=%s", v.Name, v.Value))
	}
	return strings.Join(got, " ")
}

// MAN-FLAG-012, MAN-FLAG-013: values, and their list ascending by name with defaults in it.
func TestSet_values(t *testing.T) {
	for _, c := range []struct {
		args string
		want string
	}{
		{"", `depth=3 label="" watch=false`},
		{"--watch --depth=-1", `depth=-1 label="" watch=true`},
		{"--no-watch", `depth=3 label="" watch=false`},
		{"--depth -7 --label text", `depth=-7 label="text" watch=false`},
		{"--label=-x", `depth=3 label="-x" watch=false`},
		{"--label= --depth 9007199254740991", `depth=9007199254740991 label="" watch=false`},
		{"--label - --depth=-9007199254740991", `depth=-9007199254740991 label="-" watch=false`},
		{"--label a=b --workspace --watch", `depth=3 label="a=b" watch=false`},
		{"--prompt -x -v --watch", `depth=3 label="" watch=true`},
		{"-vp --label --watch", `depth=3 label="" watch=true`},
		{"-p--label --watch", `depth=3 label="" watch=true`},
		{"--watch -- --label -x", `depth=3 label="" watch=true`},
	} {
		s, _, err := parse(t, strings.Fields(c.args), watch, label, depth)
		if err != nil {
			t.Errorf("%s: %v", c.args, err)
			continue
		}
		if got := values(t, s); got != c.want {
			t.Errorf("%s: %s, want %s", c.args, got, c.want)
		}
	}
}

// MAN-FLAG-012, MAN-FLAG-013, and the bounds on what is supplied.
func TestSet_refusals(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{[]string{"--watch=true"}, `extension CLI flag --watch of "demo" takes no value, got "true"`},
		{[]string{"--no-watch=false"}, `extension CLI flag --no-watch of "demo" takes no value`},
		{[]string{"--watch", "--no-watch"}, "extension CLI flag --watch is given twice"},
		{[]string{"--watch", "--watch"}, "given twice"},
		{[]string{"--label", "a", "--label=b"}, "extension CLI flag --label is given twice"},
		{[]string{"--label", "-x"}, `--label of "demo" got "-x", which starts with a hyphen; write --label=-x`},
		{[]string{"--label", "--watch"}, `got "--watch", which starts with a hyphen`},
		{[]string{"-vp", "x", "--label", "-y"}, `got "-y"`},
		{[]string{"--label"}, "flag needs an argument: --label"},
		{[]string{"--depth"}, "flag needs an argument: --depth"},
		{[]string{"--depth", "--watch"}, `extension CLI flag --depth requires an integer, got "--watch"`},
		{[]string{"--depth=1.0"}, "requires an integer"},
		{[]string{"--depth=0x10"}, "requires an integer"},
		{[]string{"--depth="}, "requires an integer"},
		{[]string{"--depth=9007199254740992"}, "exceeds the portable JSON range"},
		{[]string{"--depth", "-9007199254740992"}, "exceeds the portable JSON range"},
		{[]string{"--depth=99999999999999999999"}, "exceeds the portable JSON range"},
		{[]string{"--label=" + strings.Repeat("x", manifestdoc.MaxFlagStringBytes+1)}, "exceeds 4096 bytes"},
		{[]string{"--no-label"}, "unknown flag: --no-label"},
		{[]string{"--other"}, "unknown flag: --other"},
	} {
		if _, _, err := parse(t, c.args, watch, label, depth); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%.60q: %v, want %q", c.args, err, c.want)
		}
	}
	if _, _, err := parse(t, []string{"--label=" + strings.Repeat("x", manifestdoc.MaxFlagStringBytes)}, label); err != nil {
		t.Errorf("a string at the limit: %v", err)
	}
}

// Words that are no options go past the flags.
func TestSet_leavesWords(t *testing.T) {
	_, rest, err := parse(t, []string{"one", "--watch", "two", "--", "--label"}, watch, label)
	if err != nil || !slices.Equal(rest, []string{"one", "two", "--label"}) {
		t.Errorf("left %q, %v", rest, err)
	}
}

// MAN-FLAG-020, MAN-FLAG-021, MAN-FLAG-026.
func TestRegister_collisions(t *testing.T) {
	flag := func(name, kind string) string {
		standard := map[string]string{"boolean": "false", "string": `""`, "integer": "0"}[kind]
		return fmt.Sprintf(`{ name = %q, type = %q, default = %s }`, name, kind, standard)
	}
	for _, c := range []struct {
		name     string
		reserved []string
		a, b     []string
		want     []CollisionError
	}{
		{"none", []string{"workspace"}, []string{flag("one", "boolean")}, []string{flag("two", "boolean")}, nil},
		{"help", nil, []string{flag("help", "string")}, nil, []CollisionError{{"help", "a", ""}}},
		{"version", nil, nil, []string{flag("version", "integer")}, []CollisionError{{"version", "b", ""}}},
		{"built in", []string{"workspace"}, []string{flag("workspace", "string")}, nil, []CollisionError{{"workspace", "a", ""}}},
		{"inverse is built in", []string{"no-shell"}, []string{flag("shell", "boolean")}, nil, []CollisionError{{"no-shell", "a", ""}}},
		{"a string has no inverse", []string{"no-shell"}, []string{flag("shell", "string")}, nil, nil},
		{"two extensions", nil, []string{flag("x", "string")}, []string{flag("x", "integer")}, []CollisionError{{"x", "b", "a"}}},
		{"flag and inverse of another", nil, []string{flag("x", "boolean")}, []string{flag("no-x", "string")}, []CollisionError{{"no-x", "b", "a"}}},
		{"inverse and flag of another", nil, []string{flag("no-x", "string")}, []string{flag("x", "boolean")}, []CollisionError{{"no-x", "b", "a"}}},
		{"one extension", nil, []string{flag("x", "boolean"), flag("no-x", "integer")}, nil, []CollisionError{{"no-x", "a", "a"}}},
		{"several", nil, []string{flag("help", "string"), flag("x", "string")}, []string{flag("x", "string")}, []CollisionError{{"help", "a", ""}, {"x", "b", "a"}}},
	} {
		s, err := Register([]*manifest.Manifest{extension(t, "b", c.b...), extension(t, "a", c.a...)}, c.reserved)
		if (s == nil) != (len(c.want) > 0) {
			t.Errorf("%s: registered %v", c.name, s != nil)
		}
		var got []CollisionError
		if joined, several := err.(interface{ Unwrap() []error }); several {
			for _, each := range joined.Unwrap() {
				var collision *CollisionError
				if errors.As(each, &collision) {
					got = append(got, *collision)
				}
			}
		}
		if !slices.Equal(got, c.want) {
			t.Errorf("%s: %+v, want %+v", c.name, got, c.want)
		}
	}
}

func TestCollisionError_words(t *testing.T) {
	for other, want := range map[string]string{
		"":  `extension CLI flag --x from "a" conflicts with an option of octet; rename`,
		"a": `conflicts with another flag of the same extension; rename one`,
		"b": `conflicts with a flag of extension "b"; enable one`,
	} {
		err := &CollisionError{Spelling: "x", Extension: "a", Other: other}
		if !strings.Contains(err.Error(), want) {
			t.Errorf("%q, want %q", err, want)
		}
	}
}

// MAN-FLAG-022, MAN-FLAG-024.
func TestSet_help(t *testing.T) {
	s, err := Register([]*manifest.Manifest{extension(t, "zoo", depth), extension(t, "ant", label, watch)}, nil)
	if err != nil {
		t.Fatal(err)
	}
	want := []Line{
		{"ant", "--label STRING", `Set label of extension ant (default "")`},
		{"ant", "--watch", "Look again (default false)"},
		{"ant", "--no-watch", "Turn watch of extension ant off"},
		{"zoo", "--depth INTEGER", "Set depth of extension zoo (default 3)"},
	}
	if got := s.Help(); !slices.Equal(got, want) {
		t.Errorf("help %+v, want %+v", got, want)
	}
}

// MAN-FLAG-017.
func TestSet_valuesOfOthers(t *testing.T) {
	s, _, err := parse(t, nil, watch)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := s.Values("other"); err == nil || !strings.Contains(err.Error(), `"other"`) {
		t.Errorf("an extension that takes no part has flags: %v", err)
	}
}
