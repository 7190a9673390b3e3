package activation

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/octet-dev/octet/host/config"
	"github.com/octet-dev/octet/host/discovery"
	"github.com/octet-dev/octet/host/selection"
)

// place is a machine with a home and a workspace.
type place struct {
	t               *testing.T
	home, workspace string
	variables       map[string]string
	editor          *Editor
}

func newPlace(t *testing.T) *place {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := &place{t: t, home: filepath.Join(root, "home"), workspace: filepath.Join(root, "work"), variables: map[string]string{}}
	for _, dir := range []string{p.home, p.workspace} {
		if err := os.Mkdir(dir, 0o700); err != nil {
			t.Fatal(err)
		}
	}
	p.editor = &Editor{
		Machine: selection.Machine{
			Home: p.home, Discoverer: &discovery.Discoverer{},
			Lookup: func(name string) (string, bool) { value, found := p.variables[name]; return value, found },
		},
		Invocation: selection.Invocation{Workspace: p.workspace},
	}
	return p
}

func (p *place) write(path, text string) {
	p.t.Helper()
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		p.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		p.t.Fatal(err)
	}
}

func (p *place) extension(root, name, tools string) {
	p.write(filepath.Join(root, ".octet", "extensions", name, "extension.toml"),
		"name = \""+name+"\"\nversion = \"1.0.0\"\napi_version = \"0.4\"\nentrypoint = { command = \"run\" }\ncontributes = { tools = ["+tools+"] }\n")
}

func (p *place) config() string {
	p.t.Helper()
	text, err := os.ReadFile(config.UserFile(p.home))
	if err != nil && !errors.Is(err, os.ErrNotExist) {
		p.t.Fatal(err)
	}
	return string(text)
}

func (p *place) menu() *Menu {
	p.t.Helper()
	m, err := p.editor.Menu()
	if err != nil {
		p.t.Fatal(err)
	}
	return m
}

// refused demands that a change is refused with a reason, and that nothing was written.
func (p *place) refused(m *Menu, name, reason string) {
	p.t.Helper()
	before := p.config()
	_, err := p.editor.Toggle(context.Background(), m, name)
	var refusal *Refusal
	if !errors.As(err, &refusal) || !strings.Contains(err.Error(), reason) {
		p.t.Errorf("%s: %v, want a refusal with %q", name, err, reason)
	}
	if p.config() != before {
		p.t.Errorf("%s: a refusal wrote\n%s", name, p.config())
	}
}

// MAN-SURFACE-001: the user's entry is toggled, and nothing else of the configuration changes.
func TestToggle_changesTheUsersEntryAlone(t *testing.T) {
	p := newPlace(t)
	p.extension(p.home, "alpha", `"a"`)
	p.write(config.UserFile(p.home), "# mine\ntrusted_extensions = []\n")
	for _, want := range []bool{true, false} {
		m := p.menu()
		if m.ReadOnly != "" || len(m.Items) != 1 || m.Items[0].Enabled == want {
			t.Fatalf("the menu is %+v", m)
		}
		enabled, err := p.editor.Toggle(context.Background(), m, "alpha")
		if err != nil || enabled != want {
			t.Fatalf("enabled %v, %v, want %v", enabled, err, want)
		}
		if text := p.config(); !strings.HasPrefix(text, "# mine\ntrusted_extensions = []\n") || strings.Contains(text, "alpha") != want {
			t.Errorf("the configuration is\n%s", text)
		}
	}
}

// MAN-SURFACE-002: where another source takes part, the menu says which and changes nothing.
func TestMenu_isReadOnlyWhereAnotherSourceDecides(t *testing.T) {
	for what, c := range map[string]struct {
		arrange func(p *place)
		reason  string
	}{
		"project": {func(p *place) {
			p.editor.Invocation.WorkspaceTrusted = true
			p.write(config.UserFile(p.workspace), "enabled_extensions = [\"alpha\"]\n")
		}, "the project decides, in "},
		"environment":  {func(p *place) { p.variables["OCTET_ENABLED_EXTENSIONS"] = "alpha" }, "the variable OCTET_ENABLED_EXTENSIONS decides"},
		"command line": {func(p *place) { p.editor.Invocation.Enable = []string{"alpha"} }, "--enable-extension of the command line takes part"},
		"no home":      {func(p *place) { p.editor.Machine.Home = ""; p.variables["OCTET_ENABLED_EXTENSIONS"] = "alpha" }, "the home directory is unknown"},
	} {
		p := newPlace(t)
		p.extension(p.home, "alpha", `"a"`)
		c.arrange(p)
		m := p.menu()
		if !strings.Contains(m.ReadOnly, c.reason) {
			t.Errorf("%s: read-only is %q, want %q", what, m.ReadOnly, c.reason)
		}
		p.refused(m, "alpha", "the list cannot be changed here")
	}
}

