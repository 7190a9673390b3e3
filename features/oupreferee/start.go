package oupreferee

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/octet-dev/octet/features/oupserver"
	"github.com/octet-dev/octet/features/subject"
	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/process"
)

// Server is one running server.
type Server interface {
	// Connect makes a connection. A server over standard streams takes one.
	Connect(ctx context.Context, features []string) (Line, error)
	// Upgrade tries a connection over WebSocket; see dial. No path is that of every client. It gives the subprotocol
	// that was selected.
	Upgrade(ctx context.Context, path, query string, header http.Header, protocols []string) (Line, string, error)
	// Again ends the server and starts it on what it has kept.
	Again(ctx context.Context) error
	// Issue makes a work secret of a session, good for whole seconds.
	Issue(ctx context.Context, session string, lasts time.Duration) (Secret, error)
	// Ended tells whether the process has ended, and what it said to its standard error.
	Ended() (bool, string)
	// FreshDelay is how long the process has been ready to run while other work had the processors, as far as that has
	// prolonged no wait yet; 0 where it is not known.
	FreshDelay() time.Duration
	Close()
}

// Target is what Start starts.
type Target struct {
	Transport string
	Command   []string // with places; empty for a server that runs already
	Files     []File
	Secret    []string // command that issues a work secret, with places; empty: there is none
	URL       string
	Token     string
	Env       []string
	Wait      time.Duration
	Inside    *oupserver.Fault // a server in this process
	Heartbeat time.Duration    // of that one
}

// errOneClient says that standard streams carry one client.
var errOneClient = errors.New("standard streams carry one connection")

// Start starts a server that keeps its data below root.
func (t *Target) Start(ctx context.Context, root string) (Server, error) {
	if t.Inside != nil {
		return t.inside(root), nil
	}
	if t.URL != "" {
		return &running{target: t, url: t.URL, token: t.Token}, nil
	}
	p := &started{target: t, root: root}
	if err := p.start(ctx); err != nil {
		p.Close()
		return nil, err
	}
	return p, nil
}

// running is a server at an address.
type running struct {
	target     *Target
	url, token string
	stop       func()
	again      func()
	issue      func(ctx context.Context, session string, lasts time.Duration) (Secret, error)
}

func (r *running) Connect(ctx context.Context, features []string) (Line, error) {
	header := http.Header{}
	if r.token != "" {
		header.Set("Authorization", "Bearer "+r.token)
	}
	if len(features) > 0 {
		header.Set(protocol("feature_header"), strings.Join(features, ", "))
	}
	line, _, err := dial(ctx, r.url, "", "", header, nil)
	if err != nil {
		return nil, err
	}
	return line, nil
}

func (r *running) Upgrade(ctx context.Context, path, query string, header http.Header, protocols []string) (Line, string, error) {
	line, selected, err := dial(ctx, r.url, path, query, header, protocols)
	if err != nil {
		return nil, "", err
	}
	return line, selected, nil
}

func (r *running) Again(context.Context) error {
	if r.again == nil {
		return errors.New("a server that is only named by its address is not started again")
	}
	r.again()
	return nil
}

func (r *running) Ended() (bool, string) { return false, "" }

func (r *running) FreshDelay() time.Duration { return 0 }

func (r *running) Issue(ctx context.Context, session string, lasts time.Duration) (Secret, error) {
	if r.issue == nil {
		return Secret{}, fmt.Errorf("%w for a server that is only named by its address", errNoSecrets)
	}
	return r.issue(ctx, session, lasts)
}

func (r *running) Close() {
	if r.stop != nil {
		r.stop()
	}
}

func protocol(name string) string {
	for _, row := range oupwire.TableProtocol {
		if row.Name == name {
			return row.Value
		}
	}
	panic("oupreferee: the protocol has no text " + name)
}

// inside starts a server of ours in this process.
func (t *Target) inside(root string) Server {
	server := oupserver.New(*t.Inside, t.Heartbeat)
	server.Directory = root + "/data"
	if t.Transport == Stdio {
		return &piped{server: server}
	}
	h := httptest.NewServer(server)
	return &running{target: t, url: "ws" + strings.TrimPrefix(h.URL, "http") + oupserver.Path, token: oupserver.Token, again: server.Restart, issue: issuedBy(server), stop: func() {
		h.CloseClientConnections()
		h.Close()
	}}
}

func issuedBy(server *oupserver.Server) func(context.Context, string, time.Duration) (Secret, error) {
	return func(_ context.Context, session string, lasts time.Duration) (Secret, error) {
		secret, err := server.Issue(session, lasts)
		return Secret{Token: secret, Text: secret}, err
	}
}

// piped is a server of ours behind pipes.
type piped struct {
	server *oupserver.Server
	line   *streams
	ended  chan struct{}
}

func (p *piped) Connect(context.Context, []string) (Line, error) {
	if p.line != nil {
		return nil, errOneClient
	}
	inRead, inWrite := io.Pipe()
	outRead, outWrite := io.Pipe()
	p.ended = make(chan struct{})
	go func() {
		defer close(p.ended)
		p.server.ServeStdio(inRead, outWrite)
		_ = outWrite.Close()
		_ = inRead.Close()
	}()
	p.line = newStreams(inWrite, outRead, func() {
		_ = inWrite.Close()
		_ = outRead.Close()
	})
	return p.line, nil
}

func (p *piped) Upgrade(context.Context, string, string, http.Header, []string) (Line, string, error) {
	return nil, "", errOneClient
}

func (p *piped) Issue(context.Context, string, time.Duration) (Secret, error) {
	return Secret{}, errOneClient
}

