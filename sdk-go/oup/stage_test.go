package oup

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/octet-dev/octet/generated/oupwire"
)

const (
	key  = "local:lab"
	turn = "7d0c2f1e-5a0b-4a57-9a60-0d2f5f6c1a01"
	caps = `{"version":{"protocol":"octos-ui/v1alpha1","schema_version":1,"jsonrpc":"2.0"},"capabilities_schema_version":2,"supported_methods":[],"supported_notifications":[]}`
)

// stage is a server that a test plays, one connection after the other, in the time of a synctest bubble.
type stage struct {
	t      *testing.T
	client *Client
	dials  chan *peer
	refuse error // the error of the next dial, where there is one
	mu     sync.Mutex
}

// peer is the server's end of one connection.
type peer struct {
	t        *testing.T
	up, down chan []byte
	cut      chan struct{} // the server has ended the connection
	why      error
	closed   chan struct{} // the client has
	once     sync.Once
}

func (p *peer) Read() ([]byte, error) {
	select {
	case frame := <-p.down:
		return frame, nil
	default:
	}
	select {
	case frame := <-p.down:
		return frame, nil
	case <-p.cut:
		return nil, p.why
	case <-p.closed:
		return nil, io.EOF
	}
}

func (p *peer) Write(frame []byte) error {
	select {
	case p.up <- append([]byte{}, frame...):
		return nil
	case <-p.cut:
		return p.why
	case <-p.closed:
		return io.ErrClosedPipe
	}
}

func (p *peer) Torn() error { return nil }

func (p *peer) Close() error {
	p.once.Do(func() { close(p.closed) })
	return nil
}

func (s *stage) dial(ctx context.Context) (wire, error) {
	s.mu.Lock()
	err := s.refuse
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	p := &peer{t: s.t, up: make(chan []byte, 64), down: make(chan []byte), cut: make(chan struct{}), closed: make(chan struct{})}
	select {
	case s.dials <- p:
		return p, nil
	case <-ctx.Done():
		return nil, ctx.Err()
	}
}

func (s *stage) refusing(err error) {
	s.mu.Lock()
	s.refuse = err
	s.mu.Unlock()
}

// play connects a client over a WebSocket that is none; its waits before a new try are half of what they may be.
func play(t *testing.T, options Options) (*stage, *peer) {
	t.Helper()
	s := &stage{t: t, dials: make(chan *peer)}
	made := make(chan error, 1)
	go func() {
		client, err := connect(t.Context(), options, oupwire.TransportWebsocket, s.dial)
		s.client = client
		made <- err
	}()
	p := s.accept()
	if err := <-made; err != nil {
		t.Fatal(err)
	}
	s.client.draw = func(longest time.Duration) time.Duration { return longest / 2 }
	t.Cleanup(func() { _ = s.client.Close() })
	return s, p
}

// accept takes the next connection and answers its hello.
func (s *stage) accept() *peer {
	s.t.Helper()
	p := <-s.dials
	p.answer(p.request(oupwire.MethodClientHello), `{"type":"server_hello","transport":"websocket","client_transport":"websocket","client":null,"capabilities":`+caps+`}`)
	return p
}

// request is what a client has sent.
type request struct {
	ID     string
	Method string
	Params struct {
		After      *Cursor
		TurnID     string `json:"turn_id"`
		Decision   string
		ClientNote string `json:"client_note"`
		ApprovalID string `json:"approval_id"`
		QuestionID string `json:"question_id"`
	}
}

// request reads what the client sends next, pings apart; it must be of the method.
func (p *peer) request(method string) request {
	p.t.Helper()
	for {
		var r request
		if err := json.Unmarshal(<-p.up, &r); err != nil {
			p.t.Fatal(err)
		}
		if r.Method == oupwire.MethodPing {
			continue
		}
		if r.Method != method {
			p.t.Fatalf("the client sent %s, want %s", r.Method, method)
		}
		return r
	}
}

func (p *peer) send(frame string) {
	select {
	case p.down <- []byte(frame):
	case <-p.closed:
	}
}

func (p *peer) answer(r request, result string) {
	p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"result":%s}`, r.ID, result))
}

func (p *peer) refuse(r request, code int, data string) {
	p.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"error":{"code":%d,"message":"no","data":%s}}`, r.ID, code, data))
}

func (p *peer) tell(method, params string) {
	p.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":%q,"params":%s}`, method, params))
}

// end ends the connection from the side of the server.
func (p *peer) end(why error) {
	p.why = why
	close(p.cut)
}

