package faultyhost

import (
	"bytes"
	"encoding/json"
	"errors"
	"slices"
	"strconv"
	"strings"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/features/services"
	"github.com/octet-dev/octet/features/subject"
	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/runtime/negotiation"
)

// standing is what has become of a request of the host.
type standing int

const (
	unissued standing = iota
	live
	cancelled
	settled
)

// desk is where the host keeps what the extension may ask for.
type desk struct {
	services     *services.Host
	result       json.RawMessage // of initialize; nil before it
	selected     []string
	methods      []string // of the contract
	capabilities []string
	bound        int                  // of a frame
	used         map[string]bool      // ids of the extension's requests
	open         []string             // those that nobody answers, oldest first
	issued       map[string]*issuance // the host's own requests
	kept         kept
	belated      [][]byte // answers that a quirk keeps back
}

// issuance is a request of the host.
type issuance struct {
	method string
	owner  string // as it was given; empty for none
	stands standing
}

func newDesk(h *host) *desk {
	d := &desk{used: map[string]bool{}, issued: map[string]*issuance{}, kept: newKept()}
	d.services = services.New(h.d, h.x, d)
	return d
}

// Result and Refusal make the desk a view of the conversation. Whatever is to be refused is refused before the
// services see it.
func (d *desk) Result() json.RawMessage { return d.result }

// Refusal refuses nothing.
func (d *desk) Refusal(int) string { return "" }

// question is a request or notification of the extension.
type question struct {
	id     string // as spelled; empty for a notification
	method string
	params json.RawMessage
	parent *issuance
	owner  string // that the request is served for, as spelled
}

func (q question) at(name string) json.RawMessage {
	var m map[string]json.RawMessage
	_ = json.Unmarshal(q.params, &m)
	return m[name]
}

func (q question) text(name string) string {
	var s string
	_ = json.Unmarshal(q.at(name), &s)
	return s
}

// refusal is why a request is refused: a row of the error table, and the first word of the message if one is
// agreed. The zero value refuses nothing.
type refusal struct{ name, token string }

var (
	served      = refusal{}
	badRequest  = refusal{name: "invalid_request"}
	unsupported = refusal{"unknown_method", "unsupported_feature"}
	malformed   = refusal{"invalid_params", "invalid_request"}
	tooMuch     = refusal{"invalid_params", "bounds_exceeded"}
	noOwner     = refusal{"not_foreground_owner", "not_foreground_owner"}
	noSecret    = refusal{name: "secret_unavailable"}
)

// refuse makes the answer that refuses a request.
func (h *host) refuse(id string, r refusal, method string) []byte {
	code, err := h.d.Code(r.name)
	if err != nil {
		panic(err) // the rows are those of this package
	}
	message := h.d.Message(r.name)
	if r.token != "" {
		message = r.token + " " + method
	}
	return dialect.Encode(dialect.Object{"jsonrpc": dialect.RPCVersion, "id": json.RawMessage(id), "error": dialect.Object{"code": code, "message": message}})
}

// attend answers a frame of the extension that asks for something.
func (h *host) attend(m map[string]json.RawMessage) {
	var q question
	if json.Unmarshal(m["method"], &q.method) != nil {
		return
	}
	q.id, q.params = string(bytes.TrimSpace(m["id"])), m["params"]
	var out [][]byte
	if q.id == "" {
		out = h.noticed(q)
	} else {
		out = h.consider(&q)
	}
	if wrong := h.quirk.wrong; wrong != nil && (wrong.method == "" || wrong.method == q.method) && bytes.Contains(q.params, []byte(wrong.with)) {
		if h.spared++; h.spared > wrong.spares {
			out = wrong.instead(h, q, out)
		}
	}
	for _, frame := range out {
		h.write("answer", frame)
	}
}

// consider is what a sound host answers to a request.
func (h *host) consider(q *question) [][]byte {
	d := h.desk
	r := h.admits(q)
	d.used[q.id] = true
	if r == served {
		r = h.belongs(q)
	}
	if r == served {
		r = h.reads(q)
	}
	if check := checks[q.method]; r == served && check != nil {
		var result dialect.Object
		if result, r = check(h, *q); result != nil {
			return [][]byte{h.d.Result(q.id, result)}
		}
	}
	if r == (refusal{name: waits}) {
		d.open = append(d.open, q.id)
		return nil
	}
	if r != served {
		return [][]byte{h.refuse(q.id, r, q.method)}
	}
	return d.services.Answer(h.message(*q))
}

