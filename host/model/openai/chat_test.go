package openai_test

import (
	"encoding/json"
	"net/http"
	"reflect"
	"strings"
	"testing"

	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/model"
	"github.com/octet-dev/octet/host/model/modeltest"
	"github.com/octet-dev/octet/host/model/openai"
)

// talk is a conversation with everything in it.
func talk() model.Request {
	return model.Request{
		Model: "some-model", System: "Be brief.", MaxOutputTokens: 100, Reasoning: "high",
		Tools: []model.Tool{
			{Name: "look", Description: "Looks.", Parameters: json.RawMessage(`{"type":"object"}`)},
			{Name: "web/find.all", Parameters: json.RawMessage(`{"type":"object","properties":{"q":{"type":"string"}}}`)},
		},
		Messages: []conversation.Message{
			{Role: conversation.User, Parts: []conversation.Part{
				conversation.TextPart("see"),
				{Kind: conversation.Image, MediaType: "image/png", Data: []byte("png")},
				{Kind: conversation.Audio, MediaType: "audio/wav", Data: []byte("wav")},
				{Kind: conversation.Audio, MediaType: "audio/ogg", Data: []byte("ogg"), Text: "a bird"},
			}},
			{Role: conversation.Assistant, Parts: []conversation.Part{
				{Kind: conversation.Reasoning, Text: "hm", Signature: "openai:rs_1:sealed"},
				{Kind: conversation.Reasoning, Text: "foreign", Signature: "anthropic:x"},
				conversation.TextPart("I look."),
				{Kind: conversation.ToolCall, CallID: "a", Name: "look", Arguments: json.RawMessage(`{"at":1}`)},
				{Kind: conversation.ToolCall, CallID: "b", Name: "web/find.all", Arguments: json.RawMessage(`"{broken"`)},
			}},
			{Role: conversation.Tool, Parts: []conversation.Part{
				{Kind: conversation.ToolResult, CallID: "a", Name: "look", Content: []conversation.Part{{Kind: conversation.Image, MediaType: "image/png", Data: []byte("shot")}}},
			}},
			{Role: conversation.Tool, Parts: []conversation.Part{
				{Kind: conversation.ToolResult, CallID: "b", Name: "web/find.all", IsError: true, Content: []conversation.Part{conversation.TextPart("no object")}},
			}},
			conversation.Say(conversation.System, "The clock says noon."),
			{Role: conversation.Assistant, Parts: []conversation.Part{{Kind: conversation.Reasoning, Text: "only thoughts"}}},
			conversation.Say(conversation.User, "go on"),
		},
	}
}

// sent is the request that a server gets, without the tools.
func sent(t *testing.T, protocol, path string, options func(*openai.Options)) (body map[string]any, header http.Header) {
	t.Helper()
	server := modeltest.Serve(t, func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path != path {
			t.Errorf("the request goes to %s, want %s", r.URL.Path, path)
		}
		body, header = modeltest.Body(t, r), r.Header
		w.Header().Set("Content-Type", "text/event-stream")
		_, _ = w.Write([]byte(wire(protocol).Delta + wire(protocol).End))
	})
	o := openai.Options{BaseURL: server.URL + "/v1", Key: modeltest.Key, Protocol: protocol, Headers: map[string]string{"X-Extra": "extra"}}
	if options != nil {
		options(&o)
	}
	if _, _, err := modeltest.Ask(t.Context(), openai.New(o), talk()); err != nil {
		t.Fatal(err)
	}
	return body, header
}

