// Package manifestreferee judges the manifest of an extension by the rules of the role manifest. It starts
// nothing: a run of an extension begins with it.
package manifestreferee

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"

	"github.com/octet-dev/octet/features/infile"
	"github.com/octet-dev/octet/generated/manifestdoc"
	"github.com/octet-dev/octet/runtime/manifest"
	"github.com/octet-dev/octet/runtime/manifest/folder"
	"github.com/octet-dev/octet/runtime/manifest/tomltree"
)

// Problem is one broken rule in a manifest.
type Problem struct {
	Rule    string
	Message string // what is wrong and what to do about it
	tomltree.Position
}

// Reading is what came of reading a manifest.
type Reading struct {
	Path     string // of the manifest
	Name     string // of the extension; that of the directory or file if the manifest has none
	API      string // empty if the manifest names none that exists
	Problems []Problem
	Warnings []Problem // what a host accepts with a warning
	// Manifest is nil if a host would refuse it.
	Manifest *manifest.Manifest
	// Program is the file that the entry point starts; empty if that was not looked for or not found.
	Program string
	// ProgramErr says why a bare command was not found: where it is searched is a matter of the machine.
	ProgramErr error

	alone bool // the file was judged without its directory
}

// ErrNoManifest means that a directory holds nothing like a manifest.
var ErrNoManifest = errors.New("there is no manifest")

// Directory reads the manifest of an extension's directory. An error means that nothing could be judged.
func Directory(dir string) (*Reading, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	r := &Reading{Path: filepath.Join(abs, manifest.FileName()), Name: filepath.Base(abs)}
	entries, err := os.ReadDir(abs)
	if err != nil {
		return nil, err
	}
	if named(entries, manifest.FileName()) == "" {
		other := named(entries, strings.ToUpper(manifest.FileName()))
		if other == "" {
			return nil, ErrNoManifest
		}
		r.Path = filepath.Join(abs, other)
		r.add("MAN-FILE-001", tomltree.Position{Line: 1, Column: 1}, fmt.Sprintf("the manifest is called %q; call it %s", other, manifest.FileName()))
		return r, nil
	}
	// The larger of the two bounds, so that a manifest between them is judged whole.
	f, err := folder.Open(abs, folder.DiscoveryLimit)
	var refused *folder.Error
	switch {
	case errors.As(err, &refused) && refused.Rule != "MAN-FILE-001":
		message := refused.Message + "; " + refused.Remedy
		r.add(refused.Rule, tomltree.Position{Line: 1, Column: 1}, message)
		if refused.Rule == "MAN-FILE-005" {
			r.add(sizeForLoading, tomltree.Position{Line: 1, Column: 1}, message)
		}
		return r, nil
	case err != nil:
		return nil, err
	}
	if n := int64(len(f.Data)); n > folder.LoadLimit {
		r.add(sizeForLoading, tomltree.Position{Line: 1, Column: 1}, fmt.Sprintf("the manifest has %d bytes, and %d are allowed where it is loaded by its directory; shorten it", n, folder.LoadLimit))
	}
	r.judge(f.Data, manifest.Context{Directory: f.Name})
	r.resolve(f.Dir, f.Data)
	return r, nil
}

// named returns the entry of that name: exactly that one, or, if the name is in upper case, any spelling of it.
func named(entries []os.DirEntry, name string) string {
	for _, e := range entries {
		if e.Name() == name || strings.ToUpper(name) == name && strings.ToUpper(e.Name()) == name {
			return e.Name()
		}
	}
	return ""
}

// File reads a manifest alone, whatever the file is called and wherever it lies.
func File(path string) (*Reading, error) {
	data, err := infile.Read(path, "a manifest", int64(manifestdoc.MaxManifestBytes))
	if err != nil {
		return nil, err
	}
	r := &Reading{Path: path, Name: filepath.Base(path), alone: true}
	r.judge(data, manifest.Context{})
	return r, nil
}

