package assembly_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/discovery"
	"github.com/octet-dev/octet/host/engine"
	"github.com/octet-dev/octet/host/model/registry"
	"github.com/octet-dev/octet/host/oup/assembly"
	"github.com/octet-dev/octet/host/oup/ledger"
	"github.com/octet-dev/octet/host/oup/protocol"
	"github.com/octet-dev/octet/host/oup/transport"
	"github.com/octet-dev/octet/host/selection"
	"github.com/octet-dev/octet/host/service/provider"
)

const script = `script: 1
steps:
  - text: Hello there.
    usage: {input: 10, output: 3}
`

// desk is a server with a data directory of its own.
type desk struct {
	t    *testing.T
	data string
	*assembly.Assembly
}

func options(t *testing.T, root string) assembly.Options {
	t.Helper()
	file := filepath.Join(root, "script.yaml")
	if err := os.WriteFile(file, []byte(script), 0o600); err != nil {
		t.Fatal(err)
	}
	work := filepath.Join(root, "work")
	if err := os.MkdirAll(work, 0o700); err != nil {
		t.Fatal(err)
	}
	return assembly.Options{
		DataDir: filepath.Join(root, "data"), Workspace: work, Model: "scripted:" + file, Release: "test", Shutdown: func() {},
		Machine: selection.Machine{Home: root, Lookup: func(string) (string, bool) { return "", false }, Discoverer: &discovery.Discoverer{}},
		Models: func(lookup func(string) (string, bool)) (engine.Models, *provider.Registry, error) {
			models, err := registry.New(registry.Options{Lookup: lookup})
			return models, nil, err
		},
		Log: func(err error) { t.Log("logged: ", err) },
	}
}

func open(t *testing.T, o assembly.Options) *desk {
	t.Helper()
	a, err := assembly.Open(t.Context(), o)
	if err != nil {
		t.Fatal(err)
	}
	d := &desk{t: t, data: o.DataDir, Assembly: a}
	t.Cleanup(d.close)
	return d
}

func (d *desk) close() {
	if err := d.Close(transport.Restart, 10*time.Second); err != nil {
		d.t.Error(err)
	}
}

// caller is a program that embeds the server.
type caller struct {
	t *testing.T
	*transport.Memory
	count int
}

func (d *desk) connect(features ...string) *caller {
	d.t.Helper()
	far, done := d.Server.Connect(context.Background(), features...)
	d.t.Cleanup(func() {
		_ = far.Close(transport.Ended)
		<-done
	})
	return &caller{t: d.t, Memory: far}
}

// call returns the answer, and passes over what is told meanwhile.
func (c *caller) call(method, params string) (result json.RawMessage, failure *oupwire.ErrorObject) {
	c.t.Helper()
	c.count++
	id := fmt.Sprint(c.count)
	if err := c.Send([]byte(fmt.Sprintf(`{"jsonrpc":"2.0","id":%q,"method":%q,"params":%s}`, id, method, params))); err != nil {
		c.t.Fatal(err)
	}
	for {
		text, err := c.Read()
		if err != nil {
			c.t.Fatal(err)
		}
		var frame struct {
			ID     *string
			Result json.RawMessage
			Error  json.RawMessage
		}
		if err := json.Unmarshal(text, &frame); err != nil {
			c.t.Fatal(err)
		}
		switch {
		case frame.ID == nil || *frame.ID != id:
		case frame.Error != nil:
			object, err := oupwire.DecodeErrorObject(frame.Error)
			if err != nil {
				c.t.Fatalf("%s: %v", frame.Error, err)
			}
			return nil, &object
		default:
			row := oupwire.LookupRequest(method)
			if err := oupwire.ValidateModel(row.Shapes[0].Result, frame.Result); err != nil {
				c.t.Errorf("%s answers %s, which breaks its model: %v", method, frame.Result, err)
			}
			return frame.Result, nil
		}
	}
}

// ok returns the result as a map.
func (c *caller) ok(method, params string) map[string]any {
	c.t.Helper()
	result, failure := c.call(method, params)
	if failure != nil {
		c.t.Fatalf("%s %s fails: %+v", method, params, failure)
	}
	var m map[string]any
	if err := json.Unmarshal(result, &m); err != nil {
		c.t.Fatal(err)
	}
	return m
}

