package task

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/oup/again"
	"github.com/octet-dev/octet/host/oup/shelf"
	"github.com/octet-dev/octet/host/tool/builtin"
)

const (
	maxAtWork = 16  // tasks of a session that run at once
	maxKept   = 256 // tasks of a session that are remembered; the oldest that ended make room
	// maxRecordBytes bounds what is kept of a task beside its output; commands are no longer than that.
	maxRecordBytes  = 4 << 20
	maxCommandBytes = 1 << 20
	maxTitleBytes   = 256

	recordSuffix = ".json"
	folderSuffix = ".files"
)

// Options say how tasks are run. Directory and Tell are required.
type Options struct {
	// Directory is where tasks and what they write are kept.
	Directory string
	// Tell appends an event to what the clients of a session are told, and returns when it is stored. It is
	// called for the events of one task one after the other.
	Tell func(session, method string, event wirejson.Encoder) error
	// Later takes over what a task has come to where Tell failed, to tell it once that can be done; nil: it is not told.
	Later func(session, method string, event wirejson.Encoder)
	// Lost says to whoever is connected that output of a session's task is there to be read and was not told; nil:
	// nobody is told.
	Lost func(session string)
	// Env is the environment of commands; nil: that of this program, without what commands do not need.
	Env []string
	// Shell runs commands; empty: that of the system.
	Shell string
	// Now is the clock; nil: time.Now.
	Now func() time.Time
	// After calls a function later, and returns what takes that back; nil: time.AfterFunc.
	After func(time.Duration, func()) (stop func() bool)
	// Log takes what goes wrong without anybody to tell; nil drops it.
	Log func(error)
}

// Supervisor runs the tasks of all sessions of a server. Its methods may be called from any goroutine.
type Supervisor struct {
	options Options
	shelf   *shelf.Shelf
	debts   debts

	mu      sync.Mutex
	closed  bool
	working map[string]map[string]*worker // by session and id
	running sync.WaitGroup
}

// Open opens the tasks of a directory. Those that were at work when the last server died have failed.
//
// OUP-TASK-034.
func Open(o Options) (*Supervisor, error) {
	if o.Env == nil {
		o.Env = builtin.Environment(os.Environ())
	}
	o.Shell = cmp.Or(o.Shell, builtin.DefaultShell())
	if o.Now == nil {
		o.Now = time.Now
	}
	if o.Log == nil {
		o.Log = func(error) {}
	}
	kept, err := shelf.Open(o.Directory)
	if err != nil {
		return nil, err
	}
	s := &Supervisor{options: o, shelf: kept, working: map[string]map[string]*worker{}}
	s.debts.records = map[string]map[string]Record{}
	s.debts.plan = again.Plan{Try: s.retry, Left: s.debts.left, After: o.After}
	if err := s.settleOrphans(); err != nil {
		s.debts.plan.Close()
		return nil, errors.Join(err, kept.Close())
	}
	return s, nil
}

func (s *Supervisor) settleOrphans() error {
	owners, err := s.shelf.Owners()
	if err != nil {
		return err
	}
	for _, session := range owners {
		records, err := s.stored(session)
		if err != nil {
			return err
		}
		for _, r := range records {
			if r.Terminal() {
				continue
			}
			r.State, r.Error, r.Summary = oupwire.TaskRuntimeStateFailed, orphaned, "the server died while it ran"
			r.Updated = s.options.Now()
			r.Ended = r.Updated
			if root, err := s.shelf.Folder(session, r.ID+folderSuffix); err == nil {
				r.Artifacts = artifacts(root)
				_ = root.Close()
			}
			s.settleOrphan(r)
		}
	}
	return nil
}

// settleOrphan stores and tells the end of a task. Where the disk takes neither now, both come later: whoever asks is
// answered meanwhile as if they were there.
func (s *Supervisor) settleOrphan(r *Record) {
	if err := s.keep(*r); err != nil {
		s.options.Log(fmt.Errorf("the end of task %s is stored later: %w", r.ID, err))
	}
	if err := s.options.Tell(r.Session, oupwire.MethodTaskUpdated, r.Update()); err != nil {
		s.options.Log(fmt.Errorf("the end of task %s is told later: %w", r.ID, err))
		if s.options.Later != nil {
			s.options.Later(r.Session, oupwire.MethodTaskUpdated, r.Update())
		}
	}
}

// stored reads the records of a session, oldest first. One that is damaged is told to the log and left out.
func (s *Supervisor) stored(session string) ([]*Record, error) {
	names, err := s.shelf.Names(session)
	if err != nil {
		return nil, err
	}
	var records []*Record
	for _, name := range names {
		id, ok := strings.CutSuffix(name, recordSuffix)
		if !ok {
			continue
		}
		switch r, err := s.load(session, id); {
		case err == nil:
			records = append(records, r)
		case !errors.Is(err, ErrUnknown):
			s.options.Log(err)
		}
	}
	return records, nil
}

