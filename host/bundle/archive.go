package bundle

import (
	"archive/tar"
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"strings"
)

// entry is one file or directory of an archive. Its path has been judged.
type entry struct {
	path string // with slashes, the root first
	mode fs.FileMode
	size int64
	data io.Reader // of a file
}

func (e entry) directory() bool { return e.mode.IsDir() }

// The modes that extraction gives.
const (
	modeDirectory  = fs.ModeDir | 0o755
	modeExecutable = fs.FileMode(0o755)
	modePlain      = fs.FileMode(0o644)
)

// What an archive may expand to, besides its files: headers, extended headers and padding.
const maxOverheadBytes = 64 << 20

// walk reads an archive to its end and calls visit for each entry, in order. It refuses what no bundle may
// hold, and holds the stream itself to a bound: headers can be a bomb too. It returns the root.
func walk(archive io.Reader, visit func(entry) error) (root string, err error) {
	unzipped, err := gzip.NewReader(bufio.NewReader(archive))
	if err != nil {
		return "", unreadable(err)
	}
	stream := &bounded{from: unzipped, left: MaxExpandedBytes + maxOverheadBytes}
	reader := tar.NewReader(stream)
	var seen paths
	var total int64
	for {
		header, err := reader.Next()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return "", unreadable(err)
		}
		e, err := judge(header, &seen)
		if err != nil {
			return "", err
		}
		if total += e.size; total > MaxExpandedBytes {
			return "", refuse("MAN-BUNDLE-002", "leave files out", "the archive expands beyond %d bytes", MaxExpandedBytes)
		}
		data := &counted{from: reader}
		e.data = data
		if err := visit(e); err != nil {
			return "", err
		}
		if _, err := io.Copy(io.Discard, data); err != nil {
			return "", truncated(err, e, data.count)
		}
	}
	if err := padding(stream); err != nil {
		return "", err
	}
	if seen.count == 0 {
		return "", refuse("MAN-BUNDLE-006", rebuild, "the archive is empty")
	}
	if !seen.named(seen.root) {
		return "", refuse("MAN-BUNDLE-006", rebuild+" from the directory itself, as tar -czf ARCHIVE DIRECTORY does",
			"the archive has no entry for its root directory %q", seen.root)
	}
	return seen.root, nil
}

// judge makes an entry of a header.
func judge(header *tar.Header, seen *paths) (entry, error) {
	name, directory := header.Name, header.Typeflag == tar.TypeDir
	if directory {
		name = strings.TrimSuffix(name, "/")
	}
	if header.Typeflag != tar.TypeReg && !directory || sparse(header) {
		// A name is judged first: it is shown.
		if err := checkPath(name); err != nil {
			return entry{}, err
		}
		return entry{}, refuse("MAN-BUNDLE-005", rebuild+" with files and directories alone", "the entry %q of the archive is %s, not a regular file or directory", name, kind(header))
	}
	if err := seen.add(name, directory); err != nil {
		return entry{}, err
	}
	e := entry{path: name, size: header.Size, mode: modeDirectory}
	switch {
	case directory && header.Size != 0:
		return entry{}, refuse("MAN-BUNDLE-005", rebuild, "the directory %q of the archive has data", name)
	case header.Size < 0 || header.Size > MaxFileBytes:
		return entry{}, refuse("MAN-BUNDLE-002", "make the file smaller", "the entry %q of the archive has %d bytes, at most %d are allowed", name, header.Size, MaxFileBytes)
	case directory:
	case header.FileInfo().Mode().Perm()&0o111 != 0:
		e.mode = modeExecutable
	default:
		e.mode = modePlain
	}
	_, below, _ := strings.Cut(name, "/")
	for _, reserved := range []string{RecordName, packageName} {
		if fold(below) == reserved {
			return entry{}, refuse("MAN-BUNDLE-008", "leave it out: the host writes it", "the archive has %q, a name that is reserved", name)
		}
	}
	return e, nil
}

// sparse reports whether a file has holes that the archive does not hold.
func sparse(header *tar.Header) bool {
	for key := range header.PAXRecords {
		if strings.HasPrefix(key, "GNU.sparse.") {
			return true
		}
	}
	return false
}

func kind(header *tar.Header) string {
	switch header.Typeflag {
	case tar.TypeLink:
		return "a hard link"
	case tar.TypeSymlink:
		return "a symbolic link"
	case tar.TypeChar, tar.TypeBlock:
		return "a device"
	case tar.TypeFifo:
		return "a fifo"
	case tar.TypeXGlobalHeader:
		return "a header for all entries"
	case tar.TypeGNUSparse:
		return "a sparse file"
	}
	if sparse(header) {
		return "a sparse file"
	}
	return fmt.Sprintf("of the type %q", header.Typeflag)
}

// padding demands that nothing but zeros stands behind the end of an archive, and not many of them.
func padding(stream io.Reader) error {
	const most = 1 << 20
	rest := bufio.NewReader(io.LimitReader(stream, most+1))
	for count := 0; ; count++ {
		b, err := rest.ReadByte()
		switch {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return unreadable(err)
		case b != 0 || count == most:
			return refuse("MAN-BUNDLE-001", rebuild, "the archive has data behind its end")
		}
	}
}

// bounded ends with a refusal where a stream is longer than its bound.
type bounded struct {
	from io.Reader
	left int64
}

// Read reads no more than the bound.
func (b *bounded) Read(p []byte) (int, error) {
	if b.left <= 0 {
		return 0, refuse("MAN-BUNDLE-002", "leave files out", "the archive expands beyond %d bytes", MaxExpandedBytes)
	}
	count, err := b.from.Read(p[:min(int64(len(p)), b.left)])
	b.left -= int64(count)
	return count, err
}

// counted counts what was read.
type counted struct {
	from  io.Reader
	count int64
}

// Read reads and counts.
func (c *counted) Read(p []byte) (int, error) {
	count, err := c.from.Read(p)
	c.count += int64(count)
	return count, err
}

// truncated explains why the data of an entry ended early.
func truncated(err error, e entry, came int64) error {
	if errors.Is(err, io.ErrUnexpectedEOF) {
		return refuse("MAN-BUNDLE-009", "get the archive again", "the entry %q of the archive ends behind %d of its %d bytes", e.path, came, e.size)
	}
	return unreadable(err)
}

// unreadable explains an error of the readers.
func unreadable(err error) error {
	var known *Refusal
	if errors.As(err, &known) {
		return known
	}
	r := refuse("MAN-BUNDLE-001", "get the archive again; it must be a gzip-compressed tar", "the archive cannot be read")
	if errors.Is(err, io.ErrUnexpectedEOF) {
		r.Rule, r.Message = "MAN-BUNDLE-009", "the archive ends early"
		return r
	}
	r.Cause = err
	return r
}
