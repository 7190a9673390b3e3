// Package faultyhost is a host that keeps every rule except one: the proof that the referee of hosts can fail.
//
// It is written against the raw protocol: it builds its frames as plain trees, and it judges what it reads by
// the monitor of the referee, with the rules left out that its fault does not look at.
package faultyhost

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/pelletier/go-toml/v2"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/features/monitor"
	"github.com/octet-dev/octet/features/rulebook"
	"github.com/octet-dev/octet/features/wire"
	"github.com/octet-dev/octet/process"
	"github.com/octet-dev/octet/runtime/manifest"
	"github.com/octet-dev/octet/runtime/manifest/launch"
)

// Config says which host to be and what to do.
type Config struct {
	Fault           string // a name of the table; empty for a host without a fault
	Directory, Tool string
	Arguments       string // JSON
	// Workspace is the directory that it works in, empty for that of the process, and Environ its environment.
	Workspace string
	Environ   []string
}

// Exit codes.
const (
	exitDone   = 0
	exitFailed = 1
)

// host is one run.
type host struct {
	Config
	d     dialect.Dialect
	x     dialect.Extension
	quirk quirk
	mon   *monitor.Monitor
	seen  int // findings of the monitor that were looked at
	index int // of the next frame

	child *process.Process
	lines chan line
	ids   int

	early, sameID, cancels bool // set by quirks

	desk    *desk
	spawned func(message string) // runs a child agent; nil: none is run
	barren  func() bool          // says whether nothing can be summed up; nil: something always can
	ending  bool                 // shutdown was sent
	spared  int                  // asks that a deviation is about

	granted   granted // on the canonical wire
	interrupt <-chan struct{}
}

// line is one line of the extension.
type line struct {
	payload []byte
	ended   bool
}

// failure is the end of a run that did not go well. broken says that the extension cannot be spoken with any
// more.
type failure struct {
	text   string
	broken bool
}

func (f *failure) Error() string { return f.text }

// Run is the host's main function. An end of the context is an interrupt.
func Run(ctx context.Context, cfg Config, stdout, stderr io.Writer) int {
	h := &host{Config: cfg}
	err := h.prepare()
	if err == nil {
		err = h.converse(ctx, stdout)
	}
	if err != nil && (h.quirk.does == repeatsCalls || h.quirk.does == fallsBack) {
		h = &host{Config: cfg}
		if err = h.prepare(); err == nil {
			err = h.converse(ctx, stdout)
		}
	}
	if err != nil {
		fmt.Fprintf(stderr, "faulty-host: %v\n", err)
		return exitFailed
	}
	return exitDone
}

// document is what a host must know of a manifest.
type document struct {
	Name       string `toml:"name"`
	Version    string `toml:"version"`
	API        string `toml:"api_version"`
	Entrypoint struct {
		Command string   `toml:"command"`
		Args    []string `toml:"args"`
	} `toml:"entrypoint"`
	Contributes  map[string]any `toml:"contributes"`
	Capabilities map[string]any `toml:"capabilities"`
}

// prepare reads the manifest and starts the extension.
func (h *host) prepare() error {
	path := filepath.Join(h.Directory, manifest.FileName())
	text, err := os.ReadFile(path)
	if err != nil {
		return err
	}
	var m document
	if err := toml.Unmarshal(text, &m); err != nil {
		return err
	}
	if h.d, err = dialect.For(m.API); err != nil {
		return err
	}
	if h.Fault != "" {
		f, found := Find(h.Fault, m.API)
		if !found {
			return fmt.Errorf("no fault of API %s is called %q", m.API, h.Fault)
		}
		h.quirk = f.quirk
	}
	workspace := h.Workspace
	if workspace == "" {
		if workspace, err = os.Getwd(); err != nil {
			return err
		}
	}
	scratch, err := os.MkdirTemp("", "faulty-host-")
	if err != nil {
		return err
	}
	h.x = dialect.Extension{
		Name: m.Name, Version: m.Version, ManifestPath: path, Workspace: workspace, Scratch: scratch, Transfer: scratch,
		Capabilities: dialect.Grants(m.Capabilities), Contributes: dialect.Contributions(m.Contributes),
	}
	h.desk = newDesk(h)
	h.mon = monitor.New(monitor.Setup{Dialect: h.d, Extension: h.x})
	told := launch.Wire{APIVersion: m.API, Name: m.Name, Dir: h.Directory, ManifestPath: path, Workspace: workspace, Scratch: scratch}
	tag := told.ScratchEntry()
	if h.quirk.hides != nil {
		h.quirk.hides(&told)
	}
	var env []string
	for _, entry := range h.Environ {
		if strings.HasPrefix(entry, "PATH=") || strings.HasPrefix(entry, "GORACE=") {
			env = append(env, entry)
		}
	}
	env = append(env, h.passedOn(m.Capabilities)...)
	if h.quirk.does == passesAll {
		env = h.Environ
	}
	for name, value := range told.Variables() {
		if value != "" {
			env = append(env, name+"="+value)
		}
	}
	if told.Scratch == "" || h.quirk.does == leavesAll {
		tag = ""
	}
	program, args := h.command(m.Entrypoint.Command, m.Entrypoint.Args)
	h.child, err = process.Start(process.Options{Path: program, Args: args, Dir: workspace, Env: env, Tag: tag})
	if err != nil {
		_ = os.RemoveAll(scratch)
		return err
	}
	h.lines = make(chan line)
	go h.read()
	return nil
}

