// Package derive makes vectors out of schemas: for every model the ordinary value, both ends of every
// bound, the four states of every member (absent, null, empty, unknown), and every way to break one fact.
//
// What a codec must answer follows from how the vector was made, never from running a codec. Each
// illegal vector has one fault and names the legal one that it was made from, so that mending the fault
// is shown to make it legal.
package derive

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strings"

	"github.com/octet-dev/octet/gen/located"
	"github.com/octet-dev/octet/gen/model"
)

// Vector is one derived vector, as it is written.
type Vector struct {
	ID        string  `json:"id"`
	Note      string  `json:"note"`
	Model     string  `json:"model"`
	Text      string  `json:"text"` // @@REP:X:N@@ stands for N copies of X
	Verdict   string  `json:"verdict"`
	Encoded   string  `json:"encoded,omitempty"` // where it differs from Text
	Pointer   *string `json:"pointer,omitempty"`
	Violation string  `json:"violation,omitempty"`
	Error     string  `json:"error,omitempty"`
	Mended    string  `json:"mended,omitempty"` // id of the legal vector that differs in the one fault
}

// Document returns the vectors of a wire in the form of the files in spec/vectors, one vector a line.
func Document(w *model.Wire) ([]byte, error) {
	all, err := Wire(w)
	if err != nil {
		return nil, err
	}
	var b bytes.Buffer
	fmt.Fprintf(&b, "{\"wire\": %q, \"op\": \"model\", \"vectors\": [\n", w.Name)
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	for i, v := range all {
		if i > 0 {
			b.WriteByte(',')
		}
		if err := encoder.Encode(v); err != nil {
			return nil, err
		}
	}
	b.WriteString("]}\n")
	return b.Bytes(), nil
}

// deriver makes the vectors of one wire.
type deriver struct {
	wire *model.Wire
	errs *located.List
	at   *model.Model // the root model
	made []Vector
	ids  map[string]string // id by model and text, of legal vectors
}

// Wire returns the vectors of a wire, in the order of its models. The error names the places from which
// no legal value could be made.
func Wire(w *model.Wire) ([]Vector, error) {
	d := &deriver{wire: w, errs: new(located.List), ids: map[string]string{}}
	for _, m := range w.Models {
		d.at = m
		d.root(m)
	}
	return d.made, d.errs.Err()
}

// legal adds a legal vector and returns its id.
func (d *deriver) legal(note, text, encoded string) string {
	key := d.at.Name + "\n" + text
	if id, known := d.ids[key]; known {
		return id
	}
	v := Vector{ID: d.id(), Note: note, Model: d.at.Name, Text: text, Verdict: "accept"}
	if encoded != text {
		v.Encoded = encoded
	}
	d.made = append(d.made, v)
	d.ids[key] = v.ID
	return v.ID
}

func (d *deriver) sound(note string, v value) string {
	text := spell(v)
	return d.legal(note, text, text)
}

// broken adds an illegal vector. Where the fault does not say what mends it, the given vector does.
func (d *deriver) broken(mended string, f fault) {
	if f.mended != nil {
		mended = d.sound("the legal counterpart of an illegal vector", f.mended)
	}
	name := ""
	for _, row := range d.wire.Violations {
		if row.Violation == f.violation {
			name = row.Error
		}
	}
	if d.at.Envelope {
		name = d.wire.EnvelopeError
		if d.wire.VersionError != "" && f.pointer == pointer(model.VersionMember) {
			name = d.wire.VersionError
		}
	}
	d.made = append(d.made, Vector{
		ID: d.id(), Note: f.note, Model: d.at.Name, Text: spell(f.value),
		Verdict: "reject", Pointer: &f.pointer, Violation: string(f.violation), Error: name, Mended: mended,
	})
}

func (d *deriver) id() string {
	return fmt.Sprintf("%s-%s-%d", strings.TrimPrefix(d.wire.Name, "extension-"), strings.ToLower(d.at.Name), len(d.made)+1)
}

