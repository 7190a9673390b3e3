package diff

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/rogpeppe/go-internal/txtar"

	"github.com/octet-dev/octet/gen/load"
	"github.com/octet-dev/octet/gen/model"
)

var update = flag.Bool("update", false, "rewrite the expectations of testdata/pairs")

// leastPairs is the number of curated pairs we promise to keep.
const leastPairs = 60

// TestCompare_judgesCuratedPairs reads pairs of small specs, each with every verdict it must give. Turned
// around, a pair must give the same verdicts in the other direction.
func TestCompare_judgesCuratedPairs(t *testing.T) {
	if *update && os.Getenv("CI") != "" {
		t.Fatal("-update is refused in CI: read the difference and commit the new expectation by hand")
	}
	files, err := filepath.Glob("testdata/pairs/*.txtar")
	if err != nil {
		t.Fatal(err)
	}
	count := 0
	for _, file := range files {
		archive, err := txtar.ParseFile(file)
		if err != nil {
			t.Fatal(err)
		}
		cases := pairsOf(t, file, archive)
		count += len(cases)
		for _, c := range cases {
			t.Run(strings.TrimSuffix(filepath.Base(file), ".txtar")+"/"+c.name, func(t *testing.T) {
				c.check(t)
			})
		}
		if *update {
			for i, f := range archive.Files {
				if name, ok := strings.CutSuffix(f.Name, "/want"); ok {
					archive.Files[i].Data = []byte(cases[slices.IndexFunc(cases, func(c *curated) bool { return c.name == name })].got)
				}
			}
			if err := os.WriteFile(file, txtar.Format(archive), 0o644); err != nil {
				t.Fatal(err)
			}
		}
	}
	if count < leastPairs {
		t.Errorf("%d curated pairs, want at least %d", count, leastPairs)
	}
}

// curated is one pair.
type curated struct {
	name, old, new, want string
	got                  string
}

func pairsOf(t *testing.T, file string, archive *txtar.Archive) []*curated {
	t.Helper()
	var list []*curated
	for i := 0; i < len(archive.Files); i += 3 {
		if i+3 > len(archive.Files) {
			t.Fatalf("%s: %s stands alone; write NAME/old, NAME/new and NAME/want", file, archive.Files[i].Name)
		}
		c := &curated{}
		for j, part := range []struct {
			name string
			into *string
		}{{"old", &c.old}, {"new", &c.new}, {"want", &c.want}} {
			f := archive.Files[i+j]
			name, ok := strings.CutSuffix(f.Name, "/"+part.name)
			if !ok || j > 0 && name != c.name {
				t.Fatalf("%s: %s stands where %s/%s should; write NAME/old, NAME/new and NAME/want", file, f.Name, c.name, part.name)
			}
			c.name, *part.into = name, string(f.Data)
		}
		list = append(list, c)
	}
	return list
}

func (c *curated) check(t *testing.T) {
	old, new := fragment(t, c.old), fragment(t, c.new)
	changes := Compare(old, new)
	c.got = lines(changes)
	if !*update && c.got != c.want {
		t.Errorf("got\n%swant\n%s", c.got, c.want)
	}
	for _, change := range changes {
		if (change.Verdict == Breaking) != (change.Witness != nil) {
			t.Errorf("%s: %s has the witness %v", change.Subject, change.Verdict, change.Witness)
		}
	}
	mirrored := verdicts(Compare(new, old), true)
	if forth := verdicts(changes, false); !slices.Equal(forth, mirrored) {
		t.Errorf("turned around the pair gives other verdicts\nthere %v\nback  %v", forth, mirrored)
	}
}

// lines writes changes in the form of the expectations.
func lines(changes []Change) string {
	var b strings.Builder
	for _, c := range changes {
		fmt.Fprintf(&b, "%s %s %s: %s %s: %s\n", c.Role, c.Direction, c.Verdict, c.Subject, c.Kind, c.Reason)
		if c.Witness != nil {
			fmt.Fprintf(&b, "\t%s %s\n", c.Witness.Of, brief(c.Witness.Text))
			for _, given := range c.Witness.Given {
				fmt.Fprintf(&b, "\tgiven %s\n", given)
			}
			fmt.Fprintf(&b, "\trefused %q %s\n", c.Witness.Pointer, c.Witness.Refusal)
		}
		if c.Note != "" {
			fmt.Fprintf(&b, "\t%s\n", c.Note)
		}
	}
	if len(changes) == 0 {
		b.WriteString("no change\n")
	}
	return b.String()
}

