// Package faultypeer is an extension that keeps every rule except one.
//
// The referee is only worth something if its checks can fail. Each fault of the table breaks exactly one
// rule on top of a peer that speaks all four API versions correctly; the referee's own test demands that
// the fault is caught under the name of that rule, and that the peer without a fault is found flawless.
// The peer is written against the raw protocol, on purpose: no SDK, no runtime package, its own encoder.
package faultypeer

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/octet-dev/octet/generated/featurewire"
)

// Exit codes of a peer.
const (
	exitDone    = 0 // shutdown, or the end of its input
	exitRefused = 3 // it ended the stream because of what it read
	exitUsage   = 64
)

// Config says which peer to be.
type Config struct {
	API   string
	Fault string // a name of the table; empty for a peer without a fault
	// Environment has the variables the peer looks at, as NAME=value.
	Environment []string
	Play        *Play // nil for none
}

// Run is the peer's main function. It returns its exit code once shutdown is done, its input ends, its
// output breaks, or the context is done.
func Run(ctx context.Context, cfg Config, stdin io.Reader, stdout, stderr io.Writer) int {
	var q quirk
	if cfg.Fault != "" {
		f, ok := Find(cfg.Fault)
		if !ok {
			fmt.Fprintf(stderr, "fault %q is not in the table\n", cfg.Fault)
			return exitUsage
		}
		q = f.quirk
	}
	p := &peer{ctx: ctx, api: cfg.API, quirk: q, out: stdout, log: stderr, bound: featurewire.MaxLineBytes, live: map[string]*call{}, seen: map[string]bool{}}
	p.waiting = map[string]func(json.RawMessage){}
	p.scratch = variable(cfg.Environment, ScratchVariable)
	if cfg.Play != nil {
		p.stage = newStage(cfg.Play)
	}
	if p.canonical() && p.foreign(cfg.Environment) && !p.ignores("version-variable") {
		fmt.Fprintln(stderr, "the environment names another API version")
		return exitUsage
	}
	if p.does("need-directory") && elsewhere() {
		fmt.Fprintln(stderr, "started in another directory")
		return exitUsage
	}
	if p.does("need-version-variable") && !slices.Contains(cfg.Environment, versionVariable+"="+cfg.API) {
		return exitUsage
	}
	return p.serve(stdin)
}

const versionVariable = "OCTET_EXTENSION_API_VERSION"

// ScratchVariable names the directory that a host shares with a peer.
const ScratchVariable = "OCTET_EXTENSION_SCRATCH"

// variable returns the value of an environment variable.
func variable(env []string, name string) string {
	for _, entry := range env {
		if value, ok := strings.CutPrefix(entry, name+"="); ok {
			return value
		}
	}
	return ""
}

// elsewhere reports whether the working directory is the one that programs share for passing things.
func elsewhere() bool {
	dir, err := os.Getwd()
	return err == nil && filepath.Clean(dir) == filepath.Clean(os.TempDir())
}

func (p *peer) foreign(env []string) bool {
	return slices.ContainsFunc(env, func(entry string) bool {
		return len(entry) > len(versionVariable) && entry[:len(versionVariable)+1] == versionVariable+"=" && entry != versionVariable+"="+p.api
	})
}

// quirk is the one way in which a peer is wrong. The zero value is no way.
type quirk struct {
	// does names an act that a correct peer does not commit, at the place in the peer where it would.
	does string
	// ignores names a check that the peer leaves out.
	ignores string
	// message changes a message before it is encoded; what says which one it is.
	message func(p *peer, what string, m obj)
	// frame changes the bytes of a frame, line feed included.
	frame func(p *peer, what string, b []byte) []byte
	// tolerates turns a line that a correct peer refuses into one that it reads.
	tolerates func(line []byte) []byte
	// refuses finds fault with lines that a correct peer reads.
	refuses func(line []byte) bool
	// stream changes what the peer reads before lines are told apart.
	stream func(io.Reader) io.Reader
	// acts runs at a moment of the conversation.
	acts func(p *peer, moment string)
	// contributes adds to what the manifest of the peer declares.
	contributes obj
	// full is a peer that declares everything, selects everything and uses every service.
	full bool
}

type peer struct {
	quirk
	ctx context.Context
	api string
	out io.Writer
	log io.Writer

	bound      int // payload bytes of a frame
	ready      bool
	offer      json.RawMessage // params of initialize
	features   []string
	live       map[string]*call // tool calls without an answer, by id as spelled
	order      []string         // their ids, oldest first
	last       string           // id of the request that is being answered
	served     int              // requests answered
	calls      int              // tool calls taken
	most       int              // requests at a time, as selected
	lines      chan line
	seen       map[string]bool // ids of cancellations without effect; kept by one fault only
	cancelling json.RawMessage // id of the cancellation in progress
	burst      bool            // the last request was a tool call
	failed     bool            // the failing tool has been called
	opt        optional
	spoiled    bool // initialize is refused because of what came before it
	ended      bool
	code       int

	rest
}

// rest is what a full peer keeps beyond that.
type rest struct {
	stage    *stage // of its play; nil for none
	scratch  string // a directory that the host shares with it
	kept     []byte // frames for its next write
	owner    json.RawMessage
	waiting  map[string]func(result json.RawMessage) // its own requests, by id
	asked    int
	revision int // of the newest snapshot or frame
	spawned  int
	checked  int
	gaveUp   bool   // a call was cancelled
	extras   []bool // by revision of the catalog from 1: the tool that comes and goes is there
	hook     string // the last that ran
	resource json.RawMessage
	blob     json.RawMessage

	artifact, token, agent, entry, session, ticket, lease, mount string
}

// call is a tool call that has not been answered.
type call struct {
	id       json.RawMessage
	sequence int
}