func TestChat_request(t *testing.T) {
	body, header := sent(t, openai.Chat, "/v1/chat/completions", nil)
	if header.Get("Authorization") != "Bearer "+modeltest.Key || header.Get("X-Extra") != "extra" {
		t.Errorf("headers are %v", header)
	}
	modeltest.SameJSON(t, body, `{
		"model": "some-model", "stream": true, "stream_options": {"include_usage": true}, "max_tokens": 100, "reasoning_effort": "high",
		"messages": [
			{"role": "system", "content": "Be brief."},
			{"role": "user", "content": [
				{"type": "text", "text": "see"},
				{"type": "image_url", "image_url": {"url": "data:image/png;base64,cG5n"}},
				{"type": "input_audio", "input_audio": {"data": "d2F2", "format": "wav"}},
				{"type": "text", "text": "[audio left out: the model takes none; it is described as: a bird]"}
			]},
			{"role": "assistant", "content": "I look.", "tool_calls": [
				{"id": "a", "type": "function", "function": {"name": "look", "arguments": "{\"at\":1}"}},
				{"id": "b", "type": "function", "function": {"name": "web_find_all-15857ce62986", "arguments": "{\"invalid_arguments\":\"{broken\"}"}}
			]},
			{"role": "tool", "tool_call_id": "a", "content": "The answer follows in the next message."},
			{"role": "tool", "tool_call_id": "b", "content": "Error: no object"},
			{"role": "user", "content": [
				{"type": "text", "text": "What the tool look has answered in call a:"},
				{"type": "image_url", "image_url": {"url": "data:image/png;base64,c2hvdA=="}}
			]},
			{"role": "system", "content": "The clock says noon."},
			{"role": "user", "content": "go on"}
		],
		"tools": [
			{"type": "function", "function": {"name": "look", "description": "Looks.", "parameters": {"type": "object", "properties": {}}}},
			{"type": "function", "function": {"name": "web_find_all-15857ce62986", "parameters": {"type": "object", "properties": {"q": {"type": "string"}}}}}
		]
	}`)
}

func TestResponses_request(t *testing.T) {
	body, _ := sent(t, openai.Responses, "/v1/responses", nil)
	delete(body, "tools")
	modeltest.SameJSON(t, body, `{
		"model": "some-model", "stream": true, "store": false, "include": ["reasoning.encrypted_content"], "max_output_tokens": 100,
		"instructions": "Be brief.", "reasoning": {"effort": "high", "summary": "auto"},
		"input": [
			{"role": "user", "content": [
				{"type": "input_text", "text": "see"},
				{"type": "input_image", "detail": "auto", "image_url": "data:image/png;base64,cG5n"},
				{"type": "input_file", "filename": "audio.wav", "file_data": "data:audio/wav;base64,d2F2"},
				{"type": "input_text", "text": "[audio left out: the model takes none; it is described as: a bird]"}
			]},
			{"type": "reasoning", "id": "rs_1", "encrypted_content": "sealed", "summary": [{"type": "summary_text", "text": "hm"}]},
			{"role": "assistant", "content": "I look."},
			{"type": "function_call", "call_id": "a", "name": "look", "arguments": "{\"at\":1}"},
			{"type": "function_call", "call_id": "b", "name": "web_find_all-15857ce62986", "arguments": "{\"invalid_arguments\":\"{broken\"}"},
			{"type": "function_call_output", "call_id": "a", "output": [
				{"type": "input_text", "text": "(no output)"},
				{"type": "input_image", "image_url": "data:image/png;base64,c2hvdA=="}
			]},
			{"type": "function_call_output", "call_id": "b", "output": "Error: no object"},
			{"role": "system", "content": "The clock says noon."},
			{"role": "user", "content": [{"type": "input_text", "text": "go on"}]}
		]
	}`)
}

func answered(t *testing.T, protocol, body string) (*model.Response, []model.Delta) {
	t.Helper()
	server := modeltest.Server(t, 200, nil, body)
	request := talk()
	response, deltas, err := modeltest.Ask(t.Context(), wire(protocol).New(server.URL, nil, 0), request)
	if err != nil {
		t.Fatal(err)
	}
	return response, deltas
}

func chunk(delta, finish string) string {
	return event(`{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":` + delta + `,"finish_reason":` + finish + `}]}`)
}

