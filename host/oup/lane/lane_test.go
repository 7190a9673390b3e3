package lane_test

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/oup/event"
	"github.com/octet-dev/octet/host/oup/lane"
	"github.com/octet-dev/octet/host/oup/ledger"
	"github.com/octet-dev/octet/host/oup/rpc"
	"github.com/octet-dev/octet/host/oup/transport"
)

const session = "_main:local:lab#build"

// stage is a server that can do no more than open sessions.
type stage struct {
	t      testing.TB
	ledger *ledger.Ledger
	events lane.Events
	offers func() []lane.Offer
	// between is called when the stream is followed and the event of the open is not stored yet.
	between func()
	options
	book lane.Book
}

type options struct {
	features []string // nil: all
	info     transport.Info
	frames   int
	patience time.Duration
	log      func(error)
}

func newStage(t testing.TB, o ledger.Options) *stage {
	t.Helper()
	l, err := o.Open(t.Context(), t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = l.Close() })
	return &stage{
		t: t, ledger: l, events: lane.V2,
		options: options{info: transport.Info{Transport: oupwire.TransportStdio}, patience: time.Hour, log: func(err error) { t.Errorf("logged: %v", err) }},
	}
}

// open is the handler of session/open, as a server has it.
func (s *stage) open(ctx context.Context, call *rpc.Call, p oupwire.SessionOpenParams) (oupwire.SessionOpenResult, error) {
	lanes := s.book.Of(call.Connection)
	held, err := lanes.Hold(ctx, p.SessionID)
	if err != nil {
		return oupwire.SessionOpenResult{}, err
	}
	call.After(held)
	var after *ledger.Cursor
	if c, has := p.After.Get(); has {
		after = &ledger.Cursor{Stream: c.Stream, Seq: c.Seq}
	} else if at, open := lanes.Position(p.SessionID); open {
		after = &ledger.Cursor{Stream: p.SessionID, Seq: at}
	}
	reader, err := s.ledger.Follow(ctx, p.SessionID, after)
	if err != nil {
		return oupwire.SessionOpenResult{}, err
	}
	if s.between != nil {
		s.between()
	}
	opened := oupwire.SessionOpened{SessionID: p.SessionID, Capabilities: call.Capabilities()}
	stored, err := s.ledger.Append(ctx, event.Opened(opened))
	if err != nil {
		return oupwire.SessionOpenResult{}, err
	}
	opened.Cursor = wirejson.Some(oupwire.Cursor{Stream: p.SessionID, Seq: stored[0].Seq})
	o := lane.Options{
		Connection: call.Connection, Ledger: s.ledger, Session: p.SessionID, Reader: reader, Opened: stored[0].Seq,
		Replays: after != nil, Events: s.events, Log: s.log,
	}
	if s.offers != nil {
		o.Offers = s.offers()
	}
	call.After(lanes.Prepare(o))
	return oupwire.SessionOpenResult{Opened: lane.Opened(opened, call.Set())}, nil
}

// client is the other end of a connection.
type client struct {
	t testing.TB
	*transport.Memory
	ended chan struct{}
	lanes chan *lane.Lanes
}

func (s *stage) connect() *client {
	s.t.Helper()
	features := s.features
	if features == nil {
		for _, f := range oupwire.Features {
			features = append(features, f.Name)
		}
	}
	d, err := rpc.New(rpc.Options{
		Features: features, Outbox: transport.OutboxOptions{Frames: s.frames}, Patience: s.patience, Log: s.log,
		Handlers: map[string]rpc.Handler{oupwire.MethodSessionOpen: rpc.Handle(oupwire.DecodeSessionOpenParams, s.open)},
	})
	if err != nil {
		s.t.Fatal(err)
	}
	server, far := transport.Pipe(s.info)
	c := &client{t: s.t, Memory: far, ended: make(chan struct{}), lanes: make(chan *lane.Lanes, 1)}
	go func() {
		defer close(c.ended)
		var connection *rpc.Connection
		_ = d.Serve(context.Background(), server, func(opened *rpc.Connection) {
			connection = opened
			c.lanes <- s.book.Open(opened)
		})
		s.book.Close(connection)
	}()
	s.t.Cleanup(func() {
		_ = far.Close(transport.Ended)
		<-c.ended
	})
	return c
}