func (s *Supervisor) load(session, id string) (*Record, error) {
	data, err := s.shelf.Get(session, id+recordSuffix, maxRecordBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrUnknown
	}
	if err != nil {
		return nil, err
	}
	var r Record
	if err := json.Unmarshal(data, &r); err != nil || r.ID != id || r.Session != session {
		return nil, fmt.Errorf("task %s: the stored record is damaged: %w", id, err)
	}
	return &r, nil
}

// known is what a task is that is not at work. The error is ErrUnknown where the session has none with that id.
func (s *Supervisor) known(session, id string) (*Record, error) {
	if r, is := s.owed(session, id); is {
		return &r, nil
	}
	return s.load(session, id)
}

func (s *Supervisor) save(r *Record) error {
	data, err := json.Marshal(r)
	if err != nil {
		return fmt.Errorf("task %s: %w", r.ID, err)
	}
	return s.shelf.Put(r.Session, r.ID+recordSuffix, data)
}

// Start starts a task and returns its record, which says pending. A *BusyError where the session has as many at
// work as it may.
func (s *Supervisor) Start(spec Spec) (Record, error) { return s.start(spec, "") }

func (s *Supervisor) start(spec Spec, from string) (Record, error) {
	if strings.TrimSpace(spec.Command) == "" || strings.ContainsRune(spec.Command, 0) || len(spec.Command) > maxCommandBytes {
		return Record{}, fmt.Errorf("a command is text of 1 to %d bytes without a zero byte", maxCommandBytes)
	}
	if spec.Title = strings.Join(strings.Fields(cmp.Or(spec.Title, spec.Command)), " "); len(spec.Title) > maxTitleBytes {
		spec.Title = strings.ToValidUTF8(spec.Title[:maxTitleBytes], "")
	}
	id, err := uuid.NewV7()
	if err != nil {
		return Record{}, fmt.Errorf("task: %w", err)
	}
	now := s.options.Now()
	w := &worker{supervisor: s, stop: make(chan struct{}), done: make(chan struct{}), record: Record{
		ID: id.String(), Spec: spec, State: oupwire.TaskRuntimeStatePending, Started: now, Updated: now, RelaunchedFrom: from,
	}}
	if err := w.open(); err != nil {
		return Record{}, err
	}
	if err := s.register(w); err != nil {
		return Record{}, errors.Join(err, w.discard())
	}
	pending := w.record
	if err := w.announce(); err != nil {
		s.strikeOff(w)
		return Record{}, errors.Join(err, w.discard())
	}
	go w.run()
	return pending, nil
}

// register counts the task in, so that Close waits for it.
func (s *Supervisor) register(w *worker) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	session := w.record.Session
	switch {
	case s.closed:
		return ErrClosed
	case s.atWork(session) >= maxAtWork:
		return &BusyError{Most: maxAtWork}
	case s.working[session] == nil:
		s.working[session] = map[string]*worker{}
	}
	s.working[session][w.record.ID] = w
	s.running.Add(1)
	return nil
}

// atWork counts the tasks of a session that have not ended. The caller has the lock.
func (s *Supervisor) atWork(session string) (n int) {
	for _, w := range s.working[session] {
		if r := w.now(); !r.Terminal() {
			n++
		}
	}
	return n
}

// strikeOff is the end of a worker.
func (s *Supervisor) strikeOff(w *worker) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if delete(s.working[w.record.Session], w.record.ID); len(s.working[w.record.Session]) == 0 {
		delete(s.working, w.record.Session)
	}
	close(w.done)
	s.running.Done()
}

func (s *Supervisor) worker(session, id string) *worker {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.working[session][id]
}

// List lists the tasks of a session, oldest first.
func (s *Supervisor) List(session string) ([]Record, error) {
	stored, err := s.stored(session)
	if err != nil {
		return nil, err
	}
	var list []Record
	for _, r := range stored {
		if w := s.worker(session, r.ID); w != nil {
			*r = w.now()
		} else if owed, is := s.owed(session, r.ID); is {
			*r = owed
		}
		list = append(list, *r)
	}
	return list, nil
}

// Get returns a task. The error is ErrUnknown where the session has none with that id.
func (s *Supervisor) Get(session, id string) (Record, error) {
	id = strings.ToLower(id)
	if w := s.worker(session, id); w != nil {
		return w.now(), nil
	}
	r, err := s.known(session, id)
	if err != nil {
		return Record{}, err
	}
	return *r, nil
}

