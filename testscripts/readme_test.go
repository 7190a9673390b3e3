package testscripts

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestReadme_drivesFromThreeLanguages runs the programs of the README that drive octet, as they stand there.
func TestReadme_drivesFromThreeLanguages(t *testing.T) {
	root, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(filepath.Join(root, "README.md"))
	if err != nil {
		t.Fatal(err)
	}
	_, section, found := strings.Cut(string(page), "## Drive it from another program\n")
	section, _, ended := strings.Cut(section, "\n## ")
	if !found || !ended {
		t.Fatal("README.md has no section on driving octet from another program")
	}
	programs := map[string]struct {
		file string
		in   string // where the program finds its library
		run  []string
	}{
		"go":     {"main.go", "", []string{"go", "run"}},
		"python": {"main.py", "", []string{"python3"}},
		"js":     {"main.mjs", filepath.Join(root, "sdk-ts", "oup", "dist"), []string{"node"}},
	}
	blocks := regexp.MustCompile("(?s)```([a-z]+)\n(.*?)```").FindAllStringSubmatch(section, -1)
	if len(blocks) != len(programs) {
		t.Fatalf("the section has %d programs, want %d", len(blocks), len(programs))
	}
	for _, block := range blocks {
		t.Run(block[1], func(t *testing.T) {
			t.Parallel()
			p, known := programs[block[1]]
			if !known {
				t.Fatalf("nothing runs blocks of %q", block[1])
			}
			directory := t.TempDir()
			if p.in != "" {
				if directory, err = os.MkdirTemp(p.in, "readme-"); err != nil {
					t.Fatalf("%v; make build-ts makes it", err)
				}
				t.Cleanup(func() { _ = os.RemoveAll(directory) })
			}
			file := filepath.Join(directory, p.file)
			if err := os.WriteFile(file, []byte(block[2]), 0o600); err != nil {
				t.Fatal(err)
			}
			argv := append(p.run, file, "octet", "serve", "--stdio", "--safe-mode", "--data-dir", t.TempDir(),
				"--model", "scripted:demo/serve/script.yaml", "--cwd", t.TempDir())
			program := exec.CommandContext(t.Context(), argv[0], argv[1:]...)
			program.Dir = root
			output, err := program.CombinedOutput()
			if err != nil || !strings.Contains(string(output), "Here are: two files and a folder") {
				t.Errorf("%v: %s", err, output)
			}
		})
	}
}
