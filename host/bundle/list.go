package bundle

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/octet-dev/octet/host/diagnostic"
	"github.com/octet-dev/octet/runtime/manifest/folder"
)

// List returns the managed bundles by ascending id, and what is wrong with directories that have a record
// that is not valid.
func (m Manager) List() ([]Installed, []diagnostic.Diagnostic, error) {
	entries, err := os.ReadDir(m.Root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil, nil
	}
	if err != nil {
		return nil, nil, m.trouble(m.Root, "cannot be read", err)
	}
	var list []Installed
	var told []diagnostic.Diagnostic
	for _, entry := range entries {
		if !entry.IsDir() || !identifier(entry.Name()) || entry.Name() == serveID {
			continue
		}
		installed, err := m.look(entry.Name())
		switch {
		case missing(err):
		case err != nil:
			told = append(told, diagnostic.Diagnostic{
				Level: diagnostic.Warning, Path: filepath.Join(m.Root, entry.Name(), RecordName), Rule: "MAN-INSTALL-014",
				Message: "the record is not valid, and the extension is not managed: " + err.Error(),
				Remedy:  "move the directory away, then install the bundle again",
			})
		default:
			list = append(list, installed)
		}
	}
	slices.SortFunc(list, func(a, b Installed) int { return strings.Compare(a.ID, b.ID) })
	return list, told, nil
}

// look reads record and manifest of one directory.
func (m Manager) look(id string) (Installed, error) {
	path := filepath.Join(m.Root, id)
	directory, err := os.OpenRoot(path)
	if err != nil {
		return Installed{}, err
	}
	defer func() { _ = directory.Close() }()
	record, err := readRecord(directory, id)
	if err != nil {
		return Installed{}, err
	}
	installed := Installed{Record: record, Directory: path}
	found, err := folder.In(directory, path, folder.LoadLimit)
	if err != nil {
		installed.Problem = err.Error()
		return installed, nil
	}
	verdict := found.Judge()
	switch {
	case !verdict.OK():
		installed.Problem = verdict.Summary()
	case record.RequiresOctet != "="+m.octet():
		installed.Problem = fmt.Sprintf("it was installed for octet %s, and this is %s", record.InstalledByOctet, m.octet())
	default:
		installed.Manifest = verdict.Manifest
	}
	return installed, nil
}