func (p *peer) canonical() bool  { return p.api == "0.3" }
func (p *peer) frozen() bool     { return p.api == "0.1" }
func (p *peer) negotiates() bool { return !p.canonical() && !p.frozen() }

// does reports whether the peer's quirk is this act.
func (p *peer) does(act string) bool { return p.quirk.does == act }

// ignores reports whether the peer's quirk is to leave out this check.
func (p *peer) ignores(check string) bool { return p.quirk.ignores == check }

func (p *peer) moment(name string) {
	if p.acts != nil {
		p.acts(p, name)
	}
}

// line is one line of the input.
type line struct {
	payload []byte
	size    int  // more than len(payload) when the line is over the bound
	whole   bool // a line feed ended it
}

// serve reads until the peer has a reason to end.
func (p *peer) serve(stdin io.Reader) int {
	p.moment("start")
	if p.stream != nil {
		stdin = p.stream(stdin)
	}
	p.lines = make(chan line)
	go read(p.ctx, stdin, p.lines, 2*featurewire.MaxLineBytes)
	for !p.ended {
		select {
		case <-p.ctx.Done():
			return exitDone
		case <-p.stage.rings():
			p.giveUp()
		case l, ok := <-p.lines:
			if !ok {
				p.moment("input ended")
				if p.does("survive-end-of-input") {
					<-p.ctx.Done()
				}
				return exitDone
			}
			p.take(l)
		}
	}
	p.moment("leaving")
	return p.code
}

// end stops reading behind the present line.
func (p *peer) end(code int) { p.ended, p.code = true, code }

func read(ctx context.Context, r io.Reader, lines chan<- line, keep int) {
	defer close(lines)
	buf := make([]byte, 64<<10)
	var l line
	send := func() bool {
		select {
		case lines <- l:
			l = line{}
			return true
		case <-ctx.Done():
			return false
		}
	}
	for {
		n, err := r.Read(buf)
		for rest := buf[:n]; len(rest) > 0; {
			part, behind, whole := bytes.Cut(rest, []byte{'\n'})
			l.size += len(part)
			if room := keep - len(l.payload); room > 0 {
				l.payload = append(l.payload, part[:min(room, len(part))]...)
			}
			if l.whole = whole; whole && !send() {
				return
			}
			rest = behind
		}
		if err != nil {
			if l.size > 0 {
				send()
			}
			return
		}
	}
}

// take looks at one line of the input.
func (p *peer) take(l line) {
	if p.tolerates != nil {
		l.payload = p.tolerates(l.payload)
	}
	if p.refuses != nil && p.refuses(l.payload) {
		p.refuse("no reason")
		return
	}
	if p.canonical() {
		p.takeCanonical(l)
		return
	}
	p.takeFeature(l)
}

// write sends a message. What names it for quirks: the method whose result it is, "error", or the
// method of a notification or request.
func (p *peer) write(what string, m obj) {
	m["jsonrpc"] = "2.0"
	if p.message != nil {
		p.message(p, what, m)
		if len(m) == 0 {
			return
		}
	}
	frame := append(encode(m), '\n')
	if p.frame != nil {
		if frame = p.frame(p, what, frame); len(frame) == 0 {
			return
		}
	}
	p.raw(frame)
}

// raw writes bytes. A broken output ends the peer.
func (p *peer) raw(b []byte) {
	if _, err := p.out.Write(b); err != nil && !p.ignores("broken-output") {
		p.end(exitDone)
	}
}

// result answers a request.
func (p *peer) result(what string, id json.RawMessage, v any) {
	p.served++
	p.last = string(id)
	p.write(what, obj{"id": id, "result": v})
	p.moment("answered " + what)
}

// failure answers a request with a row of the error table.
func (p *peer) failure(id json.RawMessage, name string, data any) {
	row, err := p.row(name)
	if err != nil {
		panic(err)
	}
	e := obj{"code": row.Code, "message": row.Message}
	if data != nil {
		e["data"] = data
	}
	if name == "unknown_method" && !p.canonical() {
		e["message"] = fmt.Sprintf("%s: %s", row.Message, data.(obj)["method"])
	}
	p.served++
	p.last = string(id)
	p.write("error", obj{"id": id, "error": e})
	p.tire()
}

// tire ends a peer that has served often enough for its taste.
func (p *peer) tire() {
	if p.does("quit-early") && p.served >= 3 {
		p.end(exitDone)
	}
}

// id is a request id from its spelling.
func (p *peer) id(spelled string) json.RawMessage { return json.RawMessage(spelled) }

// fork starts a process that outlives the peer and holds its output open.
func (p *peer) fork() {
	self, err := os.Executable()
	if err != nil {
		fmt.Fprintln(p.log, err)
		return
	}
	child := exec.Command(self, "nothing", "--hold")
	child.Stdout = p.out
	if err := child.Start(); err != nil {
		fmt.Fprintln(p.log, err)
	}
}

// notify sends a notification.
func (p *peer) notify(method string, params obj) {
	p.write(method, obj{"method": method, "params": params})
}

// ask sends a request.
func (p *peer) ask(id any, method string, params obj) {
	p.write(method, obj{"id": id, "method": method, "params": params})
}

// refuse ends the stream because of what was read.
func (p *peer) refuse(why string) {
	if !p.does("refuse-silently") {
		fmt.Fprintln(p.log, "the input is not acceptable:", why)
	}
	if p.does("answer-refused") {
		p.failure(json.RawMessage("0"), "parse_error", nil)
	}
	if p.does("read-on") {
		return
	}
	p.end(exitRefused)
}

// complain says on stderr what a sound peer does not meet.
func (p *peer) complain(what string) { fmt.Fprintln(p.log, what) }

var errNoRow = errors.New("the error table has no such row")
