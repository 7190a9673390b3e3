package monitor

import (
	"maps"
	"slices"
	"strconv"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/features/wire"
	"github.com/octet-dev/octet/generated/featurewire"
)

var (
	envelopeMembers = []string{"jsonrpc", "id", "method", "params", "result", "error"}
	errorMembers    = []string{"code", "message", "data"}
)

// envelope judges the outer object and hands the message on.
func (m *Monitor) envelope(f wire.Frame, t tree) {
	if t.get("jsonrpc").text() != dialect.RPCVersion {
		m.report(m.rules.version, f, -1, "jsonrpc is %s, want %q", orNothing(t.get("jsonrpc")), dialect.RPCVersion)
	}
	for _, name := range unlisted(t, envelopeMembers) {
		m.report(m.rules.envelopeMember, f, -1, "the envelope has the member %q", name)
	}
	hasMethod, hasResult, hasError := !t.get("method").absent(), !t.get("result").absent(), !t.get("error").absent()
	switch {
	case hasMethod && (hasResult || hasError):
		m.report(m.rules.neither, f, -1, "a message with a method and an outcome")
	case hasMethod:
		m.message(f, t)
	case hasResult && hasError:
		m.report(m.rules.both, f, -1, "a response with a result and an error")
		m.response(f, t)
	case hasResult || hasError:
		m.response(f, t)
	case !t.get("id").absent():
		m.report(m.rules.neither, f, -1, "a response without a result and without an error")
		m.settle(f, t)
	default:
		m.report(m.rules.kind, f, -1, "an object that is no request, no notification and no response")
	}
}

func orNothing(t tree) string {
	if t.absent() {
		return string(none)
	}
	return string(t.raw[:min(len(t.raw), 80)])
}

// unlisted returns the members that are not in a list, sorted.
func unlisted(t tree, listed []string) []string {
	var out []string
	for _, name := range slices.Sorted(maps.Keys(t.members())) {
		if !slices.Contains(listed, name) {
			out = append(out, name)
		}
	}
	return out
}

// lacking returns the members of a list that an object does not have.
func lacking(t tree, wanted []string) []string {
	var out []string
	members := t.members()
	for _, name := range wanted {
		if _, ok := members[name]; !ok {
			out = append(out, name)
		}
	}
	return out
}

// response judges an outcome and what it is the outcome of.
func (m *Monitor) response(f wire.Frame, t tree) {
	if t.get("error").absent() && t.get("result").kind() == null {
		m.report(m.rules.nullResult, f, -1, "the result is null")
	}
	if !t.get("error").absent() {
		m.failure(f, t.get("error"))
	}
	r := m.settle(f, t)
	if r == nil {
		return
	}
	code, ok := t.at("/error/code").integer()
	isCancelled := ok && m.setup.Dialect.ErrorName(code) == "request_cancelled"
	if r.behind && !isCancelled {
		m.report(m.rules.behindShutdown, f, -1, "request %s came behind shutdown and was answered otherwise than as cancelled", t.get("id").raw)
	}
	if r.leftover && r.method == dialect.ToolCall && !isCancelled && !t.get("error").absent() {
		m.report(m.rules.interrupted, f, -1, "call %s was interrupted by shutdown and answered otherwise than as cancelled", t.get("id").raw)
	}
	r.failed = !t.get("error").absent()
	if isCancelled {
		if m.rules.frozenCancel != "" || !r.cancelled && !r.leftover && !m.closing {
			m.report(m.rules.needlessCancel, f, -1, "request %s was answered as cancelled although nobody cancelled it", t.get("id").raw)
		}
		m.cancelled(f, t.get("error"), r)
	}
	if !t.get("result").absent() {
		m.outcome(f, t, r)
	}
	m.leftFiles(f, r)
	m.advance(f, t, r)
}

// settle finds the request that a response answers.
func (m *Monitor) settle(f wire.Frame, t tree) *issued {
	id := t.get("id")
	if id.kind() == null || id.absent() {
		m.nullID(f, t)
		return nil
	}
	r := m.issued[id.spelled()]
	if r == nil {
		if twin := m.issued[otherType(id)]; twin != nil && twin.live() {
			m.report(m.rules.changedID, f, -1, "the id %s has another type than in its request", id.raw)
			return nil
		}
		m.report(m.rules.unknownID, f, -1, "a response to the id %s, which no request has had", id.raw)
		return nil
	}
	r.answered++
	m.heard = max(m.heard, r.number)
	if r.answered > r.asked {
		m.report(m.rules.twice, f, -1, "a second response to request %s", id.raw)
		return nil
	}
	return r
}

