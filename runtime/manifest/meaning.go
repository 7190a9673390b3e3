package manifest

import (
	"fmt"
	"slices"
	"strings"

	"github.com/octet-dev/octet/generated/manifestdoc"
	"github.com/octet-dev/octet/runtime/manifest/semver"
	"github.com/octet-dev/octet/runtime/manifest/tomltree"
)

// meaning judges what lies between keys. Values whose own shape is wrong have been reported and are
// passed over.
func (j *judge) meaning() {
	j.combination()
	j.version()
	j.requirement()
	j.keyVersions()
	j.menu()
	j.hooks()
	j.shortcutKeys()
	j.flags()
	j.secrets()
	j.brokered()
	j.directory()
}

// api is the position of the manifest's API version among all, -1 if it has no legal one.
func (j *judge) api() int {
	return slices.Index(manifestdoc.Versions, j.doc.text("", "api_version"))
}

// before reports whether the manifest's API version is known and older than since.
func (j *judge) before(since string) bool {
	api := j.api()
	return api >= 0 && api < slices.Index(manifestdoc.Versions, since)
}

func (j *judge) error(rule, check, pointer, message, remedy string) {
	j.add(Problem{
		Rule: rule, Severity: Error, Pointer: pointer, Position: j.doc.place(pointer),
		Message: message, Remedy: remedy, order: orderOf(check, pointer),
	})
}

func (j *judge) warning(rule, pointer, message, remedy string) {
	j.add(Problem{
		Rule: rule, Severity: Warning, Pointer: pointer, Position: j.doc.place(pointer),
		Message: message, Remedy: remedy,
	})
}

func (j *judge) combination() {
	if j.broken("/runtime/lifecycle") || j.broken("/runtime/sharing") {
		return
	}
	lifecycle := j.doc.text(string(manifestdoc.RuntimeLifecycleLegacyResident), "runtime", "lifecycle")
	sharing := j.doc.text(string(manifestdoc.RuntimeSharingIsolated), "runtime", "sharing")
	for _, row := range manifestdoc.TableRuntimeCombinations {
		allowed := strings.Fields(row.Sharing)
		if row.Lifecycle != lifecycle || slices.Contains(allowed, sharing) {
			continue
		}
		if slices.Contains(allowed, string(manifestdoc.RuntimeSharingWorkspace)) {
			j.error("MAN-RUNTIME-004", "runtime", "/runtime/lifecycle",
				`runtime lifecycle requires explicit sharing = "workspace"`,
				fmt.Sprintf(`add sharing = "workspace", or choose a lifecycle that can be isolated; got %q with %q`, lifecycle, sharing))
			return
		}
		j.error("MAN-RUNTIME-005", "runtime", "/runtime/sharing",
			`legacy_resident, oneshot, and session runtimes must use sharing = "isolated"`,
			fmt.Sprintf("remove sharing, or choose a lifecycle that can be shared; got %q with %q", lifecycle, sharing))
	}
}

func (j *judge) version() {
	n := j.doc.at("version")
	if n == nil || j.broken("/version") {
		return
	}
	if _, err := semver.Parse(n.Text); err != nil {
		j.error("MAN-TOP-003", "version", "/version", versionMessage(n.Text, err.Error()), versionRemedy)
	}
}

func (j *judge) requirement() {
	n := j.doc.at("requires_octet")
	if n == nil || j.broken("/requires_octet") {
		return
	}
	requirement, err := semver.ParseRequirement(n.Text)
	if err != nil {
		j.error("MAN-HOST-002", "requires_octet", "/requires_octet", requirementMessage(n.Text, err.Error()), requirementRemedy)
		return
	}
	host := OctetVersion()
	if j.context.Octet != nil {
		host = *j.context.Octet
	}
	if !requirement.Matches(host) {
		j.error("MAN-HOST-003", "requires_octet", "/requires_octet",
			fmt.Sprintf("extension requires octet `%s`, but this binary is %s", n.Text, host),
			"widen the requirement, or run another octet")
	}
}

