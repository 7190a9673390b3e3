package methods_test

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/coder/websocket"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/discovery"
	"github.com/octet-dev/octet/host/engine"
	"github.com/octet-dev/octet/host/model"
	"github.com/octet-dev/octet/host/model/registry"
	"github.com/octet-dev/octet/host/oup/assembly"
	"github.com/octet-dev/octet/host/oup/transport"
	"github.com/octet-dev/octet/host/oup/web"
	"github.com/octet-dev/octet/host/selection"
	"github.com/octet-dev/octet/host/service/provider"
)

const (
	sessionA = "_main:local:a"
	// patience bounds every wait of these tests.
	patience = time.Minute
)

// brain is a model that does what the last line of the user says: "call NAME JSON" calls a tool, "wait" waits for
// the gate, "silence" is answered by nothing, anything else is repeated.
type brain struct {
	gate    chan struct{} // "wait" goes on when it is closed
	reached chan struct{} // has room for many; gets a value when somebody waits
	stopped chan struct{} // the same when somebody is told to wait no longer
}

func (b *brain) Name() string     { return "brain" }
func (b *brain) Protocol() string { return "brain" }
func (b *brain) Models(context.Context) ([]model.Info, error) {
	return []model.Info{{Provider: "brain", Model: "one", ContextWindow: 100_000, Input: []string{"text"}}}, nil
}

func (b *brain) Stream(ctx context.Context, r model.Request, emit func(model.Delta)) (*model.Response, error) {
	last := r.Messages[len(r.Messages)-1]
	if last.Role == conversation.Tool {
		return b.say("done", emit), nil
	}
	text := last.PlainText()
	if name, arguments, is := strings.Cut(strings.TrimPrefix(text, "call "), " "); is && strings.HasPrefix(text, "call ") {
		return &model.Response{
			Message: conversation.Message{Role: conversation.Assistant, Parts: []conversation.Part{{
				Kind: conversation.ToolCall, CallID: fmt.Sprint("call-", len(r.Messages)), Name: name, Arguments: json.RawMessage(arguments),
			}}},
			Stop: model.StopTools, UsageKnown: true,
		}, nil
	}
	if text == "silence" {
		return b.say("", emit), nil
	}
	if text == "wait" {
		b.reached <- struct{}{}
		select {
		case <-b.gate:
		case <-ctx.Done():
			b.stopped <- struct{}{}
			return nil, context.Cause(ctx)
		}
	}
	return b.say("heard "+text, emit), nil
}

func (b *brain) say(text string, emit func(model.Delta)) *model.Response {
	emit(model.Delta{Kind: conversation.Text, Text: text})
	return &model.Response{
		Message: conversation.Say(conversation.Assistant, text), Stop: model.StopEnd, UsageKnown: true,
		Usage: conversation.Usage{Input: 10, Output: 2},
	}
}

// world is a server with a data directory and a workspace, reached over pipes and over sockets.
type world struct {
	*testing.T
	*assembly.Assembly
	*brain
	data, work string
	url        string
	token      string
}

// newWorld opens one. It looks at the end that no goroutine is left.
func newWorld(t *testing.T, change ...func(*world)) *world {
	t.Helper()
	before := runtime.NumGoroutine()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	w := &world{
		T: t, data: filepath.Join(root, "data"), work: filepath.Join(root, "work"),
		brain: &brain{gate: make(chan struct{}), reached: make(chan struct{}, 100), stopped: make(chan struct{}, 100)},
	}
	for _, c := range change {
		c(w)
	}
	if err := os.MkdirAll(w.work, 0o700); err != nil {
		t.Fatal(err)
	}
	w.Assembly, err = assembly.Open(t.Context(), assembly.Options{
		DataDir: w.data, Workspace: w.work, Local: true, Shutdown: func() {},
		Machine: selection.Machine{Home: root, Lookup: func(string) (string, bool) { return "", false }, Discoverer: &discovery.Discoverer{}},
		Models: func(func(string) (string, bool)) (engine.Models, *provider.Registry, error) {
			models, err := registry.New(registry.Options{
				Default: "brain:one", Extensions: func() []model.Provider { return []model.Provider{w.brain} },
			})
			return models, nil, err
		},
		Log: func(err error) { t.Log("logged: ", err) },
	})
	if err != nil {
		t.Fatal(err)
	}
	site := web.New(web.Options{Token: w.token, Serve: func(ctx context.Context, conn transport.Conn) {
		if err := w.Server.Serve(ctx, conn); err != nil {
			t.Log("served: ", err)
		}
	}})
	listening := httptest.NewServer(site)
	w.url = "ws" + strings.TrimPrefix(listening.URL, "http")
	t.Cleanup(func() {
		site.Close(transport.Restart)
		listening.Close()
		if err := w.Assembly.Close(transport.Restart, 10*time.Second); err != nil {
			t.Error(err)
		}
		for limit := time.Now().Add(patience); runtime.NumGoroutine() > before+2; runtime.Gosched() {
			if time.Now().After(limit) {
				stacks := make([]byte, 1<<20)
				t.Fatalf("goroutines are left: %s", stacks[:runtime.Stack(stacks, true)])
			}
		}
	})
	return w
}

