package provider_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/extension/extensiontest"
	"github.com/octet-dev/octet/host/model"
	"github.com/octet-dev/octet/host/service/provider"
)

// ask begins an inference with the provider of a registry.
func ask(ctx context.Context, p model.Provider, request model.Request) *asking {
	a := &asking{done: make(chan struct{})}
	go func() {
		defer close(a.done)
		a.response, a.err = p.Stream(ctx, request, func(d model.Delta) {
			a.mu.Lock()
			defer a.mu.Unlock()
			a.deltas = append(a.deltas, d)
		})
	}()
	return a
}

// with runs a test with an extension that serves the provider "p".
func with(t *testing.T, options provider.Options, f func(t *testing.T, r *provider.Registry, rig *extensiontest.Rig, asked chan canonicalwire.ProviderStreamRequest)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		r := provider.New(options)
		rig, asked := serving(t, r)
		f(t, r, rig, asked)
	})
}

// EXT03-STREAM-010, EXT03-STREAM-020
func TestStream_runsAnInference(t *testing.T) {
	with(t, provider.Options{}, func(t *testing.T, r *provider.Registry, rig *extensiontest.Rig, asked chan canonicalwire.ProviderStreamRequest) {
		q := said("weather?")
		q.System, q.Reasoning, q.MaxOutputTokens = "Be brief.", "low", 50
		q.Tools = []model.Tool{{Name: "look", Description: "Looks.", Parameters: json.RawMessage(`{"type":"object","properties":{"x":{"type":"number","default":0.5}}}`)}}
		q.Messages = append(q.Messages,
			conversation.Message{Role: conversation.Assistant, Parts: []conversation.Part{
				{Kind: conversation.Reasoning, Text: "hm", Signature: "extension:p:sealed"},
				{Kind: conversation.Reasoning, Text: "foreign", Signature: "anthropic:x"},
				{Kind: conversation.ToolCall, CallID: "c1", Name: "look", Arguments: json.RawMessage(`{"x":1.5}`)},
			}},
			conversation.Message{Role: conversation.Tool, Parts: []conversation.Part{{
				Kind: conversation.ToolResult, CallID: "c1", Name: "look", IsError: true,
				Content: []conversation.Part{conversation.TextPart("rain"), {Kind: conversation.Image, MediaType: "image/png", Data: []byte("x")}},
			}}})
		a := ask(t.Context(), r.Providers()[0], q)
		got := <-asked
		if got.ProviderID != "p" || got.ModelID != "m" || got.StreamID == "" || !got.AuthorizationLease.IsAbsent() {
			t.Errorf("asked is %+v", got)
		}
		const want = `{"max_output_tokens":50,"messages":[{"parts":[{"kind":"text","text":"weather?"}],"role":"user"},{"parts":[{"kind":"reasoning","signature":"sealed","text":"hm"},{"kind":"reasoning","text":"foreign"},{"arguments":"{\"x\":1.5}","call_id":"c1","kind":"tool_call","name":"look"}],"role":"assistant"},{"parts":[{"call_id":"c1","content":[{"kind":"text","text":"rain"},{"kind":"text","text":"[image left out: the model takes none]"}],"is_error":true,"kind":"tool_result","name":"look"}],"role":"tool"}],"model":"api-m","protocol":"openai_chat","reasoning":"low","system":"Be brief.","tools":[{"description":"Looks.","name":"look","parameters":"{\"type\":\"object\",\"properties\":{\"x\":{\"type\":\"number\",\"default\":0.5}}}"}]}`
		if string(got.Request) != want {
			t.Errorf("request is %s\nwant %s", got.Request, want)
		}
		for i, e := range [][2]string{
			{"started", `{"response_id":"r"}`},
			{"heartbeat", `{}`},
			{"reasoning_start", `{}`},
			{"reasoning_delta", `{"text":"h"}`},
			{"reasoning_delta", `{"text":"m"}`},
			{"reasoning_end", `{"signature":"s"}`},
			{"text_start", `{}`},
			{"text_delta", `{"text":"Look"}`},
			{"text_end", `{}`},
			{"text_delta", `{"text":": ü"}`},
			{"tool_call_start", `{"id":"c1","name":"look"}`},
			{"tool_call_start", `{"id":"c2","name":"look"}`},
			{"tool_call_args_delta", `{"arguments":"{\"x\":","id":"c1"}`},
			{"tool_call_args_delta", `{"arguments":"2.5","id":"c1"}`},
			{"tool_call_end", `{"arguments":"}","id":"c1"}`},
			{"tool_call_end", `{}`},
			{"usage", `{"cache_read_tokens":1,"input_tokens":10,"output_tokens":5,"reasoning_tokens":2}`},
			{"finished", `{"stop_reason":"tool_calls"}`},
		} {
			tell(rig, got.StreamID, i, e[0], e[1])
		}
		<-a.done
		if a.err != nil {
			t.Fatal(a.err)
		}
		response := &model.Response{
			Message: conversation.Message{Role: conversation.Assistant, Parts: []conversation.Part{
				{Kind: conversation.Reasoning, Text: "hm", Signature: "extension:p:s"},
				conversation.TextPart("Look"), conversation.TextPart(": ü"),
				{Kind: conversation.ToolCall, CallID: "call_2", Name: "look", Arguments: json.RawMessage(`{"x":2.5}`)},
				{Kind: conversation.ToolCall, CallID: "c2", Name: "look", Arguments: json.RawMessage(`{}`)},
			}},
			Stop: model.StopTools, UsageKnown: true, Usage: conversation.Usage{Input: 10, Output: 5, CacheRead: 1, Reasoning: 2},
		}
		if !reflect.DeepEqual(a.response, response) {
			t.Errorf("answer is %+v\nwant %+v", a.response, response)
		}
		if len(a.deltas) != 9 {
			t.Errorf("%d deltas, want 9: %+v", len(a.deltas), a.deltas)
		}
	})
}

