package python

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/octet-dev/octet/gen/emit"
	"github.com/octet-dev/octet/gen/load"
	"github.com/octet-dev/octet/gen/model"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func number(n int64) *int64 { return &n }

// everyKind is a wire that uses every kind of model, type and table once.
func everyKind() *model.Spec {
	limit := &model.Bound{Value: 4, Limit: "max_items"}
	versions := []string{"1.0", "2.0"}
	color := &model.Model{Name: "Color", Doc: "A colour.", Source: "sheet 1", Versions: versions, Kind: model.Enum, Values: []model.EnumValue{{Value: "red", Doc: "Like a rose."}, {Value: "2.0"}}}
	mood := &model.Model{Name: "Mood", Doc: "A mood; more may come.", Versions: versions, Kind: model.Enum, Open: true, Values: []model.EnumValue{{Value: "calm"}}}
	name := &model.Model{Name: "Name", Doc: `A "name".`, Versions: versions, Kind: model.Alias, Type: &model.Type{Kind: model.String, MinBytes: 1, MaxBytes: &model.Bound{Value: 8}, Pattern: `^[a-z\d]+$`, NotBlank: true}}
	leaf := &model.Model{Name: "Leaf", Doc: "A leaf.", Versions: versions, Kind: model.Record, Closed: true, Fields: []*model.Field{
		{Name: "kind", Doc: "Always leaf.", Type: &model.Type{Kind: model.Const, Const: "leaf"}, Required: true},
	}}
	twig := &model.Model{Name: "Twig", Doc: "A twig.", Versions: versions, Kind: model.Record, Closed: true, Fields: []*model.Field{
		{Name: "kind", Doc: "Always twig.", Type: &model.Type{Kind: model.Const, Const: "twig"}, Required: true},
	}}
	part := &model.Model{Name: "Part", Doc: "A part of a tree.", Versions: versions, Kind: model.Union, Tag: "kind", Variants: []*model.Variant{
		{TagValue: "leaf", Record: leaf}, {TagValue: "twig", Record: twig, Deferred: true},
	}}
	ref := func(m *model.Model) *model.Type { return &model.Type{Kind: model.Ref, Ref: m} }
	field := func(name string, t *model.Type) *model.Field {
		return &model.Field{Name: name, Doc: "A member.", Type: t}
	}
	tree := &model.Model{Name: "Tree", Doc: "A tree, with a description that is long enough to need a second line when it is written down as a docstring.", Source: "sheet 2", Versions: versions, Kind: model.Record, Forbidden: []string{"axe"}, Fields: []*model.Field{
		{Name: "name", Doc: "Its name.", Type: ref(name), Required: true},
		{Name: "from", Doc: "Where it comes from.", Type: &model.Type{Kind: model.String}, Nullable: true},
		field("x-ray", &model.Type{Kind: model.Boolean}),
		field("encode", &model.Type{Kind: model.Integer, Minimum: number(-1), Maximum: number(9)}),
		field("height", &model.Type{Kind: model.Number, Minimum: number(0), Maximum: number(100)}),
		field("note", &model.Type{Kind: model.JSON}),
		field("bag", &model.Type{Kind: model.JSON, MaxEncodedBytes: &model.Bound{Value: 64}}),
		field("box", &model.Type{Kind: model.Object}),
		field("crate", &model.Type{Kind: model.Object, MaxEncodedBytes: limit}),
		field("id", &model.Type{Kind: model.ID, MaxBytes: limit, Maximum: number(9)}),
		field("free", &model.Type{Kind: model.ID}),
		field("color", ref(color)),
		{Name: "mood", Doc: "Nullable and open.", Type: ref(mood), Nullable: true, Required: true},
		field("parts", &model.Type{Kind: model.Array, Elem: ref(part), MinItems: 1, MaxItems: limit, UniqueBy: "kind"}),
		field("tags", &model.Type{Kind: model.Array, Elem: &model.Type{Kind: model.String, MaxBytes: limit}, Unique: true}),
		field("map", &model.Type{Kind: model.Map, Elem: ref(leaf), KeyPattern: "^[a-z]$"}),
	}}
	pace := &model.Model{Name: "Pace", Doc: "A word or a leaf.", Versions: versions, Kind: model.Choice, Word: color, Object: leaf}
	order := &model.Model{Name: "Order", Doc: "An order.", Versions: versions, Kind: model.Record, Closed: true, ExactlyOne: []string{"pace", "title"}, AtMostOne: []string{"title", "notes"}, Fields: []*model.Field{
		{Name: "parent_request_id", Doc: "The parent.", Type: &model.Type{Kind: model.Integer, Minimum: number(0), Maximum: number(9)}, Required: true},
		field("pace", ref(pace)),
		{Name: "title", Doc: "A title.", Type: &model.Type{Kind: model.String, Controls: model.TextControls}, Nullable: true},
		field("notes", &model.Type{Kind: model.Array, Elem: ref(name), MaxEncodedBytes: limit}),
		{Name: "class", Doc: "A class.", Type: ref(mood), Required: true},
	}}
	nothing := &model.Model{Name: "Nothing", Doc: "No members.", Versions: versions, Kind: model.Record, Closed: true}
	call := &model.Model{Name: "Call", Doc: "An envelope.", Versions: versions, Kind: model.Record, Envelope: true, Closed: true, Fields: []*model.Field{field("tree", ref(tree))}}
	return &model.Spec{Wires: []*model.Wire{
		{
			Name: "every-kind", Title: "Every kind", Doc: "A wire for this test.", Versions: versions,
			Module: model.Module{Python: "every_kind"}, Files: model.Files{Models: model.Part{"every-kind/models.json"}},
			EnvelopeError: "bad_frame", MaxDepth: 7,
			Models:     []*model.Model{tree, call, color, mood, name, part, leaf, twig, pace, order, nothing},
			Hooks:      []*model.Hook{{Name: "before_fall", Versions: versions[1:], Feature: "growth", Payload: tree, Result: leaf, Order: "as planted", Merge: "the first.", Failure: "it falls", Deny: "honoured", Doc: "Before a tree falls."}},
			Violations: []model.ViolationError{{Violation: model.NotObject, Error: "bad_value"}},
			Limits:     []*model.Limit{{Name: "max_items", Value: 4, Unit: "items", Doc: "Items."}},
			Errors:     []*model.ErrorCode{{Name: "bad_value", Code: -1, Message: "bad", Fixed: true, Doc: "A bad value."}, {Name: "bad_frame", Code: -2, Message: "frame"}},
			Features:   []*model.Feature{{Name: "growth", Versions: versions, Required: true, DependsOn: []string{"light"}, Doc: "It grows."}, {Name: "light", Versions: versions[1:]}},
			Capabilities: []*model.Capability{
				{Name: "shade", Offer: "optional", Status: "foundation", Needs: []string{"tree/plant"}, Doc: "It shades."},
			},
			Methods: []*model.Method{
				{
					Name: "tree/plant", Doc: "Plants a tree.", Versions: versions, Direction: model.Both, Gate: "growth", Offer: "required", Terminal: "result", Status: "active",
					Shapes: []model.MethodShape{{Versions: versions[:1], Params: tree, Result: ref(leaf)}, {Versions: versions[1:], Params: tree, Result: &model.Type{Kind: model.Array, Elem: ref(leaf)}, Nullable: true}},
				},
				{
					Name: "garden/order", Doc: "Orders.", Versions: versions, Direction: model.ExtensionToHost, Gate: "growth", Parent: model.ParentRequired, Service: model.Service{Noun: "big_garden", Verb: "order"},
					Shapes: []model.MethodShape{{Versions: versions, Params: order, Result: ref(leaf), Nullable: true}},
				},
				{
					Name: "garden/class", Doc: "Tells.", Versions: versions, Direction: model.ExtensionToHost, Gate: "-", Notification: true, Parent: model.ParentNone, Service: model.Service{Noun: "big_garden", Verb: "class"},
					Shapes: []model.MethodShape{{Versions: versions, Params: tree}},
				},
				{
					Name: "garden/clear", Doc: "Clears.", Versions: versions, Direction: model.ExtensionToHost, Gate: "-", Parent: model.ParentNone, Service: model.Service{Noun: "big_garden", Verb: "clear"},
					Shapes: []model.MethodShape{{Versions: versions, Params: nothing, Result: ref(nothing)}},
				},
				{
					Name: "tree/fell", Doc: "A tree fell.", Versions: versions, Direction: model.HostToExtension, Gate: "-", Notification: true, Service: model.Service{Noun: "events", Verb: "tree_fell"},
					Shapes: []model.MethodShape{{Versions: versions, Params: leaf}},
				},
				{Name: "$/cutTree", Versions: versions, Notification: true, Direction: model.HostToExtension, Gate: "-", Shapes: []model.MethodShape{{Versions: versions}}},
			},
			Tables: []*model.Table{
				{Name: "seasons", Doc: "Seasons.", Columns: []string{"season"}, Rows: [][]string{{"spring"}}},
				{Name: "months", Doc: "Months.", Columns: []string{"month", "season"}, Rows: [][]string{{"may", "spring"}}},
			},
		},
		{Name: "not-in-python"},
	}}
}

