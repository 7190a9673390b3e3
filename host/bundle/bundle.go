// Package bundle installs extensions from archives, updates and removes them, and tells which there are.
// Nothing of a bundle is ever run here, and an archive that is refused leaves nothing behind.
//
// Sheet: manifest 11.1 to 11.4.
package bundle

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"slices"

	"github.com/octet-dev/octet/generated/manifestdoc"
	"github.com/octet-dev/octet/runtime/manifest"
)

// The bounds of an archive. Sheet: manifest 11.1.
const (
	MaxArchiveBytes  = 512 << 20 // compressed
	MaxEntries       = 4096
	MaxPathBytes     = 4096
	MaxComponents    = 64
	MaxFileBytes     = 64 << 20
	MaxExpandedBytes = 256 << 20 // by the sizes that the entries declare
	MaxRecordBytes   = 64 << 10  // install.json
	MaxManifestBytes = manifestdoc.MaxManifestLoadBytes
	MaxSumsBytes     = 1 << 20 // SHA256SUMS
)

// RecordName is the file of a Record, in the directory of its bundle.
const RecordName = "install.json"

// Names with a meaning.
const (
	packageName = "package.toml" // of an application package
	serveID     = "octet-serve"  // the application package
)

// APIs are the API versions that a bundle may declare: all but the first, which is frozen without bundles.
func APIs() []string {
	var list []string
	for _, row := range manifestdoc.TableAPIWires[1:] {
		list = append(list, row.Version)
	}
	return list
}

func supports(api string) bool { return slices.Contains(APIs(), api) }

// Refusal is why something was not installed, updated or removed. Nothing has changed.
type Refusal struct {
	Rule     string // id of the rule, "MAN-BUNDLE-005"
	Subject  string // the archive, directory, file or URL; may be empty
	Message  string
	Remedy   string
	Problems []manifest.Problem // of a manifest that is not legal
	Cause    error              // from the operating system or the network; may be nil
}

// Error names subject, message, remedy and rule in one line.
func (r *Refusal) Error() string {
	text := r.Message
	if r.Subject != "" {
		text = r.Subject + ": " + text
	}
	if r.Cause != nil {
		text += ": " + r.Cause.Error()
	}
	if r.Remedy != "" {
		text += "; " + r.Remedy
	}
	if r.Rule != "" {
		text += " (" + r.Rule + ")"
	}
	return text
}

// Unwrap returns the cause.
func (r *Refusal) Unwrap() error { return r.Cause }

func refuse(rule, remedy, format string, args ...any) *Refusal {
	return &Refusal{Rule: rule, Remedy: remedy, Message: fmt.Sprintf(format, args...)}
}

// bare is an error of the operating system without operation and path: the path is the subject already.
func bare(err error) error {
	var cause *fs.PathError
	var linked *os.LinkError
	switch {
	case errors.As(err, &cause):
		return cause.Err
	case errors.As(err, &linked):
		return linked.Err
	}
	return err
}

// about adds the subject of a refusal that has none.
func about(subject string, err error) error {
	if r, ok := err.(*Refusal); ok && r.Subject == "" {
		r.Subject = subject
	}
	return err
}
