package bundle

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gofrs/flock"

	"github.com/octet-dev/octet/runtime/manifest"
)

// Manager keeps the bundles of one directory of extensions.
type Manager struct {
	// Root is that directory, absolute: ~/.octet/extensions. It need not exist.
	Root string
	// Octet is the version that bundles must be made for; empty: the one this module implements.
	Octet string
	// Release is where official bundles come from.
	Release Release
}

// Source is what to install: an official bundle by its name, or an archive. One of them is set.
type Source struct {
	Name    string
	Archive string // path
}

// Installed is a bundle that is managed: it has a valid record.
type Installed struct {
	Record
	Directory string
	// Manifest is nil where it is not legal for this host any more, for example behind an upgrade.
	Manifest *manifest.Manifest
	// Problem is why, as one line.
	Problem string
}

// Compatible reports whether the bundle can be used by this host.
func (i Installed) Compatible() bool { return i.Manifest != nil }

// Names of what lies beside the bundles for a while. All of them are hidden from discovery.
const (
	lockName      = ".package.lock"
	stagingPrefix = ".octet-extension-install-"
	asidePrefix   = ".octet-extension-aside-"
	removalPrefix = ".octet-extension-remove-"
)

func (m Manager) octet() string {
	if m.Octet != "" {
		return m.Octet
	}
	return manifest.OctetVersion().String()
}

// Install installs a bundle that is not there yet. Nothing is run, enabled or trusted. The error is a
// *Refusal, or the context's.
func (m Manager) Install(ctx context.Context, source Source) (Record, error) {
	return m.place(ctx, source, false)
}

// Update replaces a managed bundle, in one step where the system can. When it fails, the earlier bundle is
// as it was.
func (m Manager) Update(ctx context.Context, source Source) (Record, error) {
	return m.place(ctx, source, true)
}

// place is Install or Update.
func (m Manager) place(ctx context.Context, source Source, update bool) (Record, error) {
	command := "install"
	if update {
		command = "update"
	}
	if (source.Name == "") == (source.Archive == "") {
		return Record{}, refuse("MAN-INSTALL-020", fmt.Sprintf("use octet extension %s NAME, or octet extension %s --path ARCHIVE", command, command),
			"either a name or an archive is needed, and not both")
	}
	if source.Name != "" {
		if err := m.checkOfficial(source.Name, update); err != nil {
			return Record{}, err
		}
		// What cannot be placed is not fetched.
		if err := m.checkPlace(source.Name, update); err != nil {
			return Record{}, err
		}
		fetched, err := m.Release.fetch(ctx, source.Name, m.octet())
		if err != nil {
			return Record{}, err
		}
		defer fetched.discard()
		return m.put(ctx, fetched.path, Record{SourceKind: Official, Source: fetched.url, ArchiveSHA256: fetched.digest, ID: source.Name}, update)
	}
	return m.put(ctx, source.Archive, Record{SourceKind: Local}, update)
}

// put judges an archive, and only then touches the directory of extensions.
func (m Manager) put(ctx context.Context, path string, r Record, update bool) (Record, error) {
	archive, err := inspect(path, m.octet())
	if err != nil {
		return Record{}, err
	}
	switch {
	case r.ID != "" && r.ID != archive.ID():
		return Record{}, refuse("MAN-BUNDLE-012", "tell whoever publishes it", "the official archive of %q has the extension %q", r.ID, archive.ID())
	case r.ArchiveSHA256 != "" && !strings.EqualFold(r.ArchiveSHA256, archive.SHA256):
		return Record{}, changed(archive.Path, r.ArchiveSHA256, archive.SHA256)
	case r.SourceKind == Local:
		r.Source = archive.Path
	}
	r.SchemaVersion, r.ID, r.Version, r.APIVersion = recordSchema, archive.ID(), archive.Manifest.Version, archive.Manifest.API
	r.RequiresOctet, r.ArchiveSHA256, r.InstalledByOctet = archive.Manifest.RequiresOctet, archive.SHA256, m.octet()
	// A first look keeps a hopeless attempt from leaving even a lock behind.
	if err := m.checkPlace(r.ID, update); err != nil {
		return Record{}, err
	}
	unlock, err := m.lock()
	if err != nil {
		return Record{}, err
	}
	defer unlock()
	if err := m.checkPlace(r.ID, update); err != nil {
		return Record{}, err
	}
	if err := ctx.Err(); err != nil {
		return Record{}, err
	}
	staged, err := m.stage(archive, r)
	if err != nil {
		return Record{}, err
	}
	defer staged.discard()
	if update {
		err = m.exchange(staged, r.ID)
	} else {
		err = m.publish(staged, r.ID)
	}
	if err != nil {
		return Record{}, err
	}
	return r, nil
}

