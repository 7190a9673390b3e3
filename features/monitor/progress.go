package monitor

import (
	"encoding/base64"
	"strings"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/features/wire"
	"github.com/octet-dev/octet/generated/featurewire"
)

// progress judges $/progress.
func (m *Monitor) progress(f wire.Frame, p tree) {
	if m.rules.frozenProgress != "" {
		m.report(m.rules.frozenProgress, f, -1, "progress on an API without it")
		return
	}
	if m.setup.Dialect.Canonical() {
		m.report(m.rules.notOpen, f, -1, "the extension sent %q, which this wire does not have", dialect.Progress)
		return
	}
	if !m.selected(featurewire.FeatureRequestProgress) {
		m.report(m.rules.progressGate, f, -1, "progress although the feature was not selected")
	}
	r := m.issued[p.get("request_id").spelled()]
	if r == nil || !r.live() {
		m.report(m.rules.progressRequest, f, -1, "progress of request %s, which is not running", orNothing(p.get("request_id")))
		return
	}
	n, ok := p.get("sequence").natural()
	switch {
	case !ok:
		m.report(m.rules.progressSequence, f, -1, "the sequence is %s, want an integer from 0", orNothing(p.get("sequence")))
	case r.progress && n <= r.sequence:
		m.report(m.rules.progressSequence, f, -1, "sequence %d behind %d", n, r.sequence)
	case !r.progress && n != 1:
		m.report(m.rules.progressFirst, f, -1, "the first sequence is %d, want 1", n)
	}
	r.sequence, r.progress = n, true
	m.event(f, p.get("event"))
}

// event judges what a progress tells.
func (m *Monitor) event(f wire.Frame, e tree) {
	switch e.get("type").text() {
	case "status":
		m.status(f, e)
	case "output":
		m.output(f, e)
	case "decoration":
		if !m.selected(featurewire.FeatureProgressDecoration) {
			m.report(m.rules.progressType, f, -1, "a decoration although the feature was not selected")
		}
		m.modelled(f, "the event", "ProgressDecoration", e, all("EXT04-PROG-012"))
	default:
		m.report(m.rules.progressType, f, -1, "the type of the event is %s", orNothing(e.get("type")))
	}
}

func (m *Monitor) status(f wire.Frame, e tree) {
	bad := e.get("message").kind() != text
	for _, name := range []string{"current", "total"} {
		if v := e.get(name); !v.absent() {
			_, ok := v.natural()
			bad = bad || !ok
		}
	}
	if unit := e.get("unit"); !unit.absent() && unit.kind() != text {
		bad = true
	}
	if bad {
		m.report(m.rules.progressStatus, f, -1, "a status event of the wrong shape: %s", orNothing(e))
	}
}

func (m *Monitor) output(f wire.Frame, e tree) {
	stream, encoding, data := e.get("stream").text(), e.get("encoding").text(), e.get("data")
	size := len(data.text())
	bad := !featurewire.OutputStream(stream).Known() || !featurewire.OutputEncoding(encoding).Known() || data.kind() != text
	if encoding == string(featurewire.OutputEncodingBase64) {
		decoded, err := base64.StdEncoding.DecodeString(data.text())
		bad = bad || err != nil
		size = len(decoded)
	}
	if bad {
		m.report(m.rules.progressOutput, f, -1, "an output event of the wrong shape: %s", orNothing(e))
	}
	if size > featurewire.MaxProgressOutputBytes {
		m.report(m.rules.progressChunk, f, -1, "an output event of %d bytes; the bound is %d", size, featurewire.MaxProgressOutputBytes)
	}
}

// notice judges a notification to the person.
func (m *Monitor) notice(f wire.Frame, p tree) {
	if m.setup.Dialect.Canonical() {
		m.report(m.rules.notOpen, f, -1, "the extension sent %q, which this wire does not have", dialect.Notification)
		return
	}
	if !m.offer.at("/contributes/notifications").truth() {
		m.report(m.rules.noticeGate, f, -1, "a notification although the manifest declares none")
	}
	level, title := p.get("level"), p.get("title")
	if p.get("message").kind() != text || !level.absent() && !featurewire.NotificationLevel(level.text()).Known() ||
		!title.absent() && title.kind() != null && title.kind() != text {
		m.report(m.rules.noticeShape, f, -1, "a notification of the wrong shape: %s", orNothing(p))
	}
	if !p.get("parent_request_id").absent() {
		m.report(m.rules.noticeParent, f, -1, "a notification with parent_request_id")
	}
	if strings.Contains(p.get("message").text()+title.text(), "\x1b") {
		m.report(m.rules.noticeEscape, f, -1, "a notification with a terminal escape sequence")
	}
}
