package soak

import (
	"context"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"time"

	"github.com/octet-dev/octet/host/fixture"
)

// fault is one way to break an extension. What it leaves is cleared away by the host.
type fault struct {
	name   string
	weight int
	raw    bool // only the extension that breaks things can
	strike func(l *load, random *rand.Rand, name string)
}

var faults = []fault{
	{"kill", 10, false, signal(syscall.SIGKILL)},
	{"stop", 2, false, stop},
	{"reload", 8, false, reload},
	{"reload twice at once", 3, false, reloadTwice},
	{"crash in a call", 6, true, tool("crash")},
	{"exit in a call", 4, true, tool("quit")},
	{"close standard output", 4, true, tool("mute")},
	{"half a frame and exit", 4, true, tool("half")},
	{"half a frame and no more", 3, true, tool("stall")},
	{"a line without end", 3, true, tool("flood")},
	{"flood standard error", 5, true, tool("noise")},
	{"break a rule of the result", 5, true, tool("wrong")},
	{"never answer", 3, true, hang},
	{"leave processes and die", 4, true, spawn},
	{"reload into one that fails", 4, true, reloadBroken},
	{"crash into one that fails", 4, true, crashBroken},
}

// strike makes one fault, drawn by weight, while the callers go on.
func (l *load) strike(random *rand.Rand) {
	name := l.any(random)
	sum := 0
	for _, f := range faults {
		if isRaw(name) || !f.raw {
			sum += f.weight
		}
	}
	at := random.IntN(sum)
	for _, f := range faults {
		if !isRaw(name) && f.raw {
			continue
		}
		if at -= f.weight; at < 0 {
			f.strike(l, random, name)
			l.mu.Lock()
			l.counts.Faults[f.name]++
			l.mu.Unlock()
			break
		}
	}
	l.grow()
}

// grow is the fault of a host that leaks.
func (l *load) grow() {
	switch l.leak {
	case LeakMemory:
		l.leaks = append(l.leaks, make([]byte, 8<<20))
	case LeakGoroutines:
		for range 50 {
			go func() { select {} }()
		}
	case LeakDescriptors:
		for range 20 {
			if file, err := os.Open(os.DevNull); err == nil {
				l.leaks = append(l.leaks, file)
			}
		}
	}
}

func signal(s syscall.Signal) func(*load, *rand.Rand, string) {
	return func(l *load, _ *rand.Rand, name string) {
		if pid := l.host.leader(name); pid > 1 {
			_ = syscall.Kill(pid, s)
		}
	}
}

// stop leaves a process that neither reads nor ends: a call that it does not give up ends it.
func stop(l *load, random *rand.Rand, name string) {
	signal(syscall.SIGSTOP)(l, random, name)
	l.cancel(name, 10*time.Millisecond)
}

func tool(tool string) func(*load, *rand.Rand, string) {
	return func(l *load, random *rand.Rand, name string) {
		ctx, cancel := context.WithTimeout(context.Background(), 100*time.Millisecond+upTo(random, 400*time.Millisecond))
		defer cancel()
		_, _ = l.call(ctx, name, tool, nil)
	}
}

// spawn has processes left that hold pipes and ignore signals. They may live as long as what has left them.
func spawn(l *load, random *rand.Rand, name string) {
	tool("spawn")(l, random, name)
	signal(syscall.SIGKILL)(l, random, name)
}

func hang(l *load, _ *rand.Rand, name string) {
	ctx, cancel := context.WithTimeout(context.Background(), 50*time.Millisecond)
	defer cancel()
	_, _ = l.call(ctx, name, "hang", nil)
}

func reload(l *load, _ *rand.Rand, name string) { l.host.fleet.Reload(context.Background(), name) }

func reloadTwice(l *load, random *rand.Rand, name string) {
	l.atOnce(2, func() { reload(l, random, name) })
}

// broken are starts that fail.
var broken = []string{fixture.CrashAtStart, fixture.RefuseInitialize, fixture.WrongTools, fixture.GarbageAtStart, fixture.NoCatalog, fixture.TraceAtStart}

// next says how the next starts of an extension misbehave.
func (l *load) next(name string, words ...string) {
	path := filepath.Join(l.host.dir, extensionsName, name, wordsName)
	if err := os.WriteFile(path, []byte(strings.Join(words, " ")+"\n"), 0o600); err != nil {
		l.fail(err)
	}
}

func reloadBroken(l *load, random *rand.Rand, name string) {
	l.next(name, broken[random.IntN(len(broken))])
	reload(l, random, name)
	l.next(name)
}

func crashBroken(l *load, random *rand.Rand, name string) {
	l.next(name, broken[random.IntN(len(broken))])
	tool("crash")(l, random, name)
	time.Sleep(100 * time.Millisecond)
	l.next(name)
}
