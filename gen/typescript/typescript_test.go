package typescript

import (
	"bytes"
	"flag"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/octet-dev/octet/gen/emit"
	"github.com/octet-dev/octet/gen/load"
	"github.com/octet-dev/octet/gen/model"
)

var update = flag.Bool("update", false, "rewrite the expected files")

func number(n int64) *int64 { return &n }

// everyShape returns a wire that uses every kind of model, type and table once.
func everyShape() *model.Wire {
	part := &model.Model{Name: "TextPart", Doc: "Text.", Kind: model.Record, Closed: true, Fields: []*model.Field{
		{Name: "type", Type: &model.Type{Kind: model.Const, Const: "text"}, Required: true},
		{Name: "text", Doc: "Ends a comment: */", Type: &model.Type{Kind: model.String, MinBytes: 1, MaxBytes: &model.Bound{Value: 8, Limit: "max_text_bytes"}, NotBlank: true, Pattern: `^[a-z/"]+$`}, Required: true},
	}}
	late := &model.Model{Name: "LatePart", Kind: model.Record, Closed: true, Fields: part.Fields[:1]}
	union := &model.Model{Name: "Part", Doc: "A part.", Source: "sheet 1", Kind: model.Union, Tag: "type", Variants: []*model.Variant{
		{TagValue: "text", Record: part}, {TagValue: "late", Record: late, Deferred: true},
	}}
	level := &model.Model{Name: "Level", Kind: model.Enum, Open: true, Values: []model.EnumValue{{Value: "low"}, {Value: "high"}}}
	name := &model.Model{Name: "ItemName", Kind: model.Alias, Type: &model.Type{Kind: model.String}, Versions: []string{"2"}}
	ref := func(m *model.Model) *model.Type { return &model.Type{Kind: model.Ref, Ref: m} }
	object := &model.Model{Name: "Given", Kind: model.Record, Closed: true, ExactlyOne: []string{"data", "path"}, AtMostOne: []string{"path", "note"}, Fields: []*model.Field{
		{Name: "parent_request_id", Type: &model.Type{Kind: model.Integer, Minimum: number(0), Maximum: number(9)}, Required: true},
		{Name: "data", Type: &model.Type{Kind: model.String, Controls: model.TextControls}},
		{Name: "path", Type: &model.Type{Kind: model.String, Controls: model.NoControls, Pattern: "^[^/]+$"}},
		{Name: "note", Type: &model.Type{Kind: model.Array, Elem: &model.Type{Kind: model.String, Controls: model.EditControls}, MaxEncodedBytes: &model.Bound{Value: 64}}, Nullable: true},
	}}
	choice := &model.Model{Name: "Choice", Doc: "A word or an object.", Kind: model.Choice, Word: level, Object: object}
	record := &model.Model{Name: "Everything", Doc: "One of each.", Kind: model.Record, Envelope: true, Forbidden: []string{"old"}, Versions: []string{"1", "2"}, Fields: []*model.Field{
		{Name: "id", Type: &model.Type{Kind: model.ID, MaxBytes: &model.Bound{Value: 256}, Maximum: number(9)}, Required: true, Nullable: true},
		{Name: "flag", Type: &model.Type{Kind: model.Boolean}},
		{Name: "count", Type: &model.Type{Kind: model.Integer, Minimum: number(0), Maximum: number(maxSafeInteger)}},
		{Name: "ratio", Type: &model.Type{Kind: model.Number}},
		{Name: "any", Type: &model.Type{Kind: model.JSON, MaxEncodedBytes: &model.Bound{Value: 64}}, Nullable: true},
		{Name: "some", Type: &model.Type{Kind: model.JSON}},
		{Name: "x-object", Type: &model.Type{Kind: model.Object}},
		{Name: "parts", Type: &model.Type{Kind: model.Array, Elem: ref(union), MinItems: 1, MaxItems: &model.Bound{Value: 3}, UniqueBy: "text"}},
		{Name: "grid", Type: &model.Type{Kind: model.Array, Unique: true, Elem: &model.Type{Kind: model.Array, Elem: ref(name)}}},
		{Name: "map", Type: &model.Type{Kind: model.Map, Elem: ref(level), KeyPattern: "^k$"}},
		{Name: "either", Type: ref(choice)},
	}}
	empty := &model.Model{Name: "Empty", Kind: model.Record, Closed: true}
	open := &model.Model{Name: "OpenEmpty", Kind: model.Record}
	return &model.Wire{
		Name: "every-shape", Title: "Every shape", Doc: "One of each.", Versions: []string{"1", "2"},
		Module: model.Module{TypeScript: "every-shape"}, Files: model.Files{Models: model.Part{"every-shape/models.json"}, Methods: model.Part{"every-shape/openrpc.json"}},
		EnvelopeError: "invalid_request", MaxDepth: 32,
		Models: []*model.Model{part, late, union, level, name, object, choice, record, empty, open},
		Methods: []*model.Method{
			{Name: "tool/call", Doc: "Calls.", Versions: []string{"1", "2"}, Direction: model.HostToExtension, Gate: "-", Status: "active", Shapes: []model.MethodShape{
				{Versions: []string{"1"}, Params: record, Result: &model.Type{Kind: model.Array, Elem: ref(union)}, Nullable: true}, {Versions: []string{"2"}, Params: record, Result: ref(record)},
			}},
			{Name: "$/cancelRequest", Notification: true, Versions: []string{"2"}, Direction: model.Both, Gate: "core", Offer: "required", Terminal: "none", Status: "deferred"},
			{
				Name: "note/put_in", Doc: "Puts a note.", Source: "sheet 2", Versions: []string{"2"}, Direction: model.ExtensionToHost, Gate: "-", Status: "active", Parent: model.ParentRequired,
				Service: model.Service{Noun: "note_book", Verb: "put_in"}, Shapes: []model.MethodShape{{Versions: []string{"2"}, Params: object, Result: ref(empty)}},
			},
			{
				Name: "note/list", Doc: "Lists notes.", Versions: []string{"2"}, Direction: model.ExtensionToHost, Gate: "-", Status: "active", Parent: model.ParentNone,
				Service: model.Service{Noun: "note_book", Verb: "list"}, Shapes: []model.MethodShape{{Versions: []string{"2"}, Params: empty, Result: &model.Type{Kind: model.Array, Elem: ref(object)}, Nullable: true}},
			},
			{
				Name: "note", Doc: "Tells.", Versions: []string{"2"}, Direction: model.ExtensionToHost, Notification: true, Gate: "-", Status: "active", Parent: model.ParentOptional,
				Service: model.Service{Noun: "tell", Verb: "all"}, Shapes: []model.MethodShape{{Versions: []string{"2"}, Params: open}},
			},
			{
				Name: "turn/started", Doc: "A turn starts.", Versions: []string{"2"}, Direction: model.HostToExtension, Notification: true, Gate: "request_progress", Status: "active",
				Service: model.Service{Noun: "events", Verb: "turn_started"}, Shapes: []model.MethodShape{{Versions: []string{"2"}, Params: object}},
			},
		},
		Hooks: []*model.Hook{
			{Name: "before_it", Versions: []string{"2"}, Feature: "request_progress", Payload: object, Result: open, Merge: "first wins", Failure: "go on", Deny: "honoured", Doc: "Before it."},
			{Name: "after_it", Versions: []string{"1", "2"}, Feature: "-", Payload: object, Result: object, Merge: "none.", Failure: "none", Deny: "ignored", Doc: "After it.", Source: "sheet 3"},
		},
		Errors:       []*model.ErrorCode{{Name: "request_cancelled", Code: -32800, Message: "request cancelled", Fixed: true, Doc: "Given up."}},
		Violations:   []model.ViolationError{{Violation: model.Missing, Error: "invalid_params"}},
		Limits:       []*model.Limit{{Name: "max_text_bytes", Value: 8, Unit: "bytes", Negotiable: true, Doc: "One text."}},
		Features:     []*model.Feature{{Name: "request_progress", Versions: []string{"2"}, DependsOn: []string{"core"}, Offered: "always", Doc: "Progress."}},
		Capabilities: []*model.Capability{{Name: "migration.adapter.v1", Offer: "optional", Status: "foundation", Needs: []string{"tool/call"}, Doc: "Import."}},
		Tables: []*model.Table{
			{Name: "words", Doc: "Words.", Columns: []string{"word"}, Rows: [][]string{{"one"}, {"two"}}},
			{Name: "pairs", Doc: "Pairs.", Columns: []string{"key", "value"}, Rows: [][]string{{"a-b", "1"}, {"c", "2"}}},
			{Name: "repeated", Doc: "A key twice.", Columns: []string{"key", "value"}, Rows: [][]string{{"a", "1"}, {"a", "2"}}},
		},
	}
}

