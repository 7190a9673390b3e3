package methods

import (
	"context"
	"errors"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/agent"
	"github.com/octet-dev/octet/host/engine"
	"github.com/octet-dev/octet/host/model"
	"github.com/octet-dev/octet/host/oup/house"
	"github.com/octet-dev/octet/host/oup/key"
	"github.com/octet-dev/octet/host/oup/live"
	"github.com/octet-dev/octet/host/oup/rpc"
	"github.com/octet-dev/octet/host/oup/transcript"
)

func (r *Rows) changing() map[string]rpc.Handler {
	return map[string]rpc.Handler{
		oupwire.MethodSessionTitleSet:       rpc.Handle(oupwire.DecodeSessionTitleSetParams, r.title),
		oupwire.MethodSessionDelete:         rpc.Handle(oupwire.DecodeSessionDeleteParams, r.remove),
		oupwire.MethodSessionRollback:       rpc.Handle(oupwire.DecodeSessionRollbackParams, r.rollback),
		oupwire.MethodSessionFork:           rpc.Handle(oupwire.DecodeSessionForkParams, r.fork),
		oupwire.MethodSessionCompact:        rpc.Handle(oupwire.DecodeSessionCompactParams, later(r.compact)),
		oupwire.MethodSessionCompactModeSet: rpc.Handle(oupwire.DecodeSessionCompactModeParams, r.compaction),
		oupwire.MethodSessionBtw:            rpc.Handle(oupwire.DecodeSessionBtwParams, later(r.aside)),
		oupwire.MethodSessionAppendMessage:  rpc.Handle(oupwire.DecodeSessionAppendMessageParams, r.add),
	}
}

// invalid refuses params that keep their model.
func invalid(call *rpc.Call, format string, values ...any) *rpc.Error {
	return rpc.Fail(oupwire.ErrInvalidParams, call.Method+": "+sprintf(format, values...))
}

// title names a session.
//
// Rules: OUP-SESSION-014, OUP-SESSION-015.
func (r *Rows) title(ctx context.Context, call *rpc.Call, p oupwire.SessionTitleSetParams) (oupwire.SessionTitleSetResult, error) {
	var none oupwire.SessionTitleSetResult
	title := strings.TrimSpace(strings.Map(func(c rune) rune { // a title is one line, which terminals show
		if unicode.IsControl(c) {
			return ' '
		}
		return c
	}, p.Title))
	switch n := utf8.RuneCountInString(title); {
	case n == 0:
		return none, invalid(call, "the title is blank")
	case n > oupwire.MaxTitleCharacters:
		return none, invalid(call, "the title has %d characters, at most %d", n, oupwire.MaxTitleCharacters)
	}
	s, err := r.House.Find(ctx, call.Scope.Session)
	if err == nil {
		err = s.SetTitle(ctx, title)
	}
	if err != nil {
		return none, r.fail(call, err)
	}
	return oupwire.SessionTitleSetResult{SessionID: s.Key(), Title: title}, nil
}

// remove deletes a session with everything that is kept of it.
//
// Rules: OUP-SESSION-016, OUP-SESSION-017, OUP-SESSION-018.
func (r *Rows) remove(ctx context.Context, call *rpc.Call, _ oupwire.SessionDeleteParams) (oupwire.EmptyResult, error) {
	session, lanes := call.Scope.Session.String(), r.Lanes.Of(call.Connection)
	err := r.House.Delete(ctx, call.Scope.Session, house.Parting{
		Retired: func() error { return r.Tasks.Forget(session) }, // so that none tells anything behind the deletion
		Gone: func(last int64) {
			r.Lanes.Finish(session, last) // whoever has it open is told how it ended
			if err := r.Previews.Forget(session); err != nil {
				r.Log(err) // the conversation is gone; what is left of it here is in nobody's way
			}
			near, cancel := context.WithTimeout(ctx, leave)
			defer cancel()
			_ = lanes.Await(near, session) // while its events are on disk
		},
	})
	// Whoever was faster may have deleted it: that is told here too, in front of the answer.
	if late := lanes.Await(ctx, session); err == nil {
		err = late
	}
	if err != nil {
		return oupwire.EmptyResult{}, r.fail(call, err)
	}
	return oupwire.EmptyResult{}, nil
}

