package hostreferee

import (
	"bufio"
	"bytes"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/features/faultypeer"
	"github.com/octet-dev/octet/features/schedule"
	"github.com/octet-dev/octet/features/subject"
	"github.com/octet-dev/octet/features/transcript"
	"github.com/octet-dev/octet/features/wire"
	cw "github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/featurewire"
)

// playerTools are the tools of a player. It says what it was given.
var playerTools = []string{faultypeer.ToolEcho, faultypeer.ToolSlow}

// selectsReversed among what a script selects turns the order of the names around.
const selectsReversed = "reversed"

// player is an extension that does what its script says. It reads only while it waits, and keeps its own record:
// nothing stands between it and the host that could change in which pieces bytes arrive.
type player struct {
	script plot
	d      dialect.Dialect
	cuts   *schedule.Schedule
	in     *bufio.Reader
	close  map[string]io.Closer
	out    io.Writer

	recorder *wire.Recorder
	report   *transcript.Writer

	next    int // of the moves
	came    map[string]int
	last    map[string]json.RawMessage // ids of the host's newest requests, by method
	offer   json.RawMessage            // params of initialize
	params  json.RawMessage            // of the newest call
	answers map[string]json.RawMessage // answers of the host, by id as spelled
	binding string                     // of the newest notice
	ended   bool                       // the input
	idle    bool                       // what the script is about is not offered
	line    []byte                     // written and not ended
}

// Play is the main function of a player. It returns its exit code once its script or the host ends it.
func Play(path string, stdin io.ReadCloser, stdout io.WriteCloser, report io.Writer) (int, error) {
	s, err := loadPlot(path)
	if err != nil {
		return 0, err
	}
	d, err := dialect.For(s.API)
	if err != nil {
		return 0, err
	}
	p := &player{
		script: s, d: d, cuts: schedule.New(s.Seed, s.Name), in: bufio.NewReaderSize(stdin, 1<<16), out: stdout,
		close:    map[string]io.Closer{actCloseInput: stdin, actCloseOutput: stdout},
		recorder: wire.NewRecorder(nil), report: transcript.NewWriter(report, transcript.Header{API: s.API}),
		came: map[string]int{}, last: map[string]json.RawMessage{}, answers: map[string]json.RawMessage{},
	}
	return p.play(), p.report.Err()
}

const endOfInput = "end of input"

// play makes the moves, and serves on behind them.
func (p *player) play() int {
	for _, m := range p.script.Moves {
		p.next++
		for !p.idle && m.On != "" && p.came[m.On] == 0 {
			if code, over := p.read(); over {
				return code
			}
		}
		if p.idle {
			break
		}
		p.came[m.On]--
		p.say(m.Says)
		word, rest, _ := strings.Cut(m.Does, " ")
		switch {
		case word == actExit:
			code, _ := strconv.Atoi(rest)
			return p.leave(code)
		case word == actShout:
			n, _ := strconv.Atoi(rest)
			_, _ = os.Stderr.Write(bytes.Repeat([]byte("shout\n"), n/len("shout\n")))
		case m.Does == actStall:
			return p.stall()
		case m.Does != "":
			_ = p.close[m.Does].Close()
			if m.Does == actCloseInput {
				return p.leave(p.deaf())
			}
		}
	}
	for {
		if code, over := p.read(); over {
			return code
		}
	}
}

// deaf makes the moves behind the end of its own input, which wait for nothing, and then lives on.
func (p *player) deaf() int {
	for _, m := range p.script.Moves[p.next:] {
		p.say(m.Says)
		if code, found := strings.CutPrefix(m.Does, actExit+" "); found {
			n, _ := strconv.Atoi(code)
			return n
		}
	}
	return p.linger()
}

// stall answers nothing any more. What the host writes all the same is recorded, and judged.
func (p *player) stall() int {
	for !p.ended {
		_, _ = p.hear()
	}
	return p.linger()
}