// frame is what a client got.
type frame struct {
	ID     *string         `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
	Error  *struct {
		Code    int64           `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data"`
	} `json:"error"`
	text string
}

// kind is the kind of an error, or empty.
func (f *frame) kind() string {
	var data struct {
		Kind string `json:"kind"`
	}
	if f.Error != nil {
		_ = json.Unmarshal(f.Error.Data, &data)
	}
	return data.Kind
}

// client is one connection. What it gets is kept in order.
type client struct {
	*testing.T
	write func([]byte) error
	close func()
	ended chan struct{}
	end   error

	mu     sync.Mutex
	frames []*frame
	more   chan struct{} // closed and replaced with every frame
	asked  int
}

func newClient(t *testing.T) *client {
	return &client{T: t, ended: make(chan struct{}), more: make(chan struct{})}
}

func (c *client) got(line []byte) {
	f := &frame{text: string(line)}
	if err := json.Unmarshal(line, f); err != nil {
		c.Errorf("no frame: %q: %v", line, err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.frames = append(c.frames, f)
	close(c.more)
	c.more = make(chan struct{})
}

// all are the frames that have come.
func (c *client) all() []*frame {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Clone(c.frames)
}

func (c *client) finish(err error) {
	c.end = err
	close(c.ended)
}

// stdio connects over two pipes of the system.
func (w *world) stdio() *client {
	w.Helper()
	inRead, inWrite, err := os.Pipe()
	if err != nil {
		w.Fatal(err)
	}
	outRead, outWrite, err := os.Pipe()
	if err != nil {
		w.Fatal(err)
	}
	c := newClient(w.T)
	served := make(chan struct{})
	go func() {
		defer close(served)
		if err := w.Server.Serve(w.Context(), transport.NewStdio(inRead, outWrite)); err != nil {
			w.Log("served: ", err)
		}
		_ = outWrite.Close()
	}()
	go func() {
		lines := bufio.NewReader(outRead)
		for {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				c.finish(err)
				return
			}
			c.got(bytes.TrimSuffix(line, []byte("\n")))
		}
	}()
	c.write = func(b []byte) error {
		_, err := inWrite.Write(b)
		return err
	}
	c.close = sync.OnceFunc(func() {
		_ = inWrite.Close()
		<-served
		<-c.ended
		_ = outRead.Close()
		_ = inRead.Close()
	})
	w.Cleanup(c.close)
	return c
}

// socket connects over WebSocket, with a query.
func (w *world) socket(query string) *client {
	w.Helper()
	c := newClient(w.T)
	ctx, cancel := context.WithCancel(context.WithoutCancel(w.Context()))
	conn, _, err := websocket.Dial(ctx, w.url+"/api/ui-protocol/ws"+query, nil)
	if err != nil {
		w.Fatal(err)
	}
	conn.SetReadLimit(oupwire.MaxTextFrameBytes)
	go func() {
		for {
			_, text, err := conn.Read(ctx)
			if err != nil {
				c.finish(err)
				return
			}
			c.got(text)
		}
	}()
	c.write = func(b []byte) error {
		for line := range bytes.Lines(b) {
			if err := conn.Write(ctx, websocket.MessageText, bytes.TrimSuffix(line, []byte("\n"))); err != nil {
				return err
			}
		}
		return nil
	}
	c.close = sync.OnceFunc(func() {
		_ = conn.Close(websocket.StatusNormalClosure, "")
		cancel()
		<-c.ended
	})
	w.Cleanup(c.close)
	return c
}

// both are the ways to connect.
var both = map[string]func(*world) *client{
	"stdio": (*world).stdio, "websocket": func(w *world) *client { return w.socket("") },
}

// request spells a request with an id of its own.
func (c *client) request(method string, params any) (line []byte, id string) {
	c.Helper()
	c.mu.Lock()
	c.asked++
	id = fmt.Sprint("r", c.asked)
	c.mu.Unlock()
	text, err := json.Marshal(map[string]any{"jsonrpc": "2.0", "id": id, "method": method, "params": params})
	if err != nil {
		c.Fatal(err)
	}
	return append(text, '\n'), id
}

// send sends a request.
func (c *client) send(method string, params any) (id string) {
	c.Helper()
	line, id := c.request(method, params)
	if err := c.write(line); err != nil {
		c.Fatal(err)
	}
	return id
}

// until waits for the first frame from a place on that is meant, and returns it with the place behind it.
func (c *client) until(from int, what string, meant func(*frame) bool) (*frame, int) {
	c.Helper()
	limit := time.After(patience)
	for {
		c.mu.Lock()
		frames, more := c.frames, c.more
		c.mu.Unlock()
		for ; from < len(frames); from++ {
			if meant(frames[from]) {
				return frames[from], from + 1
			}
		}
		select {
		case <-more:
		case <-c.ended:
			c.mu.Lock()
			rest := len(c.frames) > from
			c.mu.Unlock()
			if !rest {
				c.Fatalf("the connection ended (%v) before %s", c.end, what)
			}
		case <-limit:
			c.Fatalf("never: %s", what)
		}
	}
}

// answer waits for the answer to a request.
func (c *client) answer(id string) *frame {
	c.Helper()
	f, _ := c.until(0, "the answer to "+id, func(f *frame) bool { return f.ID != nil && *f.ID == id })
	return f
}

// ask sends a request and returns its answer.
func (c *client) ask(method string, params any) *frame {
	c.Helper()
	return c.answer(c.send(method, params))
}

// do is ask for a request that must succeed. The result is decoded into into, if that is not nil.
func (c *client) do(method string, params any, into any) {
	c.Helper()
	f := c.ask(method, params)
	if f.Error != nil {
		c.Fatalf("%s with %v: %s", method, params, f.text)
	}
	if into != nil {
		if err := json.Unmarshal(f.Result, into); err != nil {
			c.Fatalf("%s: %v", method, err)
		}
	}
}

// refused is ask for a request that must be refused with a code and a kind.
func (c *client) refused(method string, params any, code int64, kind string) *frame {
	c.Helper()
	f := c.ask(method, params)
	if f.Error == nil || f.Error.Code != code || f.kind() != kind {
		c.Errorf("%s with %.200v: %.400s; want code %d, kind %q", method, params, f.text, code, kind)
	}
	return f
}

type params = map[string]any

// hello negotiates every feature that there is, so that both transports have the same.
func (c *client) hello() *client {
	c.Helper()
	var features []string
	for _, f := range oupwire.Features {
		features = append(features, f.Name)
	}
	c.do(oupwire.MethodClientHello, params{"client": params{"name": "test"}, "supported_features": features}, nil)
	return c
}

func (c *client) open(session string) *client {
	c.Helper()
	c.do(oupwire.MethodSessionOpen, params{"session_id": session}, nil)
	return c
}

// turnID is a turn id of these tests.
func turnID(n int) string { return fmt.Sprintf("018f0000-0000-7000-8000-%012d", n) }

// start starts a turn.
func (c *client) start(session string, turn int, text string) {
	c.Helper()
	c.do(oupwire.MethodTurnStart, params{
		"session_id": session, "turn_id": turnID(turn), "input": []any{params{"kind": "text", "text": text}},
	}, nil)
}

// terminal waits for the end of a turn and returns how it ended.
func (c *client) terminal(turn int) string {
	c.Helper()
	f, _ := c.until(0, "the end of turn "+fmt.Sprint(turn), func(f *frame) bool {
		return f.Method == oupwire.MethodProjectionEnvelope && strings.Contains(f.text, turnID(turn)) && strings.Contains(f.text, `"turn_terminal"`)
	})
	var p struct {
		Payload struct {
			Data struct {
				Outcome string `json:"outcome"`
			} `json:"data"`
		} `json:"payload"`
	}
	if err := json.Unmarshal(f.Params, &p); err != nil {
		c.Fatal(err)
	}
	return p.Payload.Data.Outcome
}

// turn runs a turn to its end.
func (c *client) turn(session string, n int, text string) {
	c.Helper()
	c.start(session, n, text)
	if outcome := c.terminal(n); outcome != "completed" {
		c.Fatalf("turn %d %s", n, outcome)
	}
}

// notice waits for a notification.
func (c *client) notice(method string) *frame {
	c.Helper()
	f, _ := c.until(0, method, func(f *frame) bool { return f.Method == method })
	return f
}
