// Package scripted is a model that answers what a file says: for demos, and for tests of everything that
// works with models, without a key and without a network.
//
// The file is YAML, or JSON if its name ends in .json; script.schema.json describes it. For example:
//
//	script: 1
//	steps:
//	  - when: {user_contains: weather}
//	    reasoning: I should ask the tool.
//	    calls:
//	      - {name: weather, arguments: {city: Berlin}}
//	  - when: {result_of: weather}
//	    text: "It says: ${result}"
//
// Every request is answered by the first step that is left and whose conditions hold. A step is left
// until it has answered once, or as often as its repeat says.
package scripted

import (
	"encoding/json"
	"time"

	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/model"
)

// Version is the one version of the file format.
const Version = 1

// The bounds of a file.
const (
	MaxFileBytes = 1 << 20
	MaxSteps     = 10_000
	MaxCalls     = 128
	MaxDelay     = time.Hour
	MaxRepeat    = 1_000_000
)

// Script is what a file says.
type Script struct {
	File  string // as it is named in errors
	Info  model.Info
	Steps []Step
}

// Step is one answer.
type Step struct {
	Line   int // where it stands in the file
	When   When
	Repeat int // how often it answers; 0: without end

	Delay     time.Duration // before anything is heard
	Reasoning string
	Text      string // ${user} and ${result} stand for what they name in When
	Calls     []Call

	Chunk int           // characters of one delta; 0: all at once
	Pause time.Duration // between two deltas

	Usage        conversation.Usage
	UsageUnknown bool
	Stop         model.StopReason
	Error        *Failure // comes behind all of the above
}

// When are the conditions of a step. All that are not empty must hold.
type When struct {
	UserContains   string // in the last thing that the user has said
	ResultOf       string // the request ends with a result of the tool of this name
	ResultContains string // in one of the results at the end of the request
	SystemContains string // in the system prompt
	Offers         string // a tool of this name is offered
}

// Call is one call of a tool.
type Call struct {
	ID        string // empty: made up, unique in the conversation
	Name      string
	Arguments json.RawMessage
}

// Failure ends an answer.
type Failure struct {
	Phase        model.Phase
	Status       int
	RetryAfter   time.Duration
	Retry        bool
	UsageUnknown bool
	Message      string
}
