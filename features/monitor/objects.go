package monitor

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/octet-dev/octet/features/wire"
	fw "github.com/octet-dev/octet/generated/featurewire"
)

// published judges the bytes of an artifact.
func published(m *Monitor, f wire.Frame, o *owned) {
	var size int64
	var digest string
	switch data, path := o.params.at("/data/data"), o.params.get("path"); {
	case data.kind() == text:
		content, err := base64.StdEncoding.DecodeString(data.text())
		if err != nil || len(content) > fw.MaxArtifactInlineBytes {
			m.report("EXT04-ART-003", f, -1, "data is no base64 of at most %d bytes", fw.MaxArtifactInlineBytes)
			return
		}
		sum := sha256.Sum256(content)
		size, digest = int64(len(content)), hex.EncodeToString(sum[:])
	case path.kind() == text && m.setup.Extension.Scratch != "":
		var err error
		if size, digest, err = measure(m.setup.Extension.Scratch, path.text(), fw.MaxArtifactBytes); err != nil {
			m.report("EXT04-ART-004", f, -1, "the file %s cannot be read: %v", orNothing(path), err)
			return
		}
	default:
		return
	}
	if said, _ := o.params.get("size").natural(); said != size || o.params.get("sha256").text() != digest {
		m.report("EXT04-ART-004", f, -1, "the artifact has %d bytes and the digest %s; size is %s and sha256 %s", size, digest,
			orNothing(o.params.get("size")), orNothing(o.params.get("sha256")))
	}
}

// measure reads a file below a directory, as far as a bound allows.
func measure(dir, path string, bound int64) (size int64, digest string, err error) {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = root.Close() }()
	file, err := root.Open(filepath.FromSlash(path))
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = file.Close() }()
	if info, err := file.Stat(); err != nil || !info.Mode().IsRegular() {
		return 0, "", os.ErrInvalid
	}
	sum := sha256.New()
	size, err = io.Copy(sum, io.LimitReader(file, bound+1))
	return size, hex.EncodeToString(sum.Sum(nil)), err
}

// media judges that a content part shows an artifact that the host holds.
func (m *Monitor) media(f wire.Frame, part tree) {
	id, kind := part.get("artifact_id").text(), part.get("type").text()
	held, known := m.held.artifacts[id]
	if !known {
		m.report("EXT04-ART-005", f, -1, "a part with the artifact %q, which the host has not given", id)
		return
	}
	fits := slices.ContainsFunc(fw.TableArtifactMediaTypes, func(row fw.ArtifactMediaTypesRow) bool { return row.MediaType == held && row.Part == kind })
	if part.get("mime_type").text() != held || !fits {
		m.report("EXT04-ART-005", f, -1, "the artifact %q of the type %q in a part of the kind %q and the type %s", id, held, kind, orNothing(part.get("mime_type")))
	}
}

func releasesResource(m *Monitor, f wire.Frame, o *owned) {
	token := o.params.at("/resource/$resource")
	if token.kind() == text && !m.held.resources[token.text()] {
		m.report("EXT04-RES-001", f, -1, "the resource %s, which the host has not issued", orNothing(token))
	}
}

// commits judges that a bulk object is what was written under a ticket.
func commits(m *Monitor, f wire.Frame, o *owned) {
	id := o.params.get("ticket").text()
	t := m.held.tickets[id]
	delete(m.held.tickets, id)
	if t == nil {
		m.report("EXT04-BULK-002", f, -1, "a commit of the ticket %q, which is not held", id)
		return
	}
	said, _ := o.params.get("bytes").natural()
	if said > t.capacity {
		m.report("EXT04-BULK-002", f, -1, "a commit of %d bytes; the capacity is %d", said, t.capacity)
		return
	}
	if m.setup.Extension.Transfer == "" {
		return
	}
	size, digest, err := measure(m.setup.Extension.Transfer, t.locator, t.capacity)
	if want := o.params.at("/digest/value").text(); err != nil || size != said || digest != want {
		m.report("EXT04-BULK-002", f, -1, "what was written has %d bytes and the digest %s; the commit says %d and %s", size, digest, said, want)
	}
}

func releasesBulk(m *Monitor, f wire.Frame, o *owned) {
	id := o.params.get("id").text()
	if m.held.tickets[id] == nil && !m.held.leases[id] {
		m.report("EXT04-BULK-002", f, -1, "a release of %q, which is not held", id)
	}
	delete(m.held.tickets, id)
	delete(m.held.leases, id)
}

// diagnosed judges the records of a result that say what went wrong.
func (m *Monitor) diagnosed(f wire.Frame, meta tree) {
	if !m.setup.Dialect.Canonical() && meta.kind() == object {
		m.modelled(f, "the metadata", "DiagnosticMetadata", meta, all("EXT04-DIAG-001"))
	}
}

// foreign reports whether the host of an address is one that a reference must not lead to.
func foreign(host string) bool {
	host = strings.ToLower(strings.TrimSuffix(host, "."))
	return host == "" || host == "localhost" || strings.HasSuffix(host, ".localhost") || strings.HasSuffix(host, ".local")
}
