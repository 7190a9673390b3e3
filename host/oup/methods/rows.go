// Package methods carries out the requests of clients: one short handler for each, which asks a session to do
// something or reads what it has. It has no state but the order of requests that take their time; what a request
// changes is told by the lanes.
package methods

import (
	"maps"

	"github.com/octet-dev/octet/host/oup/access"
	"github.com/octet-dev/octet/host/oup/house"
	"github.com/octet-dev/octet/host/oup/lane"
	"github.com/octet-dev/octet/host/oup/ledger"
	"github.com/octet-dev/octet/host/oup/preview"
	"github.com/octet-dev/octet/host/oup/rpc"
	"github.com/octet-dev/octet/host/oup/snapshot"
	"github.com/octet-dev/octet/host/oup/task"
)

// Rows are the handlers with what they work on.
type Rows struct {
	House  *house.House
	Ledger *ledger.Ledger
	Lanes  *lane.Book
	Gate   *access.Gate
	Events lane.Events
	Home   string // of the user; a tilde in a path stands for it
	Log    func(error)

	Tasks     *task.Supervisor
	Previews  *preview.Store
	Snapshots *snapshot.Store

	order order
}

// Handlers are the handlers by method.
func (r *Rows) Handlers() map[string]rpc.Handler {
	all := map[string]rpc.Handler{}
	for _, group := range []map[string]rpc.Handler{
		r.opening(), r.turns(), r.approvals(), r.listing(), r.reading(), r.hydrating(), r.statuses(), r.changing(), r.steering(),
		r.permissions(), r.workspaces(), r.tasking(),
	} {
		maps.Copy(all, group)
	}
	return all
}
