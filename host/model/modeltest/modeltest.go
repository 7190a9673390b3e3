// Package modeltest is, for tests of providers behind HTTP, a server that fails on demand and what every
// provider must then say.
package modeltest

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log"
	"net"
	"net/http"
	"net/http/httptest"
	"reflect"
	"strings"
	"testing"
	"time"

	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/model"
)

// Key is the key that providers under test are given. It may turn up in no error.
const Key = "sk-very-secret-0123456789"

// Wire is how a provider's protocol looks.
type Wire struct {
	// New makes a provider that asks a server with Key. Zero idle: its default.
	New func(baseURL string, transport http.RoundTripper, idle time.Duration) model.Provider
	// Begin is the start of a stream in front of any delta, Delta one piece of text, End its proper end.
	Begin, Delta, End string
	// Error is an error document as the protocol has it, and Overloaded the event that breaks a stream.
	Error      func(message string) string
	Overloaded string
}

// Said is a request of one message.
func Said(text string) model.Request {
	return model.Request{Model: "some-model", Messages: []conversation.Message{conversation.Say(conversation.User, text)}}
}

// Ask sends a request and returns the deltas with the answer.
func Ask(ctx context.Context, p model.Provider, request model.Request) (*model.Response, []model.Delta, error) {
	var deltas []model.Delta
	response, err := p.Stream(ctx, request, func(d model.Delta) { deltas = append(deltas, d) })
	return response, deltas, err
}

// Server answers every request with a status, a content type and a body.
func Server(t *testing.T, status int, header http.Header, body string) *httptest.Server {
	t.Helper()
	return Serve(t, func(w http.ResponseWriter, _ *http.Request) {
		for name, values := range header {
			w.Header()[name] = values
		}
		if w.Header().Get("Content-Type") == "" {
			w.Header().Set("Content-Type", "text/event-stream; charset=utf-8")
		}
		w.WriteHeader(status)
		_, _ = io.WriteString(w, body)
	})
}

// Serve runs a server until the test ends.
func Serve(t *testing.T, handler http.HandlerFunc) *httptest.Server {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.CloseClientConnections)
	t.Cleanup(server.Close)
	return server
}

// Body is the request that a server got.
func Body(t *testing.T, r *http.Request) map[string]any {
	t.Helper()
	var body map[string]any
	if err := json.NewDecoder(r.Body).Decode(&body); err != nil {
		t.Errorf("the request is no JSON: %v", err)
	}
	return body
}

// SameJSON demands that a value that was read from JSON is the one of a text.
func SameJSON(t *testing.T, got any, want string) {
	t.Helper()
	var parsed any
	if err := json.Unmarshal([]byte(want), &parsed); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got, parsed) {
		text, _ := json.MarshalIndent(got, "", " ")
		t.Errorf("got %s\nwant %s", text, want)
	}
}

// want is what an error must say.
type want struct {
	phase        model.Phase
	retry        bool
	status       int
	retryAfter   time.Duration
	usageUnknown bool
	overflow     bool
	text         string
}

func (w want) check(t *testing.T, response *model.Response, err error) {
	t.Helper()
	var failure *model.Error
	if response != nil || !errors.As(err, &failure) {
		t.Fatalf("answer is %+v, error %v; want a *model.Error", response, err)
	}
	got := want{failure.Phase, failure.Retry, failure.Status, failure.RetryAfter, failure.UsageUnknown, failure.Overflow, w.text}
	if got != w {
		t.Errorf("error is %+v, want %+v", got, w)
	}
	if !strings.Contains(err.Error(), w.text) {
		t.Errorf("error is %q, want one that says %q", err, w.text)
	}
	for _, text := range []string{err.Error(), fmt.Sprintf("%+v", failure), fmt.Sprintf("%#v", failure), fmt.Sprint(failure.Cause)} {
		if strings.Contains(text, Key) {
			t.Errorf("the key turns up in the error: %s", text)
		}
	}
}

// Faults runs a provider against every way in which a server fails.
func Faults(t *testing.T, wire Wire) {
	t.Run("statuses", wire.statuses)
	t.Run("streams", wire.streams)
	t.Run("connections", wire.connections)
	t.Run("silence", wire.silence)
	t.Run("cancellation", wire.cancellation)
}

