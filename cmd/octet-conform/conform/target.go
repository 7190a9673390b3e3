package conform

import (
	"cmp"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/features/manifestreferee"
	"github.com/octet-dev/octet/features/profile"
	"github.com/octet-dev/octet/features/report"
	"github.com/octet-dev/octet/features/steps"
	"github.com/octet-dev/octet/features/subject"
	"github.com/octet-dev/octet/generated/manifestdoc"
	"github.com/octet-dev/octet/runtime/manifest"
	"github.com/octet-dev/octet/runtime/manifest/launch"
)

// target is a subject.
type target struct {
	reading *manifestreferee.Reading // nil: there is no manifest
	setup   *steps.Setup             // nil: the manifest is broken, and nothing can be started
	subject report.Subject
	scratch string // a directory of the run; removed behind it
	profile string // path of the profile, if there is one
}

func (t *target) remove() {
	if t.scratch != "" {
		// A file that a subject left open is the system's to clean up.
		_ = os.RemoveAll(t.scratch)
	}
}

// target reads what the command line names, and fails for a manifest that is broken.
func (inv *invocation) target(dirs, argv []string, flags *runFlags) (*target, error) {
	t, err := inv.subject(dirs, argv, flags)
	if err == nil && t.setup == nil {
		return nil, t.broken()
	}
	return t, err
}

// broken lists what is wrong with the manifest.
func (t *target) broken() error {
	var faults []error
	for _, p := range t.reading.Problems {
		faults = append(faults, fmt.Errorf("%s:%d:%d: %s [%s]", t.reading.Path, p.Line, p.Column, p.Message, p.Rule))
	}
	return errors.Join(faults...)
}

// subject reads what the command line names: one directory with a manifest, or a command.
func (inv *invocation) subject(dirs, argv []string, flags *runFlags) (*target, error) {
	switch {
	case len(dirs) == 1 && argv == nil:
		if flags.api != "" || flags.tools != nil {
			return nil, usageError("--api and --contributes-tools are for a command behind --; a directory has its manifest")
		}
		return inv.fromManifest(dirs[0], flags)
	case len(dirs) == 0 && len(argv) > 0:
		return inv.fromCommand(argv, flags)
	case len(dirs) > 1:
		return nil, usageError(fmt.Sprintf("%d directories are named; name one, or put a command behind --", len(dirs)))
	default:
		return nil, usageError("nothing is named to judge; name a directory with a manifest, or put a command behind --")
	}
}

// fromManifest prepares an extension that has a manifest.
func (inv *invocation) fromManifest(dir string, flags *runFlags) (*target, error) {
	abs, err := filepath.Abs(dir)
	if err != nil {
		return nil, err
	}
	reading, err := readManifest(dir)
	if err != nil {
		return nil, err
	}
	described := describe(reading)
	described.Directory, described.Manifest = dir, filepath.Join(dir, filepath.Base(reading.Path))
	m := reading.Manifest
	if m == nil {
		return &target{reading: reading, subject: described}, nil
	}
	if reading.ProgramErr != nil {
		return nil, reading.ProgramErr
	}
	values, err := m.FlagValues(nil)
	if err != nil {
		return nil, err
	}
	t, err := newTarget(m.API)
	if err != nil {
		return nil, err
	}
	x := &t.setup.Extension
	x.Name, x.Version, x.ManifestPath = m.Name, m.Version, reading.Path
	x.Capabilities, x.Contributes = grants(m.Capabilities), contributions(m.Contributes)
	for _, v := range values {
		x.FlagValues = append(x.FlagValues, dialect.Object{"name": v.Name, "value": json.RawMessage(v.Value)})
	}
	env := inherited()
	for name, value := range m.Entrypoint.Env {
		env = append(env, name+"="+value)
	}
	t.setup.Starter = subject.Command{Path: reading.Program, Args: m.Entrypoint.Args, Dir: x.Workspace, Env: append(env, t.variables(abs)...)}
	t.reading, t.subject = reading, described
	t.subject.Command = append([]string{reading.Program}, m.Entrypoint.Args...)
	if !flags.allowCalls && asksForMore(m.Capabilities) {
		t.setup.NoCalls = fmt.Sprintf("the manifest asks for files, processes or network, so no call is made up; write %s (octet-conform init %s) or give --allow-calls", profile.FileName, dir)
	}
	return t, t.loadProfile(flags.profile, abs)
}

// describe is the subject of which a manifest speaks.
func describe(r *manifestreferee.Reading) report.Subject {
	return report.Subject{Role: report.RoleExtension, Name: r.Name, API: cmp.Or(r.API, report.UnknownAPI), Manifest: r.Path, Command: []string{}}
}

func asksForMore(c manifest.Capabilities) bool {
	return c.Process || c.Network || c.Filesystem != "" && c.Filesystem != manifestdoc.FilesystemGrantNone
}