// files returns what the emitter makes, by path.
func files(t *testing.T, spec *model.Spec) map[string][]byte {
	t.Helper()
	list, err := New().Emit(spec)
	if err != nil {
		t.Fatal(err)
	}
	byPath := map[string][]byte{}
	for _, file := range list {
		if _, twice := byPath[file.Path]; twice {
			t.Fatalf("path %q emitted twice", file.Path)
		}
		byPath[file.Path] = file.Data
	}
	return byPath
}

func TestEmit_everyShape(t *testing.T) {
	emitted := files(t, &model.Spec{Wires: []*model.Wire{everyShape()}})
	for _, name := range []string{"every-shape.ts", "services.ts", "events.ts", "hooks.ts"} {
		t.Run(name, func(t *testing.T) { matchGolden(t, "every_shape/"+name, emitted[Folder+"/"+name]) })
	}
}

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

func TestEmit_server(t *testing.T) {
	matchGolden(t, "server/quay-calls.ts", files(t, server(t))[ServerFolder+"/quay-calls.ts"])
	spec := server(t)
	spec.Wires[0].Methods[4].Name = "berth/open"
	const want = `wire "quay-wire": method berth/open and method berth/open would both be named "berthOpen"`
	if _, err := New().Emit(spec); err == nil || !strings.Contains(err.Error(), want) {
		t.Errorf("error %v, want %s", err, want)
	}
}

