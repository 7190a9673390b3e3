// Package envelope reads the JSON-RPC envelope of a frame in one pass: which of the four messages it
// is, its id, and where params, result and error lie. It builds no value and keeps no copy.
//
// The two wires differ. The canonical wire closes its envelopes, wants params on every request and
// fixes code and message of an error; a payload that is not canonical is malformed. The feature wire
// ignores members it does not know and takes any JSON object.
package envelope

import (
	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/runtime/canonical"
	"github.com/octet-dev/octet/runtime/frame"
)

// Kind is what a message is.
type Kind uint8

// The kinds.
const (
	Invalid Kind = iota
	Request
	Notification
	Result
	Error
)

var kindNames = [...]string{"invalid", "request", "notification", "result", "error"}

// String returns "invalid", "request", "notification", "result" or "error".
func (k Kind) String() string { return kindNames[k] }

// Envelope is one message. Its slices point into the frame, save an ID that had to be spelled anew.
type Envelope struct {
	Kind   Kind
	Reason Reason // of Invalid, else 0

	ID     []byte // canonical JSON of a legal id, also where the message is Invalid; nil: none
	Method []byte // decoded; nil: none
	Params []byte // as JSON; nil: absent
	Result []byte // as JSON; nil: absent
	Code   int64  // of an Error
	// Message is the text of an Error, as a JSON string.
	Message []byte
	Data    []byte // of an Error, as JSON; nil: absent

	// Asks reports that a method member is present, or neither result nor error: an Invalid message
	// with an ID that may be answered without answering an answer.
	Asks bool
	// Answers reports that result or error is present, or no method: an Invalid message with an ID that may
	// be meant for the call of that id. Where there is neither, a message both asks and answers.
	Answers bool
}

// Read reads the payload of one frame into e. The error is a *canonical.Error or, on the feature
// wire, a *SyntaxError: the payload is no JSON of that wire and has no trustworthy id. A payload that
// is JSON but none of the four messages is no error: e is then Invalid, with a Reason.
//
// Read allocates only for a refusal, and for a feature-wire string in an unusual spelling.
func Read(wire frame.Wire, payload []byte, e *Envelope) error {
	*e = Envelope{}
	p := parts{payload: payload, e: e}
	if wire == frame.Canonical {
		var o canonical.Outline
		if err := canonical.Scan(payload, &o); err != nil {
			return err
		}
		p.closed = true
		p.maxID = canonicalwire.MaxJSONRPCIDBytes
		p.outline(&o)
	} else {
		s := scanner{b: payload, names: memberNames}
		if err := s.scan(); err != nil {
			return err
		}
		p.maxID = featurewire.MaxIDBytes
		p.object = s.object
		for _, v := range s.found[:s.n] {
			p.take(v.name, v.of(payload))
		}
	}
	p.classify()
	return nil
}

// parts is an envelope being read. has and reason speak of its members.
type parts struct {
	payload []byte
	e       *Envelope
	closed  bool // canonical wire
	maxID   int
	object  bool
	has     [memberCount]bool
	spans   [memberCount][]byte
	first   Reason // the first fault met
}

const (
	memberError = iota
	memberID
	memberVersion
	memberMethod
	memberParams
	memberResult
	memberCount
)

var memberNames = []string{"error", "id", "jsonrpc", "method", "params", "result"}

const version = `"2.0"`

func (p *parts) fault(r Reason) {
	if p.first == 0 {
		p.first = r
	}
}

// outline takes the members that the canonical check has found.
func (p *parts) outline(o *canonical.Outline) {
	p.object = o.Object
	for _, m := range o.Members[:min(o.N, len(o.Members))] {
		if k := nameIndex(memberNames, p.payload[m.KeyStart:m.KeyEnd]); k >= 0 {
			p.take(k, p.payload[m.ValueStart:m.ValueEnd])
		} else {
			p.fault(UnlistedMember)
		}
	}
	if o.N > len(o.Members) {
		p.fault(UnlistedMember)
	}
}

