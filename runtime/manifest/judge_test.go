package manifest

import (
	"fmt"
	"maps"
	"slices"
	"strings"
	"testing"

	"github.com/octet-dev/octet/generated/manifestdoc"
	"github.com/octet-dev/octet/generated/rules"
	"github.com/octet-dev/octet/runtime/manifest/semver"
)

// document is a legal manifest of an API version with lines added at the top and tables at the end.
func testDocument(api, top, tables string) string {
	return fmt.Sprintf("name = \"demo\"\nversion = \"1.0.0\"\napi_version = %q\n%s\n[entrypoint]\ncommand = \"run\"\n%s", api, top, tables)
}

// judgement is one document and everything that must be said about it. The empty want means accepted
// without a word.
type judgement struct {
	name   string
	proves string // rules, separated by blanks
	text   string
	want   []string // "line:column: severity: message [rule]", in order
}

const (
	top   = 4 // the line of testDocument's top
	table = 7 // the first line of its tables
)

func errorAt(line, column int, message, rule string) string {
	return fmt.Sprintf("%d:%d: error: %s [%s]", line, column, message, rule)
}

func warningAt(line, column int, message, rule string) string {
	return fmt.Sprintf("%d:%d: warning: %s [%s]", line, column, message, rule)
}

// judgements gathers the cases of all files of this package.
func judgements() []judgement {
	return slices.Concat(fileCases, topCases, entryCases, capabilityCases, contributionCases, shortcutCases,
		hookCases, flagCases, runtimeCases, hostCases)
}

func TestJudge(t *testing.T) {
	for _, c := range judgements() {
		t.Run(strings.ReplaceAll(c.name, " ", "_"), func(t *testing.T) {
			verdict := Judge([]byte(c.text), Context{Directory: "demo"})
			var got []string
			for _, p := range verdict.Problems {
				got = append(got, p.String())
				if p.Remedy == "" {
					t.Errorf("no remedy for: %s", p)
				}
				if rules.Lookup(p.Rule) == nil {
					t.Errorf("the spec has no rule %s", p.Rule)
				}
			}
			if !slices.Equal(got, c.want) {
				t.Errorf("got\n  %s\nwant\n  %s", strings.Join(got, "\n  "), strings.Join(c.want, "\n  "))
			}
			wantOK := !slices.ContainsFunc(c.want, func(line string) bool { return strings.Contains(line, ": error: ") })
			if verdict.OK() != wantOK || (verdict.Summary() == "") != wantOK {
				t.Errorf("accepted %t with summary %q, want accepted %t", verdict.OK(), verdict.Summary(), wantOK)
			}
		})
	}
}

// elsewhere names the rules that other tests below runtime/manifest prove.
var elsewhere = map[string]string{
	"MAN-FILE-001": "folder: TestOpen",
	"MAN-FILE-004": "folder: TestOpen_sizes",
	"MAN-FILE-005": "folder: TestOpen_sizes",
	"MAN-FILE-006": "folder: TestOpen",
	"MAN-FILE-011": "TestSummary_fixedOrder",
	"MAN-FILE-012": "folder: TestOpen_startsNothing",
	"MAN-FILE-013": "TestKeys_haveNoAlias",
	"MAN-TOP-005":  "TestManifest_wire",
	"MAN-FLAG-011": "TestSummary_orderInsideOneFlag",
	"MAN-FLAG-014": "TestFlagValues_refusals",
	"MAN-FLAG-015": "TestFlagValues_refusals",
	"MAN-FLAG-016": "TestFlagValues_refusals",
	"MAN-HOST-004": "TestJudge_preReleaseHost",
}

func TestRules_allAreProven(t *testing.T) {
	proven := maps.Clone(elsewhere)
	for _, c := range judgements() {
		for id := range strings.FieldsSeq(c.proves) {
			if rules.Lookup(id) == nil {
				t.Errorf("case %q proves %q, which the spec does not have", c.name, id)
			}
			proven[id] = c.name
		}
	}
	seen := 0
	for _, rule := range rules.All {
		if rule.ProvenBy != "runtime/manifest" {
			continue
		}
		seen++
		if proven[rule.ID] == "" {
			t.Errorf("%s is proven by no case: %s", rule.ID, rule.Text)
		}
	}
	if seen < 80 {
		t.Errorf("the spec leaves %d rules to this package, want at least 80: the table was not read", seen)
	}
}