// lingering is how long a player lives that its host has to end.
const lingering = time.Minute

func (p *player) linger() int {
	<-time.After(lingering)
	return p.leave(0)
}

// leave records what was written without a line feed.
func (p *player) leave(code int) int {
	if len(p.line) > 0 {
		p.record(wire.FromSubject, p.line, false)
	}
	return code
}

func (p *player) record(lane wire.Lane, payload []byte, ended bool) {
	p.report.Add(p.recorder.Add(lane, bytes.Clone(payload), ended))
}

// read takes one frame of the host. over says that the player is to end.
func (p *player) read() (code int, over bool) {
	if p.ended {
		return p.leave(0), true
	}
	payload, ok := p.hear()
	if !ok {
		p.came[endOfInput]++
		return 0, false
	}
	var m struct {
		ID     json.RawMessage `json:"id"`
		Method string          `json:"method"`
		Params json.RawMessage `json:"params"`
	}
	// What cannot be read is the judge's business.
	_ = json.Unmarshal(payload, &m)
	if m.Method == "" {
		p.answers[string(m.ID)] = payload
		p.came["answer "+string(m.ID)]++
		return 0, false
	}
	p.came[m.Method]++
	if m.ID != nil {
		p.last[m.Method] = m.ID
	}
	return p.request(m.Method, m.Params)
}

// hear records one frame of the host; it is not ok at the end of the input.
func (p *player) hear() (payload []byte, ok bool) {
	payload, err := p.in.ReadBytes('\n')
	if err != nil {
		p.ended = true
		if len(payload) > 0 {
			p.record(wire.ToSubject, payload, false)
		}
		return nil, false
	}
	payload = bytes.TrimSuffix(payload, []byte("\n"))
	p.record(wire.ToSubject, payload, true)
	return payload, true
}

// request answers what the script leaves to the player.
func (p *player) request(method string, params json.RawMessage) (code int, over bool) {
	waited := p.claims(method)
	switch method {
	case cw.MethodBusLifecycle:
		notice, err := cw.DecodeBusLifecycleParams(params)
		if b, is := notice.(cw.BusBindingNotice); is && err == nil {
			p.binding = b.BindingID
		}
	case dialect.Initialize:
		p.offer = params
		service := p.script.service()
		p.idle = service != "" && !slices.Contains(p.offered(), service)
		if !waited {
			p.say([]string{"«initialized»"})
		}
	case dialect.ToolCall:
		p.params = params
		if !waited {
			p.say([]string{"«answer»"})
		}
	case featurewire.MethodHookRun:
		result := dialect.Object{}
		if p.d.Canonical() {
			result["disposition"] = dialect.Object{"kind": string(cw.DispositionKindContinue)}
		}
		p.say([]string{string(p.d.Result(string(p.last[method]), result))})
	case dialect.Shutdown:
		if !waited {
			p.say([]string{"«ended»"})
			return p.leave(0), true
		}
	}
	return 0, false
}

// claims reports whether a move that is not made yet waits for a method, or says something about it.
func (p *player) claims(method string) bool {
	return !p.idle && slices.ContainsFunc(p.script.Moves[max(p.next-1, 0):], func(m move) bool {
		return m.On == method || slices.ContainsFunc(m.Says, func(text string) bool {
			return method == dialect.ToolCall && (strings.Contains(text, "«answer»") || strings.Contains(text, method))
		})
	})
}

