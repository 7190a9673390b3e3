// Package bulk hands objects that are too large for a frame between host and extensions as files.
//
// A process writes into a file of its transfer directory under a ticket and reads a copy under a lease. What it
// commits is copied into the store of the host while its digest is taken, so that nobody can change it later,
// and becomes usable with the success of the call that made it. Blobs belong to a session and outlive the
// process that made them; tickets and leases do not. Source: sheet feature 12.9.
package bulk

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"sync"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/runtime/peer"
)

// Options configure the storage. Zero limits mean those of the spec.
type Options struct {
	// Directory is where everything lies: a directory of this host alone, which is made if need be and
	// emptied.
	Directory string
	Limits    featurewire.BulkLimits
}

// Storage is the bulk storage of a host. Make it with Open, and Close it.
type Storage struct {
	limits featurewire.BulkLimits
	root   *os.Root
	path   string

	mu          sync.Mutex
	generations map[*extension.Extension]*generation
	blobs       map[string]*blob // by token
	used        map[string]int64 // bytes of blobs and open tickets, by session
	count       map[string]int   // blobs and open tickets, by session
}

// generation is what one process has open.
type generation struct {
	folder  string // below the root: its transfer directory
	tickets map[string]*ticket
	leases  map[string]*lease
}

// ticket lets a process write one object.
type ticket struct {
	owner     extension.Owner
	locator   string
	capacity  int64
	mediaType string
}

// lease lets a process read one object.
type lease struct {
	owner   extension.Owner
	locator string
}

// blob is one object in the store.
type blob struct {
	ref       featurewire.BlobRef
	session   string
	file      string
	maker     *extension.HostCall
	published bool
}

// mediaTypeMost bounds what is remembered of an object, in bytes; two names of a media type have 127 at most.
const mediaTypeMost = 255

// storeFolder is where the blobs lie, below the root.
const storeFolder = "blobs"

// Open prepares the storage. What a host before has left is taken away.
func Open(o Options) (*Storage, error) {
	path, err := filepath.Abs(o.Directory)
	if err != nil {
		return nil, fmt.Errorf("bulk storage: %w", err)
	}
	if err := os.RemoveAll(path); err != nil {
		return nil, fmt.Errorf("bulk storage: %w", err)
	}
	if err := os.MkdirAll(filepath.Join(path, storeFolder), 0o700); err != nil {
		return nil, fmt.Errorf("bulk storage: %w", err)
	}
	root, err := os.OpenRoot(path)
	if err != nil {
		return nil, fmt.Errorf("bulk storage: %w", err)
	}
	return &Storage{
		root: root, path: path,
		limits: featurewire.BulkLimits{
			ObjectBytes:               cmp.Or(o.Limits.ObjectBytes, featurewire.MaxBulkObjectBytes),
			OwnerBytes:                cmp.Or(o.Limits.OwnerBytes, featurewire.MaxBulkOwnerBytes),
			WriteTicketsPerGeneration: cmp.Or(o.Limits.WriteTicketsPerGeneration, featurewire.MaxBulkWriteTickets),
			ReadLeasesPerGeneration:   cmp.Or(o.Limits.ReadLeasesPerGeneration, featurewire.MaxBulkReadLeases),
			BlobsPerOwner:             cmp.Or(o.Limits.BlobsPerOwner, featurewire.MaxBulkBlobs),
		},
		generations: map[*extension.Extension]*generation{}, blobs: map[string]*blob{}, used: map[string]int64{}, count: map[string]int{},
	}, nil
}

// Close takes everything away. No process may use the storage any more.
func (s *Storage) Close() error {
	return errors.Join(s.root.Close(), os.RemoveAll(s.path))
}

// Binding serves the requests. Bind it where bulk storage is configured.
func (s *Storage) Binding() extension.Binding {
	return extension.Binding{
		Features: []string{featurewire.FeatureBulkObjectsV1},
		Requests: map[string]extension.Handler{
			featurewire.MethodBulkWrite:   s.write,
			featurewire.MethodBulkCommit:  s.commit,
			featurewire.MethodBulkRead:    s.read,
			featurewire.MethodBulkRelease: s.release,
		},
		Terms:    s.terms,
		Dispatch: s.dispatch,
		Ended:    s.ended,
	}
}

// terms makes the transfer directory of a process and tells of it. Without one the feature is not offered, and
// the requests are refused.
func (s *Storage) terms(x *extension.Extension, offer *featurewire.ProtocolOffer) {
	if !slices.Contains(offer.OptionalFeatures, featurewire.FeatureBulkObjectsV1) {
		return
	}
	folder := "transfer-" + rand.Text()
	if err := s.root.Mkdir(folder, 0o700); err != nil {
		x.Diagnose("bulk objects cannot be handed over: " + err.Error())
		offer.OptionalFeatures = slices.DeleteFunc(offer.OptionalFeatures, func(name string) bool {
			return name == featurewire.FeatureBulkObjectsV1
		})
		return
	}
	s.mu.Lock()
	s.generations[x] = &generation{folder: folder, tickets: map[string]*ticket{}, leases: map[string]*lease{}}
	s.mu.Unlock()
	offer.BulkObjectsV1 = wirejson.Some(featurewire.BulkOffer{
		Profile: featurewire.BulkProfileLocalFileV1, TransferDirectory: filepath.Join(s.path, folder), Limits: s.limits,
	})
}

// ended forgets a process: its tickets and leases, not what it has made.
func (s *Storage) ended(x *extension.Extension) {
	s.mu.Lock()
	defer s.mu.Unlock()
	g := s.generations[x]
	if g == nil {
		return
	}
	delete(s.generations, x)
	for _, t := range g.tickets {
		s.giveBackLocked(t.owner.SessionID, t.capacity)
	}
	if err := s.root.RemoveAll(g.folder); err != nil {
		x.Diagnose("the transfer directory of bulk objects is left behind: " + err.Error())
	}
}

