// Package oupserver is an OUP server that keeps its sessions in memory and has a script for a model. It keeps every
// rule that a run judges; with a fault it breaks exactly one. It proves the referee of servers, and it is what the
// referee of clients shows to them.
package oupserver

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"io"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"sync"
	"time"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
)

type object = map[string]any

// Server is one server. It is safe for concurrent use.
type Server struct {
	// Tap is told of every frame of every connection, counted from 0; one at a time. Upgrade is told of every try to
	// connect over WebSocket.
	Tap     func(conn int, client bool, frame []byte)
	Upgrade func(header http.Header, query url.Values)
	// Directory is where digests of work secrets are kept; empty: nowhere but in memory.
	Directory string

	fault Fault
	token string

	mu       sync.Mutex // guards everything below and what hangs on it
	changed  *sync.Cond // told of every change that a turn may wait for
	sessions map[string]*session
	numbers  map[string]int64  // of deleted ledgers: what came last
	used     map[string]object // turn ids of deleted sessions
	grants   []grant
	mode     oupwire.RouterMode // of the router
	book     book
	conns    map[*conn]bool
	rest     time.Duration // between two heartbeats
	stopping bool
	replays  bool          // a replay is under way
	ended    chan struct{} // closed once server/shutdown has taken effect
	turns    sync.WaitGroup
	alive    map[*turn]bool
	count    int            // of connections
	played   map[string]int // how often a play has acted
	clock    time.Time
}

// Token is what clients over WebSocket have to show.
const Token = "conform-0123456789abcdef"

// New returns a server with a fault; the empty one has none. The heart beats at the interval that is given, which a
// selftest shortens; none is that of the protocol.
func New(fault Fault, heartbeat time.Duration) *Server {
	s := &Server{
		fault: fault, token: Token, sessions: map[string]*session{}, numbers: map[string]int64{}, used: map[string]object{}, conns: map[*conn]bool{}, alive: map[*turn]bool{}, played: map[string]int{},
		rest: heartbeat, ended: make(chan struct{}), clock: time.Now().UTC(), mode: oupwire.RouterModeOff,
	}
	if s.rest == 0 {
		s.rest = oupwire.HeartbeatIntervalMs * time.Millisecond
	}
	s.changed = sync.NewCond(&s.mu)
	return s
}

// does reports whether the fault has the server act so.
func (s *Server) does(act string) bool { return slices.Contains(s.fault.does, act) }

// now is a moment that never comes twice.
func (s *Server) now() string {
	s.clock = s.clock.Add(time.Millisecond)
	if s.does("spells moments in another zone") {
		return s.clock.In(time.FixedZone("", 3600)).Format(time.RFC3339Nano)
	}
	return s.clock.Format(time.RFC3339Nano)
}

// conn is one connection.
type conn struct {
	number    int
	s         *Server
	transport oupwire.Transport
	features  features
	opened    map[*session]bool
	profile   string // of the last open that succeeded
	commands  map[string]int
	greeted   bool
	hello     []string // features of the first hello
	opens     map[*session]int
	granted   *granted // the client has shown a work secret

	queue  [][]byte // waits to be written
	idle   bool     // the writer has nothing to do
	gone   bool     // nothing more is queued
	code   int      // with which a socket is closed
	failed bool     // reading is to stop
}

func (s *Server) connect(transport oupwire.Transport, tokens []string) *conn {
	s.mu.Lock()
	defer s.mu.Unlock()
	c := &conn{s: s, transport: transport, opened: map[*session]bool{}, opens: map[*session]int{}}
	c.features = s.defaults(transport)
	if named, any := s.named(tokens); any {
		c.features = named
	}
	c.number = s.count
	s.count++
	s.conns[c] = true
	return c
}

// leave ends a connection. Over standard streams that is the end of the server.
func (s *Server) leave(c *conn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.conns, c)
	if s.does("forgets the mode of its router with a connection") {
		s.mode = oupwire.RouterModeOff
	}
	if c.transport == oupwire.TransportStdio && !s.does("goes on behind the end of its input") || s.does("stops turns with their socket") {
		for _, key := range slices.Sorted(maps.Keys(s.sessions)) {
			if t := s.sessions[key].running; t != nil {
				t.interrupt()
			}
		}
	}
	for ses := range c.opened {
		for _, a := range ses.approvals {
			if a.state == pending && s.does("cancels approvals with their socket") {
				a.state, a.reason = cancelled, "waiter_dropped"
			}
		}
		if s.does("forgets sessions with their socket") {
			delete(s.sessions, ses.key)
		}
	}
	s.changed.Broadcast()
}

