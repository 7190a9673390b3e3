package hooks

import (
	"context"
	"fmt"
	"slices"
	"sync"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/agent"
	"github.com/octet-dev/octet/host/extension"
)

// mutations remembers what was delivered, and whose it is.
type mutations struct {
	mu         sync.Mutex
	recent     []string // ids of the last mutations, the oldest first
	generation int64    // of the owner; what is answered for an older one is void
}

// take notes a mutation. It is false for one that was delivered already.
func (m *mutations) take(id string) (generation int64, fresh bool) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if slices.Contains(m.recent, id) {
		return m.generation, false
	}
	if len(m.recent) >= featurewire.MaxRememberedMutations {
		m.recent = m.recent[1:]
	}
	m.recent = append(m.recent, id)
	return m.generation, true
}

func (m *mutations) current() int64 {
	m.mu.Lock()
	defer m.mu.Unlock()
	return m.generation
}

// OwnerChanged voids the rescans that are being asked for: another session, or another configuration, is
// in force from now on.
func (s *Set) OwnerChanged() {
	s.mutations.mu.Lock()
	defer s.mutations.mu.Unlock()
	s.mutations.generation++
}

// PostMutation tells all extensions at once, 250 ms each, and joins the rescans that they ask for. A
// mutation is delivered once. Only resources that it names can be asked for.
func (s *Set) PostMutation(ctx context.Context, a agent.Scope, m agent.Mutation) []string {
	list := s.declaring(featurewire.HookPostMutation)
	generation, fresh := s.mutations.take(m.ID)
	if len(list) == 0 || !fresh {
		return nil
	}
	named := normalized(m.Resources)
	payload := featurewire.PostMutationPayload{
		MutationID: m.ID, Kind: featurewire.MutationKind(m.Kind), State: featurewire.MutationState(m.State),
		AffectedResources: named, Generation: generation,
	}
	answers := make([][]string, len(list))
	together(list, func(n int, x *extension.Extension) {
		r := s.ask(ctx, x, a, extension.HookRun{Hook: featurewire.HookPostMutation, Payload: payload})
		if r == nil {
			return
		}
		x.Tell(r.Notifications.Or(nil))
		if wish, ok := r.PostMutation.Get(); ok {
			if rescan, ok := wish.(featurewire.PostMutationRequestRescan); ok {
				answers[n] = s.disclosed(x, rescan.ResourceIDs, named)
			}
		}
	})
	if s.mutations.current() != generation {
		return nil
	}
	return coalesce(answers)
}

// disclosed keeps the resources of an answer that the mutation named.
func (s *Set) disclosed(x *extension.Extension, asked, named []string) []string {
	var kept []string
	for _, id := range asked {
		if slices.Contains(named, id) {
			kept = append(kept, id)
		} else {
			s.options.Diagnose(x, bounded(fmt.Sprintf("rescan of %q is ignored: the mutation did not name it", id)))
		}
	}
	return kept
}

// coalesce joins as many wishes as are kept, each resource once and ascending.
func coalesce(answers [][]string) []string {
	answers = slices.DeleteFunc(answers, func(ids []string) bool { return len(ids) == 0 })
	var all []string
	for _, ids := range answers[:min(len(answers), featurewire.MaxPendingRescans)] {
		all = append(all, ids...)
	}
	return normalized(all)
}

// normalized is a list in ascending order, each once; never nil.
func normalized(ids []string) []string {
	ids = append([]string{}, ids...)
	slices.Sort(ids)
	return slices.Compact(ids)
}
