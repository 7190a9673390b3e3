package cli

import (
	"cmp"
	"context"
	"errors"
	"net"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/spf13/pflag"

	"github.com/octet-dev/octet/host/agent"
	"github.com/octet-dev/octet/host/config"
	"github.com/octet-dev/octet/host/engine"
	"github.com/octet-dev/octet/host/model/scripted"
	"github.com/octet-dev/octet/host/oup/assembly"
	"github.com/octet-dev/octet/host/oup/lane"
	"github.com/octet-dev/octet/host/oup/ledger"
	folders "github.com/octet-dev/octet/host/oup/place"
	"github.com/octet-dev/octet/host/oup/protocol"
	"github.com/octet-dev/octet/host/oup/transport"
	"github.com/octet-dev/octet/host/selection"
	"github.com/octet-dev/octet/host/service/provider"
)

const helpServe = `octet serve lets other programs drive octet over OUP, the protocol octos-ui/v1alpha1: sessions, turns, approvals and
everything that is told of them, kept in order on disk.

Usage:
  octet serve --stdio [options]             for one program, over standard input and output, one JSON object a line
  octet serve --listen HOST:PORT [options]  for many, over WebSocket at ws://HOST:PORT/api/ui-protocol/ws

Options of connections:
  --stdio                    serve standard input and output; the end of the input ends the server
  --solo                     for one person on this machine, which is what octet serves; taken for other programs' sake
  --listen HOST:PORT         listen there; port 0 takes a free one. Standard error says which
  --host HOST, --port PORT   the same in two words; 127.0.0.1 and 50080 by default
  --auth-token TOKEN         clients must show it; better is OCTOS_AUTH_TOKEN, which others on the machine do not see.
                             Without one, only 127.0.0.1, ::1 and localhost can be listened on
  --allow-origin ORIGIN      pages of this origin may connect, such as https://app.example; several times. Pages of
                             this server itself always may. OCTOS_APPUI_ALLOWED_ORIGINS has more, with commas between
  --web-root DIR             serve the files of a browser client; paths without a file get its index.html. It is neither
                             in the data directory nor around it
  --event-lane LANE          v2 (default) tells turns as envelopes, legacy in the older forms, both in both

Options of the work:
  --cwd DIR                  the workspace of sessions whose client names none; the current directory by default.
                             It is neither in the data directory nor around it
  --data-dir DIR             where everything is kept; OCTET_DATA_DIR or ~/.octet by default. One server has it at a time
  --model PROVIDER:MODEL     who answers; scripted:FILE plays a file and needs no key
  --reasoning LABEL          how much the model reasons, a label of the model
  --tool-interface KIND      direct (default) shows models every tool; fixed shows a list that never changes
  --require-tool NAMES       begin no conversation unless these tools are there; takes a comma list
` + helpGlobals + `  -h, --help                 show this text

TLS is left to a proxy in front. GET /api/status says that the server is there. A client that is to reach one session
alone gets a work secret: see octet auth --help. A signal to end (TERM, HUP, INT) tells clients to come back (1012),
interrupts what runs, stores how it ended, and ends with 0; a second one does not wait.

Examples:
  octet serve --stdio --model scripted:demo/conversation/script.yaml
  OCTOS_AUTH_TOKEN=$(openssl rand -hex 24) octet serve --listen 127.0.0.1:50080
  octet serve --listen 127.0.0.1:0 --web-root ./client --cwd ~/project

` + ownExitCodes + `  5    another server has the data directory; standard error begins with OCTOS_DATA_DIR_LOCKED
` + signalExitCodes

const (
	defaultHost = "127.0.0.1"
	defaultPort = 50080
)

// serve is octet serve.
type serve struct {
	globals
	store storeOptions

	stdio, solo bool
	listen      string
	host        string
	port        int
	token       string
	origins     []string
	webRoot     string
	events      string
	cwd         string
	model       string
	reasoning   string
	tools       string
	require     []string
}

func serveClients() *command {
	var s serve
	return &command{
		name: "serve", short: "Let other programs drive octet over OUP, on standard streams or WebSocket.", help: helpServe, selects: true,
		flags: s.register, run: s.run,
	}
}

