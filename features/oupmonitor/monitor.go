// Package oupmonitor judges every frame of an OUP connection, whatever the conversation is about: what a server
// writes, and what a client writes.
package oupmonitor

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
)

type object = map[string]any

// Finding is one broken rule.
type Finding struct {
	Rule    string
	Message string
	Frame   int  // index in the recording
	Client  bool // the client broke it
}

// Monitor listens to one connection. It is for one goroutine at a time.
type Monitor struct {
	transport string
	named     []string // features in force, as far as they were named; nil: none was
	asked     bool     // a list of features was named
	found     []Finding

	open     map[string]request // requests that wait
	opened   map[string]*stream // sessions, by key
	offered  []string           // methods that the server lists
	turns    map[string]*turn
	requests map[string]string // approvals, by id: the turn that they belong to; empty once they are settled
	answered map[string]bool   // ids of decisions that were told
	started  map[string]string // turn ids of the client, with what was sent
	secret   string            // that no frame of a server may hold
	narrow   bool              // the connection is held to one session
	tasks    map[string]*work
}

// request is one that waits for its answer.
type request struct {
	method string
	params object
	at     int
	seen   map[string]bool // kinds of frames that came in between
}

// stream is a session as it is heard.
type stream struct {
	last   int64 // cursor
	replay bool  // until the event session/open comes
	opens  int
}

// turn is a turn as it is heard.
type turn struct {
	here     bool // started on this connection, and not yet answered
	ours     bool
	started  bool
	number   int64
	ended    bool
	tools    map[string]bool // true while they are open
	segments map[string]string
	whole    bool // heard from its beginning
	users    int
	steers   int
	dropped  int
}

// New returns the monitor of a connection. tokens are the features that were named when it was made.
func New(transport string, tokens []string) *Monitor {
	m := &Monitor{
		transport: transport, open: map[string]request{}, opened: map[string]*stream{}, turns: map[string]*turn{},
		requests: map[string]string{}, answered: map[string]bool{}, started: map[string]string{}, tasks: map[string]*work{},
	}
	m.name(tokens)
	return m
}

// Keep has every frame of the server searched for a secret.
func (m *Monitor) Keep(secret string) { m.secret = secret }

// Narrow says that the connection is held to one session, which closes a part of the handshake to it.
func (m *Monitor) Narrow() { m.narrow = true }

func (m *Monitor) name(tokens []string) {
	var named []string
	for _, t := range tokens {
		if t = strings.TrimSpace(t); t != "" {
			named = append(named, t)
		}
	}
	if len(named) > 0 {
		m.named, m.asked = named, true
	}
}

// Findings are those until now.
func (m *Monitor) Findings() []Finding { return m.found }

func (m *Monitor) add(frame int, rule, format string, args ...any) {
	m.found = append(m.found, Finding{Rule: rule, Message: fmt.Sprintf(format, args...), Frame: frame})
}

func (m *Monitor) blame(frame int, rule, format string, args ...any) {
	m.found = append(m.found, Finding{Rule: rule, Message: fmt.Sprintf(format, args...), Frame: frame, Client: true})
}

func decode(text []byte) (any, error) {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var v any
	err := dec.Decode(&v)
	return v, err
}

func text(o object, name string) string {
	v, _ := o[name].(string)
	return v
}

func number(o object, name string) int64 {
	v, _ := o[name].(json.Number)
	n, err := v.Int64()
	if err != nil {
		return -1
	}
	return n
}

func child(o object, name string) object {
	v, _ := o[name].(object)
	return v
}

func list(o object, name string) []any {
	v, _ := o[name].([]any)
	return v
}

var jsonrpc = protocol("jsonrpc")

func protocol(name string) string {
	for _, row := range oupwire.TableProtocol {
		if row.Name == name {
			return row.Value
		}
	}
	panic("oupmonitor: the protocol has no text " + name)
}

