package extension

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"runtime/debug"
	"slices"
	"sync"
	"sync/atomic"
	"time"

	jsonv2 "github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/runtime/frame"
	"github.com/octet-dev/octet/runtime/peer"
)

// graceTime is how long a handler may take to return once its call is cancelled, shutdown has arrived, or
// stdin has ended. It is half of what a host gives each of them (EXT04-CANCEL-001, EXT04-SHUT-001).
const graceTime = time.Second

// childPrefix begins the ids of the extension's own requests, so that the host cannot take one for its own.
const childPrefix = "c-"

// ErrRefused is returned by Serve when the extension has refused its first initialize: the host speaks
// another version or requires what this SDK does not have. The error that wraps it says why.
var ErrRefused = errors.New("initialize was refused")

// server is one session.
//
// The life of a call, from the peer's Handle:
//
//	handle            one request, on a goroutine of its own
//	  toolCall        decode the parameters, find the tool
//	    guarded       decode the arguments, run the author's handler, catch its panic
//	    answer        handler's result -> outcome -> result of the wire, or an error answer
type server struct {
	ext     *Extension
	plan    *plan
	profile *peer.Profile
	conn    *peer.Conn
	session atomic.Pointer[session] // nil until initialize is agreed
	refused atomic.Value            // why initialize was refused, an error

	catalog   catalog
	events    events
	memory    memory
	streams   streams
	bus       bus
	detected  detected
	shortcuts []Shortcut // those the host has admitted; set before initialize is answered

	life     context.Context // of what runs beside the requests; it ends when the session drains
	die      context.CancelFunc
	spawning sync.Mutex // held while a goroutine is added to wg, or none may be any more
	wg       sync.WaitGroup
}

// start begins to serve one session. Hangup ends a blocked read and a blocked write.
func (e *Extension) start(source peer.Source, sink peer.Sink, hangup func()) *server {
	s := &server{ext: e, plan: e.freeze(), profile: e.profile()}
	s.life, s.die = context.WithCancel(context.Background())
	s.catalog.start(s.plan.tools)
	s.conn = peer.New(peer.Options{
		Profile: s.profile,
		Source:  source,
		Sink:    sink,
		Hangup: func() {
			s.retire()
			if hangup != nil {
				hangup()
			}
		},
		Handle:   s.handle,
		Notice:   s.notice,
		Diagnose: e.diagnose,
		IDPrefix: childPrefix,

		HandlerGrace: graceTime,
		EndGrace:     graceTime,
	})
	s.conn.Start()
	return s
}

func (e *Extension) profile() *peer.Profile {
	if e.api == API03 {
		return peer.CanonicalProfile(frame.Extension)
	}
	profile, err := peer.FeatureProfile(frame.Extension, string(e.api))
	if err != nil {
		panic("extension: " + err.Error()) // New has checked the version
	}
	return profile
}

// Serve serves one session on a pair of streams and returns when it has ended: nil after shutdown and after
// the end of in, an error that wraps ErrRefused after a refused initialize, and otherwise what ended the
// stream. When ctx ends, so does the session, and the cause is returned. Streams that are io.Closers are
// closed, which must end a read or write in progress. Handlers that are still running are cancelled and
// waited for.
func (e *Extension) Serve(ctx context.Context, in io.Reader, out io.Writer) error {
	s := e.start(e.streams(in, out))
	closed := make(chan struct{})
	stop := context.AfterFunc(ctx, func() {
		defer close(closed)
		_ = s.conn.Close() // Wait tells how the session ended
	})
	err := s.conn.Wait()
	s.wg.Wait()
	if !stop() {
		<-closed
		return context.Cause(ctx)
	}
	return s.verdict(err)
}

// streams frames a pair of streams.
func (e *Extension) streams(in io.Reader, out io.Writer) (peer.Source, peer.Sink, func()) {
	p := e.profile()
	hangup := func() {
		for _, stream := range []any{in, out} {
			if closer, ok := stream.(io.Closer); ok {
				_ = closer.Close() // the session is over; there is nothing to save
			}
		}
	}
	return frame.NewReader(in, p.Wire, p.Side.Other(), p.MaxFrameBytes), frame.NewWriter(out, p.Wire, p.Side, p.MaxFrameBytes), hangup
}

// diagnose writes a fact for people. What is about the host's frames cites the rule.
func (e *Extension) diagnose(d peer.Diagnostic) {
	text := d.Text
	if d.Method != "" {
		text = fmt.Sprintf("%s: %s", d.Method, text)
	}
	if d.Err != nil {
		text = fmt.Sprintf("%s: %v", text, d.Err)
	}
	if d.Rule != "" {
		text = fmt.Sprintf("%s (%s)", text, d.Rule)
	}
	e.log.printf("%s", text)
}

