package bulk

import (
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/service/refs"
	"github.com/octet-dev/octet/runtime/peer"
)

var errChanged = errors.New("the file is not what it was said to be")

// commit uses a ticket up, whatever comes of it.
func (s *Storage) commit(ctx context.Context, r *extension.Incoming) (peer.Value, error) {
	p, err := featurewire.DecodeBulkCommitParams(r.Params)
	if err != nil {
		return nil, extension.RefuseMalformed(err.Error())
	}
	s.mu.Lock()
	g, err := s.generationLocked(r)
	var t *ticket
	if err == nil {
		if t = g.tickets[p.Ticket]; t == nil || t.owner != r.Owner {
			err = extension.RefuseOwner("no ticket of this process and session has that id")
		}
	}
	if err != nil {
		s.mu.Unlock()
		return nil, err
	}
	delete(g.tickets, p.Ticket) // what was set aside for it stays so until the object has it
	s.mu.Unlock()

	b := &blob{
		ref:     featurewire.BlobRef{Blob: rand.Text(), Bytes: p.Bytes, Digest: p.Digest, MediaType: t.mediaType},
		session: r.Owner.SessionID, file: filepath.Join(storeFolder, rand.Text()), maker: r.Parent,
	}
	source := filepath.Join(g.folder, t.locator)
	if p.Bytes > t.capacity {
		err = extension.RefuseBounds("the object is larger than the capacity of its ticket")
	} else {
		r.Waits()
		err = s.copy(ctx, source, b.file, p.Bytes, p.Digest.Value, 0o600)
	}

	s.mu.Lock()
	defer s.mu.Unlock()
	s.removeLocked(source)
	if err == nil && ctx.Err() != nil {
		err = context.Cause(ctx) // its call is over: nothing could publish it any more
	}
	if err != nil {
		s.removeLocked(b.file)
		s.giveBackLocked(b.session, t.capacity)
		return nil, fault(err)
	}
	s.used[b.session] += p.Bytes - t.capacity
	s.blobs[b.ref.Blob] = b
	return b.ref, nil
}

func (s *Storage) read(ctx context.Context, r *extension.Incoming) (peer.Value, error) {
	p, err := featurewire.DecodeBulkReadParams(r.Params)
	if err != nil {
		return nil, extension.RefuseMalformed(err.Error())
	}
	s.mu.Lock()
	g, err := s.generationLocked(r)
	var b *blob
	id, l := rand.Text(), &lease{owner: r.Owner, locator: "read-" + rand.Text()}
	switch {
	case err != nil:
	case int64(len(g.leases)) >= s.limits.ReadLeasesPerGeneration:
		err = extension.RefuseBounds(fmt.Sprintf("the process has its %d read leases; release one", s.limits.ReadLeasesPerGeneration))
	default:
		if b = s.blobs[p.Blob.Blob]; b == nil || !b.usable(p.Blob, r.Owner.SessionID, r.Parent) {
			err = extension.RefuseOwner("the session has no such object")
		} else {
			g.leases[id] = l
		}
	}
	s.mu.Unlock()
	if err != nil {
		return nil, err
	}
	r.Waits()
	err = s.copy(ctx, b.file, filepath.Join(g.folder, l.locator), b.ref.Bytes, b.ref.Digest.Value, 0o400)
	if err != nil {
		s.mu.Lock()
		defer s.mu.Unlock()
		if g.leases[id] != nil {
			s.dropLeaseLocked(g, id)
		}
		return nil, fault(err)
	}
	return featurewire.BulkReadResult{Lease: id, Profile: p.Profile, Locator: l.locator, Bytes: b.ref.Bytes}, nil
}

// usable reports whether a reference names the object exactly and may be used on behalf of a session: it is
// published, or the call that made it asks.
func (b *blob) usable(ref featurewire.BlobRef, session string, call *extension.HostCall) bool {
	return b.ref == ref && b.session == session && (b.published || b.maker == call)
}

// fault is the answer to a copy that failed.
func fault(err error) error {
	if errors.Is(err, errChanged) {
		return extension.RefuseMalformed(err.Error())
	}
	return err
}

// copy copies a regular file of exactly these bytes and this digest into a new one. It follows no link, and
// looks at what it has opened rather than at what had that name.
func (s *Storage) copy(ctx context.Context, from, to string, bytes int64, digest string, mode os.FileMode) error {
	named, err := s.root.Lstat(from)
	if err != nil || !named.Mode().IsRegular() {
		return fmt.Errorf("%w: it is no regular file", errChanged)
	}
	source, err := s.root.OpenFile(from, os.O_RDONLY|nonblocking, 0)
	if err != nil {
		return fmt.Errorf("%w: it cannot be opened", errChanged)
	}
	defer source.Close()
	opened, err := source.Stat()
	switch {
	case err != nil || !opened.Mode().IsRegular() || !os.SameFile(named, opened):
		return fmt.Errorf("%w: another file took its place", errChanged)
	case opened.Size() != bytes:
		return fmt.Errorf("%w: it has %d bytes, not %d", errChanged, opened.Size(), bytes)
	}
	target, err := s.root.OpenFile(to, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return fmt.Errorf("bulk storage: %w", err)
	}
	hash := sha256.New()
	n, err := io.Copy(io.MultiWriter(target, hash), &interruptible{ctx, io.LimitReader(source, bytes+1)})
	if closeErr := target.Close(); err == nil {
		err = closeErr
	}
	switch {
	case ctx.Err() != nil:
		return context.Cause(ctx)
	case err != nil:
		return fmt.Errorf("bulk storage: %w", err)
	case n != bytes:
		return fmt.Errorf("%w: it changed while it was read", errChanged)
	case hex.EncodeToString(hash.Sum(nil)) != digest:
		return fmt.Errorf("%w: it has another digest", errChanged)
	}
	return nil
}

// interruptible is a reader that ends with a context.
type interruptible struct {
	ctx context.Context
	io.Reader
}

func (r *interruptible) Read(p []byte) (int, error) {
	if r.ctx.Err() != nil {
		return 0, context.Cause(r.ctx)
	}
	return r.Reader.Read(p)
}

// guard publishes what a call has committed together with its result.
type guard struct {
	storage *Storage
	call    *extension.HostCall
	failed  bool // by its own word
}

// Check refuses a result that refers to objects of others.
func (g *guard) Check(result *extension.ToolResult) error {
	g.failed = result.IsError
	if result.Structured == nil {
		return nil
	}
	s := g.storage
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, ref := range refs.In(result.Structured, featurewire.DecodeBlobRefValue) {
		b := s.blobs[ref.Blob]
		if b == nil || !b.usable(ref, g.call.Scope.Owner, g.call) || !b.published && result.IsError {
			return errors.New("structured content refers to a bulk object that the call may not pass on")
		}
	}
	return nil
}

// Settle publishes, in one step, or takes away.
func (g *guard) Settle(admitted bool) {
	s := g.storage
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, b := range s.blobs {
		switch {
		case b.maker != g.call || b.published:
		case admitted && !g.failed:
			b.published = true
		default:
			s.dropBlobLocked(b)
		}
	}
}
