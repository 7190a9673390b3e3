package actor

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/featurewire"
)

// Exit codes of an actor.
const (
	exitDone  = 0
	exitEnded = 3 // as its part wants
	exitUsage = 64
)

// actor is one run.
type actor struct {
	part *Part
	d    dialect.Dialect
	log  io.Writer

	mu      sync.Mutex // guards the fields below, and the order of what is written
	out     io.Writer
	used    map[string]int                  // replies used up, by topic
	held    map[string]bool                 // ids of requests that wait for their cancellation
	asked   int                             // its own requests
	waiting map[string]chan json.RawMessage // by the spelling of their ids
	code    chan int                        // the end, as the part wants it
}

// Run plays the part of a file until shutdown, the end of the input or of the context.
func Run(ctx context.Context, path string, stdin io.Reader, stdout, stderr io.Writer) int {
	part, err := Load(path)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return exitUsage
	}
	d, err := dialect.For(part.API)
	if err != nil {
		fmt.Fprintln(stderr, err)
		return exitUsage
	}
	a := &actor{
		part: part, d: d, log: stderr, out: stdout, used: map[string]int{}, held: map[string]bool{},
		waiting: map[string]chan json.RawMessage{}, code: make(chan int, 1),
	}
	go a.read(ctx, stdin)
	select {
	case code := <-a.code:
		return code
	case <-ctx.Done():
		return exitDone
	}
}

func (a *actor) end(code int) {
	select {
	case a.code <- code:
	default: // it ends already
	}
}

// message is a frame of the host.
type message struct {
	ID     json.RawMessage `json:"id"`
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Result json.RawMessage `json:"result"`
}

func (a *actor) read(ctx context.Context, stdin io.Reader) {
	defer a.end(exitDone)
	lines := bufio.NewScanner(stdin)
	lines.Buffer(nil, 2*featurewire.MaxLineBytes)
	for lines.Scan() {
		var m message
		if json.Unmarshal(lines.Bytes(), &m) != nil {
			fmt.Fprintln(a.log, "a line that is no message")
			continue
		}
		// The scanner reuses its bytes.
		m.ID, m.Params, m.Result = slices.Clone(m.ID), slices.Clone(m.Params), slices.Clone(m.Result)
		switch {
		case m.Method == "":
			a.answered(string(m.ID), m.Result)
		case m.ID == nil:
			a.told(m)
		default:
			a.serve(ctx, m)
		}
	}
}

// answered takes the answer to a request of the actor. One that nobody waits for is dropped.
func (a *actor) answered(id string, result json.RawMessage) {
	a.mu.Lock()
	defer a.mu.Unlock()
	if c := a.waiting[id]; c != nil {
		delete(a.waiting, id)
		c <- result
	}
}

// told takes a notification: a cancellation ends what waits for it.
func (a *actor) told(m message) {
	var p struct {
		ID     json.RawMessage `json:"id"`
		Reason json.RawMessage `json:"reason"`
	}
	if m.Method != dialect.Cancel || json.Unmarshal(m.Params, &p) != nil {
		return
	}
	a.mu.Lock()
	held := a.held[string(p.ID)]
	delete(a.held, string(p.ID))
	a.mu.Unlock()
	if held {
		a.refuse(p.ID, "request_cancelled", dialect.Object{"reason": "user"})
	}
}

// serve answers a request. What its reply sends in front of the answer must not hold up the reader.
func (a *actor) serve(ctx context.Context, m message) {
	topic := Topic(m.Method, m.Params)
	reply := a.reply(topic, m)
	if len(reply.Asks) == 0 {
		a.settle(ctx, m, reply)
		return
	}
	go func() {
		for _, ask := range reply.Asks {
			if !a.send(ctx, m, ask) {
				return
			}
		}
		a.settle(ctx, m, reply)
	}()
}

// reply is the next answer of the part to a topic, or that of a sound extension.
func (a *actor) reply(topic string, m message) Reply {
	a.mu.Lock()
	defer a.mu.Unlock()
	for _, name := range []string{topic, m.Method} {
		if list := a.part.Replies[name]; len(list) > 0 {
			next := min(a.used[name], len(list)-1)
			a.used[name]++
			r := list[next]
			if r.Result == nil && r.Error == nil {
				r.Result = a.usual(m)
			}
			return r
		}
	}
	return Reply{Result: a.usual(m)}
}

