// Package bus is the event bus of one host session, on which extensions of API 0.3 tell each other small,
// declared facts.
//
// A process joins with Attach and leaves with Detach. Serve answers its requests; Reset gives the bus a new
// incarnation when the session is replaced. Everything the bus sends goes through one bounded queue per
// process, written by one goroutine in order, and credit comes back only when a frame has left or was
// dropped. A process that cannot follow is ended; it never slows another one down.
//
// All state is under one lock, and nothing that can block is done under it. Source: sheet canonical 7.
package bus

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/runtime/peer"
)

// Process is one process generation on the bus. Its methods may be called from any goroutine; it must be
// comparable.
type Process interface {
	// Name is that of the extension, and so of the publisher.
	Name() string
	// Instance and Generation tell one process of the extension from another.
	Instance() string
	Generation() int64
	// Selected says whether the process negotiated a method.
	Selected(method string) bool
	// Open says whether requests of the process may still be served: it is neither closed nor draining.
	Open() bool
	// FrameBound is the largest payload of a frame to the process, in bytes.
	FrameBound() int
	// Deliver writes one notification. See peer.Conn.Deliver.
	Deliver(ctx context.Context, method string, params peer.Value, begin func() bool) error
	// Retire ends the process for a reason. It must not block.
	Retire(reason string)
}

// Errors of Attach.
var (
	ErrNoLifecycle = errors.New("the process selected " + canonicalwire.CapabilityEventBus + " without " + canonicalwire.MethodBusLifecycle + "; select both")
	ErrFull        = fmt.Errorf("the bus has %d processes already, the most it takes", canonicalwire.MaxBusPeers)
	ErrAttached    = errors.New("the process is attached already")
	ErrClosed      = errors.New("the bus is closed")
)

// Bus is one bus. Make it with New.
type Bus struct {
	mu              sync.Mutex
	binding         string // of the current incarnation
	bindingRevision int64
	topicRevision   int64 // grows with every topic that comes or goes, in all incarnations
	topics          map[string]*topic
	members         map[Process]*member
	closed          bool
	senders         sync.WaitGroup
}

// topic is a declared topic.
type topic struct {
	name     string
	fields   map[string]*field
	owner    *member
	revision int64
	live     map[*member]*subscription
}

// subscription is what an active acknowledgement began. It ends with its topic, its member, its incarnation
// or an unsubscribe, and never begins again.
type subscription struct{ over bool }

// New returns a bus in its first incarnation.
func New() *Bus {
	return &Bus{
		binding: rand.Text(), bindingRevision: 1,
		topics: map[string]*topic{}, members: map[Process]*member{},
	}
}

// Attach takes a process in and tells it of the incarnation. Call it once the contract of the process stands,
// before anything of it is served. After an error the process must be ended.
func (b *Bus) Attach(p Process) error {
	if err := checkIdentifier(p.Name()); err != nil {
		return fmt.Errorf("extension %q cannot join the bus: its name %w", p.Name(), err)
	}
	if !p.Selected(canonicalwire.MethodBusLifecycle) {
		return ErrNoLifecycle
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.closed:
		return ErrClosed
	case b.members[p] != nil:
		return ErrAttached
	case len(b.members) >= canonicalwire.MaxBusPeers:
		return ErrFull
	}
	m := newMember(b, p)
	b.members[p] = m
	b.senders.Add(1)
	go m.send()
	b.noticeLocked(m, canonicalwire.BusBindingNotice{BindingID: b.binding, BindingRevision: b.bindingRevision})
	return nil
}

// Detach lets go of a process that is gone: its topics end, its subscribers are told. It is harmless for one
// that is not attached.
func (b *Bus) Detach(p Process) {
	b.mu.Lock()
	defer b.mu.Unlock()
	m := b.members[p]
	if m == nil {
		return
	}
	delete(b.members, p)
	m.goLocked()
	for _, name := range sortedKeys(m.subscribed) {
		b.endLocked(m, name)
	}
	for _, name := range sortedKeys(b.topics) {
		if t := b.topics[name]; t.owner == m {
			b.withdrawLocked(t)
		}
	}
}

// withdrawLocked takes a topic away whose publisher is gone.
func (b *Bus) withdrawLocked(t *topic) {
	delete(b.topics, t.name)
	for m := range t.live {
		b.endLocked(m, t.name)
	}
	b.topicRevision++
	for _, m := range b.interestedLocked(t.name) {
		b.noticeLocked(m, canonicalwire.BusTopicUnavailable{
			BindingID: b.binding, Topic: t.name, TopicRevision: b.topicRevision,
			PublisherInstanceID: t.owner.process.Instance(), ProcessGeneration: t.owner.process.Generation(),
		})
	}
}

// endLocked ends a subscription: what is queued for it is void.
func (b *Bus) endLocked(m *member, name string) {
	if s := m.subscribed[name]; s != nil {
		s.over = true
		delete(m.subscribed, name)
	}
	if t := b.topics[name]; t != nil {
		delete(t.live, m)
	}
}

// Reset begins a new incarnation, because the session was replaced: topics, interests and subscriptions are
// gone, processes stay and are told. Revisions of topics and sequences of publishers go on.
func (b *Bus) Reset() {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.closed {
		return
	}
	b.binding = rand.Text()
	b.bindingRevision++
	clear(b.topics)
	for _, m := range b.members {
		for name := range m.subscribed {
			m.subscribed[name].over = true
		}
		clear(m.subscribed)
		clear(m.interests)
		b.noticeLocked(m, canonicalwire.BusBindingNotice{BindingID: b.binding, BindingRevision: b.bindingRevision})
	}
}

// Close lets go of every process and returns when nothing is sent any more.
func (b *Bus) Close() {
	b.mu.Lock()
	b.closed = true
	for p, m := range b.members {
		delete(b.members, p)
		m.goLocked()
	}
	clear(b.topics)
	b.mu.Unlock()
	b.senders.Wait()
}

// interestedLocked returns who wants to hear of a topic.
func (b *Bus) interestedLocked(name string) []*member {
	var list []*member
	for _, m := range b.members {
		if m.interests[name] {
			list = append(list, m)
		}
	}
	return list
}
