package services

import (
	"maps"
	"slices"
	"time"

	cw "github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/wirejson"
)

// contract is what the optional services of the canonical wire remember.
type contract struct {
	bound     cw.BusBindingNotice // the newest incarnation of the bus
	revision  int64               // of the topics of the bus
	topics    map[string]int64    // revisions of declared topics
	interests map[string]bool     // topics that the extension has subscribed to; true once the topic is declared
	published int64               // publications admitted

	catalog   int64 // revision of the provider registry
	providers map[string][]cw.ProviderModelDefinition
	session   string
}

func newContract() contract {
	return contract{topics: map[string]int64{}, interests: map[string]bool{}, providers: map[string][]cw.ProviderModelDefinition{}, session: "conform"}
}

// The one process that the referee has registered.
const (
	instance   = "conform-instance"
	generation = 1
)

// stale is how a host refuses a request under another binding than the present one.
const stale = "capability_mismatch"

// contractServed has the answer to every request that extensions of the canonical wire may send.
var contractServed = map[string]handler{
	cw.MethodSessionCreate: func(h *Host, _ []byte) (wirejson.Encoder, string) {
		return cw.SessionLifecycleResult{SessionID: h.next("session")}, ""
	},
	cw.MethodSessionFork: func(h *Host, _ []byte) (wirejson.Encoder, string) {
		return cw.SessionLifecycleResult{SessionID: h.next("fork")}, ""
	},
	cw.MethodSessionSwitch: serving(cw.DecodeSessionSwitchParams, func(h *Host, p cw.SessionSwitchParams) (wirejson.Encoder, string) {
		h.contract.session = p.SessionID
		return cw.SessionLifecycleResult(p), ""
	}),
	cw.MethodSessionReload: func(h *Host, _ []byte) (wirejson.Encoder, string) {
		return cw.SessionLifecycleResult{SessionID: h.contract.session}, ""
	},

	cw.MethodProvidersRegister: serving(cw.DecodeProviderRegisterParams, func(h *Host, p cw.ProviderRegisterParams) (wirejson.Encoder, string) {
		return h.catalogue(p.Provider.ID, p.Models)
	}),
	cw.MethodProvidersUpdate: serving(cw.DecodeProviderUpdateParams, func(h *Host, p cw.ProviderUpdateParams) (wirejson.Encoder, string) {
		return h.catalogue(p.Provider.ID, p.Models)
	}),
	cw.MethodProvidersUnregister: serving(cw.DecodeProviderUnregisterParams, func(h *Host, p cw.ProviderUnregisterParams) (wirejson.Encoder, string) {
		delete(h.contract.providers, p.ProviderID)
		return h.registry(), ""
	}),
	cw.MethodProviderAuthRequest: func(h *Host, _ []byte) (wirejson.Encoder, string) {
		return cw.ProviderAuthorizationResult{Status: cw.ProviderAuthorizationStatusReady, Lease: wirejson.Some(h.next("lease"))}, ""
	},
	cw.MethodProviderAuthRevoke: granting(cw.ProviderAuthorizationResult{Status: cw.ProviderAuthorizationStatusRevoked}),

	cw.MethodThemeSelect: serving(cw.DecodeThemeSelectParams, func(_ *Host, p cw.ThemeSelectParams) (wirejson.Encoder, string) {
		return cw.ThemeSelectResult{Status: cw.ThemeSelectStatusSelected, ThemeID: wirejson.Some(p.ThemeID)}, ""
	}),

	cw.MethodBusDeclare:     serving(cw.DecodeBusDeclareParams, (*Host).declare),
	cw.MethodBusSubscribe:   serving(cw.DecodeBusTopicParams, (*Host).subscribe),
	cw.MethodBusUnsubscribe: serving(cw.DecodeBusTopicParams, (*Host).unsubscribe),
	cw.MethodBusPublish:     serving(cw.DecodeBusPublishParams, (*Host).publishEvent),
}

// catalogue puts a provider with its models into the registry.
func (h *Host) catalogue(id string, models []cw.ProviderModelDefinition) (wirejson.Encoder, string) {
	h.contract.providers[id] = models
	return h.registry(), ""
}

