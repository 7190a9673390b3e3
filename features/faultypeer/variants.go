package faultypeer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/octet-dev/octet/generated/featurewire"
)

// Variants returns peers that do what few extensions do and break no rule. The referee must find nothing
// in them: an alarm about a sound extension is worse than a fault that is missed. They are Faults without
// a rule.
func Variants() []Fault { return variants }

func variant(api, name, doc string, q quirk) Fault {
	return Fault{Name: name, API: api, Doc: doc, quirk: q}
}

var variants = []Fault{
	variant(frozen, "full-on-frozen", "declares everything and uses every service", quirk{full: true}),
	variant(middle, "full-on-middle", "declares everything, selects everything and uses every service", quirk{full: true}),
	variant(current, "full-on-current", "declares everything, selects everything and uses every service", quirk{full: true}),
	variant(current, "finishes-cancelled-calls", "reports on and ends well although the call was cancelled", acting("finish-cancelled")),
	variant(middle, "finishes-at-shutdown", "answers calls that shutdown interrupts with a result", acting("finish-at-shutdown")),
	variant(current, "selects-over-the-offer", "selects a higher bound than it was offered",
		selecting(func(p obj) { p["limits"] = obj{"max_concurrent_requests": 1000} })),
	variant(middle, "takes-one-at-a-time", "selects a bound of one request",
		selecting(func(p obj) { p["limits"] = obj{"max_concurrent_requests": 1} })),
	variant(frozen, "speaks-at-once", "speaks right behind its answer to initialize", moment("initialized", speakAtOnce)),
	variant(current, "speaks-at-once-too", "speaks right behind its answer to initialize", moment("initialized", speakAtOnce)),
	variant(frozen, "floods-stderr", "writes a megabyte to stderr at every call", quirk{acts: func(p *peer, moment string) {
		if strings.HasPrefix(moment, "call ") {
			fmt.Fprint(p.log, strings.Repeat("verbose ", 1<<17))
		}
	}}),
	variant(current, "asks-and-withdraws", "asks during a call and withdraws the question before it is answered", moment("call "+ToolEcho, func(p *peer) {
		own := "q-" + strconv.Itoa(p.served)
		p.confirm(own, p.last)
		p.notify(featurewire.MethodCancelRequest, obj{"id": own, "reason": "no longer of interest"})
	})),
	variant(middle, "says-little", "leaves out every member that may be left out", quirk{message: sayLittle}),
	variant(current, "says-much", "writes null for what it does not have, and members of its own", quirk{message: sayMuch}),
	variant(current, "escapes-everything", "writes its members in another order and all text in ASCII", framing(escapeEverything)),
	variant(frozen, "escapes-everything-too", "writes its members in another order and all text in ASCII", framing(escapeEverything)),
	variant(middle, "has-errors-of-its-own", "words and details its errors in its own way", changeError(func(e obj) {
		if e["code"] == featurewire.CodeServerError {
			e["message"] = "I do not speak this version."
		}
		e["data"] = mergeData(e["data"])
	})),
	variant(current, "fails-without-structure", "leaves structured content out of a result that is an error", quirk{message: failWithoutStructure}),
}

func speakAtOnce(p *peer) {
	p.notify(featurewire.MethodNotification, obj{"message": "ready"})
	if p.frozen() {
		p.confirm("c-1", "")
	}
}

// sayLittle leaves out what is optional.
func sayLittle(p *peer, what string, m obj) {
	switch what {
	case featurewire.MethodToolCall:
		delete(m["result"].(obj), "metadata")
	case featurewire.MethodNotification:
		delete(m["params"].(obj), "level")
	case featurewire.MethodProgress:
		event := m["params"].(obj)["event"].(obj)
		for _, name := range []string{"current", "total", "unit"} {
			delete(event, name)
		}
	case "error":
		e := m["error"].(obj)
		if code := e["code"]; code == int64(featurewire.CodeInvalidParams) || code == int64(featurewire.CodeUnknownMethod) {
			delete(e, "data")
		}
	}
}

// sayMuch writes what is optional and adds what nobody forbids.
func sayMuch(p *peer, what string, m obj) {
	m["trace"] = obj{"took_ms": json.Number("1.5")}
	switch what {
	case featurewire.MethodInitialize:
		r := m["result"].(obj)
		r["extension"] = obj{"build": "2026-11-29"}
		r["protocol"].(obj)["lifecycle_events"] = []any{}
		for _, t := range r["tools"].([]any) {
			if t := t.(obj); t["output_schema"] == nil {
				t["output_schema"] = nil
			}
		}
	case featurewire.MethodToolCall:
		m["result"].(obj)["metadata"] = nil
	case featurewire.MethodNotification:
		m["params"].(obj)["title"] = nil
	case featurewire.MethodShutdown:
		m["result"].(obj)["uptime_ms"] = 12
	}
}

// mergeData adds a member to the detail of an error.
func mergeData(data any) obj {
	d, ok := data.(obj)
	if !ok {
		d = obj{}
	}
	d["help"] = "see the manual"
	return d
}

// failWithoutStructure gives the failing tool an output schema.
func failWithoutStructure(_ *peer, what string, m obj) {
	if what != featurewire.MethodInitialize {
		return
	}
	for _, t := range m["result"].(obj)["tools"].([]any) {
		if t := t.(obj); t["name"] == ToolFail {
			t["output_schema"] = obj{"$schema": "https://json-schema.org/draft/2020-12/schema", "type": "object", "required": list("never")}
		}
	}
}

// escapeEverything spells a frame as encoders do that trust no reader with more than ASCII.
func escapeEverything(b []byte) []byte {
	var out []byte
	for text := string(bytes.TrimSuffix(b, []byte{'\n'})); text != ""; {
		r, n := utf8.DecodeRuneInString(text)
		switch {
		case r == '/':
			out = append(out, `\/`...)
		case r < utf8.RuneSelf:
			out = append(out, byte(r))
		case r > 0xFFFF:
			high, low := 0xD800+(r-0x10000)>>10, 0xDC00+(r-0x10000)&0x3FF
			out = fmt.Appendf(out, `\u%04X\u%04X`, high, low)
		default:
			out = fmt.Appendf(out, `\u%04X`, r)
		}
		text = text[n:]
	}
	version := []byte(`,"jsonrpc":"2.0"`)
	out = bytes.Replace(out, version, nil, 1)
	return append(append([]byte(`{"jsonrpc":"2.0",`), out[1:]...), '\n')
}
