package place_test

import (
	"errors"
	"os"
	"path/filepath"
	"testing"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/host/oup/place"
)

func TestResolve_judgesWhereAPathLeads(t *testing.T) {
	home, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	for _, dir := range []string{"lab", "lab/sub"} {
		if err := os.Mkdir(filepath.Join(home, dir), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	if err := os.WriteFile(filepath.Join(home, "file"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	for name, to := range map[string]string{"link": "lab/sub", "loop": "loop", "etc-link": "/etc"} {
		if err := os.Symlink(to, filepath.Join(home, name)); err != nil {
			t.Fatal("links are needed: ", err)
		}
	}
	for path, want := range map[string]string{
		"~/lab": "lab", "~": "", " ~/lab/../lab ": "lab", filepath.Join(home, "link"): "lab/sub", filepath.Join(home, "lab/sub/.."): "lab",
	} {
		if got, err := place.Resolve(path, home); err != nil || got != filepath.Join(home, want) {
			t.Errorf("%q leads to %q, %v", path, got, err)
		}
	}
	for path, want := range map[string]oupwire.CwdErrorKind{
		"lab":                           oupwire.CwdErrorKindCwdNotAccessible,
		"":                              oupwire.CwdErrorKindCwdNotAccessible,
		"~lab":                          oupwire.CwdErrorKindCwdNotAccessible,
		filepath.Join(home, "missing"):  oupwire.CwdErrorKindCwdNotAccessible,
		filepath.Join(home, "loop"):     oupwire.CwdErrorKindCwdNotAccessible,
		filepath.Join(home, "a\x00"):    oupwire.CwdErrorKindCwdNotAccessible,
		filepath.Join(home, "file"):     oupwire.CwdErrorKindCwdNotDirectory,
		"/etc":                          oupwire.CwdErrorKindCwdSystemPathBanned,
		"/usr/local/missing":            oupwire.CwdErrorKindCwdSystemPathBanned,
		"/tmp/../etc/ssl":               oupwire.CwdErrorKindCwdSystemPathBanned,
		filepath.Join(home, "etc-link"): oupwire.CwdErrorKindCwdSystemPathBanned,
		"//etc//":                       oupwire.CwdErrorKindCwdSystemPathBanned,
		filepath.Join("/", "proc", "1"): oupwire.CwdErrorKindCwdSystemPathBanned,
	} {
		var refused *place.Error
		if got, err := place.Resolve(path, home); !errors.As(err, &refused) || refused.Kind != want || refused.Path != path {
			t.Errorf("%q gives %q, %v, want %s", path, got, err, want)
		}
	}
	if got := place.Banned("/etcetera"); got != "" {
		t.Errorf("/etcetera lies in %s", got)
	}
}