// write writes what is queued until the connection has gone and nothing is left.
func (c *conn) write(put func([]byte) error) {
	s := c.s
	s.mu.Lock()
	defer s.mu.Unlock()
	for {
		for len(c.queue) == 0 {
			if c.gone {
				return
			}
			c.idle = true
			s.changed.Broadcast()
			s.changed.Wait()
			c.idle = false
		}
		frame := c.queue[0]
		c.queue = c.queue[1:]
		s.mu.Unlock()
		err := put(frame)
		s.mu.Lock()
		if err != nil {
			c.gone, c.queue = true, nil
			return
		}
	}
}

func (c *conn) end() {
	c.s.mu.Lock()
	defer c.s.mu.Unlock()
	c.gone = true
	c.s.changed.Broadcast()
}

// send queues one frame.
func (c *conn) send(what string, frame object) {
	if c.gone {
		return
	}
	if c.s.fault.frame != nil {
		c.s.fault.frame(c.s, c, what, frame)
		if frame["method"] == nil && frame["id"] == nil && frame["error"] == nil && frame["result"] == nil {
			return // taken back
		}
	}
	text := encode(frame)
	if c.s.fault.bytes != nil {
		text = c.s.fault.bytes(c.s, what, text)
	}
	if text != nil {
		c.put(text)
	}
	if c.s.fault.more != nil {
		frames, code := c.s.fault.more(c.s, c, what, frame)
		for _, f := range frames {
			c.put(encode(f))
		}
		if code != 0 {
			c.code, c.gone, c.failed = code, true, true
		}
	}
	c.s.changed.Broadcast()
}

// put queues the bytes of a frame.
func (c *conn) put(text []byte) {
	c.queue = append(c.queue, text)
	if c.s.Tap != nil {
		c.s.Tap(c.number, false, text)
	}
}

// encode writes compact JSON; markup characters stay what they are.
func encode(v any) []byte {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(v); err != nil {
		panic("oupserver: " + err.Error())
	}
	return bytes.TrimSuffix(b.Bytes(), []byte("\n"))
}

// decode reads JSON; numbers stay as they are spelled.
func decode(text []byte) any {
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.UseNumber()
	var v any
	if dec.Decode(&v) != nil {
		return nil
	}
	return v
}

// copied is a tree that may be changed alone.
func copied(o object) object {
	tree, _ := decode(encode(o)).(object)
	return tree
}

// ServeStdio serves one client over standard streams until its input ends.
func (s *Server) ServeStdio(in io.Reader, out io.Writer) {
	c := s.connect(oupwire.TransportStdio, nil)
	var writing sync.WaitGroup
	writing.Go(func() {
		c.write(func(frame []byte) error {
			_, err := out.Write(append(frame, s.lineEnd()...))
			return err
		})
	})
	if s.does("beats over standard streams") {
		s.mu.Lock()
		c.send("event", object{"jsonrpc": version, "method": oupwire.MethodServerHeartbeat, "params": object{}})
		s.mu.Unlock()
	}
	if s.does("prints a banner") {
		_, _ = io.WriteString(out, "listening on standard input\n")
	}
	s.readLines(c, in)
	s.leave(c)
	s.turns.Wait()
	c.end()
	writing.Wait()
}

func (s *Server) lineEnd() string {
	if s.does("ends lines with CR LF") {
		return "\r\n"
	}
	return "\n"
}

// readLines carries out line after line. One over the bound is dropped while it is read.
func (s *Server) readLines(c *conn, in io.Reader) {
	r := bufio.NewReaderSize(in, 64<<10)
	var line []byte
	over := false
	for {
		part, err := r.ReadSlice('\n')
		ended := err == nil
		if !over {
			line = append(line, part...)
		}
		if len(line) > oupwire.MaxTextFrameBytes+2 {
			line, over = nil, true
			if s.does("reads the end of a long line as another") {
				s.receive(c, nil, true)
				over = false
			}
		}
		if errors.Is(err, bufio.ErrBufferFull) {
			continue
		}
		switch {
		case ended:
			line = bytes.TrimSuffix(line, []byte("\n"))
			if !s.does("keeps a CR") {
				line = bytes.TrimSuffix(line, []byte("\r"))
			}
			s.receive(c, line, over)
		case len(line) > 0 && !s.does("drops a last line without LF"):
			s.receive(c, line, over)
		}
		line, over = nil, false
		if err != nil || s.over(c) {
			return
		}
		if s.does("takes one line of a write") {
			_, _ = r.Discard(r.Buffered())
		}
	}
}

