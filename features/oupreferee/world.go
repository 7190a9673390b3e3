// Package oupreferee judges OUP servers, as a client of them, and OUP clients, as their server.
package oupreferee

import (
	"context"
	"errors"
	"fmt"
	"os"
	"slices"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/octet-dev/octet/features/oupmonitor"
	"github.com/octet-dev/octet/features/verdict"
	"github.com/octet-dev/octet/features/wire"
	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
)

// Setup says which server is judged, and how.
type Setup struct {
	Target Target
	Other  *Target // the same server over the other transport; nil: none is known
	Ask    Ask
	Wait   time.Duration // bounds every wait for a frame
	// Beats has the scenarios run that wait for a heartbeat, which takes its interval.
	Beats bool
}

// world is the state of one scenario.
type world struct {
	setup  *Setup
	ctx    context.Context
	root   string
	server Server

	mu      sync.Mutex // guards what the readers of the connections write
	changed chan struct{}
	rec     *wire.Recorder
	clients map[string]*client
	cur     *client

	vars    map[string]any
	secrets []Secret // that were issued
	ids     int
	asked   string // method of the newest answer
	answer  *reply
	event   object // the newest that was waited for
}

// client is one connection.
type client struct {
	name     string
	line     Line
	monitor  *oupmonitor.Monitor
	features []string
	named    bool // names features

	frames []frame
	mark   int // frames up to it were before what is judged now
	size   int // bytes of them
	ended  bool
	flood  bool // ended because it told too much
	code   int
	reader sync.WaitGroup
}

// frame is one frame of the server.
type frame struct {
	index int
	root  object // nil for what is no object
}

func (f frame) method() string {
	m, _ := f.root["method"].(string)
	return m
}

// reply is one answer.
type reply struct {
	result any
	fault  object // nil for a result
	id     any
	place  int // in the frames of its connection
}

// outcome is the end of a scenario at a step.
type outcome struct {
	class   verdict.Class
	text    string
	blamed  []verdict.Finding // none: all rules of the scenario
	missing bool              // something that the scenario needs before it can judge
	silent  bool
}

func (o *outcome) Error() string { return o.text }

func (o *outcome) wrong(rule, text string) {
	if o.text == "" {
		o.class, o.text = verdict.Fail, text
	}
	o.blamed = append(o.blamed, verdict.Finding{Rule: rule, Message: text, Frame: -1, Offset: -1, Step: true})
}

func (o *outcome) orNil() error {
	if o.text == "" {
		return nil
	}
	return o
}

func failed(format string, args ...any) error {
	return &outcome{class: verdict.Fail, text: fmt.Sprintf(format, args...)}
}

func errored(format string, args ...any) error {
	return &outcome{class: verdict.Errored, text: fmt.Sprintf(format, args...)}
}

func notApplicable(format string, args ...any) error {
	return &outcome{class: verdict.NotApplicable, text: fmt.Sprintf(format, args...)}
}

// noAnswer is a failure that shows in silence alone.
func noAnswer(format string, args ...any) error {
	return &outcome{class: verdict.NoAnswer, text: fmt.Sprintf(format, args...), silent: true}
}

// missing is a failure of what comes before that which is judged.
func missing(format string, args ...any) error {
	return &outcome{class: verdict.Fail, text: fmt.Sprintf(format, args...), missing: true}
}

func newWorld(ctx context.Context, setup *Setup) (*world, error) {
	root, err := os.MkdirTemp("", "octet-oup-")
	if err != nil {
		return nil, err
	}
	w := &world{
		setup: setup, ctx: ctx, root: root, rec: wire.NewRecorder(nil), clients: map[string]*client{}, vars: map[string]any{}, changed: make(chan struct{}),
	}
	w.vars["workspace"] = root + "/workspace"
	w.vars["token"] = token
	w.vars["say"] = setup.Ask.Text
	w.vars["unique"] = newID()[24:]
	w.vars["transport"] = setup.Target.Transport
	w.vars["protocol"] = protocol("identifier")
	for _, dir := range []string{"/workspace", "/data"} {
		if err := os.MkdirAll(root+dir, 0o700); err != nil {
			return nil, err
		}
	}
	return w, os.WriteFile(root+"/workspace/a-file", []byte("a file\n"), 0o600)
}

