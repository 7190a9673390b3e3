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

// The guides, each with the least number of its blocks.
const (
	guide      = "../docs/guide/go.md"
	least      = 15
	oupGuide   = "../docs/guide/oup-go.md"
	oupLeast   = 7
	localClone = "=../octet"
)

// block is one code block of the guide.
type block struct{ section, language, text string }

func readGuide(t *testing.T, name string, least int) []block {
	t.Helper()
	text, err := os.ReadFile(name)
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
	if inside || len(blocks) < least {
		t.Fatalf("%s: read %d code blocks, want at least %d, each with its end", name, len(blocks), least)
	}
	return blocks
}

// TestGuide_goBlocks compiles the Go blocks of each section as one package and runs the tests among them.
func TestGuide_goBlocks(t *testing.T) {
	if output := compile(t, readGuide(t, guide, least)); !strings.Contains(output, "ok  \t") {
		t.Errorf("no test of the guide ran:\n%s", output)
	}
}

func TestGuide_goBlocksOfOUP(t *testing.T) { compile(t, readGuide(t, oupGuide, oupLeast)) }

// compile returns what go vet and go test say of the Go blocks.
func compile(t *testing.T, blocks []block) string {
	t.Helper()
	sources := map[string]string{}
	var sections []string
	for _, b := range blocks {
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
	return inModule(t, module, nil, "go mod init guide\n"+
		"go mod edit -require github.com/octet-dev/octet@v0.0.0 -replace github.com/octet-dev/octet="+repository+"\n"+
		"go mod tidy\ngo vet ./...\ngo test ./...\n")
}

// inModule runs a script in a folder of its own module. Its go mod tidy asks for the modules that only tests of
// dependencies use, once.
func inModule(t *testing.T, folder string, path []string, script string) string {
	t.Helper()
	shell := exec.Command("bash", "-c", "set -eu\n"+script)
	shell.Dir = folder
	path = append(path, os.Getenv("PATH"))
	shell.Env = append(os.Environ(), "PATH="+strings.Join(path, string(filepath.ListSeparator)), "GOFLAGS=-mod=mod")
	output, err := shell.CombinedOutput()
	if err != nil {
		t.Fatalf("%v\n%s", err, output)
	}
	return string(output)
}

// TestGuide_shellBlocks does what a reader does, in order, with this repository as the clone and its commands on
// the path.
func TestGuide_shellBlocks(t *testing.T) {
	output := follow(t, readGuide(t, guide, least), "./cmd/octet", "./cmd/octet-conform")
	if !strings.Contains(output, "Hello, Ada!") || strings.Count(output, "hello: ok on API 0.4") != 2 {
		t.Errorf("the reader sees\n%s", output)
	}
}

func TestGuide_shellBlocksOfOUP(t *testing.T) {
	output := follow(t, readGuide(t, oupGuide, oupLeast), "./cmd/octet")
	if !strings.Contains(output, "shell may run: echo controller\ncompleted: I look.\n\nIt says: controller") {
		t.Errorf("the reader sees\n%s", output)
	}
}

// TestGuide_controllerIsTheExample holds that the program of the guide is the one among the examples.
func TestGuide_controllerIsTheExample(t *testing.T) {
	example, err := os.ReadFile("oup/examples/controller/main.go")
	if err != nil {
		t.Fatal(err)
	}
	_, program, _ := strings.Cut(string(example), "package main\n")
	if shown := readGuide(t, oupGuide, oupLeast)[0].text; !strings.Contains(shown, "package main\n"+program) {
		t.Error("the guide shows another controller than sdk-go/oup/examples/controller")
	}
}

// follow returns what the shell blocks print, one behind the other, with the commands on the path.
func follow(t *testing.T, blocks []block, commands ...string) string {
	t.Helper()
	repository, err := filepath.Abs("..")
	if err != nil {
		t.Fatal(err)
	}
	bin := t.TempDir()
	build := exec.Command("go", append([]string{"build", "-o", bin + string(filepath.Separator)}, commands...)...)
	build.Dir = repository
	if output, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build: %v\n%s", err, output)
	}
	script := ""
	for _, b := range blocks {
		if b.language == "sh" {
			script += strings.ReplaceAll(b.text, localClone, "="+repository)
		}
	}
	return inModule(t, t.TempDir(), []string{bin}, script)
}
