package manifest

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/octet-dev/octet/generated/manifestdoc"
)

var contributionCases = []judgement{
	{
		name: "identifiers outside their class", proves: "MAN-CONTRIB-001 MAN-CONTRIB-002 MAN-CONTRIB-003 MAN-ID-002",
		text: testDocument("0.4", "", `[contributes]
tools = ["ok.a-b_C9", "9lives"]
commands = ["a b"]
tool_renderers = ["é"]
`),
		want: []string{
			errorAt(8, 23, "invalid tool identifier `9lives`", "MAN-CONTRIB-001"),
			errorAt(9, 13, "invalid command identifier `a b`", "MAN-CONTRIB-002"),
			errorAt(10, 19, "invalid tool renderer identifier `é`", "MAN-CONTRIB-003"),
		},
	},
	{
		name: "late contributions on 0.1", proves: "MAN-CONTRIB-006 MAN-CONTRIB-007 MAN-CONTRIB-008 MAN-CONTRIB-009 MAN-CONTRIB-010",
		text: testDocument("0.1", "", `[contributes]
commands = ["c"]
presentation = true
menu = true
providers = true
shortcuts = [{ name = "s", key = "k", description = "d" }]
flags = [{ name = "verbose-log", type = "boolean", default = false }]
`),
		want: []string{
			errorAt(9, 1, "semantic presentation requires extension API 0.2", "MAN-CONTRIB-006"),
			errorAt(10, 1, "extension menus require extension API 0.2", "MAN-CONTRIB-007"),
			errorAt(11, 1, "provider catalogs require extension API 0.2 or later", "MAN-CONTRIB-008"),
			errorAt(12, 1, "shortcuts require extension API 0.2", "MAN-CONTRIB-009"),
			errorAt(13, 1, "CLI flags require extension API 0.2 or later", "MAN-CONTRIB-010"),
		},
	},
	{
		name: "late contributions on 0.3", proves: "MAN-CONTRIB-012 MAN-FLAG-010",
		text: testDocument("0.3", "", `[contributes]
commands = ["c"]
presentation = true
menu = true
providers = true
shortcuts = [{ name = "s", key = "k", description = "d" }]
flags = [{ name = "x", type = "boolean", default = false }]
`),
	},
	{
		name: "menu without a command", proves: "MAN-CONTRIB-013",
		text: testDocument("0.4", "", "[contributes]\nmenu = true\n"),
		want: []string{errorAt(8, 8, "an extension menu needs at least one declared command to route to", "MAN-CONTRIB-013")},
	},
}

// list writes n elements made from a format with one number.
func list(n int, format string) string {
	parts := make([]string, n)
	for i := range parts {
		parts[i] = strings.ReplaceAll(format, "#", fmt.Sprint(i))
	}
	return strings.Join(parts, ",\n")
}

var shortcutCases = []judgement{
	{
		name: "too many shortcuts", proves: "MAN-SHORTCUT-001",
		text: testDocument("0.4", "", "[contributes]\nshortcuts = ["+list(65, `{ name = "s#", key = "k#", description = "d" }`)+"]\n"),
		want: []string{errorAt(8, 1, "shortcut catalog contains 65 entries; limit is 64", "MAN-SHORTCUT-001")},
	},
	{
		name: "as many shortcuts as there may be", proves: "MAN-SHORTCUT-001",
		text: testDocument("0.4", "", "[contributes]\nshortcuts = ["+list(64, `{ name = "s#", key = "k#", description = "d" }`)+"]\n"),
	},
	{
		name: "shortcut without its keys", proves: "MAN-SHORTCUT-002",
		text: testDocument("0.4", "", "[contributes]\nshortcuts = [{}]\n"),
		want: []string{
			errorAt(8, 14, "missing key `contributes.shortcuts[0].name`", "MAN-SHORTCUT-002"),
			errorAt(8, 14, "missing key `contributes.shortcuts[0].key`", "MAN-SHORTCUT-002"),
			errorAt(8, 14, "missing key `contributes.shortcuts[0].description`", "MAN-SHORTCUT-002"),
		},
	},
	{
		name: "shortcut values", proves: "MAN-SHORTCUT-003 MAN-SHORTCUT-004 MAN-SHORTCUT-005",
		text: testDocument("0.4", "", `[contributes]
shortcuts = [
  { name = "9", key = "a", description = "d" },
  { name = "b", key = " b", description = " " },
  { name = "c", key = "", description = "a\tb" },
  { name = "d", key = "`+strings.Repeat("k", 128)+`", description = "`+strings.Repeat("d", 4096)+`" },
  { name = "e", key = "`+strings.Repeat("l", 129)+`", description = "`+strings.Repeat("d", 4097)+`" },
]
`),
		want: []string{
			errorAt(9, 12, "invalid shortcut identifier `9`", "MAN-SHORTCUT-003"),
			errorAt(10, 23, "invalid shortcut key ` b`", "MAN-SHORTCUT-004"),
			errorAt(10, 43, "shortcut `b` has an invalid description", "MAN-SHORTCUT-005"),
			errorAt(11, 23, "invalid shortcut key ``", "MAN-SHORTCUT-004"),
			errorAt(11, 41, "shortcut `c` has an invalid description", "MAN-SHORTCUT-005"),
			errorAt(13, 23, "invalid shortcut key `"+strings.Repeat("l", 129)+"`", "MAN-SHORTCUT-004"),
			errorAt(13, 170, "shortcut `e` has an invalid description", "MAN-SHORTCUT-005"),
		},
	},
	{
		name: "shortcuts twice", proves: "MAN-SHORTCUT-006 MAN-SHORTCUT-007",
		text: testDocument("0.4", "", `[contributes]
shortcuts = [
  { name = "a", key = "ctrl+k", description = "d" },
  { name = "a", key = "é", description = "d" },
  { name = "b", key = "Ctrl+K", description = "d" },
  { name = "c", key = "É", description = "d" },
]
`),
		want: []string{
			errorAt(10, 12, "duplicate shortcut definition `a`", "MAN-SHORTCUT-006"),
			errorAt(11, 23, "duplicate shortcut key `Ctrl+K`", "MAN-SHORTCUT-007"),
		},
	},
}

