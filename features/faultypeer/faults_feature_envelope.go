package faultypeer

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/octet-dev/octet/generated/featurewire"
)

// answerID changes the ids of errors.
func answerID(f func(id string) any) quirk {
	return change("error", func(m obj) {
		if id, ok := m["id"].(json.RawMessage); ok {
			m["id"] = f(string(id))
		}
	})
}

var featureEnvelopeFaults = []Fault{
	on(frozen, "EXT04-ENV-001", "forgets-version", "leaves jsonrpc out", change("error", func(m obj) { delete(m, "jsonrpc") })),
	on(middle, "EXT04-ENV-001", "version-as-number", "writes jsonrpc as a number",
		change("error", func(m obj) { m["jsonrpc"] = json.Number("2.0") })),
	on(current, "EXT04-ENV-001", "logs-as-json", "writes its log as JSON objects to stdout",
		moment("call "+ToolEcho, func(p *peer) { p.raw([]byte(`{"level":"debug","msg":"echoing now"}` + "\n")) })),
	on(current, "EXT04-ENV-001", "writes-members-in-capitals", "names its members as the fields of a struct",
		change("error", func(m obj) {
			m["ID"], m["Error"] = m["id"], m["error"]
			delete(m, "id")
			delete(m, "error")
		})),
	on(middle, "EXT04-ENV-002", "null-error-beside-result", "writes every member, the error null where there is none",
		change(featurewire.MethodToolCall, func(m obj) { m["error"] = nil })),
	on(current, "EXT04-ENV-002", "null-result-beside-error", "writes every member, the result null where there is none",
		change("error", func(m obj) { m["result"] = nil })),
	on(frozen, "EXT04-ENV-002", "leaves-out-empty-result", "leaves out a result that has nothing in it", change(featurewire.MethodShutdown, func(m obj) { delete(m, "result") })),
	on(frozen, "EXT04-ENV-003", "answers-under-null", "answers under the id null", answerID(func(string) any { return nil })),
	on(current, "EXT04-ENV-003", "answers-without-id", "leaves the id of errors out", change("error", func(m obj) { delete(m, "id") })),
	on(frozen, "EXT04-ENV-004", "turns-id-to-text", "turns the number of an id into a string", answerID(func(id string) any { return id })),
	on(middle, "EXT04-ENV-004", "prints-id-short", "prints ids with six digits", answerID(func(id string) any {
		n, err := strconv.ParseFloat(id, 64)
		if err != nil {
			return json.Number(id)
		}
		return json.Number(strconv.FormatFloat(n, 'g', 6, 64))
	})),
	on(current, "EXT04-ENV-004", "keeps-id-in-32-bits", "keeps ids in 32 bits", answerID(func(id string) any {
		n, err := strconv.ParseUint(id, 10, 64)
		if err != nil {
			return json.Number(id)
		}
		return int64(uint32(n))
	})),
	on(current, "EXT04-ENV-004", "counts-answers", "numbers its answers instead of repeating the id", quirk{message: func(p *peer, what string, m obj) {
		if what == "error" {
			m["id"] = 1000 + p.served
		}
	}}),
	on(middle, "EXT04-ENV-005", "takes-zero-for-no-id", "takes a request with the id 0 for a notification", acting("take-zero-for-no-id")),
	on(current, "EXT04-ENV-005", "takes-empty-method-for-response", "takes a message whose method is empty for a response", acting("take-empty-method-for-response")),
	on(current, "EXT04-ENV-005", "loses-second-call", "loses a call that comes along with another", acting("drop-second-call")),
	on(frozen, "EXT04-ENV-005", "needs-params", "passes over requests without params", acting("need-params")),
	on(frozen, "EXT04-ENV-006", "repeats-answers", "sends an answer again", quirk{frame: func(_ *peer, what string, b []byte) []byte {
		if what == "error" {
			return append(b, b...)
		}
		return b
	}}),
	on(current, "EXT04-ENV-006", "result-behind-cancelled", "sends the result of a cancelled call behind its error", acting("answer-cancelled-twice")),
	on(frozen, "EXT04-ENV-007", "answers-notices-under-null", "answers notifications with an error under the id null", acting("answer-notifications")),
	on(middle, "EXT04-ENV-007", "runs-calls-without-id", "runs a call that is a notification and answers under the id null", acting("run-calls-without-id")),
	on(frozen, "EXT04-ENV-008", "error-as-text", "sends errors as strings", change("error", func(m obj) { m["error"] = "no" })),
	on(middle, "EXT04-ENV-008", "code-as-text", "sends error codes as strings", changeError(func(e obj) { e["code"] = strconv.Itoa(featurewire.CodeUnknownMethod) })),
	on(current, "EXT04-ENV-008", "error-without-message", "leaves the message of errors out", changeError(func(e obj) { delete(e, "message") })),
	on(frozen, "EXT04-ENV-013", "strict-envelope", "refuses envelopes with a member more", acting("strict-envelope")),
	on(middle, "EXT04-ENV-013", "strict-params", "refuses calls with a member more", acting("strict-params")),
	on(current, "EXT04-ENV-013", "strict-initialize", "refuses an initialize with a member more", acting("strict-initialize")),
	on(current, "EXT04-ENV-013", "folds-case", "does not tell the cases of members apart", acting("fold-case")),
}

