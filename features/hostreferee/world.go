// Package hostreferee judges hosts: it lets a host start our extensions, sound ones and faulty ones, listens to
// every frame, and says what the host did wrong.
//
// How a host is told what to do is its adapter: a command in which {extension}, {tool} and {arguments} stand
// for the directory of the extension, a tool of it, and a JSON object. It starts the extension, calls the tool
// once, prints the text of the result, ends the extension, and exits with 0 if all of that went well. An
// interrupt cancels the call.
package hostreferee

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/features/faultypeer"
	"github.com/octet-dev/octet/features/tap"
	"github.com/octet-dev/octet/features/verdict"
	"github.com/octet-dev/octet/features/wire"
	"github.com/octet-dev/octet/runtime/manifest"
)

// Placeholders of an adapter.
const (
	PlaceExtension = "{extension}"
	PlaceTool      = "{tool}"
	PlaceArguments = "{arguments}"
)

// Setup says which host is judged, and how.
type Setup struct {
	Dialect dialect.Dialect
	Adapter []string // program and arguments, with placeholders
	Host    HostFunc // what Adapter starts, where it runs in this process; nil: a process
	Talk    *Talk    // nil: the host holds no conversations
	Env     []string // changes to our environment for the host: NAME=value sets, NAME alone removes
	Self    string   // a program that plays peers when it is called with host-peer; absolute
	// Wait bounds a host that hangs; Grace what may be left of an extension once the host has ended.
	Wait, Grace time.Duration
	// Seed decides schedules.
	Seed int64
}

// extensionName is the name of every extension that a host is given, and of its directory.
const extensionName = "peer"

// canary is a variable that no extension may see.
const canary = "OCTET_CONFORM_CANARY"

// world is the state of one scenario.
type world struct {
	setup *Setup
	fault faultypeer.Fault // the zero value is the sound peer
	root  string           // of the scenario's files
	token string           // what the tool is given, and says back

	peers *peers
	host  *hostRun
	talk  *talk // nil where the host is not talked with

	asking asking
	stage  // of an extension that follows a script
}

// hostRun is what came of running the host.
type hostRun struct {
	code           int
	stdout, stderr string
	hung           bool
}

// given makes the extension.
func (w *world) given(doc string) error {
	if doc != "" {
		var found bool
		if w.fault, found = faultOf(w.setup.Dialect, doc); !found {
			return errored("no faulty peer of API %s %s", w.setup.Dialect.API(), doc)
		}
	}
	dir := filepath.Join(w.root, extensionName)
	if err := os.Mkdir(dir, 0o755); err != nil {
		return errored("%v", err)
	}
	return w.writeManifest()
}

// writeManifest writes the manifest as it follows from all that is known of the extension by now.
func (w *world) writeManifest() error {
	path := filepath.Join(w.root, extensionName, manifest.FileName())
	return errorOf(os.WriteFile(path, []byte(w.manifest()), 0o600))
}

// faultOf finds a faulty peer of a wire by what it does.
func faultOf(d dialect.Dialect, doc string) (faultypeer.Fault, bool) {
	for _, f := range faultypeer.Faults() {
		if f.Doc == doc && (f.API == dialect.CanonicalAPI) == d.Canonical() {
			return f, true
		}
	}
	return faultypeer.Fault{}, false
}

// manifest is that of the extension: what it declares goes with its fault.
func (w *world) manifest() string {
	fault := w.fault.Name
	if fault == "" {
		fault = "none"
	}
	api := w.setup.Dialect.API()
	args := []string{"host-peer", "--report-to", w.peers.address(), "--", w.setup.Self, "faulty-peer", fault, "--api", api}
	args = w.asking.argue(args)
	contributes := dialect.Contributions(w.fault.Contributes())
	if w.script != nil {
		args, contributes = w.plotted()
	}
	var b strings.Builder
	// Texts, lists of texts and booleans are spelled alike in JSON and TOML.
	entrypoint := []any{w.setup.Self}
	for _, arg := range args {
		entrypoint = append(entrypoint, arg)
	}
	fmt.Fprintf(&b, "name = %q\nversion = \"1.0.0\"\napi_version = %q\n", extensionName, api)
	fmt.Fprintf(&b, "[entrypoint]\ncommand = %s\nargs = %s\n[contributes]\n", dialect.Encode(entrypoint[0]), dialect.Encode(entrypoint[1:]))
	w.asking.contribute(w.setup.Dialect, contributes)
	for _, name := range slices.Sorted(maps.Keys(contributes)) {
		fmt.Fprintf(&b, "%s = %s\n", name, dialect.Encode(contributes[name]))
	}
	b.WriteString(w.asking.grants())
	return b.String()
}

