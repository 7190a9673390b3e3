package conversations

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/runtime/negotiation"
)

// fault is one thing that an actor does wrong, at one of the frames it writes.
type fault string

const (
	none       fault = ""
	wrongValue fault = "a wrong value"
	missing    fault = "a missing frame"
	extra      fault = "an extra frame"
	earlyExit  fault = "an early exit"
	hang       fault = "a hang"
	litter     fault = "a file that stays"
)

// actor is an extension that plays its side of a talk word for word, apart from one fault.
type actor struct {
	talk  *talk
	api   string
	fault fault
	at    int // number of the frame with the fault

	stdin  *io.PipeWriter
	stdout *io.PipeReader
	out    *io.PipeWriter
	bound  bindings
	wrote  int
	killed chan struct{}
	ended  chan struct{}
	scene  error // why it could not play
}

// play starts an actor.
func play(tk *talk, api string, f fault, at int) *actor {
	a := &actor{talk: tk, api: api, fault: f, at: at, killed: make(chan struct{}), ended: make(chan struct{})}
	a.bound = bindings{"api": api, "owner": owner(), "context": usualContext(api), "scratch": a.Scratch(), anything: "something"}
	a.bound["schema"] = dialect.Object{"type": "object", "properties": dialect.Object{}}
	in, stdin := io.Pipe()
	a.stdin = stdin
	a.stdout, a.out = io.Pipe()
	go func() { _, _ = io.Copy(io.Discard, in) }()
	go func() {
		defer close(a.ended)
		err := a.act()
		switch {
		case errors.Is(err, errLeft):
			_ = in.Close()
		case err != nil:
			a.scene = err
		}
		_ = a.out.Close()
	}()
	return a
}

func (a *actor) Stdin() io.WriteCloser { return a.stdin }
func (a *actor) Stdout() io.Reader     { return a.stdout }
func (a *actor) Scratch() string       { return "/scratch" }

// An actor has its files in mind alone.
func (a *actor) Leave(string, string) error { return nil }
func (a *actor) Left(string) bool           { return a.fault == litter }

func (a *actor) Kill() {
	select {
	case <-a.killed:
	default:
		close(a.killed)
	}
	_ = a.stdout.Close()
	_ = a.stdin.Close()
}

func (a *actor) Wait() error {
	<-a.ended
	return a.scene
}

// errLeft is the end of an actor in the middle of its talk.
var errLeft = errors.New("left early")

func (a *actor) act() error {
	asked := 0
	for _, l := range a.talk.lines {
		var frame dialect.Object
		var err error
		switch l.action {
		case ready:
			frame, err = a.introduce()
		case expect, expectAlso:
			frame = l.frame
		case says, fails:
			frame, err = resultFrame(a.api, l, a.bound)
		case seen:
			l.id, l.action = json.Number(fmt.Sprint(seenID)), says
			frame, err = resultFrame(a.api, l, a.bound)
			asked++
		case quiet:
			frame = dialect.Object{"jsonrpc": dialect.RPCVersion, "id": probeID, "error": dialect.Object{"code": featurewire.CodeUnknownMethod, "message": "«*»"}}
		case shutdown:
			frame = dialect.Object{"jsonrpc": dialect.RPCVersion, "id": farewellID, "result": farewell(a.api)}
		}
		if err == nil && frame != nil {
			err = a.write(frame)
		}
		if err != nil {
			return err
		}
	}
	if a.wrote == a.at {
		return a.misplay(nil)
	}
	return nil
}

// introduce is the answer to initialize that selects the whole offer.
func (a *actor) introduce() (dialect.Object, error) {
	_, offer, err := a.talk.initialize(a.api, a.Scratch())
	if err != nil {
		return nil, err
	}
	contributes := contributions(a.api, nil)
	var definitions []any
	for _, name := range contributes["tools"].([]any) {
		definitions = append(definitions, a.definition(name.(string)))
	}
	result := dialect.Object{"api_version": a.api, "tools": definitions}
	if a.api != dialect.CanonicalAPI {
		var commands []any
		for _, name := range contributes["commands"].([]any) {
			commands = append(commands, dialect.Object{"name": name, "description": "a command"})
		}
		result["commands"] = commands
	}
	switch {
	case a.api == dialect.CanonicalAPI:
		result["contract"], err = contract(offer)
	case offer != nil:
		features := slices.Concat(offer["required_features"].([]any), offer["optional_features"].([]any))
		result["protocol"] = dialect.Object{"version": a.api, "features": features, "limits": dialect.Object{"max_concurrent_requests": concurrency}}
	}
	return dialect.Object{"jsonrpc": dialect.RPCVersion, "id": initializeID, "result": result}, err
}

