package anthropic_test

import (
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/model"
	"github.com/octet-dev/octet/host/model/anthropic"
	"github.com/octet-dev/octet/host/model/modeltest"
)

// talk is a conversation with everything in it.
func talk() model.Request {
	return model.Request{
		Model: "claude-new", System: "Be brief.", MaxOutputTokens: 100, Reasoning: "high",
		Tools: []model.Tool{
			{Name: "look", Description: "Looks.", Parameters: json.RawMessage(`{"type":"object","properties":{"at":{"type":"integer"}},"required":["at"],"additionalProperties":false}`)},
			{Name: "web.find"},
		},
		Messages: []conversation.Message{
			{Role: conversation.User, Parts: []conversation.Part{
				conversation.TextPart("see"), conversation.TextPart("  "),
				{Kind: conversation.Image, MediaType: "image/png", Data: []byte("png")},
				{Kind: conversation.Audio, MediaType: "audio/wav", Data: []byte("wav")},
			}},
			{Role: conversation.Assistant, Parts: []conversation.Part{
				{Kind: conversation.Reasoning, Text: "hm", Signature: "anthropic:seal"},
				{Kind: conversation.Reasoning, Signature: "anthropic-redacted:dark"},
				{Kind: conversation.Reasoning, Text: "foreign", Signature: "openai:rs:x"},
				{Kind: conversation.Reasoning, Text: "unsigned"},
				conversation.TextPart("I look."),
				{Kind: conversation.ToolCall, CallID: "a", Name: "look", Arguments: json.RawMessage(`{"at":1}`)},
				{Kind: conversation.ToolCall, CallID: "b", Name: "web.find", Arguments: json.RawMessage(`[1]`)},
			}},
			conversation.Say(conversation.System, "The clock says noon."),
			{Role: conversation.Tool, Parts: []conversation.Part{
				{Kind: conversation.ToolResult, CallID: "a", Name: "look", Content: []conversation.Part{
					conversation.TextPart("there"), {Kind: conversation.Image, MediaType: "image/png", Data: []byte("shot")},
				}},
			}},
			{Role: conversation.Tool, Parts: []conversation.Part{{Kind: conversation.ToolResult, CallID: "b", Name: "web.find", IsError: true}}},
			conversation.Say(conversation.User, "go on"),
		},
	}
}

func sent(t *testing.T, request model.Request, catalog ...model.Info) (body map[string]any, header http.Header) {
	t.Helper()
	server := modeltest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != "/v1/messages" {
			t.Errorf("the request goes to %s", r.URL.Path)
		}
		body, header = modeltest.Body(t, r), r.Header
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write([]byte(wire().Begin + wire().Delta + wire().End))
	})
	p := anthropic.New(anthropic.Options{BaseURL: server.URL, Key: modeltest.Key, Catalog: catalog, Headers: map[string]string{"X-Extra": "extra"}})
	if _, _, err := modeltest.Ask(t.Context(), p, request); err != nil {
		t.Fatal(err)
	}
	return body, header
}

func TestProvider_request(t *testing.T) {
	body, header := sent(t, talk())
	if header.Get("Authorization") != "Bearer "+modeltest.Key || header.Get("X-Extra") != "extra" || header.Get("Anthropic-Version") == "" {
		t.Errorf("headers are %v", header)
	}
	modeltest.SameJSON(t, body, `{
		"model": "claude-new", "stream": true, "max_tokens": 100, "cache_control": {"type": "ephemeral"},
		"system": [{"type": "text", "text": "Be brief."}],
		"thinking": {"type": "adaptive", "display": "summarized"}, "output_config": {"effort": "high"},
		"messages": [
			{"role": "user", "content": [
				{"type": "text", "text": "see"},
				{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "cG5n"}},
				{"type": "text", "text": "[audio left out: the model takes none]"}
			]},
			{"role": "assistant", "content": [
				{"type": "thinking", "thinking": "hm", "signature": "seal"},
				{"type": "redacted_thinking", "data": "dark"},
				{"type": "text", "text": "I look."},
				{"type": "tool_use", "id": "a", "name": "look", "input": {"at": 1}},
				{"type": "tool_use", "id": "b", "name": "web_find-e3c242ea1c2c", "input": {"invalid_arguments": [1]}}
			]},
			{"role": "user", "content": [
				{"type": "tool_result", "tool_use_id": "a", "content": [
					{"type": "text", "text": "there"},
					{"type": "image", "source": {"type": "base64", "media_type": "image/png", "data": "c2hvdA=="}}
				]},
				{"type": "tool_result", "tool_use_id": "b", "is_error": true, "content": [{"type": "text", "text": "(no output)"}]},
				{"type": "text", "text": "<system>\nThe clock says noon.\n</system>"},
				{"type": "text", "text": "go on"}
			]}
		],
		"tools": [
			{"name": "look", "description": "Looks.", "input_schema": {"type": "object", "properties": {"at": {"type": "integer"}}, "required": ["at"], "additionalProperties": false}},
			{"name": "web_find-e3c242ea1c2c", "input_schema": {"type": "object"}}
		]
	}`)
}

