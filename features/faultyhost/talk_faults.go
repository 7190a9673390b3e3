package faultyhost

import (
	"bytes"
	"strings"
	"time"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/generated/featurewire"
)

// What a host does otherwise in a conversation, where no frame shows it by itself.
const (
	addsDelaysUp        = "adds delays up"
	asksAllStrategies   = "asks all strategies"
	cutsPayloads        = "cuts payloads"
	dropsCheckpoint     = "drops the checkpoint"
	endsOneByOne        = "ends one by one"
	forgetsCrashes      = "forgets crashes"
	hidesMessages       = "hides messages"
	keepsInstance       = "keeps the instance"
	mutatesAlways       = "mutates always"
	neverRestarts       = "never restarts"
	pings               = "pings"
	refusesParked       = "refuses what is parked"
	rereadsTools        = "rereads tools"
	tellsInactive       = "tells of inactive tools"
	retriesForever      = "retries forever"
	sendsWhole          = "sends the whole"
	settlesFirst        = "settles first"
	skipsEndings        = "skips endings"
	summarizesAnyway    = "summarizes anyway"
	takesAnyFrames      = "takes any frames"
	tellsRounds         = "tells of rounds"
	asksBackwards       = "asks backwards"
	asksBehindDenial    = "asks behind a denial"
	collectsAnyway      = "collects anyway"
	deniesAtFailure     = "denies at failure"
	dropsAtFailedReload = "drops at a failed reload"
	endsBeforeReload    = "ends before a reload"
	endsOthers          = "ends others"
	endsTwice           = "ends twice"
	failsSilently       = "fails silently"
	goesOnAnyway        = "goes on anyway"
	hidesSnippets       = "hides snippets"
	honoursAll          = "honours all denials"
	ignoresDenials      = "ignores denials of " // a hook stands behind it
	ignoresVetoes       = "ignores vetoes"
	keepsGeneration     = "keeps the generation"
	mixesContext        = "mixes context"
	needsAllMembers     = "needs all members"
	needsDisposition    = "needs a disposition"
	observesOnCanonical = "observes on the canonical wire"
	offersUnasked       = "offers unasked"
	ownsOnFrozen        = "owns on the frozen version"
	putsContextFirst    = "puts context first"
	recordsNothing      = "records nothing"
	reloadsNothing      = "reloads nothing"
	retriesAnyway       = "retries anyway"
	runsAnyCommand      = "runs any command"
	runsAnyHook         = "runs any hook"
	sessionHooksAnyway  = "session hooks anyway"
	settlesWell         = "settles what went well"
	startsAfterEnd      = "starts after the end"
	startsBeforeEnd     = "starts before the end"
	startsTurnsAgain    = "starts turns again"
	startsTurnsLate     = "starts turns late"
	startsTwice         = "starts twice"
	stopsAtFailure      = "stops at failure"
	storesAtWill        = "stores at the will of extensions"
	takesAnyCommands    = "takes any commands"
	takesAnyContext     = "takes any context"
	takesAnyOpinion     = "takes any opinion"
	tellsAll            = "tells all"
	tellsMetadata       = "tells metadata"
	tellsOfFailures     = "tells of failures"
)

func talking(how string) quirk { return quirk{talks: how} }

// waiting changes how long a hook is waited for.
func waiting(hook string, limit time.Duration) quirk {
	return quirk{limits: map[string]time.Duration{featurewire.MethodHookRun + " " + hook: limit}}
}

// hookBend replaces a piece of the frames that run one hook.
func hookBend(hook, old, new string) quirk {
	return quirk{frame: func(m string, frame []byte) []byte {
		if m != featurewire.MethodHookRun || !bytes.Contains(frame, []byte(`"hook":"`+hook+`"`)) {
			return frame
		}
		return bytes.Replace(frame, []byte(old), []byte(new), 1)
	}}
}

// opinionated is a host that takes whatever a hook answers.
var opinionated = quirk{talks: takesAnyOpinion, lax: []string{"EXT04-HOOK-002", "EXT04-HOOK-003", "EXT04-HOOK-005", "EXT04-HOOK-007", "EXT04-HOOK-008"}}

const hookRun = featurewire.MethodHookRun

// talks are faults that a conversation shows, by area.
var talks = [][]Fault{promptHookFaults, sessionHookFaults, eventFaults, pairFaults, owedFaults, useFaults}

