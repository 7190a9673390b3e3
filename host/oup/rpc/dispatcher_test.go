package rpc_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http/httptest"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/coder/websocket"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/oup/negotiation"
	"github.com/octet-dev/octet/host/oup/rpc"
	"github.com/octet-dev/octet/host/oup/transport"
)

// handler answers with what answer returns.
func handler(answer func(context.Context, *rpc.Call, oupwire.SessionTitleSetParams) (wirejson.Encoder, error)) map[string]rpc.Handler {
	return map[string]rpc.Handler{oupwire.MethodSessionTitleSet: rpc.Handle(oupwire.DecodeSessionTitleSetParams, answer)}
}

// echo answers with the title.
func echo(_ context.Context, _ *rpc.Call, p oupwire.SessionTitleSetParams) (wirejson.Encoder, error) {
	text, err := json.Marshal(p.Title)
	return wirejson.Raw(text), err
}

func titleSet(id, title string) string {
	return fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"method":%q,"params":{"session_id":"s","title":%q}}`, id, oupwire.MethodSessionTitleSet, title)
}

// client is the other end of a connection in memory.
type client struct {
	t *testing.T
	*transport.Memory
	ended chan error
}

func connect(t *testing.T, o rpc.Options, opened func(*rpc.Connection)) *client {
	t.Helper()
	d, err := rpc.New(o)
	if err != nil {
		t.Fatal(err)
	}
	server, far := transport.Pipe(transport.Info{Transport: oupwire.TransportStdio})
	c := &client{t: t, Memory: far, ended: make(chan error, 1)}
	go func() { c.ended <- d.Serve(t.Context(), server, opened) }()
	t.Cleanup(func() { _ = far.Close(transport.Ended) })
	return c
}

func options(handlers map[string]rpc.Handler) rpc.Options {
	var all []string
	for _, f := range oupwire.Features {
		all = append(all, f.Name)
	}
	return rpc.Options{Features: all, Handlers: handlers}
}

func (c *client) send(frame string) {
	c.t.Helper()
	if err := c.Send([]byte(frame)); err != nil {
		c.t.Fatal(err)
	}
}

func (c *client) want(frame string) {
	c.t.Helper()
	got, err := c.Read()
	if err != nil || string(got) != frame {
		c.t.Errorf("read %s, %v\nwant %s", got, err, frame)
	}
}

// failure reads an error and returns its id and object.
func (c *client) failure() (wirejson.Opt[string], oupwire.ErrorObject) {
	c.t.Helper()
	got, err := c.Read()
	if err != nil {
		c.t.Fatal(err)
	}
	answer, err := oupwire.DecodeJsonRpcErrorResponse(got)
	if err != nil {
		c.t.Fatalf("%s: %v", got, err)
	}
	return answer.ID, answer.Error
}

// TestServe_answersAsIfRequestsHadComeOneByOne: OUP-FRAME-035, OUP-FRAME-009 each once, OUP-FRAME-008 with its id, the
// empty one included.
func TestServe_answersAsIfRequestsHadComeOneByOne(t *testing.T) {
	d, err := rpc.New(options(handler(echo)))
	if err != nil {
		t.Fatal(err)
	}
	in, ask, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	answers, out, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	ended := make(chan error, 1)
	go func() { ended <- d.Serve(t.Context(), transport.NewStdio(in, out), nil) }()
	ids := []string{"a", "", "ä\\u0000\"", "b", "c"}
	var write, want strings.Builder
	for i, id := range ids {
		name, _ := json.Marshal(id)
		fmt.Fprintf(&write, `{"jsonrpc":"2.0","id":%s,"method":%q,"params":{"session_id":"s","title":"%d"}}`+"\n", name, oupwire.MethodSessionTitleSet, i)
		fmt.Fprintf(&want, `{"id":%s,"jsonrpc":"2.0","result":"%d"}`+"\n", name, i)
	}
	if _, err := io.WriteString(ask, write.String()); err != nil {
		t.Fatal(err)
	}
	if err := ask.Close(); err != nil {
		t.Fatal(err)
	}
	got, err := io.ReadAll(answers)
	if err != nil || string(got) != want.String() {
		t.Errorf("read %s, %v\nwant %s", got, err, want.String())
	}
	if err := <-ended; err != nil {
		t.Error(err)
	}
}

// TestServe_goesOnBehindAFaultyFrame: OUP-FRAME-019 the answer has a null id, OUP-FRAME-020 the next frame is taken,
// OUP-FRAME-005 a frame over the bound is answered with the bound, OUP-STDIO-005 a blank line, OUP-STDIO-006 a line that
// is no UTF-8.
func TestServe_goesOnBehindAFaultyFrame(t *testing.T) {
	c := connect(t, options(handler(echo)), nil)
	for frame, code := range map[string]int64{
		strings.Repeat("x", oupwire.MaxTextFrameBytes+1): oupwire.CodeFrameTooLarge,
		"": oupwire.CodeParseError, "\xff": oupwire.CodeParseError, `{"jsonrpc":"2.0","id":"seen"}`: oupwire.CodeParseError,
		`{"id":"seen","method":"m","params":{}}`: oupwire.CodeInvalidRequest,
	} {
		c.send(frame)
		id, failure := c.failure()
		if !id.IsNull() || failure.Code != code {
			t.Errorf("%.40q: id %v, %+v, want %d", frame, id, failure, code)
		}
		if data, has := failure.Data.Get(); code == oupwire.CodeFrameTooLarge && (!has || string(data) != `{"limit_bytes":1048576}`) {
			t.Errorf("the detail is %s", data)
		}
		c.send(titleSet("next", "t"))
		c.want(`{"id":"next","jsonrpc":"2.0","result":"t"}`)
	}
}

// TestServe_answersNoNotification: OUP-FRAME-021 and OUP-FRAME-022, OUP-SOCKET-014 ping too.
func TestServe_answersNoNotification(t *testing.T) {
	c := connect(t, options(handler(echo)), nil)
	for _, frame := range []string{
		`{"jsonrpc":"2.0","method":"ping","params":{"ts":1}}`, `{"jsonrpc":"2.0","method":"ping"}`,
		`{"jsonrpc":"2.0","method":"no/such","params":[7]}`,
		fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":{"session_id":"s","title":"t"}}`, oupwire.MethodSessionTitleSet),
	} {
		c.send(frame)
	}
	c.send(titleSet("a", "t"))
	c.want(`{"id":"a","jsonrpc":"2.0","result":"t"}`)
}

