package engine

import (
	"time"
)

// rested says that the conversation waits for the person again.
func (c *Conversation) rested() {
	select {
	case c.waits <- struct{}{}:
	default: // it was said already
	}
}

// keepWarm refreshes the provider's cache while the conversation waits, for as long as the agent says that
// it pays and hooks do not object; then not again before the next run. It returns with the conversation.
//
// Rule: EXT04-HOOK-081.
func (c *Conversation) keepWarm() {
	defer c.runs.Done()
	var due <-chan time.Time
	for {
		select {
		case <-c.life.Done():
			return
		case <-c.waits:
			due = c.engine.after(c.engine.config.Warming.Every)
		case <-due:
			due = nil
			if c.warmed() {
				due = c.engine.after(c.engine.config.Warming.Every)
			}
		}
	}
}

// warmed refreshes the cache once, and reports whether it did. A conversation that is used is left alone: it
// will wait again.
func (c *Conversation) warmed() bool {
	select {
	case c.turn <- struct{}{}:
	default:
		return false
	}
	defer func() { <-c.turn }()
	made, err := c.agent.Warm(c.life)
	if err != nil {
		c.engine.failed("the provider's cache is not kept warm", err)
	}
	return made && err == nil
}

// after is the clock.
func (e *Engine) after(d time.Duration) <-chan time.Time {
	if e.config.Clock != nil {
		return e.config.Clock.After(d)
	}
	return time.After(d)
}
