package methods

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/oup/event"
	"github.com/octet-dev/octet/host/oup/ledger"
	"github.com/octet-dev/octet/host/oup/live"
	"github.com/octet-dev/octet/host/oup/rpc"
	"github.com/octet-dev/octet/host/oup/story"
	"github.com/octet-dev/octet/host/oup/transcript"
)

func (r *Rows) hydrating() map[string]rpc.Handler {
	return map[string]rpc.Handler{oupwire.MethodSessionHydrate: rpc.Handle(oupwire.DecodeSessionHydrateParams, later(r.hydrate))}
}

// hydrate reads what is needed to show a session.
//
// Rules: OUP-HYDRATE-001 to OUP-HYDRATE-013.
func (r *Rows) hydrate(ctx context.Context, call *rpc.Call, p oupwire.SessionHydrateParams) (oupwire.SessionHydrateResult, error) {
	var result oupwire.SessionHydrateResult
	include := p.Include.Or(nil)
	if len(include) > oupwire.MaxIncludeWords {
		e := tooMany(call, "include", len(include), oupwire.MaxIncludeWords)
		e.Data = oupwire.IncludeTooLargeErrorData{Limit: oupwire.MaxIncludeWords}
		return result, e
	}
	s, err := r.House.Find(ctx, call.Scope.Session)
	if err != nil {
		return result, r.fail(call, err)
	}
	pending := s.Pending() // what is decided meanwhile is told behind the cursor
	approvals, questions := pending.Approvals(), pending.Questions()
	extended := call.Set().Has(oupwire.FeatureProjectionEnvelopeV2)
	replay, window, err := r.replay(ctx, s, p.After, extended)
	if err != nil {
		return result, r.fail(call, err)
	}
	running := s.Running() // asked first: what ends meanwhile has its rows
	branch, err := s.Branch(ctx)
	if err != nil {
		return result, r.fail(call, err)
	}
	rows := replay.Complete(transcript.Rows(branch), running)
	turns, err := r.standings(ctx, s, rows, replay)
	if err != nil {
		return result, err
	}
	result = oupwire.SessionHydrateResult{SessionID: s.Key(), Cursor: oupwire.Cursor{Stream: s.Key(), Seq: window.Head}}
	wants := func(section oupwire.HydrateSection) bool {
		return len(include) == 0 || slices.Contains(include, section)
	}
	if call.Set().Open(oupwire.FeatureContextLifecycleV1) {
		result.ContextState = wirejson.Some(s.ContextState(ctx))
	}
	if wants(oupwire.HydrateSectionPendingApprovals) {
		result.PendingApprovals = wirejson.Some(approvals)
		if call.Set().Has(oupwire.FeatureUserQuestionV1) {
			result.PendingQuestions = wirejson.Some(questions)
		}
	}
	err = r.fill(&result, wants, rows, turns, replay, extended)
	return result, err
}

// fill puts in the sections that grow, the newest rows of each, so that all of it fits into a frame. What is left of
// the room of one goes to the next.
//
// Settled: S67, S68.
func (r *Rows) fill(result *oupwire.SessionHydrateResult, wants func(oupwire.HydrateSection) bool, rows []transcript.Row, turns *standings, replay *transcript.Replay, extended bool) error {
	room := transcript.Room - len(result.AppendJSON(nil))
	all := true
	if wants(oupwire.HydrateSectionTurns) {
		kept, whole := transcript.Newest(turns.hydrated(), room/8)
		result.Turns, room, all = wirejson.Some(kept), room-size(kept), all && whole
	}
	if wants(oupwire.HydrateSectionThreads) {
		threads, _ := transcript.Threads(rows, turns.status)
		kept, whole := transcript.Newest(threads, room/8)
		result.Threads, room, all = wirejson.Some(kept), room-size(kept), all && whole
	}
	if wants(oupwire.HydrateSectionMessages) {
		share := room
		if extended {
			share = room / 2
		}
		kept, whole := messages(rows, extended, share)
		result.Messages, room, all = wirejson.Some(kept), room-size(kept), all && whole
		if extended {
			envelopes, whole, err := replay.Envelopes(turns.hidden, room-32<<10)
			if err != nil {
				return err
			}
			transcript.Show(result, envelopes)
			all = all && whole
		}
	}
	if !all {
		result.Truncated = wirejson.Some(true)
	}
	return nil
}

func size[E wirejson.Encoder](list []E) (n int) {
	for _, e := range list {
		n += len(e.AppendJSON(nil)) + 1
	}
	return n
}

// messages are the newest rows that fit. One that would not fit alone is cut.
func messages(rows []transcript.Row, extended bool, room int) ([]oupwire.HydratedMessage, bool) {
	list := make([]oupwire.HydratedMessage, 0, len(rows))
	for i := range rows {
		list = append(list, rows[i].Hydrated(extended))
	}
	kept, all := transcript.Newest(list, room)
	if len(kept) == 0 && len(list) > 0 {
		last := list[len(list)-1]
		last.ReasoningContent = wirejson.Opt[string]{}
		last.Content = transcript.Fit(last.Content, room/2)
		if !slices.ContainsFunc(last.Unknown, func(m wirejson.Member) bool { return m.Name == transcript.Truncated.Name }) {
			last.Unknown = append(last.Unknown, transcript.Truncated)
		}
		kept = []oupwire.HydratedMessage{last}
	}
	return kept, all
}

