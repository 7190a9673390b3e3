// Package provider lets extensions of API 0.3 serve models: they register providers with their models, ask
// the host's policy for leases, and run inferences as streams of events.
//
// Everything belongs to one process generation and goes with it. What an extension may have begun to do is
// never asked for twice: a stream whose acceptance is unclear, or that breaks behind it, is an error that
// forbids a retry. Source: sheet canonical 5.11, 10.4.
package provider

import (
	"cmp"
	"context"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/model"
	"github.com/octet-dev/octet/runtime/peer"
)

// The bounds that the sheet leaves to the host.
const (
	DefaultIdle     = 2 * time.Minute  // between two events, heartbeats among them
	DefaultDeadline = 30 * time.Minute // of a whole stream
	maxQueuedEvents = 16384            // that the conversation has not taken yet
	maxQueuedBytes  = 16 << 20
)

// Options are what a registry works with. The zero value is fine.
type Options struct {
	// Reserved says that the host has a provider of that id itself; nil: it has none.
	Reserved func(id string) bool
	// Authorize is the policy behind leases; nil: every authorization is unavailable.
	Authorize Authorize
	// Idle and Deadline bound streams; 0: DefaultIdle and DefaultDeadline.
	Idle, Deadline time.Duration
	// Changed is called after every change of the catalog; it must not block. May be nil.
	Changed func()
}

// Registry holds the providers of all extensions of a host. Its methods may be called from any goroutine.
type Registry struct {
	options Options

	mu       sync.Mutex // may be held around that of a stream
	revision int64
	entries  []*entry // in the order of their registration
	complete map[*extension.Extension]bool
	awaited  map[*extension.Extension]first
	streams  map[string]*stream // by id
}

// first is a batch of registrations that is not complete.
type first struct {
	until time.Time
	done  chan struct{} // closed once nobody need wait for it
}

// entry is a provider of one process.
type entry struct {
	owner      *extension.Extension
	definition canonicalwire.ProviderDefinition
	models     []canonicalwire.ProviderModelDefinition
	lease      string // empty: none is held
	leased     int64  // counts what was decided about leases
}

// New returns an empty registry.
func New(options Options) *Registry {
	if options.Idle <= 0 {
		options.Idle = DefaultIdle
	}
	if options.Deadline <= 0 {
		options.Deadline = DefaultDeadline
	}
	return &Registry{options: options, complete: map[*extension.Extension]bool{}, awaited: map[*extension.Extension]first{}, streams: map[string]*stream{}}
}

// Binding offers the three provider services to extensions of API 0.3.
func (r *Registry) Binding() extension.Binding {
	return extension.Binding{
		Capabilities: []string{
			canonicalwire.CapabilityProviderAuth, canonicalwire.CapabilityProviderCatalog, canonicalwire.CapabilityProviderStream,
		},
		Offer: func(s *extension.Source) bool { return s.Manifest.API == canonicalwire.Version03 },
		Requests: map[string]extension.Handler{
			canonicalwire.MethodProvidersRegister: func(_ context.Context, in *extension.Incoming) (peer.Value, error) {
				p, err := canonicalwire.DecodeProviderRegisterParams(in.Params)
				if err != nil {
					return nil, err
				}
				return r.register(in.Extension, p)
			},
			canonicalwire.MethodProvidersUpdate: func(_ context.Context, in *extension.Incoming) (peer.Value, error) {
				p, err := canonicalwire.DecodeProviderUpdateParams(in.Params)
				if err != nil {
					return nil, err
				}
				return r.update(in.Extension, p)
			},
			canonicalwire.MethodProvidersUnregister: func(_ context.Context, in *extension.Incoming) (peer.Value, error) {
				p, err := canonicalwire.DecodeProviderUnregisterParams(in.Params)
				if err != nil {
					return nil, err
				}
				return r.unregister(in.Extension, p.ProviderID)
			},
			canonicalwire.MethodProviderAuthRequest: r.authorize,
			canonicalwire.MethodProviderAuthRevoke:  r.authorize,
		},
		Notices: map[string]func(*extension.Incoming){
			canonicalwire.MethodProvidersComplete: r.completed,
			canonicalwire.MethodProviderEvent:     r.event,
		},
		Started: r.started,
		Ended:   r.ended,
	}
}

