package extension_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/extension/extensiontest"
	"github.com/octet-dev/octet/runtime/peer"
)

// judging is a rig of API 0.3 whose host judges the params of themes and topics and does nothing else.
func judging(t *testing.T) *extensiontest.Rig {
	t.Helper()
	judge := func(_ context.Context, r *extension.Incoming) (peer.Value, error) {
		var err error
		switch r.Method {
		case canonicalwire.MethodThemeSelect:
			_, err = canonicalwire.DecodeThemeSelectParams(r.Params)
		default:
			_, err = canonicalwire.DecodeBusDeclareParams(r.Params)
		}
		return peer.Raw(`{"status":"selected"}`), err
	}
	return extensiontest.Start(t, extensiontest.Setup{API: "0.3", Contributes: `tools = ["work"]`, Options: extension.Options{Bindings: []extension.Binding{{
		Capabilities: []string{canonicalwire.CapabilityThemeSelection, canonicalwire.CapabilityEventBus},
		Requests:     map[string]extension.Handler{canonicalwire.MethodThemeSelect: judge, canonicalwire.MethodBusDeclare: judge},
	}}}})
}

// theme and topic are params with a member replaced, or added.
func theme(name, value string) string { return changed(aTheme, name, value) }

func topic(field string) string {
	return `{"binding_id":"b","topic":"t","fields":[` + field + `]}`
}

const aField = `{"name":"n","kind":"string","required":true,"max_bytes":1,"values":[]}`

func changed(object, name, value string) string {
	var members map[string]json.RawMessage
	if err := json.Unmarshal([]byte(object), &members); err != nil {
		panic(err)
	}
	members[name] = json.RawMessage(value)
	text, err := json.Marshal(members)
	if err != nil {
		panic(err)
	}
	return string(text)
}

func quoted(text string) string { return string(wirejson.AppendString(nil, text)) }

// What breaks a model is judged in one order, at every level, and named by one error; the message of an error
// is that of its row, and what is wrong stands in the data.
func TestCanonical_judgesModels(t *testing.T) {
	r := judging(t)
	select_, declare := canonicalwire.MethodThemeSelect, canonicalwire.MethodBusDeclare
	invalid, exhausted := canonicalwire.ErrInvalidParams, canonicalwire.ErrResourceExhausted
	most := strings.Repeat("é", canonicalwire.MaxThemeIDBytes/2)
	fields := func(n int) string {
		list := make([]string, n)
		for i := range list {
			list[i] = changed(aField, "name", fmt.Sprintf(`"n%d"`, i))
		}
		return strings.Join(list, ",")
	}
	type row = wirejson.ErrorCode
	for _, c := range []struct {
		rule, method, params string
		error                row
		pointer, violation   string
	}{
		{"EXT03-MODEL-001", select_, `[]`, invalid, "", "not_object"},
		{"EXT03-MODEL-001", select_, `{"zz":1,"aa":1,"namespace":null}`, invalid, "/aa", "unknown"},
		{"EXT03-MODEL-001", select_, `{"role":7,"scope":null,"theme_id":"t"}`, invalid, "/namespace", "missing"},
		{"EXT03-MODEL-001", select_, `{"namespace":null,"theme_id":7,"role":"accent","scope":"extension"}`, invalid, "/namespace", "null"},
		{"EXT03-MODEL-001", declare, topic(fields(canonicalwire.MaxBusFields) + `,7`), invalid, fmt.Sprintf("/fields/%d", canonicalwire.MaxBusFields), "not_object"},
		{"EXT03-MODEL-003", select_, theme("more", "1"), invalid, "/more", "unknown"},
		{"EXT03-MODEL-003", declare, topic(changed(aField, "more", "1")), invalid, "/fields/0/more", "unknown"},
		{"EXT03-MODEL-004", select_, theme("role", `"nothing"`), invalid, "/role", "value"},
		{"EXT03-MODEL-004", declare, topic(fields(canonicalwire.MaxBusFields + 1)), exhausted, "/fields", "items"},
		{"EXT03-MODEL-006", declare, topic(changed(aField, "minimum", "null")), invalid, "/fields/0/minimum", "null"},
		{"EXT03-MODEL-007", select_, theme("theme_id", quoted(most+"x")), exhausted, "/theme_id", "bytes"},
	} {
		answer := r.Ask(c.method, c.params)
		var data struct{ Pointer, Violation string }
		if answer.Refusal == nil {
			t.Errorf("%s: %.80s is accepted", c.rule, c.params)
			continue
		}
		if err := json.Unmarshal(answer.Refusal.Data, &data); err != nil {
			t.Error(err)
		}
		// EXT03-ERR-012
		if answer.Refusal.Code != c.error.Code || answer.Refusal.Message != c.error.Message {
			t.Errorf("%s: %.80s is refused with %d %q, want %s", c.rule, c.params, answer.Refusal.Code, answer.Refusal.Message, c.error.Name)
		}
		if data.Pointer != c.pointer || data.Violation != c.violation {
			t.Errorf("%s: %.80s breaks %q at %q, want %q at %q", c.rule, c.params, data.Violation, data.Pointer, c.violation, c.pointer)
		}
	}
	r.Ask(select_, theme("theme_id", quoted(most))).OK(t, "")
	r.Ask(declare, topic(changed(changed(aField, "minimum", "-9007199254740991"), "maximum", "9007199254740991"))).OK(t, "")
	r.Ask(declare, topic(fields(canonicalwire.MaxBusFields))).OK(t, "")
}

