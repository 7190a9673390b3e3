package faultypeer

import (
	"bytes"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/octet-dev/octet/generated/featurewire"
)

// Variants returns peers that do what few extensions do and break no rule. The referee must find nothing
// in them: an alarm about a sound extension is worse than a fault that is missed. They are Faults without
// a rule.
func Variants() []Fault { return slices.Concat(variants, canonicalVariants) }

func variant(api, name, doc string, q quirk) Fault {
	return Fault{Name: name, API: api, Doc: doc, quirk: q}
}

var variants = []Fault{
	variant(frozen, "full-on-frozen", "declares everything and uses every service", quirk{full: true}),
	variant(middle, "full-on-middle", "declares everything, selects everything and uses every service", quirk{full: true}),
	variant(current, "full-on-current", "declares everything, selects everything and uses every service", quirk{full: true}),
	variant(middle, "full-says-little", "uses every service and leaves out every member that may be left out", quirk{full: true, message: serveLittle}),
	variant(current, "full-answers-nothing", "declares everything and has nothing to say", quirk{full: true, message: serveNothing}),
	variant(current, "full-speaks-at-once", "uses what needs no request right behind its answer to initialize", quirk{full: true, acts: when("initialized", serveAtOnce)}),
	variant(middle, "full-does-not-wait", "asks many things at once and withdraws some", quirk{full: true, acts: when("call "+ToolTour, askAtOnce)}),
	variant(current, "full-chooses", "selects a few features and chooses a few events", quirk{full: true, does: "choose-little"}),
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
	variant(current, "asks-and-withdraws", "asks during a call and withdraws the question before it is answered", moment("call "+ToolEcho, askAndWithdraw)),
	variant(middle, "asks-and-withdraws-in-one-write", "asks during a call, withdraws the question and answers the call in one write", quirk{
		acts: when("call "+ToolEcho, askAndWithdraw), frame: untilAnswer,
	}),
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

func askAndWithdraw(p *peer) {
	own := "q-" + strconv.Itoa(p.served)
	p.confirm(own, p.last)
	p.notify(featurewire.MethodCancelRequest, obj{"id": own, "reason": "no longer of interest"})
}

// untilAnswer keeps a question and its withdrawal back for the write of what comes next.
func untilAnswer(p *peer, what string, b []byte) []byte {
	p.kept = append(p.kept, b...)
	if what == featurewire.MethodConfirmationRequest || what == featurewire.MethodCancelRequest {
		return nil
	}
	all := p.kept
	p.kept = nil
	return all
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

// serveLittle leaves out what is optional in services and handlers.
func serveLittle(p *peer, what string, m obj) {
	leave := func(o any, names ...string) {
		if o, ok := o.(obj); ok {
			for _, name := range names {
				delete(o, name)
			}
		}
	}
	switch what {
	case featurewire.MethodHookRun, featurewire.MethodCommandExecute:
		leave(m["result"], "disposition", "context", "notifications")
	case featurewire.MethodConfirmationRequest:
		leave(m["params"], "detail")
	case featurewire.MethodContextContribution:
		leave(m["params"], "placement")
	case featurewire.MethodStatusContribution:
		leave(m["params"], "style_role", "priority")
	case featurewire.MethodPresentationUpdate:
		leave(m["params"].(obj)["snapshot"], "status", "activities", "collection", "actions")
	case featurewire.MethodMenuCollect:
		leave(m["result"], "title", "status", "detail")
	case featurewire.MethodAgentWait, featurewire.MethodAgentModels:
		leave(m["params"], "timeout_ms", "query", "limit")
	case featurewire.MethodPolicyEvaluate:
		leave(m["params"].(obj)["intent"], "data_classes", "adapter_hints")
	}
}

// serveNothing answers as an extension does that has nothing to say.
func serveNothing(p *peer, what string, m obj) {
	if m["result"] == nil {
		return
	}
	switch what {
	case featurewire.MethodHookRun:
		switch p.hook {
		case featurewire.HookResourcesDiscover:
			m["result"] = obj{"resource_paths": obj{"default_theme": nil}}
		case featurewire.HookCompactionStrategy:
			m["result"] = obj{"compaction_frames": []any{}}
		case featurewire.HookCacheWarmingDecision:
			m["result"] = obj{"cache_warming_decision": nil}
		default:
			m["result"] = obj{}
		}
	case featurewire.MethodContextCollect:
		m["result"] = []any{}
	case featurewire.MethodStatusCollect:
		m["result"] = nil
	case featurewire.MethodMenuCollect:
		m["result"] = obj{"title": nil, "status": nil, "detail": nil, "items": []any{}}
	case featurewire.MethodToolRender:
		m["result"] = obj{"segments": []any{}}
	case featurewire.MethodUIAutocompleteComplete:
		m["result"] = obj{"prefix": "", "items": []any{}}
	case featurewire.MethodUITerminalInputIntercept:
		m["result"] = obj{"data": ""}
	}
}

// serveAtOnce uses what needs no request of the host.
func serveAtOnce(p *peer) {
	p.notify(featurewire.MethodContextContribution, obj{"label": "peer", "content": "ready"})
	p.notify(featurewire.MethodStatusContribution, obj{"surface": "footer", "text": "ready", "priority": 0})
	p.notify(featurewire.MethodPresentationUpdate, obj{"snapshot": obj{"revision": 0}})
	if slices.Contains(p.features, featurewire.FeatureAutocomplete) {
		p.ask("o-1", featurewire.MethodUIAutocompleteRegister, obj{"revision": 0})
	}
}

// askAtOnce asks many things before anything is answered, and no longer wants to know some of them.
func askAtOnce(p *peer) {
	parent := json.RawMessage(p.last)
	for i, method := range []string{featurewire.MethodComposerGet, featurewire.MethodAgentList, featurewire.MethodAgentModels, featurewire.MethodComposerGet} {
		if !p.may(featurewire.LookupMethod(method)) {
			continue
		}
		own := "o-" + p.last + "-" + strconv.Itoa(i)
		p.ask(own, method, obj{"parent_request_id": parent})
		if i%2 == 0 {
			p.notify(featurewire.MethodCancelRequest, obj{"id": own})
		}
	}
}

// chooseLittle selects what is required, events and those features that hooks need.
func (p *peer) chooseLittle() []string {
	wanted := []string{featurewire.FeatureRequestCancellation, featurewire.FeatureContentParts, featurewire.FeatureLifecycleEvents}
	for _, hook := range featurewire.Hooks {
		wanted = append(wanted, hook.Feature)
	}
	return slices.DeleteFunc(p.features, func(name string) bool { return !slices.Contains(wanted, name) })
}