// fromCommand prepares a command that has no manifest.
func (inv *invocation) fromCommand(argv []string, flags *runFlags) (*target, error) {
	if flags.api == "" {
		return nil, usageError(fmt.Sprintf("a command behind -- needs --api; use one of %s", strings.Join(dialect.Versions(), ", ")))
	}
	if err := oneOf("api", flags.api, dialect.Versions()...); err != nil {
		return nil, usageError(err.Error())
	}
	program, err := exec.LookPath(argv[0])
	if err != nil {
		return nil, fmt.Errorf("command %q: %w", argv[0], cause(err))
	}
	if program, err = filepath.Abs(program); err != nil {
		return nil, err
	}
	t, err := newTarget(flags.api)
	if err != nil {
		return nil, err
	}
	dir, err := os.Getwd()
	if err != nil {
		return nil, err
	}
	x := &t.setup.Extension
	x.Name, x.Version, x.ManifestPath = commandName(program), "0.0.0", filepath.Join(dir, manifest.FileName())
	x.Guessed = true
	x.Contributes = dialect.Object{"tools": list(flags.tools)}
	t.setup.Starter = subject.Command{Path: program, Args: argv[1:], Dir: dir, Env: append(inherited(), t.variables(dir)...)}
	t.setup.HomeOnly = "the command has no manifest, and its arguments may be relative to the directory it is started in"
	t.subject = report.Subject{Role: report.RoleExtension, Name: x.Name, API: flags.api, Command: argv}
	if !flags.allowCalls {
		t.setup.NoCalls = "the command has no manifest that says what its tools need; give --profile FILE with calls, or --allow-calls"
	}
	return t, t.loadProfile(flags.profile, "")
}

// cause is why a program was not found, without its name.
func cause(err error) error {
	var named *exec.Error
	if errors.As(err, &named) {
		err = named.Err
	}
	var path *fs.PathError
	if errors.As(err, &path) {
		err = path.Err
	}
	return err
}

func commandName(program string) string {
	base := filepath.Base(program)
	return strings.TrimSuffix(base, filepath.Ext(base))
}

// newTarget makes the parts that all subjects have.
func newTarget(api string) (*target, error) {
	d, err := dialect.For(api)
	if err != nil {
		return nil, err
	}
	scratch, err := os.MkdirTemp("", "octet-conform-")
	if err != nil {
		return nil, err
	}
	t := &target{scratch: scratch, setup: &steps.Setup{Dialect: d}}
	x := &t.setup.Extension
	x.Workspace, x.Scratch, x.Transfer = filepath.Join(scratch, "workspace"), filepath.Join(scratch, "scratch"), filepath.Join(scratch, "objects")
	for _, dir := range []string{x.Workspace, x.Scratch, x.Transfer} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.remove()
			return nil, err
		}
	}
	return t, nil
}

// variables are those that every extension process gets.
func (t *target) variables(dir string) []string {
	x := t.setup.Extension
	var env []string
	for name, value := range (launch.Wire{
		APIVersion: t.setup.Dialect.API(), Name: x.Name, Dir: dir, ManifestPath: x.ManifestPath, Workspace: x.Workspace, Scratch: x.Scratch,
	}).Variables() {
		env = append(env, name+"="+value)
	}
	return env
}

// inherited is the part of our environment that a host hands on.
func inherited() []string {
	var env []string
	for _, name := range manifestdoc.TableInheritedEnvironment {
		if value, set := os.LookupEnv(name); set {
			env = append(env, name+"="+value)
		}
	}
	return env
}

// loadProfile reads the profile that was named, or the one beside the manifest.
func (t *target) loadProfile(named, dir string) error {
	var err error
	path := named
	switch {
	case named != "":
		t.setup.Profile, err = profile.Load(named)
	case dir != "":
		path = filepath.Join(dir, profile.FileName)
		t.setup.Profile, err = profile.Beside(dir)
	}
	t.profile = path
	if err == nil && t.setup.Profile != nil {
		err = t.setup.Profile.Unspellable(path, t.setup.Dialect.Spellable)
	}
	if err != nil {
		t.remove()
	}
	return err
}

// knowsTools refuses a profile that calls a tool which the extension has not: what comes of such a call accuses
// nobody. What the manifest declares is taken for granted, and for the rest the extension is asked. One that does not
// answer is judged all the same, for that.
func (t *target) knowsTools() error {
	p := t.setup.Profile
	if p == nil {
		return nil
	}
	var names []string
	declared, _ := t.setup.Extension.Contributes["tools"].([]any)
	for _, tool := range declared {
		name, _ := tool.(string)
		names = append(names, name)
	}
	if p.Unknown(t.profile, names) == nil {
		return nil
	}
	tools, err := steps.Tools(t.setup)
	if err != nil {
		return nil
	}
	for _, tool := range tools {
		names = append(names, tool.Name)
	}
	slices.Sort(names)
	return p.Unknown(t.profile, slices.Compact(names))
}

// readManifest reads the manifest of a directory. What is no directory, or holds none, is a wrong command line.
func readManifest(dir string) (*manifestreferee.Reading, error) {
	r, err := manifestreferee.Directory(dir)
	if errors.Is(err, manifestreferee.ErrNoManifest) || errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR) {
		return nil, usageError(fmt.Sprintf("%q holds no %s; name the directory that holds %s", dir, manifest.FileName(), manifest.FileName()))
	}
	return r, err
}

func list[T ~string](items []T) []any {
	out := make([]any, len(items))
	for i, item := range items {
		out[i] = string(item)
	}
	return out
}

func grants(c manifest.Capabilities) dialect.Object {
	out := dialect.Object{"filesystem": string(c.Filesystem), "process": c.Process, "network": c.Network}
	if len(c.Secrets) > 0 {
		out["secrets"] = list(c.Secrets)
	}
	return out
}

func contributions(c manifest.Contributes) dialect.Object {
	out := dialect.Object{
		"tools": list(c.Tools), "commands": list(c.Commands), "hooks": list(c.Hooks), "ui": list(c.UI), "context": c.Context,
		"tool_renderers": list(c.ToolRenderers), "notifications": c.Notifications, "confirmations": c.Confirmations,
	}
	if c.Presentation {
		out["presentation"] = true
	}
	if c.Menu {
		out["menu"] = true
	}
	return out
}
