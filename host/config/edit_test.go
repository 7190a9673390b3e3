package config

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestChange_apply(t *testing.T) {
	for _, c := range []struct {
		name, text string
		present    bool
		want       string
	}{
		{"an empty file", "", true, "enabled_extensions = [\"new\"]\n"},
		{"a file without line end", "strict_config = true", true, "strict_config = true\nenabled_extensions = [\"new\"]\n"},
		{"a file of comments", "# mine\n", true, "# mine\nenabled_extensions = [\"new\"]\n"},
		{
			"keys and tables", "# mine\nallow_shell = true # yes\n\n# about\n[compaction]\nmode = \"local\"\n", true,
			"# mine\nallow_shell = true # yes\nenabled_extensions = [\"new\"]\n\n# about\n[compaction]\nmode = \"local\"\n",
		},
		{"tables only", "# about\n[compaction]\n", true, "enabled_extensions = [\"new\"]\n\n# about\n[compaction]\n"},
		{
			"values over lines", "x = \"\"\"\n[no]\n\"\"\"\ny = [ # [\n 1,\n]\n[t]\n", true,
			"x = \"\"\"\n[no]\n\"\"\"\ny = [ # [\n 1,\n]\nenabled_extensions = [\"new\"]\n[t]\n",
		},
		{"an empty list", "enabled_extensions = [] # none\n", true, "enabled_extensions = [\"new\"] # none\n"},
		{"one line", "enabled_extensions = [\"a\", 'b' ]\n", true, "enabled_extensions = [\"a\", 'b', \"new\" ]\n"},
		{"one line with a comma at its end", "enabled_extensions = [\"a\",]", true, "enabled_extensions = [\"a\", \"new\",]"},
		{
			"lines with commas", "enabled_extensions = [\n  \"a\", # first\n  # between\n  \"b\", # second\n  # last\n]\n", true,
			"enabled_extensions = [\n  \"a\", # first\n  # between\n  \"b\", # second\n  \"new\",\n  # last\n]\n",
		},
		{
			"lines without the last comma", "enabled_extensions = [\n\t\"a\" # first\n]\n", true,
			"enabled_extensions = [\n\t\"a\", # first\n\t\"new\"\n]\n",
		},
		{"the bracket beside the last name", "enabled_extensions = [\n  \"a\" ]\n", true, "enabled_extensions = [\n  \"a\", \"new\" ]\n"},
		{"line ends of another system", "strict_config = true\r\n[t]\r\n", true, "strict_config = true\r\nenabled_extensions = [\"new\"]\r\n[t]\r\n"},
		{
			"a quoted key and odd strings", "\"enabled_extensions\" = ['''a''''', \"]#\\\"\"]\n", true,
			"\"enabled_extensions\" = ['''a''''', \"]#\\\"\", \"new\"]\n",
		},
		{"columns count characters", "x = \"é\"\ny = \"é]\" # é\nenabled_extensions = []\n", true, "x = \"é\"\ny = \"é]\" # é\nenabled_extensions = [\"new\"]\n"},
		{"there already", "enabled_extensions = [ 'new' ]", true, "enabled_extensions = [ 'new' ]"},
		{"not there", "enabled_extensions = [\"a\"]", false, "enabled_extensions = [\"a\"]"},
		{"no such key", "# mine\n", false, "# mine\n"},
		{"the only one", "enabled_extensions = [\"new\"]\n", false, "enabled_extensions = []\n"},
		{"the first", "enabled_extensions = [\"new\", \"b\"]\n", false, "enabled_extensions = [\"b\"]\n"},
		{"the last", "enabled_extensions = [\"a\", \"new\"]\n", false, "enabled_extensions = [\"a\"]\n"},
		{"twice", "enabled_extensions = [\"new\", \"a\", 'new']\n", false, "enabled_extensions = [\"a\"]\n"},
		{
			"a line of its own", "enabled_extensions = [\n  \"a\", # first\n  \"new\",\n]\n", false,
			"enabled_extensions = [\n  \"a\", # first\n]\n",
		},
		{
			"a line with a comment", "enabled_extensions = [\n  \"new\", # needs a key\n  \"b\",\n]\n", false,
			"enabled_extensions = [\n  # needs a key\n  \"b\",\n]\n",
		},
		{
			"the last line without a comma", "enabled_extensions = [\r\n  \"a\",\r\n  \"new\"\r\n]\r\n", false,
			"enabled_extensions = [\r\n  \"a\",\r\n]\r\n",
		},
		{
			"a comment in front of the comma", "enabled_extensions = [\n  \"new\" # mine\n  , \"b\"]\n", false,
			"enabled_extensions = [\n  # mine\n   \"b\"]\n",
		},
	} {
		got, err := Change{EnabledExtensions, "new", c.present}.Apply([]byte(c.text))
		if err != nil || string(got) != c.want {
			t.Errorf("%s: %v\n got %q\nwant %q", c.name, err, got, c.want)
		}
	}
}

