package wirejson

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// The models of these tests, by index.
const (
	recordModel = iota
	openModel
	unionModel
	textModel
	imageModel
	levelModel
	hueModel
	nameModel
	treeModel
)

var testSchema = Schema{
	MaxDepth: 16,
	ErrorNames: []ErrorName{
		{NotObject, "bad"}, {Unknown, "bad"}, {Missing, "bad"}, {ByteCount, "full"}, {ItemCount, "full"}, {DeferredTag, "later"},
	},
	EnvelopeError: "envelope",
	Models: []Model{
		{Name: "Record", Closed: true, Fields: []Field{
			{Name: "s", Required: true, Type: Type{Kind: StringType, MinBytes: 2, MaxBytes: Bound{Max: 4, Limit: "max_s"}, NotBlank: true, Pattern: &Pattern{Source: `^[a-z ]*$`}}},
			{Name: "c", Type: Type{Kind: ConstType, Const: "k"}},
			{Name: "b", Type: Type{Kind: BooleanType}, Nullable: true},
			{Name: "i", Type: Type{Kind: IntegerType, HasMin: true, Min: -2, HasMax: true, Max: 5, MaxLimit: "max_i"}},
			{Name: "n", Type: Type{Kind: NumberType, HasMin: true, Min: 0, HasMax: true, Max: 1}},
			{Name: "j", Type: Type{Kind: JSONType, MaxEncodedBytes: Bound{Max: 8}}},
			{Name: "o", Type: Type{Kind: ObjectType}},
			{Name: "id", Type: Type{Kind: IDType, MaxBytes: Bound{Max: 3}, HasMax: true, Max: 9}},
			{Name: "a", Type: Type{Kind: ArrayType, Elem: &Type{Kind: StringType, MaxBytes: Bound{Max: 2}}, MinItems: 1, MaxItems: Bound{Max: 3}, Unique: true}},
			{Name: "r", Type: Type{Kind: ArrayType, Elem: &Type{Kind: RefType, Ref: openModel}, UniqueBy: "key"}},
			{Name: "m", Type: Type{Kind: MapType, Elem: &Type{Kind: BooleanType}, Pattern: &Pattern{Source: `^[a-z]+$`}}},
			{Name: "u", Type: Type{Kind: RefType, Ref: unionModel}},
			{Name: "e", Type: Type{Kind: RefType, Ref: levelModel}},
			{Name: "x", Type: Type{Kind: RefType, Ref: hueModel}},
			{Name: "y", Type: Type{Kind: RefType, Ref: nameModel}},
		}},
		{Name: "Open", Envelope: true, Forbidden: []string{"second", "first"}, Fields: []Field{{Name: "key", Required: true, Type: Type{Kind: StringType}}}},
		{Name: "Part", Shape: UnionShape, Tag: "type", Variants: []Variant{{Tag: "text", Model: textModel}, {Tag: "image", Model: imageModel, Deferred: true}}},
		{Name: "Text", Closed: true, Fields: []Field{{Name: "type", Required: true, Type: Type{Kind: ConstType, Const: "text"}}, {Name: "text", Required: true, Type: Type{Kind: StringType}}}},
		{Name: "Image", Closed: true, Fields: []Field{{Name: "type", Required: true, Type: Type{Kind: ConstType, Const: "image"}}}},
		{Name: "Level", Shape: EnumShape, Values: []string{"low", "high"}},
		{Name: "Hue", Shape: EnumShape, Values: []string{"red"}, Open: true},
		{Name: "Name", Shape: AliasShape, Type: Type{Kind: StringType, MinBytes: 1}},
		{Name: "Tree", Fields: []Field{{Name: "children", Type: Type{Kind: ArrayType, Elem: &Type{Kind: RefType, Ref: treeModel}}}}},
	},
}

