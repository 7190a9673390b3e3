package rpc

import (
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/octet-dev/octet/generated/oupwire"
)

// TestRead_givesTheVerdictsOfTheSpec: a server reads requests and notifications, and nothing else.
func TestRead_givesTheVerdictsOfTheSpec(t *testing.T) {
	data, err := os.ReadFile("../../../spec/vectors/oup-envelopes.json")
	if err != nil {
		t.Fatal(err)
	}
	var file struct {
		Vectors []struct{ ID, Note, Text, Verdict string }
	}
	if err := json.Unmarshal(data, &file); err != nil {
		t.Fatal(err)
	}
	if len(file.Vectors) < 50 {
		t.Fatalf("%d vectors, want at least 50", len(file.Vectors))
	}
	for _, v := range file.Vectors {
		m, fault := Read([]byte(v.Text))
		got := "refused"
		switch {
		case fault == nil && m.Notification:
			got = "notification"
		case fault == nil:
			got = "request"
		}
		want := v.Verdict
		if want != "request" && want != "notification" {
			want = "refused"
		}
		if got != want {
			t.Errorf("%s (%s): %s, want %s: %v", v.ID, v.Note, got, want, fault)
		}
	}
}

// TestRead_judgesInOrder: OUP-FRAME-018, with OUP-FRAME-010 an id that is no string, OUP-FRAME-011 a batch, OUP-FRAME-012
// no params, OUP-FRAME-015 not one of three, OUP-FRAME-016 another version, OUP-FRAME-017 an answer.
func TestRead_judgesInOrder(t *testing.T) {
	for _, c := range []struct {
		frame, text string
		code        int64
	}{
		{strings.Repeat("\n", oupwire.MaxTextFrameBytes+1), "exceeds", oupwire.CodeFrameTooLarge},
		{" \n\t", "blank", oupwire.CodeParseError},
		{"{\n", "line break", oupwire.CodeParseError},
		{"[1", "byte 2", oupwire.CodeParseError},
		{"{\"a\":\"\xff\"}", "byte", oupwire.CodeParseError},
		{`{"id":"a","id":"b"}`, "", oupwire.CodeParseError},
		{`[{"jsonrpc":"2.0","id":"a","method":"m","params":{}}]`, "array", oupwire.CodeParseError},
		{`{"id":1}`, "jsonrpc", oupwire.CodeInvalidRequest},
		{`{"jsonrpc":2.0,"id":"a","method":"m","params":{}}`, "jsonrpc", oupwire.CodeInvalidRequest},
		{`{"jsonrpc":"1.0","id":"a","method":"m","params":{}}`, "jsonrpc", oupwire.CodeInvalidRequest},
		{`{"jsonrpc":"2.0","id":1}`, "neither", oupwire.CodeParseError},
		{`{"jsonrpc":"2.0","id":"a","method":"m","result":1,"params":{}}`, "neither", oupwire.CodeParseError},
		{`{"jsonrpc":"2.0","id":"a","result":{}}`, "neither", oupwire.CodeParseError},
		{`{"jsonrpc":"2.0","id":"a","error":{"code":1,"message":""}}`, "neither", oupwire.CodeParseError},
		{`{"jsonrpc":"2.0","id":1,"method":2}`, "id", oupwire.CodeParseError},
		{`{"jsonrpc":"2.0","id":null,"method":"m","params":{}}`, "id", oupwire.CodeParseError},
		{`{"jsonrpc":"2.0","id":"a","method":2}`, "method", oupwire.CodeParseError},
		{`{"jsonrpc":"2.0","id":"a","method":""}`, "method", oupwire.CodeParseError},
		{`{"jsonrpc":"2.0","id":"a","method":"m"}`, "params", oupwire.CodeParseError},
	} {
		m, fault := Read([]byte(c.frame))
		if fault == nil || fault.Code.Code != c.code || !strings.Contains(fault.Message, c.text) {
			t.Errorf("%.60q gives %+v and %v, want %d about %q", c.frame, m, fault, c.code, c.text)
		}
	}
	// OUP-FRAME-023: a notification without params is read as one with null.
	if m, fault := Read([]byte(`{"jsonrpc":"2.0","method":"ping"}`)); fault != nil || !m.Notification || string(m.Params) != "null" {
		t.Errorf("a notification without params gives %+v, %v", m, fault)
	}
	// OUP-FRAME-005 (its first half): a frame of exactly the bound is read.
	full := `{"jsonrpc":"2.0","id":"","method":"m","params":"`
	full += strings.Repeat("x", oupwire.MaxTextFrameBytes-len(full)-2) + `"}`
	if m, fault := Read([]byte(full)); fault != nil || m.ID != "" || m.Method != "m" {
		t.Errorf("a frame of exactly the bound: %v", fault)
	}
}
