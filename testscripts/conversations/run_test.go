package conversations

import (
	"bytes"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"time"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/generated/canonicalwire"
)

// patience bounds a whole talk: an extension that stops answering is killed, which ends the stream.
const patience = 5 * time.Minute

// peer is the extension that a talk is held with.
type peer interface {
	Stdin() io.WriteCloser
	Stdout() io.Reader
	Scratch() string
	// Leave puts a file into its scratch directory.
	Leave(name, content string) error
	// Left says whether there is such a file.
	Left(name string) bool
	// Kill ends it at once; what it wrote can still be read, and then its output ends.
	Kill()
	// Wait returns once it has ended by itself, and says whether it ended well.
	Wait() error
}

// held is one extension and the talk that is held with it.
type held struct {
	talk     *talk
	api      string
	peer     peer
	frames   chan dialect.Object
	ledger   *ledger
	bound    bindings
	permits  []line         // frames that may come
	offer    dialect.Object // protocol or contract of initialize
	tools    dialect.Object // definitions of its answer, by name
	farewell bool           // shutdown was sent
	gaveUp   atomic.Bool
	log      bytes.Buffer
}

// hold plays the host of one talk. The error says on which line of the talk the extension did something else;
// the text is what was said until then.
func hold(tk *talk, api string, p peer) (said string, err error) {
	h := &held{talk: tk, api: api, peer: p, frames: make(chan dialect.Object), ledger: newLedger(api)}
	h.bound = bindings{"api": api, "owner": owner(), "context": usualContext(api), "scratch": p.Scratch()}
	watchdog := time.AfterFunc(patience, func() {
		h.gaveUp.Store(true)
		p.Kill()
	})
	go h.read()
	defer func() {
		watchdog.Stop()
		p.Kill()
		for range h.frames { // the reader ends with the stream
		}
		said = h.log.String()
	}()
	for i := 0; i < len(tk.lines); i++ {
		group := i
		for i < len(tk.lines) && tk.lines[i].action == expectAlso {
			i++
		}
		if group < i {
			err = h.expectAll(tk.lines[group:i])
			i--
		} else {
			err = h.step(tk.lines[i])
		}
		if err != nil {
			return "", fmt.Errorf("%s.talk:%d: %w", tk.name, tk.lines[group].number, err)
		}
	}
	return "", nil
}

