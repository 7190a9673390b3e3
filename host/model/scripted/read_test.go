package scripted_test

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"go.yaml.in/yaml/v3"

	"github.com/octet-dev/octet/host/model/scripted"
)

// Faults that the schema cannot see are marked: it knows no bytes, no sums and no places.
var faulty = []struct {
	name, text, want string
	schemaBlind      bool
}{
	{"empty", "", `1: the file is empty; a script needs "script: 1" and "steps"`, false},
	{"only a remark", "# nothing\n", `1: the file is empty; a script needs "script: 1" and "steps"`, false},
	{"list", "- 1", "1: the script is a list; it must be an object", false},
	{"no version", "steps: [{text: a}]", `1: the script needs the key "script"`, false},
	{"later version", "script: 2\nsteps: [{text: a}]", "1: script is 2; this release reads version 1", false},
	{"no steps", "script: 1", `1: the script needs the key "steps"`, false},
	{"empty steps", "script: 1\nsteps: []", "2: the script.steps has 0 items; it has 1 to 10000", false},
	{"misspelt key", "script: 1\nsteps:\n  - txt: a", `3: steps[0] has no key "txt"; did you mean "text"?`, false},
	{"key twice", "script: 1\nsteps:\n  - text: a\n    text: b", `4: the key "text" stands twice; it stands on line 3 already`, true},
	{"wrong type", "script: 1\nsteps:\n  - text: 4", "3: steps[0].text is a number; it must be a text", false},
	{"bad delay", "script: 1\nsteps:\n  - delay: soon", `3: steps[0].delay is "soon"; it is a time up to 1h0m0s, such as "250ms" or "2s"`, false},
	{"long delay", "script: 1\nsteps:\n  - delay: 2h", `3: steps[0].delay is "2h"; it is a time up to 1h0m0s, such as "250ms" or "2s"`, true},
	{"bare delay", "script: 1\nsteps:\n  - delay: 5", `3: steps[0].delay is a number; it must be a text`, false},
	{"bad phase", "script: 1\nsteps:\n  - error: {phase: stream_star}", `3: steps[0].error.phase is "stream_star"; did you mean "stream_start"?`, false},
	{"bad status", "script: 1\nsteps:\n  - error: {status: 200}", `3: steps[0].error.status is 200; it is a whole number from 400 to 599`, false},
	{"interrupted nothing", "script: 1\nsteps:\n  - error: {phase: interrupted_inference}", `3: steps[0] breaks with phase "interrupted_inference", which comes behind a part of an answer; add text, reasoning or calls`, true},
	{"answer and refusal", "script: 1\nsteps:\n  - text: a\n    error: {}", `3: steps[0] has an answer, and an error of phase "before_generation" that leaves none; use phase "interrupted_inference"`, true},
	{"stop and error", "script: 1\nsteps:\n  - text: a\n    stop: end\n    error: {phase: interrupted_inference}", `3: steps[0] has a stop reason, and an error; an answer that breaks has none`, true},
	{"stop without calls", "script: 1\nsteps:\n  - stop: tool_calls", `3: steps[0] stops for tool_calls, but calls none`, true},
	{"unnamed call", "script: 1\nsteps:\n  - calls:\n      - id: x", `4: steps[0].calls[0] needs the key "name"`, false},
	{"empty condition", "script: 1\nsteps:\n  - when: {offers: ''}", `3: steps[0].when.offers is empty; leave it out if it is no condition`, false},
	{"zero repeat", "script: 1\nsteps:\n  - repeat: 0", `3: steps[0].repeat is 0; it is a whole number from 1 to 1000000`, false},
	{"fraction", "script: 1\nsteps:\n  - chunk: 1.5", `3: steps[0].chunk is 1.5; it is a whole number from 1 to 1048576`, false},
	{"usage word", "script: 1\nsteps:\n  - usage: some", `3: steps[0].usage is "some"; it is "unknown" or an object of counts`, false},
	{"modality", "script: 1\ninput: [smell]\nsteps: [{text: a}]", `2: the script.input[0] is "smell"; there are: text, image, audio`, false},
	{"modality twice", "script: 1\ninput: [text, text]\nsteps: [{text: a}]", `2: the script.input[1] is "text", which is listed already`, false},
	{"anchor", "script: 1\nsteps:\n  - &a {text: a}\n  - *a", "3: anchors and aliases are not read; write the value out", true},
	{"tag", "script: 1\nsteps:\n  - text: !!binary aGk=", `3: the tag "!!binary" is not read; write the value plainly`, true},
	{"infinity", "script: 1\nsteps:\n  - chunk: .inf", `3: ".inf" is no number of JSON`, true},
	{"two documents", "script: 1\nsteps: [{text: a}]\n---\nscript: 1", "3: a second document; a script is one", true},
	{"not YAML", "script: 1\nsteps: [", "2: not YAML: did not find expected node content", true},
}

