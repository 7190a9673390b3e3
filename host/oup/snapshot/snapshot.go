// Package snapshot keeps how the files of a workspace were, so that a client can put them back. A snapshot is a
// list of files with digests of their content; each content is kept once. Putting back is itself preceded by a
// snapshot, so it can be taken back.
//
// Plain files count, and nothing else: links are neither followed nor kept, and folders of other tools (version
// control, fetched dependencies) are left alone.
//
// Sheet: OUP core 11.26.
package snapshot

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/google/uuid"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/host/oup/shelf"
)

// ErrUnknown is a snapshot that the workspace does not have, or no longer.
var ErrUnknown = errors.New("no such snapshot of this workspace")

// TooLargeError is a workspace that no snapshot is taken of.
type TooLargeError struct{ What string }

// Error names the bound.
func (e *TooLargeError) Error() string {
	return "the workspace has more than " + e.What + "; no snapshot is taken of it"
}

// ConflictError is something in the place of a file that a snapshot would put back. Nothing was changed.
type ConflictError struct{ Path, Problem string }

// Error names the place.
func (e *ConflictError) Error() string {
	return fmt.Sprintf("%q %s; move it away first", e.Path, e.Problem)
}

// DamageError is content that is no longer what was kept. Nothing was changed.
type DamageError struct{ Path string }

// Error names the file.
func (e *DamageError) Error() string { return fmt.Sprintf("the kept content of %q is damaged", e.Path) }

// PartialError is a restore that was stopped by the system half way. Every single file is whole.
type PartialError struct {
	Safety string // the snapshot that leads back
	Cause  error
}

// Error tells how to get back.
func (e *PartialError) Error() string {
	return fmt.Sprintf("not all files were put back: %v; snapshot %s has them as they were", e.Cause, e.Safety)
}

// Unwrap returns the cause.
func (e *PartialError) Unwrap() error { return e.Cause }

const (
	maxManifestBytes = 64 << 20
	manifestSuffix   = ".json"
	objectFolder     = "objects"
)

// Options say where snapshots are kept. Directory is required.
type Options struct {
	Directory string
	// Skip are folders, as absolute paths, that are never looked into, such as the data directory.
	Skip []string
	// Now is the clock; nil: time.Now.
	Now func() time.Time

	// Bounds; 0: those of this package.
	MaxFiles      int   // of a snapshot: 20,000
	MaxBytes      int64 // of a snapshot: 512 MiB
	MaxFileBytes  int64 // of a file; a larger one is left alone: 16 MiB
	MaxSnapshots  int   // of a workspace: 50
	MaxStoreBytes int64 // of all snapshots of a workspace: 1 GiB
}

// Store keeps snapshots of workspaces. Its methods may be called from any goroutine.
type Store struct {
	options Options
	shelf   *shelf.Shelf

	mu    sync.Mutex
	locks map[string]*sync.Mutex // by workspace: one is looked at or changed once at a time
	large map[string]tooLarge    // workspaces that were too large when they were looked at
	begun map[string]*manifest   // what was seen of workspaces until there was no more time
}

// tooLarge is what was found of a workspace, and when.
type tooLarge struct {
	err *TooLargeError
	at  time.Time
}

// lookAgain is when a workspace that was too large is looked at again.
const lookAgain = 10 * time.Minute

// manifest is a snapshot as it is kept.
type manifest struct {
	ID, Label string
	Time      time.Time
	Files     []file   // ascending by path
	Skipped   []string // files that were too large, ascending
}

// file is a plain file of a snapshot.
type file struct {
	Path string // relative, with slashes
	Mode fs.FileMode
	Size int64
	Sum  string // SHA-256, hexadecimal
	Time int64  // of its last change, in nanoseconds
}

// Open opens the snapshots of a directory.
func Open(o Options) (*Store, error) {
	o.MaxFiles = cmp.Or(o.MaxFiles, 20_000)
	o.MaxBytes = cmp.Or(o.MaxBytes, 512<<20)
	o.MaxFileBytes = cmp.Or(o.MaxFileBytes, 16<<20)
	o.MaxSnapshots = cmp.Or(o.MaxSnapshots, 50)
	o.MaxStoreBytes = cmp.Or(o.MaxStoreBytes, 1<<30)
	if o.Now == nil {
		o.Now = time.Now
	}
	kept, err := shelf.Open(o.Directory)
	if err != nil {
		return nil, err
	}
	if _, err := kept.Owners(); err != nil { // clears away what was interrupted
		return nil, errors.Join(err, kept.Close())
	}
	o.Skip = append(slices.Clone(o.Skip), o.Directory)
	return &Store{options: o, shelf: kept, locks: map[string]*sync.Mutex{}, large: map[string]tooLarge{}, begun: map[string]*manifest{}}, nil
}

// Close closes the store.
func (s *Store) Close() error { return s.shelf.Close() }

// lock keeps others away from a workspace until the returned function is called.
func (s *Store) lock(workspace string) (unlock func()) {
	s.mu.Lock()
	l := s.locks[workspace]
	if l == nil {
		l = &sync.Mutex{}
		s.locks[workspace] = l
	}
	s.mu.Unlock()
	l.Lock()
	return l.Unlock
}

func (m *manifest) info() oupwire.SnapshotInfo {
	return oupwire.SnapshotInfo{ID: m.ID, Label: m.Label, TimestampUnix: m.Time.Unix()}
}

// List lists the snapshots of a workspace, newest first.
//
// OUP-PREVIEW-004.
func (s *Store) List(workspace string) ([]oupwire.SnapshotInfo, error) {
	defer s.lock(workspace)()
	manifests, err := s.manifests(workspace)
	if err != nil {
		return nil, err
	}
	list := make([]oupwire.SnapshotInfo, 0, len(manifests))
	for _, m := range slices.Backward(manifests) {
		list = append(list, m.info())
	}
	return list, nil
}