func TestStream_sendsTheLeaseThatIsHeld(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := &policy{status: canonicalwire.ProviderAuthorizationStatusReady}
		r := provider.New(provider.Options{Authorize: p.authorize})
		rig := secured(t, r)
		held := lease(t, rig.Ask(request, wish("p", "authorize")))
		seen := make(chan string, 1)
		rig.Serve(canonicalwire.MethodProviderStream, func(_ int64, params json.RawMessage) (any, error) {
			asked, err := canonicalwire.DecodeProviderStreamRequest(params)
			seen <- asked.AuthorizationLease.Or("")
			return canonicalwire.ProviderStreamAccepted{StreamID: asked.StreamID}, err
		})
		_, err := r.Providers()[0].Stream(t.Context(), said("hi"), func(model.Delta) {})
		if got := <-seen; got != held {
			t.Errorf("the lease is %q, want %q", got, held)
		}
		failure(t, err, model.BeforeGeneration, "does not take the request")
	})
}

// EXT03-STREAM-011
func TestStream_declinedOrRefusedIsOver(t *testing.T) {
	for name, c := range map[string]struct {
		answer func(id string) (any, error)
		words  string
	}{
		"declined": {func(id string) (any, error) {
			return map[string]any{"stream_id": id, "accepted": false, "reason": "no capacity"}, nil
		}, `extension "one" does not take the request: no capacity`},
		"refused": {func(string) (any, error) {
			return nil, &extensiontest.RefuseError{Code: canonicalwire.CodeInternalError, Message: "internal error"}
		}, "internal error"},
	} {
		t.Run(name, func(t *testing.T) {
			with(t, provider.Options{}, func(t *testing.T, r *provider.Registry, rig *extensiontest.Rig, _ chan canonicalwire.ProviderStreamRequest) {
				times := 0
				rig.Serve(canonicalwire.MethodProviderStream, func(_ int64, params json.RawMessage) (any, error) {
					times++
					asked, err := canonicalwire.DecodeProviderStreamRequest(params)
					if err != nil {
						return nil, err
					}
					// What follows a refusal belongs to nothing.
					defer func() { tell(rig, asked.StreamID, 0, "started", `{}`) }()
					return c.answer(asked.StreamID)
				})
				response, err := r.Providers()[0].Stream(t.Context(), said("hi"), func(model.Delta) { t.Error("a delta") })
				if response != nil || times != 1 {
					t.Errorf("answer is %+v after %d requests", response, times)
				}
				failure(t, err, model.BeforeGeneration, c.words)
				rig.Flush()
			})
		})
	}
}

