// Package oupclient is an OUP client that runs one turn, decides what it is asked, and says what was answered. It
// keeps every rule that a run judges; with a fault it breaks exactly one. It proves the referee of clients.
package oupclient

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/coder/websocket"
	"github.com/google/uuid"

	"github.com/octet-dev/octet/generated/oupwire"
)

type object = map[string]any

// Config says what a client is to do. Without a URL its wire is in and out.
type Config struct {
	Fault    Fault
	URL      string
	Token    string
	Session  string
	Prompt   string
	Decision string
}

// Run runs one turn and returns an exit code: 0 where the turn completed.
func Run(ctx context.Context, cfg Config, in io.Reader, out, said io.Writer) int {
	c := &client{ctx: ctx, cfg: cfg, in: in, out: out, texts: map[string]string{}, seen: map[int64]bool{}, key: cfg.Session, turn: uuid.Must(uuid.NewV7()).String()}
	if c.does("has one turn id") {
		c.turn = "01890000-0000-7000-8000-000000000000"
	}
	if err := c.run(); err != nil {
		_, _ = fmt.Fprintln(said, "error:", err)
		return 1
	}
	_, _ = fmt.Fprintln(said, c.text())
	if c.outcome != "completed" {
		_, _ = fmt.Fprintln(said, "the turn ended", c.outcome)
		return 1
	}
	return 0
}

// client is one client.
type client struct {
	ctx  context.Context
	cfg  Config
	in   io.Reader
	out  io.Writer
	line line
	ids  int

	key    string
	turn   string
	cursor any
	before any  // cursor of the newest piece without a gap
	opened bool // the event session/open has come

	segments []string
	texts    map[string]string
	seen     map[int64]bool // numbers of the turn's stream
	number   int64
	outcome  string
	over     bool
	lossy    any // a cursor to go back to
	gap      bool
	asked    []object
	answered map[string]bool
	started  bool
}

// line is a connection.
type line interface {
	send([]byte) error
	read() ([]byte, error)
	close()
}

func (c *client) does(act string) bool { return slices.Contains(c.cfg.Fault.does, act) }

var errGone = errors.New("the connection has ended")

// refusal is an error that a server answers.
type refusal struct {
	code int64
	data object
	text string
}

func (r *refusal) Error() string { return r.text }

func (c *client) run() error {
	c.answered = map[string]bool{}
	if err := c.connect(); err != nil {
		return err
	}
	defer func() { c.line.close() }()
	if err := c.session(false); err != nil {
		return err
	}
	if err := c.begin(); err != nil && !errors.Is(err, errGone) {
		return err
	}
	if c.does("ends when it is accepted") {
		c.outcome = "completed"
		return nil
	}
	for !c.over {
		if err := c.step(); err != nil {
			if !errors.Is(err, errGone) {
				return err
			}
			if err := c.again(); err != nil {
				return err
			}
		}
	}
	return c.linger()
}

// begin starts the turn.
func (c *client) begin() error {
	key := c.key
	if c.does("keeps its own key") {
		key = c.cfg.Session
	}
	params := object{"session_id": key, "turn_id": c.turn, "input": []any{object{"kind": "text", "text": c.cfg.Prompt}}}
	if c.does("sends params of another type") {
		params["media"] = "none"
	}
	if c.does("writes frames over the bound") {
		params["additional"] = strings.Repeat("x", oupwire.MaxTextFrameBytes)
	}
	result, err := c.call(oupwire.MethodTurnStart, params)
	if err != nil {
		return err
	}
	if result["unsupported"] != nil && len(result) == 1 && !c.does("takes a refusal for a success") {
		return errors.New("turns are not served")
	}
	c.started = true
	if c.does("calls what is not listed") {
		_, _ = c.call(oupwire.MethodSessionList, object{})
	}
	return nil
}

// step takes one frame and does what follows from it.
func (c *client) step() error {
	if err := c.take(""); err != nil {
		return err
	}
	return c.todo()
}

// todo answers what was asked, and goes back where something was lost.
func (c *client) todo() error {
	for len(c.asked) > 0 {
		request := c.asked[0]
		c.asked = c.asked[1:]
		if err := c.decide(request); err != nil {
			return err
		}
	}
	switch {
	case c.lossy != nil && !c.does("goes on behind a loss"):
		c.cursor, c.lossy = c.lossy, nil
		return c.session(true)
	case c.gap && !c.does("goes on behind a gap"):
		c.gap = false
		return c.session(true)
	}
	return nil
}

