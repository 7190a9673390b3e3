package conversations

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/process"
	"github.com/octet-dev/octet/runtime/negotiation"
)

const toolCall = featurewire.MethodToolCall

// patience bounds a whole talk: a showcase that stops answering is killed, which ends the stream.
const patience = 60 * time.Second

// held is one process and the talk that is held with it.
type held struct {
	*testing.T
	talk   *talk
	api    string
	run    *process.Process
	frames chan dialect.Object
	bound  bindings
	offer  dialect.Object // protocol or contract of initialize
	log    bytes.Buffer
}

// hold plays the host of one talk.
func hold(t *testing.T, tk *talk, api string, command []string) {
	t.Helper()
	workspace := t.TempDir()
	environment := append(os.Environ(), "GORACE=atexit_sleep_ms=0", "PYTHONDONTWRITEBYTECODE=1")
	for _, row := range featurewire.TableWireEnvironment {
		environment = append(environment, row.Variable+"="+workspace)
	}
	environment = append(environment, featurewire.TableWireEnvironment[0].Variable+"="+api)
	run, err := process.Start(process.Options{Path: command[0], Args: command[1:], Dir: workspace, Env: environment})
	if err != nil {
		t.Fatal(err)
	}
	h := &held{T: t, talk: tk, api: api, run: run, frames: make(chan dialect.Object), bound: bindings{"api": api}}
	h.bound["owner"] = owner()
	h.bound["context"] = h.context()
	watchdog := time.AfterFunc(patience, run.Kill)
	defer func() {
		watchdog.Stop()
		run.End(process.Stages{})
		for range h.frames { // the reader ends with the stream
		}
		if t.Failed() {
			t.Logf("the talk so far:\n%s\nstandard error:\n%s", h.log.String(), run.Stderr())
		}
	}()
	go h.read()
	for i := 0; i < len(tk.lines); i++ {
		if tk.lines[i].action != expectAlso {
			h.step(tk.lines[i])
			continue
		}
		var group []line
		for ; i < len(tk.lines) && tk.lines[i].action == expectAlso; i++ {
			group = append(group, tk.lines[i])
		}
		i--
		h.expectGroup(group)
	}
}

// read hands out the frames of the extension. What is no JSON object becomes an object that no talk expects.
func (h *held) read() {
	defer close(h.frames)
	data, lines := h.run.Stdout(), []byte(nil)
	chunk := make([]byte, 64<<10)
	for {
		n, err := data.Read(chunk)
		lines = append(lines, chunk[:n]...)
		for {
			one, rest, found := bytes.Cut(lines, []byte("\n"))
			if !found {
				break
			}
			lines = rest
			h.frames <- decode(one)
		}
		if err != nil {
			if len(lines) > 0 || !errors.Is(err, io.EOF) && !errors.Is(err, os.ErrClosed) {
				h.frames <- dialect.Object{"unreadable": string(lines), "error": err.Error()}
			}
			return
		}
	}
}

// decode turns a line that is no JSON object into a frame that no talk expects.
func decode(text []byte) dialect.Object {
	var frame dialect.Object
	if err := parse(string(text), &frame); err != nil {
		return dialect.Object{"unreadable": string(text), "error": err.Error()}
	}
	return frame
}

func (h *held) fatalf(l line, format string, args ...any) {
	h.Helper()
	h.Fatalf("%s.talk:%d: %s", h.talk.name, l.number, fmt.Sprintf(format, args...))
}

// next returns the next frame, or nil at the end of the stream.
func (h *held) next() dialect.Object {
	frame, ok := <-h.frames
	if !ok {
		h.log.WriteString("E: (end of the stream)\n")
		return nil
	}
	fmt.Fprintf(&h.log, "E: %s\n", show(frame))
	return frame
}

func (h *held) send(l line, frame any) {
	h.Helper()
	filled, err := h.bound.fill(frame)
	if err != nil {
		h.fatalf(l, "%v", err)
	}
	text := show(filled)
	if h.api == dialect.CanonicalAPI {
		text = string(dialect.Encode(json.RawMessage(text)))
	}
	fmt.Fprintf(&h.log, "H: %s\n", text)
	if _, err := io.WriteString(h.run.Stdin(), text+"\n"); err != nil {
		h.fatalf(l, "the extension does not read: %v", err)
	}
}

