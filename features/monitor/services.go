package monitor

import (
	"slices"

	"github.com/octet-dev/octet/features/spelling"
	"github.com/octet-dev/octet/features/wire"
	fw "github.com/octet-dev/octet/generated/featurewire"
)

func asksPolicy(m *Monitor, f wire.Frame, o *owned) {
	token := o.params.get("approval_token")
	switch {
	case token.absent():
	case !m.selected(fw.FeatureApprovals):
		m.report("EXT04-POLICY-002", f, -1, "an approval_token although %q was not selected", fw.FeatureApprovals)
	case !m.held.tokens[token.text()]:
		m.report("EXT04-POLICY-002", f, -1, "the approval_token %s, which the host has not issued", orNothing(token))
	}
}

func asksSecret(m *Monitor, f wire.Frame, o *owned) {
	name := o.params.get("name")
	if name.kind() == text && !slices.Contains(m.offer.at("/capabilities/secrets").texts(), name.text()) {
		m.report("EXT04-SECRET-001", f, -1, "the secret %s, which the manifest does not declare", orNothing(name))
	}
}

func registersTools(m *Monitor, f wire.Frame, o *owned) {
	tools := o.params.get("tools")
	if tools.kind() == array && len(tools.items()) == 0 {
		m.report("EXT04-DYN-005", f, -1, "%q without a definition", o.method)
	}
	for _, t := range tools.items() {
		m.tool(f, t)
	}
}

func unregistersTools(m *Monitor, f wire.Frame, o *owned) {
	if names := o.params.get("names"); names.kind() == array && len(names.items()) == 0 {
		m.report("EXT04-DYN-005", f, -1, "%q without a name", o.method)
	}
}

func spawns(m *Monitor, f wire.Frame, o *owned) {
	agentCall(m, f, o)
	selection := o.params.at("/policy/model_selection")
	if selection.kind() != object {
		return
	}
	if !m.selected(fw.FeatureAgentModelSelectionV1) {
		m.report("EXT04-AGENT-003", f, -1, "a model_selection although %q was not selected", fw.FeatureAgentModelSelectionV1)
	}
	// The word that both default to names no provider and no model.
	inherit := fw.TableAgentReasoningLabels[0]
	provider, model := selection.get("provider"), selection.get("model")
	if provider.kind() == text && provider.text() != inherit && (model.absent() || model.text() == inherit) {
		m.report("EXT04-AGENT-003", f, -1, "a model_selection with the provider %s and no model", orNothing(provider))
	}
}

// writesComposer judges the text of the composer and a checkpoint of its editor.
func writesComposer(m *Monitor, f wire.Frame, o *owned) {
	if halved(o.params.get("text")) {
		m.report("EXT04-COMPOSER-001", f, -1, "the text holds half a surrogate pair")
	}
	checkpoint := o.params.get("editor_checkpoint")
	if checkpoint.absent() {
		return
	}
	if o.params.get("resource_owner").kind() != object || !m.selected(fw.FeatureRemoteUI) {
		m.report("EXT04-COMPOSER-002", f, -1, "an editor_checkpoint without resource_owner, or although %q was not selected", fw.FeatureRemoteUI)
		return
	}
	m.checkpoint(f, checkpoint)
}

func (m *Monitor) checkpoint(f wire.Frame, c tree) {
	mounted := m.held.mounts[c.get("mount_id").text()]
	revision, numbered := c.get("checkpoint_revision").natural()
	input, counted := c.get("input_revision").natural()
	switch {
	case !numbered || !counted || mounted == nil && c.get("mount_id").kind() != text:
		return
	case mounted == nil:
		m.report("EXT04-COMPOSER-003", f, -1, "a checkpoint of the mount %s, which the host has not given", orNothing(c.get("mount_id")))
		return
	case mounted.checkpoint == 0 && revision != 1, revision <= mounted.checkpoint:
		m.report("EXT04-COMPOSER-003", f, -1, "checkpoint_revision %d behind %d", revision, mounted.checkpoint)
	case input < mounted.input, input > mounted.sent:
		m.report("EXT04-COMPOSER-003", f, -1, "input_revision %d behind %d; the host has sent %d", input, mounted.input, mounted.sent)
	}
	mounted.checkpoint, mounted.input = max(mounted.checkpoint, revision), max(mounted.input, input)
}