// EXT03-MODEL-002, EXT03-MODEL-004, EXT03-MODEL-009: the parts of a result, told apart by their tag, and a
// text as long as a frame has room for.
func TestCanonical_judgesResults(t *testing.T) {
	r := judging(t)
	var result string
	r.Serve(canonicalwire.MethodToolCall, func(int64, json.RawMessage) (any, error) { return json.RawMessage(result), nil })
	long := strings.Repeat("x", canonicalwire.MaxFrameBytes-1024)
	for part, want := range map[string]string{
		`{"type":"video","text":7,"more":1}`:    `"/content/0/type"`,
		`{"text":"x"}`:                          `"/content/0/type"`,
		`{"type":"text","more":1}`:              `"/content/0/more"`,
		`{"type":"text","text":7}`:              `"/content/0/text"`,
		`{"type":"image","text":7}`:             `"/content/0/type"`, // deferred, whatever else is in it
		`{"type":"text","text":"` + long + `"}`: "",
	} {
		result = `{"content":[` + part + `],"is_error":false,"metadata":null}`
		answer, err := r.X.Call(t.Context(), extension.Request{Tool: "work"})
		switch {
		case want == "" && (err != nil || len(answer.Content) != 1 || answer.Content[0].Text != long):
			t.Errorf("a long text: %v", err)
		case want != "" && (err == nil || !strings.Contains(err.Error(), want)):
			t.Errorf("%s: %v, want it refused at %s", part, err, want)
		}
	}
	var v *wirejson.Violation
	if _, err := canonicalwire.DecodeContentPart([]byte(`{"type":"image"}`)); !errors.As(err, &v) || v.ErrorName != canonicalwire.ErrCapabilityMismatch.Name {
		t.Errorf("a deferred part: %v", err)
	}
	if _, err := canonicalwire.DecodeCancelRequestParams([]byte(`{"id":""}`)); !errors.As(err, &v) || v.ErrorName != canonicalwire.ErrInvalidRequest.Name {
		t.Errorf("an empty id: %v", err)
	}
}

