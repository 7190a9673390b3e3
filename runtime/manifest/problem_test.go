package manifest

import (
	"slices"
	"strings"
	"testing"

	"github.com/octet-dev/octet/generated/manifestdoc"
)

// broken has one fault for every check of the fixed order, by check; removing the first must make the
// next one the summary.
var brokenChecks = []struct{ check, fault, cure, summary string }{
	{"decode", "license = 1\n", "", "invalid extension TOML: unknown key `license`"},
	{"runtime", "lifecycle = \"session\"", "lifecycle = \"lazy_resident\"", "invalid extension manifest: " + needsIsolated},
	{"name", "name = \"Demo\"", "name = \"other\"", "invalid extension manifest: invalid extension name identifier `Demo`"},
	{"version", "version = \"1\"", "version = \"1.0.0\"", "invalid extension manifest: version `1` is not semantic versioning: want three numbers separated by dots, got \"1\""},
	{"sharing_version", "sharing = \"workspace\"", "", "invalid extension manifest: workspace sharing requires extension API 0.2 or later resource-owner fences"},
	{"requires_octet", "requires_octet = \"9\"", "", "invalid extension manifest: extension requires octet `9`, but this binary is 0.8.0"},
	{"presentation", "presentation = true", "", "invalid extension manifest: semantic presentation requires extension API 0.2"},
	{"menu", "menu = true", "", "invalid extension manifest: extension menus require extension API 0.2"},
	{"shortcuts_version", "shortcuts = [{ name = \"9\", key = \"k\", description = \"d\" }]", "", "invalid extension manifest: shortcuts require extension API 0.2"},
	{"flags_version", "flags = [{ name = \"X\", type = \"boolean\", default = 1 }]", "", "invalid extension manifest: CLI flags require extension API 0.2 or later"},
	{
		"hook_versions", "\"post_mutation\", ", "",
		"invalid extension manifest: provider_retry, before_persistence, and post_mutation hooks require extension API 0.2",
	},
	{"providers", "providers = true", "", "invalid extension manifest: provider catalogs require extension API 0.2 or later"},
	{"session_hooks_version", "\"session_start\", ", "", "invalid extension manifest: session_start and session_end hooks require extension API 0.2 or later"},
	{"command", "command = \" \"", "command = \"run\"", "invalid extension manifest: entrypoint.command must be non-empty and contain no control characters"},
	{"args", "args = [\"\\u0000\"]", "", "invalid extension manifest: entrypoint arguments cannot contain NUL"},
	{"env", "env = { \"=\" = \"\" }", "", "invalid extension manifest: invalid entrypoint environment variable `=`"},
	{"tools", "tools = [\"a b\"]", "", "invalid extension manifest: invalid tool identifier `a b`"},
	{"commands", "commands = [\"c\", \"c\"]", "", "invalid extension manifest: duplicate command `\"c\"`"},
	{"tool_renderers", "tool_renderers = [\"\"]", "", "invalid extension manifest: invalid tool renderer identifier ``"},
	{"secrets", "secrets = [\"1\"]", "", "invalid extension manifest: invalid secret identifier `1`"},
	{"environment_identifiers", "\"a b\", ", "", "invalid extension manifest: invalid brokered environment variable identifier `a b`"},
	{"environment_names", "\"HOME\", ", "", "invalid extension manifest: unsupported brokered environment variable `HOME`"},
	{"environment_version", "environment = [\"SSH_AUTH_SOCK\"]", "", "invalid extension manifest: brokered environment variables require extension API 0.2"},
	{"duplicate_hooks", ", \"before_prompt\"", "", "invalid extension manifest: duplicate hook `BeforePrompt`"},
	{"duplicate_ui", ", \"status\"", "", "invalid extension manifest: duplicate UI contribution `Status`"},
	{"directory_name", "name = \"other\"", "name = \"demo\"", `extension directory name "demo" must match manifest name "other"`},
}

