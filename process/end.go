package process

import (
	"fmt"
	"os"
	"time"
)

// pollInterval is how often a tree is looked at whose leader has gone: the system tells nobody when
// somebody else's child ends.
const pollInterval = 5 * time.Millisecond

// drainGrace is how long End waits for standard error to end after the tree has gone. Only a descendant
// that escaped can hold the pipe open for longer.
const drainGrace = 100 * time.Millisecond

// Stages are the waits of End, in order. A zero wait goes to the next stage at once.
type Stages struct {
	Close     time.Duration // after standard input is closed
	Terminate time.Duration // after the polite signal to the group
	Kill      time.Duration // after the signal that cannot be ignored
}

// Stage names the step of End that ended the child.
type Stage int

// The stages, in the order in which End goes through them.
const (
	StageSelf      Stage = iota // the child had ended by itself
	StageClose                  // it ended once its standard input was closed
	StageTerminate              // it ended after the polite signal
	StageKill                   // it had to be killed
	StageNone                   // it still runs: the system could not end it
)

// String is a phrase for diagnostics.
func (s Stage) String() string {
	switch s {
	case StageSelf:
		return "ended by itself"
	case StageClose:
		return "ended after its input was closed"
	case StageTerminate:
		return "ended after the terminate signal"
	case StageKill:
		return "had to be killed"
	default:
		return "could not be ended"
	}
}

// State is how the child ended.
type State struct {
	// Code is the exit code, -1 if a signal ended the child or it still runs.
	Code int
	// Signal is the name of the signal that ended it, empty otherwise.
	Signal string
}

// String is a phrase for diagnostics, for example "exit code 3" or "signal killed".
func (s State) String() string {
	if s.Signal != "" {
		return "signal " + s.Signal
	}
	return fmt.Sprintf("exit code %d", s.Code)
}

// Report says how a tree came down.
type Report struct {
	State State
	Stage Stage
	// Left counts the descendants that still ran when the child had ended without a signal of ours.
	Left int
	// Alive counts the members that outlived the last stage. It is zero unless the system is stuck.
	Alive int
}

// End closes standard input, waits, sends the polite signal to the group, waits, kills the group, and
// waits once more. A stage that finds nothing left to end is passed over. Then it closes the remaining
// pipes, waits for the standard error callbacks, and returns. It blocks for at most the sum of the
// stages, a tenth of a second, and the callbacks for what is left in a pipe. Every further call returns the report of the first.
func (p *Process) End(stages Stages) Report {
	p.endOnce.Do(func() { p.report = p.end(stages) })
	return p.report
}

func (p *Process) end(stages Stages) Report {
	report := Report{Stage: StageSelf, State: State{Code: -1}}
	if !p.leaderGone() {
		report.Stage = StageClose
	}
	closeFiles(p.stdin)
	p.waitLeader(stages.Close)
	if p.leaderGone() {
		report.Left = p.Descendants()
	}
	if !p.leaderGone() || report.Left > 0 {
		if !p.leaderGone() {
			report.Stage = StageTerminate
		}
		p.group.terminate(p.pid)
		p.waitTree(stages.Terminate, func() {})
	}
	p.Kill()
	p.waitTree(stages.Kill, p.Kill)
	if p.wasKilled() {
		report.Stage = StageKill
	}

	report.Alive = p.Descendants()
	if p.leaderGone() {
		// Its id is still its own: nobody can end a stranger in its name.
		report.State = p.Leave()
	} else {
		report.Alive++
		report.Stage = StageNone
	}
	closeFiles(p.stdout)
	p.stderr.finish(p.after(drainGrace))
	p.group.release()
	return report
}

// Leave waits for the end of the child and returns how it ended. What it has started runs on: the tree is given up,
// and End, which must still be called, ends nothing of it. For whoever judges what a child leaves behind.
func (p *Process) Leave() State {
	<-p.exited
	p.leaveOnce.Do(func() {
		p.strikeOff()
		p.giveBack()
	})
	return p.state
}

func (p *Process) leaderGone() bool {
	select {
	case <-p.exited:
		return true
	default:
		return false
	}
}

func (p *Process) waitLeader(limit time.Duration) {
	if limit <= 0 {
		return
	}
	select {
	case <-p.exited:
	case <-p.after(limit):
	}
}

// giveBack lets the system reuse the child's id. From then on no signal may be sent to it.
func (p *Process) giveBack() {
	p.mu.Lock()
	p.over = true
	p.mu.Unlock()
	close(p.reap)
	<-p.reaped
}

func (p *Process) wasKilled() bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.killed
}

// waitTree waits until neither the leader nor a descendant runs, or the limit is over. Again is called
// before every further look at the descendants: one may have started another meanwhile.
func (p *Process) waitTree(limit time.Duration, again func()) {
	if limit <= 0 {
		return
	}
	over := p.after(limit)
	select {
	case <-p.exited:
	case <-over:
		return
	}
	for p.Descendants() > 0 {
		select {
		case <-p.after(pollInterval):
			again()
		case <-over:
			return
		}
	}
}

func stateOf(ps *os.ProcessState) State {
	if ps == nil {
		return State{Code: -1}
	}
	return State{Code: ps.ExitCode(), Signal: signalName(ps)}
}
