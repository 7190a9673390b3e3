package extension

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
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
	profile *peer.Profile
	conn    *peer.Conn
	tools   []*tool
	session atomic.Pointer[session] // nil until initialize is answered
	refused atomic.Value            // why initialize was refused, an error
}

// start begins to serve one session. Hangup ends a blocked read and a blocked write.
func (e *Extension) start(source peer.Source, sink peer.Sink, hangup func()) *server {
	s := &server{ext: e, profile: e.profile(), tools: e.catalog()}
	s.conn = peer.New(peer.Options{
		Profile:  s.profile,
		Source:   source,
		Sink:     sink,
		Hangup:   hangup,
		Handle:   s.handle,
		Notice:   func(*peer.Notice) {},
		Diagnose: e.diagnose,

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
	case featurewire.MethodInitialize:
		return s.initialize(r)
	case featurewire.MethodToolCall:
		return s.toolCall(ctx, r)
	case canonicalwire.MethodHookRun:
		return s.sessionHook(ctx, r)
	case featurewire.MethodShutdown:
		return s.shutdown(ctx, r)
	default: // nothing else has been opened
		return nil, peer.Fail(s.profile.Errors.UnknownMethod, nil)
	}
}

func (s *server) initialize(r *peer.Request) (peer.Value, error) {
	answer, agreed, err := s.ext.dialect.initialize(r.Params, s.tools, s.ext.concurrency)
	if err != nil {
		s.refused.Store(refusedError{err})
		r.Final()
		return nil, s.fail(err)
	}
	s.compareManifest(agreed.declared)
	if agreed.hooksMissing {
		s.ext.log.printf("the manifest declares session hooks, which this host does not offer: none will come")
	}
	s.session.Store(agreed)
	r.BeforeAnswer(func() { s.conn.Install(agreed.install) })
	return answer, nil
}

// compareManifest tells the author about a catalog that the host will refuse.
func (s *server) compareManifest(declared declaration) {
	names := make([]string, 0, len(s.tools))
	for _, t := range s.tools {
		names = append(names, t.name)
	}
	listed := slices.Sorted(slices.Values(declared.tools))
	if declared.known && !slices.Equal(names, listed) {
		s.ext.log.printf("the manifest declares the tools [%s], the program has [%s]: make contributes.tools agree with it",
			strings.Join(listed, ", "), strings.Join(names, ", "))
	}
}

func (s *server) shutdown(ctx context.Context, r *peer.Request) (peer.Value, error) {
	answer, err := s.ext.dialect.shutdown(r.Params)
	if err != nil {
		return nil, err
	}
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
	asked, err := s.ext.dialect.toolCall(document.Root())
	if err != nil {
		return nil, s.fail(err)
	}
	at, found := slices.BinarySearchFunc(s.tools, asked.name, compareName)
	if !found {
		return nil, s.fail(s.ext.dialect.unknownTool(asked.name))
	}
	call := &Call{tool: asked.name, context: asked.context, session: s.session.Load(), request: r, ctx: ctx}
	return s.run(ctx, call, s.tools[at], document.Root().Member(argumentsMember))
}

// run calls the tool and answers for it.
func (s *server) run(ctx context.Context, call *Call, t *tool, arguments wirejson.Value) (peer.Value, error) {
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
	return s.ext.dialect.result(o)
}

// failed answers for a handler that returned an error.
func (s *server) failed(ctx context.Context, t *tool, err error) (peer.Value, error) {
	var (
		badArguments *argumentError
		toolFailed   *ToolError
		panicked     *handlerPanic
	)
	switch {
	case errors.As(err, &badArguments):
		return nil, s.fail(s.ext.dialect.invalidParams("/arguments"+badArguments.pointer, badArguments.detail))
	case ctx.Err() != nil:
		return nil, context.Cause(ctx)
	case errors.As(err, &toolFailed):
		return s.encode(&Result{Content: []string{toolFailed.Message}, IsError: true}, nil)
	case errors.As(err, &panicked):
		s.ext.log.printf("tool %q %v\n%s", t.name, panicked, panicked.stack)
	default:
		s.ext.log.printf("tool %q: %v", t.name, err)
	}
	return s.encode(&Result{Content: []string{fmt.Sprintf("tool %q: %v", t.name, err)}, IsError: true}, nil)
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
