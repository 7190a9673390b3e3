package anthropic_test

import (
	"fmt"
	"net/http"
	"testing"
	"time"

	"github.com/octet-dev/octet/host/model"
	"github.com/octet-dev/octet/host/model/anthropic"
	"github.com/octet-dev/octet/host/model/modeltest"
)

func event(kind, data string) string { return "event: " + kind + "\ndata: " + data + "\n\n" }

const (
	begin = `{"type":"message_start","message":{"id":"msg","type":"message","role":"assistant","content":[],"model":"m","stop_reason":null,"stop_sequence":null,"usage":{"input_tokens":12,"cache_creation_input_tokens":5,"cache_read_input_tokens":7,"output_tokens":1}}}`
	stop  = `{"type":"message_stop"}`
)

func wire() modeltest.Wire {
	return modeltest.Wire{
		New: func(baseURL string, transport http.RoundTripper, idle time.Duration) model.Provider {
			return anthropic.New(anthropic.Options{
				BaseURL: baseURL, Key: modeltest.Key, KeySource: "TEST_KEY", Transport: transport, Idle: idle,
				Headers: map[string]string{"X-Extra": "extra"},
			})
		},
		Begin: event("message_start", begin) + event("ping", `{"type":"ping"}`) + event("content_block_start", `{"type":"content_block_start","index":0,"content_block":{"type":"text","text":""}}`),
		Delta: event("content_block_delta", `{"type":"content_block_delta","index":0,"delta":{"type":"text_delta","text":"Hello"}}`),
		End: event("content_block_stop", `{"type":"content_block_stop","index":0}`) +
			event("message_delta", `{"type":"message_delta","delta":{"stop_reason":"end_turn","stop_sequence":null},"usage":{"output_tokens":9}}`) + event("message_stop", stop),
		Error: func(message string) string {
			return fmt.Sprintf(`{"type":"error","error":{"type":"invalid_request_error","message":%q}}`, message)
		},
		Overloaded: event("error", `{"type":"error","error":{"type":"overloaded_error","message":"too much to do"}}`),
	}
}

func TestProvider_faults(t *testing.T) { modeltest.Faults(t, wire()) }