// batchWait is how long a process may take for its first registrations before nobody waits for them.
const batchWait = 3 * time.Second

// started begins to await the first registrations of a process.
func (r *Registry) started(x *extension.Extension) {
	if !x.Has(canonicalwire.CapabilityProviderCatalog) {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.awaited[x] = first{time.Now().Add(batchWait), make(chan struct{})}
}

// arrivedLocked ends the wait for a process.
func (r *Registry) arrivedLocked(x *extension.Extension) {
	if f, ok := r.awaited[x]; ok {
		delete(r.awaited, x)
		close(f.done)
	}
}

// Settle waits until every process that runs has said that its first registrations are done, or has had
// time enough for them, or the context ends.
func (r *Registry) Settle(ctx context.Context) {
	r.mu.Lock()
	awaited := slices.Collect(maps.Values(r.awaited))
	r.mu.Unlock()
	for _, f := range awaited {
		timer := time.NewTimer(time.Until(f.until))
		select {
		case <-f.done:
		case <-timer.C:
		case <-ctx.Done():
		}
		timer.Stop()
	}
}

// completed takes note that the first batch of registrations is done.
func (r *Registry) completed(in *extension.Incoming) {
	if _, err := canonicalwire.DecodeProviderCatalogCompleteParams(in.Params); err != nil {
		in.Extension.Terminate(in.Method + ": " + err.Error())
		return
	}
	r.mu.Lock()
	news := !r.complete[in.Extension]
	r.complete[in.Extension] = true
	r.arrivedLocked(in.Extension)
	r.mu.Unlock()
	if news {
		r.changed()
	}
}

// Complete reports whether a process has said that its first batch of registrations is done.
func (r *Registry) Complete(x *extension.Extension) bool {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.complete[x]
}

// ended forgets a process: its providers, its leases and its streams.
func (r *Registry) ended(x *extension.Extension) {
	r.mu.Lock()
	delete(r.complete, x)
	r.arrivedLocked(x)
	had := len(r.entries)
	r.entries = slices.DeleteFunc(r.entries, func(e *entry) bool { return e.owner == x })
	gone := len(r.entries) < had
	if gone {
		r.revision++
	}
	for id, s := range r.streams {
		if s.owner == x {
			delete(r.streams, id)
			s.fail(endedReason)
		}
	}
	r.mu.Unlock()
	if gone {
		r.changed()
	}
}

func (r *Registry) changed() {
	if r.options.Changed != nil {
		r.options.Changed()
	}
}

// liveLocked is the entry of an id that counts: while an extension is replaced, both of its processes may
// have registered it, and then that of the newer one does.
func (r *Registry) liveLocked(id string) *entry {
	var live *entry
	for _, e := range r.entries {
		if e.definition.ID == id && (live == nil || e.owner.Generation() > live.owner.Generation()) {
			live = e
		}
	}
	return live
}

// ownLocked is the entry of an id that a process registered itself.
func (r *Registry) ownLocked(x *extension.Extension, id string) *entry {
	for _, e := range r.entries {
		if e.owner == x && e.definition.ID == id {
			return e
		}
	}
	return nil
}

// catalogLocked is what counts, by id.
func (r *Registry) catalogLocked() []*entry {
	var list []*entry
	for _, e := range r.entries {
		if r.liveLocked(e.definition.ID) == e {
			list = append(list, e)
		}
	}
	slices.SortFunc(list, func(a, b *entry) int { return cmp.Compare(a.definition.ID, b.definition.ID) })
	return list
}

// Providers are those that can be asked, by id. A provider found here goes on to stand for its id: once
// nobody serves that any more, a request is an error.
func (r *Registry) Providers() []model.Provider {
	r.mu.Lock()
	defer r.mu.Unlock()
	var list []model.Provider
	for _, e := range r.catalogLocked() {
		if e.owner.Opens(canonicalwire.MethodProviderStream) {
			list = append(list, &served{r, e.definition.ID})
		}
	}
	return list
}
