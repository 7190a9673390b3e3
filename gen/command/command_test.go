package command

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// run runs one command line.
func run(args ...string) (code int, stdout, stderr string) {
	var out, err bytes.Buffer
	code = Main(args, strings.NewReader(""), &out, &err)
	return code, out.String(), err.String()
}

func TestMain_refusesWrongCommandLines(t *testing.T) {
	for _, c := range []struct {
		args []string
		want string
	}{
		{nil, `octet-gen: no command; want generate, list or diff; see octet-gen --help`},
		{[]string{"make"}, `octet-gen: unknown command "make"; want generate, list or diff; see octet-gen --help`},
		{[]string{"generate", "all"}, `octet-gen: unexpected argument "all"; options start with --; see octet-gen --help`},
		{[]string{"generate", "--chek"}, `octet-gen: unknown flag: --chek; see octet-gen --help`},
		{[]string{"generate", "--root"}, `octet-gen: flag needs an argument: --root; see octet-gen --help`},
		{[]string{"generate", "--wire", "x"}, `octet-gen: --wire belongs to list and diff; see octet-gen --help`},
		{[]string{"list", "--check"}, `octet-gen: --check belongs to generate; see octet-gen --help`},
		{[]string{"list", "--wire", "none"}, `octet-gen: unknown wire "none"; want one of extension-feature, extension-canonical, manifest, oup; see octet-gen --help`},
		{[]string{"list", "--root", "testdata"}, `octet-gen: "testdata" holds no spec/wires.json; name a repository with --root; see octet-gen --help`},
	} {
		code, stdout, stderr := run(c.args...)
		if code != exitUsage || stdout != "" || stderr != c.want+"\n" {
			t.Errorf("%v: exit %d, stdout %q\ngot  %swant %s", c.args, code, stdout, stderr, c.want)
		}
	}
}

func TestMain_helpTeaches(t *testing.T) {
	code, stdout, stderr := run("--help")
	if code != exitOK || stderr != "" {
		t.Errorf("exit %d, stderr %q", code, stderr)
	}
	for _, word := range []string{"generate", "list", "--check", "--wire", "--root", "Exit codes"} {
		if !strings.Contains(stdout, word) {
			t.Errorf("help does not mention %s", word)
		}
	}
}

// repository makes a small repository around the spec of a golden case.
func repository(t *testing.T) string {
	t.Helper()
	root := t.TempDir()
	for from, to := range map[string]string{"../testdata/contract/spec": "spec", metaDir: "spec/meta"} {
		if err := os.CopyFS(filepath.Join(root, to), os.DirFS(from)); err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestGenerate_writesOnceAndChecks(t *testing.T) {
	root := repository(t)
	code, stdout, stderr := run("generate", "--check", "--root", root)
	if code != exitFound || !strings.Contains(stdout, "missing    generated/dockwire/models.go\n") || !strings.Contains(stderr, "run octet-gen generate") {
		t.Errorf("check of an empty tree: exit %d\n%s%s", code, stdout, stderr)
	}
	if _, err := os.Stat(filepath.Join(root, "generated")); !os.IsNotExist(err) {
		t.Error("--check wrote something")
	}
	if code, _, stderr := run("generate", "--root", root); code != exitOK || stderr != "" {
		t.Fatalf("generate: exit %d: %s", code, stderr)
	}
	if code, stdout, stderr := run("generate", "--root", root); code != exitOK || stdout+stderr != "" {
		t.Errorf("second run: exit %d: %s%s", code, stdout, stderr)
	}
	models := filepath.Join(root, "generated/dockwire/models.go")
	if err := os.WriteFile(models, []byte("package dockwire\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	if code, stdout, _ := run("generate", "--check", "--root", root); code != exitFound || stdout != "changed    generated/dockwire/models.go\n" {
		t.Errorf("check of an edited tree: exit %d: %s", code, stdout)
	}
}

func TestGenerate_findsTheRepositoryFromBelow(t *testing.T) {
	root := repository(t)
	t.Chdir(filepath.Join(root, "spec", "dock"))
	if code, _, stderr := run("generate"); code != exitOK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	if _, err := os.Stat(filepath.Join(root, "generated/README.md")); err != nil {
		t.Error(err)
	}
	t.Chdir(t.TempDir())
	if code, _, stderr := run("list"); code != exitUsage || !strings.Contains(stderr, "no spec/wires.json here or above") {
		t.Errorf("outside of a repository: exit %d: %s", code, stderr)
	}
}

func TestGenerate_writesNothingForABrokenSpec(t *testing.T) {
	root := repository(t)
	if code, _, stderr := run("generate", "--root", root); code != exitOK {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	before := readTree(t, filepath.Join(root, "generated"))
	file := filepath.Join(root, "spec/dock/models.json")
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	broken := strings.NewReplacer(`"required": ["ship"]`, `"required": ["boat"]`, `"required": ["name"]`, `"required": ["nom"]`).Replace(string(data))
	if err := os.WriteFile(file, []byte(broken), 0o644); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := run("generate", "--root", root)
	const want = `octet-gen: spec/dock/models.json: /$defs/LandParams/required/0: LandParams requires "boat", which is no property; add the property or drop the name
octet-gen: spec/dock/models.json: /$defs/BerthV01/required/0: BerthV01 requires "nom", which is no property; add the property or drop the name
`
	if code != exitFound || stdout != "" || stderr != want {
		t.Errorf("exit %d, stdout %q\ngot\n%swant\n%s", code, stdout, stderr, want)
	}
	compare(t, before, readTree(t, filepath.Join(root, "generated")))
}

func TestGenerate_readsNothingOutsideOfTheSpec(t *testing.T) {
	root := repository(t)
	file := filepath.Join(root, "spec", "dock", "tables.json")
	outside := filepath.Join(root, "tables.json")
	if err := os.Rename(file, outside); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(outside, file); err != nil {
		t.Fatal(err)
	}
	code, stdout, stderr := run("generate", "--root", root)
	const want = "octet-gen: spec/dock/tables.json: (document): cannot be read (path escapes from parent); make it a readable regular file under spec/\n"
	if code != exitFound || stdout != "" || stderr != want {
		t.Errorf("exit %d, stdout %q\ngot  %swant %s", code, stdout, stderr, want)
	}
}

func TestList_printsOneMethodALine(t *testing.T) {
	code, stdout, stderr := run("list", "--wire", "extension-canonical")
	if code != exitOK || stderr != "" {
		t.Fatalf("exit %d: %s", code, stderr)
	}
	lines := strings.Split(strings.TrimSuffix(stdout, "\n"), "\n")
	if lines[0] != listHeader {
		t.Errorf("header %q", lines[0])
	}
	if len(lines) < 5 {
		t.Errorf("%d lines, want the methods of the wire", len(lines))
	}
	for _, line := range lines[1:] {
		if cells := strings.Split(line, "\t"); len(cells) != strings.Count(listHeader, "\t")+1 || cells[0] != "extension-canonical" {
			t.Errorf("row %q", line)
		}
	}
}
