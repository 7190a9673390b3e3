package bundle_test

import (
	"archive/tar"
	"bytes"
	"compress/gzip"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/octet-dev/octet/host/bundle"
)

// hostile are archives that are refused, each by one rule.
func hostile(t testing.TB) map[string]struct {
	data []byte
	rule string
	word string
} {
	type row = struct {
		data []byte
		rule string
		word string
	}
	rows := map[string]row{}
	add := func(name, rule, word string, items ...item) {
		rows[name] = row{archive(t, items...), rule, word}
	}
	special := func(kind byte, name, target string) item {
		return item{Header: tar.Header{Name: name, Typeflag: kind, Linkname: target, Mode: 0o777}}
	}
	path := func(name string) []item { return append(sound(), file(name, "x")) }
	whole := tarball(t, sound()...)
	zipped := zip(t, whole)

	// MAN-BUNDLE-001: what it is at all.
	rows["no gzip"] = row{whole, "MAN-BUNDLE-001", "gzip-compressed tar"}
	rows["no tar"] = row{zip(t, bytes.Repeat([]byte("x"), 2000)), "MAN-BUNDLE-001", "cannot be read"}
	rows["garbage behind gzip"] = row{append(bytes.Clone(zipped), "garbage garbage"...), "MAN-BUNDLE-001", "cannot be read"}
	rows["data behind the end"] = row{zip(t, append(bytes.Clone(whole), "hidden"...)), "MAN-BUNDLE-001", "behind its end"}
	rows["too much padding"] = row{zip(t, append(bytes.Clone(whole), make([]byte, 1<<20+1)...)), "MAN-BUNDLE-001", "behind its end"}
	add("root is no id", "MAN-BUNDLE-001", "Word_Count", dir("Word_Count/"), file("Word_Count/extension.toml", toml))
	corrupt := bytes.Clone(zipped)
	corrupt[len(corrupt)-5] ^= 1 // checksum
	rows["wrong checksum"] = row{corrupt, "MAN-BUNDLE-001", "cannot be read"}

	// MAN-BUNDLE-004: paths.
	for name, bad := range map[string]string{
		"parent": "word-count/../x", "deep parent": "word-count/a/../../../x", "only parent": "../x", "absolute": "/word-count/x", "dot": "word-count/./x", "leading dot": "./word-count/x",
		"empty component": "word-count//x", "backslash": `word-count\x`, "parent with backslash": `word-count/..\..\x`, "drive": "C:/word-count/x",
		"stream": "word-count/x:y", "control": "word-count/a\x01b", "line end": "word-count/a\nb", "c1 control": "word-count/a\u0085b",
		"not UTF-8": "word-count/a\xffb", "256 bytes in a component": "word-count/" + strings.Repeat("n", 256), "256 bytes in a directory": "word-count/" + strings.Repeat("n", 256) + "/x",
		"device": "word-count/CON", "device with an extension": "word-count/aux.txt", "device as a directory": "word-count/nul/x", "device and blank": "word-count/prn .txt",
		"port": "word-count/com1.tar.gz", "port with a superior digit": "word-count/LPT\u00b2", "trailing dot": "word-count/x.", "trailing blank": "word-count/x ",
		"directory with a trailing dot": "word-count/x./y", "wildcard": "word-count/a*b", "question mark": "word-count/a?", "quote": "word-count/a\"b", "pipe": "word-count/a|b",
		"65 components": "word-count/" + strings.Repeat("a/", 63) + "x", "4097 bytes": long(4097),
	} {
		add("path: "+name, "MAN-BUNDLE-004", "path", path(bad)...)
	}
	// MAN-BUNDLE-005: kinds.
	for kind, word := range map[byte]string{
		tar.TypeSymlink: "symbolic link", tar.TypeLink: "hard link", tar.TypeChar: "device", tar.TypeBlock: "device", tar.TypeFifo: "fifo", tar.TypeCont: "type", '9': "type",
	} {
		add("kind "+word+" "+string(kind), "MAN-BUNDLE-005", word, append(sound(), special(kind, "word-count/x", "/etc/passwd"))...)
	}
	add("link as the root", "MAN-BUNDLE-005", "symbolic link", special(tar.TypeSymlink, "word-count", "/tmp"), file("word-count/extension.toml", toml))
	add("link, then a file through it", "MAN-BUNDLE-005", "symbolic link", append(sound(), special(tar.TypeSymlink, "word-count/l", "/tmp"), file("word-count/l/x", "x"))...)
	add("header for all entries", "MAN-BUNDLE-005", "header", append([]item{{Header: tar.Header{Typeflag: tar.TypeXGlobalHeader, Name: "g", PAXRecords: map[string]string{"comment": "x"}}}}, sound()...)...)
	rows["directory with data"] = row{zip(t, directoryWithData(t)), "MAN-BUNDLE-005", "has data"}

	// MAN-BUNDLE-006: what must be there.
	add("empty", "MAN-BUNDLE-006", "empty")
	add("no root entry", "MAN-BUNDLE-006", "no entry for its root", without(sound(), "word-count/")...)
	add("no manifest", "MAN-BUNDLE-006", "no word-count/extension.toml", without(sound(), "word-count/extension.toml")...)
	add("manifest is a directory", "MAN-BUNDLE-006", "no word-count/extension.toml", with(without(sound(), "word-count/extension.toml"), dir("word-count/extension.toml/"))...)

	// MAN-BUNDLE-007: one root, every path once.
	add("two roots", "MAN-BUNDLE-007", "two roots", append(sound(), dir("other/"))...)
	add("root is a file", "MAN-BUNDLE-007", "not a directory", file("word-count", "x"))
	add("path twice", "MAN-BUNDLE-007", "twice", append(sound(), file("word-count/bin/run", "y"))...)
	add("root twice", "MAN-BUNDLE-007", "twice", append(sound(), dir("word-count/"))...)
	add("directory twice", "MAN-BUNDLE-007", "twice", append(sound(), dir("word-count/bin/"))...)
	add("case", "MAN-BUNDLE-007", "take for one", append(sound(), file("word-count/BIN/run", "y"))...)
	add("case of a file", "MAN-BUNDLE-007", "take for one", append(sound(), file("word-count/bin/Run", "y"))...)
	add("composition", "MAN-BUNDLE-007", "take for one", append(sound(), file("word-count/\u00e4", "y"), file("word-count/a\u0308", "y"))...)
	add("sharp s", "MAN-BUNDLE-007", "take for one", append(sound(), file("word-count/stra\u00dfe", "y"), file("word-count/STRASSE", "y"))...)
	add("file as a directory", "MAN-BUNDLE-007", "as a file and as a directory", append(sound(), file("word-count/bin/run/x", "y"))...)
	add("directory as a file", "MAN-BUNDLE-007", "as a file and as a directory", append(sound(), file("word-count/docs", "y"))...)

	// MAN-BUNDLE-008: names that are reserved.
	for _, name := range []string{"install.json", "package.toml", "INSTALL.json", "Package.TOML"} {
		add("reserved "+name, "MAN-BUNDLE-008", "reserved", append(sound(), file("word-count/"+name, "{}"))...)
	}
	add("reserved directory", "MAN-BUNDLE-008", "reserved", append(sound(), dir("word-count/install.json/"))...)

	// MAN-BUNDLE-009: what ends early.
	rows["truncated gzip"] = row{zipped[:len(zipped)/2], "MAN-BUNDLE-009", "bytes"}
	rows["truncated checksum"] = row{zipped[:len(zipped)-4], "MAN-BUNDLE-009", "ends early"}
	rows["truncated entry"] = row{zip(t, cut(t, sound(), 100)), "MAN-BUNDLE-009", "behind 100 of its 5000 bytes"}
	rows["truncated header"] = row{zip(t, whole[:700]), "MAN-BUNDLE-009", "ends"}

	// MAN-BUNDLE-010 and MAN-HOST-006: the manifest.
	add("broken manifest", "MAN-BUNDLE-010", "invalid extension", with(sound(), file("word-count/extension.toml", "name ="))...)
	add("manifest of another", "MAN-BUNDLE-010", `"other"`, with(sound(), manifestWith(`"word-count"`, `"other"`))...)
	add("API 0.1", "MAN-BUNDLE-010", "0.2, 0.3, 0.4", with(sound(), manifestWith(`"0.4"`, `"0.1"`))...)
	add("no pin", "MAN-BUNDLE-010", `requires_octet = "=0.8.0"`, with(sound(), manifestWith(`requires_octet = "=0.8.0"`, ""))...)
	add("a range", "MAN-HOST-006", `requires_octet = "=0.8.0"`, with(sound(), manifestWith(`"=0.8.0"`, `">=0.8.0"`))...)
	add("spaces in the pin", "MAN-HOST-006", "pins one version", with(sound(), manifestWith(`"=0.8.0"`, `"= 0.8.0"`))...)
	add("another version", "MAN-BUNDLE-010", "0.7.4", with(sound(), manifestWith(`"=0.8.0"`, `"=0.7.4"`))...)
	// MAN-BUNDLE-011.
	add("serve", "MAN-BUNDLE-011", "octet-serve", dir("octet-serve/"), file("octet-serve/extension.toml", toml))

	// MAN-BUNDLE-013, MAN-BUNDLE-014: the entrypoint.
	for name, command := range map[string]string{"parent": "../run", "inner parent": "bin/../../run", "dot": "./bin/run", "backslash": `bin\\run`, "empty component": "bin//run"} {
		add("command: "+name, "MAN-BUNDLE-013", "entrypoint.command", with(sound(), manifestWith(`"bin/run"`, `"`+command+`"`))...)
	}
	add("command is missing", "MAN-BUNDLE-014", "no \"bin/other\"", with(sound(), manifestWith("bin/run", "bin/other"))...)
	add("command is a directory", "MAN-BUNDLE-014", "no regular file", with(sound(), manifestWith("bin/run", "docs/guide"), dir("word-count/docs/guide/"))...)
	add("command is not executable", "MAN-BUNDLE-014", "not executable", with(sound(), file("word-count/bin/run", "x"))...)
	return rows
}

