package chaos

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"sync"
	"time"

	"github.com/octet-dev/octet/host/campaign"
	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/discovery"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/fixture"
	"github.com/octet-dev/octet/host/session"
	"github.com/octet-dev/octet/host/supervise"
	"github.com/octet-dev/octet/process"
	"github.com/octet-dev/octet/process/guard"
)

// Main plays a part of the campaign and does not return, if the program was started for one. Call it behind
// guard.Main.
func Main() {
	if len(os.Args) < 2 {
		return
	}
	switch os.Args[1] {
	case extensionWord:
		fixture.Main(os.Args[1:2], os.Args[2:])
	case hostWord:
		if err := playHost(os.Args[2], os.Args[3]); err != nil {
			fmt.Fprintln(os.Stderr, "host:", err)
			os.Exit(1)
		}
		os.Exit(0)
	}
}

// host is the program under test: a fleet, a session that is written all the time, and the orders.
type host struct {
	fleet *supervise.Fleet
	out   io.Writer
	calls sync.WaitGroup

	mu      sync.Mutex
	cancels map[int]context.CancelCauseFunc
	running map[string]*process.Process // by scratch
	names   map[string]string           // scratch, then extension
}

func playHost(dir, sessionID string) error {
	guard.Install()
	h := &host{
		out: os.Stdout, cancels: map[int]context.CancelCauseFunc{},
		running: map[string]*process.Process{}, names: map[string]string{},
	}
	store, err := session.Open(context.Background(), filepath.Join(dir, storeName))
	if err != nil {
		return err
	}
	conversation, err := store.Begin(context.Background(), sessionID)
	if err != nil {
		return err
	}
	members, err := h.members(dir)
	if err != nil {
		return err
	}
	h.fleet = supervise.NewFleet(members, supervise.FleetOptions{Options: supervise.Options{Timing: supervise.Timing{
		RestartBase: 2 * time.Millisecond, RestartCap: 20 * time.Millisecond, ReadyReset: 100 * time.Millisecond,
		Drain: 300 * time.Millisecond,
	}}})
	h.fleet.Start(context.Background())

	life, end := context.WithCancel(context.Background())
	defer end()
	var writer sync.WaitGroup
	var broken error
	writer.Go(func() { broken = write(life, conversation, filepath.Join(dir, ledgerName)) })
	h.say(answer{ID: helloID, Processes: h.processes(), Leaders: h.leaders()})
	last, err := h.obey(os.Stdin)
	if err != nil {
		return err
	}
	limit := supervise.ProductCap
	if last.Signal {
		limit = supervise.SignalCap
	}
	h.fleet.Close(limit)
	h.calls.Wait()
	end()
	writer.Wait()
	if err := errors.Join(broken, conversation.Close(), store.Close()); err != nil {
		return err
	}
	h.say(answer{ID: last.ID})
	return nil
}

// members finds the extensions of the campaign.
func (h *host) members(dir string) ([]supervise.Member, error) {
	var d discovery.Discoverer
	found := d.Discover(discovery.Places{Directories: []string{filepath.Join(dir, extensionsName)}})
	product := supervise.Product{Workspace: filepath.Join(dir, workspaceName), Options: h.options}
	var members []supervise.Member
	for _, entry := range found.Entries {
		members = append(members, product.Member(entry))
	}
	if len(members) != len(apis) {
		return nil, fmt.Errorf("found %d extensions: %v", len(members), found.Diagnostics)
	}
	return members, nil
}