// read hands out the frames of the extension. What is no JSON object becomes an object that no talk expects.
func (h *held) read() {
	defer close(h.frames)
	data, lines := h.peer.Stdout(), []byte(nil)
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

// errEnded is the end of the output where a frame is wanted.
var errEnded = errors.New("the extension ended its output")

// next returns the next frame, whatever it is.
func (h *held) next() (dialect.Object, error) {
	frame, ok := <-h.frames
	switch {
	case h.gaveUp.Load():
		return nil, fmt.Errorf("nothing came for %s, and the extension was ended", patience)
	case !ok:
		h.log.WriteString("E: (end of the stream)\n")
		return nil, errEnded
	}
	fmt.Fprintf(&h.log, "E: %s\n", show(frame))
	if err := h.ledger.fromExtension(frame); err != nil {
		return nil, fmt.Errorf("got %s: %w", show(frame), err)
	}
	return frame, nil
}

// nextOf returns the number of the first of some frames that the next frame is. Permitted frames are passed over.
func (h *held) nextOf(wants ...dialect.Object) (int, error) {
	for {
		got, err := h.next()
		if err != nil {
			return 0, fmt.Errorf("%w; want %s", err, show(wants[0]))
		}
		var differs []string
		fits := func(want dialect.Object) bool {
			attempt := maps.Clone(h.bound)
			if d := attempt.match(want, got, ""); d != "" {
				differs = append(differs, d)
				return false
			}
			h.bound = attempt
			return true
		}
		if found := slices.IndexFunc(wants, fits); found >= 0 {
			return found, nil
		}
		may := slices.IndexFunc(h.permits, func(l line) bool { return fits(l.frame) })
		if may < 0 {
			return 0, fmt.Errorf("%s\nwant %s\ngot  %s", strings.Join(differs, "\n"), show(wants[0]), show(got))
		}
		h.permits = slices.Delete(h.permits, may, may+1)
	}
}

func (h *held) expect(want dialect.Object) error {
	_, err := h.nextOf(want)
	return err
}

// expectAll takes as many frames as there are lines; each must match another one of them.
func (h *held) expectAll(group []line) error {
	var wants []dialect.Object
	for _, l := range group {
		wants = append(wants, l.frame)
	}
	for len(wants) > 0 {
		found, err := h.nextOf(wants...)
		if err != nil {
			return err
		}
		wants = slices.Delete(wants, found, found+1)
	}
	return nil
}

func (h *held) send(frame dialect.Object, wrong bool) error {
	filled, err := h.bound.fill(frame)
	if err != nil {
		return err
	}
	text := show(filled)
	if h.api == dialect.CanonicalAPI {
		text = string(dialect.Encode(json.RawMessage(text)))
	}
	fmt.Fprintf(&h.log, "H: %s\n", text)
	if err := h.ledger.fromHost(filled.(dialect.Object), wrong); err != nil {
		return fmt.Errorf("the talk sends %s: %w", text, err)
	}
	return h.write(text + "\n")
}

func (h *held) write(text string) error {
	if _, err := io.WriteString(h.peer.Stdin(), text); err != nil {
		return fmt.Errorf("the extension does not read: %w", err)
	}
	return nil
}

// Ids of the frames that the runner sends by itself.
const (
	initializeID = 1
	probeID      = 900001
	farewellID   = 900002
	seenID       = 910000 // and on
)

func (h *held) step(l line) error {
	switch l.action {
	case start:
		params, offer, err := h.talk.initialize(h.api, h.peer.Scratch())
		h.offer = offer
		if err != nil {
			return err
		}
		return h.ask(initializeID, dialect.Initialize, params)
	case ready:
		return h.expectReady()
	case defines:
		return h.expectDefinition(l)
	case send, sendWrong:
		h.farewell = h.farewell || l.frame["method"] == dialect.Shutdown
		return h.send(l.frame, l.action == sendWrong)
	case raw:
		fmt.Fprintf(&h.log, "H: (raw) %q\n", l.value)
		return h.write(l.value.(string))
	case expect:
		return h.expect(l.frame)
	case permit:
		h.permits = append(h.permits, l)
	case says, fails:
		want, err := resultFrame(h.api, l, h.bound)
		if err != nil {
			return err
		}
		return h.expect(want)
	case seen:
		return h.expectSeen(l.value.([]any))
	case file:
		return h.leave(l.id.(string), textOf(l.value))
	case removed:
		if name := l.id.(string); h.peer.Left(name) {
			return fmt.Errorf("the extension left the file %q in the scratch directory, want it removed", name)
		}
	case quiet:
		if err := h.ask(probeID, "talk/probe", dialect.Object{}); err != nil {
			return err
		}
		return h.expect(dialect.Object{"jsonrpc": dialect.RPCVersion, "id": json.Number(fmt.Sprint(probeID)), "error": "«*»"})
	case shutdown:
		if err := h.ask(farewellID, dialect.Shutdown, dialect.Object{}); err != nil {
			return err
		}
		h.farewell = true
		if err := h.expect(dialect.Object{"jsonrpc": dialect.RPCVersion, "id": json.Number(fmt.Sprint(farewellID)), "result": farewell(h.api)}); err != nil {
			return err
		}
		return h.expectGone()
	case eof:
		fmt.Fprintf(&h.log, "H: (end of the stream)\n")
		_ = h.peer.Stdin().Close() // the extension may have gone already
	case gone:
		return h.expectGone()
	}
	return nil
}

// leave hands a file over and binds its name to what describes it.
func (h *held) leave(name, content string) error {
	fmt.Fprintf(&h.log, "H: (file %s) %q\n", name, content)
	h.bound[name] = dialect.Object{
		"path": name, "bytes": json.Number(strconv.Itoa(len(content))), "sha256": fmt.Sprintf("%x", sha256.Sum256([]byte(content))),
	}
	return h.peer.Leave(name, content)
}

// textOf is a value that a line gives as text: a string itself, anything else as JSON.
func textOf(value any) string {
	if text, isText := value.(string); isText {
		return text
	}
	return show(value)
}

// farewell is the result of shutdown.
func farewell(api string) dialect.Object {
	if api == dialect.CanonicalAPI {
		return dialect.Object{"terminal": string(canonicalwire.ShutdownTerminalShutdown)}
	}
	return dialect.Object{}
}

func (h *held) ask(id int, method string, params dialect.Object) error {
	return h.send(dialect.Object{"jsonrpc": dialect.RPCVersion, "id": json.Number(fmt.Sprint(id)), "method": method, "params": params}, false)
}

// expectGone waits for the end of the output and of the process, which must end by itself.
func (h *held) expectGone() error {
	for {
		frame, err := h.next()
		switch {
		case errors.Is(err, errEnded):
			err := h.peer.Wait()
			switch {
			case h.gaveUp.Load():
				return fmt.Errorf("the extension closed its output and did not end within %s", patience)
			case err != nil && h.farewell:
				return fmt.Errorf("the extension ended with %w", err)
			}
			return nil
		case err != nil:
			return err
		}
		may := slices.IndexFunc(h.permits, func(l line) bool { return h.bound.match(l.frame, frame, "") == "" })
		if may < 0 {
			return fmt.Errorf("want the end of the stream, got %s", show(frame))
		}
		h.permits = slices.Delete(h.permits, may, may+1)
	}
}

// mostLooks bounds how often seen is asked for what does not come.
const mostLooks = 2000

// expectSeen asks the tool seen until it has told of as many observations as are wanted: those of the extension
// are handled beside its calls, so that a call may overtake them.
func (h *held) expectSeen(want []any) error {
	var all []any
	for n := 0; len(all) < len(want) || n == 0; n++ {
		if n == mostLooks {
			return fmt.Errorf("seen told only of %s in %d calls, want %s", show(all), n, show(want))
		}
		id := json.Number(fmt.Sprint(seenID + n))
		if err := h.send(callFrame(id, "seen", dialect.Object{}), false); err != nil {
			return err
		}
		delete(h.bound, "observed")
		frame, err := resultFrame(h.api, line{action: says, id: id, value: "«observed»"}, h.bound)
		if err != nil {
			return err
		}
		if err := h.expect(frame); err != nil {
			return err
		}
		var some []any
		text, _ := h.bound["observed"].(string)
		if err := parse(text, &some); err != nil {
			return fmt.Errorf("seen answered %q, which is no JSON array: %w", text, err)
		}
		all = append(all, some...)
	}
	if differs := h.bound.match(any(want), any(all), ""); differs != "" {
		return fmt.Errorf("seen%s\nwant %s\ngot  %s", differs, show(want), show(all))
	}
	return nil
}