// TestServe_refusesByTheTables: OUP-ERROR-002 a name outside the protocol, OUP-ERROR-003 and OUP-SERVICE-021 what is not
// offered, OUP-ERROR-006 params that break their model, OUP-FEATURE-016 a closed gate before broken params, OUP-ERROR-001
// data only where there is something to add.
func TestServe_refusesByTheTables(t *testing.T) {
	called := false
	c := connect(t, options(handler(func(context.Context, *rpc.Call, oupwire.SessionTitleSetParams) (wirejson.Encoder, error) {
		called = true
		return nil, nil
	})), nil)
	ask := func(method, params string, code int64, data string) {
		t.Helper()
		c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":"x","method":%q,"params":%s}`, method, params))
		id, failure := c.failure()
		if got := failure.Data.Or(nil); id.Or("") != "x" || failure.Code != code || !strings.Contains(failure.Message, method) || string(got) != data {
			t.Errorf("%s: %+v with %s, want %d with %s", method, failure, got, code, data)
		}
	}
	title := oupwire.MethodSessionTitleSet
	ask("no/such", `7`, oupwire.CodeMethodNotFound, "")
	ask(oupwire.MethodReviewStart, `7`, oupwire.CodeMethodNotSupported, `{"method":"review/start","reason":"unsupported by this server"}`)
	ask(title, `{"title":"t"}`, oupwire.CodeInvalidParams, `{"method":"session/title.set","pointer":"/session_id","violation":"missing"}`)
	ask(title, `null`, oupwire.CodeInvalidParams, `{"method":"session/title.set","pointer":"/session_id","violation":"missing"}`)
	ask(title, `[]`, oupwire.CodeInvalidParams, `{"method":"session/title.set","pointer":"","violation":"not_object"}`)
	ask(oupwire.MethodAuthMe, `{}`, oupwire.CodePermissionDenied,
		`{"kind":"auth_unavailable","method":"auth/me","recoverable":true,"recovery":"needs an identity; connect over WebSocket with a token"}`)
	c.send(`{"jsonrpc":"2.0","id":"h","method":"client_hello","params":{"features":["plan.todos.v1"]}}`)
	if _, err := c.Read(); err != nil {
		t.Fatal(err)
	}
	ask(title, `7`, oupwire.CodeMethodNotSupported,
		`{"method":"session/title.set","reason":"needs the feature auxiliary.rest_to_ws.v1; name it when you connect or in client_hello"}`)
	if called {
		t.Error("a refused request was carried out")
	}
}