func (h *held) step(l line) {
	h.Helper()
	switch l.action {
	case start:
		h.send(l, h.initialize())
	case ready:
		h.expectReady(l)
	case send:
		h.send(l, l.frame)
	case expect:
		h.expect(l, l.frame)
	case quiet:
		h.send(l, dialect.Object{"jsonrpc": dialect.RPCVersion, "id": probeID, "method": "talk/probe", "params": dialect.Object{}})
		h.expect(l, dialect.Object{"jsonrpc": dialect.RPCVersion, "id": probeID, "error": "«*»"})
	case shutdown:
		h.send(l, dialect.Object{"jsonrpc": dialect.RPCVersion, "id": farewellID, "method": featurewire.MethodShutdown, "params": dialect.Object{}})
		h.expect(l, dialect.Object{"jsonrpc": dialect.RPCVersion, "id": farewellID, "result": dialect.Object{}})
		h.expectGone(l)
	case eof:
		_ = h.run.Stdin().Close() // the extension may have gone already
		h.expectGone(l)
	case gone:
		h.expectGone(l)
	}
}

// Ids of the frames that the runner sends by itself.
const (
	initializeID = 1
	probeID      = 900001
	farewellID   = 900002
)

func (h *held) expect(l line, want dialect.Object) {
	h.Helper()
	got := h.next()
	if got == nil {
		h.fatalf(l, "the extension ended its output; want %s", show(want))
	}
	if differs := h.bound.match(want, got, ""); differs != "" {
		h.fatalf(l, "%s\nwant %s\ngot  %s", differs, show(want), show(got))
	}
}

// expectGroup takes as many frames as the group has lines; each must match another one of them.
func (h *held) expectGroup(group []line) {
	h.Helper()
	for len(group) > 0 {
		got := h.next()
		if got == nil {
			h.fatalf(group[0], "the extension ended its output; want %s", show(group[0].frame))
		}
		var differs []string
		found := slices.IndexFunc(group, func(l line) bool {
			attempt := maps.Clone(h.bound)
			if d := attempt.match(l.frame, got, ""); d != "" {
				differs = append(differs, d)
				return false
			}
			h.bound = attempt
			return true
		})
		if found < 0 {
			h.fatalf(group[0], "no line of the group expects %s:\n%s", show(got), strings.Join(differs, "\n"))
		}
		group = slices.Delete(slices.Clone(group), found, found+1)
	}
}

// expectGone waits for the end of the output and of the process, which must have ended by itself.
func (h *held) expectGone(l line) {
	h.Helper()
	if frame := h.next(); frame != nil {
		h.fatalf(l, "want the end of the stream, got %s", show(frame))
	}
	<-h.run.Exited()
	if report := h.run.End(process.Stages{}); report.State.Code != 0 && l.action == shutdown {
		h.fatalf(l, "the extension ended with %s", report.State)
	}
}

// expectReady takes the answer to initialize: everything that was offered is selected.
func (h *held) expectReady(l line) {
	h.Helper()
	got := h.next()
	result, _ := got["result"].(dialect.Object)
	if got == nil || result == nil || show(got["id"]) != show(initializeID) {
		h.fatalf(l, "want the answer to initialize, got %s", show(got))
	}
	if h.offer == nil {
		return
	}
	offer := []byte(show(h.offer))
	if h.api == dialect.CanonicalAPI {
		if _, err := negotiation.NegotiateJSON(offer, []byte(show(result["contract"]))); err != nil {
			h.fatalf(l, "%v", err)
		}
		return
	}
	agreement, err := negotiation.NegotiateFeaturesJSON(h.api, offer, []byte(show(result["protocol"])))
	if err != nil {
		h.fatalf(l, "%v", err)
	}
	for _, feature := range h.talk.offer {
		if !agreement.Has(feature) {
			h.fatalf(l, "%s was offered and not selected", feature)
		}
	}
}

// initialize is the usual first frame with the talk's offer.
func (h *held) initialize() dialect.Object {
	h.Helper()
	d, err := dialect.For(h.api)
	if err != nil {
		h.Fatal(err)
	}
	contributes := contributions(h.api, h.talk.offer)
	maps.Copy(contributes, h.talk.declare)
	params := d.Initialize(dialect.Extension{
		Name: "showcase", Version: "1.0.0", ManifestPath: filepath.FromSlash("/x/showcase/extension.toml"), Workspace: "/w",
		Contributes: contributes, FlagValues: h.talk.flags,
	})
	switch {
	case h.api == dialect.CanonicalAPI:
		offer, err := negotiation.Offer(canonicalFrame, concurrency, h.talk.offer...)
		if err != nil {
			h.Fatal(err)
		}
		h.offer = decode(offer.AppendJSON(nil))
		params["contract"] = h.offer
	case d.Negotiates():
		offer, err := negotiation.OfferFeatures(h.api, concurrency, h.talk.offer...)
		if err != nil {
			h.Fatal(err)
		}
		h.offer = decode(offer.AppendJSON(nil))
		params["protocol"] = h.offer
	}
	return dialect.Object{"jsonrpc": dialect.RPCVersion, "id": initializeID, "method": dialect.Initialize, "params": params}
}
