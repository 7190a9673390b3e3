package extension

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/process"
	"github.com/octet-dev/octet/runtime/envelope"
	"github.com/octet-dev/octet/runtime/frame"
	"github.com/octet-dev/octet/runtime/peer"
)

// Extension is a running extension. Its methods may be called from any goroutine. Whoever started it
// must Close it.
type Extension struct {
	source    *Source
	options   Options
	wire      wire
	process   Program
	scratch   string
	conn      *peer.Conn
	events    *events
	ignored   ignored
	agreement *Agreement
	open      map[string]bool // methods that initialize opened, in either direction

	bound    []*Binding // those that apply
	services map[string]Handler
	notices  map[string]func(*Incoming)
	media    func(context.Context, MediaRef) (conversation.Part, error)
	workers  workers

	calls sync.WaitGroup // running requests of the host
	watch chan struct{}  // closed when the watcher of the process has returned

	mu           sync.Mutex
	running      map[int64]*HostCall // by the id on the wire
	lastID       int64               // of a request of the host
	initializeID int64
	tombs        tombstones      // cancelled requests of the host
	sessions     map[string]bool // owners that the extension was told of
	closing      bool            // no new request of the host is admitted

	accepted atomic.Bool // initialize was: agreement and open stand
	killed   atomic.Bool // by Kill
	draining atomic.Bool // by Drain

	life  context.Context // ends when running calls are to be cancelled
	abort context.CancelFunc

	closeOnce sync.Once
	ending    Ending
}

// Start launches the extension and initializes it. It blocks for at most the initialize deadline and the
// stages of an end. The context covers the start alone: ending it later does nothing. The error is a
// *Failure, or what the options or flags lack.
func Start(ctx context.Context, source *Source, options Options) (*Extension, error) {
	options, err := options.filled()
	if err != nil {
		return nil, err
	}
	flags, err := source.Manifest.FlagValues(options.Flags)
	if err != nil {
		return nil, err
	}
	x := &Extension{
		source: source, options: options,
		watch: make(chan struct{}), running: map[int64]*HostCall{}, sessions: map[string]bool{}, workers: newWorkers(),
	}
	x.bind()
	x.life, x.abort = context.WithCancel(context.Background())
	if x.wire, err = newWire(identity{source: source, flags: flags, workspace: options.Workspace, host: options.Host, bound: x.bound}); err != nil {
		return nil, err
	}
	if err := x.launch(); err != nil {
		return nil, err
	}
	if err := x.initialize(ctx); err != nil {
		x.shutDown()
		return nil, x.explained(err)
	}
	return x, nil
}

func newWire(i identity) (wire, error) {
	api := i.manifest().API
	if i.manifest().Wire() == canonicalwire.Wire {
		return newCanonicalWire(i)
	}
	profile, err := peer.FeatureProfile(frame.Host, api)
	if err != nil {
		return nil, err
	}
	if api == featurewire.Version01 {
		return &legacyWire{identity: i, side: profile}, nil
	}
	return newFeatureWire(i, profile)
}

// launch starts the process and connects to it.
func (x *Extension) launch() error {
	scratch, err := os.MkdirTemp(x.options.ScratchRoot, "octet-"+x.source.Manifest.Name+"-")
	if err != nil {
		return x.notLaunched(err)
	}
	x.scratch = scratch
	program, err := x.source.program(&x.options, scratch)
	if err == nil {
		x.process, err = x.options.Launch(program)
	}
	if err != nil {
		x.removeScratch()
		return x.notLaunched(err)
	}
	x.events = newEvents(x.options.Diagnose)
	profile := x.wire.profile()
	x.conn = peer.New(peer.Options{
		Profile:  profile,
		Source:   frame.NewReader(x.process.Stdout(), profile.Wire, profile.Side.Other(), profile.MaxFrameBytes),
		Sink:     frame.NewWriter(x.process.Stdin(), profile.Wire, profile.Side, profile.MaxFrameBytes),
		Hangup:   x.process.Hangup,
		Arrived:  x.arrived,
		Notice:   x.notice,
		Diagnose: x.diagnosed,
		Early:    x.early(),
		// A service that does not return must not keep an extension from its answer.
		HandlerGrace: profile.Grace,
	})
	x.conn.Start()
	go x.watchProcess()
	return nil
}

