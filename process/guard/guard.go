// Package guard ends the processes of a program that died without a chance to do it itself.
//
// A program that calls Install gets a second process of itself at its first launch: the guard. It holds the
// reading end of a pipe, is told of every tree of package process before it starts and behind its end, and
// does nothing else. When the pipe ends, however that came, it ends what is still on its list, and then
// itself. It lives in a session of its own, so that no signal to the terminal or the group of the program
// reaches it.
//
// On Linux the trees are found by their groups and by their tags, on other Unix systems by their groups
// alone. Windows needs no guard: a job ends with the program that made it, so Install does nothing there.
package guard

import (
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"time"

	"github.com/octet-dev/octet/process"
)

// word is the argument that makes the program play the guard.
const word = "process-guard"

// hello is what the guard says when it is there.
const hello = "guarding\n"

// maxRestarts is how often a guard that somebody has ended is replaced.
const maxRestarts = 8

// The waits of the program for its guard: to be there, and to take a line.
const (
	helloWait = 10 * time.Second
	lineWait  = time.Second
)

// pipeRoom is what a pipe takes on every system while nobody reads.
const pipeRoom = 4096

// Main plays the guard and does not return, if the program was started as one. Call it first in main, before
// anything else has allocated memory.
func Main() {
	if playing() {
		play(os.Stdin, os.Stdout)
		os.Exit(0)
	}
}

func playing() bool { return len(os.Args) == 2 && os.Args[1] == word }

// Install has the trees of this program guarded from the first launch on. Main must be called at the
// beginning of the program. Calling it again does nothing.
func Install() {
	if !needed || playing() { // a program that forgot Main must not start guards of guards
		return
	}
	installed.Do(func() {
		path, err := os.Executable()
		if err != nil {
			path = os.Args[0]
		}
		guarding = newWatch(path)
		process.Watch(guarding.tell)
	})
}

// Err says why the program is not guarded although it should be, nil if it is or nothing was launched yet.
func Err() error {
	if guarding == nil {
		return nil
	}
	guarding.mu.Lock()
	defer guarding.mu.Unlock()
	return guarding.err
}

var (
	installed sync.Once
	guarding  *watch // that of Install
)

// watch is the program's side. Its methods are called by one goroutine at a time, except for attend.
type watch struct {
	path string

	mu       sync.Mutex
	trees    map[uint64]process.Tree
	pipe     *os.File // nil: there is no guard
	pid      int
	restarts int
	err      error         // why there is none, for good
	gone     chan struct{} // closed when the guard that there is has ended
}

func newWatch(path string) *watch { return &watch{path: path, trees: map[uint64]process.Tree{}} }

// tell passes a change on. Nothing is started before it is on the list.
func (w *watch) tell(t process.Tree) {
	w.mu.Lock()
	defer w.mu.Unlock()
	if t.Gone {
		delete(w.trees, t.Key)
	} else {
		w.trees[t.Key] = t
	}
	if w.pipe != nil {
		if w.writeLocked(t) == nil {
			return
		}
		w.closeLocked()
	}
	if len(w.trees) > 0 {
		w.armLocked()
	}
}

// armLocked starts a guard and tells it everything.
func (w *watch) armLocked() {
	for w.pipe == nil && w.err == nil {
		if w.restarts++; w.restarts > maxRestarts {
			w.err = fmt.Errorf("the guard was ended %d times", maxRestarts)
			return
		}
		if err := w.startLocked(); err != nil {
			w.err = err
		}
	}
}

func (w *watch) writeLocked(t process.Tree) error { return write(w.pipe, encode(t)) }

func write(pipe *os.File, data []byte) error {
	if err := pipe.SetWriteDeadline(time.Now().Add(lineWait)); err != nil {
		return err
	}
	_, err := pipe.Write(data)
	return err
}

// closeLocked lets go of a guard.
func (w *watch) closeLocked() {
	_ = w.pipe.Close()
	w.pipe = nil
}

var errNoHello = errors.New("the guard does not answer; call guard.Main first in main")

// startLocked starts a guard that knows every tree, and does not wait for it: what is written to its pipe
// reaches it, even if we are dead by then. So the list is written first, as far as a pipe holds it without a
// reader.
func (w *watch) startLocked() error {
	read, pipe, err := os.Pipe()
	if err != nil {
		return err
	}
	var list []byte
	for _, t := range w.trees {
		list = append(list, encode(t)...)
	}
	first := list[:min(len(list), pipeRoom)]
	err = write(pipe, first)
	cmd := exec.Command(w.path, word)
	// Where one binary plays several commands, the name that we were called by selects ours.
	cmd.Args[0] = os.Args[0]
	cmd.Dir, cmd.Env, cmd.SysProcAttr, cmd.Stdin = root, environment, ownSession(), read
	var out io.ReadCloser
	if err == nil {
		out, err = cmd.StdoutPipe()
	}
	if err == nil {
		err = cmd.Start()
	}
	_ = read.Close()
	if err != nil {
		_ = pipe.Close()
		return err
	}
	w.pipe, w.pid, w.gone = pipe, cmd.Process.Pid, make(chan struct{})
	go w.attend(cmd, out, pipe, w.gone)
	if write(pipe, list[len(first):]) != nil {
		w.closeLocked()
	}
	return nil
}

// attend listens for the hello of a guard, and waits for its end. One that ended while trees run is
// replaced; a program that is no guard is not tried again.
func (w *watch) attend(cmd *exec.Cmd, out io.Reader, pipe *os.File, gone chan struct{}) {
	defer close(gone)
	late := time.AfterFunc(helloWait, func() { _ = cmd.Process.Kill() })
	said := make([]byte, len(hello))
	_, err := io.ReadFull(out, said)
	there := err == nil && string(said) == hello
	late.Stop()
	if !there {
		_ = cmd.Process.Kill()
	}
	_ = cmd.Wait()
	w.mu.Lock()
	defer w.mu.Unlock()
	if !there {
		w.err = errNoHello
	}
	if w.pipe == pipe {
		w.closeLocked()
		if len(w.trees) > 0 {
			w.armLocked()
		}
	}
}
