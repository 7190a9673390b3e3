// Package doctor examines whether this machine is fit for octet, and says what to do where it is not. It
// starts nothing, writes nothing that stays, and shows no value of a variable that holds a secret.
package doctor

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"unicode"

	"github.com/octet-dev/octet/host/config"
	"github.com/octet-dev/octet/host/diagnostic"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/oup/access"
	"github.com/octet-dev/octet/host/oup/ledger"
	"github.com/octet-dev/octet/host/oup/profile"
	"github.com/octet-dev/octet/host/policy"
	"github.com/octet-dev/octet/host/selection"
	"github.com/octet-dev/octet/host/session"
	"github.com/octet-dev/octet/runtime/manifest"
)

// Status says how a check ended.
type Status string

// The states, the worst last.
const (
	OK      Status = "ok"
	Note    Status = "note"    // nothing is wrong, but somebody may wonder
	Warning Status = "warning" // something will not work
	Problem Status = "problem" // octet will not work
)

// Finding is the outcome of one check.
type Finding struct {
	Check   string `json:"check"`
	Status  Status `json:"status"`
	Summary string `json:"summary"`
	// Remedy says what to do; empty where nothing is to be done.
	Remedy string `json:"remedy,omitempty"`
}

// Patient is what is examined.
type Patient struct {
	Machine    selection.Machine
	Invocation selection.Invocation
	// Store is the path of the session store; empty if there can be none.
	Store string
	// Keys are the variables of model providers by provider.
	Keys []Key
	// Terminal describes where input and output go.
	Terminal Terminal
}

// Key is a variable that holds a secret of a provider.
type Key struct{ Provider, Variable string }

// Terminal is what is known of the terminal.
type Terminal struct {
	Input, Output bool   // is one
	Kind          string // TERM
	Width, Height int    // 0: unknown
	NoColour      bool
}

// Worst is the worst state of findings, OK if there are none.
func Worst(findings []Finding) Status {
	rank := map[Status]int{OK: 0, Note: 1, Warning: 2, Problem: 3}
	worst := OK
	for _, f := range findings {
		if rank[f.Status] > rank[worst] {
			worst = f.Status
		}
	}
	return worst
}

// Examine makes every check. One that cannot be made is a finding too.
func Examine(ctx context.Context, p Patient) []Finding {
	list := p.home()
	selected, findings := p.configuration()
	list = append(append(list, findings...), p.data(ctx)...)
	if selected != nil {
		list = append(list, p.extensions(selected)...)
	}
	list = append(list, p.interpreters()...)
	list = append(list, p.keys()...)
	return append(list, p.terminal()...)
}

func (p Patient) home() []Finding {
	if !filepath.IsAbs(p.Machine.Home) {
		return []Finding{{
			"home", Problem, "the home directory is unknown: there is no configuration, no extension and no session of yours",
			"set HOME to an absolute path",
		}}
	}
	if info, err := os.Stat(p.Machine.Home); err != nil || !info.IsDir() {
		return []Finding{{"home", Problem, fmt.Sprintf("%s is not a directory", p.Machine.Home), "set HOME to a directory that exists"}}
	}
	return []Finding{{Check: "home", Status: OK, Summary: p.Machine.Home}}
}

// configuration judges the configuration and discovers. The selection is nil if it could not be made.
func (p Patient) configuration() (*selection.Selection, []Finding) {
	s, err := selection.Resolve(p.Machine, p.Invocation, policy.Session)
	var wrong *selection.ConfigurationError
	switch {
	case errors.As(err, &wrong):
		return nil, told(wrong.Diagnostics)
	case err != nil:
		return nil, []Finding{{"config", Problem, err.Error(), "correct the command line"}}
	}
	set := 0
	for _, setting := range s.Config.Settings() {
		if setting.Place.Origin != config.Default {
			set++
		}
	}
	list := []Finding{{Check: "config", Status: OK, Summary: fmt.Sprintf("%d keys set; the policy is %s; octet config shows all", set, s.Policy.Effect)}}
	return s, append(list, told(s.Diagnostics)...)
}

// told makes findings of the diagnostics of a selection. What is only told for information is none.
func told(list []diagnostic.Diagnostic) []Finding {
	var findings []Finding
	for _, d := range list {
		status := Warning
		switch d.Level {
		case diagnostic.Error:
			status = Problem
		case diagnostic.Info:
			continue
		}
		f := Finding{"config", status, d.String(), d.Remedy}
		if d.Level == diagnostic.Error && strings.HasSuffix(d.Path, manifest.FileName()) {
			f.Check, f.Status = "extensions", Warning // a broken extension hinders nothing else
		}
		findings = append(findings, f)
	}
	return findings
}

const (
	asToldRemedy = "see what the message says; the file is left as it is"
	damagedShown = 5 // sessions
)

