package bundle

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"strings"
	"unicode"

	jsonv2 "github.com/go-json-experiment/json"

	"github.com/octet-dev/octet/runtime/manifest/semver"
)

// recordSchema is the version of install.json.
const recordSchema = 1

// SourceKind says where a bundle comes from.
type SourceKind string

// The kinds of sources.
const (
	Official SourceKind = "official" // a release; the source is its URL
	Local    SourceKind = "local"    // a file; the source is its canonical path
)

// Record is install.json: what was installed, from where, by whom.
type Record struct {
	SchemaVersion    int        `json:"schema_version"`
	ID               string     `json:"id"`
	Version          string     `json:"version"`
	APIVersion       string     `json:"api_version"`
	RequiresOctet    string     `json:"requires_octet"`
	SourceKind       SourceKind `json:"source_kind"`
	Source           string     `json:"source"`
	ArchiveSHA256    string     `json:"archive_sha256"`
	InstalledByOctet string     `json:"installed_by_octet"`
}

// encode writes the record as it stands in the file.
func (r Record) encode() ([]byte, error) {
	text, err := json.MarshalIndent(r, "", "  ")
	return append(text, '\n'), err
}

// readRecord reads the record of a directory and judges it. An error that wraps fs.ErrNotExist means that
// there is none.
func readRecord(directory *os.Root, id string) (Record, error) {
	info, err := directory.Lstat(RecordName)
	if err != nil {
		return Record{}, err
	}
	if !info.Mode().IsRegular() {
		return Record{}, errors.New("it is no regular file")
	}
	file, err := directory.Open(RecordName)
	if err != nil {
		return Record{}, err
	}
	defer func() { _ = file.Close() }()
	text, err := io.ReadAll(io.LimitReader(file, MaxRecordBytes+1))
	if err != nil {
		return Record{}, err
	}
	return parseRecord(text, id)
}

// parseRecord judges the text of a record that stands in the directory of an id.
func parseRecord(text []byte, id string) (r Record, err error) {
	if len(text) > MaxRecordBytes {
		return Record{}, fmt.Errorf("it has more than %d bytes", MaxRecordBytes)
	}
	if err := jsonv2.Unmarshal(text, &r, jsonv2.RejectUnknownMembers(true)); err != nil {
		return Record{}, err
	}
	var members map[string]any
	if err := jsonv2.Unmarshal(text, &members); err != nil {
		return Record{}, err
	}
	for _, key := range []string{"schema_version", "id", "version", "api_version", "requires_octet", "source_kind", "source", "archive_sha256", "installed_by_octet"} {
		if members[key] == nil {
			return Record{}, fmt.Errorf("it has no %s", key)
		}
	}
	return r, r.check(id)
}

func (r Record) check(id string) error {
	_, versionErr := semver.Parse(r.Version)
	_, octetErr := semver.Parse(r.InstalledByOctet)
	switch {
	case r.SchemaVersion != recordSchema:
		return fmt.Errorf("schema_version is %d, want %d", r.SchemaVersion, recordSchema)
	case r.ID != id:
		return fmt.Errorf("id is %q and the directory %q", r.ID, id)
	case versionErr != nil:
		return fmt.Errorf("version is %q: %w", r.Version, versionErr)
	case !supports(r.APIVersion):
		return fmt.Errorf("api_version is %q, want one of %s", r.APIVersion, strings.Join(APIs(), ", "))
	case octetErr != nil:
		return fmt.Errorf("installed_by_octet is %q: %w", r.InstalledByOctet, octetErr)
	case r.RequiresOctet != "="+r.InstalledByOctet:
		return fmt.Errorf("requires_octet is %q, want %q", r.RequiresOctet, "="+r.InstalledByOctet)
	case r.SourceKind != Official && r.SourceKind != Local:
		return fmt.Errorf("source_kind is %q, want %s or %s", r.SourceKind, Official, Local)
	case strings.TrimSpace(r.Source) == "" || strings.ContainsFunc(r.Source, unicode.IsControl):
		return fmt.Errorf("source is %q, want a text without control characters", r.Source)
	case !isDigest(r.ArchiveSHA256):
		return fmt.Errorf("archive_sha256 is %q, want 64 hexadecimal digits", r.ArchiveSHA256)
	}
	return nil
}

func isDigest(text string) bool {
	return len(text) == 64 && !strings.ContainsFunc(text, func(c rune) bool {
		return (c < '0' || c > '9') && (c < 'a' || c > 'f') && (c < 'A' || c > 'F')
	})
}

// missing reports whether a directory has no record at all.
func missing(err error) bool { return errors.Is(err, fs.ErrNotExist) }
