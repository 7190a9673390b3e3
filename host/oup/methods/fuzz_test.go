package methods_test

import (
	"bytes"
	"encoding/json"
	"io"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/host/discovery"
	"github.com/octet-dev/octet/host/engine"
	"github.com/octet-dev/octet/host/model"
	"github.com/octet-dev/octet/host/model/registry"
	"github.com/octet-dev/octet/host/oup/assembly"
	"github.com/octet-dev/octet/host/oup/server"
	"github.com/octet-dev/octet/host/oup/transport"
	"github.com/octet-dev/octet/host/selection"
	"github.com/octet-dev/octet/host/service/provider"
)

// FuzzMethods asks a whole server over standard streams for any method, with any params, in an open session. Every
// request gets one answer, every line keeps its model, and no answer says that the server failed.
func FuzzMethods(f *testing.F) {
	for i := range oupwire.Methods {
		f.Add(uint16(i), []byte(`{}`), uint16(i+1), []byte(`{"session_id":"local:lab"}`))
	}
	for _, params := range []string{
		`null`, `[]`, `{"session_id":""}`, `{"session_id":"local:lab","turn_id":"x","text":"t"}`, `{"session_id":"local:lab","limit":-1}`, `{"session_id":"local:lab#t","after":{"stream":"local:lab","seq":99}}`,
		`{"session_id":"a:b:c","include":["turns","messages"]}`, `{"session_id":"local:lab","num_turns":9007199254740991}`, `{"query":"*","session_id":"local:lab"}`,
	} {
		f.Add(uint16(3), []byte(params), uint16(9), []byte(params))
	}
	whole := served(f)
	f.Fuzz(func(t *testing.T, first uint16, params []byte, second uint16, more []byte) {
		if bytes.ContainsAny(append(params, more...), `/\`) {
			return // such params could name any file of this machine
		}
		input, in := io.Pipe()
		out := &answers{told: make(chan frame, 16)}
		done := make(chan error, 1)
		go func() { done <- whole.Serve(t.Context(), transport.NewStdio(input, out)) }()
		ask := func(id, method string, params []byte) {
			if !json.Valid(params) || bytes.ContainsAny(params, "\r\n") || method == oupwire.MethodServerShutdown {
				return
			}
			line := `{"jsonrpc":"2.0","id":"` + id + `","method":"` + method + `","params":` + string(params) + "}\n"
			if _, err := io.WriteString(in, line); err != nil {
				t.Fatal(err)
			}
			got := <-out.told
			if got.ID != nil && *got.ID != id {
				t.Errorf("%s is answered by %s", line, got.text)
			}
			if got.Error != nil && got.Error.Code == oupwire.CodeInternalError {
				t.Errorf("the server failed: %s%s", line, got.text)
			}
		}
		ask("hello", oupwire.MethodClientHello, []byte(`{}`))
		ask("open", oupwire.MethodSessionOpen, []byte(`{"session_id":"local:lab"}`))
		ask("first", oupwire.Methods[int(first)%len(oupwire.Methods)].Name, params)
		ask("second", oupwire.Methods[int(second)%len(oupwire.Methods)].Name, more)
		_ = in.Close()
		if err := <-done; err != nil {
			t.Error(err)
		}
		close(out.told)
		for got := range out.told {
			t.Errorf("there is one more answer: %s", got.text)
		}
	})
}

// answers is a standard output that hands on what has no method.
type answers struct{ told chan frame }

func (a *answers) Write(line []byte) (int, error) {
	got := frame{text: string(line)}
	if err := json.Unmarshal(line, &got); err != nil {
		return 0, err
	}
	if got.Method == "" {
		a.told <- got
	}
	return len(line), nil
}

func (*answers) Close() error { return nil }

// served is a server for all inputs of a target.
func served(f *testing.F) *server.Server {
	f.Helper()
	root, err := filepath.EvalSymlinks(f.TempDir())
	if err != nil {
		f.Fatal(err)
	}
	work := filepath.Join(root, "work")
	if err := os.Mkdir(work, 0o700); err != nil {
		f.Fatal(err)
	}
	thinking := &brain{gate: make(chan struct{}), reached: make(chan struct{}, 100), stopped: make(chan struct{}, 100)}
	a, err := assembly.Open(f.Context(), assembly.Options{
		DataDir: filepath.Join(root, "data"), Workspace: work, Local: true, Shutdown: func() {},
		Machine: selection.Machine{Home: root, Lookup: func(string) (string, bool) { return "", false }, Discoverer: &discovery.Discoverer{}},
		Models: func(func(string) (string, bool)) (engine.Models, *provider.Registry, error) {
			models, err := registry.New(registry.Options{
				Default: "brain:one", Extensions: func() []model.Provider { return []model.Provider{thinking} },
			})
			return models, nil, err
		},
		Log: func(error) {},
	})
	if err != nil {
		f.Fatal(err)
	}
	f.Cleanup(func() {
		if err := a.Close(transport.Restart, 10*time.Second); err != nil {
			f.Error(err)
		}
	})
	return a.Server
}
