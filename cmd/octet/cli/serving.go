package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"os/signal"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/octet-dev/octet/host/agent"
	"github.com/octet-dev/octet/host/oup/access"
	"github.com/octet-dev/octet/host/oup/assembly"
	"github.com/octet-dev/octet/host/oup/transport"
	"github.com/octet-dev/octet/host/oup/web"
	"github.com/octet-dev/octet/host/supervise"
	"github.com/octet-dev/octet/process"
)

// closeCap is how long the end of a server may take, all in all; clients that do not read are given up before.
const closeCap = 15 * time.Second

// errStopped is why a server ends that was told to.
var errStopped = fmt.Errorf("%w: the server is told to end", agent.ErrShutdown)

// stops ends a context with the first signal to end; what follows is bounded. The second signal does not wait.
func stops(ctx context.Context) (_ context.Context, stop context.CancelCauseFunc, finish func()) {
	ctx, cancel := context.WithCancelCause(ctx)
	now := func(number syscall.Signal) {
		process.KillAll()
		os.Exit(signalCode(number))
	}
	var late *time.Timer
	unwatch := watch(append([]os.Signal{os.Interrupt}, ends...), func(s os.Signal) {
		number, _ := s.(syscall.Signal)
		if late != nil {
			now(number)
		}
		late = time.AfterFunc(closeCap, func() { now(number) })
		cancel(errStopped)
	})
	return ctx, cancel, func() {
		unwatch()
		cancel(nil)
		if late != nil {
			late.Stop()
		}
		process.KillAll()
	}
}

// streams serves the program that started this one, until its input ends.
func (s *serve) streams(ctx context.Context, c *console, o assembly.Options) (int, error) {
	if c.stdin == nil || c.outFile == nil {
		return exitUsage, usagef("--stdio needs standard input and output; give them, or use --listen")
	}
	// A reader that goes away is an error of the write: what runs is ended in order.
	broken := make(chan os.Signal, 1)
	signal.Notify(broken, syscall.SIGPIPE)
	defer signal.Stop(broken)
	ctx, _, finish := stops(ctx)
	o.Grace = streamsGrace
	defer finish()
	a, code, err := s.open(ctx, c, o)
	if a == nil {
		return code, err
	}
	served := make(chan error, 1)
	go func() { served <- a.Server.Serve(ctx, transport.NewStdio(interruptible(c.stdin), told{c})) }()
	select {
	case err = <-served:
		served <- nil
	case <-ctx.Done(): // what runs ends at once, also where nobody reads the rest
	}
	closed := a.Close(transport.Restart, supervise.ProductCap)
	err = errors.Join(err, <-served)
	told{c}.ended(err)
	return failed(errors.Join(unlessGone(err), closed))
}

// told is standard output as a server writes it: what cannot be written counts for the exit code, as with any command.
type told struct{ console *console }

// Write writes a frame. One that the end of the server keeps from being read is no failure.
func (t told) Write(frame []byte) (int, error) {
	n, err := t.console.outFile.Write(frame)
	if err != nil && !errors.Is(err, os.ErrClosed) {
		t.console.out.lose(err)
	}
	return n, err
}

// ended keeps for the exit code that the client was given up for reading nothing.
func (t told) ended(err error) {
	if errors.Is(err, transport.ErrGivenUp) {
		t.console.out.lose(syscall.EPIPE)
	}
}

// Close closes standard output.
func (t told) Close() error { return t.console.outFile.Close() }

// streamsGrace is how long the end waits for a client that does not read its standard input any more.
const streamsGrace = 2 * time.Second

// unlessGone keeps the errors that are no end by the client.
func unlessGone(err error) error {
	if errors.Is(err, syscall.EPIPE) || errors.Is(err, transport.ErrGivenUp) || errors.Is(err, transport.ErrStuck) {
		return nil
	}
	return err
}

// interruptible makes a stream whose Close ends a Read that is under way, which that of a blocking file does not.
func interruptible(file *os.File) io.ReadCloser {
	reader, writer := io.Pipe()
	go func() {
		_, err := io.Copy(writer, file)
		writer.CloseWithError(err) // an end without an error reads as io.EOF
	}()
	return reader
}

// sockets serves whoever connects, until a signal or a client ends the server.
func (s *serve) sockets(ctx context.Context, c *console, o assembly.Options, address string) (int, error) {
	var root *os.Root
	if s.webRoot != "" {
		var err error
		if root, err = os.OpenRoot(s.webRoot); err != nil {
			return exitUsage, usagef("--web-root %q cannot be served: %v", s.webRoot, err)
		}
		defer func() { _ = root.Close() }()
	}
	grants := &access.Grants{Directory: o.DataDir}
	if _, err := grants.Check(); err != nil {
		return failed(err)
	}
	ctx, stop, finish := stops(ctx)
	defer finish()
	var asked sync.Once
	reason := transport.Restart
	o.Shutdown = func() {
		asked.Do(func() {
			reason = transport.Ended
			stop(errStopped)
		})
	}
	a, code, err := s.open(ctx, c, o)
	if a == nil {
		return code, err
	}
	listener, err := net.Listen("tcp", address)
	if err != nil {
		return exitUsage, errors.Join(usagef("%v; listen elsewhere, or end what listens there", err), a.Close(reason, supervise.ProductCap))
	}
	site := web.New(web.Options{
		Serve: func(ctx context.Context, conn transport.Conn) {
			if err := a.Server.Serve(ctx, conn); err != nil {
				o.Log(err)
			}
		},
		Token: s.secret(), Origins: append(s.origins, origins()...), Grants: grants, Root: root, Release: Release,
	})
	c.line("octet serves at http://" + listener.Addr().String() + " and ws://" + listener.Addr().String() + transport.WebSocketPath)
	server := &http.Server{Handler: site, ReadHeaderTimeout: 10 * time.Second, MaxHeaderBytes: 64 << 10, IdleTimeout: 2 * time.Minute}
	broken := make(chan error, 1)
	go func() { broken <- server.Serve(web.Relieved(listener, a.House.Relieve)) }()
	select {
	case <-ctx.Done():
	case err = <-broken:
	}
	closed := a.Close(reason, supervise.ProductCap)
	site.Close(reason)
	return failed(errors.Join(err, closed, server.Close()))
}

// origins are those that the environment allows.
func origins() []string {
	var list []string
	for one := range strings.SplitSeq(os.Getenv(originsVariable), ",") {
		if one = strings.TrimSpace(one); one != "" {
			list = append(list, one)
		}
	}
	return list
}
