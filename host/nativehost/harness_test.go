package nativehost_test

import (
	"bytes"
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/octet-dev/octet/host/discovery"
	"github.com/octet-dev/octet/host/model/registry"
	"github.com/octet-dev/octet/host/nativehost"
	"github.com/octet-dev/octet/host/selection"
)

// place is a workspace and a home, and the program that embeds the host.
type place struct {
	t         *testing.T
	workspace string
	home      string
	variables map[string]string
	told      []string // diagnostics
}

func newPlace(t *testing.T) *place {
	t.Helper()
	workspace, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	return &place{t: t, workspace: workspace, home: t.TempDir(), variables: map[string]string{}}
}

func (p *place) write(name, text string) string {
	p.t.Helper()
	path := filepath.Join(p.workspace, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o644); err != nil {
		p.t.Fatal(err)
	}
	return path
}

// event is one line of the host.
type event struct {
	ProtocolVersion int             `json:"protocol_version"`
	RequestID       *string         `json:"request_id"`
	Seq             int             `json:"seq"`
	Type            string          `json:"type"`
	RunID           string          `json:"run_id"`
	SessionID       string          `json:"session_id"`
	Data            json.RawMessage `json:"data"`
}

func (e event) decode(t *testing.T, into any) {
	t.Helper()
	if err := json.Unmarshal(e.Data, into); err != nil {
		t.Fatalf("%s: %v", e.Data, err)
	}
}

// fault is what a protocol_error says.
func (e event) fault(t *testing.T) (code, message string) {
	t.Helper()
	var data struct{ Code, Message string }
	e.decode(t, &data)
	return data.Code, data.Message
}

// host makes a host with an input.
func (p *place) host(in *bytes.Buffer, out *bytes.Buffer) *nativehost.Host {
	p.t.Helper()
	lookup := func(name string) (string, bool) { v, ok := p.variables[name]; return v, ok }
	models, err := registry.New(registry.Options{Home: p.home, Directory: p.workspace, Lookup: lookup})
	if err != nil {
		p.t.Fatal(err)
	}
	return nativehost.New(nativehost.Options{
		In: in, Out: out, Release: "0.8.0", Models: models,
		Machine:  selection.Machine{Home: p.home, Lookup: lookup, Discoverer: &discovery.Discoverer{}},
		Diagnose: func(text string) { p.told = append(p.told, text) },
	})
}

// talk sends lines and returns what the host answers, after checking what holds for every answer.
func (p *place) talk(input string) []event {
	p.t.Helper()
	var out bytes.Buffer
	if err := p.host(bytes.NewBufferString(input), &out).Serve(context.Background()); err != nil {
		p.t.Fatalf("the host ends with %v", err)
	}
	return events(p.t, out.Bytes())
}

// events reads what a host has written. MAN-NATIVE-002, MAN-NATIVE-003, MAN-NATIVE-004: the form of every line.
func events(t *testing.T, output []byte) []event {
	t.Helper()
	var list []event
	seq, last := 0, "\x00"
	for len(output) > 0 {
		line, rest, ok := bytes.Cut(output, []byte("\n"))
		if !ok || len(line)+1 > nativehost.MaxFrameBytes || !json.Valid(line) {
			t.Fatalf("a line of %d bytes is no frame: %.200q", len(line), line)
		}
		output = rest
		var e event
		if err := json.Unmarshal(line, &e); err != nil {
			t.Fatal(err)
		}
		id := "\x01"
		if e.RequestID != nil {
			id = *e.RequestID
		}
		if id != last || id == "\x01" || e.Seq == 1 {
			seq, last = 0, id
		}
		if seq++; e.ProtocolVersion != 1 || e.Seq != seq {
			t.Errorf("event %s has version %d and seq %d, want 1 and %d", line, e.ProtocolVersion, e.Seq, seq)
		}
		list = append(list, e)
	}
	return list
}

// request is a run with these further members, each behind a comma.
func (p *place) request(script string, members ...string) string {
	p.t.Helper()
	quoted, err := json.Marshal(p.workspace)
	if err != nil {
		p.t.Fatal(err)
	}
	line := `{"protocol_version":1,"request_id":"r","command":"run","run_id":"run-1","workspace":` + string(quoted) + `,"model":"scripted:` + script + `","prompt":"hello"`
	for _, m := range members {
		line += "," + m
	}
	return line + "}\n"
}

// types are the types of events, repeated ones once.
func types(list []event) string {
	var names []string
	for _, e := range list {
		if len(names) == 0 || names[len(names)-1] != e.Type {
			names = append(names, e.Type)
		}
	}
	return strings.Join(names, " ")
}

// final is the final_result, which must be the last event.
type final struct {
	Status, Output, SessionFile, Session string
	FilesChanged                         []string
	ToolCalls, Steps                     int
	Error                                *struct{ Code, Message string }
}

func result(t *testing.T, list []event) final {
	t.Helper()
	var f final
	if len(list) == 0 || list[len(list)-1].Type != "final_result" {
		t.Fatalf("events are %s, want a final_result at the end", types(list))
	}
	for _, e := range list[:len(list)-1] {
		if e.Type == "final_result" {
			t.Error("there are two final results")
		}
	}
	list[len(list)-1].decode(t, &f)
	return f
}

// hostOn makes a host on pipes.
func (p *place) hostOn(in io.Reader, out io.Writer) *nativehost.Host {
	p.t.Helper()
	models, err := registry.New(registry.Options{Directory: p.workspace})
	if err != nil {
		p.t.Fatal(err)
	}
	return nativehost.New(nativehost.Options{
		In: in, Out: out, Models: models,
		Machine: selection.Machine{Home: p.home, Lookup: os.LookupEnv, Discoverer: &discovery.Discoverer{}},
	})
}

// newServer runs a server until the test ends and returns its address.
func newServer(t *testing.T, handler http.HandlerFunc) string {
	t.Helper()
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	return server.URL
}
