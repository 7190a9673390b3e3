package manifest

import (
	"strings"

	"github.com/octet-dev/octet/generated/manifestdoc"
)

// subject says what a place in the document is called and what is reported when its value is outside
// its class.
type subject struct {
	pattern string // JSON Pointer, with * for any key or number
	noun    string // what messages call the value
	rule    string // the rule about the value
	check   string // the step in the fixed order of checks
	// message, if set, replaces the usual message about an identifier.
	message func(d *document, pointer, value string) string
	remedy  string
}

const (
	strictRemedy   = "start with a lower-case letter and go on with lower-case letters, digits and hyphens; 64 bytes at most"
	extendedRemedy = "start with a letter or underscore and go on with letters, digits, underscores, dots and hyphens; 64 bytes at most"
)

var subjects = []subject{
	{pattern: "/name", noun: "extension name", rule: "MAN-TOP-001", check: "name", remedy: strictRemedy},
	{
		pattern: "/version", noun: "version", rule: "MAN-TOP-003", check: "version",
		message: func(_ *document, _, value string) string { return versionMessage(value, "it is blank") },
		remedy:  versionRemedy,
	},
	{
		pattern: "/requires_octet", noun: "requirement", rule: "MAN-HOST-002", check: "requires_octet",
		message: func(_ *document, _, value string) string { return requirementMessage(value, "it is blank") },
		remedy:  requirementRemedy,
	},
	{
		pattern: "/entrypoint/command", rule: "MAN-ENTRY-001", check: "command",
		message: fixed("entrypoint.command must be non-empty and contain no control characters"),
		remedy:  "name a file beside the manifest, a program on PATH, or an absolute path",
	},
	{
		pattern: "/entrypoint/args/*", rule: "MAN-ENTRY-002", check: "args",
		message: fixed("entrypoint arguments cannot contain NUL"),
		remedy:  "take the \\u0000 out",
	},
	{
		pattern: "/entrypoint/env/*", rule: "MAN-ENTRY-004", check: "env",
		message: func(_ *document, pointer, _ string) string {
			return "invalid entrypoint environment variable `" + lastToken(pointer) + "`"
		},
		remedy: "start the name with a letter or underscore, go on with letters, digits and underscores, and keep NUL out of the value",
	},
	{pattern: "/capabilities/secrets/*", noun: "secret", rule: "MAN-CAP-004", check: "secrets", remedy: extendedRemedy},
	{
		pattern: "/capabilities/environment/*", noun: "brokered environment variable", rule: "MAN-CAP-006",
		check: "environment_identifiers", remedy: extendedRemedy,
	},
	{pattern: "/contributes/tools/*", noun: "tool", rule: "MAN-CONTRIB-001", check: "tools", remedy: extendedRemedy},
	{pattern: "/contributes/commands/*", noun: "command", rule: "MAN-CONTRIB-002", check: "commands", remedy: extendedRemedy},
	{
		pattern: "/contributes/tool_renderers/*", noun: "tool renderer", rule: "MAN-CONTRIB-003",
		check: "tool_renderers", remedy: extendedRemedy,
	},
	{pattern: "/contributes/hooks/*", noun: "hook", rule: "MAN-FILE-008", check: "duplicate_hooks"},
	{pattern: "/contributes/ui/*", noun: "UI contribution", rule: "MAN-CONTRIB-004", check: "duplicate_ui"},
	{pattern: "/contributes/flags/*", noun: "CLI flag", rule: "MAN-FLAG-004", check: "flags"},
	{pattern: "/contributes/flags/*/name", noun: "CLI flag", rule: "MAN-FLAG-003", check: "flags", remedy: strictRemedy},
	{pattern: "/contributes/flags/*/type", noun: "flag type", rule: "MAN-FLAG-005", check: "flags"},
	{
		pattern: "/contributes/flags/*/description", rule: "MAN-FLAG-009", check: "flags",
		message: func(d *document, pointer, _ string) string {
			return "invalid CLI flag `" + d.siblingName(pointer) + "` description"
		},
		remedy: "write 1 to 1024 bytes on one line, or leave the key out",
	},
	{pattern: "/contributes/shortcuts/*", noun: "shortcut", rule: "MAN-SHORTCUT-006", check: "shortcuts"},
	{
		pattern: "/contributes/shortcuts/*/name", noun: "shortcut", rule: "MAN-SHORTCUT-003",
		check: "shortcuts", remedy: extendedRemedy,
	},
	{
		pattern: "/contributes/shortcuts/*/key", rule: "MAN-SHORTCUT-004", check: "shortcuts",
		message: func(_ *document, _, value string) string { return "invalid shortcut key `" + value + "`" },
		remedy:  "write 1 to 128 bytes without blanks at the ends and without control characters",
	},
	{
		pattern: "/contributes/shortcuts/*/description", rule: "MAN-SHORTCUT-005", check: "shortcuts",
		message: func(d *document, pointer, _ string) string {
			return "shortcut `" + d.siblingName(pointer) + "` has an invalid description"
		},
		remedy: "write up to 4096 bytes that are not blank, without control characters",
	},
	{pattern: "/capabilities/filesystem", noun: "filesystem grant", rule: "MAN-CAP-001"},
	{pattern: "/runtime/lifecycle", noun: "runtime lifecycle", rule: "MAN-RUNTIME-001"},
	{pattern: "/runtime/sharing", noun: "runtime sharing", rule: "MAN-RUNTIME-002"},
}

