// Package transcript is what was said in a session, as clients read it: rows of messages, and the streams that they
// belong to. It works on what it is given and keeps nothing.
//
// Sheet: OUP core 11.4, 11.11, 11.16; settled S67, S72, S73.
package transcript

import (
	"cmp"
	"encoding/json"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/oup/event"
	"github.com/octet-dev/octet/host/oup/live"
	"github.com/octet-dev/octet/host/session"
)

// maxReasoningBytes bounds the reasoning that a row shows.
const maxReasoningBytes = 64 << 10

// Row is one message.
type Row struct {
	Seq       int64 // place in the transcript, from 0; no position of the ledger
	ID        string
	At        time.Time
	Role      oupwire.MessageRole
	Text      string
	Reasoning string
	Thread    string // stream that it belongs to, empty for none
	Turn      string // that it was said in, empty where it was added without one
	Note      live.Note
	Calls     []conversation.Part // that it makes
	Results   []conversation.Part // that it holds
}

// Rows are the messages of a branch, in order.
func Rows(branch []session.Stored) []Row {
	list := make([]Row, 0, len(branch))
	for n, i := range live.Rows(branch) {
		list = append(list, rowOf(int64(n), branch[i]))
	}
	return list
}

func rowOf(n int64, stored session.Stored) Row {
	r := Row{Seq: n, ID: string(stored.ID), At: stored.Time, Thread: live.ThreadOf(stored), Note: live.NoteOf(stored)}
	var m conversation.Message
	switch v := stored.Value.(type) {
	case session.Message:
		m, r.Turn, r.Text = v.Message, v.Run, v.Display
	case session.Injected:
		m, r.Turn, r.Note.Source = v.Message, v.Run, cmp.Or(r.Note.Source, v.Source)
		r.Thread = cmp.Or(r.Thread, v.Run)
	}
	r.Role, r.Text = oupwire.MessageRole(m.Role), cmp.Or(r.Text, m.PlainText())
	var thoughts []string
	for _, p := range m.Parts {
		switch p.Kind {
		case conversation.Reasoning:
			thoughts = append(thoughts, p.Text)
		case conversation.ToolResult:
			r.Results = append(r.Results, p)
		}
	}
	r.Calls = m.ToolCalls()
	r.Reasoning = Cut(strings.Join(thoughts, "\n"), maxReasoningBytes)
	if len(r.Results) > 0 {
		var texts []string
		for _, p := range r.Results {
			texts = append(texts, p.PlainText())
		}
		r.Text = strings.Join(texts, "\n")
	}
	return r
}

// media are the files of a row: those that came with it, and those that it was added with.
func (r *Row) media() []string {
	var list []string
	for _, f := range r.Note.Files {
		list = append(list, f.Path)
	}
	return append(list, r.Note.Media...)
}

// answers names the call and the tool of a row that holds one result. A row of several says so in a member of its
// own.
func (r *Row) answers() (call, tool wirejson.Opt[string], more []wirejson.Member) {
	switch len(r.Results) {
	case 0:
	case 1:
		call, tool = wirejson.Some(r.Results[0].CallID), wirejson.Some(r.Results[0].Name)
	default:
		type result struct {
			Call string `json:"tool_call_id"`
			Tool string `json:"tool_name"`
		}
		var list []result
		for _, p := range r.Results {
			list = append(list, result{p.CallID, p.Name})
		}
		text, err := json.Marshal(list)
		if err == nil {
			more = []wirejson.Member{{Name: "tool_results", Value: text}}
		}
	}
	return call, tool, more
}

// Hydrated is the row of session/hydrate, with what newer clients read where extended.
func (r *Row) Hydrated(extended bool) oupwire.HydratedMessage {
	h := oupwire.HydratedMessage{
		Seq: r.Seq, Role: r.Role, PersistedAt: event.Time(r.At), TurnID: optional(r.Turn), ThreadID: optional(r.Thread),
		ClientMessageID: optional(r.Note.ClientMessageID),
	}
	h.Content, h.Unknown = whole(r.Text)
	var more []wirejson.Member
	h.ToolCallID, h.ToolName, more = r.answers()
	h.Unknown = append(more, h.Unknown...) // ascending by name
	if media := r.media(); len(media) > 0 {
		h.Media = wirejson.Some(media)
	}
	if len(r.Calls) > 0 {
		calls := make([]oupwire.HydratedToolCall, 0, len(r.Calls))
		for _, c := range r.Calls {
			calls = append(calls, oupwire.HydratedToolCall{ToolCallID: c.CallID, ToolName: c.Name})
		}
		h.ToolCalls = wirejson.Some(calls)
	}
	if extended {
		h.MessageID, h.Source, h.ReasoningContent = optional(r.ID), optional(r.Note.Source), optional(r.Reasoning)
	}
	return h
}

