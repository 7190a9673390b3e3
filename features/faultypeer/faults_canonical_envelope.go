package faultypeer

import (
	"encoding/json"
	"strconv"

	"github.com/octet-dev/octet/generated/canonicalwire"
)

// change changes messages of one kind.
func change(what string, f func(m obj)) quirk {
	return quirk{message: func(_ *peer, kind string, m obj) {
		if kind == what {
			f(m)
		}
	}}
}

func changeError(f func(e obj)) quirk {
	return change("error", func(m obj) { f(m["error"].(obj)) })
}

// ignoring leaves a check of the canonical wire out.
func ignoring(check, name, rule, doc string) Fault {
	return Fault{Name: name, Rule: rule, API: "0.3", Doc: doc, quirk: quirk{ignores: check}}
}

// doing commits an act on the canonical wire.
func doing(act, name, rule, doc string) Fault {
	return Fault{Name: name, Rule: rule, API: "0.3", Doc: doc, quirk: quirk{does: act}}
}

var canonicalEnvelopeFaults = []Fault{
	{
		Name: "other-version", Rule: "EXT03-ENV-001", API: "0.3", Doc: "writes jsonrpc 2",
		quirk: change("error", func(m obj) { m["jsonrpc"] = "2" }),
	},
	{
		Name: "extra-envelope-member", Rule: "EXT03-ENV-002", API: "0.3", Doc: "adds a member to its envelopes",
		quirk: change("error", func(m obj) { m["trace"] = "on" }),
	},
	{
		Name: "result-and-error", Rule: "EXT03-ENV-003", API: "0.3", Doc: "sends an empty result beside an error",
		quirk: change("error", func(m obj) { m["result"] = obj{} }),
	},
	{
		Name: "neither-result-nor-error", Rule: "EXT03-ENV-004", API: "0.3", Doc: "answers with an id alone",
		quirk: change(canonicalwire.MethodShutdown, func(m obj) { delete(m, "result") }),
	},
	{
		Name: "null-result", Rule: "EXT03-ENV-005", API: "0.3", Doc: "answers with the result null",
		quirk: change(canonicalwire.MethodToolCall, func(m obj) { m["result"] = nil }),
	},
	{
		Name: "id-as-string", Rule: "EXT03-ENV-006", API: "0.3", Doc: "turns numeric ids into strings",
		quirk: change("error", func(m obj) {
			if id, ok := m["id"].(json.RawMessage); ok && id[0] != '"' {
				m["id"] = string(id)
			}
		}),
	},
	{
		Name: "id-as-number", Rule: "EXT03-ENV-006", API: "0.3", Doc: "turns ids that look like numbers into numbers",
		quirk: change("error", func(m obj) {
			if s, ok := text(m["id"].(json.RawMessage)); ok {
				if n, err := strconv.Atoi(s); err == nil {
					m["id"] = n
				}
			}
		}),
	},
	refusesText("refuses-id-zero", "EXT03-ENV-007", `"id":0,`, "takes the id 0 for no id"),
	{
		Name: "refuses-long-id", Rule: "EXT03-ENV-007", API: "0.3", Doc: "refuses ids of 256 bytes",
		quirk: quirk{refuses: func(line []byte) bool {
			id, ok := text(at(line, "id"))
			return ok && len(id) > 255
		}},
	},
	ignoring("envelope-member", "ignores-envelope-member", "EXT03-ENV-008", "overlooks members that no envelope has"),
	ignoring("envelope-value", "ignores-envelope-value", "EXT03-ENV-009", "overlooks a wrong version and missing params"),
	ignoring("method-length", "reads-long-method", "EXT03-ENV-010", "takes a method name of any length"),
	ignoring("empty-method", "reads-empty-method", "EXT03-ENV-011", "takes an empty method name for an unknown one"),
	ignoring("mixed", "takes-mixture-for-request", "EXT03-ENV-012", "takes a request with a result for a request"),
	ignoring("notification-id", "executes-cancel-with-id", "EXT03-ENV-013", "takes a cancellation with an id for an unknown method"),
	ignoring("request-id", "executes-without-id", "EXT03-ENV-014", "executes a request that has no id"),
	doing("take-null-for-no-id", "takes-null-for-no-id", "EXT03-ENV-015", "takes a message with the id null for a notification"),
	ignoring("id", "answers-bad-id", "EXT03-ENV-015", "answers whatever the id is"),
	doing("answer-non-object", "answers-non-object", "EXT03-ENV-016", "answers a batch"),
	doing("end-at-bad-envelope", "ends-at-bad-envelope", "EXT03-ENV-017", "ends at an envelope it does not know"),
	ignoring("foreign-response", "ignores-foreign-response", "EXT03-ENV-018", "passes over responses to nothing it asked"),

	{
		Name: "own-error-code", Rule: "EXT03-ERR-001", API: "0.3", Doc: "invents an error code",
		quirk: changeError(func(e obj) { e["code"] = -32099 }),
	},
	{
		Name: "explained-message", Rule: "EXT03-ERR-002", API: "0.3", Doc: "appends the reason to an error message",
		quirk: changeError(func(e obj) { e["message"] = e["message"].(string) + ": sorry" }),
	},
	{
		Name: "extra-error-member", Rule: "EXT03-ERR-003", API: "0.3", Doc: "adds a member to error objects",
		quirk: changeError(func(e obj) { e["stack"] = "" }),
	},
	{
		Name: "sends-parse-error", Rule: "EXT03-ERR-005", API: "0.3", Doc: "sends parse_error where another error belongs",
		quirk: changeError(func(e obj) {
			e["code"], e["message"] = canonicalwire.CodeParseError, canonicalwire.ErrParseError.Message
		}),
	},
	{
		Name: "unnamed-method", Rule: "EXT03-ERR-006", API: "0.3", Doc: "does not say which method is unknown",
		quirk: changeError(func(e obj) {
			if e["code"] == int64(canonicalwire.CodeUnknownMethod) {
				delete(e, "data")
			}
		}),
	},
	{
		Name: "unexplained-version", Rule: "EXT03-ERR-007", API: "0.3", Doc: "does not say which version it expected",
		quirk: changeError(func(e obj) {
			if e["code"] == int64(canonicalwire.CodeVersionMismatch) {
				delete(e, "data")
			}
		}),
	},
	{
		Name: "unexplained-cancel", Rule: "EXT03-ERR-008", API: "0.3", Doc: "sends no data with request_cancelled",
		quirk: changeError(func(e obj) {
			if e["code"] == int64(canonicalwire.CodeRequestCancelled) {
				delete(e, "data")
			}
		}),
	},
}
