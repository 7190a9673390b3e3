package transcript

import (
	"bytes"
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
	envelopes []ledger.Stored // not read yet: most of a long session does not fit into an answer
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
	if gathered {
		r.envelopes = append(r.envelopes, s)
	}
	if !edge {
		return nil
	}
	e, _, err := event.EnvelopeOf(s)
	if err == nil {
		r.turn(s, e)
	}
	return err
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
func (r *Replay) Envelopes(hidden func(turn string) bool, encoded int) (kept []oupwire.BareEnvelope, all bool, err error) {
	streams := map[string][]ledger.Stored{}
	for _, s := range r.envelopes {
		if !hidden(parent(s.Subject.ID)) {
			streams[s.Subject.ID] = append(streams[s.Subject.ID], s)
		}
	}
	newest := func(thread string) int64 { return streams[thread][len(streams[thread])-1].Seq }
	order := slices.SortedFunc(maps.Keys(streams), func(a, b string) int { return cmp.Compare(newest(b), newest(a)) })
	all = true
	for _, thread := range order {
		if encoded < leastEnvelope {
			all = false
			break
		}
		version, whole, size, err := fitting(streams[thread], encoded)
		if err != nil {
			return nil, false, err
		}
		kept, encoded, all = append(kept, version...), encoded-size, all && whole
	}
	slices.SortFunc(kept, func(a, b oupwire.BareEnvelope) int { return cmp.Compare(position(a), position(b)) })
	return kept, all, nil
}

// leastEnvelope is less than any envelope takes.
const leastEnvelope = 100

// fitting is as much of a stream as fits, and what it takes. What is larger than the room as it is stored, and would
// be larger in an answer, is not even read.
func fitting(stream []ledger.Stored, encoded int) (version []oupwire.BareEnvelope, whole bool, size int, err error) {
	for _, keep := range []func([]ledger.Stored) []ledger.Stored{
		func(all []ledger.Stored) []ledger.Stored { return all }, withoutPieces, ends,
	} {
		stored := keep(stream)
		least := 0
		for _, s := range stored {
			least += 3 * len(s.Body)
		}
		if least > encoded {
			continue
		}
		version := make([]oupwire.BareEnvelope, 0, len(stored))
		for _, s := range stored {
			e, _, err := event.EnvelopeOf(s)
			if err != nil {
				return nil, false, 0, err
			}
			version = append(version, oupwire.BareEnvelope{
				ThreadID: e.ThreadID, TurnID: e.TurnID, Seq: e.Seq, Cursor: e.Cursor, ClientMessageID: e.ClientMessageID, Payload: e.Payload,
			})
		}
		if size := cost(version); size <= encoded {
			return version, len(version) == len(stream), size, nil
		}
	}
	return nil, false, 0, nil
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

// mark is how the stored text of an envelope shows its type, without being read: inside of texts quotes are escaped.
func mark(of oupwire.EnvelopePayload) []byte {
	text := of.AppendJSON(nil)
	return text[bytes.LastIndexByte(text, ','):]
}

var (
	pieces = [][]byte{mark(oupwire.AssistantDeltaPayload{}), mark(oupwire.ReasoningDeltaPayload{}), mark(oupwire.ToolProgressPayload{})}
	wholes = [][]byte{mark(oupwire.AssistantPersistedPayload{}), mark(oupwire.TurnTerminalPayload{})}
)

func marked(s ledger.Stored, marks [][]byte) bool {
	return slices.ContainsFunc(marks, func(m []byte) bool { return bytes.Contains(s.Body, m) })
}

// withoutPieces leaves out pieces of what is there as a whole, and the news of tools. The pieces behind the last whole
// stay: what they belong to is still being said.
func withoutPieces(stream []ledger.Stored) []ledger.Stored {
	last := -1
	for i, s := range stream {
		if marked(s, wholes) {
			last = i
		}
	}
	var kept []ledger.Stored
	for i, s := range stream {
		if i > last || !marked(s, pieces) {
			kept = append(kept, s)
		}
	}
	return kept
}

// ends leaves nothing but the end of a stream.
func ends(stream []ledger.Stored) []ledger.Stored {
	return slices.DeleteFunc(slices.Clone(stream), func(s ledger.Stored) bool { return s.Step&ledger.Ends == 0 })
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