// leave is how long a deletion waits for its client to be told of the end before the events go. Others wait for the
// key meanwhile.
const leave = time.Second

// rollback takes the last turns out of the conversation.
//
// Rules: OUP-ROLLBACK-001 to OUP-ROLLBACK-007.
func (r *Rows) rollback(ctx context.Context, call *rpc.Call, p oupwire.SessionRollbackParams) (oupwire.SessionRollbackResult, error) {
	var result oupwire.SessionRollbackResult
	s, err := r.House.Find(ctx, call.Scope.Session)
	if err != nil {
		return result, r.fail(call, err)
	}
	done, err := s.Rollback(ctx, int(p.NumTurns))
	var running *live.InProgressError
	switch {
	case errors.Is(err, live.ErrNoTurns):
		return result, refuse(call, "invalid_num_turns", err.Error())
	case errors.As(err, &running):
		return result, detailed(call, oupwire.ErrInvalidParams, err, oupwire.TurnInProgressErrorData{})
	case err != nil:
		return result, r.fail(call, err)
	}
	replay, _, err := r.replay(ctx, s, wirejson.Opt[oupwire.Cursor]{}, false)
	if err != nil {
		return result, r.fail(call, err)
	}
	branch, err := s.Branch(ctx)
	if err != nil {
		return result, r.fail(call, err)
	}
	rows := transcript.Rows(branch)
	turns, err := r.standings(ctx, s, rows, replay)
	if err != nil {
		return result, err
	}
	var left oupwire.SessionHydrateResult
	if err := r.fill(&left, func(oupwire.HydrateSection) bool { return true }, rows, turns, replay, false); err != nil {
		return result, err
	}
	result = oupwire.SessionRollbackResult{DroppedTurns: int64(done.Turns), Thread: oupwire.RolledBackThread{
		SessionID: s.Key(), Cursor: oupwire.Cursor{Stream: done.Before.Stream, Seq: done.Before.Seq},
		Messages: left.Messages.Or(nil), Threads: left.Threads.Or(nil), Turns: left.Turns.Or(nil),
	}}
	if left.Truncated.Or(false) {
		result.Thread.Unknown = []wirejson.Member{transcript.Truncated}
	}
	return result, nil
}

// fork copies a conversation into a new session.
//
// Rules: OUP-FORK-001 to OUP-FORK-005.
func (r *Rows) fork(ctx context.Context, call *rpc.Call, p oupwire.SessionForkParams) (oupwire.SessionForkResult, error) {
	last := -1
	if n, has := p.CopyMessages.Get(); has {
		last = int(n)
	}
	made, err := r.House.Fork(ctx, call.Scope.Session, p.NewChatID, last)
	var exists *house.ExistsError
	switch {
	case errors.Is(err, key.ErrChatID):
		return oupwire.SessionForkResult{}, refuse(call, "invalid_new_chat_id", err.Error())
	case errors.As(err, &exists):
		return oupwire.SessionForkResult{}, refuse(call, "child_exists", err.Error())
	case err != nil:
		return oupwire.SessionForkResult{}, r.fail(call, err)
	}
	return oupwire.SessionForkResult{
		NewSessionID: made.Key.String(), ParentSessionID: call.Scope.Session.String(), CopiedMessages: int64(made.Copied),
	}, nil
}

// compact shortens the context now. That there is no summary is told as an event, and is an answer too.
//
// Rules: OUP-COMPACT-001, OUP-COMPACT-003, OUP-COMPACT-004.
func (r *Rows) compact(ctx context.Context, call *rpc.Call, _ oupwire.SessionCompactParams) (oupwire.SessionCompactResult, error) {
	var none oupwire.SessionCompactResult
	s, err := r.House.Find(ctx, call.Scope.Session)
	if err != nil {
		return none, r.fail(call, err)
	}
	done, err := s.Compact(ctx)
	if e := r.fail(call, err); err != nil && e != err {
		return none, e // it could not even begin
	}
	result := oupwire.SessionCompactResult{
		SessionID: s.Key(), Compacted: err == nil && done.Done, TokenEstimateBefore: done.Before, TokenEstimateAfter: wirejson.Null[int64](),
	}
	if result.Compacted {
		result.TokenEstimateAfter = wirejson.Some(done.After)
	}
	return result, nil
}

