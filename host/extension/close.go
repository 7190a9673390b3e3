package extension

import (
	"context"
	"errors"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/process"
	"github.com/octet-dev/octet/runtime/peer"
)

// Ending says how an extension came down.
type Ending struct {
	// Asked: shutdown was sent. It is not if the connection had ended before.
	Asked bool
	// Answered: the extension answered it in time, and rightly.
	Answered bool
	// Misanswered: it answered in time with what is no answer to shutdown, an error among that.
	Misanswered bool
	// Process says how the process tree ended.
	Process process.Report
}

// Orderly reports whether the extension did all that is asked of it: it answered shutdown and ended by
// itself, with nothing left behind.
func (e Ending) Orderly() bool {
	return e.Answered && e.Process.Stage == process.StageSelf && e.Process.State.Code == 0 && e.Process.Left == 0
}

// Close brings the extension down: it admits no further call, gives running ones a moment and cancels
// them, asks for an orderly end, waits for it, and ends whatever is left of the process tree. It blocks
// for at most the sum of the deadlines. Every further call returns the Ending of the first.
func (x *Extension) Close() Ending {
	x.closeOnce.Do(func() {
		x.drain()
		x.askToEnd()
		x.shutDown()
	})
	return x.ending
}

// Kill ends the process tree at once. Close must still be called, and is quick then.
func (x *Extension) Kill() {
	x.killed.Store(true)
	x.process.Kill()
}

// drain stops admission and waits for running calls. API 0.1 has no drain: its calls are dropped.
func (x *Extension) drain() {
	x.mu.Lock()
	x.closing = true
	x.mu.Unlock()
	settled := make(chan struct{})
	go func() {
		x.calls.Wait()
		close(settled)
	}()
	if x.wire.profile().Cancel != "" {
		select {
		case <-settled:
		case <-x.options.After(x.options.Deadlines.Drain):
		}
	}
	x.abort()
	<-settled
}

// askToEnd sends shutdown and waits for the answer and then for the end of the process.
func (x *Extension) askToEnd() {
	select {
	case <-x.conn.Done():
		return
	default:
	}
	x.ending.Asked = true
	answer := make(chan farewellAnswer, 1)
	go func() { answer <- x.askForFarewell() }()
	select {
	case a := <-answer:
		x.ending.Answered, x.ending.Misanswered = a.err == nil, a.wrong
		if a.err != nil {
			x.events.diagnostic("shutdown: " + a.err.Error())
		}
	case <-x.options.After(x.options.Deadlines.Shutdown):
	}
	if x.ending.Answered || x.ending.Misanswered || x.conn.Err() == nil {
		select {
		case <-x.process.Exited():
		case <-x.options.After(x.options.Deadlines.Exit):
		}
	}
}

// farewellAnswer is what came of shutdown: wrong says that there was an answer, and err what is wrong
// with it. An err alone says that there was none.
type farewellAnswer struct {
	err   error
	wrong bool
}

func (x *Extension) askForFarewell() farewellAnswer {
	result, err := x.conn.Call(context.Background(), featurewire.MethodShutdown, featurewire.ShutdownParams{})
	if err == nil {
		err = x.wire.farewell(result)
		return farewellAnswer{err: err, wrong: err != nil}
	}
	var refused *peer.Error
	return farewellAnswer{err: err, wrong: errors.As(err, &refused)}
}

// shutDown ends the process tree and the connection, and returns when nothing of either is left. The
// process comes first, so that its end is not mixed up with the loss of its pipes.
func (x *Extension) shutDown() {
	defer x.abort()
	x.ending.Process = x.process.End(x.stages())
	if err := x.conn.Close(); err != nil && !ordinary(err) {
		x.events.diagnostic("the connection ended: " + err.Error())
	}
	<-x.watch
	x.gone()
	x.removeScratch()
	x.events.close()
}

// stages are the last ones: the input is closed, and what does not end then is made to.
func (x *Extension) stages() process.Stages {
	d := x.options.Deadlines
	return process.Stages{Close: d.Terminate, Terminate: d.Terminate, Kill: d.Kill}
}

// ordinary reports whether an error of the connection has been reported already or says nothing.
func ordinary(err error) bool {
	var broken *peer.ProtocolError
	return !errors.As(err, &broken)
}