// verdicts returns role, direction, verdict and witness of every change, sorted; turned swaps the
// direction. Reasons are left out: they name the sides. So are things that are good to add and bad to take
// away in both directions.
func verdicts(changes []Change, turned bool) []string {
	var list []string
	for _, c := range changes {
		if slices.Contains([]string{KindWire, KindVersion, KindModel}, c.Kind) {
			continue
		}
		direction := c.Direction
		role := c.Role
		if turned {
			direction = map[Direction]Direction{Read: Write, Write: Read}[direction]
			role = map[Role]Role{Extension: Host, Host: Extension, Client: Server, Server: Client}[role]
		}
		witness := ""
		if c.Witness != nil {
			witness = c.Witness.Text
		}
		list = append(list, fmt.Sprint(role, " ", direction, " ", c.Kind, " ", c.Verdict, " ", witness))
	}
	slices.Sort(list)
	return list
}

// fragment loads a spec from what it says beyond a small one: a JSON object with "models" and other parts
// in short forms.
func fragment(t *testing.T, text string) *model.Spec {
	t.Helper()
	spec, err := load.Load(fragmentFiles(t, text))
	if err != nil {
		t.Fatalf("%v\nin %s", err, text)
	}
	return spec
}

type rows = []map[string]any

type parts struct {
	Versions     []string                  `json:"versions"`
	Document     bool                      `json:"document"`
	Server       bool                      `json:"server"` // between a client and a server
	Models       map[string]map[string]any `json:"models"`
	Methods      rows                      `json:"methods"`
	Errors       rows                      `json:"errors"`
	Violations   map[string]string         `json:"violations"`
	Envelope     string                    `json:"envelope_violation"`
	Limits       rows                      `json:"limits"`
	Features     rows                      `json:"features"`
	Capabilities rows                      `json:"capabilities"`
	Hooks        rows                      `json:"hooks"`
	Tables       rows                      `json:"tables"`
}

func fragmentFiles(t *testing.T, text string) fstest.MapFS {
	t.Helper()
	var p parts
	decoder := json.NewDecoder(strings.NewReader(text))
	decoder.DisallowUnknownFields()
	if err := decoder.Decode(&p); err != nil {
		t.Fatalf("%v in %s", err, text)
	}
	if p.Versions == nil {
		p.Versions = []string{either(p.Server, "v1alpha1", "0.4")}
	}
	files := fstest.MapFS{}
	meta, err := filepath.Glob("../../spec/meta/*.json")
	if err != nil || len(meta) == 0 {
		t.Fatalf("no meta-schema: %v", err)
	}
	for _, name := range meta {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		files["meta/"+filepath.Base(name)] = &fstest.MapFile{Data: data}
	}
	named := map[string]string{}
	add := func(part string, content map[string]any) {
		schema := part
		if part == "methods" {
			schema = "openrpc"
		}
		content["$schema"] = "../meta/" + schema + ".schema.json"
		named[part] = "toy/" + part + ".json"
		files[named[part]] = &fstest.MapFile{Data: encode(t, content)}
	}
	add("models", map[string]any{"title": "Toys", "$defs": p.models()})
	add("errors", p.errors())
	add("limits", map[string]any{"limits": complete(append(rows{{"name": "max_id_bytes", "value": 8, "unit": "bytes", "negotiable": false}}, p.Limits...))})
	if !p.Document {
		add("methods", map[string]any{"openrpc": "1.3.2", "info": map[string]any{"title": "Toys", "version": "0", "description": "Toys."}, "methods": p.methods()})
	}
	for part, list := range map[string]rows{"features": p.Features, "capabilities": p.Capabilities, "hooks": p.Hooks, "tables": p.Tables} {
		if list != nil {
			if part == "features" && p.Server {
				for _, row := range list {
					fill(row, "origin", "server")
					fill(row, "sets", []string{})
				}
			}
			add(part, map[string]any{part: complete(list)})
		}
	}
	files["wires.json"] = &fstest.MapFile{Data: encode(t, map[string]any{"$schema": "meta/wires.schema.json", "wires": rows{{
		"name": "toy", "family": either(p.Server, "server", "extension"), "title": "Toys", "doc": "Toys.", "versions": p.Versions, "files": named,
		"modules": map[string]any{"go": "toywire", "python": "toy_wire", "typescript": "toy-wire"},
	}}})}
	return files
}

