package sdkgo_test

import (
	"fmt"
	"go/format"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

const guide = "../docs/guide/go.md"

// block is one code block of the guide.
type block struct{ section, language, text string }

func readGuide(t *testing.T) []block {
	t.Helper()
	text, err := os.ReadFile(guide)
	if err != nil {
		t.Fatal(err)
	}
	var blocks []block
	section, inside := "", false
	for _, line := range strings.SplitAfter(string(text), "\n") {
		language, fence := strings.CutPrefix(strings.TrimSpace(line), "```")
		switch {
		case fence && inside:
			inside = false
		case fence:
			inside = true
			blocks = append(blocks, block{section: section, language: language})
		case inside:
			blocks[len(blocks)-1].text += line
		case strings.HasPrefix(line, "## "):
			section = strings.TrimSpace(line[3:])
		}
	}
	if inside || len(blocks) < 15 {
		t.Fatalf("read %d code blocks, want at least 15, each with its end", len(blocks))
	}
	return blocks
}

// TestGuide_goBlocks compiles the Go blocks of each section as one package and runs the tests among them.
func TestGuide_goBlocks(t *testing.T) {
	sources := map[string]string{}
	var sections []string
	for _, b := range readGuide(t) {
		switch b.language {
		case "go":
			if sources[b.section] == "" {
				sections = append(sections, b.section)
			}
			sources[b.section] += b.text + "\n"
		case "sh":
		default:
			t.Errorf("section %q has a block of %q, which nothing checks", b.section, b.language)
		}
	}
	repository, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	module := t.TempDir()
	for i, section := range sections {
		source := strings.TrimSpace(sources[section]) + "\n"
		if formatted, err := format.Source([]byte(source)); err != nil {
			t.Errorf("section %q: %v", section, err)
		} else if string(formatted) != source {
			t.Errorf("section %q is not formatted", section)
		}
		name := "guide.go"
		if strings.Contains(source, "func Test") {
			name = "guide_test.go"
		}
		folder := filepath.Join(module, fmt.Sprintf("part%02d", i))
		if err := os.Mkdir(folder, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(folder, name), []byte(source), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	output := inModule(t, module, nil, "go mod init guide\n"+
		"go mod edit -require github.com/octet-dev/octet@v0.0.0 -replace github.com/octet-dev/octet="+repository+"\n"+
		"go mod tidy\ngo vet ./...\ngo test ./...\n")
	if !strings.Contains(output, "ok  \t") {
		t.Errorf("no test of the guide ran:\n%s", output)
	}
}

// inModule runs a script in a folder of its own module, without the network: what it needs, this module has.
func inModule(t *testing.T, folder string, path []string, script string) string {
	t.Helper()
	shell := exec.Command("bash", "-c", "set -eu\n"+script)
	shell.Dir = folder
	path = append(path, os.Getenv("PATH"))
	shell.Env = append(os.Environ(), "PATH="+strings.Join(path, string(filepath.ListSeparator)), "GOFLAGS=-mod=mod", "GOPROXY=off")
	output, err := shell.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	return string(output)
}

// TestGuide_shellBlocks does what a reader does, in order, with this repository as the clone and its commands on
// the path.
func TestGuide_shellBlocks(t *testing.T) {
	repository, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	build := exec.Command("go", "build", "-o", bin+string(filepath.Separator), "./cmd/octet", "./cmd/octet-conform")
	build.Dir = repository
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, output)
	}
	script := ""
	for _, b := range readGuide(t) {
		if b.language == "sh" {
			script += strings.ReplaceAll(b.text, "=../octet", "="+repository)
		}
	}
	output := inModule(t, t.TempDir(), []string{bin}, script)
	if !strings.Contains(output, "Hello, Ada!") || strings.Count(output, "hello: ok on API 0.4") != 2 {
		t.Errorf("the reader sees\n%s", output)
	}
}