// FromServer takes a frame of the server.
func (m *Monitor) FromServer(index int, frame []byte) {
	if len(frame) > oupwire.MaxTextFrameBytes {
		m.add(index, "OUP-FRAME-003", "a frame of %d bytes, at most %d", len(frame), oupwire.MaxTextFrameBytes)
	}
	root := m.compact(index, frame)
	if root == nil {
		return
	}
	if m.secret != "" && bytes.Contains(frame, []byte(m.secret)) {
		rule := "OUP-SOCKET-022"
		if kind := text(child(child(root, "params"), "payload"), "type"); kind == "turn_terminal" || root["error"] != nil {
			rule = "OUP-ERROR-013"
		}
		m.add(index, rule, "a frame holds the token of the connection")
	}
	_, hasMethod := root["method"]
	_, hasID := root["id"]
	switch {
	case hasMethod && !hasID:
		m.event(index, text(root, "method"), root)
	case hasMethod:
		m.add(index, "OUP-FRAME-001", "a server sends no requests: %q", text(root, "method"))
	default:
		m.answer(index, root)
	}
}

// compact reads a frame of the server; nil for one that is none.
func (m *Monitor) compact(index int, frame []byte) object {
	if !utf8.Valid(frame) {
		m.add(index, "OUP-FRAME-001", "a frame is no UTF-8")
		return nil
	}
	if m.transport == "stdio" && bytes.HasSuffix(frame, []byte("\r")) {
		m.add(index, "OUP-STDIO-001", "a line ends with CR LF")
		frame = frame[:len(frame)-1]
	}
	if bytes.ContainsAny(frame, "\r\n") {
		m.add(index, "OUP-FRAME-001", "a frame has a literal line break")
	}
	v, err := decode(frame)
	root, isObject := v.(object)
	if err != nil || !isObject {
		rule := "OUP-FRAME-001"
		if m.transport == "stdio" {
			rule = "OUP-STDIO-001"
		}
		m.add(index, rule, "%.80q is no JSON object", frame)
		return nil
	}
	if text(root, "jsonrpc") != jsonrpc {
		m.add(index, "OUP-FRAME-001", "a frame lacks jsonrpc %s", jsonrpc)
	}
	var plain bytes.Buffer
	if json.Compact(&plain, frame) == nil && plain.Len() != len(bytes.TrimRight(frame, "\r\n")) {
		m.add(index, "OUP-FRAME-001", "a frame has white space between its members")
	}
	return root
}

// answer judges a result or an error.
func (m *Monitor) answer(index int, root object) {
	id, named := root["id"].(string)
	fault := child(root, "error")
	if _, there := root["id"]; !there || !named && root["id"] != nil {
		m.add(index, "OUP-FRAME-008", "an answer has no id that is a string or null")
		return
	}
	if !named {
		if fault == nil {
			m.add(index, "OUP-FRAME-009", "a result has a null id")
			return
		}
		m.failed(index, "", fault)
		return
	}
	asked, waits := m.open[id]
	if !waits {
		m.add(index, "OUP-FRAME-009", "nothing waits for an answer to %q", id)
		return
	}
	delete(m.open, id)
	if fault != nil {
		m.failed(index, asked.method, fault)
		m.took(index, asked, nil)
		return
	}
	result, there := root["result"]
	if !there {
		m.add(index, "OUP-FRAME-009", "an answer has neither result nor error")
		return
	}
	row := oupwire.LookupRequest(asked.method)
	if row == nil {
		m.add(index, "OUP-ERROR-002", "%s is no method of the protocol and has a result", asked.method)
		return
	}
	m.shape(index, row.Shapes[0].Result, result, "the result of "+asked.method)
	if o, isObject := result.(object); isObject {
		m.took(index, asked, o)
	}
}