// EXT03-STREAM-017
func TestStream_isNeverSentAgainWhereAcceptanceIsUnclear(t *testing.T) {
	with(t, provider.Options{}, func(t *testing.T, r *provider.Registry, rig *extensiontest.Rig, _ chan canonicalwire.ProviderStreamRequest) {
		times := 0
		rig.Serve(canonicalwire.MethodProviderStream, func(int64, json.RawMessage) (any, error) {
			times++
			return map[string]any{"stream_id": "another", "accepted": true}, nil
		})
		_, err := r.Providers()[0].Stream(t.Context(), said("hi"), func(model.Delta) {})
		failure(t, err, model.StreamStart, "unclear whether the request was taken")
		rig.WaitTold(canonicalwire.MethodProviderCancel, 1)
		rig.Serve(canonicalwire.MethodProviderStream, func(int64, json.RawMessage) (any, error) {
			times++
			rig.Exit(1)
			return nil, extensiontest.Silence
		})
		_, err = r.Providers()[0].Stream(t.Context(), said("hi"), func(model.Delta) {})
		failure(t, err, model.StreamStart, "unclear whether the request was taken")
		var f *model.Error
		if errors.As(err, &f); times != 2 || !f.UsageUnknown {
			t.Errorf("%d requests, want one for each of two inferences; usage unknown is %v", times, f.UsageUnknown)
		}
	})
}

// EXT03-STREAM-012, EXT03-STREAM-013, EXT03-METHOD-013
func TestStream_failsOnBrokenEvents(t *testing.T) {
	type e struct {
		sequence      int
		kind, payload string
	}
	for name, c := range map[string]struct {
		events []e
		words  string
		phase  model.Phase
	}{
		"does not begin at 0":    {[]e{{1, "started", `{}`}}, "event 1 comes where 0 is due", model.StreamStart},
		"skips":                  {[]e{{0, "started", `{}`}, {1, "text_delta", `{"text":"a"}`}, {3, "text_delta", `{"text":"b"}`}}, "event 3 comes where 2 is due", model.InterruptedInference},
		"repeats":                {[]e{{0, "started", `{}`}, {0, "heartbeat", `{}`}}, "event 0 comes where 1 is due", model.StreamStart},
		"does not start":         {[]e{{0, "text_delta", `{"text":"a"}`}}, "started comes first", model.StreamStart},
		"unknown kind":           {[]e{{0, "started", `{}`}, {1, "song", `{}`}}, "malformed event", model.StreamStart},
		"null payload":           {[]e{{0, "started", `null`}}, "malformed event", model.StreamStart},
		"payload is no object":   {[]e{{0, "started", `{}`}, {1, "text_delta", `"text"`}}, "event 1", model.StreamStart},
		"text is no text":        {[]e{{0, "started", `{}`}, {1, "text_delta", `{"text":1}`}}, "event 1", model.StreamStart},
		"call without name":      {[]e{{0, "started", `{}`}, {1, "tool_call_start", `{"id":"x"}`}}, "no name", model.StreamStart},
		"arguments of no call":   {[]e{{0, "started", `{}`}, {1, "tool_call_args_delta", `{"arguments":"x","id":"x"}`}}, `no open call "x"`, model.StreamStart},
		"negative usage":         {[]e{{0, "started", `{}`}, {1, "usage", `{"input_tokens":-1}`}}, "negative", model.StreamStart},
		"text without text":      {[]e{{0, "started", `{}`}, {1, "text_delta", `{"txt":"x"}`}}, "text_delta has no text", model.StreamStart},
		"reasoning without text": {[]e{{0, "started", `{}`}, {1, "reasoning_delta", `{}`}}, "reasoning_delta has no text", model.StreamStart},
		"unknown stop reason":    {[]e{{0, "started", `{}`}, {1, "finished", `{"stop_reason":"tired"}`}}, `no stop reason "tired"`, model.StreamStart},
		"error of the extension": {[]e{{0, "started", `{}`}, {1, "text_delta", `{"text":"a"}`}, {2, "error", `{"message":"it broke"}`}}, "it broke", model.InterruptedInference},
	} {
		t.Run(name, func(t *testing.T) {
			with(t, provider.Options{}, func(t *testing.T, r *provider.Registry, rig *extensiontest.Rig, asked chan canonicalwire.ProviderStreamRequest) {
				a := ask(t.Context(), r.Providers()[0], said("hi"))
				id := (<-asked).StreamID
				for _, e := range c.events {
					tell(rig, id, e.sequence, e.kind, e.payload)
				}
				<-a.done
				failure(t, a.err, c.phase, c.words)
				rig.Ask(register, declares("q", "m")).OK(t, "") // the connection lives on
			})
		})
	}
}

