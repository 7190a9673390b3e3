// Package exttest is a host for the tests of an extension: the same protocol over pipes in memory, without a
// process.
//
//	func TestCount(t *testing.T) {
//		host := exttest.Start(t, tools())
//		result := host.Call("count", map[string]any{"text": "one two"})
//		if result.Text != "2 words" {
//			t.Errorf("text %q", result.Text)
//		}
//	}
//
// The host works inside a testing/synctest bubble, where waiting costs nothing.
package exttest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/runtime/envelope"
	"github.com/octet-dev/octet/runtime/frame"
	"github.com/octet-dev/octet/runtime/peer"
	"github.com/octet-dev/octet/sdk-go/extension"
)

// Options are what the host offers. A nil *Options is an ordinary host: everything the SDK can use is
// offered, and the manifest declares the extension's own tools and notifications.
type Options struct {
	// Flags are the values of the flags that the manifest declares: each a bool, a string or an integer.
	// API 0.1 has none.
	Flags map[string]any
	// Workspace is the root of the workspace; "/workspace" by default.
	Workspace string
	// Owner is the session that owns the calls; none by default. API 0.1 has none.
	Owner *extension.Owner
	// NoProgress leaves progress out of the offer.
	NoProgress bool
	// NoNotifications has the manifest declare no notifications.
	NoNotifications bool
	// Concurrency is how many calls the host has in flight at most; 64 by default.
	Concurrency int
	// SessionHooks has the manifest declare the session hooks, and the host offer them. API 0.3 alone has
	// them.
	SessionHooks bool
	// Services answer the requests of the extension, by noun and verb, such as "composer.set". A request that
	// nothing answers fails the test; shortcuts and changes of the catalog the host admits by itself.
	Services map[string]Service
	// Withhold lists features of API 0.2 and 0.4, or capabilities of API 0.3, that the host does not offer.
	Withhold []string
	// Undeclared lists members that the manifest does not declare though something is registered for them or
	// they are always declared, such as "presentation".
	Undeclared []string
	// FrameBytes is the offered payload bound of API 0.3; 1 MiB by default.
	FrameBytes int
}

// Host is a host that runs one extension. Its methods may be called from any goroutine, those that may fail
// the test from the test's own.
type Host struct {
	t       testing.TB
	options Options
	side    side
	conn    *peer.Conn
	api     extension.API
	served  chan error // what Serve returned

	closing sync.Once

	mu            sync.Mutex
	tools         []Tool
	running       map[wirejson.ID]*Pending
	notifications []Notification
	services      map[string]Service
	sent          []Message
	looked        int           // of sent, by NextSent
	cancelled     []string      // ids of requests the extension has given up
	moreSent      chan struct{} // closed at the next message
	revision      int64         // of the catalog
	initialized   string
}

// Tool is one tool of the catalog as the host sees it.
type Tool struct {
	Name, Description string
	Parameters        json.RawMessage
	OutputSchema      json.RawMessage // nil for none
}

// Notification is a message to the person.
type Notification struct {
	Level          extension.Level // LevelInfo where the extension names none
	Title, Message string
}

// Start starts an extension under a host with the default options and negotiates. It fails the test if that
// does not succeed. The host closes when the test ends, see Close.
func Start(t testing.TB, ext *extension.Extension) *Host {
	t.Helper()
	return StartWith(t, ext, nil)
}

// StartWith is Start with options; nil is all defaults.
func StartWith(t testing.TB, ext *extension.Extension, options *Options) *Host {
	t.Helper()
	h, err := start(t, ext, options)
	if err != nil {
		t.Fatalf("exttest: initialize: %v", err)
	}
	return h
}

func start(t testing.TB, ext *extension.Extension, options *Options) (*Host, error) {
	down, toExtension := io.Pipe()
	fromExtension, up := io.Pipe()
	served := make(chan error, 1)
	go func() { served <- ext.Serve(context.Background(), down, up) }()
	return connect(t, ext, options, fromExtension, toExtension, served)
}

