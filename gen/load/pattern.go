package load

import (
	"fmt"
	"regexp"
	"strings"
)

var unicodeEscape = regexp.MustCompile(`\\u00([0-9A-Fa-f]{2})`)

// normalPattern returns a pattern in which characters below U+0100 are escaped in the form that all
// three dialects know; JSON Schema authors are used to the four-digit one.
func normalPattern(pattern string) string {
	return unicodeEscape.ReplaceAllString(pattern, `\x$1`)
}

var byteEscape = regexp.MustCompile(`^x[0-9A-Fa-f]{2}`)

// portablePattern says why a regular expression could mean different things to RE2, Python and
// ECMAScript, or "" if it cannot.
func portablePattern(pattern string) string {
	inner, anchored := strings.CutPrefix(pattern, "^")
	inner, closed := strings.CutSuffix(inner, "$")
	if !anchored || !closed {
		return fmt.Sprintf("the pattern %q is not anchored; start it with ^ and end it with $", pattern)
	}
	if _, err := regexp.Compile(pattern); err != nil {
		return fmt.Sprintf("the pattern %q is no regular expression (%v); correct it", pattern, err)
	}
	class := false
	for i := 0; i < len(inner); i++ {
		switch c := inner[i]; {
		case c >= 0x80:
			return fmt.Sprintf("the pattern %q holds a character outside ASCII; languages count those differently", pattern)
		case c == '\\':
			i++
			if byteEscape.MatchString(inner[i:]) {
				continue
			}
			if i < len(inner) && strings.IndexByte(`\.+*?()[]{}|^$/-`, inner[i]) < 0 {
				return fmt.Sprintf(`the pattern %q uses \%c, which languages read differently; write a class such as [0-9]`, pattern, inner[i])
			}
		case class:
			class = c != ']'
		case c == '[':
			class = true
			if strings.HasPrefix(inner[i+1:], "[") {
				return fmt.Sprintf("the pattern %q holds [[, which languages read differently; escape the bracket", pattern)
			}
		case c == '.', c == '^', c == '$':
			return fmt.Sprintf("the pattern %q uses a bare %c, which languages read differently; write a class or escape it", pattern, c)
		case c == '(' && strings.HasPrefix(inner[i+1:], "?") && !strings.HasPrefix(inner[i+1:], "?:"):
			return fmt.Sprintf("the pattern %q uses a special group; only ( and (?: are portable", pattern)
		}
	}
	return ""
}
