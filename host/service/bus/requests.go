package bus

import (
	"errors"
	"regexp"
	"slices"
	"time"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/runtime/peer"
)

func invalidParams() error { return peer.Fail(canonicalwire.ErrInvalidParams, nil) }
func mismatch() error      { return peer.Fail(canonicalwire.ErrCapabilityMismatch, nil) }
func exhausted() error     { return peer.Fail(canonicalwire.ErrResourceExhausted, nil) }

// refused is the answer to a string that screen refused.
func refused(err error) error {
	if errors.Is(err, errTooLong) {
		return exhausted()
	}
	return invalidParams()
}

// Answer is the result of a request. Queued must be called when the result has its place in front of what is
// sent to the process later, with true, or when it never will, with false: until then nothing else goes out
// to the process, and with false the process is ended.
type Answer struct {
	Result peer.Value
	Queued func(delivered bool)
}

// Serve answers a request of a process. The error is the one to answer with.
func (b *Bus) Serve(p Process, method string, params []byte) (Answer, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	m := b.members[p]
	if m == nil || !p.Open() {
		return Answer{}, mismatch()
	}
	if err := b.checkBindingLocked(params); err != nil {
		return Answer{}, err
	}
	var result peer.Value
	var err error
	switch method {
	case canonicalwire.MethodBusDeclare:
		result, err = b.declareLocked(m, params)
	case canonicalwire.MethodBusSubscribe:
		result, err = b.subscribeLocked(m, params)
	case canonicalwire.MethodBusUnsubscribe:
		result, err = b.unsubscribeLocked(m, params)
	case canonicalwire.MethodBusPublish:
		result, err = b.publishLocked(m, params)
	default:
		err = peer.Fail(canonicalwire.ErrUnknownMethod, nil)
	}
	if err != nil {
		return Answer{}, err
	}
	m.held++
	return Answer{Result: result, Queued: m.answered}, nil
}

// checkBindingLocked judges the incarnation a request speaks of, before anything else in it.
func (b *Bus) checkBindingLocked(params []byte) error {
	doc, err := wirejson.Parse(params, canonicalwire.MaxJSONDepth)
	if err != nil || doc.Root().Kind() != wirejson.KindObject {
		return invalidParams()
	}
	defer doc.Release()
	for members := doc.Root().Members(); members.Next(); {
		if string(members.Key()) != "binding_id" {
			continue
		}
		v := members.Value()
		if v.Kind() != wirejson.KindString || v.Text() == "" || len(v.Text()) > canonicalwire.MaxSessionHookIDBytes {
			return invalidParams()
		}
		if v.Text() != b.binding {
			return mismatch()
		}
		return nil
	}
	return invalidParams()
}

func (b *Bus) declareLocked(m *member, raw []byte) (peer.Value, error) {
	params, err := canonicalwire.DecodeBusDeclareParams(raw)
	if err != nil {
		return nil, declarationFault(err)
	}
	owner, err := topicOwner(params.Topic)
	switch {
	case err != nil:
		return nil, invalidParams()
	case owner != m.process.Name():
		return nil, mismatch()
	}
	fields, err := readFields(params.Fields)
	switch {
	case err != nil:
		return nil, err
	case b.topics[params.Topic] != nil:
		return nil, invalidParams()
	case len(b.topics) >= canonicalwire.MaxBusTopics:
		return nil, exhausted()
	}
	b.topicRevision++
	b.topics[params.Topic] = &topic{
		name: params.Topic, fields: fields, owner: m, revision: b.topicRevision, live: map[*member]*subscription{},
	}
	for _, each := range b.interestedLocked(params.Topic) {
		b.noticeLocked(each, canonicalwire.BusTopicAvailable{
			BindingID: b.binding, Topic: params.Topic, TopicRevision: b.topicRevision,
			PublisherInstanceID: m.process.Instance(), ProcessGeneration: m.process.Generation(),
		})
	}
	return canonicalwire.BusAck{BindingID: b.binding}, nil
}