func hooksOn(api string, hooks ...string) string {
	return testDocument(api, "", fmt.Sprintf("[contributes]\nhooks = [\"%s\"]\n", strings.Join(hooks, "\",\n\"")))
}

var hookCases = []judgement{
	{
		name: "hooks of every API", proves: "MAN-HOOK-001",
		text: hooksOn("0.1", "before_prompt", "after_response", "before_tool_call", "after_tool_call"),
	},
	{
		name: "every late hook on 0.1", proves: "MAN-HOOK-002 MAN-HOOK-003 MAN-HOOK-006",
		text: hooksOn("0.1", "provider_retry", "before_persistence", "post_mutation", "session_start", "compaction_strategy"),
		want: []string{
			errorAt(8, 10, "provider_retry, before_persistence, and post_mutation hooks require extension API 0.2", "MAN-HOOK-002"),
			errorAt(9, 1, "provider_retry, before_persistence, and post_mutation hooks require extension API 0.2", "MAN-HOOK-002"),
			errorAt(10, 1, "provider_retry, before_persistence, and post_mutation hooks require extension API 0.2", "MAN-HOOK-002"),
			errorAt(11, 1, "session_start and session_end hooks require extension API 0.2 or later", "MAN-HOOK-003"),
			errorAt(12, 1, "compaction_strategy requires extension API 0.4", "MAN-HOOK-006"),
		},
	},
	{
		name: "one half of the pair", proves: "MAN-HOOK-004",
		text: hooksOn("0.3", "session_end"),
		want: []string{errorAt(8, 10, "session_start and session_end hooks must be declared together on extension API 0.3", "MAN-HOOK-004")},
	},
	{name: "the pair", proves: "MAN-HOOK-004", text: hooksOn("0.3", "session_end", "session_start")},
	{
		name: "the pair where nothing delivers it", proves: "MAN-HOOK-005",
		text: hooksOn("0.4", "session_start"),
		want: []string{warningAt(8, 10, "extension API 0.4 never delivers the hook session_start", "MAN-HOOK-005")},
	},
	{
		name: "hooks of 0.4 on 0.3", proves: "MAN-HOOK-006 MAN-HOOK-008 MAN-HOOK-009 MAN-HOOK-010",
		text: hooksOn("0.3", "compaction_strategy", "cache_warming_decision", "provider_context", "resources_discover",
			"before_provider_request", "before_provider_headers", "after_provider_response",
			"model_turn_start", "model_turn_end", "session_before_compact", "session_compact", "session_before_tree", "session_tree"),
		want: []string{
			errorAt(8, 10, "compaction_strategy requires extension API 0.4", "MAN-HOOK-006"),
			errorAt(9, 1, "cache_warming_decision requires extension API 0.4", "MAN-HOOK-008"),
			errorAt(10, 1, "provider_context requires extension API 0.4", "MAN-HOOK-008"),
			errorAt(11, 1, "resources_discover requires extension API 0.4", "MAN-HOOK-008"),
			errorAt(12, 1, "provider pipeline hooks require extension API 0.4", "MAN-HOOK-009"),
			errorAt(13, 1, "provider pipeline hooks require extension API 0.4", "MAN-HOOK-009"),
			errorAt(14, 1, "provider pipeline hooks require extension API 0.4", "MAN-HOOK-009"),
			errorAt(15, 1, "session operation hooks require extension API 0.4", "MAN-HOOK-010"),
			errorAt(16, 1, "session operation hooks require extension API 0.4", "MAN-HOOK-010"),
			errorAt(17, 1, "session operation hooks require extension API 0.4", "MAN-HOOK-010"),
			errorAt(18, 1, "session operation hooks require extension API 0.4", "MAN-HOOK-010"),
			errorAt(19, 1, "session operation hooks require extension API 0.4", "MAN-HOOK-010"),
			errorAt(20, 1, "session operation hooks require extension API 0.4", "MAN-HOOK-010"),
		},
	},
	{name: "compaction on 0.4", proves: "MAN-HOOK-007", text: hooksOn("0.4", "compaction_strategy")},
}