// long is a path of a number of bytes.
func long(length int) string {
	name := "word-count/" + strings.Repeat(strings.Repeat("d", 249)+"/", length/250)
	return (name + strings.Repeat("x", length))[:length]
}

// directoryWithData is an archive whose directory has a size.
func directoryWithData(t testing.TB) []byte {
	data := tarball(t, append(sound(), item{Header: tar.Header{Name: "word-count/zz", Typeflag: tar.TypeReg, Mode: 0o700, Size: 1}, data: "x"})...)
	at := bytes.LastIndex(data, []byte("word-count/zz"))
	header := data[at : at+512]
	header[156] = tar.TypeDir
	copy(header[148:], "        ")
	sum := 0
	for _, b := range header {
		sum += int(b)
	}
	copy(header[148:], fmt.Sprintf("%06o\x00 ", sum))
	return data
}

// cut is an archive that ends in the middle of a file of 5,000 bytes.
func cut(t testing.TB, items []item, after int) []byte {
	t.Helper()
	data := tarball(t, append(items, file("word-count/big", strings.Repeat("b", 5000)))...)
	return data[:bytes.LastIndex(data, []byte("bbb"))+3-5000+after]
}

func TestHostile_isRefusedByItsRuleAndLeavesNoTrace(t *testing.T) {
	m := manager(t)
	home := filepath.Dir(filepath.Dir(m.Root))
	temporary := t.TempDir()
	t.Setenv("TMPDIR", temporary)
	for name, c := range hostile(t) {
		t.Run(name, func(t *testing.T) {
			path := save(t, c.data)
			before := tree(t, home)
			_, err := m.Install(t.Context(), bundle.Source{Archive: path})
			refused(t, err, c.rule, c.word, path)
			if after := tree(t, home); after != before {
				t.Errorf("a trace is left:\n%s\nbefore:\n%s", after, before)
			}
		})
	}
	if left, _ := os.ReadDir(temporary); len(left) > 0 {
		t.Errorf("temporary files are left: %v", left)
	}
	if _, err := os.Lstat(m.Root); err == nil {
		t.Error("a refused archive made the directory of extensions")
	}
}