func emitted(t *testing.T, spec *model.Spec) map[string][]byte {
	t.Helper()
	files, err := New().Emit(spec)
	if err != nil {
		t.Fatal(err)
	}
	out := map[string][]byte{}
	for _, file := range files {
		if _, twice := out[file.Path]; twice {
			t.Errorf("%s is emitted twice", file.Path)
		}
		out[file.Path] = file.Data
	}
	return out
}

func TestEmit_golden(t *testing.T) {
	for golden, name := range map[string]string{"expected.py": "every_kind.py", "services.py": "services.py", "events.py": "events.py", "hooks.py": "hooks.py"} {
		t.Run(name, func(t *testing.T) {
			compareGolden(t, filepath.Join("testdata", "every_kind", golden), emitted(t, everyKind())[folder+"/"+name])
		})
	}
}

func compareGolden(t *testing.T, golden string, got []byte) {
	t.Helper()
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	wanted, found := strings.Split(string(want), "\n"), strings.Split(string(got), "\n")
	for i := range max(len(wanted), len(found)) {
		if i >= len(wanted) || i >= len(found) || wanted[i] != found[i] {
			t.Fatalf("first difference in line %d:\n- wanted %q\n+ emitted %q", i+1, rest(wanted, i), rest(found, i))
		}
	}
}