// say writes frames together, in the pieces of the script.
func (p *player) say(frames []string) {
	var all []byte
	for _, text := range frames {
		payload, torn := strings.CutSuffix(text, "↩")
		payload, later := strings.CutPrefix(payload, spelledLater)
		frame := p.expand(payload)
		if later && p.d.Spellable(string(frame)) {
			frame = p.d.Encode(json.RawMessage(frame))
		}
		all = append(all, frame...)
		if torn {
			continue
		}
		all = append(all, '\n')
	}
	for _, line := range bytes.SplitAfter(append(p.line, all...), []byte("\n")) {
		p.line = nil
		if bytes.HasSuffix(line, []byte("\n")) {
			p.record(wire.FromSubject, line[:len(line)-1], true)
		} else if len(line) > 0 {
			p.line = bytes.Clone(line)
		}
	}
	pieces := p.cuts.Cut(p.script.Pace, all)
	until := time.Now().Add(subject.PieceBudget)
	for i, piece := range pieces {
		// A host that does not listen shows in what it does otherwise.
		if _, err := p.out.Write(piece); err != nil {
			return
		}
		// Pieces that lie in the pipe together are read together: nothing would show that they were cut.
		if i < len(pieces)-1 {
			subject.AwaitTaken(p.out, until)
		}
	}
}

var playerMacro = regexp.MustCompile(`«([^»]*)»`)

// expand replaces what stands between guillemets:
//
//	«initialized»        the answer to initialize, «answer» that to the newest call, «ended» that to shutdown
//	«id METHOD»          the id of the host's newest request of a method
//	«text»               what the newest call has said
//	«binding»            the newest binding of the bus, as a string
//	«of ID /POINTER»     a member of the host's answer to a request of the player
//	«model a 9»          the definition of a model with its id and window, «models 9» of nine models
//	«hex ED A0»          these bytes
//	«repeat 9 ab»        the text nine times, %d counting from 0; «list 9 ab» with commas
//	«nest 33»            that many arrays inside each other
//	«fill 1024»          as many x as make the frame that many bytes long
func (p *player) expand(text string) []byte {
	fill := 0
	out := playerMacro.ReplaceAllStringFunc(text, func(m string) string {
		word, rest, _ := strings.Cut(strings.TrimSuffix(strings.TrimPrefix(m, "«"), "»"), " ")
		if word == "fill" {
			fill, _ = strconv.Atoi(rest)
			return "\x00"
		}
		return p.macro(word, rest)
	})
	if fill > 0 {
		out = strings.Replace(out, "\x00", strings.Repeat("x", max(fill-len(out)+1, 0)), 1)
	}
	return []byte(out)
}

func (p *player) macro(word, rest string) string {
	switch word {
	case "initialized":
		return string(p.d.Result(string(p.last[dialect.Initialize]), p.selection()))
	case "answer":
		return string(p.d.Result(string(p.last[dialect.ToolCall]), p.said()))
	case "ended":
		return string(p.d.Result(string(p.last[dialect.Shutdown]), dialect.Object{"terminal": dialect.Shutdown}))
	case "id":
		return string(p.last[rest])
	case "text":
		return p.text()
	case "binding":
		return p.binding
	case "of":
		id, pointer, _ := strings.Cut(rest, " ")
		return string(pointed(p.answers[id], pointer))
	case "model", "models":
		return providerModels(word, rest)
	case "hex":
		b, _ := hex.DecodeString(strings.ReplaceAll(rest, " ", ""))
		return string(b)
	case "repeat", "list", "nest":
		count, text, _ := strings.Cut(rest, " ")
		n, _ := strconv.Atoi(count)
		if word == "nest" {
			return strings.Repeat("[", n) + strings.Repeat("]", n)
		}
		parts := make([]string, n)
		for i := range parts {
			parts[i] = strings.ReplaceAll(text, "%d", strconv.Itoa(i))
		}
		if word == "list" {
			return strings.Join(parts, ",")
		}
		return strings.Join(parts, "")
	}
	return fmt.Sprintf("«%s %s»", word, rest)
}

// providerModels are the definition of a model with an id, and a context window that may be given behind it; or of so
// many models.
func providerModels(word, rest string) string {
	id, window, given := strings.Cut(rest, " ")
	if !given {
		window = "8192"
	}
	one := func(id string) string {
		return fmt.Sprintf(`{"api_name":"m","capabilities":{"parallel_tool_calls":false,"reasoning":false,"structured_output":true,"tools":true},`+
			`"context_window":%s,"id":%q,"max_output_tokens":1024,"protocol":%q}`, window, id, cw.ProviderModelProtocolOpenaiChat)
	}
	if word == "model" {
		return one(id)
	}
	n, _ := strconv.Atoi(id)
	list := make([]string, n)
	for i := range list {
		list[i] = one(fmt.Sprintf("m-%d", i))
	}
	return strings.Join(list, ",")
}

