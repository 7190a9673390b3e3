package story

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/agent"
	"github.com/octet-dev/octet/host/oup/event"
	"github.com/octet-dev/octet/host/oup/ledger"
)

// aside tells what goes on beside the stream of the turn.
func (t *Teller) aside(e agent.Event) []ledger.Event {
	switch e := e.(type) {
	case agent.RetryScheduled:
		return []ledger.Event{t.progress(oupwire.ProgressMetadata{
			Kind: oupwire.ProgressKindRetryBackoff,
			Retry: wirejson.Some(oupwire.ProgressRetry{
				Attempt: wirejson.Some(int64(e.Attempt)), MaxAttempts: wirejson.Some(int64(e.MaxAttempts)),
				BackoffMs: wirejson.Some(max(e.Millis, 0)), Reason: wirejson.Some(e.Reason),
			}),
		})}
	case agent.WaitingForNetwork:
		return []ledger.Event{t.status("waiting for the network", e.Reason)}
	case agent.NetworkBack:
		return []ledger.Event{t.status("the network is back", (time.Duration(e.Waited) * time.Millisecond).String())}
	case agent.Usage:
		return []ledger.Event{t.progress(oupwire.ProgressMetadata{Kind: oupwire.ProgressKindTokenCostUpdate, TokenCost: wirejson.Some(cost(e))})}
	case agent.Notified:
		return []ledger.Event{Notice(t.session, t.turn, e.Notification)}
	}
	return nil
}

func (t *Teller) status(message, detail string) ledger.Event {
	metadata := oupwire.ProgressMetadata{Kind: oupwire.ProgressKindStatus, Message: wirejson.Some(message)}
	if detail != "" {
		metadata.Detail = wirejson.Some(detail)
	}
	return t.progress(metadata)
}

// cost is what the turn has used so far.
func cost(e agent.Usage) oupwire.TokenCost {
	u := e.Usage
	c := oupwire.TokenCost{
		InputTokens: wirejson.Some(u.Input), OutputTokens: wirejson.Some(u.Output), ReasoningTokens: wirejson.Some(u.Reasoning),
		CacheReadTokens: wirejson.Some(u.CacheRead), CacheWriteTokens: wirejson.Some(u.CacheWrite), TotalTokens: wirejson.Some(u.Tokens()),
	}
	return c
}

// Notice makes a warning, or news for what is less than one, of what an extension says. turn may be empty.
func Notice(session, turn string, n agent.Notification) ledger.Event {
	text := strings.TrimSpace(n.Title + ": " + n.Message)
	if n.Title == "" {
		text = n.Message
	}
	if n.Level != string(featurewire.NotificationLevelWarning) && n.Level != string(featurewire.NotificationLevelError) {
		told := oupwire.ProgressUpdatedEvent{
			SessionID: session, Topic: event.Topic(session),
			Metadata: oupwire.ProgressMetadata{Kind: oupwire.ProgressKindStatus, Message: wirejson.Some(text), Label: wirejson.Some(n.Source)},
		}
		if turn != "" {
			told.TurnID = wirejson.Some(turn)
		}
		return event.Of(session, oupwire.MethodProgressUpdated, told, ledger.Subject{}, ledger.Within)
	}
	return Warning(session, turn, cmp.Or(n.Source, "octet"), text)
}

// Warning makes a warning. turn may be empty.
func Warning(session, turn, code, message string) ledger.Event {
	told := oupwire.WarningEvent{SessionID: session, Topic: event.Topic(session), Code: code, Message: Cut(message, oupwire.MaxOutputPreviewCharacters)}
	if turn != "" {
		told.TurnID = wirejson.Some(turn)
	}
	return event.Of(session, oupwire.MethodWarning, told, ledger.Subject{}, ledger.Within)
}

// Dropped tells which steers were accepted and not taken, in the order in which they were accepted.
//
// Rules: OUP-STEER-005, OUP-STEER-006.
func Dropped(session, turn string, inputs []oupwire.InputItem, reason oupwire.SteerDropReason) ledger.Event {
	return event.Of(session, oupwire.MethodTurnSteerDropped, oupwire.TurnSteerDroppedEvent{
		SessionID: session, Topic: event.Topic(session), TurnID: turn, Inputs: inputs, Reason: reason,
	}, ledger.Subject{}, ledger.Within)
}

// Fit cuts a text that is too long for a frame, and returns the member that says so.
//
// Settled: S67.
func Fit(text string) (string, []wirejson.Member) {
	if len(text) <= oupwire.MaxFrameTextBytes && escaped(text) <= oupwire.MaxTextFrameBytes-frameRoom {
		return text, nil
	}
	text = text[:boundary(text, min(len(text), oupwire.MaxFrameTextBytes))]
	for escaped(text) > oupwire.MaxTextFrameBytes-frameRoom {
		text = text[:boundary(text, len(text)/2)]
	}
	return text, []wirejson.Member{{Name: "truncated", Value: []byte("true")}}
}

// frameRoom is what a frame needs beside the one long text in it.
const frameRoom = 64 << 10

// escaped is how long a text is in JSON.
func escaped(text string) int { return len(wirejson.AppendString(nil, text)) }

// boundary is the last place at or before n where a character begins.
func boundary(text string, n int) int {
	for n > 0 && n < len(text) && text[n]&0xc0 == 0x80 {
		n--
	}
	return n
}

// Cut shortens a text to so many characters.
func Cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	count := 0
	for i := range text {
		if count == most {
			return text[:i]
		}
		count++
	}
	return text
}

// row finds a code of the table of failures, so that none is used that it does not have.
func row(code string) string {
	for _, r := range oupwire.TableTurnFailureCodes {
		if r.Code == code {
			return code
		}
	}
	panic(fmt.Sprintf("oup story: the table of failures has no code %q", code))
}