func (s *serve) register(set *pflag.FlagSet) {
	set.BoolVar(&s.stdio, "stdio", false, "")
	set.BoolVar(&s.solo, "solo", false, "")
	set.StringVar(&s.listen, "listen", "", "")
	set.StringVar(&s.host, "host", defaultHost, "")
	set.IntVar(&s.port, "port", defaultPort, "")
	set.StringVar(&s.token, "auth-token", "", "")
	set.StringArrayVar(&s.origins, "allow-origin", nil, "")
	set.StringVar(&s.webRoot, "web-root", "", "")
	set.StringVar(&s.events, "event-lane", string(lane.V2), "")
	set.StringVar(&s.cwd, "cwd", "", "")
	set.StringVar(&s.model, "model", "", "")
	set.StringVar(&s.reasoning, "reasoning", "", "")
	set.StringVar(&s.tools, "tool-interface", "", "")
	set.Var((*nameList)(&s.require), "require-tool", "")
	s.store.register(set)
	s.globals.register(set)
	for name, words := range map[string][]string{
		"event-lane": lane.EventLanes, "tool-interface": {string(agent.Direct), string(agent.Fixed)},
	} {
		_ = set.SetAnnotation(name, annotationValues, words) // it was registered above
	}
}

// address is where to listen; empty where the streams are served.
func (s *serve) address() (string, error) {
	given := func(names ...string) bool {
		return slices.ContainsFunc(names, func(name string) bool { return s.globals.given.Changed(name) })
	}
	network := given("listen", "host", "port")
	switch {
	case s.stdio && (network || given("auth-token", "allow-origin", "web-root")):
		return "", usagef("--stdio serves one program over its standard streams; leave out what belongs to --listen, or --stdio")
	case !s.stdio && !network:
		return "", usagef("octet serve needs to know whom to serve: --stdio, or --listen %s:%d; see octet serve --help", defaultHost, defaultPort)
	case s.stdio:
		return "", nil
	case given("listen") && given("host", "port"):
		return "", usagef("--listen names both host and port; leave out --host and --port")
	}
	address := s.listen
	if !given("listen") {
		address = net.JoinHostPort(s.host, strconv.Itoa(s.port))
	}
	host, port, err := net.SplitHostPort(address)
	if err != nil {
		return "", usagef("%q is no HOST:PORT: %v", address, err)
	}
	if number, err := strconv.Atoi(port); err != nil || number < 0 || number > 65535 {
		return "", usagef("port %q is none; give a number from 0 to 65535", port)
	}
	if err := s.presentable(); err != nil {
		return "", err
	}
	if !transport.IsLoopback(host) && s.secret() == "" {
		return "", usagef("%q can be reached from elsewhere, so a token is needed: set %s, or listen on %s (OUP-SOCKET-021)", address, tokenVariable, defaultHost)
	}
	return address, nil
}

var (
	tokenVariable   = protocol.Text("auth_token_variable")
	originsVariable = protocol.Text("allowed_origins_variable")
)

// secret is the token that clients show.
func (s *serve) secret() string { return cmp.Or(s.token, os.Getenv(tokenVariable)) }

// presentable refuses what no client could show or no page could have. The values are not repeated: one is a secret.
func (s *serve) presentable() error {
	if strings.ContainsFunc(s.secret(), func(c rune) bool { return c <= ' ' || c > '~' }) {
		name := tokenVariable
		if s.token != "" {
			name = "--auth-token"
		}
		return usagef("%s has a space or a character that no header carries; give a token of letters, digits and signs of ASCII", name)
	}
	for name, list := range map[string][]string{"--allow-origin": s.origins, originsVariable: origins()} {
		for _, origin := range list {
			if !transport.IsOrigin(origin) {
				return usagef("%s %q is the origin of no page; give SCHEME://HOST or SCHEME://HOST:PORT and nothing behind it, such as https://app.example", name, origin)
			}
		}
	}
	return nil
}

// script refuses a model that plays a file which cannot be played. Others may be brought by an extension or a profile.
func (s *serve) script(ctx context.Context, o assembly.Options) error {
	if name, _, found := strings.Cut(s.model, ":"); !found || name != scripted.Name {
		return nil
	}
	models, _, err := o.Models(os.LookupEnv)
	if err != nil {
		return err
	}
	if _, _, err := models.Open(ctx, s.model); err != nil {
		return usagef("--model %q cannot be played: %v", s.model, err)
	}
	return nil
}