func TestProvider_reasoningBudgets(t *testing.T) {
	for _, c := range []struct {
		model, label string
		most         int64
		want         string
	}{
		{"claude-sonnet-4-5", "low", 0, `{"type": "enabled", "budget_tokens": 4096}`},
		{"claude-sonnet-4-5", "high", 8000, `{"type": "enabled", "budget_tokens": 6000}`},
		{"claude-haiku-4-5-20251001", "high", 1000, `null`}, // too little to think in
		{"claude-opus-4-6", "low", 1000, `{"type": "adaptive", "display": "summarized"}`},
		{"claude-opus-4-6", "", 1000, `null`},
	} {
		request := talk()
		request.Model, request.Reasoning, request.MaxOutputTokens = c.model, c.label, c.most
		body, _ := sent(t, request, model.Info{Model: "claude-sonnet-4-5", MaxOutputTokens: 64000})
		modeltest.SameJSON(t, body["thinking"], c.want)
		if most := body["max_tokens"]; c.most == 0 && most != 64000.0 {
			t.Errorf("max_tokens is %v, want that of the catalog", most)
		}
	}
}

func answered(t *testing.T, body string) (*model.Response, []model.Delta) {
	t.Helper()
	server := modeltest.Server(t, 200, nil, body)
	response, deltas, err := modeltest.Ask(t.Context(), wire().New(server.URL, nil, 0), talk())
	if err != nil {
		t.Fatal(err)
	}
	return response, deltas
}

func block(index, start string, deltas ...string) string {
	text := event("content_block_start", `{"type":"content_block_start","index":`+index+`,"content_block":`+start+`}`)
	for _, d := range deltas {
		text += event("content_block_delta", `{"type":"content_block_delta","index":`+index+`,"delta":`+d+`}`)
	}
	return text + event("content_block_stop", `{"type":"content_block_stop","index":`+index+`}`)
}

func TestProvider_answer(t *testing.T) {
	response, deltas := answered(t, event("message_start", begin)+
		block("0", `{"type":"thinking","thinking":"","signature":""}`, `{"type":"thinking_delta","thinking":"h"}`, `{"type":"thinking_delta","thinking":"m"}`, `{"type":"signature_delta","signature":"seal"}`)+
		block("1", `{"type":"redacted_thinking","data":"dark"}`)+
		block("2", `{"type":"text","text":""}`, `{"type":"text_delta","text":"Look"}`, `{"type":"text_delta","text":": ü"}`)+
		block("3", `{"type":"tool_use","id":"new","name":"web_find-e3c242ea1c2c","input":{}}`, `{"type":"input_json_delta","partial_json":""}`, `{"type":"input_json_delta","partial_json":"{\"q\":"}`, `{"type":"input_json_delta","partial_json":"1}"}`)+
		block("4", `{"type":"tool_use","id":"a","name":"look","input":{}}`)+
		block("5", `{"type":"unheard_of"}`)+
		event("message_delta", `{"type":"message_delta","delta":{"stop_reason":"tool_use","stop_sequence":null},"usage":{"output_tokens":50,"output_tokens_details":{"thinking_tokens":20}}}`)+
		event("unheard_of", `{"type":"unheard_of"}`)+event("message_stop", stop))
	want := &model.Response{
		Message: conversation.Message{Role: conversation.Assistant, Parts: []conversation.Part{
			{Kind: conversation.Reasoning, Text: "hm", Signature: "anthropic:seal"},
			{Kind: conversation.Reasoning, Signature: "anthropic-redacted:dark"},
			conversation.TextPart("Look: ü"),
			{Kind: conversation.ToolCall, CallID: "new", Name: "web.find", Arguments: json.RawMessage(`{"q":1}`)},
			{Kind: conversation.ToolCall, CallID: "toolu_4", Name: "look", Arguments: json.RawMessage(`{}`)},
		}},
		Stop: model.StopTools, UsageKnown: true, Usage: conversation.Usage{Input: 12, Output: 30, Reasoning: 20, CacheRead: 7, CacheWrite: 5},
	}
	if !reflect.DeepEqual(response, want) {
		t.Errorf("answer is %+v\nwant %+v", response, want)
	}
	told := map[conversation.Kind]string{}
	for _, d := range deltas {
		told[d.Kind] += d.Text
	}
	if told[conversation.Reasoning] != "hm" || told[conversation.Text] != "Look: ü" || told[conversation.ToolCall] != `{"q":1}` {
		t.Errorf("deltas add up to %q", told)
	}
}

