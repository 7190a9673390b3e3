package derive

import (
	"encoding/json"
	"errors"
	"os"
	"reflect"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/octet-dev/octet/gen/load"
	"github.com/octet-dev/octet/gen/model"
	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/manifestdoc"
	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
)

var decoders = map[string]func(string, []byte) (wirejson.Encoder, error){
	featurewire.Wire: featurewire.DecodeAny, canonicalwire.Wire: canonicalwire.DecodeAny, manifestdoc.Wire: manifestdoc.DecodeAny, oupwire.Wire: oupwire.DecodeAny,
}

func derived(t *testing.T) map[*model.Wire][]Vector {
	t.Helper()
	spec, err := load.Load(os.DirFS("../../spec"))
	if err != nil {
		t.Fatal(err)
	}
	all := map[*model.Wire][]Vector{}
	for _, w := range spec.Wires {
		vectors, err := Wire(w)
		if err != nil {
			t.Fatal(err)
		}
		all[w] = vectors
	}
	return all
}

var repetition = regexp.MustCompile(`(?s)@@REP:(.*?):(\d+)@@`)

func expand(text string) string {
	return repetition.ReplaceAllStringFunc(text, func(m string) string {
		parts := repetition.FindStringSubmatch(m)
		n, _ := strconv.Atoi(parts[2]) // digits, by the pattern
		return strings.Repeat(parts[1], n)
	})
}

// The construction of a vector says what the Go binding answers, down to the pointer and the bytes.
func TestVectors_holdForTheGoBinding(t *testing.T) {
	total := 0
	for w, vectors := range derived(t) {
		for _, v := range vectors {
			total++
			decoded, err := decoders[w.Name](v.Model, []byte(expand(v.Text)))
			var violation *wirejson.Violation
			switch {
			case v.Verdict == "accept" && err != nil:
				t.Errorf("%s (%s): %v\n%.300s", v.ID, v.Note, err, v.Text)
			case v.Verdict == "accept":
				want := v.Encoded
				if want == "" {
					want = v.Text
				}
				if got := string(decoded.AppendJSON(nil)); got != expand(want) {
					t.Errorf("%s (%s): encoded\n got %.300s\nwant %.300s", v.ID, v.Note, got, want)
				}
			case !errors.As(err, &violation):
				t.Errorf("%s (%s): got %v, want %s at %s\n%.300s", v.ID, v.Note, err, v.Violation, *v.Pointer, v.Text)
			case string(violation.Kind) != v.Violation || violation.Pointer != *v.Pointer || violation.ErrorName != v.Error:
				t.Errorf("%s (%s): got %s %s at %s, want %s %s at %s\n%.300s", v.ID, v.Note, violation.ErrorName, violation.Kind, violation.Pointer, v.Error, v.Violation, *v.Pointer, v.Text)
			}
		}
	}
	if total < 5000 {
		t.Errorf("%d vectors follow from the schemas, want at least 5000", total)
	}
}

// An illegal vector differs from the legal one that it names in one place, so that its one fault is what
// makes it illegal.
func TestVectors_becomeLegalWhenTheirFaultIsMended(t *testing.T) {
	for _, vectors := range derived(t) {
		legal := map[string]Vector{}
		for _, v := range vectors {
			if v.Verdict == "accept" {
				legal[v.ID] = v
			}
		}
		for _, v := range vectors {
			if v.Verdict == "accept" {
				continue
			}
			sound, known := legal[v.Mended]
			if !known || sound.Model != v.Model {
				t.Errorf("%s names %q, which is no legal vector of %s", v.ID, v.Mended, v.Model)
				continue
			}
			if places := differences(t, expand(sound.Text), expand(v.Text)); places != 1 {
				t.Errorf("%s (%s) differs from %s in %d places:\n%.300s\n%.300s", v.ID, v.Note, sound.ID, places, v.Text, sound.Text)
			}
		}
	}
}

// differences counts the members and elements, outermost first, in which two texts differ.
func differences(t *testing.T, a, b string) int {
	t.Helper()
	read := func(text string) any {
		decoder := json.NewDecoder(strings.NewReader(text))
		decoder.UseNumber()
		var v any
		if err := decoder.Decode(&v); err != nil {
			t.Fatalf("%.300s: %v", text, err)
		}
		return v
	}
	return count(read(a), read(b))
}

func count(a, b any) int {
	x, isObject := a.(map[string]any)
	y, bothObjects := b.(map[string]any)
	if !isObject || !bothObjects {
		if reflect.DeepEqual(a, b) {
			return 0
		}
		return 1
	}
	places := 0
	for name, value := range x {
		if other, there := y[name]; there {
			places += count(value, other)
		} else {
			places++
		}
	}
	for name := range y {
		if _, there := x[name]; !there {
			places++
		}
	}
	return places
}
