// Package steps is the vocabulary of the features: what a host does to an extension, and what it then
// expects. One file per noun.
//
// Scenarios share nothing. Each has a World with a fresh subject, its recording, its monitor and the
// one request that the next expectation is about.
package steps

import (
	"encoding/json"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"time"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/features/monitor"
	"github.com/octet-dev/octet/features/profile"
	"github.com/octet-dev/octet/features/schedule"
	"github.com/octet-dev/octet/features/services"
	"github.com/octet-dev/octet/features/subject"
	"github.com/octet-dev/octet/features/verdict"
	"github.com/octet-dev/octet/features/wire"
)

// Setup is what all scenarios of a run have in common. It is read only.
type Setup struct {
	Dialect   dialect.Dialect
	Extension dialect.Extension
	Starter   subject.Starter
	Profile   *profile.Profile // nil if there is none
	// NoCalls says why tools may not be called although no profile names a call; empty: they may.
	NoCalls string
	// HomeOnly says why the subject cannot be started in another directory; empty: it can.
	HomeOnly string
	Patience Patience
	// Omit says by its origin whether the host leaves a frame out of every scenario, and with it what is expected
	// of it; nil for none.
	Omit func(origin string) bool
	// Steps is how many steps of a scenario are taken; 0 for all.
	Steps int
	// Wrote is called with the origin of every frame that a step writes; nil for none.
	Wrote func(origin string)
	// Seed decides what a schedule leaves open.
	Seed int64

	// first is the result of initialize of a start of its own, made when it is first asked for.
	first func() (json.RawMessage, error)
}

// Learn prepares a setup to remember what the subject answers to initialize, so that scenarios that have
// nothing to judge start nothing. One that is prepared stays so.
func (s *Setup) Learn() {
	if s.first != nil {
		return
	}
	s.first = sync.OnceValues(func() (json.RawMessage, error) { return first(s) })
}

// first starts a subject only to see what it answers to initialize.
func first(s *Setup) (json.RawMessage, error) {
	w := NewWorld(s, "", nil)
	defer func() { w.Stop() }()
	err := w.ready()
	return w.result, err
}

// another is the result of initialize of another start than the scenario's.
func (w *World) another() (json.RawMessage, error) {
	if w.setup.first == nil {
		return first(w.setup)
	}
	return w.setup.first()
}

// Patience is how long the referee waits, already scaled to the machine.
type Patience struct {
	Initialize time.Duration // for the answer to initialize, start-up included
	Answer     time.Duration // for any other answer
	Grace      time.Duration // for the answer to shutdown or of a cancelled request, and for the exit behind shutdown
	End        time.Duration // for the process to end by itself in any other case
}

// DefaultPatience are the waits on a machine that starts a trivial process in good time.
var DefaultPatience = Patience{Initialize: 10 * time.Second, Answer: 5 * time.Second, Grace: 2 * time.Second, End: 4 * time.Second}

// hook is the wait for the answer to a session hook: four times what a host grants, so that only an extension
// that is late by itself fails, and no busy machine.
func (p Patience) hook() time.Duration { return p.Answer / 5 }

// moment is the wait for an answer that must not come. It is shorter than any call that is said to run for long.
func (p Patience) moment() time.Duration { return min(p.Answer/16, time.Second) }

// reading is how much longer the wait for an answer is because the subject has so much to read first: as long
// again for each MiB, which the slowest parser has, and still a bound.
func (p Patience) reading(bytes int) time.Duration {
	return time.Duration(float64(p.Answer) * float64(bytes) / (1 << 20))
}

// Scale multiplies every wait.
func (p Patience) Scale(factor float64) Patience {
	scale := func(d time.Duration) time.Duration { return time.Duration(float64(d) * factor) }
	return Patience{Initialize: scale(p.Initialize), Answer: scale(p.Answer), Grace: scale(p.Grace), End: scale(p.End)}
}

// World is the state of one scenario.
type World struct {
	setup    *Setup
	name     string
	rules    []string // those the scenario proves
	schedule *schedule.Schedule

	start   subject.Start
	changes []change // to the initialize params

	rec  *wire.Recorder
	mon  *monitor.Monitor
	run  subject.Running
	conv *subject.Conversation
	host *services.Host

	ids      atomic.Int64
	last     string          // id of the request that expectations are about, as spelled on the wire
	answer   subject.Message // the response taken last
	result   json.RawMessage // of initialize
	running  []string        // ids of calls that have not been answered
	stray    string          // an id that was cancelled before it was used; empty if none was
	reused   bool            // the last request has the id of a running call, which stays owed
	farewell string          // id of the shutdown asked for; empty if none was
	hurried  bool            // the last request was cancelled, or is shutdown
	timely   bool            // the answer has to come within the time of a hook
	mark     int             // the newest frame before what the host has sent last
	written  int             // how many bytes that has
	stream   string          // id of the stream asked for last
	pace     schedule.Pace
	sources  sources
	ended    *subject.Ended
	sent     sent
}

// NewWorld makes the state of one scenario, which has a name and proves some rules. Nothing is started yet.
func NewWorld(setup *Setup, name string, rules []string) *World {
	w := &World{setup: setup, name: name, rules: rules, schedule: schedule.New(setup.Seed, name)}
	if setup.Profile != nil {
		w.sources.from = setup.Profile.Setup
	}
	return w
}

