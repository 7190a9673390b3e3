// Package vectors drives a testee, a program around a codec, over the vectors of the spec.
//
// One JSON object a line goes each way. The testee never sees an expected answer, and whatever it does
// not answer is counted as not answered: a short run is no success.
package vectors

import (
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strconv"
	"strings"
)

// Vector is one input with the answer that every codec must give.
type Vector struct {
	File string // of the spec, without its folder
	Wire string
	Op   string
	ID   string
	Rule string
	Note string
	Want Answer

	question Question
}

// Answer is a verdict with what belongs to it. Members that a verdict does not have are empty.
type Answer struct {
	Verdict   string  `json:"verdict"`
	Encoded   *string `json:"encoded,omitempty"`
	Pointer   *string `json:"pointer,omitempty"`
	Violation string  `json:"violation,omitempty"`
	Error     string  `json:"error,omitempty"`
}

// Question is one request to a testee: the members that its operation has, and nothing of the answer.
type Question struct {
	Seq       int             `json:"seq"`
	Op        string          `json:"op"`
	Protocol  int             `json:"protocol,omitempty"`
	Wire      string          `json:"wire,omitempty"`
	Base64    *string         `json:"base64,omitempty"`
	Bound     int             `json:"bound,omitempty"`
	Model     string          `json:"model,omitempty"`
	Text      *string         `json:"text,omitempty"`
	API       string          `json:"api,omitempty"`
	Offer     json.RawMessage `json:"offer,omitempty"`
	Selection json.RawMessage `json:"selection,omitempty"`
}

// document is a vector file.
type document struct {
	Wire    string `json:"wire"`
	Op      string `json:"op"`
	Vectors []row  `json:"vectors"`
}

type row struct {
	ID        string          `json:"id"`
	Rule      string          `json:"rule"`
	Note      string          `json:"note"`
	Text      *string         `json:"text"`
	Hex       *string         `json:"hex"`
	Bound     int             `json:"bound"`
	Model     string          `json:"model"`
	API       string          `json:"api"`
	Offer     json.RawMessage `json:"offer"`
	Selection json.RawMessage `json:"selection"`
	Verdict   string          `json:"verdict"`
	Encoded   *string         `json:"encoded"`
	Pointer   *string         `json:"pointer"`
	Violation string          `json:"violation"`
	Error     string          `json:"error"`
}

// Value is what a vector of a model is about: the model, and the text of a value.
func (v Vector) Value() (model, text string) {
	if v.question.Text == nil {
		return v.question.Model, ""
	}
	return v.question.Model, *v.question.Text
}

// defaultBound is the frame bound of vectors that name none.
const defaultBound = 1 << 20

// Load reads every vector below the folder vectors of the spec, in the order of files and rows.
func Load(spec fs.FS) ([]Vector, error) {
	names, err := fs.Glob(spec, "vectors/*.json")
	if err != nil {
		return nil, err
	}
	var all []Vector
	for _, name := range names {
		data, err := fs.ReadFile(spec, name)
		if err != nil {
			return nil, err
		}
		vectors, err := Read(path.Base(name), data)
		if err != nil {
			return nil, err
		}
		all = append(all, vectors...)
	}
	return all, nil
}

// Read reads the vectors of one file of the form that spec/meta/vectors.schema.json describes. The name is
// what the vectors are filed under.
func Read(name string, data []byte) ([]Vector, error) {
	var doc document
	if err := json.Unmarshal(data, &doc); err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	var all []Vector
	for _, r := range doc.Vectors {
		v, err := r.vector(doc)
		if err != nil {
			return nil, fmt.Errorf("%s: %s: %w", name, r.ID, err)
		}
		v.File = name
		all = append(all, v)
	}
	return all, nil
}

func (r row) vector(doc document) (Vector, error) {
	v := Vector{Wire: doc.Wire, Op: doc.Op, ID: r.ID, Rule: r.Rule, Note: r.Note}
	v.Want = Answer{Verdict: r.Verdict, Pointer: r.Pointer, Violation: r.Violation, Error: r.Error}
	v.question = Question{Op: doc.Op}
	var text *string
	if r.Text != nil {
		s := repeat(*r.Text)
		text = &s
	}
	switch doc.Op {
	case "frame":
		bytes, err := r.bytes(text)
		if err != nil {
			return v, err
		}
		encoded := base64.StdEncoding.EncodeToString(bytes)
		v.question.Wire, v.question.Base64, v.question.Bound = doc.Wire, &encoded, r.Bound
		if r.Bound == 0 {
			v.question.Bound = defaultBound
		}
	case "envelope", "model":
		v.question.Wire, v.question.Model, v.question.Text = doc.Wire, r.Model, text
		if doc.Op == "model" && r.Verdict == "accept" {
			v.Want.Encoded = text
			if r.Encoded != nil {
				s := repeat(*r.Encoded)
				v.Want.Encoded = &s
			}
		}
	case "negotiate":
		v.question.API = r.API
		v.question.Offer, v.question.Selection = json.RawMessage(repeat(string(r.Offer))), json.RawMessage(repeat(string(r.Selection)))
	default:
		return v, fmt.Errorf("the operation %q does not exist", doc.Op)
	}
	return v, nil
}

func (r row) bytes(text *string) ([]byte, error) {
	if r.Hex != nil {
		return hex.DecodeString(*r.Hex)
	}
	if text == nil {
		return nil, fmt.Errorf("neither text nor hex")
	}
	return []byte(*text), nil
}

var repetition = regexp.MustCompile(`(?s)@@REP:(.*?):(\d+)@@`)

// repeat expands @@REP:X:N@@ to N copies of X, so that long texts need no long lines.
func repeat(s string) string {
	return repetition.ReplaceAllStringFunc(s, func(m string) string {
		parts := repetition.FindStringSubmatch(m)
		n, err := strconv.Atoi(parts[2])
		if err != nil {
			return m
		}
		return strings.Repeat(parts[1], n)
	})
}

// Select keeps the vectors that one of the patterns names: an id, a file or a rule, with * for any text
// at the end.
func Select(all []Vector, patterns []string) []Vector {
	if len(patterns) == 0 {
		return all
	}
	return slices.DeleteFunc(slices.Clone(all), func(v Vector) bool {
		return !slices.ContainsFunc(patterns, func(p string) bool {
			return slices.ContainsFunc([]string{v.ID, v.File, strings.TrimSuffix(v.File, ".json"), v.Rule, v.Op, v.Wire}, func(word string) bool {
				head, star := strings.CutSuffix(p, "*")
				return word == p || star && strings.HasPrefix(word, head)
			})
		})
	})
}
