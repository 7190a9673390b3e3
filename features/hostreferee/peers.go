package hostreferee

import (
	"bufio"
	"encoding/json"
	"net"
	"os"
	"path/filepath"
	"slices"
	"sync"
	"time"

	"github.com/octet-dev/octet/features/tap"
	"github.com/octet-dev/octet/features/transcript"
	"github.com/octet-dev/octet/features/wire"
)

// Facts are what a started peer finds around it: the first line that it reports.
type Facts struct {
	PID       int      `json:"pid"`
	Directory string   `json:"directory"`
	Env       []string `json:"env"`
	Args      []string `json:"args"`
}

// peer is one start of the extension.
type peer struct {
	facts  Facts
	frames []wire.Frame
	came   []time.Time // when the referee heard of each frame
	found  []tap.Finding
	gone   bool // the peer's end of the connection is closed
}

// peers collects what the extensions of one scenario report, each over a connection of its own that ends with
// its process.
type peers struct {
	listener net.Listener

	mu      sync.Mutex // guards the fields below
	changed *sync.Cond
	all     []*peer
	watcher func(wire.Frame)
	marked  bool // everything that was connected in front of the mark has been accepted
	stopped bool
}

func listen(root string) (*peers, error) {
	// The path of a socket must be short; that of the scenario's files is.
	l, err := net.Listen("unix", filepath.Join(root, "s"))
	if err != nil {
		return nil, err
	}
	p := &peers{listener: l}
	p.changed = sync.NewCond(&p.mu)
	go p.accept()
	return p, nil
}

func (p *peers) address() string { return p.listener.Addr().String() }

func (p *peers) close() { _ = p.listener.Close() }

// watch has f called with every frame from now on, on the goroutine of its peer.
func (p *peers) watch(f func(wire.Frame)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.watcher = f
}

func (p *peers) accept() {
	for {
		conn, err := p.listener.Accept()
		if err != nil {
			return
		}
		one := &peer{}
		p.mu.Lock()
		p.all = append(p.all, one)
		p.mu.Unlock()
		go p.read(conn, one)
	}
}

// maxReport bounds one line of a report.
const maxReport = 8 << 20

func (p *peers) read(conn net.Conn, one *peer) {
	defer func() {
		_ = conn.Close()
		p.mu.Lock()
		defer p.mu.Unlock()
		one.gone = true
		p.changed.Broadcast()
	}()
	lines := bufio.NewScanner(conn)
	lines.Buffer(nil, maxReport)
	var facts Facts
	if !lines.Scan() || json.Unmarshal(lines.Bytes(), &facts) != nil || !p.introduce(one, facts) {
		return
	}
	var judge tap.Judge
	for first := true; lines.Scan(); first = false {
		if first {
			continue // the header of the transcript
		}
		f, err := transcript.ParseFrame(lines.Bytes(), len(one.frames))
		if err != nil {
			return
		}
		found := judge.Observe(f)
		p.mu.Lock()
		one.frames = append(one.frames, f)
		one.came = append(one.came, time.Now())
		one.found = append(one.found, found...)
		watcher := p.watcher
		p.changed.Broadcast()
		p.mu.Unlock()
		if watcher != nil {
			watcher(f)
		}
	}
}

// introduce keeps the facts of a start, and reports whether it is one: the mark is none.
func (p *peers) introduce(one *peer, facts Facts) bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	one.facts = facts
	if facts.PID != mark {
		return true
	}
	p.marked = true
	p.all = slices.DeleteFunc(p.all, func(other *peer) bool { return other == one })
	p.changed.Broadcast()
	return false
}

// mark is the process id of a connection that is ours: those in front of it in the queue are accepted first.
const mark = -1

// settle waits until every peer is gone, for a while at most.
func (p *peers) settle(grace time.Duration) {
	if conn, err := net.Dial("unix", p.address()); err == nil {
		// One that cannot be marked is waited for by the clock alone.
		_ = json.NewEncoder(conn).Encode(Facts{PID: mark})
		_ = conn.Close()
	}
	timer := time.AfterFunc(grace, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		p.stopped = true
		p.changed.Broadcast()
	})
	defer timer.Stop()
	p.mu.Lock()
	defer p.mu.Unlock()
	for !p.stopped {
		left := !p.marked
		for _, one := range p.all {
			left = left || !one.gone
		}
		if !left {
			return
		}
		p.changed.Wait()
	}
}

// bump wakes those who wait: something has changed that peers know nothing of.
func (p *peers) bump() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.changed.Broadcast()
}

// await waits until something is so, for a while at most, and reports whether it is. The condition is looked at
// behind every frame, every end of a peer and every bump.
func (p *peers) await(limit time.Duration, is func(all []*peer) bool) bool {
	late := false
	timer := time.AfterFunc(limit, func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		late = true
		p.changed.Broadcast()
	})
	defer timer.Stop()
	p.mu.Lock()
	defer p.mu.Unlock()
	for !is(p.all) {
		if late {
			return false
		}
		p.changed.Wait()
	}
	return true
}

// forget drops the peers so far.
func (p *peers) forget() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.all, p.marked = nil, false
}

// list returns the peers as they are now; one that is not gone goes on behind it.
func (p *peers) list() []peer {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []peer
	for _, one := range p.all {
		out = append(out, *one)
	}
	return out
}

func (p *peers) found() []tap.Finding {
	p.mu.Lock()
	defer p.mu.Unlock()
	var out []tap.Finding
	for _, one := range p.all {
		out = append(out, one.found...)
	}
	return out
}

// Report connects a peer to its referee and sends the facts. What is written to the connection behind them is
// the transcript.
func Report(address string) (net.Conn, error) {
	conn, err := net.Dial("unix", address)
	if err != nil {
		return nil, err
	}
	dir, err := os.Getwd()
	if err == nil {
		err = json.NewEncoder(conn).Encode(Facts{PID: os.Getpid(), Directory: dir, Env: os.Environ(), Args: os.Args})
	}
	if err != nil {
		_ = conn.Close()
		return nil, err
	}
	return conn, nil
}