// EXT03-METHOD-014
func TestStream_endsAProcessWhoseEventNamesNoStream(t *testing.T) {
	with(t, provider.Options{}, func(t *testing.T, _ *provider.Registry, rig *extensiontest.Rig, _ chan canonicalwire.ProviderStreamRequest) {
		rig.Tell(event, `{"kind":"started"}`)
		<-rig.X.Done()
	})
}

func TestStream_boundsTheReasonOfAFailure(t *testing.T) {
	with(t, provider.Options{}, func(t *testing.T, r *provider.Registry, rig *extensiontest.Rig, asked chan canonicalwire.ProviderStreamRequest) {
		a := ask(t.Context(), r.Providers()[0], said("hi"))
		id := (<-asked).StreamID
		tell(rig, id, 0, "started", `{}`)
		tell(rig, id, 1, "error", `{"message":"x`+strings.Repeat("ü", 20000)+`"}`)
		<-a.done
		if text := fmt.Sprint(a.err); len(text) > canonicalwire.MaxReasonBytes+100 || !strings.HasSuffix(text, "ü...") {
			t.Errorf("the reason has %d bytes and ends with %q", len(text), text[max(0, len(text)-20):])
		}
	})
}

// EXT03-STREAM-015
func TestStream_boundsEvents(t *testing.T) {
	payload := func(bytes int) string { return `{"text":"` + strings.Repeat("x", bytes-len(`{"text":""}`)) + `"}` }
	with(t, provider.Options{}, func(t *testing.T, r *provider.Registry, rig *extensiontest.Rig, asked chan canonicalwire.ProviderStreamRequest) {
		a := ask(t.Context(), r.Providers()[0], said("hi"))
		id := (<-asked).StreamID
		tell(rig, id, 0, "started", `{}`)
		tell(rig, id, 1, "text_delta", payload(canonicalwire.MaxProviderStreamEventBytes))
		rig.Flush()
		synctest.Wait()
		tell(rig, id, 2, "text_delta", payload(canonicalwire.MaxProviderStreamEventBytes+1))
		<-a.done
		failure(t, a.err, model.InterruptedInference, "malformed event")
	})
	with(t, provider.Options{}, func(t *testing.T, r *provider.Registry, rig *extensiontest.Rig, asked chan canonicalwire.ProviderStreamRequest) {
		a := ask(t.Context(), r.Providers()[0], said("hi"))
		id := (<-asked).StreamID
		tell(rig, id, 0, "started", `{}`)
		for i := 1; i < canonicalwire.MaxProviderStreamEvents; i++ {
			tell(rig, id, i, "heartbeat", `{}`)
			if i%1000 == 0 {
				rig.Flush()
				synctest.Wait()
			}
		}
		select {
		case <-a.done:
			t.Fatalf("the stream ended at its last legal event: %v", a.err)
		default:
		}
		tell(rig, id, canonicalwire.MaxProviderStreamEvents, "finished", `{}`)
		<-a.done
		failure(t, a.err, model.StreamStart, fmt.Sprintf("more than %d events", canonicalwire.MaxProviderStreamEvents))
	})
}

