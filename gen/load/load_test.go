package load

import (
	"errors"
	"io/fs"
	"os"
	"strings"
	"testing"
	"testing/fstest"

	"github.com/octet-dev/octet/gen/located"
	"github.com/octet-dev/octet/gen/model"
)

func TestLoad_readsTheSpec(t *testing.T) {
	spec, err := Load(os.DirFS("../../spec"))
	if err != nil {
		t.Fatal(err)
	}
	if len(spec.Wires) < 3 || len(spec.Rules) < 120 || len(spec.Areas) == 0 {
		t.Errorf("got %d wires, %d rules, %d areas", len(spec.Wires), len(spec.Rules), len(spec.Areas))
	}
}

// tree returns the spec of a golden case in memory, with the meta-schemas of the real spec.
func tree(t *testing.T, name string) fstest.MapFS {
	t.Helper()
	files := fstest.MapFS{}
	add := func(dir, prefix string) {
		err := fs.WalkDir(os.DirFS(dir), ".", func(name string, entry fs.DirEntry, err error) error {
			if err != nil || entry.IsDir() {
				return err
			}
			data, err := fs.ReadFile(os.DirFS(dir), name)
			files[prefix+name] = &fstest.MapFile{Data: data}
			return err
		})
		if err != nil {
			t.Fatal(err)
		}
	}
	add("../testdata/"+name+"/spec", "")
	add("../../spec/meta", "meta/")
	return files
}

func load(t *testing.T, files fs.FS) *model.Spec {
	t.Helper()
	spec, err := Load(files)
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

func find(t *testing.T, w *model.Wire, name string) *model.Model {
	t.Helper()
	for _, m := range w.Models {
		if m.Name == name {
			return m
		}
	}
	t.Fatalf("no model %s", name)
	return nil
}

func TestLoad_resolvesBoundsAndReferences(t *testing.T) {
	w := load(t, tree(t, "shapes")).Wires[0]
	if w.MaxDepth != 9 || w.EnvelopeError != "bad_parcel" || len(w.Violations) != len(model.Violations) {
		t.Errorf("depth %d, envelope error %q, %d violations", w.MaxDepth, w.EnvelopeError, len(w.Violations))
	}
	parcel := find(t, w, "Parcel")
	fields := map[string]*model.Field{}
	for _, f := range parcel.Fields {
		fields[f.Name] = f
	}
	if !parcel.Closed || !parcel.Envelope || parcel.Pointer != "/$defs/Parcel" || parcel.File != "parcel/models.json" {
		t.Errorf("parcel: %+v", parcel)
	}
	if parcel.Fields[0].Name != "version" || parcel.Fields[len(parcel.Fields)-1].Name != "extra" {
		t.Error("fields left the order of the spec")
	}
	if b := fields["note"].Type.MaxBytes; b == nil || *b != (model.Bound{Value: 8, Limit: "max_note_bytes"}) {
		t.Errorf("note: %+v", b)
	}
	if id := fields["id"].Type; *id.MaxBytes != (model.Bound{Value: 16, Limit: "max_id_bytes"}) || *id.Minimum != 0 || *id.Maximum != 1<<53-1 {
		t.Errorf("id: %+v", id)
	}
	if b := fields["balance"].Type; *b.Minimum != -(1<<53-1) || *b.Maximum != 1<<53-1 {
		t.Errorf("balance: %d to %d", *b.Minimum, *b.Maximum)
	}
	if b := fields["weight"].Type; *b.Maximum != 500 || b.MaximumLimit != "max_weight" || !fields["weight"].Required || !fields["weight"].Nullable {
		t.Errorf("weight: %+v", b)
	}
	if f := fields["extra"]; len(f.Versions) != 1 || f.Versions[0] != "0.2" {
		t.Errorf("extra: %+v", f)
	}
	if f := fields["priority"]; len(f.Versions) != 0 || f.Type.Ref != find(t, w, "Priority") {
		t.Errorf("priority: %+v", f)
	}
	item := find(t, w, "Item")
	if len(item.Variants) != 3 || item.Variants[2].TagValue != "liquid" || !item.Variants[2].Deferred || item.Variants[0].Deferred {
		t.Errorf("item: %+v", item.Variants)
	}
	if p := find(t, w, "Label").Type.Pattern; p != `^[^\x00-\x1f\x7f]+$` {
		t.Errorf("the pattern reaches emitters as %q", p)
	}
}

func TestLoad_putsTheGeneralShapeFirst(t *testing.T) {
	w := load(t, tree(t, "contract")).Wires[0]
	land := w.Methods[0]
	if got := strings.Join(land.Shapes[0].Versions, ","); got != "0.2,0.4" {
		t.Errorf("the general shape holds for %s", got)
	}
	if s := land.Shapes[1]; s.Params == nil || s.Params.Name != "LandParams" || s.Result.Ref.Name != "BerthV01" {
		t.Errorf("a shape that names only its result must keep the params: %+v", s)
	}
	if list := w.Methods[1]; list.Shapes[0].Result.Kind != model.Array || !list.Shapes[1].Nullable || list.Shapes[0].Nullable {
		t.Errorf("ship/list: %+v", list.Shapes)
	}
}

func TestLoad_reportsEveryFaultOfAStage(t *testing.T) {
	files := tree(t, "shapes")
	edit(t, files, "parcel/models.json", `"x-max-bytes": "max_note_bytes"`, `"x-max-bytes": "max_nothing"`)
	edit(t, files, "parcel/models.json", `"$ref": "#/$defs/Colour"`, `"$ref": "#/$defs/Color"`)
	edit(t, files, "parcel/errors.json", `"bytes": "too_big"`, `"bytes": "too_large"`)
	_, err := Load(files)
	var faults located.Errors
	if !errors.As(err, &faults) || len(faults) != 3 {
		t.Fatalf("got %v, want three faults", err)
	}
	if faults[0].File != "parcel/errors.json" || faults[1].File != "parcel/models.json" {
		t.Errorf("faults are not ordered by file: %v", err)
	}
}

// edit replaces the first occurrence of a text in a file.
func edit(t *testing.T, files fstest.MapFS, name, old, replacement string) {
	t.Helper()
	f := files[name]
	if f == nil || !strings.Contains(string(f.Data), old) {
		t.Fatalf("%s does not hold %q", name, old)
	}
	f.Data = []byte(strings.Replace(string(f.Data), old, replacement, 1))
}
