// Package conformance holds the generated Go packages against the model vectors of the spec.
package conformance

import (
	"encoding/json"
	"errors"
	"io/fs"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/manifestdoc"
	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/spec"
)

type vectorFile struct {
	Wire    string   `json:"wire"`
	Op      string   `json:"op"`
	Vectors []vector `json:"vectors"`
}

type vector struct {
	ID        string `json:"id"`
	Model     string `json:"model"`
	Text      string `json:"text"`
	Verdict   string `json:"verdict"`
	Encoded   string `json:"encoded"`
	Pointer   string `json:"pointer"`
	Violation string `json:"violation"`
	Error     string `json:"error"`
}

var repetition = regexp.MustCompile(`@@REP:(.+?):(\d+)@@`)

// expand writes out the repetitions of a vector's text.
func expand(t *testing.T, text string) string {
	return repetition.ReplaceAllStringFunc(text, func(match string) string {
		parts := repetition.FindStringSubmatch(match)
		n, err := strconv.Atoi(parts[2])
		if err != nil {
			t.Fatal(err)
		}
		return strings.Repeat(parts[1], n)
	})
}

var decoders = map[string]func(string, []byte) (wirejson.Encoder, error){
	featurewire.Wire:   featurewire.DecodeAny,
	canonicalwire.Wire: canonicalwire.DecodeAny,
	manifestdoc.Wire:   manifestdoc.DecodeAny,
	oupwire.Wire:       oupwire.DecodeAny,
}

func modelFiles(t *testing.T) []vectorFile {
	t.Helper()
	names, err := fs.Glob(spec.Files, "vectors/*.json")
	if err != nil {
		t.Fatal(err)
	}
	var files []vectorFile
	for _, name := range names {
		data, err := spec.Files.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		var f vectorFile
		if err := json.Unmarshal(data, &f); err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		if f.Op == "model" {
			files = append(files, f)
		}
	}
	return files
}

func TestDecodeAny_agreesWithTheVectors(t *testing.T) {
	count := 0
	for _, f := range modelFiles(t) {
		decode := decoders[f.Wire]
		if decode == nil {
			t.Errorf("no Go package for wire %q", f.Wire)
			continue
		}
		for _, v := range f.Vectors {
			count++
			t.Run(v.ID, func(t *testing.T) { judge(t, decode, v) })
		}
	}
	if count < 150 {
		t.Errorf("%d model vectors, want at least 150", count)
	}
}

func judge(t *testing.T, decode func(string, []byte) (wirejson.Encoder, error), v vector) {
	value, err := decode(v.Model, []byte(expand(t, v.Text)))
	var syntax *wirejson.SyntaxError
	var violation *wirejson.Violation
	switch {
	case err == nil:
		if v.Verdict != "accept" {
			t.Fatalf("accepted, want %s", v.Verdict)
		}
		encoded := value.AppendJSON(nil)
		if v.Encoded != "" && string(encoded) != expand(t, v.Encoded) {
			t.Errorf("encoded as\n%s\nwant\n%s", encoded, v.Encoded)
		}
		if err := value.Validate(); err != nil {
			t.Errorf("the decoded value does not validate: %v", err)
		}
	case errors.As(err, &syntax):
		if v.Verdict != "malformed" {
			t.Fatalf("malformed (%v), want %s", err, v.Verdict)
		}
	case errors.As(err, &violation):
		if v.Verdict != "reject" {
			t.Fatalf("rejected (%v), want %s", err, v.Verdict)
		}
		got := vector{Pointer: violation.Pointer, Violation: string(violation.Kind), Error: violation.ErrorName}
		want := vector{Pointer: v.Pointer, Violation: v.Violation, Error: v.Error}
		if got != want {
			t.Errorf("got %+v, want %+v (%v)", got, want, err)
		}
	default:
		t.Fatal(err)
	}
}
