package subject

import (
	"sync"
	"time"
)

// maxExtension is how much longer than its limit a wait may become, in limits.
const maxExtension = 9

// leastExtension is the run delay under which a wait is not prolonged: every process has some.
const leastExtension = 10 * time.Millisecond

// Patience ends a wait. What a subject spends in line for a processor is the machine's time and not its own: a busy
// machine accuses nobody, and one that sleeps gets no more than the limit. It is for one goroutine.
type Patience struct {
	C     <-chan time.Time // the time is up; ask Extended then
	fresh func() time.Duration
	t     *time.Timer
	left  time.Duration // of the extension
}

// NewPatience begins a wait. What the function returns is run delay of the subject that has prolonged no wait yet, as of
// Delays. Call Stop.
func NewPatience(limit time.Duration, fresh func() time.Duration) *Patience {
	t := time.NewTimer(limit)
	return &Patience{C: t.C, fresh: fresh, t: t, left: maxExtension * limit}
}

// Stop ends the wait.
func (p *Patience) Stop() { p.t.Stop() }

// Extended is asked when the time is up, and reports whether the wait goes on.
func (p *Patience) Extended() bool {
	extension := min(p.fresh(), p.left)
	if extension < leastExtension {
		return false
	}
	p.left -= extension
	p.t.Reset(extension)
	return true
}

// Delays gives out the run delay of a subject, all of it once. The zero value is ready; its method is for any goroutine.
type Delays struct {
	mu    sync.Mutex
	given time.Duration
}

// Fresh returns how much of a run delay has not been given out.
func (d *Delays) Fresh(total time.Duration) time.Duration {
	d.mu.Lock()
	defer d.mu.Unlock()
	fresh := max(total-d.given, 0)
	d.given = max(total, d.given)
	return fresh
}

func (c *Conversation) patience(limit time.Duration) *Patience {
	return NewPatience(limit, func() time.Duration { return c.delays.Fresh(c.run.RunDelay()) })
}