// frame is what the tests look at.
type frame struct {
	ID     *string
	Method string
	Error  *oupwire.ErrorObject
	Params struct {
		Thread  string `json:"thread_id"`
		Seq     int64
		Dropped int64  `json:"dropped_count"`
		Text    string // of a delta of older clients
		Tool    string `json:"tool_name"`
		Kind    string `json:"approval_kind"`
		Cursor  *struct {
			Stream string
			Seq    int64
		}
		Last    *struct{ Seq int64 } `json:"last_durable_cursor"`
		Topic   string
		Session string `json:"session_id"`
		Payload struct {
			Type string
			Data struct{ Text string }
		}
		Capabilities struct {
			Features []string `json:"supported_features"`
		}
	}
}

func (c *client) next() frame {
	c.t.Helper()
	text, err := c.Read()
	if err != nil {
		c.t.Fatal(err)
	}
	var f frame
	if err := json.Unmarshal(text, &f); err != nil {
		c.t.Fatalf("%s: %v", text, err)
	}
	if f.Method != "" {
		row := oupwire.LookupNotification(f.Method)
		params := struct{ Params json.RawMessage }{}
		_ = json.Unmarshal(text, &params)
		if err := oupwire.ValidateModel(row.Shapes[0].Params, params.Params); err != nil {
			c.t.Errorf("%s breaks its model: %v", text, err)
		}
	}
	return f
}

func (c *client) open(after int64) {
	c.t.Helper()
	cursor := ""
	if after >= 0 {
		cursor = fmt.Sprintf(`,"after":{"stream":%q,"seq":%d}`, session, after)
	}
	if err := c.Send([]byte(fmt.Sprintf(`{"jsonrpc":"2.0","id":"open","method":%q,"params":{"session_id":%q%s}}`, oupwire.MethodSessionOpen, session, cursor))); err != nil {
		c.t.Fatal(err)
	}
}

// want reads frames and compares them with short descriptions.
func (c *client) want(want ...string) {
	c.t.Helper()
	for _, w := range want {
		if got := c.next().String(); got != w {
			c.t.Fatalf("told %q, want %q", got, w)
		}
	}
}

// String describes a frame: method or answer, and where it stands.
func (f frame) String() string {
	switch {
	case f.ID != nil:
		return "answer"
	case f.Method == oupwire.MethodProjectionEnvelope:
		return fmt.Sprintf("%s %d @%d %s", f.Params.Payload.Type, f.Params.Seq, f.Params.Cursor.Seq, f.Params.Payload.Data.Text)
	case f.Params.Cursor != nil:
		return fmt.Sprintf("%s @%d", f.Method, f.Params.Cursor.Seq)
	}
	return f.Method
}

func (s *stage) append(events ...ledger.Event) []ledger.Stored {
	s.t.Helper()
	stored, err := s.ledger.Append(context.Background(), events...)
	if err != nil {
		s.t.Fatal(err)
	}
	return stored
}

func said(turn, text string) ledger.Event {
	return event.Envelope{Thread: turn, Turn: turn, Payload: oupwire.UserMessagePayload{Data: oupwire.UserMessageData{Text: text}}}.
		Event(session, event.Turn, ledger.Begins)
}

func delta(turn, text string) ledger.Event {
	return event.Envelope{Thread: turn, Turn: turn, Payload: oupwire.AssistantDeltaPayload{
		Data: oupwire.AssistantDeltaData{Text: text, AssistantSegmentID: turn + ".1"},
	}}.Event(session, event.Turn, ledger.Within)
}

func terminal(turn string) ledger.Event {
	return event.Envelope{Thread: turn, Turn: turn, Payload: oupwire.TurnTerminalPayload{
		Data: oupwire.TurnTerminalData{Outcome: oupwire.TurnOutcomeCompleted},
	}}.Event(session, event.Turn, ledger.Ends)
}

func asked(turn, id string) ledger.Event {
	return event.Of(session, oupwire.MethodApprovalRequested, requested(turn, id), ledger.Subject{Kind: event.Approval, ID: id}, ledger.Begins)
}

func requested(turn, id string) oupwire.ApprovalRequestedEvent {
	return oupwire.ApprovalRequestedEvent{
		SessionID: session, Topic: event.Topic(session), ApprovalID: id, TurnID: turn, ToolName: "bash", Title: "run", Body: "make",
		ApprovalKind: wirejson.Some(oupwire.ApprovalKindCommand),
	}
}

const (
	turn1    = "7d0c2f1e-5a0b-4a57-9a60-0d2f5f6c1a01"
	turn2    = "7d0c2f1e-5a0b-4a57-9a60-0d2f5f6c1a02"
	approval = "7d0c2f1e-5a0b-4a57-9a60-0d2f5f6c1a0a"
)

