package nativehost

import (
	"slices"
	"strings"

	"github.com/octet-dev/octet/host/agent"
	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/policy"
)

// maxMediaBytes is how large media may be to travel in an event; larger ones are only described.
const maxMediaBytes = 512 << 10

// maxShownBytes bounds the text of a tool in an event. The session keeps all of it.
const maxShownBytes = 64 << 10

// say writes an event of the run. One that does not fit ends the run.
func (r *run) say(kind string, data any) {
	if !r.answers.say(kind, data) && !r.cut {
		r.cut = true
		r.stop()
	}
}

// event translates the news of the kernel.
func (r *run) event(e agent.Event) {
	switch e := e.(type) {
	case agent.RunStarted:
		r.say("started", map[string]any{
			"session": e.Session, "provider": e.Provider, "model": e.Model, "reasoning": e.Reasoning, "policy": string(policy.Controlled),
			"extensions": r.extensions(), "diagnostics": r.diagnostics(),
		})
	case agent.TurnStarted:
		r.say("provider_lifecycle", map[string]any{"state": "request_started", "turn": e.Turn})
	case agent.TextDelta:
		r.say("model_delta", map[string]any{"kind": "text", "text": e.Text})
	case agent.ReasoningDelta:
		r.say("model_delta", map[string]any{"kind": "reasoning", "text": e.Text})
	case agent.ToolCallDelta:
		r.say("model_delta", map[string]any{"kind": "tool_call", "call_id": e.CallID, "name": e.Name, "text": e.Text})
	case agent.AnswerDiscarded:
		r.say("candidate_rejected", map[string]any{"reason": e.Reason})
	case agent.Message:
		r.message(e)
	case agent.ToolStarted:
		r.say("tool_start", map[string]any{"call_id": e.CallID, "name": e.Name, "arguments": e.Arguments, "summary": e.Summary})
	case agent.PermissionDecided:
		r.say("tool_policy", map[string]any{"call_id": e.CallID, "name": e.Name, "decision": e.Decision, "reason": e.Reason})
	case agent.ToolProgress:
		r.say("tool_progress", e)
	case agent.ToolFinished:
		r.finished(e)
	case agent.RetryScheduled:
		r.say("provider_retry", map[string]any{
			"kind": e.Kind, "operation": e.Operation, "attempt": e.Attempt, "max_attempts": e.MaxAttempts, "delay_ms": e.Millis, "reason": e.Reason,
		})
	case agent.WaitingForNetwork:
		r.say("provider_lifecycle", map[string]any{"state": "waiting_for_network", "attempt": e.Attempt, "delay_ms": e.Millis, "waited_ms": e.Waited, "reason": e.Reason})
	case agent.NetworkBack:
		r.say("provider_lifecycle", map[string]any{"state": "network_back", "waited_ms": e.Waited})
	case agent.Usage:
		r.say("provider_lifecycle", map[string]any{"state": "usage", "kind": e.Kind, "usage": e.Usage, "session": e.Session})
	case agent.UsageUncertain:
		r.say("provider_lifecycle", map[string]any{"state": "usage_uncertain", "reason": e.Reason})
	case agent.TurnFinished:
		r.say("model_step", map[string]any{"turn": e.Turn, "calls": e.Calls})
	case agent.InputDelivered:
		kind := "steering_delivered"
		if e.Kind == agent.KindFollowUp {
			kind = "follow_up_delivered"
		}
		r.say(kind, map[string]any{"text": e.Text})
	case agent.CompactionStarted:
		r.say("compaction_start", e)
	case agent.CompactionSettled:
		r.say("compaction_finish", map[string]any{"status": "completed", "trigger": e.Trigger, "tokens_before": e.TokensBefore})
	case agent.CompactionFailed:
		r.say("compaction_finish", map[string]any{"status": "failed", "trigger": e.Trigger, "reason": e.Reason})
	case agent.Notified:
		r.say("extension_notification", e.Notification)
	case agent.RunSettled:
		r.settled = true
		r.say("settled", map[string]any{"status": e.Status, "code": e.Code, "reason": e.Reason, "duration_ms": e.Millis, "usage": e.Usage, "uncertain": e.Uncertain})
	}
}

// message tells of media that a model or a tool has made. Texts have been told by deltas.
func (r *run) message(e agent.Message) {
	parts := e.Message.Parts
	for _, p := range e.Message.Parts {
		parts = append(slices.Clip(parts), p.Content...)
	}
	for _, p := range parts {
		if p.Kind != conversation.Image && p.Kind != conversation.Audio || e.Message.Role == conversation.User {
			continue
		}
		data := map[string]any{"type": string(p.Kind), "media_type": p.MediaType, "bytes": len(p.Data), "text": p.Text}
		if len(p.Data) <= maxMediaBytes {
			data["data"] = p.Data
		}
		r.say("output_media", data)
	}
}

func (r *run) finished(e agent.ToolFinished) {
	r.calls++
	for _, c := range e.Changes {
		if !slices.Contains(r.changed, c.Path) {
			r.changed = append(r.changed, c.Path)
		}
	}
	text := conversation.Part{Content: e.Result.Content}.PlainText()
	cut := len(text) > maxShownBytes
	if cut {
		text = strings.ToValidUTF8(text[:maxShownBytes], "")
	}
	r.say("tool_finish", map[string]any{
		"call_id": e.CallID, "name": e.Name, "status": e.Status, "is_error": e.Result.IsError, "output": text, "truncated": cut,
		"changes": e.Changes, "duration_ms": e.Millis,
	})
}

// extensions are those that were discovered. None of them runs.
func (r *run) extensions() any {
	type found struct {
		Name    string `json:"name"`
		Enabled bool   `json:"enabled"`
		Trusted bool   `json:"trusted"`
		Running bool   `json:"running"`
		Reason  string `json:"reason"`
	}
	list := []found{}
	for i := range r.selected.Extensions {
		x := &r.selected.Extensions[i]
		list = append(list, found{Name: x.Name, Enabled: x.Enabled, Trusted: x.Trusted(), Reason: x.Reason.Explain(r.selected.Policy)})
	}
	return list
}

// diagnostics are what there is to tell about configuration and extensions, bounded.
func (r *run) diagnostics() []string {
	const most = 64
	list := []string{}
	for _, d := range r.selected.Diagnostics[:min(len(r.selected.Diagnostics), most)] {
		list = append(list, d.String())
	}
	return list
}

// finish writes the one final_result.
func (r *run) finish(o agent.Outcome) {
	if !r.settled { // the run was refused before it began
		r.say("settled", map[string]any{"status": o.Status, "code": o.Code, "reason": o.Reason})
	}
	status := "error"
	switch o.Status {
	case agent.Completed:
		status = "completed"
	case agent.Denied, agent.LimitReached:
		status = "blocked"
	}
	slices.Sort(r.changed)
	if r.changed == nil {
		r.changed = []string{}
	}
	var failure any
	if status != "completed" {
		failure = map[string]string{"code": o.Code, "message": o.Reason}
	}
	r.answers.finish("final_result", map[string]any{
		"status": status, "output": o.Text, "error": failure, "filesChanged": r.changed, "toolCalls": r.calls, "steps": o.Turns,
		"sessionFile": r.store.Path(), "session": r.session.ID(), "usage": o.Usage, "usageUncertain": o.Uncertain,
	})
}
