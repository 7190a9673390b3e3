package task

import (
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/tool/builtin"
	"github.com/octet-dev/octet/process"
)

const (
	// gather is how long output is waited for before it is told, so that lines are told together.
	gather = 25 * time.Millisecond
	// maxDeltaBytes is the most that one event tells, and maxLiveBytes what all of one task tell. The rest is
	// there to be read.
	maxDeltaBytes = 32 << 10
	maxLiveBytes  = 1 << 20
	// drainGrace is how long the last output is waited for when the command has ended and others hold its pipe, and
	// slowGrace where only a slow reader keeps it.
	drainGrace = 250 * time.Millisecond
	slowGrace  = 5 * time.Second
)

// stages are how a task comes down, with all that it has started.
var stages = process.Stages{Terminate: time.Second, Kill: 2 * time.Second}

// worker is one task at work. Its own goroutine alone changes the record and tells events.
type worker struct {
	supervisor *Supervisor
	output     *output
	root       *os.Root
	stop       chan struct{} // closed to end it
	done       chan struct{} // closed when it has ended and that is told

	mu     sync.Mutex
	record Record
	ending oupwire.TaskRuntimeState // how it ends, once that is decided
	reason string
	silent bool // nothing is told any more

	told  int64 // bytes of the output
	quiet bool  // no more of it is told
	lost  bool  // and clients know
}

// now is the record as it is.
func (w *worker) now() Record {
	w.mu.Lock()
	defer w.mu.Unlock()
	return w.record
}

// end decides how the task ends, and has it end. It reports whether nobody had decided before.
func (w *worker) end(state oupwire.TaskRuntimeState, reason string) bool {
	if !w.decide(state, reason) {
		return false
	}
	close(w.stop)
	return true
}

// decide is won by the first.
//
// OUP-TASK-005, OUP-TASK-006.
func (w *worker) decide(state oupwire.TaskRuntimeState, reason string) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.ending != "" {
		return false
	}
	w.ending, w.reason = state, reason
	return true
}

func (w *worker) silence() {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.silent = true
}

// open makes room for the task and its files.
func (w *worker) open() (err error) {
	s, session := w.supervisor, w.record.Session
	if err := s.makeRoom(session); err != nil {
		return err
	}
	if w.root, err = s.shelf.Folder(session, w.record.ID+folderSuffix); err != nil {
		return err
	}
	if err = w.root.Mkdir(artifactFolder, 0o700); err == nil {
		w.output, err = openOutput(w.root)
	}
	if err != nil {
		return errors.Join(fmt.Errorf("task: %w", err), w.discard())
	}
	return nil
}

// announce stores and tells that the task is there.
func (w *worker) announce() error {
	err := w.supervisor.save(&w.record)
	if err == nil {
		err = w.supervisor.options.Tell(w.record.Session, oupwire.MethodTaskUpdated, w.record.Update())
	}
	return err
}

// discard removes what there is of a task that did not come to be.
func (w *worker) discard() error {
	s, session := w.supervisor, w.record.Session
	return errors.Join(w.root.Close(), s.shelf.Remove(session, w.record.ID+recordSuffix), s.shelf.RemoveFolder(session, w.record.ID+folderSuffix))
}

// change changes the record, stores it and tells it. It reports whether it is told.
func (w *worker) change(f func(*Record)) bool {
	w.mu.Lock()
	f(&w.record)
	w.record.Updated = w.supervisor.options.Now()
	r, silent := w.record, w.silent
	w.mu.Unlock()
	if silent {
		return false
	}
	if err := w.supervisor.keep(r); err != nil {
		w.supervisor.options.Log(fmt.Errorf("task %s: that it is %s is stored later: %w", r.ID, r.State, err))
	}
	return w.tell(oupwire.MethodTaskUpdated, r.Update())
}

// tell reports whether an event is told.
func (w *worker) tell(method string, event wirejson.Encoder) bool {
	w.mu.Lock()
	silent := w.silent
	w.mu.Unlock()
	if silent {
		return false
	}
	if err := w.supervisor.options.Tell(w.record.Session, method, event); err != nil {
		w.supervisor.options.Log(fmt.Errorf("task %s: %s is not told: %w", w.record.ID, method, err))
		if later := w.supervisor.options.Later; later != nil && method == oupwire.MethodTaskUpdated {
			later(w.record.Session, method, event) // its output can be asked for
		}
		return false
	}
	return true
}

