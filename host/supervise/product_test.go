//go:build unix

package supervise

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/octet-dev/octet/host/diagnostic"
	"github.com/octet-dev/octet/host/discovery"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/fixture"
)

// playWord makes the test program play the extension of package fixture.
const playWord = "play-extension"

func TestMain(m *testing.M) {
	if len(os.Args) > 1 && os.Args[1] == playWord {
		fixture.Main([]string{playWord}, os.Args[2:])
	}
	os.Exit(m.Run())
}

// installed is an extension on disk whose faults may change between two starts.
type installed struct{ dir string }

// install writes an extension that runs the fixture, and finds it.
func install(t *testing.T, top string) (installed, *discovery.Entry) {
	t.Helper()
	root := t.TempDir()
	x := installed{dir: filepath.Join(root, "demo")}
	if err := os.Mkdir(x.dir, 0o700); err != nil {
		t.Fatal(err)
	}
	self, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	tools, _ := json.Marshal(fixture.Tools)
	x.write(t, "run", fmt.Sprintf("#!/bin/sh\nread -r words <\"$OCTET_EXTENSION_DIR/faults\"\nexec %q %s $words\n", self, playWord))
	x.write(t, "faults", "\n")
	x.write(t, "extension.toml", fmt.Sprintf(
		"name = \"demo\"\nversion = \"1.0.0\"\napi_version = \"0.4\"\n[entrypoint]\ncommand = \"run\"\n[contributes]\ntools = %s\n%s\n", tools, top))
	return x, x.find(t)
}

func (x installed) write(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(filepath.Join(x.dir, name), []byte(text), 0o700); err != nil {
		t.Fatal(err)
	}
}

func (x installed) faults(t *testing.T, words ...string) {
	t.Helper()
	x.write(t, "faults", strings.Join(words, " ")+"\n")
}

func (x installed) find(t *testing.T) *discovery.Entry {
	t.Helper()
	var d discovery.Discoverer
	snapshot := d.Discover(discovery.Places{Directories: []string{filepath.Dir(x.dir)}})
	entry := snapshot.Entry("demo")
	if entry == nil {
		t.Fatalf("not discovered: %v", snapshot.Diagnostics)
	}
	return entry
}

// run supervises an installed extension with a short first pause. The system may tell late that a process has ended.
func run(t *testing.T, entry *discovery.Entry) (*Fleet, *Supervisor, <-chan Change) {
	t.Helper()
	return runWith(t, entry, extension.Options{After: func(time.Duration) <-chan time.Time { return time.After(time.Minute) }})
}

func runWith(t *testing.T, entry *discovery.Entry, options extension.Options) (*Fleet, *Supervisor, <-chan Change) {
	t.Helper()
	steps := make(chan Change, 100)
	product := Product{Workspace: t.TempDir(), Options: func(*discovery.Entry, Launch) extension.Options { return options }}
	f := NewFleet([]Member{product.Member(entry)}, FleetOptions{
		Options:  Options{Timing: Timing{RestartBase: time.Millisecond}},
		OnChange: func(c Change) { steps <- c },
	})
	t.Cleanup(func() { f.Close(ProductCap) })
	return f, f.Get("demo"), steps
}

// until waits for a state.
func until(t *testing.T, steps <-chan Change, want State) Change {
	t.Helper()
	late := time.After(2 * time.Minute)
	for {
		select {
		case c := <-steps:
			if c.State == want {
				return c
			}
		case <-late:
			t.Fatalf("never became %s", want)
		}
	}
}

func echo(t *testing.T, s *Supervisor) {
	t.Helper()
	r, err := s.Call(t.Context(), extension.Request{Tool: "echo", Arguments: []byte(`{"text":"hello"}`)})
	if err != nil || strings.TrimSpace(r.Text()) != "hello" {
		t.Errorf("echo: %v, %v", r, err)
	}
}

// A real process that dies in a call costs that call, and comes back.
func TestProduct_crashAndReload(t *testing.T) {
	_, entry := install(t, "")
	f, s, steps := run(t, entry)
	if r := f.Start(t.Context())[0]; r.State != Ready || r.Generation != 1 {
		t.Fatalf("%+v", r)
	}
	until(t, steps, Ready)
	echo(t, s)
	var failure *extension.Failure
	if _, err := s.Call(t.Context(), extension.Request{Tool: "crash"}); !errors.As(err, &failure) || failure.Kind != extension.Closed {
		t.Errorf("the call that crashed it: %v", err)
	}
	if c := until(t, steps, Ready); c.Generation != 2 {
		t.Errorf("generation %d", c.Generation)
	}
	echo(t, s)
	status := s.Status()
	if !strings.Contains(status.LastError, "exit code 3") || status.Attempts != 1 || status.API != "0.4" || len(status.Features) == 0 ||
		len(status.Tools) != len(fixture.Tools) || status.Pending != 0 {
		t.Errorf("%+v", status)
	}
	if said, _ := s.Stderr().Entries(); !slices.ContainsFunc(said, func(d diagnostic.Diagnostic) bool { return d.Message == "panic: index out of range" }) {
		t.Errorf("standard error: %v", said)
	}
	r := f.Reload(t.Context(), "demo")
	if !r.Replaced || !r.Graceful || r.Generation != 3 {
		t.Errorf("reload: %+v", r)
	}
	echo(t, s)
	if x := f.Ready()[0]; x.Generation != 3 || x.Extension() == nil || x.InstanceID != status.InstanceID {
		t.Errorf("%+v", x)
	}
}

