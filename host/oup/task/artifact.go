package task

import (
	"bytes"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
)

const (
	// artifactFolder is where a task leaves files, below its own folder. The variable names it to the task.
	artifactFolder   = "artifacts"
	artifactVariable = "OCTET_TASK_ARTIFACTS"
	maxArtifacts     = 256
	// maxArtifactBytes is the largest file that is read as text.
	maxArtifactBytes = 16 << 20
)

// artifacts lists the files that a task has left, by handles. Only plain files count: nothing leads elsewhere.
//
// OUP-TASK-037.
func artifacts(root *os.Root) []string {
	var handles []string
	// What cannot be read is not listed.
	_ = fs.WalkDir(root.FS(), artifactFolder, func(name string, entry fs.DirEntry, err error) error {
		switch {
		case err != nil:
			return nil //nolint:nilerr // the rest may be readable
		case len(handles) == maxArtifacts:
			return fs.SkipAll
		case entry.Type().IsRegular() && utf8.ValidString(name):
			handles = append(handles, name)
		}
		return nil
	})
	slices.Sort(handles)
	return handles
}

// ArtifactRecords are the records of what a task has left.
//
// OUP-TASK-026.
func (r *Record) ArtifactRecords() []oupwire.TaskArtifactRecord {
	records := make([]oupwire.TaskArtifactRecord, 0, len(r.Artifacts))
	for i, handle := range r.Artifacts {
		records = append(records, oupwire.TaskArtifactRecord{
			ID: fmt.Sprintf("output-%02d", i+1), Title: path.Base(handle), Kind: kindOf(handle), Status: "ready", Path: wirejson.Some(handle),
		})
	}
	return records
}

// kindOf is the kind of a file by the end of its name.
func kindOf(handle string) oupwire.ArtifactKind {
	extension := strings.TrimPrefix(strings.ToLower(filepath.Ext(handle)), ".")
	for _, row := range oupwire.TableArtifactKinds {
		if row.Extension == extension {
			return oupwire.ArtifactKind(row.Kind)
		}
	}
	return oupwire.ArtifactKindFile
}

// readArtifact reads a stretch of a file of a task. ok is false where it is no readable text.
//
// OUP-TASK-028.
func readArtifact(root *os.Root, handle string, from, limit int64) (s Stretch, ok bool) {
	info, err := root.Lstat(handle)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxArtifactBytes {
		return Stretch{}, false
	}
	file, err := root.Open(handle)
	if err != nil {
		return Stretch{}, false
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(io.LimitReader(file, maxArtifactBytes+1))
	if err != nil || len(text) > maxArtifactBytes || !utf8.Valid(text) || bytes.IndexByte(text, 0) >= 0 {
		return Stretch{}, false
	}
	from = min(max(from, 0), int64(len(text)))
	s = Stretch{Total: int64(len(text))}
	s.Text, s.From = whole(text[from:], from, limit)
	s.Next = s.From + int64(len(s.Text))
	return s, true
}
