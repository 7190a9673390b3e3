// Package campaign is what campaigns against whole hosts have in common: waiting for a fleet that is in service again, and the
// processes that belong to a run.
package campaign

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/octet-dev/octet/host/supervise"
)

// pause lies between two looks at an extension, which tells nobody when it is in service.
const pause = 2 * time.Millisecond

// AwaitService waits until nothing runs and every extension is in service, reloading what is parked. The error names
// those that are not when the time is over.
func AwaitService(fleet *supervise.Fleet, within time.Duration) error {
	late := time.Now().Add(within)
	var trouble error
	for _, s := range fleet.Status() {
		for {
			s = fleet.Get(s.Name).Status()
			if s.State == supervise.Ready && s.Pending == 0 {
				break
			}
			if time.Now().After(late) {
				trouble = errors.Join(trouble, fmt.Errorf("%s is %s with %d pending: %s", s.Name, s.State, s.Pending, s.LastError))
				break
			}
			if s.State == supervise.Parked {
				fleet.Reload(context.Background(), s.Name)
			}
			time.Sleep(pause)
		}
	}
	return trouble
}
