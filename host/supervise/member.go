package supervise

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/manifestdoc"
	"github.com/octet-dev/octet/host/diagnostic"
	"github.com/octet-dev/octet/host/discovery"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/process"
	"github.com/octet-dev/octet/runtime/frame"
	"github.com/octet-dev/octet/runtime/manifest"
	"github.com/octet-dev/octet/runtime/peer"
)

// Product says how the extensions of one product are started.
type Product struct {
	// Workspace is the canonical root that they work in.
	Workspace string
	// Partition keeps the processes of products apart that trust differently. Sheet: manifest 2.8.
	Partition string
	// Options makes the options of one start; nil means none but those that follow. Instance, Generation
	// and Workspace are set by the member; Stderr and Diagnose are called beside its logs.
	Options func(entry *discovery.Entry, launch Launch) extension.Options
}

// Member is a discovered extension as one to supervise. Its manifest is read again before every start.
//
// Rule: MAN-DISCOVER-023.
func (p Product) Member(entry *discovery.Entry) Member {
	m := Member{
		Name: entry.Name, Recheck: entry.Recheck, Lifecycle: entry.Manifest.Runtime.Lifecycle,
		Log: &diagnostic.Log{}, Stderr: &diagnostic.Log{},
	}
	if share, err := p.share(entry); err == nil {
		m.Share = share
	} else if shared(entry.Manifest) {
		m.Log.Add(diagnostic.Diagnostic{
			Level: diagnostic.Warning, Path: entry.ManifestPath, Message: "its process is not shared: " + err.Error(),
			Remedy: "keep the entry point beside the manifest",
		})
	}
	source := &extension.Source{
		Folder: entry.Folder, Manifest: entry.Manifest, Warnings: entry.Warnings,
		Origin: featurewire.ExtensionSource(entry.Scope),
	}
	m.Start = func(ctx context.Context, launch Launch) (Instance, error) {
		var options extension.Options
		if p.Options != nil {
			options = p.Options(entry, launch)
		}
		options.Workspace, options.Instance, options.Generation = p.Workspace, launch.InstanceID, launch.Generation
		options.Launch = launched(options.Launch, launch.Launched)
		m.logged(&options)
		x, err := extension.Start(ctx, source, options)
		if err != nil {
			return nil, judged(err)
		}
		return x, nil
	}
	return m
}

// launched makes a start tell when the process runs.
func launched(start func(process.Options) (extension.Program, error), tell func(kill func())) func(process.Options) (extension.Program, error) {
	if start == nil {
		start = extension.StartProgram
	}
	return func(o process.Options) (extension.Program, error) {
		program, err := start(o)
		if err == nil {
			tell(program.Kill)
		}
		return program, err
	}
}

// logged makes an extension write into the logs of the member as well.
func (m *Member) logged(o *extension.Options) {
	stderr, diagnose := o.Stderr, o.Diagnose
	path := "extension " + m.Name
	o.Stderr = func(line process.Line) {
		m.Stderr.Add(diagnostic.Diagnostic{Level: diagnostic.Info, Path: path, Message: line.Text})
		if stderr != nil {
			stderr(line)
		}
	}
	o.Diagnose = func(text string) {
		m.Log.Add(diagnostic.Diagnostic{Level: diagnostic.Info, Path: path, Message: text})
		if diagnose != nil {
			diagnose(text)
		}
	}
}

// judged marks errors of a start that the same files would meet again: an answer to initialize that breaks
// a rule or the manifest. An extension that answers with an error may have a better day.
func judged(err error) error {
	var failure *extension.Failure
	var answer *peer.Error
	var framing *frame.Error
	if errors.As(err, &failure) && failure.Kind == extension.Initialize && !errors.As(err, &answer) && !errors.As(err, &framing) {
		return Permanent(err)
	}
	return err
}

func shared(m *manifest.Manifest) bool {
	return m.Runtime.Sharing == manifestdoc.RuntimeSharingWorkspace
}

var errNotBeside = errors.New("its entry point does not lie beside its manifest")

// share identifies a process that may outlive a rebuild: the same workspace, the same trust, the same
// manifest and the same bytes of an entry point that nobody else could have put there. It is empty for an
// extension that did not ask for it.
func (p Product) share(entry *discovery.Entry) (string, error) {
	if !shared(entry.Manifest) {
		return "", nil
	}
	if filepath.IsAbs(entry.Manifest.Entrypoint.Command) {
		return "", errNotBeside
	}
	root, err := os.OpenRoot(filepath.Dir(entry.ManifestPath))
	if err != nil {
		return "", err
	}
	defer func() { _ = root.Close() }()
	program, err := root.Open(filepath.FromSlash(entry.Manifest.Entrypoint.Command))
	if err != nil {
		return "", fmt.Errorf("%w: %w", errNotBeside, err)
	}
	defer func() { _ = program.Close() }()
	if info, err := program.Stat(); err != nil || !info.Mode().IsRegular() {
		return "", errNotBeside
	}
	sum := sha256.New()
	for _, part := range []string{entry.Name, p.Workspace, p.Partition, entry.ManifestPath, entry.Digest} {
		_, _ = fmt.Fprintf(sum, "%d:%s", len(part), part)
	}
	if _, err := io.Copy(sum, program); err != nil {
		return "", fmt.Errorf("entry point: %w", err)
	}
	return hex.EncodeToString(sum.Sum(nil)), nil
}
