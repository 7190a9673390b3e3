package openai_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/octet-dev/octet/host/model"
	"github.com/octet-dev/octet/host/model/modeltest"
	"github.com/octet-dev/octet/host/model/openai"
)

func wire(protocol string) modeltest.Wire {
	w := modeltest.Wire{
		New: func(baseURL string, transport http.RoundTripper, idle time.Duration) model.Provider {
			return openai.New(openai.Options{
				BaseURL: baseURL, Key: modeltest.Key, KeySource: "TEST_KEY", Protocol: protocol, Transport: transport, Idle: idle,
				Headers: map[string]string{"X-Extra": "extra"},
			})
		},
		Error: func(message string) string {
			return fmt.Sprintf(`{"error":{"message":%q,"type":"invalid_request_error","param":null,"code":null}}`, message)
		},
		Overloaded: `data: {"error":{"message":"too much to do","type":"overloaded","code":null}}` + "\n\n",
	}
	if protocol == openai.Responses {
		w.Begin = event(`{"type":"response.created","sequence_number":0,"response":{"id":"r","status":"in_progress","output":[]}}`)
		w.Delta = event(`{"type":"response.output_text.delta","item_id":"m","output_index":0,"content_index":0,"delta":"Hello","sequence_number":1}`)
		w.End = event(`{"type":"response.completed","sequence_number":2,"response":{"id":"r","status":"completed","output":[{"type":"message","id":"m","role":"assistant","status":"completed","content":[{"type":"output_text","text":"Hello","annotations":[]}]}]}}`)
		return w
	}
	w.Begin = event(`{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}]}`)
	w.Delta = event(`{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{"content":"Hello"},"finish_reason":null}]}`)
	w.End = event(`{"id":"c","object":"chat.completion.chunk","choices":[{"index":0,"delta":{},"finish_reason":"stop"}]}`) + "data: [DONE]\n\n"
	return w
}

func event(data string) string { return "data: " + data + "\n\n" }

func TestChat_faults(t *testing.T) { modeltest.Faults(t, wire(openai.Chat)) }

func TestResponses_faults(t *testing.T) { modeltest.Faults(t, wire(openai.Responses)) }