// root makes the vectors of one model.
func (d *deriver) root(m *model.Model) {
	if m.Kind == model.Record {
		d.rootRecord(m)
		return
	}
	plain := d.model(m)
	mended := d.sound("the ordinary value", plain)
	for _, v := range d.modelVariants(m) {
		d.sound(v.note, v.value)
	}
	if m.Kind != model.Alias || m.Type.Kind != model.JSON {
		d.broken(mended, fault{"null", nil, "", nullViolation(m), nil})
	}
	for _, f := range d.modelFaults(m, 1) {
		d.broken(mended, f)
	}
}

// nullViolation is what null is at the root of a model that is no record, where no member says whether it is
// legal.
func nullViolation(m *model.Model) model.Violation {
	if m.Kind == model.Union {
		return model.NotObject
	}
	return model.WrongType
}

func (d *deriver) rootRecord(m *model.Model) {
	plain := d.record(m)
	mended := d.sound("the required members", plain)
	full := d.full(m, 0)
	d.sound("every member", full)
	if len(full) > 0 {
		d.legal("another legal spelling", loose(full), spell(full))
	}
	d.broken(mended, fault{"null", nil, "", model.NotObject, nil})
	for _, f := range wrongTypes(model.NotObject, "object") {
		d.broken(mended, f)
	}
	if m.Closed {
		d.broken(mended, fault{"an unlisted member", plain.with(unlisted, number("1")), pointer(unlisted), model.Unknown, nil})
	} else {
		d.sound("an unlisted member is kept", plain.with(unlisted, object{{"b", number("2")}, {"a", nil}}))
	}
	for _, name := range m.Forbidden {
		d.broken(mended, fault{"the forbidden member " + quoted(name), plain.with(name, nil), pointer(name), model.Forbidden, nil})
	}
	d.together(m)
	for _, f := range m.Fields {
		d.field(m, f)
	}
}

// together makes the vectors of members that exclude each other.
func (d *deriver) together(m *model.Model) {
	field := func(name string) *model.Field {
		for _, f := range m.Fields {
			if f.Name == name {
				return f
			}
		}
		panic("derive: no field " + name) // the loader has checked it
	}
	if names := m.ExactlyOne; len(names) > 0 {
		plain := d.record(m)
		d.broken(d.sound("the required members", plain), fault{"none of " + strings.Join(names, ", "), plain.without(names[0]), pointer(names[0]), model.Missing, nil})
	}
	for _, names := range [][]string{m.ExactlyOne, m.AtMostOne} {
		for i := 1; i < len(names); i++ {
			one := d.carrying(m, field(names[0]), d.plain(field(names[0]).Type))
			both := one.with(names[i], d.plain(field(names[i]).Type))
			d.broken(d.sound("only "+quoted(names[0]), one), fault{"both " + quoted(names[0]) + " and " + quoted(names[i]), both, pointer(names[i]), model.Forbidden, nil})
		}
	}
}

// field makes the vectors of one member: its states and its values.
func (d *deriver) field(m *model.Model, f *model.Field) {
	name := quoted(f.Name)
	with := func(v value) object { return d.carrying(m, f, v) }
	mended := d.sound("with "+name, with(d.plain(f.Type)))
	if f.Required {
		d.broken(mended, fault{"without " + name, with(nil).without(f.Name), pointer(f.Name), model.Missing, nil})
	}
	switch {
	case f.Nullable && !slices.Contains(m.ExactlyOne, f.Name):
		d.sound(name+" is null", with(nil))
	case !f.Nullable:
		d.broken(mended, fault{name + " is null", with(nil), pointer(f.Name), model.Null, nil})
	}
	for _, v := range d.variants(f.Type) {
		d.sound(name+": "+v.note, with(v.value))
	}
	for _, bad := range d.faults(f.Type) {
		d.broken(mended, bad.in(name+": ", pointer(f.Name), d.plain(f.Type), func(v value) value { return with(v) }))
	}
}
