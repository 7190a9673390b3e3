package faultypeer

import (
	"strconv"

	"github.com/octet-dev/octet/generated/featurewire"
)

// hooking changes the result of one hook.
func hooking(hook string, f func(r obj)) quirk {
	return quirk{message: func(p *peer, what string, m obj) {
		if r, ok := m["result"].(obj); ok && what == featurewire.MethodHookRun && p.hook == hook {
			f(r)
		}
	}}
}

// advising sets one member of the result of a hook.
func advising(hook, member string, v any) quirk { return hooking(hook, func(r obj) { r[member] = v }) }

var featureHandlerFaults = []Fault{
	using(frozen, "EXT04-CMD-001", "executes-anything", "executes every command", lax("command-name")),
	using(current, "EXT04-CMD-001", "unknown-command-as-bad-params", "refuses an unknown command with invalid_params", acting("vague-command-name")),
	using(middle, "EXT04-CMD-002", "executes-any-words", "does not look at the words of a command", lax("command-model")),
	using(current, "EXT04-CMD-002", "bad-command-as-internal-error", "refuses a bad command with internal_error", acting("vague-command")),
	using(frozen, "EXT04-CMD-003", "command-without-text", "leaves the text of a command out", answering(featurewire.MethodCommandExecute, func(r obj) { delete(r, "text") })),
	using(current, "EXT04-CMD-003", "notices-of-commands-as-text", "writes the notices of a command as strings",
		answering(featurewire.MethodCommandExecute, func(r obj) { r["notifications"] = list("greeted") })),

	using(frozen, "EXT04-HOOK-001", "runs-any-hook", "runs hooks that it does not declare", lax("hook-name")),
	using(middle, "EXT04-HOOK-001", "runs-any-payload", "does not look at the payload of a hook", lax("hook-payload")),
	using(current, "EXT04-HOOK-001", "unknown-hook-as-unknown-method", "refuses an unknown hook with unknown_method", acting("vague-hook")),
	using(frozen, "EXT04-HOOK-002", "denies-without-reason", "denies without a reason", hooking(featurewire.HookBeforeToolCall, func(r obj) { delete(r["disposition"].(obj), "reason") })),
	using(middle, "EXT04-HOOK-002", "decides-by-kind", "decides as later versions do", advising(featurewire.HookBeforePrompt, "disposition", obj{"kind": "continue"})),
	using(current, "EXT04-HOOK-002", "null-notices", "writes null for no notices", advising(featurewire.HookAfterResponse, "notifications", nil)),
	using(frozen, "EXT04-HOOK-003", "advises-on-frozen", "advises on retries", advising(featurewire.HookAfterResponse, "provider_retry", "stop")),
	using(current, "EXT04-HOOK-003", "advice-for-all", "answers every hook with the advice of one", advising(featurewire.HookBeforePrompt, "cache_warming_decision", "warm")),
	using(middle, "EXT04-HOOK-004", "negative-delay", "shortens a delay", advising(featurewire.HookProviderRetry, "provider_retry", obj{"delay": obj{"additional_delay_ms": -5}})),
	using(current, "EXT04-HOOK-004", "advice-of-its-own", "advises in its own word", advising(featurewire.HookProviderRetry, "provider_retry", "later")),
	using(middle, "EXT04-HOOK-005", "deep-value", "stores a deep value", storing(nested(featurewire.MaxPersistenceDepth+1))),
	using(current, "EXT04-HOOK-005", "large-value", "stores a large value", storing(long(featurewire.MaxPersistenceValueBytes))),
	using(current, "EXT04-HOOK-005", "value-with-controls", "stores control characters", storing(obj{"run\n": "one\x00two"})),
	using(middle, "EXT04-HOOK-006", "rescans-everything", "wishes to rescan what was not affected",
		advising(featurewire.HookPostMutation, "post_mutation", obj{"action": "request_rescan", "resource_ids": list("resource:everything")})),
	using(current, "EXT04-HOOK-006", "rescans-nothing", "wishes to rescan nothing",
		advising(featurewire.HookPostMutation, "post_mutation", obj{"action": "request_rescan", "resource_ids": []any{}})),
	using(current, "EXT04-HOOK-007", "denies-a-turn", "denies a turn of the model", advising(featurewire.HookModelTurnStart, "disposition", obj{"action": "deny", "reason": "not now"})),
	using(current, "EXT04-HOOK-007", "adds-to-a-turn", "adds context to a turn of the model", advising(featurewire.HookModelTurnEnd, "context", []any{obj{"label": "late", "content": "late"}})),
	using(current, "EXT04-HOOK-007", "cancels-a-turn", "cancels a turn of the model", advising(featurewire.HookModelTurnStart, "session_operation", obj{"action": "cancel"})),
	using(current, "EXT04-HOOK-008", "cancels-the-past", "cancels a compaction that has been", advising(featurewire.HookSessionCompact, "session_operation", obj{"action": "cancel"})),
	using(current, "EXT04-HOOK-008", "replaces-compaction", "replaces a compaction",
		advising(featurewire.HookSessionBeforeCompact, "session_operation", obj{"action": "replace_compaction"})),
	using(current, "EXT04-HOOK-009", "warms-a-little", "advises on warming in its own word", advising(featurewire.HookCacheWarmingDecision, "cache_warming_decision", "tepid")),
	using(current, "EXT04-HOOK-010", "draws-nothing", "draws nothing", hooking(featurewire.HookCompactionStrategy, func(r obj) { delete(r, "compaction_frames") })),
	using(current, "EXT04-HOOK-010", "draws-in-words", "draws what is no image", advising(featurewire.HookCompactionStrategy, "compaction_frames", list("b2N0ZXQ="))),
	using(current, "EXT04-HOOK-011", "null-paths", "writes null for no paths", discovering(func(paths obj) { paths["prompt_paths"] = nil })),
	using(current, "EXT04-HOOK-011", "decides-about-resources", "adds a disposition to its resources",
		advising(featurewire.HookResourcesDiscover, "disposition", obj{"action": "continue"})),
	using(current, "EXT04-HOOK-012", "relative-path", "names a path relative to nothing", discovering(func(paths obj) { paths["skill_paths"] = list("skills") })),
	using(current, "EXT04-HOOK-012", "climbing-path", "names a path that climbs", discovering(func(paths obj) { paths["skill_paths"] = list("/skills/../other") })),
	using(current, "EXT04-HOOK-012", "foreign-theme", "prefers a theme that it does not bring", discovering(func(paths obj) { paths["default_theme"] = "/themes/light.json" })),

	using(frozen, "EXT04-CTX-001", "wraps-context", "wraps its context in an object", change(featurewire.MethodContextCollect, func(m obj) {
		if list, ok := m["result"].([]any); ok {
			m["result"] = obj{"context": list}
		}
	})),
	using(middle, "EXT04-CTX-002", "places-context-anywhere", "places context where there is no place", setting(featurewire.MethodContextContribution, "placement", "middle")),
	using(frozen, "EXT04-CTX-002", "unlabelled-context", "collects context without a label", replacing(featurewire.MethodContextCollect, []any{obj{"content": "sound"}})),
	using(current, "EXT04-CTX-002", "context-of-command-as-text", "writes the context of a command as strings",
		answering(featurewire.MethodCommandExecute, func(r obj) { r["context"] = list("Hello.") })),
	using(middle, "EXT04-CTX-003", "undeclared-context", "gives context that it does not declare", quirk{ignores: "undeclared-context", contributes: obj{"context": false}}),
	using(frozen, "EXT04-STATUS-001", "status-as-text", "gives its status as a string", replacing(featurewire.MethodStatusCollect, "ready")),
	using(middle, "EXT04-STATUS-001", "status-as-list", "gives its status as a list", change(featurewire.MethodStatusCollect, func(m obj) { m["result"] = []any{m["result"]} })),
	using(frozen, "EXT04-STATUS-002", "status-without-text", "gives a status without a text", replacing(featurewire.MethodStatusCollect, obj{"surface": "status"})),
	using(current, "EXT04-STATUS-002", "urgent-status", "gives its priority in words", setting(featurewire.MethodStatusContribution, "priority", "high")),
	using(middle, "EXT04-MENU-001", "deep-menu", "has a menu deeper than the bound", choosing(func(menu obj) { menu["items"] = deepMenu(featurewire.MaxMenuLevels + 1) })),
	using(current, "EXT04-MENU-001", "endless-menu", "has more items than the bound over all levels", choosing(func(menu obj) {
		items := []any{}
		for i := range featurewire.MaxMenuItems - 1 {
			items = append(items, obj{"id": strconv.Itoa(i), "label": "Greet", "command": CommandGreet})
		}
		menu["items"].([]any)[1].(obj)["items"] = items
	})),
	using(current, "EXT04-MENU-001", "wordy-menu", "has a description over the bound", choosing(func(menu obj) {
		menu["items"].([]any)[0].(obj)["description"] = long(featurewire.MaxMenuDescriptionBytes)
	})),
	using(middle, "EXT04-MENU-002", "twins-in-menu", "has two items with one id", choosing(func(menu obj) {
		items := menu["items"].([]any)
		items[1].(obj)["id"] = items[0].(obj)["id"]
	})),
	using(current, "EXT04-MENU-002", "undeclared-choice", "has an item with a command that it does not declare", choosing(func(menu obj) {
		menu["items"].([]any)[0].(obj)["command"] = "leave"
	})),
	using(current, "EXT04-MENU-002", "destructive-submenu", "has a submenu that is destructive", choosing(func(menu obj) { menu["items"].([]any)[1].(obj)["destructive"] = false })),
	using(middle, "EXT04-MENU-002", "recommends-everything", "recommends everything", choosing(func(menu obj) { menu["items"].([]any)[1].(obj)["recommended"] = true })),
	using(frozen, "EXT04-RENDER-001", "renders-text", "renders a string", replacing(featurewire.MethodToolRender, obj{"segments": "octet"})),
	using(current, "EXT04-RENDER-001", "renders-without-text", "renders a segment without a text", replacing(featurewire.MethodToolRender, obj{"segments": []any{obj{"style_role": "bold"}}})),
	using(middle, "EXT04-EVENT-001", "subscribes-to-anything", "chooses an event that does not exist", selecting(func(protocol obj) {
		protocol["lifecycle_events"] = list(featurewire.MethodTurnStarted, "turn/paused")
	})),

	using(middle, "EXT04-COMPLETE-002", "foreign-prefix", "completes what was not typed", completing(func(r obj) { r["prefix"] = "/she" })),
	using(current, "EXT04-COMPLETE-002", "label-in-lines", "labels a completion in lines", completing(func(r obj) { item(r)["label"] = "one\ntwo" })),
	using(middle, "EXT04-COMPLETE-002", "completion-in-lines", "completes by lines without the feature for it", completing(func(r obj) { item(r)["value"] = "one\ntwo" })),
	using(current, "EXT04-COMPLETE-003", "replaces-too-much", "replaces more than there is", completing(func(r obj) { item(r)["replace_after_bytes"] = 4096 })),
	using(current, "EXT04-COMPLETE-003", "null-offset", "writes null for no offset", completing(func(r obj) { item(r)["cursor_offset_bytes"] = nil })),
	using(current, "EXT04-COMPLETE-003", "splits-a-character", "leaves the cursor inside of a character", completing(func(r obj) {
		item(r)["value"], item(r)["cursor_offset_bytes"] = "é", 1
	})),
	using(current, "EXT04-RES-003", "disposes-of-less", "does not say what became of a resource", answering(featurewire.MethodResourceDispose, func(r obj) { r["results"] = []any{} })),
	using(current, "EXT04-RES-003", "disposes-in-its-own-way", "says in its own word what became of a resource", answering(featurewire.MethodResourceDispose, func(r obj) {
		for _, result := range r["results"].([]any) {
			result.(obj)["status"] = "gone"
		}
	})),
	using(current, "EXT04-UI-006", "types-a-novel", "replaces a key by more than the bound", answering(featurewire.MethodUITerminalInputIntercept, func(r obj) {
		r["data"] = long(featurewire.MaxTerminalInputBytes)
	})),
	using(current, "EXT04-UI-006", "null-for-taken-input", "writes null for input it takes away", answering(featurewire.MethodUITerminalInputIntercept, func(r obj) { r["data"] = nil })),

	using(middle, "EXT04-SHORTCUT-003", "ends-at-unknown-shortcut", "ends at a shortcut that it does not know", ending("conform:no-such-shortcut")),
	using(current, "EXT04-SHORTCUT-003", "answers-shortcuts", "answers a shortcut", acting("answer-notifications")),
}

// storing changes the value that a peer stores.
func storing(v any) quirk {
	return hooking(featurewire.HookBeforePersistence, func(r obj) { r["persistence_metadata"].(obj)["value"] = v })
}

// discovering changes the resources that a peer brings.
func discovering(f func(paths obj)) quirk {
	return hooking(featurewire.HookResourcesDiscover, func(r obj) { f(r["resource_paths"].(obj)) })
}

// choosing changes the menu of a peer.
func choosing(f func(menu obj)) quirk { return answering(featurewire.MethodMenuCollect, f) }

// deepMenu is a menu of some levels.
func deepMenu(levels int) []any {
	if levels == 1 {
		return []any{obj{"id": "end", "label": "End", "command": CommandGreet}}
	}
	return []any{obj{"id": "more", "label": "More", "items": deepMenu(levels - 1)}}
}

// completing changes the completions of a peer that has one to offer.
func completing(f func(r obj)) quirk {
	return answering(featurewire.MethodUIAutocompleteComplete, func(r obj) {
		if len(r["items"].([]any)) > 0 {
			f(r)
		}
	})
}

func item(r obj) obj { return r["items"].([]any)[0].(obj) }
