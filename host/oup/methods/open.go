package methods

import (
	"context"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/oup/event"
	"github.com/octet-dev/octet/host/oup/house"
	"github.com/octet-dev/octet/host/oup/lane"
	"github.com/octet-dev/octet/host/oup/ledger"
	"github.com/octet-dev/octet/host/oup/live"
	"github.com/octet-dev/octet/host/oup/pane"
	"github.com/octet-dev/octet/host/oup/place"
	"github.com/octet-dev/octet/host/oup/rpc"
)

func (r *Rows) opening() map[string]rpc.Handler {
	return map[string]rpc.Handler{oupwire.MethodSessionOpen: rpc.Handle(oupwire.DecodeSessionOpenParams, r.open)}
}

// open makes a session that is not there, and tells this connection of it from now on: the result first, then what
// lies behind the cursor, what waits for an answer, and the event of this open.
//
// Rules: OUP-OPEN-001 to OUP-OPEN-012, OUP-REPLAY-001 to OUP-REPLAY-015.
func (r *Rows) open(ctx context.Context, call *rpc.Call, p oupwire.SessionOpenParams) (oupwire.SessionOpenResult, error) {
	var none oupwire.SessionOpenResult
	workspace, err := r.workspace(call, p)
	if err != nil {
		return none, err
	}
	for {
		// What is left of a session that was deleted under the same key comes first.
		if err := r.Lanes.Of(call.Connection).Await(ctx, call.Scope.Session.String()); err != nil {
			return none, err
		}
		opened, err := r.enter(ctx, call, p, workspace)
		switch {
		case errors.Is(err, live.ErrRetired): // it was deleted meanwhile, and is made afresh
			continue
		case err != nil:
			return none, r.fail(call, err)
		}
		return oupwire.SessionOpenResult{Opened: lane.Opened(opened, call.Set())}, nil
	}
}

// enter makes the session where it is not there, and lets this connection be told of it. The error is live.ErrRetired
// where it is being deleted, or where this connection is still told of one that was.
func (r *Rows) enter(ctx context.Context, call *rpc.Call, p oupwire.SessionOpenParams, workspace string) (oupwire.SessionOpened, error) {
	e := entry{rows: r, call: call, params: p, lanes: r.Lanes.Of(call.Connection)}
	session, made, err := r.House.Make(ctx, call.Scope.Session, house.New{
		Workspace: workspace, Profile: call.Scope.Profile, First: func(s *live.Session) error { return e.begin(ctx, s) },
	})
	if err == nil && !made { // before it is entered: a client that reads slowly keeps nobody from deleting it
		e.release, err = e.lanes.Hold(ctx, session.Key())
	}
	if err == nil {
		err = e.finish(ctx, session, made)
	}
	if err != nil {
		e.undo()
	}
	return e.opened, err
}

// entry is a connection on its way into a session.
type entry struct {
	rows    *Rows
	call    *rpc.Call
	params  oupwire.SessionOpenParams
	lanes   *lane.Lanes
	release func() // of what is held; nil for nothing
	reader  *ledger.Reader
	replays bool
	opened  oupwire.SessionOpened
	stored  ledger.Stored
}

// begin begins to follow the session, and stores that it is opened.
func (e *entry) begin(ctx context.Context, s *live.Session) (err error) {
	if e.lanes.Ending(s.Key()) {
		return live.ErrRetired
	}
	if e.release == nil { // it is new, and nothing is told of it here
		e.release = func() {}
	}
	if e.reader, e.replays, err = e.rows.follow(ctx, e.call, e.params); err != nil {
		return err
	}
	e.opened = told(ctx, e.call, e.params, s)
	e.stored, err = s.Opened(ctx, e.opened)
	return err
}

// finish opens the session here.
func (e *entry) finish(ctx context.Context, s *live.Session, made bool) error {
	leave, err := s.Enter() // nobody deletes it before it is open here
	if err != nil {
		return err
	}
	defer leave()
	if !made {
		if err := e.begin(ctx, s); err != nil {
			return err
		}
	}
	e.opened.Cursor = wirejson.Some(oupwire.Cursor{Stream: e.stored.Stream, Seq: e.stored.Seq})
	offers, err := e.rows.offers(ctx, s)
	if err != nil {
		return err
	}
	e.rows.Gate.Bind(e.call.Connection, e.call.Scope.Profile)
	e.call.After(e.release)
	e.call.After(e.lanes.Prepare(lane.Options{
		Connection: e.call.Connection, Ledger: e.rows.Ledger, Session: s.Key(), Reader: e.reader, Opened: e.stored.Seq, Replays: e.replays,
		Offers: offers, Events: e.rows.Events, Log: e.rows.Log, Left: s.Attend(e.call.Set().Has(oupwire.FeatureUserQuestionV1)),
	}))
	return nil
}

// undo lets go of what was begun.
func (e *entry) undo() {
	if e.reader != nil {
		e.reader.Close()
	}
	if e.release != nil {
		e.release()
	}
}