func matchGolden(t *testing.T, name string, got []byte) {
	t.Helper()
	golden := filepath.Join("testdata", filepath.FromSlash(name)+".golden")
	if *update {
		if err := os.WriteFile(golden, got, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	wantLines, gotLines := strings.Split(string(want), "\n"), strings.Split(string(got), "\n")
	for i := range max(len(wantLines), len(gotLines)) {
		if line(wantLines, i) != line(gotLines, i) {
			t.Fatalf("%s differs from %s at line %d:\nwant %s\ngot  %s", name, golden, i+1, line(wantLines, i), line(gotLines, i))
		}
	}
}

func line(lines []string, i int) string {
	if i >= len(lines) {
		return "nothing"
	}
	return strconv.Quote(lines[i])
}

func TestEmit_isDeterministic(t *testing.T) {
	first := files(t, &model.Spec{Wires: []*model.Wire{everyShape()}})
	second := files(t, &model.Spec{Wires: []*model.Wire{everyShape()}})
	if len(first) != len(second) {
		t.Fatalf("%d files, then %d", len(first), len(second))
	}
	for path, data := range first {
		if !bytes.Equal(data, second[path]) {
			t.Errorf("%s differs between two runs", path)
		}
	}
}

func TestEmit_copiesTheSupportSources(t *testing.T) {
	got := files(t, &model.Spec{})
	entries, err := os.ReadDir("support")
	if err != nil {
		t.Fatal(err)
	}
	const surfaces = 3 // services, events and hooks stand there for an empty spec too
	if len(entries) != len(got)-surfaces {
		t.Fatalf("%d support sources, %d copies", len(entries), len(got)-surfaces)
	}
	for _, entry := range entries {
		source, err := os.ReadFile(filepath.Join("support", entry.Name()))
		if err != nil {
			t.Fatal(err)
		}
		data := got[Folder+"/"+entry.Name()]
		first, rest, _ := bytes.Cut(data, []byte("\n\n"))
		if string(first) != "// "+emit.Marker("gen/typescript/support/"+entry.Name()) {
			t.Errorf("%s starts with %q", entry.Name(), first)
		}
		if !bytes.Equal(rest, source) {
			t.Errorf("%s is no copy of its source", entry.Name())
		}
	}
}

func TestEmit_refusesWhatTypeScriptCannotExpress(t *testing.T) {
	cases := []struct {
		name  string
		spoil func(*model.Wire)
		want  string
	}{
		{"rounded integer", func(w *model.Wire) { w.Limits[0].Value = 1 << 53 }, "beyond the integers"},
		{"same constant", func(w *model.Wire) { w.Limits = append(w.Limits, &model.Limit{Name: "max-text-bytes"}) }, `limit max_text_bytes and limit max-text-bytes would both be named "MAX_TEXT_BYTES"`},
		{"no name", func(w *model.Wire) { w.Tables[0].Name = "1st" }, "table 1st has no TypeScript name"},
		{"unknown type", func(w *model.Wire) { w.Models[4].Type.Kind = "decimal" }, `type kind "decimal"`},
		{"unbounded id", func(w *model.Wire) { w.Models[7].Fields[0].Type.Maximum = nil }, "an id needs both its bounds"},
		{"service without parameters", func(w *model.Wire) { w.Methods[2].Shapes[0].Params = nil }, "service note_book.put_in of note/put_in has no parameters"},
		{"event without parameters", func(w *model.Wire) { w.Methods[5].Shapes[0].Params = nil }, "service events.turn_started of turn/started has no parameters"},
		{"two kinds of one service", func(w *model.Wire) { w.Methods[4].Service = w.Methods[3].Service }, "service note_book.list of note is a request on one wire and a notification on another"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			wire := everyShape()
			c.spoil(wire)
			_, err := New().Emit(&model.Spec{Wires: []*model.Wire{wire}})
			if err == nil || !strings.Contains(err.Error(), c.want) || !strings.HasPrefix(err.Error(), `wire "every-shape": `) {
				t.Errorf("error %v, want one about %q in wire every-shape", err, c.want)
			}
		})
	}
}

func TestConstant_spellings(t *testing.T) {
	for name, want := range map[string]string{
		"tool/call": "TOOL_CALL", "$/cancelRequest": "CANCEL_REQUEST", "migration.adapter.v1": "MIGRATION_ADAPTER_V1",
		"max_text_bytes": "MAX_TEXT_BYTES", "agent/follow_up": "AGENT_FOLLOW_UP", "ui/editor-text": "UI_EDITOR_TEXT",
	} {
		if got := constant(name); got != want {
			t.Errorf("constant(%q) = %q, want %q", name, got, want)
		}
	}
}
