package peer

import "context"

// admit takes a permit, waiting for it in order of arrival. Shutdown needs none.
func (c *Conn) admit(ctx context.Context, method string) (permit bool, err error) {
	c.mu.Lock()
	if err := c.maySendLocked(method, false); err != nil {
		c.mu.Unlock()
		return false, err
	}
	s := &c.calls
	if method == c.profile.Shutdown || !c.profile.host() {
		c.mu.Unlock()
		return false, nil
	}
	if s.taken < s.most && len(s.waiting) == 0 {
		s.taken++
		c.mu.Unlock()
		return true, nil
	}
	w := make(chan struct{})
	s.waiting = append(s.waiting, w)
	c.mu.Unlock()

	select {
	case <-w:
		return true, nil
	case <-c.done:
		return false, c.endedBy()
	case <-ctx.Done():
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for i := range s.waiting {
		if s.waiting[i] == w {
			s.waiting = append(s.waiting[:i], s.waiting[i+1:]...)
			return false, notSent(ctx)
		}
	}
	s.putLocked(true) // it was granted just now
	return false, notSent(ctx)
}

func (c *Conn) endedBy() error {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.whyLocked()
}

func (c *Conn) giveBack(permit bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.calls.putLocked(permit)
}

// putLocked gives a permit back.
func (s *calls) putLocked(permit bool) {
	if permit {
		s.taken--
		s.admitLocked()
	}
}

// admitLocked hands free permits to those who wait.
func (s *calls) admitLocked() {
	for len(s.waiting) > 0 && s.taken < s.most {
		s.taken++
		close(s.waiting[0])
		s.waiting = s.waiting[1:]
	}
}
