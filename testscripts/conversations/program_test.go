package conversations

import (
	"errors"
	"io/fs"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/process"
)

// program is a showcase that runs.
type program struct {
	*process.Process
	scratch string
}

func (p *program) Scratch() string { return p.scratch }

func (p *program) Leave(name, content string) error {
	return os.WriteFile(filepath.Join(p.scratch, name), []byte(content), 0o600)
}

func (p *program) Left(name string) bool {
	_, err := os.Lstat(filepath.Join(p.scratch, name))
	return !errors.Is(err, fs.ErrNotExist)
}

func (p *program) Wait() error {
	<-p.Exited()
	if state := p.End(process.Stages{Kill: time.Minute}).State; state.Code != 0 {
		return errors.New(state.String())
	}
	return nil
}

// startProgram starts a showcase in a directory of its own. It is ended with the test.
func startProgram(t *testing.T, command []string, api string) *program {
	t.Helper()
	scratch := t.TempDir()
	values := []string{api, "showcase", scratch, filepath.Join(scratch, "extension.toml"), scratch, scratch}
	environment := append(os.Environ(), "GORACE=atexit_sleep_ms=0", "PYTHONDONTWRITEBYTECODE=1")
	for i, row := range featurewire.TableWireEnvironment {
		environment = append(environment, row.Variable+"="+values[i])
	}
	run, err := process.Start(process.Options{Path: command[0], Args: command[1:], Dir: scratch, Env: environment})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { run.End(process.Stages{Kill: time.Minute}) })
	return &program{Process: run, scratch: scratch}
}

// showcase says how the showcase of a language is started and which target of the Makefile builds what it needs.
type showcase struct {
	language string
	command  []string
	needs    []string // files that are there once it is built
	target   string
}

// showcases returns the command of each SDK's showcase; see sdk-*/showcase. A missing one is a failure.
func showcases(t *testing.T) []showcase {
	t.Helper()
	root, err := filepath.Abs("../..")
	if err != nil {
		t.Fatal(err)
	}
	compiled := filepath.Join(t.TempDir(), "showcase")
	build := exec.Command("go", "build", "-o", compiled, "./sdk-go/showcase")
	build.Dir = root
	if out, err := build.CombinedOutput(); err != nil {
		t.Errorf("build the Go showcase: %v\n%s", err, out)
	}
	script := filepath.Join(root, "sdk-py", "showcase", "showcase.py")
	module := filepath.Join(root, "sdk-ts", "dist", "showcase", "main.js")
	python := filepath.Join(root, ".venv", "bin", "python")
	node, err := exec.LookPath("node")
	if err != nil {
		t.Fatalf("%v; install Node and run make setup", err)
	}
	all := []showcase{
		{language: "go", command: []string{compiled}, needs: []string{compiled}, target: "build-go"},
		{language: "python", command: []string{python, script}, needs: []string{python, script}, target: "setup"},
		{language: "typescript", command: []string{node, module}, needs: []string{module}, target: "build-ts"},
	}
	return slices.DeleteFunc(all, func(s showcase) bool {
		for _, file := range s.needs {
			if _, err := os.Stat(file); err != nil {
				t.Errorf("the %s showcase cannot start: %v; run make %s", s.language, err, s.target)
				return true
			}
		}
		return false
	})
}
