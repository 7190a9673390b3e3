package oupserver

import (
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
)

// many is what the server does that is not one person's.
const many = "serves many people"

// forOne are requests that a server for one person alone carries out.
func forOne(method string) bool {
	return slices.ContainsFunc(oupwire.TableServiceMethodErrors, func(r oupwire.ServiceMethodErrorsRow) bool {
		return r.Method == method && r.Kind == kindForOne
	})
}

// kindForOne is the kind of the error of what a server for one person alone carries out.
const kindForOne = "profile_local_unsupported"

// servedToOne are the features that a server for one person alone stands behind.
var servedToOne = []string{
	oupwire.FeatureOnboardingWorkspaceProbeV1, oupwire.FeatureOnboardingWorkspaceBrowseV1, oupwire.FeatureProfileLocalCreateV1,
	oupwire.FeatureProfileLocalCreateRequestedIDV1, oupwire.FeatureProfileLocalCreateDefaultV1,
}

// closedToMany is why a request is closed on a server that is not for one person.
func (s *Server) closedToMany(method string) (reason, kind string) {
	if method != oupwire.MethodProfileLocalCreate && s.does("looks at folders for many people") || method == oupwire.MethodProfileLocalCreate && s.does("makes profiles for many people") {
		return "", ""
	}
	return "is for the one person of a server", kindForOne
}

// runtimeMode is whom the server serves.
func (s *Server) runtimeMode() oupwire.RuntimeMode {
	if s.does(many) {
		return oupwire.RuntimeModeMultiTenant
	}
	return oupwire.RuntimeModeSolo
}

// refuseOthers refuses what a server for one person alone carries out.
func (s *Server) refuseOthers() *failure {
	if s.does("does not say that it serves many people") {
		return fail(oupwire.ErrPermissionDenied, "not here", nil)
	}
	return failKind(oupwire.ErrPermissionDenied, kindForOne, "the server is not for one person", object{"runtime_mode": s.runtimeMode()})
}

// refuseParams refuses params that break their model; the kind follows from the table.
func (s *Server) refuseParams(method string, err error) *failure {
	f := fail(oupwire.ErrInvalidParams, err.Error(), nil)
	var v *wirejson.Violation
	if !errors.As(err, &v) {
		return f
	}
	for _, row := range oupwire.TableServiceParamRefusals {
		if row.Method != method || row.Pointer != v.Pointer || s.does("does not say which param of a service is wrong") {
			continue
		}
		f.data = object{"kind": row.Kind}
		if method == oupwire.MethodOnboardingWorkspaceProbe && !s.does("does not say that a path is blank") {
			f.data["reason"] = "empty"
		}
	}
	return f
}

// placeHandlers carry out what is about folders.
func placeHandlers() map[string]handler {
	return map[string]handler{
		oupwire.MethodOnboardingWorkspaceProbe:  (*Server).probe,
		oupwire.MethodOnboardingWorkspaceList:   (*Server).folders,
		oupwire.MethodOnboardingWorkspaceCreate: (*Server).makeFolder,
	}
}

// banned is the directory around a path in which no workspace may lie; empty for none.
func (s *Server) banned(path string) string {
	top, _, _ := strings.Cut(strings.TrimPrefix(filepath.ToSlash(path), "/"), "/")
	if slices.Contains(oupwire.TableBannedWorkspaceRoots, top) && !s.does("works in folders of the system") {
		return "/" + top
	}
	return ""
}

func (s *Server) probe(_ *conn, p object) (object, *failure, []func()) {
	asked := text(p, "path")
	path := asked
	if rest, home := strings.CutPrefix(asked, "~/"); home && !s.does("takes the home of a path by its word") {
		if dir, err := os.UserHomeDir(); err == nil {
			path = filepath.Join(dir, rest)
		}
	}
	info, err := os.Stat(path)
	result := object{
		"requested_path": asked, "expanded_path": path, "canonical_path": nil, "exists": err == nil, "is_directory": err == nil && info.IsDir(), "writable": false,
		"workspace_policy": object{"present": false, "parse_error": nil, "kind": nil}, "root_escape": false, "banned_root": nil, "runtime_mode": s.runtimeMode(),
	}
	if err != nil && s.does("fails where a path is not there") {
		return nil, fail(oupwire.ErrInvalidParams, "there is nothing", nil), nil
	}
	if real, err := filepath.EvalSymlinks(path); err == nil {
		result["canonical_path"] = real
		result["writable"] = result["is_directory"]
	}
	if root := s.banned(path); root != "" {
		result["root_escape"], result["banned_root"], result["writable"] = true, root, false
	}
	return result, nil, nil
}

