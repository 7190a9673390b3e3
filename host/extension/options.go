package extension

import (
	"crypto/rand"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/process"
)

// Options say how to run an extension. The zero value is good.
type Options struct {
	// Workspace is the root that the extension works in and is started in; empty means the current
	// directory.
	Workspace string
	// Flags are values for flags of the manifest: name=value, or the name of a boolean alone.
	Flags []string
	// Environ looks up variables of the host. Nil means os.LookupEnv.
	Environ func(string) (string, bool)
	// ScratchRoot is where the scratch directory is made; empty means the system's place for such.
	ScratchRoot string
	// Deadlines bound every wait.
	Deadlines Deadlines
	// After is the clock of the process. Nil means time.After.
	After func(time.Duration) <-chan time.Time

	// Launch starts the program. Nil means StartProgram.
	Launch func(process.Options) (Program, error)

	// Bindings are the services of the host for this extension. Nothing that needs one is offered without.
	Bindings []Binding
	// Instance is the host-made name of this life of the host for the extension; a reload keeps it. Empty:
	// one is made.
	Instance string
	// Generation counts the processes of one instance, from 0.
	Generation int64
	// Host is the state that initialize shows.
	Host HostState
	// Foreground yields the opaque owner id of the session in front of the person, empty for none. Requests
	// that are about that session are refused on behalf of any other. Nil: there is none.
	Foreground func() string

	// Stderr is called for every line of standard error, in order.
	Stderr func(process.Line)
	// Notify is called for every notification that the manifest allows, in order.
	Notify func(Notification)
	// Diagnose is called for facts that hurt nobody and that an author wants to know. At most
	// maxDiagnostics of them are passed on.
	//
	// Notify, Diagnose and the progress functions of calls are called from one goroutine. While one runs
	// later events wait; when too many wait, some are dropped and a diagnostic says so.
	Diagnose func(text string)
}

// Deadlines bound the waits for an extension. Zero values mean those of the spec.
type Deadlines struct {
	Initialize time.Duration // for the answer to initialize
	Request    time.Duration // for the answer to a call
	Drain      time.Duration // for running calls when Close is called
	Shutdown   time.Duration // for the answer to shutdown
	Exit       time.Duration // for the end of the process after it
	Terminate  time.Duration // for the end of the tree after its input is closed, and again after the polite signal
	Kill       time.Duration // for the end of the tree after the signal that cannot be ignored
}

// terminateGrace and killGrace bound the last stages, for which the spec names no time: the first is
// short because the extension has had its chance, the second long because the system needs its own time.
const (
	terminateGrace = 500 * time.Millisecond
	killGrace      = 5 * time.Second
)

func (d Deadlines) filled() Deadlines {
	for _, each := range []struct {
		value    *time.Duration
		standard time.Duration
	}{
		{&d.Initialize, featurewire.RequestTimeoutMs * time.Millisecond},
		{&d.Request, featurewire.RequestTimeoutMs * time.Millisecond},
		{&d.Drain, featurewire.ShutdownReplyMs * time.Millisecond},
		{&d.Shutdown, featurewire.ShutdownReplyMs * time.Millisecond},
		{&d.Exit, featurewire.ExitMs * time.Millisecond},
		{&d.Terminate, terminateGrace},
		{&d.Kill, killGrace},
	} {
		if *each.value == 0 {
			*each.value = each.standard
		}
	}
	return d
}

// filled returns the options with every default in place.
func (o Options) filled() (Options, error) {
	if o.Environ == nil {
		o.Environ = os.LookupEnv
	}
	if o.After == nil {
		o.After = time.After
	}
	o.Deadlines = o.Deadlines.filled()
	if o.Launch == nil {
		o.Launch = StartProgram
	}
	if o.Instance == "" {
		o.Instance = rand.Text()
	}
	workspace, err := filepath.Abs(o.Workspace)
	if err != nil {
		return o, fmt.Errorf("workspace %q: %w", o.Workspace, err)
	}
	if info, err := os.Stat(workspace); err != nil || !info.IsDir() {
		return o, fmt.Errorf("workspace %q is not a directory", workspace)
	}
	o.Workspace = workspace
	return o, nil
}
