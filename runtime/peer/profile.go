package peer

import (
	"fmt"
	"slices"
	"strconv"
	"time"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/runtime/canonical"
	"github.com/octet-dev/octet/runtime/frame"
)

// Profile is what the peer must know of a wire, a version of it and the side it plays: tables, never
// behaviour. Treat one as read-only.
type Profile struct {
	Wire    frame.Wire
	Side    frame.Side // the side this peer plays
	Version string

	Initialize string // the method that opens the session
	Shutdown   string // the method that ends it
	Cancel     string // the notification that cancels; empty: this version has no cancellation

	MaxFrameBytes int           // before Install
	MaxConcurrent int           // before Install, requests from host to extension
	MaxQueue      int           // frames waiting for the writer
	Grace         time.Duration // wait for the answer to a cancelled call
	TombstoneLife time.Duration // how long the id of an abandoned call is remembered
	MaxTombstones int

	// MaxServed and MaxIDs bound what one extension may ask of a host: requests at a time, which only a
	// host judges, and distinct ids in its life, which it must not use twice. 0: no such rule.
	MaxServed int
	MaxIDs    int
	// MaxCalls bounds the unanswered requests of an extension, on its own side. 0: no bound.
	MaxCalls int

	Errors Errors

	methods      map[string]*wirejson.Method
	decodeCancel func([]byte) (wirejson.ID, string, error)
	errorByName  func(string) (wirejson.ErrorCode, bool)
}

// Errors are the rows of the error table that the peer itself answers with.
type Errors struct {
	Parse, InvalidRequest, UnknownMethod, InvalidParams, Internal, Exhausted, Cancelled, Draining wirejson.ErrorCode
}

// Method returns the row of a method of this wire and version, or nil.
func (p *Profile) Method(name string) *wirejson.Method { return p.methods[name] }

// takes reports whether this side may receive a method, by its direction.
func (p *Profile) takes(m *wirejson.Method) bool {
	return m.Direction == wirejson.BothDirections ||
		(m.Direction == wirejson.HostToExtension) == (p.Side == frame.Extension)
}

// sends reports whether this side may send a method, by its direction.
func (p *Profile) sends(m *wirejson.Method) bool {
	return m.Direction == wirejson.BothDirections || !p.takes(m)
}

func (p *Profile) canonical() bool { return p.Wire == frame.Canonical }
func (p *Profile) host() bool      { return p.Side == frame.Host }

func methodsOf(all []wirejson.Method, version string) map[string]*wirejson.Method {
	m := make(map[string]*wirejson.Method, len(all))
	for i := range all {
		if slices.Contains(all[i].Versions, version) {
			m[all[i].Name] = &all[i]
		}
	}
	return m
}

// CanonicalProfile returns the profile of API 0.3.
func CanonicalProfile(side frame.Side) *Profile {
	served, ids := 0, 0
	if side == frame.Host { // which bounds an extension alike on both wires
		served, ids = featurewire.MaxChildRequests, featurewire.MaxChildIDs
	}
	return &Profile{
		MaxServed:     served,
		MaxIDs:        ids,
		MaxCalls:      mostCalls(side),
		Wire:          frame.Canonical,
		Side:          side,
		Version:       canonicalwire.Version03,
		Initialize:    canonicalwire.MethodInitialize,
		Shutdown:      canonicalwire.MethodShutdown,
		Cancel:        canonicalwire.MethodCancelRequest,
		MaxFrameBytes: canonicalwire.MaxFrameBytes,
		MaxConcurrent: canonicalwire.MaxConcurrentRequests,
		MaxQueue:      featurewire.MaxWriterQueueFrames,
		Grace:         deadline("cancellation_grace"),
		TombstoneLife: deadline("tombstone"),
		MaxTombstones: featurewire.MaxTombstones,
		Errors: Errors{
			Parse:          canonicalwire.ErrParseError,
			InvalidRequest: canonicalwire.ErrInvalidRequest,
			UnknownMethod:  canonicalwire.ErrUnknownMethod,
			InvalidParams:  canonicalwire.ErrInvalidParams,
			Internal:       canonicalwire.ErrInternalError,
			Exhausted:      canonicalwire.ErrResourceExhausted,
			Cancelled:      canonicalwire.ErrRequestCancelled,
			Draining:       canonicalwire.ErrRequestCancelled,
		},
		errorByName: canonicalwire.ErrorByName,
		methods:     methodsOf(canonicalwire.Methods, canonicalwire.Version03),
		decodeCancel: func(params []byte) (wirejson.ID, string, error) {
			p, err := canonicalwire.DecodeCancelRequestParams(params)
			return p.ID, p.Reason.Or(""), err
		},
	}
}

