package agent

import (
	"slices"

	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/session"
)

// Results that are made up for calls that have none.
const (
	lostResult = "The program ended before this call was answered. It may or may not have had an effect; look before you repeat it."
)

// view is what a model can take.
type view struct {
	sees   bool // pictures, for sure
	result int  // bytes of text of one result, at most
}

// maxResultText bounds what a model is told of one result. What is stored stays whole.
const maxResultText = 128 << 10

// view is what the model can take: of one result no more than a quarter of its window.
func (r *run) view() view {
	v := view{sees: slices.Contains(r.Model.Input, string(conversation.Image)), result: maxResultText}
	if window := r.Model.ContextWindow; window > 0 {
		v.result = int(min(maxResultText, window/4*bytesPerToken))
	}
	return v
}

// since returns the last compaction of a branch, nil if there is none, and the entries that are sent as
// they are. For a model that does not see, compactions in pictures are as if they had not been made.
func since(branch []session.Stored, sees bool) (*session.Compaction, []session.Stored) {
	for i := len(branch) - 1; i >= 0; i-- {
		c, ok := branch[i].Value.(session.Compaction)
		if !ok || len(c.Frames) > 0 && !sees {
			continue
		}
		first := slices.IndexFunc(branch, func(s session.Stored) bool { return s.ID == c.FirstKept })
		if first < 0 || first > i {
			first = i
		}
		return &c, branch[first:]
	}
	return nil, branch
}

// messageOf is what an entry says to a model. ok is false for entries that say nothing.
func messageOf(v session.Value) (m conversation.Message, ok bool) {
	switch v := v.(type) {
	case session.Message:
		m = v.Message
	case session.Injected:
		m = v.Message
		// Whoever adds something makes no calls and answers none.
		m.Parts = slices.DeleteFunc(slices.Clone(m.Parts), func(p conversation.Part) bool {
			return p.Kind == conversation.ToolCall || p.Kind == conversation.ToolResult
		})
	default:
		return m, false
	}
	m.Parts = slices.DeleteFunc(slices.Clone(m.Parts), func(p conversation.Part) bool {
		return p.Kind == conversation.Text && p.Text == ""
	})
	thought := !slices.ContainsFunc(m.Parts, func(p conversation.Part) bool { return p.Kind != conversation.Reasoning })
	return m, !thought
}

// history makes the conversation that a model is sent: it begins and ends with somebody else than the model,
// and behind every message with calls stand their results, one for each, in one message.
type history struct {
	result int // bytes of text of one result, at most
	said   []conversation.Message
	calls  []conversation.Part // of the last answer, while some have no result
	got    map[string]conversation.Part
	later  []conversation.Message // what was said before the results were there
}

func assemble(branch []session.Stored, v view) []conversation.Message {
	h := history{result: v.result}
	compaction, kept := since(branch, v.sees)
	if compaction != nil {
		h.add(summed(*compaction))
	}
	for _, stored := range kept {
		if m, ok := messageOf(stored.Value); ok {
			h.add(m)
		}
	}
	h.close()
	if len(h.said) > 0 && h.said[0].Role != conversation.User {
		h.said = slices.Insert(h.said, 0, conversation.Say(conversation.User, "(The conversation begins here.)"))
	}
	if len(h.said) > 0 && h.said[len(h.said)-1].Role == conversation.Assistant {
		h.said = append(h.said, conversation.Say(conversation.User, "Go on."))
	}
	return h.said
}

func (h *history) add(m conversation.Message) {
	switch {
	case m.Role == conversation.Tool:
		h.answer(m)
	case m.Role == conversation.Assistant && len(m.ToolCalls()) > 0:
		h.close()
		h.said = append(h.said, m)
		h.calls, h.got = m.ToolCalls(), map[string]conversation.Part{}
	case h.calls != nil:
		h.later = append(h.later, m)
	default:
		h.said = append(h.said, m)
	}
}

// answer takes results. The first one counts; one that nobody has called for is left out.
func (h *history) answer(m conversation.Message) {
	for _, part := range m.Parts {
		called := slices.ContainsFunc(h.calls, func(c conversation.Part) bool { return c.CallID == part.CallID })
		if _, answered := h.got[part.CallID]; part.Kind == conversation.ToolResult && called && !answered {
			h.got[part.CallID] = part
		}
	}
	if h.calls != nil && len(h.got) == len(h.calls) {
		h.close()
	}
}

// close ends the waiting for results.
func (h *history) close() {
	if h.calls != nil {
		results := conversation.Message{Role: conversation.Tool}
		for _, call := range h.calls {
			result, answered := h.got[call.CallID]
			if !answered {
				result = resultPart(call, lostResult)
			}
			result.Details = nil
			result.Content = shortened(result.Content, h.result)
			results.Parts = append(results.Parts, result)
		}
		h.said = append(h.said, results)
	}
	h.said = append(h.said, h.later...)
	h.calls, h.got, h.later = nil, nil, nil
}

// shortened cuts texts that together are over a bound in their middle.
func shortened(content []conversation.Part, most int) []conversation.Part {
	size := 0
	for _, p := range content {
		size += len(p.Text)
	}
	if size <= most {
		return content
	}
	content = slices.Clone(content)
	for i := range content {
		share := int(int64(len(content[i].Text)) * int64(most) / int64(size))
		content[i].Text = middleOut(content[i].Text, share)
	}
	return content
}

// resultPart is an error result of one text.
func resultPart(call conversation.Part, text string) conversation.Part {
	return conversation.Part{
		Kind: conversation.ToolResult, CallID: call.CallID, Name: call.Name, IsError: true,
		Content: []conversation.Part{conversation.TextPart(text)},
	}
}

// summed is what stands in for what was summed up.
func summed(c session.Compaction) conversation.Message {
	if len(c.Frames) == 0 {
		return conversation.Say(conversation.User, "This is a summary of the conversation so far:\n\n"+c.Summary)
	}
	m := conversation.Say(conversation.User, "The conversation so far is drawn in the following images, in order.")
	for _, png := range c.Frames {
		m.Parts = append(m.Parts, conversation.Part{Kind: conversation.Image, MediaType: "image/png", Data: png, Text: "a page of the conversation so far"})
	}
	return m
}

// dangling are the calls of the last answer that have no result.
func dangling(branch []session.Stored) []conversation.Part {
	answered := map[string]bool{}
	for i := len(branch) - 1; i >= 0; i-- {
		m, ok := branch[i].Value.(session.Message)
		if !ok {
			continue
		}
		for _, part := range m.Message.Parts {
			if part.Kind == conversation.ToolResult {
				answered[part.CallID] = true
			}
		}
		if calls := m.Message.ToolCalls(); len(calls) > 0 {
			return slices.DeleteFunc(calls, func(c conversation.Part) bool { return answered[c.CallID] })
		}
	}
	return nil
}

// mend stores results for calls that a process has left without one, or that a fork has cut off.
func (r *run) mend() error {
	branch, err := r.branch()
	if err != nil {
		return err
	}
	var entries []session.Entry
	for _, call := range dangling(branch) {
		entries = append(entries, session.Entry{Value: session.Message{
			Message: conversation.Message{Role: conversation.Tool, Parts: []conversation.Part{resultPart(call, lostResult)}},
		}})
	}
	if entries == nil {
		return nil
	}
	_, err = r.commit(session.Batch{Entries: entries})
	return err
}
