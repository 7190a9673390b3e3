package secret

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/extension/extensiontest"
)

// declaring is a manifest that lists secrets.
const declaring = "tools = [\"work\"]\n[capabilities]\nsecrets = [\"TOKEN\", \"other\"]"

var front = extension.Scope{Owner: extensiontest.DefaultFront}

// failing is a broker in pieces; it says the value wherever it can.
type failing struct{ how string }

func (f failing) Secret(context.Context, string, string) (string, bool, error) {
	if f.how == "panic" {
		panic("hunter2")
	}
	return "hunter2", true, errors.New("behind hunter2")
}

func start(t *testing.T, contributes string, b Broker) *extensiontest.Rig {
	t.Helper()
	return extensiontest.Start(t, extensiontest.Setup{Contributes: contributes, Options: extension.Options{Bindings: []extension.Binding{Binding(b)}}})
}

func want(rig *extensiontest.Rig, parent int64, name string) extensiontest.Answer {
	return rig.Ask(featurewire.MethodSecretGet, fmt.Sprintf(`{"parent_request_id":%d,"name":"%s"}`, parent, name))
}

// EXT04-SECRET-002.
func TestBinding_offers(t *testing.T) {
	for name, c := range map[string]struct {
		contributes string
		broker      Broker
		want        bool
	}{
		"configured and declared": {declaring, Map{}, true},
		"not declared":            {`tools = ["work"]`, Map{}, false},
		"an empty list":           {"tools = [\"work\"]\n[capabilities]\nsecrets = []", Map{}, false},
		"not configured":          {declaring, nil, false},
	} {
		rig := start(t, c.contributes, c.broker)
		if got := slices.Contains(rig.X.Agreement().Features, featurewire.FeatureSecrets); got != c.want {
			t.Errorf("%s: offered %t", name, got)
		}
		if !c.want {
			rig.During(front, func(parent int64) {
				want(rig, parent, "TOKEN").Refused(t, featurewire.CodeUnknownMethod, "unsupported_feature")
			})
		}
	}
}

// EXT04-SECRET-003, EXT04-SECRET-004, EXT04-SECRET-005.
func TestGet(t *testing.T) {
	long := strings.Repeat("x", featurewire.MaxSecretValueBytes)
	secrets := map[string]string{"TOKEN": "hunter2", "undeclared": "hunter3"}
	rig := start(t, declaring, Map{"demo": secrets, "else": {"other": "theirs"}})
	var settled int64
	rig.During(front, func(parent int64) {
		settled = parent
		want(rig, parent, "TOKEN").OK(t, `{"value":"hunter2"}`)
		secrets["TOKEN"] = ""
		want(rig, parent, "TOKEN").OK(t, `{"value":""}`)
		secrets["TOKEN"] = long
		want(rig, parent, "TOKEN").OK(t, `{"value":"`+long+`"}`)
		for _, name := range []string{"undeclared", "token", "", "no name", "9", strings.Repeat("x", featurewire.MaxManifestIdentifierBytes+1), strings.Repeat("x", featurewire.MaxManifestIdentifierBytes)} {
			want(rig, parent, name).Refused(t, featurewire.CodeInvalidParams, "")
		}
		rig.Ask(featurewire.MethodSecretGet, fmt.Sprintf(`{"parent_request_id":%d}`, parent)).Refused(t, featurewire.CodeInvalidParams, "")
	})
	rig.During(extension.Scope{}, func(parent int64) {
		want(rig, parent, "TOKEN").Refused(t, featurewire.CodeNotForegroundOwner, "")
	})
	want(rig, settled, "TOKEN").Refused(t, featurewire.CodeNotForegroundOwner, "")
}