// verdict turns the end of the stream into what Serve returns.
func (s *server) verdict(err error) error {
	if refused := s.refused.Load(); refused != nil {
		return fmt.Errorf("%w: %w", ErrRefused, refused.(refusedError).error)
	}
	if err == nil || errors.Is(err, io.EOF) {
		return nil
	}
	return err
}

// refusedError gives errors of all types the one that an atomic.Value wants.
type refusedError struct{ error }

func (s *server) handle(ctx context.Context, r *peer.Request) (peer.Value, error) {
	switch r.Method {
	case featurewire.MethodToolCall:
		return s.toolCall(ctx, r)
	case featurewire.MethodInitialize:
		return s.initialize(ctx, r)
	case featurewire.MethodShutdown:
		return s.shutdown(ctx, r)
	}
	if s.ext.api == API03 {
		return s.handleCanonical(ctx, r)
	}
	return s.handleFeature(ctx, r)
}

func (s *server) handleFeature(ctx context.Context, r *peer.Request) (peer.Value, error) {
	switch r.Method {
	case featurewire.MethodCommandExecute:
		return s.command(ctx, r)
	case featurewire.MethodHookRun:
		return s.hook(ctx, r)
	case featurewire.MethodContextCollect:
		return s.collectContext(ctx, r)
	case featurewire.MethodStatusCollect:
		return s.collectStatus(ctx, r)
	case featurewire.MethodMenuCollect:
		return s.collectMenu(ctx, r)
	case featurewire.MethodToolRender:
		return s.render(ctx, r)
	case featurewire.MethodUIAutocompleteComplete:
		return s.complete(ctx, r)
	case featurewire.MethodResourceDispose:
		return s.disposeAll(ctx, r)
	case featurewire.MethodUITerminalInputIntercept:
		return s.interceptInput(ctx, r)
	}
	return nil, s.unserved(r) // nothing else has been opened
}

func (s *server) handleCanonical(ctx context.Context, r *peer.Request) (peer.Value, error) {
	switch r.Method {
	case canonicalwire.MethodHookRun:
		return s.sessionHook(ctx, r)
	case canonicalwire.MethodMigrationDetect:
		return s.migrationDetect(ctx, r)
	case canonicalwire.MethodMigrationImport:
		return s.migrationImport(ctx, r)
	case canonicalwire.MethodProviderStream:
		return s.acceptStream(ctx, r)
	}
	return nil, peer.Fail(s.profile.Errors.UnknownMethod, nil) // nothing else has been opened
}

func (s *server) initialize(ctx context.Context, r *peer.Request) (peer.Value, error) {
	answer, agreed, err := s.ext.dialect.initialize(r.Params, s.ext, s.plan)
	if err != nil {
		s.refused.Store(refusedError{err})
		r.Final()
		return nil, s.fail(err)
	}
	s.session.Store(agreed)
	s.compareManifest(agreed)
	if agreed.hooksMissing {
		s.ext.log.printf("the manifest declares session hooks, which this host does not offer: none will come")
	}
	s.registerShortcuts(ctx, r)
	r.BeforeAnswer(func() { s.conn.Install(agreed.install) })
	r.Behind(func(result bool) {
		for _, ready := range s.plan.ready {
			if result {
				s.spawn("ready handler", func(ctx context.Context) error {
					ready(ctx, s.own(ctx))
					return nil
				})
			}
		}
	})
	return answer, nil
}

// own returns a scope of the session itself.
func (s *server) own(ctx context.Context) *Scope {
	scope := new(Scope)
	scope.init(s, sessionScope, nil, ctx, s.session.Load().context)
	return scope
}

// guard runs what the author has registered for a request and answers for it: an error and a panic are
// written to the log, and the host hears only that the extension failed.
func (s *server) guard(ctx context.Context, what string, run func() (wirejson.Encoder, error)) (value peer.Value, err error) {
	defer func() {
		if thrown := recover(); thrown != nil {
			s.ext.log.printf("%s panicked: %v\n%s", what, thrown, debug.Stack())
			value, err = nil, peer.Fail(s.profile.Errors.Internal, nil)
		}
	}()
	result, err := run()
	switch {
	case err != nil && ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case err != nil:
		s.ext.log.printf("%s: %v", what, err)
		return nil, peer.Fail(s.profile.Errors.Internal, nil)
	}
	if err := result.Validate(); err != nil {
		s.ext.log.printf("%s: the result is refused: %v", what, err)
		return nil, peer.Fail(s.profile.Errors.Internal, nil)
	}
	return result, nil
}

