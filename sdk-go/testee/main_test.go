package main

import (
	"encoding/hex"
	"io/fs"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/octet-dev/octet/spec"
)

// vector is one row of a file under spec/vectors.
type vector struct {
	ID        string         `json:"id"`
	Text      string         `json:"text"`
	Hex       string         `json:"hex"`
	Bound     int            `json:"bound"`
	Model     string         `json:"model"`
	API       string         `json:"api"`
	Offer     jsontext.Value `json:"offer"`
	Selection jsontext.Value `json:"selection"`

	Verdict   string  `json:"verdict"`
	Encoded   *string `json:"encoded"`
	Pointer   *string `json:"pointer"`
	Violation string  `json:"violation"`
	Error     string  `json:"error"`
}

// ask sends lines to a testee and returns its answers.
func ask(t *testing.T, lines ...string) []answer {
	t.Helper()
	var out strings.Builder
	if err := serve(strings.NewReader(strings.Join(lines, "\n")+"\n"), &out); err != nil {
		t.Fatal(err)
	}
	var answers []answer
	for line := range strings.Lines(out.String()) {
		var a answer
		if err := json.Unmarshal([]byte(line), &a, json.RejectUnknownMembers(true)); err != nil {
			t.Fatalf("answer %s: %v", line, err)
		}
		answers = append(answers, a)
	}
	if len(answers) != len(lines) {
		t.Fatalf("%d answers to %d requests", len(answers), len(lines))
	}
	return answers
}

var repetition = regexp.MustCompile(`(?s)@@REP:(.+?):(\d+)@@`)

func written(text string) string {
	return repetition.ReplaceAllStringFunc(text, func(match string) string {
		parts := repetition.FindStringSubmatch(match)
		count, err := strconv.Atoi(parts[2])
		if err != nil {
			panic(err)
		}
		return strings.Repeat(parts[1], count)
	})
}

func (v vector) request(t *testing.T, seq int, wire, op string) string {
	t.Helper()
	q := request{Seq: int64(seq), Op: op, Wire: wire, Bound: v.Bound, Model: v.Model, API: v.API, Offer: v.Offer, Selection: v.Selection}
	switch {
	case op == "frame" && v.Hex != "":
		raw, err := hex.DecodeString(v.Hex)
		if err != nil {
			t.Fatalf("%s: %v", v.ID, err)
		}
		q.Bytes = raw
	case op == "frame":
		q.Bytes = []byte(written(v.Text))
	default:
		q.Text = written(v.Text)
	}
	text, err := json.Marshal(q)
	if err != nil {
		t.Fatalf("%s: %v", v.ID, err)
	}
	return string(text)
}

// The verdicts of every vector, as the referee would find them.
func TestServe_everyVector(t *testing.T) {
	files, err := fs.Glob(spec.Files, "vectors/*.json")
	if err != nil {
		t.Fatal(err)
	}
	judged := 0
	for _, file := range files {
		text, err := fs.ReadFile(spec.Files, file)
		if err != nil {
			t.Fatal(err)
		}
		var table struct {
			Wire, Op string
			Vectors  []vector
		}
		if err := json.Unmarshal(text, &table, json.MatchCaseInsensitiveNames(true)); err != nil {
			t.Fatalf("%s: %v", file, err)
		}
		var lines []string
		for i, v := range table.Vectors {
			lines = append(lines, v.request(t, i+1, table.Wire, table.Op))
		}
		for i, a := range ask(t, lines...) {
			judged++
			v := table.Vectors[i]
			switch {
			case a.Seq != int64(i+1):
				t.Fatalf("%s: answer %d carries seq %d", v.ID, i+1, a.Seq)
			case a.Verdict != v.Verdict:
				t.Errorf("%s: verdict %q, want %q", v.ID, a.Verdict, v.Verdict)
			case v.Encoded != nil && (a.Encoded == nil || *a.Encoded != *v.Encoded):
				t.Errorf("%s: encoded as %v, want %s", v.ID, shown(a.Encoded), *v.Encoded)
			case v.Pointer != nil && (a.Pointer == nil || *a.Pointer != *v.Pointer):
				t.Errorf("%s: pointer %v, want %q", v.ID, shown(a.Pointer), *v.Pointer)
			case v.Violation != "" && a.Violation != v.Violation:
				t.Errorf("%s: violation %q, want %q", v.ID, a.Violation, v.Violation)
			case v.Error != "" && a.Error != v.Error:
				t.Errorf("%s: error %q, want %q", v.ID, a.Error, v.Error)
			}
		}
	}
	if judged < 600 {
		t.Errorf("judged %d vectors, want at least 600: the files were not found", judged)
	}
}

func shown(text *string) string {
	if text == nil {
		return "nothing"
	}
	return strconv.Quote(*text)
}

func TestServe_hello(t *testing.T) {
	var out strings.Builder
	if err := serve(strings.NewReader(`{"seq":1,"op":"hello","protocol":1}`+"\n"), &out); err != nil {
		t.Fatal(err)
	}
	want := `{"seq":1,"ok":true,"name":"octet sdk-go","protocol":1,"ops":["envelope","frame","model","negotiate"],"wires":["extension-canonical","extension-feature","manifest","oup"]}` + "\n"
	if out.String() != want {
		t.Errorf("answer %s, want %s", out.String(), want)
	}
}

func TestServe_whatItDoesNotKnow(t *testing.T) {
	lines := []string{
		`{"seq":1,"op":"dance"}`,
		`{"seq":2,"op":"frame","wire":"morse","base64":"e30K","bound":10}`,
		`{"seq":3,"op":"frame","wire":"extension-canonical","base64":"e30K","bound":-1}`,
		`{"seq":4,"op":"model","wire":"morse","model":"ToolCallResult","text":"{}"}`,
		`{"seq":5,"op":"model","wire":"extension-feature","model":"NoSuchModel","text":"{}"}`,
		`{"seq":6,"op":"envelope","wire":"morse","text":"{}"}`,
		`{"seq":7,"op":"negotiate","api":"0.1","offer":{},"selection":{}}`,
		`{"seq":8,"op":"negotiate","api":"9.9","offer":{},"selection":{}}`,
		`{"seq":9,"op":12}`,
	}
	for i, a := range ask(t, lines...) {
		want := unsupported
		if i == 6 { // known, but it negotiates nothing: every offer is refused
			want = reject
		}
		if a.Verdict != want || a.Seq != int64(i+1) {
			t.Errorf("%s: verdict %q with seq %d, want %q", lines[i], a.Verdict, a.Seq, want)
		}
	}
}

// A pointer to the root is the empty string, which is not the same as no pointer.
func TestServe_emptyPointerIsSent(t *testing.T) {
	var out strings.Builder
	if err := serve(strings.NewReader(`{"seq":1,"op":"model","wire":"extension-feature","model":"ToolCallResult","text":"[]"}`+"\n"), &out); err != nil {
		t.Fatal(err)
	}
	want := `{"seq":1,"verdict":"reject","pointer":"","violation":"not_object","error":"invalid_params"}` + "\n"
	if out.String() != want {
		t.Errorf("answer %s, want %s", out.String(), want)
	}
}

func TestServe_brokenStream(t *testing.T) {
	var out strings.Builder
	if err := serve(strings.NewReader(`{"seq":1,"op":"hello"}`+"\n"+`{"seq":2`), &out); err == nil {
		t.Error("a request without a line feed was taken for the end")
	}
	if !strings.Contains(out.String(), `"seq":1`) {
		t.Errorf("the answer in front of the fault is lost: %q", out.String())
	}
}
