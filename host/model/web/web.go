// Package web is what providers behind HTTP have in common: one attempt to ask a model, watched closely
// enough to say how far it came when it fails.
package web

import (
	"context"
	"errors"
	"fmt"
	"io"
	"mime"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"
)

// Bounds of what a server may send.
const (
	maxAnswerBytes = 64 << 20  // of one streamed answer
	maxErrorBytes  = 256 << 10 // of an answer that is no stream
)

// DefaultIdle is how long a server may send nothing.
const DefaultIdle = 5 * time.Minute

// StatusOverloaded is how one API says that it has too much to do.
const StatusOverloaded = 529

// Retryable reports whether a status tells of a fault that passes by itself.
func Retryable(status int) bool {
	switch status {
	case http.StatusRequestTimeout, http.StatusConflict, http.StatusTooEarly, http.StatusTooManyRequests,
		http.StatusInternalServerError, http.StatusBadGateway, http.StatusServiceUnavailable, http.StatusGatewayTimeout, StatusOverloaded:
		return true
	}
	return false
}

var (
	errIdle  = errors.New("the server sends nothing any more")
	errLarge = errors.New("the answer is over its bound")
)

// Attempt is one request on its way. It is made by Begin and found by the client of this package in the
// context of the request.
type Attempt struct {
	provider string
	secrets  []string
	asked    context.Context // what the caller may cancel
	cancel   context.CancelCauseFunc
	idle     time.Duration
	timer    *time.Timer
	wrote    atomic.Bool // the whole request has left
	accepted atomic.Bool // the server streams an answer
	silent   atomic.Bool // the idle time has passed
}

type attemptKey struct{}

// Begin starts an attempt; End must follow. Requests are made with the returned context. Secrets are never
// shown in errors. An idle time of 0 means DefaultIdle.
func Begin(ctx context.Context, provider string, idle time.Duration, secrets ...string) (context.Context, *Attempt) {
	if idle <= 0 {
		idle = DefaultIdle
	}
	a := &Attempt{provider: provider, secrets: secrets, asked: ctx, idle: idle}
	inner, cancel := context.WithCancelCause(ctx)
	a.cancel = cancel
	a.timer = time.AfterFunc(idle, func() {
		a.silent.Store(true)
		cancel(errIdle)
	})
	inner = httptrace.WithClientTrace(inner, &httptrace.ClientTrace{
		WroteRequest: func(info httptrace.WroteRequestInfo) {
			if info.Err == nil {
				a.wrote.Store(true)
			}
		},
	})
	return context.WithValue(inner, attemptKey{}, a), a
}

// End gives up what the attempt still holds. Calling it twice is harmless.
func (a *Attempt) End() {
	a.timer.Stop()
	a.cancel(nil)
}

// alive notes that the server has sent something.
func (a *Attempt) alive() {
	if !a.silent.Load() {
		a.timer.Reset(a.idle)
	}
}

// NewClient returns a client that watches attempts and follows no redirection: a key must not travel on.
// Nil for the transport means that of package net/http, with its proxies.
func NewClient(transport http.RoundTripper) *http.Client {
	if transport == nil {
		transport = http.DefaultTransport
	}
	return &http.Client{Transport: watching{transport}}
}

type watching struct{ inner http.RoundTripper }

func (w watching) RoundTrip(request *http.Request) (*http.Response, error) {
	response, err := w.inner.RoundTrip(request)
	a, watched := request.Context().Value(attemptKey{}).(*Attempt)
	if err != nil || !watched {
		return response, err
	}
	a.alive()
	kind, _, _ := mime.ParseMediaType(response.Header.Get("Content-Type"))
	switch {
	case response.StatusCode >= 300 && response.StatusCode < 400:
		_ = response.Body.Close()
		return nil, redirected(response.StatusCode)
	case response.StatusCode >= 400:
		response.Body = &body{ReadCloser: response.Body, attempt: a, left: maxErrorBytes}
	case kind == "text/event-stream" || kind == "":
		a.accepted.Store(true)
		response.Body = &body{ReadCloser: response.Body, attempt: a, left: maxAnswerBytes}
	default:
		text, _ := io.ReadAll(io.LimitReader(response.Body, maxErrorBytes))
		_ = response.Body.Close()
		return nil, &notStream{kind: kind, text: string(text)}
	}
	return response, nil
}

// body is the body of an answer: bounded, and its bytes are signs of life.
type body struct {
	io.ReadCloser
	attempt *Attempt
	left    int64
}

func (b *body) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, errLarge
	}
	n, err := b.ReadCloser.Read(p[:min(int64(len(p)), b.left)])
	if n > 0 {
		b.left -= int64(n)
		b.attempt.alive()
	}
	return n, err
}

// redirected is the status of an answer that points elsewhere.
type redirected int

func (e redirected) Error() string {
	return fmt.Sprintf("status %d: redirections are not followed; check the base URL", int(e))
}

// notStream is an answer that should be a stream of events and is something else.
type notStream struct{ kind, text string }

func (e *notStream) Error() string {
	said := Said([]byte(e.text))
	if said != "" {
		said = ": " + said
	}
	return fmt.Sprintf("the server answers with %s, not with a stream of events; check the base URL%s", e.kind, said)
}
