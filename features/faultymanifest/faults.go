package faultymanifest

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/octet-dev/octet/generated/manifestdoc"
	"github.com/octet-dev/octet/runtime/manifest"
)

// Faults lists every faulty manifest, by the area of its rule.
func Faults() []Fault {
	return slices.Concat(fileFaults(), topFaults(), entryFaults(), capabilityFaults(), contributionFaults(), hookFaults(), shortcutFaults(), flagFaults(), runtimeFaults())
}

// absent is a path at which there is nothing on any machine.
const absent = "/no-such-directory-of-octet/word-count"

func fileFaults() []Fault {
	return []Fault{
		{
			Name: "is-called-otherwise", Rule: "MAN-FILE-001", Doc: "is called Extension.TOML",
			lay: func(dir, text string) error {
				return os.WriteFile(filepath.Join(dir, "Extension.TOML"), []byte(text), 0o600)
			},
		},
		{Name: "is-latin-1", Rule: "MAN-FILE-002", Doc: "holds a byte that is no UTF-8", Old: "Counts the", New: "Counts \xff"},
		{Name: "is-no-toml", Rule: "MAN-FILE-003", Doc: "has a key without a value", Old: `description = "Counts the words of a text."`, New: "description ="},
		{Name: "says-a-key-twice", Rule: "MAN-FILE-003", Doc: "says its name twice", Old: "description =", New: "name = \"word-count\"\ndescription ="},
		{
			Name: "is-too-large-to-load", Rule: sizeRule, Doc: "has one comment too many to be loaded by its directory",
			New: "#" + strings.Repeat("x", manifestdoc.MaxManifestLoadBytes) + "\n",
		},
		{
			Name: "is-too-large-to-discover", Rule: "MAN-FILE-005", Others: []string{sizeRule}, Doc: "is too large to be discovered",
			New: "#" + strings.Repeat("x", manifestdoc.MaxManifestBytes) + "\n",
		},
		{
			Name: "is-a-link", Rule: "MAN-FILE-006", Doc: "is a symbolic link to the file that holds it",
			lay: func(dir, text string) error {
				return errors.Join(os.WriteFile(filepath.Join(dir, "elsewhere.toml"), []byte(text), 0o600), os.Symlink("elsewhere.toml", filepath.Join(dir, manifest.FileName())))
			},
		},
		{Name: "has-an-unknown-key", Rule: "MAN-FILE-007", Doc: "has a key license", Old: "description =", New: "license = \"MIT\"\ndescription ="},
		{Name: "has-an-unknown-key-in-a-table", Rule: "MAN-FILE-007", Doc: "says where its process is started", Old: "command = ", New: "cwd = \".\"\ncommand = "},
		{Name: "has-an-unknown-hook", Rule: "MAN-FILE-008", Doc: "misspells a hook", Old: "hooks = [", New: "hooks = [\"before_promt\", "},
		{Name: "has-a-version-that-is-a-number", Rule: "MAN-FILE-009", Doc: "has a number for its version", Old: `version = "1.2.3-beta.1+7"`, New: "version = 1"},
		{Name: "lists-a-tool-twice", Rule: "MAN-ID-003", Doc: "lists a tool twice", Old: "tools = [", New: "tools = [\"count_words\", "},
		{Name: "lists-a-surface-twice", Rule: "MAN-ID-003", Doc: "lists a surface twice", Old: "ui = [", New: "ui = [\"status\", "},
	}
}

// sizeRule bounds a manifest that is loaded by its directory.
const sizeRule = "MAN-FILE-004"

func topFaults() []Fault {
	return []Fault{
		{Name: "has-no-name", Rule: "MAN-TOP-001", Doc: "has no name", Old: "name = \"word-count\"\n", New: ""},
		{Name: "has-a-name-with-capitals", Rule: "MAN-TOP-001", Others: []string{"MAN-TOP-002"}, Doc: "has a name with capitals", Old: `"word-count"`, New: `"Word-Count"`},
		{Name: "is-named-otherwise-than-its-directory", Rule: "MAN-TOP-002", Doc: "has another name than its directory", Old: `"word-count"`, New: `"word-counter"`},
		{Name: "has-a-version-of-two-numbers", Rule: "MAN-TOP-003", Doc: "has a version of two numbers", Old: `"1.2.3-beta.1+7"`, New: `"1.2"`},
		{Name: "speaks-an-api-that-is-none", Rule: "MAN-TOP-004", Doc: "speaks an API version that does not exist", Old: `api_version = "`, New: `api_version = "1`},
		{Name: "has-a-list-for-a-description", Rule: "MAN-TOP-006", Doc: "has a list for its description", Old: `"Counts the words of a text."`, New: `["Counts the words of a text."]`},
		{Name: "has-several-entrypoints", Rule: "MAN-TOP-007", Doc: "has a list of entry points", Old: "[entrypoint]", New: "[[entrypoint]]"},
		{Name: "has-several-runtimes", Rule: "MAN-TOP-008", Doc: "has a list of runtimes", Old: "[runtime]", New: "[[runtime]]"},
		{Name: "requires-something-like-a-version", Rule: "MAN-HOST-002", Doc: "requires a version in words", Old: `">=0.8.0, <0.9.0"`, New: `"about 0.8"`},
		{Name: "requires-an-earlier-octet", Rule: "MAN-HOST-003", Doc: "requires an octet that this is not", Old: `">=0.8.0, <0.9.0"`, New: `"=0.7.0"`},
	}
}