// run runs the host until it ends or hangs. when is called with every frame that arrives, and returns true to
// interrupt the host, once.
func (w *world) run(ctx context.Context, tool, arguments string, when func(wire.Frame) bool) error {
	argv := slices.Clone(w.setup.Adapter)
	for i := range argv {
		argv[i] = strings.NewReplacer(
			PlaceExtension, filepath.Join(w.root, extensionName), PlaceTool, tool, PlaceArguments, arguments,
		).Replace(argv[i])
	}
	env := append(slices.Clone(w.setup.Env), canary+"=seen")
	h, err := w.setup.start(argv, w.root, env)
	if err != nil {
		return errored("%v", err)
	}
	interrupt := make(chan struct{}, 1)
	w.peers.watch(func(f wire.Frame) {
		if when != nil && when(f) {
			select {
			case interrupt <- struct{}{}:
			default:
			}
		}
	})
	w.host = h.wait(ctx, w.setup.Wait, interrupt)
	return w.settled(ctx)
}

// settled waits for the extensions of a host that was waited for.
func (w *world) settled(ctx context.Context) error {
	w.peers.settle(w.setup.Grace)
	if ctx.Err() != nil {
		return errored("interrupted")
	}
	if w.host.hung {
		return &outcome{class: verdict.NoAnswer, text: fmt.Sprintf("the host did not end within %s", w.setup.Wait)}
	}
	return nil
}

// start starts the host for one call.
func (s *Setup) start(argv []string, dir string, env []string) (*startedHost, error) {
	if s.Host != nil {
		return startInside(s.Host, argv, dir, env), nil
	}
	return startHost(argv, dir, env, false)
}

// outcome is the end of a scenario at a step.
type outcome struct {
	class  verdict.Class
	text   string
	blamed []verdict.Finding // rules that are broken; none: all of the scenario
}

func (o *outcome) Error() string { return o.text }

// wrong adds what one row of a table has found. The first text stands for all.
func (o *outcome) wrong(rule, text string) {
	if o.text == "" {
		o.class, o.text = verdict.Fail, text
	}
	if rule != "" {
		o.blamed = append(o.blamed, verdict.Finding{Rule: rule, Message: text, Frame: -1, Offset: -1})
	}
}

// orNil is the outcome as an error, nil where nothing was wrong.
func (o *outcome) orNil() error {
	if o.text == "" {
		return nil
	}
	return o
}

func failed(format string, args ...any) error {
	return &outcome{class: verdict.Fail, text: fmt.Sprintf(format, args...)}
}

func errored(format string, args ...any) error {
	return &outcome{class: verdict.Errored, text: fmt.Sprintf(format, args...)}
}

// findings are what the host broke while it spoke. What the peer breaks is its part in the play.
func (w *world) findings() []tap.Finding {
	var out []tap.Finding
	for _, sub := range w.subs {
		out = append(out, sub.findings()...)
	}
	for _, f := range w.peers.found() {
		if f.By == wire.ToSubject {
			out = append(out, f)
		}
	}
	return out
}

func (w *world) close() {
	w.endTalk()
	for _, sub := range w.subs {
		sub.close()
	}
	w.peers.close()
	// What a subject left open is the system's to clean up.
	_ = os.RemoveAll(w.root)
}

func newWorld(setup *Setup) (*world, error) {
	root, err := os.MkdirTemp("", "octet-host-")
	if err != nil {
		return nil, err
	}
	p, err := listen(root)
	if err != nil {
		_ = os.RemoveAll(root)
		return nil, err
	}
	return &world{setup: setup, root: root, peers: p, token: "token-" + filepath.Base(root)}, nil
}