func TestHostile_updateLeavesTheBundleAsItWas(t *testing.T) {
	m := manager(t)
	install(t, m, sound()...)
	before := tree(t, m.Root)
	for name, c := range hostile(t) {
		_, err := m.Update(t.Context(), bundle.Source{Archive: save(t, c.data)})
		if err == nil {
			t.Errorf("%s was accepted", name)
		}
		if after := tree(t, m.Root); after != before {
			t.Fatalf("%s changed something:\n%s\nbefore:\n%s", name, after, before)
		}
	}
}

// zeros is a compressed megabyte of zeros. Compressed streams can be put behind each other.
func zeros(t testing.TB, length int64) []byte {
	t.Helper()
	const piece = 1 << 20
	data := bytes.Repeat(zip(t, make([]byte, piece)), int(length/piece))
	return append(data, zip(t, make([]byte, length%piece))...)
}

// bomb is a sound archive with files of zeros of these sizes more. The first ones of them, as many as full
// says, have their data; the others declare it alone.
func bomb(t testing.TB, full int, sizes ...int64) []byte {
	t.Helper()
	whole := tarball(t, sound()...)
	data := zip(t, bytes.TrimRight(whole, "\x00"))
	end := int64(len(bytes.TrimRight(whole, "\x00")))
	data = append(data, zeros(t, (512-end%512)%512)...)
	for i, size := range sizes {
		var b bytes.Buffer
		if err := tar.NewWriter(&b).WriteHeader(&tar.Header{Name: fmt.Sprintf("word-count/zeros%d", i), Typeflag: tar.TypeReg, Mode: 0o600, Size: size}); err != nil {
			t.Fatal(err)
		}
		data = append(data, zip(t, b.Bytes())...)
		if i < full {
			data = append(data, zeros(t, size+(512-size%512)%512)...)
		}
	}
	return append(data, zeros(t, 1024)...)
}