// manifests reads the snapshots of a workspace, oldest first.
func (s *Store) manifests(workspace string) ([]*manifest, error) {
	names, err := s.shelf.Names(workspace)
	if err != nil {
		return nil, err
	}
	var list []*manifest
	for _, name := range names { // ids ascend with time
		m, err := s.load(workspace, name)
		if err != nil {
			return nil, err
		}
		list = append(list, m)
	}
	return list, nil
}

func (s *Store) load(workspace, name string) (*manifest, error) {
	data, err := s.shelf.Get(workspace, name, maxManifestBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, ErrUnknown
	}
	if err != nil {
		return nil, err
	}
	var m manifest
	if err := json.Unmarshal(data, &m); err != nil {
		return nil, fmt.Errorf("snapshot %s: the list of its files is damaged: %w", name, err)
	}
	return &m, nil
}

// Take keeps how the files of a workspace are now. Where nothing has changed since the newest snapshot, that one
// is returned. One that was too large is looked at again behind a while.
func (s *Store) Take(ctx context.Context, workspace, label string) (oupwire.SnapshotInfo, error) {
	defer s.lock(workspace)()
	root, err := os.OpenRoot(workspace)
	if err != nil {
		return oupwire.SnapshotInfo{}, fmt.Errorf("snapshot: %w", err)
	}
	defer func() { _ = root.Close() }()
	s.mu.Lock()
	found, was := s.large[workspace]
	s.mu.Unlock()
	if was && s.options.Now().Sub(found.at) < lookAgain {
		return oupwire.SnapshotInfo{}, found.err
	}
	m, err := s.take(ctx, root, workspace, label)
	var large *TooLargeError
	if errors.As(err, &large) {
		s.mu.Lock()
		s.large[workspace] = tooLarge{large, s.options.Now()}
		s.mu.Unlock()
	}
	if err != nil {
		return oupwire.SnapshotInfo{}, err
	}
	return m.info(), nil
}

// take keeps how a workspace is. Where others are in use, what they need stays, and another snapshot is made also
// where nothing has changed.
func (s *Store) take(ctx context.Context, root *os.Root, workspace, label string, also ...*manifest) (*manifest, error) {
	before, err := s.manifests(workspace)
	if err != nil {
		return nil, err
	}
	var last *manifest
	if len(before) > 0 {
		last = before[len(before)-1]
	}
	objects, err := s.shelf.Folder(workspace, objectFolder)
	if err != nil {
		return nil, err
	}
	defer func() { _ = objects.Close() }()
	m := &manifest{Label: label, Time: s.options.Now()}
	err = s.scan(ctx, root, objects, s.seen(workspace, last), m)
	s.mu.Lock()
	delete(s.begun, workspace)
	if err != nil && ctx.Err() != nil {
		s.begun[workspace] = m
	}
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	if len(also) == 0 && last != nil && slices.Equal(m.Skipped, last.Skipped) && slices.EqualFunc(m.Files, last.Files, sameContent) {
		return last, nil
	}
	id, err := uuid.NewV7()
	if err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	m.ID = id.String()
	data, err := json.Marshal(m)
	if err != nil {
		return nil, fmt.Errorf("snapshot: %w", err)
	}
	if err := s.shelf.Put(workspace, m.ID+manifestSuffix, data); err != nil {
		return nil, err
	}
	return m, s.makeRoom(workspace, objects, append(before, m), also)
}

// seen is what need not be read again: the last snapshot, or what was seen behind it before there was no more time.
func (s *Store) seen(workspace string, last *manifest) *manifest {
	s.mu.Lock()
	defer s.mu.Unlock()
	if begun := s.begun[workspace]; begun != nil && len(begun.Files) > 0 {
		return begun
	}
	return last
}

func sameContent(a, b file) bool {
	return a.Path == b.Path && a.Mode == b.Mode && a.Size == b.Size && a.Sum == b.Sum
}

// makeRoom drops the oldest snapshots that are too many or too large, and the content that only they had; that of
// others which are in use stays.
func (s *Store) makeRoom(workspace string, objects *os.Root, list, inUse []*manifest) error {
	kept, sums, size := 0, map[string]bool{}, int64(0)
	for _, m := range slices.Backward(list) {
		more := int64(0)
		for _, f := range m.Files {
			if !sums[f.Sum] {
				sums[f.Sum] = true
				more += f.Size
			}
		}
		if size += more; kept > 0 && (kept == s.options.MaxSnapshots || size > s.options.MaxStoreBytes) {
			break
		}
		kept++
	}
	dropped := list[:len(list)-kept]
	if len(dropped) == 0 {
		return nil
	}
	for _, m := range dropped {
		if err := s.shelf.Remove(workspace, m.ID+manifestSuffix); err != nil {
			return err
		}
	}
	clear(sums)
	for _, m := range append(inUse, list[len(dropped):]...) {
		for _, f := range m.Files {
			sums[f.Sum] = true
		}
	}
	entries, err := fs.ReadDir(objects.FS(), ".")
	if err != nil {
		return fmt.Errorf("snapshot: %w", err)
	}
	for _, entry := range entries {
		if !sums[entry.Name()] {
			if err := objects.Remove(entry.Name()); err != nil {
				return fmt.Errorf("snapshot: %w", err)
			}
		}
	}
	return nil
}

// find reads one snapshot.
func (s *Store) find(workspace, id string) (*manifest, error) {
	if _, err := uuid.Parse(id); err != nil || len(id) != 36 {
		return nil, ErrUnknown
	}
	return s.load(workspace, strings.ToLower(id)+manifestSuffix)
}