func TestChat_answer(t *testing.T) {
	response, deltas := answered(t, openai.Chat, chunk(`{"reasoning_content":"I "}`, "null")+chunk(`{"reasoning":"think"}`, "null")+chunk(`{"content":"Look: "}`, "null")+chunk(`{"content":"ü"}`, "null")+
		chunk(`{"tool_calls":[{"index":0,"id":"call_x","type":"function","function":{"name":"web_find_all-15857ce62986","arguments":""}}]}`, "null")+
		chunk(`{"tool_calls":[{"index":0,"function":{"arguments":"{\"q\":"}},{"index":1,"id":"a","function":{"name":"look","arguments":"{oops"}}]}`, "null")+
		chunk(`{"tool_calls":[{"index":0,"function":{"arguments":"1}"}}]}`, "null")+
		chunk(`{"tool_calls":[{"index":1,"id":"other","function":{"name":"look"}}]}`, "null")+
		chunk(`{}`, `"tool_calls"`)+
		event(`{"id":"c","object":"chat.completion.chunk","choices":[],"usage":{"prompt_tokens":100,"completion_tokens":50,"total_tokens":150,"prompt_tokens_details":{"cached_tokens":60},"completion_tokens_details":{"reasoning_tokens":20}}}`)+
		"data: [DONE]\n\n")
	want := &model.Response{
		Message: conversation.Message{Role: conversation.Assistant, Parts: []conversation.Part{
			{Kind: conversation.Reasoning, Text: "I think"},
			conversation.TextPart("Look: ü"),
			{Kind: conversation.ToolCall, CallID: "call_x", Name: "web/find.all", Arguments: json.RawMessage(`{"q":1}`)},
			{Kind: conversation.ToolCall, CallID: "call_4", Name: "look", Arguments: json.RawMessage(`"{oops"`)},
			{Kind: conversation.ToolCall, CallID: "other", Name: "look", Arguments: json.RawMessage(`{}`)},
		}},
		Stop: model.StopTools, UsageKnown: true, Usage: conversation.Usage{Input: 40, Output: 30, CacheRead: 60, Reasoning: 20},
	}
	if !reflect.DeepEqual(response, want) {
		t.Errorf("answer is %+v\nwant %+v", response, want)
	}
	checkDeltas(t, response, deltas)
}

// checkDeltas demands that the deltas add up to the answer.
func checkDeltas(t *testing.T, response *model.Response, deltas []model.Delta) {
	t.Helper()
	told := map[string]string{}
	for _, d := range deltas {
		told[string(d.Kind)+d.CallID+d.Name] += d.Text
	}
	for _, part := range response.Message.Parts {
		key, want := string(part.Kind)+part.CallID+part.Name, part.Text
		if part.Kind == conversation.ToolCall {
			var raw string
			if want = string(part.Arguments); json.Unmarshal(part.Arguments, &raw) == nil {
				want = raw
			}
			if want == "{}" {
				want = ""
			}
		}
		if told[key] != want {
			t.Errorf("deltas of %s add up to %q, want %q", key, told[key], want)
		}
	}
}

func TestChat_stopReasonsAndUnknownUsage(t *testing.T) {
	for finish, want := range map[string]model.StopReason{
		"stop": model.StopEnd, "length": model.StopLength, "content_filter": model.StopFiltered, "anything": model.StopEnd,
	} {
		response, _ := answered(t, openai.Chat, chunk(`{"content":"x"}`, "null")+chunk(`{}`, `"`+finish+`"`))
		if response.Stop != want || response.UsageKnown {
			t.Errorf("finish_reason %q: stop %q, usage known %v; want %q and unknown", finish, response.Stop, response.UsageKnown, want)
		}
	}
	if response, _ := answered(t, openai.Chat, chunk(`{"refusal":"no"}`, `"stop"`)); response.Stop != model.StopFiltered || response.Message.PlainText() != "no" {
		t.Errorf("refusal becomes %+v", response)
	}
}

func TestResponses_answer(t *testing.T) {
	response, deltas := answered(t, openai.Responses, wire(openai.Responses).Begin+
		event(`{"type":"response.reasoning_summary_text.delta","item_id":"rs_2","output_index":0,"summary_index":0,"delta":"hm"}`)+
		event(`{"type":"response.output_text.delta","item_id":"m","output_index":1,"content_index":0,"delta":"Look"}`)+
		event(`{"type":"response.output_item.added","output_index":2,"item":{"type":"function_call","id":"fc","call_id":"new","name":"look","arguments":""}}`)+
		event(`{"type":"response.function_call_arguments.delta","item_id":"fc","output_index":2,"delta":"{\"at\":2}"}`)+
		event(strings.ReplaceAll(`{"type":"response.completed","response":{"id":"r","status":"completed","output":[{"type":"reasoning","id":"rs_2","encrypted_content":"seal","summary":[{"type":"summary_text","text":"hm"}]},
			{"type":"message","id":"m","role":"assistant","content":[{"type":"output_text","text":"Look","annotations":[]}]},
			{"type":"function_call","id":"fc","call_id":"new","name":"look","arguments":"{\"at\":2}"}],
			"usage":{"input_tokens":10,"input_tokens_details":{"cached_tokens":4},"output_tokens":8,"output_tokens_details":{"reasoning_tokens":5},"total_tokens":18}}}`, "\n", " ")))
	want := &model.Response{
		Message: conversation.Message{Role: conversation.Assistant, Parts: []conversation.Part{
			{Kind: conversation.Reasoning, Text: "hm", Signature: "openai:rs_2:seal"},
			conversation.TextPart("Look"),
			{Kind: conversation.ToolCall, CallID: "new", Name: "look", Arguments: json.RawMessage(`{"at":2}`)},
		}},
		Stop: model.StopTools, UsageKnown: true, Usage: conversation.Usage{Input: 6, CacheRead: 4, Output: 3, Reasoning: 5},
	}
	if !reflect.DeepEqual(response, want) {
		t.Errorf("answer is %+v\nwant %+v", response, want)
	}
	checkDeltas(t, response, deltas)
}

