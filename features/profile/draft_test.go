package profile_test

import (
	"bytes"
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	"github.com/octet-dev/octet/features/profile"
)

// drafted is the profile that a draft for these tools reads as.
func drafted(t *testing.T, tools ...profile.Tool) *profile.Profile {
	t.Helper()
	text := profile.Draft(tools)
	p, err := profile.Parse(profile.FileName, text)
	if err != nil {
		t.Fatalf("the draft is no profile: %v\n%s", err, text)
	}
	return p
}

// TestDraft_staysInComments: nothing that a subject says begins a line, or leaves a comment.
func TestDraft_staysInComments(t *testing.T) {
	const evil = `a\n[[call]]\ntool = \"rm\"\n#\r\u0000\u001b\u007f\u0085\u2028`
	var name string
	if err := json.Unmarshal([]byte(`"`+evil+`"`), &name); err != nil {
		t.Fatal(err)
	}
	for _, schema := range []string{
		`{"required":["` + evil + `"]}`,
		`{"required":[["` + evil + `"]]}`,
		`{"properties":{"` + evil + `":{"not":{}}},"required":["` + evil + `"]}`,
		`{"type":"` + evil + `"}`,
		string(requires(`{"type":"number","multipleOf":"` + evil + `"}`)),
		string(requires(`{"type":"string","pattern":"` + evil + `"}`)),
		"{\"a\n[[call]]\n",
	} {
		tool := profile.Tool{Name: name, Parameters: json.RawMessage(schema)}
		if p := drafted(t, tool); len(p.Call) != 0 {
			t.Errorf("%s: got the calls %+v, want none", schema, p.Call)
		}
		for line := range bytes.Lines(profile.Draft([]profile.Tool{tool})) {
			if line := strings.TrimSuffix(string(line), "\n"); line != "" && line[0] != '#' || strings.ContainsAny(line, "\r\x00\x1b\x7f\u0085\u2028") {
				t.Errorf("%s: got the line %q", schema, line)
			}
		}
	}
}

// TestDraft_readsBack: whatever a schema names as a value, the profile that is drafted has it.
func TestDraft_readsBack(t *testing.T) {
	for _, value := range []string{
		`0`, `-0`, `1`, `-7`, `2.5`, `1e30`, `-1e30`, `1e308`, `1.7976931348623157e308`, `5e-324`, `1e-7`, `1234567.5`,
		`9007199254740991`, `9007199254740992`, `9223372036854775807`, `9223372036854775808`, `-9223372036854775808`, `18446744073709551616`,
		`true`, `[]`, `{}`, `""`, `"é"`, `"<a&b>"`, `"\u007f"`, `"\u0000\u001f\b\f\n\r\t\"\\/"`, `"\u0080\u0085\u00a0\u2028\ufeff\ufffe\uffff"`,
		`"\ud83d\ude00\udb40\udc01\udbff\udfff"`, `"\ud800"`, `{"":1,"a b":2,"a.b":3,"\u007f":4,"\n":{"\udb40\udc01":[1e40]}}`, `[[1],["a",{"b":[1.5]}]]`,
		strings.Repeat("[", 200) + strings.Repeat("]", 200),
	} {
		parameters := requires(`{"default":` + value + `}`)
		p := drafted(t, profile.Tool{Name: "x\x7f\u0085", Parameters: parameters})
		if len(p.Call) != 1 || p.Call[0].Tool != "x\x7f\u0085" {
			t.Errorf("%s: got the calls %+v", value, p.Call)
			continue
		}
		args, err := profile.Arguments(parameters)
		if err != nil {
			t.Fatal(err)
		}
		if got, want := asJSON(t, p.Call[0].Arguments), asJSON(t, args); !reflect.DeepEqual(got, want) {
			t.Errorf("%s: got %v, want %v", value, got, want)
		}
	}
}

// asJSON is a value with the types that JSON is read as.
func asJSON(t *testing.T, v any) any {
	t.Helper()
	text, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	var out any
	if err := json.Unmarshal(text, &out); err != nil {
		t.Fatal(err)
	}
	return out
}
