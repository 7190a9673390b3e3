package monitor

import (
	"slices"
	"strings"

	"github.com/octet-dev/octet/features/wire"
	fw "github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
)

// place says which rule a violation of a model breaks, by where it lies. Of a list of places the first that
// fits counts.
type place struct {
	pointer string // elements of arrays as a star; what lies below it fits, too
	rule    string
	kinds   []wirejson.ViolationKind // nil for all
}

func (p place) fits(pointer string, kind wirejson.ViolationKind) bool {
	inside := pointer == p.pointer || strings.HasPrefix(pointer, p.pointer+"/")
	return inside && (p.kinds == nil || slices.Contains(p.kinds, kind))
}

// all puts every violation of a model under one rule.
func all(rule string) []place { return []place{{rule: rule}} }

// also puts some places in front of a rule for all others.
func also(rule string, places ...place) []place { return append(places, place{rule: rule}) }

func kinds(list ...wirejson.ViolationKind) []wirejson.ViolationKind { return list }

// contributed are the places of context contributions inside a result.
var contributed = place{pointer: "/context/*", rule: "EXT04-CTX-002"}

// paramsPlaces has the rules of the params of what extensions send. The parent and the owner have rules of
// their own.
var paramsPlaces = map[string][]place{
	fw.MethodConfirmationRequest: all("EXT04-CONFIRM-001"),
	fw.MethodContextContribution: all("EXT04-CTX-002"),
	fw.MethodStatusContribution:  all("EXT04-STATUS-002"),
	fw.MethodInputRequest:        all("EXT04-INPUT-001"),
	fw.MethodPresentationUpdate: also("EXT04-PRES-001",
		place{"/snapshot/revision", "EXT04-PRES-002", nil},
		place{"/resource_owner", "EXT04-PRES-003", kinds(wirejson.Forbidden)}),
	fw.MethodArtifactPublish: also("EXT04-ART-001",
		place{"/data", "EXT04-ART-002", kinds(wirejson.Forbidden)},
		place{"/path", "EXT04-ART-002", kinds(wirejson.Forbidden)},
		place{"/data/data", "EXT04-ART-003", nil}, place{"/data/encoding", "EXT04-ART-003", nil},
		place{"/data", "EXT04-ART-002", kinds(wirejson.Missing)},
		place{"/data", "EXT04-ART-003", nil}, place{"/path", "EXT04-ART-003", nil}),
	fw.MethodPolicyEvaluate:  also("EXT04-POLICY-001", place{"/approval_token", "EXT04-POLICY-002", nil}),
	fw.MethodSecretGet:       all("EXT04-SECRET-001"),
	fw.MethodToolsRegister:   all("EXT04-DYN-001"),
	fw.MethodToolsUnregister: all("EXT04-DYN-002"),
	fw.MethodAgentSpawn: also("EXT04-AGENT-001",
		place{"/policy/model_selection", "EXT04-AGENT-003", nil},
		place{"/policy", "EXT04-AGENT-001", kinds(wirejson.Missing)},
		place{"/policy", "EXT04-AGENT-002", nil}),
	fw.MethodAgentMessage:   all("EXT04-AGENT-004"),
	fw.MethodAgentFollowUp:  all("EXT04-AGENT-004"),
	fw.MethodAgentList:      all("EXT04-AGENT-004"),
	fw.MethodAgentWait:      all("EXT04-AGENT-004"),
	fw.MethodAgentInterrupt: all("EXT04-AGENT-004"),
	fw.MethodAgentModels:    all("EXT04-AGENT-004"),
	fw.MethodAgentEvents:    all("EXT04-AGENT-005"),
	fw.MethodAgentStop:      all("EXT04-AGENT-005"),
	fw.MethodComposerGet:    all("EXT04-COMPOSER-001"),
	fw.MethodComposerSet: also("EXT04-COMPOSER-001",
		place{"/editor_checkpoint/checkpoint_revision", "EXT04-COMPOSER-003", kinds(wirejson.OutOfRange)},
		place{"/editor_checkpoint", "EXT04-COMPOSER-002", nil}),
	fw.MethodComposerInsert:         also("EXT04-COMPOSER-001", place{"/editor_checkpoint", "EXT04-COMPOSER-002", nil}),
	fw.MethodComposerHistory:        all("EXT04-COMPOSER-004"),
	fw.MethodShortcutRegister:       all("EXT04-SHORTCUT-002"),
	fw.MethodSessionAppendEntry:     all("EXT04-ENTRY-001"),
	fw.MethodSessionSetName:         all("EXT04-ENTRY-001"),
	fw.MethodSessionSetLabel:        all("EXT04-ENTRY-001"),
	fw.MethodSessionSendMessage:     all("EXT04-INJECT-001"),
	fw.MethodSessionSendUserMessage: all("EXT04-INJECT-001"),
	fw.MethodToolsSetActive:         all("EXT04-ACTIVE-001"),
	fw.MethodUIAutocompleteRegister: all("EXT04-COMPLETE-001"),
	fw.MethodCompositionContext:     all("EXT04-NEST-002"),
	fw.MethodCompositionCall:        all("EXT04-NEST-002"),
	fw.MethodCompositionStore:       all("EXT04-NEST-002"),
	fw.MethodResourceRegister:       all("EXT04-RES-002"),
	fw.MethodResourceRelease: also("EXT04-RES-002",
		place{"/resource/$resource", "EXT04-RES-001", nil}, place{"/resource/type", "EXT04-RES-001", nil},
		place{"/resource", "EXT04-RES-001", kinds(wirejson.Unknown)}),
	fw.MethodBulkWrite:          all("EXT04-BULK-001"),
	fw.MethodBulkCommit:         all("EXT04-BULK-001"),
	fw.MethodBulkRead:           all("EXT04-BULK-001"),
	fw.MethodBulkRelease:        all("EXT04-BULK-001"),
	fw.MethodSessionWaitForIdle: all("EXT04-SESSION-001"),
	fw.MethodSessionCreate:      all("EXT04-SESSION-001"),
	fw.MethodSessionFork:        all("EXT04-SESSION-001"),
	fw.MethodSessionSwitch:      all("EXT04-SESSION-001"),
	fw.MethodSessionReload:      all("EXT04-SESSION-001"),
	fw.MethodSessionCompact:     all("EXT04-COMPACT-001"),
	fw.MethodUIOpen:             all("EXT04-UI-001"),
	fw.MethodUIFrame:            also("EXT04-UI-002", place{"/revision", "EXT04-UI-003", nil}, place{"/surface_id", "EXT04-UI-003", nil}),
	fw.MethodUIClose:            all("EXT04-UI-004"),
	fw.MethodUIChrome:           all("EXT04-UI-005"),
}

