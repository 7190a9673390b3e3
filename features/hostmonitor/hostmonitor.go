// Package hostmonitor judges every frame that a host writes to an extension, against the rules that need no
// question: framing, identity, the start, ids, what is open, and the models of the wire.
//
// It sees both lanes, because what a host may say depends on what the extension has selected and asked.
package hostmonitor

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"sync"
	"unicode/utf8"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/features/rulebook"
	"github.com/octet-dev/octet/features/spelling"
	"github.com/octet-dev/octet/features/verdict"
	"github.com/octet-dev/octet/features/wire"
	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/runtime/manifest"
	"github.com/octet-dev/octet/runtime/negotiation"
)

// maxFindings bounds what is kept: the hundredth finding says nothing new.
const maxFindings = 100

// Monitor is safe for concurrent use.
type Monitor struct {
	dialect dialect.Dialect
	rules   ruleset

	mu       sync.Mutex // guards the fields below
	findings []verdict.Finding

	begun     bool   // a frame was written
	initID    string // of initialize, while it is not answered
	ready     bool   // initialize was answered with a result
	shutDown  bool
	selected  []string          // features, or methods of the contract
	asked     map[string]bool   // ids of the host's requests
	incoming  map[string]string // methods of the extension's requests, by id
	unsettled map[string]int    // how many of them have no answer
	nameless  int               // frames of the extension that can be answered under no id, and were not
	cancelled map[string]bool   // ids that were named by a cancellation
}

// New makes a monitor for one conversation.
func New(d dialect.Dialect) *Monitor {
	return &Monitor{
		dialect: d, rules: rulesOf(d), asked: map[string]bool{}, incoming: map[string]string{}, unsettled: map[string]int{},
		cancelled: map[string]bool{},
	}
}

// Findings returns what was found so far.
func (m *Monitor) Findings() []verdict.Finding {
	m.mu.Lock()
	defer m.mu.Unlock()
	return slices.Clone(m.findings)
}

// Observe takes the next frame of either lane.
func (m *Monitor) Observe(f wire.Frame) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if f.Lane == wire.FromSubject {
		m.heard(f)
		return
	}
	m.judge(f)
	m.begun = true
}

// report adds a finding. One whose rule does not bind the version, or that has none, is kept without a rule.
func (m *Monitor) report(rule string, f wire.Frame, format string, args ...any) {
	if len(m.findings) >= maxFindings {
		return
	}
	if !rulebook.BindsID(rule, m.dialect.API()) {
		rule = ""
	}
	m.findings = append(m.findings, verdict.Finding{Rule: rule, Message: fmt.Sprintf(format, args...), Frame: f.Index, Offset: -1})
}

// message is a frame as loosely as it can be read.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method *string         `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  json.RawMessage `json:"error"`
}

func spelled(id json.RawMessage) string { return string(bytes.TrimSpace(id)) }

// heard follows the extension: its requests, its answers, and what it selects.
func (m *Monitor) heard(f wire.Frame) {
	var msg message
	if !f.Ended || json.Unmarshal(f.Bytes, &msg) != nil {
		return
	}
	id := spelled(msg.ID)
	switch {
	case msg.Method != nil && msg.ID != nil:
		m.incoming[id] = *msg.Method
		m.unsettled[id]++
		if !nameable(msg.ID) {
			m.nameless++
		}
	case msg.Method == nil && msg.ID != nil:
		if id == m.initID && m.initID != "" {
			m.initID = ""
			m.ready = msg.Result != nil
			m.selection(msg.Result)
		}
	}
}

// nameable reports whether a request can be answered under its id.
func nameable(id json.RawMessage) bool {
	var name string
	if json.Unmarshal(id, &name) == nil {
		return name != "" && len(name) <= featurewire.MaxIDBytes
	}
	return unsigned(spelled(id))
}

// selection keeps what opens methods.
func (m *Monitor) selection(result []byte) {
	var r struct {
		Protocol struct {
			Features []string `json:"features"`
		} `json:"protocol"`
		Contract struct {
			Methods []string `json:"methods"`
		} `json:"contract"`
	}
	// A result that is no such object selects nothing; the extension's own monitor says so.
	_ = json.Unmarshal(result, &r)
	m.selected = append(r.Protocol.Features, r.Contract.Methods...)
}

