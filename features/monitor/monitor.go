// Package monitor judges every frame that an extension writes, in every scenario, against the rules that
// need no question: framing, spelling, envelopes, shapes, and what may be said when.
//
// A monitor sees both lanes, because most rules about an answer depend on what was asked.
package monitor

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"sync"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/features/rulebook"
	"github.com/octet-dev/octet/features/spelling"
	"github.com/octet-dev/octet/features/verdict"
	"github.com/octet-dev/octet/features/wire"
	"github.com/octet-dev/octet/generated/canonicalwire"
)

// Setup is what a monitor must know before the first frame.
type Setup struct {
	Dialect   dialect.Dialect
	Extension dialect.Extension
}

// maxFindings bounds what a monitor keeps: a subject that breaks a rule in every frame says nothing new
// with the hundredth.
const maxFindings = 100

// phase is where the conversation stands. It only moves forward.
type phase uint8

const (
	silent  phase = iota // initialize has not been sent
	opening              // initialize was sent and not answered
	serving              // initialize was answered with a result
	refused              // initialize was answered with an error
	leaving              // shutdown was answered
)

// Monitor is safe for concurrent use.
type Monitor struct {
	setup Setup
	rules ruleset

	mu       sync.Mutex // guards the fields below
	phase    phase
	stopped  bool
	findings []verdict.Finding

	partial    []byte             // what the host wrote behind its last line feed
	initID     string             // id of the initialize in progress
	offer      tree               // params of the last initialize
	result     tree               // of initialize
	issued     map[string]*issued // host requests by id as spelled on the wire
	closing    bool               // shutdown was sent, or the input ended
	requests   int                // host requests sent
	heard      int                // the newest host request that was answered, and so was read
	unreadable bool               // a line was sent whose id nobody can read
	own        map[string]*owned  // the extension's requests by id
	waiting    int                // of them, without an answer
	faults     int                // findings so far, those over the bound counted too
	refusals   map[int]string     // errors that messages of the extension deserve, by frame
	held       holdings           // what the extension has of its host
	ledger     ledger             // the same on the canonical wire
}

// issued is a host request id. An id can be used more than once by a host that tests for it.
type issued struct {
	method    string
	params    tree
	tool      string
	asked     int
	answered  int
	cancelled bool
	reasoned  bool // a reason was given
	leftover  bool // live when shutdown was sent
	behind    bool // sent behind shutdown
	number    int  // of the host's requests, from 1
	sequence  int64
	progress  bool     // at least one progress came
	failed    bool     // the answer was an error
	nested    int      // composed calls under it
	stores    int      // composed commits under it
	files     []string // handed to it
}

func (i *issued) live() bool { return i.answered < i.asked }

// New makes a monitor for one conversation.
func New(setup Setup) *Monitor {
	return &Monitor{setup: setup, rules: rulesOf(setup.Dialect), issued: map[string]*issued{}, own: map[string]*owned{}, refusals: map[int]string{}, held: newHoldings(), ledger: newLedger()}
}

// Stop ends judging: what comes now is the referee's own doing.
func (m *Monitor) Stop() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.stopped = true
}

// Findings returns what was found so far.
func (m *Monitor) Findings() []verdict.Finding {
	m.mu.Lock()
	defer m.mu.Unlock()
	return append([]verdict.Finding(nil), m.findings...)
}

// Result returns the result of initialize; nil before it.
func (m *Monitor) Result() json.RawMessage {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.result.raw
}

// Left reports whether the subject has granted a shutdown.
func (m *Monitor) Left() bool {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.phase == leaving
}

// Observe implements subject.Observer.
func (m *Monitor) Observe(f wire.Frame) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stopped {
		return
	}
	if f.Lane == wire.ToSubject {
		m.asked(f)
		return
	}
	m.judge(f)
}

