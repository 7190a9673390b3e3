package oupreferee

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/octet-dev/octet/features"
	"github.com/octet-dev/octet/features/oupclient"
	"github.com/octet-dev/octet/features/oupmonitor"
	"github.com/octet-dev/octet/features/oupserver"
	"github.com/octet-dev/octet/features/referee"
	"github.com/octet-dev/octet/features/subject"
	"github.com/octet-dev/octet/features/verdict"
	"github.com/octet-dev/octet/features/wire"
	"github.com/octet-dev/octet/process"
)

// Places of the command of a client. One with {url} connects over WebSocket; one with {server} starts that command,
// which stands for several words, and speaks to it over standard streams; of any other the own standard streams are
// the wire.
const (
	PlaceURL      = "{url}"
	PlaceServer   = "{server}"
	PlaceSession  = "{session}"
	PlacePrompt   = "{prompt}"
	PlaceDecision = "{decision}"
)

// ClientSetup says which client is judged, and how. The client connects, opens {session}, says {prompt} in one turn,
// decides every approval by {decision}, which is approve or deny, answers every question with the first answer on
// offer, prints the text of the answer, and exits with 0 where the turn completed.
type ClientSetup struct {
	Command []string
	Env     []string
	Self    string           // a program that carries a connection when it is called with RelayWord; absolute
	Inside  *oupclient.Fault // a client in this process, in place of a command
	Wait    time.Duration    // bounds a client that hangs
}

// RelayWord makes the program of ClientSetup pass its standard streams through to an address.
const RelayWord = "oup-relay"

// Words that make a program play the servers and clients that prove the referee, each in a process of its own.
const (
	ServerWord = "faulty-server"
	ClientWord = "faulty-client"
)

// Relay passes standard streams through to a server of the referee.
func Relay(address string, in io.Reader, out io.Writer) error {
	conn, err := net.Dial("tcp", address)
	if err != nil {
		return err
	}
	defer func() { _ = conn.Close() }()
	go func() {
		_, _ = io.Copy(conn, in)
		_ = conn.(*net.TCPConn).CloseWrite()
	}()
	_, err = io.Copy(out, conn)
	return err
}

// Transport is what a client's command has as its wire.
func (s *ClientSetup) Transport() string {
	if s.Inside != nil || slices.ContainsFunc(s.Command, func(w string) bool { return strings.Contains(w, PlaceURL) }) {
		return WebSocket
	}
	return Stdio
}

// ClientOptions say what to run. Setup is required.
type ClientOptions struct {
	Setup    *ClientSetup
	Select   func(features.Scenario) bool // nil chooses all
	Jobs     int
	Seed     int64
	Knock    bool // look first whether the client says anything; where it does not, no scenario is run
	Progress func(done, total int)
}

// RunClient judges a client: we are its server.
func RunClient(ctx context.Context, opts ClientOptions) ([]verdict.Scenario, error) {
	all, err := features.ClientScenarios()
	if err != nil {
		return nil, fmt.Errorf("features: %w", err)
	}
	plan := slices.DeleteFunc(slices.Clone(all), func(s features.Scenario) bool {
		return slices.Contains(s.Other, "@"+WebSocket) && opts.Setup.Transport() == Stdio || opts.Select != nil && !opts.Select(s)
	})
	if len(plan) == 0 {
		return nil, referee.ErrNothing
	}
	if opts.Knock {
		if silent, err := knockClient(ctx, opts.Setup); err != nil || silent != nil {
			return left(ctx, plan, silent, err)
		}
	}
	r := &run{planned: map[string]features.Scenario{}, results: map[string]verdict.Scenario{}, progress: opts.Progress}
	r.begin = func(ctx context.Context) (any, error) { return newStage(ctx, opts.Setup) }
	r.finish = func(w any, s features.Scenario, err error) verdict.Scenario { return w.(*stage).judge(s, err) }
	r.close = func(w any) { w.(*stage).close() }
	r.key = stageKey{}
	r.register = registerStage
	return r.run(ctx, plan, features.ClientFolder, opts.Jobs, opts.Seed)
}