// settle gives an answer, and does what stands behind it.
func (a *actor) settle(ctx context.Context, m message, r Reply) {
	switch {
	case r.Exits:
		a.end(exitEnded)
		return
	case r.Silent:
	case r.Holds:
		a.mu.Lock()
		a.held[string(m.ID)] = true
		a.mu.Unlock()
	case r.Error != nil:
		a.write(dialect.Object{"id": m.ID, "error": r.Error})
	case r.Result == nil:
		a.refuse(m.ID, "unknown_method", dialect.Object{"method": m.Method})
	default:
		a.write(dialect.Object{"id": m.ID, "result": r.Result})
	}
	behind := r.Behind
	if m.Method == dialect.Initialize {
		behind = append(slices.Clone(behind), a.part.Opening...)
	}
	go func() {
		for _, ask := range behind {
			if !a.send(ctx, m, ask) {
				return
			}
		}
	}()
	if m.Method == dialect.Shutdown && !r.Silent && !r.Holds {
		a.end(exitDone)
	}
}

// send sends a message of the actor and waits for the answer to a request.
func (a *actor) send(ctx context.Context, parent message, ask Message) bool {
	var p struct {
		Context struct {
			Owner json.RawMessage `json:"resource_owner"`
		} `json:"context"`
	}
	_ = json.Unmarshal(parent.Params, &p)
	owner := string(p.Context.Owner)
	if owner == "" {
		owner = "null"
	}
	params := strings.NewReplacer(PlaceParent, string(parent.ID), PlaceOwner, owner).Replace(string(ask.Params))
	frame := dialect.Object{"method": ask.Method, "params": json.RawMessage(params)}
	if ask.Tell {
		a.write(frame)
		return true
	}
	a.mu.Lock()
	a.asked++
	id := strconv.Quote("a-" + strconv.Itoa(a.asked))
	answer := make(chan json.RawMessage, 1)
	a.waiting[id] = answer
	a.mu.Unlock()
	frame["id"] = json.RawMessage(id)
	a.write(frame)
	select {
	case <-answer:
		return true
	case <-ctx.Done():
		return false
	}
}

// write sends a message. A broken output ends the actor.
func (a *actor) write(m dialect.Object) {
	m["jsonrpc"] = dialect.RPCVersion
	frame := append(dialect.Encode(m), '\n')
	a.mu.Lock()
	defer a.mu.Unlock()
	if _, err := a.out.Write(frame); err != nil {
		a.end(exitDone)
	}
}

// refuse answers with a row of the error table.
func (a *actor) refuse(id json.RawMessage, name string, data any) {
	code, err := a.d.Code(name)
	if err != nil {
		fmt.Fprintln(a.log, err)
		return
	}
	message := a.d.Message(name)
	if o, is := data.(dialect.Object); is && name == "unknown_method" && !a.d.Canonical() {
		message = fmt.Sprintf("%s: %s", message, o["method"])
	}
	a.write(dialect.Object{"id": id, "error": dialect.Object{"code": code, "message": message, "data": data}})
}

// usual is what a sound extension answers that has nothing special to say; nil for what it does not know.
func (a *actor) usual(m message) json.RawMessage {
	switch m.Method {
	case dialect.Initialize:
		return a.initialize(m.Params)
	case dialect.ToolCall:
		return a.said(m.Params)
	case dialect.Shutdown:
		if a.d.Canonical() {
			return json.RawMessage(`{"terminal":"shutdown"}`)
		}
		return json.RawMessage(`{}`)
	case featurewire.MethodHookRun:
		if a.d.Canonical() {
			return json.RawMessage(`{"disposition":{"kind":"continue"}}`)
		}
		return json.RawMessage(`{}`)
	case featurewire.MethodCommandExecute:
		return json.RawMessage(`{"text":"done"}`)
	case featurewire.MethodContextCollect:
		return json.RawMessage(`[]`)
	case featurewire.MethodStatusCollect:
		return json.RawMessage(`null`)
	case featurewire.MethodMenuCollect:
		return json.RawMessage(`{"items":[]}`)
	case featurewire.MethodToolRender:
		return json.RawMessage(`{"segments":[]}`)
	case featurewire.MethodUIAutocompleteComplete:
		return json.RawMessage(`{"prefix":"","items":[]}`)
	case featurewire.MethodResourceDispose:
		return a.disposed(m.Params)
	}
	return nil
}