// EXT03-MODEL-005, EXT03-MODEL-008.
func TestCanonical_writesWhatItRead(t *testing.T) {
	for _, text := range []string{
		`{"content":[],"is_error":false,"metadata":null}`,
		`{"content":[],"is_error":false,"metadata":null,"structured_content":null}`,
		`{"content":[],"is_error":false,"metadata":{},"structured_content":[]}`,
	} {
		result, err := canonicalwire.DecodeToolCallResult([]byte(text))
		if got := string(result.AppendJSON(nil)); err != nil || got != text {
			t.Errorf("%s is written as %s, %v", text, got, err)
		}
	}
	end := func(duration string) error {
		_, err := canonicalwire.DecodeSessionEnd([]byte(`{"binding":{"session_id":"s","extension_instance_id":"i","process_generation":0},"outcome":"completed","reason":"shutdown","duration_ms":` + duration + `}`))
		return err
	}
	for text, fine := range map[string]bool{"9007199254740991": true, "9007199254740992": false, "-9007199254740991": true, "-9007199254740992": false, "1.0": false} {
		if _, err := canonicalwire.DecodeBusFieldSpec([]byte(changed(aField, "minimum", text))); (err == nil) != fine {
			t.Errorf("a minimum of %s: %v", text, err)
		}
	}
	for text, fine := range map[string]bool{"0": true, "9007199254740991": true, "9007199254740992": false, "-1": false, "1e3": false} {
		if err := end(text); (err == nil) != fine {
			t.Errorf("%s milliseconds: %v", text, err)
		}
	}
}

// EXT03-ERR-012, EXT03-ERR-014: what the host fails at is an internal error, and why is told to its log.
func TestCanonical_failsInside(t *testing.T) {
	r := themes(t, func(context.Context, *extension.Incoming) (peer.Value, error) {
		return nil, errors.New("the disk is on fire")
	})
	answer := r.Ask(canonicalwire.MethodThemeSelect, aTheme)
	answer.Refused(t, canonicalwire.CodeInternalError, canonicalwire.ErrInternalError.Message)
	if answer.Refusal != nil && (answer.Refusal.Message != canonicalwire.ErrInternalError.Message || strings.Contains(string(answer.Refusal.Data), "fire")) {
		t.Errorf("told %q %s", answer.Refusal.Message, answer.Refusal.Data)
	}
	r.X.Close() // what it tells is told then
	if !r.Diagnosed("on fire") {
		t.Errorf("diagnosed %q", r.Diagnostics())
	}
}

// EXT03-ENV-027.
func TestCanonical_idsAndMethodsThatDoNotFit(t *testing.T) {
	for _, frame := range []string{
		`{"id":"x","jsonrpc":"2.0","method":"$/cancelRequest","params":{"id":1}}`,
		`{"jsonrpc":"2.0","method":"theme/select","params":` + aTheme + `}`,
	} {
		r := themes(t, selected)
		r.Raw(frame + "\n")
		<-r.X.Done()
		if _, err := r.X.Call(t.Context(), extension.Request{Tool: "work"}); err == nil {
			t.Errorf("the stream goes on behind %s", frame)
		}
	}
}

// EXT03-CANCEL-017: what was done for a request before it was cancelled stays, and is not done again.
func TestCanonical_cancelledKeepsItsEffect(t *testing.T) {
	var done []string
	acted := make(chan struct{})
	r := themes(t, func(ctx context.Context, q *extension.Incoming) (peer.Value, error) {
		p, err := canonicalwire.DecodeThemeSelectParams(q.Params)
		done = append(done, p.ThemeID)
		close(acted)
		<-ctx.Done()
		return nil, errors.Join(err, ctx.Err())
	})
	p := r.Send(canonicalwire.MethodThemeSelect, aTheme)
	<-acted
	r.Cancel(p)
	p.Wait().Refused(t, canonicalwire.CodeRequestCancelled, canonicalwire.ErrRequestCancelled.Message)
	r.X.Close()
	if len(done) != 1 || done[0] != "t" {
		t.Errorf("done: %q, want it once and for good", done)
	}
}