// read cuts what the extension writes into lines, until it ends.
func (h *host) read() {
	defer close(h.lines)
	if h.quirk.does == takesReads || h.quirk.does == takesLastFirst {
		h.pour()
		return
	}
	r := bufio.NewReaderSize(h.child.Stdout(), 1<<16)
	for {
		payload, err := h.line(r)
		if h.overBound(payload, bytes.HasSuffix(payload, []byte("\n"))) {
			h.lines <- line{payload: payload}
			_, _ = io.Copy(io.Discard, r)
			return
		}
		ended := bytes.HasSuffix(payload, []byte("\n")) || h.quirk.does == takesHalf
		if len(payload) > 0 {
			h.lines <- line{payload: bytes.TrimSuffix(payload, []byte("\n")), ended: ended}
		}
		if err != nil {
			return
		}
	}
}

// Stages of an end, as the wires have them.
const (
	answerWait = 30 * time.Second
	grace      = 2 * time.Second
	// patience is the grace of a host without a fault: it must not be accused of what a busy machine does.
	patience = 3 * grace
)

// converse holds the whole conversation and ends the extension.
func (h *host) converse(ctx context.Context, stdout io.Writer) (err error) {
	h.interrupt = ctx.Done()
	defer func() {
		broken, _ := err.(*failure)
		fault := h.end(broken != nil && broken.broken && h.quirk.does != endsUnasked)
		if isBroken(fault) && h.quirk.does == crashesAtTheEnd {
			err = fault
		}
	}()
	if h.quirk.before != nil {
		h.quirk.before(h)
	}
	id := h.request("", dialect.Initialize, h.offer())
	if h.early {
		h.request("8", dialect.ToolCall, h.call())
	}
	answer, err := h.await(ctx, id, answerWait)
	if err != nil {
		return &failure{text: "initialize: " + err.Error(), broken: true}
	}
	if answer["result"] == nil {
		return &failure{text: "initialize was refused", broken: true}
	}
	if part := h.quirk.rejects; part != "" && bytes.Contains(answer["result"], []byte(part)) {
		return &failure{text: "initialize is not accepted", broken: true}
	}
	h.desk.begin(answer["result"])
	for _, frame := range h.desk.belated {
		h.write("answer", frame)
	}
	if h.d.Canonical() {
		if err := h.attach(); err != nil {
			return err
		}
		if err := h.suits(h.desk.capabilities, h.desk.methods); err != nil {
			return err
		}
	}
	if h.quirk.opened != nil {
		h.quirk.opened(h)
	}
	if err := h.fits(answer["result"]); err != nil && h.quirk.does != skipsArguments {
		return err
	}
	text, err := h.callTool(ctx)
	if err == nil {
		fmt.Fprintln(stdout, text)
	}
	return err
}

// offer is what the host asks of the extension: everything.
func (h *host) offer() dialect.Object {
	return h.d.Initialize(h.x)
}