func (p *parts) take(k int, text []byte) {
	if p.has[k] {
		p.fault(RepeatedMember)
		return
	}
	p.has[k], p.spans[k] = true, text
}

// classify decides by presence alone which message it is, then checks what that message holds.
func (p *parts) classify() {
	e := p.e
	if !p.object {
		e.Reason = NotObject
		return
	}
	e.Asks = p.has[memberMethod] || !p.has[memberResult] && !p.has[memberError]
	e.Answers = !p.has[memberMethod] || p.has[memberResult] || p.has[memberError]
	if p.has[memberID] {
		p.id(p.spans[memberID])
	}
	switch s := string(p.spans[memberVersion]); {
	case s == version:
	case p.closed || !p.has[memberVersion] || !sameString(p.spans[memberVersion], version):
		p.fault(BadVersion)
	}
	kind := p.kind()
	switch kind {
	case Request, Notification:
		p.method()
		p.params()
	case Result:
		e.Result = p.spans[memberResult]
		if p.closed && string(e.Result) == "null" {
			p.fault(NullResult)
		}
	case Error:
		p.error()
	}
	if p.closed && kind > Notification && p.has[memberParams] {
		p.fault(UnlistedMember)
	}
	if p.has[memberID] && e.ID == nil && !(kind == Error && p.unreadable()) {
		p.fault(BadID)
	}
	if p.closed && p.first == 0 && kind <= Notification {
		p.known(kind)
	}
	if e.Reason = p.first; p.first == 0 {
		e.Kind = kind
	}
}

func (p *parts) kind() Kind {
	hasResult, hasError := p.has[memberResult], p.has[memberError]
	switch {
	case p.has[memberMethod] && (hasResult || hasError):
		p.fault(Mixed)
	case p.has[memberMethod] && p.has[memberID]:
		return Request
	case p.has[memberMethod]:
		return Notification
	case hasResult && hasError:
		p.fault(ResultAndError)
	case !hasResult && !hasError:
		p.fault(NoKind)
	case !p.has[memberID]:
		p.fault(BadID)
	case hasResult:
		return Result
	default:
		return Error
	}
	return Invalid
}

// unreadable reports the one response that may carry a null id: an error about a line whose id could
// not be read, which only the feature wire knows.
func (p *parts) unreadable() bool {
	return !p.closed && string(p.spans[memberID]) == "null" &&
		(p.e.Code == featurewire.CodeParseError || p.e.Code == featurewire.CodeInvalidRequest)
}

// id accepts a string of 1 to maxID bytes and an integer from 0.
func (p *parts) id(text []byte) {
	switch c := text[0]; {
	case c == '"':
		if s, ok := canonicalString(text, p.closed); ok {
			if n := decodedLen(s); n >= 1 && n <= p.maxID {
				p.e.ID = s
			}
		}
	case c-'0' <= 9 && isUnsigned(text):
		p.e.ID = text
	}
}

func (p *parts) method() {
	text := p.spans[memberMethod]
	if text[0] == '"' {
		if s, ok := canonicalString(text, p.closed); ok {
			p.e.Method = decoded(s)
		}
	}
	switch n := len(p.e.Method); {
	case n == 0:
		p.fault(BadMethod)
	case p.closed && n > canonicalwire.MaxMethodNameBytes:
		p.fault(LongMethod)
	}
}

func (p *parts) params() {
	text := p.spans[memberParams]
	p.e.Params = text
	switch {
	case p.closed && !p.has[memberParams]:
		p.fault(NoParams)
	case p.closed && string(text) == "null", !p.closed && p.has[memberParams] && text[0] != '{':
		p.fault(BadParams)
	}
}

// known holds a known method of the canonical wire to its kind.
func (p *parts) known(kind Kind) {
	if m := canonicalwire.LookupMethod(string(p.e.Method)); m != nil && m.Notification != (kind == Notification) {
		p.fault(WrongKind)
	}
}
