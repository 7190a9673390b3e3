package house

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// Refusal says why a folder is no workspace. Each is a kind of error of session/open.
type Refusal int

// The refusals.
const (
	NotAccessible Refusal = iota + 1
	NotDirectory
	SystemPath
)

// WorkspaceError says that a folder is no workspace.
type WorkspaceError struct {
	Refusal Refusal
	Cwd     string // as it was named
	Banned  string // the folder of the system, for SystemPath
	Err     error  // for NotAccessible
}

// Error names the folder and says why.
func (e *WorkspaceError) Error() string {
	switch e.Refusal {
	case NotDirectory:
		return fmt.Sprintf("cwd %q is no folder", e.Cwd)
	case SystemPath:
		return fmt.Sprintf("cwd %q lies below %s, which belongs to the system; name a folder of your own", e.Cwd, e.Banned)
	}
	return fmt.Sprintf("cwd %q cannot be reached: %v", e.Cwd, e.Err)
}

// Unwrap returns the cause.
func (e *WorkspaceError) Unwrap() error { return e.Err }

// banned are folders of the system. Nothing below them is a workspace, and neither is the root.
var banned = []string{
	"/bin", "/boot", "/dev", "/etc", "/lib", "/lib32", "/lib64", "/proc", "/run", "/sbin", "/sys", "/usr", "/System", "/Library", "/private/etc",
}

// Workspace is the canonical root of the workspace that a client names: absolute, or below the home of the user
// with a tilde. Links are followed before anything is decided. The error is a *WorkspaceError.
//
// Rule: OUP-KEY-012.
func Workspace(cwd string) (string, error) {
	path := cwd
	if path == "~" || strings.HasPrefix(path, "~/") {
		home, err := os.UserHomeDir()
		if err != nil {
			return "", &WorkspaceError{Refusal: NotAccessible, Cwd: cwd, Err: err}
		}
		path = filepath.Join(home, strings.TrimPrefix(path, "~"))
	}
	switch {
	case strings.ContainsRune(path, 0):
		return "", &WorkspaceError{Refusal: NotAccessible, Cwd: cwd, Err: errors.New("the path has a NUL byte")}
	case !filepath.IsAbs(path):
		return "", &WorkspaceError{Refusal: NotAccessible, Cwd: cwd, Err: errors.New("the path is relative; name an absolute one")}
	}
	if root := below(filepath.Clean(path)); root != "" {
		return "", &WorkspaceError{Refusal: SystemPath, Cwd: cwd, Banned: root}
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", &WorkspaceError{Refusal: NotAccessible, Cwd: cwd, Err: plain(err)}
	}
	if root := below(real); root != "" {
		return "", &WorkspaceError{Refusal: SystemPath, Cwd: cwd, Banned: root}
	}
	return folder(path)
}

// folder is where the path of a folder leads. The error is a *WorkspaceError.
func folder(cwd string) (string, error) {
	path, err := filepath.Abs(cwd)
	if err == nil {
		path, err = filepath.EvalSymlinks(path)
	}
	if err != nil {
		return "", &WorkspaceError{Refusal: NotAccessible, Cwd: cwd, Err: plain(err)}
	}
	info, err := os.Stat(path)
	switch {
	case err != nil:
		return "", &WorkspaceError{Refusal: NotAccessible, Cwd: cwd, Err: plain(err)}
	case !info.IsDir():
		return "", &WorkspaceError{Refusal: NotDirectory, Cwd: cwd}
	}
	directory, err := os.Open(path)
	if err != nil {
		return "", &WorkspaceError{Refusal: NotAccessible, Cwd: cwd, Err: plain(err)}
	}
	return path, directory.Close()
}

// below is the folder of the system that a path lies in, empty for none.
func below(path string) string {
	if path == "/" {
		return "/"
	}
	i := slices.IndexFunc(banned, func(root string) bool { return path == root || strings.HasPrefix(path, root+"/") })
	if i < 0 {
		return ""
	}
	return banned[i]
}

func plain(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