// data tries whether the place for sessions can be written, and what is in it is whole.
func (p Patient) data(ctx context.Context) []Finding {
	if p.Store == "" {
		return []Finding{{"data", Problem, "there is no place for sessions", "set HOME, or OCTET_DATA_DIR"}}
	}
	dir := filepath.Dir(p.Store)
	if strings.ContainsFunc(dir, unicode.IsControl) {
		return []Finding{{"data", Problem, fmt.Sprintf("the data directory %q has a control character in its name", dir), "set OCTET_DATA_DIR to another"}}
	}
	if _, err := os.Stat(dir); errors.Is(err, os.ErrNotExist) {
		return []Finding{{Check: "data", Status: Note, Summary: dir + " does not exist yet; the first start makes it"}}
	}
	probe, err := os.CreateTemp(dir, ".octet-doctor-*")
	if err != nil {
		return []Finding{{"data", Problem, "the data directory cannot be written: " + err.Error(), "make it writable, or set OCTET_DATA_DIR to another"}}
	}
	_ = probe.Close()
	_ = os.Remove(probe.Name())
	list := []Finding{{Check: "data", Status: OK, Summary: dir + " can be written"}}
	list = append(append(list, p.sessions(ctx)...), p.ledger(ctx, dir)...)
	return append(list, p.secrets(dir)...)
}

// secrets tries whether a server could read what it keeps of profiles and of clients, and whether nobody else can.
func (p Patient) secrets(dir string) (list []Finding) {
	profiles, grants := profile.Open(dir, p.Machine.Lookup, nil), &access.Grants{Directory: dir}
	for _, file := range []struct {
		check, path string
		count       func() (string, error)
	}{
		{"profiles", profiles.Path(), func() (string, error) {
			ids, err := profiles.IDs()
			return fmt.Sprintf("%d profiles", len(ids)), err
		}},
		{"work secrets", grants.Path(), func() (string, error) {
			n, err := grants.Check()
			return fmt.Sprintf("%d secrets that are good now", n), err
		}},
		{"", p.Store, nil},
		{"", filepath.Join(dir, "ledger.db"), nil},
	} {
		info, err := os.Stat(file.path)
		if errors.Is(err, os.ErrNotExist) {
			continue
		}
		if file.count != nil {
			count, err := file.count()
			if err != nil {
				list = append(list, Finding{file.check, Problem, err.Error(), asToldRemedy})
			} else {
				list = append(list, Finding{Check: file.check, Status: OK, Summary: file.path + " can be read and holds " + count})
			}
		}
		if err == nil && runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0 {
			list = append(list, Finding{
				"data", Warning, fmt.Sprintf("%s can be read by others: its mode is %04o", file.path, info.Mode().Perm()), "chmod 600 " + file.path,
			})
		}
	}
	return list
}

// ledger tries whether what clients of a server were told is whole. Without a server there is nothing to say.
func (p Patient) ledger(ctx context.Context, dir string) []Finding {
	c, err := ledger.Examine(ctx, dir)
	switch {
	case errors.Is(err, ledger.ErrMissing):
		return nil
	case err != nil:
		return []Finding{{"ledger", Problem, err.Error(), asToldRemedy}}
	}
	return []Finding{{Check: "ledger", Status: OK, Summary: fmt.Sprintf("%s is whole: %d events of %d sessions", c.Path, c.Events, c.Streams)}}
}

// sessions tries whether sessions are whole.
func (p Patient) sessions(ctx context.Context) (list []Finding) {
	store, err := session.Options{}.OpenReader(ctx, p.Store)
	if errors.Is(err, session.ErrMissing) {
		return append(list, Finding{Check: "sessions", Status: Note, Summary: "there are no sessions yet"})
	}
	if err != nil {
		return append(list, Finding{"sessions", Problem, err.Error(), asToldRemedy})
	}
	defer func() { _ = store.Close() }()
	damaged, file := store.Check(ctx, damagedShown)
	if file != nil {
		list = append(list, Finding{"sessions", Problem, file.Error(), asToldRemedy})
	}
	for _, damage := range damaged {
		list = append(list, Finding{"sessions", Warning, damage.Error(), asToldRemedy})
	}
	if file != nil || len(damaged) > 0 {
		return list
	}
	sessions, err := store.List(ctx, session.Filter{})
	if err != nil {
		return append(list, Finding{"sessions", Problem, err.Error(), asToldRemedy})
	}
	return append(list, Finding{Check: "sessions", Status: OK, Summary: fmt.Sprintf("%s opens and holds %d sessions", p.Store, len(sessions))})
}

// extensions says of each whether it would start.
func (p Patient) extensions(s *selection.Selection) []Finding {
	if len(s.Extensions) == 0 {
		return []Finding{{Check: "extensions", Status: Note, Summary: "none discovered; octet extension new writes one"}}
	}
	var list []Finding
	for i := range s.Extensions {
		e := &s.Extensions[i]
		check := "extension " + e.Name
		switch {
		case !e.Enabled:
			list = append(list, Finding{check, Note, "would not start: it is not enabled", "--enable-extension " + e.Name + " switches it on for a run"})
		case e.Reason != policy.Started:
			list = append(list, Finding{check, Warning, "would not start: " + e.Reason.Explain(s.Policy), "octet extension list tells more"})
		default:
			list = append(list, p.entry(check, e))
		}
	}
	return list
}

