package monitor

import (
	"encoding/base64"
	"slices"
	"strconv"
	"strings"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/features/wire"
	"github.com/octet-dev/octet/generated/featurewire"
)

// Bounds on what an extension asks of a host.
const (
	maxOwnWaiting = featurewire.MaxChildRequests
	maxIDBytes    = featurewire.MaxIDBytes
)

// message judges a request or a notification of the extension.
func (m *Monitor) message(f wire.Frame, t tree) {
	if name := t.get("method"); name.kind() != text || name.text() == "" && m.setup.Dialect.Canonical() {
		m.report(m.rules.kind, f, -1, "the method is %s, want a string that is not empty", orNothing(t.get("method")))
		return
	}
	method, params := t.get("method").text(), t.get("params")
	if !t.get("id").absent() {
		m.ownRequest(f, t.get("id"), method)
	}
	switch method {
	case dialect.Progress:
		m.progress(f, params)
	case dialect.Notification:
		m.notice(f, params)
	case dialect.Cancel:
		m.cancelSent(f, params)
	default:
		if !m.open(method, params) {
			m.report(m.rules.notOpen, f, -1, "the extension sent %q, which nothing that was declared and selected opens to it", method)
		}
	}
}

// ownRequest judges the id of a request of the extension.
func (m *Monitor) ownRequest(f wire.Frame, id tree, method string) {
	if slices.Contains([]string{dialect.Progress, dialect.Notification, dialect.Cancel}, method) {
		m.report(m.rules.notificationID, f, -1, "%q with an id", method)
		return
	}
	_, err := strconv.ParseUint(string(id.raw), 10, 64)
	switch {
	case id.kind() == number && err == nil:
		m.report(m.rules.numericID, f, -1, "the id %s of a request of the extension is a number", id.raw)
	case id.kind() == text && len(id.text()) >= 1 && len(id.text()) <= maxIDBytes:
	default:
		m.report(m.rules.ownID, f, -1, "the id %s of a request of the extension", orNothing(id))
	}
	key := id.spelled()
	if m.own[key] != nil {
		m.report(m.rules.reusedID, f, -1, "the extension uses the id %s a second time", orNothing(id))
		return
	}
	m.own[key] = &owned{}
	m.waiting++
	if m.waiting > maxOwnWaiting {
		m.report(m.rules.ownWaiting, f, -1, "%d requests of the extension are unanswered; the bound is %d", m.waiting, maxOwnWaiting)
	}
}

// open reports whether an extension may send a method at all.
func (m *Monitor) open(method string, params tree) bool {
	if m.setup.Dialect.Canonical() {
		return m.setup.Dialect.FromExtension(method) && slices.Contains(m.result.at("/contract/methods").texts(), method)
	}
	if m.setup.Dialect.Knows(method) {
		return m.setup.Dialect.FromExtension(method)
	}
	return m.opened(method, params)
}

func (m *Monitor) selected(feature string) bool {
	return slices.Contains(m.result.at("/protocol/features").texts(), feature)
}

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
	bad := stream != "stdout" && stream != "stderr" || encoding != "utf8" && encoding != "base64" || data.kind() != text
	if encoding == "base64" {
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
	levels := []string{"info", "success", "warning", "error"}
	if p.get("message").kind() != text || !level.absent() && !slices.Contains(levels, level.text()) ||
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

// cancelSent judges a cancellation by the extension.
func (m *Monitor) cancelSent(f wire.Frame, p tree) {
	if m.rules.frozenCancel != "" {
		m.report(m.rules.frozenCancel, f, -1, "a cancellation on an API without it")
		return
	}
	// An answer that crosses the cancellation on the wire is nobody's fault.
	if o := m.own[p.get("id").spelled()]; o == nil || o.answered && m.heard > o.at {
		m.report(m.rules.foreignCancel, f, -1, "the extension cancelled %s, which is no open request of its own", orNothing(p.get("id")))
	}
}
