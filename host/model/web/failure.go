package web

import (
	"crypto/tls"
	"crypto/x509"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"github.com/octet-dev/octet/host/model"
)

// Refusal is how a server says no: in the status of its answer, or within a stream.
type Refusal struct {
	Status  int         // as the fault would have it; 0: unknown
	Header  http.Header // of the answer
	Message string      // what the server says, from Said
	// Hint is what to do about it, for statuses that have an obvious remedy.
	Hint string
	// Final says that waiting does not help, whatever the status says.
	Final bool
	// Overflow says that the request is larger than the model can take.
	Overflow bool
}

// Refused makes the error of a server that says no. Heard says that deltas came before.
func (a *Attempt) Refused(r Refusal, heard bool) error {
	if err := a.asked.Err(); err != nil {
		return err
	}
	e := a.failure(heard)
	e.Status, e.RetryAfter, e.Overflow = r.Status, retryAfter(r.Header, time.Now()), r.Overflow
	e.Retry = !r.Final && !r.Overflow && (Retryable(r.Status) || r.Status == 0)
	text := "the server refuses the request"
	if r.Status != 0 {
		text = strings.TrimSpace(fmt.Sprintf("status %d %s", r.Status, strings.ToLower(http.StatusText(r.Status))))
	}
	if r.Message != "" {
		text += ": " + r.Message
	}
	if r.Hint != "" {
		text += "; " + r.Hint
	}
	e.Message = a.redact(text)
	return e
}

// Broke makes the error of an attempt that ended without an answer: no connection, a broken stream, or one
// that cannot be read. A nil cause is a stream that ended too early. Heard says that deltas came before.
func (a *Attempt) Broke(cause error, heard bool) error {
	if err := a.asked.Err(); err != nil {
		return err
	}
	e := a.failure(heard)
	e.Retry, e.UsageUnknown = true, e.UsageUnknown || a.wrote.Load()
	var other *notStream
	var elsewhere redirected
	switch {
	case a.silent.Load():
		e.Message = fmt.Sprintf("the server has sent nothing for %v", a.idle)
		if !a.wrote.Load() {
			e.Phase, e.Message = model.WaitingForNetwork, fmt.Sprintf("no connection to the server within %v", a.idle)
		}
	case cause == nil || errors.Is(cause, io.EOF) || errors.Is(cause, io.ErrUnexpectedEOF):
		e.Message = "the connection ended in the middle of the answer"
		if !a.accepted.Load() {
			e.Message = "the connection ended before the answer"
		}
	case errors.As(cause, &elsewhere):
		e.Retry, e.UsageUnknown, e.Status, e.Message = false, false, int(elsewhere), elsewhere.Error()
	case errors.As(cause, &other):
		e.Retry, e.UsageUnknown, e.Message = false, true, other.Error()
	case errors.Is(cause, errLarge):
		e.Retry, e.Message = false, fmt.Sprintf("the answer has more than %d bytes, which is the most that is read", maxAnswerBytes)
	case untrusted(cause):
		e.Retry, e.Message = false, "the server cannot be trusted: "+plainly(cause)
	case unreachable(cause):
		e.Phase, e.UsageUnknown, e.Message = model.WaitingForNetwork, false, "no connection to the server: "+plainly(cause)
	case unreadable(cause):
		e.Message = "the answer cannot be read: " + plainly(cause)
	default:
		e.Message = "the request failed: " + plainly(cause)
	}
	e.Message = a.redact(e.Message)
	return e
}

// failure is the error that all have in common: how far the attempt came.
func (a *Attempt) failure(heard bool) *model.Error {
	e := &model.Error{Provider: a.provider, Phase: model.BeforeGeneration}
	switch {
	case heard:
		e.Phase, e.UsageUnknown = model.InterruptedInference, true
	case a.accepted.Load():
		e.Phase, e.UsageUnknown = model.StreamStart, true
	}
	return e
}