// RetireOwner takes away what a session has, because it is not served any more.
func (s *Storage) RetireOwner(session string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, g := range s.generations {
		for id, t := range g.tickets {
			if t.owner.SessionID == session {
				s.dropTicketLocked(g, id)
			}
		}
		for id, l := range g.leases {
			if l.owner.SessionID == session {
				s.dropLeaseLocked(g, id)
			}
		}
	}
	for _, b := range s.blobs {
		if b.session == session {
			s.dropBlobLocked(b)
		}
	}
}

// dropTicketLocked ends a ticket: its file goes, and what was set aside for it comes back.
func (s *Storage) dropTicketLocked(g *generation, id string) {
	t := g.tickets[id]
	delete(g.tickets, id)
	s.giveBackLocked(t.owner.SessionID, t.capacity)
	s.removeLocked(filepath.Join(g.folder, t.locator))
}

func (s *Storage) dropLeaseLocked(g *generation, id string) {
	l := g.leases[id]
	delete(g.leases, id)
	s.removeLocked(filepath.Join(g.folder, l.locator))
}

func (s *Storage) dropBlobLocked(b *blob) {
	delete(s.blobs, b.ref.Blob)
	s.giveBackLocked(b.session, b.ref.Bytes)
	s.removeLocked(b.file)
}

// removeLocked takes a file away. One that is gone already, or cannot be removed, goes with its directory.
func (s *Storage) removeLocked(file string) { _ = s.root.RemoveAll(file) }

// setAsideLocked reserves room of a session for one object.
func (s *Storage) setAsideLocked(session string, bytes int64) error {
	switch {
	case s.used[session]+bytes > s.limits.OwnerBytes:
		return extension.RefuseBounds(fmt.Sprintf("the session would have more than %d bytes", s.limits.OwnerBytes))
	case int64(s.count[session]) >= s.limits.BlobsPerOwner:
		return extension.RefuseBounds(fmt.Sprintf("the session has %d objects already", s.limits.BlobsPerOwner))
	}
	s.used[session] += bytes
	s.count[session]++
	return nil
}

func (s *Storage) giveBackLocked(session string, bytes int64) {
	s.used[session] -= bytes
	if s.count[session]--; s.count[session] == 0 {
		delete(s.used, session)
		delete(s.count, session)
	}
}

// generationLocked returns what a process has open, for a request that a session owns.
func (s *Storage) generationLocked(r *extension.Incoming) (*generation, error) {
	g := s.generations[r.Extension]
	switch {
	case g == nil:
		return nil, extension.RefuseService("bulk objects are not served to this process")
	case r.Owner.IsZero():
		return nil, extension.RefuseOwner("no session owns the call")
	}
	return g, nil
}

func (s *Storage) write(_ context.Context, r *extension.Incoming) (peer.Value, error) {
	p, err := featurewire.DecodeBulkWriteParams(r.Params)
	switch {
	case err != nil:
		return nil, extension.RefuseMalformed(err.Error())
	case p.Capacity > s.limits.ObjectBytes:
		return nil, extension.RefuseBounds(fmt.Sprintf("capacity is over %d bytes", s.limits.ObjectBytes))
	case len(p.MediaType) > mediaTypeMost:
		return nil, extension.RefuseBounds(fmt.Sprintf("media_type is over %d bytes", mediaTypeMost))
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	g, err := s.generationLocked(r)
	if err != nil {
		return nil, err
	}
	if int64(len(g.tickets)) >= s.limits.WriteTicketsPerGeneration {
		return nil, extension.RefuseBounds(fmt.Sprintf("the process has its %d write tickets; commit or release one", s.limits.WriteTicketsPerGeneration))
	}
	if err := s.setAsideLocked(r.Owner.SessionID, p.Capacity); err != nil {
		return nil, err
	}
	t := &ticket{owner: r.Owner, locator: "write-" + rand.Text(), capacity: p.Capacity, mediaType: p.MediaType}
	file, err := s.root.OpenFile(filepath.Join(g.folder, t.locator), os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err == nil {
		err = file.Close()
	}
	if err != nil {
		s.giveBackLocked(r.Owner.SessionID, p.Capacity)
		return nil, fmt.Errorf("bulk storage: %w", err)
	}
	id := rand.Text()
	g.tickets[id] = t
	return featurewire.BulkWriteResult{Ticket: id, Profile: p.Profile, Locator: t.locator, Capacity: p.Capacity}, nil
}

func (s *Storage) release(_ context.Context, r *extension.Incoming) (peer.Value, error) {
	p, err := featurewire.DecodeBulkReleaseParams(r.Params)
	if err != nil {
		return nil, extension.RefuseMalformed(err.Error())
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	g, err := s.generationLocked(r)
	if err != nil {
		return nil, err
	}
	if t := g.tickets[p.ID]; t != nil && t.owner == r.Owner {
		s.dropTicketLocked(g, p.ID)
	} else if l := g.leases[p.ID]; l != nil && l.owner == r.Owner {
		s.dropLeaseLocked(g, p.ID)
	} else {
		return nil, extension.RefuseOwner("no ticket or lease of this process and session has that id")
	}
	return featurewire.BulkReleaseResult{Released: true}, nil
}

// dispatch watches over the calls of processes that hand objects over.
func (s *Storage) dispatch(d extension.Dispatch) (extension.Guard, error) {
	if !d.Extension.Has(featurewire.FeatureBulkObjectsV1) {
		return nil, nil
	}
	return &guard{storage: s, call: d.Call}, nil
}
