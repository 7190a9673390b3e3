package launch

import (
	"slices"
	"testing"

	"github.com/octet-dev/octet/generated/featurewire"
)

func lookup(values map[string]string) func(string) (string, bool) {
	return func(name string) (string, bool) {
		value, found := values[name]
		return value, found
	}
}

var wire = Wire{APIVersion: "0.4", Name: "demo", Dir: "/ext/demo", ManifestPath: "/ext/demo/extension.toml", Workspace: "/w", Scratch: "/s"}

// wireEntries is what the wire values above must become, whatever the order of the spec's table.
var wireEntries = []string{
	"OCTET_EXTENSION_API_VERSION=0.4",
	"OCTET_EXTENSION_DIR=/ext/demo",
	"OCTET_EXTENSION_MANIFEST=/ext/demo/extension.toml",
	"OCTET_EXTENSION_NAME=demo",
	"OCTET_EXTENSION_SCRATCH=/s",
	"OCTET_WORKSPACE=/w",
}

// TestEnvironment: MAN-LAUNCH-001, MAN-LAUNCH-002, MAN-LAUNCH-003.
func TestEnvironment(t *testing.T) {
	host := map[string]string{
		"PATH": "/bin", "HOME": "/home/me", "LANG": "", "OCTET_PACKAGE_DIR": "/p",
		"API_KEY": "secret", "LD_PRELOAD": "x.so", "DYLD_INSERT_LIBRARIES": "x", "PYTHONPATH": "/x",
		"SSH_AUTH_SOCK": "/agent", "OCTET_WORKSPACE": "/stale", "EMPTY": "",
	}
	for _, c := range []struct {
		name string
		env  Environment
		want []string
	}{
		{
			"only what may be inherited",
			Environment{Host: lookup(host), Wire: wire},
			slices.Concat([]string{"HOME=/home/me", "LANG="}, wireEntries[:5],
				[]string{"OCTET_PACKAGE_DIR=/p"}, wireEntries[5:], []string{"PATH=/bin"}),
		},
		{
			"entrypoint wins over the host, the wire over both",
			Environment{
				Host: lookup(map[string]string{"PATH": "/bin"}), Wire: wire,
				Entrypoint: map[string]string{"PATH": "/mine", "B": "", "OCTET_WORKSPACE": "/forged"},
			},
			slices.Concat([]string{"B="}, wireEntries, []string{"PATH=/mine"}),
		},
		{
			"brokered variables",
			Environment{Host: lookup(host), Wire: wire, Brokered: []string{"SSH_AUTH_SOCK", "EMPTY", "ABSENT"}},
			slices.Concat([]string{"HOME=/home/me", "LANG="}, wireEntries[:5],
				[]string{"OCTET_PACKAGE_DIR=/p"}, wireEntries[5:], []string{"PATH=/bin", "SSH_AUTH_SOCK=/agent"}),
		},
		{
			"brokered wins over the entrypoint",
			Environment{
				Host: lookup(map[string]string{"SSH_AUTH_SOCK": "/agent"}), Wire: wire,
				Entrypoint: map[string]string{"SSH_AUTH_SOCK": "/other"}, Brokered: []string{"SSH_AUTH_SOCK"},
			},
			slices.Concat(wireEntries, []string{"SSH_AUTH_SOCK=/agent"}),
		},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got := c.env.List(); !slices.Equal(got, c.want) {
				t.Errorf("got  %q\nwant %q", got, c.want)
			}
		})
	}
}

// TestWire_hasAValueForEveryVariable: the pairing with the spec's table is by position.
func TestWire_hasAValueForEveryVariable(t *testing.T) {
	if got, want := len(featurewire.TableWireEnvironment), len(wireEntries); got != want {
		t.Errorf("the spec has %d variables, want %d: give the new ones a value", got, want)
	}
	if got := wire.ScratchEntry(); got != "OCTET_EXTENSION_SCRATCH=/s" {
		t.Errorf("scratch entry %q", got)
	}
}