// TestLane_tellsWithoutACursorOnlyWhatIsNew: OUP-REPLAY-005, OUP-REPLAY-007, OUP-REPLAY-014, OUP-STREAM-001, OUP-STREAM-014.
func TestLane_tellsWithoutACursorOnlyWhatIsNew(t *testing.T) {
	s := newStage(t, ledger.Options{})
	s.append(said(turn1, "old"), terminal(turn1))
	c := s.connect()
	c.open(-1)
	c.want("answer", "session/open @3")
	s.append(said(turn2, "hi"), delta(turn2, "a"))
	s.append(delta(turn2, "b"), terminal(turn2))
	c.want("user_message 1 @4 hi", "assistant_delta 2 @5 a", "assistant_delta 3 @6 b", "turn_terminal 4 @7 ")
}

// TestLane_beginsWithItsOwnOpen: what happens while a session is opened without a cursor lies in front of it, and with a
// cursor it is told.
func TestLane_beginsWithItsOwnOpen(t *testing.T) {
	s := newStage(t, ledger.Options{})
	s.between = func() { s.append(said(turn1, "meanwhile")) }
	c := s.connect()
	c.open(-1)
	c.want("answer", "session/open @2")
	s.between = func() { s.append(said(turn2, "again")) }
	other := s.connect()
	other.open(2)
	other.want("answer", "user_message 1 @3 again", "session/open @4")
}

// TestLane_replaysThenOffersThenOpensThenGoesOn: OUP-REPLAY-006, OUP-REPLAY-007, OUP-REPLAY-010, OUP-REPLAY-016.
func TestLane_replaysThenOffersThenOpensThenGoesOn(t *testing.T) {
	s := newStage(t, ledger.Options{})
	s.append(said(turn1, "one"))
	stored := s.append(asked(turn1, approval))
	s.append(delta(turn1, "x"))
	s.offers = func() []lane.Offer {
		return []lane.Offer{
			{Method: oupwire.MethodApprovalRequested, Params: requested(turn1, approval), Seq: stored[0].Seq},
			{Method: oupwire.MethodApprovalRequested, Params: requested(turn1, approval), Seq: 99},
			{Method: oupwire.MethodPlanUpdated, Params: oupwire.PlanUpdatedEvent{SessionID: session}},
		}
	}
	c := s.connect()
	c.open(0)
	c.want("answer", "user_message 1 @1 one", "approval/requested", "assistant_delta 2 @3 x", "plan/updated", "session/open @4")
	c.open(2)
	c.want("answer", "assistant_delta 2 @3 x", "session/open @4", "approval/requested", "plan/updated", "session/open @5")
	s.append(delta(turn1, "y"))
	c.want("assistant_delta 3 @6 y")
	other := s.connect()
	other.open(-1)
	other.want("answer", "approval/requested", "plan/updated", "session/open @7")
	c.want("session/open @7")
}

// TestLane_goesOnWhereTheOneBeforeStood: OUP-REPLAY-013, OUP-REPLAY-009.
func TestLane_goesOnWhereTheOneBeforeStood(t *testing.T) {
	s := newStage(t, ledger.Options{})
	c := s.connect()
	c.open(-1)
	c.want("answer", "session/open @1")
	lanes := <-c.lanes
	release, err := lanes.Hold(t.Context(), session)
	if err != nil {
		t.Fatal(err)
	}
	s.append(said(turn1, "held"))
	release()
	c.want("user_message 1 @2 held")
	for i := range 40 {
		s.append(delta(turn1, "d"))
		if i == 20 {
			c.open(-1)
		}
	}
	next := int64(3)
	for answered := false; next <= 43; {
		f := c.next()
		switch {
		case f.ID != nil:
			answered = true
			continue
		case f.Params.Cursor.Seq != next:
			t.Fatalf("told %s, want number %d", f, next)
		case f.Method == oupwire.MethodSessionOpen && !answered:
			t.Fatal("the open is told before it is answered")
		}
		next++
	}
}

