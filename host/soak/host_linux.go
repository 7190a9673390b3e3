package soak

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"runtime"
	"runtime/debug"
	"strconv"
	"sync"
	"time"

	"github.com/octet-dev/octet/host/campaign"
	"github.com/octet-dev/octet/host/discovery"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/fixture"
	"github.com/octet-dev/octet/host/session"
	"github.com/octet-dev/octet/host/supervise"
	"github.com/octet-dev/octet/process"
	"github.com/octet-dev/octet/process/guard"
)

// Names in the directory of a soak.
const (
	extensionsName = "extensions"
	workspaceName  = "workspace"
	storeName      = "sessions.db"
	wordsName      = "words" // of an extension: how its next starts misbehave
)

// Main plays a part of the soak and does not return, if the program was started for one. Call it behind guard.Main.
func Main() {
	if len(os.Args) < 2 {
		return
	}
	switch os.Args[1] {
	case extensionWord:
		fixture.Main(os.Args[1:2], os.Args[2:])
	case hostWord:
		if err := playHost(os.Args[2], os.Args[3], Leak(os.Args[4])); err != nil {
			fmt.Fprintln(os.Stderr, "host:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
}

// host is the program under test: a fleet, sessions that are written all the time, and the load.
type host struct {
	dir   string
	fleet *supervise.Fleet
	load  *load

	mu      sync.Mutex
	running map[string]*process.Process // by scratch directory, as the environment has it
	names   map[string]string           // of their extensions
}

func playHost(dir, seedText string, leak Leak) error {
	guard.Install()
	seed, err := strconv.ParseUint(seedText, 10, 64)
	if err != nil {
		return err
	}
	h := &host{dir: dir, running: map[string]*process.Process{}, names: map[string]string{}}
	store, err := session.Open(context.Background(), filepath.Join(dir, storeName))
	if err != nil {
		return err
	}
	members, err := h.members()
	if err != nil {
		return err
	}
	h.fleet = supervise.NewFleet(members, supervise.FleetOptions{Options: supervise.Options{Timing: supervise.Timing{
		RestartBase: 20 * time.Millisecond, RestartCap: time.Second, ReadyReset: time.Second, Drain: time.Second,
	}}})
	for _, report := range h.fleet.Start(context.Background()) {
		if report.Err != nil {
			return fmt.Errorf("start %s: %w", report.Name, report.Err)
		}
	}
	h.load = begin(h, store, seed, leak)
	if err := h.say(answer{Sample: h.look()}); err != nil {
		return err
	}
	err = h.obey(os.Stdin)
	h.load.stop()
	h.fleet.Close(supervise.ProductCap)
	return errors.Join(err, h.load.broken(), store.Close())
}

func (h *host) members() ([]supervise.Member, error) {
	var d discovery.Discoverer
	found := d.Discover(discovery.Places{Directories: []string{filepath.Join(h.dir, extensionsName)}})
	product := supervise.Product{Workspace: filepath.Join(h.dir, workspaceName), Options: h.options}
	var members []supervise.Member
	for _, entry := range found.Entries {
		members = append(members, product.Member(entry))
	}
	if len(members) == 0 {
		return nil, fmt.Errorf("found no extension: %v", found.Diagnostics)
	}
	return members, nil
}

// options bound what a broken extension makes others wait for, and remember the processes.
func (h *host) options(entry *discovery.Entry, _ supervise.Launch) extension.Options {
	return extension.Options{
		Deadlines: extension.Deadlines{
			Initialize: patience / 2, Shutdown: 2 * time.Second, Exit: time.Second, Terminate: 100 * time.Millisecond, Drain: 100 * time.Millisecond,
		},
		Launch: func(o process.Options) (extension.Program, error) {
			p, err := process.Start(o)
			if err != nil {
				return nil, err
			}
			h.mu.Lock()
			defer h.mu.Unlock()
			h.running[o.Tag], h.names[o.Tag] = p, entry.Name
			return p, nil
		},
	}
}

// alive yields what runs of the extensions.
func (h *host) alive(yield func(tag string, p *process.Process) bool) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for tag, p := range h.running {
		select {
		case <-p.Exited():
			delete(h.running, tag)
			delete(h.names, tag)
		default:
			if !yield(tag, p) {
				return
			}
		}
	}
}

// leader is a process of an extension; 0 if none runs.
func (h *host) leader(name string) int {
	for tag, p := range h.alive {
		if h.names[tag] == name {
			return p.PID()
		}
	}
	return 0
}

// living are the tags of what runs.
func (h *host) living() (tags []string) {
	for tag := range h.alive {
		tags = append(tags, tag)
	}
	return tags
}

func (h *host) say(a answer) error {
	line, err := json.Marshal(a)
	if err != nil {
		return err
	}
	_, err = os.Stdout.Write(append(line, '\n'))
	return err
}

// obey takes orders until it is told to close, or until nobody gives any.
func (h *host) obey(in io.Reader) error {
	resting := false
	defer func() {
		if resting { // whoever gave the orders has gone in the middle
			h.load.gate.Unlock()
		}
	}()
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		var o order
		if err := json.Unmarshal(lines.Bytes(), &o); err != nil {
			return err
		}
		var a answer
		switch o.Op {
		case opLook:
			a.Sample = h.look()
		case opSettle:
			var trouble error
			resting = true
			if a.Sample, trouble = h.settle(); trouble != nil {
				a.Error = trouble.Error()
			}
			a.Living = h.living()
		case opResume:
			h.load.gate.Unlock()
			resting = false
			continue
		case opClose:
			return nil
		}
		if err := h.say(a); err != nil {
			return err
		}
	}
	return lines.Err()
}

func (h *host) look() Sample {
	var memory runtime.MemStats
	runtime.ReadMemStats(&memory)
	return Sample{Heap: int64(memory.HeapAlloc), Goroutines: int64(runtime.NumGoroutine()), Counts: h.load.counted()}
}

// settle holds the load, waits until nothing runs and every extension is in service, and measures what is there then.
// The gate stays closed.
func (h *host) settle() (Sample, error) {
	h.load.gate.Lock() // waits for what runs
	trouble := campaign.AwaitService(h.fleet, patience/2)
	h.rest()
	runtime.GC()
	debug.FreeOSMemory()
	sample := h.look()
	sample.Settled = true
	return sample, trouble
}

// rest waits until the goroutines that clear away what was broken are through: their number stands still then.
func (h *host) rest() {
	const still = 20
	last, same := 0, 0
	for deadline := time.Now().Add(patience / 6); same < still && time.Now().Before(deadline); time.Sleep(10 * time.Millisecond) {
		if now := runtime.NumGoroutine(); now == last {
			same++
		} else {
			last, same = now, 0
		}
	}
}