func changed(path, before, after string) error {
	return &Refusal{
		Rule: "MAN-INSTALL-002", Subject: path, Remedy: "keep the file as it is while it is installed",
		Message: fmt.Sprintf("the archive changed before it was used: its digest was %s and is %s", before, after),
	}
}

// checkOfficial refuses names that no release has.
func (m Manager) checkOfficial(name string, update bool) error {
	if !identifier(name) {
		return refuse("MAN-INSTALL-012", "a name is a lower-case letter, then lower-case letters, digits and hyphens", "%q is no name of an extension", shortened(name))
	}
	if slices.Contains(Catalog(), name) {
		return nil
	}
	if update {
		return refuse("MAN-INSTALL-020", "use octet extension update --path ARCHIVE", "%q has no official source of updates", name)
	}
	r := refuse("MAN-INSTALL-012", "use octet extension install --path ARCHIVE for an archive of your own", "there is no official bundle %q; there are %s",
		name, strings.Join(Catalog(), ", "))
	return r
}

// checkPlace refuses where a bundle cannot go.
func (m Manager) checkPlace(id string, update bool) error {
	path := filepath.Join(m.Root, id)
	info, err := os.Lstat(path)
	switch {
	case errors.Is(err, fs.ErrNotExist) && update:
		return refuse("MAN-INSTALL-006", installCommand(id), "%s is not installed", id)
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return m.trouble(path, "cannot be looked at", err)
	case !info.IsDir():
		return &Refusal{Rule: "MAN-INSTALL-005", Subject: path, Message: "the place of the extension is not a directory", Remedy: "move what is there away"}
	case update:
		_, err := m.managed(id)
		return err
	}
	return refuse("MAN-INSTALL-006", updateCommand(id), "%s is installed already", id)
}

func installCommand(id string) string {
	if slices.Contains(Catalog(), id) {
		return "use octet extension install " + id
	}
	return "use octet extension install --path ARCHIVE"
}

func updateCommand(id string) string {
	if slices.Contains(Catalog(), id) {
		return "use octet extension update " + id
	}
	return "use octet extension update --path ARCHIVE"
}

// managed reads the record of a directory that is going to be replaced or removed.
func (m Manager) managed(id string) (Record, error) {
	path := filepath.Join(m.Root, id)
	directory, err := os.OpenRoot(path)
	if err != nil {
		return Record{}, m.trouble(path, "cannot be opened", err)
	}
	defer func() { _ = directory.Close() }()
	record, err := readRecord(directory, id)
	if err != nil {
		r := &Refusal{
			Rule: "MAN-INSTALL-008", Subject: path, Remedy: "it was not installed as a bundle: move it away yourself",
			Message: "the directory has no " + RecordName + " and is not managed",
		}
		if !missing(err) {
			r.Message, r.Cause = "the directory has a "+RecordName+" that is not valid and is not managed", err
		}
		return Record{}, r
	}
	return record, nil
}