// TestLane_leavesOutWhatFeaturesDoNotOpen: OUP-REPLAY-008, OUP-REPLAY-015.
func TestLane_leavesOutWhatFeaturesDoNotOpen(t *testing.T) {
	s := newStage(t, ledger.Options{})
	s.info = transport.Info{Transport: oupwire.TransportWebsocket, Features: []string{oupwire.FeatureCodingAutonomyV1}}
	question := oupwire.UserQuestionRequestedEvent{SessionID: session, QuestionID: approval, TurnID: turn1, Title: "t", Body: "b", Questions: []oupwire.UserQuestion{{
		Header: "h", Question: "q", Options: []oupwire.UserQuestionOption{{Label: "a"}, {Label: "b"}}, AllowFreeText: true,
	}}}
	s.append(said(turn1, "one"), asked(turn1, approval),
		event.Of(session, oupwire.MethodUserQuestionRequested, question, ledger.Subject{}, ledger.Within), delta(turn1, "x"))
	c := s.connect()
	c.open(0)
	c.want("answer", "user_message 1 @1 one")
	if f := c.next(); f.Method != oupwire.MethodApprovalRequested || f.Params.Kind != "" {
		t.Errorf("told %+v, want the approval without its types", f)
	}
	c.want("assistant_delta 2 @4 x")
	if f := c.next(); !slices.Equal(f.Params.Capabilities.Features, []string{oupwire.FeatureCodingAutonomyV1, oupwire.FeaturePermissionProfileV1}) && len(f.Params.Capabilities.Features) == 0 {
		t.Errorf("session/open tells %q", f.Params.Capabilities.Features)
	}
	s.info = transport.Info{Transport: oupwire.TransportStdio}
	full := s.connect()
	full.open(1)
	full.want("answer")
	if f := full.next(); f.Params.Kind != string(oupwire.ApprovalKindCommand) {
		t.Errorf("told %+v, want the approval with its types", f)
	}
	full.want("user_question/requested", "assistant_delta 2 @4 x")
}

// TestLane_speaksToOlderClients: OUP-STREAM-002, and the name of a tool whose start lies in front of the cursor.
func TestLane_speaksToOlderClients(t *testing.T) {
	s := newStage(t, ledger.Options{})
	s.events = lane.Legacy
	tool := func(payload oupwire.EnvelopePayload) ledger.Event {
		return event.Envelope{Thread: turn1, Turn: turn1, Payload: payload}.Event(session, event.Turn, ledger.Within)
	}
	s.append(said(turn1, "one"), tool(oupwire.ToolStartPayload{Data: oupwire.ToolStartData{ToolCallID: "c", Name: "bash", ArgumentsPreview: wirejson.Some(`{"command":"ls"}`)}}))
	c := s.connect()
	c.open(2)
	c.want("answer", "session/open @3")
	s.append(tool(oupwire.ToolProgressPayload{Data: oupwire.ToolProgressData{ToolCallID: "c", Message: "m"}}),
		tool(oupwire.ToolEndPayload{Data: oupwire.ToolEndData{ToolCallID: "c", Status: oupwire.ToolEndStatusComplete}}),
		delta(turn1, "word"), terminal(turn1))
	c.want("tool/progress")
	if f := c.next(); f.Method != oupwire.MethodToolCompleted || f.Params.Tool != "bash" {
		t.Errorf("told %s of %q, want the end of bash", f, f.Params.Tool)
	}
	if f := c.next(); f.Method != oupwire.MethodMessageDelta || f.Params.Text != "word" {
		t.Errorf("told %s %q", f, f.Params.Text)
	}
	c.want("turn/completed @7")
	s.events = lane.Both
	both := s.connect()
	both.open(0)
	both.want("answer", "user_message 1 @1 one", "tool_start 2 @2 ", "tool/started")
}

// TestLane_waitsForASlowReaderAndForNobodyElse: OUP-QUEUE-001, OUP-QUEUE-002; a reader that comes back has lost nothing.
func TestLane_waitsForASlowReaderAndForNobodyElse(t *testing.T) {
	s := newStage(t, ledger.Options{})
	s.frames = 8
	slow, fast := s.connect(), s.connect()
	slow.open(-1)
	slow.want("answer", "session/open @1")
	fast.open(-1)
	fast.want("answer", "session/open @2")
	s.append(said(turn1, "go"))
	fast.want("user_message 1 @3 go")
	const count = 600
	for i := range count {
		s.append(delta(turn1, "d"))
		fast.want(fmt.Sprintf("assistant_delta %d @%d d", i+2, i+4))
	}
	slow.want("session/open @2", "user_message 1 @3 go")
	for i := range count {
		slow.want(fmt.Sprintf("assistant_delta %d @%d d", i+2, i+4))
	}
}