// Local makes the error of a request that cannot be sent as it is.
func Local(provider, format string, args ...any) *model.Error {
	return &model.Error{Provider: provider, Phase: model.BeforeGeneration, Message: fmt.Sprintf(format, args...)}
}

func untrusted(err error) bool {
	var certificate *tls.CertificateVerificationError
	var authority x509.UnknownAuthorityError
	var host x509.HostnameError
	var header tls.RecordHeaderError
	return errors.As(err, &certificate) || errors.As(err, &authority) || errors.As(err, &host) || errors.As(err, &header)
}

// unreachable reports whether no connection was made, so that nothing can have been sent.
func unreachable(err error) bool {
	var name *net.DNSError
	var operation *net.OpError
	return errors.As(err, &name) || errors.As(err, &operation) && operation.Op == "dial"
}

func unreadable(err error) bool {
	var syntax *json.SyntaxError
	var kind *json.UnmarshalTypeError
	return errors.As(err, &syntax) || errors.As(err, &kind)
}

// plainly is an error without the URL that it happened at, which may hold what is nobody's business.
func plainly(err error) string {
	var at *url.Error
	if errors.As(err, &at) {
		err = at.Err
	}
	return clean(err.Error(), 512)
}

// redact replaces the secrets of the attempt in a text.
func (a *Attempt) redact(text string) string {
	for _, secret := range a.secrets {
		if len(secret) >= 4 {
			text = strings.ReplaceAll(text, secret, "[redacted]")
		}
	}
	return text
}

// Said finds what an error document says for people: {"error":{"message":...}} and its relatives, or the
// text itself if it is plain.
func Said(document []byte) string {
	var known struct {
		Error   json.RawMessage `json:"error"`
		Message string          `json:"message"`
		Detail  json.RawMessage `json:"detail"`
	}
	text := strings.TrimSpace(string(document))
	if json.Unmarshal(document, &known) == nil {
		var inner struct {
			Message string `json:"message"`
		}
		var word string
		switch {
		case json.Unmarshal(known.Error, &inner) == nil && inner.Message != "":
			text = inner.Message
		case json.Unmarshal(known.Error, &word) == nil && word != "":
			text = word
		case known.Message != "":
			text = known.Message
		case json.Unmarshal(known.Detail, &word) == nil && word != "":
			text = word
		}
	} else if strings.HasPrefix(text, "<") {
		return "" // a page for browsers
	}
	return clean(text, 1024)
}

// clean makes a foreign text one line of printable characters.
func clean(text string, most int) string {
	text = strings.Map(func(r rune) rune {
		switch {
		case r == utf8.RuneError || !unicode.IsPrint(r) && !unicode.IsSpace(r):
			return -1
		case unicode.IsSpace(r):
			return ' '
		}
		return r
	}, text)
	text = strings.TrimSpace(text)
	if len(text) > most {
		text = strings.ToValidUTF8(text[:most], "") + "..."
	}
	return text
}

// maxRetryAfter bounds the wait that a server may ask for.
const maxRetryAfter = 24 * time.Hour

// retryAfter reads how long a server wants to be left alone; 0: it does not say.
func retryAfter(header http.Header, now time.Time) time.Duration {
	if ms, err := strconv.ParseFloat(header.Get("Retry-After-Ms"), 64); err == nil && ms > 0 {
		return bounded(ms / 1000)
	}
	text := strings.TrimSpace(header.Get("Retry-After"))
	if seconds, err := strconv.ParseFloat(text, 64); err == nil {
		return bounded(seconds)
	}
	if at, err := http.ParseTime(text); err == nil {
		return bounded(at.Sub(now).Seconds())
	}
	return 0
}

func bounded(seconds float64) time.Duration {
	switch {
	case !(seconds > 0):
		return 0
	case seconds > maxRetryAfter.Seconds():
		return maxRetryAfter
	}
	return time.Duration(seconds * float64(time.Second))
}
