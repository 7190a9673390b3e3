package selection

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/octet-dev/octet/host/discovery"
	"github.com/octet-dev/octet/host/policy"
	"github.com/octet-dev/octet/host/trust"
)

// TestTruthTable goes through the table of starts row by row, for each source a row is about. Row 17, the
// embedder, is held by package policy.
//
// MAN-START-003, MAN-START-004, MAN-START-005, MAN-START-006, MAN-START-007, MAN-START-008,
// MAN-START-009, MAN-START-010, MAN-ENABLE-001, MAN-ENABLE-002, MAN-ENABLE-004, MAN-ENABLE-006,
// MAN-ENABLE-010, MAN-TRUST-003, MAN-TRUST-004, MAN-TRUST-006, MAN-TRUST-011.
func TestTruthTable(t *testing.T) {
	const copies = "g" // where a second copy lies, if a row has one
	for _, row := range []struct {
		number  int
		sources string // letters of the table
		enabled bool
		grant   string // "", "bare", "bound", "wrong", "once"
		i       Invocation
		copy    bool     // another copy of the name lies in the global root
		lines   []string // of the manifest
		project []string // configuration of the project
		surface policy.Surface
		want    policy.Reason
		trusted trust.Basis // what it is shown as
		absent  bool        // it is not selected at all
	}{
		{number: 1, sources: "gpx", want: policy.Disabled, trusted: trust.Implicit},
		{number: 2, sources: "gpx", grant: "bound", want: policy.Disabled, trusted: trust.Source},
		{number: 2, sources: "g", grant: "bare", want: policy.Disabled, trusted: trust.Bare},
		{number: 3, sources: "gpx", enabled: true, want: policy.Started, trusted: trust.Implicit},
		{number: 4, sources: "gpx", enabled: true, grant: "bound", want: policy.Started, trusted: trust.Source},
		{number: 4, sources: "gpx", enabled: true, grant: "once", want: policy.Started, trusted: trust.Invocation},
		{number: 5, sources: "gpx", enabled: true, i: Invocation{NoProcess: true}, want: policy.GateClosed, trusted: trust.Implicit},
		{number: 5, sources: "gpx", enabled: true, grant: "bound", i: Invocation{NoShell: true}, want: policy.GateClosed, trusted: trust.Source},
		{number: 6, sources: "gpx", enabled: true, i: Invocation{SafeMode: true}, want: policy.PolicyDenies, trusted: trust.Nobody},
		{number: 7, sources: "gpx", enabled: true, grant: "bound", i: Invocation{SafeMode: true, AllowShell: true}, want: policy.PolicyDenies, trusted: trust.Source},
		{number: 7, sources: "gpx", enabled: true, grant: "once", i: Invocation{SafeMode: true}, want: policy.PolicyDenies, trusted: trust.Invocation},
		{number: 8, sources: "gpx", enabled: true, i: Invocation{EffectPolicy: "controlled"}, want: policy.PolicyDenies, trusted: trust.Nobody},
		{number: 8, sources: "gpx", enabled: true, grant: "bound", i: Invocation{EffectPolicy: "controlled_bash_approval"}, want: policy.PolicyDenies, trusted: trust.Source},
		{number: 9, sources: "gpx", i: Invocation{EffectPolicy: "controlled"}, want: policy.Disabled, trusted: trust.Nobody},
		{number: 9, sources: "gpx", grant: "bound", i: Invocation{SafeMode: true, NoShell: true}, want: policy.Disabled, trusted: trust.Source},
		{number: 10, sources: "p", enabled: true, grant: "bound", i: Invocation{WorkspaceTrusted: false}, absent: true},
		{number: 11, sources: "p", enabled: true, grant: "bare", copy: true, i: Invocation{EffectPolicy: "controlled"}, want: policy.PolicyDenies, trusted: trust.Nobody},
		{number: 12, sources: "p", enabled: true, grant: "bare", copy: true, want: policy.Started, trusted: trust.Implicit},
		{number: 13, sources: "x", enabled: true, grant: "wrong", copy: true, i: Invocation{EffectPolicy: "controlled"}, want: policy.PolicyDenies, trusted: trust.Nobody},
		{number: 14, sources: "gpx", enabled: true, grant: "bound", surface: policy.NativeHost, want: policy.NoProcesses, trusted: trust.Source},
		{number: 15, sources: "gpx", project: []string{`enabled_extensions = ["demo"]`}, want: policy.Started, trusted: trust.Implicit},
		{number: 15, sources: "gpx", project: []string{`enabled_extensions = ["demo"]`}, i: Invocation{EffectPolicy: "controlled"}, want: policy.PolicyDenies, trusted: trust.Nobody},
		{number: 16, sources: "gpx", enabled: true, grant: "bound", lines: []string{`requires_octet = "=0.7.4"`}, absent: true},
	} {
		for _, source := range strings.Split(row.sources, "") {
			t.Run(fmt.Sprintf("row %d %s %s", row.number, source, row.grant), func(t *testing.T) {
				w := newWorld(t)
				path := w.install(source, "demo", row.lines...)
				other := ""
				if row.copy {
					other = w.install(copies, "demo")
				}
				var user []string
				if row.enabled {
					user = append(user, `enabled_extensions = ["demo"]`)
				}
				i := row.i
				switch row.grant {
				case "bare":
					user = append(user, `trusted_extensions = ["demo"]`)
				case "bound":
					user = append(user, fmt.Sprintf("trusted_extensions = ['demo@%s']", path))
				case "wrong":
					user = append(user, fmt.Sprintf("trusted_extensions = ['demo@%s']", other))
				case "once":
					i.Trust = []string{"demo"}
				}
				w.user(user...)
				if row.project != nil {
					w.project(row.project...)
				}
				i.WorkspaceTrusted = (source == "p" || row.project != nil) && row.number != 10
				i.Workspace = w.path("work")
				if source == "x" {
					i.Directories = []string{w.root("x")}
				}
				surface := policy.Session
				if row.surface != "" {
					surface = row.surface
				}
				s, err := Resolve(w.machine(), i, surface)
				if err != nil {
					t.Fatal(err)
				}
				e := find(s, "demo")
				if row.absent || e == nil {
					if !row.absent || e != nil {
						t.Fatalf("selected: %v, want %v; %v", e != nil, !row.absent, s.Diagnostics)
					}
					if !slices.Contains(rules(s), "MAN-DIAG-001") {
						t.Errorf("the enabled name is not told of: %v", s.Diagnostics)
					}
					return
				}
				enabled := row.enabled || row.project != nil
				if e.ManifestPath != path || e.Enabled != enabled || e.Trust != row.trusted || e.Reason != row.want {
					t.Errorf("%s enabled %v, trusted on %q, stopped by %q; want enabled %v, %q, %q",
						e.ManifestPath, e.Enabled, e.Trust, e.Reason, enabled, row.trusted, row.want)
				}
				// The states change nothing about which source was selected.
				if got, want := e.Scope, (map[string]discovery.Scope{"g": discovery.Global, "p": discovery.Project, "x": discovery.Explicit})[source]; got != want {
					t.Errorf("scope %s, want %s", got, want)
				}
			})
		}
	}
}