func entryFaults() []Fault {
	return []Fault{
		{Name: "has-a-blank-command", Rule: "MAN-ENTRY-001", Doc: "has a blank command", Old: `"./run"`, New: `" "`},
		{Name: "has-no-command", Rule: "MAN-ENTRY-001", Doc: "has no command", Old: "command = \"./run\"\n", New: ""},
		{Name: "has-a-nul-in-an-argument", Rule: "MAN-ENTRY-002", Doc: "has a NUL in an argument", Old: `"--quiet"`, New: `"--quiet\u0000"`},
		{Name: "has-one-string-of-arguments", Rule: "MAN-ENTRY-002", Doc: "has all its arguments in one string", Old: `["--quiet"]`, New: `"--quiet"`},
		{Name: "has-a-list-for-an-environment", Rule: "MAN-ENTRY-003", Doc: "has a list for its environment", Old: `{ WORDS = "1" }`, New: `["WORDS=1"]`},
		{Name: "has-a-number-in-its-environment", Rule: "MAN-ENTRY-003", Doc: "has a number in its environment", Old: `{ WORDS = "1" }`, New: `{ WORDS = 1 }`},
		{Name: "has-a-variable-that-begins-with-a-digit", Rule: "MAN-ENTRY-004", Doc: "has a variable that begins with a digit", Old: `{ WORDS`, New: `{ 1WORDS`},
		{Name: "has-a-nul-in-a-variable", Rule: "MAN-ENTRY-005", Doc: "has a NUL in a variable", Old: `{ WORDS = "1" }`, New: `{ WORDS = "1\u0000" }`},
		{Name: "has-a-command-that-is-not-beside-it", Rule: "MAN-ENTRY-007", Doc: "names a command that is not beside it", Old: `"./run"`, New: `"./bin/run"`},
		{Name: "has-a-command-that-is-nowhere", Rule: "MAN-ENTRY-008", Doc: "names an absolute path at which nothing is", Old: `"./run"`, New: `"` + absent + `"`},
	}
}

func capabilityFaults() []Fault {
	return []Fault{
		{Name: "asks-for-all-files", Rule: "MAN-CAP-001", Doc: "asks for a filesystem grant that does not exist", Old: `filesystem = "workspace"`, New: `filesystem = "all"`},
		{Name: "asks-for-processes-in-words", Rule: "MAN-CAP-002", Doc: "has a string for its process grant", Old: "process = false", New: `process = "no"`},
		{Name: "asks-for-the-network-by-number", Rule: "MAN-CAP-003", Doc: "has a number for its network grant", Old: "network = false", New: "network = 0"},
		{Name: "asks-for-a-secret-with-a-blank", Rule: "MAN-CAP-004", Doc: "asks for a secret with a blank in its name", Old: "secrets = [", New: "secrets = [\"the key\", "},
		{Name: "asks-for-any-variable", Rule: "MAN-CAP-006", Doc: "asks for a variable that is not brokered", Old: "environment = [", New: "environment = [\"HOME\", "},
		{Name: "asks-for-a-variable-with-a-blank", Rule: "MAN-CAP-006", Doc: "asks for a variable with a blank in its name", Old: "environment = [", New: "environment = [\"SSH AUTH\", "},
		{Name: "asks-for-a-variable-too-early", Rule: "MAN-CAP-007", Doc: "asks for a variable on an API that brokers none", Old: "environment = []", New: `environment = ["SSH_AUTH_SOCK"]`},
	}
}

