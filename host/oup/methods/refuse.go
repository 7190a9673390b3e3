package methods

import (
	"errors"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/oup/house"
	"github.com/octet-dev/octet/host/oup/key"
	"github.com/octet-dev/octet/host/oup/ledger"
	"github.com/octet-dev/octet/host/oup/live"
	"github.com/octet-dev/octet/host/oup/pending"
	"github.com/octet-dev/octet/host/oup/place"
	"github.com/octet-dev/octet/host/oup/rpc"
	"github.com/octet-dev/octet/host/oup/storage"
	"github.com/octet-dev/octet/host/session"
)

// kinds are the words for details that are no more than a word.
var kinds = func() map[string]wirejson.ErrorCode {
	codes := map[string]wirejson.ErrorCode{}
	add := func(kind, name string) {
		for _, e := range oupwire.Errors {
			if e.Name == name {
				codes[kind] = e
			}
		}
	}
	for _, row := range oupwire.TableErrorKinds {
		add(row.Kind, row.Error)
	}
	for _, row := range oupwire.TableServiceErrorKinds {
		add(row.Kind, row.Error)
	}
	return codes
}()

// refuse makes an error whose detail is a word of the table of kinds, which says the code too. It panics on a word
// that the table does not have.
func refuse(call *rpc.Call, kind, message string) *rpc.Error {
	code, known := kinds[kind]
	if !known {
		panic("oup methods: the table has no kind " + kind)
	}
	e := rpc.Fail(code, call.Method+": "+message)
	e.Data = oupwire.ErrorData{Kind: kind, Method: wirejson.Some(call.Method)}
	return e
}

func featureRequired(call *rpc.Call, member, feature string) *rpc.Error {
	e := rpc.Fail(oupwire.ErrInvalidParams, call.Method+": "+member+" needs the feature "+feature+"; name it when you connect or in "+oupwire.MethodClientHello)
	e.Data = oupwire.FeatureRequiredErrorData{Feature: feature}
	return e
}

// fail spells what went wrong below as the protocol has it. What it does not know, and what the disk is to blame for, is
// for the log too.
func (r *Rows) fail(call *rpc.Call, err error) error {
	if storage.Trouble(err) != "" {
		return err
	}
	if e := spell(call, err); e != nil {
		return e
	}
	return err
}

// Spell makes an error of any handler one for the client, or nil.
func (r *Rows) Spell(call *rpc.Call, err error) *rpc.Error {
	if trouble := storage.Trouble(err); trouble != "" {
		e := rpc.Fail(oupwire.ErrRuntimeNotReady, call.Method+": "+trouble)
		e.Data = oupwire.RuntimeUnavailableErrorData{Method: wirejson.Some(call.Method)}
		return e
	}
	return spell(call, err)
}

func spell(call *rpc.Call, err error) *rpc.Error {
	for _, of := range []func(*rpc.Call, error) *rpc.Error{unknown, cursor, turn, question, approval, workspace, owner} {
		if e := of(call, err); e != nil {
			return e
		}
	}
	return nil
}

func detailed(call *rpc.Call, code wirejson.ErrorCode, err error, data wirejson.Encoder) *rpc.Error {
	e := rpc.Fail(code, call.Method+": "+err.Error())
	e.Data = data
	return e
}

func unknown(call *rpc.Call, err error) *rpc.Error {
	var missing *house.UnknownError
	var turn *live.UnknownTurnError
	var closed *live.UnavailableError
	switch {
	case errors.As(err, &missing):
		return detailed(call, oupwire.ErrUnknownSession, err, oupwire.UnknownSessionErrorData{SessionID: missing.Key})
	case errors.As(err, &turn):
		return detailed(call, oupwire.ErrUnknownTurn, err, oupwire.UnknownTurnErrorData{TurnID: turn.Turn})
	case errors.Is(err, session.ErrNotFound) && call.Scope.Session.String() != "": // it was deleted just now
		return unknown(call, &house.UnknownError{Key: call.Scope.Session.String()})
	case errors.Is(err, live.ErrRetired): // it is being deleted
		return detailed(call, oupwire.ErrUnknownSession, err, oupwire.UnknownSessionErrorData{SessionID: call.Scope.Session.String()})
	case errors.As(err, &closed), errors.Is(err, house.ErrClosed):
		return detailed(call, oupwire.ErrRuntimeNotReady, err, oupwire.RuntimeUnavailableErrorData{Method: wirejson.Some(call.Method)})
	}
	return nil
}