// waits is no error: a person was asked, and takes time.
const waits = "waits"

// admits judges the id and whether the method is open.
func (h *host) admits(q *question) refusal {
	d := h.desk
	text, number := "", json.Number("")
	isText := json.Unmarshal([]byte(q.id), &text) == nil && q.id[0] == '"'
	isNumber := !isText && json.Unmarshal([]byte(q.id), &number) == nil && !strings.ContainsAny(q.id, "-.eE")
	own := d.issued[q.id]
	switch {
	case !isText && !isNumber, isText && (text == "" || len(text) > featurewire.MaxIDBytes):
		return badRequest
	case d.used[q.id], own != nil && own.stands == live:
		return badRequest
	case !h.opens(q.method):
		return unsupported
	case len(d.open) >= featurewire.MaxChildRequests:
		return tooMuch
	}
	return served
}

// opens reports whether something that was declared and selected opens a method.
func (h *host) opens(method string) bool {
	if !h.d.FromExtension(method) || !h.d.IsRequest(method) {
		return false
	}
	gate := negotiation.GateFeature(h.d.Gate(method))
	if h.desk.result == nil {
		return h.d.Parent(method) == wirejson.ParentInitialize
	}
	row := featurewire.LookupFeature(gate)
	return row == nil || h.d.Negotiates() && slices.Contains(h.desk.selected, gate)
}

// belongs judges what a request hangs on.
func (h *host) belongs(q *question) refusal {
	class := h.d.Parent(q.method)
	if !h.d.Negotiates() || class == wirejson.ParentNone {
		return served
	}
	given, named := string(q.at("parent_request_id")), string(q.at("resource_owner"))
	if named == "null" {
		named = ""
	}
	_, err := strconv.ParseUint(given, 10, 64)
	q.parent = h.desk.issued[given]
	stands := unissued
	if q.parent != nil {
		stands, q.owner = q.parent.stands, q.parent.owner
	}
	agent := strings.HasPrefix(q.method, "agent/")
	lifetime := slices.Contains(h.desk.selected, featurewire.FeatureAgentSessionLifetimeV1)
	switch {
	case err != nil:
		return malformed
	case class == wirejson.ParentInitialize:
		if q.parent == nil || q.parent.method != dialect.Initialize || stands != live {
			return malformed
		}
		return served
	case class == wirejson.ParentToolCall:
		if stands != live || q.parent.method != dialect.ToolCall || named != "" {
			return noOwner
		}
		return served
	case class == wirejson.ParentSettled && stands == live:
		return malformed
	case class == wirejson.ParentRequired, agent && !lifetime:
		if stands != live {
			return noOwner
		}
		return served
	case stands == live:
		if agent && named != "" && !same(named, q.owner) {
			return noOwner
		}
		return served
	case stands != settled || h.ending || !h.desk.gave(named):
		return noOwner
	}
	q.owner = named
	return served
}

// gave reports whether the host has given an owner.
func (d *desk) gave(owner string) bool {
	for _, each := range d.issued {
		if each.owner != "" && same(each.owner, owner) {
			return true
		}
	}
	return false
}

func same(a, b string) bool {
	var x, y any
	return json.Unmarshal([]byte(a), &x) == nil && json.Unmarshal([]byte(b), &y) == nil && bytes.Equal(dialect.Encode(x), dialect.Encode(y))
}

// reads holds params against their model.
func (h *host) reads(q *question) refusal {
	err := featurewire.ValidateModel(h.d.Shape(q.method).Params, q.params)
	var v *wirejson.Violation
	switch {
	case err == nil:
		return served
	case errors.As(err, &v) && slices.Contains([]wirejson.ViolationKind{wirejson.ByteCount, wirejson.ItemCount, wirejson.OutOfRange}, v.Kind):
		return tooMuch
	}
	return malformed
}

// noticed takes a notification. A cancellation is the end of what waits.
func (h *host) noticed(q question) [][]byte {
	if q.method == featurewire.MethodProgress && h.quirk.talks == keepsProgress {
		keep("progress", q.params)
	}
	if q.method != dialect.Cancel {
		return nil
	}
	id := string(bytes.TrimSpace(q.at("id")))
	i := slices.Index(h.desk.open, id)
	if i < 0 {
		return nil
	}
	h.desk.open = slices.Delete(h.desk.open, i, i+1)
	return [][]byte{h.refuse(id, refusal{name: "request_cancelled"}, q.method)}
}

