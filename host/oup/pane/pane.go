// Package pane shows what a workspace looks like when a session is opened: the folders and files nearest to its root.
// Nothing of the workspace is run for it, and so nothing is asked of its version control: what that would start is
// written in the workspace itself.
//
// Sheet: OUP core 11.1.
package pane

import (
	"errors"
	"io"
	"io/fs"
	"os"
	"path"
	"slices"
	"strings"
	"time"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/oup/event"
)

// skipped are folders that tell nobody anything. Source: core 11.1.
var skipped = []string{".git", "target", "node_modules"}

const (
	// maxLooked bounds the entries of one folder that are looked at.
	maxLooked = 4096
	maxDepth  = 8
)

// The words for what a snapshot lacks. Source: core 11.1.
const (
	workspaceMissing   = "workspace_missing"
	workspaceTruncated = "workspace_truncated"
	gitUnavailable     = "git_unavailable"
)

// Of is the snapshot of a session's workspace.
//
// Rule: OUP-OPEN-013.
func Of(session, root string, now time.Time) oupwire.PaneSnapshot {
	workspace := oupwire.WorkspacePane{Root: root, ReadableRoots: wirejson.Some([]string{root}), WritableRoots: wirejson.Some([]string{root})}
	entries, cut, err := look(root)
	var limits []oupwire.PaneLimitation
	switch {
	case err != nil:
		limits = append(limits, oupwire.PaneLimitation{Code: workspaceMissing, Message: "the workspace cannot be read"})
	case cut:
		limits = append(limits, oupwire.PaneLimitation{Code: workspaceTruncated, Message: "there is more than what is shown"})
	}
	if len(entries) > 0 {
		workspace.Entries = wirejson.Some(entries)
	}
	if len(limits) > 0 {
		workspace.Limitations = wirejson.Some(limits)
	}
	return oupwire.PaneSnapshot{
		SessionID: session, GeneratedAt: wirejson.Some(event.Time(now)), Workspace: wirejson.Some(workspace),
		Limitations: wirejson.Some([]oupwire.PaneLimitation{{
			Code: gitUnavailable, Message: "version control is not asked when a session is opened: it could run what the workspace names",
		}}),
	}
}

// look lists what is nearest to the root, folder by folder, and says whether something was left out.
func look(directory string) (entries []oupwire.WorkspacePaneEntry, cut bool, err error) {
	root, err := os.OpenRoot(directory)
	if err != nil {
		return nil, false, err
	}
	defer func() { _ = root.Close() }()
	level := []string{"."}
	for depth := 0; len(level) > 0; depth++ {
		var next []string
		for _, folder := range level {
			list, more, err := inside(root, folder)
			if err != nil && folder == "." {
				return nil, false, err
			}
			cut = cut || more || err != nil
			for _, e := range list {
				if len(entries) == oupwire.MaxPaneEntries {
					return sorted(entries), true, nil
				}
				name := path.Join(folder, e.Name())
				entries = append(entries, oupwire.WorkspacePaneEntry{Path: name, Label: e.Name(), Depth: int64(depth), Kind: kind(e.Type())})
				if e.IsDir() {
					next = append(next, name)
				}
			}
		}
		if level = next; depth == maxDepth && len(level) > 0 {
			return sorted(entries), true, nil
		}
	}
	return sorted(entries), cut, nil
}

// inside lists a folder by name. Links are not followed.
func inside(root *os.Root, folder string) (list []fs.DirEntry, more bool, err error) {
	info, err := root.Lstat(folder)
	if err != nil {
		return nil, false, err
	}
	if !info.IsDir() {
		return nil, false, fs.ErrInvalid
	}
	directory, err := root.Open(folder)
	if err != nil {
		return nil, false, err
	}
	defer func() { _ = directory.Close() }()
	list, err = directory.ReadDir(maxLooked)
	if errors.Is(err, io.EOF) || len(list) > 0 {
		err = nil // it is empty, or a part of it is shown
	}
	more = len(list) == maxLooked
	list = slices.DeleteFunc(list, func(e fs.DirEntry) bool { return e.IsDir() && slices.Contains(skipped, e.Name()) })
	slices.SortFunc(list, func(a, b fs.DirEntry) int { return strings.Compare(a.Name(), b.Name()) })
	return list, more, err
}

// sorted puts what is in a folder behind it.
func sorted(entries []oupwire.WorkspacePaneEntry) []oupwire.WorkspacePaneEntry {
	slices.SortFunc(entries, func(a, b oupwire.WorkspacePaneEntry) int {
		return slices.Compare(strings.Split(a.Path, "/"), strings.Split(b.Path, "/"))
	})
	return entries
}

func kind(mode fs.FileMode) oupwire.PaneEntryKind {
	switch {
	case mode.IsDir():
		return oupwire.PaneEntryKindDirectory
	case mode.IsRegular():
		return oupwire.PaneEntryKindFile
	case mode&fs.ModeSymlink != 0:
		return oupwire.PaneEntryKindSymlink
	}
	return oupwire.PaneEntryKindOther
}