func fixed(message string) func(*document, string, string) string {
	return func(*document, string, string) string { return message }
}

// subjectAt finds the subject of a pointer; one without words of its own for places nobody names.
func subjectAt(pointer string) subject {
	for _, s := range subjects {
		if matches(s.pattern, pointer) {
			return s
		}
	}
	return subject{noun: "value", rule: "MAN-FILE-009"}
}

// matches compares a pointer with a pattern part by part.
func matches(pattern, pointer string) bool {
	for {
		want, morePattern, patternGoesOn := strings.Cut(pattern, "/")
		got, morePointer, pointerGoesOn := strings.Cut(pointer, "/")
		if want != "*" && want != got || patternGoesOn != pointerGoesOn {
			return false
		}
		if !patternGoesOn {
			return true
		}
		pattern, pointer = morePattern, morePointer
	}
}

// absentRules name the rule that asks for a key; the keys of flags and shortcuts share one each.
var absentRules = map[string]string{
	"/name":               "MAN-TOP-001",
	"/version":            "MAN-TOP-003",
	"/api_version":        "MAN-TOP-004",
	"/entrypoint":         "MAN-TOP-007",
	"/entrypoint/command": "MAN-ENTRY-001",
}

func absentRule(pointer string) string {
	switch {
	case strings.HasPrefix(pointer, "/contributes/flags/"):
		return "MAN-FLAG-002"
	case strings.HasPrefix(pointer, "/contributes/shortcuts/"):
		return "MAN-SHORTCUT-002"
	default:
		return absentRules[pointer]
	}
}

// typeRules name the rules that say of which type a value is. Any other value is of its key's type.
var typeRules = []struct{ pattern, rule string }{
	{"/description", "MAN-TOP-006"},
	{"/entrypoint", "MAN-TOP-007"},
	{"/capabilities", "MAN-TOP-008"},
	{"/contributes", "MAN-TOP-008"},
	{"/runtime", "MAN-TOP-008"},
	{"/entrypoint/args", "MAN-ENTRY-002"},
	{"/entrypoint/args/*", "MAN-ENTRY-002"},
	{"/entrypoint/env", "MAN-ENTRY-003"},
	{"/entrypoint/env/*", "MAN-ENTRY-003"},
	{"/capabilities/process", "MAN-CAP-002"},
	{"/capabilities/network", "MAN-CAP-003"},
	{"/contributes/context", "MAN-CONTRIB-005"},
	{"/contributes/notifications", "MAN-CONTRIB-005"},
	{"/contributes/confirmations", "MAN-CONTRIB-005"},
	{"/contributes/presentation", "MAN-CONTRIB-005"},
	{"/contributes/menu", "MAN-CONTRIB-005"},
	{"/contributes/providers", "MAN-CONTRIB-005"},
	{"/contributes/shortcuts/*/name", "MAN-SHORTCUT-002"},
	{"/contributes/shortcuts/*/key", "MAN-SHORTCUT-002"},
	{"/contributes/shortcuts/*/description", "MAN-SHORTCUT-002"},
}

func typeRule(pointer string) string {
	for _, row := range typeRules {
		if matches(row.pattern, pointer) {
			return row.rule
		}
	}
	return "MAN-FILE-009"
}

// checkNumber is the place of a check in the fixed order; decoding comes first.
func checkNumber(name string) int {
	for i, check := range manifestdoc.TableValidationOrder {
		if check == name {
			return i
		}
	}
	return 0
}

// steps is the order of checks inside one flag or shortcut.
var steps = map[string]int{"name": 0, "": 1, "key": 2, "description": 3, "default": 4}

// orderOf places a problem of a check. In /contributes/flags/3/name the element is 3 and the step that
// of name.
func orderOf(check, pointer string) order {
	o := order{check: checkNumber(check)}
	tokens := strings.Split(pointer, "/")
	if len(tokens) < 4 {
		return o
	}
	if n, found := number(tokens[3]); found {
		o.element = n
		o.step = steps[strings.Join(tokens[4:], "/")]
	}
	return o
}

// number reads an array index.
func number(token string) (n int, found bool) {
	for _, c := range []byte(token) {
		if c < '0' || c > '9' || n > 1<<24 {
			return 0, false
		}
		n = n*10 + int(c-'0')
	}
	return n, token != ""
}

// lastToken is the last part of a pointer, unescaped.
func lastToken(pointer string) string {
	token := pointer[strings.LastIndexByte(pointer, '/')+1:]
	return strings.NewReplacer("~1", "/", "~0", "~").Replace(token)
}

// siblingName is the name beside a member of a flag or shortcut, or its number if it has none.
func (d *document) siblingName(pointer string) string {
	return d.elementName(pointer[:strings.LastIndexByte(pointer, '/')])
}

// elementName is the name of a flag or shortcut, or its number if it has none.
func (d *document) elementName(pointer string) string {
	if n := d.values[pointer+"/name"]; n != nil && n.Text != "" {
		return n.Text
	}
	return "#" + lastToken(pointer)
}