// report adds a finding. An empty rule means that this wire has no such rule; one that does not bind the API
// version is not cited.
func (m *Monitor) report(rule string, f wire.Frame, offset int, format string, args ...any) {
	if rule == "" || !rulebook.BindsID(rule, m.setup.Dialect.API()) {
		return
	}
	m.faults++
	if len(m.findings) >= maxFindings {
		return
	}
	m.findings = append(m.findings, verdict.Finding{Rule: rule, Message: fmt.Sprintf(format, args...), Frame: f.Index, Offset: offset})
}

// InputEnded implements subject.Observer. Behind it an extension may give up what it was doing. A line that it
// cuts off is one that nobody needs to be able to read.
func (m *Monitor) InputEnded() {
	m.mu.Lock()
	defer m.mu.Unlock()
	m.unreadable = m.unreadable || len(bytes.TrimSpace(m.partial)) > 0
	m.closing = true
}

// asked notes what the host wrote. Frames that are wrong on purpose count as requests as long as an id
// and a method can be read, because an extension has to answer many of them.
func (m *Monitor) asked(f wire.Frame) {
	m.partial = append(m.partial, f.Bytes...)
	if !f.Ended {
		return
	}
	line := m.partial
	m.partial = nil
	t := parse(line)
	m.unreadable = m.unreadable || unreadable(line, t)
	if t.kind() != object {
		return
	}
	id, method := t.get("id"), t.get("method").text()
	params := t.get("params")
	switch {
	case m.setup.Dialect.Canonical() && !id.absent() && !legalID(id):
		// Nothing is owed to an id that the canonical wire does not have.
	case method == dialect.Cancel && id.absent():
		if r := m.issued[params.get("id").spelled()]; r != nil {
			r.reasoned = r.reasoned || !r.cancelled && params.get("reason").kind() == text
			r.cancelled = true
		}
	case !t.get("method").absent() && !id.absent():
		m.issue(t, method)
	case !id.absent():
		m.settled(id.spelled(), t)
	}
	for _, place := range []string{"/context/resource_owner", "/resource_owner"} {
		m.held.owns(params.at(place))
	}
	m.told(method, params)
}

func (m *Monitor) issue(t tree, method string) {
	id, params := t.get("id").spelled(), t.get("params")
	r := m.issued[id]
	used := r != nil && r.live()
	if !used {
		r = &issued{method: method, params: params, asked: count(r), answered: count(r), behind: m.closing}
		m.issued[id] = r
	}
	r.asked++
	m.requests++
	r.number = m.requests
	if used {
		return // It deserves a refusal, and the one that runs stays what it is.
	}
	switch method {
	case dialect.Initialize:
		if m.phase == silent {
			m.phase, m.initID = opening, id
			m.offer = params
		}
	case dialect.ToolCall:
		r.tool = params.get("name").text()
	case dialect.Shutdown:
		if !m.sound(t) {
			return
		}
		m.closing = true
		for _, other := range m.issued {
			if other != r && other.live() {
				other.leftover = true
			}
		}
	}
}

// sound reports whether a request to shut down is one that an extension must obey.
func (m *Monitor) sound(t tree) bool {
	return m.phase == serving && legalID(t.get("id")) && t.get("jsonrpc").text() == dialect.RPCVersion &&
		t.get("params").kind() == object && len(t.get("params").members()) == 0 && len(t.members()) == 4
}

func legalID(id tree) bool {
	_, natural := id.natural()
	return natural || id.kind() == text && len(id.text()) >= 1 && len(id.text()) <= maxIDBytes
}

func count(r *issued) int {
	if r == nil {
		return 0
	}
	return r.asked
}

func (m *Monitor) settled(id string, t tree) {
	o := m.own[id]
	if o == nil || o.answered {
		return
	}
	o.answered, o.at = true, m.requests
	m.waiting--
	if m.setup.Dialect.Canonical() {
		if !t.get("error").absent() {
			m.contractRefused(o)
		}
		return
	}
	if grant := grants[o.method]; grant != nil {
		grant(m, o, t.get("result"))
	}
}