// mostCalls is the bound of MaxCalls. The canonical wire names none; an extension keeps the one of the other
// wire there too.
func mostCalls(side frame.Side) int {
	if side == frame.Extension {
		return featurewire.MaxChildRequests
	}
	return 0
}

// FeatureProfile returns the profile of a version of the feature wire: 0.1, 0.2 or 0.4.
func FeatureProfile(side frame.Side, version string) (*Profile, error) {
	methods := methodsOf(featurewire.Methods, version)
	if len(methods) == 0 {
		return nil, fmt.Errorf("peer: the feature wire has no version %q; use 0.1, 0.2 or 0.4", version)
	}
	p := &Profile{
		Wire:          frame.Feature,
		Side:          side,
		Version:       version,
		Initialize:    featurewire.MethodInitialize,
		Shutdown:      featurewire.MethodShutdown,
		MaxFrameBytes: featurewire.MaxLineBytes,
		MaxConcurrent: featurewire.MaxConcurrentRequests,
		MaxQueue:      featurewire.MaxWriterQueueFrames,
		Grace:         featurewire.CancellationGraceMs * time.Millisecond,
		TombstoneLife: featurewire.TombstoneMs * time.Millisecond,
		MaxTombstones: featurewire.MaxTombstones,
		Errors: Errors{
			Parse:          featurewire.ErrParseError,
			InvalidRequest: featurewire.ErrInvalidRequest,
			UnknownMethod:  featurewire.ErrUnknownMethod,
			InvalidParams:  featurewire.ErrInvalidParams,
			Internal:       featurewire.ErrInternalError,
			Exhausted:      featurewire.ErrServerError,
			Cancelled:      featurewire.ErrRequestCancelled,
			Draining:       featurewire.ErrServerError,
		},
		errorByName: featurewire.ErrorByName,
		methods:     methods,
		decodeCancel: func(params []byte) (wirejson.ID, string, error) {
			p, err := featurewire.DecodeCancelRequestParams(params)
			return p.ID, p.Reason.Or(""), err
		},
	}
	p.MaxIDs = featurewire.MaxChildIDs
	if side == frame.Host {
		p.MaxServed = featurewire.MaxChildRequests
	}
	p.MaxCalls = mostCalls(side)
	if methods[featurewire.MethodCancelRequest] != nil {
		p.Cancel = featurewire.MethodCancelRequest
	} else {
		// A version without cancellation has no code for it either.
		p.Errors.Cancelled = featurewire.ErrServerError
	}
	return p, nil
}

// lawful returns e as the wire allows it to be sent, or nil. The canonical wire has only the errors of
// its table, each with its one message.
func (p *Profile) lawful(e *Error) *Error {
	if !p.canonical() {
		return e
	}
	for _, row := range canonicalwire.Errors {
		if row.Code == e.Code {
			return &Error{Code: row.Code, Message: row.Message, Data: e.Data}
		}
	}
	return nil
}

// violation is the answer to params that break their model, with the place in data.
func (p *Profile) violation(v *wirejson.Violation, s *wirejson.SyntaxError) *Error {
	if v == nil {
		return Fail(p.Errors.InvalidParams, place{detail: s.Error()})
	}
	row, ok := p.errorByName(v.ErrorName)
	if !ok {
		row = p.Errors.InvalidParams
	}
	return Fail(row, place{detail: v.Detail, pointer: v.Pointer, violation: string(v.Kind)})
}

// place is error data that says what is wrong and where.
type place struct{ detail, pointer, violation string }

// AppendJSON implements Value.
func (p place) AppendJSON(dst []byte) []byte {
	dst = canonical.AppendString(append(dst, `{"detail":`...), p.detail)
	if p.violation != "" {
		dst = canonical.AppendString(append(dst, `,"pointer":`...), p.pointer)
		dst = canonical.AppendString(append(dst, `,"violation":`...), p.violation)
	}
	return append(dst, '}')
}

// deadline returns a row of the canonical wire's table of deadlines.
func deadline(name string) time.Duration {
	for _, row := range canonicalwire.TableLifecycleDeadlines {
		if row.Wait == name {
			ms, err := strconv.Atoi(row.Milliseconds)
			if err == nil {
				return time.Duration(ms) * time.Millisecond
			}
		}
	}
	panic("peer: the canonical wire has no deadline " + strconv.Quote(name))
}

// token returns the n-th first word of a message that stands for an error of the feature wire.
func token(name string, n int) string {
	for _, row := range featurewire.TableMessageTokens {
		if row.Error == name {
			if n == 0 {
				return row.Token
			}
			n--
		}
	}
	panic("peer: the feature wire has no message token for " + strconv.Quote(name))
}

var (
	tokenUnsupported = token(featurewire.ErrUnknownMethod.Name, 0)
	tokenBounds      = token(featurewire.ErrInvalidParams.Name, 1)
)
