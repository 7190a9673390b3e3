package web

import (
	"bufio"
	"errors"
	"io"
	"net/http"
	"net/http/httptest"
	"slices"
	"strings"
	"testing"
)

func events(text string) *Events {
	server := httptest.NewRecorder()
	_, _ = io.WriteString(server, text)
	body := server.Result().Body
	return &Events{body: body, lines: bufio.NewReader(body)}
}

func TestEvents(t *testing.T) {
	for text, want := range map[string][]string{
		"":                                nil,
		"data: a\n\n":                     {":a\n"},
		"data:a\n\ndata: b\n\n":           {":a\n", ":b\n"},
		"data:  a\n\n":                    {": a\n"},
		"event: x\ndata: a\ndata: b\n\n":  {"x:a\nb\n"},
		"event: x\r\ndata: a\r\n\r\n":     {"x:a\n"},
		": remark\n\nretry: 5\nid: 7\n\n": nil,
		"event: gone\n\ndata: a\n\n":      {":a\n"},
		"data\n\n":                        {":\n"},
		"data: a\n\ndata: half":           {":a\n"},
		"data: a\n\ndata: whole but unfinished\n":      {":a\n"},
		"data: " + strings.Repeat("x", 1<<20) + "\n\n": {":" + strings.Repeat("x", 1<<20) + "\n"},
	} {
		e := events(text)
		var got []string
		for e.Next() {
			got = append(got, e.Name()+":"+string(e.Data()))
		}
		if !slices.Equal(got, want) || e.Err() != nil || e.Next() {
			t.Errorf("%.60q gives %.60q and error %v, want %.60q", text, got, e.Err(), want)
		}
	}
}

func TestStream_asks(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		body, _ := io.ReadAll(r.Body)
		if r.URL.Path != "/v1/say" || r.Header.Get("X-Key") != "k" || r.Header.Get("Content-Type") != "application/json" || string(body) != "{\"a\":\"<&>\"}\n" {
			t.Errorf("asked at %s with %v: %s", r.URL.Path, r.Header, body)
		}
		_, _ = io.WriteString(w, "data: x\n\n")
	}))
	defer server.Close()
	for _, base := range []string{server.URL + "/v1", server.URL + "/v1/"} {
		e, err := Stream(t.Context(), server.Client(), base, "say", http.Header{"X-Key": {"k"}}, map[string]string{"a": "<&>"})
		if err != nil {
			t.Fatal(err)
		}
		if !e.Next() || string(e.Data()) != "x\n" {
			t.Errorf("got %q, %v", e.Data(), e.Err())
		}
		if err := e.Close(); err != nil {
			t.Error(err)
		}
	}
}

func TestStream_denied(t *testing.T) {
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Retry-After", "5")
		w.WriteHeader(http.StatusTooManyRequests)
		_, _ = io.WriteString(w, "slower")
	}))
	defer server.Close()
	_, err := Stream(t.Context(), server.Client(), server.URL, "say", nil, nil)
	var denied *Denial
	if !errors.As(err, &denied) || denied.Status != 429 || string(denied.Document) != "slower" || denied.Header.Get("Retry-After") != "5" {
		t.Errorf("error is %+v", err)
	}
}

func TestDecode(t *testing.T) {
	type known struct {
		Text  string `json:"text"`
		Count int64  `json:"count"`
	}
	for text, want := range map[string]known{
		`{"text":"a","count":2,"more":[]}`: {"a", 2},
		` {"text":5,"count":2}`:            {"", 2},
		`{"count":1e300,"text":"a"}`:       {"a", 0},
		`{"text":null}`:                    {},
	} {
		var got known
		if err := Decode([]byte(text), &got); err != nil || got != want {
			t.Errorf("%s gives %+v, %v, want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{``, `{`, `[1]`, `"a"`, `{"text":"a"} x`} {
		if err := Decode([]byte(text), &known{}); err == nil {
			t.Errorf("%s is read", text)
		}
	}
}
