package subject

import "time"

// maxExtension is how much longer than its limit a wait may become, in limits.
const maxExtension = 9

// leastExtension is the run delay under which a wait is not prolonged: every process has some.
const leastExtension = 10 * time.Millisecond

// patience ends a wait. What a subject spends in line for a processor is the machine's time and not its own: a busy
// machine accuses nobody, and one that sleeps gets no more than the limit.
type patience struct {
	C    <-chan time.Time
	c    *Conversation
	t    *time.Timer
	left time.Duration // of the extension
}

func (c *Conversation) patience(limit time.Duration) *patience {
	t := time.NewTimer(limit)
	return &patience{C: t.C, c: c, t: t, left: maxExtension * limit}
}

func (p *patience) stop() { p.t.Stop() }

// extended is asked when the time is up, and reports whether the wait goes on.
func (p *patience) extended() bool {
	extension := min(p.c.newRunDelay(), p.left)
	if extension < leastExtension {
		return false
	}
	p.left -= extension
	p.t.Reset(extension)
	return true
}

// newRunDelay is the run delay of the subject that has prolonged no wait yet.
func (c *Conversation) newRunDelay() time.Duration {
	total := c.run.RunDelay()
	c.mu.Lock()
	defer c.mu.Unlock()
	fresh := max(total-c.excused, 0)
	c.excused = max(total, c.excused)
	return fresh
}
