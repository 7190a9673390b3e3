package vectors

import (
	"context"
	"encoding/json"
	"time"

	"github.com/octet-dev/octet/features/subject"
)

// Conversation is a started testee that is asked whatever somebody wants to know of it. It is used by one
// goroutine at a time, and whoever opened it calls Close.
type Conversation struct {
	Testee Testee
	driver *driver
	asked  int
}

// Converse starts a testee and waits at most the limit for each of its answers. A context that is done ends the
// testee.
func Converse(ctx context.Context, start subject.Starter, limit time.Duration) (*Conversation, error) {
	d, testee, err := open(ctx, start, limit)
	if err != nil {
		return nil, err
	}
	return &Conversation{Testee: testee, driver: d}, nil
}

// Knows reports whether the testee can be asked about a wire.
func (c *Conversation) Knows(wire string) bool { return c.Testee.knows(wire) }

// Ask returns the answers to questions, in order. An error means that there are fewer: the testee has ended, was
// silent or said what is no answer at the question behind the last of them, and can be asked nothing more.
func (c *Conversation) Ask(questions []Question) ([]Answer, error) {
	if c.driver.fault != nil {
		return nil, c.driver.fault
	}
	numbered := make([]Question, len(questions))
	for i, q := range questions {
		q.Seq = c.asked + i + 1
		numbered[i] = q
	}
	c.driver.questions <- numbered
	answers := make([]Answer, 0, len(questions))
	for range questions {
		c.asked++
		line, err := c.driver.next()
		if err != nil {
			return answers, err
		}
		got, err := readAnswer(line, c.asked)
		if err != nil {
			c.driver.fault = err
			return answers, err
		}
		answers = append(answers, got)
	}
	return answers, nil
}

// Stderr is what is kept of the standard error of the testee.
func (c *Conversation) Stderr() string { return c.driver.run.Stderr() }

// Close ends the testee.
func (c *Conversation) Close() { c.driver.close() }

// String shows an answer with the members it has.
func (a Answer) String() string {
	line, err := json.Marshal(a)
	if err != nil {
		return err.Error()
	}
	return excerpt(line)
}

// Equal reports whether two answers say the same: the verdict, and what belongs to it.
func (a Answer) Equal(b Answer) bool {
	return a.Verdict == b.Verdict && a.Violation == b.Violation && a.Error == b.Error &&
		deref(a.Pointer) == deref(b.Pointer) && deref(a.Encoded) == deref(b.Encoded)
}

// String shows a question, cut to a readable length.
func (q Question) String() string {
	line, err := json.Marshal(q)
	if err != nil {
		return err.Error()
	}
	return excerpt(line)
}
