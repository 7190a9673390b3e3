// Package extension runs one extension: from its directory to a live process, the whole conversation with
// it, and down again in stages. A broken extension costs its caller an error and nothing else: no request
// waits without a bound, and nothing is left running.
//
// Load reads and judges the manifest. Start launches the process, offers what the bindings stand behind,
// and holds the answer to the offer and the manifest. Close asks for an orderly end and takes the whole
// process tree down if that is not honoured.
//
// A request of the host: Call, Execute, RunHook and their like build the params of the version and judge
// the result; Do makes any other one. Beneath, ask sends it under a deadline, known by its id as a HostCall
// until it is settled. Notify refuses what was not negotiated or subscribed.
//
// A request of the extension: the connection judges id, number and openness; correlate finds the live
// request of the host, or the owner, that it belongs to, by the class that the spec gives its method; a
// worker is waited for; then the Handler of the binding answers. It ends together with what it belongs to.
package extension

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	goruntime "runtime"
	"strings"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/process"
	"github.com/octet-dev/octet/runtime/manifest"
	"github.com/octet-dev/octet/runtime/manifest/folder"
	"github.com/octet-dev/octet/runtime/manifest/launch"
)

// Source is an extension as it lies on disk: judged, and not started.
type Source struct {
	Folder   *folder.Folder
	Manifest *manifest.Manifest
	Warnings []manifest.Problem
	// Origin says where it was found; empty means that it was named explicitly.
	Origin featurewire.ExtensionSource
}

// Load reads the manifest of a directory. The error is a *folder.Error if there is none to judge, and a
// *ManifestError if it has errors.
func Load(dir string) (*Source, error) {
	opened, err := folder.Open(dir, folder.LoadLimit)
	if err != nil {
		return nil, err
	}
	verdict := opened.Judge()
	if !verdict.OK() {
		return nil, &ManifestError{Path: opened.ManifestPath, Verdict: verdict}
	}
	return &Source{Folder: opened, Manifest: verdict.Manifest, Warnings: verdict.Problems}, nil
}

var errMissing = errors.New("extension entrypoint is missing")

// program plans the start of the process.
func (s *Source) program(o *Options, scratch string) (process.Options, error) {
	path, err := s.Executable(o.Environ)
	if err != nil {
		return process.Options{}, fmt.Errorf("%w: %q", err, s.Manifest.Entrypoint.Command)
	}
	wire := launch.Wire{
		APIVersion: s.Manifest.API, Name: s.Manifest.Name, Dir: s.Folder.Dir, ManifestPath: s.Folder.ManifestPath,
		Workspace: o.Workspace, Scratch: scratch,
	}
	environment := launch.Environment{
		Host: o.Environ, Entrypoint: s.Manifest.Entrypoint.Env, Brokered: s.Manifest.Capabilities.Environment, Wire: wire,
	}
	return process.Options{
		Path: path, Args: s.Manifest.Entrypoint.Args, Dir: o.Workspace, Env: environment.List(),
		// Nobody else has this scratch directory, so it marks the descendants of this start.
		Tag:    wire.ScratchEntry(),
		Stderr: process.StderrOptions{OnLine: o.Stderr},
		After:  o.After,
	}, nil
}

// Executable looks at the places where the entry point may be, and runs nothing. The variables are those of
// the host; the error says that the entry point is missing.
func (s *Source) Executable(environ func(string) (string, bool)) (string, error) {
	for _, candidate := range launch.Candidates(s.Manifest.Entrypoint.Command, s.Folder.Dir, search(environ)) {
		info, err := os.Stat(candidate.Path)
		if err != nil || !info.Mode().IsRegular() {
			continue
		}
		if candidate.Search && goruntime.GOOS != "windows" && info.Mode().Perm()&0o111 == 0 {
			continue
		}
		return candidate.Path, nil
	}
	return "", errMissing
}

func search(environ func(string) (string, bool)) launch.Search {
	path, _ := environ("PATH")
	found := launch.Search{Path: filepath.SplitList(path)}
	if goruntime.GOOS == "windows" {
		extensions, _ := environ("PATHEXT")
		found.Extensions = strings.Split(strings.ToLower(extensions), ";")
	}
	return found
}