var promptHookFaults = []Fault{
	{"runs-any-hook", "EXT04-HOOK-013", current, "runs hooks that nobody declared", talking(runsAnyHook)},
	{"runs-any-hook", "EXT01-HOOK-001", frozen, "runs hooks of later versions", talking(runsAnyHook)},
	{"runs-session-hooks", "EXT04-HOOK-014", middle, "runs the hooks of sessions of the other wire", talking(sessionHooksAnyway)},
	{"runs-hooks-without-context", "EXT04-HOOK-015", current, "leaves the context of a hook out", bend(hookRun, `"context":{`, `"circumstances":{`)},
	{"needs-a-disposition", "EXT04-HOOK-017", current, "takes an answer without a disposition for a denial", talking(needsDisposition)},
	{"takes-any-opinion", "EXT04-HOOK-018", middle, "takes the members of other hooks", opinionated},
	{"renames-prompt", "EXT04-HOOK-019", frozen, "calls the prompt text", hookBend(featurewire.HookBeforePrompt, `"prompt":`, `"text":`)},
	{"spells-arguments-as-text", "EXT04-HOOK-020", current, "gives tool hooks the arguments as text", hookBend(featurewire.HookBeforeToolCall, `"arguments":{`, `"arguments":"","was":{`)},
	{"waits-a-second-for-opinions", "EXT04-HOOK-021", current, "waits a second for what is thought of a prompt", waiting(featurewire.HookBeforePrompt, time.Second)},
	{"waits-long-for-news", "EXT04-HOOK-022", middle, "waits ten seconds behind a response", waiting(featurewire.HookAfterResponse, 10*time.Second)},
	{"asks-behind-a-denial", "EXT04-HOOK-024", current, "asks the rest behind a denial", talking(asksBehindDenial)},
	{"asks-backwards", "EXT04-HOOK-024", frozen, "asks extensions in the opposite order", talking(asksBackwards)},
	{"mixes-context", "EXT04-HOOK-025", middle, "joins context in the opposite order", talking(mixesContext)},
	{"ignores-denied-prompts", "EXT04-HOOK-026", current, "sends a prompt that was denied", talking(ignoresDenials + featurewire.HookBeforePrompt)},
	{"ignores-denied-calls", "EXT04-HOOK-027", frozen, "makes a call that was denied", talking(ignoresDenials + featurewire.HookBeforeToolCall)},
	{"honours-all-denials", "EXT04-HOOK-028", current, "honours a denial of what has happened", talking(honoursAll)},
	{"denies-at-failure", "EXT04-HOOK-029", middle, "takes a hook that fails for a denial", talking(deniesAtFailure)},
	{"fails-silently", "EXT04-HOOK-029", frozen, "does not tell of a hook that fails", talking(failsSilently)},
	{"stops-at-failure", "EXT04-HOOK-030", current, "tells no further extension behind one that fails", talking(stopsAtFailure)},
	{"tells-of-failures", "EXT04-HOOK-031", current, "runs after_response behind a failure", talking(tellsOfFailures)},
	{"invents-a-kind-of-retry", "EXT04-HOOK-032", current, "calls a retry by a word of its own", hookBend(featurewire.HookProviderRetry, `"kind":"stream_start"`, `"kind":"again"`)},
	{"invents-a-limit", "EXT04-HOOK-033", middle, "writes the limit of retries as text", hookBend(featurewire.HookProviderRetry, `"max_attempts":3`, `"max_attempts":"3"`)},
	{"leaves-out-operation", "EXT04-HOOK-034", current, "leaves the operation of a retry out", hookBend(featurewire.HookProviderRetry, `,"operation":null`, ``)},
	{"retries-anyway", "EXT04-HOOK-036", current, "tries again although an extension says stop", talking(retriesAnyway)},
	{"fails-with-advice", "EXT04-HOOK-040", middle, "gives up a retry when an adviser fails", talking(stopsAtFailure)},
	{"persists-text", "EXT04-HOOK-041", current, "gives before_persistence the text", hookBend(featurewire.HookBeforePersistence, `"text_bytes":`, `"text":"The model has spoken.","text_bytes":`)},
	{"waits-long-to-store", "EXT04-HOOK-042", middle, "waits eight seconds for metadata", waiting(featurewire.HookBeforePersistence, 8*time.Second)},
	{"stores-at-will", "EXT04-HOOK-047", current, "stores no entry that an extension denies", talking(storesAtWill)},
	{"tells-metadata", "EXT04-HOOK-048", current, "tells the model the metadata of entries", talking(tellsMetadata)},
	{"offers-warming-unasked", "EXT04-HOOK-082", current, "offers cache warming to everybody", talking(offersUnasked)},
	{"offers-strategy-unasked", "EXT04-HOOK-083", current, "offers to replace compactions to everybody", talking(offersUnasked)},
	{"adds-delays-up", "EXT04-HOOK-037", current, "waits as long as all extensions together want", talking(addsDelaysUp)},
	{"invents-a-kind-of-mutation", "EXT04-HOOK-049", current, "calls a mutation by a word of its own", hookBend(featurewire.HookPostMutation, `"kind":"resource"`, `"kind":"file"`)},
	{"names-resources-in-capitals", "EXT04-HOOK-050", middle, "names a resource in capitals", hookBend(featurewire.HookPostMutation, `"resource:file:1"`, `"Resource:File:1"`)},
	{"mutates-always", "EXT04-HOOK-052", current, "tells of a mutation behind every call", talking(mutatesAlways)},
	{"waits-long-behind-mutations", "EXT04-HOOK-053", middle, "waits eight seconds behind a mutation", waiting(featurewire.HookPostMutation, 8*time.Second)},
	{"fails-with-mutations", "EXT04-HOOK-058", current, "fails a call behind which a hook fails", talking(stopsAtFailure)},
	{"pings", "EXT04-RELOAD-014", current, "asks an extension whether it lives", talking(pings)},

	{"executes-arguments-as-text", "EXT04-CMD-004", current, "gives a command its arguments as one text", bend(featurewire.MethodCommandExecute, `"arguments":[`, `"arguments":"","was":[`)},
	{"executes-without-context", "EXT04-CMD-004", frozen, "leaves the context of a command out", bend(featurewire.MethodCommandExecute, `"context":{`, `"circumstances":{`)},
	{"needs-all-members", "EXT04-CMD-005", middle, "refuses a command that answers no notifications", talking(needsAllMembers)},
	{"collects-anyway", "EXT04-CTX-004", current, "asks everybody for context", talking(collectsAnyway)},
	{"waits-a-second-for-context", "EXT04-CTX-005", current, "waits a second for context", quirk{limits: map[string]time.Duration{featurewire.MethodContextCollect + " <nil>": time.Second}}},
	{"puts-context-first", "EXT04-CTX-006", middle, "puts context in front of the prompt", talking(putsContextFirst)},

	{"hides-workspace-of-context", "EXT04-OWNER-003", current, "leaves the workspace of a context out", quirk{frame: func(_ string, b []byte) []byte {
		return bytes.Replace(b, []byte(`"workspace":"/`), []byte(`"place":"/`), -1)
	}}},
	{"owns-on-frozen", "EXT01-OWNER-001", frozen, "names an owner on the version that has none", talking(ownsOnFrozen)},
	{"hides-owners", "EXT04-OWNER-004", current, "names no owner", quirk{frame: func(_ string, b []byte) []byte {
		return bytes.ReplaceAll(b, []byte(`"resource_owner":`), []byte(`"owner":`))
	}}},
	{"owns-as-text", "EXT04-OWNER-005", middle, "writes the generation of an owner as text", quirk{frame: func(_ string, b []byte) []byte {
		return bytes.ReplaceAll(b, []byte(`"process_generation":1`), []byte(`"process_generation":"1"`))
	}}},
	{"shows-session-as-owner", "EXT04-OWNER-006", current, "names the session itself as owner", quirk{frame: func(_ string, b []byte) []byte {
		return bytes.ReplaceAll(b, []byte(`"session_id":"owner-`), []byte(`"session_id":"talk-`))
	}}},
	{"keeps-the-generation", "EXT04-OWNER-007", current, "counts no generations", talking(keepsGeneration)},
	{"owns-no-commands", "EXT04-OWNER-008", current, "names no owner of a command", quirk{frame: func(m string, b []byte) []byte {
		if m != featurewire.MethodCommandExecute {
			return b
		}
		return bytes.Replace(b, []byte(`"resource_owner":`), []byte(`"owner":`), 1)
	}}},
	{"revises-always", "EXT04-CALL-008", current, "names a revision to everybody", quirk{frame: func(m string, b []byte) []byte {
		if m != dialect.ToolCall || bytes.Contains(b, []byte(`"catalog_revision"`)) {
			return b
		}
		return bytes.Replace(b, []byte(`"params":{`), []byte(`"params":{"catalog_revision":0,`), 1)
	}}},
	{"tells-of-inactive-tools", "EXT04-TOOL-017", current, "tells the model of tools that are not active", talking(tellsInactive)},
	{"rereads-tools", "EXT04-TOOL-018", current, "tells the model of other tools within a run", talking(rereadsTools)},
	{"hides-snippets", "EXT04-TOOL-015", current, "passes over guidelines without a snippet", talking(hidesSnippets)},
}