// stage is what a client is played in one scenario.
type stage struct {
	setup *ClientSetup
	ctx   context.Context
	root  string

	server *oupserver.Server
	web    *httptest.Server
	relay  net.Listener
	served sync.WaitGroup

	mu       sync.Mutex // guards what the server tells
	rec      *wire.Recorder
	monitors map[int]*oupmonitor.Monitor
	calls    []called
	cursors  map[int][]any // that events showed, by connection
	offers   []http.Header

	session string
	runs    int
	code    int
	output  string
	hung    bool
}

// called is one request of the client.
type called struct {
	conn   int
	method string
	params object
}

func newStage(ctx context.Context, setup *ClientSetup) (*stage, error) {
	root, err := os.MkdirTemp("", "octet-oup-")
	if err != nil {
		return nil, err
	}
	return &stage{
		setup: setup, ctx: ctx, root: root, rec: wire.NewRecorder(nil), monitors: map[int]*oupmonitor.Monitor{}, cursors: map[int][]any{},
		session: "local:conform-" + newID(),
	}, nil
}

// plays makes the server.
func (s *stage) plays(doc string) error {
	play := oupserver.Fault{}
	if doc != "" {
		var found bool
		if play, found = oupserver.FindPlay(doc); !found {
			return errored("no server %s", doc)
		}
	}
	s.server = oupserver.New(play, 0)
	s.server.Tap = s.heard
	s.server.Upgrade = func(header http.Header, _ url.Values) {
		s.mu.Lock()
		defer s.mu.Unlock()
		s.offers = append(s.offers, header.Clone())
	}
	if s.setup.Transport() == WebSocket {
		s.web = httptest.NewServer(s.server)
	}
	return nil
}

// heard takes a frame of either side.
func (s *stage) heard(conn int, client bool, payload []byte) {
	s.mu.Lock()
	defer s.mu.Unlock()
	m := s.monitors[conn]
	if m == nil {
		m = oupmonitor.New(s.setup.Transport(), nil)
		s.monitors[conn] = m
	}
	root, _ := decode(payload)
	o, _ := root.(object)
	params, _ := o["params"].(object)
	method, _ := o["method"].(string)
	if client {
		f := s.rec.Add(wire.FromSubject, payload, true)
		m.ToServer(f.Index, payload)
		if method != "" {
			s.calls = append(s.calls, called{conn, method, params})
		}
		return
	}
	f := s.rec.Add(wire.ToSubject, payload, true)
	m.FromServer(f.Index, payload)
	if cursor, there := params["cursor"]; there {
		s.cursors[conn] = append(s.cursors[conn], cursor)
	}
}

// runTurn starts the client and waits for its end.
func (s *stage) runTurn(kind, decision string) error {
	prompt := Own.of(kind)
	if decision == "" {
		decision = "approve"
	}
	s.runs++
	if s.setup.Inside != nil {
		return s.runInside(prompt, decision)
	}
	return s.runProcess(prompt, decision)
}

func (s *stage) address() string {
	return "ws" + strings.TrimPrefix(s.web.URL, "http") + oupserver.Path
}

func (s *stage) runInside(prompt, decision string) error {
	ctx, cancel := context.WithTimeout(s.ctx, s.setup.Wait)
	defer cancel()
	var said bytes.Buffer
	cfg := oupclient.Config{Fault: *s.setup.Inside, URL: s.address(), Token: oupserver.Token, Session: s.session, Prompt: prompt, Decision: decision}
	s.code = oupclient.Run(ctx, cfg, nil, nil, &said)
	s.output, s.hung = said.String(), ctx.Err() != nil
	return nil
}