const brokenManifest = `license = 1
name = "Demo"
version = "1"
api_version = "0.1"
requires_octet = "9"

[contributes]
ui = ["status", "status"]
hooks = ["before_prompt", "post_mutation", "session_start", "before_prompt"]
tools = ["a b"]
commands = ["c", "c"]
tool_renderers = [""]
presentation = true
menu = true
shortcuts = [{ name = "9", key = "k", description = "d" }]
flags = [{ name = "X", type = "boolean", default = 1 }]
providers = true

[capabilities]
environment = ["HOME", "a b", "SSH_AUTH_SOCK"]
secrets = ["1"]

[entrypoint]
env = { "=" = "" }
args = ["\u0000"]
command = " "

[runtime]
sharing = "workspace"
lifecycle = "session"
`

func TestSummary_fixedOrder(t *testing.T) {
	text := brokenManifest
	last := -1
	for _, c := range brokenChecks {
		at := slices.Index(manifestdoc.TableValidationOrder, c.check)
		if at < last {
			t.Errorf("check %q stands before the one above it in the spec: mend this test's order", c.check)
		}
		last = at
		if !strings.Contains(text, c.fault) {
			t.Fatalf("check %q: the text has no %q", c.check, c.fault)
		}
		if got := Judge([]byte(text), Context{Directory: "demo"}).Summary(); got != c.summary {
			t.Errorf("check %q: summary %q, want %q", c.check, got, c.summary)
		}
		text = strings.Replace(text, c.fault, c.cure, 1)
	}
	if verdict := Judge([]byte(text), Context{Directory: "demo"}); !verdict.OK() {
		t.Errorf("still refused after the last cure: %v", verdict.Problems)
	}
}

func TestSummary_orderInsideOneFlag(t *testing.T) {
	text := flagsOn("0.4", `{ default = 1, description = "", type = "boolean", name = "x" },
{ default = 1, description = "", type = "boolean", name = "x" },
{ default = 1, description = "", type = "boolean", name = "X" }`)
	for _, c := range []struct{ summary, fault, cure string }{
		{"invalid CLI flag `x` description", `description = ""`, `description = "d"`},
		{"extension flag `x` value must be a boolean", "default = 1", "default = true"},
		{"duplicate CLI flag `x`", "name = \"x\" },\n{ default = 1", "name = \"x\" },\n{ default = true"},
		{"duplicate CLI flag `x`", `name = "x"`, `name = "y"`},
		{"invalid CLI flag `x` description", `description = ""`, `description = "d"`},
		{"invalid CLI flag identifier `X`", `name = "X"`, `name = "z"`},
		{"invalid CLI flag `z` description", `description = ""`, `description = "d"`},
		{"extension flag `z` value must be a boolean", "default = 1", "default = true"},
	} {
		if got := Judge([]byte(text), Context{}).Summary(); got != "invalid extension manifest: "+c.summary {
			t.Errorf("summary %q, want %q", got, c.summary)
		}
		text = strings.Replace(text, c.fault, c.cure, 1)
	}
	if verdict := Judge([]byte(text), Context{}); !verdict.OK() {
		t.Errorf("still refused after the last cure: %v", verdict.Problems)
	}
}

func TestSummary_warningsGiveNone(t *testing.T) {
	if got := Judge([]byte(hooksOn("0.4", "session_end")), Context{}).Summary(); got != "" {
		t.Errorf("summary %q for a warning", got)
	}
}

// TestChecks_areThoseOfTheSpec: a check that the spec does not list would sort as the first.
func TestChecks_areThoseOfTheSpec(t *testing.T) {
	names := map[string]bool{}
	for _, s := range subjects {
		names[s.check] = true
	}
	for _, words := range lateKeys {
		names[words.check] = true
	}
	for _, words := range lateHooks {
		names[words.check] = true
	}
	delete(names, "") // reported while decoding
	for name := range names {
		if !slices.Contains(manifestdoc.TableValidationOrder, name) {
			t.Errorf("the spec's order has no check %q", name)
		}
	}
}
