package chaos

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"syscall"
	"time"

	"github.com/octet-dev/octet/host/fixture"
	"github.com/octet-dev/octet/host/session"
)

// player keeps one host at a time and knows what it owes.
type player struct {
	program string
	dir     string
	mark    string
	random  *rand.Rand
	// patience bounds every wait; nothing takes nearly as long unless it hangs.
	patience time.Duration
	total    *totals
	lastID   int
	tokens   int
	session  string
	entries  int // acknowledged in the session

	process *exec.Cmd
	input   io.WriteCloser
	stderr  *tail
	read    chan struct{} // closed when everything that the host said has been read

	mu      sync.Mutex
	open    map[int]*call // calls and reloads without an outcome
	answers map[int]chan answer
	leaders map[string]int
	faults  []string // what is wrong with what the host said
}

// call is what a host owes an outcome for.
type call struct {
	what string
	done chan struct{}
	slow bool // ends only when it is cancelled
}

// tail keeps the last of what a host said on standard error.
type tail struct {
	mu   sync.Mutex
	data []byte
}

func (t *tail) Write(data []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.data = append(t.data, data...)
	if over := len(t.data) - 64<<10; over > 0 {
		t.data = t.data[over:]
	}
	return len(data), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.data)
}

// prepare writes the extensions and an empty session.
func (p *player) prepare(ctx context.Context) error {
	for _, api := range apis {
		dir := filepath.Join(p.dir, extensionsName, extensionName(api))
		if err := os.MkdirAll(dir, 0o700); err != nil {
			return err
		}
		tools, _ := json.Marshal(append(append([]string(nil), fixture.Tools...), fixture.Wrecks...))
		files := map[string]string{
			"extension.toml": fmt.Sprintf("name = %q\nversion = \"1.0.0\"\napi_version = %q\n[entrypoint]\ncommand = \"run\"\nenv = { %s = %q, RECORD = %q, GORACE = \"atexit_sleep_ms=0\" }\n[contributes]\ntools = %s\n",
				extensionName(api), api, markVariable, p.mark, filepath.Join(p.dir, recordName), tools),
			"run":      fmt.Sprintf("#!/bin/sh\nread -r words <\"$OCTET_EXTENSION_DIR/%s\"\nexec %q %s $words\n", faultsName, p.program, extensionWord),
			faultsName: "\n",
		}
		for name, text := range files {
			if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o700); err != nil {
				return err
			}
		}
	}
	if err := os.MkdirAll(filepath.Join(p.dir, workspaceName), 0o700); err != nil {
		return err
	}
	return p.newSession(ctx)
}

// next faults what the next starts of an extension do.
func (p *player) next(extension string, faults ...string) error {
	return os.WriteFile(filepath.Join(p.dir, extensionsName, extension, faultsName), []byte(strings.Join(faults, " ")+"\n"), 0o700)
}

func (p *player) newSession(ctx context.Context) (err error) {
	store, err := session.Open(ctx, filepath.Join(p.dir, storeName))
	if err != nil {
		return err
	}
	defer func() { err = errors.Join(err, store.Close()) }()
	info, err := store.Create(ctx, session.New{Workspace: filepath.Join(p.dir, workspaceName)})
	if err != nil {
		return err
	}
	p.session, p.entries = info.ID, 0
	return os.WriteFile(filepath.Join(p.dir, ledgerName), nil, 0o600)
}

// start starts a host and waits until all its extensions are ready.
func (p *player) start() error {
	p.process = exec.Command(p.program, hostWord, p.dir, p.session)
	p.process.Env = []string{"PATH=" + os.Getenv("PATH"), "HOME=" + p.dir, "TMPDIR=" + os.TempDir(), markVariable + "=" + p.mark, "GORACE=atexit_sleep_ms=0 halt_on_error=1"}
	p.process.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	p.stderr = &tail{}
	p.process.Stderr = p.stderr
	input, err := p.process.StdinPipe()
	if err != nil {
		return err
	}
	output, err := p.process.StdoutPipe()
	if err != nil {
		return err
	}
	p.input, p.read = input, make(chan struct{})
	p.open, p.answers = map[int]*call{}, map[int]chan answer{}
	waiting := p.expect(helloID)
	if err := p.process.Start(); err != nil {
		return err
	}
	p.total.Hosts.Add(1)
	go p.listen(output)
	hello, err := p.wait(waiting)
	if err == nil && len(hello.Leaders) != len(apis) {
		err = fmt.Errorf("only %v started", hello.Leaders)
	}
	return err
}