// StartCommand is StartWith for a program: command is what a host would run, and ext says which API version it
// speaks and what its manifest declares. The test host gives it the variables of the protocol that it needs.
// What the program writes to stderr goes to that of the test.
func StartCommand(t testing.TB, command *exec.Cmd, ext *extension.Extension, options *Options) *Host {
	t.Helper()
	if command.Env == nil {
		command.Env = os.Environ()
	}
	command.Env = append(command.Env, featurewire.TableWireEnvironment[0].Variable+"="+string(ext.API()))
	if command.Stderr == nil {
		command.Stderr = os.Stderr
	}
	toExtension, err := command.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	fromExtension, up, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	command.Stdout = up
	if err := command.Start(); err != nil {
		t.Fatal(err)
	}
	_ = up.Close() // the program has its own
	served := make(chan error, 1)
	go func() { served <- command.Wait() }()
	t.Cleanup(func() { _ = command.Process.Kill() })
	h, err := connect(t, ext, options, fromExtension, toExtension, served)
	if err != nil {
		t.Fatalf("exttest: initialize: %v", err)
	}
	return h
}

// connect speaks to an extension over a pair of streams; served tells how it ended.
func connect(t testing.TB, ext *extension.Extension, options *Options, from io.ReadCloser, to io.WriteCloser, served chan error) (*Host, error) {
	h := &Host{t: t, served: served, running: map[wirejson.ID]*Pending{}}
	if options != nil {
		h.options = *options
	}
	h.options.fill()
	h.side, h.api = sideOf(ext), ext.API()
	h.services, h.moreSent = h.options.Services, make(chan struct{})
	profile, err := h.side.profile()
	if err != nil {
		return nil, err
	}
	h.conn = peer.New(peer.Options{
		Profile: profile,
		Source:  frame.NewReader(from, profile.Wire, profile.Side.Other(), profile.MaxFrameBytes),
		Sink:    frame.NewWriter(to, profile.Wire, profile.Side, profile.MaxFrameBytes),
		Hangup: func() {
			_ = to.Close() // these two never fail
			_ = from.Close()
		},
		Handle:   h.serve,
		Early:    []string{featurewire.MethodShortcutRegister},
		Notice:   h.notice,
		Diagnose: func(d peer.Diagnostic) { t.Logf("exttest: %s", d.Text) },
	})
	h.conn.Start()
	t.Cleanup(h.Close)
	return h, h.initialize(ext)
}

func (o *Options) fill() {
	if o.Workspace == "" {
		o.Workspace = "/workspace"
	}
	if o.Concurrency == 0 {
		o.Concurrency = featurewire.MaxConcurrentRequests
	}
	if o.FrameBytes == 0 {
		o.FrameBytes = canonicalwire.MaxFrameBytes
	}
}

func (h *Host) initialize(ext *extension.Extension) error {
	params, err := h.side.initialize(&h.options, ext.Contributes())
	if err != nil {
		return err
	}
	_, err = h.conn.Do(context.Background(), peer.Call{
		Method: featurewire.MethodInitialize,
		Params: params,
		Install: func(result []byte) error {
			tools, session, err := h.side.agree(&h.options, params, result)
			if err != nil {
				return err
			}
			h.tools = tools
			h.initialized = string(result)
			h.conn.Install(session)
			return nil
		},
	})
	return asError(err)
}

// Initialized returns the answer to initialize as JSON.
func (h *Host) Initialized() string { return h.initialized }

// Tools returns the catalog, ascending by name.
func (h *Host) Tools() []Tool {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]Tool(nil), h.tools...)
}

// Notifications returns the messages to the person so far, in order.
func (h *Host) Notifications() []Notification {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]Notification(nil), h.notifications...)
}

