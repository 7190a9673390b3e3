package extension

import (
	"reflect"
	"sync"
)

// mostOwners bounds the owners that are remembered: behind them the one that was asked for longest ago is
// forgotten.
const mostOwners = 256

// memory holds values by owner.
type memory struct {
	mu     sync.Mutex
	owners map[Owner]*remembered
	clock  uint64
}

type remembered struct {
	values  map[reflect.Type]any
	session string // what the host calls the session of the owner
	used    uint64
}

// Memory returns the value of type T that belongs to the owner of a scope, made by fresh when there is none:
// the same one for the same triple of session, instance and generation, and none of another. It is dropped
// when another instance or generation of the session shows up, and when the session settles. Scopes without an
// owner share the value of the process. What is inside the value, the caller guards.
func Memory[T any](in Scoped, fresh func() T) T {
	s := in.scope()
	owner := Owner{}
	if o := s.context.Owner; o != nil {
		owner = *o
	}
	m := &s.server.memory
	m.mu.Lock()
	defer m.mu.Unlock()
	r := m.rowLocked(owner)
	r.session = s.context.SessionID
	key := reflect.TypeFor[T]()
	value, known := r.values[key].(T)
	if !known {
		value = fresh()
		r.values[key] = value
	}
	return value
}

// rowLocked returns what is remembered of an owner and forgets those it replaces.
func (m *memory) rowLocked(owner Owner) *remembered {
	m.clock++
	if r := m.owners[owner]; r != nil {
		r.used = m.clock
		return r
	}
	if m.owners == nil {
		m.owners = map[Owner]*remembered{}
	}
	oldest := owner
	for other, r := range m.owners {
		if other.SessionID == owner.SessionID {
			delete(m.owners, other)
		} else if oldest == owner || r.used < m.owners[oldest].used {
			oldest = other
		}
	}
	if len(m.owners) >= mostOwners {
		delete(m.owners, oldest)
	}
	r := &remembered{values: map[reflect.Type]any{}, used: m.clock}
	m.owners[owner] = r
	return r
}

// forget drops what is remembered of one owner.
func (m *memory) forget(owner Owner) {
	m.mu.Lock()
	defer m.mu.Unlock()
	delete(m.owners, owner)
}

// forgetSession drops what is remembered of the owners of a session, by either of the names that the host has
// for it.
func (m *memory) forgetSession(session string) {
	m.mu.Lock()
	defer m.mu.Unlock()
	for owner, r := range m.owners {
		if session != "" && (owner.SessionID == session || r.session == session) {
			delete(m.owners, owner)
		}
	}
}
