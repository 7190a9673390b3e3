package faultypeer

import (
	"bytes"
	"encoding/json"
	"strconv"
	"strings"

	"github.com/octet-dev/octet/generated/featurewire"
)

// onFeature moves faults to the feature wire's current version.
func onFeature(faults ...Fault) []Fault {
	for i := range faults {
		if faults[i].API == "" || faults[i].API == "0.3" {
			faults[i].API = "0.4"
		}
	}
	return faults
}

// asking sends requests of its own once initialized.
func asking(name, rule, doc string, act func(p *peer)) Fault {
	return Fault{Name: name, Rule: rule, Doc: doc, quirk: quirk{acts: when("initialized", act)}}
}

// confirmation is a service that the manifest of the peer declares; hosts refuse it or not.
func confirmation(p *peer, id any) {
	p.ask(id, "confirmation/request", obj{"prompt": "sure?", "detail": nil, "destructive": false, "default": false, "parent_request_id": 1})
}

var featureFrameFaults = onFeature(
	Fault{
		Name: "f-prints", Rule: "EXT04-FRAME-001", Doc: "prints into the stream",
		quirk: quirk{acts: when("call "+ToolEcho, func(p *peer) { p.raw([]byte("echoing now\n")) })},
	},
	Fault{
		Name: "f-batch", Rule: "EXT04-FRAME-001", Doc: "answers in batches",
		quirk: quirk{frame: func(_ *peer, what string, b []byte) []byte {
			if what == "error" {
				return []byte("[" + strings.TrimSuffix(string(b), "\n") + "]\n")
			}
			return b
		}},
	},
	Fault{
		Name: "f-last-frame-without-line-feed", Rule: "EXT04-FRAME-002", Doc: "leaves the line feed of its last frame out",
		quirk: quirk{frame: respell(featurewire.MethodShutdown, "\n", "")},
	},
	Fault{
		Name: "f-broken-utf8", Rule: "EXT04-FRAME-003", Doc: "cuts a character in two",
		quirk: quirk{frame: respell(toolCall, "é", "\xc3")},
	},
	Fault{
		Name: "f-long-line", Rule: "EXT04-FRAME-004", Doc: "writes a line over the bound",
		quirk: quirk{message: func(_ *peer, what string, m obj) {
			if what == "error" {
				m["error"].(obj)["data"] = strings.Repeat("x", 1<<20)
			}
		}},
	},
	Fault{
		Name: "f-wants-compact", Rule: "EXT04-FRAME-005", Doc: "refuses lines with white space between tokens",
		quirk: quirk{refuses: func(line []byte) bool { return bytes.Contains(line, []byte(`": "`)) }},
	},
	Fault{
		Name: "f-splits-at-line-separator", Rule: "EXT04-FRAME-005", Doc: "takes U+2028 for the end of a line",
		quirk: quirk{refuses: func(line []byte) bool { return bytes.Contains(line, []byte("\u2028")) }},
	},
	Fault{
		Name: "f-refuses-blank-line", Rule: "EXT04-FRAME-005", Doc: "ends at a blank line",
		quirk: quirk{refuses: func(line []byte) bool { return len(bytes.TrimSpace(line)) == 0 }},
	},
	Fault{
		Name: "f-line-reader", Rule: "EXT04-FRAME-006", Doc: "reads lines of at most 64 KiB, as a line reader with a default limit does",
		quirk: quirk{refuses: func(line []byte) bool { return len(line) > 64<<10 }},
	},
	Fault{
		Name: "f-one-read-one-frame", Rule: "EXT04-FRAME-007", Doc: "takes every read for a frame",
		quirk: quirk{does: "chunk-frames"},
	},
	Fault{
		Name: "f-cuts-characters", Rule: "EXT04-FRAME-007", Doc: "decodes UTF-8 read by read",
		quirk: quirk{does: "chunk-decode"},
	},
	Fault{
		Name: "f-carriage-return", Rule: "EXT04-FRAME-008", Doc: "ends lines in CR LF",
		quirk: quirk{frame: respell("error", "\n", "\r\n")},
	},
	Fault{
		Name: "f-blank-line", Rule: "EXT04-FRAME-008", Doc: "writes an empty line behind a frame",
		quirk: quirk{frame: respell("error", "\n", "\n\n")},
	},
	Fault{
		Name: "f-white-space", Rule: "EXT04-FRAME-009", Doc: "writes a blank behind a colon",
		quirk: quirk{frame: respell("error", `"jsonrpc":`, `"jsonrpc": `)},
	},
	ignoring("frame-bound", "f-reads-over-bound", "EXT04-FRAME-010", "reads lines of any length"),
)

