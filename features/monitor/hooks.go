package monitor

import (
	"bytes"
	"encoding/base64"
	"slices"
	"strings"
	"unicode"

	"github.com/octet-dev/octet/features/wire"
	fw "github.com/octet-dev/octet/generated/featurewire"
)

// hookResult judges the result of hook/run by the hook that was asked.
func (m *Monitor) hookResult(f wire.Frame, result tree, r *issued) {
	hook := r.params.get("hook").text()
	row, known := m.setup.Dialect.Hook(hook)
	if !known {
		return
	}
	for _, member := range foreignMembers(hook) {
		if !result.get(member).absent() {
			m.report("EXT04-HOOK-003", f, -1, "the result of %q has the member %q of another hook", hook, member)
			return
		}
	}
	places := slices.Concat([]place{contributed}, hookPlaces[hook], all("EXT04-HOOK-002"))
	m.modelled(f, "the result of "+hook, row.Result, result, places)
	switch hook {
	case fw.HookBeforePersistence:
		m.persisted(f, result.at("/persistence_metadata/value"))
	case fw.HookPostMutation:
		disclosed := r.params.at("/payload/affected_resources").texts()
		if more := without(result.at("/post_mutation/resource_ids").texts(), disclosed); len(more) > 0 {
			m.report("EXT04-HOOK-006", f, -1, "resource_ids has %s, which was not affected", named(more))
		}
	case fw.HookModelTurnStart, fw.HookModelTurnEnd:
		if len(result.get("context").items()) > 0 {
			m.report("EXT04-HOOK-007", f, -1, "the result of %q adds context", hook)
		}
	case fw.HookCompactionStrategy:
		m.drawn(f, result.get("compaction_frames"))
	case fw.HookResourcesDiscover:
		m.discovered(f, result.get("resource_paths"))
	}
}

// foreignMembers lists the members of a hook result that belong to other hooks than this.
func foreignMembers(hook string) []string {
	var own, all []string
	for _, row := range fw.TableHookMembers {
		if row.Hook == hook {
			own = append(own, row.Member)
		}
		all = append(all, row.Member)
	}
	return without(slices.Compact(all), own)
}

func (m *Monitor) persisted(f wire.Frame, v tree) {
	if v.absent() {
		return
	}
	if depth, nodes := v.size(); depth > fw.MaxPersistenceDepth || nodes > fw.MaxPersistenceNodes {
		m.report("EXT04-HOOK-005", f, -1, "the value has %d levels and %d nodes; the bounds are %d and %d", depth, nodes, fw.MaxPersistenceDepth, fw.MaxPersistenceNodes)
		return
	}
	if fault := untidy(v); fault != "" {
		m.report("EXT04-HOOK-005", f, -1, "the value has %s", fault)
	}
}

// untidy names the first key or string of a value that is not fit to be kept.
func untidy(v tree) string {
	for key, member := range v.members() {
		if len(key) > fw.MaxPersistenceKeyBytes || controlled(key) {
			return "a key that is too long or holds a control character"
		}
		if fault := untidy(member); fault != "" {
			return fault
		}
	}
	for _, item := range v.items() {
		if fault := untidy(item); fault != "" {
			return fault
		}
	}
	if controlled(v.text()) {
		return "a string with a control character"
	}
	return ""
}

func controlled(s string) bool {
	return strings.ContainsFunc(s, unicode.IsControl)
}

var pngSignature = []byte("\x89PNG\r\n\x1a\n")

func (m *Monitor) drawn(f wire.Frame, frames tree) {
	for i, frame := range frames.texts() {
		b, err := base64.StdEncoding.DecodeString(frame)
		if err != nil || !bytes.HasPrefix(b, pngSignature) {
			m.report("EXT04-HOOK-010", f, -1, "element %d of compaction_frames is no PNG image in base64", i)
			return
		}
	}
}

func (m *Monitor) discovered(f wire.Frame, paths tree) {
	n, size := 0, 0
	for _, list := range []string{"skill_paths", "prompt_paths", "theme_paths"} {
		for _, path := range paths.get(list).texts() {
			n++
			size += len(path)
		}
	}
	if n > fw.MaxResourcePaths || size > fw.MaxResourcePathsBytes {
		m.report("EXT04-HOOK-012", f, -1, "%d paths of %d bytes together; the bounds are %d and %d", n, size, fw.MaxResourcePaths, fw.MaxResourcePathsBytes)
	}
	if theme := paths.get("default_theme"); theme.kind() == text && !slices.Contains(paths.get("theme_paths").texts(), theme.text()) {
		m.report("EXT04-HOOK-012", f, -1, "default_theme %s is none of theme_paths", orNothing(theme))
	}
}
