// Package repository looks at the version control of a workspace.
package repository

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"time"

	"github.com/octet-dev/octet/host/tool/builtin"
	"github.com/octet-dev/octet/process"
)

// State is how a repository stands.
type State struct {
	Label    string // for people: the name of its folder
	Kind     string
	Revision string // empty where nothing was committed
	Dirty    bool   // something is changed or new
	Problem  string // why nothing is known of it
}

const (
	kind = "git"
	// patience is how long a look may take.
	patience = 10 * time.Second
	// maxBytes is how much of the answer is read: the first lines say it all.
	maxBytes = 64 << 10
)

var stages = process.Stages{Terminate: 250 * time.Millisecond, Kill: time.Second}

// Look looks at the repository whose root a workspace is. has is false where it is none.
func Look(ctx context.Context, workspace string) (state State, has bool) {
	if _, err := os.Lstat(filepath.Join(workspace, ".git")); err != nil {
		return State{}, false
	}
	state = State{Label: filepath.Base(workspace), Kind: kind}
	text, err := ask(ctx, workspace)
	if err != nil {
		state.Problem = err.Error()
		return state, true
	}
	for line := range strings.SplitSeq(text, "\x00") {
		oid, is := strings.CutPrefix(line, "# branch.oid ")
		switch {
		case is && oid != "(initial)":
			state.Revision = oid
		case line != "" && !strings.HasPrefix(line, "# "):
			state.Dirty = true
		}
	}
	return state, true
}

// ask asks git how the workspace stands. It changes nothing, waits for nobody, and runs nothing that the repository
// names: a monitor of files and hooks are switched off, and where it names filters, through which status would send
// files, nothing is asked.
func ask(ctx context.Context, workspace string) (string, error) {
	drivers, err := run(ctx, workspace, 1, "config", "--show-scope", "--name-only", "--includes", "--get-regexp", `^filter\.`)
	if err != nil {
		return "", err
	}
	for line := range strings.Lines(drivers) {
		scope, name, _ := strings.Cut(strings.TrimSpace(line), "\t")
		if scope == "local" || scope == "worktree" {
			return "", fmt.Errorf("git is not asked: the repository names a program, %s, that it would run; take that out of its configuration", name)
		}
	}
	return run(ctx, workspace, 0, "-c", "core.fsmonitor=false", "-c", "core.hooksPath="+os.DevNull, "status", "--porcelain=v2", "--branch", "-z",
		"--ignore-submodules=all", "--untracked-files=normal")
}

// run runs git and returns the beginning of what it prints. It may end with a code up to most.
func run(ctx context.Context, workspace string, most int, args ...string) (string, error) {
	git, err := exec.LookPath("git")
	if err != nil {
		return "", errors.New("git is not installed")
	}
	if git, err = filepath.Abs(git); err != nil {
		return "", err
	}
	p, err := process.Start(process.Options{
		Path: git, Dir: workspace, Args: args,
		Env: append(builtin.Environment(os.Environ()), "GIT_OPTIONAL_LOCKS=0", "GIT_TERMINAL_PROMPT=0"),
	})
	if err != nil {
		return "", fmt.Errorf("git cannot be started: %w", err)
	}
	_ = p.Stdin().Close()
	var out bytes.Buffer
	drained := make(chan struct{})
	go func() {
		defer close(drained)
		_, _ = io.Copy(&out, io.LimitReader(p.Stdout(), maxBytes))
		_, _ = io.Copy(io.Discard, p.Stdout())
	}()
	late := time.NewTimer(patience)
	defer late.Stop()
	select {
	case <-p.Exited():
		select {
		case <-drained:
		case <-late.C:
		}
	case <-ctx.Done():
	case <-late.C:
	}
	report := p.End(stages)
	<-drained
	if report.Stage != process.StageSelf || report.State.Code > most {
		return "", fmt.Errorf("git says nothing: %s: %s", report.State, strings.TrimSpace(p.Stderr().String()))
	}
	return out.String(), nil
}