var fileCases = []judgement{
	{name: "smallest", proves: "MAN-TOP-008 MAN-HOST-001", text: testDocument("0.4", "", "")},
	{
		name: "not UTF-8", proves: "MAN-FILE-002",
		text: testDocument("0.4", "description = \"\xff\"", ""),
		want: []string{errorAt(top, 16, "manifest is not valid UTF-8", "MAN-FILE-002")},
	},
	{
		name: "byte-order mark", proves: "MAN-FILE-003",
		text: "\ufeff" + testDocument("0.4", "", ""),
		want: []string{errorAt(1, 1, "the file starts with a byte-order mark", "MAN-FILE-003")},
	},
	{
		name: "not TOML", proves: "MAN-FILE-003",
		text: testDocument("0.4", "description = ", ""),
		want: []string{errorAt(top, 15, "unexpected character U+000A at start of value", "MAN-FILE-003")},
	},
	{
		name: "keys twice", proves: "MAN-FILE-003",
		text: testDocument("0.4", "name = \"again\"", "command = \"again\"\n"),
		want: []string{
			errorAt(top, 1, `"name" is defined a second time; the first is at line 1, column 1`, "MAN-FILE-003"),
			errorAt(table, 1, `"entrypoint.command" is defined a second time; the first is at line 6, column 1`, "MAN-FILE-003"),
		},
	},
	{
		name: "unknown keys everywhere", proves: "MAN-FILE-007 MAN-FILE-010",
		text: testDocument("0.4", "license = \"MIT\"\ntoosl = []", `cwd = "."
[capabilities]
system_prompt = true
[contributes]
themes = ["dusk"]
tool = ["a"]
flags = [{ name = "x", type = "boolean", default = true, short = "x" }]
shortcuts = [{ name = "x", key = "k", description = "d", when = "now" }]
[runtime]
restart = true
[resources]
`),
		want: []string{
			errorAt(4, 1, "unknown key `license`", "MAN-FILE-007"),
			errorAt(5, 1, "unknown key `toosl`", "MAN-FILE-007"),
			errorAt(8, 1, "unknown key `entrypoint.cwd`", "MAN-FILE-007"),
			errorAt(10, 1, "unknown key `capabilities.system_prompt`", "MAN-FILE-007"),
			errorAt(12, 1, "unknown key `contributes.themes`", "MAN-FILE-007"),
			errorAt(13, 1, "unknown key `contributes.tool`", "MAN-FILE-007"),
			errorAt(14, 58, "unknown key `contributes.flags[0].short`", "MAN-FILE-007"),
			errorAt(15, 58, "unknown key `contributes.shortcuts[0].when`", "MAN-FILE-007"),
			errorAt(17, 1, "unknown key `runtime.restart`", "MAN-FILE-007"),
			errorAt(18, 2, "unknown key `resources`", "MAN-FILE-007"),
		},
	},
	{
		name: "values of another type", proves: "MAN-FILE-009 MAN-CAP-002 MAN-CAP-003 MAN-CONTRIB-005 MAN-TOP-006 MAN-ENTRY-003",
		text: testDocument("0.4", "description = 1\nrequires_octet = 0.8", `args = "x"
env = ["x"]
[capabilities]
process = "yes"
network = 1
secrets = "x"
[contributes]
tools = ["a", 1]
context = "yes"
confirmations = 1979-05-27
flags = {}
`),
		want: []string{
			errorAt(4, 15, "`description` is an integer", "MAN-TOP-006"),
			errorAt(5, 18, "`requires_octet` is a float", "MAN-FILE-009"),
			errorAt(8, 8, "`entrypoint.args` is a string", "MAN-ENTRY-002"),
			errorAt(9, 1, "`entrypoint.env` is a list", "MAN-ENTRY-003"),
			errorAt(11, 11, "`capabilities.process` is a string", "MAN-CAP-002"),
			errorAt(12, 11, "`capabilities.network` is an integer", "MAN-CAP-003"),
			errorAt(13, 11, "`capabilities.secrets` is a string", "MAN-FILE-009"),
			errorAt(15, 15, "`contributes.tools[1]` is an integer", "MAN-FILE-009"),
			errorAt(16, 11, "`contributes.context` is a string", "MAN-CONTRIB-005"),
			errorAt(17, 17, "`contributes.confirmations` is a date or time", "MAN-CONTRIB-005"),
			errorAt(18, 1, "`contributes.flags` is a table", "MAN-FILE-009"),
		},
	},
	{
		name: "no tables and no strings", proves: "MAN-TOP-008 MAN-SHORTCUT-002 MAN-ENTRY-002",
		text: "name = \"demo\"\nversion = \"1.0.0\"\napi_version = \"0.4\"\ncapabilities = true\nruntime = []\n" + `[entrypoint]
command = "run"
args = [1]
[contributes]
shortcuts = [{ name = "x", key = 1, description = "d" }]
`,
		want: []string{
			errorAt(4, 16, "`capabilities` is a boolean", "MAN-TOP-008"),
			errorAt(5, 1, "`runtime` is a list", "MAN-TOP-008"),
			errorAt(8, 9, "`entrypoint.args[0]` is an integer", "MAN-ENTRY-002"),
			errorAt(10, 34, "`contributes.shortcuts[0].key` is an integer", "MAN-SHORTCUT-002"),
		},
	},
	{
		name: "unknown values", proves: "MAN-FILE-008 MAN-CAP-001 MAN-CONTRIB-004 MAN-RUNTIME-001 MAN-RUNTIME-002 MAN-FLAG-005",
		text: testDocument("0.4", "", `[capabilities]
filesystem = "all"
[contributes]
hooks = ["before_promt"]
ui = ["sidebar"]
flags = [{ name = "x", type = "float", default = 1.5 }]
[runtime]
lifecycle = "forever"
sharing = "all"
`),
		want: []string{
			errorAt(8, 14, "unknown filesystem grant `all`", "MAN-CAP-001"),
			errorAt(10, 10, "unknown hook `before_promt`", "MAN-FILE-008"),
			errorAt(11, 7, "unknown UI contribution `sidebar`", "MAN-CONTRIB-004"),
			errorAt(12, 31, "unknown flag type `float`", "MAN-FLAG-005"),
			errorAt(14, 13, "unknown runtime lifecycle `forever`", "MAN-RUNTIME-001"),
			errorAt(15, 11, "unknown runtime sharing `all`", "MAN-RUNTIME-002"),
		},
	},
	{
		name: "duplicates in every list", proves: "MAN-ID-003",
		text: testDocument("0.4", "", `[capabilities]
secrets = ["s", "t", "s"]
environment = ["SSH_AUTH_SOCK", "SSH_AUTH_SOCK"]
[contributes]
tools = ["a", "a", "a"]
commands = ["c", "c"]
tool_renderers = ["r", "r"]
hooks = ["before_prompt", "before_prompt"]
ui = ["status", "status"]
`),
		want: []string{
			errorAt(8, 22, "duplicate secret `\"s\"`", "MAN-ID-003"),
			errorAt(9, 33, "duplicate brokered environment variable `\"SSH_AUTH_SOCK\"`", "MAN-ID-003"),
			errorAt(11, 15, "duplicate tool `\"a\"`", "MAN-ID-003"),
			errorAt(11, 20, "duplicate tool `\"a\"`", "MAN-ID-003"),
			errorAt(12, 18, "duplicate command `\"c\"`", "MAN-ID-003"),
			errorAt(13, 24, "duplicate tool renderer `\"r\"`", "MAN-ID-003"),
			errorAt(14, 27, "duplicate hook `BeforePrompt`", "MAN-ID-003"),
			errorAt(15, 17, "duplicate UI contribution `Status`", "MAN-ID-003"),
		},
	},
	{
		name: "empty lists", proves: "MAN-ID-004 MAN-CONTRIB-011",
		text: testDocument("0.1", "", `args = []
env = {}
[capabilities]
secrets = []
environment = []
[contributes]
tools = []
commands = []
hooks = []
ui = []
tool_renderers = []
flags = []
shortcuts = []
presentation = false
menu = false
providers = false
`),
	},
	{
		name: "nested beyond reason", proves: "MAN-TOP-006",
		text: testDocument("0.4", "description = "+strings.Repeat("[", 300)+strings.Repeat("]", 300), ""),
		want: []string{errorAt(top, 1, "`description` is a list", "MAN-TOP-006")},
	},
}

