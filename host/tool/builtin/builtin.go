// Package builtin has the tools of the host itself: read, write, edit, list, glob, grep and shell.
//
// File tools stay inside the workspace, also when links lead out of it, unless external paths are allowed. Octet's own
// data they never touch. Where a path leads is found out before anybody is asked, and what was asked about is what is
// opened: a link that is changed in between is refused.
// Everything is bounded: what is read, found, kept of an output, and how long it takes. What is changed is
// reported with the result.
package builtin

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/octet-dev/octet/host/tool"
)

// Options say what the tools work on. Workspace is required.
type Options struct {
	Workspace          string // a directory; absolute
	AllowExternalPaths bool
	// Private is where octet keeps its own data: no file tool touches what is in it, whoever allows it. Empty: nowhere.
	Private string
	// Env is the complete environment of commands as NAME=value entries. Nil: the environment of this
	// program without its own settings (OCTET_) and the keys of model providers.
	Env []string
	// Shell is the absolute path of the shell; empty: /bin/sh, or the command interpreter of Windows.
	Shell string
	// Timeout is how long a command may run that asks for nothing else, MaxTimeout what it may ask for.
	// Defaults: 2 and 10 minutes.
	Timeout, MaxTimeout time.Duration
	// After is the clock: it behaves like time.After. Nil means time.After.
	After func(time.Duration) <-chan time.Time
}

// Tools are the tools of one workspace: a snapshot of them all.
type Tools struct {
	tool.Snapshot
	space *workspace
}

// Open makes the tools. The caller closes them.
func Open(o Options) (*Tools, error) {
	if !filepath.IsAbs(o.Workspace) {
		return nil, fmt.Errorf("workspace %q is not an absolute path", o.Workspace)
	}
	if o.Shell == "" {
		o.Shell = DefaultShell()
	}
	if o.Timeout == 0 {
		o.Timeout = 2 * time.Minute
	}
	if o.MaxTimeout == 0 {
		o.MaxTimeout = 10 * time.Minute
	}
	if o.After == nil {
		o.After = time.After
	}
	if o.Env == nil {
		o.Env = Environment(os.Environ())
	}
	space, err := openWorkspace(o.Workspace, o.AllowExternalPaths, o.Private)
	if err != nil {
		return nil, err
	}
	snapshot, err := tool.Of(
		readTool{space}, writeTool{space}, editTool{space}, listTool{space}, globTool{space}, grepTool{space}, shellTool{options: o},
	)
	if err != nil {
		return nil, errors.Join(err, space.close())
	}
	return &Tools{Snapshot: snapshot, space: space}, nil
}

// Close gives the workspace back. Calls that run must have ended.
func (t *Tools) Close() error { return t.space.close() }

// decode reads arguments that fit the parameters.
func decode[T any](call tool.Call) (arguments T, err error) {
	err = json.Unmarshal(call.Arguments, &arguments)
	return arguments, err
}

// answer makes a result of what a tool found out, or of why it could not. When the call was cancelled there
// is none.
func answer(ctx context.Context, text string, err error) (tool.Result, error) {
	switch {
	case ctx.Err() != nil:
		return tool.Result{}, context.Cause(ctx)
	case err != nil:
		return tool.Failed(err.Error()), nil
	}
	return tool.Said(text), nil
}