// registry describes the providers and models behind a change.
func (h *Host) registry() cw.ProviderCatalogResult {
	h.contract.catalog++
	r := cw.ProviderCatalogResult{Revision: h.contract.catalog, ProviderIDs: []string{}, ModelIDs: []string{}}
	for _, id := range slices.Sorted(maps.Keys(h.contract.providers)) {
		r.ProviderIDs = append(r.ProviderIDs, id)
		for _, model := range h.contract.providers[id] {
			r.ModelIDs = append(r.ModelIDs, id+"/"+model.ID)
		}
	}
	slices.Sort(r.ModelIDs)
	return r
}

// Bind begins a new incarnation of the bus and returns the notice about it.
func (h *Host) Bind() wirejson.Encoder {
	h.mu.Lock()
	defer h.mu.Unlock()
	c := &h.contract
	c.bound = cw.BusBindingNotice{BindingID: h.next("binding"), BindingRevision: c.bound.BindingRevision + 1}
	clear(c.topics)
	clear(c.interests)
	return c.bound
}

// Model is a model of the extension that a host may ask for a stream.
func (h *Host) Model() (provider, model string) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, id := range slices.Sorted(maps.Keys(h.contract.providers)) {
		for _, m := range h.contract.providers[id] {
			return id, m.ID
		}
	}
	return "conform", "conform"
}

// Announce declares, in the name of another extension, the topic that the extension waits for, and returns the
// notice about it; nil if it waits for none.
func (h *Host) Announce() wirejson.Encoder {
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, topic := range slices.Sorted(maps.Keys(h.contract.interests)) {
		if !h.contract.interests[topic] {
			return h.available(topic)
		}
	}
	return nil
}

// available declares a topic and describes it.
func (h *Host) available(topic string) cw.BusTopicAvailable {
	c := &h.contract
	c.revision++
	c.topics[topic] = c.revision
	return cw.BusTopicAvailable{BindingID: c.bound.BindingID, Topic: topic, TopicRevision: c.revision, PublisherInstanceID: instance, ProcessGeneration: generation}
}

func (h *Host) declare(p cw.BusDeclareParams) (wirejson.Encoder, string) {
	if p.BindingID != h.contract.bound.BindingID {
		return nil, stale
	}
	notice := h.available(p.Topic)
	if _, interested := h.contract.interests[p.Topic]; interested {
		h.behind = append(h.behind, h.dialect.Notification(cw.MethodBusLifecycle, notice))
	}
	return cw.BusAck{BindingID: p.BindingID}, ""
}

func (h *Host) subscribe(p cw.BusTopicParams) (wirejson.Encoder, string) {
	if p.BindingID != h.contract.bound.BindingID {
		return nil, stale
	}
	c := &h.contract
	revision, declared := c.topics[p.Topic]
	c.interests[p.Topic] = declared
	if !declared {
		return cw.BusSubscribePending{BindingID: p.BindingID, TopicRevision: c.revision}, ""
	}
	return cw.BusSubscribeActive{BindingID: p.BindingID, TopicRevision: revision, PublisherInstanceID: instance, ProcessGeneration: generation}, ""
}

func (h *Host) unsubscribe(p cw.BusTopicParams) (wirejson.Encoder, string) {
	if p.BindingID != h.contract.bound.BindingID {
		return nil, stale
	}
	delete(h.contract.interests, p.Topic)
	return cw.BusAck{BindingID: p.BindingID}, ""
}

// publishEvent admits a publication, and sends it back to a publisher that subscribed to its own topic.
func (h *Host) publishEvent(p cw.BusPublishParams) (wirejson.Encoder, string) {
	if p.BindingID != h.contract.bound.BindingID {
		return nil, stale
	}
	c := &h.contract
	c.published++
	now := time.Now().UnixMilli()
	if c.interests[p.Topic] {
		h.behind = append(h.behind, h.dialect.Notification(cw.MethodBusEvent, cw.BusEventParams{
			BindingID: p.BindingID, Topic: p.Topic, Publisher: h.x.Name, PublisherInstanceID: instance, ProcessGeneration: generation,
			Sequence: c.published, PublishedAtMs: now, Payload: p.Payload,
		}))
	}
	return cw.BusPublishResult{BindingID: p.BindingID, Sequence: c.published, PublishedAtMs: now}, ""
}
