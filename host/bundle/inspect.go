package bundle

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/octet-dev/octet/generated/manifestdoc"
	"github.com/octet-dev/octet/runtime/manifest"
)

// Archive is an archive that was read to its end and judged. Nothing of it was written anywhere.
type Archive struct {
	Path     string // canonical
	SHA256   string // 64 hexadecimal digits
	Manifest *manifest.Manifest
}

// ID is the id of the bundle: the name of the extension and of the root directory.
func (a *Archive) ID() string { return a.Manifest.Name }

// Inspect reads an archive and judges all of it: structure, manifest and entrypoint, against the octet
// version of this host. The error is a *Refusal.
func Inspect(archive string) (*Archive, error) {
	return inspect(archive, manifest.OctetVersion().String())
}

func inspect(archive, octet string) (*Archive, error) {
	canonical, file, err := open(archive)
	if err != nil {
		return nil, err
	}
	defer func() { _ = file.Close() }()
	var found contents
	digest, root, err := read(file, found.visit)
	if err != nil {
		return nil, about(canonical, err)
	}
	m, err := found.judge(root, octet)
	if err != nil {
		return nil, about(canonical, err)
	}
	return &Archive{Path: canonical, SHA256: digest, Manifest: m}, nil
}

// open opens an archive without following a link in its last component.
func open(archive string) (canonical string, file *os.File, err error) {
	refused := func(err error) error {
		return &Refusal{Rule: "MAN-INSTALL-002", Subject: archive, Message: "the archive cannot be opened", Remedy: "name a file that can be read", Cause: bare(err)}
	}
	absolute, err := filepath.Abs(archive)
	if err != nil {
		return "", nil, refused(err)
	}
	directory, err := filepath.EvalSymlinks(filepath.Dir(absolute))
	if err != nil {
		return "", nil, refused(err)
	}
	canonical = filepath.Join(directory, filepath.Base(absolute))
	before, err := os.Lstat(canonical)
	if err != nil {
		return "", nil, refused(err)
	}
	if !before.Mode().IsRegular() {
		return "", nil, &Refusal{
			Rule: "MAN-INSTALL-002", Subject: canonical, Message: "the archive is not a regular file",
			Remedy: "name the file itself, not a link or directory",
		}
	}
	file, err = openNoFollow(canonical)
	if err != nil {
		return "", nil, refused(err)
	}
	after, err := file.Stat()
	switch {
	case err != nil:
	case !os.SameFile(before, after):
		err = errors.New("it was exchanged while it was opened")
	case after.Size() > MaxArchiveBytes:
		_ = file.Close()
		return "", nil, &Refusal{
			Rule: "MAN-BUNDLE-002", Subject: canonical, Remedy: "leave files out",
			Message: fmt.Sprintf("the archive has %d bytes, at most %d are allowed", after.Size(), MaxArchiveBytes),
		}
	}
	if err != nil {
		_ = file.Close()
		return "", nil, refused(err)
	}
	return canonical, file, nil
}

// read walks over an archive and takes the digest of all its bytes, within the bound.
func read(file io.Reader, visit func(entry) error) (digest, root string, err error) {
	hash := sha256.New()
	compressed := &counted{from: io.LimitReader(file, MaxArchiveBytes+1)}
	all := io.TeeReader(compressed, hash)
	root, err = walk(all, visit)
	if err != nil {
		return "", "", err
	}
	if _, err := io.Copy(io.Discard, all); err != nil {
		return "", "", unreadable(err)
	}
	if compressed.count > MaxArchiveBytes {
		return "", "", refuse("MAN-BUNDLE-002", "leave files out", "the archive has more than %d bytes", MaxArchiveBytes)
	}
	return hex.EncodeToString(hash.Sum(nil)), root, nil
}

// contents is what a bundle is judged by: its manifest and the modes of its files.
type contents struct {
	manifest []byte // nil: there is none
	files    map[string]fs.FileMode
}