// lateKeys say what is reported when a key is used on an API version that lacks it.
var lateKeys = map[string]struct{ rule, check, message string }{
	"contributes.presentation": {"MAN-CONTRIB-006", "presentation", "semantic presentation requires extension API 0.2"},
	"contributes.menu":         {"MAN-CONTRIB-007", "menu", "extension menus require extension API 0.2"},
	"contributes.shortcuts":    {"MAN-CONTRIB-009", "shortcuts_version", "shortcuts require extension API 0.2"},
	"contributes.flags":        {"MAN-CONTRIB-010", "flags_version", "CLI flags require extension API 0.2 or later"},
	"contributes.providers":    {"MAN-CONTRIB-008", "providers", "provider catalogs require extension API 0.2 or later"},
	"capabilities.environment": {"MAN-CAP-007", "environment_version", "brokered environment variables require extension API 0.2"},
	"runtime.sharing": {
		"MAN-RUNTIME-007", "sharing_version",
		"workspace sharing requires extension API 0.2 or later resource-owner fences",
	},
}

func (j *judge) keyVersions() {
	for _, row := range manifestdoc.TableKeyVersions {
		n := j.doc.at(strings.Split(row.Path, ".")...)
		if n == nil || !used(n) || !j.before(row.Since) {
			continue
		}
		words := lateKeys[row.Path]
		pointer := "/" + strings.ReplaceAll(row.Path, ".", "/")
		j.add(Problem{
			Rule: words.rule, Severity: Error, Pointer: pointer, Position: j.doc.keyPlace(pointer),
			Message: words.message, Remedy: fmt.Sprintf("remove the key, or select api_version %q or later", row.Since),
			order: order{check: checkNumber(words.check)},
		})
	}
}

// used reports whether a value is a legal one that differs from the default which its absence means.
func used(n *tomltree.Node) bool {
	switch n.Kind {
	case tomltree.Boolean:
		return n.Bool
	case tomltree.Array:
		return len(n.Elems) > 0
	case tomltree.String:
		return n.Text == string(manifestdoc.RuntimeSharingWorkspace)
	default:
		return false
	}
}

func (j *judge) menu() {
	n := j.doc.at("contributes", "menu")
	if n == nil || !n.Bool || len(j.doc.elements("contributes", "commands")) > 0 {
		return
	}
	j.error("MAN-CONTRIB-013", "menu", "/contributes/menu",
		"an extension menu needs at least one declared command to route to",
		"list a command in contributes.commands, or remove menu")
}

func (j *judge) secrets() {
	if j.api() == 0 && len(j.doc.elements("capabilities", "secrets")) > 0 {
		j.warning("MAN-CAP-005", "/capabilities/secrets", "secrets have no effect on extension API 0.1",
			"remove the key, or select a later api_version")
	}
}

func (j *judge) brokered() {
	for i, n := range j.doc.elements("capabilities", "environment") {
		pointer := fmt.Sprintf("/capabilities/environment/%d", i)
		if n.Kind != tomltree.String || j.broken(pointer) || slices.Contains(manifestdoc.TableBrokeredEnvironment, n.Text) {
			continue
		}
		j.error("MAN-CAP-006", "environment_names", pointer,
			fmt.Sprintf("unsupported brokered environment variable `%s`", n.Text),
			"remove it; what can be asked for is "+strings.Join(manifestdoc.TableBrokeredEnvironment, ", "))
	}
}

func (j *judge) directory() {
	name := j.doc.at("name")
	if j.context.Directory == "" || name == nil || name.Kind != tomltree.String || name.Text == j.context.Directory {
		return
	}
	j.add(Problem{
		Rule: "MAN-TOP-002", Severity: Error, Pointer: "/name", Position: j.doc.place("/name"), class: plain,
		Message: fmt.Sprintf("extension directory name %q must match manifest name %q", j.context.Directory, name.Text),
		Remedy:  "rename one of them", order: order{check: checkNumber("directory_name")},
	})
}
