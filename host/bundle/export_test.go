package bundle

import (
	"io"
	"net/http"
	"time"
)

// ConnectTimeouts are those of an ordinary client.
func ConnectTimeouts() (connect, handshake time.Duration) {
	transport, ok := Release{}.client().Transport.(*http.Transport)
	if !ok {
		return 0, 0
	}
	return dialer().Timeout, transport.TLSHandshakeTimeout
}

// Swap exchanges two directories as an update does.
var Swap = swap

// Put puts an archive that was inspected before, after something has happened in between.
func (m Manager) Put(path string, between func()) error {
	archive, err := inspect(path, m.octet())
	if err != nil {
		return err
	}
	between()
	unlock, err := m.lock()
	if err != nil {
		return err
	}
	defer unlock()
	s, err := m.stage(archive, Record{ID: archive.ID()})
	if err == nil {
		s.discard()
	}
	return err
}

// MoveAside replaces a bundle as on a system that cannot exchange directories.
func (m Manager) MoveAside(path, id string, between func(staged string)) error {
	archive, err := inspect(path, m.octet())
	if err != nil {
		return err
	}
	unlock, err := m.lock()
	if err != nil {
		return err
	}
	defer unlock()
	r := Record{
		SchemaVersion: recordSchema, ID: id, Version: archive.Manifest.Version, APIVersion: archive.Manifest.API, RequiresOctet: archive.Manifest.RequiresOctet,
		SourceKind: Local, Source: path, ArchiveSHA256: archive.SHA256, InstalledByOctet: m.octet(),
	}
	s, err := m.stage(archive, r)
	if err != nil {
		return err
	}
	defer s.discard()
	between(s.path())
	return m.moveAside(s, id)
}

// ParseRecord is parseRecord.
var ParseRecord = parseRecord

// Read reads and judges an archive that is no file.
func Read(archive io.Reader) (id string, err error) {
	var found contents
	_, root, err := read(archive, found.visit)
	if err != nil {
		return "", err
	}
	m, err := found.judge(root, Manager{}.octet())
	if err != nil {
		return "", err
	}
	return m.Name, nil
}
