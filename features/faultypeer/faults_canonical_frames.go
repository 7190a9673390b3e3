package faultypeer

import (
	"bytes"
	"strings"

	"github.com/octet-dev/octet/generated/canonicalwire"
)

// respell replaces a text once in frames of one kind.
func respell(what, from, to string) func(*peer, string, []byte) []byte {
	return func(_ *peer, kind string, b []byte) []byte {
		if kind != what {
			return b
		}
		return bytes.Replace(b, []byte(from), []byte(to), 1)
	}
}

const toolCall = canonicalwire.MethodToolCall

var canonicalFrameFaults = []Fault{
	{
		Name: "last-frame-without-line-feed", Rule: "EXT03-FRAME-001", API: "0.3", Doc: "leaves the line feed of its last frame out",
		quirk: quirk{frame: respell(canonicalwire.MethodShutdown, "\n", "")},
	},
	{
		Name: "carriage-return", Rule: "EXT03-FRAME-002", API: "0.3", Doc: "ends lines in CR LF",
		quirk: quirk{frame: respell("error", "\n", "\r\n")},
	},
	{
		Name: "blank-line", Rule: "EXT03-FRAME-003", API: "0.3", Doc: "writes an empty line behind a frame",
		quirk: quirk{frame: respell("error", "\n", "\n\n")},
	},
	{
		Name: "two-values-a-line", Rule: "EXT03-FRAME-004", API: "0.3", Doc: "writes two values on a line",
		quirk: quirk{frame: respell("error", "\n", "{}\n")},
	},
	{
		Name: "over-selected-bound", Rule: "EXT03-FRAME-005", API: "0.3", Doc: "selects a frame bound and writes a larger frame",
		quirk: quirk{message: func(_ *peer, what string, m obj) {
			switch what {
			case canonicalwire.MethodInitialize:
				m["result"].(obj)["contract"].(obj)["limits"].(obj)["max_frame_bytes"] = 4096
			case "error":
				m["error"].(obj)["data"] = obj{"method": strings.Repeat("m", 5000)}
			}
		}},
	},
	{
		Name: "over-offered-bound", Rule: "EXT03-FRAME-006", API: "0.3", Doc: "answers initialize without looking at the offered frame bound",
		quirk: quirk{ignores: "offered-frame-bound"},
	},
	{
		Name: "broken-utf8", Rule: "EXT03-FRAME-007", API: "0.3", Doc: "cuts a character in two",
		quirk: quirk{frame: respell(toolCall, "é", "\xc3")},
	},
	{
		Name: "byte-order-mark", Rule: "EXT03-FRAME-008", API: "0.3", Doc: "starts a frame with a byte order mark",
		quirk: quirk{frame: respell("error", `{"error"`, "\ufeff{\"error\"")},
	},
	{
		Name: "white-space", Rule: "EXT03-CANON-001", API: "0.3", Doc: "writes a blank behind a colon",
		quirk: quirk{frame: respell("error", `"jsonrpc":`, `"jsonrpc": `)},
	},
	{
		Name: "member-order", Rule: "EXT03-CANON-002", API: "0.3", Doc: "writes jsonrpc first",
		quirk: quirk{frame: func(_ *peer, _ string, b []byte) []byte {
			b = bytes.Replace(b, []byte(`,"jsonrpc":"2.0"`), nil, 1)
			return bytes.Replace(b, []byte(`{`), []byte(`{"jsonrpc":"2.0",`), 1)
		}},
	},
	{
		Name: "code-unit-order", Rule: "EXT03-CANON-002", API: "0.3", Doc: "orders keys by UTF-16 code units",
		quirk: quirk{frame: respell(toolCall, `"metadata":{}`, "\"metadata\":{\"\U0001F600\":0,\"\ue000\":0}")},
	},
	{
		Name: "repeated-key", Rule: "EXT03-CANON-003", API: "0.3", Doc: "writes a member twice",
		quirk: quirk{frame: respell("error", `"jsonrpc":"2.0"`, `"jsonrpc":"2.0","jsonrpc":"2.0"`)},
	},
	{
		Name: "long-escape", Rule: "EXT03-CANON-004", API: "0.3", Doc: "writes a line feed as a \\u escape",
		quirk: quirk{frame: respell(toolCall, `\n`, `\u000a`)},
	},
	{
		Name: "raw-tab", Rule: "EXT03-CANON-004", API: "0.3", Doc: "writes a tab inside a string as itself",
		quirk: quirk{frame: respell(toolCall, `\t`, "\t")},
	},
	{
		Name: "upper-case-escape", Rule: "EXT03-CANON-005", API: "0.3", Doc: "writes escapes with upper-case digits",
		quirk: quirk{frame: respell(toolCall, `\u001f`, `\u001F`)},
	},
	{
		Name: "html-escape", Rule: "EXT03-CANON-006", API: "0.3", Doc: "escapes an angle bracket, as encoders for HTML do",
		quirk: quirk{frame: respell(toolCall, `<`, `\u003c`)},
	},
	{
		Name: "ascii-only", Rule: "EXT03-CANON-006", API: "0.3", Doc: "escapes everything outside ASCII",
		quirk: quirk{frame: respell(toolCall, "\U0001F427", `\ud83d\udc27`)},
	},
	{
		Name: "escaped-line-separator", Rule: "EXT03-CANON-006", API: "0.3", Doc: "escapes U+2028, as encoders for scripts do",
		quirk: quirk{frame: respell(toolCall, "\u2028", `\u2028`)},
	},
	{
		Name: "half-a-pair", Rule: "EXT03-CANON-007", API: "0.3", Doc: "writes half a surrogate pair",
		quirk: quirk{frame: respell(toolCall, "\U0001F427", `\ud83d`)},
	},
	{
		Name: "float", Rule: "EXT03-CANON-008", API: "0.3", Doc: "writes an integer with a fraction",
		quirk: quirk{frame: respell(toolCall, `"metadata":{}`, `"metadata":{"ms":1.0}`)},
	},
	{
		Name: "exponent", Rule: "EXT03-CANON-008", API: "0.3", Doc: "writes a number with an exponent",
		quirk: quirk{frame: respell(toolCall, `"metadata":{}`, `"metadata":{"ms":1e3}`)},
	},
	{
		Name: "negative-zero", Rule: "EXT03-CANON-008", API: "0.3", Doc: "writes a negative zero",
		quirk: quirk{frame: respell(toolCall, `"metadata":{}`, `"metadata":{"ms":-0}`)},
	},
	{
		Name: "large-number", Rule: "EXT03-CANON-009", API: "0.3", Doc: "writes a nanosecond clock, which is over the portable range",
		quirk: quirk{frame: respell(toolCall, `"metadata":{}`, `"metadata":{"at":1700000000000000000}`)},
	},
	{
		Name: "bottomless", Rule: "EXT03-CANON-010", API: "0.3", Doc: "nests arrays deeper than the bound",
		quirk: quirk{frame: respell(toolCall, `"metadata":{}`, `"metadata":`+strings.Repeat("[", 33)+strings.Repeat("]", 33))},
	},
	{
		Name: "not-a-number", Rule: "EXT03-CANON-011", API: "0.3", Doc: "writes NaN",
		quirk: quirk{frame: respell(toolCall, `"metadata":{}`, `"metadata":{"ratio":NaN}`)},
	},
	{
		Name: "trailing-comma", Rule: "EXT03-CANON-011", API: "0.3", Doc: "leaves a comma in front of a bracket",
		quirk: quirk{frame: respell(toolCall, `}],"is_error"`, `},],"is_error"`)},
	},
}
