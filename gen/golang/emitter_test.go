package golang

import (
	"go/ast"
	"go/parser"
	"go/token"
	"os"
	"strings"
	"sync"
	"testing"

	"github.com/octet-dev/octet/gen/emit"
	"github.com/octet-dev/octet/gen/load"
	"github.com/octet-dev/octet/gen/model"
)

func TestGoName(t *testing.T) {
	for name, want := range map[string]string{
		"max_frame_bytes":      "MaxFrameBytes",
		"tool/call":            "ToolCall",
		"$/cancelRequest":      "CancelRequest",
		"migration.adapter.v1": "MigrationAdapterV1",
		"artifact_id":          "ArtifactID",
		"provider_ids":         "ProviderIDs",
		"jsonrpc":              "JSONRPC",
		"max_json_rpc_id":      "MaxJSONRPCID",
		"api_version":          "APIVersion",
		"very-high":            "VeryHigh",
		"ui":                   "UI",
		"OCTET_OS":             "OCTETOS",
		"0.4":                  "04",
		"identity":             "Identity",
		"":                     "",
		"//":                   "",
	} {
		if got := goName(name); got != want {
			t.Errorf("%q: got %q, want %q", name, got, want)
		}
	}
}

func at(file, pointer string) model.Place { return model.Place{File: file, Pointer: pointer} }

// small returns a spec that a test may change.
func small() *model.Spec {
	text := &model.Type{Kind: model.String}
	record := &model.Model{
		Name: "Thing", Kind: model.Record, File: "w/models.json", Pointer: "/$defs/Thing", Doc: "A thing.", Closed: true,
		Fields: []*model.Field{{Name: "a", Type: text, Required: true}, {Name: "b", Type: text}},
	}
	return &model.Spec{Wires: []*model.Wire{{
		Name: "w", Title: "W", Doc: "A wire.", MaxDepth: 4, Versions: []string{"0.1"}, Module: model.Module{Go: "wwire"},
		Files:    model.Files{Models: model.Part{"w/models.json"}, Errors: model.Part{"w/errors.json"}, Limits: model.Part{"w/limits.json"}, Tables: model.Part{"w/tables.json"}},
		Models:   []*model.Model{record},
		Errors:   []*model.ErrorCode{{At: at("w/errors.json", "/errors/0"), Name: "bad", Code: -1, Message: "bad"}},
		Limits:   []*model.Limit{{At: at("w/limits.json", "/limits/0"), Name: "max_a", Value: 1, Unit: "bytes"}, {At: at("w/limits.json", "/limits/1"), Name: "max_b", Value: 2, Unit: "bytes"}},
		Tables:   []*model.Table{{At: at("w/tables.json", "/tables/0"), Name: "t", Columns: []string{"a", "b"}, Rows: [][]string{{"1", "2"}}}},
		Features: nil,
	}}}
}

func TestEmit_refusesNamesThatCollide(t *testing.T) {
	for name, c := range map[string]struct {
		change func(*model.Wire)
		want   string
	}{
		"members": {
			func(w *model.Wire) { w.Models[0].Fields[1].Name = "A" },
			`spec/w/models.json: /$defs/Thing/properties/A: member "A" and member "a" are both "A" in Go's struct Thing; rename one`,
		},
		"member and method": {
			func(w *model.Wire) { w.Models[0].Fields[1].Name = "validate" },
			`spec/w/models.json: /$defs/Thing/properties/validate: member "validate" and generated code itself are both "Validate" in Go's struct Thing; rename one`,
		},
		"nameless member": {
			func(w *model.Wire) { w.Models[0].Fields[1].Name = "9" },
			`spec/w/models.json: /$defs/Thing/properties/9: member "9" gives no Go name in struct Thing; use letters and digits`,
		},
		"limits": {
			func(w *model.Wire) { w.Limits[1].Name = "max__a" },
			`spec/w/limits.json: /limits/1/name: limit "max__a" and limit "max_a" are both "MaxA" in Go's package wwire; rename one`,
		},
		"model and error": {
			func(w *model.Wire) { w.Models[0].Name = "CodeBad" },
			`spec/w/errors.json: /errors/0/name: error "bad" and model CodeBad are both "CodeBad" in Go's package wwire; rename one`,
		},
		"model and table": {
			func(w *model.Wire) { w.Models[0].Name = "TRow" },
			`spec/w/tables.json: /tables/0/name: the rows of table "t" and model TRow are both "TRow" in Go's package wwire; rename one`,
		},
		"columns": {
			func(w *model.Wire) { w.Tables[0].Columns[1] = "A" },
			`spec/w/tables.json: /tables/0/name: column "A" and column "a" are both "A" in Go's struct TRow; rename one`,
		},
		"enum values": {
			func(w *model.Wire) {
				w.Models = append(w.Models, &model.Model{
					Name: "E", Kind: model.Enum, File: "w/models.json", Pointer: "/$defs/E",
					Values: []model.EnumValue{{Value: "x-y"}, {Value: "x_y"}, {Value: "~"}},
				})
			},
			`spec/w/models.json: /$defs/E/enum/1: value "x_y" of E and value "x-y" of E are both "EXY" in Go's package wwire; rename one` + "\n" +
				`spec/w/models.json: /$defs/E/enum/2: value "~" gives no Go name; use letters and digits`,
		},
	} {
		spec := small()
		c.change(spec.Wires[0])
		files, err := New().Emit(spec)
		if err == nil || files != nil {
			t.Errorf("%s: accepted", name)
			continue
		}
		if !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: got %v\nwant %s", name, err, c.want)
		}
	}
	if _, err := New().Emit(small()); err != nil {
		t.Errorf("the unchanged spec: %v", err)
	}
}

