// Package preview keeps how changes of files look, so that a client can show them before and after a tool
// makes them. A preview is announced by its id and read with diff/preview/get. It outlives the process.
//
// Sheet: OUP core 11.25.
package preview

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"sync"

	"github.com/google/uuid"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/oup/shelf"
)

// ErrUnknown is a preview that is not there, no longer kept, or of another session.
var ErrUnknown = errors.New("no such preview in this session")

// maxEncodedBytes bounds a preview, so that it fits into a frame with everything around it.
const maxEncodedBytes = oupwire.MaxTextFrameBytes - 64<<10

const suffix = ".json"

// Store keeps previews. Its methods may be called from any goroutine.
type Store struct {
	shelf *shelf.Shelf
	most  int

	mu    sync.Mutex
	names map[string][]string // by session, oldest first; loaded with the first change
}

// Open opens the previews of a directory.
func Open(directory string) (*Store, error) {
	s, err := shelf.Open(directory)
	if err != nil {
		return nil, err
	}
	if _, err := s.Owners(); err != nil { // clears away what was interrupted
		return nil, errors.Join(err, s.Close())
	}
	return &Store{shelf: s, most: oupwire.MaxPreviewsPerSession, names: map[string][]string{}}, nil
}

// Close closes the store.
func (s *Store) Close() error { return s.shelf.Close() }

// Put keeps a preview of files and returns its id. Text over the bound is cut and marked; the oldest previews
// of the session make room.
//
// OUP-PREVIEW-002, OUP-PREVIEW-003.
func (s *Store) Put(session, title string, files ...oupwire.DiffFile) (id string, err error) {
	made, err := uuid.NewV7()
	if err != nil {
		return "", fmt.Errorf("preview: %w", err)
	}
	p := oupwire.DiffPreview{SessionID: oupwire.SessionKey(session), PreviewID: oupwire.PreviewId(made.String())}
	if title != "" {
		p.Title = wirejson.Some(title)
	}
	if kept := fit(files, oupwire.MaxDiffTextBytes, maxEncodedBytes-len(p.AppendJSON(nil))); len(kept) > 0 {
		p.Files = wirejson.Some(kept)
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	names, known := s.names[session]
	if !known {
		if names, err = s.shelf.Names(session); err != nil {
			return "", err
		}
	}
	name := made.String() + suffix
	if err := s.shelf.Put(session, name, p.AppendJSON(nil)); err != nil {
		return "", err
	}
	names = append(names, name)
	for ; len(names) > s.most; names = names[1:] { // ids ascend with time
		if err := s.shelf.Remove(session, names[0]); err != nil {
			return "", err
		}
	}
	s.names[session] = names
	return made.String(), nil
}

// Get reads a preview. The error is ErrUnknown where the session has none with that id.
//
// OUP-PREVIEW-001.
func (s *Store) Get(session, id string) (oupwire.DiffPreview, error) {
	data, err := s.shelf.Get(session, strings.ToLower(id)+suffix, oupwire.MaxTextFrameBytes)
	if errors.Is(err, fs.ErrNotExist) {
		return oupwire.DiffPreview{}, ErrUnknown
	}
	if err != nil {
		return oupwire.DiffPreview{}, err
	}
	p, err := oupwire.DecodeDiffPreview(data)
	if err != nil {
		return oupwire.DiffPreview{}, fmt.Errorf("preview %s: the stored text is damaged: %w", id, err)
	}
	return p, nil
}

// Forget drops the previews of a session.
func (s *Store) Forget(session string) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.names, session)
	return s.shelf.Forget(session)
}
