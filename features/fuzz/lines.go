package fuzz

import (
	"encoding/json"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/generated/canonicalwire"
)

// sample is a line with words in «» for what fill writes in their place, and what it asks for.
type sample struct {
	line   string
	kind   kind
	errors []string
	rule   string
}

// fill writes names of the wire, and an id, into a line.
func fill(line, id string) []byte {
	return []byte(strings.NewReplacer(
		"«id»", id, "«probe»", probe, "«initialize»", dialect.Initialize, "«shutdown»", dialect.Shutdown, "«call»", dialect.ToolCall,
		"«cancel»", dialect.Cancel, "«internal»", strconv.Itoa(canonicalwire.CodeInternalError),
	).Replace(line))
}

func envelopes(canonical bool) []sample {
	if canonical {
		return canonicalEnvelopes
	}
	return featureEnvelopes
}

var invalid = []string{"invalid_request"}

var featureEnvelopes = []sample{
	{`{"id":«id»,"jsonrpc":"1.0","method":"«probe»","params":{}}`, answer, nil, ""},
	{`{"id":«id»,"jsonrpc":2.0,"method":"«probe»","params":{}}`, answer, nil, ""},
	{`{"id":«id»,"jsonrpc":"2.0","method":7,"params":{}}`, answer, nil, ""},
	{`{"id":«id»,"jsonrpc":"2.0","method":null,"params":{}}`, answer, nil, ""},
	{`{"id":«id»,"jsonrpc":"2.0","method":"«probe»"}`, answer, nil, ""},
	{`{"id":«id»,"jsonrpc":"2.0","method":"«probe»","params":[1]}`, answer, nil, ""},
	{`{"id":«id»,"jsonrpc":"2.0","method":"","params":{}}`, answer, nil, ""},
	{`{"id":«id»,"ID":77,"jsonrpc":"2.0","method":"«probe»","Method":"«shutdown»","params":{}}`, answer, []string{"unknown_method"}, "EXT04-ENV-013"},
	{`{"Id":"77","id":«id»,"Jsonrpc":"1.0","jsonrpc":"2.0","METHOD":7,"method":"«probe»"}`, answer, []string{"unknown_method"}, "EXT04-ENV-013"},
	{`{"id":«id»,"jsonrpc":"2.0","meta":null,"method":"«probe»","params":{"extra":[true]}}`, answer, []string{"unknown_method"}, "EXT04-ENV-013"},
	{`{"id":«id»,"jsonrpc":"2.0","method":"«initialize»","params":{}}`, answer, invalid, "EXT04-ORDER-003"},
	{`{"jsonrpc":"2.0","method":"«shutdown»","params":{}}`, silence, nil, "EXT04-ENV-007"},
	{`{"jsonrpc":"2.0","method":"«call»","params":{}}`, silence, nil, "EXT04-ENV-007"},
	{"", silence, nil, "EXT04-FRAME-005"},
	{" \t\r", silence, nil, "EXT04-FRAME-005"},
}

var canonicalEnvelopes = []sample{
	{`{"id":«id»,"jsonrpc":"2.0","method":"«shutdown»","params":{},"trace":1}`, answer, invalid, "EXT03-ENV-008"},
	{`{"id":«id»,"jsonrpc":"2.0","meta":null,"method":"«probe»","params":{}}`, answer, invalid, "EXT03-ENV-008"},
	{`{"id":«id»,"method":"«shutdown»","params":{}}`, answer, invalid, "EXT03-ENV-009"},
	{`{"id":«id»,"jsonrpc":"1.0","method":"«shutdown»","params":{}}`, answer, invalid, "EXT03-ENV-009"},
	{`{"id":«id»,"jsonrpc":2,"method":"«shutdown»","params":{}}`, answer, invalid, "EXT03-ENV-009"},
	{`{"id":«id»,"jsonrpc":"2.0","method":"«shutdown»"}`, answer, invalid, "EXT03-ENV-009"},
	{`{"id":«id»,"jsonrpc":"2.0","method":"«shutdown»","params":null}`, answer, invalid, "EXT03-ENV-009"},
	{`{"id":«id»,"jsonrpc":"2.0","method":7,"params":{}}`, answer, invalid, "EXT03-ENV-009"},
	{`{"id":«id»,"jsonrpc":"2.0","method":"","params":{}}`, answer, nil, ""},
	{`{"id":«id»,"jsonrpc":"2.0","method":"` + strings.Repeat("m", 129) + `","params":{}}`, answer, []string{"invalid_request", "resource_exhausted"}, "EXT03-ENV-010"},
	{`{"id":«id»,"jsonrpc":"2.0","method":"«shutdown»","params":{},"result":{}}`, answer, invalid, "EXT03-ENV-012"},
	{`{"error":{"code":«internal»,"message":"internal error"},"id":«id»,"jsonrpc":"2.0","method":"«shutdown»","params":{}}`, answer, invalid, "EXT03-ENV-012"},
	{`{"id":«id»,"jsonrpc":"2.0","method":"«cancel»","params":{"id":1}}`, answer, invalid, "EXT03-ENV-013"},
	{`{"id":«id»,"jsonrpc":"2.0","method":"«shutdown»","params":{"force":true}}`, answer, []string{"invalid_params"}, "EXT03-SHUT-007"},
	{`{"jsonrpc":"2.0","method":"«shutdown»","params":{}}`, silence, nil, "EXT03-ENV-014"},
	{`{"jsonrpc":"2.0","method":"«initialize»","params":{}}`, silence, nil, "EXT03-ENV-014"},
	{`{"id":null,"jsonrpc":"2.0","method":"«shutdown»","params":{}}`, silence, nil, "EXT03-ENV-015"},
	{`{"id":"","jsonrpc":"2.0","method":"«shutdown»","params":{}}`, silence, nil, "EXT03-ENV-015"},
	{`{"id":-1,"jsonrpc":"2.0","method":"«shutdown»","params":{}}`, silence, nil, "EXT03-ENV-015"},
	{`{"id":true,"jsonrpc":"2.0","method":"«shutdown»","params":{}}`, silence, nil, "EXT03-ENV-015"},
	{`[]`, silence, nil, "EXT03-ENV-016"},
	{`7`, silence, nil, "EXT03-ENV-016"},
	{`{"jsonrpc":"2.0","method":"«cancel»","params":{"id":"x","more":1}}`, silence, nil, "EXT03-CANCEL-007"},
	{`{"jsonrpc":"2.0","method":"«cancel»","params":{"id":null}}`, silence, nil, "EXT03-CANCEL-007"},
}

