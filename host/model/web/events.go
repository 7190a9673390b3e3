package web

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// Denial is an answer that is no stream: the server says no, in a document of its own.
type Denial struct {
	Status   int
	Header   http.Header
	Document []byte // as much of it as is read of such answers
}

func (e *Denial) Error() string { return fmt.Sprintf("status %d", e.Status) }

// Stream posts a document and returns the events of the answer, which are to be closed. A server that says no is a *Denial.
// The paths of the base URL and of the operation are joined by one slash.
func Stream(ctx context.Context, client *http.Client, base, path string, header http.Header, document any) (*Events, error) {
	var body bytes.Buffer
	encoder := json.NewEncoder(&body)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(document); err != nil {
		return nil, err
	}
	request, err := http.NewRequestWithContext(ctx, http.MethodPost, at(base, path), &body)
	if err != nil {
		return nil, err
	}
	request.Header.Set("Content-Type", "application/json")
	request.Header.Set("Accept", "text/event-stream")
	dress(request, header)
	response, err := client.Do(request)
	if err != nil {
		return nil, err
	}
	if response.StatusCode >= http.StatusBadRequest {
		defer func() { _ = response.Body.Close() }()
		denied := &Denial{Status: response.StatusCode, Header: response.Header}
		// What says no stays a no where its document is cut off or too long.
		if denied.Document, err = io.ReadAll(response.Body); err != nil && !errors.Is(err, io.ErrUnexpectedEOF) && !errors.Is(err, errLarge) {
			return nil, err
		}
		return nil, denied
	}
	return &Events{body: response.Body, lines: bufio.NewReader(response.Body)}, nil
}

// Get is the request for what lies at a path below the base URL, joined to it as Stream does.
func Get(ctx context.Context, base, path string, header http.Header) (*http.Request, error) {
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, at(base, path), nil)
	if err != nil {
		return nil, err
	}
	dress(request, header)
	return request, nil
}

func at(base, path string) string { return strings.TrimSuffix(base, "/") + "/" + path }

func dress(request *http.Request, header http.Header) {
	request.Header.Set("User-Agent", "octet")
	for name, values := range header {
		request.Header[http.CanonicalHeaderKey(name)] = values
	}
}

// Events reads a stream of server-sent events. What it has read so far is bounded by the client of this package.
type Events struct {
	body  io.ReadCloser
	lines *bufio.Reader
	name  string
	data  []byte
	err   error
}

// Next reads one event with data. It is false at the end of the stream, also in the middle of an event, and on an error.
func (e *Events) Next() bool {
	e.name, e.data = "", nil
	for e.err == nil {
		line, err := e.lines.ReadBytes('\n')
		if err != nil { // what has no end of line is half of one
			e.err = err
			break
		}
		line = bytes.TrimSuffix(line[:len(line)-1], []byte{'\r'})
		field, value, _ := bytes.Cut(line, []byte(":"))
		value = bytes.TrimPrefix(value, []byte(" "))
		switch {
		case len(line) == 0 && len(e.data) > 0:
			return true
		case len(line) == 0:
			e.name = ""
		case string(field) == "event":
			e.name = string(value)
		case string(field) == "data":
			e.data = append(append(e.data, value...), '\n')
		}
	}
	return false
}

// Name is what the event is called; empty if it is not.
func (e *Events) Name() string { return e.name }

// Data are the data of the event. They are the caller's.
func (e *Events) Data() []byte { return e.data }

// Err is why the stream ended; nil if the server ended it.
func (e *Events) Err() error {
	if e.err == io.EOF {
		return nil
	}
	return e.err
}

// Close gives the connection up.
func (e *Events) Close() error { return e.body.Close() }

// Decode reads the JSON object of an event into what is known of it. Members of another type than they should have are left
// out, since servers that speak a protocol nearly are worth listening to.
func Decode(data []byte, into any) error {
	err := json.Unmarshal(data, into)
	var kind *json.UnmarshalTypeError
	if errors.As(err, &kind) && bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("{")) {
		return nil
	}
	return err
}