// begin starts the server where that was not done.
func (w *world) begin() error {
	if w.server != nil {
		return nil
	}
	server, err := w.setup.Target.Start(w.ctx, w.root)
	if err != nil {
		return errored("%v", err)
	}
	w.server = server
	if r, is := server.(*running); is {
		w.vars["token"] = r.token
	}
	return nil
}

func (w *world) close() {
	for _, c := range w.clients {
		c.line.Close()
	}
	if w.server != nil {
		w.server.Close()
	}
	for _, c := range w.clients {
		c.reader.Wait()
	}
	// What a server left open is the system's to clean up.
	_ = os.RemoveAll(w.root)
}

func newID() string { return uuid.Must(uuid.NewV7()).String() }

func (w *world) newRequestID() string {
	w.ids++
	return fmt.Sprintf("r-%d", w.ids)
}

// registry are all features that a client may ask for.
func registry() []string {
	var all []string
	for _, f := range oupwire.Features {
		if f.Origin == "registry" {
			all = append(all, f.Name)
		}
	}
	return all
}

// adopt makes a connection one of the scenario.
func (w *world) adopt(name string, line Line, tokens []string) *client {
	c := &client{name: name, line: line, features: tokens, named: len(tokens) > 0}
	c.monitor = oupmonitor.New(w.setup.Target.Transport, nil)
	if w.setup.Target.Transport == WebSocket {
		c.monitor = oupmonitor.New(WebSocket, tokens)
		if secret, is := w.vars["token"].(string); is {
			c.monitor.Keep(secret)
		}
	}
	if old := w.clients[name]; old != nil {
		w.clients[fmt.Sprintf("%s before %d", name, len(w.clients))] = old
	}
	w.clients[name], w.cur = c, c
	c.reader.Go(func() { w.read(c) })
	return c
}

// What one connection may tell. No scenario is near it, and what floods costs no more memory and time than that.
const (
	maxTold      = 16384
	maxToldBytes = 64 << 20
)

// read takes what a server sends until the connection ends, or until it has told too much.
func (w *world) read(c *client) {
	for {
		line, err := c.line.Read()
		w.mu.Lock()
		if err != nil {
			c.ended, c.code = true, c.line.Code()
		} else {
			f := w.rec.Add(wire.FromSubject, line, true)
			c.monitor.FromServer(f.Index, line)
			root, _ := decode(line)
			o, _ := root.(object)
			c.frames = append(c.frames, frame{f.Index, o})
			c.size += len(line)
			c.flood = len(c.frames) >= maxTold || c.size >= maxToldBytes
			c.ended = c.flood
		}
		over := c.ended
		close(w.changed)
		w.changed = make(chan struct{})
		w.mu.Unlock()
		if over {
			return
		}
	}
}

// errSilent means that nothing came in time.
var errSilent = errors.New("silence")

// until waits until look finds what it looks for. It is called with the lock.
func (w *world) until(c *client, look func() bool) error {
	patience := w.patience()
	defer patience.Stop()
	for {
		w.mu.Lock()
		found, ended, changed := look(), c.ended, w.changed
		w.mu.Unlock()
		switch {
		case found:
			return nil
		case ended:
			return errSilent
		}
		select {
		case <-changed:
		case <-patience.C:
			if !patience.Extended() {
				return errSilent
			}
		case <-w.ctx.Done():
			return errSilent
		}
	}
}