// TestServe_greets: OUP-HELLO-001 more than once, OUP-HELLO-004 the new features hold behind the answer, OUP-HELLO-006 it
// fails for params of a wrong type alone, OUP-CAPABILITY-005 any params, OUP-FRAME-014 null and {} alike.
func TestServe_greets(t *testing.T) {
	var conn *rpc.Connection
	c := connect(t, options(handler(echo)), func(opened *rpc.Connection) { conn = opened })
	for _, params := range []string{`null`, `{}`, `{"features":["no.such.v9"]}`, `{"client":[1],"features":["plan.todos.v1"]}`} {
		c.send(`{"jsonrpc":"2.0","id":"h","method":"client_hello","params":` + params + `}`)
		frame, err := c.Read()
		if err != nil {
			t.Fatal(err)
		}
		answer, err := oupwire.DecodeJsonRpcSuccessResponse(frame)
		if err != nil {
			t.Fatal(err)
		}
		hello, err := oupwire.DecodeServerHelloResult(answer.Result.Or(nil))
		if err != nil || hello.Transport != oupwire.TransportStdio {
			t.Errorf("%s: %+v, %v", params, hello, err)
		}
	}
	if set := conn.Set(); !set.Has(oupwire.FeaturePlanTodosV1) || set.Has(oupwire.FeatureUserQuestionV1) {
		t.Errorf("%q are in force", set.Features())
	}
	c.send(`{"jsonrpc":"2.0","id":"h","method":"client_hello","params":{"features":"plan"}}`)
	if _, failure := c.failure(); failure.Code != oupwire.CodeInvalidParams {
		t.Errorf("features of a wrong type: %+v", failure)
	}
	for _, params := range []string{`null`, `{}`, `[1]`, `"x"`} {
		c.send(`{"jsonrpc":"2.0","id":"l","method":"config/capabilities/list","params":` + params + `}`)
		if frame, err := c.Read(); err != nil || !strings.Contains(string(frame), `"supported_methods"`) {
			t.Errorf("%s: %s, %v", params, frame, err)
		}
	}
}

