package peer

import "context"

// Notify sends a notification. It returns when the frame is queued; it blocks only while the writer's
// queue is full, or writes the frame itself. Errors are those of Do before sending.
func (c *Conn) Notify(ctx context.Context, method string, params Value) error {
	return c.notify(ctx, method, params, nil)
}

// notify sends a notification, in front of the answer to the request it belongs to, if it does to one.
func (c *Conn) notify(ctx context.Context, method string, params Value, of *Request) error {
	f, err := c.prepareNotification(method, params)
	if err != nil {
		return err
	}
	if err := c.waitRoom(ctx); err != nil {
		f.release()
		return err
	}
	c.mu.Lock()
	err = c.tooLateLocked(method)
	if err == nil && of != nil && c.served.live[of.ID.String()] != of {
		err = ErrAnswered
	}
	if err != nil {
		c.mu.Unlock()
		f.release()
		return err
	}
	mine := c.queueLocked(outgoing{frame: f})
	c.mu.Unlock()
	if mine {
		c.write()
	}
	return nil
}

// prepareNotification makes the frame of a notification, which may be sent now.
func (c *Conn) prepareNotification(method string, params Value) (*buffer, error) {
	c.mu.Lock()
	err := c.maySendLocked(method, true)
	p := c.profile
	c.mu.Unlock()
	if err != nil {
		return nil, err
	}
	f := notificationFrame(method, params)
	if err := c.checkOutgoing(p, f.b); err != nil {
		f.release()
		return nil, err
	}
	return f, nil
}

// notificationFrame spells a notification, unchecked.
func notificationFrame(method string, params Value) *buffer {
	f := newBuffer()
	f.b = append(f.b, '{')
	f.b = appendRequest(f.b, method, params)
	f.b = append(f.b[:1], f.b[2:]...) // no id in front of jsonrpc, hence no comma
	return f
}

// tooLateLocked returns why the frame of a notification cannot be queued any more, or nil: shutdown may have
// been sent since it was made.
func (c *Conn) tooLateLocked(method string) error {
	if err := c.sealedLocked(); err != nil {
		return err
	}
	return c.maySendLocked(method, true)
}

// sealedLocked returns why no frame can be queued any more, or nil.
func (c *Conn) sealedLocked() error {
	switch {
	case c.ended:
		return c.whyLocked()
	case c.out.sealed:
		return ErrClosed
	}
	return nil
}
