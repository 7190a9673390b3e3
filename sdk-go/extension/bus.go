package extension

import (
	"context"
	"errors"
	"maps"
	"slices"
	"strconv"
	"sync"

	"github.com/octet-dev/octet/generated/canonicalservice"
	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/wirejson"
)

// bus follows the event bus: which incarnation of it is in force, and which topics the author wants to hear
// of, whatever becomes of the bus and of the topics' publishers. It changes on the reading goroutine, so that
// an answer and a notice take effect in the order in which the host has sent them.
type bus struct {
	mu       sync.Mutex
	binding  string // empty before the first notice
	revision int64  // of the binding
	broken   bool   // a notice could not be understood: the bus is over for this process
	wanted   map[string]*interest
}

// interest is one topic that the author has subscribed to.
type interest struct {
	revision int64 // newest one heard of under the binding, -1 for none
}

// force returns the binding in force, or why there is none.
func (b *bus) force(method string) (string, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	switch {
	case b.broken:
		return "", &NoParentError{method, "a notice of the bus could not be understood, so that its binding is withdrawn; the bus comes back with another process"}
	case b.binding == "":
		return "", &NoParentError{method, "the host has not bound the bus yet; send it from a handler of " + strconv.Quote(canonicalwire.MethodBusLifecycle)}
	}
	return b.binding, nil
}

// hear takes a notice and returns the topics to subscribe to again.
func (b *bus) hear(params []byte) (again []string) {
	notice, err := canonicalwire.DecodeBusLifecycleParams(params)
	b.mu.Lock()
	defer b.mu.Unlock()
	if err != nil {
		b.broken = true
	}
	if b.broken {
		return nil
	}
	switch n := notice.(type) {
	case canonicalwire.BusBindingNotice:
		if b.binding != "" && n.BindingRevision <= b.revision {
			return nil
		}
		b.binding, b.revision = n.BindingID, n.BindingRevision
		for _, i := range b.wanted {
			i.revision = -1
		}
		return slices.Sorted(maps.Keys(b.wanted))
	case canonicalwire.BusTopicAvailable:
		if b.grow(n.BindingID, n.Topic, n.TopicRevision) {
			return []string{n.Topic}
		}
	case canonicalwire.BusTopicUnavailable:
		b.grow(n.BindingID, n.Topic, n.TopicRevision)
	}
	return nil
}

// grow takes over a revision of a wanted topic. It reports whether it is news.
func (b *bus) grow(binding, topic string, revision int64) bool {
	i := b.wanted[topic]
	if i == nil || binding != b.binding || revision <= i.revision {
		return false
	}
	i.revision = revision
	return true
}

// want keeps a topic from before the request on, because a notice about it may overtake the answer. It
// returns nil for one that is kept already.
func (b *bus) want(topic string) *interest {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.wanted[topic] != nil {
		return nil
	}
	if b.wanted == nil {
		b.wanted = map[string]*interest{}
	}
	i := &interest{revision: -1}
	b.wanted[topic] = i
	return i
}

// drop forgets a topic. Only, if not nil, is the interest that may go, and only while the binding is in force:
// under another one the topic has been asked for anew.
func (b *bus) drop(topic string, only *interest, binding string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if only == nil || b.wanted[topic] == only && b.binding == binding {
		delete(b.wanted, topic)
	}
}

// wants reports whether a topic is still wanted under a binding.
func (b *bus) wants(topic, binding string) bool {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.wanted[topic] != nil && b.binding == binding && !b.broken
}

// acknowledge takes the answer to a subscription; one of a binding that has been replaced says nothing.
func (b *bus) acknowledge(topic string, result []byte) {
	answer, err := canonicalwire.DecodeBusSubscribeResult(result)
	if err != nil {
		return // whoever asked is told
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	switch a := answer.(type) {
	case canonicalwire.BusSubscribePending:
		b.grow(a.BindingID, topic, a.TopicRevision)
	case canonicalwire.BusSubscribeActive:
		b.grow(a.BindingID, topic, a.TopicRevision)
	}
}

// busNotice takes a notice on the reading goroutine.
func (s *server) busNotice(params []byte) {
	for _, topic := range s.bus.hear(params) {
		s.spawn("subscription to "+strconv.Quote(topic), func(ctx context.Context) error { return s.subscribeAgain(ctx, topic) })
	}
}

// subscribeAgain renews one subscription. Where the binding has gone on meanwhile, that of the next one does.
func (s *server) subscribeAgain(ctx context.Context, topic string) error {
	binding, err := s.bus.force(canonicalwire.MethodBusSubscribe)
	if err != nil || !s.bus.wants(topic, binding) {
		return nil
	}
	_, err = canonicalservice.New((*canonicalLink)(s.own(ctx))).Bus().Subscribe(ctx, topic)
	if err != nil && !errors.Is(err, ErrCancelled) && s.bus.wants(topic, binding) {
		return err
	}
	return nil
}

// isBus reports whether a method is sent under the binding of the bus.
func isBus(m *wirejson.Method) bool { return m.Gate == canonicalwire.CapabilityEventBus }

// askBus sends a request of the bus.
func (s *Scope) askBus(ctx context.Context, m *wirejson.Method, params []byte, accept func([]byte) error) error {
	given, topic, err := addressed(m.Name, params)
	if err != nil {
		return err
	}
	bus := &s.server.bus
	binding, err := bus.force(m.Name)
	if err != nil {
		return err
	}
	if given != binding {
		return &NoParentError{m.Name, "the binding " + strconv.Quote(given) + " is not in force; leave it out"}
	}
	switch m.Name {
	case canonicalwire.MethodBusSubscribe:
		fresh := bus.want(topic)
		err := s.askInstalling(ctx, m, params, accept, func(result []byte) { bus.acknowledge(topic, result) })
		if err != nil && fresh != nil {
			bus.drop(topic, fresh, binding)
		}
		return err
	case canonicalwire.MethodBusUnsubscribe:
		bus.drop(topic, nil, binding)
	}
	return s.askInstalling(ctx, m, params, accept, nil)
}

// addressed returns the binding and the topic of a request.
func addressed(method string, params []byte) (binding, topic string, err error) {
	switch method {
	case canonicalwire.MethodBusDeclare:
		p, err := canonicalwire.DecodeBusDeclareParams(params)
		return p.BindingID, p.Topic, err
	case canonicalwire.MethodBusPublish:
		p, err := canonicalwire.DecodeBusPublishParams(params)
		return p.BindingID, p.Topic, err
	}
	p, err := canonicalwire.DecodeBusTopicParams(params)
	return p.BindingID, p.Topic, err
}