// judge looks at one frame of the extension.
func (m *Monitor) judge(f wire.Frame) {
	bound, rule := m.frameBound()
	switch {
	case f.Size > bound && !f.Ended:
		m.report(rule, f, bound, "a line of more than %d bytes without an end; the bound in force is %d", f.Size, bound)
		return
	case f.Size > bound:
		m.report(rule, f, bound, "a frame of %d bytes; the bound in force is %d", f.Size, bound)
	case !f.Ended:
		m.report(m.rules.lineFeed, f, f.Size, "the output ended behind %d bytes without a line feed", f.Size)
		return
	}
	if !m.spelled(f) {
		return
	}
	t := parse(f.Bytes)
	if t.kind() != object {
		m.report(m.rules.notAnObject, f, 0, "a frame that is %s, want an object", t.kind())
		return
	}
	m.early(f, t)
	m.envelope(f, t)
}

// spelled judges bytes. It returns false when the text cannot be understood.
func (m *Monitor) spelled(f wire.Frame) bool {
	readable := true
	for _, d := range spelling.Check(f.Bytes, depthBound) {
		rule := m.rules.spelling[d.Class]
		switch d.Class {
		case spelling.NotJSON:
			if !m.setup.Dialect.Canonical() && json.Valid(f.Bytes) {
				continue // deeper than the scanner goes, which is no fault on this wire
			}
			readable = false
			if d.Offset == 0 {
				rule = m.rules.stray
			}
		case spelling.Empty, spelling.MoreValues:
			readable = false
		case spelling.WhiteSpace:
			if len(bytes.TrimSpace(f.Bytes)) == 0 {
				readable = false
				rule = m.rules.spelling[spelling.Empty]
			}
		}
		m.report(rule, f, d.Offset, "%s", d.Error())
	}
	return readable
}

// frameBound is the bound for the next frame of the extension and the rule that sets it.
func (m *Monitor) frameBound() (int, string) {
	if !m.setup.Dialect.Canonical() {
		return m.setup.Dialect.FrameBound(), m.rules.frameBound
	}
	const place = "/contract/limits/max_frame_bytes"
	if m.phase >= serving && m.phase != refused {
		if n, ok := m.result.at(place).integer(); ok && n > 0 {
			return int(n), m.rules.frameBound
		}
	}
	if n, ok := m.offer.at(place).integer(); ok && n > 0 {
		return int(min(n, int64(m.setup.Dialect.FrameBound()))), m.rules.firstFrameBound
	}
	return m.setup.Dialect.FrameBound(), m.rules.firstFrameBound
}

// early judges whether a frame may come at this time at all.
func (m *Monitor) early(f wire.Frame, t tree) {
	hasMethod := !t.get("method").absent()
	switch m.phase {
	case silent:
		if hasMethod || m.issued[t.get("id").spelled()] == nil {
			m.report(m.rules.beforeInitialize, f, -1, "a frame before initialize was sent")
		}
	case opening:
		if hasMethod && t.get("method").text() != m.rules.insideInitialize {
			m.report(m.rules.duringInitialize, f, -1, "a frame with a method before the answer to initialize")
		}
	case leaving:
		m.report(m.rules.afterShutdown, f, -1, "a frame behind the answer to shutdown")
	}
}

// named lists strings for a message.
func named(names []string) string {
	quoted := make([]string, len(names))
	for i, n := range names {
		quoted[i] = fmt.Sprintf("%q", n)
	}
	return strings.Join(quoted, ", ")
}

// depthBound is how many containers may enclose a value on the canonical wire.
const depthBound = canonicalwire.MaxJSONDepth

// compact is the length of a value without white space.
func compact(raw json.RawMessage) int {
	var b bytes.Buffer
	if json.Compact(&b, raw) != nil {
		return len(raw)
	}
	return b.Len()
}