// notice takes what the extension sends, in order.
func (h *Host) notice(n *peer.Notice) {
	if m := h.methodOf(n.Method); m.Service != "" {
		h.keep(m, n.Params)
		if shape, _ := m.Shape(string(h.api)); shape.Params != "" {
			if _, err := h.decode(shape.Params, n.Params); err != nil {
				h.t.Errorf("exttest: params of %s break their model: %v", n.Method, err)
			}
		}
	}
	switch n.Method {
	case featurewire.MethodProgress:
		progress, err := featurewire.DecodeProgressParams(n.Params)
		if err != nil {
			h.t.Errorf("exttest: progress breaks its model: %v", err)
			return
		}
		h.mu.Lock()
		pending := h.running[progress.RequestID]
		h.mu.Unlock()
		if pending == nil {
			h.t.Errorf("exttest: progress for %s, which is no running call", progress.RequestID)
			return
		}
		pending.take(progress.Event)
	case featurewire.MethodNotification:
		message, err := featurewire.DecodeNotification(n.Params)
		if err != nil {
			h.t.Errorf("exttest: notification breaks its model: %v", err)
			return
		}
		h.mu.Lock()
		defer h.mu.Unlock()
		h.notifications = append(h.notifications, Notification{
			Level: extension.Level(message.Level.Or(featurewire.NotificationLevelInfo)),
			Title: message.Title.Or(""), Message: message.Message,
		})
	}
}

// endTime is how long an extension may take to end in all, as a real host gives it: two seconds for the
// answer to shutdown and two to exit.
const endTime = (featurewire.ShutdownReplyMs + featurewire.ExitMs) * time.Millisecond

// Close asks the extension to shut down and waits for it. It fails the test if the extension does not end in
// time, which is what a handler does that ignores its context, or ends with an error. Closing twice is
// harmless.
func (h *Host) Close() {
	h.t.Helper()
	h.closing.Do(func() {
		h.t.Helper()
		ctx, cancel := context.WithTimeout(context.Background(), endTime)
		defer cancel()
		_, err := h.conn.Call(ctx, featurewire.MethodShutdown, peer.Raw("{}"))
		if err != nil { // it was never ready, or has ended already
			_ = h.conn.Close() // what ended it is known to Serve as well
		}
		select {
		case served := <-h.served:
			if served != nil && !errors.Is(served, extension.ErrRefused) {
				h.t.Errorf("exttest: the extension ended with: %v", served)
			}
		case <-ctx.Done():
			h.t.Errorf("exttest: the extension has not ended %s after shutdown: is there a handler that ignores its context?", endTime)
		}
		// What the host was about to say when the extension left meets a closed pipe; that is nobody's fault.
		if closed := h.conn.Close(); closed != nil && err == nil && !errors.Is(closed, io.ErrClosedPipe) {
			h.t.Errorf("exttest: the conversation ended with: %v", closed)
		}
	})
}

// Error is an error answer of the extension.
type Error struct {
	Code    int64
	Message string
	Data    json.RawMessage // nil for none
}

// Error returns message, code and data.
func (e *Error) Error() string {
	if e.Data == nil {
		return fmt.Sprintf("%s (%d)", e.Message, e.Code)
	}
	return fmt.Sprintf("%s (%d) %s", e.Message, e.Code, e.Data)
}

// IsCancelled reports whether err is the answer that a call was cancelled.
func IsCancelled(err error) bool {
	var e *Error
	return errors.As(err, &e) && e.Code == featurewire.CodeRequestCancelled
}

// asError turns an error answer into an *Error.
func asError(err error) error {
	var answer *peer.Error
	if errors.As(err, &answer) {
		return &Error{Code: answer.Code, Message: answer.Message, Data: answer.Data}
	}
	return err
}

// register makes a call known before its frame is written, so that no progress of it is too early.
func (h *Host) register(id envelope.ID, p *Pending) {
	h.mu.Lock()
	defer h.mu.Unlock()
	h.running[id.Wire()] = p
	p.id = id.Wire()
}

func (h *Host) forget(p *Pending) {
	h.mu.Lock()
	defer h.mu.Unlock()
	delete(h.running, p.id)
}
