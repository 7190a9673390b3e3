package extension

import (
	"time"

	"github.com/octet-dev/octet/generated/featurewire"
)

// tombstones are the ids of requests of the host that were cancelled, for as long as the wire remembers
// them: nothing is admitted on their behalf.
//
// Source: sheet 13.3, 14.3.
type tombstones struct {
	list []tombstone // the oldest first
}

type tombstone struct {
	id    int64
	until time.Time
}

// add remembers an id; the oldest one is forgotten where there are too many.
func (t *tombstones) add(id int64) {
	t.expire()
	if len(t.list) >= featurewire.MaxTombstones {
		t.list = t.list[1:]
	}
	t.list = append(t.list, tombstone{id, time.Now().Add(featurewire.TombstoneMs * time.Millisecond)})
}

// holds reports whether an id is remembered.
func (t *tombstones) holds(id int64) bool {
	t.expire()
	for _, stone := range t.list {
		if stone.id == id {
			return true
		}
	}
	return false
}

func (t *tombstones) expire() {
	now := time.Now()
	for len(t.list) > 0 && !now.Before(t.list[0].until) {
		t.list = t.list[1:]
	}
}
