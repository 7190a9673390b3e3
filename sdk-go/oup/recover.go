package oup

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
)

// mostOpenings is how often a session is opened in one go whose cursor expires each time.
const mostOpenings = 3

// errLost is why a turn ended that the server does not know any more.
var errLost = errors.New("the server does not know the turn any more")

// recover opens the session anew because events are missing. It does not wait: the goroutine that reads calls it.
func (s *Session) recover(on *conn, gap Gap) {
	s.mu.Lock()
	s.deaf = true
	s.mu.Unlock()
	s.client.spawn(func() {
		if err := s.bring(s.client.life, on, &gap); err != nil && on.reason() == nil {
			s.fail(err)
		}
	})
}

// resume opens the session on a connection, behind what has come already.
func (s *Session) resume(ctx context.Context, on *conn) error {
	s.mu.Lock()
	s.deaf = true
	s.mu.Unlock()
	return s.bring(ctx, on, nil)
}

// bring opens the session so that everything behind reached comes, or is told to be missing by the gap.
func (s *Session) bring(ctx context.Context, on *conn, gap *Gap) error {
	s.opening.Lock()
	defer s.opening.Unlock()
	hydrate := gap != nil && !gap.Replayed
	var err error
	for range mostOpenings {
		if hydrate {
			if gap == nil {
				gap = &Gap{Reason: GapExpired}
			}
			gap.Replayed = false
			if err = s.readAnew(ctx, on, gap); err != nil {
				return err
			}
			gap = nil
		}
		err = s.openOn(ctx, on, gap)
		var refused *ServerError
		if !errors.As(err, &refused) || refused.Code != oupwire.CodeCursorOutOfRange {
			return err
		}
		hydrate = true
	}
	return err
}

// openOn sends session/open and returns when its answer has come, behind which the events come.
func (s *Session) openOn(ctx context.Context, on *conn, gap *Gap) error {
	s.mu.Lock()
	params := s.params
	if s.reached >= 0 {
		stream := s.given.Stream
		if stream == "" {
			stream = s.opened.SessionID
		}
		params.After = wirejson.Some(Cursor{Stream: stream, Seq: s.reached})
	}
	s.mu.Unlock()
	settled := make(chan error, 1)
	giveUp, err := on.begin(ctx, oupwire.MethodSessionOpen, params.AppendJSON(nil), func(raw []byte, err error) {
		if err == nil {
			err = s.attach(on, raw, gap)
		}
		settled <- err
	})
	if err != nil {
		return err
	}
	return s.client.await(ctx, on, oupwire.MethodSessionOpen, settled, giveUp)
}

// await waits for an answer. While the queue of a session keeps the connection from being read, none can come, and
// the wait is not counted.
func (c *Client) await(ctx context.Context, on *conn, method string, settled <-chan error, giveUp func()) error {
	for {
		patience := time.NewTimer(c.options.Timeout)
		select {
		case err := <-settled:
			patience.Stop()
			return err
		case <-ctx.Done():
			patience.Stop()
			giveUp()
			return &requestError{method, over(ctx)}
		case <-patience.C:
			if on.heard.Load() == 0 {
				continue
			}
			giveUp()
			err := &requestError{method, &timedOut{c.options.Timeout, longer}}
			on.fail(err)
			return err
		}
	}
}

// attach takes the answer to session/open in: from the next frame on, events count. It is called by the goroutine
// that reads.
func (s *Session) attach(on *conn, raw []byte, gap *Gap) error {
	result, err := openResult(raw)
	if err != nil {
		return badResult(oupwire.MethodSessionOpen, err)
	}
	opened := result.Opened
	s.client.mu.Lock()
	if other := s.client.sessions[opened.SessionID]; other != nil && other != s {
		s.client.mu.Unlock()
		other.recover(on, Gap{Reason: GapNumber, Replayed: true}) // its events went by
		return fmt.Errorf("the session %q is open already in this client; use that one", opened.SessionID)
	}
	s.client.sessions[opened.SessionID] = s
	s.client.mu.Unlock()
	s.mu.Lock()
	if s.err != nil {
		s.mu.Unlock()
		return s.reason()
	}
	s.opened, s.on, s.deaf, s.settled = opened, on, false, false
	s.echo = slices.Clone(s.tail)
	at := opened.Cursor.Or(Cursor{Stream: opened.SessionID})
	if s.reached < 0 {
		s.reached = max(at.Seq-1, 0)
		s.given = Cursor{Stream: at.Stream, Seq: s.reached}
	}
	s.mu.Unlock()
	s.asks.reopen()
	if gap != nil {
		s.push(on, Event{Session: opened.SessionID, Body: *gap})
	}
	return nil
}

