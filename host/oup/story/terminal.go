package story

import (
	"cmp"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/agent"
	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/oup/event"
	"github.com/octet-dev/octet/host/oup/ledger"
	"github.com/octet-dev/octet/host/session"
)

// Codes of failures.
var (
	CodeInterrupted = row("interrupted")
	CodeFailed      = row("runtime_error")
	CodeUnavailable = row("runtime_unavailable")
	CodeDenied      = row("permission_denied")
	CodeGone        = row("connection_closed")
	CodeOrphaned    = row("orphaned_by_restart")
	CodeTruncated   = row("output_truncated")
)

// End is how a turn ended.
type End struct {
	Outcome oupwire.TurnOutcome
	Code    string // empty for completed
	Message string
	Usage   *conversation.Usage // nil: unknown
	// Partial says that an answer was cut; Answer is the message that was stored of it, empty where none was.
	Partial bool
	Answer  string
	Row     int64 // of the transcript, for Answer
}

// Settled is the end of a turn whose run ended so. A turn that was told to stop ends interrupted, also where it
// was faster.
//
// Rules: OUP-TURN-014, OUP-STREAM-015.
func Settled(o agent.Outcome, stopped bool) End {
	end := End{Message: o.Reason}
	if !o.Uncertain {
		usage := o.Usage
		end.Usage = &usage
	}
	switch {
	case stopped, o.Status == agent.Interrupted, o.Status == agent.Cancelled, o.Status == agent.Shutdown:
		end.Outcome, end.Code = oupwire.TurnOutcomeInterrupted, CodeInterrupted
		end.Message = cmp.Or(end.Message, "the turn was stopped")
	case o.Status == agent.Completed:
		end.Outcome = oupwire.TurnOutcomeCompleted
	case o.Code == agent.CodeLength:
		end.Outcome, end.Code, end.Partial = oupwire.TurnOutcomeErrored, CodeTruncated, true
	case o.Status == agent.Disconnected:
		end.Outcome, end.Code = oupwire.TurnOutcomeErrored, CodeGone
	case o.Status == agent.Denied:
		end.Outcome, end.Code = oupwire.TurnOutcomeErrored, CodeDenied
	default:
		end.Outcome, end.Code = oupwire.TurnOutcomeErrored, CodeFailed
	}
	return end
}

// Stored is the end of a turn as the transcript tells it, for turns whose end was stored there and never told.
func Stored(s session.Settlement) End {
	end := End{Code: CodeFailed, Message: s.Text, Outcome: oupwire.TurnOutcomeErrored}
	switch {
	case s.Outcome == session.Completed:
		end = End{Outcome: oupwire.TurnOutcomeCompleted}
	case s.Outcome == session.Cancelled || s.Outcome == session.Interrupted:
		end.Outcome, end.Code = oupwire.TurnOutcomeInterrupted, CodeInterrupted
	case s.Code == session.CodeOrphaned:
		end.Code = CodeOrphaned
	}
	return end
}

// Terminal is the last event of a turn.
//
// Rules: OUP-STREAM-009, OUP-STREAM-010, OUP-STREAM-016.
func Terminal(sessionKey, turn string, end End) ledger.Event {
	data := oupwire.TurnTerminalData{Outcome: end.Outcome}
	if end.Code != "" {
		failure := oupwire.TurnFailure{Code: end.Code, Message: Cut(cmp.Or(end.Message, end.Code), oupwire.MaxToolErrorCharacters)}
		if end.Partial {
			failure.Data = wirejson.Some(event.Detail(map[string]any{"partial_result": partial(end)}))
		}
		data.Error = wirejson.Some(failure)
	}
	if end.Usage != nil {
		data.TokenUsage = wirejson.Some(usage(*end.Usage))
	}
	return event.Envelope{Thread: turn, Turn: turn, Payload: oupwire.TurnTerminalPayload{Data: data}}.Event(sessionKey, event.Turn, ledger.Ends)
}

func partial(end End) oupwire.PartialResult {
	if end.Answer == "" {
		return oupwire.PartialResult{SessionResult: wirejson.Null[oupwire.CommittedMessage]()}
	}
	return oupwire.PartialResult{SessionResult: wirejson.Some(oupwire.CommittedMessage{CommittedSeq: end.Row, MessageID: end.Answer})}
}

// usage counts one turn. What is zero is left out.
func usage(u conversation.Usage) oupwire.TokenUsage {
	count := func(n int64) wirejson.Opt[int64] {
		if n <= 0 {
			return wirejson.Opt[int64]{}
		}
		return wirejson.Some(n)
	}
	return oupwire.TokenUsage{
		InputTokens: count(u.Input), OutputTokens: count(u.Output), ReasoningTokens: count(u.Reasoning),
		CacheReadTokens: count(u.CacheRead), CacheWriteTokens: count(u.CacheWrite),
	}
}
