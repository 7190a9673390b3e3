package faultypeer

import (
	"bytes"

	"github.com/octet-dev/octet/features/spelling"
)

// ignoresClass leaves out the check of one kind of departure from the canonical spelling.
func ignoresClass(name, rule string, class spelling.Class, doc string) Fault {
	return Fault{Name: name, Rule: rule, API: "0.3", Doc: doc, quirk: quirk{ignores: class.String()}}
}

// refusesText finds fault with lines that hold a text.
func refusesText(name, rule, text, doc string) Fault {
	return Fault{
		Name: name, Rule: rule, API: "0.3", Doc: doc,
		quirk: quirk{refuses: func(line []byte) bool { return bytes.Contains(line, []byte(text)) }},
	}
}

var canonicalReadFaults = []Fault{
	{
		Name: "reads-carriage-return", Rule: "EXT03-READ-001", API: "0.3", Doc: "reads lines that end in CR LF",
		quirk: quirk{tolerates: func(line []byte) []byte { return bytes.TrimSuffix(line, []byte{'\r'}) }},
	},
	{
		Name: "passes-empty-line", Rule: "EXT03-READ-002", API: "0.3", Doc: "passes over empty lines",
		quirk: quirk{ignores: spelling.Empty.String()},
	},
	{
		Name: "reads-over-bound", Rule: "EXT03-READ-003", API: "0.3", Doc: "reads frames over the bound",
		quirk: quirk{ignores: "frame-bound"},
	},
	{
		Name: "reads-without-line-feed", Rule: "EXT03-READ-004", API: "0.3", Doc: "takes the end of its input for the end of a frame",
		quirk: quirk{ignores: "line-feed"},
	},
	{
		Name: "reads-first-value", Rule: "EXT03-READ-005", API: "0.3", Doc: "reads the first value of a line and drops the rest",
		quirk: quirk{tolerates: firstValue},
	},
	{
		Name: "reads-byte-order-mark", Rule: "EXT03-READ-006", API: "0.3", Doc: "strips a byte order mark",
		quirk: quirk{tolerates: func(line []byte) []byte { return bytes.TrimPrefix(line, []byte("\ufeff")) }},
	},
	{
		Name: "repairs-utf8", Rule: "EXT03-READ-007", API: "0.3", Doc: "replaces invalid UTF-8",
		quirk: quirk{tolerates: func(line []byte) []byte { return bytes.ToValidUTF8(line, []byte("?")) }},
	},
	ignoresClass("reads-white-space", "EXT03-READ-008", spelling.WhiteSpace, "reads white space between tokens"),
	ignoresClass("reads-any-order", "EXT03-READ-009", spelling.KeyOrder, "reads members in any order"),
	ignoresClass("reads-repeated-key", "EXT03-READ-010", spelling.DuplicateKey, "lets the last of two equal keys win"),
	ignoresClass("reads-any-escape", "EXT03-READ-011", spelling.NeedlessEscape, "reads escapes that are not needed"),
	ignoresClass("reads-long-escape", "EXT03-READ-011", spelling.ShortEscape, "reads \\u escapes where a short one exists"),
	ignoresClass("reads-lone-surrogate", "EXT03-READ-012", spelling.LoneSurrogate, "replaces half a surrogate pair"),
	ignoresClass("reads-fraction", "EXT03-READ-013", spelling.Fraction, "reads numbers with a fraction"),
	ignoresClass("reads-exponent", "EXT03-READ-013", spelling.Exponent, "reads numbers with an exponent"),
	ignoresClass("reads-negative-zero", "EXT03-READ-013", spelling.NegativeZero, "reads a negative zero"),
	ignoresClass("reads-large-number", "EXT03-READ-014", spelling.IntegerTooLarge, "reads numbers over the portable range"),
	ignoresClass("reads-any-depth", "EXT03-READ-015", spelling.TooDeep, "reads any depth"),
	{
		Name: "reads-comments", Rule: "EXT03-READ-016", API: "0.3", Doc: "strips comments",
		quirk: quirk{tolerates: func(line []byte) []byte { return bytes.ReplaceAll(line, []byte("/*x*/"), nil) }},
	},
	{
		Name: "answers-refused", Rule: "EXT03-READ-017", API: "0.3", Doc: "answers a frame it cannot read with parse_error",
		quirk: quirk{does: "answer-refused"},
	},
	{
		Name: "reads-on", Rule: "EXT03-READ-018", API: "0.3", Doc: "passes over a frame it cannot read",
		quirk: quirk{does: "read-on"},
	},
	{
		Name: "refuses-silently", Rule: "EXT03-READ-019", API: "0.3", Doc: "refuses a frame and says nothing on stderr",
		quirk: quirk{does: "refuse-silently"},
	},
	{
		Name: "bound-counts-line-feed", Rule: "EXT03-READ-020", API: "0.3", Doc: "counts the line feed towards the frame bound",
		quirk: quirk{refuses: func(line []byte) bool { return len(line)+1 > 1<<20 }},
	},
	{
		Name: "depth-off-by-one", Rule: "EXT03-READ-021", API: "0.3", Doc: "refuses the deepest nesting that is allowed",
		quirk: quirk{refuses: func(line []byte) bool {
			return len(spelling.Check(line, 31)) > 0 && len(spelling.Check(line, 32)) == 0
		}},
	},
	refusesText("wants-code-unit-order", "EXT03-READ-022", "\ue000\":0,\"\U0001F600", "wants keys in the order of UTF-16 code units"),
	refusesText("splits-at-line-separator", "EXT03-READ-023", "\u2028", "takes U+2028 for the end of a line"),
	refusesText("refuses-delete", "EXT03-READ-023", "\x7f", "refuses DEL inside a string"),
	refusesText("reads-doubles", "EXT03-READ-024", "9007199254740991", "takes the largest integers for inexact"),
}

// firstValue cuts a line behind its first value.
func firstValue(line []byte) []byte {
	for i := range line {
		if line[i] == '}' && len(spelling.Check(line[:i+1], 32)) == 0 {
			return line[:i+1]
		}
	}
	return line
}
