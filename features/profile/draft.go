package profile

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"

	"github.com/octet-dev/octet/features/wire"
)

// Tool is what a draft needs to know of a tool.
type Tool struct {
	Name       string          `json:"name"`
	Parameters json.RawMessage `json:"parameters"`
}

// maxReason bounds the comment that says why a call is not made up, in bytes.
const maxReason = 1000

// Draft writes a profile for these tools, with comments that say what to look at. Calls that cannot be
// made up are left as comments.
func Draft(tools []Tool) []byte {
	var b bytes.Buffer
	b.WriteString("# How octet-conform may exercise this extension. Every call here is really made, several times: keep\n" +
		"# those that are safe, with arguments that do no harm.\n")
	for _, t := range tools {
		args, err := Arguments(t.Parameters)
		comment := ""
		if err != nil {
			fmt.Fprintf(&b, "\n# No arguments can be made up for %s: %s.\n", strconv.Quote(t.Name), wire.Printable([]byte(err.Error()), maxReason))
			comment = "# "
		} else {
			b.WriteByte('\n')
		}
		fmt.Fprintf(&b, "%s[[call]]\n%stool = %s\n%sarguments = %s\n%sexpect = \"ok\"\n", comment, comment, quote(t.Name), comment, inline(args), comment)
	}
	b.WriteString("\n# A call that takes some seconds unless it is cancelled. Without one, cancellation is not judged. It is cancelled\n# each time: progress is judged by a [[call]] that reports some.\n" +
		"# [slow]\n# tool = \"...\"\n# arguments = {}\n" +
		"\n# A call that fails without harm. Its expect is \"tool_error\" unless it says otherwise.\n" +
		"# [failing]\n# tool = \"...\"\n# arguments = {}\n")
	return b.Bytes()
}

// inline writes a value as TOML on one line.
func inline(v any) string {
	switch v := v.(type) {
	case map[string]any:
		var parts []string
		for _, key := range slices.Sorted(maps.Keys(v)) {
			parts = append(parts, name(key)+" = "+inline(v[key]))
		}
		if len(parts) == 0 {
			return "{}"
		}
		return "{ " + strings.Join(parts, ", ") + " }"
	case []any:
		var parts []string
		for _, item := range v {
			parts = append(parts, inline(item))
		}
		return "[" + strings.Join(parts, ", ") + "]"
	case string:
		return quote(v)
	case float64:
		// Without a point it is an integer, of which TOML has 64 bits and JSON keeps fewer.
		if v == math.Trunc(v) && math.Abs(v) > maxWhole {
			return strconv.FormatFloat(v, 'e', -1, 64)
		}
		return strconv.FormatFloat(v, 'f', -1, 64)
	default:
		// TOML has no null; an empty text is the nearest thing that can be looked at and mended.
		if v == nil {
			return `""`
		}
		return fmt.Sprint(v)
	}
}

var bare = regexp.MustCompile(`^[A-Za-z0-9_-]+$`)

// name writes a key, quoted only if it must be.
func name(key string) string {
	if bare.MatchString(key) {
		return key
	}
	return quote(key)
}

// quote writes a TOML basic string, with an escape for whatever is not printed.
func quote(s string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range s {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case strconv.IsPrint(r):
			b.WriteRune(r)
		case r > 0xffff:
			fmt.Fprintf(&b, `\U%08X`, r)
		default:
			fmt.Fprintf(&b, `\u%04X`, r)
		}
	}
	b.WriteByte('"')
	return b.String()
}