// folder looks whether a directory may be listed or written.
func (s *Server) folder(path, prefix, missing, other string) (string, *failure) {
	refuse := func(word, text string, more object) (string, *failure) {
		return "", failKind(oupwire.ErrInvalidParams, prefix+word, text, more)
	}
	real, err := filepath.EvalSymlinks(path)
	if err != nil || !filepath.IsAbs(path) {
		return refuse(missing, "there is no such folder", nil)
	}
	for _, each := range []string{path, real} {
		if root := s.banned(each); root != "" {
			return refuse("root_escape", "no workspace may lie there", object{"banned_root": root})
		}
	}
	if info, err := os.Stat(real); err != nil || !info.IsDir() {
		return refuse(other, "it is no folder", nil)
	}
	return real, nil
}

func (s *Server) folders(_ *conn, p object) (object, *failure, []func()) {
	path := text(p, "path")
	if _, there := p["path"]; !there {
		path, _ = os.UserHomeDir()
	}
	real, f := s.folder(path, "workspace_list_", "not_found", "not_a_directory")
	if f != nil {
		return nil, f, nil
	}
	all, err := os.ReadDir(real)
	if err != nil {
		return nil, failKind(oupwire.ErrInvalidParams, "workspace_list_permission_denied", "it may not be read", nil), nil
	}
	names, hidden := []string{}, 0
	for _, each := range all {
		switch {
		case !each.IsDir():
		case strings.HasPrefix(each.Name(), ".") && !s.does("lists hidden folders"):
			hidden++
		default:
			names = append(names, each.Name())
		}
	}
	if !s.does("lists folders by their bytes") {
		slices.SortFunc(names, func(a, b string) int { return strings.Compare(strings.ToLower(a), strings.ToLower(b)) })
	}
	truncated := len(names) > oupwire.MaxWorkspaceEntries && !s.does("lists folders without end")
	if truncated {
		names = names[:oupwire.MaxWorkspaceEntries]
	}
	entries := []any{}
	for _, name := range names {
		entries = append(entries, object{"name": name, "path": filepath.Join(real, name), "writable": true})
	}
	result := object{"canonical_path": real, "parent_path": filepath.Dir(real), "writable": true, "entries": entries, "truncated": truncated, "hidden_skipped": hidden}
	if (filepath.Dir(real) == real || s.banned(filepath.Dir(real)) != "") && !s.does("has a folder above the first") {
		result["parent_path"] = nil
	}
	return result, nil, nil
}

func (s *Server) makeFolder(_ *conn, p object) (object, *failure, []func()) {
	name := text(p, "name")
	leaves := name == "" || name == "." || name == ".." || strings.ContainsAny(name, "/\\\x00")
	if leaves && !s.does("makes folders elsewhere") {
		return nil, failKind(oupwire.ErrInvalidParams, "workspace_create_invalid_name", "the name is none", nil), nil
	}
	parent, f := s.folder(text(p, "parent"), "workspace_create_", "parent_not_found", "parent_not_a_directory")
	if f != nil {
		return nil, f, nil
	}
	path := filepath.Join(parent, name)
	info, err := os.Stat(path)
	switch {
	case err == nil && info.IsDir():
		return object{"canonical_path": path, "created": s.does("makes folders that are there")}, nil, nil
	case err == nil:
		return nil, failKind(oupwire.ErrInvalidParams, "workspace_create_exists_not_directory", "something else has the name", nil), nil
	}
	if os.Mkdir(path, 0o700) != nil {
		return nil, failKind(oupwire.ErrInvalidParams, "workspace_create_permission_denied", "the folder may not be written", nil), nil
	}
	return object{"canonical_path": path, "created": true}, nil, nil
}

func placeFaults() []Fault {
	return []Fault{
		act("OUP-ONBOARD-001", "looks at folders for many people").as(many),
		act("OUP-ONBOARD-001", "does not say that it serves many people").as(many),
		act("OUP-ONBOARD-002", "fails where a path is not there"),
		act("OUP-ONBOARD-002", "does not say that a path is blank"),
		act("OUP-ONBOARD-003", "takes the home of a path by its word"),
		act("OUP-ONBOARD-004", "lists hidden folders"),
		act("OUP-ONBOARD-004", "lists folders by their bytes"),
		act("OUP-ONBOARD-004", "lists folders without end"),
		act("OUP-ONBOARD-005", "has a folder above the first"),
		act("OUP-ONBOARD-006", "makes folders that are there"),
		act("OUP-ONBOARD-007", "works in folders of the system"),
		act("OUP-ONBOARD-008", "makes folders elsewhere"),
	}
}