// runProcess starts the client's command.
func (s *stage) runProcess(prompt, decision string) error {
	places := []string{PlaceSession, s.session, PlacePrompt, prompt, PlaceDecision, decision, PlaceToken, oupserver.Token, PlaceWorkspace, s.root}
	if s.web != nil {
		places = append(places, PlaceURL, s.address())
	}
	replace := strings.NewReplacer(places...)
	var argv []string
	piped := s.web == nil
	for _, word := range s.setup.Command {
		if word != PlaceServer {
			argv = append(argv, replace.Replace(word))
			continue
		}
		piped = false
		address, err := s.relayed()
		if err != nil {
			return errored("%v", err)
		}
		argv = append(argv, s.setup.Self, RelayWord, address)
	}
	var said, stderr subject.Beginning
	tag := tagOf(s.root)
	p, err := process.Start(process.Options{
		Path: argv[0], Args: argv[1:], Dir: s.root, Env: slices.Concat(s.setup.Env, []string{tag}), Tag: tag,
		Stderr: process.StderrOptions{OnLine: func(l process.Line) { _, _ = io.WriteString(&stderr, l.Text+"\n") }},
	})
	if err != nil {
		return errored("%v", err)
	}
	over, hung := make(chan struct{}), make(chan bool, 1)
	go func() { hung <- s.hangs(p, over) }()
	if piped {
		s.server.ServeStdio(p.Stdout(), p.Stdin())
	} else {
		_ = p.Stdin().Close()
		_, _ = io.Copy(&said, p.Stdout())
	}
	<-p.Exited()
	close(over)
	s.hung = <-hung
	s.code = endTree(p).State.Code
	s.output = said.String() + stderr.String()
	return nil
}

// hangs waits for the end of a client, kills one that takes too long, and reports whether it did.
func (s *stage) hangs(p *process.Process, over <-chan struct{}) bool {
	var delays subject.Delays
	patience := subject.NewPatience(s.setup.Wait, func() time.Duration { return delays.Fresh(p.RunDelay()) })
	defer patience.Stop()
	for {
		select {
		case <-over:
			return false
		case <-s.ctx.Done():
		case <-patience.C:
			if patience.Extended() {
				continue
			}
		}
		p.Kill()
		return true
	}
}

// relayed serves whoever connects to an address, as over standard streams.
func (s *stage) relayed() (string, error) {
	if s.relay != nil {
		return s.relay.Addr().String(), nil
	}
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return "", err
	}
	s.relay = l
	s.served.Go(func() {
		for {
			conn, err := l.Accept()
			if err != nil {
				return
			}
			s.served.Go(func() {
				s.server.ServeStdio(conn, conn)
				_ = conn.Close()
			})
		}
	})
	return l.Addr().String(), nil
}

func (s *stage) close() {
	if s.relay != nil {
		_ = s.relay.Close()
	}
	if s.server != nil {
		s.server.Restart() // nothing of a turn goes on
	}
	if s.web != nil {
		s.web.CloseClientConnections()
		s.web.Close()
	}
	s.served.Wait()
	// What a client left open is the system's to clean up.
	_ = os.RemoveAll(s.root)
}

// judge turns the end of a scenario's steps, and what was heard on the way, into a verdict.
func (s *stage) judge(sc features.Scenario, err error) verdict.Scenario {
	s.mu.Lock()
	var heard []verdict.Finding
	for _, m := range s.monitors {
		for _, f := range m.Findings() {
			if f.Client {
				heard = append(heard, verdict.Finding{Rule: f.Rule, Message: f.Message, Frame: f.Frame, Offset: -1})
			}
		}
	}
	s.mu.Unlock()
	slices.SortStableFunc(heard, func(a, b verdict.Finding) int { return a.Frame - b.Frame })
	result := settle(sc, err, heard)
	if result.Class != verdict.Pass && result.Class != verdict.NotApplicable {
		result.Frames, result.Dropped = s.rec.Frames()
		result.Stderr = s.output
		result.Ended = fmt.Sprintf("the client ended with code %d", s.code)
		if s.hung {
			result.Ended = "the client was killed"
		}
	}
	return result
}