// EXT03-STREAM-014
func TestStream_dropsEventsOfOthers(t *testing.T) {
	with(t, provider.Options{}, func(t *testing.T, r *provider.Registry, rig *extensiontest.Rig, asked chan canonicalwire.ProviderStreamRequest) {
		other := join(t, r, "two")
		a := ask(t.Context(), r.Providers()[0], said("hi"))
		id := (<-asked).StreamID
		tell(other, id, 0, "started", `{}`) // a stream of another process
		tell(other, id, 1, "finished", `{}`)
		tell(rig, "unknown", 7, "finished", `{}`)
		other.Flush()
		tell(rig, id, 0, "started", `{}`)
		tell(rig, id, 1, "text_delta", `{"text":"mine"}`)
		tell(rig, id, 2, "finished", `{}`)
		<-a.done
		if a.err != nil || a.response.Message.PlainText() != "mine" || a.response.UsageKnown {
			t.Errorf("answer is %+v, %v", a.response, a.err)
		}
		tell(rig, id, 3, "text_delta", `{"text":"late"}`)
		rig.Ask(register, declares("q", "m")).OK(t, "")
	})
}

// EXT03-STREAM-016, EXT03-STREAM-014
func TestStream_cancels(t *testing.T) {
	with(t, provider.Options{}, func(t *testing.T, r *provider.Registry, rig *extensiontest.Rig, asked chan canonicalwire.ProviderStreamRequest) {
		ctx, cancel := context.WithCancel(t.Context())
		a := ask(ctx, r.Providers()[0], said("hi"))
		id := (<-asked).StreamID
		tell(rig, id, 0, "started", `{}`)
		rig.Flush()
		cancel()
		<-a.done
		if a.response != nil || !errors.Is(a.err, context.Canceled) {
			t.Errorf("answer is %+v, %v", a.response, a.err)
		}
		told := rig.WaitTold(canonicalwire.MethodProviderCancel, 1)
		if !strings.Contains(string(told[0].Params), id) {
			t.Errorf("the cancellation is %s", told[0].Params)
		}
		tell(rig, id, 1, "text_delta", `{"text":"late"}`)
		rig.Ask(register, declares("q", "m")).OK(t, "")
	})
}