func TestValidate_reportsTheFirstViolation(t *testing.T) {
	for _, c := range []struct {
		model int
		text  string
		want  string // kind pointer, or "" for none
	}{
		{recordModel, `{"s":"ab"}`, ""},
		{recordModel, `[]`, "not_object "},
		{recordModel, `null`, "not_object "},
		{recordModel, `{"z":1,"é":1,"Z":1}`, "unknown /Z"},
		{recordModel, `{"~/":1}`, "unknown /~0~1"},
		{recordModel, `{}`, "missing /s"},
		{recordModel, `{"s":null,"c":1}`, "null /s"},
		{recordModel, `{"s":1}`, "type /s"},
		{recordModel, `{"s":"a"}`, "bytes /s"},
		{recordModel, `{"s":"abcde"}`, "bytes /s"},
		{recordModel, `{"s":"éé"}`, "pattern /s"},
		{recordModel, `{"s":"ééé"}`, "bytes /s"},
		{recordModel, `{"s":" \t"}`, "bytes /s"},
		{recordModel, `{"s":"A!"}`, "pattern /s"},
		{recordModel, `{"s":"ab","c":"l"}`, "value /c"},
		{recordModel, `{"s":"ab","c":null}`, "null /c"},
		{recordModel, `{"s":"ab","b":null}`, ""},
		{recordModel, `{"s":"ab","b":1}`, "type /b"},
		{recordModel, `{"s":"ab","i":6}`, "range /i"},
		{recordModel, `{"s":"ab","i":-3}`, "range /i"},
		{recordModel, `{"s":"ab","i":-2}`, ""},
		{recordModel, `{"s":"ab","i":1.0}`, "type /i"},
		{recordModel, `{"s":"ab","i":1e0}`, "type /i"},
		{recordModel, `{"s":"ab","i":"1"}`, "type /i"},
		{recordModel, `{"s":"ab","i":99999999999999999999}`, "range /i"},
		{recordModel, `{"s":"ab","n":1.5}`, "range /n"},
		{recordModel, `{"s":"ab","n":0.5}`, ""},
		{recordModel, `{"s":"ab","n":-0.5}`, "range /n"},
		{recordModel, `{"s":"ab","n":true}`, "type /n"},
		{recordModel, `{"s":"ab","j":[ 1, 2, 3 ]}`, ""},
		{recordModel, `{"s":"ab","j":[1,2,33]}`, ""},
		{recordModel, `{"s":"ab","j":[1,2,333]}`, "bytes /j"},
		{recordModel, `{"s":"ab","j":{"a":"\u0041"}}`, "bytes /j"},
		{recordModel, `{"s":"ab","j":null}`, "null /j"},
		{recordModel, `{"s":"ab","o":[]}`, "type /o"},
		{recordModel, `{"s":"ab","id":true}`, "id /id"},
		{recordModel, `{"s":"ab","id":""}`, "id /id"},
		{recordModel, `{"s":"ab","id":"abcd"}`, "id /id"},
		{recordModel, `{"s":"ab","id":"abc"}`, ""},
		{recordModel, `{"s":"ab","id":0}`, ""},
		{recordModel, `{"s":"ab","id":10}`, "id /id"},
		{recordModel, `{"s":"ab","id":-1}`, "id /id"},
		{recordModel, `{"s":"ab","id":-0}`, "id /id"},
		{recordModel, `{"s":"ab","id":1.0}`, "id /id"},
		{recordModel, `{"s":"ab","a":{}}`, "type /a"},
		{recordModel, `{"s":"ab","a":[]}`, "items /a"},
		{recordModel, `{"s":"ab","a":["a","b","c","d"]}`, "items /a"},
		{recordModel, `{"s":"ab","a":["a","b","c","ddd"]}`, "bytes /a/3"},
		{recordModel, `{"s":"ab","a":["a",null]}`, "null /a/1"},
		{recordModel, `{"s":"ab","a":["a","b","a"]}`, "duplicate /a/2"},
		{recordModel, `{"s":"ab","a":["a","\u0061","b"]}`, "duplicate /a/1"},
		{recordModel, `{"s":"ab","r":[{"key":"k"},{"key":"l"},{"key":"k"}]}`, "duplicate /r/2"},
		{recordModel, `{"s":"ab","r":[{"key":"k"},{}]}`, "missing /r/1/key"},
		{recordModel, `{"s":"ab","m":{"a":true,"B":true}}`, "pattern /m/B"},
		{recordModel, `{"s":"ab","m":{"a":null}}`, "null /m/a"},
		{recordModel, `{"s":"ab","m":{"b":1,"a":null}}`, "null /m/a"},
		{recordModel, `{"s":"ab","m":{"a":1}}`, "type /m/a"},
		{recordModel, `{"s":"ab","m":[]}`, "type /m"},
		{recordModel, `{"s":"ab","u":1}`, "not_object /u"},
		{recordModel, `{"s":"ab","u":{}}`, "tag /u/type"},
		{recordModel, `{"s":"ab","u":{"type":1}}`, "tag /u/type"},
		{recordModel, `{"s":"ab","u":{"type":null}}`, "tag /u/type"},
		{recordModel, `{"s":"ab","u":{"type":"video"}}`, "tag /u/type"},
		{recordModel, `{"s":"ab","u":{"type":"image","more":1}}`, "deferred /u/type"},
		{recordModel, `{"s":"ab","u":{"type":"text","more":1}}`, "unknown /u/more"},
		{recordModel, `{"s":"ab","u":{"type":"text"}}`, "missing /u/text"},
		{recordModel, `{"s":"ab","e":"mid"}`, "value /e"},
		{recordModel, `{"s":"ab","e":1}`, "type /e"},
		{recordModel, `{"s":"ab","x":"mauve"}`, ""},
		{recordModel, `{"s":"ab","x":1}`, "type /x"},
		{recordModel, `{"s":"ab","y":""}`, "bytes /y"},
		{recordModel, `{"i":6,"s":"a"}`, "bytes /s"},
		{openModel, `{"key":"k","other":[]}`, ""},
		{openModel, `{"first":1,"second":2}`, "forbidden /second"},
		{openModel, `{"first":1}`, "forbidden /first"},
		{treeModel, `{"children":[{"children":[{"children":[1]}]}]}`, "not_object /children/0/children/0/children/0"},
		{levelModel, `null`, "type "},
		{nameModel, `"n"`, ""},
	} {
		d, err := Parse([]byte(c.text), 16)
		if err != nil {
			t.Fatalf("%s: %v", c.text, err)
		}
		got := ""
		if v := testSchema.Validate(d.Root(), c.model); v != nil {
			got = string(v.Kind) + " " + v.Pointer
			if v.Model != testSchema.Models[c.model].Name || v.Detail == "" || strings.HasSuffix(v.Detail, ".") {
				t.Errorf("%s: model %q, detail %q", c.text, v.Model, v.Detail)
			}
		}
		if got != c.want {
			t.Errorf("%s: got %q, want %q", c.text, got, c.want)
		}
		d.Release()
	}
}

