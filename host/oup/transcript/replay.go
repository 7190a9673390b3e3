package transcript

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/oup/event"
	"github.com/octet-dev/octet/host/oup/ledger"
	"github.com/octet-dev/octet/host/oup/live"
)

// Replay is what a ledger tells of the turns of a session, gathered event by event.
type Replay struct {
	Gather    bool  // envelopes too, and not the turns alone
	After     int64 // envelopes up to there are not gathered
	order     []string
	turns     map[string]*Turn
	envelopes []oupwire.BareEnvelope
}

// Turn is one turn as the ledger tells it.
type Turn struct {
	ID        string
	Started   time.Time           // zero where it is no longer kept
	Completed time.Time           // zero while it runs
	Outcome   oupwire.TurnOutcome // empty while it runs

	said            oupwire.UserMessageData // what the user began it with
	clientMessageID string
}

// Take takes the next event.
func (r *Replay) Take(s ledger.Stored) error {
	if s.Method != oupwire.MethodProjectionEnvelope {
		return nil
	}
	gathered := r.Gather && s.Seq > r.After
	edge := s.Subject.Kind == event.Turn && (s.Number == 1 || s.Step == ledger.Ends)
	if !gathered && !edge {
		return nil // what it says is not looked at
	}
	e, _, err := event.EnvelopeOf(s)
	if err != nil {
		return err
	}
	if edge {
		r.turn(s, e)
	}
	if gathered {
		r.envelopes = append(r.envelopes, oupwire.BareEnvelope{
			ThreadID: e.ThreadID, TurnID: e.TurnID, Seq: e.Seq, Cursor: e.Cursor, ClientMessageID: e.ClientMessageID, Payload: e.Payload,
		})
	}
	return nil
}

func (r *Replay) turn(s ledger.Stored, e oupwire.EnvelopeV2) {
	if r.turns == nil {
		r.turns = map[string]*Turn{}
	}
	t := r.turns[s.Subject.ID]
	if t == nil {
		t = &Turn{ID: s.Subject.ID}
		r.turns[t.ID], r.order = t, append(r.order, t.ID)
	}
	if s.Number == 1 {
		t.Started, t.clientMessageID = s.Time, e.ClientMessageID.Or("")
		if p, ok := e.Payload.(oupwire.UserMessagePayload); ok {
			t.said = p.Data
		}
	}
	if end, ok := e.Payload.(oupwire.TurnTerminalPayload); ok {
		t.Completed, t.Outcome = s.Time, end.Data.Outcome
	}
}

// Turn is what was gathered of a turn; nil for nothing.
func (r *Replay) Turn(id string) *Turn { return r.turns[id] }

// Turns are the ids of the turns, in the order of their starts.
func (r *Replay) Turns() []string { return r.order }

// Complete adds the row that a turn is about to have: that it was accepted is told before it is stored what was said.
func (r *Replay) Complete(rows []Row, running string) []Row {
	t := r.turns[running]
	if t == nil || t.Outcome != "" || slices.ContainsFunc(rows, func(row Row) bool { return row.Turn == running }) {
		return rows
	}
	return append(rows, Row{
		Seq: int64(len(rows)), At: t.Started, Role: oupwire.MessageRoleUser, Text: t.said.Text, Thread: running, Turn: running,
		Note: live.Note{ClientMessageID: t.clientMessageID, Files: t.said.Files.Or(nil)},
	})
}

// Envelopes are those of the streams that are not hidden, at most so many bytes of JSON, each counted as often as it
// is shown. Where that is too little, older streams lose their pieces, then all but their end, then that.
//
// OUP-HYDRATE-013, S67.
func (r *Replay) Envelopes(hidden func(turn string) bool, encoded int) (kept []oupwire.BareEnvelope, all bool) {
	streams := map[string][]oupwire.BareEnvelope{}
	for _, e := range r.envelopes {
		if !hidden(parent(e.TurnID)) {
			streams[e.ThreadID] = append(streams[e.ThreadID], e)
		}
	}
	newest := func(thread string) int64 { return position(streams[thread][len(streams[thread])-1]) }
	order := slices.SortedFunc(maps.Keys(streams), func(a, b string) int { return cmp.Compare(newest(a), newest(b)) })
	all = true
	for _, thread := range slices.Backward(order) {
		whole := streams[thread]
		fits := false
		for _, version := range [][]oupwire.BareEnvelope{whole, condensed(whole), ends(whole)} {
			if size := cost(version); size <= encoded {
				encoded, fits = encoded-size, len(version) == len(whole)
				kept = append(kept, version...)
				break
			}
		}
		all = all && fits
	}
	slices.SortFunc(kept, func(a, b oupwire.BareEnvelope) int { return cmp.Compare(position(a), position(b)) })
	return kept, all
}