func encode(t *testing.T, v any) []byte {
	t.Helper()
	data, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// complete adds the prose that every row needs.
func complete(list rows) rows {
	for _, row := range list {
		fill(row, "description", "A toy.")
		fill(row, "x-source", "test")
	}
	return list
}

func fill(row map[string]any, name string, value any) {
	if _, ok := row[name]; !ok {
		row[name] = value
	}
}

func (p *parts) models() map[string]any {
	defs := map[string]any{"Result": map[string]any{"type": "object", "properties": map[string]any{}, "additionalProperties": false}}
	for name, m := range p.Models {
		defs[name] = m
	}
	if p.Document {
		delete(defs, "Result")
	} else if defs["Params"] == nil {
		defs["Params"] = map[string]any{"type": "object", "properties": map[string]any{}}
	}
	for _, m := range defs {
		m := m.(map[string]any)
		fill(m, "description", "A toy.")
		fill(m, "x-source", "test")
		properties, _ := m["properties"].(map[string]any)
		for _, property := range properties {
			fill(property.(map[string]any), "description", "A part.")
		}
	}
	return defs
}

// methods expands {"name", "direction", "params", "result", "notification", ...}; without any there is one
// request "run" from the host.
func (p *parts) methods() rows {
	if p.Methods == nil {
		p.Methods = rows{{"name": "run"}}
	}
	for _, m := range p.Methods {
		take := func(name string, otherwise any) any {
			v, ok := m[name]
			delete(m, name)
			if !ok {
				return otherwise
			}
			return v
		}
		ref := func(name any) map[string]any { return map[string]any{"$ref": fmt.Sprint("models.json#/$defs/", name)} }
		fill(m, "summary", "Plays.")
		fill(m, "x-source", "test")
		fill(m, "x-versions", p.Versions)
		fill(m, "x-gate", "-")
		fill(m, "x-status", "active")
		m["paramStructure"] = "by-name"
		m["x-direction"] = take("direction", either(p.Server, "client_to_server", "host_to_extension"))
		if p.Server {
			fill(m, "x-transports", []string{"stdio", "websocket"})
			fill(m, "x-durable", "-")
			if m["x-gate"] != noGate {
				fill(m, "x-gate-mode", "strict")
			}
		}
		if take("notification", false) == true {
			m["x-notification"] = true
		}
		params, result := take("params", "Params"), take("result", "Result")
		m["params"] = rows{}
		if m["x-status"] == "deferred" {
			continue
		}
		m["params"] = rows{{"name": "params", "required": true, "x-whole": true, "schema": ref(params)}}
		if m["x-notification"] == true {
			continue
		}
		schema, ok := result.(map[string]any)
		if !ok {
			schema = ref(result)
		}
		m["result"] = map[string]any{"name": "result", "schema": schema}
	}
	return p.Methods
}

func (p *parts) errors() map[string]any {
	if p.Errors == nil {
		p.Errors = rows{{"name": "bad", "code": -1, "message": "bad", "fixed": false}}
	}
	violations := map[string]string{}
	for _, v := range model.Violations {
		violations[string(v)] = fmt.Sprint(p.Errors[0]["name"])
	}
	maps.Copy(violations, p.Violations)
	if p.Envelope == "" {
		p.Envelope = fmt.Sprint(p.Errors[0]["name"])
	}
	return map[string]any{"errors": complete(p.Errors), "violations": violations, "envelope_violation": p.Envelope}
}
