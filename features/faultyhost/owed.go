package faultyhost

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/generated/featurewire"
)

// What a host in a conversation does otherwise with pictures, children and variables.
const (
	countsNoPictures = "counts no pictures"
	forgetsPictures  = "forgets pictures"
	keepsResults     = "keeps results"
	keepsVariables   = "keeps variables"
	tellsChildren    = "tells of children"
)

// What a host in a conversation does otherwise with what it was given.
const (
	asksUnasked       = "asks unasked " // a method stands behind it
	hidesPublished    = "hides what is published"
	keepsLongMetadata = "keeps long metadata"
	keepsProgress     = "keeps progress"
	keepsRevision     = "keeps the revision"
	startsFailedAgain = "starts again what has failed"
	takesAnyAgents    = "takes agents without telemetry"
	takesDeclared     = "takes the commands of manifests"
	tellsForTheRecord = "tells what is for the record"
)

var useFaults = []Fault{
	{"renders-anything", "EXT04-RENDER-002", current, "has results drawn by anybody", talking(asksUnasked + featurewire.MethodToolRender)},
	{"collects-any-status", "EXT04-STATUS-003", frozen, "asks everybody for a status", talking(asksUnasked + featurewire.MethodStatusCollect)},
	{"collects-any-menu", "EXT04-MENU-003", middle, "asks everybody for a menu", talking(asksUnasked + featurewire.MethodMenuCollect)},
	{"completes-unasked", "EXT04-COMPLETE-006", current, "asks everybody for completions", talking(asksUnasked + featurewire.MethodUIAutocompleteComplete)},
	{"takes-undeclared-context", "EXT04-NOTE-007", current, "takes context that no manifest declares", talking(takesAnyContext)},
	{"tells-metadata-of-results", "EXT04-RESULT-010", current, "tells the model the metadata of results", talking(tellsForTheRecord)},
	{"keeps-progress", "EXT04-PROG-011", middle, "writes progress into a file", talking(keepsProgress)},
	{"offers-no-artifacts", "EXT04-NEG-029", middle, "offers no artifacts", bend(dialect.Initialize, `"`+featurewire.FeatureArtifacts+`",`, ``)},
	{"offers-no-prompt-metadata", "EXT04-TOOL-011", current, "offers no metadata for the prompts that it makes", bend(dialect.Initialize, `"`+featurewire.FeatureToolPromptMetadataV1+`",`, ``)},
	{"takes-agents-without-telemetry", "EXT04-AGENT-011", current, "takes what runs agents and tells nothing of them", talking(takesAnyAgents)},
	{"starts-again-what-has-failed", "EXT04-INIT-018", frozen, "starts an extension again that did not initialize", talking(startsFailedAgain)},
	{"takes-declared-commands", "EXT04-DYN-018", current, "takes the commands of the manifest", talking(takesDeclared)},
	{"hides-what-is-published", "EXT04-DYN-016", middle, "keeps a published tool for the next prompt", talking(hidesPublished)},
	{"keeps-the-revision", "EXT04-DYN-017", current, "names the first revision with every call", talking(keepsRevision)},
	{"compacts-nothing", "EXT04-COMPACT-007", current, "compacts where nothing is", grants(featurewire.MethodSessionCompact, "", `{"entry_id":"e","summary":"s","first_kept":"f"}`)},
	{"keeps-long-metadata", "EXT04-HOOK-046", current, "keeps metadata of any length", quirk{talks: keepsLongMetadata, lax: []string{"EXT04-HOOK-005"}}},
}

// unasked asks every extension what it has not declared.
func (t *talker) unasked() {
	method, is := strings.CutPrefix(t.quirk.talks, asksUnasked)
	for _, x := range t.cast {
		if !is {
			return
		}
		if _, err := t.ask(x, method, dialect.Object{}, answerWait); err != nil {
			t.complain("%s: %v", method, err)
		}
	}
}

// keep writes something down that is not to be kept.
func keep(name string, text []byte) {
	// A directory that cannot be written to keeps nothing.
	_ = os.WriteFile(name, text, 0o600)
}

// agents is the name of the extension that runs agents, and has to tell of them.
const agents = "octet-subagents"

// admits refuses what runs agents and tells nothing of them.
func (t *talker) admits(x *link) error {
	if x.name != agents || slices.Contains(x.selected, featurewire.FeatureDelegationTelemetryV1) || !x.d.Negotiates() || x.quirk.talks == takesAnyAgents {
		return nil
	}
	return fmt.Errorf("%s does not select %s; reinstall it", agents, featurewire.FeatureDelegationTelemetryV1)
}

// has reports whether an extension has a command: by its answer to initialize, where it may name them at runtime.
func (t *talker) has(x *link, command string) bool {
	declared, _ := x.x.Contributes["commands"].([]any)
	if !slices.Contains(x.selected, featurewire.FeatureRuntimeCommands) || t.does(takesDeclared) {
		return slices.Contains(declared, any(command))
	}
	var list []struct{ Name string }
	_ = json.Unmarshal(x.commands, &list)
	for _, c := range list {
		if c.Name == command {
			return true
		}
	}
	return false
}

