package agent

import (
	"encoding/json"

	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/model"
	"github.com/octet-dev/octet/host/permission"
	"github.com/octet-dev/octet/host/session"
	"github.com/octet-dev/octet/host/tool"
)

// Event is live news of a run: one of the types of this file. Names and members of their JSON are stable;
// members may be added.
type Event interface {
	// Type is the stable name.
	Type() string
}

// MarshalEvent writes an event as one JSON object with its type as the first member.
func MarshalEvent(e Event) ([]byte, error) {
	body, err := json.Marshal(e)
	if err != nil {
		return nil, err
	}
	name, err := json.Marshal(e.Type())
	if err != nil {
		return nil, err
	}
	line := append([]byte(`{"type":`), name...)
	if string(body) == "{}" {
		return append(line, '}'), nil
	}
	return append(append(line, ','), body[1:]...), nil
}

// At says where in a run an event belongs.
type At struct {
	Run  string `json:"run,omitempty"` // empty for a compaction outside of one
	Turn int    `json:"turn"`          // from 0
}

// RunStarted: what the user said is stored.
type RunStarted struct {
	At
	Session   string               `json:"session"`
	Entry     session.EntryID      `json:"entry"`
	Prompt    conversation.Message `json:"prompt"` // as people are shown it
	Provider  string               `json:"provider"`
	Model     string               `json:"model"`
	Reasoning string               `json:"reasoning,omitempty"`
}

// TurnStarted: the model is about to be asked.
type TurnStarted struct{ At }

// TextDelta and the other deltas are pieces of an answer that is not stored yet.
type TextDelta struct {
	At
	Text string `json:"text"`
}

// ReasoningDelta is a piece of reasoning.
type ReasoningDelta struct {
	At
	Text string `json:"text"`
}

// ToolCallDelta is a piece of a call that the model is writing; Text is of its arguments.
type ToolCallDelta struct {
	At
	CallID string `json:"call_id"`
	Name   string `json:"name"`
	Text   string `json:"text"`
}

// AnswerDiscarded: the deltas since turn_started, or since the last of these, are void.
type AnswerDiscarded struct {
	At
	Reason string `json:"reason"`
}

// Message: something that was said is stored: an answer, results of tools, or a text of Steer or FollowUp.
type Message struct {
	At
	Entry   session.EntryID      `json:"entry"`
	Message conversation.Message `json:"message"`
	Stop    model.StopReason     `json:"stop,omitempty"` // of an answer
}

// ToolStarted: a call has leave and runs now.
type ToolStarted struct {
	At
	CallID    string          `json:"call_id"`
	Parent    string          `json:"parent,omitempty"` // the call that makes this one
	Name      string          `json:"name"`
	Provider  string          `json:"provider,omitempty"` // the extension behind the tool
	Arguments json.RawMessage `json:"arguments,omitempty"`
	Summary   tool.Summary    `json:"summary"`
}

// ToolProgress is live news of a call. Nothing of it is kept.
type ToolProgress struct {
	At
	CallID string `json:"call_id"`

	Message string `json:"message,omitempty"`
	Current *int64 `json:"current,omitempty"`
	Total   *int64 `json:"total,omitempty"`
	Unit    string `json:"unit,omitempty"`
	Stream  string `json:"stream,omitempty"`
	Data    string `json:"data,omitempty"` // as UTF-8, what is not replaced
	Label   string `json:"label,omitempty"`
	Detail  string `json:"detail,omitempty"`
}

// ToolStatus says how a call ended.
type ToolStatus string

// The ways in which a call ends.
const (
	ToolCompleted ToolStatus = "completed"
	ToolFailed    ToolStatus = "failed"    // it ran, or could not, and the model is told why
	ToolDenied    ToolStatus = "denied"    // a hook, the policy or a person said no
	ToolCancelled ToolStatus = "cancelled" // it was stopped, or never ran
)

// ToolFinished is the one end of a call, also of one that never started. The result is stored with the
// message that follows; for nested calls it is not stored.
type ToolFinished struct {
	At
	CallID   string        `json:"call_id"`
	Parent   string        `json:"parent,omitempty"`
	Name     string        `json:"name"`
	Provider string        `json:"provider,omitempty"`
	Status   ToolStatus    `json:"status"`
	Result   ToolResult    `json:"result"`
	Changes  []tool.Change `json:"changes,omitempty"`
	Millis   int64         `json:"duration_ms"`
}

// ToolResult is what a tool has answered.
type ToolResult struct {
	Content []conversation.Part   `json:"content"`
	IsError bool                  `json:"is_error"`
	Details *conversation.Details `json:"details,omitempty"`
}

// PermissionAsked: somebody is asked about a call. PermissionDecided with the same call follows.
type PermissionAsked struct {
	At
	CallID  string             `json:"call_id"`
	Name    string             `json:"name"`
	Effect  tool.Effect        `json:"effect"`
	Summary tool.Summary       `json:"summary"`
	Reason  string             `json:"reason,omitempty"`
	Scopes  []permission.Scope `json:"scopes,omitempty"`
}