// resultPlaces has the rules of results.
var resultPlaces = map[string][]place{
	fw.MethodCommandExecute: also("EXT04-CMD-003", contributed),
	fw.MethodStatusCollect:  all("EXT04-STATUS-002"),
	fw.MethodMenuCollect: also("EXT04-MENU-001",
		place{"/items", "EXT04-MENU-002", kinds(wirejson.Duplicate)},
		place{"/items", "EXT04-MENU-002", kinds(wirejson.Forbidden)}),
	fw.MethodToolRender: all("EXT04-RENDER-001"),
	fw.MethodUIAutocompleteComplete: also("EXT04-COMPLETE-002",
		place{"/items/*/replace_after_bytes", "EXT04-COMPLETE-003", nil},
		place{"/items/*/cursor_offset_bytes", "EXT04-COMPLETE-003", nil}),
	fw.MethodResourceDispose:          all("EXT04-RES-003"),
	fw.MethodUITerminalInputIntercept: all("EXT04-UI-006"),
}

// catalogPlaces are the parts of an initialize result that have rules of their own.
var catalogPlaces = []place{
	{"/tools", "EXT04-TOOL-008", kinds(wirejson.ItemCount)},
	{"/commands", "EXT04-TOOL-008", kinds(wirejson.ItemCount)},
	{"/protocol/lifecycle_events", "EXT04-EVENT-001", nil},
	// Definitions are judged one by one.
	{"/tools/*/prompt_snippet", "", nil},
	{"/tools/*/prompt_guidelines", "", nil},
	{"/tools/*/composition", "", nil},
	{"/tools/*/operation", "", nil},
}

// definitionPlaces are the parts of a tool definition that have rules of their own.
var definitionPlaces = []place{
	{"/prompt_snippet", "EXT04-TOOL-010", nil},
	{"/prompt_guidelines", "EXT04-TOOL-010", nil},
	{"/composition", "EXT04-NEST-001", nil},
	{"/operation", "EXT04-RES-004", nil},
}