// shape holds a value to its model.
func (m *Monitor) shape(index int, model string, value any, what string) {
	if model == "" {
		return
	}
	encoded, err := json.Marshal(value)
	if err != nil {
		return
	}
	if err := oupwire.ValidateModel(model, encoded); err != nil {
		var v *wirejson.Violation
		if errors.As(err, &v) {
			m.add(index, "OUP-FRAME-036", "%s at %q: %s", what, v.Pointer, v.Detail)
		} else {
			m.add(index, "OUP-FRAME-036", "%s: %v", what, err)
		}
		return
	}
	if !bytes.Contains(encoded, []byte("null")) {
		return
	}
	if at := needless(model, value, value, ""); at != "" {
		m.add(index, "OUP-FRAME-028", "%s has null at %s, which is optional; leave it out", what, at)
	}
}

// nulls are optional members whose models ask for null where there is nothing to say.
var nulls = []string{
	"title", "context", "context_state", "completed_at", "error", "token_estimate_after", "next_offset", "oldest_retained_seq", "goal", "worktree_branch",
}

// needless finds a null that its model could do without: the value without it keeps the model, and something else
// in its place breaks it. Members that no model lists are not judged.
func needless(model string, root, at any, pointer string) string {
	keeps := func() bool {
		encoded, err := json.Marshal(root)
		return err == nil && oupwire.ValidateModel(model, encoded) == nil
	}
	switch v := at.(type) {
	case object:
		for _, name := range sortedNames(v) {
			if v[name] != nil {
				if found := needless(model, root, v[name], pointer+"/"+name); found != "" {
					return found
				}
				continue
			}
			if slices.Contains(nulls, name) {
				continue
			}
			delete(v, name)
			without := keeps()
			v[name] = []any{[]any{}}
			other := keeps()
			v[name] = object{"no": "model"}
			other = other || keeps()
			v[name] = nil
			if without && !other {
				return pointer + "/" + name
			}
		}
	case []any:
		for i, each := range v {
			if found := needless(model, root, each, fmt.Sprintf("%s/%d", pointer, i)); found != "" {
				return found
			}
		}
	}
	return ""
}

func sortedNames(o object) []string {
	var names []string
	for name := range o {
		names = append(names, name)
	}
	slices.Sort(names)
	return names
}

// failed judges an error.
func (m *Monitor) failed(index int, method string, fault object) {
	code, isNumber := fault["code"].(json.Number)
	n, err := code.Int64()
	message, isText := fault["message"].(string)
	if !isNumber || err != nil || !isText || strings.TrimSpace(message) == "" {
		m.add(index, "OUP-ERROR-001", "an error lacks a code that is an integer, or a text")
		return
	}
	if data, there := fault["data"]; there && data == nil {
		m.add(index, "OUP-ERROR-001", "an error has data that is null; leave it out")
	}
	row, known := oupwire.ErrorByCode(n)
	if !known {
		m.add(index, "OUP-ERROR-001", "the code %d is in no row of the error table", n)
		return
	}
	data := child(fault, "data")
	kind := text(data, "kind")
	switch n {
	case oupwire.CodeMethodNotFound:
		if !strings.Contains(message, method) {
			m.add(index, "OUP-ERROR-002", "the text %q does not name %s", message, method)
		}
		if oupwire.LookupRequest(method) != nil {
			m.add(index, "OUP-ERROR-003", "%s is a method of the protocol: want %s", method, oupwire.ErrMethodNotSupported.Name)
		}
		return
	case oupwire.CodeMethodNotSupported:
		if text(data, "method") != method || text(data, "reason") == "" {
			m.add(index, "OUP-ERROR-003", "the data of the refusal lacks the method or a reason")
		}
		if oupwire.LookupRequest(method) == nil {
			m.add(index, "OUP-ERROR-002", "%s is no method of the protocol: want %s", method, oupwire.ErrMethodNotFound.Name)
		}
		return
	case oupwire.CodeUnknownSession:
		if text(data, "session_id") == "" {
			m.add(index, "OUP-ERROR-011", "the error does not name the session")
			return
		}
	case oupwire.CodeUnknownTaskID:
		if text(data, "task_id") == "" {
			m.add(index, "OUP-ERROR-012", "the error does not name the task")
			return
		}
	}
	m.kind(index, row.Name, kind, data)
}

