package snapshot

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/octet-dev/octet/generated/oupwire"
)

// plan is what leads from one state of a workspace to another.
type plan struct {
	write  []file
	remove []string
	now    map[string]file // what is there, and kept in the snapshot for safety
}

// Restore puts the files of a workspace back to how they were in a snapshot, and returns the snapshot that was
// taken first, with which that is undone. Everything is judged and laid ready before the first file changes;
// each file changes in one step. Files that no snapshot has are left alone.
//
// OUP-PREVIEW-005.
func (s *Store) Restore(ctx context.Context, workspace, id string) (safety oupwire.SnapshotInfo, err error) {
	defer s.lock(workspace)()
	target, err := s.find(workspace, id)
	if err != nil {
		return safety, err
	}
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return safety, fmt.Errorf("snapshot: %w", err)
	}
	defer func() { _ = root.Close() }()
	objects, err := s.shelf.Folder(workspace, objectFolder)
	if err != nil {
		return safety, err
	}
	defer func() { _ = objects.Close() }()
	before, err := s.take(ctx, root, workspace, "before "+oupwire.MethodSnapshotRestore, target)
	if err != nil {
		return safety, err
	}
	p := difference(before, target)
	if err := p.judge(root); err != nil {
		return before.info(), err
	}
	staging := stagingPrefix + rand.Text()
	if err := root.Mkdir(staging, 0o700); err != nil {
		return before.info(), fmt.Errorf("snapshot: %w", err)
	}
	defer func() { _ = root.RemoveAll(staging) }()
	for i, f := range p.write {
		if err := stage(root, objects, f, staged(staging, i)); err != nil {
			return before.info(), err
		}
	}
	if err := p.apply(root, staging); err != nil {
		return before.info(), &PartialError{Safety: before.ID, Cause: err}
	}
	return before.info(), nil
}

func staged(staging string, i int) string { return path.Join(staging, strconv.Itoa(i)) }

// difference is what leads from one snapshot to another. What one of them left alone, because it was too large,
// is left alone.
func difference(now, target *manifest) *plan {
	p := &plan{now: map[string]file{}}
	for _, f := range now.Files {
		p.now[f.Path] = f
	}
	wanted := map[string]bool{}
	for _, name := range target.Skipped {
		wanted[name] = true
	}
	for _, f := range target.Files {
		wanted[f.Path] = true
		if !sameContent(p.now[f.Path], f) {
			p.write = append(p.write, f)
		}
	}
	for _, f := range now.Files {
		if !wanted[f.Path] {
			p.remove = append(p.remove, f.Path)
		}
	}
	return p
}

// judge refuses what would change anything that the snapshot for safety does not have.
func (p *plan) judge(root *os.Root) error {
	for _, f := range p.write {
		if !filepath.IsLocal(filepath.FromSlash(f.Path)) || path.Clean(f.Path) != f.Path {
			return &DamageError{Path: f.Path} // no list of ours has such a name
		}
		for _, dir := range parents(f.Path) {
			info, err := root.Lstat(dir)
			if errors.Is(err, fs.ErrNotExist) || err == nil && info.Mode().IsRegular() && slices.Contains(p.remove, dir) {
				break
			}
			if err != nil {
				return &ConflictError{Path: dir, Problem: "cannot be looked at"}
			}
			if !info.IsDir() {
				return &ConflictError{Path: dir, Problem: "is no folder"}
			}
		}
		if err := p.judgePlace(root, f.Path); err != nil {
			return err
		}
	}
	return nil
}

// judgePlace looks at what stands where a file is to be put.
func (p *plan) judgePlace(root *os.Root, name string) error {
	info, err := root.Lstat(name)
	_, kept := p.now[name]
	switch {
	case err != nil: // it is missing, as what is above it is, or can be removed
		return nil
	case info.Mode().IsRegular() && kept:
		return nil
	case !info.IsDir():
		return &ConflictError{Path: name, Problem: "is no file of a snapshot (too large, or no plain file)"}
	}
	return fs.WalkDir(root.FS(), name, func(below string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.IsDir() && !slices.Contains(p.remove, below) {
			return &ConflictError{Path: below, Problem: "stands where a file is to be put back"}
		}
		return nil
	})
}

// stage lays a file ready.
func stage(root, objects *os.Root, f file, name string) error {
	from, err := objects.Open(f.Sum)
	if err != nil {
		return &DamageError{Path: f.Path}
	}
	defer func() { _ = from.Close() }()
	to, err := root.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("snapshot: %w", err)
	}
	hash := sha256.New()
	size, err := io.Copy(io.MultiWriter(to, hash), io.LimitReader(from, f.Size+1))
	if err = errors.Join(err, to.Chmod(f.Mode.Perm()), to.Sync(), to.Close()); err != nil {
		return fmt.Errorf("snapshot: %w", err)
	}
	if size != f.Size || hex.EncodeToString(hash.Sum(nil)) != f.Sum {
		return &DamageError{Path: f.Path}
	}
	return nil
}

// apply removes what is too much, and puts what was laid ready in its places.
func (p *plan) apply(root *os.Root, staging string) error {
	for _, name := range p.remove {
		if err := root.Remove(name); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		for _, dir := range slices.Backward(parents(name)) {
			if root.Remove(dir) != nil { // something is left in it
				break
			}
		}
	}
	for i, f := range p.write {
		if dir := path.Dir(f.Path); dir != "." {
			if err := root.MkdirAll(dir, 0o755); err != nil {
				return err
			}
		}
		if info, err := root.Lstat(f.Path); err == nil && info.IsDir() { // judged: only empty folders are in it
			if err := root.RemoveAll(f.Path); err != nil {
				return err
			}
		}
		if err := root.Rename(staged(staging, i), f.Path); err != nil {
			return err
		}
	}
	return nil
}