// hookPlaces are the parts of a hook result that belong to one hook.
var hookPlaces = map[string][]place{
	fw.HookProviderRetry:        {{"/provider_retry", "EXT04-HOOK-004", nil}},
	fw.HookBeforePersistence:    {{"/persistence_metadata", "EXT04-HOOK-005", nil}},
	fw.HookPostMutation:         {{"/post_mutation", "EXT04-HOOK-006", nil}},
	fw.HookModelTurnStart:       turnPlaces,
	fw.HookModelTurnEnd:         turnPlaces,
	fw.HookSessionBeforeCompact: {{"/session_operation", "EXT04-HOOK-008", nil}},
	fw.HookSessionCompact:       {{"/session_operation", "EXT04-HOOK-008", nil}},
	fw.HookCacheWarmingDecision: {{"/cache_warming_decision", "EXT04-HOOK-009", nil}},
	fw.HookCompactionStrategy:   {{"/compaction_frames", "EXT04-HOOK-010", nil}},
	fw.HookResourcesDiscover: {
		{"/resource_paths", "EXT04-HOOK-012", kinds(wirejson.WrongClass, wirejson.ByteCount, wirejson.ItemCount)},
		{"", "EXT04-HOOK-011", nil},
	},
}

var turnPlaces = []place{
	{"/session_operation", "EXT04-HOOK-007", nil},
	{"/disposition/action", "EXT04-HOOK-007", kinds(wirejson.WrongValue)},
}

// moreRules are those that checks cite without a place of a model.
var moreRules = []string{
	"EXT04-PARENT-001", "EXT04-PARENT-002", "EXT04-PARENT-003", "EXT04-PARENT-004", "EXT04-OWNER-001",
	"EXT04-SHORTCUT-001", "EXT04-COMPACT-002", "EXT04-AGENT-006", "EXT04-AGENT-007", "EXT04-PRES-003", "EXT04-PRES-004", "EXT04-PRES-005", "EXT04-PRES-006",
	"EXT04-ART-004", "EXT04-ART-005", "EXT04-DYN-005", "EXT04-TERM-001", "EXT04-NEST-003", "EXT04-NEST-004", "EXT04-BULK-002", "EXT04-DIAG-001",
	"EXT04-HOOK-002", "EXT04-HOOK-003", "EXT04-CTX-001", "EXT04-STATUS-001", "EXT04-NEG-022", "EXT04-TOOL-009", "EXT04-PROG-012",
}

// serviceRules lists the rules of the feature wire beyond its core.
func serviceRules() []string {
	out := slices.Clone(moreRules)
	take := func(places []place) {
		for _, p := range places {
			out = append(out, p.rule)
		}
	}
	for _, table := range []map[string][]place{paramsPlaces, resultPlaces, hookPlaces} {
		for _, places := range table {
			take(places)
		}
	}
	take(catalogPlaces)
	take(definitionPlaces)
	return slices.DeleteFunc(out, func(rule string) bool { return rule == "" })
}

// modelled judges a value by a generated model. Where no place fits, nothing is reported.
func (m *Monitor) modelled(f wire.Frame, what, model string, v tree, places []place) {
	if model == "" {
		return
	}
	if v.absent() {
		v = value([]byte("null"))
	}
	violation, broken := m.setup.Dialect.Violation(model, v.raw)
	if !broken {
		return
	}
	pointer := starred(violation.Pointer)
	for _, p := range places {
		if p.fits(pointer, violation.Kind) {
			if !tied(pointer, violation.Kind) || violation.Kind == wirejson.Forbidden {
				m.report(p.rule, f, -1, "%s: %s", what, violation.Error())
			}
			return
		}
	}
}

// tied reports whether a violation lies in what ties a message to a request of the host, which is judged
// without the model.
func tied(pointer string, kind wirejson.ViolationKind) bool {
	if pointer == "/parent_request_id" {
		return true
	}
	inside := pointer == "/resource_owner" || strings.HasPrefix(pointer, "/resource_owner/")
	return inside && !(pointer == "/resource_owner" && (kind == wirejson.Missing || kind == wirejson.NullValue))
}

// starred replaces the element numbers of a pointer by stars.
func starred(pointer string) string {
	parts := strings.Split(pointer, "/")
	for i, part := range parts {
		if part != "" && strings.Trim(part, "0123456789") == "" {
			parts[i] = "*"
		}
	}
	return strings.Join(parts, "/")
}