var topCases = []judgement{
	{
		name: "everything absent", proves: "MAN-TOP-001 MAN-TOP-003 MAN-TOP-004 MAN-TOP-007",
		text: "# nothing here\n",
		want: []string{
			errorAt(1, 1, "missing key `name`", "MAN-TOP-001"),
			errorAt(1, 1, "missing key `version`", "MAN-TOP-003"),
			errorAt(1, 1, "missing key `api_version`", "MAN-TOP-004"),
			errorAt(1, 1, "missing key `entrypoint`", "MAN-TOP-007"),
		},
	},
	{
		name: "entrypoint is no table", proves: "MAN-TOP-007",
		text: "name = \"demo\"\nversion = \"1.0.0\"\napi_version = \"0.4\"\nentrypoint = \"run\"\n",
		want: []string{errorAt(4, 14, "`entrypoint` is a string", "MAN-TOP-007")},
	},
	{
		name: "name outside its class", proves: "MAN-TOP-001 MAN-ID-001",
		text: strings.Replace(testDocument("0.4", "", ""), `"demo"`, `"Word_Index"`, 1),
		want: []string{
			errorAt(1, 8, "invalid extension name identifier `Word_Index`", "MAN-TOP-001"),
			errorAt(1, 8, `extension directory name "demo" must match manifest name "Word_Index"`, "MAN-TOP-002"),
		},
	},
	{
		name: "another directory", proves: "MAN-TOP-002",
		text: strings.Replace(testDocument("0.4", "", ""), `"demo"`, `"other"`, 1),
		want: []string{errorAt(1, 8, `extension directory name "demo" must match manifest name "other"`, "MAN-TOP-002")},
	},
	{
		name: "version of two numbers", proves: "MAN-TOP-003",
		text: strings.Replace(testDocument("0.4", "", ""), `"1.0.0"`, `"1.0"`, 1),
		want: []string{errorAt(2, 11, "version `1.0` is not semantic versioning: want three numbers separated by dots, got \"1.0\"", "MAN-TOP-003")},
	},
	{
		name: "blank version", proves: "MAN-TOP-003",
		text: strings.Replace(testDocument("0.4", "", ""), `"1.0.0"`, `" "`, 1),
		want: []string{errorAt(2, 11, "version ` ` is not semantic versioning: it is blank", "MAN-TOP-003")},
	},
	{
		name: "version with all parts", proves: "MAN-TOP-003",
		text: strings.Replace(testDocument("0.4", "", ""), `"1.0.0"`, `"1.2.3-beta.2+7"`, 1),
	},
	{
		name: "API that does not exist", proves: "MAN-TOP-004",
		text: testDocument("0.5", "", ""),
		want: []string{errorAt(3, 15, "extension API 0.5 is unsupported; host implements 0.1, 0.2, 0.3, or 0.4", "MAN-TOP-004")},
	},
	{
		name: "API as a number", proves: "MAN-TOP-004",
		text: strings.Replace(testDocument("0.4", "", ""), `"0.4"`, `0.4`, 1),
		want: []string{errorAt(3, 15, "`api_version` is a float", "MAN-FILE-009")},
	},
	{
		name: "long description", proves: "MAN-TOP-006",
		text: testDocument("0.4", "description = \""+strings.Repeat("d", 5000)+"\"", ""),
	},
}