func contributionFaults() []Fault {
	const shortcut = `[{ name = "count", key = "ctrl+k", description = "Count." }]`
	const flag = `[{ name = "loud", type = "boolean", default = true }]`
	return []Fault{
		{Name: "has-a-tool-with-a-blank", Rule: "MAN-CONTRIB-001", Doc: "has a tool with a blank in its name", Old: "tools = [", New: "tools = [\"count words\", "},
		{Name: "has-a-tool-with-a-long-name", Rule: "MAN-CONTRIB-001", Doc: "has a tool whose name is one byte too long", Old: "tools = [", New: "tools = [\"" + strings.Repeat("t", manifestdoc.MaxIdentifierBytes+1) + "\", "},
		{Name: "has-a-command-with-a-slash", Rule: "MAN-CONTRIB-002", Doc: "has a command with a slash in its name", Old: "commands = [", New: "commands = [\"/count\", "},
		{Name: "has-a-renderer-without-a-name", Rule: "MAN-CONTRIB-003", Doc: "has a tool renderer with an empty name", Old: "tool_renderers = [", New: "tool_renderers = [\"\", "},
		{Name: "has-an-unknown-surface", Rule: "MAN-CONTRIB-004", Doc: "lists a surface that does not exist", Old: "ui = [", New: "ui = [\"sidebar\", "},
		{Name: "gives-context-in-words", Rule: "MAN-CONTRIB-005", Doc: "has a string for its context", Old: "context = true", New: `context = "yes"`},
		{Name: "presents-too-early", Rule: "MAN-CONTRIB-006", Doc: "presents on an API that has no presentation", Old: "presentation = false", New: "presentation = true"},
		{Name: "has-a-menu-too-early", Rule: "MAN-CONTRIB-007", Doc: "has a menu on an API that has none", Old: "menu = false", New: "menu = true"},
		{Name: "has-providers-too-early", Rule: "MAN-CONTRIB-008", Doc: "has providers on an API that has none", Old: "providers = false", New: "providers = true"},
		{Name: "has-shortcuts-too-early", Rule: "MAN-CONTRIB-009", Doc: "has shortcuts on an API that has none", Old: "shortcuts = []", New: "shortcuts = " + shortcut},
		{Name: "has-flags-too-early", Rule: "MAN-CONTRIB-010", Doc: "has flags on an API that has none", Old: "flags = []", New: "flags = " + flag},
		{Name: "has-a-menu-without-commands", Rule: "MAN-CONTRIB-013", Doc: "has a menu and no command", Old: `commands = ["count"]`, New: "commands = []"},
	}
}

func hookFaults() []Fault {
	out := []Fault{
		{
			Name: "starts-sessions-without-an-end", Rule: "MAN-HOOK-004", Doc: "declares session_start without session_end",
			Old: `"session_start", "session_end"`, New: `"session_start"`,
		},
	}
	for _, row := range []struct{ hook, rule string }{
		{string(manifestdoc.HookProviderRetry), "MAN-HOOK-002"},
		{string(manifestdoc.HookBeforePersistence), "MAN-HOOK-002"},
		{string(manifestdoc.HookSessionStart), "MAN-HOOK-003"},
		{string(manifestdoc.HookCompactionStrategy), "MAN-HOOK-006"},
		{string(manifestdoc.HookProviderContext), "MAN-HOOK-008"},
		{string(manifestdoc.HookResourcesDiscover), "MAN-HOOK-008"},
		{string(manifestdoc.HookBeforeProviderRequest), "MAN-HOOK-009"},
		{string(manifestdoc.HookModelTurnStart), "MAN-HOOK-010"},
		{string(manifestdoc.HookSessionTree), "MAN-HOOK-010"},
	} {
		out = append(out, Fault{
			Name: "declares-" + strings.ReplaceAll(row.hook, "_", "-") + "-too-early", Rule: row.rule,
			Doc: "declares " + row.hook + " on an API that has no such hook", Old: "hooks = [", New: fmt.Sprintf("hooks = [%q, ", row.hook),
		})
	}
	return out
}