var sessionHookFaults = []Fault{
	{"names-runs-otherwise", "EXT04-HOOK-059", current, "names a run by its number", hookBend(featurewire.HookModelTurnStart, `"run_id":"run:`, `"run_id":"`)},
	{"leaves-out-results", "EXT04-HOOK-060", current, "leaves the results of tools out of the end of a turn", hookBend(featurewire.HookModelTurnEnd, `"tool_result_entries":[`, `"results":[`)},
	{"starts-turns-late", "EXT04-HOOK-061", current, "asks the model first", talking(startsTurnsLate)},
	{"starts-turns-again", "EXT04-HOOK-062", current, "starts a turn for every retry", talking(startsTurnsAgain)},
	{"ends-turns-early", "EXT04-HOOK-063", current, "ends a turn without its results", hookBend(featurewire.HookModelTurnEnd, `"tool_result_entries":[{`, `"tool_result_entries":[],"more":[{`)},
	{"counts-turns-from-one", "EXT04-HOOK-064", current, "counts every turn as the first", hookBend(featurewire.HookModelTurnEnd, `"turn_index":1`, `"turn_index":0`)},
	{"hides-parents", "EXT04-HOOK-065", current, "leaves out the parent of an entry", hookBend(featurewire.HookModelTurnEnd, `"parent":`, `"above":`)},
	{"takes-any-session-opinion", "EXT04-HOOK-068", current, "takes a context for the start of a turn", opinionated},
	{"goes-on-anyway", "EXT04-HOOK-069", current, "goes on behind a turn hook that fails", talking(goesOnAnyway)},
	{"needs-an-operation", "EXT04-HOOK-073", current, "fails without an operation", talking(needsDisposition)},
	{"ignores-vetoes", "EXT04-HOOK-074", current, "sums up in spite of a veto", talking(ignoresVetoes)},
	{"hides-the-leaf", "EXT04-HOOK-016", current, "leaves the leaf of the session out", hookBend(featurewire.HookModelTurnStart, `"session_leaf":`, `"leaf":`)},
	{"cuts-payloads", "EXT04-HOOK-066", current, "cuts a payload that fits no frame", talking(cutsPayloads)},
	{"turns-backwards", "EXT04-HOOK-067", current, "asks at turns in the opposite order", talking(asksBackwards)},
	{"drops-the-checkpoint", "EXT04-HOOK-075", current, "takes a summary back behind which a hook fails", talking(dropsCheckpoint)},
	{"sends-the-whole", "EXT04-HOOK-084", current, "gives the whole text to one batch", talking(sendsWhole)},
	{"takes-any-frames", "EXT04-HOOK-088", current, "takes pictures that show nothing", quirk{talks: takesAnyFrames, lax: []string{"EXT04-HOOK-010"}}},
	{"summarizes-anyway", "EXT04-HOOK-089", current, "asks the model behind pictures that fail", talking(summarizesAnyway)},
	{"asks-all-strategies", "EXT04-HOOK-091", current, "has every extension sum up", talking(asksAllStrategies)},
	{"takes-replacements", "EXT04-HOOK-076", current, "takes a compaction that an extension replaces", opinionated},
}