// Remove removes a managed bundle and nothing else.
func (m Manager) Remove(_ context.Context, id string) error {
	if !identifier(id) {
		return refuse("MAN-INSTALL-018", "octet extension list shows the names", "%q is no name of an extension", shortened(id))
	}
	path := filepath.Join(m.Root, id)
	check := func() error {
		info, err := os.Lstat(path)
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return refuse("MAN-INSTALL-018", "octet extension list shows what is", "%s is not installed", id)
		case err != nil:
			return m.trouble(path, "cannot be looked at", err)
		case !info.IsDir():
			return &Refusal{Rule: "MAN-INSTALL-005", Subject: path, Message: "the extension is not a directory", Remedy: "remove it yourself"}
		}
		_, err = m.managed(id)
		return err
	}
	if err := check(); err != nil {
		return err
	}
	unlock, err := m.lock()
	if err != nil {
		return err
	}
	defer unlock()
	if err := check(); err != nil {
		return err
	}
	hidden, err := os.MkdirTemp(m.Root, removalPrefix)
	if err != nil {
		return m.trouble(m.Root, "cannot be written", err)
	}
	if err := os.Rename(path, filepath.Join(hidden, id)); err != nil {
		_ = os.Remove(hidden)
		return m.trouble(path, "cannot be moved", err)
	}
	syncDirectory(m.Root)
	if err := removeAll(hidden); err != nil {
		r := m.trouble(hidden, "cannot be deleted", err)
		r.Remedy = "the extension is removed; delete this rest of it yourself"
		return r
	}
	return nil
}

func (m Manager) trouble(path, what string, err error) *Refusal {
	return &Refusal{Subject: path, Message: "it " + what, Remedy: "look after its owner, its mode and the disk", Cause: bare(err)}
}

// lock makes the directory of extensions if it is missing and takes the lock that every change needs. It
// does not wait. Then it clears away what changes that were killed have left.
func (m Manager) lock() (unlock func(), err error) {
	if err := os.MkdirAll(m.Root, 0o700); err != nil {
		return nil, m.trouble(m.Root, "cannot be made", err)
	}
	if info, err := os.Lstat(m.Root); err != nil || !info.IsDir() {
		return nil, &Refusal{Rule: "MAN-INSTALL-005", Subject: m.Root, Message: "the directory of extensions is a link or no directory", Remedy: "put a directory there"}
	}
	path := filepath.Join(m.Root, lockName)
	if info, err := os.Lstat(path); err == nil && !info.Mode().IsRegular() {
		return nil, &Refusal{Rule: "MAN-INSTALL-003", Subject: path, Message: "the lock is no regular file", Remedy: "remove it"}
	}
	lock := flock.New(path, flock.SetPermissions(0o600))
	locked, err := lock.TryLock()
	if err != nil {
		return nil, m.trouble(path, "cannot be locked", err)
	}
	if !locked {
		_ = lock.Close()
		return nil, &Refusal{Rule: "MAN-INSTALL-003", Subject: path, Message: "another install, update or removal of an extension is running", Remedy: "wait for its end, then try again"}
	}
	if err := m.recover(); err != nil {
		_ = lock.Close()
		return nil, err
	}
	return func() { _ = lock.Close() }, nil
}

// recover puts a bundle back that was moved aside by an update that was killed, and deletes the rest.
func (m Manager) recover() error {
	entries, err := os.ReadDir(m.Root)
	if err != nil {
		return m.trouble(m.Root, "cannot be read", err)
	}
	for _, entry := range entries {
		name := entry.Name()
		path := filepath.Join(m.Root, name)
		if id, aside := strings.CutPrefix(name, asidePrefix); aside && entry.IsDir() {
			place := filepath.Join(m.Root, id)
			if _, err := os.Lstat(place); errors.Is(err, fs.ErrNotExist) {
				if err := os.Rename(path, place); err != nil {
					return m.trouble(path, "cannot be put back", err)
				}
				continue
			}
			_ = removeAll(path)
		}
		if entry.IsDir() && (strings.HasPrefix(name, stagingPrefix) || strings.HasPrefix(name, removalPrefix)) {
			_ = removeAll(path)
		}
	}
	return nil
}
