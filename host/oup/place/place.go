// Package place judges directories that clients name: where a path really leads, and whether work may be done there.
//
// Sheet: OUP core 11.1; services 19.
package place

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/octet-dev/octet/generated/oupwire"
)

// Error says why a directory is no workspace.
type Error struct {
	Kind   oupwire.CwdErrorKind
	Path   string // as the client named it
	Banned string // the directory that it may not be, or lie below
	Own    bool   // what is kept from it is what the server keeps, not the system
	Cause  error  // may be nil
}

// Error names the path, the rule and the remedy.
func (e *Error) Error() string {
	switch {
	case e.Own:
		return fmt.Sprintf("%q is not apart from the directory that the server keeps its data in; name one that is neither in it nor around it", e.Path)
	case e.Kind == oupwire.CwdErrorKindCwdNotDirectory:
		return fmt.Sprintf("%q is no directory; name the one that holds it", e.Path)
	case e.Kind == oupwire.CwdErrorKindCwdSystemPathBanned:
		return fmt.Sprintf("%q lies below %s, which belongs to the system; name a directory of your own", e.Path, e.Banned)
	}
	return fmt.Sprintf("%q cannot be reached: %v; name a directory that is there", e.Path, e.Cause)
}

// Unwrap returns the cause.
func (e *Error) Unwrap() error { return e.Cause }

var errRelative = errors.New("it is no absolute path")

// Resolve returns where a path really leads: a tilde expanded, links followed. The error is an *Error.
//
// Rule: OUP-OPEN-004.
func Resolve(path, home string) (string, error) {
	fail := func(kind oupwire.CwdErrorKind, cause error) (string, error) {
		return "", &Error{Kind: kind, Path: path, Cause: cause}
	}
	expanded := Expand(path, home)
	if !filepath.IsAbs(expanded) || strings.ContainsRune(expanded, 0) {
		return fail(oupwire.CwdErrorKindCwdNotAccessible, errRelative)
	}
	if root := Banned(filepath.Clean(expanded)); root != "" { // also where nobody may look
		return "", &Error{Kind: oupwire.CwdErrorKindCwdSystemPathBanned, Path: path, Banned: root}
	}
	real, err := filepath.EvalSymlinks(expanded)
	if err != nil {
		return fail(oupwire.CwdErrorKindCwdNotAccessible, plain(err))
	}
	if root := Banned(real); root != "" {
		return "", &Error{Kind: oupwire.CwdErrorKindCwdSystemPathBanned, Path: path, Banned: root}
	}
	info, err := os.Stat(real)
	if err != nil {
		return fail(oupwire.CwdErrorKindCwdNotAccessible, plain(err))
	}
	if !info.IsDir() {
		return fail(oupwire.CwdErrorKindCwdNotDirectory, nil)
	}
	if _, err := os.ReadDir(real); err != nil {
		return fail(oupwire.CwdErrorKindCwdNotAccessible, plain(err))
	}
	return real, nil
}

// Apart refuses a workspace that is the server's own directory, lies in it or around it, wherever links lead and also
// while that directory is not there yet: tools that read and write there would have the keys and the conversations of
// everybody. The error is an *Error.
//
// Rule: OUP-OPEN-004.
func Apart(workspace, own string) error {
	own = leads(own)
	real := leads(workspace)
	banned := own
	switch {
	case lies(real, own):
	case lies(own, real):
		banned = workspace
	default:
		return nil
	}
	return &Error{Kind: oupwire.CwdErrorKindCwdSystemPathBanned, Path: workspace, Banned: banned, Own: true}
}

// leads is where a path leads, links followed as far as it is there.
func leads(path string) string {
	if absolute, err := filepath.Abs(path); err == nil {
		path = absolute
	}
	rest := ""
	for at := path; ; at = filepath.Dir(at) {
		if real, err := filepath.EvalSymlinks(at); err == nil {
			return filepath.Join(real, rest)
		}
		if at == filepath.Dir(at) {
			return path
		}
		rest = filepath.Join(filepath.Base(at), rest)
	}
}

// lies reports whether a directory is another one, or is below it, by what they are and not by how they are spelled.
func lies(path, below string) bool {
	top, err := os.Stat(below)
	if err != nil {
		return false
	}
	for {
		if info, err := os.Stat(path); err == nil && os.SameFile(info, top) {
			return true
		}
		parent := filepath.Dir(path)
		if parent == path {
			return false
		}
		path = parent
	}
}

// Expand puts the home directory in the place of a tilde at the beginning.
func Expand(path, home string) string {
	path = strings.TrimSpace(path)
	if rest, has := strings.CutPrefix(path, "~"); has && (rest == "" || os.IsPathSeparator(rest[0])) && home != "" {
		return filepath.Join(home, rest)
	}
	return path
}

// Banned is the directory of the system that an absolute path lies in, or is; empty for none. The root is one: all of
// the others are below it.
func Banned(path string) string {
	if filepath.Clean(path) == string(filepath.Separator) {
		return "/"
	}
	top, _, _ := strings.Cut(strings.TrimPrefix(filepath.ToSlash(path), "/"), "/")
	if slices.Contains(oupwire.TableBannedWorkspaceRoots, top) {
		return "/" + top
	}
	return ""
}

// plain takes the path out of an error of the system: it is named anyway.
func plain(err error) error {
	var path *fs.PathError
	if errors.As(err, &path) {
		return path.Err
	}
	return err
}
