package faultypeer

import (
	"bytes"
	"slices"
	"strings"

	"github.com/octet-dev/octet/generated/canonicalwire"
)

// changeInit changes the result of initialize on the canonical wire.
func changeInit(name, rule, doc string, f func(result obj)) Fault {
	return Fault{Name: name, Rule: rule, API: "0.3", Doc: doc, quirk: change(canonicalwire.MethodInitialize, func(m obj) { f(m["result"].(obj)) })}
}

// changeTool changes the first tool of the catalog.
func changeTool(name, rule, doc string, f func(tool obj)) Fault {
	return changeInit(name, rule, doc, func(r obj) { f(r["tools"].([]any)[0].(obj)) })
}

// changeContract changes the selection.
func changeContract(name, rule, doc string, f func(contract obj)) Fault {
	return changeInit(name, rule, doc, func(r obj) { f(r["contract"].(obj)) })
}

func drop(have any, name string) []any {
	return slices.DeleteFunc(slices.Clone(have.([]any)), func(v any) bool { return v == name })
}

func add(have any, names ...string) []any {
	return append(slices.Clone(have.([]any)), list(names...)...)
}

// hooks is what a manifest with session hooks declares.
var hooks = obj{"hooks": list("session_start", "session_end")}

var canonicalInitFaults = []Fault{
	doing("drop-initialize", "never-initializes", "EXT03-INIT-001", "never answers initialize"),
	changeInit("other-api-version", "EXT03-INIT-002", "answers with another API version", func(r obj) { r["api_version"] = "0.30" }),
	changeInit("extra-result-member", "EXT03-INIT-003", "lists commands, which this wire does not have", func(r obj) { r["commands"] = []any{} }),
	changeInit("tools-by-name", "EXT03-INIT-004", "answers its tools as an object", func(r obj) { r["tools"] = obj{} }),
	changeTool("extra-tool-member", "EXT03-INIT-005", "adds a member to a tool", func(t obj) { t["title"] = "Echo" }),
	changeTool("empty-tool-name", "EXT03-INIT-006", "has a tool with an empty name", func(t obj) { t["name"] = "" }),
	changeTool("long-tool-name", "EXT03-INIT-006", "has a tool with a name over the bound", func(t obj) { t["name"] = strings.Repeat("n", 129) }),
	changeTool("tool-twice", "EXT03-INIT-007", "has two tools of one name", func(t obj) { t["name"] = ToolFail }),
	changeTool("long-description", "EXT03-INIT-008", "describes a tool at length", func(t obj) { t["description"] = strings.Repeat("é", 2049) }),
	changeTool("null-parameters", "EXT03-INIT-008", "has a tool with null parameters", func(t obj) { t["parameters"] = nil }),
	changeTool("null-output-schema", "EXT03-INIT-008", "has a tool with a null output schema", func(t obj) { t["output_schema"] = nil }),
	changeTool("undeclared-tool", "EXT03-INIT-009", "names a tool otherwise than its manifest", func(t obj) { t["name"] = "say" }),

	ignoring("api-version", "speaks-any-version", "EXT03-INIT-010", "takes any API version for its own"),
	ignoring("schema", "takes-any-schema", "EXT03-INIT-011", "does not look at the schema of the contract"),
	ignoring("encoding", "takes-any-encoding", "EXT03-INIT-012", "does not look at the encoding of the contract"),
	ignoring("initialize-model", "takes-any-params", "EXT03-INIT-013", "does not look at the shape of initialize"),
	ignoring("list-bounds", "takes-long-lists", "EXT03-INIT-014", "takes lists of any length"),
	ignoring("name-length", "takes-empty-names", "EXT03-INIT-015", "takes empty names for unknown ones"),
	ignoring("names", "takes-any-name", "EXT03-INIT-016", "takes any name in an offer"),
	ignoring("required-set", "takes-any-required-set", "EXT03-INIT-017", "does not compare the required set"),
	ignoring("zero-limit", "takes-zero-limit", "EXT03-INIT-018", "takes a limit of zero"),
	ignoring("limit-maximum", "takes-high-limit", "EXT03-INIT-019", "takes limits above those of the API"),
	doing("survive-refusal", "survives-refusal", "EXT03-INIT-020", "goes on after refusing initialize"),
	ignoring("second-initialize", "initializes-twice", "EXT03-INIT-021", "answers a second initialize like the first"),
	doing("survive-second-initialize", "survives-second-initialize", "EXT03-INIT-022", "goes on after a second initialize"),
	doing("serve-early", "serves-before-initialize", "EXT03-INIT-023", "serves requests before initialize"),
	doing("survive-early-request", "survives-early-request", "EXT03-INIT-024", "goes on after a request that came before initialize"),
	{
		Name: "wants-sorted-offer", Rule: "EXT03-INIT-025", API: "0.3", Doc: "wants the names of an offer in ascending order",
		quirk: quirk{refuses: func(line []byte) bool {
			return !slices.IsSorted(texts(at(line, "params", "contract", "required_methods"))) ||
				!slices.IsSorted(texts(at(line, "params", "contract", "required_capabilities")))
		}},
	},
	refusesText("refuses-unknown-service", "EXT03-INIT-026", "theme_selection", "refuses an offer with services it does not use"),
	{
		Name: "wants-standard-limits", Rule: "EXT03-INIT-027", API: "0.3", Doc: "refuses an offer with other limits than the usual ones",
		quirk: quirk{refuses: func(line []byte) bool {
			n := at(line, "params", "contract", "limits", "max_frame_bytes")
			return n != nil && !bytes.Equal(n, []byte("1048576"))
		}},
	},
	refusesText("wants-host-object", "EXT03-INIT-028", `"host":"headless"`, "wants the opaque host member to be an object"),

	changeContract("extra-contract-member", "EXT03-CONTRACT-001", "adds a member to its selection", func(c obj) { c["features"] = []any{} }),
	changeContract("other-schema", "EXT03-CONTRACT-002", "selects another schema", func(c obj) { c["schema"] = "octet.extension.api/0.4" }),
	changeContract("lacks-capability", "EXT03-CONTRACT-003", "selects too few capabilities", func(c obj) {
		c["capabilities"] = drop(c["capabilities"], canonicalwire.CapabilityContentParts)
	}),
	changeContract("unoffered-capability", "EXT03-CONTRACT-004", "selects a capability nobody offered", func(c obj) {
		c["capabilities"] = add(c["capabilities"], canonicalwire.CapabilityDynamicTools)
	}),
	changeContract("lacks-method", "EXT03-CONTRACT-005", "selects too few methods", func(c obj) {
		c["methods"] = drop(c["methods"], canonicalwire.MethodCancelRequest)
	}),
	changeContract("unoffered-method", "EXT03-CONTRACT-006", "selects a method nobody offered", func(c obj) {
		c["methods"] = add(c["methods"], canonicalwire.MethodToolsRegister)
	}),
	changeContract("selects-twice", "EXT03-CONTRACT-007", "selects a capability twice", func(c obj) {
		c["capabilities"] = add(c["capabilities"], canonicalwire.CapabilityCore)
	}),
	changeContract("method-without-capability", "EXT03-CONTRACT-008", "selects a method without its capability", func(c obj) {
		c["methods"] = add(c["methods"], canonicalwire.MethodHookRun)
	}),
	changeContract("hooks-without-method", "EXT03-CONTRACT-009", "selects the lifecycle capability without its method", func(c obj) {
		c["capabilities"] = add(c["capabilities"], canonicalwire.CapabilityLifecycleEvents)
	}),
	{
		Name: "forgets-hooks", Rule: "EXT03-CONTRACT-010", API: "0.3", Doc: "declares session hooks and does not select them",
		quirk: quirk{contributes: hooks, message: func(_ *peer, what string, m obj) {
			if what == canonicalwire.MethodInitialize {
				c := m["result"].(obj)["contract"].(obj)
				c["capabilities"] = drop(c["capabilities"], canonicalwire.CapabilityLifecycleEvents)
				c["methods"] = drop(c["methods"], canonicalwire.MethodHookRun)
			}
		}},
	},
	changeContract("wants-hooks", "EXT03-CONTRACT-011", "selects session hooks it did not declare", func(c obj) {
		c["capabilities"] = add(c["capabilities"], canonicalwire.CapabilityLifecycleEvents)
		c["methods"] = add(c["methods"], canonicalwire.MethodHookRun)
	}),
	changeContract("limit-as-text", "EXT03-CONTRACT-012", "selects a limit that is a string", func(c obj) {
		c["limits"].(obj)["max_tools"] = "256"
	}),
	changeContract("limit-over-offer", "EXT03-CONTRACT-013", "selects the usual limits whatever was offered", func(c obj) {
		c["limits"] = obj{"max_frame_bytes": canonicalwire.MaxFrameBytes, "max_concurrent_requests": 64, "max_tools": 256}
	}),
	{
		Name: "insists-on-hooks", Rule: "EXT03-CONTRACT-014", API: "0.3", Doc: "does not start without its session hooks",
		quirk: quirk{contributes: hooks, refuses: func(line []byte) bool {
			return bytes.Contains(line, []byte(`"optional_methods":[]`))
		}},
	},
}