// definition is that of a tool, with the members that the talk wants of it.
func (a *actor) definition(name string) dialect.Object {
	definition := dialect.Object{"name": name, "description": "Showcase: " + name + ".", "parameters": "«schema»"}
	for _, l := range a.talk.lines {
		if l.action == defines && l.id == name {
			maps.Copy(definition, l.value.(dialect.Object))
			if definition["output_schema"] != nil {
				definition["output_schema"] = "«schema»"
			}
		}
	}
	return definition
}

// contract selects everything of an offer.
func contract(offer dialect.Object) (dialect.Object, error) {
	selection := maps.Clone(offer)
	for _, kind := range []string{"capabilities", "methods"} {
		selection[kind] = slices.Concat(offer["required_"+kind].([]any), offer["optional_"+kind].([]any))
		delete(selection, "required_"+kind)
		delete(selection, "optional_"+kind)
	}
	_, err := negotiation.NegotiateJSON([]byte(show(offer)), []byte(show(selection)))
	return selection, err
}

// write writes the frame, or does what the fault says in its place.
func (a *actor) write(frame dialect.Object) error {
	a.wrote++
	if a.wrote-1 == a.at {
		return a.misplay(frame)
	}
	return a.put(frame)
}

func (a *actor) put(frame dialect.Object) error {
	_, err := io.WriteString(a.out, show(a.invent(frame))+"\n")
	return err
}

// misplay commits the fault at a frame, or behind the last one.
func (a *actor) misplay(frame dialect.Object) error {
	switch a.fault {
	case none:
	case missing:
		return nil
	case extra:
		if err := a.put(dialect.Object{"jsonrpc": dialect.RPCVersion, "method": dialect.Notification, "params": dialect.Object{"message": "extra"}}); err != nil {
			return err
		}
	case earlyExit:
		return errLeft
	case hang:
		<-a.killed
		return errLeft
	case wrongValue:
		frame = bend(frame)
	}
	if frame == nil {
		return nil
	}
	return a.put(frame)
}

// bend changes the first fixed value in a frame's result, params or error, or else its method or id.
func bend(frame dialect.Object) dialect.Object {
	bent := maps.Clone(frame)
	for _, part := range []string{"result", "params", "error"} {
		if value, done := bendValue(frame[part]); done {
			bent[part] = value
			return bent
		}
	}
	if _, isCall := frame["method"]; isCall {
		bent["method"] = "talk/none"
	} else {
		bent["id"] = "another"
	}
	return bent
}

func bendValue(value any) (any, bool) {
	switch value := value.(type) {
	case string:
		return value + "?", !strings.Contains(value, "«")
	case json.Number:
		return json.Number(value + "1"), true
	case dialect.Object:
		for _, key := range slices.Sorted(maps.Keys(value)) {
			if bent, done := bendValue(value[key]); done {
				object := maps.Clone(value)
				object[key] = bent
				return object, true
			}
		}
	case []any:
		for i := range value {
			if bent, done := bendValue(value[i]); done {
				all := slices.Clone(value)
				all[i] = bent
				return all, true
			}
		}
	}
	return value, false
}

// invent fills a frame and gives a value to each name that has none, the same one each time.
func (a *actor) invent(v any) any {
	if name, ok := placeholder(v); ok {
		if _, bound := a.bound[name]; !bound {
			a.bound[name] = "the-" + name
		}
		return a.bound[name]
	}
	switch v := v.(type) {
	case dialect.Object:
		out := dialect.Object{}
		for key, member := range v {
			if member == "«"+permitted+"»" {
				continue
			}
			out[key] = a.invent(member)
		}
		return out
	case []any:
		out := make([]any, 0, len(v))
		for _, element := range v {
			out = append(out, a.invent(element))
		}
		return out
	}
	filled, err := a.bound.fill(v)
	if err != nil {
		return v
	}
	return filled
}
