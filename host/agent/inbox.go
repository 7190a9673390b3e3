package agent

import (
	"slices"

	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/session"
)

// inbox holds what the user says while a run is going on. It is guarded by the agent's mutex.
type inbox struct {
	steer  []string
	follow []string
	closed bool // nothing is taken any more
}

// Kinds of what the user says meanwhile, as InputDelivered names them.
const (
	KindSteer    = "steer"
	KindFollowUp = "follow_up"
)

// Steer tells the model something with the next request of the run: behind the results of the calls that
// run now. ErrIdle if there is no run, or it is ending.
func (a *Agent) Steer(text string) error {
	return a.hand(text, func(in *inbox) *[]string { return &in.steer })
}

// FollowUp tells the model something once it would be done; the run goes on with it. ErrIdle as for Steer.
func (a *Agent) FollowUp(text string) error {
	return a.hand(text, func(in *inbox) *[]string { return &in.follow })
}

func (a *Agent) hand(text string, queue func(*inbox) *[]string) error {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.inbox == nil || a.inbox.closed {
		return ErrIdle
	}
	q := queue(a.inbox)
	*q = append(*q, text)
	return nil
}

// closeInbox ends the taking of texts, and returns those that were not delivered.
func (a *Agent) closeInbox() []string {
	a.mu.Lock()
	defer a.mu.Unlock()
	if a.inbox == nil {
		return nil
	}
	a.inbox.closed = true
	return slices.Concat(a.inbox.steer, a.inbox.follow)
}

// next takes what is to be said next: the oldest text of Steer and, where the model is done, else of
// FollowUp. kind is empty if there is nothing; where the model is done the inbox is closed by that.
func (r *run) next(done bool) (text, kind string) {
	r.agent.mu.Lock()
	defer r.agent.mu.Unlock()
	in := &r.inbox
	switch {
	case len(in.steer) > 0:
		text, in.steer = in.steer[0], in.steer[1:]
		return text, KindSteer
	case done && len(in.follow) > 0:
		text, in.follow = in.follow[0], in.follow[1:]
		return text, KindFollowUp
	}
	in.closed = in.closed || done
	return "", ""
}

// deliver stores a text as something that the user has said. One that cannot be stored goes back.
func (r *run) deliver(text, kind string) error {
	said := conversation.Say(conversation.User, validText(text))
	receipt, err := r.commit(session.Batch{Entries: []session.Entry{{Value: session.Message{Message: said, Run: r.id}}}})
	if err != nil {
		r.agent.mu.Lock()
		defer r.agent.mu.Unlock()
		if kind == KindSteer {
			r.inbox.steer = append([]string{text}, r.inbox.steer...)
		} else {
			r.inbox.follow = append([]string{text}, r.inbox.follow...)
		}
		return err
	}
	r.Emit(Message{At: r.at(), Entry: receipt.Entries[0], Message: said})
	r.Emit(InputDelivered{At: r.at(), Kind: kind, Text: text, Entry: receipt.Entries[0]})
	return nil
}
