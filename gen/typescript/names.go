package typescript

import (
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"unicode"
)

// constant returns the name of the constant for a name of the spec: "tool/call" gives TOOL_CALL,
// "$/cancelRequest" gives CANCEL_REQUEST.
func constant(name string) string {
	var b strings.Builder
	previous := '_'
	for _, r := range name {
		switch {
		case unicode.IsLetter(r) || unicode.IsDigit(r):
			if unicode.IsUpper(r) && (unicode.IsLower(previous) || unicode.IsDigit(previous)) {
				b.WriteByte('_')
			}
			b.WriteRune(unicode.ToUpper(r))
		case previous != '_':
			b.WriteByte('_')
			r = '_'
		default:
			r = '_'
		}
		previous = r
	}
	return strings.TrimSuffix(b.String(), "_")
}

var identifier = regexp.MustCompile(`^[A-Za-z_$][A-Za-z0-9_$]*$`)

// property returns a member name as it stands in an interface or an object literal.
func property(name string) string {
	if identifier.MatchString(name) {
		return name
	}
	return quote(name)
}

// quote returns a string literal.
func quote(text string) string {
	var b strings.Builder
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	// A string always encodes.
	_ = encoder.Encode(text)
	return strings.TrimSuffix(b.String(), "\n")
}

func quoteAll(texts []string) string {
	quoted := make([]string, len(texts))
	for i, text := range texts {
		quoted[i] = quote(text)
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// names collects the exported names of one module and refuses to hand one out twice.
type names map[string]string

func (n names) claim(name, owner string) error {
	if !identifier.MatchString(name) {
		return fmt.Errorf("%s has no TypeScript name; start it with a letter", owner)
	}
	if previous, taken := n[name]; taken {
		return fmt.Errorf("%s and %s would both be named %q; rename one", previous, owner, name)
	}
	n[name] = owner
	return nil
}