func (s *Server) over(c *conn) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return c.failed
}

// message is what a client sent.
type message struct {
	id           string
	notification bool
	method       string
	params       []byte // nil: there are none
}

// failure is an error that is answered.
type failure struct {
	code wirejson.ErrorCode
	text string
	data object
}

func fail(code wirejson.ErrorCode, text string, data object) *failure {
	return &failure{code: code, text: text, data: data}
}

// failKind is an error whose detail has a kind.
func failKind(code wirejson.ErrorCode, kind, text string, data object) *failure {
	all := object{"kind": kind}
	maps.Copy(all, data)
	return fail(code, text, all)
}

// version is that of JSON-RPC.
var version = protocolText("jsonrpc")

// protocolText looks a text of the protocol up.
func protocolText(name string) string {
	for _, row := range oupwire.TableProtocol {
		if row.Name == name {
			return row.Value
		}
	}
	panic("oupserver: the protocol has no text " + name)
}

// receive carries one frame out.
func (s *Server) receive(c *conn, frame []byte, over bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.Tap != nil {
		s.Tap(c.number, true, bytes.Clone(frame))
	}
	m, f := s.read(frame, over)
	if s.does("answers a batch one by one") {
		if list, ok := decode(frame).([]any); ok {
			for range list {
				c.refuse(nil, fail(oupwire.ErrParseError, "no batch", nil))
			}
			return
		}
	}
	if f != nil {
		if f.code.Code == oupwire.CodeFrameTooLarge && c.transport == oupwire.TransportWebsocket && !s.does("stays behind a frame over the bound") {
			c.refuse(nil, f)
			c.code, c.gone, c.failed = closeTooLarge, true, true
			return
		}
		c.refuse(s.faultyID(frame), f)
		if s.does("ends behind a faulty frame") {
			c.gone, c.failed = true, true
		}
		return
	}
	if m == nil {
		return
	}
	if m.notification {
		s.notified(c, m)
		return
	}
	if c.lapsed() {
		return
	}
	c.carryOut(m)
}

// faultyID is what the answer to a faulty frame names, which is nothing.
func (s *Server) faultyID(frame []byte) any {
	if s.does("names the id of a faulty frame") {
		if o, ok := decode(frame).(object); ok {
			return o["id"]
		}
	}
	return nil
}

// read judges a frame. The steps and their order are those of OUP-FRAME-018. No message and no failure means that
// a fault passes the frame over.
func (s *Server) read(frame []byte, over bool) (*message, *failure) {
	unreadable := func(text string) (*message, *failure) { return nil, fail(oupwire.ErrParseError, text, nil) }
	bound := oupwire.MaxTextFrameBytes
	if s.does("takes no frame of the bound") {
		bound--
	}
	switch {
	case (over || len(frame) > bound) && !s.does("passes frames over the bound over"):
		if s.does("tells no bound") {
			return nil, fail(oupwire.ErrFrameTooLarge, "the frame is too long", nil)
		}
		return nil, fail(oupwire.ErrFrameTooLarge, "the frame is too long", object{"limit_bytes": oupwire.MaxTextFrameBytes})
	case over:
		return nil, nil
	case len(bytes.TrimSpace(frame)) == 0:
		if s.does("passes blank lines over") {
			return nil, nil
		}
		return unreadable("the frame is blank")
	}
	if bytes.ContainsAny(frame, "\r\n") {
		return unreadable("the frame has a line break")
	}
	document, err := wirejson.Parse(frame, oupwire.MaxDepth)
	if err != nil {
		if s.does("passes bytes that are no UTF-8 over") {
			return nil, nil
		}
		return unreadable(err.Error())
	}
	document.Release()
	root, isObject := decode(frame).(object)
	if !isObject {
		return unreadable("the frame is no object")
	}
	if f := s.readID(root); f != nil && s.does("judges the id before the version") {
		return nil, f
	}
	if root["jsonrpc"] != version && !s.does("takes every version") {
		return nil, fail(oupwire.ErrInvalidRequest, "the frame lacks jsonrpc "+version, nil)
	}
	_, result := root["result"]
	_, failed := root["error"]
	_, hasMethod := root["method"]
	switch {
	case (result || failed) && !hasMethod && s.does("passes answers of a client over"):
		return nil, nil
	case result || failed || !hasMethod:
		if hasMethod && s.does("takes a method beside a result") {
			break
		}
		return unreadable("the frame is no request and no notification")
	}
	return s.readMembers(root)
}

