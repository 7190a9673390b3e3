package faultypeer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/octet-dev/octet/generated/featurewire"
)

// ToolAsk is the tool of a peer with a play. A call of it lasts as long as the asks that belong to it.
const ToolAsk = "ask"

// Play is what a peer asks of its host, told to it by a file.
type Play struct {
	// Select has the features that the peer selects where they are offered, beside the required ones.
	Select []string `json:"select"`
	// Early is sent before initialize is answered, During while a call of ToolAsk runs, Cancelled while one
	// runs that was cancelled, Behind right behind its answer, and Ending before shutdown is answered.
	Early     []AskFrame `json:"early,omitempty"`
	During    []AskFrame `json:"during,omitempty"`
	Cancelled []AskFrame `json:"cancelled,omitempty"`
	Behind    []AskFrame `json:"behind,omitempty"`
	Ending    []AskFrame `json:"ending,omitempty"`
	// AtOnce puts all frames of a part into one write. Otherwise each waits for the answer to the one before.
	AtOnce bool `json:"at_once,omitempty"`
	// Tool has members that replace those of ToolAsk in the catalog, and Result those of its result, both as JSON
	// objects. What is filled into frames is filled into the result as well.
	Tool   string `json:"tool,omitempty"`
	Result string `json:"result,omitempty"`
	// PatienceMs is how long the peer waits for answers that do not come.
	PatienceMs int `json:"patience_ms"`
	// Requests is the bound on requests at a time that the peer selects; 0 for its usual one.
	Requests int `json:"requests,omitempty"`
}

// AskFrame is one frame of a play. Text between guillemets stands for what only the peer knows:
//
//	«call»        the id of the call that runs, or ran last
//	«initialize»  the id of initialize
//	«unissued»    an id that the host has not used
//	«owner»       the owner of the call, null if it has none
//	«from N»      the result of the ask whose id is "ask-N", null if there is none
//	«from N M»    what the path M leads to in it: names of members and places in lists, with slashes
type AskFrame struct {
	Text string `json:"text"`
	// ID is that of the answer that is waited for, as spelled; empty for none.
	ID string `json:"id,omitempty"`
}

// ReadPlay reads the file of a play.
func ReadPlay(path string) (*Play, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var play Play
	dec := json.NewDecoder(bytes.NewReader(text))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&play); err != nil {
		return nil, fmt.Errorf("play %q: %w", path, err)
	}
	return &play, nil
}

// stage is where a peer stands in its play.
type stage struct {
	*Play
	initID  string
	callID  string
	results map[string]json.RawMessage // of asks, by id as spelled
	left    []AskFrame                 // to be sent
	waits   map[string]int             // answers that are waited for, by id
	done    func()                     // runs when nothing is left and nothing is waited for
	alarm   *time.Timer
}

func newStage(play *Play) *stage {
	return &stage{Play: play, results: map[string]json.RawMessage{}, waits: map[string]int{}}
}

// rings is the channel of the alarm; nil while none is set, and for a peer without a play.
func (s *stage) rings() <-chan time.Time {
	if s == nil || s.alarm == nil {
		return nil
	}
	return s.alarm.C
}

// perform sends a part of the play and runs done behind it. A peer without a play has nothing to send.
func (p *peer) perform(part []AskFrame, done func()) {
	s := p.stage
	if len(part) == 0 {
		done()
		return
	}
	s.left, s.done = part, done
	p.proceed()
}

// proceed sends what may be sent now.
func (p *peer) proceed() {
	s := p.stage
	if s.done == nil {
		return
	}
	var out []byte
	for len(s.left) > 0 && (s.AtOnce || len(s.waits) == 0) {
		a := s.left[0]
		s.left = s.left[1:]
		frame := p.filled(a.Text)
		if a.ID != "" {
			s.waits[p.fill(a.ID)]++
		}
		out = append(out, frame...)
		if !s.AtOnce {
			p.raw(out)
			out = nil
		}
	}
	if out != nil {
		p.raw(out)
	}
	if len(s.left) == 0 && len(s.waits) == 0 {
		done := s.done
		s.done, s.alarm = nil, nil
		done()
		return
	}
	s.alarm = time.NewTimer(time.Duration(s.PatienceMs) * time.Millisecond)
}

