// Package selection says which extensions of a machine would start, and why the others would not. It asks
// configuration, discovery, trust and policy, and starts nothing itself.
//
// Sheet: manifest 4 to 7.
package selection

import (
	"fmt"
	"path/filepath"
	"slices"

	"github.com/octet-dev/octet/host/config"
	"github.com/octet-dev/octet/host/diagnostic"
	"github.com/octet-dev/octet/host/discovery"
	"github.com/octet-dev/octet/host/policy"
	"github.com/octet-dev/octet/host/trust"
	"github.com/octet-dev/octet/runtime/manifest"
	"github.com/octet-dev/octet/runtime/manifest/near"
)

// Machine is where the selection happens.
type Machine struct {
	Home string // of the user; one that is not absolute counts as unknown
	// Lookup looks a variable of the environment up, like os.LookupEnv.
	Lookup func(name string) (value string, found bool)
	// Discoverer numbers the passes of one host.
	Discoverer *discovery.Discoverer
}

// Extension is a selected extension with its states. Whether it runs is for a supervisor to say.
type Extension struct {
	*discovery.Entry
	Enabled   bool
	EnabledBy string      // file and line, variable or option; empty if it is not enabled
	Trust     trust.Basis // what it is trusted on
	Reason    policy.Reason
}

// Trusted reports whether anything trusts the extension.
func (e *Extension) Trusted() bool { return e.Trust != trust.Nobody }

// Subject is the extension as grants see it.
func (e *Extension) Subject() trust.Subject { return subject(e.Entry) }

// Selection is the outcome. Treat it as read-only.
type Selection struct {
	Generation       uint64 // of the discovery behind it
	Workspace        string // canonical and absolute
	WorkspaceTrusted bool
	Config           *config.Effective
	Policy           policy.Settings
	Extensions       []Extension // ascending by name
	Diagnostics      []diagnostic.Diagnostic
}

// Flagged are the manifests of the extensions that put their flags on the command line: enabled and
// trusted, whether or not they may start.
//
// Rules: MAN-FLAG-017, MAN-FLAG-018.
func (s *Selection) Flagged() []*manifest.Manifest {
	var list []*manifest.Manifest
	for i := range s.Extensions {
		if e := &s.Extensions[i]; e.Enabled && e.Trusted() {
			list = append(list, e.Manifest)
		}
	}
	return list
}

// Stopped tells, once per cause, that enabled extensions would not start.
func (s *Selection) Stopped() []string {
	reasons := make([]policy.Reason, len(s.Extensions))
	for i := range s.Extensions {
		reasons[i] = s.Extensions[i].Reason
	}
	return policy.Stopped(reasons, s.Policy)
}

// Resolve selects for a surface. Broken extensions become diagnostics; a wrong invocation is an
// *InvocationError and a wrong configuration a *ConfigurationError.
func Resolve(m Machine, i Invocation, surface policy.Surface) (*Selection, error) {
	s, err := Configure(m, i)
	if err != nil {
		return nil, err
	}
	snapshot := m.Discoverer.Discover(discovery.Places{
		Home: m.Home, Workspace: s.Workspace, WorkspaceTrusted: s.WorkspaceTrusted, Directories: i.Directories,
	})
	s.Generation = snapshot.Generation
	s.Diagnostics = append(s.Diagnostics, snapshot.Diagnostics...)

	grants := s.grants(i, snapshot)
	enabled := enablement(s.Config.Setting(config.EnabledExtensions), i.Enable)
	for _, entry := range snapshot.Entries {
		e := Extension{Entry: entry, Trust: grants.Basis(subject(entry), s.Policy.FullAccess())}
		e.EnabledBy, e.Enabled = enabled.by(entry.Name)
		e.Reason = policy.Decide(policy.Case{
			Surface: surface, Enabled: e.Enabled, Discovered: true, Trusted: e.Trusted(), Settings: s.Policy,
		})
		s.Extensions = append(s.Extensions, e)
	}
	s.Diagnostics = append(s.Diagnostics, enabled.missing(snapshot)...)
	return s, nil
}

func subject(e *discovery.Entry) trust.Subject {
	return trust.Subject{Name: e.Name, Global: e.Scope == discovery.Global, ManifestPath: e.ManifestPath}
}

// grants reads the explicit trust and tells of grants that cover nothing.
func (s *Selection) grants(i Invocation, snapshot *discovery.Snapshot) trust.Grants {
	setting := s.Config.Setting(config.TrustedExtensions)
	from := setting.Place.String()
	grants, told := trust.Read(setting.Value.List, i.Trust, from, filepath.EvalSymlinks)
	subjects := make([]trust.Subject, len(snapshot.Entries))
	for n, entry := range snapshot.Entries {
		subjects[n] = subject(entry)
	}
	s.Diagnostics = append(append(s.Diagnostics, told...), grants.Unmatched(subjects, from)...)
	return grants
}

// names are the enabled extensions, each with the place that enables it.
type names []struct{ name, place string }

// enablement adds the names of the command line to those of the configuration. Nothing else enables.
//
// Rules: MAN-ENABLE-001, MAN-ENABLE-005, MAN-ENABLE-006, MAN-ENABLE-008.
func enablement(setting config.Setting, line []string) names {
	var list names
	for _, name := range setting.Value.List {
		list = append(list, struct{ name, place string }{name, setting.Place.String()})
	}
	for _, name := range line {
		list = append(list, struct{ name, place string }{name, "--enable-extension"})
	}
	return list
}

// by finds the first place that enables a name.
func (n names) by(name string) (place string, found bool) {
	for _, each := range n {
		if each.name == name {
			return each.place, true
		}
	}
	return "", false
}

// missing tells of enabled names that were not discovered, each once.
func (n names) missing(snapshot *discovery.Snapshot) []diagnostic.Diagnostic {
	var known, seen []string
	for _, entry := range snapshot.Entries {
		known = append(known, entry.Name)
	}
	var told []diagnostic.Diagnostic
	for _, each := range n {
		if slices.Contains(known, each.name) || slices.Contains(seen, each.name) {
			continue
		}
		seen = append(seen, each.name)
		remedy := "install it, or remove the name; octet extension list shows what there is"
		if guess := near.Find(each.name, known); guess != "" {
			remedy = fmt.Sprintf("did you mean %q?", guess)
		}
		told = append(told, diagnostic.Diagnostic{
			Level: diagnostic.Warning, Path: each.place, Rule: "MAN-DIAG-001",
			Message: fmt.Sprintf("enabled extension %q was not discovered", each.name), Remedy: remedy,
		})
	}
	return told
}
