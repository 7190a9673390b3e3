//go:build unix

package discovery

import (
	"errors"
	"io/fs"
	"os"
	"syscall"
	"testing"
)

// TestDiscover_runsNothing puts executables wherever something careless would run one: as entry points,
// as interpreters on the search path, as hooks of version control. Each would leave a mark.
//
// MAN-DISCOVER-001.
func TestDiscover_runsNothing(t *testing.T) {
	m := newMachine(t)
	mark := m.path("mark")
	script := "#!/bin/sh\n: > '" + mark + "'\n"
	plant := func(slashed string) {
		m.write(slashed, script)
		if err := os.Chmod(m.path(slashed), 0o700); err != nil {
			t.Fatal(err)
		}
	}
	for _, name := range []string{"sh", "bash", "python3", "python", "node", "env", "git", "uv", "npx"} {
		plant("path/" + name)
	}
	t.Setenv("PATH", m.path("path"))
	for _, root := range []string{globalRoot, projectRoot, "explicit"} {
		m.write(root+"/good/extension.toml", legal("good"))
		m.write(root+"/bad/extension.toml", "name = 1")
		for _, name := range []string{"run", "good", "extension.py", "main.py", "index.js", "setup.py", "install.sh", ".git/hooks/post-checkout"} {
			plant(root + "/good/" + name)
			plant(root + "/bad/" + name)
		}
		plant(root + "/extension.toml")
		plant(root + "/run")
	}
	m.places.Directories = []string{m.path("explicit")}
	m.discover()
	if _, err := os.Lstat(mark); !errors.Is(err, fs.ErrNotExist) {
		t.Errorf("discovery ran something: %v", err)
	}
	// The plants do what the test believes.
	program, err := os.StartProcess(m.path("explicit/good/run"), []string{"run"}, &os.ProcAttr{})
	if err != nil {
		t.Fatal(err)
	}
	if _, err := program.Wait(); err != nil {
		t.Fatal(err)
	}
	if _, err := os.Lstat(mark); err != nil {
		t.Errorf("the planted program leaves no mark: %v", err)
	}
}

// A pipe without a writer would block whoever opens it.
//
// MAN-DISCOVER-013, MAN-DISCOVER-015.
func TestDiscover_pipes(t *testing.T) {
	m := newMachine(t)
	m.mkdir(globalRoot + "/a")
	for _, path := range []string{globalRoot + "/pipe", globalRoot + "/a/extension.toml", "root"} {
		if err := syscall.Mkfifo(m.path(path), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	m.places.Directories = []string{m.path("root")}
	m.expect(m.discover(), nil,
		"warning MAN-DISCOVER-015 "+globalRoot+"/a/extension.toml", "warning MAN-DISCOVER-009 root")
}