func position(e oupwire.BareEnvelope) int64 { return e.Cursor.Or(oupwire.Cursor{}).Seq }

// parent is the turn that a stream belongs to.
func parent(turn string) string {
	turn, _, _ = strings.Cut(turn, childMark)
	return turn
}

const childMark = ":background:"

// shown is how often an envelope stands in an answer of session/hydrate.
func shown(e oupwire.BareEnvelope) int {
	if Tool(e) || Child(e) {
		return 4
	}
	return 3
}

func cost(list []oupwire.BareEnvelope) (size int) {
	for _, e := range list {
		size += shown(e) * (len(e.AppendJSON(nil)) + 1)
	}
	return size
}

// condensed leaves out pieces of segments that are there as a whole, and the news of tools that have ended.
func condensed(stream []oupwire.BareEnvelope) []oupwire.BareEnvelope {
	closed := map[string]bool{}
	for _, e := range stream {
		switch p := e.Payload.(type) {
		case oupwire.AssistantPersistedPayload:
			closed[p.Data.AssistantSegmentID] = true
		case oupwire.ToolEndPayload:
			closed["tool:"+p.Data.ToolCallID] = true
		}
	}
	return slices.DeleteFunc(slices.Clone(stream), func(e oupwire.BareEnvelope) bool {
		switch p := e.Payload.(type) {
		case oupwire.AssistantDeltaPayload:
			return closed[p.Data.AssistantSegmentID]
		case oupwire.ToolProgressPayload:
			return closed["tool:"+p.Data.ToolCallID]
		case oupwire.ReasoningDeltaPayload:
			return true
		}
		return false
	})
}

// ends leaves nothing but the end of a stream.
func ends(stream []oupwire.BareEnvelope) []oupwire.BareEnvelope {
	return slices.DeleteFunc(slices.Clone(stream), func(e oupwire.BareEnvelope) bool {
		_, end := e.Payload.(oupwire.TurnTerminalPayload)
		return !end && !Child(e)
	})
}

// Tool reports whether an envelope is about a tool.
func Tool(e oupwire.BareEnvelope) bool {
	switch e.Payload.(type) {
	case oupwire.ToolStartPayload, oupwire.ToolProgressPayload, oupwire.ToolEndPayload:
		return true
	}
	return false
}

// Child reports whether an envelope is a child stream.
func Child(e oupwire.BareEnvelope) bool {
	_, is := e.Payload.(oupwire.SpawnCompletePayload)
	return is
}

// Sequences are the greatest numbers of each stream.
//
// OUP-HYDRATE-011.
func Sequences(list []oupwire.BareEnvelope) map[string]int64 {
	greatest := map[string]int64{}
	for _, e := range list {
		greatest[e.ThreadID] = max(greatest[e.ThreadID], e.Seq)
	}
	return greatest
}

// some is a list as an optional member; an empty one is there too.
func some[T any](list []T) wirejson.Opt[[]T] {
	if list == nil {
		list = []T{}
	}
	return wirejson.Some(list)
}

// Show puts envelopes into the members of an answer of session/hydrate.
//
// OUP-HYDRATE-010, OUP-HYDRATE-012.
func Show(result *oupwire.SessionHydrateResult, list []oupwire.BareEnvelope) {
	only := func(is func(oupwire.BareEnvelope) bool) []oupwire.BareEnvelope {
		return slices.DeleteFunc(slices.Clone(list), func(e oupwire.BareEnvelope) bool { return !is(e) })
	}
	result.ReplayedEnvelopes, result.ReplayedToolEnvelopes = some(only(Child)), some(only(Tool))
	result.ReplayedProjectionEnvelopes, result.ProjectionEnvelopes = some(list), some(list)
	result.ProjectionSnapshot = wirejson.Some(oupwire.ProjectionSnapshot{Envelopes: some(list).Or(nil), Cursor: result.Cursor})
	result.ProjectionThreadSequences = wirejson.Some(Sequences(list))
}
