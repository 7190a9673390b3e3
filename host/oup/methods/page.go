package methods

import (
	"context"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/oup/event"
	"github.com/octet-dev/octet/host/oup/live"
	"github.com/octet-dev/octet/host/oup/rpc"
	"github.com/octet-dev/octet/host/oup/transcript"
)

func (r *Rows) reading() map[string]rpc.Handler {
	return map[string]rpc.Handler{
		oupwire.MethodSessionMessagesPage: rpc.Handle(oupwire.DecodeSessionMessagesPageParams, later(r.page)),
		oupwire.MethodThreadGraphGet:      rpc.Handle(oupwire.DecodeThreadGraphGetParams, later(r.graph)),
		oupwire.MethodTurnStateGet:        rpc.Handle(oupwire.DecodeTurnStateGetParams, later(r.turnState)),
	}
}

// said finds the session of a request, and what was said in it.
func (r *Rows) said(ctx context.Context, call *rpc.Call) (*live.Session, []transcript.Row, error) {
	s, err := r.House.Find(ctx, call.Scope.Session)
	if err != nil {
		return nil, nil, r.fail(call, err)
	}
	branch, err := s.Branch(ctx)
	if err != nil {
		return nil, nil, r.fail(call, err)
	}
	return s, transcript.Rows(branch), nil
}

// page reads messages page by page. A page that does not fit into a frame ends early; the next one goes on there.
//
// Rules: OUP-SESSION-007 to OUP-SESSION-012.
func (r *Rows) page(ctx context.Context, call *rpc.Call, p oupwire.SessionMessagesPageParams) (oupwire.SessionMessagesPageResult, error) {
	var result oupwire.SessionMessagesPageResult
	_, rows, err := r.said(ctx, call)
	if err != nil {
		return result, err
	}
	if since, has := p.SinceSeq.Get(); has {
		rows = rows[min(max(since+1, 0), int64(len(rows))):]
	}
	offset := min(p.Offset.Or(0), oupwire.MaxMessagesOffset)
	limit := min(p.Limit.Or(oupwire.MessagesPageDefault), oupwire.MaxMessagesPage)
	rows = rows[min(offset, int64(len(rows))):]
	rows = rows[:min(limit, int64(len(rows)))]
	page := make([]oupwire.MessageInfo, 0, len(rows))
	for i := range rows {
		page = append(page, rows[i].Info())
	}
	kept, whole := transcript.First(page, transcript.Room)
	result = oupwire.SessionMessagesPageResult{
		Messages: kept, HasMore: int64(len(kept)) == limit || !whole, NextOffset: offset + int64(len(kept)),
	}
	if !whole {
		result.Truncated = wirejson.Some(true)
	}
	return result, nil
}

// graph reads how messages are grouped.
//
// Rules: OUP-THREAD-001, OUP-THREAD-002, OUP-THREAD-003.
func (r *Rows) graph(ctx context.Context, call *rpc.Call, p oupwire.ThreadGraphGetParams) (oupwire.ThreadGraphGetResult, error) {
	var result oupwire.ThreadGraphGetResult
	s, rows, err := r.said(ctx, call)
	if err != nil {
		return result, err
	}
	result = oupwire.ThreadGraphGetResult{SessionID: s.Key()}
	if at, has := p.At.Get(); has {
		result.Cursor = at
	} else {
		window, err := r.Ledger.Window(ctx, s.Key())
		if err != nil {
			return result, err
		}
		result.Cursor = oupwire.Cursor{Stream: s.Key(), Seq: window.Head}
	}
	replay, _, err := r.replay(ctx, s, wirejson.Opt[oupwire.Cursor]{}, false)
	if err != nil {
		return result, r.fail(call, err)
	}
	turns, err := r.standings(ctx, s, rows, replay)
	if err != nil {
		return result, err
	}
	threads, orphans := transcript.Threads(rows, turns.status)
	kept, whole := transcript.Newest(threads, transcript.Room/2)
	result.Threads, result.Orphans = kept, orphans[max(0, len(orphans)-maxOrphans):]
	if !whole || len(orphans) > maxOrphans {
		result.Unknown = []wirejson.Member{transcript.Truncated}
	}
	return result, nil
}

// maxOrphans bounds a list of numbers.
const maxOrphans = 16 << 10

// turnState reads how a turn stands.
//
// Rules: OUP-STATE-001, OUP-STATE-002, OUP-STATE-003.
func (r *Rows) turnState(ctx context.Context, call *rpc.Call, p oupwire.TurnStateGetParams) (oupwire.TurnStateGetResult, error) {
	var result oupwire.TurnStateGetResult
	s, rows, err := r.said(ctx, call)
	if err != nil {
		return result, err
	}
	id, err := s.Spelled(ctx, p.TurnID)
	if err != nil {
		return result, err
	}
	status, err := s.Turn(ctx, id)
	if err != nil {
		return result, r.fail(call, err)
	}
	result = oupwire.TurnStateGetResult{SessionID: s.Key(), TurnID: p.TurnID, State: status.State}
	var seqs []int64
	for i := range rows {
		if rows[i].Turn == id {
			seqs = append(seqs, rows[i].Seq)
		}
	}
	if len(seqs) > 0 {
		result.CommittedSeqs = wirejson.Some(seqs[max(0, len(seqs)-maxOrphans):])
	}
	if !status.Started.IsZero() {
		result.StartedAt = wirejson.Some(event.Time(status.Started))
	}
	if !status.Completed.IsZero() {
		result.CompletedAt = wirejson.Some(event.Time(status.Completed))
	}
	if status.State != oupwire.TurnStateUnknown || len(seqs) > 0 {
		result.ThreadID = wirejson.Some(id)
	}
	if status.State != oupwire.TurnStateActive && status.State != oupwire.TurnStateInterrupting {
		result.Running = wirejson.Some(false)
	}
	if call.Set().Open(oupwire.FeatureContextLifecycleV1) {
		result.ContextState = wirejson.Some(s.ContextState(ctx))
	}
	return result, nil
}
