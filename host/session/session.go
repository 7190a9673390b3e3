// Package session keeps conversations on disk: an append-only tree of entries for each session, the head
// that says where the conversation stands, and what it has cost. Nothing that was acknowledged is lost,
// also when the process is killed.
//
// A Store is one file that any number of processes may have open. A Session is the right of one process to
// write one conversation.
//
// Sheet: manifest 13; feature wire 9.2, 12.4, 12.8.
package session

import (
	"encoding/json"
	"time"

	"github.com/octet-dev/octet/host/conversation"
)

// EntryID names an entry of a session. It is unique in its session, never used again there, and kept by a
// fork. At most 32 bytes.
type EntryID string

// Info is what a listing tells of a session.
type Info struct {
	ID        string    `json:"id"`
	Name      string    `json:"name,omitempty"`
	Workspace string    `json:"workspace"`
	Model     string    `json:"model,omitempty"` // the last one that was chosen, as given
	Created   time.Time `json:"created"`
	Updated   time.Time `json:"updated"` // the last record
	Entries   int64     `json:"entries"` // on all branches
	Head      EntryID   `json:"head,omitempty"`
	// Title is the beginning of the first thing that the user said, one line of at most 80 characters.
	Title string `json:"title,omitempty"`
	// Parent is the session that this one works for; empty for one that a person started.
	Parent string `json:"parent,omitempty"`
	// Fork says where the session comes from; nil if it was started empty.
	Fork *Origin `json:"fork,omitempty"`
	// Running is the run that has not ended, empty if there is none.
	Running string `json:"running,omitempty"`
	Usage   Totals `json:"usage"`
	// Key is what other programs call the session, empty where they have no name for it. No two sessions have one.
	Key string `json:"key,omitempty"`
	// Owner is what extensions are told instead of the id: opaque, and the same whenever the session is
	// opened again.
	Owner string `json:"-"`
	// Profile is for whom the session was made; empty where nobody said it.
	Profile string `json:"-"`
	// Messages is how many entries of the branch to the head are something said, by anybody. It is not known, and 0, in a
	// store of an earlier version that is open for reading alone.
	Messages int64 `json:"-"`
}

// Origin is the entry that a fork begins behind. Entry is empty if it begins with nothing.
type Origin struct {
	Session string  `json:"session"`
	Entry   EntryID `json:"entry,omitempty"`
}

// New says what a session starts with.
type New struct {
	Workspace string // absolute path
	Name      string // at most 4 KiB; may be empty
	Model     string
	Parent    string // id of the session that it works for; may be empty
	Key       string // that no other session has; may be empty
	Profile   string // for whom; may be empty
}

// Filter chooses sessions. The zero value chooses every session that has no parent.
type Filter struct {
	Workspace string // only of this workspace
	Parent    string // only children of this session
	Children  bool   // sessions that have a parent too
	Keyed     bool   // only those that have a key
	// Limit is how many at most; 0: all.
	Limit int
	// After is the id of the last session of the page before.
	After string
}

// Entry is something to append. Its parent is the head, or the entry before it in the same call.
type Entry struct {
	Value    Value
	Metadata Metadata // what before_persistence hooks add
}

// Stored is an entry as it lies in the store.
type Stored struct {
	ID       EntryID
	Parent   EntryID // empty for the first
	Time     time.Time
	Value    Value
	Metadata Metadata
	Label    string
}

// Value is what an entry holds: one of the types of this file.
type Value interface {
	// Type is the stable name of the value's kind.
	Type() string
}

// Message is something said.
type Message struct {
	Message conversation.Message `json:"message"`
	Run     string               `json:"run,omitempty"` // the run that it belongs to
	// Provider, Model and Stop of what a model said.
	Provider string `json:"provider,omitempty"`
	Model    string `json:"model,omitempty"`
	Stop     string `json:"stop,omitempty"`
	// Display is what the user is shown in place of the text, if that is something else.
	Display string `json:"display,omitempty"`
}

// Injected is something said that nobody typed: an extension or the host added it.
type Injected struct {
	Source  string               `json:"source"` // the extension; empty: the host
	Message conversation.Message `json:"message"`
	Run     string               `json:"run,omitempty"`
}

// Compaction stands in for everything before FirstKept when the conversation is sent to a model.
type Compaction struct {
	Summary   string  `json:"summary"`
	FirstKept EntryID `json:"first_kept"`
	// Frames are pictures in place of the summary, each a PNG.
	Frames       [][]byte `json:"frames,omitempty"`
	Instructions string   `json:"instructions,omitempty"`
	TokensBefore int64    `json:"tokens_before,omitempty"`
	Source       string   `json:"source,omitempty"` // the extension that made it; empty: the host
}

// Extension is an entry of an extension. It is private: no model and no export is shown it.
type Extension struct {
	Extension string          `json:"extension"`
	Kind      string          `json:"entry_type"`
	Data      json.RawMessage `json:"data"`
}

// ModelChange says that another model answers from here on.
type ModelChange struct {
	Provider  string `json:"provider"`
	Model     string `json:"model"`
	Reasoning string `json:"reasoning,omitempty"`
}

// Reference is what the model is chosen by.
func (m ModelChange) Reference() string {
	if m.Provider == "" {
		return m.Model
	}
	return m.Provider + ":" + m.Model
}

// Composition is one batch of the values that a composing tool keeps.
type Composition struct {
	Tool   string                     `json:"tool"`
	Set    map[string]json.RawMessage `json:"set,omitempty"`
	Delete []string                   `json:"delete,omitempty"`
}

// Unknown is a value of a kind that a later version writes. It is kept as it is.
type Unknown struct {
	Kind string
	Raw  json.RawMessage // an object, with its member type
}

// Type names the value's kind.
func (Message) Type() string     { return "message" }
func (Injected) Type() string    { return "injected" }
func (Compaction) Type() string  { return "compaction" }
func (Extension) Type() string   { return "extension" }
func (ModelChange) Type() string { return "model_change" }
func (Composition) Type() string { return "composition" }
func (u Unknown) Type() string   { return u.Kind }
