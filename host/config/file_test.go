package config

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/octet-dev/octet/host/diagnostic"
)

// home makes a directory with a configuration.
func home(t *testing.T, text string) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.Mkdir(filepath.Join(dir, ".octet"), 0o700); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(UserFile(dir), []byte(text), 0o600); err != nil {
		t.Fatal(err)
	}
	return dir
}

func readers() map[string]func(string) (Layer, []diagnostic.Diagnostic) {
	return map[string]func(string) (Layer, []diagnostic.Diagnostic){"user": ReadUser, "project": ReadProject}
}

// MAN-ENABLE-003, MAN-ENABLE-004.
func TestRead(t *testing.T) {
	dir := home(t, "enabled_extensions = [\"a\"]\n")
	for name, read := range readers() {
		layer, told := read(dir)
		if len(told) > 0 || len(layer.Values) != 1 || layer.Values[0].Place.Name != UserFile(dir) || layer.Values[0].Place.Origin.String() != name {
			t.Errorf("%s: read %+v, told %v", name, layer, told)
		}
	}
}

func TestRead_nothingThere(t *testing.T) {
	empty := t.TempDir()
	if err := os.WriteFile(filepath.Join(empty, ".octet"), nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if layer, told := ReadProject(empty); len(layer.Values) > 0 || len(told) > 0 {
		t.Errorf("a file called .octet gives %+v, %v", layer, told)
	}
	for name, read := range readers() {
		for _, dir := range []string{t.TempDir(), filepath.Join(t.TempDir(), "none")} {
			if layer, told := read(dir); len(layer.Values) > 0 || len(told) > 0 {
				t.Errorf("%s: an absent file gives %+v, %v", name, layer, told)
			}
		}
	}
	layer, told := ReadUser("relative")
	if len(layer.Values) > 0 || len(told) != 1 || told[0].Level != diagnostic.Info {
		t.Errorf("an unknown home gives %+v, %v", layer, told)
	}
}

func TestRead_size(t *testing.T) {
	fill := func(size int) string {
		front := "allow_shell = false\n#"
		return front + strings.Repeat("x", size-len(front))
	}
	for name, read := range readers() {
		if layer, told := read(home(t, fill(MaxFileBytes))); len(layer.Values) != 1 || len(told) > 0 {
			t.Errorf("%s: at the limit: %v", name, told)
		}
		layer, told := read(home(t, fill(MaxFileBytes+1)))
		if len(layer.Values) != 0 || len(told) != 1 || told[0].Message != "the configuration is longer than 262144 bytes" {
			t.Errorf("%s: one over: %+v, %v", name, layer, told)
		}
	}
}

// The user's own file may be a link, as people keep it elsewhere; nothing of a workspace may be.
func TestRead_links(t *testing.T) {
	real := home(t, "allow_shell = false")
	file, directory := t.TempDir(), t.TempDir()
	if err := os.Mkdir(filepath.Join(file, ".octet"), 0o700); err != nil {
		t.Fatal(err)
	}
	for link, target := range map[string]string{UserFile(file): UserFile(real), filepath.Join(directory, ".octet"): filepath.Join(real, ".octet")} {
		if err := os.Symlink(target, link); err != nil {
			t.Fatal(err)
		}
	}
	for _, dir := range []string{file, directory} {
		if layer, told := ReadUser(dir); len(layer.Values) != 1 || len(told) > 0 {
			t.Errorf("the user's link gives %+v, %v", layer, told)
		}
		layer, told := ReadProject(dir)
		if len(layer.Values) != 0 || len(told) != 1 || told[0].Level != diagnostic.Error || !strings.Contains(told[0].Message, "symbolic link") {
			t.Errorf("the link of a workspace gives %+v, %v", layer, told)
		}
	}
	special := t.TempDir()
	if err := os.MkdirAll(UserFile(special), 0o700); err != nil {
		t.Fatal(err)
	}
	for name, read := range readers() {
		if _, told := read(special); len(told) != 1 || !strings.Contains(told[0].Message, "no regular file") {
			t.Errorf("%s: a directory gives %v", name, told)
		}
	}
}

func TestSave(t *testing.T) {
	path := UserFile(filepath.Join(t.TempDir(), "fresh"))
	for _, c := range []struct {
		name    string
		present bool
		changed bool
		want    string
	}{
		{"a", true, true, "enabled_extensions = [\"a\"]\n"},
		{"a", true, false, "enabled_extensions = [\"a\"]\n"},
		{"b", true, true, "enabled_extensions = [\"a\", \"b\"]\n"},
		{"a", false, true, "enabled_extensions = [\"b\"]\n"},
		{"c", false, false, "enabled_extensions = [\"b\"]\n"},
	} {
		changed, err := Save(t.Context(), path, Change{EnabledExtensions, c.name, c.present})
		text, readErr := os.ReadFile(path)
		if err != nil || readErr != nil || changed != c.changed || string(text) != c.want {
			t.Errorf("%+v: %v, %v, %v, now %q", c, changed, err, readErr, text)
		}
	}
	info, err := os.Stat(path)
	if err != nil || info.Mode().Perm()&0o077 != 0 {
		t.Errorf("others may read the new file: %v, %v", info.Mode(), err)
	}
	if left, _ := filepath.Glob(filepath.Join(filepath.Dir(path), ".config-*")); len(left) > 0 {
		t.Errorf("left behind: %q", left)
	}
}

func TestSave_keepsModeAndLink(t *testing.T) {
	real := home(t, "# mine\n")
	link := t.TempDir()
	if err := os.Symlink(filepath.Join(real, ".octet"), filepath.Join(link, ".octet")); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(UserFile(real), 0o640); err != nil {
		t.Fatal(err)
	}
	moved := filepath.Join(real, "dotfiles.toml")
	if err := os.Rename(UserFile(real), moved); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(moved, UserFile(real)); err != nil {
		t.Fatal(err)
	}
	if _, err := Save(t.Context(), UserFile(link), Change{TrustedExtensions, "a", true}); err != nil {
		t.Fatal(err)
	}
	text, err := os.ReadFile(moved)
	if err != nil || string(text) != "# mine\ntrusted_extensions = [\"a\"]\n" {
		t.Errorf("the file behind the link holds %q, %v", text, err)
	}
	if info, err := os.Lstat(UserFile(real)); err != nil || info.Mode()&os.ModeSymlink == 0 {
		t.Errorf("the link is gone: %v, %v", info, err)
	}
	if info, err := os.Stat(moved); err != nil || info.Mode().Perm() != 0o640 {
		t.Errorf("the mode is %v, %v, want 0640", info.Mode(), err)
	}
}

func TestSave_refusals(t *testing.T) {
	long := "#" + strings.Repeat("x", MaxFileBytes-1)
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, c := range map[string]struct{ path, want string }{
		"broken":       {UserFile(home(t, "x =")), "invalid TOML"},
		"over a bound": {UserFile(home(t, long)), "would be longer than 262144 bytes"},
		"over already": {UserFile(home(t, long+"x")), "is longer than 262144 bytes"},
		"a file above": {filepath.Join(file, "config.toml"), "not a directory"},
	} {
		before, _ := os.ReadFile(c.path)
		_, err := Save(t.Context(), c.path, Change{EnabledExtensions, "a", true})
		after, _ := os.ReadFile(c.path)
		if err == nil || !strings.Contains(err.Error(), c.want) || !strings.Contains(err.Error(), c.path) || string(before) != string(after) {
			t.Errorf("%s: %v, changed %v", name, err, string(before) != string(after))
		}
	}
}

// Writers that come at once all get their name in, and readers see whole files only.
func TestSave_atOnce(t *testing.T) {
	dir := home(t, "# mine\n"+strings.Repeat("# filler\n", 1000))
	done := make(chan struct{})
	var reader, writers sync.WaitGroup
	reader.Go(func() {
		for {
			if _, told := ReadUser(dir); len(told) > 0 {
				t.Errorf("a reader saw %v", told)
				return
			}
			select {
			case <-done:
				return
			default:
			}
		}
	})
	const count = 16
	for i := range count {
		writers.Go(func() {
			if _, err := Save(t.Context(), UserFile(dir), Change{EnabledExtensions, fmt.Sprintf("x%d", i), true}); err != nil {
				t.Error(err)
			}
		})
	}
	writers.Wait()
	close(done)
	reader.Wait()
	layer, _ := ReadUser(dir)
	if len(layer.Values) != 1 || len(layer.Values[0].Value.List) != count {
		t.Fatalf("%+v, want %d names", layer.Values, count)
	}
	for i := range count {
		if !slices.Contains(layer.Values[0].Value.List, fmt.Sprintf("x%d", i)) {
			t.Errorf("x%d is lost", i)
		}
	}
}

// A writer that waits for another one gives up with its context.
func TestSave_cancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	path := UserFile(home(t, "# mine\n"))
	if _, err := Save(ctx, path, Change{EnabledExtensions, "a", true}); err == nil {
		t.Error("a cancelled writer wrote")
	}
	if text, _ := os.ReadFile(path); string(text) != "# mine\n" {
		t.Errorf("the file is now %q", text)
	}
}