// judge judges one frame of the host.
func (m *Monitor) judge(f wire.Frame) {
	switch {
	case f.Size > m.dialect.FrameBound():
		m.report(m.rules.bound, f, "the frame has more than %d bytes", m.dialect.FrameBound())
		return
	case !f.Ended:
		m.report(m.rules.frame, f, "%d bytes without a line feed behind them", f.Size)
		return
	case !utf8.Valid(f.Bytes):
		m.report(m.rules.frame, f, "the frame is not UTF-8")
		return
	}
	if m.dialect.Canonical() {
		if found := spelling.Check(f.Bytes, canonicalwire.MaxDepth); found != nil {
			m.report(m.rules.spelling, f, "the frame is not canonical JSON: %v", found[0])
		}
	}
	var msg message
	if err := json.Unmarshal(f.Bytes, &msg); err != nil {
		m.report(m.rules.frame, f, "the frame is not one JSON object: %v", err)
		return
	}
	switch {
	case msg.Method != nil && msg.ID != nil:
		m.request(f, msg)
	case msg.Method != nil:
		m.notification(f, msg)
	case msg.ID != nil && (msg.Result != nil) != (msg.Error != nil):
		m.answer(f, msg)
	default:
		m.report(m.rules.frame, f, "the frame is no request, no notification and no answer")
	}
}

// request judges a request of the host.
func (m *Monitor) request(f wire.Frame, msg message) {
	id := spelled(msg.ID)
	if m.asked[id] {
		m.report(m.rules.ids, f, "the id %s was used before", id)
	}
	if !m.dialect.Canonical() && !unsigned(id) {
		m.report(m.rules.ids, f, "the id %s is no unsigned integer", id)
	}
	switch {
	case !m.begun && *msg.Method != dialect.Initialize:
		m.report(m.rules.first, f, "the first frame is %q, want %q", *msg.Method, dialect.Initialize)
	case m.initID != "":
		m.report(m.rules.alone, f, "%q is sent before initialize is answered", *msg.Method)
	case m.shutDown:
		m.report(m.rules.behindShutdown, f, "%q is sent behind shutdown", *msg.Method)
	}
	m.asked[id] = true
	switch *msg.Method {
	case dialect.Initialize:
		m.initID = id
		m.initialize(f, msg.Params)
		m.offer(f, msg.Params)
	case dialect.Shutdown:
		m.shutDown = true
	case dialect.ToolCall:
		m.frozenCall(f, msg.Params)
	}
	m.open(f, *msg.Method, true)
	m.model(f, *msg.Method, msg.Params)
}

// frozenCall judges a call on the version that knows neither owners nor revisions.
func (m *Monitor) frozenCall(f wire.Frame, params []byte) {
	var p struct {
		Revision json.RawMessage `json:"catalog_revision"`
		Context  struct {
			Owner json.RawMessage `json:"resource_owner"`
		} `json:"context"`
	}
	if m.rules.frozenCall != "" && json.Unmarshal(params, &p) == nil && (p.Revision != nil || p.Context.Owner != nil) {
		m.report(m.rules.frozenCall, f, "the call carries resource_owner or catalog_revision")
	}
}

func unsigned(id string) bool {
	for _, c := range id {
		if c < '0' || c > '9' {
			return false
		}
	}
	return id != ""
}

// notification judges a notification of the host.
func (m *Monitor) notification(f wire.Frame, msg message) {
	if !m.begun {
		m.report(m.rules.first, f, "the first frame is %q, want %q", *msg.Method, dialect.Initialize)
	}
	m.open(f, *msg.Method, false)
	m.model(f, *msg.Method, msg.Params)
	switch {
	case *msg.Method == dialect.Cancel:
		m.cancel(f, msg.Params)
	case m.shutDown && m.dialect.Canonical():
		m.report(m.rules.behindShutdown, f, "%q is sent behind shutdown", *msg.Method)
	}
}

// cancel judges what a cancellation names.
func (m *Monitor) cancel(f wire.Frame, params []byte) {
	var p struct {
		ID json.RawMessage `json:"id"`
	}
	if json.Unmarshal(params, &p) != nil || p.ID == nil {
		return
	}
	id := spelled(p.ID)
	_, theirs := m.incoming[id]
	if m.rules.frozenCancel != "" {
		m.report(m.rules.frozenCancel, f, "a cancellation on a version that has none")
	}
	if !m.asked[id] && !theirs {
		m.report(m.rules.cancelForeign, f, "the cancellation names %s, which nobody has asked", id)
	}
	if m.cancelled[id] {
		m.report(m.rules.cancelTwice, f, "%s is cancelled for the second time", id)
	}
	m.cancelled[id] = true
}

