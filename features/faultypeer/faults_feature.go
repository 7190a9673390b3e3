package faultypeer

import (
	"bytes"
	"io"

	"github.com/octet-dev/octet/generated/featurewire"
)

// The areas of the feature wire, one list each.
var featureAreas = [][]Fault{
	featureFrameFaults, featureEnvelopeFaults, featureOwnRequestFaults, featureInitFaults, featureSelectionFaults,
	featureDefinitionFaults, featureCallFaults, featureResultFaults, featureCancelFaults, featureProgressFaults,
	featureNoticeFaults, featureOrderFaults, featureErrorFaults, featureEndFaults, featureRaceFaults,
	featureServiceFaults, featurePeopleFaults, featureHandlerFaults, featureObjectFaults, featureSessionFaults,
}

// on is a fault of the feature wire.
func on(api, rule, name, doc string, q quirk) Fault {
	return Fault{Name: name, Rule: rule, API: api, Doc: doc, quirk: q}
}

// acting commits an act.
func acting(act string) quirk { return quirk{does: act} }

// lax leaves a check out.
func lax(check string) quirk { return quirk{ignores: check} }

// moment acts at a moment of the conversation.
func moment(name string, act func(p *peer)) quirk { return quirk{acts: when(name, act)} }

// changingResult changes results of one method.
func changingResult(method string, f func(r obj)) quirk {
	return change(method, func(m obj) { f(m["result"].(obj)) })
}

// changeEcho changes the result of a call that ends well.
func changeEcho(f func(r obj)) quirk {
	return changingResult(featurewire.MethodToolCall, func(r obj) {
		if r["is_error"] == false {
			f(r)
		}
	})
}

// respelling replaces a text once in frames of one kind.
func respelling(what, from, to string) quirk { return quirk{frame: respell(what, from, to)} }

// ending stops at lines that hold a text.
func ending(text string) quirk {
	return quirk{refuses: func(line []byte) bool { return bytes.Contains(line, []byte(text)) }}
}

// translating replaces bytes of the input before lines are told apart.
func translating(from, to string) quirk {
	return byRead(func(b []byte) []byte { return bytes.ReplaceAll(b, []byte(from), []byte(to)) })
}

// byRead changes what a single read of the input brings. The input ends where nothing is left of a read.
func byRead(f func([]byte) []byte) quirk {
	return quirk{stream: func(r io.Reader) io.Reader { return &reads{from: r, change: f} }}
}

type reads struct {
	from   io.Reader
	change func([]byte) []byte
	left   []byte
}

func (r *reads) Read(b []byte) (int, error) {
	if len(r.left) == 0 {
		buf := make([]byte, 64<<10)
		n, err := r.from.Read(buf)
		if n == 0 {
			return 0, err
		}
		if r.left = r.change(buf[:n]); len(r.left) == 0 {
			return 0, io.EOF
		}
	}
	n := copy(b, r.left)
	r.left = r.left[n:]
	return n, nil
}

// frozen, middle and current are the API versions of the feature wire.
const (
	frozen  = "0.1"
	middle  = "0.2"
	current = "0.4"
)