// TestCall_ordersWhatBelongsToAnAnswer: notices before it, what follows it, and answers that wait beside others.
func TestCall_ordersWhatBelongsToAnAnswer(t *testing.T) {
	release := make(chan struct{})
	notice := func(c *rpc.Connection, text string) {
		c.Notify(rpc.Notice{Method: "n", Class: transport.Durable, Params: func(negotiation.Set) wirejson.Encoder {
			return wirejson.Raw(`"` + text + `"`)
		}})
	}
	c := connect(t, options(handler(func(_ context.Context, call *rpc.Call, p oupwire.SessionTitleSetParams) (wirejson.Encoder, error) {
		switch p.Title {
		case "order":
			notice(call.Connection, "before")
			call.Notify(rpc.Notice{Method: "n", Params: func(negotiation.Set) wirejson.Encoder { return nil }})
			call.After(func() { notice(call.Connection, "after") })
		case "later":
			call.Later(func(ctx context.Context) (wirejson.Encoder, error) {
				<-release
				return wirejson.Raw(`"late"`), nil
			})
		case "last":
			close(release)
		case "leave":
			call.Leave(transport.AuthExpired)
			return nil, &rpc.Error{Code: oupwire.ErrPermissionDenied, Message: "no", Data: oupwire.ErrorData{Kind: "k"}}
		}
		return wirejson.Raw(`"now"`), nil
	})), nil)
	c.send(titleSet("1", "order"))
	c.send(titleSet("2", "later"))
	c.send(titleSet("3", "plain"))
	for _, frame := range []string{
		`{"jsonrpc":"2.0","method":"n","params":"before"}`, `{"id":"1","jsonrpc":"2.0","result":"now"}`,
		`{"jsonrpc":"2.0","method":"n","params":"after"}`, `{"id":"3","jsonrpc":"2.0","result":"now"}`,
	} {
		c.want(frame)
	}
	c.send(titleSet("4", "last"))
	got := map[string]bool{}
	for range 2 {
		frame, err := c.Read()
		if err != nil {
			t.Fatal(err)
		}
		got[string(frame)] = true
	}
	if !got[`{"id":"2","jsonrpc":"2.0","result":"late"}`] || !got[`{"id":"4","jsonrpc":"2.0","result":"now"}`] {
		t.Errorf("the last answers are %v", got)
	}
	c.send(titleSet("5", "leave"))
	c.want(`{"error":{"code":-32120,"data":{"kind":"k"},"message":"no"},"id":"5","jsonrpc":"2.0"}`)
	if _, err := c.Read(); !errors.Is(err, io.EOF) {
		t.Errorf("behind the answer: %v", err)
	}
	if reason, closed := c.Closed(); !closed || reason != transport.AuthExpired {
		t.Errorf("closed %v with %d", closed, reason)
	}
	if err := <-c.ended; err != nil {
		t.Error(err)
	}
}

// TestServe_tellsNothingOfItsFaults: a fault inside is logged, answered without detail, and ends no other request.
func TestServe_tellsNothingOfItsFaults(t *testing.T) {
	logged := make(chan error, 3)
	o := options(handler(func(_ context.Context, _ *rpc.Call, p oupwire.SessionTitleSetParams) (wirejson.Encoder, error) {
		switch p.Title {
		case "panic":
			panic("the secret")
		case "large":
			return wirejson.Raw(`"` + strings.Repeat("x", oupwire.MaxTextFrameBytes) + `"`), nil
		}
		return nil, errors.New("the secret")
	}))
	o.Log = func(err error) { logged <- err }
	c := connect(t, o, nil)
	for _, title := range []string{"panic", "error", "large"} {
		c.send(titleSet("x", title))
		if _, failure := c.failure(); failure.Code != oupwire.CodeInternalError || strings.Contains(failure.Message, "secret") {
			t.Errorf("%s: %+v", title, failure)
		}
		if err := <-logged; title != "large" && !strings.Contains(err.Error(), "the secret") {
			t.Errorf("%s: logged %v", title, err)
		}
	}
}