// deviation is one wrong answer, told by what is asked.
type deviation struct {
	method, with string // the method, empty for every one, and a part of the params
	spares       int    // how many such asks are answered soundly before
	instead      func(h *host, q question, sound [][]byte) [][]byte
}

// instead makes a quirk of a deviation.
func instead(method, with string, make func(h *host, q question, sound [][]byte) [][]byte) quirk {
	return quirk{wrong: &deviation{method: method, with: with, instead: make}}
}

// secondly makes a deviation begin with the second ask that it is about.
func secondly(q quirk) quirk {
	q.wrong.spares = 1
	return q
}

// grants answers with a result.
func grants(method, with, result string) quirk {
	return instead(method, with, func(h *host, q question, _ [][]byte) [][]byte {
		return [][]byte{h.d.Result(q.id, json.RawMessage(result))}
	})
}

// refuses answers with an error, whose message begins with a word.
func refuses(method, with, name, token string) quirk {
	return instead(method, with, func(h *host, q question, _ [][]byte) [][]byte {
		return [][]byte{h.refuse(q.id, refusal{name, token}, q.method)}
	})
}

// miswrites replaces a piece of the answer.
func miswrites(method, with, old, new string) quirk {
	return instead(method, with, func(_ *host, _ question, sound [][]byte) [][]byte {
		for i := range sound {
			sound[i] = bytes.Replace(sound[i], []byte(old), []byte(new), 1)
		}
		return sound
	})
}

// ignores never answers.
func ignores(method, with string) quirk {
	return instead(method, with, func(*host, question, [][]byte) [][]byte { return nil })
}

// issue puts a request of the host on record.
func (d *desk) issue(id, method string, params any) {
	one := &issuance{method: method, stands: live}
	if p, is := params.(dialect.Object); is {
		if c, is := p["context"].(dialect.Object); is && c["resource_owner"] != nil {
			one.owner = string(dialect.Encode(c["resource_owner"]))
		}
	}
	d.issued[id] = one
}

// begin takes what the extension selected.
func (d *desk) begin(result json.RawMessage) {
	var r struct {
		Protocol struct {
			Features []string `json:"features"`
		} `json:"protocol"`
		Contract struct {
			Capabilities []string `json:"capabilities"`
			Methods      []string `json:"methods"`
			Limits       struct {
				Bytes int `json:"max_frame_bytes"`
			} `json:"limits"`
		} `json:"contract"`
	}
	// What cannot be read selects nothing; the monitor has judged it.
	_ = json.Unmarshal(result, &r)
	d.result, d.selected = result, r.Protocol.Features
	d.capabilities, d.methods, d.bound = r.Contract.Capabilities, r.Contract.Methods, r.Contract.Limits.Bytes
}

func (d *desk) cancel(id string) {
	if one := d.issued[id]; one != nil {
		one.stands = cancelled
	}
}

// settle takes the end of a request of the host. What rests on it alone ends with it.
func (h *host) settle(id string) {
	if one := h.desk.issued[id]; one != nil && one.stands == live {
		one.stands = settled
	}
	if one := h.desk.issued[id]; one != nil && one.method == dialect.ToolCall {
		for _, open := range h.desk.open {
			if h.quirk.does == leavesOpen {
				break
			}
			if h.d.Negotiates() {
				h.notify(dialect.Cancel, h.d.Cancel(open, "settled"))
			}
		}
		h.desk.open = nil
	}
}

// message is a question as the services take it.
func (h *host) message(q question) subject.Message {
	return subject.Message{ID: q.id, Method: q.method, Fields: map[string]json.RawMessage{"params": q.params}}
}

// needless reports whether an answer names no request that waits for one.
func (d *desk) needless(m map[string]json.RawMessage) bool {
	one := d.issued[string(bytes.TrimSpace(m["id"]))]
	return m["id"] != nil && (one == nil || one.stands == settled)
}

// later keeps an answer until initialize is answered.
func (h *host) later(_ question, sound [][]byte) [][]byte {
	h.desk.belated = append(h.desk.belated, sound...)
	return nil
}