// Stop ends the subject, if there is one, and returns what the monitor found. It is the last call.
func (w *World) Stop() []verdict.Finding {
	defer w.sources.remove()
	if w.conv == nil {
		return nil
	}
	if w.ended == nil {
		w.part()
	}
	w.mon.Stop()
	ended := w.conv.Close()
	if w.ended == nil {
		w.ended = &ended
	}
	return w.mon.Findings()
}

// part lets a subject that is still there finish what it may have begun, so that a frame that comes too
// late to be awaited is still judged. What comes of it is for the monitor alone.
func (w *World) part() {
	w.conv.CloseInput()
	// Whether it ends in time is the business of scenarios about ending.
	if w.conv.AwaitEnd(w.setup.Patience.Answer/5) == nil {
		_, _ = w.conv.Await(subject.None, w.setup.Patience.Answer/5)
	}
}

// Evidence fills in what a report shows of a scenario that did not pass.
func (w *World) Evidence(s *verdict.Scenario) {
	if w.conv == nil {
		return
	}
	s.Frames, s.Dropped = w.rec.Frames()
	w.sent.name(s.Frames)
	s.Steps = w.sent.step
	s.Stderr = w.run.Stderr()
	if w.ended != nil {
		s.Ended = w.ended.String()
	}
}

// Said counts the frames of the subject that are kept. What no line feed ends says nothing.
func (w *World) Said() int {
	if w.rec == nil {
		return 0
	}
	n := 0
	frames, _ := w.rec.Frames()
	for _, f := range frames {
		if f.Lane == wire.FromSubject && f.Ended {
			n++
		}
	}
	return n
}

// Serves starts a subject and reports whether it answers anything: initialize wrongly, or whatever comes
// behind it. One that cannot be started is no silent one.
func Serves(setup *Setup) bool {
	w := NewWorld(setup, "", nil)
	defer func() { w.Stop() }()
	err := w.ready()
	if err == nil {
		err = w.probe()
	}
	var o *Outcome
	if err == nil || !errors.As(err, &o) || o.Class == verdict.Errored {
		return true
	}
	return w.Said() > 1 || w.Said() == 1 && o.Missing
}

// Outcome is an error of a step that says more than that the step failed.
type Outcome struct {
	Class   verdict.Class
	Rule    string // the rule broken; empty: those of the scenario
	Missing bool   // see verdict.Finding
	Frame   int    // -1: none
	Text    string
}

// Error is the text.
func (o *Outcome) Error() string { return o.Text }

func fail(format string, args ...any) error {
	return &Outcome{Class: verdict.Fail, Frame: -1, Text: fmt.Sprintf(format, args...)}
}

func failAt(m subject.Message, format string, args ...any) error {
	return &Outcome{Class: verdict.Fail, Frame: m.Frame.Index, Text: fmt.Sprintf(format, args...)}
}

func notApplicable(format string, args ...any) error {
	return &Outcome{Class: verdict.NotApplicable, Frame: -1, Text: fmt.Sprintf(format, args...)}
}

func errored(format string, args ...any) error {
	return &Outcome{Class: verdict.Errored, Frame: -1, Text: fmt.Sprintf(format, args...)}
}

// missing marks an outcome as one of something the scenario needs and does not judge.
func missing(err error) error {
	var o *Outcome
	if errors.As(err, &o) && (o.Class == verdict.Fail || o.Class == verdict.NoAnswer) {
		marked := *o
		marked.Missing = true
		return &marked
	}
	return err
}

// about says of an outcome which method it is about.
func about(method string, err error) error {
	var o *Outcome
	if errors.As(err, &o) && o.Class != verdict.NotApplicable {
		named := *o
		named.Text = method + ": " + o.Text
		return &named
	}
	return err
}

// wait turns the end of a wait into an outcome.
func (w *World) wait(what string, err error) error {
	switch {
	case errors.Is(err, subject.ErrNoAnswer):
		return &Outcome{Class: verdict.NoAnswer, Frame: -1, Text: fmt.Sprintf("%s: nothing came within the deadline", what)}
	case errors.Is(err, subject.ErrEnded):
		// An exit closes the output first. How it went is worth a moment.
		_ = w.conv.AwaitEnd(w.setup.Patience.Answer / 5)
		return fail("%s: the extension ended its output instead (%s)", what, w.ending())
	case errors.Is(err, subject.ErrStuck):
		return &Outcome{Class: verdict.NoAnswer, Frame: -1, Text: fmt.Sprintf("%s: %v", what, err)}
	default:
		return errored("%s: %v", what, err)
	}
}

// ending describes how the subject ended, if it has.
func (w *World) ending() string {
	select {
	case <-w.run.Exited():
		return "its process has exited"
	default:
		return "its process still runs"
	}
}

// nextID returns an id that this process has not seen.
func (w *World) nextID() string { return fmt.Sprint(w.ids.Add(1)) }

// upcoming is the id that nextID returns next.
func (w *World) upcoming() string { return fmt.Sprint(w.ids.Load() + 1) }