// fits holds the arguments against the parameters of the tool: as far as types of members go, which is all
// that the peers need.
func (h *host) fits(result json.RawMessage) error {
	var catalog struct {
		Tools []struct {
			Name       string `json:"name"`
			Parameters struct {
				Properties map[string]struct {
					Type string `json:"type"`
				} `json:"properties"`
			} `json:"parameters"`
		} `json:"tools"`
	}
	var arguments map[string]any
	// A catalog that cannot be read was refused by the monitor, or is one that the fault does not look at.
	_ = json.Unmarshal(result, &catalog)
	if err := json.Unmarshal([]byte(h.Arguments), &arguments); err != nil {
		return err
	}
	for _, tool := range catalog.Tools {
		for name, property := range tool.Parameters.Properties {
			if _, isText := arguments[name].(string); tool.Name == h.Tool && property.Type == "string" && arguments[name] != nil && !isText {
				return fmt.Errorf("the argument %q of %q is no string", name, h.Tool)
			}
		}
	}
	return nil
}

func (h *host) call() dialect.Object {
	return h.d.Call(h.Tool, json.RawMessage(h.Arguments))
}

// callTool makes the call and returns the text of its result.
func (h *host) callTool(ctx context.Context) (string, error) {
	if err := h.prepared(); err != nil {
		return "", err
	}
	id := h.request("", dialect.ToolCall, h.call())
	answer, err := h.await(ctx, id, answerWait)
	if isBroken(err) && h.quirk.does == takesAnyEnd {
		return "", nil
	}
	if ctx.Err() != nil && err != nil && !isBroken(err) {
		answer, err = h.interrupted(id)
	}
	switch {
	case err != nil:
		return "", err
	case h.quirk.spurns != "" && bytes.Contains(answer["result"], []byte(h.quirk.spurns)):
		return "", fmt.Errorf("the result is not accepted")
	case answer["result"] == nil:
		return "", fmt.Errorf("the call was refused: %s", answer["error"])
	case h.quirk.does == boundsTexts && len(answer["result"]) > 1<<16:
		return "", fmt.Errorf("the text is long")
	case h.d.Canonical() && failing(answer["result"]):
		return "", &failure{text: "the tool has failed: " + texts(answer["result"]), broken: h.quirk.does == endsAtErrors}
	}
	return texts(answer["result"]), nil
}

func isBroken(err error) bool {
	f, is := err.(*failure)
	return is && f.broken
}

// interrupted cancels the call and waits for its answer.
func (h *host) interrupted(id string) (map[string]json.RawMessage, error) {
	if h.quirk.does == neverCancels {
		return nil, &failure{text: "interrupted", broken: true}
	}
	if h.d.API() != dialect.FrozenAPI || h.cancels {
		h.notify(dialect.Cancel, h.d.Cancel(id, "user"))
		h.desk.cancel(id)
		if h.quirk.cancel != nil {
			h.quirk.cancel(h)
		}
	}
	if h.d.API() == dialect.FrozenAPI {
		return nil, &failure{text: "interrupted"}
	}
	wait := grace
	switch {
	case h.quirk.does == waitsForever:
		wait = time.Hour
	case h.Fault == "":
		wait = patience
	}
	answer, err := h.await(context.Background(), id, wait)
	if err != nil {
		return nil, &failure{text: "interrupted: " + err.Error(), broken: true}
	}
	if h.quirk.strict != nil {
		// What a strict host minds stands behind the answer.
		if _, err := h.await(context.Background(), "", grace/4); isBroken(err) {
			return nil, err
		}
	}
	return answer, nil
}

// texts joins the text of a result, whatever its shape.
func texts(result json.RawMessage) string {
	var r struct {
		Content json.RawMessage `json:"content"`
	}
	_ = json.Unmarshal(result, &r)
	var text string
	if json.Unmarshal(r.Content, &text) == nil {
		return text
	}
	var parts []struct {
		Text string `json:"text"`
	}
	_ = json.Unmarshal(r.Content, &parts)
	for _, p := range parts {
		text += p.Text
	}
	return text
}

// write sends one frame.
func (h *host) write(method string, frame []byte) {
	h.mon.Observe(wire.Frame{Index: h.index, Lane: wire.ToSubject, Bytes: frame, Size: len(frame), Ended: true})
	h.index++
	frame = append(bytes.Clone(frame), '\n')
	if h.quirk.frame != nil {
		frame = h.quirk.frame(method, frame)
	}
	// An extension that is gone shows in what it wrote before.
	_, _ = h.child.Stdin().Write(frame)
}