// published are the tools that extensions have published since they were started. The calls that come of telling
// the model carry the revision of this moment.
func (t *talker) published() (tools []any) {
	for _, x := range t.cast {
		if t.does(hidesPublished) {
			return nil
		}
		if !t.does(keepsRevision) {
			x.epoch = x.desk.kept.revision
		}
		for _, definition := range x.desk.kept.published {
			var d dialect.Object
			_ = json.Unmarshal(definition, &d)
			tools = append(tools, dialect.Object{"type": "function", "function": dialect.Object{"name": d["name"], "description": t.described(x, d), "parameters": d["parameters"]}})
		}
	}
	return tools
}

var owedFaults = []Fault{
	{"serves-nothing-in-hooks", "EXT04-HOOK-070", current, "serves nothing while it waits for a hook", refuses(featurewire.MethodSessionAppendEntry, "", "not_foreground_owner", "not_foreground_owner")},
	{"serves-behind-hooks", "EXT04-HOOK-071", current, "serves what a hook has asked for too late", grants(featurewire.MethodSessionAppendEntry, "", `{"entry_id":"e"}`)},
	{"compacts-inside-hooks", "EXT04-HOOK-072", current, "compacts from inside a hook", grants(featurewire.MethodSessionCompact, "", `{"entry_id":"e","summary":"s","first_kept":"f"}`)},
	{"keeps-whole-results", "EXT04-HOOK-085", current, "sums up the whole result of a tool", talking(keepsResults)},
	{"counts-no-pictures", "EXT04-HOOK-087", current, "takes any number of pictures for a summary", talking(countsNoPictures)},
	{"forgets-pictures", "EXT04-HOOK-090", current, "keeps no checkpoint of pictures", talking(forgetsPictures)},
	{"tells-of-children", "EXT04-EVENT-010", current, "tells of the turns of child agents", talking(tellsChildren)},
	{"passes-any-variable", "EXT04-ENVIRON-005", current, "passes variables on that no manifest lists", doing(passesAll)},
	{"passes-any-variable", "EXT04-ENVIRON-005", frozen, "passes variables on to the version that has none", doing(passesAll)},
	{"keeps-variables", "EXT04-ENVIRON-007", middle, "writes into a file what it has passed on", talking(keepsVariables)},
}

// passedOn are the variables of the machine that a manifest lists.
func (h *host) passedOn(capabilities map[string]any) (entries []string) {
	listed, _ := capabilities["environment"].([]any)
	for _, entry := range h.Environ {
		name, _, _ := strings.Cut(entry, "=")
		if h.d.Negotiates() && slices.Contains(listed, any(name)) {
			entries = append(entries, entry)
		}
	}
	if h.quirk.talks == keepsVariables && entries != nil {
		keep("variables", []byte(strings.Join(entries, "\n")))
	}
	return entries
}

// child has the model answer a child agent, once.
func (t *talker) child(message string) {
	if t.does(tellsChildren) {
		t.tell(featurewire.MethodTurnStarted, t.ids())
	}
	c := &talker{TalkConfig: t.TalkConfig, ctx: t.ctx, messages: []dialect.Object{{"role": "user", "content": message}}}
	if _, _, _, err := c.complete(nil); err != nil {
		t.complain("a child agent: %v", err)
	}
}

// Bounds of what an extension draws.
const (
	maxBatch    = featurewire.MaxCompactionBatchCharacters
	maxPictures = featurewire.MaxCompactionFrames
	maxResult   = featurewire.MaxCompactionToolCharacters
)

// pictured has an extension sum the conversation up in pictures.
func (t *talker) pictured() (asked bool, err error) {
	all := t.asked(featurewire.HookCompactionStrategy)
	if len(all) > 1 && !t.does(asksAllStrategies) {
		all = all[:1]
	}
	var pictures []any
	for _, x := range all {
		list, failed := t.drawn(x, t.source())
		pictures, err = append(pictures, list...), errors.Join(err, failed)
	}
	if len(all) > 0 && err == nil && !t.does(forgetsPictures) {
		t.messages = []dialect.Object{{"role": "user", "content": pictures}}
	}
	return len(all) > 0, err
}

// source is the conversation as text.
func (t *talker) source() []rune {
	var b strings.Builder
	for _, m := range t.messages {
		text := []rune(fmt.Sprint(m["content"]))
		if m["role"] == "tool" && !t.does(keepsResults) {
			text = text[:min(len(text), maxResult)]
		}
		fmt.Fprintf(&b, "[%s]\n%s\n", m["role"], string(text))
	}
	return []rune(b.String())
}

// drawn has an extension draw a text in batches.
func (t *talker) drawn(x *link, text []rune) (pictures []any, err error) {
	batch := maxBatch
	if t.does(sendsWhole) {
		batch = max(len(text), 1)
	}
	for part := range slices.Chunk(text, batch) {
		o, err := t.hook(x, featurewire.HookCompactionStrategy, dialect.Object{"model_id": "conform", "text": string(part)}, "")
		switch {
		case err != nil:
			return nil, err
		case len(o.Frames) == 0 && !t.does(takesAnyFrames), len(pictures)+len(o.Frames) > maxPictures && !t.does(countsNoPictures):
			return nil, fmt.Errorf("%s: %d pictures behind %d", featurewire.HookCompactionStrategy, len(o.Frames), len(pictures))
		}
		for _, frame := range o.Frames {
			pictures = append(pictures, dialect.Object{"type": "image_url", "image_url": dialect.Object{"url": "data:image/png;base64," + frame}})
		}
	}
	return pictures, nil
}
