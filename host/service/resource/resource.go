// Package resource keeps the native resources of extensions: what a process holds for a session, such as an
// open browser page, named by a reference that results may carry and later calls may take in.
//
// A reference is provisional until the call that registered it has succeeded. A call that takes a resource in
// has it alone, from before it is sent until it is settled, whatever becomes of it in between. Nothing of it
// outlives its process or its owner. Source: sheet feature 12.9.
package resource

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"sync"
	"time"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/runtime/peer"
)

// state is how far the life of a resource has come.
type state int

const (
	provisional state = iota
	active
	retired // cleanup says what became of it
)

// record is one resource.
type record struct {
	ref     featurewire.ResourceRef
	owner   extension.Owner
	maker   *extension.HostCall // the call that registered it
	pinned  *extension.HostCall // the call that has it, nil for none
	state   state
	cleanup featurewire.ResourceCleanup
}

// generation is what one process holds.
type generation struct {
	records map[string]*record // by token
	order   []string           // tokens, oldest first
}

// Service keeps the resources of all processes. Make it with New.
type Service struct {
	mu      sync.Mutex
	held    map[*extension.Extension]*generation
	cleaner sync.WaitGroup
}

// New returns a service that holds nothing.
func New() *Service { return &Service{held: map[*extension.Extension]*generation{}} }

// Binding serves the requests and watches over the calls.
func (s *Service) Binding() extension.Binding {
	return extension.Binding{
		Features: []string{featurewire.FeatureResourceRefsV1, featurewire.FeatureOperationDescriptorsV1},
		Requests: map[string]extension.Handler{
			featurewire.MethodResourceRegister: s.register,
			featurewire.MethodResourceRelease:  s.release,
		},
		Dispatch: s.dispatch,
		Ended: func(x *extension.Extension) {
			s.mu.Lock()
			defer s.mu.Unlock()
			delete(s.held, x)
		},
	}
}

// Close waits for the cleaning up that is going on.
func (s *Service) Close() { s.cleaner.Wait() }

// ofLocked returns what a process holds.
func (s *Service) ofLocked(x *extension.Extension) *generation {
	g := s.held[x]
	if g == nil {
		g = &generation{records: map[string]*record{}}
		s.held[x] = g
	}
	return g
}