// A missing value and every failure look the same, and say nothing.
//
// EXT04-SECRET-006, EXT04-SECRET-007.
func TestGet_unavailable(t *testing.T) {
	for name, b := range map[string]Broker{
		"missing":         Map{},
		"of another":      Map{"else": {"TOKEN": "hunter2"}},
		"broken":          failing{},
		"panicking":       failing{"panic"},
		"too long":        Map{"demo": {"TOKEN": "hunter2" + strings.Repeat("x", featurewire.MaxSecretValueBytes)}},
		"no text":         Map{"demo": {"TOKEN": "hunter2\xff"}},
		"no such file":    File{filepath.Join(t.TempDir(), "none")},
		"no such folder":  File{filepath.Join(t.TempDir(), "no", "ne")},
		"a folder":        File{t.TempDir()},
		"an unusable one": File{write(t, `{"demo":{"TOKEN":7,"x":"hunter2"}}`, 0o600)},
	} {
		rig := start(t, declaring, b)
		result := rig.During(front, func(parent int64) {
			answer := want(rig, parent, "TOKEN")
			answer.Refused(t, featurewire.CodeSecretUnavailable, "secret is unavailable")
			if answer.Refusal != nil && (answer.Refusal.Message != "secret is unavailable" || answer.Refusal.Data != nil) {
				t.Errorf("%s: %+v", name, answer.Refusal)
			}
		})
		rig.X.Close()
		if rig.Diagnosed("hunter2") || strings.Contains(result.Text(), "hunter2") {
			t.Errorf("%s: the value is told: %q", name, rig.Diagnostics())
		}
	}
}

// A value that is given is told nowhere else.
//
// EXT04-SECRET-007.
func TestGet_tellsNobodyElse(t *testing.T) {
	rig := start(t, declaring, Map{"demo": {"TOKEN": "hunter2"}})
	rig.During(front, func(parent int64) {
		want(rig, parent, "TOKEN").OK(t, `{"value":"hunter2"}`)
		p := rig.Send(featurewire.MethodSecretGet, fmt.Sprintf(`{"parent_request_id":%d,"name":"TOKEN"}`, parent))
		rig.Cancel(p)
		p.Wait()
	})
	rig.X.Close()
	if rig.Diagnosed("hunter2") {
		t.Errorf("diagnostics: %q", rig.Diagnostics())
	}
	if text := fmt.Sprintf("%v %+v %#v", featurewire.SecretGetResult{Value: "hunter2"}, featurewire.SecretGetResult{Value: "hunter2"}, featurewire.SecretGetResult{Value: "hunter2"}); strings.Contains(text, "hunter2") {
		t.Errorf("a printed result is %s", text)
	}
}

func write(t *testing.T, text string, mode os.FileMode) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "secrets.json")
	if err := os.WriteFile(path, []byte(text), mode); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(path, mode); err != nil { // whatever the mask says
		t.Fatal(err)
	}
	return path
}

func TestFile(t *testing.T) {
	const text = `{"demo":{"TOKEN":"hunter2"}}`
	f := File{write(t, text, 0o600)}
	if value, found, err := f.Secret(t.Context(), "demo", "TOKEN"); value != "hunter2" || !found || err != nil {
		t.Errorf("%q %t %v", value, found, err)
	}
	if value, found, err := f.Secret(t.Context(), "else", "TOKEN"); value != "" || found || err != nil {
		t.Errorf("%q %t %v", value, found, err)
	}
	if err := os.WriteFile(f.Path, []byte(`{"demo":{"TOKEN":"new"}}`), 0o600); err != nil {
		t.Fatal(err)
	}
	if value, _, _ := f.Secret(t.Context(), "demo", "TOKEN"); value != "new" {
		t.Errorf("a change does not count: %q", value)
	}
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(f.Path, link); err != nil {
		t.Fatal(err)
	}
	large := write(t, text, 0o600)
	if err := os.Truncate(large, maxFileBytes+1); err != nil {
		t.Fatal(err)
	}
	bad := map[string]struct {
		path string
		want error
	}{"link": {link, errNotRegular}, "large": {large, errTooLarge}, "form": {write(t, `["hunter2"]`, 0o600), errForm}, "directory": {t.TempDir(), errNotRegular}}
	if runtime.GOOS != "windows" {
		bad["group"] = struct {
			path string
			want error
		}{write(t, text, 0o640), errOpen}
	}
	for name, c := range bad {
		if value, found, err := (File{c.path}).Secret(t.Context(), "demo", "TOKEN"); !errors.Is(err, c.want) || found || value != "" || strings.Contains(err.Error(), "hunter2") {
			t.Errorf("%s: %q %t %v, want %v", name, value, found, err, c.want)
		}
	}
}