var entryCases = []judgement{
	{
		name: "command absent", proves: "MAN-ENTRY-001",
		text: "name = \"demo\"\nversion = \"1.0.0\"\napi_version = \"0.4\"\n[entrypoint]\nargs = []\n",
		want: []string{errorAt(4, 2, "missing key `entrypoint.command`", "MAN-ENTRY-001")},
	},
	{
		name: "command blank", proves: "MAN-ENTRY-001",
		text: strings.Replace(testDocument("0.4", "", ""), `"run"`, `"  "`, 1),
		want: []string{errorAt(6, 11, "entrypoint.command must be non-empty and contain no control characters", "MAN-ENTRY-001")},
	},
	{
		name: "command with a control character", proves: "MAN-ENTRY-001",
		text: strings.Replace(testDocument("0.4", "", ""), `"run"`, `"r\u0085un"`, 1),
		want: []string{errorAt(6, 11, "entrypoint.command must be non-empty and contain no control characters", "MAN-ENTRY-001")},
	},
	{
		name: "arguments and environment", proves: "MAN-ENTRY-002 MAN-ENTRY-003 MAN-ENTRY-004 MAN-ENTRY-005",
		text: testDocument("0.4", "", `args = ["ok", "$HOME", "a\u0000b"]
env = { OK_1 = "", 2X = "a", "a b" = "c", Y = "\u0000", "é" = "\u0000" }
`),
		want: []string{
			errorAt(7, 24, "entrypoint arguments cannot contain NUL", "MAN-ENTRY-002"),
			errorAt(8, 25, "invalid entrypoint environment variable `2X`", "MAN-ENTRY-004"),
			errorAt(8, 38, "invalid entrypoint environment variable `a b`", "MAN-ENTRY-004"),
			errorAt(8, 47, "invalid entrypoint environment variable `Y`", "MAN-ENTRY-005"),
			errorAt(8, 63, "invalid entrypoint environment variable `é`", "MAN-ENTRY-004"),
		},
	},
}

