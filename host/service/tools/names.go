package tools

import (
	"fmt"
	"slices"
	"sync"

	"github.com/octet-dev/octet/host/extension"
)

// Names are the names of tools that are taken, by the host or by an extension. Two generations of one
// extension may have the same name: one is about to replace the other.
type Names struct {
	mu    sync.Mutex
	host  map[string]bool                          // under mu
	taken map[string]map[*extension.Extension]bool // under mu
}

// NewNames returns a register with the names of the host's own tools.
func NewNames(host ...string) *Names {
	n := &Names{host: map[string]bool{}, taken: map[string]map[*extension.Extension]bool{}}
	for _, name := range host {
		n.host[name] = true
	}
	return n
}

// reservation is what one change has taken anew.
type reservation struct {
	from  *Names
	x     *extension.Extension
	fresh []string
}

// giveBack undoes the reservation.
func (r reservation) giveBack() {
	r.from.mu.Lock()
	defer r.from.mu.Unlock()
	for _, name := range r.fresh {
		r.from.dropLocked(r.x, name)
	}
}

// add reserves one name.
func (n *Names) add(x *extension.Extension, name string) error {
	_, err := n.reserve(x, []string{name})
	return err
}

// reserve takes all of the names or none.
func (n *Names) reserve(x *extension.Extension, names []string) (reservation, error) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for _, name := range names {
		if n.host[name] {
			return reservation{}, fmt.Errorf("tool %q is one of the host; choose another name", name)
		}
		for other := range n.taken[name] {
			if other != x && other.Name() != x.Name() {
				return reservation{}, fmt.Errorf("tool %q is one of the extension %q; choose another name", name, other.Name())
			}
		}
	}
	r := reservation{from: n, x: x}
	for _, name := range names {
		if n.taken[name][x] {
			continue
		}
		if n.taken[name] == nil {
			n.taken[name] = map[*extension.Extension]bool{}
		}
		n.taken[name][x] = true
		r.fresh = append(r.fresh, name)
	}
	return r, nil
}

// keep gives back what a generation has beyond the names.
func (n *Names) keep(x *extension.Extension, names []string) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for name, by := range n.taken {
		if by[x] && !slices.Contains(names, name) {
			n.dropLocked(x, name)
		}
	}
}

// release gives back all that a generation has.
func (n *Names) release(x *extension.Extension) { n.keep(x, nil) }

func (n *Names) dropLocked(x *extension.Extension, name string) {
	delete(n.taken[name], x)
	if len(n.taken[name]) == 0 {
		delete(n.taken, name)
	}
}