func (x *Extension) notLaunched(err error) error {
	return &Failure{
		Kind: Launch, Cause: err,
		Message: fmt.Sprintf("failed to launch extension `%s`: %v", x.source.Manifest.Name, err),
	}
}

// bufferedGrace is how long the connection may go on reading what an ended process has written. After it
// only a descendant can still hold the pipe.
const bufferedGrace = 250 * time.Millisecond

// watchProcess ends the connection when the process has ended, even if somebody else keeps its output
// open.
func (x *Extension) watchProcess() {
	defer close(x.watch)
	select {
	case <-x.process.Exited():
	case <-x.conn.Done():
		return
	}
	select {
	case <-x.options.After(bufferedGrace):
		x.conn.Close()
	case <-x.conn.Done():
	}
}

// initialize settles what both sides speak. Nothing else is sent before it is done.
func (x *Extension) initialize(ctx context.Context) error {
	ctx, cancel := context.WithTimeoutCause(ctx, x.options.Deadlines.Initialize, errInitializeDeadline)
	defer cancel()
	// A cancelled initialize has no meaning on the wire: the process is ended instead.
	stop := context.AfterFunc(ctx, func() { x.conn.Close() })
	defer stop()

	var refused error
	_, err := x.conn.Do(context.WithoutCancel(ctx), peer.Call{
		Method: x.wire.profile().Initialize,
		Params: x.wire.offer(x),
		Issued: func(id envelope.ID) {
			x.mu.Lock()
			defer x.mu.Unlock()
			x.initializeID, _ = id.Wire().Int()
			x.lastID = x.initializeID
		},
		Install: func(answer []byte) error {
			var session *peer.Session
			x.agreement, session, refused = x.wire.accept(answer)
			if refused == nil {
				refused = x.compile(ctx)
			}
			if refused == nil {
				x.open = setOf(session.Open)
				x.accepted.Store(true)
				x.conn.Install(*session)
				x.started()
			}
			return refused
		},
	})
	switch {
	case err == nil && stop():
		if x.source.Manifest.API == canonicalVersion && len(x.source.Manifest.Contributes.Hooks) > 0 && !x.DeclaresSessionHooks() {
			x.events.diagnostic(fmt.Sprintf("this host delivers no hooks; declared are %v", x.source.Manifest.Contributes.Hooks))
		}
		return nil
	case refused != nil:
		return x.failed(Initialize, x.named("answered initialize with what cannot be accepted: "+refused.Error()), refused)
	case ctx.Err() != nil && errors.Is(context.Cause(ctx), errInitializeDeadline):
		return x.failed(Timeout, x.named(fmt.Sprintf("did not answer initialize within %s", x.options.Deadlines.Initialize)), err)
	case ctx.Err() != nil:
		return x.failed(Cancelled, x.named("was cancelled while it initialized"), context.Cause(ctx))
	default:
		return x.initializeFailed(err)
	}
}

var errInitializeDeadline = errors.New("the deadline of initialize is over")

func (x *Extension) initializeFailed(err error) error {
	var answer *peer.Error
	var framing *frame.Error
	switch {
	case errors.As(err, &framing) && framing.From == frame.Host:
		return x.failed(Initialize, x.named(fmt.Sprintf("was not asked to initialize: the request exceeds %d bytes; give shorter flag values", framing.Bound)), err)
	case errors.As(err, &answer):
		return x.failed(Initialize, x.named(fmt.Sprintf("refused to initialize: extension RPC error %d: %s", answer.Code, remote(answer.Message))), err)
	}
	return x.ended(err)
}

