package command

import (
	"bufio"
	"bytes"
	"flag"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/octet-dev/octet/gen/emit"
	"github.com/octet-dev/octet/gen/golang"
	"github.com/octet-dev/octet/gen/load"
	"github.com/octet-dev/octet/gen/model"
	"github.com/octet-dev/octet/gen/reference"
)

var update = flag.Bool("update", false, "rewrite the expected files of gen/testdata")

const (
	casesDir = "../testdata"
	metaDir  = "../../spec/meta"
)

// caseSpec returns the spec of a case, completed by the meta-schemas of the real one.
func caseSpec(t *testing.T, dir string) fs.FS {
	t.Helper()
	root := t.TempDir()
	for from, to := range map[string]string{filepath.Join(dir, "spec"): "", metaDir: "meta"} {
		if err := os.CopyFS(filepath.Join(root, to), os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
	}
	return os.DirFS(root)
}

func loadCase(t *testing.T, dir string) *model.Spec {
	t.Helper()
	spec, err := load.Load(caseSpec(t, dir))
	if err != nil {
		t.Fatal(err)
	}
	return spec
}

// made returns what the case is expected to give: the files of the Go and reference emitters, without
// the support package, and the method list.
func made(t *testing.T, spec *model.Spec) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	for _, e := range []emit.Emitter{golang.New(), reference.New()} {
		emitted, err := e.Emit(spec)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range emitted {
			if !strings.HasPrefix(f.Path, "generated/wirejson/") {
				files[f.Path] = f.Data
			}
		}
	}
	var list bytes.Buffer
	c := &command{stdout: bufio.NewWriter(&list), stderr: &list}
	if code := c.list(spec); code != exitOK {
		t.Fatalf("list: exit %d: %s", code, list.String())
	}
	if err := c.stdout.Flush(); err != nil {
		t.Fatal(err)
	}
	files["list.tsv"] = list.Bytes()
	return files
}

func TestEmitters_giveTheExpectedFiles(t *testing.T) {
	if *update && os.Getenv("CI") != "" {
		t.Fatal("-update is refused in CI: read the difference and commit the new expectation by hand")
	}
	cases, err := os.ReadDir(casesDir)
	if err != nil {
		t.Fatal(err)
	}
	if len(cases) == 0 {
		t.Fatal("no case found")
	}
	for _, entry := range cases {
		t.Run(entry.Name(), func(t *testing.T) {
			dir := filepath.Join(casesDir, entry.Name())
			if why, err := os.ReadFile(filepath.Join(dir, "why.txt")); err != nil || len(bytes.TrimSpace(why)) == 0 {
				t.Errorf("the case does not say why it exists; write why.txt (%v)", err)
			}
			got := made(t, loadCase(t, dir))
			want := filepath.Join(dir, "want")
			if *update {
				rewrite(t, want, got)
			}
			compare(t, readTree(t, want), got)
		})
	}
}

func rewrite(t *testing.T, dir string, files map[string][]byte) {
	t.Helper()
	if err := os.RemoveAll(dir); err != nil {
		t.Fatal(err)
	}
	for name, data := range files {
		file := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(file), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, data, 0o644); err != nil {
			t.Fatal(err)
		}
	}
}

func readTree(t *testing.T, dir string) map[string][]byte {
	t.Helper()
	files := map[string][]byte{}
	err := filepath.WalkDir(dir, func(file string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		name, err := filepath.Rel(dir, file)
		if err != nil {
			return err
		}
		files[filepath.ToSlash(name)], err = os.ReadFile(file)
		return err
	})
	if err != nil {
		t.Fatal(err)
	}
	return files
}

// compare says for each file whether it is missing, unexpected or different, and where it differs first.
func compare(t *testing.T, want, got map[string][]byte) {
	t.Helper()
	for _, name := range slices.Sorted(maps.Keys(want)) {
		data, ok := got[name]
		switch {
		case !ok:
			t.Errorf("missing: %s", name)
		case !bytes.Equal(data, want[name]):
			line, w, g := firstDifference(string(want[name]), string(data))
			t.Errorf("different: %s, line %d\n-want %s\n+got  %s", name, line, w, g)
		}
	}
	for _, name := range slices.Sorted(maps.Keys(got)) {
		if _, ok := want[name]; !ok {
			t.Errorf("unexpected: %s", name)
		}
	}
}

func firstDifference(want, got string) (int, string, string) {
	w, g := strings.Split(want, "\n"), strings.Split(got, "\n")
	for i := range max(len(w), len(g)) {
		at := func(lines []string) string {
			if i < len(lines) {
				return lines[i]
			}
			return "(end of file)"
		}
		if at(w) != at(g) {
			return i + 1, at(w), at(g)
		}
	}
	return 0, "", ""
}

// TestFiles_areTheSameTwice runs the emitters forwards and backwards over one model: neither time nor an
// emitter that ran before may show in the bytes.
func TestFiles_areTheSameTwice(t *testing.T) {
	spec, err := load.Load(os.DirFS("../../spec"))
	if err != nil {
		t.Fatal(err)
	}
	together, err := Files(spec)
	if err != nil {
		t.Fatal(err)
	}
	first := map[string][]byte{}
	for _, f := range together {
		first[f.Path] = f.Data
	}
	second := map[string][]byte{}
	for _, e := range slices.Backward(emitters()) {
		alone, err := e.Emit(spec)
		if err != nil {
			t.Fatal(err)
		}
		for _, f := range alone {
			second[f.Path] = f.Data
		}
	}
	if len(first) < 20 {
		t.Errorf("%d files, want at least 20", len(first))
	}
	compare(t, first, second)
}
