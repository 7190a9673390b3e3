package builtin

import (
	"bytes"
	"crypto/rand"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/diff"

	"github.com/octet-dev/octet/host/tool"
)

// Bounds of what is changed.
const (
	maxFileBytes = 16 << 20 // that is changed
	maxContent   = 1 << 20  // that write is given
	maxDiffBytes = 32 << 10 // that is reported
	maxCompared  = 1 << 20  // old and new together; the difference of more is not made
)

// before reads a file that is going to be changed. There is none if the info is nil.
func (p place) before() (content []byte, info fs.FileInfo, err error) {
	if _, err := p.root.Lstat(p.name); errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	file, info, err := p.open()
	if err != nil {
		return nil, nil, err
	}
	defer file.Close()
	if info.Size() > maxFileBytes {
		return nil, nil, fmt.Errorf("%q has %d bytes; files of more than %d bytes are not changed", p.shown, info.Size(), maxFileBytes)
	}
	content, err = io.ReadAll(io.LimitReader(file, maxFileBytes+1))
	if err != nil {
		return nil, nil, p.explain(err)
	}
	return content, info, nil
}

// replace puts content in the place of a file in one step: somebody who looks sees the old file or the new
// one, and after a crash one of them is there. The file must still be as old describes it; nil: missing.
func (p place) replace(content []byte, old fs.FileInfo) error {
	mode := fs.FileMode(0o644)
	if old != nil {
		mode = old.Mode().Perm()
	}
	if err := p.root.MkdirAll(filepath.Dir(p.name), 0o755); err != nil {
		return p.explain(err)
	}
	p, err := p.space.anchor(p.real, p.shown) // in the directory itself, now that it is there
	if err != nil {
		return err
	}
	defer p.close()
	if filepath.Dir(p.name) != "." {
		return p.changed()
	}
	temporary := ".octet-" + strings.ToLower(rand.Text()) + ".tmp"
	if err := p.fill(temporary, content, mode, old != nil); err != nil {
		_ = p.root.Remove(temporary)
		return p.explain(err)
	}
	if err := p.unchanged(old); err != nil {
		_ = p.root.Remove(temporary)
		return err
	}
	if err := p.root.Rename(temporary, p.name); err != nil {
		_ = p.root.Remove(temporary)
		return p.explain(err)
	}
	return nil
}

// fill writes a new file. exact gives it its mode whatever the umask says, as for a file that had it before.
func (p place) fill(name string, content []byte, mode fs.FileMode, exact bool) error {
	file, err := p.root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return err
	}
	_, err = file.Write(content)
	if exact {
		err = errors.Join(err, file.Chmod(mode))
	}
	return errors.Join(err, file.Sync(), file.Close())
}

func (p place) unchanged(old fs.FileInfo) error {
	now, err := p.root.Lstat(p.name)
	if errors.Is(err, fs.ErrNotExist) && old == nil {
		return nil
	}
	if err != nil || old == nil || !os.SameFile(now, old) || now.Size() != old.Size() || !now.ModTime().Equal(old.ModTime()) {
		return p.changed()
	}
	return nil
}

// change describes what was done to a file.
func (p place) change(old, new []byte, existed bool) tool.Change {
	c := tool.Change{Path: p.shown, Kind: tool.Changed}
	if !existed {
		c.Kind = tool.Created
	}
	if binary(old) || binary(new) || len(old)+len(new) > maxCompared {
		return c
	}
	text := string(diff.Diff("a/"+p.shown, old, "b/"+p.shown, new))
	// The first line repeats the names that follow it.
	_, text, _ = strings.Cut(text, "\n")
	for line := range strings.Lines(text) {
		switch {
		case strings.HasPrefix(line, "+++"), strings.HasPrefix(line, "---"):
		case line[0] == '+':
			c.Added++
		case line[0] == '-':
			c.Removed++
		}
	}
	if len(text) > maxDiffBytes {
		text = strings.ToValidUTF8(text[:maxDiffBytes], "") + "\n... the rest of the difference is left out\n"
	}
	c.Diff = text
	return c
}

// binary reports whether bytes are no text.
func binary(content []byte) bool {
	return bytes.IndexByte(content[:min(len(content), sniffBytes)], 0) >= 0
}