var eventFaults = []Fault{
	{"tells-all", "EXT04-EVENT-002", current, "tells of events that nobody subscribed to", talking(tellsAll)},
	{"tells-all", "EXT04-EVENT-003", middle, "tells of events without their feature", talking(tellsAll)},
	{"hides-sessions", "EXT04-EVENT-004", current, "leaves the session of an event out", bend(featurewire.MethodTurnStarted, `"session_id":`, `"session":`)},
	{"hides-turns", "EXT04-EVENT-005", middle, "leaves the turn of a call out", bend(featurewire.MethodToolStarted, `"turn_id":`, `"turn":`)},
	{"settles-in-its-words", "EXT04-EVENT-006", current, "settles with a word of its own", bend(featurewire.MethodTurnSettled, `"outcome":"completed"`, `"outcome":"done"`)},
	{"tells-of-rounds", "EXT04-EVENT-009", current, "tells of every round of the model as a turn", talking(tellsRounds)},
	{"skips-endings", "EXT04-EVENT-012", middle, "skips what is due in front of a reload", talking(skipsEndings)},
	{"tells-of-messages", "EXT04-EVENT-013", current, "tells of messages without their feature", talking(tellsAll)},
	{"hides-messages", "EXT04-EVENT-014", middle, "tells of no messages", talking(hidesMessages)},
	{"hides-ids-of-messages", "EXT04-EVENT-016", current, "leaves the id of a message out", bend(featurewire.MethodMessageStarted, `"message_id":`, `"id":`)},
	{"counts-deltas-as-text", "EXT04-EVENT-017", middle, "writes the number of deltas as text", bend(featurewire.MethodMessageUpdated, `"deltas":1`, `"deltas":"1"`)},
	{"settles-first", "EXT04-EVENT-019", current, "settles a message in front of its text", talking(settlesFirst)},
	{"settles-what-went-well", "EXT04-EVENT-011", current, "does not settle what failed", talking(settlesWell)},
}