// nullID judges a response without an id: where it is allowed at all, only to say that a line could not
// be read.
func (m *Monitor) nullID(f wire.Frame, t tree) {
	code, ok := t.at("/error/code").integer()
	name := m.setup.Dialect.ErrorName(code)
	if ok && !m.setup.Dialect.Canonical() && m.unreadable && (name == "parse_error" || name == "invalid_request") {
		return
	}
	m.report(m.rules.nullID, f, -1, "a response with the id %s", orNothing(t.get("id")))
}

// otherType spells a string id as a number and a number as a string.
func otherType(id tree) string {
	if id.kind() == text {
		return id.text()
	}
	return strconv.Quote(string(id.raw))
}

// failure judges an error object.
func (m *Monitor) failure(f wire.Frame, e tree) {
	code, whole := e.get("code").integer()
	if e.kind() != object || !whole || e.get("message").kind() != text {
		m.report(m.rules.errorShape, f, -1, "an error that is not an object with an integer code and a string message")
		return
	}
	for _, name := range unlisted(e, errorMembers) {
		m.report(m.rules.errorMember, f, -1, "the error has the member %q", name)
	}
	name := m.setup.Dialect.ErrorName(code)
	if m.setup.Dialect.Canonical() {
		m.tableError(f, e, code, name)
		return
	}
	if name == "" && !ownErrorCode(code) {
		m.report(m.rules.errorCode, f, -1, "the error code %d is neither in the table nor in a range of %v", code, featurewire.TableErrorRanges)
	}
}

// ownErrorCode reports whether an extension may use a code on the feature wire for errors of its own.
func ownErrorCode(code int64) bool {
	return slices.ContainsFunc(featurewire.TableErrorRanges, func(r featurewire.ErrorRangesRow) bool {
		lowest, lowErr := strconv.ParseInt(r.Lowest, 10, 64)
		highest, highErr := strconv.ParseInt(r.Highest, 10, 64)
		return lowErr == nil && highErr == nil && lowest <= code && code <= highest
	})
}

// tableError judges an error of the canonical wire, whose table is closed.
func (m *Monitor) tableError(f wire.Frame, e tree, code int64, name string) {
	if name == "" {
		m.report(m.rules.errorCode, f, -1, "the error code %d is not in the table", code)
		return
	}
	if want := m.setup.Dialect.Message(name); e.get("message").text() != want {
		m.report(m.rules.errorMessage, f, -1, "the message of %d is %s, want %q", code, orNothing(e.get("message")), want)
	}
	data := e.get("data")
	switch name {
	case "parse_error":
		m.report(m.rules.parseErrorSent, f, -1, "parse_error was sent")
	case "unknown_method":
		if data.get("method").kind() != text {
			m.report(m.rules.unknownMethodData, f, -1, "the data of unknown_method is %s, want an object with method", orNothing(data))
		}
	case "version_mismatch":
		if len(lacking(data, []string{"expected", "received"})) > 0 {
			m.report(m.rules.versionData, f, -1, "the data of version_mismatch is %s, want an object with expected and received", orNothing(data))
		}
	}
}

// cancelled judges the detail of a request_cancelled error.
func (m *Monitor) cancelled(f wire.Frame, e tree, r *issued) {
	data := e.get("data")
	if m.setup.Dialect.Canonical() {
		if data.get("terminal").text() != "cancelled" || r.reasoned && data.get("reason").absent() {
			m.report(m.rules.cancelData, f, -1, "the data of request_cancelled is %s, want an object with terminal cancelled and the reason that was given", orNothing(data))
		}
		return
	}
	if want := m.setup.Dialect.Message("request_cancelled"); e.get("message").text() != want || r.reasoned && data.get("reason").absent() {
		m.report(m.rules.cancelData, f, -1, "the error of a cancelled request is %s, want the message %q and data.reason", orNothing(e), want)
	}
}

// advance moves the phase behind an answer to initialize or shutdown.
func (m *Monitor) advance(f wire.Frame, t tree, r *issued) {
	succeeded := t.get("error").absent()
	switch {
	case r.method == dialect.Initialize && m.phase == opening && t.get("id").spelled() == m.initID:
		m.phase = refused
		if succeeded {
			m.phase = serving
			m.result = t.get("result")
			m.initialized(f)
		}
	case r.method == dialect.Shutdown && succeeded:
		m.phase = leaving
		for id, other := range m.issued {
			if other.leftover && other.live() {
				m.report(m.rules.owedAtShutdown, f, -1, "shutdown was answered while request %s was still owed its answer", id)
			}
		}
	}
}