var featureEnvelopeFaults = onFeature(
	Fault{
		Name: "f-other-version", Rule: "EXT04-ENV-001", Doc: "writes jsonrpc 1.0",
		quirk: change("error", func(m obj) { m["jsonrpc"] = "1.0" }),
	},
	Fault{
		Name: "f-empty-method", Rule: "EXT04-ENV-001", Doc: "sends an empty method with its responses, which a reader takes for requests",
		quirk: change("error", func(m obj) { m["method"] = ""; delete(m, "error") }),
	},
	Fault{
		Name: "f-result-and-error", Rule: "EXT04-ENV-002", Doc: "sends a null result beside an error",
		quirk: change("error", func(m obj) { m["result"] = nil }),
	},
	Fault{
		Name: "f-null-id", Rule: "EXT04-ENV-003", Doc: "answers an unknown method under the id null",
		quirk: change("error", func(m obj) { m["id"] = nil }),
	},
	Fault{
		Name: "f-id-as-string", Rule: "EXT04-ENV-004", Doc: "turns numeric ids into strings",
		quirk: change("error", func(m obj) {
			if id, ok := m["id"].(json.RawMessage); ok && id[0] != '"' {
				m["id"] = string(id)
			}
		}),
	},
	Fault{
		Name: "f-id-as-double", Rule: "EXT04-ENV-004", Doc: "writes large ids with an exponent, as writers do that know only doubles",
		quirk: change("error", func(m obj) {
			if n, err := strconv.ParseInt(string(m["id"].(json.RawMessage)), 10, 64); err == nil && n > 1<<50 {
				m["id"] = json.Number(strconv.FormatFloat(float64(n), 'e', -1, 64))
			}
		}),
	},
	doing("drop-second-call", "f-drops-second-call", "EXT04-ENV-005", "never answers the second call"),
	Fault{
		Name: "f-answers-twice", Rule: "EXT04-ENV-006", Doc: "answers a request twice",
		quirk: quirk{frame: func(_ *peer, what string, b []byte) []byte {
			if what == "error" {
				return append(b, b...)
			}
			return b
		}},
	},
	doing("answer-notifications", "f-answers-notifications", "EXT04-ENV-007", "answers notifications"),
	Fault{
		Name: "f-error-as-text", Rule: "EXT04-ENV-008", Doc: "sends errors as strings",
		quirk: change("error", func(m obj) { m["error"] = "no" }),
	},
	Fault{
		Name: "f-error-code-as-text", Rule: "EXT04-ENV-008", Doc: "sends error codes as strings",
		quirk: changeError(func(e obj) { e["code"] = "-32601" }),
	},
	asking("f-empty-id", "EXT04-ENV-009", "asks under an empty id", func(p *peer) { confirmation(p, "") }),
	asking("f-long-id", "EXT04-ENV-009", "asks under an id over the bound", func(p *peer) { confirmation(p, strings.Repeat("i", 257)) }),
	asking("f-fraction-id", "EXT04-ENV-009", "asks under an id with a fraction", func(p *peer) { confirmation(p, json.Number("1.5")) }),
	asking("f-reused-id", "EXT04-ENV-010", "asks twice under one id", func(p *peer) { confirmation(p, "c-1"); confirmation(p, "c-1") }),
	asking("f-notification-with-id", "EXT04-ENV-011", "sends a notification with an id", func(p *peer) {
		p.ask("n-1", featurewire.MethodNotification, obj{"message": "ready"})
	}),
	asking("f-numeric-id", "EXT04-ENV-012", "asks under a number", func(p *peer) { confirmation(p, 900) }),
	doing("strict-params", "f-strict-params", "EXT04-ENV-013", "refuses params with a member it does not know"),
	asking("f-many-requests", "EXT04-LIMIT-002", "asks more than the host can hold open", func(p *peer) {
		var burst []byte
		for i := range 2000 {
			burst = append(append(burst, encode(obj{
				"jsonrpc": "2.0", "id": "c-" + strconv.Itoa(i), "method": "confirmation/request",
				"params": obj{"prompt": "sure?", "detail": nil, "destructive": false, "default": false, "parent_request_id": 1},
			})...), '\n')
		}
		p.raw(burst)
	}),

	doing("drop-unknown", "f-drops-unknown", "EXT04-ERR-001", "answers no request of an unknown method"),
	doing("serve-anything", "f-serves-anything", "EXT04-ERR-001", "answers every method with an empty result"),
	Fault{
		Name: "f-unnamed-method", Rule: "EXT04-ERR-002", Doc: "does not say which method is unknown",
		quirk: changeError(func(e obj) { e["message"] = "Method not found" }),
	},
	doing("drop-malformed", "f-drops-malformed", "EXT04-ERR-003", "passes over a line that is not JSON"),
	ignoring("envelope-value", "f-ignores-envelope-value", "EXT04-ERR-004", "overlooks a wrong version"),
	Fault{
		Name: "f-own-error-code", Rule: "EXT04-ERR-005", Doc: "invents an error code",
		quirk: changeError(func(e obj) { e["code"] = 404 }),
	},
)