func TestChange_applyRefusals(t *testing.T) {
	for _, c := range []struct {
		change     Change
		text, want string
	}{
		{Change{EnabledExtensions, "new", true}, "x = ", "invalid TOML at line 1"},
		{Change{EnabledExtensions, "new", true}, "\nenabled_extensions = true", "enabled_extensions is a boolean, want a list of strings; correct it first"},
		{Change{EnabledExtensions, "new", true}, "enabled_extensions = [1]", "enabled_extensions has an integer in it, want strings"},
		{Change{EnabledExtensions, "new", true}, "[[enabled_extensions]]", "enabled_extensions has a table in it"},
		{Change{EffectPolicy, "new", true}, "", `"effect_policy" is no list`},
		{Change{"colour", "new", true}, "", `"colour" is no list`},
		{Change{EnabledExtensions, "", true}, "", `"" is no name for enabled_extensions`},
		{Change{EnabledExtensions, "a\nb", true}, "", `"a\nb" is no name`},
	} {
		if _, err := c.change.Apply([]byte(c.text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v on %q: %v, want %q", c.change, c.text, err, c.want)
		}
	}
}

// TestChange_applyKeepsEverythingElse lays lists out in every way and puts a name in and out again.
func TestChange_applyKeepsEverythingElse(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		gap := rapid.SampledFrom([]string{"", " ", "\n", "\n  ", " # note\n", "\r\n\t", "\n# one, \"x\"]\n\n  "})
		name := rapid.SampledFrom([]string{"a", "b", "new", "c"})
		spell := rapid.SampledFrom([]string{`"%s"`, `'%s'`, `"""%s"""`, `'''%s'''`})
		var text strings.Builder
		var list []string
		text.WriteString(rapid.SampledFrom([]string{"", "# top\n", "allow_shell = true # [\n"}).Draw(t, "front"))
		text.WriteString(EnabledExtensions + " = [" + gap.Draw(t, "gap"))
		for i := range rapid.IntRange(0, 4).Draw(t, "names") {
			if i > 0 {
				text.WriteString("," + gap.Draw(t, "gap"))
			}
			list = append(list, name.Draw(t, "name"))
			fmt.Fprintf(&text, spell.Draw(t, "spelling"), list[i])
			text.WriteString(gap.Draw(t, "gap"))
		}
		if len(list) > 0 && rapid.Bool().Draw(t, "comma") {
			text.WriteString("," + gap.Draw(t, "gap"))
		}
		text.WriteString("]" + rapid.SampledFrom([]string{"", "\n", " # end\n", "\n[table]\nx = 1\n"}).Draw(t, "back"))

		before := text.String()
		out, err := Change{EnabledExtensions, "new", false}.Apply([]byte(before))
		if err != nil {
			t.Fatalf("out of %q: %v", before, err)
		}
		in, err := Change{EnabledExtensions, "new", true}.Apply(out)
		if err != nil {
			t.Fatalf("into %q: %v", out, err)
		}
		root, err := parse(in)
		if err != nil {
			t.Fatal(err)
		}
		want := append(slices.DeleteFunc(list, func(n string) bool { return n == "new" }), "new")
		if got, err := words(root.Get(EnabledExtensions)); err != nil || !slices.Equal(got, want) {
			t.Fatalf("%q holds %q, want %q (%v)", in, got, want, err)
		}
		if strings.Count(string(in), "#") != strings.Count(before, "#") {
			t.Fatalf("a comment is lost:\n%s\nbecame\n%s", before, in)
		}
	})
}
