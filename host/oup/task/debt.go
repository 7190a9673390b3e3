package task

import (
	"sync"
	"time"
)

const (
	// firstRetry is how long a record waits that could not be stored; each time that fails again doubles it, up to
	// lastRetry.
	firstRetry = time.Second
	lastRetry  = 16 * time.Second
)

// debts are records that could not be stored. They are what their tasks are until they are on disk, where an older one
// stands meanwhile.
type debts struct {
	// paying is held by whoever pays or forgives, and shared by tasks that store what they are: nothing older comes
	// behind something newer.
	paying sync.RWMutex

	mu      sync.Mutex
	records map[string]map[string]Record // by session and id
	delay   time.Duration                // of the attempt that is planned; 0 while none is
	stop    func() bool                  // takes that attempt back
	closed  bool
}

// keep stores what a task is. If that fails, it is tried again until it is on disk or the supervisor is closed.
func (s *Supervisor) keep(r Record) error {
	d := &s.debts
	d.paying.RLock()
	defer d.paying.RUnlock()
	err := s.save(&r)
	d.mu.Lock()
	defer d.mu.Unlock()
	if err == nil {
		d.drop(r.Session, r.ID)
		return nil
	}
	if d.records[r.Session] == nil {
		d.records[r.Session] = map[string]Record{}
	}
	d.records[r.Session][r.ID] = r
	if d.delay == 0 && !d.closed {
		s.plan(firstRetry)
	}
	return err
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

// plan has debts tried again. The caller holds the lock of the debts.
func (s *Supervisor) plan(delay time.Duration) {
	s.debts.delay = delay
	s.debts.stop = s.options.After(delay, s.retry)
}

// retry stores what can be stored, and is planned again for the rest.
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
	d.mu.Lock()
	defer d.mu.Unlock()
	switch {
	case d.closed:
	case len(d.records) == 0:
		d.delay = 0
	default:
		s.plan(min(2*d.delay, lastRetry))
	}
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
	if d.delay != 0 {
		d.stop()
	}
	d.mu.Unlock()
	d.paying.Lock()
	defer d.paying.Unlock()
	return s.pay()
}