var pairFaults = []Fault{
	{"reloads-nothing", "EXT04-RELOAD-003", current, "reloads nothing", talking(reloadsNothing)},
	{"takes-any-commands", "EXT04-RELOAD-005", current, "takes whatever commands the new process has", talking(takesAnyCommands)},
	{"drops-at-failed-reload", "EXT04-RELOAD-007", frozen, "ends the old process when the new one fails", talking(dropsAtFailedReload)},
	{"starts-after-the-end", "EXT04-RELOAD-016", current, "starts an extension again that was shut down", talking(startsAfterEnd)},
	{"takes-any-commands-of-runtime", "EXT04-RELOAD-006", middle, "takes whatever commands a new process has at runtime", talking(takesAnyCommands)},
	{"ends-before-a-reload", "EXT04-RELOAD-004", current, "ends the old process before the new one starts", talking(endsBeforeReload)},
	{"never-restarts", "EXT04-RELOAD-009", frozen, "starts nothing again that has gone", talking(neverRestarts)},
	{"retries-forever", "EXT04-RELOAD-012", current, "tries another version again", talking(retriesForever)},
	{"refuses-what-is-parked", "EXT04-RELOAD-013", frozen, "reloads nothing that is parked", talking(refusesParked)},
	{"keeps-the-instance", "EXT04-RELOAD-015", current, "keeps the instance when all start anew", talking(keepsInstance)},
	{"ends-one-by-one", "EXT04-SHUT-010", current, "ends one extension behind the other", talking(endsOneByOne)},
	{"binds-at-length", "EXT03-HOOK-008", canonical, "binds by a key of any length", bend(hookRun, `"session_id":"owner-`, `"session_id":"`+strings.Repeat("owner", 60)+`-`)},
	{"settles-pairs-twice", "EXT03-HOOK-013", canonical, "settles a binding for everybody who asks", talking(endsTwice)},
	{"forgets-crashes", "EXT03-RELOAD-002", canonical, "forgets a binding that a crash ends", talking(forgetsCrashes)},
	{"runs-undeclared-session-hooks", "EXT03-HOOK-004", canonical, "runs session hooks that nobody declared", talking(runsAnyHook)},
	{"starts-pairs-twice", "EXT03-HOOK-005", canonical, "starts a session twice", talking(startsTwice)},
	{"ends-other-pairs", "EXT03-HOOK-006", canonical, "ends another session than it started", talking(endsOthers)},
	{"binds-more", "EXT03-HOOK-007", canonical, "adds a member to a binding", bend(hookRun, `"binding":{`, `"binding":{"cwd":"x",`)},
	{"ends-in-its-words", "EXT03-HOOK-009", canonical, "ends a session with a word of its own", bend(hookRun, `"reason":"shutdown"`, `"reason":"over"`)},
	{"shows-more", "EXT03-HOOK-010", canonical, "shows session hooks where the session is", bend(hookRun, `"payload":{`, `"payload":{"path":"/s",`)},
	{"ends-pairs-twice", "EXT03-HOOK-012", canonical, "ends a session twice", talking(endsTwice)},
	{"waits-for-session-hooks", "EXT03-HOOK-014", canonical, "waits four seconds for a session hook", quirk{limits: map[string]time.Duration{hookRun + " session_start": 4 * time.Second}}},
	{"fails-silently", "EXT03-HOOK-015", canonical, "does not tell of a session hook that fails", talking(failsSilently)},
	{"denies-at-failure", "EXT03-HOOK-016", canonical, "holds a session up for a hook that fails", talking(deniesAtFailure)},
	{"records-nothing", "EXT03-HOOK-017", canonical, "drops what an extension thinks of a session", talking(recordsNothing)},
	{"observes-on-canonical", "EXT03-HOOK-019", canonical, "tells of events on the wire that has none", talking(observesOnCanonical)},
	{"starts-before-the-end", "EXT03-RELOAD-001", canonical, "starts the new binding before the old one has ended", talking(startsBeforeEnd)},
	{"keeps-the-generation", "EXT03-RELOAD-003", canonical, "counts no generations", talking(keepsGeneration)},
}