var capabilityCases = []judgement{
	{
		name: "all capabilities", proves: "MAN-CAP-001 MAN-CAP-008",
		text: testDocument("0.3", "", `[capabilities]
filesystem = "unrestricted"
process = true
network = true
secrets = ["deploy.api_key", "_x"]
environment = ["SSH_AUTH_SOCK"]
`),
	},
	{
		name: "secret outside its class", proves: "MAN-CAP-004 MAN-ID-002",
		text: testDocument("0.4", "", "[capabilities]\nsecrets = [\"9lives\", \""+strings.Repeat("s", 64)+"\", \""+strings.Repeat("s", 65)+"\", \"\"]\n"),
		want: []string{
			errorAt(8, 12, "invalid secret identifier `9lives`", "MAN-CAP-004"),
			errorAt(8, 90, "invalid secret identifier `"+strings.Repeat("s", 65)+"`", "MAN-CAP-004"),
			errorAt(8, 159, "invalid secret identifier ``", "MAN-CAP-004"),
		},
	},
	{
		name: "secrets on 0.1", proves: "MAN-CAP-005",
		text: testDocument("0.1", "", "[capabilities]\nsecrets = [\"token\"]\n"),
		want: []string{warningAt(8, 1, "secrets have no effect on extension API 0.1", "MAN-CAP-005")},
	},
	{
		name: "variable that is not brokered", proves: "MAN-CAP-006",
		text: testDocument("0.4", "", "[capabilities]\nenvironment = [\"AWS_PROFILE\", \"a b\"]\n"),
		want: []string{
			errorAt(8, 16, "unsupported brokered environment variable `AWS_PROFILE`", "MAN-CAP-006"),
			errorAt(8, 31, "invalid brokered environment variable identifier `a b`", "MAN-CAP-006"),
		},
	},
	{
		name: "environment on 0.1", proves: "MAN-CAP-007",
		text: testDocument("0.1", "", "[capabilities]\nenvironment = [\"SSH_AUTH_SOCK\"]\n"),
		want: []string{errorAt(8, 1, "brokered environment variables require extension API 0.2", "MAN-CAP-007")},
	},
}

var hostCases = []judgement{
	{name: "requirement that matches", proves: "MAN-HOST-002 MAN-HOST-003", text: testDocument("0.4", `requires_octet = ">=0.8.0, <0.9.0"`, "")},
	{name: "bare requirement", proves: "MAN-HOST-002", text: testDocument("0.4", `requires_octet = "0.8"`, "")},
	{
		name: "requirement that does not match", proves: "MAN-HOST-003",
		text: testDocument("0.2", `requires_octet = "=0.7.4"`, ""),
		want: []string{errorAt(top, 18, "extension requires octet `=0.7.4`, but this binary is 0.8.0", "MAN-HOST-003")},
	},
	{
		name: "requirement in another grammar", proves: "MAN-HOST-002",
		text: testDocument("0.2", `requires_octet = "0.8 or later"`, ""),
		want: []string{errorAt(top, 18, "requires_octet `0.8 or later` is not a semantic version requirement: "+
			"comparator \"0.8 or later\": \"8 or later\" is not a number", "MAN-HOST-002")},
	},
	{
		name: "blank requirement", proves: "MAN-HOST-002",
		text: testDocument("0.2", `requires_octet = ""`, ""),
		want: []string{errorAt(top, 18, "requires_octet `` is not a semantic version requirement: it is blank", "MAN-HOST-002")},
	},
}

