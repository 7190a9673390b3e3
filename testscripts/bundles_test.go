package testscripts

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"crypto/sha256"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/rogpeppe/go-internal/testscript"
)

// bundleArchive FILE DIR [KIND] packs a directory as bundles are packed: files that begin with #! can be
// executed. A kind adds what no bundle may hold: link, traversal, twice, case, fifo, reserved; or makes a
// truncated archive of it: truncated.
func bundleArchive(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) < 2 || len(args) > 3 {
		ts.Fatalf("usage: bundle FILE DIR [KIND]")
	}
	var data bytes.Buffer
	zipped := gzip.NewWriter(&data)
	w := tar.NewWriter(zipped)
	directory := ts.MkAbs(args[1])
	add := func(header tar.Header, text []byte) {
		header.Size = int64(len(text))
		ts.Check(w.WriteHeader(&header))
		_, err := w.Write(text)
		ts.Check(err)
	}
	ts.Check(filepath.WalkDir(directory, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		below, err := filepath.Rel(filepath.Dir(directory), path)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(below)
		if entry.IsDir() {
			add(tar.Header{Name: name + "/", Typeflag: tar.TypeDir, Mode: 0o755}, nil)
			return nil
		}
		text, err := os.ReadFile(path)
		mode := int64(0o644)
		if strings.HasPrefix(string(text), "#!") {
			mode = 0o755
		}
		add(tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: mode}, text)
		return err
	}))
	root := filepath.Base(directory)
	kind := ""
	if len(args) == 3 {
		kind = args[2]
	}
	switch kind {
	case "", "truncated":
	case "link":
		add(tar.Header{Name: root + "/escape", Typeflag: tar.TypeSymlink, Linkname: "/etc"}, nil)
	case "traversal":
		add(tar.Header{Name: root + "/../../evil", Typeflag: tar.TypeReg, Mode: 0o644}, []byte("evil"))
	case "twice":
		add(tar.Header{Name: root + "/extension.toml", Typeflag: tar.TypeReg, Mode: 0o644}, []byte("evil"))
	case "case":
		add(tar.Header{Name: root + "/Extension.toml", Typeflag: tar.TypeReg, Mode: 0o644}, []byte("evil"))
	case "fifo":
		add(tar.Header{Name: root + "/pipe", Typeflag: tar.TypeFifo}, nil)
	case "reserved":
		add(tar.Header{Name: root + "/install.json", Typeflag: tar.TypeReg, Mode: 0o644}, []byte("{}"))
	default:
		ts.Fatalf("unknown kind %q", kind)
	}
	ts.Check(w.Close())
	ts.Check(zipped.Close())
	bytesOf := data.Bytes()
	if kind == "truncated" {
		bytesOf = bytesOf[:len(bytesOf)/2]
	}
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), bytesOf, 0o600))
}

// snapshot FILE DIR writes names, modes and digests of everything below a directory to a file.
func snapshot(ts *testscript.TestScript, neg bool, args []string) {
	if neg || len(args) != 2 {
		ts.Fatalf("usage: snapshot FILE DIR")
	}
	var b strings.Builder
	root := ts.MkAbs(args[1])
	ts.Check(filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		info, err := entry.Info()
		if err != nil {
			return err
		}
		var text []byte
		if info.Mode().IsRegular() {
			text, err = os.ReadFile(path)
		}
		fmt.Fprintf(&b, "%s %s %x\n", strings.TrimPrefix(path, root), info.Mode(), sha256.Sum256(text))
		return err
	}))
	ts.Check(os.WriteFile(ts.MkAbs(args[0]), []byte(b.String()), 0o600))
}
