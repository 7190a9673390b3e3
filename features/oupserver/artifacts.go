package oupserver

import (
	"fmt"
	"slices"
	"strings"

	"github.com/octet-dev/octet/generated/oupwire"
)

// file is one that a task leaves.
type file struct {
	handle, content string
	isText          bool
}

// artifact is the record of a file.
func (k *task) artifact(i int) object {
	name := k.files[i].handle[strings.LastIndexByte(k.files[i].handle, '/')+1:]
	a := object{"id": fmt.Sprintf("output-%02d", i+1), "title": name, "kind": "file", "status": "ready", "path": k.files[i].handle}
	if k.ses.s.does("names artifacts by their files") {
		a["id"] = name
	}
	for _, row := range oupwire.TableArtifactKinds {
		if strings.HasSuffix(name, "."+row.Extension) {
			a["kind"] = row.Kind
		}
	}
	return a
}

func (s *Server) artifactList(_ *conn, p object) (object, *failure, []func()) {
	k, f := s.findTask(oupwire.MethodTaskArtifactList, p)
	if f != nil {
		return nil, f, nil
	}
	artifacts := []any{}
	for i := range k.files {
		artifacts = append(artifacts, k.artifact(i))
	}
	return object{"session_id": text(p, "session_id"), "task_id": k.id, "artifacts": artifacts}, nil, nil
}

func (s *Server) artifactRead(_ *conn, p object) (object, *failure, []func()) {
	k, f := s.findTask(oupwire.MethodTaskArtifactRead, p)
	if f != nil {
		return nil, f, nil
	}
	id, path := text(p, "artifact_id"), text(p, "path")
	at := slices.IndexFunc(k.files, func(f file) bool { return id == "" && f.handle == path })
	for i := range k.files {
		if id != "" && k.artifact(i)["id"] == id {
			at = i
		}
	}
	switch {
	case id == "" && path == "" && s.does("takes the first artifact where none is named"):
		at = 0
	case id == "" && path == "":
		return nil, failKind(oupwire.ErrInvalidParams, "task_artifact_selector_invalid", "no artifact is named", nil), nil
	case at < 0 && s.does("does not name an unknown artifact"):
		return nil, failKind(oupwire.ErrResourceNotFound, "task_artifact_not_found", "no such artifact", nil), nil
	case at < 0:
		return nil, failKind(oupwire.ErrResourceNotFound, "task_artifact_not_found", "no artifact "+id, object{"artifact_id": id}), nil
	}
	result := object{"session_id": text(p, "session_id"), "task_id": k.id, "artifact": k.artifact(at), "has_more": false}
	content := k.files[at].content
	if !k.files[at].isText && !s.does("shows what is no text") {
		return result, nil, nil
	}
	limit, there := number(p, "limit_bytes")
	if !there || limit == 0 && !s.does("reads nothing of an artifact for a limit of 0") {
		limit = oupwire.TaskArtifactDefaultBytes
	}
	from, to := s.stretch(content, p, int(min(limit, oupwire.MaxFrameTextBytes)))
	result["content"], result["cursor"], result["next_cursor"], result["has_more"] = content[from:to], object{"offset": from}, object{"offset": to}, to < len(content)
	if s.does("shows content without its cursors") {
		delete(result, "next_cursor")
	}
	return result, nil, nil
}
