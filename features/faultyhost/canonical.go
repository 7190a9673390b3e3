package faultyhost

import (
	"bytes"
	"encoding/json"
	"slices"
	"strings"

	"github.com/octet-dev/octet/features/dialect"
	cw "github.com/octet-dev/octet/generated/canonicalwire"
)

// frameAreas are the areas of rules of the canonical wire whose breach ends the stream whatever the frame is for.
var frameAreas = []string{"FRAME", "CANON", "READ", "ENV"}

func area(rule string) string {
	parts := strings.Split(rule, "-")
	return parts[len(parts)-2]
}

// endsStream reports whether a fault of a canonical frame ends the stream. One of a request is answered, one of a
// notification is looked at where it is served, and one of a tool's result costs the call alone.
func endsStream(rule string, asks bool) bool {
	return slices.Contains(frameAreas, area(rule)) || !asks && area(rule) != "TOOL"
}

// petition takes a message with a method on the canonical wire. The error ends the stream.
func (h *host) petition(m map[string]json.RawMessage) error {
	q := question{id: string(bytes.TrimSpace(m["id"])), params: m["params"]}
	_ = json.Unmarshal(m["method"], &q.method)
	row := cw.LookupMethod(q.method)
	switch {
	case h.ending && h.quirk.does != looksBehindShutdown:
		return nil
	case h.desk.result == nil && h.quirk.does != answersEarly:
		return &failure{text: "the extension speaks before the contract stands", broken: true}
	case q.id == "" && q.method == dialect.Cancel:
		return h.calledOff(q)
	case q.id == "" && !h.opensCanonical(q.method) && h.quirk.does != passesNotices && h.quirk.does != takesAnyKind:
		return &failure{text: "the extension tells of " + q.method + ", which nothing opens", broken: true}
	case (q.id == "") != (row != nil && row.Notification) && row != nil && h.quirk.does != takesAnyKind:
		return &failure{text: q.method + " is of another kind", broken: true}
	case q.id == "":
		if q.method == cw.MethodProvidersComplete {
			h.granted.batches++
		}
		if h.granted.batches > 1 && h.quirk.does == endsAtSecondBatch {
			return &failure{text: "the batch has ended before", broken: true}
		}
		return nil
	case row == nil && h.quirk.does == endsAtUnknown:
		return &failure{text: "a request for " + q.method, broken: true}
	}
	h.desk.used[q.id] = true
	out := h.canonicalAnswer(q)
	if wrong := h.quirk.wrong; wrong != nil && (wrong.method == "" || wrong.method == q.method) && bytes.Contains(q.params, []byte(wrong.with)) {
		out = wrong.instead(h, q, out)
	}
	for _, frame := range out {
		h.write("answer", frame)
	}
	if slices.Contains([]string{cw.MethodSessionSwitch, cw.MethodSessionReload}, q.method) && bytes.Contains(out[0], []byte(`"result"`)) && h.quirk.does != neverRebinds {
		h.bind()
	}
	return nil
}

// calledOff takes a cancellation by the extension. Every request is answered when it comes, so there is nothing
// left to call off.
func (h *host) calledOff(q question) error {
	id := string(bytes.TrimSpace(q.at("id")))
	switch known := h.desk.used[id]; {
	case !known && h.quirk.does == endsAtUnknownCancel:
		return &failure{text: "a cancellation of what nobody asked", broken: true}
	case h.quirk.does == answersCancellations:
		h.write("answer", h.refuse(id, refusal{name: "request_cancelled"}, q.method))
	}
	return nil
}

// opensCanonical reports whether an extension may send a method: it was selected, and is the extension's.
func (h *host) opensCanonical(method string) bool {
	return h.d.FromExtension(method) && slices.Contains(h.desk.methods, method)
}

// canonicalAnswer is what a sound host answers to a request: the refusal of what it looks into, or what its services
// make of it.
func (h *host) canonicalAnswer(q question) [][]byte {
	if !h.opensCanonical(q.method) {
		return [][]byte{h.unknown(q)}
	}
	if name := h.objection(q); name != "" {
		return [][]byte{h.refuse(q.id, refusal{name: name}, q.method)}
	}
	return h.desk.services.Answer(h.message(q))
}

// unknown refuses a method and says which.
func (h *host) unknown(q question) []byte {
	code, _ := h.d.Code("unknown_method")
	return dialect.Encode(dialect.Object{"jsonrpc": dialect.RPCVersion, "id": json.RawMessage(q.id), "error": dialect.Object{
		"code": code, "message": h.d.Message("unknown_method"), "data": dialect.Object{"method": q.method},
	}})
}

// failing reports whether a result says that the tool has failed.
func failing(result json.RawMessage) bool {
	var r struct {
		Failed bool `json:"is_error"`
	}
	return json.Unmarshal(result, &r) == nil && r.Failed
}