// told is what the answer to an open and its event say of the session.
func told(ctx context.Context, call *rpc.Call, p oupwire.SessionOpenParams, session *live.Session) oupwire.SessionOpened {
	opened := oupwire.SessionOpened{
		SessionID: session.Key(), ActiveProfileID: wirejson.Some(call.Scope.Profile), WorkspaceRoot: wirejson.Some(session.Workspace()),
		Capabilities: call.Capabilities(),
	}
	if call.Set().Open(oupwire.FeatureContextLifecycleV1) {
		opened.ContextState = wirejson.Some(session.ContextState(ctx))
	}
	if call.Set().Has(oupwire.FeaturePaneSnapshotsV1) {
		opened.Panes = wirejson.Some(pane.Of(session.Key(), session.Workspace(), time.Now()))
	}
	if _, _, reasoning, known := session.Model(); known && oupwire.ReasoningEffort(reasoning).Known() {
		opened.ReasoningEffort = wirejson.Some(oupwire.ReasoningEffort(reasoning))
	}
	if declared, has := p.ClientCommands.Get(); has {
		opened.AcceptedClientCommands = wirejson.Some(commands(declared))
	}
	return opened
}

// workspace judges cwd and sandbox, and says where a new session works.
func (r *Rows) workspace(call *rpc.Call, p oupwire.SessionOpenParams) (string, error) {
	if _, has := p.Sandbox.Get(); has && !call.Set().Has(oupwire.FeatureSessionSandboxV1) {
		return "", featureRequired(call, "sandbox", oupwire.FeatureSessionSandboxV1)
	}
	cwd := p.Cwd.Or("")
	if strings.TrimSpace(cwd) == "" {
		return "", nil
	}
	if !call.Set().Has(oupwire.FeatureSessionWorkspaceCwdV1) {
		return "", featureRequired(call, "cwd", oupwire.FeatureSessionWorkspaceCwdV1)
	}
	root, err := place.Resolve(cwd, r.Home)
	if err != nil {
		return "", r.fail(call, err)
	}
	return root, nil
}

// follow begins to read behind the cursor of the client, or where its lane before stands.
func (r *Rows) follow(ctx context.Context, call *rpc.Call, p oupwire.SessionOpenParams) (reader *ledger.Reader, replays bool, err error) {
	key := call.Scope.Session.String()
	var after *ledger.Cursor
	if c, has := p.After.Get(); has {
		after = &ledger.Cursor{Stream: c.Stream, Seq: c.Seq}
	} else if at, open := r.Lanes.Of(call.Connection).Position(key); open {
		after = &ledger.Cursor{Stream: key, Seq: at}
	}
	reader, err = r.Ledger.Follow(ctx, key, after)
	if errors.Is(err, ledger.ErrExpired) && p.After.IsAbsent() {
		after = nil // what the lane before had not told is no longer kept
		reader, err = r.Ledger.Follow(ctx, key, nil)
	}
	return reader, after != nil, err
}

// offers are the requests and questions that wait for an answer, the newest plan, and the tasks there
// are.
func (r *Rows) offers(ctx context.Context, session *live.Session) ([]lane.Offer, error) {
	var offers []lane.Offer
	for _, a := range session.Pending().Approvals() {
		seq, err := r.begun(ctx, session.Key(), ledger.Subject{Kind: event.Approval, ID: a.ApprovalID})
		if err != nil {
			return nil, err
		}
		offers = append(offers, lane.Offer{Method: oupwire.MethodApprovalRequested, Params: a, Seq: seq})
	}
	for _, q := range session.Pending().Questions() {
		seq, err := r.begun(ctx, session.Key(), ledger.Subject{Kind: event.Question, ID: q.QuestionID})
		if err != nil {
			return nil, err
		}
		offers = append(offers, lane.Offer{Method: oupwire.MethodUserQuestionRequested, Params: q, Seq: seq})
	}
	if plan, found := session.Plan(); found {
		offers = append(offers, lane.Offer{Method: oupwire.MethodPlanUpdated, Params: plan})
	}
	tasks, err := r.Tasks.List(session.Key())
	if err != nil {
		return nil, err
	}
	for i := range tasks {
		offers = append(offers, lane.Offer{Method: oupwire.MethodTaskUpdated, Params: tasks[i].Update()})
	}
	return offers, nil
}

// begun is the number of the event that told something first.
func (r *Rows) begun(ctx context.Context, stream string, subject ledger.Subject) (int64, error) {
	state, _, err := r.Ledger.State(ctx, stream, subject)
	return state.Begun, err
}

// commands are the declared ones that a client gets.
//
// Rules: OUP-OPEN-009, OUP-OPEN-010, OUP-OPEN-011.
func commands(declared []string) []string {
	accepted := []string{}
	for _, name := range declared {
		name = strings.TrimPrefix(name, "/")
		if len(accepted) == oupwire.MaxClientCommands {
			break
		}
		if !isCommand(name) || slices.Contains(oupwire.TableServerCommands, name) || slices.Contains(accepted, "/"+name) {
			continue
		}
		accepted = append(accepted, "/"+name)
	}
	return accepted
}

func isCommand(name string) bool {
	return 0 < len(name) && len(name) <= oupwire.MaxClientCommandBytes && !strings.ContainsFunc(name, func(c rune) bool {
		return (c < 'a' || c > 'z') && (c < 'A' || c > 'Z') && (c < '0' || c > '9') && c != '-' && c != '_'
	})
}