func (h *host) request(id, method string, params any) string {
	if id == "" {
		h.ids++
		id = strconv.Itoa(h.ids)
		if h.sameID {
			id = "1"
		}
	}
	h.desk.issue(id, method, params)
	h.write(method, h.d.Request(id, method, params))
	return id
}

func (h *host) notify(method string, params any) {
	h.write(method, h.d.Notification(method, params))
}

// await reads until a request is answered.
func (h *host) await(ctx context.Context, id string, limit time.Duration) (map[string]json.RawMessage, error) {
	timer := time.NewTimer(limit)
	defer timer.Stop()
	for {
		var l line
		var open bool
		select {
		case l, open = <-h.lines:
		case <-timer.C:
			return nil, fmt.Errorf("no answer within %s", limit)
		case <-ctx.Done():
			return nil, ctx.Err()
		}
		if !open {
			return nil, &failure{text: "the extension has ended its output", broken: true}
		}
		f := wire.Frame{Index: h.index, Lane: wire.FromSubject, Bytes: l.payload, Size: len(l.payload), Ended: l.ended}
		h.index++
		h.mon.Observe(f)
		var m map[string]json.RawMessage
		asked := -1
		if l.ended && json.Unmarshal(l.payload, &m) == nil && (m["method"] != nil || !h.d.Canonical() && h.desk.needless(m)) {
			asked = f.Index
		}
		if err := h.judged(asked); err != nil {
			h.readOn()
			return nil, err
		}
		if h.quirk.does == wantsRoom && len(l.payload) >= h.d.FrameBound() {
			return nil, &failure{text: "a frame without room behind it", broken: true}
		}
		if json.Unmarshal(l.payload, &m) != nil {
			continue
		}
		if m["method"] != nil && h.d.Canonical() {
			if err := h.petition(m); err != nil {
				return nil, err
			}
			continue
		}
		if m["method"] != nil {
			h.attend(m)
			continue
		}
		answered := string(bytes.TrimSpace(m["id"]))
		h.settle(answered)
		if one := h.desk.issued[answered]; one != nil && one.stands == cancelled && h.quirk.does == endsAtLateAnswers {
			return nil, &failure{text: "an answer to what was cancelled", broken: true}
		}
		if answered == id && !h.lost() {
			return m, nil
		}
	}
}

// tolerated are must-rules of the extension that a host passes over.
var tolerated = []string{"EXT04-ENV-006", "EXT03-ERR-008"}

// judged looks at what the monitor has found since the last time. Asked is the index of a frame that asks for
// something, whose faults are answered, or that answers nothing; -1 for none.
func (h *host) judged(asked int) error {
	all := h.mon.Findings()
	fresh := all[h.seen:]
	h.seen = len(all)
	for _, f := range fresh {
		r, known := rulebook.Find(f.Rule)
		strict := slices.Contains(h.quirk.strict, f.Rule)
		if f.Frame == asked && !strict && (!h.d.Canonical() || !endsStream(f.Rule, true)) {
			continue // it is answered
		}
		if !known || slices.Contains(h.quirk.lax, f.Rule) || !strict && (r.Level != "must" || slices.Contains(tolerated, f.Rule)) {
			continue
		}
		// On the canonical wire every fault ends the stream; on the other one those of the frame do.
		broken := h.d.Canonical() && (endsStream(f.Rule, false) || h.quirk.does == endsAtResults) || strict || strings.Contains(f.Rule, "-FRAME-")
		return &failure{text: fmt.Sprintf("the extension breaks %s: %.200s", f.Rule, f.Message), broken: broken}
	}
	return nil
}

// end takes the extension down: it is asked, unless it cannot be spoken with, and then it is made to.
func (h *host) end(broken bool) (fault error) {
	if !broken && h.quirk.does != neverAsks {
		h.ending = true
		id := h.request("", dialect.Shutdown, dialect.Object{})
		if h.quirk.ended != nil {
			h.quirk.ended(h)
		}
		// What the answer is says nothing that matters any more.
		_, fault = h.await(context.Background(), id, grace)
		select {
		case <-h.child.Exited():
		case <-time.After(grace):
		}
	}
	if h.quirk.does == leavesAll {
		return fault
	}
	go func() {
		// What is still in the pipe is drained, so that the reader ends.
		for range h.lines {
		}
	}()
	h.child.End(process.Stages{Close: grace / 4, Terminate: grace / 4, Kill: grace})
	_ = os.RemoveAll(h.x.Scratch)
	return fault
}
