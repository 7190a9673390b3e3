package monitor

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/octet-dev/octet/features/wire"
	fw "github.com/octet-dev/octet/generated/featurewire"
)

// handled judges the result of a request that asks an extension for what it contributes.
func (m *Monitor) handled(f wire.Frame, result tree, r *issued) {
	switch r.method {
	case fw.MethodHookRun:
		m.hookResult(f, result, r)
		return
	case fw.MethodContextCollect:
		m.collected(f, result)
		return
	case fw.MethodStatusCollect:
		if kind := result.kind(); kind != object {
			if kind != null {
				m.report("EXT04-STATUS-001", f, -1, "the result is %s, want null or an object", kind)
			}
			return
		}
	}
	m.modelled(f, "the result of "+r.method, m.setup.Dialect.Shape(r.method).Result, result, resultPlaces[r.method])
	switch r.method {
	case fw.MethodMenuCollect:
		m.menu(f, result)
	case fw.MethodUIAutocompleteComplete:
		m.completed(f, result, r)
	case fw.MethodResourceDispose:
		m.disposed(f, result, r)
	}
}

func (m *Monitor) collected(f wire.Frame, result tree) {
	if result.kind() != array {
		m.report("EXT04-CTX-001", f, -1, "the result is %s, want an array", result.kind())
		return
	}
	model := m.setup.Dialect.Shape(fw.MethodContextCollect).Result
	for _, c := range result.items() {
		m.modelled(f, "an element of the result", model, c, all("EXT04-CTX-002"))
	}
}

// menu judges what the model of a menu cannot tell.
func (m *Monitor) menu(f wire.Frame, menu tree) {
	if n := compact(menu.raw); n > fw.MaxMenuBytes {
		m.report("EXT04-MENU-001", f, -1, "a menu of %d bytes; the bound is %d", n, fw.MaxMenuBytes)
	}
	if n := m.menuLevel(f, menu.get("items"), 1); n > fw.MaxMenuItems {
		m.report("EXT04-MENU-001", f, -1, "%d items over all levels; the bound is %d", n, fw.MaxMenuItems)
	}
}

// menuLevel judges one level of a menu and what lies below it, and counts the items.
func (m *Monitor) menuLevel(f wire.Frame, items tree, level int) int {
	if level == fw.MaxMenuLevels+1 && len(items.items()) > 0 {
		m.report("EXT04-MENU-001", f, -1, "a menu of more than %d levels", fw.MaxMenuLevels)
		return 0
	}
	n, recommended := 0, 0
	for _, item := range items.items() {
		n++
		if item.get("recommended").truth() {
			recommended++
		}
		command, below := item.get("command"), item.get("items")
		if command.kind() == text && !slices.Contains(m.offer.at("/contributes/commands").texts(), command.text()) {
			m.report("EXT04-MENU-002", f, -1, "an item with the command %s, which the manifest does not declare", orNothing(command))
		}
		if below.kind() == array {
			if !item.get("arguments").absent() || !item.get("destructive").absent() {
				m.report("EXT04-MENU-002", f, -1, "the item %s has a submenu, and arguments or destructive", orNothing(item.get("id")))
			}
			n += m.menuLevel(f, below, level+1)
		}
	}
	if recommended > 1 {
		m.report("EXT04-MENU-002", f, -1, "one level recommends %d items", recommended)
	}
	return n
}

// completed judges a completion against the text that was to be completed.
func (m *Monitor) completed(f wire.Frame, result tree, r *issued) {
	typed, prefix := r.params.get("text").text(), result.get("prefix").text()
	cursor, _ := r.params.get("cursor").natural()
	cursor = min(max(cursor, 0), int64(len(typed)))
	if !strings.HasSuffix(typed[:cursor], prefix) {
		m.report("EXT04-COMPLETE-002", f, -1, "the text before the cursor does not end in the prefix %q", prefix)
	}
	edits := m.selected(fw.FeatureAutocompleteEditV1)
	texts := []string{prefix}
	for _, item := range result.get("items").items() {
		texts = append(texts, item.get("value").text())
		m.edited(f, item, edits, typed[cursor:], len(typed)-len(prefix))
	}
	if !edits && slices.ContainsFunc(texts, controlled) {
		m.report("EXT04-COMPLETE-002", f, -1, "a prefix or value with a control character although %q was not selected", fw.FeatureAutocompleteEditV1)
	}
}

// edited judges what an item replaces behind the cursor and where it leaves it. Kept is how many bytes of the
// text stay when nothing behind the cursor is replaced.
func (m *Monitor) edited(f wire.Frame, item tree, edits bool, behind string, kept int) {
	replace, offset := item.get("replace_after_bytes"), item.get("cursor_offset_bytes")
	if replace.absent() && offset.absent() {
		return
	}
	inserted := item.get("value").text()
	replaced, whole := replace.natural()
	at, placed := offset.natural()
	switch {
	case !edits:
		m.report("EXT04-COMPLETE-003", f, -1, "an item that edits although %q was not selected", fw.FeatureAutocompleteEditV1)
	case whole && (replaced > int64(len(behind)) || !boundary(behind, replaced)):
		m.report("EXT04-COMPLETE-003", f, -1, "replace_after_bytes is %d, which is no place of the text", replaced)
	case placed && (at > int64(len(inserted)) || !boundary(inserted, at)):
		m.report("EXT04-COMPLETE-003", f, -1, "cursor_offset_bytes is %d, which is no place of the value", at)
	case kept-int(replaced)+len(inserted) > fw.MaxEditorTextBytes:
		m.report("EXT04-COMPLETE-003", f, -1, "the edited text is over %d bytes", fw.MaxEditorTextBytes)
	}
}

// boundary reports whether a character begins, or the text ends, at a byte.
func boundary(s string, at int64) bool { return at == int64(len(s)) || utf8.RuneStart(s[at]) }

func (m *Monitor) disposed(f wire.Frame, result tree, r *issued) {
	tokens := func(list tree, place string) (out []string) {
		for _, item := range list.items() {
			out = append(out, item.at(place).text())
		}
		return out
	}
	asked, told := tokens(r.params.get("resources"), "/$resource"), tokens(result.get("results"), "/resource/$resource")
	slices.Sort(asked)
	slices.Sort(told)
	if !slices.Equal(asked, told) {
		m.report("EXT04-RES-003", f, -1, "the result names %s; %s were to be disposed of", named(told), named(asked))
	}
}