// Info is the row of session/messages_page.
func (r *Row) Info() oupwire.MessageInfo {
	m := oupwire.MessageInfo{
		Role: r.Role, Timestamp: event.Time(r.At), ThreadID: optional(r.Thread), Seq: wirejson.Some(r.Seq),
		ClientMessageID: optional(r.Note.ClientMessageID), Source: optional(r.Note.Source),
	}
	m.Content, m.Unknown = whole(r.Text)
	var more []wirejson.Member
	m.ToolCallID, _, more = r.answers()
	m.Unknown = append(more, m.Unknown...)
	if media := r.media(); len(media) > 0 {
		m.Media = wirejson.Some(media)
	}
	if len(r.Calls) > 0 {
		calls := make([]oupwire.MessageToolCall, 0, len(r.Calls))
		for _, c := range r.Calls {
			calls = append(calls, oupwire.MessageToolCall{ID: wirejson.Some(c.CallID), Name: wirejson.Some(c.Name)})
		}
		m.ToolCalls = wirejson.Some(calls)
	}
	return m
}

// Threads groups rows by the stream that they belong to, in the order of their roots, with the rows of none; those
// of the system are not counted among these.
//
// OUP-THREAD-002.
func Threads(rows []Row, status func(thread string) oupwire.ThreadStatus) (threads []oupwire.ThreadGraphEntry, orphans []int64) {
	threads, orphans = []oupwire.ThreadGraphEntry{}, []int64{}
	at := map[string]int{}
	for i := range rows {
		r := &rows[i]
		if r.Thread == "" {
			if r.Role != oupwire.MessageRoleSystem {
				orphans = append(orphans, r.Seq)
			}
			continue
		}
		n, known := at[r.Thread]
		if !known {
			n = len(threads)
			at[r.Thread] = n
			threads = append(threads, oupwire.ThreadGraphEntry{
				ThreadID: r.Thread, RootSeq: r.Seq, MessageSeqs: []int64{}, Status: status(r.Thread),
				RootClientMessageID: optional(r.Note.ClientMessageID), TurnID: optional(r.Turn),
			})
		}
		threads[n].MessageSeqs = append(threads[n].MessageSeqs, r.Seq)
	}
	return threads, orphans
}

func optional(text string) wirejson.Opt[string] {
	if text == "" {
		return wirejson.Opt[string]{}
	}
	return wirejson.Some(text)
}

// Truncated says that something was cut, in objects that have no member for it. Source: S67.
var Truncated = wirejson.Member{Name: "truncated", Value: []byte("true")}

// whole is a text as a frame takes it.
func whole(text string) (string, []wirejson.Member) {
	if cut := Fit(Cut(text, oupwire.MaxFrameTextBytes), Room-64<<10); len(cut) < len(text) {
		return cut, []wirejson.Member{Truncated}
	}
	return text, nil
}

// Room is what the content of one answer may have in a frame; the rest is for what stands around it.
const Room = oupwire.MaxTextFrameBytes - 128<<10

// Cut shortens a text to so many bytes, at the border of a character.
func Cut(text string, most int) string {
	if len(text) <= most {
		return text
	}
	for most > 0 && !utf8.RuneStart(text[most]) {
		most--
	}
	return text[:most]
}

// Fit shortens a text until its JSON has at most so many bytes.
func Fit(text string, encoded int) string {
	for {
		size := len(wirejson.AppendString(nil, text))
		if size <= encoded || text == "" {
			return text
		}
		text = Cut(text, min(len(text)-1, len(text)*encoded/size))
	}
}

// Newest are the last elements whose JSON has at most so many bytes together, and whether that are all.
func Newest[E wirejson.Encoder](list []E, encoded int) (kept []E, all bool) {
	at := len(list)
	for at > 0 {
		if encoded -= len(list[at-1].AppendJSON(nil)) + 1; encoded < 0 {
			break
		}
		at--
	}
	return list[at:], at == 0
}

// First are the first elements of which that holds.
func First[E wirejson.Encoder](list []E, encoded int) (kept []E, all bool) {
	for n, e := range list {
		if encoded -= len(e.AppendJSON(nil)) + 1; encoded < 0 {
			return list[:n], false
		}
	}
	return list, true
}