func (wire Wire) statuses(t *testing.T) {
	document := wire.Error("no luck with " + Key)
	for _, c := range []struct {
		name   string
		status int
		header http.Header
		body   string
		want   want
	}{
		{"400", 400, nil, document, want{phase: model.BeforeGeneration, status: 400, text: "no luck with [redacted]"}},
		{"401", 401, nil, document, want{phase: model.BeforeGeneration, status: 401, text: "check the key in TEST_KEY"}},
		{"404", 404, nil, document, want{phase: model.BeforeGeneration, status: 404, text: "check the name of the model"}},
		{"413", 413, nil, document, want{phase: model.BeforeGeneration, status: 413, overflow: true}},
		{"429 with seconds", 429, http.Header{"Retry-After": {"7"}}, document, want{phase: model.BeforeGeneration, status: 429, retry: true, retryAfter: 7 * time.Second}},
		{"429 with milliseconds", 429, http.Header{"Retry-After": {"7"}, "Retry-After-Ms": {"250"}}, document, want{phase: model.BeforeGeneration, status: 429, retry: true, retryAfter: 250 * time.Millisecond}},
		{"429 for ever", 429, http.Header{"Retry-After": {"1e300"}}, document, want{phase: model.BeforeGeneration, status: 429, retry: true, retryAfter: 24 * time.Hour}},
		{"429 in the past", 429, http.Header{"Retry-After": {"Mon, 02 Jan 2006 15:04:05 GMT"}}, document, want{phase: model.BeforeGeneration, status: 429, retry: true}},
		{"500 without JSON", 500, nil, "it broke\x1b[31m\n", want{phase: model.BeforeGeneration, status: 500, retry: true, text: "500 internal server error"}},
		{"503 with a page", 503, http.Header{"Content-Type": {"text/html"}}, "<html><body>" + strings.Repeat("x", 5000), want{phase: model.BeforeGeneration, status: 503, retry: true, text: "service unavailable"}},
		{"529", 529, nil, document, want{phase: model.BeforeGeneration, status: 529, retry: true}},
		{"redirection", 307, http.Header{"Location": {"http://127.0.0.1:1/elsewhere"}}, "", want{phase: model.BeforeGeneration, status: 307, text: "redirections are not followed"}},
		{"200 with a page", 200, http.Header{"Content-Type": {"text/html"}}, "<html>", want{phase: model.BeforeGeneration, usageUnknown: true, text: "text/html"}},
		{"200 with a document", 200, http.Header{"Content-Type": {"application/json"}}, document, want{phase: model.BeforeGeneration, usageUnknown: true, text: "no luck with [redacted]"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			requests := 0
			server := Serve(t, func(w http.ResponseWriter, r *http.Request) {
				requests++
				for name, values := range c.header {
					w.Header()[name] = values
				}
				w.WriteHeader(c.status)
				_, _ = io.WriteString(w, c.body)
			})
			response, deltas, err := Ask(t.Context(), wire.New(server.URL, nil, 0), Said("hi"))
			c.want.check(t, response, err)
			if len(deltas) > 0 || requests != 1 {
				t.Errorf("%d deltas and %d requests, want none and 1: retries are the kernel's", len(deltas), requests)
			}
			if strings.ContainsAny(err.Error(), "\x1b\n<") || len(err.Error()) > 2048 {
				t.Errorf("the error is not one bounded printable line without mark-up: %q", err)
			}
		})
	}
}