func TestBounds_atTheBoundAndOneOver(t *testing.T) {
	// MAN-BUNDLE-002, MAN-BUNDLE-003, MAN-BUNDLE-004.
	small := int64(0)
	for _, i := range sound() {
		small += i.Size
	}
	entries := func(count int) []byte {
		items := sound()
		for i := len(items); i < count; i++ {
			items = append(items, file(fmt.Sprintf("word-count/f%d", i), ""))
		}
		return archive(t, items...)
	}
	manifestOf := func(length int) []byte {
		return archive(t, with(sound(), file("word-count/extension.toml", toml+"#"+strings.Repeat("x", length-len(toml)-1)))...)
	}
	deep := func(components int) []byte {
		return archive(t, append(sound(), file("word-count/"+strings.Repeat("a/", components-2)+"x", ""))...)
	}
	for _, c := range []struct {
		name string
		data []byte
		rule string // empty: it is accepted
	}{
		{"4096 entries", entries(4096), ""},
		{"4097 entries", entries(4097), "MAN-BUNDLE-002"},
		{"a file of 64 MiB", bomb(t, 1, 64<<20), ""},
		{"a file of 64 MiB and a byte", bomb(t, 0, 64<<20+1), "MAN-BUNDLE-002"},
		{"256 MiB", bomb(t, 4, 64<<20, 64<<20, 64<<20, 64<<20-small), ""},
		{"256 MiB and a byte", bomb(t, 3, 64<<20, 64<<20, 64<<20, 64<<20-small+1), "MAN-BUNDLE-002"},
		{"a manifest of 64 KiB", manifestOf(64 << 10), ""},
		{"a manifest of 64 KiB and a byte", manifestOf(64<<10 + 1), "MAN-BUNDLE-003"},
		{"1 MiB of padding", zip(t, append(tarball(t, sound()...), make([]byte, 1<<20)...)), ""},
		{"64 components", deep(64), ""},
		{"65 components", deep(65), "MAN-BUNDLE-004"},
		{"a path of 4096 bytes", archive(t, append(sound(), file(long(4096), ""))...), ""},
		{"a path of 4097 bytes", archive(t, append(sound(), file(long(4097), ""))...), "MAN-BUNDLE-004"},
	} {
		_, err := bundle.Inspect(save(t, c.data))
		switch {
		case c.rule == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.rule != "":
			refused(t, err, c.rule)
		}
	}
}

