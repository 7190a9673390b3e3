package house

import (
	"slices"
	"time"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/host/engine"
	"github.com/octet-dev/octet/host/oup/live"
	"github.com/octet-dev/octet/host/supervise"
)

// spare is how long a session stays at work that no client has open: it is opened again in no time.
const spare = time.Minute

// share is the part of the descriptors that sessions at work may have: one in so many. The others are for connections,
// files of tools and pipes of extensions.
const share = 4

// most is how many sessions may be at work in a process that may have so many descriptors; 0: nobody knows.
func most(descriptors int) int {
	if descriptors == 0 {
		return oupwire.LedgerMemorySessions
	}
	return max(1, min(oupwire.LedgerMemorySessions, descriptors/share))
}

// sweep lets sessions rest that nobody uses.
func (h *House) sweep() {
	clock := time.NewTicker(min(h.o.Idle, h.o.Spare) / 4) // so that nobody waits much longer
	defer clock.Stop()
	for {
		select {
		case <-clock.C:
			h.Sweep()
		case <-h.ending:
			return
		}
	}
}

// Sweep lets sessions rest that were not used for so long as the options say.
func (h *House) Sweep() {
	now := h.o.Now()
	for _, s := range h.Sessions() {
		if !s.Attended() {
			s.Rest(now.Add(-h.o.Spare))
		}
	}
	h.Rest(now.Add(-h.o.Idle))
}

// Rest lets sessions rest that were not used since, and more of them where there are too many at work: those that
// were used least recently.
func (h *House) Rest(since time.Time) {
	for _, s := range h.Sessions() {
		s.Rest(since)
	}
	h.restBeyond(h.o.Most)
	h.closeUnused(since)
}

// Relieve lets every session rest in which nothing runs: the system has no descriptors left. It reports whether one
// did.
func (h *House) Relieve() bool { return h.restBeyond(0) }

// makeRoom lets sessions rest so that one more can be at work.
func (h *House) makeRoom() { h.restBeyond(h.o.Most - 1) }

// restBeyond lets sessions rest until no more than some are at work: in front those that no client has open, of these the
// ones that were used least recently. One in which something runs stays. It reports whether one rests now that was at
// work.
func (h *House) restBeyond(keep int) (rested bool) {
	list := slices.DeleteFunc(h.Sessions(), func(s *live.Session) bool { return !s.AtWork() })
	if len(list) <= keep {
		return false
	}
	slices.SortFunc(list, func(a, b *live.Session) int {
		if a.Attended() != b.Attended() {
			if b.Attended() {
				return -1
			}
			return 1
		}
		return a.Used().Compare(b.Used())
	})
	surplus := len(list) - keep
	for _, s := range list {
		if surplus == 0 {
			break
		}
		if s.Rest(h.o.Now()) {
			surplus, rested = surplus-1, true
		}
	}
	return rested
}

// closeUnused closes the engines that no conversation needs and nobody has asked for since: their extensions are
// processes. One that is needed again is opened again.
func (h *House) closeUnused(since time.Time) {
	needed := map[Place]bool{}
	for _, s := range h.Sessions() {
		if s.AtWork() {
			needed[PlaceOf(s)] = true
		}
	}
	unused := map[Place]*engine.Engine{}
	for at, e := range h.Engines() {
		if !needed[at] {
			unused[at] = e
		}
	}
	for at, e := range unused {
		h.mu.Lock()
		o := h.engines[at]
		gone := o != nil && o.engine == e && !o.used.After(since) && !h.closed
		if gone {
			delete(h.engines, at)
		}
		h.mu.Unlock()
		if gone {
			e.Close(supervise.ProductCap)
		}
	}
}