func (s *Server) readID(root object) *failure {
	id, there := root["id"]
	if _, isText := id.(string); there && !isText {
		return fail(oupwire.ErrParseError, "the id is no string", nil)
	}
	return nil
}

func (s *Server) readMembers(root object) (*message, *failure) {
	m := &message{}
	id, there := root["id"]
	m.notification = !there
	if f := s.readID(root); f != nil {
		if !s.does("takes an id that is no string") {
			return nil, f
		}
		m.id = string(encode(id))
	} else {
		m.id, _ = id.(string)
	}
	name, isText := root["method"].(string)
	if !isText || name == "" {
		return nil, fail(oupwire.ErrParseError, "the method is no name", nil)
	}
	m.method = name
	params, there := root["params"]
	if there {
		m.params = encode(params)
	} else if !m.notification && !s.does("takes a request without params") {
		return nil, fail(oupwire.ErrParseError, "the request lacks params", nil)
	}
	return m, nil
}

func (s *Server) notified(c *conn, m *message) {
	row := oupwire.LookupNotification(m.method)
	known := row != nil && row.Direction == wirejson.ClientToServer
	switch {
	case !known && s.does("answers an unknown notification"):
		c.refuse(nil, fail(oupwire.ErrMethodNotFound, "no notification "+m.method, nil))
	case m.params != nil && known && s.does("answers a notification with broken params") && oupwire.ValidateModel(row.Shapes[0].Params, m.params) != nil:
		c.refuse(nil, fail(oupwire.ErrInvalidParams, "broken params", nil))
	case m.params == nil && s.does("refuses a notification without params"):
		c.refuse(nil, fail(oupwire.ErrParseError, "the notification lacks params", nil))
	case known && s.does("answers a ping"):
		c.send("event", object{"jsonrpc": version, "id": nil, "result": object{}})
	}
}

// carryOut answers a request.
func (c *conn) carryOut(m *message) {
	if m.method == oupwire.MethodSessionAppendMessage && c.s.does("appends behind what follows") {
		c.soon(func() { c.perform(m) })
		return
	}
	c.perform(m)
}

// perform answers a request at once.
func (c *conn) perform(m *message) {
	result, f, then := c.s.call(c, m)
	if f != nil {
		c.refuse(m.id, f, m.method)
		return
	}
	if result != nil && c.s.does("refuses what is too large to answer") && len(encode(result)) > oupwire.MaxTextFrameBytes-frameRoom {
		c.refuse(m.id, fail(oupwire.ErrInternalError, "the answer is too large", nil), m.method)
		return
	}
	if result != nil && c.s.does("takes its time") {
		c.soon(func() {
			c.answer(m, fit(result))
			for _, do := range then {
				do()
			}
		})
		return
	}
	if result != nil {
		c.answer(m, fit(result))
	}
	for _, do := range then {
		do()
	}
}

// thought is how long a server takes that takes its time.
const thought = 30 * time.Millisecond

// soon does something behind what comes meanwhile.
func (c *conn) soon(do func()) {
	time.AfterFunc(thought, func() {
		c.s.mu.Lock()
		defer c.s.mu.Unlock()
		do()
	})
}

// frameRoom is what a frame needs beside its result.
const frameRoom = 4096

// fit cuts a result to the newest rows that fit into a frame.
func fit(result object) object {
	for _, row := range list(result, "messages") {
		if o, is := row.(object); is && len(text(o, "content")) > oupwire.MaxFrameTextBytes {
			o["content"] = text(o, "content")[:oupwire.MaxFrameTextBytes]
		}
	}
	size := len(encode(result))
	for len(list(result, "messages")) > 0 && size > oupwire.MaxTextFrameBytes-frameRoom {
		if result["truncated"] == nil {
			dropEnvelopes(result)
			size = len(encode(result))
			result["truncated"] = true
			continue
		}
		size -= len(encode(list(result, "messages")[0]))
		result["messages"] = list(result, "messages")[1:]
	}
	return result
}

