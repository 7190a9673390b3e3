package extension

import (
	"encoding/json"
	"reflect"
	"testing"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"pgregory.net/rapid"

	"github.com/octet-dev/octet/generated/wirejson"
)

type loudText string

// UnmarshalText gives the type a form of its own.
func (l *loudText) UnmarshalText(text []byte) error {
	*l = loudText(text) + "!"
	return nil
}

type filled struct {
	Text    string `json:"text"`
	Plain   bool
	Small   int8          `json:"small,omitempty"`
	Large   int64         `json:"large"`
	Many    []int         `json:"many"`
	Pointer *int          `json:"pointer"`
	Kind    Level         `json:"kind"`
	Loud    loudText      `json:"loud"`
	Wait    time.Duration `json:"wait"`
	Out     string        `json:"-"`
	hidden  string
}

// fill decodes as a tool does, with and without the filler.
func fill(t interface{ Fatal(...any) }, text []byte) (quick, general filled, complete bool, err error) {
	document, bad := wirejson.Parse(text, wirejson.DefaultMaxDepth)
	if bad != nil {
		t.Fatal(bad)
	}
	defer document.Release()
	complete = newFiller(reflect.TypeFor[filled]()).fill(reflect.ValueOf(&quick).Elem(), document.Root())
	if !complete {
		if err := jsonv2.Unmarshal(text, &quick, encoding); err != nil {
			return quick, general, false, err
		}
	}
	return quick, general, complete, jsonv2.Unmarshal(text, &general, encoding)
}

func TestFiller_fillsWhatItKnows(t *testing.T) {
	for text, want := range map[string]bool{
		`{}`: true,
		`{"text":"a\nb\ud83d\ude00","Plain":true,"small":-128,"large":9007199254740991,"kind":"info"}`: true,
		`{"small":128}`:         false,
		`{"small":1.0}`:         false,
		`{"text":null}`:         false,
		`{"text":1}`:            false,
		`{"many":[1]}`:          false,
		`{"pointer":1}`:         false,
		`{"loud":"a"}`:          false,
		`{"wait":1}`:            false,
		`{"TEXT":"other case"}`: false,
		`{"Out":"x"}`:           false,
		`{"hidden":"x"}`:        false,
	} {
		quick, general, complete, err := fill(t, []byte(text))
		if quick.hidden != "" {
			t.Errorf("%s fills a field that is not exported", text)
		}
		if complete != want {
			t.Errorf("%s is filled completely: %v, want %v", text, complete, want)
		}
		if err == nil && !reflect.DeepEqual(quick, general) {
			t.Errorf("%s becomes %+v, and %+v by the general decoder", text, quick, general)
		}
	}
}

func TestFiller_agreesWithTheGeneralDecoder(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		members := map[string]any{}
		for _, name := range []string{"text", "Plain", "small", "large", "many", "pointer", "kind", "loud", "wait", "other"} {
			switch rapid.IntRange(0, 7).Draw(t, name) {
			case 0:
				members[name] = rapid.String().Draw(t, "string")
			case 1:
				members[name] = rapid.Bool().Draw(t, "bool")
			case 2:
				members[name] = rapid.Int64().Draw(t, "int")
			case 3:
				members[name] = rapid.Float64().Draw(t, "float")
			case 4:
				members[name] = nil
			}
		}
		text, err := json.Marshal(members)
		if err != nil {
			t.Fatal(err)
		}
		quick, general, complete, err := fill(t, text)
		if complete && err != nil {
			t.Fatalf("%s is filled, and refused by the general decoder: %v", text, err)
		}
		if err == nil && !reflect.DeepEqual(quick, general) {
			t.Fatalf("%s becomes %+v, and %+v by the general decoder", text, quick, general)
		}
	})
}

func TestFiller_leavesTypesAloneThatItCannotName(t *testing.T) {
	type inner struct{ Text string }
	for _, unknown := range []any{
		loudText(""),
		map[string]string{},
		struct{ inner }{},
		struct {
			N int `json:",string"`
		}{},
	} {
		if newFiller(reflect.TypeOf(unknown)) != nil {
			t.Errorf("%T has a filler", unknown)
		}
	}
	text := reflect.TypeFor[string]()
	twice := reflect.StructOf([]reflect.StructField{
		{Name: "A", Type: text, Tag: `json:"x"`}, {Name: "B", Type: text, Tag: `json:"x"`},
	})
	if newFiller(twice) != nil {
		t.Error("a type that names a member twice has a filler")
	}
}