func (x *Extension) compile(ctx context.Context) error {
	for _, tool := range x.agreement.Tools {
		if err := tool.compile(ctx, x.wire.strict(), x.events.diagnostic); err != nil {
			return err
		}
	}
	return nil
}

func (x *Extension) diagnosed(d peer.Diagnostic) {
	text := d.Text
	if d.Err != nil {
		text += ": " + d.Err.Error()
	}
	if d.Method != "" {
		text += fmt.Sprintf(", method %q", d.Method)
	}
	if !d.ID.IsZero() {
		text += ", id " + d.ID.String()
	}
	text = ruled(text, d.Rule)
	if d.Blame == peer.Remote {
		x.ignore(text)
		return
	}
	x.events.diagnostic(text)
}

// Agreement is what initialize settled. Treat it as read-only.
func (x *Extension) Agreement() *Agreement { return x.agreement }

// Tool finds a tool of the catalog. The error is an *UnknownToolError.
func (x *Extension) Tool(name string) (*Tool, error) {
	for _, tool := range x.agreement.Tools {
		if tool.Name == name {
			return tool, nil
		}
	}
	unknown := &UnknownToolError{Extension: x.source.Manifest.Name, Tool: name}
	for _, tool := range x.agreement.Tools {
		unknown.Known = append(unknown.Known, tool.Name)
	}
	return nil, unknown
}

// named puts the name of the extension in front of what it did.
func (x *Extension) named(did string) string {
	return fmt.Sprintf("extension `%s` %s", x.source.Manifest.Name, did)
}

// failed brings the process down and reports why.
func (x *Extension) failed(kind Kind, message string, cause error) *Failure {
	report := x.process.End(x.stages())
	return &Failure{Kind: kind, Message: message, Ended: &report, Stderr: x.process.Stderr(), Cause: cause}
}

// ended reports the end of the connection, with what the process said about it.
func (x *Extension) ended(err error) *Failure {
	name := x.source.Manifest.Name
	var broken *peer.ProtocolError
	var framing *frame.Error
	switch {
	case errors.As(err, &framing) && framing.Fault == frame.TooLong:
		return x.failed(Protocol, fmt.Sprintf("extension message exceeded %d bytes: `%s` (%s)", framing.Bound, name, framing.Rule()), err)
	case errors.As(err, &broken) && broken.Blame == peer.Remote:
		return x.failed(Protocol, fmt.Sprintf("extension protocol error: `%s`: %s", name, protocolDetail(broken)), err)
	}
	// The pipes of a process close a moment before the system reports its end.
	select {
	case <-x.process.Exited():
	case <-x.options.After(bufferedGrace):
	}
	failure := x.failed(Closed, "", err)
	switch {
	case failure.Ended.Stage == process.StageSelf:
		failure.Message = fmt.Sprintf("extension process closed: `%s` ended with %s", name, failure.Ended.State)
	case errors.Is(err, io.EOF):
		failure.Message = fmt.Sprintf("extension process closed: `%s` closed its output and %s", name, failure.Ended.Stage)
	default:
		failure.Message = fmt.Sprintf("extension process closed: `%s`: %v", name, err)
	}
	return failure
}

// protocolDetail says what was found, without the blame: it is always the extension's here.
func protocolDetail(e *peer.ProtocolError) string {
	text := e.Text
	if e.Err != nil {
		text += ": " + e.Err.Error()
	}
	return ruled(text, e.Rule)
}

// ruled puts the id of a rule behind a text that does not name it yet.
func ruled(text, rule string) string {
	if mark := "(" + rule + ")"; rule != "" && !strings.Contains(text, mark) {
		return text + " " + mark
	}
	return text
}

func (x *Extension) removeScratch() {
	if err := os.RemoveAll(x.scratch); err != nil && x.events != nil {
		x.events.diagnostic(fmt.Sprintf("scratch directory: %v", err))
	}
}