// MAN-DISCOVER-023: a manifest that changed is not run, and what runs goes on.
func TestProduct_changedManifest(t *testing.T) {
	x, entry := install(t, "")
	f, s, steps := run(t, entry)
	f.Start(t.Context())
	text, err := os.ReadFile(entry.ManifestPath)
	if err != nil {
		t.Fatal(err)
	}
	x.write(t, "extension.toml", string(text)+"notifications = true\n")
	if r := f.Reload(t.Context(), "demo"); r.Replaced || r.State != Ready || !errors.Is(r.Err, discovery.ErrSourceChanged) {
		t.Errorf("reload: %+v", r)
	}
	echo(t, s)
	if _, err := s.Call(t.Context(), extension.Request{Tool: "quit"}); err == nil {
		t.Error("quit answered")
	}
	until(t, steps, Parked)
	if got := s.Status(); got.Attempts != 1 || !strings.Contains(got.LastError, "changed") {
		t.Errorf("%+v", got)
	}
	if r := f.Rebuild(t.Context(), []Member{Product{Workspace: t.TempDir()}.Member(x.find(t))})[0]; r.State != Ready || r.Generation != 1 {
		t.Errorf("behind a new discovery: %+v", r)
	}
}

// MAN-RESTART-004: another version of the wire is no use to wait for; a hang and a bad answer may pass.
func TestProduct_startsThatFail(t *testing.T) {
	for _, c := range []struct {
		fault string
		parks bool
	}{{fixture.WrongAPI, true}, {fixture.Unselectable, true}, {fixture.WrongTools, true}, {fixture.RefuseInitialize, false}, {fixture.CrashAtStart, false}} {
		t.Run(c.fault, func(t *testing.T) {
			t.Parallel()
			x, entry := install(t, "")
			f, s, steps := run(t, entry)
			f.Start(t.Context())
			x.faults(t, c.fault)
			if _, err := s.Call(t.Context(), extension.Request{Tool: "crash"}); err == nil {
				t.Error("crash answered")
			}
			until(t, steps, Parked)
			if got := s.Status(); (got.Attempts == 1) != c.parks {
				t.Errorf("%d attempts, last error %s", got.Attempts, got.LastError)
			}
			x.faults(t)
			if r := f.Reload(t.Context(), "demo"); !r.Replaced || r.State != Ready {
				t.Errorf("reload: %+v", r)
			}
		})
	}
}

// patient deadlines make it plain that somebody waited.
var patient = extension.Deadlines{Shutdown: time.Minute, Exit: time.Minute, Terminate: time.Minute}

// MAN-SUPER-012, EXT04-SHUT-011: processes that ignore every request are gone within the limit, in service
// or not.
func TestProduct_signalCap(t *testing.T) {
	for _, faults := range [][]string{
		{fixture.IgnoreShutdown, fixture.IgnoreTerminate},
		{fixture.HangAtStart, fixture.IgnoreTerminate},
	} {
		t.Run(faults[0], func(t *testing.T) {
			t.Parallel()
			x, entry := install(t, "")
			x.faults(t, faults...)
			f, s, steps := runWith(t, entry, extension.Options{Deadlines: patient})
			started := make(chan Report, 1)
			go func() { started <- s.Start(t.Context()) }()
			if faults[0] == fixture.HangAtStart {
				until(t, steps, Initializing)
			} else {
				until(t, steps, Ready)
			}
			began := time.Now()
			f.Close(SignalCap)
			// The machine may be busy; what counts is that no stage of an orderly end was waited for.
			if took := time.Since(began); took > patient.Exit/2 {
				t.Errorf("took %s", took)
			}
			<-started
			wantState(t, s, Stopped)
		})
	}
}

// MAN-RUN-006, MAN-RUN-007, MAN-RUN-008: what a shared process is recognised by.
func TestProduct_share(t *testing.T) {
	const shared = "[runtime]\nlifecycle = \"workspace_service\"\nsharing = \"workspace\""
	product := Product{Workspace: "/w", Partition: "host"}
	x, entry := install(t, shared)
	first := product.Member(entry)
	if first.Share == "" || first.Lifecycle != "workspace_service" {
		t.Fatalf("not shared: %+v", first)
	}
	if again := product.Member(x.find(t)); again.Share != first.Share {
		t.Error("the same is not the same")
	}
	if other := (Product{Workspace: "/v", Partition: "host"}).Member(entry); other.Share == first.Share {
		t.Error("another workspace")
	}
	if other := (Product{Workspace: "/w", Partition: "serve"}).Member(entry); other.Share == first.Share {
		t.Error("another partition")
	}
	text, err := os.ReadFile(entry.ManifestPath)
	if err != nil {
		t.Fatal(err)
	}
	x.write(t, "extension.toml", string(text)+"# a remark\n")
	if other := product.Member(x.find(t)); other.Share == first.Share {
		t.Error("another manifest")
	}
	x.write(t, "run", "#!/bin/sh\n")
	if other := product.Member(entry); other.Share == first.Share {
		t.Error("another program")
	}
	if _, plain := install(t, ""); product.Member(plain).Share != "" {
		t.Error("one that did not ask for it is shared")
	}
	for _, command := range []string{"/bin/sh", "sh", "../demo/run", "away"} {
		x, _ := install(t, shared)
		text, _ := os.ReadFile(filepath.Join(x.dir, "extension.toml"))
		x.write(t, "extension.toml", strings.Replace(string(text), `command = "run"`, fmt.Sprintf("command = %q", command), 1))
		if err := os.Symlink("/bin/sh", filepath.Join(x.dir, "away")); err != nil {
			t.Fatal(err)
		}
		m := product.Member(x.find(t))
		if told, _ := m.Log.Entries(); m.Share != "" || len(told) != 1 || told[0].Level != diagnostic.Warning {
			t.Errorf("command %q: share %q, told %v", command, m.Share, told)
		}
	}
}
