package faultypeer

import (
	"encoding/json"
	"strings"

	"github.com/octet-dev/octet/generated/featurewire"
)

// progressing changes progress of one kind of event.
func progressing(kind string, f func(params, event obj)) quirk {
	return change(featurewire.MethodProgress, func(m obj) {
		params := m["params"].(obj)
		if event := params["event"].(obj); event["type"] == kind {
			f(params, event)
		}
	})
}

var featureProgressFaults = []Fault{
	on(middle, "EXT04-PROG-001", "progress-unasked", "sends progress that was not selected", moment("call "+ToolEcho, func(p *peer) {
		p.progress(json.RawMessage(p.last), obj{"type": "status", "message": "working"})
	})),
	on(current, "EXT04-PROG-002", "progress-behind-result", "sends progress behind the result", moment("answered "+featurewire.MethodToolCall, func(p *peer) {
		p.progress(json.RawMessage(p.last), obj{"type": "status", "message": "done"})
	})),
	on(middle, "EXT04-PROG-002", "progress-under-text", "names the request as a string", progressing("status", func(params, _ obj) {
		params["request_id"] = string(params["request_id"].(json.RawMessage))
	})),
	on(current, "EXT04-PROG-002", "progress-under-token", "names its progress by a token of its own", progressing("output", func(params, _ obj) {
		params["request_id"] = "token-1"
	})),
	on(middle, "EXT04-PROG-003", "sequence-stands", "sends every progress under sequence 1", progressing("output", func(params, _ obj) { params["sequence"] = 1 })),
	on(current, "EXT04-PROG-003", "sequence-falls", "counts down", progressing("output", func(params, _ obj) { params["sequence"] = 0 })),
	on(current, "EXT04-PROG-003", "sequence-as-text", "writes the sequence as a string", progressing("status", func(params, _ obj) { params["sequence"] = "1" })),
	on(middle, "EXT04-PROG-004", "decorates-unasked", "sends decorated progress that was not selected", progressing("status", func(params, _ obj) {
		params["event"] = obj{"type": "decoration", "label": "working"}
	})),
	on(current, "EXT04-PROG-004", "progress-of-its-own", "sends progress of a type of its own", progressing("status", func(_, event obj) { event["type"] = "percent" })),
	on(middle, "EXT04-PROG-005", "progress-in-fractions", "counts in fractions", progressing("status", func(_, event obj) { event["current"] = json.Number("0.5") })),
	on(current, "EXT04-PROG-005", "null-for-no-total", "writes null for a total it does not know", progressing("status", func(_, event obj) { event["total"] = nil })),
	on(middle, "EXT04-PROG-005", "progress-without-message", "leaves the message of its progress out", progressing("status", func(_, event obj) { delete(event, "message") })),
	on(current, "EXT04-PROG-006", "wrong-base64", "leaves out the padding of base64", progressing("output", func(_, event obj) { event["data"] = "b2N0ZQ" })),
	on(middle, "EXT04-PROG-006", "output-without-encoding", "leaves the encoding of output out", progressing("output", func(_, event obj) { delete(event, "encoding") })),
	on(current, "EXT04-PROG-006", "output-on-log", "sends output of a stream of its own", progressing("output", func(_, event obj) { event["stream"] = "log" })),
	on(middle, "EXT04-PROG-007", "sequence-from-zero", "counts progress from 0", quirk{message: func(_ *peer, what string, m obj) {
		if what == featurewire.MethodProgress {
			params := m["params"].(obj)
			params["sequence"] = params["sequence"].(int) - 1
		}
	}}),
	on(current, "EXT04-PROG-008", "large-output", "sends output in large pieces", progressing("output", func(_, event obj) {
		event["encoding"], event["data"] = "utf8", strings.Repeat("o", featurewire.MaxProgressOutputBytes+1)
	})),

	on(frozen, "EXT01-PROG-001", "progress-on-frozen", "sends progress", moment("call "+ToolEcho, func(p *peer) {
		p.progress(json.RawMessage(p.last), obj{"type": "status", "message": "working"})
	})),
}

// noticing changes the notices of a peer that declares them.
func noticing(f func(params obj)) quirk {
	return change(featurewire.MethodNotification, func(m obj) { f(m["params"].(obj)) })
}

var featureNoticeFaults = []Fault{
	on(frozen, "EXT04-NOTE-001", "notice-undeclared", "sends notices that its manifest does not declare", quirk{
		contributes: obj{"notifications": false},
		acts:        when("call "+ToolEcho, func(p *peer) { p.notify(featurewire.MethodNotification, obj{"message": "echoed"}) }),
	}),
	on(middle, "EXT04-NOTE-002", "notice-at-debug", "sends notices at a level of its own", noticing(func(params obj) { params["level"] = "debug" })),
	on(current, "EXT04-NOTE-002", "notice-without-message", "writes the message of a notice as its text", noticing(func(params obj) {
		params["text"] = params["message"]
		delete(params, "message")
	})),
	on(frozen, "EXT04-NOTE-002", "null-level", "writes null for the level it does not give", noticing(func(params obj) { params["level"] = nil })),
	on(current, "EXT04-NOTE-003", "notice-with-parent", "hangs a notice on a request", quirk{message: func(p *peer, what string, m obj) {
		if what == featurewire.MethodNotification {
			m["params"].(obj)["parent_request_id"] = json.RawMessage(p.last)
		}
	}}),
	on(middle, "EXT04-NOTE-004", "colours-notices", "colours its notices", noticing(func(params obj) { params["message"] = "\x1b[31mechoed\x1b[0m" })),
	on(frozen, "EXT04-NOTE-004", "colours-titles", "sets the title of the terminal by the title of a notice", noticing(func(params obj) { params["title"] = "\x1b]0;peer\a" })),
}