func TestValidate_needsRoomForTheOpenRecordsOnly(t *testing.T) {
	v := parse(t, `{"children":[`+strings.Repeat(`{"children":[]},`, 10_000)+`{}]}`)
	if bad := testSchema.Validate(v, treeModel); bad != nil {
		t.Fatal(bad)
	}
	if room := cap(v.doc.slots); room > 1_000 {
		t.Errorf("two open records took %d slots", room)
	}
}

func TestEach_reportsEveryViolationInOrder(t *testing.T) {
	const text = `{"q":1,"p":1,"c":1,"b":"x","a":["aaa","b","b"],"m":{"x":null,"y":1},"r":[{"key":"k"},{"key":"k"},{"key":"k"}],"u":{"type":"text","z":1}}`
	want := []string{
		"unknown /p", "unknown /q", "missing /s", "type /c", "type /b", "bytes /a/0", "duplicate /a/2",
		"duplicate /r/1", "duplicate /r/2", "null /m/x", "type /m/y", "unknown /u/z", "missing /u/text",
	}
	v := parse(t, text)
	var got []string
	testSchema.Each(v, recordModel, func(v *Violation) bool {
		got = append(got, string(v.Kind)+" "+v.Pointer)
		return true
	})
	if !slices.Equal(got, want) {
		t.Errorf("got\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for stop := 1; stop <= len(want); stop++ {
		count := 0
		testSchema.Each(v, recordModel, func(*Violation) bool { count++; return count < stop })
		if count != stop {
			t.Errorf("asked to stop after %d, got %d reports", stop, count)
		}
	}
}

func TestViolation_namesTheErrorOfTheWire(t *testing.T) {
	for _, c := range []struct {
		model int
		text  string
		want  string
	}{
		{recordModel, `{}`, "bad"},
		{recordModel, `{"s":"abcdef"}`, "full"},
		{recordModel, `{"s":"ab","u":{"type":"image"}}`, "later"},
		{recordModel, `{"s":"ab","r":[{}]}`, "bad"},
		{openModel, `{}`, "envelope"},
		{recordModel, `{"s":1}`, ""},
	} {
		v := testSchema.Validate(parse(t, c.text), c.model)
		if v == nil || v.ErrorName != c.want {
			t.Errorf("%s: got %+v, want error %q", c.text, v, c.want)
		}
	}
}

func TestViolation_tellsRuleAndRemedy(t *testing.T) {
	for text, want := range map[string]string{
		`{"s":"abcdef"}`:             `Record at "/s": the string has 6 bytes, want at most max_s (4)`,
		`{"s":"ab","i":9}`:           `Record at "/i": 9 is out of range, want at least -2 and at most max_i (5)`,
		`{"s":"ab","e":"mid"}`:       `Record at "/e": "mid" is not a Level; use one of low, high`,
		`{"s":"ab","wrong\"name":1}`: `Record at "/wrong\"name": Record has no member "wrong\"name"; leave it out`,
	} {
		v := testSchema.Validate(parse(t, text), recordModel)
		if v == nil || v.Error() != want {
			t.Errorf("got  %v\nwant %s", v, want)
		}
	}
}

func TestViolation_cutsWhatAPeerSent(t *testing.T) {
	long := strings.Repeat("é", 10_000)
	v := testSchema.Validate(parse(t, `{"s":"ab","e":"`+long+`"}`), recordModel)
	if v == nil || len(v.Error()) > 400 || !strings.Contains(v.Error(), "...") {
		t.Errorf("the message has %d bytes and must be cut", len(fmt.Sprint(v)))
	}
}

func TestCheck_separatesSyntaxFromShape(t *testing.T) {
	if _, err := testSchema.Check([]byte(`{`), recordModel); err == nil {
		t.Error("broken text was accepted")
	} else if _, ok := err.(*SyntaxError); !ok {
		t.Errorf("got a %T, want a *SyntaxError", err)
	}
	if _, err := testSchema.Check([]byte(`{}`), recordModel); err == nil {
		t.Error("a broken shape was accepted")
	} else if _, ok := err.(*Violation); !ok {
		t.Errorf("got a %T, want a *Violation", err)
	}
	d, err := testSchema.Check([]byte(`{"s":"ab"}`), recordModel)
	if err != nil {
		t.Fatal(err)
	}
	d.Release()
}

// FuzzValidate looks for input that makes the validator panic, give unstable answers, or point nowhere.
func FuzzValidate(f *testing.F) {
	for _, text := range accepted {
		f.Add([]byte(text))
	}
	f.Add([]byte(`{"s":"ab","u":{"type":"text"},"a":["x","x"],"m":{"k":true},"r":[{"key":"1"}],"id":1,"j":{},"children":[{}]}`))
	f.Fuzz(func(t *testing.T, text []byte) {
		d, err := Parse(text, 16)
		if err != nil {
			return
		}
		defer d.Release()
		for model := range testSchema.Models {
			var all []*Violation
			testSchema.Each(d.Root(), model, func(v *Violation) bool {
				all = append(all, v)
				return true
			})
			first := testSchema.Validate(d.Root(), model)
			if (first == nil) != (len(all) == 0) || first != nil && *first != *all[0] {
				t.Fatalf("first violation %v, all %v", first, all)
			}
			for _, v := range all {
				if v.Kind != Missing && v.Kind != WrongTag && !resolves(d.Root(), v.Pointer) {
					t.Fatalf("%v points nowhere in %q", v, text)
				}
			}
		}
	})
}

func resolves(v Value, pointer string) bool {
	for _, token := range strings.Split(pointer, "/")[1:] {
		token = strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
		next := v.Member(token)
		index := 0
		for e := v.Elements(); e.Next(); index++ {
			if fmt.Sprint(index) == token {
				next = e.Value()
			}
		}
		if v = next; v.Kind() == KindInvalid {
			return false
		}
	}
	return true
}