// TestOpen_advertisesWhatItServesAndSaysWhyNotTheRest: OUP-CAPABILITY rules; every row of the protocol is one or the other.
func TestOpen_advertisesWhatItServesAndSaysWhyNotTheRest(t *testing.T) {
	d := open(t, options(t, t.TempDir()))
	var all []string
	for _, f := range oupwire.Features {
		all = append(all, f.Name)
	}
	c := d.connect(all...)
	result, failure := c.call(oupwire.MethodConfigCapabilitiesList, "{}")
	if failure != nil {
		t.Fatal(failure)
	}
	listed, err := oupwire.DecodeConfigCapabilitiesListResult(result)
	if err != nil {
		t.Fatal(err)
	}
	why := map[string]string{}
	for _, u := range listed.Capabilities.Unsupported.Or(nil) {
		why[u.Method] = u.Reason.Or("")
	}
	for _, m := range oupwire.Methods {
		if m.Notification || m.Direction != wirejson.ClientToServer {
			continue
		}
		reason, refused := why[m.Name]
		if supported := slices.Contains(listed.Capabilities.SupportedMethods, m.Name); supported == refused {
			t.Errorf("%s: supported %v, refused %v", m.Name, supported, refused)
		}
		if refused && (reason == "" || reason == protocol.Text("default_unsupported_reason") || strings.Contains(reason, "needs the feature")) {
			t.Errorf("%s is refused because it %q", m.Name, reason)
		}
		if _, failure := c.call(m.Name, `{}`); refused && (failure == nil || failure.Code != oupwire.CodeMethodNotSupported && failure.Code != oupwire.CodePermissionDenied) {
			t.Errorf("%s is listed as unsupported and answers %+v", m.Name, failure)
		} else if !refused && failure != nil && failure.Code == oupwire.CodeMethodNotSupported {
			t.Errorf("%s is listed as supported and answers %+v", m.Name, failure)
		}
	}
}

// TestOpen_takesTheDirectoryAlone: OUP-LEDGER rules of the lock, and that nothing is left running.
func TestOpen_takesTheDirectoryAlone(t *testing.T) {
	root := t.TempDir()
	before := runtime.NumGoroutine()
	d := open(t, options(t, root))
	_, err := assembly.Open(t.Context(), options(t, root))
	var locked *ledger.LockedError
	if !errors.As(err, &locked) || locked.PID != os.Getpid() {
		t.Errorf("a second server gets %v", err)
	}
	c := d.connect()
	c.ok(oupwire.MethodSessionOpen, `{"session_id":"lab"}`)
	c.ok(oupwire.MethodTurnStart, `{"session_id":"lab","turn_id":"7d0c2f1e-5a0b-4a57-9a60-0d2f5f6c1a01","input":[{"kind":"text","text":"Hello"}]}`)
	for {
		text, err := c.Read()
		if err != nil {
			t.Fatal(err)
		}
		if strings.Contains(string(text), `"type":"turn_terminal"`) {
			break
		}
	}
	d.close()
	if _, err := c.Read(); err == nil {
		t.Error("the connection is still open")
	}
	for limit := time.Now().Add(time.Minute); runtime.NumGoroutine() > before; runtime.Gosched() {
		if time.Now().After(limit) {
			stacks := make([]byte, 1<<20)
			t.Fatalf("goroutines are left: %s", stacks[:runtime.Stack(stacks, true)])
		}
	}
	again := open(t, options(t, root))
	opened := again.connect().ok(oupwire.MethodSessionOpen, `{"session_id":"lab"}`)["opened"].(map[string]any)
	if seq := opened["cursor"].(map[string]any)["seq"].(float64); seq < 5 {
		t.Errorf("behind a restart the ledger goes on at %v", seq)
	}
}

// TestOpen_keepsTheWorkspaceApart: OUP-OPEN-004, of the workspace of sessions whose client names none, as programs that
// embed the server have it. Nothing is made.
func TestOpen_keepsTheWorkspaceApart(t *testing.T) {
	root := t.TempDir()
	o := options(t, root)
	aside := t.TempDir()
	inner := filepath.Join(o.Workspace, "inner")
	if err := os.Mkdir(inner, 0o700); err != nil {
		t.Fatal(err)
	}
	link := filepath.Join(aside, "link")
	if err := os.Symlink(inner, link); err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct{ work, data string }{
		{root, filepath.Join(root, "data")},
		{root, root},
		{o.Workspace, root},
		{o.Workspace, filepath.Join(link, "data", "deep")}, // not there yet, behind a link into the workspace
		{link, o.Workspace},                                // a link into the data directory
	} {
		o.Workspace, o.DataDir = c.work, c.data
		_, err := assembly.Open(t.Context(), o)
		var near *assembly.NearError
		if !errors.As(err, &near) || !strings.Contains(err.Error(), c.work) || !strings.Contains(err.Error(), c.data) {
			t.Errorf("the workspace %s is served with the data in %s: %v", c.work, c.data, err)
		}
		for _, name := range []string{"data", "ledger.db", "work/ledger.db", "work/inner/data"} {
			if _, err := os.Lstat(filepath.Join(root, name)); !errors.Is(err, fs.ErrNotExist) {
				t.Errorf("%s is made: %v", name, err)
			}
		}
	}
}

func TestOpen_refusesWhatIsMissing(t *testing.T) {
	if _, err := assembly.Open(t.Context(), assembly.Options{}); err == nil {
		t.Error("a server of nothing is opened")
	}
	root := t.TempDir()
	o := options(t, root)
	o.Workspace = filepath.Join(o.Workspace, "none")
	if _, err := assembly.Open(t.Context(), o); err == nil {
		t.Error("a server without its workspace is opened")
	}
	open(t, options(t, root)) // what was taken before the failure was given back
}