// TestServe_goesOnWhereAnAnswerWouldNotFit: OUP-FRAME-003; what a client sends back and forth ends no connection.
func TestServe_goesOnWhereAnAnswerWouldNotFit(t *testing.T) {
	c := connect(t, options(handler(func(_ context.Context, _ *rpc.Call, p oupwire.SessionTitleSetParams) (wirejson.Encoder, error) {
		return nil, &rpc.Error{
			Code: oupwire.ErrCursorInvalid, Message: p.Title + "é" + p.Title,
			Data: wirejson.Raw(`{"actual_stream":"` + p.Title + `","kind":"k","number":9007199254740993,"rows":["` + p.Title + `"]}`),
		}
	})), nil)
	const room = oupwire.MaxTextFrameBytes - 200
	long := strings.Repeat("x", room)
	for _, o := range []struct {
		name, frame string
		code        int64
		id          bool
	}{
		{"id", `{"id":"` + long + `","jsonrpc":"2.0","method":"config/capabilities/list","params":{}}`, oupwire.CodeParseError, false},
		{"hello", `{"id":"1","jsonrpc":"2.0","method":"client_hello","params":{"client":"` + long + `","supported_features":["user_question.v1"]}}`, oupwire.CodeInvalidParams, true},
		{"method", `{"id":"1","jsonrpc":"2.0","method":"` + strings.Repeat(`\"`, room/2) + `","params":{}}`, oupwire.CodeMethodNotFound, true},
		{"params", titleSet("1", long), oupwire.CodeCursorInvalid, true},
	} {
		c.send(o.frame)
		id, failure := c.failure()
		if _, has := id.Get(); failure.Code != o.code || has != o.id {
			t.Errorf("%s gives %d with an id %v, want %d with %v", o.name, failure.Code, has, o.code, o.id)
		}
		if len(failure.Message) > 9000 {
			t.Errorf("%s tells %d bytes", o.name, len(failure.Message))
		}
		if detail := string(failure.Data.Or(nil)); o.name == "params" && (len(detail) > 9000 || !strings.Contains(detail, `"number":9007199254740993,"rows":["xx`)) {
			t.Errorf("%s has the detail %.200s of %d bytes", o.name, detail, len(detail))
		}
	}
	c.send(`{"id":"` + strings.Repeat("y", 100_000) + `","jsonrpc":"2.0","method":"config/capabilities/list","params":{}}`)
	if answer, err := c.Read(); err != nil || !strings.Contains(string(answer), `"supported_methods"`) {
		t.Errorf("a long id gives %.200s, %v", answer, err)
	}
}

// TestServe_announcesWhatASlowClientLost: OUP-QUEUE-004 with count and cursor, OUP-QUEUE-005 to it alone.
func TestServe_announcesWhatASlowClientLost(t *testing.T) {
	opened := make(chan *rpc.Connection, 1)
	o := options(handler(echo))
	o.Outbox.Frames = 4
	c := connect(t, o, func(conn *rpc.Connection) { opened <- conn })
	conn := <-opened
	const all = 100
	for seq := range uint64(all) {
		conn.Notify(rpc.Notice{Method: "n", Class: transport.Durable, Stream: "p:local:c#t", Seq: seq + 1, Params: func(negotiation.Set) wirejson.Encoder {
			return wirejson.Raw(`{}`)
		}})
	}
	done := make(chan error, 1)
	go func() { done <- conn.Close(transport.Ended) }()
	seen, lost := int64(0), int64(0)
	for {
		frame, err := c.Read()
		if err != nil {
			break
		}
		if string(frame) == `{"jsonrpc":"2.0","method":"n","params":{}}` {
			seen++
			continue
		}
		n, err := oupwire.DecodeJsonRpcNotification(frame)
		if err != nil || n.Method != oupwire.MethodProtocolReplayLossy {
			t.Fatalf("%s: %v", frame, err)
		}
		event, err := oupwire.DecodeReplayLossyEvent(n.Params.Or(nil))
		if err != nil {
			t.Fatal(err)
		}
		cursor, _ := event.LastDurableCursor.Get()
		if event.SessionID != "p:local:c#t" || event.Topic.Or("") != "t" || cursor.Stream != "p:local:c#t" || cursor.Seq != seen+lost {
			t.Errorf("%+v behind %d", event, seen+lost)
		}
		lost += event.DroppedCount
	}
	if lost == 0 || seen+lost != all {
		t.Errorf("%d arrived and %d were told of, want %d together", seen, lost, all)
	}
	if err := <-done; err != nil {
		t.Error(err)
	}
}