func TestBounds_ofTheArchiveItself(t *testing.T) {
	// MAN-BUNDLE-002: the size is looked at before anything is read.
	path := save(t, archive(t, sound()...))
	if err := os.Truncate(path, bundle.MaxArchiveBytes+1); err != nil {
		t.Fatal(err)
	}
	_, err := bundle.Inspect(path)
	refused(t, err, "MAN-BUNDLE-002", "536870913", "536870912")
	if err := os.Truncate(path, bundle.MaxArchiveBytes); err != nil {
		t.Fatal(err)
	}
	_, err = bundle.Inspect(path)
	refused(t, err, "MAN-BUNDLE-001") // zeros behind the compressed data, and not its size
}

func TestBomb_ofHeadersIsBounded(t *testing.T) {
	// Extended headers are no entries: 400 MiB of them, and no file.
	var b bytes.Buffer
	w := tar.NewWriter(&b)
	if err := w.WriteHeader(&tar.Header{Name: "word-count/x", Typeflag: tar.TypeReg, Format: tar.FormatPAX, PAXRecords: map[string]string{"NOTE.x": strings.Repeat("n", 900<<10)}}); err != nil {
		t.Fatal(err)
	}
	one := b.Bytes()
	headers := bytes.Repeat(zip(t, one[:len(one)-512]), 400)
	_, err := bundle.Inspect(save(t, headers))
	refused(t, err, "MAN-BUNDLE-002", "expands beyond")
}

func TestInspect_opensNoLinkAndNoSpecialFile(t *testing.T) {
	// MAN-INSTALL-002.
	path := save(t, archive(t, sound()...))
	link := filepath.Join(t.TempDir(), "link.tar.gz")
	if err := os.Symlink(path, link); err != nil {
		t.Logf("no links here: %v", err)
	} else {
		_, err := bundle.Inspect(link)
		refused(t, err, "MAN-INSTALL-002", link, "not a regular file")
	}
	_, err := bundle.Inspect(filepath.Dir(path))
	refused(t, err, "MAN-INSTALL-002", "not a regular file")
	_, err = bundle.Inspect(filepath.Join(filepath.Dir(path), "nothing"))
	refused(t, err, "MAN-INSTALL-002", "cannot be opened")
}

func TestInspect_acceptsOutsideDependencies(t *testing.T) {
	// MAN-BUNDLE-013: an absolute command, and a bare one that is not in the archive.
	for _, command := range []string{"/usr/bin/python3", "python3"} {
		if _, err := bundle.Inspect(save(t, archive(t, with(sound(), manifestWith("bin/run", command))...))); err != nil {
			t.Errorf("%s: %v", command, err)
		}
	}
	for _, api := range bundle.APIs() {
		if _, err := bundle.Inspect(save(t, archive(t, with(sound(), manifestWith(`"0.4"`, `"`+api+`"`))...))); err != nil {
			t.Errorf("API %s: %v", api, err)
		}
	}
}

// FuzzRead reads any bytes as an archive, and as the tar inside of one. Whatever they are, nothing panics
// and every refusal says why.
func FuzzRead(f *testing.F) {
	f.Add(archive(f, sound()...))
	f.Add(tarball(f, sound()...))
	for _, c := range hostile(f) {
		if len(c.data) < 64<<10 {
			f.Add(c.data)
		}
	}
	plain, err := gzip.NewWriterLevel(nil, gzip.NoCompression)
	if err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		var zipped bytes.Buffer
		plain.Reset(&zipped)
		if _, err := plain.Write(data); err != nil {
			t.Fatal(err)
		}
		if err := plain.Close(); err != nil {
			t.Fatal(err)
		}
		for _, subject := range [][]byte{data, zipped.Bytes()} {
			id, err := bundle.Read(bytes.NewReader(subject))
			if err == nil {
				if id == "" {
					t.Error("accepted without an id")
				}
				continue
			}
			r, ok := err.(*bundle.Refusal)
			if !ok || r.Rule == "" || r.Remedy == "" || r.Message == "" {
				t.Errorf("a refusal without rule, remedy or message: %#v", err)
			}
		}
	})
}