var emitted = sync.OnceValues(func() ([]emit.File, error) {
	spec, err := load.Load(os.DirFS("../../spec"))
	if err != nil {
		return nil, err
	}
	return New().Emit(spec)
})

// emitAll returns the Go files of the real spec.
func emitAll(t *testing.T) []emit.File {
	t.Helper()
	files, err := emitted()
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// TestEmit_documentsEveryExportedName reads the emitted files the way documentation tools do.
func TestEmit_documentsEveryExportedName(t *testing.T) {
	names := 0
	for _, f := range emitAll(t) {
		if !strings.HasSuffix(f.Path, ".go") {
			continue
		}
		file, err := parser.ParseFile(token.NewFileSet(), f.Path, f.Data, parser.ParseComments)
		if err != nil {
			t.Fatal(err)
		}
		if !ast.IsGenerated(file) {
			t.Errorf("%s is not recognised as generated", f.Path)
		}
		for _, decl := range file.Decls {
			switch d := decl.(type) {
			case *ast.FuncDecl:
				receiver := d.Recv != nil && !ast.IsExported(receiverName(d))
				if d.Name.IsExported() && !receiver && d.Doc == nil {
					t.Errorf("%s: %s has no comment", f.Path, d.Name)
				}
				names++
			case *ast.GenDecl:
				for _, s := range d.Specs {
					if spec, ok := s.(*ast.TypeSpec); ok && spec.Name.IsExported() && d.Doc == nil && spec.Doc == nil {
						t.Errorf("%s: %s has no comment", f.Path, spec.Name)
					}
					if spec, ok := s.(*ast.ValueSpec); ok && spec.Names[0].IsExported() && d.Doc == nil && spec.Doc == nil {
						t.Errorf("%s: %s has no comment", f.Path, spec.Names[0])
					}
					names++
				}
			}
		}
	}
	if names < 500 {
		t.Errorf("saw %d declarations, want at least 500", names)
	}
}

func receiverName(d *ast.FuncDecl) string {
	t := d.Recv.List[0].Type
	if star, ok := t.(*ast.StarExpr); ok {
		t = star.X
	}
	if generic, ok := t.(*ast.IndexExpr); ok {
		t = generic.X
	}
	name, _ := t.(*ast.Ident)
	return name.Name
}

func TestEmit_copiesTheSupportPackageWithoutItsTests(t *testing.T) {
	copied := 0
	for _, f := range emitAll(t) {
		name, ok := strings.CutPrefix(f.Path, "generated/wirejson/")
		if !ok {
			continue
		}
		copied++
		own, err := os.ReadFile("support/" + name)
		if err != nil {
			t.Fatal(err)
		}
		if !strings.HasSuffix(string(f.Data), "\n\n"+string(own)) {
			t.Errorf("%s is not its source under a header", f.Path)
		}
		if strings.HasSuffix(name, "_test.go") {
			t.Errorf("%s is a test", f.Path)
		}
	}
	if copied < 8 {
		t.Errorf("%d files copied, want at least 8", copied)
	}
}