func (r *Reading) add(rule string, at tomltree.Position, message string) {
	r.Problems = append(r.Problems, Problem{rule, message, at})
}

func (r *Reading) judge(data []byte, context manifest.Context) {
	v := manifest.Judge(data, context)
	r.Manifest = v.Manifest
	for _, p := range v.Problems {
		found := Problem{p.Rule, p.Message + "; " + p.Remedy, p.Position}
		if p.Severity == manifest.Error {
			r.Problems = append(r.Problems, found)
		} else {
			r.Warnings = append(r.Warnings, found)
		}
	}
	root, faults := tomltree.Parse(data)
	if len(faults) > 0 {
		return
	}
	if n := at(root, "name"); n != nil && n.Text != "" {
		r.Name = n.Text
	}
	if n := at(root, "api_version"); n != nil && slices.Contains(manifestdoc.Versions, n.Text) {
		r.API = n.Text
	}
}

// onPath searches for a bare command.
func onPath(command string) (string, error) {
	path, err := exec.LookPath(command)
	if err != nil {
		return "", fmt.Errorf("entrypoint %q: neither beside the manifest nor on PATH", command)
	}
	return filepath.Abs(path)
}

// resolve looks for the program of the entry point, as a host does before it starts one.
func (r *Reading) resolve(dir string, data []byte) {
	if r.Manifest == nil {
		return
	}
	command := r.Manifest.Entrypoint.Command
	beside := filepath.Join(dir, filepath.FromSlash(command))
	rule, where := "MAN-ENTRY-007", "beside the manifest"
	if filepath.IsAbs(command) {
		beside, rule, where = command, "MAN-ENTRY-008", "there"
	}
	if info, err := os.Stat(beside); err == nil && info.Mode().IsRegular() {
		r.Program = beside
		return
	}
	if filepath.IsAbs(command) || strings.ContainsAny(command, `/\`) {
		root, _ := tomltree.Parse(data)
		r.add(rule, at(root, "entrypoint", "command").Position, fmt.Sprintf("entrypoint %q: no such file %s; build it, or name the file that is there", command, where))
		r.Manifest = nil
		return
	}
	r.Program, r.ProgramErr = onPath(command)
}

// at returns the value of a key path, nil if there is none.
func at(n *tomltree.Node, path ...string) *tomltree.Node {
	for _, key := range path {
		if n == nil || n.Kind != tomltree.Table {
			return nil
		}
		m := n.Get(key)
		if m == nil {
			return nil
		}
		n = m.Value
	}
	return n
}

// stages are the rules that a reader comes to first, in its order: what breaks one of them keeps everything behind
// it from being judged.
var stages = []string{"MAN-FILE-001", "MAN-FILE-006", sizeForLoading, "MAN-FILE-005", "MAN-FILE-002", "MAN-FILE-003"}

// sizeForLoading is the rule whose break keeps nothing from being judged: discovery takes more.
const sizeForLoading = "MAN-FILE-004"

// unread says why a rule could not be judged; empty if it was.
func (r *Reading) unread(rule string) string {
	stage := func(id string) int {
		if i := slices.Index(stages, id); i >= 0 {
			return i
		}
		return len(stages)
	}
	for _, p := range r.Problems {
		if p.Rule != sizeForLoading && stage(p.Rule) < stage(rule) {
			return fmt.Sprintf("what the manifest says was not judged, because it breaks %s", p.Rule)
		}
	}
	return ""
}

// beside are the rules about the directory that holds a manifest.
var beside = []string{"MAN-FILE-001", "MAN-FILE-006", "MAN-TOP-002", "MAN-ENTRY-007", "MAN-ENTRY-008"}

// inapplicable says why a rule is not judged here; empty if it is.
func (r *Reading) inapplicable(rule string) string {
	if r.alone && slices.Contains(beside, rule) {
		return "the file was judged alone, and this is about the directory that holds it"
	}
	return ""
}
