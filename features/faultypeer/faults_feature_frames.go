package faultypeer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/octet-dev/octet/generated/featurewire"
)

// framing changes the bytes of every frame.
func framing(f func(b []byte) []byte) quirk {
	return quirk{frame: func(_ *peer, _ string, b []byte) []byte { return f(b) }}
}

var featureFrameFaults = []Fault{
	on(frozen, "EXT04-FRAME-001", "prints-into-stream", "prints what it does into the stream",
		moment("call "+ToolEcho, func(p *peer) { p.raw([]byte("echoing now\n")) })),
	on(middle, "EXT04-FRAME-001", "prints-banner", "greets on stdout at its start",
		moment("start", func(p *peer) { p.raw([]byte("peer 1.0.0 is ready\n")) })),
	on(current, "EXT04-FRAME-001", "prints-in-front-of-frame", "prints without a line feed in front of a frame",
		respelling(featurewire.MethodToolCall, "{", "took 3 ms {")),
	on(current, "EXT04-FRAME-001", "answers-in-batches", "answers in batches of one",
		framing(func(b []byte) []byte { return fmt.Appendf(nil, "[%s]\n", bytes.TrimSuffix(b, []byte{'\n'})) })),
	on(middle, "EXT04-FRAME-001", "prints-pretty", "writes objects over several lines",
		framing(func(b []byte) []byte {
			var out bytes.Buffer
			// The frame is JSON.
			_ = json.Indent(&out, b, "", "  ")
			return out.Bytes()
		})),
	on(current, "EXT04-FRAME-001", "writes-headers", "writes a header with the length in front of every message",
		framing(func(b []byte) []byte { return fmt.Appendf(nil, "Content-Length: %d\r\n\r\n%s", len(b), b) })),
	on(frozen, "EXT04-FRAME-001", "begins-with-byte-order-mark", "starts its output with a byte order mark",
		respelling(featurewire.MethodInitialize, "{", "\ufeff{")),
	on(current, "EXT04-FRAME-001", "writes-not-a-number", "writes NaN",
		respelling("error", `"error":{`, `"error":{"ratio":NaN,`)),
	on(middle, "EXT04-FRAME-001", "joins-frames", "leaves out the line feed between two frames",
		respelling(featurewire.MethodProgress, "\n", "")),

	on(frozen, "EXT04-FRAME-002", "ends-without-line-feed", "leaves out the line feed of its last frame",
		respelling(featurewire.MethodShutdown, "\n", "")),
	on(current, "EXT04-FRAME-002", "feeds-lines-in-front", "writes the line feed in front of a frame instead of behind it",
		framing(func(b []byte) []byte { return append([]byte{'\n'}, bytes.TrimSuffix(b, []byte{'\n'})...) })),

	on(frozen, "EXT04-FRAME-003", "writes-latin-1", "writes in the encoding of its locale",
		respelling(featurewire.MethodToolCall, "é", "\xe9")),
	on(middle, "EXT04-FRAME-003", "cuts-character", "cuts a character in two at the end of its buffer",
		respelling(featurewire.MethodToolCall, "\U0001F427", "\xf0\x9f\x90")),
	on(current, "EXT04-FRAME-003", "writes-surrogates", "writes a character outside the basic plane as two surrogates",
		respelling(featurewire.MethodToolCall, "\U0001F427", "\xed\xa0\xbd\xed\xb0\xa7")),

	on(frozen, "EXT04-FRAME-004", "writes-long-line", "writes a line over the bound",
		changeError(func(e obj) { e["data"] = obj{"trace": strings.Repeat("x", featurewire.MaxLineBytes)} })),
	on(frozen, "EXT04-FRAME-004", "says-too-much", "says more than a line may hold",
		changeEcho(func(r obj) { r["content"] = strings.Repeat("x", featurewire.MaxLineBytes) })),
	on(current, "EXT04-FRAME-004", "repeats-whole-name", "repeats an unknown name twice, however long it is",
		acting("repeat-whole-name")),

	on(frozen, "EXT04-FRAME-005", "wants-compact-lines", "reads only lines without white space", ending(`" : `)),
	on(middle, "EXT04-FRAME-005", "wants-bare-line-feed", "takes the CR before a line feed for garbage", ending("}\r")),
	on(current, "EXT04-FRAME-005", "wants-member-order", "reads members in one order only", ending(`{"params"`)),
	on(frozen, "EXT04-FRAME-005", "knows-few-escapes", "does not know the escape of a solidus", ending(`\/`)),
	on(current, "EXT04-FRAME-005", "compares-raw-keys", "looks for members by their usual spelling", ending(`m\u0065thod`)),
	on(middle, "EXT04-FRAME-005", "ends-at-blank-line", "takes a blank line for the end",
		quirk{refuses: func(line []byte) bool { return len(bytes.TrimSpace(line)) == 0 }}),
	on(current, "EXT04-FRAME-005", "answers-blank-line", "answers a blank line with parse_error", acting("answer-blank-line")),

	on(frozen, "EXT04-FRAME-006", "reads-short-lines", "reads lines of at most 64 KiB, as line readers do unasked",
		quirk{refuses: func(line []byte) bool { return len(line) > 64<<10 }}),
	on(middle, "EXT04-FRAME-006", "counts-in-thousands", "takes a million bytes for the bound",
		quirk{refuses: func(line []byte) bool { return len(line) > 1_000_000 }}),
	on(current, "EXT04-FRAME-006", "counts-line-feed", "counts the line feed towards the bound",
		quirk{refuses: func(line []byte) bool { return len(line)+1 > featurewire.MaxLineBytes }}),

	on(middle, "EXT04-FRAME-007", "takes-read-for-frame", "takes every read of the pipe for a frame",
		byRead(func(b []byte) []byte { return append(bytes.TrimSuffix(b, []byte{'\n'}), '\n') })),
	on(current, "EXT04-FRAME-007", "drops-rest-of-read", "takes one frame from every read of the pipe",
		byRead(func(b []byte) []byte {
			line, _, _ := bytes.Cut(b, []byte{'\n'})
			return append(bytes.Clone(line), '\n')
		})),
	on(frozen, "EXT04-FRAME-007", "decodes-by-read", "decodes every read of the pipe on its own and dies at half a character",
		byRead(func(b []byte) []byte {
			if !utf8.Valid(b) {
				return nil
			}
			return b
		})),
	on(middle, "EXT04-FRAME-007", "splits-at-u2028", "takes U+2028 for the end of a line", translating("\u2028", "\n")),
	on(frozen, "EXT04-FRAME-007", "splits-at-next-line", "takes U+0085 for the end of a line", translating("\u0085", "\n")),
	on(current, "EXT04-FRAME-007", "splits-at-carriage-return", "takes CR for the end of a line", translating("\r", "\n")),

	on(frozen, "EXT04-FRAME-008", "ends-lines-in-cr-lf", "ends its lines in CR LF", respelling("error", "\n", "\r\n")),
	on(current, "EXT04-FRAME-008", "writes-blank-lines", "writes a blank line behind a frame", respelling("error", "\n", "\n\n")),
	on(middle, "EXT04-FRAME-009", "blanks-behind-colons", "writes a blank behind every colon",
		framing(func(b []byte) []byte { return bytes.ReplaceAll(b, []byte(`":`), []byte(`": `)) })),
	on(current, "EXT04-FRAME-009", "blank-behind-frame", "writes a blank at the end of a line", respelling("error", "\n", " \n")),

	on(current, "EXT04-FRAME-010", "reads-long-lines", "reads lines of any length", lax("frame-bound")),
	on(frozen, "EXT04-FRAME-010", "passes-over-long-lines", "answers a line over the bound with parse_error and reads on",
		quirk{tolerates: func(line []byte) []byte {
			if len(line) > featurewire.MaxLineBytes {
				return []byte("too long")
			}
			return line
		}, ignores: "frame-bound"}),
}