// TestLane_losesLoudlyWhatNobodyReads: OUP-QUEUE-003 to OUP-QUEUE-007.
func TestLane_losesLoudlyWhatNobodyReads(t *testing.T) {
	s := newStage(t, ledger.Options{})
	s.frames, s.patience = 4, time.Millisecond
	c := s.connect()
	c.open(-1)
	c.want("answer", "session/open @1")
	s.append(said(turn1, "go"))
	const count = 100
	for range count {
		s.append(delta(turn1, "d"))
	}
	(<-c.lanes).Flush(t.Context(), session, count+2) // all of it was told, or given up
	var told, dropped, last int64
	for told+dropped < count+1 {
		f := c.next()
		switch {
		case f.Method == oupwire.MethodProtocolReplayLossy:
			if dropped += f.Params.Dropped; f.Params.Last == nil || f.Params.Last.Seq != last {
				t.Errorf("the loss is told behind %+v, want %d", f.Params.Last, last)
			}
		case f.Params.Cursor != nil:
			told, last = told+1, f.Params.Cursor.Seq
		}
	}
	if dropped == 0 {
		t.Error("nothing was dropped")
	}
	s.append(delta(turn1, "again"))
	c.want(fmt.Sprintf("assistant_delta %d @%d again", count+2, count+3))
}

// TestBook_lossy says to whoever has a session open where they are in it, and to nobody else.
func TestBook_lossy(t *testing.T) {
	s := newStage(t, ledger.Options{})
	c, other := s.connect(), s.connect()
	c.open(-1)
	c.want("answer", "session/open @1")
	s.book.Lossy("_main:local:another")
	s.book.Lossy(session)
	f := c.next()
	if f.Method != oupwire.MethodProtocolReplayLossy || f.Params.Dropped != 1 || f.Params.Last == nil || f.Params.Last.Seq != 1 {
		t.Errorf("told %s", f)
	}
	other.open(-1)
	other.want("answer", "session/open @2")
}

func TestLane_endsAConnectionThatMissesTheEndOfATurn(t *testing.T) {
	s := newStage(t, ledger.Options{})
	s.frames, s.patience = 4, time.Millisecond
	c := s.connect()
	c.open(-1)
	c.want("answer", "session/open @1")
	s.append(said(turn1, "go"))
	for range 60 {
		s.append(delta(turn1, "d"))
	}
	s.append(terminal(turn1))
	<-c.ended
	if reason, closed := c.Closed(); !closed || reason != transport.GivenUp {
		t.Errorf("closed %v with %v, want it given up", closed, reason)
	}
}

// TestLane_tellsWhatTheLedgerNoLongerKeeps: OUP-QUEUE-004 for events that were dropped before they were read.
func TestLane_tellsWhatTheLedgerNoLongerKeeps(t *testing.T) {
	s := newStage(t, ledger.Options{Retain: 1}) // the least there is
	s.frames = 8
	c := s.connect()
	c.open(-1)
	c.want("answer", "session/open @1")
	s.append(said(turn1, "go"))
	many := make([]ledger.Event, 1000)
	for i := range many {
		many[i] = delta(turn1, strings.Repeat("d", 10))
	}
	for range 9 {
		s.append(many...)
	}
	var lossy bool
	for last := int64(1); last < 9002; {
		f := c.next()
		switch {
		case f.Method == oupwire.MethodProtocolReplayLossy:
			if lossy = true; f.Params.Last.Seq != last {
				t.Errorf("the loss is told behind %d, want %d", f.Params.Last.Seq, last)
			}
			last += f.Params.Dropped
		case f.Params.Cursor.Seq != last+1:
			t.Fatalf("told %s behind %d without a word", f, last)
		default:
			last++
		}
	}
	if !lossy {
		t.Error("nothing was lost")
	}
}

func TestLanes_endWithTheirConnection(t *testing.T) {
	s := newStage(t, ledger.Options{})
	c := s.connect()
	c.open(-1)
	c.want("answer", "session/open @1")
	lanes := <-c.lanes
	if at, open := lanes.Position(session); at > 1 || !open {
		t.Errorf("the lane is at %d, %v", at, open)
	}
	if _, err := lanes.Hold(t.Context(), session); err != nil {
		t.Fatal(err)
	}
	_ = c.Close(transport.Ended)
	<-c.ended
	lanes.Flush(t.Context(), session, 99)
	if lanes.Has(session) {
		t.Error("the lane is still there")
	}
}