// kind holds the detail of an error to the tables.
func (m *Monitor) kind(index int, name, kind string, data object) {
	var kinds []string
	model := ""
	for _, row := range oupwire.TableErrorKinds {
		if row.Error == name {
			kinds = append(kinds, row.Kind)
		}
		if row.Kind == kind && row.Error == name {
			model = row.Data
		}
	}
	if kind == "" {
		// An error that every row gives one kind cannot do without.
		if len(kinds) == 1 {
			m.add(index, "OUP-ERROR-008", "the error %s lacks its kind %s", name, kinds[0])
		}
		return
	}
	if model == "" {
		return // of a service, or one more
	}
	encoded, err := json.Marshal(data)
	if err == nil {
		err = oupwire.ValidateModel(model, encoded)
	}
	if err != nil {
		m.add(index, "OUP-ERROR-008", "the data of %s, kind %s: %v", name, kind, err)
	}
}

// ToServer takes a frame of the client. What breaks a rule is blamed on the client; a referee that plays one leaves
// those findings alone.
func (m *Monitor) ToServer(index int, frame []byte) {
	if len(frame) > oupwire.MaxTextFrameBytes {
		m.blame(index, "OUP-FRAME-004", "a frame of %d bytes, at most %d", len(frame), oupwire.MaxTextFrameBytes)
		return
	}
	if m.transport == "stdio" {
		frame = bytes.TrimSuffix(frame, []byte("\r"))
	}
	v, err := decode(frame)
	root, isObject := v.(object)
	if err != nil || !isObject || !utf8.Valid(frame) || bytes.ContainsAny(frame, "\r\n") || text(root, "jsonrpc") != jsonrpc {
		m.blame(index, "OUP-FRAME-002", "%.80q is no JSON object with jsonrpc %s on one line", frame, jsonrpc)
		return
	}
	method, hasMethod := root["method"].(string)
	id, hasID := root["id"]
	switch {
	case !hasMethod:
		m.blame(index, "OUP-FRAME-002", "a client sends requests and notifications, and no answers")
		return
	case !hasID:
		return
	}
	name, isText := id.(string)
	if !isText {
		m.blame(index, "OUP-FRAME-006", "the id of a request is no string")
		return
	}
	if _, waits := m.open[name]; waits {
		m.blame(index, "OUP-FRAME-007", "the id %q is that of a request that waits for its answer", name)
	}
	if _, there := root["params"]; !there {
		m.blame(index, "OUP-FRAME-013", "the request %s lacks params", method)
	}
	params, _ := root["params"].(object)
	m.open[name] = request{method: method, params: params, at: index, seen: map[string]bool{}}
	m.asks(index, method, params)
}

// asks looks at what a request is about.
func (m *Monitor) asks(index int, method string, params object) {
	row := oupwire.LookupRequest(method)
	if row != nil && params != nil {
		encoded, err := json.Marshal(params)
		if err == nil {
			err = oupwire.ValidateModel(row.Shapes[0].Params, encoded)
		}
		if err != nil {
			m.blame(index, "OUP-FRAME-037", "the params of %s: %v", method, err)
		}
	}
	if m.offered != nil && !slices.Contains(m.offered, method) && method != oupwire.MethodClientHello {
		m.blame(index, "OUP-CAPABILITY-008", "%s is called, which the server does not list", method)
	}
	switch method {
	case oupwire.MethodTurnStart:
		id := text(params, "turn_id")
		said, _ := json.Marshal(params["input"])
		if before, again := m.started[id]; again && before != string(said) {
			m.blame(index, "OUP-TURN-001", "the turn id %s is used for another turn", id)
		}
		m.started[id] = string(said)
		t := m.turn(id)
		t.ours = true
		t.here = !t.started
	case oupwire.MethodSessionOpen:
		if s := m.opened[text(params, "session_id")]; s != nil {
			s.replay = true
		}
	}
}

func (m *Monitor) turn(id string) *turn {
	if m.turns[id] == nil {
		m.turns[id] = &turn{tools: map[string]bool{}, segments: map[string]string{}}
	}
	return m.turns[id]
}