// inField finds what lies inside one field of a declaration, and longValue its alternatives.
var (
	inField   = regexp.MustCompile(`^/fields/\d+/`)
	longValue = regexp.MustCompile(`^/fields/\d+/values(/\d+)?$`)
)

// declarationFault is the answer to a declaration that breaks its model: of a field, only the number and the
// length of the alternatives count as exhausted.
func declarationFault(err error) error {
	var v *wirejson.Violation
	if !errors.As(err, &v) || !inField.MatchString(v.Pointer) {
		return err
	}
	if longValue.MatchString(v.Pointer) && (v.Kind == wirejson.ItemCount || v.Kind == wirejson.ByteCount) {
		return err
	}
	return invalidParams()
}

func (b *Bus) subscribeLocked(m *member, raw []byte) (peer.Value, error) {
	params, err := canonicalwire.DecodeBusTopicParams(raw)
	if err != nil {
		return nil, err
	}
	if _, err := topicOwner(params.Topic); err != nil {
		return nil, invalidParams()
	}
	if !m.process.Selected(canonicalwire.MethodBusEvent) {
		return nil, mismatch()
	}
	if !m.interests[params.Topic] && len(m.interests) >= canonicalwire.MaxBusSubscriptions {
		return nil, exhausted()
	}
	m.interests[params.Topic] = true
	t := b.topics[params.Topic]
	if t == nil {
		return canonicalwire.BusSubscribePending{BindingID: b.binding, TopicRevision: b.topicRevision}, nil
	}
	if t.live[m] == nil {
		s := &subscription{}
		t.live[m], m.subscribed[t.name] = s, s
	}
	return canonicalwire.BusSubscribeActive{
		BindingID: b.binding, TopicRevision: t.revision,
		PublisherInstanceID: t.owner.process.Instance(), ProcessGeneration: t.owner.process.Generation(),
	}, nil
}

func (b *Bus) unsubscribeLocked(m *member, raw []byte) (peer.Value, error) {
	params, err := canonicalwire.DecodeBusTopicParams(raw)
	if err != nil {
		return nil, err
	}
	if _, err := topicOwner(params.Topic); err != nil {
		return nil, invalidParams()
	}
	delete(m.interests, params.Topic)
	b.endLocked(m, params.Topic)
	return canonicalwire.BusAck{BindingID: b.binding}, nil
}

func (b *Bus) publishLocked(m *member, raw []byte) (peer.Value, error) {
	params, err := canonicalwire.DecodeBusPublishParams(raw)
	if err != nil {
		return nil, err
	}
	_, err = topicOwner(params.Topic)
	t := b.topics[params.Topic]
	switch {
	case err != nil || t == nil:
		return nil, invalidParams()
	case t.owner != m:
		return nil, mismatch()
	}
	if err := checkPayload(t.fields, params.Payload); err != nil {
		return nil, err
	}
	if m.sequence >= canonicalwire.MaxPortableJSONInteger {
		return nil, exhausted()
	}
	event := canonicalwire.BusEventParams{
		BindingID: b.binding, Topic: t.name, Publisher: m.process.Name(), PublisherInstanceID: m.process.Instance(),
		ProcessGeneration: m.process.Generation(), Sequence: m.sequence + 1,
		PublishedAtMs: min(time.Now().UnixMilli(), canonicalwire.MaxPortableJSONInteger), Payload: slices.Clone(params.Payload),
	}
	size := frameSize(canonicalwire.MethodBusEvent, event)
	if size > canonicalwire.MaxBusMessageBytes {
		return nil, exhausted()
	}
	for subscriber := range t.live {
		if !subscriber.roomLocked(size) {
			return nil, exhausted()
		}
	}
	m.sequence++
	for subscriber, s := range t.live {
		subscriber.queueLocked(&outgoing{method: canonicalwire.MethodBusEvent, params: event, size: size, of: s})
	}
	return canonicalwire.BusPublishResult{BindingID: b.binding, Sequence: event.Sequence, PublishedAtMs: event.PublishedAtMs}, nil
}
