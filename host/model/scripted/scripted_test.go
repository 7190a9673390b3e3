package scripted_test

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/model"
	"github.com/octet-dev/octet/host/model/scripted"
)

func open(t *testing.T, text string) *scripted.Provider {
	t.Helper()
	script, err := scripted.Parse("demo.yaml", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return scripted.New(script, scripted.Options{})
}

// ask sends messages and returns the deltas with the answer.
func ask(t *testing.T, p model.Provider, request model.Request) (*model.Response, []model.Delta, error) {
	t.Helper()
	var deltas []model.Delta
	response, err := p.Stream(t.Context(), request, func(d model.Delta) { deltas = append(deltas, d) })
	return response, deltas, err
}

func said(text string) model.Request {
	return model.Request{Messages: []conversation.Message{conversation.Say(conversation.User, text)}}
}

func result(name, text string) conversation.Message {
	return conversation.Message{Role: conversation.Tool, Parts: []conversation.Part{{
		Kind: conversation.ToolResult, CallID: "x", Name: name, Content: []conversation.Part{conversation.TextPart(text)},
	}}}
}

func TestProvider_tour(t *testing.T) {
	script, err := scripted.Load(filepath.Join("testdata", "tour.yaml"))
	if err != nil {
		t.Fatal(err)
	}
	p := scripted.New(script, scripted.Options{})
	request := said("the weather?")
	request.Tools = []model.Tool{{Name: "weather"}}
	response, deltas, err := ask(t, p, request)
	if err != nil {
		t.Fatal(err)
	}
	want := []conversation.Part{
		{Kind: conversation.Reasoning, Text: "I should ask the tool."},
		conversation.TextPart("One moment."),
		{Kind: conversation.ToolCall, CallID: "call_1", Name: "weather", Arguments: json.RawMessage(`{"city":"Berlin","days":2,"exact":true,"notes":[null,1.5]}`)},
		{Kind: conversation.ToolCall, CallID: "second", Name: "weather", Arguments: json.RawMessage(`"{broken"`)},
	}
	if !reflect.DeepEqual(response.Message.Parts, want) {
		t.Errorf("answer is %+v, want %+v", response.Message.Parts, want)
	}
	if response.Stop != model.StopTools || !response.UsageKnown || response.Usage.Tokens() != 138 {
		t.Errorf("stop %q, usage %+v known %v", response.Stop, response.Usage, response.UsageKnown)
	}
	// 100 + 27*5 + 5*0.1 rounded up + 6*1.25 rounded up
	if cost := response.Usage.CostMicrodollars; cost == nil || *cost != 100+135+1+8 {
		t.Errorf("cost is %v, want 244", cost)
	}
	if first := deltas[0]; first.Text != "I sh" || first.Kind != conversation.Reasoning {
		t.Errorf("first delta is %+v, want four characters of reasoning", first)
	}
	joined := map[string]string{}
	for _, d := range deltas {
		joined[string(d.Kind)+d.CallID] += d.Text
	}
	if joined["text"] != "One moment." || joined["tool_callcall_1"] != string(want[2].Arguments) {
		t.Errorf("deltas join to %q", joined)
	}

	request.Messages = append(request.Messages, response.Message, result("weather", "sun"))
	response, _, err = ask(t, p, request)
	if err != nil || response.Message.PlainText() != "You asked the weather?; it says sun" || response.Stop != model.StopEnd {
		t.Errorf("second answer is %+v, %v", response, err)
	}

	tellsError(t, p, model.Error{Phase: model.BeforeGeneration, Status: 429, RetryAfter: 3 * time.Second, Retry: true, Message: "slow down"}, 0)
	tellsError(t, p, model.Error{Phase: model.InterruptedInference, Retry: true, UsageUnknown: true, Message: "the script breaks the request here"}, 1)
	tellsError(t, p, model.Error{Phase: model.WaitingForNetwork, Retry: true, Message: "the script breaks the request here"}, 0)

	response, _, err = ask(t, p, said("hi"))
	if err != nil || response.Stop != model.StopLength || response.UsageKnown {
		t.Errorf("cut answer is %+v, %v", response, err)
	}
	for range 3 { // the step that waits for a summary stays behind
		if response, _, err = ask(t, p, said("hi")); err != nil || response.Message.PlainText() != "Again." {
			t.Errorf("repeated answer is %+v, %v", response, err)
		}
	}
}

func tellsError(t *testing.T, p model.Provider, want model.Error, deltas int) {
	t.Helper()
	want.Provider = scripted.Name
	response, seen, err := ask(t, p, said("hi"))
	var got *model.Error
	if response != nil || !errors.As(err, &got) || *got != want || len(seen) != deltas {
		t.Errorf("answer is %+v, %d deltas, error %+v; want %d deltas and %+v", response, len(seen), err, deltas, want)
	}
}

func TestProvider_callIDsAreNewInTheConversation(t *testing.T) {
	p := open(t, "script: 1\nsteps: [{calls: [{name: a}, {name: a}], repeat: always}]")
	request, ids := said("go"), map[string]bool{}
	for range 3 {
		response, _, err := ask(t, p, request)
		if err != nil {
			t.Fatal(err)
		}
		for _, call := range response.Message.ToolCalls() {
			if ids[call.CallID] {
				t.Errorf("the id %q is given twice", call.CallID)
			}
			ids[call.CallID] = true
		}
		request.Messages = append(request.Messages, response.Message, result("a", "done"))
	}
}

func TestProvider_saysWhenTheScriptIsAtItsEnd(t *testing.T) {
	p := open(t, "script: 1\nsteps:\n  - text: one\n  - text: two\n")
	for range 2 {
		if _, _, err := ask(t, p, said("x")); err != nil {
			t.Fatal(err)
		}
	}
	_, _, err := ask(t, p, said("x"))
	want := "scripted: demo.yaml: request 3 finds no step: all 2 steps have answered, the last one stands on line 4; add a step, or repeat one"
	var failure *model.Error
	if !errors.As(err, &failure) || failure.Retry || failure.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
}

func TestProvider_saysWhenNoConditionHolds(t *testing.T) {
	p := open(t, "script: 1\nsteps:\n  - {when: {user_contains: rain}, text: one}\n  - {when: {result_of: a}, text: two}\n  - {when: {offers: b}, text: x}\n")
	request := said("sun")
	request.Messages = append(request.Messages, result("a", "sun"), conversation.Say(conversation.Assistant, "so"))
	_, _, err := ask(t, p, request)
	want := `scripted: demo.yaml: request 1 finds no step: 3 of 3 steps are left, and the conditions of none hold (last thing said by the user: "sun")`
	if err == nil || err.Error() != want {
		t.Errorf("error is %v, want %s", err, want)
	}
}

func TestProvider_waitsAndCanBeCancelled(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		p := open(t, "script: 1\nsteps: [{text: abcdef, delay: 1m, chunk: 2, pause: 10s, repeat: always}]")
		begin := time.Now()
		var at []time.Duration
		if _, err := p.Stream(t.Context(), said("x"), func(model.Delta) { at = append(at, time.Since(begin)) }); err != nil {
			t.Fatal(err)
		}
		if want := []time.Duration{time.Minute, 70 * time.Second, 80 * time.Second}; !reflect.DeepEqual(at, want) {
			t.Errorf("deltas come at %v, want %v", at, want)
		}
		ctx, cancel := context.WithCancel(t.Context())
		response, err := p.Stream(ctx, said("x"), func(model.Delta) { cancel() })
		if response != nil || !errors.Is(err, context.Canceled) {
			t.Errorf("cancelled between deltas: %v, %v", response, err)
		}
		ctx, cancel = context.WithTimeout(t.Context(), time.Second)
		defer cancel()
		if _, err = p.Stream(ctx, said("x"), func(model.Delta) { t.Error("a delta in spite of the timeout") }); !errors.Is(err, context.DeadlineExceeded) {
			t.Errorf("timed out in the delay: %v", err)
		}
	})
}

func TestLoad_namesAMissingFile(t *testing.T) {
	file := filepath.Join(t.TempDir(), "none.yaml")
	if _, err := scripted.Load(file); !errors.Is(err, os.ErrNotExist) || strings.Count(err.Error(), file) != 1 {
		t.Errorf("error is %v, want one that names the file once", err)
	}
}

func TestParse_boundsTheFile(t *testing.T) {
	text := "script: 1\nsteps: [{text: a}]\n#"
	fits := text + strings.Repeat("x", scripted.MaxFileBytes-len(text))
	if _, err := scripted.Parse("a.yaml", []byte(fits)); err != nil {
		t.Errorf("a file of the greatest size: %v", err)
	}
	if _, err := scripted.Parse("a.yaml", []byte(fits+"x")); err == nil {
		t.Error("a file that is one byte too long is read")
	}
}