// replay reads what is kept of the ledger, at one moment: the turns, and envelopes too where they are wanted. A
// cursor is judged as in session/open, and is where the envelopes begin.
func (r *Rows) replay(ctx context.Context, s *live.Session, after wirejson.Opt[oupwire.Cursor], envelopes bool) (*transcript.Replay, ledger.Window, error) {
	gathered := &transcript.Replay{Gather: envelopes}
	if c, has := after.Get(); has {
		at := ledger.Cursor{Stream: c.Stream, Seq: c.Seq}
		// The read that judges the cursor need not see anything.
		if _, err := r.Ledger.Replay(ctx, s.Key(), &at, func(ledger.Stored) error { return errEnough }); err != nil && !errors.Is(err, errEnough) {
			return nil, ledger.Window{}, err
		}
		gathered.After = c.Seq
	}
	window, err := r.Ledger.Replay(ctx, s.Key(), nil, gathered.Take)
	return gathered, window, r.readable(err)
}

// readable passes over events of the ledger that are damaged: what can be read is told, and who runs the server hears of
// the others.
func (r *Rows) readable(err error) error {
	if errors.Is(err, ledger.ErrDamaged) {
		r.Log(err)
		return nil
	}
	return err
}

var errEnough = errors.New("enough")

// standings is how the turns of a session stand.
type standings struct {
	order []string
	turns map[string]oupwire.HydratedTurn
	gone  map[string]bool // that were rolled back
}

// standings finds out how turns stand that have rows, or that the ledger knows.
//
// Rules: OUP-ROLLBACK-005, OUP-HYDRATE-008.
func (r *Rows) standings(ctx context.Context, s *live.Session, rows []transcript.Row, replay *transcript.Replay) (*standings, error) {
	all := &standings{turns: map[string]oupwire.HydratedTurn{}, gone: map[string]bool{}}
	started, last := map[string]time.Time{}, map[string]time.Time{}
	for i := range rows {
		if turn := rows[i].Turn; turn != "" {
			if _, known := started[turn]; !known {
				started[turn] = rows[i].At
				all.order = append(all.order, turn)
			}
			last[turn] = rows[i].At
		}
	}
	for _, turn := range replay.Turns() {
		if _, has := started[turn]; has {
			continue
		}
		// It has no rows: it is about to have them, it failed before it had any, or it was rolled back.
		if _, ran, err := r.House.Store().Settled(ctx, s.ID(), turn); err != nil {
			return nil, err
		} else if ran {
			all.gone[turn] = true
			continue
		}
		all.order = append(all.order, turn)
	}
	for _, turn := range all.order {
		h, err := r.standing(ctx, s, turn, replay.Turn(turn), started[turn], last[turn])
		if err != nil {
			return nil, err
		}
		all.turns[turn] = h
	}
	slices.SortStableFunc(all.order, func(a, b string) int { return all.start(a).Compare(all.start(b)) })
	return all, nil
}

func (a *standings) start(turn string) time.Time {
	at, _ := time.Parse(time.RFC3339Nano, a.turns[turn].StartedAt.Or(""))
	return at
}

// standing is how one turn stands, by the session, the ledger, or else the store.
func (r *Rows) standing(ctx context.Context, s *live.Session, turn string, told *transcript.Turn, started, last time.Time) (oupwire.HydratedTurn, error) {
	h := oupwire.HydratedTurn{TurnID: turn, State: oupwire.TurnStateUnknown, ThreadID: wirejson.Some(turn)}
	at := func(t time.Time) wirejson.Opt[oupwire.Timestamp] {
		if t.IsZero() {
			return wirejson.Opt[oupwire.Timestamp]{}
		}
		return wirejson.Some(event.Time(t))
	}
	if told != nil && told.Outcome != "" {
		if !told.Started.IsZero() {
			started = told.Started
		}
		h.State, h.StartedAt, h.CompletedAt = stateOf(told.Outcome), at(started), at(told.Completed)
		return h, nil
	}
	if s.Running() == turn {
		status, err := s.Turn(ctx, turn)
		if err != nil {
			return h, err
		}
		h.State, h.StartedAt, h.CompletedAt = status.State, at(status.Started), at(status.Completed)
		return h, nil
	}
	settled, found, err := r.House.Store().Settled(ctx, s.ID(), turn)
	if err != nil {
		return h, err
	}
	h.StartedAt = at(started)
	if found {
		h.State, h.CompletedAt = stateOf(story.Stored(settled).Outcome), at(last)
	}
	return h, nil
}

// stateOf is the state of a turn that ended so.
func stateOf(outcome oupwire.TurnOutcome) oupwire.TurnState {
	switch outcome {
	case oupwire.TurnOutcomeCompleted:
		return oupwire.TurnStateCompleted
	case oupwire.TurnOutcomeInterrupted:
		return oupwire.TurnStateInterrupted
	}
	return oupwire.TurnStateErrored
}

func (a *standings) hydrated() []oupwire.HydratedTurn {
	list := make([]oupwire.HydratedTurn, 0, len(a.order))
	for _, turn := range a.order {
		list = append(list, a.turns[turn])
	}
	return list
}

// hidden reports whether a turn was rolled back.
func (a *standings) hidden(turn string) bool { return a.gone[turn] }

// status is that of a stream: that of its turn. One of added messages is complete.
func (a *standings) status(thread string) oupwire.ThreadStatus {
	turn, known := a.turns[thread]
	switch {
	case !known:
		return oupwire.ThreadStatusCompleted
	case turn.State == oupwire.TurnStateInterrupting:
		return oupwire.ThreadStatusActive
	}
	return oupwire.ThreadStatus(turn.State)
}