// confirming asks a question on behalf of a call.
func confirming(own ...any) quirk {
	return moment("call "+ToolEcho, func(p *peer) {
		call := p.last
		for _, id := range own {
			p.confirm(id, call)
		}
	})
}

var featureOwnRequestFaults = []Fault{
	on(frozen, "EXT04-ENV-009", "asks-under-negative-id", "asks under a negative id", confirming(-1)),
	on(middle, "EXT04-ENV-009", "asks-under-empty-id", "asks under an empty id", confirming("")),
	on(current, "EXT04-ENV-009", "asks-under-long-id", "asks under an id over the bound", confirming(strings.Repeat("i", featurewire.MaxIDBytes+1))),
	on(current, "EXT04-ENV-009", "asks-under-fraction", "asks under an id with a fraction", confirming(json.Number("1.5"))),
	on(middle, "EXT04-ENV-009", "asks-under-null", "asks under the id null", confirming(nil)),
	on(frozen, "EXT04-ENV-010", "asks-twice-under-one-id", "asks twice under one id", confirming("c-1", "c-1")),
	on(current, "EXT04-ENV-010", "starts-ids-again", "starts its ids again once a question is answered", quirk{acts: func(p *peer, moment string) {
		if moment == "call "+ToolEcho || moment == "call "+ToolSlow {
			p.confirm("c-1", p.last)
		}
	}}),
	on(frozen, "EXT04-ENV-011", "notice-with-id", "sends notices with an id", change(featurewire.MethodNotification, func(m obj) { m["id"] = "n-1" })),
	on(current, "EXT04-ENV-011", "notice-with-null-id", "writes every member, the id null where there is none",
		change(featurewire.MethodNotification, func(m obj) { m["id"] = nil })),
	on(middle, "EXT04-ENV-011", "progress-with-id", "sends progress as a request", quirk{message: func(p *peer, what string, m obj) {
		if what == featurewire.MethodProgress {
			m["id"] = "p-" + p.last
		}
	}}),
	on(middle, "EXT04-ENV-012", "asks-under-number", "asks under a number", confirming(900)),

	on(current, "EXT04-LIMIT-002", "asks-too-much", "asks more than a host can hold open", moment("call "+ToolEcho, func(p *peer) {
		var burst []byte
		for i := range 10 * featurewire.MaxChildRequests {
			burst = append(append(burst, encode(obj{
				"jsonrpc": "2.0", "id": "c-" + strconv.Itoa(i), "method": featurewire.MethodConfirmationRequest,
				"params": question(p.last),
			})...), '\n')
		}
		p.raw(burst)
	})),
}