// PermissionDecided: it is decided about a call that was asked about, or that was denied without asking.
type PermissionDecided struct {
	At
	CallID   string              `json:"call_id"`
	Name     string              `json:"name"`
	Decision permission.Decision `json:"decision"`
	Reason   string              `json:"reason,omitempty"`
}

// RetryScheduled: a request has failed and is sent again after Millis.
type RetryScheduled struct {
	At
	Operation   Operation `json:"operation,omitempty"`
	Kind        string    `json:"kind"`
	Attempt     int       `json:"attempt"` // the one that comes, from 2
	MaxAttempts int       `json:"max_attempts"`
	Millis      int64     `json:"delay_ms"`
	Reason      string    `json:"reason"`
}

// WaitingForNetwork: no connection can be made; the run waits for as long as it takes. It is telemetry, no
// content.
type WaitingForNetwork struct {
	At
	Operation Operation `json:"operation,omitempty"`
	Attempt   int       `json:"attempt"`
	Millis    int64     `json:"delay_ms"`
	Waited    int64     `json:"waited_ms"` // since the first failure
	Reason    string    `json:"reason"`
}

// NetworkBack: the wait is over.
type NetworkBack struct {
	At
	Waited int64 `json:"waited_ms"`
}

// Usage: what one request has used is stored.
type Usage struct {
	At
	Kind    session.UsageKind  `json:"kind"`
	Usage   conversation.Usage `json:"usage"`
	Session session.Totals     `json:"session"` // so far
}

// UsageUncertain: something was used that nobody counted, and that is stored: figures are known subtotals
// from here on.
type UsageUncertain struct {
	At
	Reason string `json:"reason"`
}

// CompactionStarted: the conversation is being summed up.
type CompactionStarted struct {
	At
	Trigger      string `json:"trigger"` // manual, threshold or overflow
	TokensBefore int64  `json:"tokens_before"`
	Entries      int    `json:"entries"`
}

// CompactionSettled: the summary is stored.
type CompactionSettled struct {
	At
	Trigger string `json:"trigger"`
	Compaction
}

// CompactionFailed: the conversation is as it was, unless Stored names a summary whose after-hooks failed.
type CompactionFailed struct {
	At
	Trigger string          `json:"trigger"`
	Reason  string          `json:"reason"`
	Stored  session.EntryID `json:"stored,omitempty"`
}

// Notified carries a notification.
type Notified struct {
	At
	Notification
}

// InputDelivered: a text of Steer or FollowUp is stored.
type InputDelivered struct {
	At
	Kind  string          `json:"kind"` // KindSteer or KindFollowUp
	Text  string          `json:"text"`
	Entry session.EntryID `json:"entry"`
}

// TurnFinished: an answer and the results of its calls are stored.
type TurnFinished struct {
	At
	Calls int `json:"calls"`
}

// ModelChanged: another model answers from here on.
type ModelChanged struct {
	Provider  string `json:"provider"`
	Model     string `json:"model"`
	Reasoning string `json:"reasoning,omitempty"`
}

// RunSettled is the last event of a run. There is exactly one for every call of Run that has begun.
type RunSettled struct {
	Outcome
	Millis int64 `json:"duration_ms"`
}

// Type names the event.
func (RunStarted) Type() string        { return "run_started" }
func (TurnStarted) Type() string       { return "turn_started" }
func (TextDelta) Type() string         { return "text_delta" }
func (ReasoningDelta) Type() string    { return "reasoning_delta" }
func (ToolCallDelta) Type() string     { return "tool_call_delta" }
func (AnswerDiscarded) Type() string   { return "answer_discarded" }
func (Message) Type() string           { return "message" }
func (ToolStarted) Type() string       { return "tool_started" }
func (ToolProgress) Type() string      { return "tool_progress" }
func (ToolFinished) Type() string      { return "tool_finished" }
func (PermissionAsked) Type() string   { return "permission_asked" }
func (PermissionDecided) Type() string { return "permission_decided" }
func (RetryScheduled) Type() string    { return "retry_scheduled" }
func (WaitingForNetwork) Type() string { return "waiting_for_network" }
func (NetworkBack) Type() string       { return "network_back" }
func (Usage) Type() string             { return "usage" }
func (UsageUncertain) Type() string    { return "usage_uncertain" }
func (CompactionStarted) Type() string { return "compaction_started" }
func (CompactionSettled) Type() string { return "compaction_settled" }
func (CompactionFailed) Type() string  { return "compaction_failed" }
func (Notified) Type() string          { return "notification" }
func (InputDelivered) Type() string    { return "input_delivered" }
func (TurnFinished) Type() string      { return "turn_finished" }
func (ModelChanged) Type() string      { return "model_changed" }
func (RunSettled) Type() string        { return "run_settled" }