func cursor(call *rpc.Call, err error) *rpc.Error {
	var expired *ledger.ExpiredError
	var stream *ledger.StreamError
	session := call.Scope.Session.String()
	switch {
	case errors.As(err, &expired):
		w := expired.Window
		data := oupwire.CursorExpiredErrorData{
			Method: wirejson.Some(call.Method), SessionID: wirejson.Some(session), Cursor: oupwire.Cursor{Stream: expired.Cursor.Stream, Seq: expired.Cursor.Seq},
			LedgerHead: oupwire.Cursor{Stream: w.Stream, Seq: w.Head}, RetainedSeq: wirejson.Some(w.Head), OldestRetainedSeq: wirejson.Null[int64](),
		}
		if w.Oldest <= w.Head {
			data.OldestRetainedSeq = wirejson.Some(w.Oldest)
		}
		return detailed(call, oupwire.ErrCursorOutOfRange, err, data)
	case errors.As(err, &stream):
		return detailed(call, oupwire.ErrCursorInvalid, err, oupwire.CursorStreamMismatchErrorData{
			Method: wirejson.Some(call.Method), SessionID: session, ExpectedStream: stream.Expected, ActualStream: stream.Actual,
		})
	case errors.Is(err, ledger.ErrMalformed):
		return rpc.Fail(oupwire.ErrInvalidParams, call.Method+": "+err.Error())
	}
	return nil
}

func turn(call *rpc.Call, err error) *rpc.Error {
	var running *live.InProgressError
	var used *live.UsedError
	var file *live.FileError
	var added *live.AddError
	switch {
	case errors.As(err, &running):
		return detailed(call, oupwire.ErrInvalidRequest, err, oupwire.TurnInProgressErrorData{TurnID: wirejson.Some(running.Turn)})
	case errors.As(err, &used):
		return refuse(call, "turn_id_in_use", err.Error())
	case errors.As(err, &file), errors.As(err, &added), errors.Is(err, live.ErrNoInput):
		return rpc.Fail(oupwire.ErrInvalidParams, call.Method+": "+err.Error())
	}
	return nil
}

func approval(call *rpc.Call, err error) *rpc.Error {
	var missing *pending.UnknownError
	var decided *pending.NotPendingError
	var cancelled *pending.CancelledError
	method, session := wirejson.Some(call.Method), call.Scope.Session.String()
	switch {
	case errors.As(err, &missing):
		return detailed(call, oupwire.ErrUnknownApprovalID, err, oupwire.UnknownApprovalErrorData{Method: method, SessionID: session, ApprovalID: missing.ID})
	case errors.As(err, &decided):
		data := oupwire.ApprovalNotPendingErrorData{
			Method: method, SessionID: session, ApprovalID: decided.Approval, RecordedDecision: string(decided.Decision), RequestTitle: wirejson.Null[string](),
		}
		if decided.Title != "" {
			data.RequestTitle = wirejson.Some(decided.Title)
		}
		return detailed(call, oupwire.ErrApprovalNotPending, err, data)
	case errors.As(err, &cancelled):
		data := oupwire.ApprovalCancelledErrorData{Method: method, SessionID: session, ApprovalID: cancelled.Approval, Reason: cancelled.Reason}
		if cancelled.Turn != "" {
			data.TurnID = wirejson.Some(cancelled.Turn)
		}
		return detailed(call, oupwire.ErrApprovalCancelled, err, data)
	}
	return nil
}

func owner(call *rpc.Call, err error) *rpc.Error {
	var scope *key.ScopeError
	if !errors.As(err, &scope) {
		return nil
	}
	return detailed(call, oupwire.ErrInvalidParams, err, oupwire.ProfileMismatchErrorData{
		ExpectedProfileID: scope.Expected, ActualProfileID: wirejson.Some(scope.Actual),
	})
}

func workspace(call *rpc.Call, err error) *rpc.Error {
	var refused *place.Error
	if !errors.As(err, &refused) {
		return nil
	}
	data := oupwire.CwdErrorData{Kind: refused.Kind, Cwd: refused.Path}
	if refused.Cause != nil {
		data.Error = wirejson.Some(refused.Cause.Error())
	}
	if refused.Banned != "" {
		data.BannedRoot = wirejson.Some(refused.Banned)
	}
	return detailed(call, oupwire.ErrInvalidParams, err, data)
}