func TestParse_locatesFaults(t *testing.T) {
	schema := compiled(t)
	for _, c := range faulty {
		t.Run(c.name, func(t *testing.T) {
			_, err := scripted.Parse("a.yaml", []byte(c.text))
			if err == nil || err.Error() != "a.yaml:"+c.want {
				t.Errorf("error is %v,\nwant a.yaml:%s", err, c.want)
			}
			if !c.schemaBlind && schema.Validate(instance(t, c.text)) == nil {
				t.Error("the schema accepts what the reader refuses")
			}
		})
	}
}

func TestParse_tellsSeveralFaultsInOrder(t *testing.T) {
	_, err := scripted.Parse("a.yaml", []byte("script: 1\nnam: x\nsteps:\n  - text: 1\n  - text: a\n    stop: never\n"))
	want := "a.yaml:2: the script has no key \"nam\"; did you mean \"name\"?\n" +
		"a.yaml:4: steps[0].text is a number; it must be a text\n" +
		"a.yaml:6: steps[1].stop is \"never\"; there are: end, tool_calls, length, filtered"
	if err == nil || err.Error() != want {
		t.Errorf("error is %v,\nwant %s", err, want)
	}
	_, err = scripted.Parse("a.yaml", []byte("script: 1\nsteps:\n"+strings.Repeat("  - text: 1\n", 100)))
	if got := strings.Count(err.Error(), "\n") + 1; got != 20 {
		t.Errorf("%d faults are told, want 20", got)
	}
}

func TestParse_readsJSONStrictly(t *testing.T) {
	for _, c := range []struct{ text, want string }{
		{"{\"script\":1,\n\t\"steps\":[{\"text\":\"a\"}]}\n", ""},
		{"{\"script\":1,\n\"steps\":[{\"text\":\"a\",\n\"text\":\"b\"}]}", `3: not JSON: duplicate object member name`},
		{"{\"script\":1,\n\"steps\":[{\"text\":}]}", `2: not JSON: missing value after object name`},
		{"{\"script\":1,\n\"steps\":[{\"text\":\"a\"}]}\n\n{}", `4: something follows the value; a script is one object`},
		{"{\"script\":1,\n\"steps\":[{\"txt\":\"a\"}]}", `2: steps[0] has no key "txt"; did you mean "text"?`},
		{"{\"script\":1,\n\"steps\":" + strings.Repeat("[", 80) + strings.Repeat("]", 80) + "}", `2: values lie more than 64 deep in each other`},
	} {
		_, err := scripted.Parse("a.JSON", []byte(c.text))
		if c.want == "" && err != nil || c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), "a.JSON:"+c.want)) {
			t.Errorf("%.60q: error is %v,\nwant a.JSON:%s", c.text, err, c.want)
		}
	}
}

func TestSchema_acceptsWhatIsRead(t *testing.T) {
	schema := compiled(t)
	files, err := filepath.Glob("testdata/*.yaml")
	if err != nil || len(files) == 0 {
		t.Fatalf("no examples: %v", err)
	}
	for _, file := range files {
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if _, err := scripted.Parse(file, text); err != nil {
			t.Error(err)
		}
		if err := schema.Validate(instance(t, string(text))); err != nil {
			t.Errorf("%s: %v", file, err)
		}
	}
}

func compiled(t *testing.T) *jsonschema.Schema {
	t.Helper()
	text, err := os.ReadFile("script.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	document, err := jsonschema.UnmarshalJSON(bytes.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	compiler := jsonschema.NewCompiler()
	if err := compiler.AddResource("script.schema.json", document); err != nil {
		t.Fatal(err)
	}
	schema, err := compiler.Compile("script.schema.json")
	if err != nil {
		t.Fatal(err)
	}
	return schema
}

// instance is YAML as a validator of JSON sees it.
func instance(t *testing.T, text string) any {
	t.Helper()
	var loose any
	if err := yaml.Unmarshal([]byte(text), &loose); err != nil {
		t.Fatal(err)
	}
	encoded, err := json.Marshal(loose)
	if err != nil {
		t.Fatal(err)
	}
	strict, err := jsonschema.UnmarshalJSON(bytes.NewReader(encoded))
	if err != nil {
		t.Fatal(err)
	}
	return strict
}

func FuzzParse(f *testing.F) {
	tour, err := os.ReadFile("testdata/tour.yaml")
	if err != nil {
		f.Fatal(err)
	}
	f.Add(string(tour), false)
	for _, c := range faulty {
		f.Add(c.text, false)
		f.Add(c.text, true)
	}
	f.Add(`{"script":1,"steps":[{"calls":[{"name":"a","arguments":{"x":[1,null]}}]}]}`, true)
	f.Fuzz(func(t *testing.T, text string, asJSON bool) {
		name := "a.yaml"
		if asJSON {
			name = "a.json"
		}
		script, err := scripted.Parse(name, []byte(text))
		if (script == nil) != (err != nil) {
			t.Fatalf("script %v with error %v", script, err)
		}
		if err != nil {
			return
		}
		for _, step := range script.Steps {
			for _, call := range step.Calls {
				if !json.Valid(call.Arguments) {
					t.Errorf("arguments are not JSON: %q", call.Arguments)
				}
			}
		}
	})
}