func shortcutFaults() []Fault {
	entry := func(name, key string) string {
		return fmt.Sprintf("[[contributes.shortcuts]]\nname = %q\nkey = %q\ndescription = \"More.\"\n", name, key)
	}
	var many strings.Builder
	for i := range manifestdoc.MaxShortcuts {
		many.WriteString(entry(fmt.Sprint("s", i), fmt.Sprint("f", i)))
	}
	return []Fault{
		{Name: "has-too-many-shortcuts", Rule: "MAN-SHORTCUT-001", Doc: "has one shortcut too many", New: many.String()},
		{Name: "has-a-shortcut-without-a-description", Rule: "MAN-SHORTCUT-002", Doc: "leaves the description of a shortcut out", Old: "description = \"Count the words.\"\n", New: ""},
		{Name: "has-a-shortcut-with-a-blank", Rule: "MAN-SHORTCUT-003", Doc: "has a shortcut with a blank in its name", Old: "name = \"count\"\nkey", New: "name = \"count words\"\nkey"},
		{Name: "has-a-shortcut-key-with-a-blank", Rule: "MAN-SHORTCUT-004", Doc: "has a blank in front of a shortcut's key", Old: `"ctrl+k"`, New: `" ctrl+k"`},
		{Name: "has-a-blank-shortcut-description", Rule: "MAN-SHORTCUT-005", Doc: "has a shortcut with a blank description", Old: `"Count the words."`, New: `" "`},
		{Name: "has-two-shortcuts-of-one-name", Rule: "MAN-SHORTCUT-006", Doc: "has two shortcuts of one name", New: entry("count", "ctrl+l")},
		{Name: "has-two-shortcuts-on-one-key", Rule: "MAN-SHORTCUT-007", Doc: "has two shortcuts on one key, one of them in capitals", New: entry("more", "CTRL+K")},
	}
}

func flagFaults() []Fault {
	var many strings.Builder
	for i := range manifestdoc.MaxFlags {
		fmt.Fprintf(&many, "[[contributes.flags]]\nname = \"f%d\"\ntype = \"boolean\"\ndefault = false\n", i)
	}
	return []Fault{
		{Name: "has-too-many-flags", Rule: "MAN-FLAG-001", Doc: "has too many flags", New: many.String()},
		{Name: "has-a-flag-without-a-default", Rule: "MAN-FLAG-002", Doc: "leaves the default of a flag out", Old: "default = 3\n", New: ""},
		{Name: "has-a-flag-with-capitals", Rule: "MAN-FLAG-003", Doc: "has a flag with a capital", Old: `"depth"`, New: `"Depth"`},
		{Name: "has-two-flags-of-one-name", Rule: "MAN-FLAG-004", Doc: "has two flags of one name", Old: `"words"`, New: `"depth"`},
		{Name: "has-a-flag-of-an-unknown-type", Rule: "MAN-FLAG-005", Doc: "has a flag of a type that does not exist", Old: `type = "integer"`, New: `type = "float"`},
		{Name: "has-a-float-for-an-integer", Rule: "MAN-FLAG-006", Doc: "has a float as the default of an integer", Old: "default = 3", New: "default = 3.0"},
		{Name: "has-a-default-that-is-too-long", Rule: "MAN-FLAG-007", Doc: "has a string default of one byte too many", Old: `default = ""`, New: `default = "` + strings.Repeat("x", manifestdoc.MaxFlagStringBytes+1) + `"`},
		{Name: "has-a-default-out-of-range", Rule: "MAN-FLAG-008", Doc: "has an integer default that JSON does not carry everywhere", Old: "default = 3", New: fmt.Sprint("default = ", manifestdoc.MaxPortableJSONInteger+1)},
		{Name: "has-an-empty-flag-description", Rule: "MAN-FLAG-009", Doc: "has a flag with an empty description", Old: `"How deep to look."`, New: `""`},
	}
}

func runtimeFaults() []Fault {
	first, late := manifestdoc.Versions[:1], manifestdoc.Versions[1:]
	return []Fault{
		{Name: "has-an-unknown-lifecycle", Rule: "MAN-RUNTIME-001", Doc: "has a lifecycle that does not exist", Old: `lifecycle = "`, New: `lifecycle = "x`},
		{Name: "has-an-unknown-sharing", Rule: "MAN-RUNTIME-002", Doc: "is shared in a way that does not exist", Old: `sharing = "`, New: `sharing = "x`},
		{
			Name: "serves-a-workspace-alone", Rule: "MAN-RUNTIME-004", Doc: "has a lifecycle that needs sharing and is not shared",
			Old: "lifecycle = \"lazy_resident\"\nsharing = \"workspace\"", New: "lifecycle = \"always\"\nsharing = \"isolated\"",
		},
		{
			Name: "shares-a-session", Rule: "MAN-RUNTIME-005", Doc: "has a lifecycle that cannot be shared and is shared",
			Old: `"lazy_resident"`, New: `"session"`, versions: late,
		},
		{
			Name: "shares-one-shot", Rule: "MAN-RUNTIME-005", Others: []string{"MAN-RUNTIME-007"}, Doc: "shares what lives for one operation",
			Old: `"isolated"`, New: `"workspace"`, versions: first,
		},
		{
			Name: "is-shared-too-early", Rule: "MAN-RUNTIME-007", Doc: "is shared on an API that has no sharing",
			Old: "lifecycle = \"one_shot\"\nsharing = \"isolated\"", New: "lifecycle = \"lazy_resident\"\nsharing = \"workspace\"",
		},
	}
}