func TestJudge_preReleaseHost(t *testing.T) {
	host, err := semver.Parse("0.9.0-rc.1")
	if err != nil {
		t.Fatal(err)
	}
	for requirement, want := range map[string]bool{">=0.8.0": false, ">=0.9.0-rc.1": true, ">=0.9.1-rc.1": false, "*": false} {
		text := testDocument("0.4", fmt.Sprintf("requires_octet = %q", requirement), "")
		if got := Judge([]byte(text), Context{Octet: &host}).OK(); got != want {
			t.Errorf("%s on %s accepted: %t, want %t", requirement, host, got, want)
		}
	}
}

func TestManifest_wire(t *testing.T) {
	for api, want := range map[string]string{
		"0.1": "extension-feature", "0.2": "extension-feature", "0.3": "extension-canonical", "0.4": "extension-feature",
	} {
		// The extension's own version must play no part.
		text := strings.Replace(testDocument(api, "", ""), `"1.0.0"`, `"0.3.0"`, 1)
		if got := Judge([]byte(text), Context{}).Manifest.Wire(); got != want {
			t.Errorf("API %s speaks %q, want %q", api, got, want)
		}
	}
}

func TestManifest_defaults(t *testing.T) {
	m := Judge([]byte(testDocument("0.4", "", "")), Context{}).Manifest
	if m.Capabilities.Filesystem != manifestdoc.FilesystemGrantNone ||
		m.Runtime.Lifecycle != manifestdoc.RuntimeLifecycleLegacyResident || m.Runtime.Sharing != manifestdoc.RuntimeSharingIsolated {
		t.Errorf("defaults %+v %+v", m.Capabilities, m.Runtime)
	}
	if !m.Document.Capabilities.IsAbsent() {
		t.Error("the document as written has got capabilities")
	}
}

// TestProblem_remedies looks at the remedies that are computed.
func TestProblem_remedies(t *testing.T) {
	for text, want := range map[string]string{
		testDocument("0.4", "toosl = []", ""): "remove it; the keys here are name, version, api_version, requires_octet, " +
			"description, entrypoint, capabilities, contributes, runtime",
		testDocument("0.4", "descripton = \"\"", ""):                           "did you mean `description`?",
		testDocument("0.4", "", "[contributes]\ntool = []\n"):                  "did you mean `tools`?",
		testDocument("0.4", "", "[contributes]\nhooks = [\"befor_prompt\"]\n"): "did you mean `before_prompt`?",
		testDocument("0.4", "", "[contributes]\nui = [\"sidebar\"]\n"):         "use one of status, header, footer",
		testDocument("0.4", "", "[contributes]\nflags = [{}, { x = 1, name = \"a\", type = \"string\", default = \"\" }]\n"): "remove it; " +
			"the keys here are name, type, default, description",
		testDocument("0.4", "", "[contributes]\ntools = \"a\"\n"):  "write a list",
		testDocument("0.4", "", "[contributes]\ntools = [true]\n"): "write a string",
		testDocument("0.4", "contributes = 1", ""):                 "write a table",
		"\ufeff" + testDocument("0.4", "", ""):                     "remove the byte-order mark at its start: save it as UTF-8 without one",
		testDocument("0.4", "description = ", ""):                  "correct the TOML; what follows it has not been judged",
		testDocument("0.4", "name = \"again\"", ""):                "correct the TOML; what keys and values mean has not been judged",
		testDocument("0.4", "", "env = { A = 1 }\n"):               "write a string",
		testDocument("0.4", "", "env = 1\n"):                       "write a table",
		testDocument("0.4", "", "[contributes]\nmenu = 1\n"):       "write a boolean",
	} {
		problems := Judge([]byte(text), Context{}).Problems
		if last := problems[len(problems)-1]; last.Remedy != want {
			t.Errorf("%s\nremedy %q, want %q", last, last.Remedy, want)
		}
	}
}

func FuzzJudge(f *testing.F) {
	for _, c := range judgements() {
		f.Add([]byte(c.text))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		verdict := Judge(data, Context{Directory: "demo"})
		lines := strings.Count(string(data), "\n") + 1
		for _, p := range verdict.Problems {
			if p.Line < 1 || p.Line > lines || p.Column < 1 || p.Message == "" || p.Remedy == "" || rules.Lookup(p.Rule) == nil {
				t.Errorf("problem without a place, words or rule: %+v", p)
			}
		}
		if verdict.OK() == (verdict.Summary() != "") {
			t.Errorf("accepted %t with summary %q", verdict.OK(), verdict.Summary())
		}
	})
}