// opened answers session/open at a position of the ledger, and tells it after what the function sends.
func (p *peer) opened(seq int64, between ...func()) request {
	p.t.Helper()
	r := p.request(oupwire.MethodSessionOpen)
	opened := fmt.Sprintf(`{"session_id":%q,"cursor":{"stream":%q,"seq":%d},"capabilities":%s}`, key, key, seq, caps)
	p.answer(r, `{"opened":`+opened+`}`)
	for _, send := range between {
		send()
	}
	p.tell(oupwire.MethodSessionOpen, opened)
	return r
}

// open opens the session of the tests while the server answers.
func (s *stage) open(p *peer, seq int64, options OpenOptions, between ...func()) *Session {
	s.t.Helper()
	got := make(chan *Session, 1)
	go func() {
		session, err := s.client.Open(s.t.Context(), key, options)
		if err != nil {
			s.t.Error(err)
		}
		got <- session
	}()
	p.opened(seq, between...)
	session := <-got
	if session == nil {
		s.t.FailNow()
	}
	return session
}

// start starts the turn of the tests.
func (s *stage) start(p *peer, session *Session) *Turn {
	s.t.Helper()
	got := make(chan *Turn, 1)
	go func() {
		made, err := session.Start(s.t.Context(), oupwire.TurnStartParams{TurnID: turn, Input: []oupwire.InputItem{TextInput("hello")}})
		if err != nil {
			s.t.Error(err)
		}
		got <- made
	}()
	p.answer(p.request(oupwire.MethodTurnStart), `{"accepted":true}`)
	made := <-got
	if made == nil {
		s.t.FailNow()
	}
	return made
}

// envelope tells an envelope of the turn.
func (p *peer) envelope(seq, number int64, kind, data string) {
	p.tell(oupwire.MethodProjectionEnvelope, envelope(seq, number, kind, data))
}

func envelope(seq, number int64, kind, data string) string {
	return fmt.Sprintf(`{"session_id":%q,"thread_id":%q,"turn_id":%q,"seq":%d,"cursor":{"stream":%q,"seq":%d},"payload":{"type":%q,"data":%s}}`,
		key, turn, turn, number, key, seq, kind, data)
}

func (p *peer) started() {
	p.tell(oupwire.MethodTurnStarted, fmt.Sprintf(`{"session_id":%q,"turn_id":%q,"timestamp":"2026-01-01T00:00:00Z"}`, key, turn))
}

func (p *peer) delta(seq, number int64, text string) {
	p.envelope(seq, number, "assistant_delta", fmt.Sprintf(`{"text":%q,"assistant_segment_id":"s1"}`, text))
}

func (p *peer) terminal(seq, number int64) {
	p.envelope(seq, number, "turn_terminal", `{"outcome":"completed","token_usage":{"input_tokens":3}}`)
}

func (p *peer) approval(id string) {
	p.tell(oupwire.MethodApprovalRequested, fmt.Sprintf(`{"session_id":%q,"approval_id":%q,"turn_id":%q,"tool_name":"shell","title":"t","body":"b"}`, key, id, turn))
}

// told is a short text for each event, for comparison.
func told(ev Event) string {
	switch body := ev.Body.(type) {
	case UserMessage:
		return "user " + body.Text
	case Delta:
		return "+" + body.Text
	case Message:
		return "=" + body.Text
	case Ended:
		return "end " + string(body.Outcome)
	case Started:
		return "started"
	case Opened:
		return fmt.Sprintf("opened %d", ev.Cursor.Seq)
	case Gap:
		return fmt.Sprintf("gap %s replayed=%t hydrated=%t", body.Reason, body.Replayed, body.Hydrated != nil)
	case Unknown:
		return "unknown " + ev.Method + " " + body.Type
	case Progress:
		return "progress " + string(body.Metadata.Kind)
	default:
		return fmt.Sprintf("%T", body)
	}
}

// reader reads events in the background.
type reader struct {
	mu    sync.Mutex
	texts []string
	err   error
	done  chan struct{}
}

func (s *stage) read(events func(yield func(Event, error) bool)) *reader {
	r := &reader{done: make(chan struct{})}
	go func() {
		defer close(r.done)
		for ev, err := range events {
			r.mu.Lock()
			if err != nil {
				r.err = err
			} else {
				r.texts = append(r.texts, told(ev))
			}
			r.mu.Unlock()
		}
	}()
	return r
}

func (r *reader) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	return strings.Join(r.texts, "; ")
}

var errCut = errors.New("cut")
