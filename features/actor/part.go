// Package actor is an extension that plays a part: it declares, selects and answers what a file tells it, so that
// a scenario can put a host into any situation that an extension can bring about.
//
// Unlike a faulty peer it has no opinion: what the part does not say is answered as a sound extension does.
package actor

import (
	"encoding/json"
	"fmt"
	"os"
	"strings"

	"github.com/octet-dev/octet/features/dialect"
)

// Part is what an actor plays. It is read anew at every start, so that a second start can play another one.
type Part struct {
	API string `json:"api"`
	// Features are selected where they are offered; nil selects all that are offered. On API 0.3 they are
	// capabilities, and every offered method of theirs is selected with them.
	Features []string `json:"features"`
	// Leaves are not selected although they are offered.
	Leaves []string `json:"leaves,omitempty"`
	// Events are the lifecycle events that are subscribed to; nil leaves the member out.
	Events []string `json:"events,omitempty"`
	// Tools and Commands are the catalog.
	Tools    []json.RawMessage `json:"tools"`
	Commands []json.RawMessage `json:"commands"`
	// Replies are answers by topic, see Topic. Those of a topic are used up one after the other; the last one
	// stays.
	Replies map[string][]Reply `json:"replies"`
	// Then is played by the next start, and by the ones behind it what it has for them.
	Then *Part `json:"then,omitempty"`
	// Opening is sent behind the answer to initialize, one after the other.
	Opening []Message `json:"opening,omitempty"`
}

// Reply is one answer. Without Error, Silent, Holds and Exits it is Result.
type Reply struct {
	// Asks are sent in front of the answer, each when the one before it has its own. Tells of the same kind are
	// notifications, which wait for nothing.
	Asks []Message `json:"asks,omitempty"`
	// Behind are sent when the answer is written.
	Behind []Message `json:"behind,omitempty"`

	Result json.RawMessage `json:"result,omitempty"`
	Error  json.RawMessage `json:"error,omitempty"`
	// Silent gives no answer at all, not even to a cancellation.
	Silent bool `json:"silent,omitempty"`
	// Holds waits for a cancellation and answers that.
	Holds bool `json:"holds,omitempty"`
	// Exits ends the process without an answer.
	Exits bool `json:"exits,omitempty"`
}

// Message is a request of the actor, or with Tell a notification. In its params the strings «parent» and «owner»
// stand for the id of the request that is being answered and for the owner in its context.
type Message struct {
	Method string          `json:"method"`
	Params json.RawMessage `json:"params"`
	Tell   bool            `json:"tell,omitempty"`
}

// Placeholders in the params of a message, quotes included.
const (
	PlaceParent = `"«parent»"`
	PlaceOwner  = `"«owner»"`
)

// Topic names what is asked: the method, and behind a blank the name of the hook, tool or command or the surface, if
// the params have one.
func Topic(method string, params json.RawMessage) string {
	var p struct{ Hook, Name, Surface string }
	// Params that are no such object name nothing.
	_ = json.Unmarshal(params, &p)
	return strings.TrimSpace(method + " " + p.Hook + p.Name + p.Surface)
}

// Load reads the part that this start of an actor plays.
func Load(path string) (*Part, error) {
	text, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var first Part
	if err := json.Unmarshal(text, &first); err != nil {
		return nil, fmt.Errorf("%s: %w", path, err)
	}
	p := &first
	if p.Then == nil {
		return p, nil
	}
	starts, err := count(path + ".starts")
	if err != nil {
		return nil, err
	}
	for ; starts > 1 && p.Then != nil; starts-- {
		p = p.Then
	}
	return p, nil
}

// count adds one to the length of a file, and returns it.
func count(path string) (int, error) {
	f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return 0, err
	}
	defer func() { _ = f.Close() }()
	if _, err := f.Write([]byte{'.'}); err != nil {
		return 0, err
	}
	info, err := f.Stat()
	if err != nil {
		return 0, err
	}
	return int(info.Size()), nil
}

// Save writes a part in one step: a start that comes meanwhile reads the old one or the new one.
func (p *Part) Save(path string) error {
	text, err := json.Marshal(p)
	if err != nil {
		return err
	}
	if err := os.WriteFile(path+".new", text, 0o600); err != nil {
		return err
	}
	return os.Rename(path+".new", path)
}

// Tool is a definition with a parameter "text", the least that every version takes.
func Tool(name string) json.RawMessage {
	return dialect.Encode(dialect.Object{
		"name": name, "description": "Plays " + name + ".",
		"parameters": dialect.Object{"type": "object", "properties": dialect.Object{"text": dialect.Object{"type": "string"}}},
	})
}

// Command is a definition of a command.
func Command(name string) json.RawMessage {
	return dialect.Encode(dialect.Object{"name": name, "description": "Plays " + name + ".", "usage": nil})
}