// decide answers a request for approval, or questions.
func (c *client) decide(request object) error {
	if questions, is := request["questions"].([]any); is {
		var answers []any
		for _, q := range questions {
			first := q.(object)["options"].([]any)[0].(object)["label"]
			answers = append(answers, object{"selected_labels": []any{first}})
		}
		if c.does("answers one question") {
			answers = answers[:1]
		}
		_, err := c.call(oupwire.MethodUserQuestionRespond, object{"session_id": c.key, "question_id": request["question_id"], "answers": answers})
		return passed(err)
	}
	params := object{"session_id": c.key, "approval_id": request["approval_id"], "decision": c.cfg.Decision}
	switch {
	case c.does("approves everything"):
		params["decision"] = "approve"
	case c.does("decides about another request"):
		params["approval_id"] = uuid.NewString()
	}
	_, err := c.call(oupwire.MethodApprovalRespond, params)
	return passed(err)
}

// passed lets a refusal pass: the turn goes on all the same.
func passed(err error) error {
	var r *refusal
	if errors.As(err, &r) {
		return nil
	}
	return err
}

// known are the features that the client understands.
var known = []string{
	oupwire.FeatureApprovalTypedV1, oupwire.FeatureStateSessionHydrateV1, oupwire.FeatureStateTurnStateGetV1, oupwire.FeatureProjectionEnvelopeV2, oupwire.FeatureUserQuestionV1,
}

// session says hello and opens the session, behind the cursor where there is one.
func (c *client) session(again bool) error {
	hello := object{"supported_features": known, "client": object{"name": "client"}}
	if c.does("uses one id twice") {
		_ = c.write(object{"jsonrpc": jsonrpc, "id": "one", "method": oupwire.MethodClientHello, "params": hello})
		_ = c.write(object{"jsonrpc": jsonrpc, "id": "one", "method": oupwire.MethodConfigCapabilitiesList, "params": object{}})
	}
	result, err := c.call(oupwire.MethodClientHello, hello)
	if err != nil {
		return err
	}
	if err := c.judge(result["capabilities"]); err != nil {
		return err
	}
	if c.does("starts before it opens") && !c.started {
		_, _ = c.call(oupwire.MethodTurnStart, object{"session_id": c.key, "turn_id": uuid.NewString(), "input": []any{object{"kind": "text", "text": "Too early."}}})
	}
	return c.open(again)
}

func (c *client) open(again bool) error {
	params := object{"session_id": c.key}
	if c.cursor != nil && again && !c.does("comes back without a cursor") {
		params["after"] = c.cursor
	}
	c.opened = false
	result, err := c.call(oupwire.MethodSessionOpen, params)
	var r *refusal
	if errors.As(err, &r) && (r.code == oupwire.CodeCursorOutOfRange || r.code == oupwire.CodeCursorInvalid) {
		if c.does("insists on its cursor") || c.does("tries a foreign cursor again") && r.code == oupwire.CodeCursorInvalid {
			if _, err = c.call(oupwire.MethodSessionOpen, params); err != nil {
				return err
			}
		}
		return c.hydrate()
	}
	if err != nil {
		return err
	}
	opened, _ := result["opened"].(object)
	if key, is := opened["session_id"].(string); is {
		c.key = key
	}
	if c.does("takes null for a value") {
		if v, there := opened["reasoning_effort"]; there && v == nil {
			return errors.New("reasoning_effort is null")
		}
	}
	if opened["capabilities"] == nil && c.does("needs capabilities of an open") {
		return errors.New("the open has no capabilities")
	}
	if c.does("believes the cursor of an answer") {
		c.cursor = opened["cursor"]
	}
	return nil
}

// hydrate reads what was missed, and goes on from there.
func (c *client) hydrate() error {
	c.cursor = nil
	result, err := c.call(oupwire.MethodSessionHydrate, object{"session_id": c.key})
	if err != nil {
		return err
	}
	messages, _ := result["messages"].([]any)
	for _, each := range messages {
		if m, _ := each.(object); m["turn_id"] == c.turn && m["role"] == "assistant" {
			content, _ := m["content"].(string)
			c.set(fmt.Sprint(m["seq"]), content)
		}
	}
	turns, _ := result["turns"].([]any)
	for _, each := range turns {
		if t, _ := each.(object); t["turn_id"] == c.turn && t["state"] != "active" && t["state"] != "interrupting" {
			c.outcome, _ = t["state"].(string)
			c.over = true
		}
	}
	c.cursor = result["cursor"]
	return c.open(true)
}

