package oup

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"time"
)

// publish makes a connection the one that requests go out on.
func (c *Client) publish(made *conn) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.current = made
	close(c.ready)
}

// lose takes the connection back.
func (c *Client) lose() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.current, c.ready = nil, make(chan struct{})
}

// manage keeps the client connected until it ends.
func (c *Client) manage(current *conn) {
	defer close(c.done)
	for {
		born := time.Now()
		select {
		case <-current.done:
		case <-c.life.Done():
		}
		c.lose()
		if c.life.Err() != nil {
			current.close(ErrClosed)
			c.finish(ErrClosed)
			return
		}
		why := current.reason()
		current.close(why)
		next, err := c.reconnect(why, born)
		if err != nil {
			c.finish(err)
			return
		}
		current = next
		c.publish(current)
	}
}

// reconnect makes a lost connection again, with its sessions. The error is why it gave up.
func (c *Client) reconnect(why error, born time.Time) (*conn, error) {
	if !c.reconnects() {
		return nil, why
	}
	for attempt := range c.options.Reconnect.Attempts {
		if final(why) {
			return nil, why
		}
		longest := c.options.Reconnect.longest(attempt)
		// Who starts anew is there at once; one that does so all the time is waited for like others.
		if attempt > 0 || !errors.Is(why, errRestart) || time.Since(born) < c.options.Reconnect.First {
			if err := c.pause(c.draw(longest)); err != nil {
				return nil, err
			}
		}
		made, err := c.resume()
		if err == nil {
			return made, nil
		}
		if c.life.Err() != nil {
			return nil, ErrClosed
		}
		c.options.Logger.Info("the connection is not made again yet", "attempt", attempt+1, "error", err)
		why = err
	}
	return nil, fmt.Errorf("the connection is lost, %d tries to make it again failed: %w", c.options.Reconnect.Attempts, why)
}

// resume makes a connection and opens the sessions on it where they were.
func (c *Client) resume() (*conn, error) {
	made, err := c.establish(c.life)
	if err != nil {
		return nil, err
	}
	for _, s := range c.open() {
		if err := s.resume(c.life, made); err != nil {
			if made.reason() != nil || c.life.Err() != nil {
				made.close(err)
				return nil, err
			}
			s.fail(err)
		}
	}
	return made, nil
}

// open returns the sessions that are open.
func (c *Client) open() []*Session {
	c.mu.Lock()
	defer c.mu.Unlock()
	return slices.Collect(maps.Values(c.sessions))
}

func (c *Client) pause(wait time.Duration) error {
	timer := time.NewTimer(wait)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-c.life.Done():
		return ErrClosed
	}
}

// final reports whether trying again is of no use.
func final(err error) bool {
	var (
		locked  *AuthError
		broken  *ProtocolError
		refused *ServerError
	)
	return errors.As(err, &locked) || errors.As(err, &broken) || errors.As(err, &refused) || errors.Is(err, context.Canceled)
}

// finish ends what waits for the client.
func (c *Client) finish(err error) {
	c.mu.Lock()
	c.err = err
	close(c.ready)
	c.mu.Unlock()
	c.end()
	for _, s := range c.open() {
		s.fail(err)
	}
}
