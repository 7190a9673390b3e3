package oup

import (
	"context"
	"io"
	"log/slog"
	"net/http"
	"slices"
	"time"

	"github.com/octet-dev/octet/generated/oupwire"
)

// Options say how a client behaves. The zero value is a client that answers nothing by itself.
type Options struct {
	// Name is what the client calls itself; the server echoes it.
	Name string
	// Features are those asked for; nil asks for everything that the protocol names.
	Features []string
	// Profile goes along with every session that names none.
	Profile string

	// Token is the bearer token of a WebSocket. Header goes along with its request. HTTPClient makes it; nil is the
	// default one.
	Token      string
	Header     http.Header
	HTTPClient *http.Client
	// Reconnect says when a WebSocket is connected again.
	Reconnect Backoff

	// Directory and Environment are those of a server process; empty are those of this one. Stderr gets what the
	// process says there; nil passes it on to that of this process.
	Directory   string
	Environment []string
	Stderr      io.Writer

	// OnApproval decides what a tool may do, and OnQuestion answers what the agent asks. Both are called in a goroutine
	// of their own, once for each request; the context ends when the answer is no longer waited for. An error denies,
	// or answers nothing, and is told as the note. Nil answers nothing: somebody else may.
	OnApproval func(ctx context.Context, request Approval) (Decision, error)
	OnQuestion func(ctx context.Context, request Question) ([]Answer, error)
	// OnEvent hears what belongs to no open session, in order. It holds up everything else meanwhile.
	OnEvent func(Event)

	// Timeout bounds the wait for an answer where the context of a call has no deadline; 0 is 30 s.
	Timeout time.Duration
	// Queue is how many events of a session wait for whoever reads them before reading stops; 0 is 1024.
	Queue int
	// Logger is told what goes wrong where nobody waits for it; nil tells nobody.
	Logger *slog.Logger

	stages stages // of the end of a server process; zero are the usual ones
}

// Backoff says how often and when a lost connection is made again: waits grow twofold, and each is drawn between
// nothing and its full length, so that many clients do not come at once.
type Backoff struct {
	First    time.Duration // longest first wait; 0 is one second
	Longest  time.Duration // no wait is longer; 0 is 30 s
	Attempts int           // tries for one loss; 0 is 8, less than 0 is none
}

const (
	firstWait    = time.Second
	defaultQueue = 1024
)

func milliseconds(limit int) time.Duration { return time.Duration(limit) * time.Millisecond }

// completed returns the options with the defaults filled in.
func (o Options) completed() Options {
	if o.Timeout == 0 {
		o.Timeout = milliseconds(oupwire.ClientRequestTimeoutMs)
	}
	if o.Queue == 0 {
		o.Queue = defaultQueue
	}
	if o.Logger == nil {
		o.Logger = slog.New(slog.DiscardHandler)
	}
	if o.Reconnect.First == 0 {
		o.Reconnect.First = firstWait
	}
	if o.Reconnect.Longest == 0 {
		o.Reconnect.Longest = milliseconds(oupwire.ClientReconnectMaxMs)
	}
	if o.Reconnect.Attempts == 0 {
		o.Reconnect.Attempts = oupwire.ClientReconnectAttempts
	}
	return o
}

// features returns the features to ask for.
func (o Options) features() []string {
	if o.Features != nil {
		return slices.Clone(o.Features)
	}
	var all []string
	for _, f := range oupwire.Features {
		if f.Origin == registry {
			all = append(all, f.Name)
		}
	}
	return all
}

// registry is the origin of the features that a client asks for.
const registry = "registry"

// longest returns the bound of a wait before the given try, counted from 0.
func (b Backoff) longest(attempt int) time.Duration {
	wait := b.First
	for ; attempt > 0 && wait < b.Longest; attempt-- {
		wait *= 2
	}
	return min(wait, b.Longest)
}