// listen takes what the host says until it ends. A line cut off by its death says nothing.
func (p *player) listen(output io.Reader) {
	defer close(p.read)
	lines := bufio.NewReader(output)
	for {
		line, err := lines.ReadBytes('\n')
		if err != nil {
			return
		}
		var a answer
		if err := json.Unmarshal(line, &a); err != nil {
			p.fault("the host said %q", line)
			continue
		}
		p.take(a)
	}
}

// take settles a call, or wakes up who waits for another answer.
func (p *player) take(a answer) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if a.Leaders != nil {
		p.leaders = a.Leaders
	}
	if waiting := p.answers[a.ID]; waiting != nil {
		delete(p.answers, a.ID)
		waiting <- a
		return
	}
	c := p.open[a.ID]
	if c == nil {
		p.faults = append(p.faults, fmt.Sprintf("a second outcome, or one that nobody is owed: %+v", a))
		return
	}
	delete(p.open, a.ID)
	close(c.done)
	if a.Runs > 1 {
		p.faults = append(p.faults, fmt.Sprintf("%s ran %d times", c.what, a.Runs))
	}
	if a.Error == "" {
		p.total.Answered.Add(1)
	} else {
		p.total.Failed.Add(1)
	}
}

func (p *player) fault(format string, values ...any) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.faults = append(p.faults, fmt.Sprintf(format, values...))
}

// send gives an order. A host that has died takes none, which shows elsewhere.
func (p *player) send(o order) {
	line, _ := json.Marshal(o)
	_, _ = p.input.Write(append(line, '\n'))
}

func (p *player) id() int {
	p.lastID++
	return p.lastID
}

// call orders a tool call and returns its id.
func (p *player) call(extension, tool string) int {
	o := order{Op: opCall, ID: p.id(), Extension: extension, Tool: tool}
	switch tool {
	case "echo", "count":
		o.Text = "some words"
	case "record":
		p.tokens++
		o.Text = fmt.Sprintf("token-%d", p.tokens)
	}
	p.owe(o, tool == "slow" || tool == "hang" || tool == "stall")
	p.total.Calls.Add(1)
	return o.ID
}

func (p *player) reload(extension string) int {
	o := order{Op: opReload, ID: p.id(), Extension: extension}
	p.owe(o, false)
	p.total.Reloads.Add(1)
	return o.ID
}

func (p *player) owe(o order, slow bool) {
	p.mu.Lock()
	p.open[o.ID] = &call{what: strings.TrimSpace(fmt.Sprint(o.Op, " ", o.Tool, " of ", o.Extension)), done: make(chan struct{}), slow: slow}
	p.mu.Unlock()
	p.send(o)
}

func (p *player) cancel(id int) { p.send(order{Op: opCancel, ID: id}) }

// expect makes room for an answer that is no outcome of a call.
func (p *player) expect(id int) <-chan answer {
	waiting := make(chan answer, 1)
	p.mu.Lock()
	defer p.mu.Unlock()
	p.answers[id] = waiting
	return waiting
}

// wait waits for such an answer.
func (p *player) wait(waiting <-chan answer) (answer, error) {
	select {
	case a := <-waiting:
		if a.Error != "" {
			return a, errors.New(a.Error)
		}
		return a, nil
	case <-p.read:
		select {
		case a := <-waiting:
			return a, nil
		default:
			return answer{}, fmt.Errorf("the host has ended: %s", lastLines(p.stderr.String()))
		}
	case <-time.After(p.patience):
		return answer{}, fmt.Errorf("no answer within %s: %s", p.patience, p.dump())
	}
}

// dump makes a host that hangs say where, which ends it.
func (p *player) dump() string {
	_ = p.process.Process.Signal(syscall.SIGQUIT)
	select {
	case <-p.read:
	case <-time.After(p.patience / 6):
	}
	return p.stderr.String()
}

func (p *player) ask(o order) (answer, error) {
	o.ID = p.id()
	waiting := p.expect(o.ID)
	p.send(o)
	return p.wait(waiting)
}

// lastLines are the end of a text, short enough for a report.
func lastLines(text string) string {
	const most = 4000
	if len(text) > most {
		text = text[len(text)-most:]
	}
	return string(bytes.TrimSpace([]byte(text)))
}
