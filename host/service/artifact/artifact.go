// Package artifact takes the media that an extension publishes, and puts them into the tool results that
// refer to them.
//
// An artifact belongs to the session and the generation that published it: anybody else finds nothing
// under its handle. Its bytes are read whole, measured and hashed when it is published, and kept in memory
// within the bounds of its generation; what happens to the file afterwards changes nothing.
//
// Rules: EXT04-ART. Sheet: feature 11.8.
package artifact

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"sync"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/runtime/peer"
)

// Service keeps the artifacts of every running generation. It may be used by several goroutines.
type Service struct {
	mu      sync.Mutex
	shelves map[*extension.Extension]*shelf // under mu
}

// New returns a service without artifacts.
func New() *Service { return &Service{shelves: map[*extension.Extension]*shelf{}} }

// Binding offers the service to every extension.
func (s *Service) Binding() extension.Binding {
	return extension.Binding{
		Features: []string{featurewire.FeatureArtifacts},
		Requests: map[string]extension.Handler{featurewire.MethodArtifactPublish: s.publish},
		Media:    s.media,
		Started: func(x *extension.Extension) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.shelves[x] = newShelf()
		},
		Ended: func(x *extension.Extension) {
			s.mu.Lock()
			defer s.mu.Unlock()
			delete(s.shelves, x)
		},
	}
}

// Forget drops every artifact of a session, by its opaque owner id: another one has taken its place.
func (s *Service) Forget(session string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, shelf := range s.shelves {
		shelf.forget(session)
	}
}

// shelf returns that of a generation, nil once it is gone.
func (s *Service) shelf(x *extension.Extension) *shelf {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.shelves[x]
}

func (s *Service) publish(_ context.Context, r *extension.Incoming) (peer.Value, error) {
	params, err := featurewire.DecodeArtifactPublishParams(r.Params)
	if err != nil {
		return nil, err
	}
	if r.Owner.IsZero() {
		return nil, extension.RefuseService("no session owns the request that the artifact is published for")
	}
	shelf := s.shelf(r.Extension)
	if shelf == nil {
		return nil, extension.RefuseService("the extension is going")
	}
	id, err := shelf.publish(r.Owner, params, r.Extension.Scratch())
	if err != nil {
		return nil, extension.RefuseMalformed("artifact: " + err.Error())
	}
	return featurewire.ArtifactPublishResult{ArtifactID: id}, nil
}

func (s *Service) media(_ context.Context, m extension.MediaRef) (conversation.Part, error) {
	var id, mime, text string
	var kind conversation.Kind
	switch part := m.Part.(type) {
	case featurewire.ImagePart:
		id, mime, text, kind = part.ArtifactID, part.MimeType, part.Alt.Or(""), conversation.Image
	case featurewire.AudioPart:
		id, mime, text, kind = part.ArtifactID, part.MimeType, part.Transcript.Or(""), conversation.Audio
	default:
		return conversation.Part{}, fmt.Errorf("a %T is no media", m.Part)
	}
	shelf := s.shelf(m.Extension)
	if shelf == nil {
		return conversation.Part{}, unknown(id)
	}
	found, err := shelf.find(m.Owner, id)
	switch {
	case err != nil:
		return conversation.Part{}, err
	case string(found.mime) != mime:
		return conversation.Part{}, fmt.Errorf("artifact %q is %s, not %q", id, found.mime, mime)
	case types[found.mime].kind != kind:
		return conversation.Part{}, fmt.Errorf("artifact %q is %s, no %s", id, found.mime, kind)
	}
	return conversation.Part{Kind: kind, Text: text, MediaType: mime, Data: found.data}, nil
}

// item is one artifact. Its data are never changed.
type item struct {
	owner extension.Owner
	mime  featurewire.ArtifactMediaType
	data  []byte
}

// shelf holds the artifacts of one generation.
type shelf struct {
	mu    sync.Mutex
	items map[string]item // under mu
	count int             // under mu; room that is taken, for artifacts that are still read too
	bytes int64           // under mu; the same
}

func newShelf() *shelf { return &shelf{items: map[string]item{}} }

// publish takes an artifact whose params keep their model. The error says what is wrong with it.
func (s *shelf) publish(owner extension.Owner, p featurewire.ArtifactPublishParams, scratch string) (id string, err error) {
	if err := s.reserve(p.Size); err != nil {
		return "", err
	}
	defer func() {
		if err != nil {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.releaseLocked(p.Size)
		}
	}()
	data, err := content(p, scratch)
	if err != nil {
		return "", err
	}
	if digest := sha256.Sum256(data); hex.EncodeToString(digest[:]) != p.Sha256 {
		return "", fmt.Errorf("sha256 is not that of the bytes")
	}
	if !types[p.MimeType].begins(data) {
		return "", fmt.Errorf("the bytes are no %s", p.MimeType)
	}
	id = "art-" + rand.Text()
	s.mu.Lock()
	defer s.mu.Unlock()
	s.items[id] = item{owner: owner, mime: p.MimeType, data: data}
	return id, nil
}

// content reads the bytes, exactly as many as size says.
func content(p featurewire.ArtifactPublishParams, scratch string) ([]byte, error) {
	if inline, has := p.Data.Get(); has {
		if p.Size > featurewire.MaxArtifactInlineBytes {
			return nil, fmt.Errorf("%d bytes are more than %d; publish a path", p.Size, featurewire.MaxArtifactInlineBytes)
		}
		data, err := base64.StdEncoding.Strict().DecodeString(inline.Data)
		switch {
		case err != nil:
			return nil, fmt.Errorf("the data are no base64 with padding")
		case int64(len(data)) != p.Size:
			return nil, wrongSize(p.Size, int64(len(data)))
		}
		return data, nil
	}
	root, err := openScratch(scratch)
	if err != nil {
		return nil, err
	}
	defer func() { _ = root.Close() }()
	return readFile(root, p.Path.Or(""), p.Size)
}

// reserve takes room in advance, so that many at once stay within the bounds.
//
// Rule: EXT04-ART-009.
func (s *shelf) reserve(size int64) error {
	s.mu.Lock()
	defer s.mu.Unlock()
	switch {
	case size > featurewire.MaxArtifactBytes:
		return fmt.Errorf("%d bytes are more than %d", size, featurewire.MaxArtifactBytes)
	case s.count >= featurewire.MaxArtifacts:
		return fmt.Errorf("there are %d artifacts already; a process may publish no more", featurewire.MaxArtifacts)
	case s.bytes+size > featurewire.MaxArtifactTotalBytes:
		return fmt.Errorf("the artifacts of the process would have more than %d bytes together", featurewire.MaxArtifactTotalBytes)
	}
	s.count++
	s.bytes += size
	return nil
}

// releaseLocked gives the room of one artifact back.
func (s *shelf) releaseLocked(size int64) {
	s.count--
	s.bytes -= size
}

// find looks an artifact up. To anybody but its owner it does not exist.
//
// Rule: EXT04-ART-012.
func (s *shelf) find(owner extension.Owner, id string) (item, error) {
	s.mu.Lock()
	defer s.mu.Unlock()
	found, has := s.items[id]
	if !has || found.owner != owner || owner.IsZero() {
		return item{}, unknown(id)
	}
	return found, nil
}

// forget drops what a session has.
func (s *shelf) forget(session string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for id, item := range s.items {
		if item.owner.SessionID == session {
			delete(s.items, id)
			s.releaseLocked(int64(len(item.data)))
		}
	}
}

func unknown(id string) error {
	const longest = 80
	return fmt.Errorf("artifact %.*q is unknown to this session and process; publish it first", longest, id)
}
