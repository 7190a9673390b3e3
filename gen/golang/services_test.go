package golang

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/octet-dev/octet/gen/model"
)

// TestServices_compile builds the services of the fixture of shapes where they would lie in a repository of
// that wire: with every parent class, a result of each form, and params that differ between versions.
func TestServices_compile(t *testing.T) {
	repository, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	replace := map[string]string{}
	for _, name := range []string{"parcelwire", "parcelservice"} {
		files, err := filepath.Glob(filepath.Join(repository, "gen/testdata/shapes/want/generated", name, "*.go"))
		if err != nil || len(files) < 4 {
			t.Fatalf("%s: %v, %v", name, files, err)
		}
		for _, file := range files {
			replace[filepath.Join(repository, "generated", name, filepath.Base(file))] = file
		}
	}
	overlay, err := json.Marshal(map[string]any{"Replace": replace})
	if err != nil {
		t.Fatal(err)
	}
	file := filepath.Join(t.TempDir(), "overlay.json")
	if err := os.WriteFile(file, overlay, 0o600); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-overlay", file, "./generated/parcelservice")
	build.Dir = repository
	if output, err := build.CombinedOutput(); err != nil {
		t.Errorf("%v\n%s", err, output)
	}
}

func TestArgumentName(t *testing.T) {
	for name, want := range map[string]string{
		"text": "text", "entry_type": "entryType", "id": "id", "ui_key": "uiKey", "session_id": "sessionID", "type": "typeValue",
		"default": "defaultValue", "params": "paramsValue", "mcp": "mcp", "MCPServer": "mcpServer",
	} {
		if got := argumentName(name); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}

// TestServices_refuseWhatTheyCannotServe changes a small wire so that no service can be made of it.
func TestServices_refuseWhatTheyCannotServe(t *testing.T) {
	number := &model.Type{Kind: model.Integer}
	record := func(name string, fields ...*model.Field) *model.Model {
		return &model.Model{Name: name, Kind: model.Record, File: "w/models.json", Pointer: "/$defs/" + name, Closed: true, Fields: fields}
	}
	build := func() (*model.Spec, *model.Method, *model.Model, *model.Model) {
		spec := small()
		w := spec.Wires[0]
		w.Versions, w.Files.Methods = []string{"0.1", "0.2"}, model.Part{"w/openrpc.json"}
		params := record("PushParams", &model.Field{Name: "a", Type: number, Required: true})
		old := record("PushParamsV01", &model.Field{Name: "a", Type: number, Required: true})
		w.Models = append(w.Models, params, old)
		result := &model.Type{Kind: model.Ref, Ref: w.Models[0]}
		m := &model.Method{
			At: at("w/openrpc.json", "/methods/0"), Name: "push", Direction: model.ExtensionToHost, Gate: "-", Parent: model.ParentRequired, Service: model.Service{Noun: "things", Verb: "push"},
			Versions: w.Versions,
			Shapes:   []model.MethodShape{{Versions: []string{"0.2"}, Params: params, Result: result}, {Versions: []string{"0.1"}, Params: old, Result: result}},
		}
		w.Methods = []*model.Method{m}
		return spec, m, params, old
	}
	for name, c := range map[string]struct {
		change func(m *model.Method, params, old *model.Model)
		want   string
	}{
		"verb twice": {
			func(m *model.Method, _, _ *model.Model) { m.Service.Verb = "9" },
			`spec/w/openrpc.json: /methods/0/x-service/verb: verb "9" gives no Go name in type Things; use letters and digits`,
		},
		"noun of the package": {
			func(m *model.Method, _, _ *model.Model) { m.Service.Noun = "link" },
			`spec/w/openrpc.json: /methods/0/x-service/noun: noun "link" and generated code itself are both "Link" in Go's package wservice; rename one`,
		},
		"parent of another type": {
			func(_ *model.Method, params, _ *model.Model) {
				params.Fields = append(params.Fields, &model.Field{Name: parentMember, Type: &model.Type{Kind: model.String}, Required: true})
			},
			`spec/w/models.json: /$defs/PushParams/properties/parent_request_id: a parent is an integer, this is a string; make it one`,
		},
		"version with another member": {
			func(_ *model.Method, _, old *model.Model) { old.Fields[0].Name = "b" },
			`spec/w/models.json: /$defs/PushParamsV01/properties/b: this member differs from that of PushParams, which an SDK takes for every version; make them agree`,
		},
		"version with another result": {
			func(m *model.Method, params, _ *model.Model) {
				m.Shapes[1].Result = &model.Type{Kind: model.Ref, Ref: params}
			},
			`spec/w/openrpc.json: /methods/0: the result of a service differs between versions; give it one model`,
		},
	} {
		spec, m, params, old := build()
		c.change(m, params, old)
		if _, err := New().Emit(spec); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v\nwant %s", name, err, c.want)
		}
	}
	spec, _, _, _ := build()
	if _, err := New().Emit(spec); err != nil {
		t.Errorf("the unchanged wire: %v", err)
	}
}