func (s *serve) check() error {
	for _, name := range []string{"auth-token", "web-root", "cwd", "model", "allow-origin"} {
		if f := s.globals.given.Lookup(name); f.Changed && (f.Value.String() == "" || f.Value.String() == "[]") {
			return usagef("--%s has an empty value; give one, or drop it", name)
		}
	}
	switch {
	case !slices.Contains(lane.EventLanes, s.events):
		return usagef("--event-lane is %q, want %s", s.events, strings.Join(lane.EventLanes, ", "))
	case s.tools != "" && s.tools != string(agent.Direct) && s.tools != string(agent.Fixed):
		return usagef("--tool-interface is %q, want %s or %s", s.tools, agent.Direct, agent.Fixed)
	case s.globals.given.Changed("workspace"):
		return usagef("a server has many workspaces; --cwd names that of sessions whose client names none")
	}
	return nil
}

func (s *serve) run(ctx context.Context, c *console, args []string) (int, error) {
	if len(args) > 0 {
		return exitUsage, usagef("unexpected argument %q; octet serve takes options only", args[0])
	}
	if err := s.check(); err != nil {
		return exitUsage, err
	}
	address, err := s.address()
	if err != nil {
		return exitUsage, err
	}
	invocation, err := s.invocation()
	if err != nil {
		return exitUsage, err
	}
	if s.cwd == "" {
		s.cwd = "."
	}
	if s.cwd, err = filepath.Abs(s.cwd); err != nil {
		return exitUsage, usagef("the current directory is gone: %v; name another one with --cwd", err)
	}
	if info, err := os.Stat(s.cwd); err != nil || !info.IsDir() {
		return exitUsage, usagef("%q is no directory; name another one with --cwd", s.cwd)
	}
	invocation.Workspace = s.cwd
	settled, err := selection.Configure(machine(), invocation)
	if err != nil {
		return refused(c, err)
	}
	path, err := s.store.path()
	if err != nil {
		return failed(err)
	}
	options := assembly.Options{
		DataDir: filepath.Dir(path), Workspace: s.cwd, Machine: machine(), Invocation: invocation,
		Models: func(lookup func(string) (string, bool)) (engine.Models, *provider.Registry, error) {
			return modelsWith(settled.Config.Word(config.Model), lookup)
		},
		Model: s.model, Reasoning: cmp.Or(s.reasoning, settled.Config.Word(config.Reasoning)),
		Interface: agent.ToolInterface(cmp.Or(s.tools, settled.Config.Word(config.ToolInterface))), Require: s.require,
		Warming: warming(settled.Config), Events: lane.Events(s.events), Local: address != "" && s.local(address), Release: Release, Token: s.secret() != "",
		Log: func(err error) { c.errorf("%v", err) },
	}
	if _, _, err := options.Models(os.LookupEnv); err != nil {
		return exitUsage, err
	}
	if err := s.script(ctx, options); err != nil {
		return exitUsage, err
	}
	if s.webRoot != "" && folders.Apart(s.webRoot, options.DataDir) != nil {
		return exitUsage, usagef("--web-root %q is not apart from the data directory %q: everybody who can connect would read the keys and conversations there; "+
			"name a directory that is neither in it nor around it, or another data directory with --data-dir", s.webRoot, options.DataDir)
	}
	if address == "" {
		return s.streams(ctx, c, options)
	}
	return s.sockets(ctx, c, options, address)
}

// local reports whether only clients of this machine can connect.
func (s *serve) local(address string) bool {
	host, _, err := net.SplitHostPort(address)
	return err == nil && transport.IsLoopback(host)
}

// near says which directory is which, and with which options others are named.
func (s *serve) near(e *assembly.NearError) error {
	which := "the current directory"
	if s.globals.given.Changed("cwd") {
		which = "--cwd"
	}
	return usagef("%s %q is not apart from the data directory %q: tools there would reach the keys and conversations of everybody; "+
		"name a workspace that is neither in it nor around it with --cwd, or another data directory with --data-dir", which, e.Workspace, e.DataDir)
}

// open takes the data directory.
func (s *serve) open(ctx context.Context, c *console, o assembly.Options) (*assembly.Assembly, int, error) {
	a, err := assembly.Open(ctx, o)
	var locked *ledger.LockedError
	var near *assembly.NearError
	switch {
	case errors.As(err, &near):
		return nil, exitUsage, s.near(near)
	case errors.As(err, &locked):
		c.line(locked.Word() + ": " + plain(locked.Error()))
		return nil, exitLocked, nil
	case err != nil:
		code, err := failed(err)
		return nil, code, err
	}
	if s.model != "" {
		if err := a.Answers(ctx, s.model); err != nil {
			c.note("--model %q: %v; turns fail until an extension or a profile has it", s.model, err)
		}
	}
	return a, exitOK, nil
}