// send writes one frame, or several at once.
func (w *world) send(c *client, payloads ...[]byte) error {
	var all []byte
	w.mu.Lock()
	for _, p := range payloads {
		f := w.rec.Add(wire.ToSubject, p, true)
		c.monitor.ToServer(f.Index, p)
		all = append(append(all, p...), '\n')
	}
	w.mu.Unlock()
	var err error
	if w.setup.Target.Transport == Stdio {
		err = c.line.Send(all)
	} else {
		for _, p := range payloads {
			err = errors.Join(err, c.line.Send(p))
		}
	}
	if err != nil {
		return missing("the connection does not take what is sent: %v", err)
	}
	return nil
}

// call sends a request and waits for its answer.
func (w *world) call(c *client, method string, params any) (*reply, error) {
	id := w.newRequestID()
	if err := w.send(c, encode(object{"jsonrpc": protocol("jsonrpc"), "id": id, "method": method, "params": params})); err != nil {
		return nil, err
	}
	return w.await(c, id, method)
}

// await waits for the answer to a request, or with nil for an error without an id.
func (w *world) await(c *client, id any, what string) (*reply, error) {
	from := c.mark
	var found *reply
	err := w.until(c, func() bool {
		for i := from; i < len(c.frames); i++ {
			f := c.frames[i]
			_, isResult := f.root["result"]
			fault, isFault := f.root["error"].(object)
			if f.root["id"] == id && (isResult && id != nil || isFault) {
				found = &reply{result: f.root["result"], fault: fault, id: f.root["id"], place: i}
				return true
			}
		}
		return false
	})
	if err != nil {
		if why := w.why(c); why != "" {
			return nil, noAnswer("%s is not answered%s", what, why)
		}
		return nil, noAnswer("%s is not answered within %s", what, w.setup.Wait)
	}
	w.asked = what
	return found, nil
}

// why tells of a connection that has ended.
func (w *world) why(c *client) string {
	w.mu.Lock()
	defer w.mu.Unlock()
	if !c.ended {
		return ""
	}
	if c.flood {
		return fmt.Sprintf("; the server sent %d frames of %d bytes together, and is read no further", len(c.frames), c.size)
	}
	if c.code != 0 {
		return fmt.Sprintf("; the connection was closed with %d", c.code)
	}
	return "; the connection has ended"
}

// fence asks for something and waits for the answer: what was to come has come then.
func (w *world) fence(c *client) error {
	r, err := w.call(c, oupwire.MethodConfigCapabilitiesList, object{})
	if err != nil {
		return err
	}
	if r.fault != nil {
		return missing("%s is refused: %s", oupwire.MethodConfigCapabilitiesList, short(r.fault))
	}
	return nil
}

// refusedAsUnsupported reports whether a method is not there, and said to be so.
func refusedAsUnsupported(fault object) bool {
	code, _ := at(fault, "code")
	return fmt.Sprint(code) == fmt.Sprint(oupwire.CodeMethodNotSupported)
}

// errorName is the name of the row of an error.
func errorName(fault object) string {
	code := fmt.Sprint(fault["code"])
	var n int64
	if _, err := fmt.Sscan(code, &n); err != nil {
		return code
	}
	if row, known := oupwire.ErrorByCode(n); known {
		return row.Name
	}
	return code
}

// findings are what the server broke in every frame.
func (w *world) findings() []verdict.Finding {
	w.mu.Lock()
	defer w.mu.Unlock()
	var out []verdict.Finding
	for _, c := range w.clients {
		for _, f := range c.monitor.Findings() {
			if !f.Client {
				out = append(out, verdict.Finding{Rule: f.Rule, Message: f.Message, Frame: f.Frame, Offset: -1})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b verdict.Finding) int { return a.Frame - b.Frame })
	return out
}

// requests are all requests of the protocol.
func requests() []*wirejson.Method {
	var out []*wirejson.Method
	for i := range oupwire.Methods {
		if m := &oupwire.Methods[i]; !m.Notification && m.Direction == wirejson.ClientToServer {
			out = append(out, m)
		}
	}
	return out
}