// Cancel ends a task with everything it has started, and returns when nothing of it is left and its end is
// told. ErrEnded where it has ended before.
//
// OUP-TASK-006, OUP-TASK-008, OUP-TASK-009.
func (s *Supervisor) Cancel(session, id string) (Record, error) {
	id = strings.ToLower(id)
	w := s.worker(session, id)
	if w == nil {
		if _, err := s.known(session, id); err != nil {
			return Record{}, err
		}
		return Record{}, ErrEnded
	}
	if !w.end(oupwire.TaskRuntimeStateCancelled, "") {
		<-w.done // its end is told first
		return Record{}, ErrEnded
	}
	<-w.done
	return w.now(), nil
}

// Restart starts an ended task again, as another one.
//
// OUP-TASK-011 to OUP-TASK-015.
func (s *Supervisor) Restart(session, id string) (Record, error) {
	id = strings.ToLower(id)
	if w := s.worker(session, id); w != nil {
		if r := w.now(); !r.Terminal() {
			return Record{}, ErrStillActive
		}
		<-w.done // whoever is told its end may come at once
	}
	r, err := s.known(session, id)
	if err != nil {
		return Record{}, err
	}
	spec := r.Spec
	spec.Source = oupwire.TaskSourceUser
	return s.start(spec, r.ID)
}

// Output reads a stretch of what a task wrote, of at most limit bytes, with the record as it is now.
func (s *Supervisor) Output(session, id string, from, limit int64) (Stretch, Record, error) {
	id = strings.ToLower(id)
	if w := s.worker(session, id); w != nil {
		// The record is the older one of the two: what it calls ended is complete.
		r := w.now()
		stretch, err := w.output.read(from, limit)
		if !errors.Is(err, os.ErrClosed) {
			return stretch, r, err
		}
		// It has just ended, and everything of it is on disk.
	}
	r, err := s.known(session, id)
	if err != nil {
		return Stretch{}, Record{}, err
	}
	root, err := s.shelf.Folder(session, id+folderSuffix)
	if err != nil {
		return Stretch{}, Record{}, err
	}
	defer func() { _ = root.Close() }()
	o, err := openOutput(root)
	if err != nil {
		return Stretch{}, Record{}, err
	}
	stretch, err := o.read(from, limit)
	return stretch, *r, err
}

// Artifact reads a stretch of a file that a task has left, named by its id or its handle. text is false where it
// is no readable text.
func (s *Supervisor) Artifact(session, id, artifact, handle string, from, limit int64) (a oupwire.TaskArtifactRecord, stretch Stretch, text bool, err error) {
	r, err := s.Get(session, id)
	if err != nil {
		return a, stretch, false, err
	}
	records := r.ArtifactRecords()
	at := slices.IndexFunc(records, func(a oupwire.TaskArtifactRecord) bool {
		if artifact != "" {
			return a.ID == artifact
		}
		return a.Path.Or("") == handle
	})
	if at < 0 {
		return a, stretch, false, ErrNoArtifact
	}
	root, err := s.shelf.Folder(session, r.ID+folderSuffix)
	if err != nil {
		return a, stretch, false, err
	}
	defer func() { _ = root.Close() }()
	stretch, text = readArtifact(root, records[at].Path.Or(""), from, limit)
	return records[at], stretch, text, nil
}

// Forget ends the tasks of a session and drops everything of them. Nothing is told.
func (s *Supervisor) Forget(session string) error {
	s.mu.Lock()
	workers := slices.Collect(maps.Values(s.working[session]))
	s.mu.Unlock()
	for _, w := range workers {
		w.silence()
		w.end(oupwire.TaskRuntimeStateCancelled, "")
		<-w.done
	}
	s.forgive(session, "")
	return s.shelf.Forget(session)
}

// Close ends every task and returns when nothing of them is left. They have failed, and that is told.
func (s *Supervisor) Close() error {
	s.mu.Lock()
	s.closed = true
	for _, workers := range s.working {
		for _, w := range workers {
			w.end(oupwire.TaskRuntimeStateFailed, shutDown)
		}
	}
	s.mu.Unlock()
	s.running.Wait()
	return errors.Join(s.settle(), s.shelf.Close())
}

// makeRoom drops the oldest tasks of a session that have ended.
func (s *Supervisor) makeRoom(session string) error {
	names, err := s.shelf.Names(session)
	if err != nil {
		return err
	}
	for excess := len(names) + 1 - maxKept; excess > 0 && len(names) > 0; names = names[1:] {
		id := strings.TrimSuffix(names[0], recordSuffix)
		if s.worker(session, id) != nil {
			continue
		}
		s.forgive(session, id)
		if err := errors.Join(s.shelf.Remove(session, names[0]), s.shelf.RemoveFolder(session, id+folderSuffix)); err != nil {
			return err
		}
		excess--
	}
	return nil
}
