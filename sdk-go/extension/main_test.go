package extension_test

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/octet-dev/octet/sdk-go/extension"
)

// roleVariable makes the test binary play an extension, whose API version is its value, or a bare echo.
const (
	roleVariable = "OCTET_TEST_ROLE"
	bareEcho     = "echo"
)

// playRole is the program of the process under test.
func playRole(api string) {
	if api == bareEcho {
		playEcho()
	}
	fmt.Println("printed before main")
	ext := extension.New(&extension.Options{API: extension.API(api)})
	extension.AddTool(ext, "say", "Says it", echo)
	extension.AddTool(ext, "print", "Prints", func(context.Context, *extension.Call, struct{}) (*extension.Result, error) {
		fmt.Println("printed by fmt")
		_, _ = os.NewFile(1, "descriptor 1").WriteString("printed to the descriptor\n")
		text, err := io.ReadAll(os.NewFile(0, "descriptor 0"))
		return extension.Text(string(text)), err
	})
	extension.AddTool(ext, "deaf", "Never returns", func(context.Context, *extension.Call, struct{}) (*extension.Result, error) {
		select {}
	})
	extension.Main(ext)
}

// process is an extension as a host starts it.
type process struct {
	t      *testing.T
	cmd    *exec.Cmd
	in     io.WriteCloser
	out    *bufio.Reader
	pipe   io.Closer
	stderr lockedBuffer
}

// lockedBuffer may be read while the process still writes.
type lockedBuffer struct {
	mu   sync.Mutex
	text bytes.Buffer
}

func (b *lockedBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.Write(p)
}

func (b *lockedBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return b.text.String()
}

func startProcess(t *testing.T, api extension.API, env ...string) *process {
	t.Helper()
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Minute)
	t.Cleanup(cancel)
	p := &process{t: t, cmd: exec.CommandContext(ctx, os.Args[0])}
	// The race detector holds every exit up for a second unless told otherwise.
	p.cmd.Env = append([]string{roleVariable + "=" + string(api), "GORACE=atexit_sleep_ms=0"}, env...)
	p.cmd.Stderr = &p.stderr
	var err error
	if p.in, err = p.cmd.StdinPipe(); err != nil {
		t.Fatal(err)
	}
	out, err := p.cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	p.out, p.pipe = bufio.NewReader(out), out
	if err := p.cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = p.cmd.Process.Kill() })
	// What is printed before Main takes stdout over goes to the host: nobody can help that.
	if !strings.Contains(strings.Join(env, ""), "API_VERSION") {
		p.want("printed before main")
	}
	return p
}

func (p *process) send(frames ...string) {
	p.t.Helper()
	for _, f := range frames {
		if _, err := io.WriteString(p.in, f+"\n"); err != nil {
			p.t.Fatalf("send %s: %v", f, err)
		}
	}
}

func (p *process) want(frames ...string) {
	p.t.Helper()
	for _, f := range frames {
		got, err := p.out.ReadString('\n')
		if err != nil || !strings.Contains(got, f) {
			p.t.Fatalf("got %s (%v), want %s; stderr:\n%s", got, err, f, p.stderr.String())
		}
	}
}

// exits waits for the end, before which nothing more may be on stdout, and checks the status.
func (p *process) exits(status int, stderr string) {
	p.t.Helper()
	rest, err := io.ReadAll(p.out)
	if len(rest) > 0 || err != nil {
		p.t.Errorf("stdout ends with %q (%v)", rest, err)
	}
	_ = p.cmd.Wait()
	if got := p.cmd.ProcessState.ExitCode(); got != status {
		p.t.Errorf("exit status %d, want %d; stderr:\n%s", got, status, p.stderr.String())
	}
	if !strings.Contains(p.stderr.String(), stderr) {
		p.t.Errorf("stderr is %q, want %q in it", p.stderr.String(), stderr)
	}
}

func TestMain_shutdown(t *testing.T) {
	for _, api := range everyAPI {
		p := startProcess(t, api)
		p.send(initialize(api))
		p.want(`"result"`)
		p.send(call(api, 7, "say", `{"text":"hello"}`))
		p.want("hello")
		p.send(shutdown)
		p.want(`"id":9`)
		p.exits(extension.ExitEnded, "") // stdin is still open
		_ = p.in.Close()
	}
}

// Prints of a tool go to stderr, and nobody but the SDK reads the host's frames.
func TestMain_stdioBelongsToTheProtocol(t *testing.T) {
	p := startProcess(t, extension.API04)
	p.send(initialize(extension.API04))
	p.want(`"result"`)
	p.send(call(extension.API04, 7, "print", `{}`))
	p.want(emptyResult)
	p.send(shutdown)
	p.want(`"id":9`)
	p.exits(extension.ExitEnded, "printed by fmt\nprinted to the descriptor\n")
}

