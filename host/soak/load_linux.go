package soak

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/session"
	"github.com/octet-dev/octet/host/supervise"
)

// callers is how many callers there are; each makes one operation after the other.
const callers = 6

// Leak makes a host grow, so that the soak can be seen to find it.
type Leak string

// The leaks. Each adds one with every fault.
const (
	NoLeak          Leak = "none"
	LeakMemory      Leak = "memory"
	LeakGoroutines  Leak = "goroutines"
	LeakDescriptors Leak = "descriptors"
)

// load is everything that a host is kept busy with. Each operation holds the gate for reading; whoever takes it for
// writing waits until none runs, and none begins.
type load struct {
	host  *host
	store *session.Store
	names []string
	leak  Leak
	leaks []any

	gate    sync.RWMutex
	life    context.Context
	end     context.CancelFunc
	workers sync.WaitGroup

	mu     sync.Mutex
	counts Counts
	err    error
}

// begin puts a host under load.
func begin(h *host, store *session.Store, seed uint64, leak Leak) *load {
	l := &load{host: h, store: store, leak: leak, counts: Counts{Faults: map[string]int64{}, Answers: map[string]int64{}}}
	for _, s := range h.fleet.Status() {
		l.names = append(l.names, s.Name)
	}
	l.life, l.end = context.WithCancel(context.Background())
	for n := range callers {
		random := rand.New(rand.NewPCG(seed, uint64(n)))
		l.repeat(func() { l.operate(random) }, func() time.Duration { return upTo(random, 40*time.Millisecond) })
	}
	random := rand.New(rand.NewPCG(seed, callers))
	l.repeat(func() { l.strike(random) }, func() time.Duration { return upTo(random, 600*time.Millisecond) })
	l.workers.Go(l.remember)
	return l
}

// repeat does something again and again, with pauses, until the load ends.
func (l *load) repeat(do func(), pause func() time.Duration) {
	l.workers.Go(func() {
		for {
			select {
			case <-l.life.Done():
				return
			case <-time.After(pause()):
			}
			l.gate.RLock()
			do()
			l.gate.RUnlock()
		}
	})
}

func (l *load) stop() {
	l.end()
	l.workers.Wait()
}

func (l *load) broken() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.err
}

func (l *load) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.err = errors.Join(l.err, err)
}

// counted is a copy of the counts, with the restarts that the fleet knows of.
func (l *load) counted() Counts {
	var generations int64
	for _, s := range l.host.fleet.Status() {
		generations += s.Generation - 1
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	counts := l.counts
	counts.Faults, counts.Answers, counts.Restarts = maps.Clone(counts.Faults), maps.Clone(counts.Answers), generations
	return counts
}

func (l *load) any(random *rand.Rand) string { return l.names[random.IntN(len(l.names))] }

// operate makes one operation of the mix.
func (l *load) operate(random *rand.Rand) {
	name := l.any(random)
	switch at := random.IntN(100); {
	case at < 60:
		l.count(name, 1+random.IntN(30))
	case at < 70:
		l.count(name, 2000+random.IntN(20_000)) // tens to hundreds of KiB
	case at < 75:
		l.atOnce(24, func() { l.count(name, 3) })
	case at < 90:
		l.cancel(name, upTo(random, 50*time.Millisecond))
	default:
		after := upTo(random, 5*time.Millisecond)
		l.atOnce(8, func() { l.cancel(name, after) })
	}
}

func (l *load) atOnce(count int, do func()) {
	var all sync.WaitGroup
	for range count {
		all.Go(do)
	}
	all.Wait()
}

// count has words counted and holds the answer against what it must be.
func (l *load) count(name string, words int) {
	tool := "count_words"
	if isRaw(name) {
		tool = "count"
	}
	arguments, _ := json.Marshal(map[string]string{"text": strings.Repeat("octet ", words)})
	result, err := l.call(context.Background(), name, tool, arguments)
	l.mu.Lock()
	defer l.mu.Unlock()
	switch {
	case err != nil:
		l.counts.Failed++
	case strings.TrimSpace(result.Text()) != fmt.Sprintf("%d words", words):
		l.counts.Wrong++
	default:
		l.counts.Answered++
		l.counts.Answers[name]++
	}
}

// cancel begins a call that takes long and gives it up.
func (l *load) cancel(name string, after time.Duration) {
	tool, arguments := "count_slowly", []byte(`{"delay_ms":10000,"text":"one two three"}`)
	if isRaw(name) {
		tool, arguments = "slow", nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), after)
	defer cancel()
	_, err := l.call(ctx, name, tool, arguments)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err == nil {
		l.counts.Wrong++
		return
	}
	l.counts.Cancelled++
}

// call makes one call. That its extension is away is no answer, and no reason to wait for long.
func (l *load) call(ctx context.Context, name, tool string, arguments []byte) (result *extension.ToolResult, err error) {
	l.mu.Lock()
	l.counts.Calls++
	l.mu.Unlock()
	ctx, cancel := context.WithTimeout(ctx, 5*time.Second)
	defer cancel()
	err = l.host.fleet.Get(name).Use(ctx, func(ctx context.Context, on supervise.Running) (err error) {
		result, err = on.Call(ctx, extension.Request{Tool: tool, Arguments: arguments})
		return err
	})
	return result, err
}

// upTo draws a duration.
func upTo(random *rand.Rand, most time.Duration) time.Duration {
	return time.Duration(random.Int64N(int64(most)))
}

func isRaw(name string) bool { return strings.HasPrefix(name, raw+"-") }

// maxRecords is when a new session is begun.
const maxRecords = 200

// remember writes one session after the other.
func (l *load) remember() {
	for l.life.Err() == nil {
		if err := l.converse(); err != nil {
			l.fail(fmt.Errorf("write a session: %w", err))
			return
		}
	}
}

func (l *load) converse() (err error) {
	info, err := l.store.Create(context.Background(), session.New{Workspace: filepath.Join(l.host.dir, workspaceName)})
	if err != nil {
		return err
	}
	into, err := l.store.Begin(context.Background(), info.ID)
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, into.Close()) }()
	for n := range maxRecords {
		select {
		case <-l.life.Done():
			return nil
		case <-time.After(50 * time.Millisecond):
		}
		if err := l.record(into, fmt.Sprint(os.Getpid(), "-", n)); err != nil {
			return err
		}
	}
	return nil
}

func (l *load) record(into *session.Session, text string) error {
	l.gate.RLock()
	defer l.gate.RUnlock()
	_, err := into.Append(context.Background(), session.Entry{Value: session.Message{Message: conversation.Message{
		Role: conversation.User, Parts: []conversation.Part{conversation.TextPart(text)},
	}}})
	l.mu.Lock()
	defer l.mu.Unlock()
	l.counts.Records++
	return err
}