// TestHooks_everyLateOneHasWords keeps our words in step with the spec's table.
func TestHooks_everyLateOneHasWords(t *testing.T) {
	for _, row := range manifestdoc.TableHookVersions {
		found := 0
		for _, words := range lateHooks {
			if slices.Contains(words.hooks, manifestdoc.Hook(row.Hook)) {
				found++
			}
		}
		want := 1
		if row.Since == manifestdoc.Versions[0] {
			want = 0
		}
		if found != want {
			t.Errorf("hook %q since %s has %d refusals, want %d", row.Hook, row.Since, found, want)
		}
	}
	for _, row := range manifestdoc.TableKeyVersions {
		if lateKeys[row.Path].message == "" {
			t.Errorf("key %q has no refusal", row.Path)
		}
	}
}

func flagsOn(api, flags string) string {
	return testDocument(api, "", "[contributes]\nflags = [\n"+flags+"\n]\n")
}

var flagCases = []judgement{
	{
		name: "too many flags", proves: "MAN-FLAG-001",
		text: flagsOn("0.4", list(65, `{ name = "f#", type = "boolean", default = true }`)),
		want: []string{errorAt(8, 1, "extension declares 65 CLI flags; limit is 64", "MAN-FLAG-001")},
	},
	{
		name: "as many flags as there may be", proves: "MAN-FLAG-001",
		text: flagsOn("0.2", list(64, `{ name = "f#", type = "boolean", default = true }`)),
	},
	{
		name: "flag without its keys", proves: "MAN-FLAG-002",
		text: flagsOn("0.4", "{ name = \"x\" }"),
		want: []string{
			errorAt(9, 1, "missing key `contributes.flags[0].type`", "MAN-FLAG-002"),
			errorAt(9, 1, "missing key `contributes.flags[0].default`", "MAN-FLAG-002"),
		},
	},
	{
		name: "flag names", proves: "MAN-FLAG-003 MAN-FLAG-004 MAN-ID-001",
		text: flagsOn("0.4", `{ name = "Up", type = "boolean", default = true },
{ name = "x", type = "boolean", default = true },
{ name = "x", type = "string", default = "" },
{ name = "a_b", type = "boolean", default = true }`),
		want: []string{
			errorAt(9, 10, "invalid CLI flag identifier `Up`", "MAN-FLAG-003"),
			errorAt(11, 10, "duplicate CLI flag `x`", "MAN-FLAG-004"),
			errorAt(12, 10, "invalid CLI flag identifier `a_b`", "MAN-FLAG-003"),
		},
	},
	{
		name: "defaults of another type", proves: "MAN-FLAG-006",
		text: flagsOn("0.4", `{ name = "b", type = "boolean", default = "true" },
{ name = "s", type = "string", default = 1 },
{ name = "i", type = "integer", default = "3" },
{ name = "f", type = "integer", default = 3.0 }`),
		want: []string{
			errorAt(9, 43, "extension flag `b` value must be a boolean", "MAN-FLAG-006"),
			errorAt(10, 42, "extension flag `s` value must be a string", "MAN-FLAG-006"),
			errorAt(11, 43, "extension flag `i` value must be an integer", "MAN-FLAG-006"),
			errorAt(12, 43, "extension flag `f` value must be an integer", "MAN-FLAG-006"),
		},
	},
	{
		name: "bounds of defaults", proves: "MAN-FLAG-007 MAN-FLAG-008",
		text: flagsOn("0.4", `{ name = "e", type = "string", default = "" },
{ name = "s", type = "string", default = "`+strings.Repeat("s", 4096)+`" },
{ name = "t", type = "string", default = "`+strings.Repeat("s", 4097)+`" },
{ name = "i", type = "integer", default = 9007199254740991 },
{ name = "j", type = "integer", default = -9007199254740991 },
{ name = "k", type = "integer", default = 9007199254740992 },
{ name = "l", type = "integer", default = -9007199254740992 },
{ name = "m", type = "integer", default = 99999999999999999999 }`),
		want: []string{
			errorAt(11, 42, "extension flag `t` string value exceeds 4096 bytes", "MAN-FLAG-007"),
			errorAt(14, 43, "extension flag `k` integer value exceeds the portable JSON range", "MAN-FLAG-008"),
			errorAt(15, 43, "extension flag `l` integer value exceeds the portable JSON range", "MAN-FLAG-008"),
			errorAt(16, 43, "extension flag `m` integer value exceeds the portable JSON range", "MAN-FLAG-008"),
		},
	},
	{
		name: "descriptions of flags", proves: "MAN-FLAG-009",
		text: flagsOn("0.4", `{ name = "a", type = "boolean", default = true, description = "" },
{ name = "b", type = "boolean", default = true, description = "`+strings.Repeat("d", 1024)+`" },
{ name = "c", type = "boolean", default = true, description = "`+strings.Repeat("d", 1025)+`" },
{ name = "d", type = "boolean", default = true, description = "a\nb" }`),
		want: []string{
			errorAt(9, 63, "invalid CLI flag `a` description", "MAN-FLAG-009"),
			errorAt(11, 63, "invalid CLI flag `c` description", "MAN-FLAG-009"),
			errorAt(12, 63, "invalid CLI flag `d` description", "MAN-FLAG-009"),
		},
	},
}

