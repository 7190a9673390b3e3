package cli

import (
	"context"
	"fmt"
	"os"
	"os/signal"
	"slices"
	"sync"
	"sync/atomic"
	"syscall"
	"time"

	"github.com/octet-dev/octet/host/agent"
	"github.com/octet-dev/octet/host/supervise"
	"github.com/octet-dev/octet/process"
	"github.com/octet-dev/octet/runtime/peer"
)

// spare is the part of supervise.SignalCap that is kept for what follows the end of the extensions.
const spare = 250 * time.Millisecond

// ending bounds what is done behind a signal that ends the program: supervise.SignalCap from the signal on, the
// grace of whatever was cancelled among it. A little earlier the extensions are ended at once. What still keeps
// the program from its end then, whichever phase it is in, ends with it.
type ending struct {
	mu     sync.Mutex
	hurry  func()         // ends the extensions at once; nil: there are none yet
	number syscall.Signal // 0: none came
	since  time.Time
	timers []*time.Timer
}

// by says that a signal ends the program. Only the first one counts.
func (e *ending) by(s os.Signal) {
	number, _ := s.(syscall.Signal)
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.number != 0 {
		return
	}
	e.number, e.since = number, time.Now()
	e.timers = []*time.Timer{
		time.AfterFunc(supervise.SignalCap-spare, e.hasten),
		time.AfterFunc(supervise.SignalCap, func() {
			process.KillAll()
			os.Exit(signalCode(number))
		}),
	}
}

// hastens says what ends the extensions at once and keeps new ones from starting. It may be called from any goroutine.
func (e *ending) hastens(hurry func()) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.hurry = hurry
}

func (e *ending) hasten() {
	e.mu.Lock()
	hurry := e.hurry
	e.mu.Unlock()
	if hurry != nil {
		hurry()
	}
	process.KillAll() // one that is being started is known to nobody else
}

// limit is how long an orderly end of everything may take.
func (e *ending) limit() time.Duration {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.number == 0 {
		return supervise.ProductCap
	}
	return max(supervise.SignalCap-spare-time.Since(e.since), 0)
}

// over ends the bound and returns the signal, 0 if none came. Behind a signal no process of ours is left.
func (e *ending) over() syscall.Signal {
	e.mu.Lock()
	defer e.mu.Unlock()
	for _, t := range e.timers {
		t.Stop()
	}
	if e.number != 0 {
		process.KillAll()
	}
	return e.number
}

// signalCode is the exit code behind a signal, as shells report it.
func signalCode(number syscall.Signal) int { return 128 + int(number) }

// ends are the signals that end the program, besides the interrupt.
var ends = []os.Signal{syscall.SIGTERM, syscall.SIGHUP, syscall.SIGQUIT}

// watching counts the watches over all of ends.
var watching atomic.Int32

// watch calls do for every signal of a list, in order, from one goroutine. Behind stop it is not called again.
func watch(list []os.Signal, do func(os.Signal)) (stop func()) {
	signals := make(chan os.Signal, 2)
	if slices.Contains(list, os.Signal(syscall.SIGTERM)) {
		watching.Add(1)
	}
	signal.Notify(signals, list...)
	done, ended := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(ended)
		for {
			select {
			case <-done:
				return
			case s := <-signals:
				do(s)
			}
		}
	}()
	return sync.OnceFunc(func() {
		if slices.Contains(list, os.Signal(syscall.SIGTERM)) {
			watching.Add(-1)
		}
		signal.Stop(signals)
		close(done)
		<-ended
	})
}

// interrupts turns the first signal that ends the program into the cancellation of a context, and later ones into
// calls of kill, which ends the extension at once. First tells of it. Stop must be called; kill is not called
// after it has returned, and it makes the exit code of the command that of the signal.
func interrupts(ctx context.Context, first, kill func()) (cancelled context.Context, stop func(code int) int) {
	ctx, cancel := context.WithCancelCause(ctx)
	e := &ending{hurry: kill}
	count := 0
	unwatch := watch(append([]os.Signal{os.Interrupt}, ends...), func(s os.Signal) {
		if count++; count > 1 {
			kill()
			return
		}
		e.by(s)
		first()
		cancel(peer.Reason("user"))
	})
	return ctx, func(code int) int {
		unwatch()
		cancel(nil)
		if number := e.over(); number != 0 && number != syscall.SIGINT {
			return signalCode(number)
		}
		return code
	}
}

// ended ends a context with the first signal that ends the program, of which why is said. Finish ends the watch and
// makes the outcome that of the signal, if one came.
func ended(ctx context.Context, why error) (_ context.Context, finish func(code int, err error) (int, error)) {
	ctx, cancel := context.WithCancelCause(ctx)
	e := &ending{}
	unwatch := watch(append([]os.Signal{os.Interrupt}, ends...), func(number os.Signal) {
		e.by(number)
		cancel(why)
	})
	return ctx, func(code int, err error) (int, error) {
		unwatch()
		cancel(nil)
		if number := e.over(); number != 0 {
			return signalCode(number), err
		}
		return code, err
	}
}

// shutdown ends a conversation, and the program with it, when a signal says so. An interrupt does that until the
// conversation attends to interrupts itself.
type shutdown struct {
	ending
	attended  atomic.Bool
	early     atomic.Bool // an interrupt came before
	unwatch   func()
	interrupt func() // ends the watch over interrupts
}

// shutdowns begins to watch. The context ends with the first signal.
func shutdowns(ctx context.Context) (context.Context, *shutdown) {
	ctx, cancel := context.WithCancelCause(ctx)
	s := &shutdown{}
	s.interrupt = watch([]os.Signal{os.Interrupt}, func(number os.Signal) {
		s.by(number)
		if !s.attended.Load() {
			s.early.Store(true)
			cancel(context.Canceled)
		}
	})
	unwatch := watch(ends, func(number os.Signal) {
		s.by(number)
		cancel(fmt.Errorf("%w: %v", agent.ErrShutdown, number))
	})
	s.unwatch = func() {
		s.interrupt()
		unwatch()
		cancel(nil)
	}
	return ctx, s
}

// attend says that the conversation attends to interrupts from now on. Lasting says that one ends the program all
// the same, once the conversation has made an end of it.
func (s *shutdown) attend(lasting bool) {
	s.attended.Store(true)
	if !lasting {
		s.interrupt()
	}
}

// finish ends the watch and makes the outcome of a conversation that of the program.
func (s *shutdown) finish(code int, err error) (int, error) {
	s.unwatch()
	switch number := s.over(); {
	case number == 0, number == syscall.SIGINT && !s.early.Load():
		return code, err
	default:
		return signalCode(number), nil
	}
}

// quits makes the signal to quit end the program like the other signals do where nothing watches over them. By
// itself it would print the state of every goroutine.
func quits() (stop func()) {
	return watch([]os.Signal{syscall.SIGQUIT}, func(number os.Signal) {
		if watching.Load() == 0 {
			os.Exit(signalCode(syscall.SIGQUIT))
		}
	})
}