// EXT03-STREAM-018
func TestStream_boundsTime(t *testing.T) {
	options := provider.Options{Idle: time.Minute, Deadline: 5 * time.Minute}
	with(t, options, func(t *testing.T, r *provider.Registry, rig *extensiontest.Rig, asked chan canonicalwire.ProviderStreamRequest) {
		begin := time.Now()
		a := ask(t.Context(), r.Providers()[0], said("hi"))
		tell(rig, (<-asked).StreamID, 0, "started", `{}`)
		<-a.done
		failure(t, a.err, model.StreamStart, "has sent nothing for 1m0s")
		if took := time.Since(begin); took != time.Minute {
			t.Errorf("it took %v, want a minute", took)
		}
		rig.WaitTold(canonicalwire.MethodProviderCancel, 1)
	})
	with(t, options, func(t *testing.T, r *provider.Registry, rig *extensiontest.Rig, asked chan canonicalwire.ProviderStreamRequest) {
		begin := time.Now()
		a := ask(t.Context(), r.Providers()[0], said("hi"))
		id := (<-asked).StreamID
		tell(rig, id, 0, "started", `{}`)
		for i := 1; i < 12; i++ {
			tell(rig, id, i, "heartbeat", `{}`)
			time.Sleep(30 * time.Second)
		}
		<-a.done
		failure(t, a.err, model.StreamStart, "takes longer than 5m0s")
		if took := time.Since(begin); took < 5*time.Minute {
			t.Errorf("it took %v", took)
		}
	})
	with(t, provider.Options{}, func(t *testing.T, r *provider.Registry, rig *extensiontest.Rig, asked chan canonicalwire.ProviderStreamRequest) {
		held := make(chan struct{})
		done := make(chan error)
		go func() {
			_, err := r.Providers()[0].Stream(t.Context(), said("hi"), func(model.Delta) { <-held })
			done <- err
		}()
		id := (<-asked).StreamID
		tell(rig, id, 0, "started", `{}`)
		tell(rig, id, 1, "text_delta", `{"text":"a"}`)
		rig.Flush()
		synctest.Wait()
		for i := range 16384 + 1 { // nobody takes them
			tell(rig, id, i+2, "heartbeat", `{}`)
		}
		rig.Flush()
		close(held)
		failure(t, <-done, model.InterruptedInference, "faster than they are taken")
	})
}

// EXT03-STREAM-019, EXT03-RELOAD-004
func TestStream_endsWithItsProcess(t *testing.T) {
	with(t, provider.Options{}, func(t *testing.T, r *provider.Registry, rig *extensiontest.Rig, asked chan canonicalwire.ProviderStreamRequest) {
		p := r.Providers()[0]
		a := ask(t.Context(), p, said("hi"))
		tell(rig, (<-asked).StreamID, 0, "started", `{}`)
		rig.Flush()
		synctest.Wait() // the event has been taken, so the end comes behind it
		rig.Exit(1)
		<-a.done
		failure(t, a.err, model.StreamStart, "the extension has ended")
		_, err := p.Stream(t.Context(), said("again"), func(model.Delta) {})
		failure(t, err, model.BeforeGeneration, `extension "one" has ended`)
		rig.X.Close()
		if got := ids(t, r); len(got) > 0 {
			t.Errorf("offered are %v", got)
		}
		_, err = p.Stream(t.Context(), said("again"), func(model.Delta) {})
		failure(t, err, model.BeforeGeneration, `no extension serves the provider "p" any more`)
	})
}

func TestStream_asksNothingOfAProcessThatDrains(t *testing.T) {
	with(t, provider.Options{}, func(t *testing.T, r *provider.Registry, rig *extensiontest.Rig, _ chan canonicalwire.ProviderStreamRequest) {
		rig.X.Drain()
		_, err := r.Providers()[0].Stream(t.Context(), said("hi"), func(model.Delta) {})
		var f *model.Error
		if !errors.As(err, &f) || !f.Retry || f.Phase != model.BeforeGeneration {
			t.Errorf("error is %+v, want one that allows a retry: nothing was sent", err)
		}
		request := said("hi")
		request.Model = "none"
		_, err = r.Providers()[0].Stream(t.Context(), request, func(model.Delta) {})
		failure(t, err, model.BeforeGeneration, `has no model "none" any more`)
	})
}

func TestStream_refusesARequestThatIsLargerThanAFrame(t *testing.T) {
	with(t, provider.Options{}, func(t *testing.T, r *provider.Registry, rig *extensiontest.Rig, _ chan canonicalwire.ProviderStreamRequest) {
		_, err := r.Providers()[0].Stream(t.Context(), said(strings.Repeat("x", canonicalwire.MaxFrameBytes)), func(model.Delta) {})
		failure(t, err, model.BeforeGeneration, "")
		rig.Ask(register, declares("q", "m")).OK(t, "")
	})
}