func (p *piped) Again(context.Context) error {
	return errors.New("a server that keeps nothing is not started again")
}

func (p *piped) Ended() (bool, string) {
	select {
	case <-p.ended:
		return true, ""
	default:
		return false, ""
	}
}

func (p *piped) FreshDelay() time.Duration { return 0 }

func (p *piped) Close() {
	if p.line != nil {
		p.line.Close()
		p.server.Restart() // what still runs there has nobody to tell
		<-p.ended
	}
}

// tagOf marks what is started below a root of its own, so that descendants which left the group are found and ended.
func tagOf(root string) string { return "OCTET_CONFORM_ROOT=" + root }

// treeEnd bounds the wait for the end of what is killed.
const treeEnd = 5 * time.Second

// endTree kills a process and what it has started, which may outlive it.
func endTree(p *process.Process) process.Report {
	p.Kill()
	<-p.Exited()
	return p.End(process.Stages{Kill: treeEnd})
}

// started is a process.
type started struct {
	target *Target
	root   string
	port   int       // 0 over standard streams
	held   io.Closer // keeps other referees from the port

	mu      sync.Mutex
	process *process.Process
	delays  *subject.Delays // of the process
	stderr  strings.Builder
	line    *streams
}

// Places of a command and of files.
const (
	PlaceData      = "{data}"
	PlaceWorkspace = "{workspace}"
	PlacePort      = "{port}"
	PlaceToken     = "{token}"
)

// token is that of servers that the referee starts, its own ones included.
const token = oupserver.Token

func (p *started) places() *strings.Replacer {
	return strings.NewReplacer(PlaceData, p.root+"/data", PlaceWorkspace, p.root+"/workspace", PlacePort, strconv.Itoa(p.port), PlaceToken, token)
}

func (p *started) start(ctx context.Context) error {
	if p.target.Transport == WebSocket && p.port == 0 {
		var err error
		if p.port, p.held, err = reservePort(); err != nil {
			return err
		}
	}
	for _, dir := range []string{"/data", "/workspace"} {
		if err := os.MkdirAll(p.root+dir, 0o700); err != nil {
			return err
		}
	}
	places := p.places()
	if err := writeFiles(p.target.Files, places); err != nil {
		return err
	}
	argv := make([]string, len(p.target.Command))
	for i, word := range p.target.Command {
		argv[i] = places.Replace(word)
	}
	env := make([]string, len(p.target.Env))
	for i, entry := range p.target.Env {
		env[i] = places.Replace(entry)
	}
	tag := tagOf(p.root)
	proc, err := process.Start(process.Options{
		Path: argv[0], Args: argv[1:], Dir: p.root + "/workspace", Env: slices.Concat(env, []string{tag}), Tag: tag,
		Stderr: process.StderrOptions{OnLine: func(l process.Line) { p.said(l.Text) }},
	})
	if err != nil {
		return err
	}
	p.mu.Lock()
	p.process, p.delays, p.line = proc, &subject.Delays{}, nil
	p.mu.Unlock()
	if p.target.Transport == Stdio {
		return nil
	}
	_ = proc.Stdin().Close()
	go func() { _, _ = io.Copy(io.Discard, proc.Stdout()) }()
	return p.listening(ctx)
}

func writeFiles(files []File, places *strings.Replacer) error {
	for _, f := range files {
		path := places.Replace(f.Path)
		if i := strings.LastIndexByte(path, '/'); i > 0 {
			if err := os.MkdirAll(path[:i], 0o700); err != nil {
				return err
			}
		}
		if err := os.WriteFile(path, []byte(places.Replace(f.Text)), 0o600); err != nil {
			return err
		}
	}
	return nil
}

const maxStderr = 64 << 10

func (p *started) said(line string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.stderr.Len() < maxStderr {
		p.stderr.WriteString(line + "\n")
	}
}

func (p *started) at() *running {
	return &running{target: p.target, url: fmt.Sprintf("ws://127.0.0.1:%d%s", p.port, protocol("websocket_path")), token: token}
}

func (p *started) Connect(ctx context.Context, features []string) (Line, error) {
	if p.target.Transport == WebSocket {
		return p.at().Connect(ctx, features)
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.line != nil {
		return nil, errOneClient
	}
	p.line = newStreams(p.process.Stdin(), p.process.Stdout(), func() { _ = p.process.Stdin().Close() })
	return p.line, nil
}

func (p *started) Upgrade(ctx context.Context, path, query string, header http.Header, protocols []string) (Line, string, error) {
	if p.target.Transport == Stdio {
		return nil, "", errOneClient
	}
	return p.at().Upgrade(ctx, path, query, header, protocols)
}

func (p *started) Issue(ctx context.Context, session string, lasts time.Duration) (Secret, error) {
	return p.issue(ctx, session, lasts)
}

func (p *started) Again(ctx context.Context) error {
	p.kill()
	return p.start(ctx)
}

func (p *started) kill() {
	p.mu.Lock()
	proc := p.process
	p.mu.Unlock()
	if proc != nil {
		endTree(proc)
	}
}

func (p *started) Ended() (bool, string) {
	p.mu.Lock()
	proc, said := p.process, p.stderr.String()
	p.mu.Unlock()
	select {
	case <-proc.Exited():
		return true, said
	default:
		return false, said
	}
}

func (p *started) FreshDelay() time.Duration {
	p.mu.Lock()
	proc, delays := p.process, p.delays
	p.mu.Unlock()
	return delays.Fresh(proc.RunDelay())
}

func (p *started) Close() {
	p.kill()
	if p.held != nil {
		_ = p.held.Close()
	}
}