func (s *server) shutdown(ctx context.Context, r *peer.Request) (peer.Value, error) {
	answer, err := s.ext.dialect.shutdown(r.Params)
	if err != nil {
		return nil, err
	}
	s.retire()
	ctx, cancel := context.WithTimeout(ctx, graceTime)
	defer cancel()
	r.Drain(ctx, "shutdown")
	r.Final()
	return answer, nil
}

func (s *server) toolCall(ctx context.Context, r *peer.Request) (peer.Value, error) {
	document, err := wirejson.Parse(r.Params, s.ext.dialect.maxDepth())
	if err != nil {
		return nil, err
	}
	defer document.Release()
	document.Borrow() // the dialects copy what outlives the call
	agreed := s.session.Load()
	asked, err := s.ext.dialect.toolCall(document.Root(), agreed)
	if err != nil {
		return nil, s.fail(err)
	}
	tools := s.catalog.now.Load().tools
	if asked.pinned {
		known := false
		if tools, known = s.catalog.at(asked.revision); !known {
			return nil, s.fail(&refusal{
				row: featurewire.ErrInvalidParams, message: fmt.Sprintf("unknown or retired tool catalog revision: %d", asked.revision),
			})
		}
	}
	at, found := slices.BinarySearchFunc(tools, asked.name, compareName)
	if !found {
		return nil, s.fail(s.ext.dialect.unknownTool(asked.name))
	}
	call := &Call{tool: asked.name, revision: asked.revision}
	call.init(s, toolScope, r, ctx, asked.context)
	if s.ext.api != API03 {
		r.Instead(s.tooLarge)
	}
	r.Exited(func() (peer.Value, error) { return s.failed(ctx, tools[at], errExited) })
	return s.run(ctx, call, tools[at], document.Root().Member(argumentsMember))
}

// tooLarge is the result in place of one that no frame can hold.
func (s *server) tooLarge(err error) peer.Value {
	value, err := s.encode(&Result{Content: []string{fmt.Sprintf("the result is too large: %v", err)}, IsError: true}, nil)
	if err != nil {
		panic("extension: " + err.Error()) // a text fits every bound
	}
	return value
}

// run calls the tool and answers for it.
func (s *server) run(ctx context.Context, call *Call, t *Tool, arguments wirejson.Value) (peer.Value, error) {
	result, structured, err := t.guarded(ctx, call, arguments)
	if err != nil {
		return s.failed(ctx, t, err)
	}
	value, err := s.encode(result, structured)
	if err != nil {
		return s.failed(ctx, t, err)
	}
	return value, nil
}

func (s *server) encode(result *Result, structured json.RawMessage) (peer.Value, error) {
	o, err := newOutcome(result, structured)
	if err != nil {
		return nil, err
	}
	return s.ext.dialect.result(o, s.session.Load())
}

// failed answers for a handler that returned an error.
func (s *server) failed(ctx context.Context, t *Tool, err error) (peer.Value, error) {
	var (
		badArguments *argumentError
		toolFailed   *ToolError
		panicked     *handlerPanic
	)
	switch {
	case errors.As(err, &badArguments):
		return nil, s.fail(s.ext.dialect.invalidParams(badArguments.kind, "/arguments"+badArguments.pointer, badArguments.detail))
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.As(err, &toolFailed):
		return s.encode(&Result{Content: []string{toolFailed.Message}, IsError: true}, nil)
	case errors.As(err, &panicked):
		s.ext.log.printf("tool %q %v\n%s", t.name, panicked, panicked.stack)
	default:
		s.ext.log.printf("tool %q: %v", t.name, err)
	}
	return s.encode(&Result{Content: []string{failureText(fmt.Sprintf("tool %q: %v", t.name, err))}, IsError: true}, nil)
}

// fail turns a refusal into the peer's error. Others the peer knows by itself.
func (s *server) fail(err error) error {
	var refused *refusal
	if !errors.As(err, &refused) {
		return err
	}
	var data peer.Value
	if refused.data != nil {
		text, err := jsonv2.Marshal(refused.data, encoding, jsontext.AllowInvalidUTF8(true))
		if err != nil {
			panic("extension: " + err.Error()) // data holds strings only
		}
		data = peer.Raw(text)
	}
	e := peer.Fail(refused.row, data)
	if refused.message != "" {
		e.Message = refused.message
	}
	return e
}