// readAnew reads how the session stands, tells it by the gap and by the envelopes that are still kept, and goes on from
// there. Nothing else comes in meanwhile.
func (s *Session) readAnew(ctx context.Context, on *conn, gap *Gap) error {
	s.mu.Lock()
	key := s.opened.SessionID
	if key == "" {
		key = s.params.SessionID
		if topic := s.params.Topic.Or(""); topic != "" {
			key += "#" + topic
		}
	}
	s.mu.Unlock()
	var result oupwire.SessionHydrateResult
	settled := make(chan error, 1)
	giveUp, err := on.begin(ctx, oupwire.MethodSessionHydrate, hydrateParams(key, nil).AppendJSON(nil), func(raw []byte, err error) {
		if err == nil {
			if result, err = oupwire.DecodeSessionHydrateResult(raw); err != nil {
				err = badResult(oupwire.MethodSessionHydrate, err)
			}
		}
		settled <- err
	})
	if err == nil {
		err = s.client.await(ctx, on, oupwire.MethodSessionHydrate, settled, giveUp)
	}
	if errors.Is(err, ErrUnsupported) {
		s.mu.Lock()
		s.forget()
		s.reached = -1
		s.mu.Unlock()
		s.push(on, Event{Session: key, Body: *gap})
		return nil
	}
	if err != nil {
		return err
	}
	gap.Hydrated = &result
	if !s.push(on, Event{Session: key, Body: *gap}) || !s.replayFrom(on, key, result) {
		return &Disconnected{Method: oupwire.MethodSessionHydrate, Err: on.reason()}
	}
	return nil
}

// forget drops what was known of streams. The caller holds the lock.
func (s *Session) forget() {
	s.threads, s.begun, s.tail, s.echo, s.missing = map[string]int64{}, map[string]bool{}, nil, nil, ""
}

// replayFrom tells the envelopes of a snapshot that have not been here, and how turns of this client ended of which
// there is none.
func (s *Session) replayFrom(on *conn, key string, result oupwire.SessionHydrateResult) bool {
	envelopes := slices.Clone(result.ProjectionEnvelopes.Or(result.ReplayedProjectionEnvelopes.Or(nil)))
	slices.SortStableFunc(envelopes, func(a, b oupwire.BareEnvelope) int {
		return cmp.Compare(a.Cursor.Or(Cursor{}).Seq, b.Cursor.Or(Cursor{}).Seq)
	})
	s.mu.Lock()
	s.missing = ""
	if result.Cursor.Seq < s.reached { // another ledger: nothing of the old one says anything about it
		s.forget()
		s.reached = 0
	}
	s.mu.Unlock()
	for _, each := range envelopes {
		ev := envelopeEvent(key, each)
		s.mu.Lock()
		is := s.judge(ev, 0)
		s.mu.Unlock()
		if is == repeat {
			continue
		}
		if !s.push(on, ev) {
			return false
		}
		s.mu.Lock()
		s.commit(ev, 0, pass)
		s.mu.Unlock()
	}
	if !s.endTurns(on, key, result) {
		return false
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.reached, s.tail, s.echo = result.Cursor.Seq, nil, nil
	for thread, number := range result.ProjectionThreadSequences.Or(nil) {
		if !slices.Contains(s.closed, thread) {
			s.threads[thread] = number
		}
	}
	return true
}

// endTurns ends the turns of this client that are over and whose end is not kept.
func (s *Session) endTurns(on *conn, key string, result oupwire.SessionHydrateResult) bool {
	states := map[string]oupwire.TurnState{}
	for _, t := range result.Turns.Or(nil) {
		states[t.TurnID] = t.State
	}
	s.mu.Lock()
	turns := make([]*Turn, 0, len(s.turns))
	for id, t := range s.turns {
		if !slices.Contains(s.closed, id) && t.accepted() {
			turns = append(turns, t)
		}
	}
	s.mu.Unlock()
	for _, t := range turns {
		switch state, known := states[t.id]; {
		case known && (state == oupwire.TurnStateCompleted || state == oupwire.TurnStateErrored || state == oupwire.TurnStateInterrupted):
			ev := Event{Session: key, Turn: t.id, Thread: t.id, Body: Ended{Outcome: oupwire.TurnOutcome(state)}}
			if !s.push(on, ev) {
				return false
			}
		case !known && !result.Turns.IsAbsent():
			t.finish(errLost)
			s.mu.Lock()
			delete(s.turns, t.id)
			s.mu.Unlock()
		}
	}
	return true
}
