package exttest

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"strings"
	"sync"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/runtime/envelope"
	"github.com/octet-dev/octet/runtime/peer"
	"github.com/octet-dev/octet/sdk-go/extension"
)

// Result is the result of a call.
type Result struct {
	Text       string   // the texts, joined by line feeds
	Content    []string // the texts
	IsError    bool     // the tool itself failed
	Structured json.RawMessage
	Metadata   json.RawMessage
	Progress   []Progress // all of the call, in order
	Output     []Output   // all of the call, in order
}

// Decode reads the structured content into a Go value.
func (r *Result) Decode(into any) error { return json.Unmarshal(r.Structured, into) }

// Progress is one report of where the work stands.
type Progress struct {
	Message        string
	Current, Total int64 // 0 where the tool gives none
	Unit           string
}

// Output is one piece of output of the work.
type Output struct {
	Stream extension.Stream
	Text   string
}

// Call calls a tool and returns its result, also when the tool failed. Arguments are anything that is
// written as a JSON object; nil is the empty one. It fails the test if the extension answers with an error.
func (h *Host) Call(tool string, arguments any) *Result {
	h.t.Helper()
	result, err := h.Begin(tool, arguments).Wait()
	if err != nil {
		h.t.Fatalf("exttest: call of %q: %v", tool, err)
	}
	return result
}

// TryCall is Call for calls that the extension may answer with an error: an *Error.
func (h *Host) TryCall(tool string, arguments any) (*Result, error) {
	h.t.Helper()
	return h.Begin(tool, arguments).Wait()
}

// Pending is a call that has begun.
type Pending struct {
	host   *Host
	id     wirejson.ID
	cancel context.CancelCauseFunc
	done   chan struct{}
	result *Result
	err    error

	mu       sync.Mutex
	progress []Progress
	output   []Output
	taken    int           // of progress, by NextProgress
	more     chan struct{} // closed at the next progress
}

// Begin begins a call, for tests that look at it while it runs. Wait for it, or close the host.
func (h *Host) Begin(tool string, arguments any) *Pending {
	h.t.Helper()
	if arguments == nil {
		arguments = struct{}{}
	}
	text, err := json.Marshal(arguments)
	if err != nil {
		h.t.Fatalf("exttest: arguments of %q: %v", tool, err)
	}
	ctx, cancel := context.WithCancelCause(context.Background())
	p := &Pending{host: h, cancel: cancel, done: make(chan struct{}), more: make(chan struct{})}
	queued := make(chan struct{})
	params := h.side.call(&h.options, tool, text)
	go func() {
		defer close(p.done)
		defer cancel(nil)
		raw, err := h.conn.Do(ctx, peer.Call{
			Method: featurewire.MethodToolCall,
			Params: params,
			Issued: func(id envelope.ID) { h.register(id, p) },
			Queued: func() { close(queued) },
		})
		h.forget(p)
		p.settle(raw, err)
	}()
	select {
	case <-queued:
	case <-p.done: // it could not be sent
	}
	return p
}

// Cancel asks the extension to give the call up. It returns at once; cancelling twice is harmless.
func (p *Pending) Cancel(reason string) { p.cancel(peer.Reason(reason)) }

// Wait waits for the end of the call. The error is an *Error if the extension answered with one, see
// IsCancelled.
func (p *Pending) Wait() (*Result, error) {
	<-p.done
	return p.result, p.err
}

// NextProgress waits for the next progress of the call, from the first one on. It returns false when the
// call has ended and there is none left.
func (p *Pending) NextProgress() (Progress, bool) {
	for {
		p.mu.Lock()
		if p.taken < len(p.progress) {
			next := p.progress[p.taken]
			p.taken++
			p.mu.Unlock()
			return next, true
		}
		more := p.more
		p.mu.Unlock()
		select {
		case <-more:
		case <-p.done:
			p.mu.Lock()
			left := p.taken < len(p.progress)
			p.mu.Unlock()
			if !left {
				return Progress{}, false
			}
		}
	}
}

func (p *Pending) take(event featurewire.ProgressEvent) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch event := event.(type) {
	case featurewire.ProgressStatus:
		p.progress = append(p.progress, Progress{event.Message, event.Current.Or(0), event.Total.Or(0), event.Unit.Or("")})
		close(p.more)
		p.more = make(chan struct{})
	case featurewire.ProgressOutput:
		text := event.Data
		if event.Encoding == featurewire.OutputEncodingBase64 {
			raw, err := base64.StdEncoding.DecodeString(event.Data)
			if err != nil {
				p.host.t.Errorf("exttest: output is not base64: %v", err)
			}
			text = string(raw)
		}
		p.output = append(p.output, Output{extension.Stream(event.Stream), text})
	}
}

func (p *Pending) settle(raw []byte, err error) {
	if err != nil {
		p.err = asError(err)
		return
	}
	result, err := p.host.side.result(raw)
	if err != nil {
		p.err = err
		return
	}
	result.Text = strings.Join(result.Content, "\n")
	p.mu.Lock()
	defer p.mu.Unlock()
	result.Progress, result.Output = p.progress, p.output
	p.result = result
}