// TestServe_overWebSocket: OUP-SOCKET-011 a frame over the bound is answered, and the connection is closed with 1009.
func TestServe_overWebSocket(t *testing.T) {
	d, err := rpc.New(options(handler(echo)))
	if err != nil {
		t.Fatal(err)
	}
	ws := &transport.WebSocket{Serve: func(ctx context.Context, c transport.Conn) {
		if err := d.Serve(ctx, c, nil); err != nil {
			t.Error(err)
		}
	}}
	server := httptest.NewServer(ws)
	defer server.Close()
	defer ws.Close(transport.Restart)
	conn, _, err := websocket.Dial(t.Context(), server.URL+"?ui_feature="+oupwire.FeatureAuxiliaryRestToWsV1, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = conn.CloseNow() }()
	conn.SetReadLimit(-1)
	for _, frame := range []string{titleSet("a", "t"), strings.Repeat("x", oupwire.MaxTextFrameBytes+1)} {
		if err := conn.Write(t.Context(), websocket.MessageText, []byte(frame)); err != nil {
			t.Fatal(err)
		}
		_, got, err := conn.Read(t.Context())
		if err != nil || !strings.HasPrefix(string(got), `{"id":"a"`) && !strings.Contains(string(got), `"limit_bytes":1048576`) {
			t.Errorf("read %s, %v", got, err)
		}
	}
	if _, _, err := conn.Read(t.Context()); websocket.CloseStatus(err) != 1009 {
		t.Errorf("closed with %v, want 1009", err)
	}
}

func TestServe_endsWithItsContext(t *testing.T) {
	d, err := rpc.New(options(nil))
	if err != nil {
		t.Fatal(err)
	}
	server, far := transport.Pipe(transport.Info{Transport: oupwire.TransportStdio})
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() { ended <- d.Serve(ctx, server, nil) }()
	cancel()
	if err := <-ended; err != nil {
		t.Error(err)
	}
	if _, err := far.Read(); !errors.Is(err, io.EOF) {
		t.Errorf("the client reads %v", err)
	}
}

// stillRead is a client that has ended its side and reads on, as a pipe from a file does.
type stillRead struct {
	transport.Conn
	frames, answers chan []byte
}

func (s *stillRead) Read() ([]byte, error) {
	if frame, more := <-s.frames; more {
		return frame, nil
	}
	return nil, io.EOF
}

func (s *stillRead) Write(frame []byte) error {
	s.answers <- slices.Clone(frame)
	return nil
}

// TestServe_tellsWhatItsEndBrokeOff: OUP-STDIO-008; that is no fault of the server, and none is logged.
func TestServe_tellsWhatItsEndBrokeOff(t *testing.T) {
	o := options(handler(func(_ context.Context, call *rpc.Call, _ oupwire.SessionTitleSetParams) (wirejson.Encoder, error) {
		call.Later(func(ctx context.Context) (wirejson.Encoder, error) {
			<-ctx.Done()
			return nil, fmt.Errorf("asking the store: %w", ctx.Err())
		})
		return nil, nil
	}))
	o.Log = func(err error) { t.Errorf("logged %v", err) }
	d, err := rpc.New(o)
	if err != nil {
		t.Fatal(err)
	}
	near, _ := transport.Pipe(transport.Info{Transport: oupwire.TransportStdio})
	conn := &stillRead{Conn: near, frames: make(chan []byte, 1), answers: make(chan []byte, 1)}
	conn.frames <- []byte(titleSet("1", "a"))
	close(conn.frames)
	if err := d.Serve(t.Context(), conn, nil); err != nil {
		t.Error(err)
	}
	answer, err := oupwire.DecodeJsonRpcErrorResponse(<-conn.answers)
	if err != nil || answer.Error.Code != oupwire.CodeRuntimeNotReady {
		t.Errorf("answered %+v, %v", answer, err)
	}
}

func TestNew_refusesWhatIsNoRequest(t *testing.T) {
	for _, name := range []string{"no/such", oupwire.MethodPing, oupwire.MethodClientHello, oupwire.MethodConfigCapabilitiesList} {
		if _, err := rpc.New(rpc.Options{Handlers: map[string]rpc.Handler{name: nil}}); err == nil {
			t.Errorf("%s has a handler", name)
		}
	}
}