// misspellings end the stream of the canonical wire.
var misspellings = []sample{
	{line: "{\"id\":«id»,\"jsonrpc\":\"2.0\",\"method\":\"conform/probe\",\"params\":{}}\r", rule: "EXT03-READ-001"},
	{line: "", rule: "EXT03-READ-002"},
	{line: `{"id":«id»,"jsonrpc":"2.0","method":"«probe»","params":{}}{}`, rule: "EXT03-READ-005"},
	{line: "\ufeff" + `{"id":«id»,"jsonrpc":"2.0","method":"«probe»","params":{}}`, rule: "EXT03-READ-006"},
	{line: "{\"id\":«id»,\"jsonrpc\":\"2.0\",\"method\":\"conform/probe\",\"params\":{\"k\":\"\xc0\xaf\"}}", rule: "EXT03-READ-007"},
	{line: "{\"id\":«id»,\"jsonrpc\":\"2.0\",\"method\":\"conform/probe\",\"params\":{\"k\":\"\xed\xa0\x80\"}}", rule: "EXT03-READ-007"},
	{line: `{"id": «id»,"jsonrpc":"2.0","method":"«probe»","params":{}}`, rule: "EXT03-READ-008"},
	{line: `{"jsonrpc":"2.0","id":«id»,"method":"«probe»","params":{}}`, rule: "EXT03-READ-009"},
	{line: `{"id":«id»,"jsonrpc":"2.0","method":"«probe»","params":{"k":0,"k":0}}`, rule: "EXT03-READ-010"},
	{line: `{"id":«id»,"jsonrpc":"2.0","method":"«probe»","params":{"k":"\u0041"}}`, rule: "EXT03-READ-011"},
	{line: `{"id":«id»,"jsonrpc":"2.0","method":"«probe»","params":{"k":"a\/b"}}`, rule: "EXT03-READ-011"},
	{line: `{"id":«id»,"jsonrpc":"2.0","method":"«probe»","params":{"k":"\ud800"}}`, rule: "EXT03-READ-012"},
	{line: `{"id":«id»,"jsonrpc":"2.0","method":"«probe»","params":{"k":1.0}}`, rule: "EXT03-READ-013"},
	{line: `{"id":«id»,"jsonrpc":"2.0","method":"«probe»","params":{"k":-0}}`, rule: "EXT03-READ-013"},
	{line: `{"id":«id»,"jsonrpc":"2.0","method":"«probe»","params":{"k":9007199254740992}}`, rule: "EXT03-READ-014"},
	{line: `{"id":«id»,"jsonrpc":"2.0","method":"«probe»","params":{"k":` + strings.Repeat("[", 40) + strings.Repeat("]", 40) + `}}`, rule: "EXT03-READ-015"},
	{line: `hello`, rule: "EXT03-READ-016"},
	{line: `{"id":«id»,"jsonrpc":"2.0","result":{}}`, rule: "EXT03-ENV-018"},
}

// ids reads the id of a request and of what a notification cancels, as spelled.
func ids(i Item) (id, cancel string) {
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method json.RawMessage `json:"method"`
		Params json.RawMessage `json:"params"`
	}
	if json.Unmarshal(i.Line, &m) != nil {
		return "", ""
	}
	var params struct {
		ID json.RawMessage `json:"id"`
	}
	if m.ID == nil && string(m.Method) == `"`+dialect.Cancel+`"` && json.Unmarshal(m.Params, &params) == nil {
		cancel = string(params.ID)
	}
	return string(m.ID), cancel
}

func clone(v any) any {
	text, err := json.Marshal(v)
	if err != nil {
		return nil
	}
	var out any
	decoder := json.NewDecoder(strings.NewReader(string(text)))
	decoder.UseNumber()
	if decoder.Decode(&out) != nil {
		return nil
	}
	return out
}

func keys(o dialect.Object) []string {
	var out []string
	for k := range o {
		out = append(out, k)
	}
	slices.Sort(out)
	return out
}

// bend changes one place of an object, at any depth, but for members of the outermost that stay as they are.
func bend(rng *rand.Rand, o dialect.Object, keep ...string) {
	names := slices.DeleteFunc(keys(o), func(k string) bool { return slices.Contains(keep, k) })
	if len(names) == 0 || rng.IntN(8) == 0 {
		o["conform_extra"] = json.Number("1")
		return
	}
	name := pick(rng, names...)
	if inner, ok := o[name].(dialect.Object); ok && len(inner) > 0 && rng.IntN(3) > 0 {
		bend(rng, inner)
		return
	}
	if rng.IntN(4) == 0 {
		delete(o, name)
		return
	}
	o[name] = pick[any](rng, nil, true, json.Number("-1"), json.Number("7"), json.Number("9007199254740991"), "", "octet", strings.Repeat("x", 3000),
		[]any{}, []any{nil}, dialect.Object{}, dialect.Object{"no": []any{dialect.Object{}}})
}
