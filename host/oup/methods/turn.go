package methods

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/oup/live"
	"github.com/octet-dev/octet/host/oup/rpc"
	"github.com/octet-dev/octet/host/oup/snapshot"
)

func (r *Rows) turns() map[string]rpc.Handler {
	return map[string]rpc.Handler{
		oupwire.MethodTurnStart:     rpc.Handle(oupwire.DecodeTurnStartParams, r.start),
		oupwire.MethodTurnInterrupt: rpc.Handle(oupwire.DecodeTurnInterruptParams, r.interrupt),
	}
}

// start accepts a turn. It is on disk before the answer, told behind the answer, and begins when the answer is on
// its way.
//
// Rules: OUP-TURN-001 to OUP-TURN-012.
func (r *Rows) start(ctx context.Context, call *rpc.Call, p oupwire.TurnStartParams) (oupwire.TurnStartResult, error) {
	var none oupwire.TurnStartResult
	if origin, has := p.Origin.Get(); has && origin.Kind != oupwire.TurnOriginKindPerson {
		return none, refuse(call, "turn_origin_not_allowed", "a client of this server speaks for a person; leave origin out, or name that kind")
	}
	session, err := r.House.Find(ctx, call.Scope.Session)
	if err != nil {
		return none, r.fail(call, err)
	}
	if session.Running() == "" { // what was asked for in front of it waits for a compaction then, or for nothing
		if err := r.order.wait(ctx, session.Key()); err != nil {
			return none, err
		}
	}
	release, err := r.Lanes.Of(call.Connection).Hold(ctx, session.Key())
	if err != nil {
		return none, err
	}
	call.After(release)
	started, err := session.Start(ctx, live.Turn{
		ID: p.TurnID, Text: live.Text(p.Input), Files: p.Media.Or(nil), ClientMessageID: messageID(p), Reasoning: string(p.ReasoningEffort.Or("")),
	})
	if err != nil {
		return none, r.fail(call, err)
	}
	call.After(func() { r.launch(call, session, started) })
	return oupwire.TurnStartResult{Accepted: true}, nil
}

// preparation is how long a turn waits for the snapshot of its workspace.
const preparation = 3 * time.Second

// launch lets a turn run whose answer is on its way, behind a snapshot of the workspace.
func (r *Rows) launch(call *rpc.Call, session *live.Session, started *live.Started) {
	switch {
	case !call.Told():
		started.GiveUp()
	case started.Again:
	default:
		go func() {
			defer started.Go()
			ctx, cancel := context.WithTimeout(context.Background(), preparation)
			defer cancel()
			_, err := r.Snapshots.Take(ctx, session.Workspace(), "before turn "+started.Turn)
			var large *snapshot.TooLargeError
			if err != nil && !errors.As(err, &large) && ctx.Err() == nil {
				r.Log(err)
			}
		}()
	}
}

// messageID is the id that a client gives what it says, a member that newer clients add.
func messageID(p oupwire.TurnStartParams) string {
	for _, m := range p.Unknown {
		var id string
		if m.Name == "client_message_id" && json.Unmarshal(m.Value, &id) == nil {
			return id
		}
	}
	return ""
}

// interrupt stops a turn. Other requests of the connection do not wait for that.
//
// Rules: OUP-INTERRUPT-001 to OUP-INTERRUPT-005.
func (r *Rows) interrupt(ctx context.Context, call *rpc.Call, p oupwire.TurnInterruptParams) (wirejson.Encoder, error) {
	session, err := r.House.Find(ctx, call.Scope.Session)
	if err != nil {
		return nil, r.fail(call, err)
	}
	call.Later(func(ctx context.Context) (wirejson.Encoder, error) {
		done, err := session.Interrupt(ctx, p.TurnID)
		if err != nil {
			return nil, r.fail(call, err)
		}
		result := oupwire.TurnInterruptResult{Interrupted: done.Interrupted}
		if done.Mismatch {
			result.Reason = wirejson.Some(oupwire.InterruptReasonTurnIDMismatch)
		}
		if done.Ended != "" {
			result.TerminalState = wirejson.Some(done.Ended)
		}
		if done.Late {
			result.AckTimeout = wirejson.Some(true)
		}
		return result, nil
	})
	return nil, nil
}