// rest returns up to three lines from i on.
func rest(lines []string, i int) []string { return lines[min(i, len(lines)):min(i+3, len(lines))] }

// server is the golden case of a wire between clients and servers.
func server(t *testing.T) *model.Spec {
	t.Helper()
	root := t.TempDir()
	for from, to := range map[string]string{"../testdata/server/spec": "", "../../spec/meta": "meta"} {
		if err := os.CopyFS(filepath.Join(root, to), os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
	}
	spec, err := load.Load(os.DirFS(root))
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

// TestEmit_server holds the modules of a wire between clients and servers: its parts, the module that has them
// all, and the calls.
func TestEmit_server(t *testing.T) {
	files := emitted(t, server(t))
	for _, name := range []string{"quay_limits.py", "quay_models.py", "quay_more_models.py", "quay_tables.py", "quay_wire.py", "quay_calls.py"} {
		t.Run(name, func(t *testing.T) {
			compareGolden(t, filepath.Join("testdata", "server", name), files["sdk-py/oup/octet_oup/_generated/"+name])
		})
	}
}

func TestEmit_refusesServersWithNamesThatMeet(t *testing.T) {
	for want, edit := range map[string]func(*model.Wire){
		"both called berth_open":  func(w *model.Wire) { w.Methods[4].Name = "berth/open" },
		"both called MAX_BERTHS":  func(w *model.Wire) { w.Limits[0].Name = "max-berths" },
		"both called TABLE_BERTH": func(w *model.Wire) { w.Tables[0].Name, w.Models[0].Name = "berth", "TABLE_BERTH" },
	} {
		spec := server(t)
		edit(spec.Wires[0])
		if _, err := New().Emit(spec); err == nil || !strings.Contains(err.Error(), want) || !strings.Contains(err.Error(), `wire "quay-wire"`) {
			t.Errorf("error %v, want one that names the wire and %q", err, want)
		}
	}
}

func TestEmit_filesAndHeaders(t *testing.T) {
	files := emitted(t, everyKind())
	sources, err := filepath.Glob("support/*.py")
	if err != nil || len(sources) == 0 {
		t.Fatalf("no support modules: %v", err)
	}
	if want := len(sources) + 5; len(files) != want {
		t.Errorf("%d files, want %d: the support modules, the package file, services, events, hooks and one wire", len(files), want)
	}
	for path, data := range files {
		first, rest, _ := bytes.Cut(data, []byte("\n"))
		if !bytes.HasPrefix(first, []byte("# Code generated by octet-gen from ")) || !bytes.HasSuffix(first, []byte("; DO NOT EDIT.")) {
			t.Errorf("%s starts with %q", path, first)
		}
		if source, err := os.ReadFile("support/" + filepath.Base(path)); err == nil && !bytes.Equal(rest, source) {
			t.Errorf("%s is not a copy of its source", path)
		}
	}
}

func TestEmit_sameBytesTwice(t *testing.T) {
	first, second := emitted(t, everyKind()), emitted(t, everyKind())
	for path := range first {
		if !bytes.Equal(first[path], second[path]) {
			t.Errorf("%s differs between two runs", path)
		}
	}
}

func TestEmit_refusals(t *testing.T) {
	tests := []struct {
		name string
		edit func(*model.Wire)
		want string
	}{
		{"unknown type", func(w *model.Wire) { w.Models[0].Fields[1].Type.Kind = "dream" }, `type kind "dream"`},
		{"integer without bounds", func(w *model.Wire) { w.Models[0].Fields[3].Type.Minimum = nil }, "integer has no bounds"},
		{"two attributes alike", func(w *model.Wire) { w.Models[0].Fields[2].Name = "from_" }, "both called from_"},
		{"two constants alike", func(w *model.Wire) { w.Limits = append(w.Limits, &model.Limit{Name: "MAX-items"}) }, "both called MAX_ITEMS"},
		{"two enum values alike", func(w *model.Wire) { w.Models[2].Values[1].Value = "RED" }, "both called RED"},
		{"result of a scalar", func(w *model.Wire) { w.Methods[0].Shapes[0].Result = &model.Type{Kind: model.String} }, "neither a model nor an array"},
		{"ragged table", func(w *model.Wire) { w.Tables[1].Rows[0] = w.Tables[1].Rows[0][:1] }, "1 cells for 2 columns"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			spec := everyKind()
			test.edit(spec.Wires[0])
			files, err := New().Emit(spec)
			if err == nil || !strings.Contains(err.Error(), test.want) || !strings.Contains(err.Error(), `wire "every-kind"`) {
				t.Errorf("error %v, want one that names the wire and %q", err, test.want)
			}
			if files != nil {
				t.Error("files came back beside an error")
			}
		})
	}
}

func TestNames(t *testing.T) {
	attributes := map[string]string{"name": "name", "class": "class_", "type": "type", "encode": "encode_", "$schema": "schema", "x-y": "x_y", "1st": "_st", "é": "_", "a1": "a1"}
	for in, want := range attributes {
		if got := attribute(in); got != want {
			t.Errorf("attribute(%q) = %q, want %q", in, got, want)
		}
	}
	constants := map[string]string{"$/cancelRequest": "CANCEL_REQUEST", "tool/call": "TOOL_CALL", "0.3": "V0_3", "max_frame_bytes": "MAX_FRAME_BYTES", "migration.adapter.v1": "MIGRATION_ADAPTER_V1", "max_depth": "MAX_DEPTH_"}
	for in, want := range constants {
		if got := constant(in); got != want {
			t.Errorf("constant(%q) = %q, want %q", in, got, want)
		}
	}
}

func TestQuoted(t *testing.T) {
	for in, want := range map[string]string{`a"b\c`: `"a\"b\\c"`, "\n\t\x01": `"\n\t\x01"`, "é": `"é"`} {
		if got := quoted(in); got != want {
			t.Errorf("quoted(%q) = %s, want %s", in, got, want)
		}
	}
}

var _ emit.Emitter = emitter{}