// options shorten what the campaign has no time for, and remember the processes.
func (h *host) options(entry *discovery.Entry, _ supervise.Launch) extension.Options {
	return extension.Options{
		Deadlines: extension.Deadlines{
			Initialize: 10 * time.Second, Shutdown: 300 * time.Millisecond, Exit: 300 * time.Millisecond,
			Terminate: 50 * time.Millisecond, Drain: 10 * time.Millisecond,
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
func (h *host) alive(each func(tag string, p *process.Process)) {
	h.mu.Lock()
	defer h.mu.Unlock()
	for tag, p := range h.running {
		select {
		case <-p.Exited():
			delete(h.running, tag)
		default:
			each(tag, p)
		}
	}
}

func (h *host) processes() map[string]int {
	list := map[string]int{}
	h.alive(func(tag string, p *process.Process) { list[tag] = p.PID() })
	return list
}

func (h *host) leaders() map[string]int {
	list := map[string]int{}
	h.alive(func(tag string, p *process.Process) { list[h.names[tag]] = p.PID() })
	return list
}

// say writes one line in one piece, so that a dying host says all of it or nothing.
func (h *host) say(a answer) {
	line, err := json.Marshal(a)
	if err != nil {
		panic(err)
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	_, _ = h.out.Write(append(line, '\n'))
}

// obey takes orders until it is told to close, or until nobody gives any.
func (h *host) obey(in io.Reader) (last order, err error) {
	lines := bufio.NewScanner(in)
	for lines.Scan() {
		var o order
		if err := json.Unmarshal(lines.Bytes(), &o); err != nil {
			return o, err
		}
		switch o.Op {
		case opCall:
			h.call(o)
		case opCancel:
			h.mu.Lock()
			cancel := h.cancels[o.ID]
			h.mu.Unlock()
			if cancel != nil {
				cancel(errors.New("the campaign cancels it"))
			}
		case opReload:
			h.calls.Go(func() { h.say(answer{ID: o.ID, Error: text(h.fleet.Reload(context.Background(), o.Extension).Err)}) })
		case opSettle:
			go h.settle(o)
		case opClose:
			return o, nil
		}
	}
	return last, lines.Err()
}

// call runs a tool call on its own and says its one outcome.
func (h *host) call(o order) {
	ctx, cancel := context.WithCancelCause(context.Background())
	h.mu.Lock()
	h.cancels[o.ID] = cancel
	h.mu.Unlock()
	h.calls.Go(func() {
		defer cancel(nil)
		var arguments []byte
		if o.Text != "" {
			arguments, _ = json.Marshal(map[string]string{"text": o.Text})
		}
		runs := 0
		err := h.fleet.Get(o.Extension).Use(ctx, func(ctx context.Context, on supervise.Running) error {
			runs++
			_, err := on.Call(ctx, extension.Request{Tool: o.Tool, Arguments: arguments})
			return err
		})
		h.mu.Lock()
		delete(h.cancels, o.ID)
		h.mu.Unlock()
		h.say(answer{ID: o.ID, Error: text(err), Runs: runs})
	})
}

// settle waits until nothing runs and every extension is in service, reloading what is parked.
func (h *host) settle(o order) {
	h.calls.Wait()
	trouble := campaign.AwaitService(h.fleet, patience/2)
	h.say(answer{ID: o.ID, Error: text(trouble), Processes: h.processes(), Leaders: h.leaders()})
}

// write appends to the session until its context ends. What the store has acknowledged goes to the ledger,
// in one piece: a ledger that survives the host is no more than the store has promised.
func write(ctx context.Context, into *session.Session, ledger string) error {
	file, err := os.OpenFile(ledger, os.O_APPEND|os.O_WRONLY|os.O_CREATE, 0o600)
	if err != nil {
		return err
	}
	defer func() { _ = file.Close() }()
	for n := 0; ctx.Err() == nil; n++ {
		said := fmt.Sprintf("%d-%d", os.Getpid(), n)
		ids, err := into.Append(context.Background(), session.Entry{Value: session.Message{Message: conversation.Message{
			Role: conversation.User, Parts: []conversation.Part{conversation.TextPart(said)},
		}}})
		if err != nil {
			return err
		}
		if _, err := fmt.Fprintln(file, ids[0], said); err != nil {
			return err
		}
		select {
		case <-ctx.Done():
		case <-time.After(5 * time.Millisecond):
		}
	}
	return nil
}

func text(err error) string {
	if err == nil {
		return ""
	}
	return err.Error()
}