// judge looks at what a server says of itself.
func (c *client) judge(capabilities any) error {
	o, _ := capabilities.(object)
	v, _ := o["version"].(object)
	version, _ := number(v["schema_version"])
	own := int64(oupwire.SchemaVersion)
	switch {
	case c.does("talks to everybody"):
	case v["protocol"] != protocol("identifier") || version < own:
		return errors.New("the server speaks another protocol")
	case version > own && c.does("refuses newer servers"):
		return errors.New("the server is too new")
	}
	unsupported, _ := o["unsupported"].([]any)
	for _, each := range unsupported {
		if row, _ := each.(object); row["reason"] == nil && c.does("needs reasons") {
			return errors.New("a method has no reason")
		}
	}
	return nil
}

// again connects anew and opens the session behind the cursor.
func (c *client) again() error {
	if c.cfg.URL == "" || c.does("does not come back") {
		return errGone
	}
	c.line.close()
	for range 5 {
		if err := c.connect(); err != nil {
			return err
		}
		err := c.session(true)
		if err == nil {
			return c.todo()
		}
		if !errors.Is(err, errGone) {
			return err
		}
		c.line.close()
	}
	return errGone
}

// linger listens for a moment behind the end where a fault has it do so.
func (c *client) linger() error {
	if !c.does("listens behind the end") && !c.does("takes the last end") {
		return nil
	}
	c.over = false
	ctx, cancel := context.WithTimeout(c.ctx, moment)
	defer cancel()
	stop := context.AfterFunc(ctx, c.line.close)
	defer stop()
	for c.take("") == nil {
	}
	return nil
}

// moment is how long a client listens that listens for too long.
const moment = 50 * time.Millisecond

// text is what was answered.
func (c *client) text() string {
	var parts []string
	for _, s := range c.segments {
		parts = append(parts, c.texts[s])
	}
	return strings.Join(parts, "\n")
}

func (c *client) set(segment, text string) {
	if !slices.Contains(c.segments, segment) {
		c.segments = append(c.segments, segment)
	}
	c.texts[segment] = text
}

var jsonrpc = protocol("jsonrpc")

func protocol(name string) string {
	for _, row := range oupwire.TableProtocol {
		if row.Name == name {
			return row.Value
		}
	}
	panic("oupclient: the protocol has no text " + name)
}

func number(v any) (int64, bool) {
	n, is := v.(json.Number)
	if !is {
		return 0, false
	}
	i, err := n.Int64()
	return i, err == nil
}

// connect makes a connection.
func (c *client) connect() error {
	if c.cfg.URL == "" {
		c.line = &pipes{in: bufio.NewReaderSize(c.in, 64<<10), out: c.out}
		return nil
	}
	header, protocols := http.Header{}, []string(nil)
	header.Set("Authorization", "Bearer "+c.cfg.Token)
	if c.does("offers its token alone") {
		header, protocols = nil, []string{protocol("bearer_subprotocol") + c.cfg.Token}
	}
	conn, _, err := websocket.Dial(c.ctx, c.cfg.URL, &websocket.DialOptions{HTTPHeader: header, Subprotocols: protocols})
	if err != nil {
		return err
	}
	conn.SetReadLimit(-1)
	c.line = &socket{c.ctx, conn}
	return nil
}

type socket struct {
	ctx  context.Context
	conn *websocket.Conn
}

func (s *socket) send(b []byte) error { return s.conn.Write(s.ctx, websocket.MessageText, b) }

func (s *socket) read() ([]byte, error) {
	_, frame, err := s.conn.Read(s.ctx)
	return frame, err
}

func (s *socket) close() { _ = s.conn.Close(websocket.StatusNormalClosure, "") }

type pipes struct {
	in  *bufio.Reader
	out io.Writer
}

func (p *pipes) send(b []byte) error {
	_, err := p.out.Write(append(b, '\n'))
	return err
}

func (p *pipes) read() ([]byte, error) {
	line, err := p.in.ReadBytes('\n')
	if err != nil {
		return nil, err
	}
	return bytes.TrimSuffix(line, []byte("\n")), nil
}

func (p *pipes) close() {
	if c, is := p.out.(io.Closer); is {
		_ = c.Close()
	}
}

func (c *client) newID() string {
	c.ids++
	return "c-" + strconv.Itoa(c.ids)
}