// open judges whether a method may be sent at all.
func (m *Monitor) open(f wire.Frame, method string, isRequest bool) {
	d := m.dialect
	switch {
	case !d.Canonical() && slices.ContainsFunc(featurewire.TableReservedNames, func(r featurewire.ReservedNamesRow) bool { return r.Name == method }):
		m.report(ruleReservedNotice, f, "%q is reserved", method)
		return
	case !d.Canonical() && (method == canonicalwire.MethodBusEvent || method == canonicalwire.MethodBusLifecycle):
		m.report(ruleBus, f, "%q is sent on a wire without a bus", method)
		return
	case !d.Knows(method):
		m.report(m.rules.method, f, "API %s knows no method %q", d.API(), method)
		return
	case d.FromExtension(method) && method != dialect.Cancel:
		m.report(m.rules.method, f, "%q is sent by extensions", method)
		return
	case d.IsRequest(method) != isRequest:
		m.report(m.rules.kind, f, "%q is a %s", method, map[bool]string{true: "request", false: "notification"}[d.IsRequest(method)])
		return
	case !m.ready || method == dialect.Initialize || method == dialect.Shutdown:
		return
	}
	if d.Canonical() {
		if !slices.Contains(m.selected, method) {
			m.report(m.rules.method, f, "%q was not selected", method)
		}
		return
	}
	if feature := negotiation.GateFeature(d.Gate(method)); feature != "" && d.Negotiates() && !slices.Contains(m.selected, feature) {
		m.report(m.rules.method, f, "%q needs the feature %q, which was not selected", method, feature)
	}
}

// model judges params by the model of the method.
func (m *Monitor) model(f wire.Frame, method string, params []byte) {
	shape := m.dialect.Shape(method)
	if shape.Params == "" || params == nil {
		return
	}
	if v, broken := m.dialect.Violation(shape.Params, params); broken {
		m.report(m.ruleOf(method, v), f, "params of %q: %v", method, v)
	}
}

// ruleOf finds the rule behind a violation, where one names the place.
func (m *Monitor) ruleOf(method string, v *wirejson.Violation) string {
	switch {
	case method == dialect.Initialize && strings.HasPrefix(v.Pointer, "/contributes"):
		return m.rules.contributes
	case method == dialect.Initialize && !m.dialect.Canonical():
		return placeRule(v)
	}
	return ""
}

// answer judges an answer of the host to a request of the extension.
func (m *Monitor) answer(f wire.Frame, msg message) {
	id := spelled(msg.ID)
	if id == "null" && msg.Error != nil && m.nameless > 0 {
		m.nameless--
		return
	}
	if msg.Error != nil && m.rules.wording != "" {
		m.worded(f, msg.Error)
	}
	method, known := m.incoming[id]
	switch {
	case !known:
		m.report(m.rules.answers, f, "the answer to %s answers nothing that was asked", id)
		return
	case m.unsettled[id] == 0:
		m.report(m.rules.answers, f, "the request %s is answered for the second time", id)
	}
	m.unsettled[id]--
	if shape := m.dialect.Shape(method); msg.Result != nil && shape.Result != "" {
		if v, broken := m.dialect.Violation(shape.Result, msg.Result); broken {
			m.report("", f, "result of %q: %v", method, v)
		}
	}
}

// worded judges that the message of an error is that of the table.
func (m *Monitor) worded(f wire.Frame, text json.RawMessage) {
	var e struct {
		Code    int64  `json:"code"`
		Message string `json:"message"`
	}
	if json.Unmarshal(text, &e) != nil {
		return
	}
	if want := m.dialect.Message(m.dialect.ErrorName(e.Code)); e.Message != want {
		m.report(m.rules.wording, f, "the error %d says %q, want the message of the table, %q", e.Code, e.Message, want)
	}
}

// initialize judges what the models leave open: versions, and the order of flags.
func (m *Monitor) initialize(f wire.Frame, params []byte) {
	var p struct {
		API   string `json:"api_version"`
		Octet string `json:"octet_version"`
		Flags []struct {
			Name string `json:"name"`
		} `json:"flag_values"`
		Protocol    json.RawMessage            `json:"protocol"`
		Contributes map[string]json.RawMessage `json:"contributes"`
	}
	if json.Unmarshal(params, &p) != nil {
		return
	}
	if m.dialect.Canonical() {
		// The model leaves this one open; it has the members of every version and no other.
		want := slices.Sorted(maps.Keys(dialect.Contributions(nil)))
		if got := slices.Sorted(maps.Keys(p.Contributes)); !slices.Equal(got, want) {
			m.report(m.rules.contributes, f, "contributes has the members %q, want %q", got, want)
		}
	}
	if want := manifest.OctetVersion().String(); p.Octet != want {
		m.report(m.rules.versions, f, "octet_version is %q, want %q", p.Octet, want)
	}
	if p.API != m.dialect.API() {
		m.report(m.rules.versions, f, "api_version is %q, want %q", p.API, m.dialect.API())
	}
	for i := 1; i < len(p.Flags); i++ {
		if p.Flags[i-1].Name >= p.Flags[i].Name {
			m.report(m.rules.flags, f, "flag_values has %q behind %q; sort it by name", p.Flags[i].Name, p.Flags[i-1].Name)
		}
	}
	if m.rules.frozenInit != "" && (p.Protocol != nil || p.Flags != nil) {
		m.report(m.rules.frozenInit, f, "initialize carries protocol or flag_values")
	}
}