func TestProvider_stopReasons(t *testing.T) {
	for reason, want := range map[string]model.StopReason{
		"end_turn": model.StopEnd, "stop_sequence": model.StopEnd, "max_tokens": model.StopLength, "model_context_window_exceeded": model.StopLength,
		"refusal": model.StopFiltered, "pause_turn": model.StopEnd, "new_one": model.StopEnd,
	} {
		response, _ := answered(t, event("message_start", begin)+event("message_delta", `{"type":"message_delta","delta":{"stop_reason":"`+reason+`"},"usage":{"output_tokens":1}}`)+event("message_stop", stop))
		if response.Stop != want {
			t.Errorf("%s becomes %q, want %q", reason, response.Stop, want)
		}
	}
}

func TestProvider_wordsOfErrors(t *testing.T) {
	for _, c := range []struct {
		text, want string
		overflow   bool
	}{
		{"prompt is too long: 200001 tokens > 200000 maximum", "400", true},
		{"Your credit balance is too low", "see the billing", false},
	} {
		server := modeltest.Server(t, 400, http.Header{"Content-Type": {"application/json"}}, wire().Error(c.text))
		_, _, err := modeltest.Ask(t.Context(), wire().New(server.URL, nil, 0), talk())
		failure, ok := err.(*model.Error)
		if !ok || failure.Retry || failure.Overflow != c.overflow || !strings.Contains(failure.Message, c.want) {
			t.Errorf("%s: error is %+v", c.text, err)
		}
	}
}

func TestProvider_refusesWhatCannotBeSent(t *testing.T) {
	p := wire().New("http://127.0.0.1:1", nil, 0)
	if _, _, err := modeltest.Ask(t.Context(), p, model.Request{Model: "m"}); err == nil || err.Error() != "anthropic: the conversation is empty; say something first" {
		t.Errorf("empty conversation: %v", err)
	}
	request := talk()
	request.Tools[0].Parameters = json.RawMessage(`null`)
	if _, _, err := modeltest.Ask(t.Context(), p, request); err == nil || err.Error() != `anthropic: the parameters of tool "look" are no JSON object` {
		t.Errorf("tool without schema: %v", err)
	}
}

func FuzzProvider_answer(f *testing.F) {
	w := wire()
	f.Add(w.Begin + w.Delta + w.End)
	f.Add(w.Begin + w.Overloaded)
	f.Add(event("message_start", `{"type":"message_start","message":null}`) + block("-1", `{"type":"tool_use"}`) + event("message_stop", stop))
	f.Add(event("message_delta", `{"type":"message_delta","usage":{"output_tokens":-1,"input_tokens":1e300}}`) + event("message_stop", stop))
	f.Fuzz(func(t *testing.T, body string) {
		response, _, err := modeltest.Ask(t.Context(), w.New("http://fuzz.invalid", modeltest.Canned(body), 0), talk())
		modeltest.Sound(t, response, err)
	})
}