func TestResponses_incompleteAndFailed(t *testing.T) {
	response, _ := answered(t, openai.Responses, wire(openai.Responses).Delta+
		event(`{"type":"response.incomplete","response":{"id":"r","status":"incomplete","incomplete_details":{"reason":"max_output_tokens"},"output":[]}}`))
	if response.Stop != model.StopLength || response.UsageKnown {
		t.Errorf("answer is %+v", response)
	}
	server := modeltest.Server(t, 200, nil, event(`{"type":"response.failed","response":{"id":"r","status":"failed","error":{"code":"rate_limit_exceeded","message":"slower"}}}`))
	_, _, err := modeltest.Ask(t.Context(), wire(openai.Responses).New(server.URL, nil, 0), talk())
	if err == nil || err.Error() != "openai: status 429 too many requests: slower" {
		t.Errorf("error is %v", err)
	}
}

func TestChat_wordsOfErrors(t *testing.T) {
	for _, c := range []struct {
		status          int
		code, want      string
		retry, overflow bool
	}{
		{429, "insufficient_quota", "see the billing", false, false},
		{429, "rate_limit_exceeded", "429", true, false},
		{400, "context_length_exceeded", "400", false, true},
	} {
		server := modeltest.Server(t, c.status, http.Header{"Content-Type": {"application/json"}}, `{"error":{"message":"m","type":"t","code":"`+c.code+`"}}`)
		_, _, err := modeltest.Ask(t.Context(), wire(openai.Chat).New(server.URL, nil, 0), talk())
		failure, ok := err.(*model.Error)
		if !ok || failure.Retry != c.retry || failure.Overflow != c.overflow || !strings.Contains(failure.Message, c.want) {
			t.Errorf("%s: error is %+v", c.code, err)
		}
	}
}

func TestChat_refusesAToolWithoutSchema(t *testing.T) {
	request := talk()
	request.Tools[0].Parameters = json.RawMessage(`[]`)
	_, _, err := modeltest.Ask(t.Context(), wire(openai.Chat).New("http://127.0.0.1:1", nil, 0), request)
	if err == nil || err.Error() != `openai: the parameters of tool "look" are no JSON object` {
		t.Errorf("error is %v", err)
	}
}

func FuzzChat_answer(f *testing.F) { fuzz(f, openai.Chat) }

func FuzzResponses_answer(f *testing.F) { fuzz(f, openai.Responses) }

func fuzz(f *testing.F, protocol string) {
	w := wire(protocol)
	f.Add(w.Begin + w.Delta + w.End)
	f.Add(w.Begin + w.Overloaded)
	f.Add(chunk(`{"tool_calls":[{"index":-1,"id":"","function":{"name":"x","arguments":"{"}},{"index":-1,"id":"a"}]}`, `"stop"`))
	f.Add(event(`{"choices":[{"index":0,"delta":null,"finish_reason":"stop"}],"usage":{"prompt_tokens":-5,"completion_tokens":1e300}}`))
	f.Add(event(`{"type":"response.completed","response":{"output":[{"type":"function_call"},{"type":"reasoning"},null]}}`))
	f.Fuzz(func(t *testing.T, body string) {
		response, _, err := modeltest.Ask(t.Context(), w.New("http://fuzz.invalid", modeltest.Canned(body), 0), talk())
		modeltest.Sound(t, response, err)
	})
}