// visit remembers an entry.
func (c *contents) visit(e entry) error {
	if c.files == nil {
		c.files = map[string]fs.FileMode{}
	}
	_, below, _ := strings.Cut(e.path, "/")
	c.files[below] = e.mode
	if below != manifest.FileName() || e.directory() {
		return nil
	}
	if e.size > MaxManifestBytes {
		return refuse("MAN-BUNDLE-003", "shorten it", "%s of the archive has %d bytes, at most %d are allowed", e.path, e.size, MaxManifestBytes)
	}
	var data bytes.Buffer
	if count, err := io.Copy(&data, e.data); err != nil {
		return truncated(err, e, count)
	}
	c.manifest = append([]byte{}, data.Bytes()...)
	return nil
}

// judge judges the manifest and what it says about the files.
func (c *contents) judge(root, octet string) (*manifest.Manifest, error) {
	switch {
	case !identifier(root):
		return nil, refuse("MAN-BUNDLE-001", "call the directory like the extension: a lower-case letter, then lower-case letters, digits and hyphens",
			"the root directory %q of the archive is no id of an extension", shortened(root))
	case root == serveID:
		return nil, refuse("MAN-BUNDLE-011", "it needs a package.toml of its own", "%s is an application package and no extension", serveID)
	case c.manifest == nil:
		return nil, refuse("MAN-BUNDLE-006", "add the manifest", "the archive has no %s/%s", root, manifest.FileName())
	}
	verdict := manifest.Judge(c.manifest, manifest.Context{})
	if !verdict.OK() {
		r := refuse("MAN-BUNDLE-010", "correct the manifest, then "+rebuild, "the manifest of the archive: %s", verdict.Summary())
		r.Problems = verdict.Problems
		return nil, r
	}
	m := verdict.Manifest
	pin := "=" + octet
	switch {
	case m.Name != root:
		return nil, refuse("MAN-BUNDLE-010", "give both one name", "the manifest of the archive is of %q, its directory is %q", m.Name, root)
	case !supports(m.API):
		return nil, refuse("MAN-BUNDLE-010", "move the extension to a later version", "the manifest of the archive declares API %s; bundles need one of %s", m.API, strings.Join(APIs(), ", "))
	case m.RequiresOctet == "":
		return nil, refuse("MAN-BUNDLE-010", fmt.Sprintf("add requires_octet = %q", pin), "the manifest of the archive does not say which octet it is for")
	case m.RequiresOctet != pin:
		return nil, refuse("MAN-HOST-006", fmt.Sprintf("a bundle pins one version: write requires_octet = %q", pin),
			"the manifest of the archive requires octet %q, and this is %s", m.RequiresOctet, octet)
	}
	return m, c.entrypoint(m.Entrypoint.Command)
}

// entrypoint judges the command against the files of the bundle.
func (c *contents) entrypoint(command string) error {
	if filepath.IsAbs(command) || path.IsAbs(command) {
		return nil // a dependency outside of the bundle
	}
	if err := checkPath(command); err != nil {
		return refuse("MAN-BUNDLE-013", "write a bare name, a relative path of plain components, or an absolute path",
			"entrypoint.command %q cannot be of a bundle", command)
	}
	mode, found := c.files[command]
	bare := !strings.Contains(command, "/")
	switch {
	case !found && bare:
		return nil // a dependency in the search path
	case !found && runtime.GOOS == "windows" && c.files[command+".exe"] != 0:
		return nil
	case !found:
		return refuse("MAN-BUNDLE-014", "add the file", "entrypoint.command: the archive has no %q", command)
	case mode.IsDir():
		return refuse("MAN-BUNDLE-014", "name a file", "entrypoint.command: %q is no regular file in the archive", command)
	case mode&0o111 == 0 && runtime.GOOS != "windows":
		return refuse("MAN-BUNDLE-014", "set its execute bit before the archive is built", "entrypoint.command: %q is not executable in the archive", command)
	}
	return nil
}

// identifier reports whether a text is a strict identifier.
func identifier(text string) bool {
	if text == "" || len(text) > manifestdoc.MaxIdentifierBytes || text[0] < 'a' || text[0] > 'z' {
		return false
	}
	for _, c := range []byte(text) {
		if (c < 'a' || c > 'z') && (c < '0' || c > '9') && c != '-' {
			return false
		}
	}
	return true
}