func (wire Wire) streams(t *testing.T) {
	for _, c := range []struct {
		name, body string
		deltas     int
		want       want
	}{
		{"empty", "", 0, want{phase: model.StreamStart, retry: true, usageUnknown: true, text: "in the middle"}},
		{"nothing but the beginning", wire.Begin, 0, want{phase: model.StreamStart, retry: true, usageUnknown: true}},
		{"cut behind a delta", wire.Begin + wire.Delta, 1, want{phase: model.InterruptedInference, retry: true, usageUnknown: true, text: "in the middle"}},
		{"half an event", wire.Begin + wire.Delta + wire.Delta[:len(wire.Delta)/2], 1, want{phase: model.InterruptedInference, retry: true, usageUnknown: true}},
		{"invalid JSON first", "event: content_block_delta\ndata: {\"broken\n\n", 0, want{phase: model.StreamStart, retry: true, usageUnknown: true, text: "cannot be read"}},
		{"invalid JSON later", wire.Begin + wire.Delta + "event: content_block_delta\ndata: {]\n\n", 1, want{phase: model.InterruptedInference, retry: true, usageUnknown: true, text: "cannot be read"}},
		{"overloaded first", wire.Begin + wire.Overloaded, 0, want{phase: model.StreamStart, retry: true, usageUnknown: true, status: overloadedStatus(wire), text: "too much to do"}},
		{"overloaded later", wire.Begin + wire.Delta + wire.Overloaded, 1, want{phase: model.InterruptedInference, retry: true, usageUnknown: true, status: overloadedStatus(wire), text: "too much to do"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			server := Server(t, 200, nil, c.body)
			response, deltas, err := Ask(t.Context(), wire.New(server.URL, nil, 0), Said("hi"))
			c.want.check(t, response, err)
			if len(deltas) != c.deltas {
				t.Errorf("%d deltas, want %d", len(deltas), c.deltas)
			}
		})
	}
	t.Run("whole, with remarks and CRLF", func(t *testing.T) {
		body := ": a remark\n\n" + wire.Begin + wire.Delta + wire.End
		server := Server(t, 200, nil, strings.ReplaceAll(body, "\n", "\r\n"))
		response, deltas, err := Ask(t.Context(), wire.New(server.URL, nil, 0), Said("hi"))
		if err != nil || len(deltas) != 1 || response.Message.PlainText() != deltas[0].Text || response.Stop != model.StopEnd {
			t.Errorf("answer is %+v after %v, error %v", response, deltas, err)
		}
	})
}

func overloadedStatus(wire Wire) int {
	if strings.Contains(wire.Overloaded, "event: error") {
		return 529
	}
	return http.StatusServiceUnavailable
}

func (wire Wire) connections(t *testing.T) {
	t.Run("refused", func(t *testing.T) {
		listener, err := net.Listen("tcp", "127.0.0.1:0")
		if err != nil {
			t.Fatal(err)
		}
		_ = listener.Close()
		response, _, err := Ask(t.Context(), wire.New("http://"+listener.Addr().String(), nil, 0), Said("hi"))
		want{phase: model.WaitingForNetwork, retry: true, text: "no connection to the server"}.check(t, response, err)
	})
	t.Run("unknown host", func(t *testing.T) {
		transport := &http.Transport{DialContext: func(context.Context, string, string) (net.Conn, error) {
			return nil, &net.OpError{Op: "dial", Net: "tcp", Err: &net.DNSError{Err: "no such host", Name: "models.invalid", IsNotFound: true}}
		}}
		response, _, err := Ask(t.Context(), wire.New("http://models.invalid", transport, 0), Said("hi"))
		want{phase: model.WaitingForNetwork, retry: true, text: "no such host"}.check(t, response, err)
	})
	t.Run("no trust", func(t *testing.T) {
		server := httptest.NewUnstartedServer(http.NotFoundHandler())
		server.Config.ErrorLog = log.New(io.Discard, "", 0) // it complains of what the test provokes
		server.StartTLS()
		defer server.Close()
		response, _, err := Ask(t.Context(), wire.New(server.URL, nil, 0), Said("hi"))
		want{phase: model.BeforeGeneration, text: "cannot be trusted"}.check(t, response, err)
	})
	t.Run("closed before the answer", func(t *testing.T) {
		server := Serve(t, func(_ http.ResponseWriter, r *http.Request) {
			_, _ = io.Copy(io.Discard, r.Body)
			panic(http.ErrAbortHandler)
		})
		response, _, err := Ask(t.Context(), wire.New(server.URL, nil, 0), Said("hi"))
		want{phase: model.BeforeGeneration, retry: true, usageUnknown: true, text: "before the answer"}.check(t, response, err)
	})
	t.Run("closed within the answer", func(t *testing.T) {
		server := Serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "text/event-stream")
			w.Header().Set("Content-Length", "1000000")
			_, _ = io.WriteString(w, wire.Begin+wire.Delta)
			_ = http.NewResponseController(w).Flush()
			panic(http.ErrAbortHandler)
		})
		response, deltas, err := Ask(t.Context(), wire.New(server.URL, nil, 0), Said("hi"))
		want{phase: model.InterruptedInference, retry: true, usageUnknown: true, text: "in the middle"}.check(t, response, err)
		if len(deltas) != 1 {
			t.Errorf("%d deltas, want 1", len(deltas))
		}
	})
}

