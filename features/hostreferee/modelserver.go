package hostreferee

import (
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"strconv"
	"strings"
	"sync"
	"time"
)

// Bounds of a model server.
const (
	maxModelRequests     = 64
	maxModelRequestBytes = 4 << 20
)

// modelTurn is one answer of the model.
type modelTurn struct {
	text   string
	calls  []modelCall
	status int  // over 0: the request fails with it
	holds  bool // the answer never comes; the request ends with its client
}

// modelCall is a call of a tool by the name that its extension gives it.
type modelCall struct {
	tool      string
	arguments string // JSON
}

// modelRequest is what a host asked of the model.
type modelRequest struct {
	body  string
	tools []string // as they are advertised
	came  time.Time
}

// modelServer plays an OpenAI-compatible server of one model on the loopback interface.
type modelServer struct {
	server *http.Server
	base   string
	// heard is called behind every change of the requests.
	heard func()

	mu       sync.Mutex // guards the fields below
	turns    []modelTurn
	requests []modelRequest
	missing  []string // tools that a turn calls and the host did not advertise
	calls    int
}

// modelText is what the model says when its script has no turn for a request.
const modelText = "The model has spoken."

func serveModel(heard func()) (*modelServer, error) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		return nil, err
	}
	s := &modelServer{base: "http://" + l.Addr().String() + "/v1", heard: heard}
	mux := http.NewServeMux()
	mux.HandleFunc("POST /v1/chat/completions", s.complete)
	mux.HandleFunc("GET /v1/models", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		// A client that is gone is told nothing.
		_, _ = io.WriteString(w, `{"object":"list","data":[{"id":"`+modelName+`","object":"model"}]}`)
	})
	s.server = &http.Server{Handler: mux, ReadHeaderTimeout: 10 * time.Second}
	go func() { _ = s.server.Serve(l) }()
	return s, nil
}

// modelName is the one model of the server.
const modelName = "conform"

// close ends the server and every request that it holds.
func (s *modelServer) close() { _ = s.server.Close() }

// will adds an answer to the script.
func (s *modelServer) will(t modelTurn) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.turns = append(s.turns, t)
}

// asked returns the requests so far.
func (s *modelServer) asked() []modelRequest {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]modelRequest(nil), s.requests...)
}

// lacked are the tools that the script calls and that were not advertised.
func (s *modelServer) lacked() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return append([]string(nil), s.missing...)
}

func (s *modelServer) complete(w http.ResponseWriter, r *http.Request) {
	body, err := io.ReadAll(io.LimitReader(r.Body, maxModelRequestBytes))
	if err != nil {
		return
	}
	var asked struct {
		Stream bool `json:"stream"`
		Tools  []struct {
			Function struct {
				Name string `json:"name"`
			} `json:"function"`
		} `json:"tools"`
	}
	if err := json.Unmarshal(body, &asked); err != nil {
		http.Error(w, `{"error":{"message":"the request is no JSON object"}}`, http.StatusBadRequest)
		return
	}
	request := modelRequest{body: string(body), came: time.Now()}
	for _, tool := range asked.Tools {
		request.tools = append(request.tools, tool.Function.Name)
	}
	turn, over := s.next(request)
	s.heard()
	switch {
	case over:
		http.Error(w, `{"error":{"message":"too many requests for one scenario"}}`, http.StatusBadRequest)
	case turn.holds:
		<-r.Context().Done()
	case turn.status > 0:
		http.Error(w, `{"error":{"message":"the model fails, as the scenario wants"}}`, turn.status)
	default:
		s.answer(w, turn, request.tools, asked.Stream)
	}
}

// next keeps a request and takes its answer from the script.
func (s *modelServer) next(request modelRequest) (turn modelTurn, over bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if len(s.requests) >= maxModelRequests {
		return turn, true
	}
	s.requests = append(s.requests, request)
	if len(s.turns) == 0 {
		return modelTurn{text: modelText}, false
	}
	turn, s.turns = s.turns[0], s.turns[1:]
	return turn, false
}

// advertised finds the name under which a host advertises a tool: its own, or one that ends in it.
func advertised(tool string, names []string) (string, bool) {
	found, ends := "", false
	for _, name := range names {
		if name == tool {
			return name, true
		}
		if strings.HasSuffix(name, tool) {
			found, ends = name, true
		}
	}
	return found, ends
}

// answer writes a turn as a stream of server-sent events, or as one object.
func (s *modelServer) answer(w http.ResponseWriter, turn modelTurn, tools []string, stream bool) {
	var calls []map[string]any
	for i, call := range turn.calls {
		name, found := advertised(call.tool, tools)
		s.mu.Lock()
		if !found {
			s.missing = append(s.missing, call.tool)
		}
		s.calls++
		id := "call-" + strconv.Itoa(s.calls)
		s.mu.Unlock()
		if found {
			calls = append(calls, map[string]any{
				"index": i, "id": id, "type": "function", "function": map[string]any{"name": name, "arguments": call.arguments},
			})
		}
	}
	text, reason := turn.text, "stop"
	if calls != nil {
		reason = "tool_calls"
	} else if text == "" {
		text = modelText
	}
	message := map[string]any{"role": "assistant", "content": text}
	if calls != nil {
		message["tool_calls"] = calls
	}
	usage := map[string]any{"prompt_tokens": 7, "completion_tokens": 3, "total_tokens": 10}
	head := map[string]any{"id": "chatcmpl-conform", "created": 1, "model": modelName}
	frame := func(kind string, more map[string]any) []byte {
		all := map[string]any{"object": kind}
		for _, o := range []map[string]any{head, more} {
			for name, v := range o {
				all[name] = v
			}
		}
		b, err := json.Marshal(all)
		if err != nil {
			panic(fmt.Sprintf("hostreferee: a model's answer without a JSON form: %v", err))
		}
		return b
	}
	if !stream {
		w.Header().Set("Content-Type", "application/json")
		_, _ = w.Write(frame("chat.completion", map[string]any{
			"choices": []any{map[string]any{"index": 0, "message": message, "finish_reason": reason}}, "usage": usage,
		}))
		return
	}
	w.Header().Set("Content-Type", "text/event-stream")
	const kind = "chat.completion.chunk"
	for _, more := range []map[string]any{
		{"choices": []any{map[string]any{"index": 0, "delta": message, "finish_reason": nil}}},
		{"choices": []any{map[string]any{"index": 0, "delta": map[string]any{}, "finish_reason": reason}}},
		{"choices": []any{}, "usage": usage},
	} {
		// A client that is gone is told nothing.
		_, _ = fmt.Fprintf(w, "data: %s\n\n", frame(kind, more))
	}
	_, _ = io.WriteString(w, "data: [DONE]\n\n")
}
