package campaign

import (
	"bufio"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
)

// binary is the command that is under test.
var binary struct {
	once sync.Once
	path string
	err  error
	dir  string
}

var given = flag.String("octet", "", "the command to test; empty builds it")

// octet builds the command once.
func octet(t *testing.T) string {
	t.Helper()
	if *given != "" {
		return *given
	}
	binary.once.Do(func() {
		if binary.dir, binary.err = os.MkdirTemp("", "octet-campaign-"); binary.err != nil {
			return
		}
		binary.path = filepath.Join(binary.dir, "octet")
		build := exec.Command("go", "build", "-o", binary.path, "./cmd/octet")
		build.Dir = filepath.Join("..", "..", "..")
		if output, err := build.CombinedOutput(); err != nil {
			binary.err = fmt.Errorf("build: %w\n%s", err, output)
		}
	})
	if binary.err != nil {
		t.Fatal(binary.err)
	}
	return binary.path
}

// script is what the model says: it needs a tool where the user asks for one, else it talks.
const script = `script: 1
name: campaign
context_window: 8000000
steps:
  - {when: {result_of: shell}, text: "The tool says: ${result}. That was it, and nothing more is to be said.", chunk: 4, pause: 2ms, repeat: always}
  - {when: {user_contains: tool}, reasoning: A tool is needed., text: "I use the tool.", chunk: 4, calls: [{name: shell, arguments: {command: "echo one; echo two"}}], repeat: always}
  - {text: "You said: ${user}. Here is a long answer that comes in many small pieces, so that there is something to lose.", chunk: 3, pause: 3ms, repeat: always, usage: {input: 10, output: 20}}
`

// server is a server process that can be killed and started again at the same address.
type server struct {
	program  string
	dir      string
	address  string // host and port
	cmd      *exec.Cmd
	complain strings.Builder
	heard    chan struct{} // standard error has ended
}

func newServer(t *testing.T) *server {
	t.Helper()
	s := &server{program: octet(t), dir: t.TempDir(), address: "127.0.0.1:0"}
	for name, text := range map[string]string{"script.yaml": script, "work/notes.txt": "notes\n"} {
		file := filepath.Join(s.dir, name)
		if err := os.MkdirAll(filepath.Dir(file), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(file, []byte(text), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	if err := s.start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(s.kill)
	return s
}

// start starts the server and waits until it listens.
func (s *server) start() error {
	s.cmd = exec.Command(s.program, "serve", "--listen", s.address, "--model", "scripted:"+filepath.Join(s.dir, "script.yaml"),
		"--data-dir", filepath.Join(s.dir, "data"), "--cwd", filepath.Join(s.dir, "work"), "--safe-mode")
	s.cmd.Env = append(os.Environ(), "HOME="+s.dir)
	stderr, err := s.cmd.StderrPipe()
	if err != nil {
		return err
	}
	if err := s.cmd.Start(); err != nil {
		return err
	}
	lines := bufio.NewReader(stderr)
	for {
		line, err := lines.ReadString('\n')
		s.complain.WriteString(line)
		if _, rest, is := strings.Cut(line, "octet serves at http://"); is {
			s.address, _, _ = strings.Cut(rest, " ")
			break
		}
		if err != nil {
			return fmt.Errorf("the server does not start:\n%s", s.complain.String())
		}
	}
	s.heard = make(chan struct{})
	go func(heard chan struct{}) {
		defer close(heard)
		_, _ = io.Copy(&s.complain, lines)
	}(s.heard)
	return nil
}

// kill ends the server without a word.
func (s *server) kill() {
	if s.cmd == nil {
		return
	}
	_ = s.cmd.Process.Kill() // it may have ended
	<-s.heard
	_ = s.cmd.Wait() // that it was killed is known
	s.cmd = nil
}

func (s *server) url() string { return "http://" + s.address }

func TestMain(m *testing.M) {
	code := m.Run()
	if binary.dir != "" {
		_ = os.RemoveAll(binary.dir)
	}
	os.Exit(code)
}