// entry looks whether the program of an extension is there, and what would run it.
func (p Patient) entry(check string, e *selection.Extension) Finding {
	source := extension.Source{Folder: e.Folder, Manifest: e.Manifest}
	path, err := source.Executable(p.Machine.Lookup)
	if err != nil {
		return Finding{
			check, Warning, fmt.Sprintf("would fail: there is no %q beside its manifest", e.Manifest.Entrypoint.Command),
			"build it, or correct entrypoint.command in " + e.ManifestPath,
		}
	}
	info, err := os.Stat(path)
	if err == nil && info.Mode().Perm()&0o111 == 0 && executeBits {
		return Finding{check, Warning, fmt.Sprintf("would fail: %s is not executable", path), "chmod +x " + path}
	}
	if name := interpreter(path); name != "" {
		if _, err := p.find(name); err != nil {
			return Finding{check, Warning, fmt.Sprintf("would fail: %s needs %s, which is not on the search path", path, name), "install " + name}
		}
	}
	return Finding{Check: check, Status: OK, Summary: fmt.Sprintf("would start %s (API %s, enabled by %s)", path, e.Manifest.API, e.EnabledBy)}
}

// find looks a program up on the search path of the machine.
func (p Patient) find(name string) (string, error) {
	if filepath.IsAbs(name) {
		return exec.LookPath(name)
	}
	path, _ := p.Machine.Lookup("PATH")
	for _, dir := range filepath.SplitList(path) {
		if !filepath.IsAbs(dir) {
			continue
		}
		if found, err := exec.LookPath(filepath.Join(dir, name)); err == nil {
			return found, nil
		}
	}
	return "", exec.ErrNotFound
}

// interpreter reads which program runs a script, "" for anything else.
func interpreter(path string) string {
	if info, err := os.Stat(path); err != nil || !info.Mode().IsRegular() {
		return ""
	}
	file, err := os.Open(path)
	if err != nil {
		return ""
	}
	defer func() { _ = file.Close() }()
	var head [256]byte
	n, _ := file.Read(head[:])
	line, isScript := strings.CutPrefix(string(head[:n]), "#!")
	if !isScript {
		return ""
	}
	line, _, _ = strings.Cut(line, "\n")
	words := strings.Fields(line)
	switch {
	case len(words) == 0:
		return ""
	case len(words) > 2 && filepath.Base(words[0]) == "env" && words[1] == "-S":
		return words[2]
	case len(words) > 1 && filepath.Base(words[0]) == "env":
		return words[1]
	}
	return words[0]
}

// interpreters tells which languages extensions can be run in.
func (p Patient) interpreters() []Finding {
	var list []Finding
	for _, each := range []struct{ program, what string }{
		{"python3", "extensions in Python"}, {"node", "extensions in TypeScript"}, {"go", "building extensions in Go"},
	} {
		path, err := p.find(each.program)
		if err != nil {
			list = append(list, Finding{"program " + each.program, Note, "is not on the search path; it is for " + each.what, "install it if you want that"})
			continue
		}
		list = append(list, Finding{Check: "program " + each.program, Status: OK, Summary: path})
	}
	return list
}

// keys tells which providers have a key. Never a value.
func (p Patient) keys() []Finding {
	var present, absent []string
	for _, key := range p.Keys {
		if value, found := p.Machine.Lookup(key.Variable); found && strings.TrimSpace(value) != "" {
			present = append(present, key.Variable)
		} else {
			absent = append(absent, key.Variable)
		}
	}
	if len(present) == 0 {
		return []Finding{{
			"model keys", Warning, "no provider of models has a key",
			"set " + strings.Join(absent, " or ") + ", or use --model scripted:FILE, which needs none",
		}}
	}
	return []Finding{{Check: "model keys", Status: OK, Summary: strings.Join(present, ", ") + " set"}}
}

func (p Patient) terminal() []Finding {
	t := p.Terminal
	switch {
	case !t.Input || !t.Output:
		return []Finding{{Check: "terminal", Status: Note, Summary: "input or output is no terminal: octet reads prompts line by line, and asks nothing that needs an answer in place"}}
	case t.Kind == "" || t.Kind == "dumb":
		return []Finding{{Check: "terminal", Status: Note, Summary: "TERM is " + fmt.Sprintf("%q", t.Kind) + ": no colours, no line editing"}}
	}
	summary := fmt.Sprintf("%s, %d columns, %d lines", t.Kind, t.Width, t.Height)
	if t.NoColour {
		summary += ", NO_COLOR set"
	}
	return []Finding{{Check: "terminal", Status: OK, Summary: summary}}
}