// halved reports whether the text of a value has half a surrogate pair.
func halved(t tree) bool {
	return slices.ContainsFunc(spelling.Check(t.raw, depthBound), func(d spelling.Departure) bool { return d.Class == spelling.LoneSurrogate })
}

// bytesOf returns the bytes of all texts together.
func bytesOf(texts []string) int {
	total := 0
	for _, text := range texts {
		total += len(text)
	}
	return total
}

func setsHistory(m *Monitor, f wire.Frame, o *owned) {
	if total := bytesOf(o.params.get("entries").texts()); total > fw.MaxComposerHistoryBytes {
		m.report("EXT04-COMPOSER-004", f, -1, "entries of %d bytes together; the bound is %d", total, fw.MaxComposerHistoryBytes)
	}
}

func registersShortcut(m *Monitor, f wire.Frame, o *owned) {
	id := o.params.get("id").text()
	if m.held.shortcuts[id] {
		m.report("EXT04-SHORTCUT-002", f, -1, "the shortcut %q is registered a second time", id)
	}
	m.held.shortcuts[id] = true
	if n := len(m.held.shortcuts); n > fw.MaxShortcuts {
		m.report("EXT04-SHORTCUT-002", f, -1, "%d shortcuts; the bound is %d", n, fw.MaxShortcuts)
	}
}

func acquires(m *Monitor, f wire.Frame, _ *owned) {
	if m.held.terminal != noGrant {
		m.report("EXT04-TERM-001", f, -1, "the extension acquires the terminal that it has or is being given")
		return
	}
	m.held.terminal = askedGrant
}

func releases(m *Monitor, f wire.Frame, _ *owned) {
	if m.held.terminal != heldGrant {
		m.report("EXT04-TERM-001", f, -1, "the extension releases the terminal and has no grant")
		return
	}
	m.held.terminal = noGrant
}

func namesNoSession(m *Monitor, f wire.Frame, o *owned) {
	if id := o.params.get("session_id"); !id.absent() && id.kind() != null {
		m.report("EXT04-SESSION-001", f, -1, "%q names the session %s", o.method, orNothing(id))
	}
}

func opensSurface(m *Monitor, f wire.Frame, o *owned) {
	placement := o.params.get("placement")
	whole := placement.absent() || placement.text() == string(fw.UiPlacementFullscreen)
	if o.params.get("mouse_capture").truth() && !whole {
		m.report("EXT04-UI-001", f, -1, "mouse_capture on a surface placed as %s", orNothing(placement))
	}
}

func draws(m *Monitor, f wire.Frame, o *owned) {
	if total := bytesOf(o.params.get("lines").texts()); total > fw.MaxUIFrameBytes {
		m.report("EXT04-UI-002", f, -1, "lines of %d bytes together; the bound is %d", total, fw.MaxUIFrameBytes)
	}
	id := o.params.get("surface_id").text()
	s := m.held.surfaces[id]
	revision, numbered := o.params.get("revision").natural()
	switch {
	case s == nil:
		m.report("EXT04-UI-003", f, -1, "a frame of the surface %q, which is not open", id)
	case s.gone:
	case numbered && revision <= s.revision:
		m.report("EXT04-UI-003", f, -1, "revision %d of the surface %q behind %d", revision, id, s.revision)
	case numbered:
		s.revision = revision
	}
}

func closesSurface(m *Monitor, f wire.Frame, o *owned) {
	id := o.params.get("surface_id").text()
	if m.held.surfaces[id] == nil {
		m.report("EXT04-UI-004", f, -1, "the surface %q, which is not open, is closed", id)
	}
	delete(m.held.surfaces, id)
}