func (s *Service) register(_ context.Context, r *extension.Incoming) (peer.Value, error) {
	p, err := featurewire.DecodeResourceRegisterParams(r.Params)
	switch {
	case err != nil:
		return nil, extension.RefuseMalformed(err.Error())
	case r.Owner.IsZero():
		return nil, extension.RefuseOwner("no session owns the call")
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.ofLocked(r.Extension)
	registered := 0
	for _, each := range g.records {
		if each.maker == r.Parent {
			registered++
		}
	}
	if registered >= featurewire.MaxResourceRegistrations {
		return nil, extension.RefuseBounds(fmt.Sprintf("the call has registered its %d resources", featurewire.MaxResourceRegistrations))
	}
	if len(g.records) >= featurewire.MaxResources && !g.forgetOne() {
		return nil, extension.RefuseBounds(fmt.Sprintf("the process has its %d resources; release some", featurewire.MaxResources))
	}
	each := &record{ref: featurewire.ResourceRef{Resource: rand.Text(), Type: p.Type}, owner: r.Owner, maker: r.Parent}
	g.records[each.ref.Resource] = each
	g.order = append(g.order, each.ref.Resource)
	return each.ref, nil
}

// forgetOne drops the oldest resource that is cleaned up, and reports whether there was one.
func (g *generation) forgetOne() bool {
	for i, token := range g.order {
		if each := g.records[token]; each.state == retired && each.cleanup != featurewire.ResourceCleanupPending {
			delete(g.records, token)
			g.order = append(g.order[:i], g.order[i+1:]...)
			return true
		}
	}
	return false
}

var (
	errForeign = errors.New("the resource is not one of this process and session")
	errRetired = errors.New("the resource is retired")
)

// findLocked returns the resource of a reference, in whatever state it is.
func (s *Service) findLocked(x *extension.Extension, owner extension.Owner, ref featurewire.ResourceRef) (*record, error) {
	each := s.ofLocked(x).records[ref.Resource]
	if each == nil || each.owner != owner || each.ref.Type != ref.Type {
		return nil, errForeign
	}
	return each, nil
}

func (s *Service) release(_ context.Context, r *extension.Incoming) (peer.Value, error) {
	p, err := featurewire.DecodeResourceReleaseParams(r.Params)
	if err != nil {
		return nil, extension.RefuseMalformed(err.Error())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	each, err := s.findLocked(r.Extension, r.Owner, p.Resource)
	switch {
	case err != nil:
		return nil, extension.RefuseOwner(err.Error())
	case each.pinned != nil:
		return nil, extension.RefuseBusy("a call has the resource; release it behind its end")
	case each.state != retired:
		s.retireLocked(r.Extension, []*record{each})
	}
	return featurewire.ResourceReleaseResult{Retired: true, Cleanup: each.cleanup}, nil
}

// RetireOwner lets go of everything that any process holds for a session, because it is not served any more.
// What a call has is let go when it is settled.
func (s *Service) RetireOwner(session string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for x, g := range s.held {
		var list []*record
		for _, token := range g.order {
			if each := g.records[token]; each.owner.SessionID == session && each.state != retired {
				list = append(list, each)
			}
		}
		s.retireLocked(x, list)
	}
}

// retireLocked makes resources unusable and has the process clean up those that no call has.
func (s *Service) retireLocked(x *extension.Extension, list []*record) {
	var free []*record
	for _, each := range list {
		each.state, each.cleanup = retired, featurewire.ResourceCleanupPending
		if each.pinned == nil {
			free = append(free, each)
		}
	}
	s.cleanLocked(x, free)
}

// cleanTimeout bounds how long a process may take to let resources go.
const cleanTimeout = featurewire.RequestTimeoutMs * time.Millisecond

// cleanLocked has the process let go, without waiting for it.
func (s *Service) cleanLocked(x *extension.Extension, list []*record) {
	if len(list) == 0 {
		return
	}
	refs := make([]featurewire.ResourceRef, len(list))
	for i, each := range list {
		refs[i] = each.ref
	}
	s.cleaner.Add(1)
	go func() {
		defer s.cleaner.Done()
		statuses, err := dispose(x, refs)
		s.mu.Lock()
		defer s.mu.Unlock()
		unknown := false
		for _, each := range list {
			each.cleanup = statuses[each.ref]
			if each.cleanup == "" {
				each.cleanup, unknown = featurewire.ResourceCleanupUnknown, true
			}
		}
		if unknown {
			why := "it did not say so"
			if err != nil {
				why = err.Error()
			}
			x.Terminate("it is unknown whether resources were cleaned up: " + why)
		}
	}()
}

// dispose asks a process to let resources go and returns what it says of each.
func dispose(x *extension.Extension, refs []featurewire.ResourceRef) (map[featurewire.ResourceRef]featurewire.ResourceCleanup, error) {
	answer, err := x.Do(context.Background(), extension.Ask{
		Method: featurewire.MethodResourceDispose, Params: featurewire.ResourceDisposeParams{Resources: refs}, Timeout: cleanTimeout,
	})
	if err != nil {
		return nil, err
	}
	result, err := featurewire.DecodeResourceDisposeResult(answer)
	if err != nil {
		return nil, err
	}
	statuses := map[featurewire.ResourceRef]featurewire.ResourceCleanup{}
	for _, each := range result.Results {
		switch each.Status {
		case featurewire.DisposeStatusCompleted:
			statuses[each.Resource] = featurewire.ResourceCleanupCompleted
		case featurewire.DisposeStatusFailed:
			statuses[each.Resource] = featurewire.ResourceCleanupFailed
		}
	}
	return statuses, nil
}
