package call

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"sync/atomic"
	"time"

	"github.com/octet-dev/octet/bench/sample"
	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/discovery"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/supervise"
	"github.com/octet-dev/octet/process"
	"github.com/octet-dev/octet/runtime/canonical"
)

// Host is a host with all that it does for a call: arguments against the schema of the tool, deadlines, owners,
// events, media, the process under supervision.
type Host struct {
	fleet *supervise.Fleet
	pid   atomic.Int64
}

// Manifest writes the manifest of an extension that is this program in the role of ours.
func Manifest(dir, name, allocated string) error { return layOut(dir, name, Ours, allocated) }

// LoudManifest is Manifest of an extension that writes to its standard error without end when it is called with Flood.
func LoudManifest(dir, name string) error { return layOut(dir, name, loudName, os.DevNull) }

func layOut(dir, name, role, allocated string) error {
	self, err := os.Executable()
	if err != nil {
		return err
	}
	at := filepath.Join(dir, name)
	if err := os.MkdirAll(at, 0o700); err != nil {
		return err
	}
	text := fmt.Sprintf("name = %q\nversion = \"1.0.0\"\napi_version = %q\ndescription = %q\n\n"+
		"[entrypoint]\ncommand = %q\nargs = [%q, %q, %q]\n\n"+
		"[capabilities]\nfilesystem = \"none\"\nprocess = false\nnetwork = false\n\n[contributes]\ntools = [%q]\n",
		name, featurewire.Version04, toolDescription, self, childWord, role, allocated, toolName)
	return os.WriteFile(filepath.Join(at, "extension.toml"), []byte(text), 0o600)
}

// OpenHost starts the extensions of a directory, which have these names.
func OpenHost(ctx context.Context, dir string, names ...string) (*Host, error) {
	w := new(Host)
	var finder discovery.Discoverer
	found := finder.Discover(discovery.Places{Directories: []string{dir}})
	if len(found.Entries) != len(names) {
		return nil, fmt.Errorf("found %d of %d extensions: %v", len(found.Entries), len(names), found.Diagnostics)
	}
	product := supervise.Product{Workspace: dir, Options: func(*discovery.Entry, supervise.Launch) extension.Options {
		return extension.Options{Launch: func(o process.Options) (extension.Program, error) {
			p, err := process.Start(o)
			if err != nil {
				return nil, err
			}
			w.pid.Store(int64(p.PID()))
			return p, nil
		}}
	}}
	var members []supervise.Member
	for _, entry := range found.Entries {
		members = append(members, product.Member(entry))
	}
	w.fleet = supervise.NewFleet(members, supervise.FleetOptions{})
	w.fleet.Start(ctx)
	for _, s := range w.fleet.Status() {
		if s.State != supervise.Ready {
			err := fmt.Errorf("%s is %s: %s", s.Name, s.State, s.LastError)
			return nil, errors.Join(err, w.Close())
		}
	}
	return w, nil
}

// Close ends the extensions.
func (w *Host) Close() error {
	w.fleet.Close(supervise.ProductCap)
	return nil
}

// Call calls the only extension.
func (w *Host) Call(ctx context.Context, text string) error { return w.CallOn(ctx, toolName, text) }

// CallOn sends text to the extension of a name and demands that it comes back.
func (w *Host) CallOn(ctx context.Context, name, text string) error {
	arguments := canonical.AppendString(append(make([]byte, 0, len(text)+16), `{"text":`...), text)
	return w.fleet.Get(name).Use(ctx, func(ctx context.Context, on supervise.Running) error {
		result, err := on.Call(ctx, extension.Request{Tool: toolName, Arguments: append(arguments, '}')})
		if err != nil {
			return err
		}
		return same(result.Content[0].Text, text)
	})
}

func runWhole(ctx context.Context, lasts time.Duration, emit func(sample.Sample)) error {
	dir, err := os.MkdirTemp("", "octet-bench-")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	allocated := filepath.Join(dir, "allocated")
	extensions := filepath.Join(dir, "extensions")
	if err := Manifest(extensions, toolName, allocated); err != nil {
		return err
	}
	for _, shape := range shapes {
		w, err := OpenHost(ctx, extensions, toolName)
		if err != nil {
			return err
		}
		m := &meter{shape: shape, emit: emit}
		err = m.run(ctx, w, int(w.pid.Load()), lasts/time.Duration(len(shapes)))
		if err := errors.Join(err, w.Close()); err != nil {
			return fmt.Errorf("%s: %w", shape, err)
		}
		if err := m.allocations(allocated); err != nil {
			return err
		}
	}
	return nil
}