func (wire Wire) silence(t *testing.T) {
	const idle = 50 * time.Millisecond
	t.Run("no answer", func(t *testing.T) {
		server, release := hanging(t, "")
		defer release()
		response, _, err := Ask(t.Context(), wire.New(server.URL, nil, idle), Said("hi"))
		want{phase: model.BeforeGeneration, retry: true, usageUnknown: true, text: "nothing for 50ms"}.check(t, response, err)
	})
	t.Run("half an answer", func(t *testing.T) {
		server, release := hanging(t, wire.Begin+wire.Delta)
		defer release()
		response, _, err := Ask(t.Context(), wire.New(server.URL, nil, idle), Said("hi"))
		want{phase: model.InterruptedInference, retry: true, usageUnknown: true, text: "nothing for 50ms"}.check(t, response, err)
	})
}

func (wire Wire) cancellation(t *testing.T) {
	t.Run("before", func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		cancel()
		if response, _, err := Ask(ctx, wire.New("http://127.0.0.1:1", nil, 0), Said("hi")); response != nil || err != context.Canceled {
			t.Errorf("answer is %+v, error %v", response, err)
		}
	})
	t.Run("without an answer", func(t *testing.T) {
		server, release := hanging(t, "")
		defer release()
		ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
		defer cancel()
		if response, _, err := Ask(ctx, wire.New(server.URL, nil, 0), Said("hi")); response != nil || err != context.DeadlineExceeded {
			t.Errorf("answer is %+v, error %v", response, err)
		}
	})
	t.Run("within the answer", func(t *testing.T) {
		server, release := hanging(t, wire.Begin+wire.Delta)
		defer release()
		ctx, cancel := context.WithCancel(t.Context())
		defer cancel()
		response, err := wire.New(server.URL, nil, 0).Stream(ctx, Said("hi"), func(model.Delta) { cancel() })
		if response != nil || err != context.Canceled {
			t.Errorf("answer is %+v, error %v", response, err)
		}
	})
}

// hanging is a server that stops in the middle of its answer, or before it, until it is released.
func hanging(t *testing.T, body string) (server *httptest.Server, release func()) {
	t.Helper()
	done := make(chan struct{})
	server = Serve(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = io.Copy(io.Discard, r.Body)
		if body != "" {
			w.Header().Set("Content-Type", "text/event-stream")
			_, _ = io.WriteString(w, body)
			_ = http.NewResponseController(w).Flush()
		}
		select {
		case <-done:
		case <-r.Context().Done():
		}
	})
	return server, func() { close(done) }
}

// Canned answers every request from memory, for fuzzing.
type Canned string

// RoundTrip answers with a stream of events.
func (c Canned) RoundTrip(r *http.Request) (*http.Response, error) {
	return &http.Response{
		Status: "200 OK", StatusCode: http.StatusOK, Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1, Request: r,
		Header: http.Header{"Content-Type": {"text/event-stream"}}, Body: io.NopCloser(strings.NewReader(string(c))),
	}, nil
}

// Sound checks what holds for every answer and every error, whatever a server sends.
func Sound(t *testing.T, response *model.Response, err error) {
	t.Helper()
	var failure *model.Error
	if err != nil && (response != nil || !errors.As(err, &failure) || failure.Phase == "") {
		t.Fatalf("answer is %+v, error %v", response, err)
	}
	if err != nil {
		return
	}
	if _, err := json.Marshal(response); err != nil {
		t.Fatalf("the answer cannot be kept: %v", err)
	}
	ids := map[string]bool{}
	for _, call := range response.Message.ToolCalls() {
		if call.CallID == "" || ids[call.CallID] || call.Name == "" {
			t.Errorf("a call without a name or an id of its own: %+v", call)
		}
		ids[call.CallID] = true
	}
	u := response.Usage
	if min(u.Input, u.Output, u.CacheRead, u.CacheWrite, u.Reasoning) < 0 || response.Stop == "" {
		t.Errorf("usage %+v, stop %q", u, response.Stop)
	}
}