// pointed is the member of a value at a JSON pointer of plain names; empty where there is none.
func pointed(value json.RawMessage, pointer string) json.RawMessage {
	for name := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
		var object map[string]json.RawMessage
		if json.Unmarshal(value, &object) != nil {
			return nil
		}
		value = object[name]
	}
	return value
}

// text is the argument of the newest call.
func (p *player) text() string {
	var call struct {
		Arguments struct {
			Text string `json:"text"`
		} `json:"arguments"`
	}
	_ = json.Unmarshal(p.params, &call)
	return call.Arguments.Text
}

// said is the result of the newest call.
func (p *player) said() dialect.Object {
	// A character of several bytes can be cut in the middle.
	text := p.text() + " ☃"
	result := dialect.Object{"is_error": false, "content": []any{dialect.Object{"type": "text", "text": text}}, "metadata": dialect.Object{}}
	if p.d.API() == dialect.FrozenAPI {
		return dialect.Object{"is_error": false, "content": text}
	}
	return result
}

// offered are the optional capabilities.
func (p *player) offered() []string {
	var names []string
	_ = json.Unmarshal(pointed(p.offer, "/contract/optional_capabilities"), &names)
	return names
}

// selection is the result of initialize.
func (p *player) selection() dialect.Object {
	var offer struct {
		Protocol struct {
			Required []string `json:"required_features"`
			Optional []string `json:"optional_features"`
		} `json:"protocol"`
		Contract struct {
			Schema          string         `json:"schema"`
			Encoding        string         `json:"encoding"`
			Capabilities    []string       `json:"required_capabilities"`
			Methods         []string       `json:"required_methods"`
			MayCapabilities []string       `json:"optional_capabilities"`
			MayMethods      []string       `json:"optional_methods"`
			Limits          dialect.Object `json:"limits"`
		} `json:"contract"`
	}
	_ = json.Unmarshal(p.offer, &offer)
	chosen := func(offered []string) []string {
		return slices.DeleteFunc(slices.Clone(offered), func(name string) bool { return !slices.Contains(p.script.Selects, name) })
	}
	tools := []any{}
	for _, name := range playerTools {
		tools = append(tools, dialect.Object{
			"name": name, "description": "Plays " + name + ".",
			"parameters": dialect.Object{"type": "object", "properties": dialect.Object{"text": dialect.Object{"type": "string"}}},
		})
	}
	result := dialect.Object{"api_version": p.d.API(), "tools": tools}
	switch {
	case p.d.Canonical():
		c := offer.Contract
		limits := c.Limits
		for _, each := range p.script.Selects {
			if name, value, is := strings.Cut(each, "="); is {
				limits[name] = json.RawMessage(value)
			}
		}
		capabilities, methods := append(c.Capabilities, chosen(c.MayCapabilities)...), append(c.Methods, chosen(c.MayMethods)...)
		if slices.Contains(p.script.Selects, selectsReversed) {
			slices.Reverse(capabilities)
			slices.Reverse(methods)
		}
		result["contract"] = dialect.Object{
			"schema": c.Schema, "encoding": c.Encoding, "limits": limits, "capabilities": capabilities, "methods": methods,
		}
	case p.d.Negotiates():
		result["protocol"] = dialect.Object{
			"version": p.d.API(), "features": append(offer.Protocol.Required, chosen(offer.Protocol.Optional)...),
			"limits": dialect.Object{"max_concurrent_requests": dialect.MaxConcurrentRequests},
		}
		fallthrough
	default:
		result["commands"] = []any{}
	}
	return result
}
