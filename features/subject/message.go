package subject

import (
	"bytes"
	"encoding/json"

	"github.com/octet-dev/octet/features/wire"
)

// Message is a frame of the subject, read as loosely as possible: what a check needs to find the frame
// it waits for. Whether the frame keeps the rules is the monitor's business.
type Message struct {
	Frame  wire.Frame
	Fields map[string]json.RawMessage // nil unless the frame is a JSON object
	ID     string                     // the id as spelled on the wire; empty if absent
	Method string
}

// read never fails: bytes that are no JSON object give a Message without fields.
func read(f wire.Frame) Message {
	m := Message{Frame: f}
	if !f.Ended || json.Unmarshal(f.Bytes, &m.Fields) != nil {
		m.Fields = nil
		return m
	}
	m.ID = string(bytes.TrimSpace(m.Fields["id"]))
	// A method that is no string stays empty here.
	_ = json.Unmarshal(m.Fields["method"], &m.Method)
	return m
}

// IsResponse reports whether the message has an outcome.
func (m Message) IsResponse() bool {
	return m.Fields["result"] != nil || m.Fields["error"] != nil
}

// IsError reports whether the message carries an error.
func (m Message) IsError() bool { return m.Fields["error"] != nil }

// ErrorCode returns the code of an error response.
func (m Message) ErrorCode() (int64, bool) {
	var e struct {
		Code *int64 `json:"code"`
	}
	if json.Unmarshal(m.Fields["error"], &e) != nil || e.Code == nil {
		return 0, false
	}
	return *e.Code, true
}

// Answers returns a predicate: a response on this id.
func Answers(id string) func(Message) bool {
	return func(m Message) bool { return m.IsResponse() && m.ID == id }
}

// None accepts no frame: whoever waits for it waits for the end of the output.
func None(Message) bool { return false }

// Any accepts every frame.
func Any(Message) bool { return true }
