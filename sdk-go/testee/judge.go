package main

import (
	"bytes"
	"errors"
	"io"
	"slices"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/manifestdoc"
	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/runtime/envelope"
	"github.com/octet-dev/octet/runtime/frame"
	"github.com/octet-dev/octet/runtime/negotiation"
)

// framing is how a wire cuts its stream.
type framing struct {
	wire frame.Wire
	most int // the largest bound of the wire, in force where the referee names none
}

var framings = map[string]framing{
	featurewire.Wire:   {frame.Feature, featurewire.MaxLineBytes},
	canonicalwire.Wire: {frame.Canonical, canonicalwire.MaxFrameBytes},
}

// judgeFrame reads the first frame of the bytes as a host reads what an extension wrote.
func judgeFrame(q request) answer {
	framing, known := framings[q.Wire]
	switch {
	case q.Bound < 0:
		return answer{Verdict: unsupported}
	case q.Wire == oupwire.Wire:
		return judgeLine(q.Bytes, q.Bound)
	case !known:
		return answer{Verdict: unsupported}
	}
	wire, bound := framing.wire, q.Bound
	if bound == 0 {
		bound = framing.most
	}
	payload, err := frame.NewReader(bytes.NewReader(q.Bytes), wire, frame.Extension, bound).Next()
	switch {
	case errors.Is(err, io.EOF):
		return answer{Verdict: accept} // nothing, or blank lines: the ordinary end
	case err != nil:
		return answer{Verdict: terminate}
	}
	var e envelope.Envelope
	if err := envelope.Read(wire, payload, &e); err != nil {
		return answer{Verdict: reject}
	}
	if wire == frame.Feature && e.Reason == envelope.NotObject {
		return answer{Verdict: reject}
	}
	return answer{Verdict: accept}
}

func judgeEnvelope(q request) answer {
	if q.Wire == oupwire.Wire {
		return judgeMessage([]byte(q.Text))
	}
	framing, known := framings[q.Wire]
	if !known {
		return answer{Verdict: unsupported}
	}
	var e envelope.Envelope
	if err := envelope.Read(framing.wire, []byte(q.Text), &e); err != nil {
		return answer{Verdict: envelope.Invalid.String()}
	}
	return answer{Verdict: e.Kind.String()}
}

func judgeModel(q request) answer {
	var decode func(model string, data []byte) (wirejson.Encoder, error)
	switch q.Wire {
	case featurewire.Wire:
		decode = featurewire.DecodeAny
	case canonicalwire.Wire:
		decode = canonicalwire.DecodeAny
	case manifestdoc.Wire:
		decode = manifestdoc.DecodeAny
	case oupwire.Wire:
		decode = oupwire.DecodeAny
	default:
		return answer{Verdict: unsupported}
	}
	value, err := decode(q.Model, []byte(q.Text))
	var (
		violation *wirejson.Violation
		syntax    *wirejson.SyntaxError
	)
	switch {
	case errors.As(err, &violation):
		return answer{Verdict: reject, Pointer: &violation.Pointer, Violation: string(violation.Kind), Error: violation.ErrorName}
	case errors.As(err, &syntax):
		return answer{Verdict: malformed}
	case err != nil:
		return answer{Verdict: unsupported}
	}
	encoded := string(value.AppendJSON(nil))
	return answer{Verdict: accept, Encoded: &encoded}
}

// judgeNegotiation judges a selection against its offer as a host does. The canonical wire names the error
// that a mismatch is; the feature wire has no name for it, so the testee protocol gives one.
func judgeNegotiation(q request) answer {
	var err error
	name := "invalid_negotiation"
	switch {
	case slices.Contains(oupwire.Versions, q.API):
		return judgeCapabilities(q.Offer, q.Selection)
	case slices.Contains(featurewire.Versions, q.API):
		_, err = negotiation.NegotiateFeaturesJSON(q.API, q.Offer, q.Selection)
	case slices.Contains(canonicalwire.Versions, q.API):
		_, err = negotiation.NegotiateJSON(q.Offer, q.Selection)
		var mismatch *negotiation.Mismatch
		if errors.As(err, &mismatch) {
			name = mismatch.Code.Name
		}
	default:
		return answer{Verdict: unsupported}
	}
	if err != nil {
		return answer{Verdict: reject, Error: name}
	}
	return answer{Verdict: accept}
}
