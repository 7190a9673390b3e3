//go:build unix

package repository_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/octet-dev/octet/host/oup/repository"
)

func git(t *testing.T, dir string, words ...string) {
	t.Helper()
	command := exec.Command("git", append([]string{"-C", dir, "-c", "user.name=n", "-c", "user.email=e"}, words...)...)
	if out, err := command.CombinedOutput(); err != nil {
		t.Fatalf("git %v: %v: %s", words, err, out)
	}
}

func TestLook(t *testing.T) {
	if _, err := exec.LookPath("git"); err != nil {
		t.Fatal("git is needed to test what it is asked: ", err)
	}
	dir := t.TempDir()
	if state, has := repository.Look(t.Context(), dir); has {
		t.Errorf("a plain folder is %+v", state)
	}
	git(t, dir, "init", "-q")
	state, has := repository.Look(t.Context(), dir)
	if !has || state.Dirty || state.Revision != "" || state.Problem != "" || state.Label != filepath.Base(dir) {
		t.Errorf("a new one is %+v", state)
	}
	if err := os.WriteFile(filepath.Join(dir, "f"), []byte("1"), 0o600); err != nil {
		t.Fatal(err)
	}
	if state, _ := repository.Look(t.Context(), dir); !state.Dirty {
		t.Errorf("with a new file it is %+v", state)
	}
	git(t, dir, "add", "f")
	git(t, dir, "commit", "-q", "-m", "m")
	if state, _ := repository.Look(t.Context(), dir); state.Dirty || len(state.Revision) != 40 {
		t.Errorf("committed it is %+v", state)
	}
	// What the repository names is not run.
	ran := filepath.Join(t.TempDir(), "ran")
	hook := filepath.Join(dir, "hook.sh")
	if err := os.WriteFile(hook, []byte("#!/bin/sh\n: >"+ran+"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	git(t, dir, "config", "core.fsmonitor", hook)
	if state, _ := repository.Look(t.Context(), dir); !state.Dirty {
		t.Errorf("with another file it is %+v", state)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("a program that the repository names was run")
	}
	git(t, dir, "config", "--unset", "core.fsmonitor")
	git(t, dir, "config", "filter.x.clean", hook)
	for file, text := range map[string]string{filepath.Join(".git", "info", "attributes"): "* filter=x\n", "f": "2"} {
		if err := os.WriteFile(filepath.Join(dir, file), []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if state, has := repository.Look(t.Context(), dir); !has || !strings.Contains(state.Problem, "filter.x.clean") {
		t.Errorf("with a filter it is %+v", state)
	}
	if _, err := os.Stat(ran); err == nil {
		t.Error("a filter that the repository names was run")
	}
	git(t, dir, "config", "--unset", "filter.x.clean")
	if err := os.WriteFile(filepath.Join(dir, ".git", "HEAD"), []byte("nonsense"), 0o600); err != nil {
		t.Fatal(err)
	}
	if state, has := repository.Look(t.Context(), dir); !has || state.Problem == "" {
		t.Errorf("a damaged one is %+v", state)
	}
}