// dropEnvelopes leaves out what is told of messages a second time.
func dropEnvelopes(result object) {
	for _, name := range []string{"replayed_projection_envelopes", "projection_envelopes"} {
		if result[name] != nil {
			result[name] = []any{}
		}
	}
	if snapshot := child(result, "projection_snapshot"); snapshot != nil {
		snapshot["envelopes"] = []any{}
		result["projection_thread_sequences"] = object{}
	}
}

func (c *conn) answer(m *message, result object) {
	c.send(m.method, object{"jsonrpc": version, "id": m.id, "result": result})
}

func (c *conn) refuse(id any, f *failure, method ...string) {
	e := object{"code": f.code.Code, "message": f.text}
	if f.data != nil {
		e["data"] = f.data
	}
	what := "fault"
	if len(method) > 0 {
		what = method[0]
		if e["message"] = method[0] + ": " + f.text; c.s.does("names no method") {
			e["message"] = "no"
		}
	}
	c.send(what, object{"jsonrpc": version, "id": id, "error": e})
}

// handler carries one method out. What is returned last is done once the answer is queued.
type handler func(s *Server, c *conn, p object) (object, *failure, []func())

// call finds the row of a request, looks whether it may be called, and carries it out.
func (s *Server) call(c *conn, m *message) (object, *failure, []func()) {
	row := oupwire.LookupRequest(m.method)
	if s.does("looks at params before a gate") && row != nil && oupwire.ValidateModel(row.Shapes[0].Params, m.params) != nil {
		return nil, fail(oupwire.ErrInvalidParams, "broken params", nil), nil
	}
	if s.does("needs a hello") && !c.greeted && m.method == oupwire.MethodSessionOpen {
		return nil, fail(oupwire.ErrInvalidRequest, "say hello first", nil), nil
	}
	if refusal := s.judge(c, m.method); refusal != nil {
		return nil, refusal, nil
	}
	if !s.handles(m.method) {
		return object{}, nil, nil // a fault makes it up
	}
	params := m.params
	if string(params) == "null" || params == nil {
		if s.does("refuses params that are null") {
			return nil, fail(oupwire.ErrInvalidParams, "params are null", nil), nil
		}
		params = []byte("{}")
	}
	if err := oupwire.ValidateModel(row.Shapes[0].Params, params); err != nil && !s.loose(m.method, err) {
		return nil, s.refuseParams(m.method, err), nil
	}
	p, _ := decode(params).(object)
	if s.does("refuses members that no model lists") {
		for name := range p {
			if name == "additional" {
				return nil, fail(oupwire.ErrInvalidParams, "additional is unknown", nil), nil
			}
		}
	}
	for name, v := range p {
		if v == nil {
			if s.does("refuses null for an optional member") {
				return nil, fail(oupwire.ErrInvalidParams, name+" is null", nil), nil
			}
			delete(p, name) // absent and null mean the same
		}
	}
	if f := c.held(m.method, p); f != nil {
		return nil, f, nil
	}
	return handlers[m.method](s, c, p)
}

// loose reports whether a fault lets params through that break their model.
func (s *Server) loose(method string, err error) bool {
	var v *wirejson.Violation
	return errors.As(err, &v) && (s.does("takes broken params") && method == oupwire.MethodSessionTitleSet ||
		s.does("answers a blank question") && method == oupwire.MethodSessionBtw ||
		s.does("decides without a session") && method == oupwire.MethodApprovalRespond ||
		s.does("takes a cursor of a wrong type") && v.Pointer == "/after/seq" ||
		s.does("takes broken params of a service") && method == oupwire.MethodProfileLlmUpsert ||
		s.does("takes any origin") && v.Pointer == "/origin/extra" ||
		s.does("gives a page of no rows") && v.Pointer == "/limit")
}

func text(o object, name string) string {
	v, _ := o[name].(string)
	return v
}

// number reads an integer; there is whether one stands there.
func number(o object, name string) (n int64, there bool) {
	v, there := o[name].(json.Number)
	if !there {
		return 0, false
	}
	n, err := v.Int64()
	return n, err == nil
}

func child(o object, name string) object {
	v, _ := o[name].(object)
	return v
}

func list(o object, name string) []any {
	v, _ := o[name].([]any)
	return v
}
