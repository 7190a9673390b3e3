// Package migration takes over the setup of another program through an adapter, an extension of API 0.3 that
// knows where that program keeps what.
//
// The host says where to look and believes nothing: every path that an adapter names is relative to the root
// and leads to a regular file inside it, and only what detection reported is imported. Both calls are
// read-only; what is done with an import is the caller's affair. Source: sheet canonical 5.10.
package migration

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/host/extension"
)

// Adapter is an extension that knows another program. *extension.Extension is one.
type Adapter interface {
	Name() string
	DetectMigration(ctx context.Context, p canonicalwire.MigrationDetectParams) (*canonicalwire.MigrationDetectResult, error)
	ImportMigration(ctx context.Context, p canonicalwire.MigrationImportParams) (*canonicalwire.MigrationImportResult, error)
}

// Binding offers the capability. The host is the only one who asks.
func Binding() extension.Binding {
	return extension.Binding{Capabilities: []string{canonicalwire.CapabilityMigrationAdapterV1}}
}

// PathError is a path that an adapter named and the host does not follow.
type PathError struct {
	Adapter, Path, Rule string
}

// Error names the adapter, the path and the rule.
func (e *PathError) Error() string {
	return fmt.Sprintf("migration adapter %q named the path %q: %s", e.Adapter, e.Path, e.Rule)
}

// Detection is what an adapter found below a root.
type Detection struct {
	adapter Adapter
	root    string

	// Detected says that the program's setup is there.
	Detected bool
	// ConfigPaths are its files, relative to the root, each once.
	ConfigPaths []string
	Diagnostics []canonicalwire.MigrationDiagnostic
}

// Detect asks an adapter to look below a root: an absolute path of a directory that is no symbolic link.
func Detect(ctx context.Context, a Adapter, root string) (*Detection, error) {
	switch info, err := os.Lstat(root); {
	case !filepath.IsAbs(root):
		return nil, fmt.Errorf("migration root %q is not absolute; name it from the top", root)
	case len(root) > canonicalwire.MaxMigrationPathBytes:
		return nil, fmt.Errorf("migration root is longer than %d bytes", canonicalwire.MaxMigrationPathBytes)
	case err != nil:
		return nil, fmt.Errorf("migration root: %w", err)
	case !info.IsDir():
		return nil, fmt.Errorf("migration root %q is not a real directory; name the directory itself, no link to it", root)
	}
	found, err := a.DetectMigration(ctx, canonicalwire.MigrationDetectParams{SourceRoot: root})
	if err != nil {
		return nil, err
	}
	d := &Detection{adapter: a, root: root, Detected: found.Detected, ConfigPaths: found.ConfigPaths, Diagnostics: found.Diagnostics}
	for i, path := range found.ConfigPaths {
		if slices.Contains(found.ConfigPaths[:i], path) {
			return nil, d.refuse(path, "it is named twice")
		}
		if err := d.check(path); err != nil {
			return nil, err
		}
	}
	return d, d.checkDiagnostics(found.Diagnostics)
}

// Import has the adapter read some of the files that it detected, each named once. Files that have meanwhile
// gone are its to report; one that has become something else than a regular file inside the root is refused.
func (d *Detection) Import(ctx context.Context, paths []string) (*canonicalwire.MigrationImportResult, error) {
	root, err := os.OpenRoot(d.root)
	if err != nil {
		return nil, fmt.Errorf("migration root: %w", err)
	}
	defer root.Close()
	for i, path := range paths {
		switch {
		case !slices.Contains(d.ConfigPaths, path):
			return nil, fmt.Errorf("%q was not detected; choose among the detected paths", path)
		case slices.Contains(paths[:i], path):
			return nil, fmt.Errorf("%q is chosen twice", path)
		}
		if err := d.checkFile(root, path); err != nil {
			return nil, err
		}
	}
	if paths == nil {
		paths = []string{}
	}
	got, err := d.adapter.ImportMigration(ctx, canonicalwire.MigrationImportParams{SourceRoot: d.root, ConfigPaths: paths})
	if err != nil {
		return nil, err
	}
	for _, m := range got.Models {
		err = errors.Join(err, d.check(m.Path))
	}
	for _, s := range got.Skills {
		err = errors.Join(err, d.check(s.Path))
	}
	for _, s := range got.MCPServers {
		err = errors.Join(err, d.check(s.Path))
	}
	if err = errors.Join(err, d.checkDiagnostics(got.Diagnostics)); err != nil {
		return nil, err
	}
	return got, nil
}

// checkFile refuses what is no regular file any more. A symbolic link is followed as long as it stays inside.
func (d *Detection) checkFile(root *os.Root, path string) error {
	info, err := root.Stat(filepath.FromSlash(path))
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil
	case err != nil:
		return d.refuse(path, "it cannot be reached inside the root: "+err.Error())
	case !info.Mode().IsRegular():
		return d.refuse(path, "it is no regular file")
	}
	return nil
}

func (d *Detection) checkDiagnostics(list []canonicalwire.MigrationDiagnostic) error {
	for _, each := range list {
		if err := d.check(each.Path); err != nil {
			return err
		}
	}
	return nil
}

func (d *Detection) refuse(path, rule string) error {
	return &PathError{Adapter: d.adapter.Name(), Path: path, Rule: rule}
}

// check refuses a path that is not plainly one below the root, on any system.
func (d *Detection) check(path string) error {
	switch {
	case !utf8.ValidString(path):
		return d.refuse(path, "it is not UTF-8")
	case strings.HasPrefix(path, "/"):
		return d.refuse(path, "it is absolute")
	case strings.ContainsAny(path, "\\\x00"):
		return d.refuse(path, "it contains a backslash or a NUL")
	case len(path) >= 2 && path[1] == ':' && (path[0]|0x20 >= 'a' && path[0]|0x20 <= 'z'):
		return d.refuse(path, "it begins with a drive letter")
	}
	for segment := range strings.SplitSeq(path, "/") {
		if segment == "" || segment == "." || segment == ".." {
			return d.refuse(path, "it has an empty segment, . or ..")
		}
	}
	return nil
}