// giveUp goes on without the answers that did not come.
func (p *peer) giveUp() {
	clear(p.stage.waits)
	p.stage.alarm = nil
	p.proceed()
}

// heard takes an answer to an ask.
func (p *peer) heard(id, result json.RawMessage) {
	s := p.stage
	if s == nil {
		return
	}
	k := key(id)
	if result != nil {
		s.results[k] = result
	}
	if s.waits[k] > 1 {
		s.waits[k]--
		return
	}
	if _, waited := s.waits[k]; waited {
		delete(s.waits, k)
		p.proceed()
	}
}

var filling = regexp.MustCompile(`«([^»]*)»`)

// filled is a frame with everything filled in, line feed included.
func (p *peer) filled(text string) []byte {
	frame := []byte(p.fill(text))
	if p.canonical() {
		var v any
		dec := json.NewDecoder(bytes.NewReader(frame))
		dec.UseNumber()
		if dec.Decode(&v) == nil && !dec.More() {
			frame = encode(v)
		}
	}
	return append(frame, '\n')
}

func (p *peer) fill(text string) string {
	s := p.stage
	return filling.ReplaceAllStringFunc(text, func(m string) string {
		words := strings.Fields(strings.Trim(m, "«»"))
		switch {
		case words[0] == "call":
			return s.callID
		case words[0] == "initialize":
			return s.initID
		case words[0] == "unissued":
			return strconv.Itoa(integer(json.RawMessage(s.callID)) + 100_000)
		case words[0] == "owner" && p.owner != nil:
			return string(p.owner)
		case words[0] == "from" && len(words) == 2 && s.results[`"ask-`+words[1]+`"`] != nil:
			return string(s.results[`"ask-`+words[1]+`"`])
		case words[0] == "from" && len(words) == 3:
			if v := dig(s.results[`"ask-`+words[1]+`"`], words[2]); v != nil {
				return string(v)
			}
		}
		return "null"
	})
}

// selectsByPlay picks from an offer what the play selects.
func (s *stage) selectsByPlay(offered []string) []string {
	return slices.DeleteFunc(slices.Clone(offered), func(name string) bool { return !slices.Contains(s.Select, name) })
}

// askTool is the tool of the play in the catalog.
func (p *peer) askTool() obj {
	t := obj{
		"name": ToolAsk, "description": "Asks what it was told to ask.",
		"parameters": obj{"type": "object", "properties": obj{"text": obj{"type": "string"}}},
	}
	for name, v := range members(json.RawMessage(p.stage.Tool)) {
		t[name] = v
	}
	return t
}

// callAsk serves a call of the tool of the play.
func (p *peer) callAsk(id json.RawMessage, said string) {
	p.stage.callID = string(id)
	p.perform(p.stage.During, func() {
		if p.stage.Cancelled != nil {
			return // it is cancelled, or runs for good
		}
		p.settleLive(id, func() {
			r := p.toolResult(said, false)
			delete(r, "structured_content")
			for name, v := range members(json.RawMessage(p.fill(p.stage.Result))) {
				r[name] = v
			}
			p.result(featurewire.MethodToolCall, id, r)
			p.perform(p.stage.Behind, func() {})
		})
	})
}

// dig follows a path into a value.
func dig(v json.RawMessage, path string) json.RawMessage {
	for _, name := range strings.Split(path, "/") {
		var items []json.RawMessage
		place, err := strconv.Atoi(name)
		if err == nil && json.Unmarshal(v, &items) == nil && place < len(items) {
			v = items[place]
			continue
		}
		v = at(v, name)
	}
	return v
}