// hush tells no more of the output from now on.
func (w *worker) hush() {
	w.quiet = true
	w.mu.Lock()
	defer w.mu.Unlock()
	w.record.Detail = fmt.Sprintf("output from byte %d on is not told; read it with %s", w.told, oupwire.MethodTaskOutputRead)
}

// lose says that output was not told.
func (w *worker) lose() {
	if lost := w.supervisor.options.Lost; lost != nil && w.quiet && !w.lost {
		w.lost = true
		lost(w.record.Session)
	}
}

// run carries the task from its start to its end.
func (w *worker) run() {
	defer w.supervisor.strikeOff(w)
	defer func() { _ = w.root.Close() }()
	summary := "it could not be started"
	p, err := w.launch()
	if err != nil {
		w.decide(oupwire.TaskRuntimeStateFailed, err.Error())
	} else {
		w.change(func(r *Record) { r.State = oupwire.TaskRuntimeStateRunning })
		state := w.attend(p)
		summary = state.String()
		if state.Code == 0 && state.Signal == "" {
			w.decide(oupwire.TaskRuntimeStateCompleted, "")
		}
		w.decide(oupwire.TaskRuntimeStateFailed, summary)
	}
	if err := w.output.finish(); err != nil {
		w.supervisor.options.Log(fmt.Errorf("task %s: a part of the output is lost: %w", w.record.ID, err))
		summary += "; a part of the output is lost: " + err.Error()
	}
	w.tellOutput()
	found := artifacts(w.root)
	told := w.change(func(r *Record) {
		r.State, r.Error, r.Summary, r.Artifacts = w.ending, w.reason, summary, found
		r.Ended = w.supervisor.options.Now()
	})
	if told {
		w.lose()
	}
}

// launch starts the command, unless its end is decided already.
func (w *worker) launch() (*process.Process, error) {
	select {
	case <-w.stop:
		return nil, errors.New("it was ended before it began")
	default:
	}
	o := w.supervisor.options
	tag := "OCTET_COMMAND=" + rand.Text()
	folder, err := filepath.Abs(w.root.Name())
	if err != nil {
		return nil, err
	}
	p, err := process.Start(process.Options{
		Path: o.Shell, Args: builtin.ShellWords(w.record.Command), Dir: w.record.Workspace, Tag: tag,
		Env: append(append([]string{}, o.Env...), artifactVariable+"="+filepath.Join(folder, artifactFolder), tag),
	})
	if err != nil {
		return nil, err
	}
	_ = p.Stdin().Close() // there is no input
	return p, nil
}

// attend takes what the command writes until it ends or must end. Nothing of it is left running.
func (w *worker) attend(p *process.Process) process.State {
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		// Its end is all that matters: EOF, or closed by End.
		_, _ = io.Copy(w.output, p.Stdout())
	}()
	exited, ended := p.Exited(), drained
	var late, due <-chan time.Time // the pipe is given up; output is told
	for running := true; running; {
		select {
		case <-w.output.grown:
			if due == nil {
				due = time.After(gather)
			}
		case <-due:
			due = nil
			w.tellOutput()
		case <-exited:
			exited, late = nil, time.After(grace(p.Descendants()))
			running = ended != nil
		case <-ended:
			ended = nil
			running = exited != nil
		case <-late:
			running = false
		case <-w.stop:
			running = false
		}
	}
	report := p.End(stages)
	<-drained
	return report.State
}

// grace is how long the last output of a command is waited for that has ended, by how many it has left behind.
func grace(left int) time.Duration {
	if left == 0 {
		return slowGrace
	}
	return drainGrace
}

// tellOutput tells what is new in the output, up to the bound of what is told.
//
// OUP-TASK-030, OUP-TASK-031, OUP-TASK-032.
func (w *worker) tellOutput() {
	for !w.quiet {
		s, err := w.output.read(w.told, maxDeltaBytes)
		if err != nil {
			w.supervisor.options.Log(err)
			return
		}
		if s.From != w.told || s.Next > maxLiveBytes {
			w.hush()
			if w.change(func(*Record) {}) {
				w.lose()
			}
			return
		}
		if s.Text == "" {
			return
		}
		told := w.tell(oupwire.MethodTaskOutputDelta, oupwire.TaskOutputDeltaEvent{
			SessionID: oupwire.SessionKey(w.record.Session), Topic: topic(w.record.Session), TaskID: oupwire.TaskId(w.record.ID),
			Cursor: oupwire.OutputCursor{Offset: s.From}, Text: s.Text,
		})
		if !told { // nobody is told to open anew while nothing can be stored: the end of the task says so
			w.hush()
			return
		}
		w.told = s.Next
	}
}
