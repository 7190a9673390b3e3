package faultyhost

import (
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
		// A directory that cannot be written to keeps nothing.
		_ = os.WriteFile("variables", []byte(strings.Join(entries, "\n")), 0o600)
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
