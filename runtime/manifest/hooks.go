package manifest

import (
	"fmt"
	"slices"

	"github.com/octet-dev/octet/generated/manifestdoc"
)

// lateHooks say what is reported when a hook is declared on an API version that lacks it.
var lateHooks = []struct {
	hooks                []manifestdoc.Hook
	rule, check, message string
}{
	{
		[]manifestdoc.Hook{manifestdoc.HookProviderRetry, manifestdoc.HookBeforePersistence, manifestdoc.HookPostMutation},
		"MAN-HOOK-002", "hook_versions",
		"provider_retry, before_persistence, and post_mutation hooks require extension API 0.2",
	},
	{
		[]manifestdoc.Hook{manifestdoc.HookSessionStart, manifestdoc.HookSessionEnd},
		"MAN-HOOK-003", "session_hooks_version",
		"session_start and session_end hooks require extension API 0.2 or later",
	},
	{
		[]manifestdoc.Hook{manifestdoc.HookCompactionStrategy},
		"MAN-HOOK-006", "hook_versions", "compaction_strategy requires extension API 0.4",
	},
	{
		[]manifestdoc.Hook{manifestdoc.HookCacheWarmingDecision},
		"MAN-HOOK-008", "hook_versions", "cache_warming_decision requires extension API 0.4",
	},
	{
		[]manifestdoc.Hook{manifestdoc.HookProviderContext},
		"MAN-HOOK-008", "hook_versions", "provider_context requires extension API 0.4",
	},
	{
		[]manifestdoc.Hook{manifestdoc.HookResourcesDiscover},
		"MAN-HOOK-008", "hook_versions", "resources_discover requires extension API 0.4",
	},
	{
		[]manifestdoc.Hook{manifestdoc.HookBeforeProviderRequest, manifestdoc.HookBeforeProviderHeaders, manifestdoc.HookAfterProviderResponse},
		"MAN-HOOK-009", "hook_versions", "provider pipeline hooks require extension API 0.4",
	},
	{
		[]manifestdoc.Hook{
			manifestdoc.HookModelTurnStart, manifestdoc.HookModelTurnEnd,
			manifestdoc.HookSessionBeforeCompact, manifestdoc.HookSessionCompact,
			manifestdoc.HookSessionBeforeTree, manifestdoc.HookSessionTree,
		},
		"MAN-HOOK-010", "hook_versions", "session operation hooks require extension API 0.4",
	},
}

func (j *judge) hooks() {
	declared := map[string]string{} // hook to pointer
	for i, n := range j.doc.elements("contributes", "hooks") {
		pointer := fmt.Sprintf("/contributes/hooks/%d", i)
		if _, repeated := declared[n.Text]; repeated {
			continue
		}
		declared[n.Text] = pointer
		j.lateHook(n.Text, pointer)
		j.undelivered(n.Text, pointer)
	}
	j.pairs(declared)
}

func (j *judge) lateHook(hook, pointer string) {
	for _, row := range manifestdoc.TableHookVersions {
		if row.Hook != hook || !j.before(row.Since) {
			continue
		}
		for _, words := range lateHooks {
			if slices.Contains(words.hooks, manifestdoc.Hook(hook)) {
				j.error(words.rule, words.check, pointer, words.message,
					fmt.Sprintf("remove %q, or select api_version %q or later", hook, row.Since))
			}
		}
	}
}

func (j *judge) undelivered(hook, pointer string) {
	api := j.doc.text("", "api_version")
	for _, row := range manifestdoc.TableUndeliveredHooks {
		if row.Hook == hook && row.Version == api {
			j.warning("MAN-HOOK-005", pointer, fmt.Sprintf("extension API %s never delivers the hook %s", api, hook),
				"remove it, or select an api_version that does")
		}
	}
}

func (j *judge) pairs(declared map[string]string) {
	for _, row := range manifestdoc.TableHookPairs {
		first, second := declared[row.First], declared[row.Second]
		if row.Version != j.doc.text("", "api_version") || (first == "") == (second == "") {
			continue
		}
		absent := row.First
		if first != "" {
			absent = row.Second
		}
		j.error("MAN-HOOK-004", "session_hook_pair", first+second,
			fmt.Sprintf("%s and %s hooks must be declared together on extension API %s", row.First, row.Second, row.Version),
			fmt.Sprintf("add %q, or remove the other one", absent))
	}
}
