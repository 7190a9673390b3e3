package task

import (
	"sync"

	"github.com/octet-dev/octet/host/oup/again"
)

// debts are records that could not be stored. They are what their tasks are until they are on disk, where an older one
// stands meanwhile.
type debts struct {
	// paying is held by whoever pays or forgives, and shared by tasks that store what they are: nothing older comes
	// behind something newer.
	paying sync.RWMutex

	mu      sync.Mutex
	records map[string]map[string]Record // by session and id
	closed  bool

	plan again.Plan // its lock is taken in front of the last one
}

// keep stores what a task is. If that fails, it is tried again until it is on disk or the supervisor is closed.
func (s *Supervisor) keep(r Record) error {
	d := &s.debts
	d.paying.RLock()
	defer d.paying.RUnlock()
	err := s.save(&r)
	d.mu.Lock()
	if err == nil {
		d.drop(r.Session, r.ID)
	} else {
		if d.records[r.Session] == nil {
			d.records[r.Session] = map[string]Record{}
		}
		d.records[r.Session][r.ID] = r
	}
	d.mu.Unlock()
	if err != nil {
		d.plan.Want()
	}
	return err
}

// left reports whether anything is owed.
func (d *debts) left() bool {
	d.mu.Lock()
	defer d.mu.Unlock()
	return len(d.records) > 0
}

// owed is what a task is whose record is not on disk.
func (s *Supervisor) owed(session, id string) (Record, bool) {
	s.debts.mu.Lock()
	defer s.debts.mu.Unlock()
	r, is := s.debts.records[session][id]
	return r, is
}

// drop takes a record out. The caller holds the lock.
func (d *debts) drop(session, id string) {
	if delete(d.records[session], id); len(d.records[session]) == 0 {
		delete(d.records, session)
	}
}

// forgive drops what is owed of a task, or of all of a session where id is empty, once nobody is storing it.
func (s *Supervisor) forgive(session, id string) {
	d := &s.debts
	d.paying.Lock()
	defer d.paying.Unlock()
	d.mu.Lock()
	defer d.mu.Unlock()
	if id == "" {
		delete(d.records, session)
		return
	}
	d.drop(session, id)
}

// retry stores what can be stored.
func (s *Supervisor) retry() {
	d := &s.debts
	d.paying.Lock()
	defer d.paying.Unlock()
	d.mu.Lock()
	closed := d.closed
	d.mu.Unlock()
	if closed {
		return
	}
	_ = s.pay() // whoever owes it has said why
}

// pay stores what is owed, and returns why something could not be. The caller has paying for itself.
func (s *Supervisor) pay() (failed error) {
	d := &s.debts
	d.mu.Lock()
	var owed []Record
	for _, records := range d.records {
		for _, r := range records {
			owed = append(owed, r)
		}
	}
	d.mu.Unlock()
	for _, r := range owed {
		err := s.save(&r)
		if err != nil {
			failed = err
			continue
		}
		d.mu.Lock()
		d.drop(r.Session, r.ID)
		d.mu.Unlock()
	}
	return failed
}

// settle stores what is owed for a last time: the disk may have room again.
func (s *Supervisor) settle() error {
	d := &s.debts
	d.mu.Lock()
	d.closed = true
	d.mu.Unlock()
	d.plan.Close()
	d.paying.Lock()
	defer d.paying.Unlock()
	return s.pay()
}