// MAN-SURFACE-003: what has changed since the menu was shown is not written over.
func TestToggle_looksAgain(t *testing.T) {
	p := newPlace(t)
	p.extension(p.home, "alpha", `"a"`)
	m := p.menu()
	p.write(config.UserFile(p.home), "enabled_extensions = [\"alpha\"]\n")
	p.refused(m, "alpha", "it is no longer what the menu showed")

	m = p.menu()
	p.editor.Invocation.WorkspaceTrusted = true
	p.extension(p.workspace, "alpha", `"a"`)
	p.refused(m, "alpha", "it is no longer what the menu showed")

	p.variables["OCTET_ENABLED_EXTENSIONS"] = "alpha"
	p.refused(m, "alpha", "the variable OCTET_ENABLED_EXTENSIONS decides")
	p.refused(m, "beta", "it is not in the menu")
}

// MAN-SURFACE-004: an enabled name without an extension can be disabled, and not enabled again.
func TestToggle_unavailableCanOnlyBeDisabled(t *testing.T) {
	p := newPlace(t)
	p.write(config.UserFile(p.home), "enabled_extensions = [\"gone\", \"torn\"]\n")
	p.write(filepath.Join(p.home, ".octet", "extensions", "torn", "extension.toml"), "name = \n")
	m := p.menu()
	if len(m.Items) != 2 || m.Items[1].Unavailable == m.Items[0].Unavailable || m.Items[0].Unavailable != "it is not installed" || m.Items[1].Unavailable == "" {
		t.Fatalf("the menu is %+v", m.Items)
	}
	for _, name := range []string{"gone", "torn"} {
		if enabled, err := p.editor.Toggle(context.Background(), p.menu(), name); err != nil || enabled {
			t.Errorf("%s: enabled %v, %v", name, enabled, err)
		}
	}
	if len(p.menu().Items) != 0 {
		t.Errorf("left are %+v", p.menu().Items)
	}
	p.refused(m, "gone", "it is no longer what the menu showed")
}

// MAN-SURFACE-005: what would enable another source, or tools that somebody else has, is refused, and so is
// taking a required tool away.
func TestToggle_failsClosed(t *testing.T) {
	p := newPlace(t)
	p.extension(p.home, "alpha", `"search"`)
	p.extension(p.home, "beta", `"search"`)
	p.extension(p.home, "gamma", `"read"`)
	p.extension(p.home, "delta", `"other"`)
	p.extension(p.workspace, "delta", `"other"`)
	p.editor.Tools = func() map[string]string { return map[string]string{"read": "octet", "live": "alpha"} }
	p.write(config.UserFile(p.home), "enabled_extensions = [\"alpha\"]\n")

	p.refused(p.menu(), "beta", `its tool "search" has the name of a tool of alpha`)
	p.refused(p.menu(), "gamma", `its tool "read" has the name of a tool of octet`)
	p.refused(p.menu(), "delta", "if this workspace were trusted the entry would enable")

	for _, tool := range []string{"search", "live"} {
		p.editor.Required = []string{tool}
		p.refused(p.menu(), "alpha", "is required by --require-tool")
	}
	p.editor.Required = []string{"read"}
	if enabled, err := p.editor.Toggle(context.Background(), p.menu(), "alpha"); err != nil || enabled {
		t.Errorf("alpha: enabled %v, %v", enabled, err)
	}
}

// A bundle of the user that a copy elsewhere hides is shown with that copy, and is not enabled by mistake.
func TestToggle_refusesTheNameOfAnotherSource(t *testing.T) {
	p := newPlace(t)
	p.extension(p.home, "alpha", `"a"`)
	p.write(filepath.Join(p.home, ".octet", "extensions", "alpha", "install.json"), "{}")
	other := t.TempDir()
	p.write(filepath.Join(other, "alpha", "extension.toml"), "name = \"alpha\"\nversion = \"2.0.0\"\napi_version = \"0.4\"\nentrypoint = { command = \"run\" }\n")
	p.editor.Invocation.Directories = []string{other}
	m := p.menu()
	if len(m.Items) != 1 || !m.Items[0].Bundle || m.Items[0].Version != "2.0.0" {
		t.Fatalf("the menu is %+v", m.Items)
	}
	p.refused(m, "alpha", "and the entry would enable that")
}