// compaction chooses how the context is shortened from now on.
//
// Rules: OUP-COMPACT-002, OUP-COMPACT-003.
func (r *Rows) compaction(ctx context.Context, call *rpc.Call, p oupwire.SessionCompactModeParams) (oupwire.SessionCompactModeResult, error) {
	s, err := r.House.Find(ctx, call.Scope.Session)
	if err != nil {
		return oupwire.SessionCompactModeResult{}, r.fail(call, err)
	}
	return oupwire.SessionCompactModeResult{SessionID: s.Key(), Mode: s.SetCompaction(p.Mode)}, nil
}

// aside asks beside the conversation.
//
// Rules: OUP-ASIDE-001, OUP-ASIDE-002.
func (r *Rows) aside(ctx context.Context, call *rpc.Call, p oupwire.SessionBtwParams) (oupwire.SessionBtwResult, error) {
	var none oupwire.SessionBtwResult
	if strings.TrimSpace(p.Question) == "" {
		return none, invalid(call, "the question is blank")
	}
	s, err := r.House.Find(ctx, call.Scope.Session)
	if err != nil {
		return none, r.fail(call, err)
	}
	said, err := s.Aside(ctx, p.Question)
	var failed *model.Error
	switch {
	case errors.As(err, &failed), errors.Is(err, agent.ErrNoAnswer):
		return none, detailed(call, oupwire.ErrRuntimeNotReady, err, oupwire.RuntimeUnavailableErrorData{Method: wirejson.Some(call.Method)})
	case err != nil:
		return none, r.fail(call, err)
	}
	result := oupwire.SessionBtwResult{SessionID: s.Key(), Answer: transcript.Fit(transcript.Cut(said.Text, oupwire.MaxFrameTextBytes), transcript.Room)}
	if said.Model != "" {
		result.Model = wirejson.Some(said.Model)
	}
	return result, nil
}

// add adds a message without starting a turn: in front of what the client asks next, or, where a turn or a compaction
// runs, behind that and beside the requests that follow, which may be waited for in it. A session is made with its first
// message, or not at all.
//
// Rules: OUP-APPEND-001 to OUP-APPEND-004, OUP-APPEND-006.
func (r *Rows) add(ctx context.Context, call *rpc.Call, p oupwire.SessionAppendMessageParams) (wirejson.Encoder, error) {
	message := live.Added{
		Role: p.Role, Text: p.Content, Source: p.Source, Media: p.Media.Or(nil), ClientMessageID: p.ClientMessageID.Or(""), Thread: p.ThreadID.Or(""),
	}
	answer := func(to live.AddedTo, err error) (wirejson.Encoder, error) {
		if err != nil {
			return nil, r.fail(call, err)
		}
		return oupwire.SessionAppendMessageResult{SessionID: call.Scope.Session.String(), Seq: to.Row, ThreadID: to.Thread}, nil
	}
	var to live.AddedTo
	s, made, err := r.House.Make(ctx, call.Scope.Session, house.New{Profile: call.Scope.Profile, First: func(s *live.Session) (err error) {
		to, err = s.AddNow(ctx, message)
		return err
	}})
	if err != nil || made {
		return answer(to, err)
	}
	if !r.order.waits(s.Key()) {
		if to, err = s.AddNow(ctx, message); !errors.Is(err, engine.ErrBusy) {
			return answer(to, err)
		}
	}
	call.Later(r.order.behind(ctx, s.Key(), func(ctx context.Context) (wirejson.Encoder, error) {
		return answer(s.AddMessage(ctx, message))
	}))
	return nil, nil
}