// said repeats the argument "text" of a call.
func (a *actor) said(params json.RawMessage) json.RawMessage {
	var p struct {
		Arguments struct {
			Text string `json:"text"`
		} `json:"arguments"`
	}
	_ = json.Unmarshal(params, &p)
	if p.Arguments.Text == "" {
		p.Arguments.Text = "done"
	}
	return Says(a.d, p.Arguments.Text)
}

// Says is the result of a tool that says a text.
func Says(d dialect.Dialect, text string) json.RawMessage {
	result := dialect.Object{"is_error": false, "content": []any{dialect.Object{"type": "text", "text": text}}}
	switch {
	case d.API() == dialect.FrozenAPI:
		result["content"] = text
	case d.Canonical():
		result["metadata"] = dialect.Object{}
	}
	return dialect.Encode(result)
}

func (a *actor) disposed(params json.RawMessage) json.RawMessage {
	var p struct {
		Resources []json.RawMessage `json:"resources"`
	}
	_ = json.Unmarshal(params, &p)
	results := []any{}
	for _, r := range p.Resources {
		results = append(results, dialect.Object{"resource": r, "status": "completed"})
	}
	return dialect.Encode(dialect.Object{"results": results})
}

// initialize answers initialize with the catalog and the selection of the part.
func (a *actor) initialize(params json.RawMessage) json.RawMessage {
	var offer struct {
		Contributes struct {
			Hooks []string `json:"hooks"`
		} `json:"contributes"`
		Protocol struct {
			Version  string   `json:"version"`
			Required []string `json:"required_features"`
			Optional []string `json:"optional_features"`
		} `json:"protocol"`
		Contract struct {
			Schema       string          `json:"schema"`
			Encoding     string          `json:"encoding"`
			Capabilities []string        `json:"required_capabilities"`
			Methods      []string        `json:"required_methods"`
			May          []string        `json:"optional_capabilities"`
			MayMethods   []string        `json:"optional_methods"`
			Limits       json.RawMessage `json:"limits"`
		} `json:"contract"`
	}
	_ = json.Unmarshal(params, &offer)
	result := dialect.Object{"api_version": a.part.API, "tools": listed(a.part.Tools)}
	if a.d.Canonical() {
		c := offer.Contract
		if len(offer.Contributes.Hooks) == 0 {
			c.May = slices.DeleteFunc(c.May, func(name string) bool { return name == canonicalwire.CapabilityLifecycleEvents })
		}
		capabilities := append(c.Capabilities, a.wanted(c.May)...)
		methods := append(c.Methods, a.methods(c.MayMethods, capabilities)...)
		result["contract"] = dialect.Object{
			"schema": c.Schema, "encoding": c.Encoding, "capabilities": capabilities, "methods": methods, "limits": c.Limits,
		}
		return dialect.Encode(result)
	}
	result["commands"] = listed(a.part.Commands)
	if a.d.Negotiates() {
		selection := dialect.Object{
			"version": offer.Protocol.Version, "features": append(offer.Protocol.Required, a.wanted(offer.Protocol.Optional)...),
			"limits": dialect.Object{"max_concurrent_requests": dialect.MaxConcurrentRequests},
		}
		if a.part.Events != nil {
			selection["lifecycle_events"] = a.part.Events
		}
		result["protocol"] = selection
	}
	return dialect.Encode(result)
}

func listed(list []json.RawMessage) []json.RawMessage {
	if list == nil {
		return []json.RawMessage{}
	}
	return list
}

// wanted are the offered features that the part selects.
func (a *actor) wanted(offered []string) []string {
	return slices.DeleteFunc(slices.Clone(offered), func(name string) bool {
		return slices.Contains(a.part.Leaves, name) || a.part.Features != nil && !slices.Contains(a.part.Features, name)
	})
}

// methods are the offered methods of selected capabilities.
func (a *actor) methods(offered, capabilities []string) []string {
	return slices.DeleteFunc(slices.Clone(offered), func(name string) bool {
		row := canonicalwire.LookupMethod(name)
		return row == nil || !slices.Contains(capabilities, row.Gate)
	})
}