func runtimeOn(api, lifecycle, sharing string) string {
	lines := "[runtime]\n"
	if lifecycle != "" {
		lines += fmt.Sprintf("lifecycle = %q\n", lifecycle)
	}
	if sharing != "" {
		lines += fmt.Sprintf("sharing = %q\n", sharing)
	}
	return testDocument(api, "", lines)
}

const (
	needsWorkspace = `runtime lifecycle requires explicit sharing = "workspace"`
	needsIsolated  = `legacy_resident, oneshot, and session runtimes must use sharing = "isolated"`
)

var runtimeCases = []judgement{
	{name: "always alone", proves: "MAN-RUNTIME-004", text: runtimeOn("0.4", "always", ""), want: []string{errorAt(8, 13, needsWorkspace, "MAN-RUNTIME-004")}},
	{
		name: "service isolated", proves: "MAN-RUNTIME-004", text: runtimeOn("0.4", "workspace_service", "isolated"),
		want: []string{errorAt(8, 13, needsWorkspace, "MAN-RUNTIME-004")},
	},
	{name: "aggregate shared", proves: "MAN-RUNTIME-004", text: runtimeOn("0.4", "pi_aggregate", "workspace")},
	{name: "session shared", proves: "MAN-RUNTIME-005", text: runtimeOn("0.4", "session", "workspace"), want: []string{errorAt(9, 11, needsIsolated, "MAN-RUNTIME-005")}},
	{name: "default shared", proves: "MAN-RUNTIME-005", text: runtimeOn("0.4", "", "workspace"), want: []string{errorAt(8, 11, needsIsolated, "MAN-RUNTIME-005")}},
	{name: "lazy shared", proves: "MAN-RUNTIME-006", text: runtimeOn("0.4", "lazy_resident", "workspace")},
	{name: "lazy isolated", proves: "MAN-RUNTIME-006", text: runtimeOn("0.4", "lazy_resident", "")},
	{name: "one_shot shared", proves: "MAN-RUNTIME-003 MAN-RUNTIME-005", text: runtimeOn("0.4", "one_shot", "workspace"), want: []string{errorAt(9, 11, needsIsolated, "MAN-RUNTIME-005")}},
	{
		name: "unknown sharing on 0.1", proves: "MAN-RUNTIME-002", text: runtimeOn("0.1", "always", "everyone"),
		want: []string{errorAt(9, 11, "unknown runtime sharing `everyone`", "MAN-RUNTIME-002")},
	},
	{
		name: "shared on 0.1", proves: "MAN-RUNTIME-007", text: runtimeOn("0.1", "always", "workspace"),
		want: []string{errorAt(9, 1, "workspace sharing requires extension API 0.2 or later resource-owner fences", "MAN-RUNTIME-007")},
	},
}

func TestManifest_oneShotHasTwoSpellings(t *testing.T) {
	for _, spelling := range []string{"oneshot", "one_shot"} {
		m := Judge([]byte(runtimeOn("0.4", spelling, "")), Context{}).Manifest
		if m == nil || m.Runtime.Lifecycle != manifestdoc.RuntimeLifecycleOneshot {
			t.Errorf("%q resolves to %+v", spelling, m)
		}
	}
}
