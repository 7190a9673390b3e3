package bundle_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/octet-dev/octet/host/bundle"
)

// item is an entry of an archive that is built for a test.
type item struct {
	tar.Header
	data string
}

func dir(name string) item {
	return item{Header: tar.Header{Name: name, Typeflag: tar.TypeDir, Mode: 0o700}}
}

func file(name, data string) item {
	return item{Header: tar.Header{Name: name, Typeflag: tar.TypeReg, Mode: 0o600, Size: int64(len(data))}, data: data}
}

func program(name, data string) item {
	i := file(name, data)
	i.Mode = 0o710
	return i
}

const toml = `name = "word-count"
version = "1.2.3"
api_version = "0.4"
requires_octet = "=0.8.0"
[entrypoint]
command = "bin/run"
`

// sound are the entries of an archive that nothing is wrong with.
func sound() []item {
	return []item{
		dir("word-count/"), file("word-count/extension.toml", toml), dir("word-count/bin/"),
		program("word-count/bin/run", "#!/bin/sh\n: > \"$HOME/mark\"\n"), file("word-count/docs/guide/read.md", "# Read\n"),
	}
}

// with replaces the entry of the same name, or adds one.
func with(items []item, changed ...item) []item {
	items = slices.Clone(items)
	for _, c := range changed {
		if at := slices.IndexFunc(items, func(i item) bool { return i.Name == c.Name }); at >= 0 {
			items[at] = c
		} else {
			items = append(items, c)
		}
	}
	return items
}

func without(items []item, name string) []item {
	return slices.DeleteFunc(slices.Clone(items), func(i item) bool { return i.Name == name })
}

// manifestWith is the sound manifest with a line exchanged.
func manifestWith(old, replacement string) item {
	return file("word-count/extension.toml", strings.Replace(toml, old, replacement, 1))
}

// tarball writes entries as they are, also those that no tar program would write.
func tarball(t testing.TB, items ...item) []byte {
	t.Helper()
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	for _, i := range items {
		if err := w.WriteHeader(&i.Header); err != nil {
			t.Fatalf("%q: %v", i.Name, err)
		}
		if _, err := w.Write([]byte(i.data)); err != nil {
			t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func zip(t testing.TB, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

func archive(t testing.TB, items ...item) []byte { t.Helper(); return zip(t, tarball(t, items...)) }

// save writes an archive to a file of its own.
func save(t testing.TB, data []byte) string {
	t.Helper()
	path := filepath.Join(t.TempDir(), "archive.tar.gz")
	if err := os.WriteFile(path, data, 0o600); err != nil {
		t.Fatal(err)
	}
	return path
}

// manager keeps bundles below a home of its own.
func manager(t testing.TB) bundle.Manager {
	t.Helper()
	return bundle.Manager{Root: filepath.Join(t.TempDir(), ".octet", "extensions")}
}

func install(t testing.TB, m bundle.Manager, items ...item) bundle.Record {
	t.Helper()
	record, err := m.Install(t.Context(), bundle.Source{Archive: save(t, archive(t, items...))})
	if err != nil {
		t.Fatal(err)
	}
	return record
}

// tree describes everything below a directory, content and modes too. The lock is left out: it stays.
func tree(t testing.TB, root string) string {
	t.Helper()
	var b strings.Builder
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		if err != nil {
			if path == root {
				return nil
			}
			return err
		}
		info, err := entry.Info()
		if err != nil || entry.Name() == ".package.lock" {
			return err
		}
		var text []byte
		if info.Mode().IsRegular() {
			if text, err = os.ReadFile(path); err != nil {
				return err
			}
		}
		changed := info.ModTime().UnixNano()
		if path == root { // what was made in it and removed again shows in its time
			changed = 0
		}
		fmt.Fprintf(&b, "%s %s %d %x\n", strings.TrimPrefix(path, root), info.Mode(), changed, text)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// refused demands a refusal by a rule that has a remedy and says some words.
func refused(t testing.TB, err error, rule string, words ...string) {
	t.Helper()
	r, ok := err.(*bundle.Refusal)
	if !ok {
		t.Fatalf("got %v, want a refusal by %s", err, rule)
	}
	if r.Rule != rule {
		t.Errorf("%q was refused by %s, want %s", err, r.Rule, rule)
	}
	if r.Remedy == "" {
		t.Errorf("%q has no remedy", err)
	}
	for _, word := range words {
		if !strings.Contains(err.Error(), word) {
			t.Errorf("%q does not say %q", err, word)
		}
	}
}