// A handler that never returns holds neither the answers nor the exit up.
func TestMain_handlerThatNeverReturns(t *testing.T) {
	p := startProcess(t, extension.API04)
	p.send(initialize(extension.API04))
	p.want(`"result"`)
	p.send(call(extension.API04, 7, "deaf", `{}`), shutdown)
	p.want(`{"error":{"code":-32800,"data":{"reason":"shutdown"},"message":"request cancelled"},"id":7,"jsonrpc":"2.0"}`, `"id":9`)
	p.exits(extension.ExitEnded, "")
}

func TestMain_endOfInput(t *testing.T) {
	for name, frames := range map[string][]string{
		"before initialize": nil,
		"between calls":     {initialize(extension.API04)},
		"during a call":     {initialize(extension.API04), call(extension.API04, 7, "deaf", `{}`)},
	} {
		t.Run(name, func(t *testing.T) {
			p := startProcess(t, extension.API04)
			for i, frame := range frames {
				p.send(frame)
				if i == 0 {
					p.want(`"result"`)
				}
			}
			_ = p.in.Close()
			p.exits(extension.ExitEnded, "") // within the bound that TestServe_endOfInputIsABound measures
		})
	}
}

// What was piped in is answered, also when the end of the pipe comes right behind it.
func TestMain_answersWhatWasPipedIn(t *testing.T) {
	p := startProcess(t, extension.API04)
	p.send(initialize(extension.API04))
	_ = p.in.Close()
	p.want(`"id":1`)
	p.exits(extension.ExitEnded, "")
}

func TestMain_faults(t *testing.T) {
	for _, test := range []struct {
		name   string
		api    extension.API
		frames []string
		answer string // the last one; empty: none
		stderr string
	}{
		{"refused initialize", extension.API04, []string{initialize(extension.API02)}, "unsupported API version", "initialize was refused: unsupported API version"},
		{"a frame that is not canonical", extension.API03, []string{`{"jsonrpc": "2.0"}`}, "", "white space"},
		{"another request before initialize", extension.API03, []string{call(extension.API03, 7, "say", `{}`)}, `"code":-32601`, "refused for good"},
		{"second initialize", extension.API03, []string{initialize(extension.API03), strings.Replace(initialize(extension.API03), `"id":1`, `"id":2`, 1)}, `"code":-32600`, "refused for good"},
		{"a line over the bound", extension.API04, []string{strings.Repeat("x", 1<<20+1)}, "", "payload exceeds the bound"},
	} {
		t.Run(test.name, func(t *testing.T) {
			p := startProcess(t, test.api)
			for i, frame := range test.frames {
				_, _ = io.WriteString(p.in, frame+"\n") // the process may end in the middle of a frame
				if i < len(test.frames)-1 {
					p.want(`"result"`)
				}
			}
			if test.answer != "" {
				p.want(test.answer)
			}
			p.exits(extension.ExitFault, test.stderr)
		})
	}
}

func TestMain_lostOutput(t *testing.T) {
	p := startProcess(t, extension.API04)
	p.send(initialize(extension.API04))
	p.want(`"result"`)
	_ = p.pipe.Close()
	_, _ = io.WriteString(p.in, call(extension.API04, 7, "say", `{"text":"x"}`)+"\n")
	_ = p.cmd.Wait()
	if got := p.cmd.ProcessState.ExitCode(); got != extension.ExitFault {
		t.Errorf("exit status %d, want %d; stderr:\n%s", got, extension.ExitFault, p.stderr.String())
	}
}

func TestMain_versionOfTheHost(t *testing.T) {
	const variable = "OCTET_EXTENSION_API_VERSION="
	p := startProcess(t, extension.API03, variable+"0.4")
	p.want("printed before main")
	p.exits(extension.ExitMismatch, `OCTET_EXTENSION_API_VERSION is "0.4", but this program speaks "0.3"`)
	if lines := strings.Count(p.stderr.String(), "\n"); lines != 1 {
		t.Errorf("stderr has %d lines, want one:\n%s", lines, p.stderr.String())
	}
	for _, value := range []string{"0.3", ""} {
		p := startProcess(t, extension.API03, variable+value)
		p.want("printed before main")
		p.send(initialize(extension.API03))
		p.want(`"result"`)
		_ = p.in.Close()
		p.exits(extension.ExitEnded, "")
	}
}
