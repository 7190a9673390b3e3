package guard

import (
	"bufio"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/octet-dev/octet/process"
)

// roleVariable selects what the test program plays.
const roleVariable = "GUARD_TEST_ROLE"

func TestMain(m *testing.M) {
	Main()
	switch role, argument, _ := strings.Cut(os.Getenv(roleVariable), ":"); role {
	case "":
		os.Exit(m.Run())
	case "host":
		playHost(argument)
	case "extension":
		playExtension()
	case "grandchild":
		forever()
	}
}

// playHost starts extensions, prints the guard's id, theirs and those of their children, and waits. Its
// argument says how it ends: by a signal that it waits for, or in order once its input ends.
func playHost(argument string) {
	Install()
	var running []*process.Process
	fmt.Println("host", os.Getpid())
	for n := range 3 {
		tag := fmt.Sprintf("TAG=%d %d\xff\n", os.Getpid(), n)
		env := []string{roleVariable + "=extension", tag, "GORACE=atexit_sleep_ms=0"}
		p, err := process.Start(process.Options{Path: os.Args[0], Env: env, Tag: tag})
		if err != nil {
			panic(err)
		}
		running = append(running, p)
		fmt.Println("extension", p.PID())
		lines := bufio.NewReader(p.Stdout())
		for range 3 {
			line, err := lines.ReadString('\n')
			if err != nil {
				panic(err)
			}
			fmt.Print(line)
		}
	}
	guarding.mu.Lock()
	fmt.Println("guard", guarding.pid)
	guarding.mu.Unlock()
	fmt.Println("ready")
	switch argument {
	case "wait":
		forever()
	case "exit":
		_, _ = io.Copy(io.Discard, os.Stdin)
		os.Exit(7)
	case "orderly":
		_, _ = io.Copy(io.Discard, os.Stdin)
		for _, p := range running {
			p.End(process.Stages{Kill: time.Minute})
		}
		guarding.mu.Lock()
		fmt.Println("left", len(guarding.trees))
		guarding.mu.Unlock()
		_ = os.Stdout.Close()
		syscall.Exit(0)
	}
}

// playExtension leaves three children behind that hold its pipes and ignore signals: one in its group, one
// in a session of its own, one in its group that has lost the tag. It ignores signals, too.
func playExtension() {
	deafen()
	for n := range 3 {
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), roleVariable+"=grandchild")
		if n == 2 {
			child.Env = []string{roleVariable + "=grandchild"}
		}
		child.Stdin, child.Stdout, child.Stderr = os.Stdin, os.Stdout, os.Stderr
		child.SysProcAttr = &syscall.SysProcAttr{Setsid: n == 1}
		if err := child.Start(); err != nil {
			panic(err)
		}
		fmt.Println("grandchild", child.Process.Pid)
	}
	forever()
}

func deafen() { signal.Ignore(syscall.SIGTERM, syscall.SIGHUP, syscall.SIGINT, syscall.SIGPIPE) }

// forever blocks. An empty select would not: the runtime ends a program that nothing can wake.
func forever() {
	deafen()
	never := make(chan os.Signal, 1)
	signal.Notify(never, syscall.SIGUSR1)
	for range never {
	}
}

// party is a host with its extensions, their children and its guard.
type party struct {
	host    *exec.Cmd
	input   io.Closer
	output  *bufio.Reader
	handles map[string]int // of every other process, by what it said
	guard   int
}

// gather starts a host and waits until all are there.
func gather(t *testing.T, argument string) *party {
	t.Helper()
	p := &party{host: exec.Command(os.Args[0]), handles: map[string]int{}}
	p.host.Env = []string{roleVariable + "=host:" + argument}
	p.host.Stderr = os.Stderr
	p.host.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	input, err := p.host.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	output, err := p.host.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := p.host.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = syscall.Kill(-p.host.Process.Pid, syscall.SIGKILL) })
	p.input, p.output = input, bufio.NewReader(output)
	for {
		line := p.line(t)
		if line == "ready" {
			return p
		}
		kind, id, _ := strings.Cut(line, " ")
		pid, err := strconv.Atoi(id)
		if err != nil {
			t.Fatalf("the host said %q", line)
		}
		if kind == "host" {
			continue
		}
		if kind == "guard" {
			p.guard = pid
		}
		handle, err := unix.PidfdOpen(pid, 0)
		if err != nil {
			t.Fatalf("%s: %v", line, err)
		}
		t.Cleanup(func() {
			_ = unix.PidfdSendSignal(handle, unix.SIGKILL, nil, 0)
			_ = unix.Close(handle)
		})
		p.handles[line] = handle
	}
}

func (p *party) line(t *testing.T) string {
	t.Helper()
	line, err := p.output.ReadString('\n')
	if err != nil {
		t.Fatalf("the host ended early: %v", err)
	}
	return strings.TrimSuffix(line, "\n")
}

// wantAllGone waits for the end of everybody.
func (p *party) wantAllGone(t *testing.T) {
	t.Helper()
	if len(p.handles) != 3*(1+3)+1 {
		t.Errorf("%d processes beside the host: %v", len(p.handles), p.handles)
	}
	for who, handle := range p.handles {
		if !gone(handle, time.Minute) {
			t.Errorf("%s has outlived the host", who)
		}
	}
}

func gone(handle int, most time.Duration) bool {
	ended := []unix.PollFd{{Fd: int32(handle), Events: unix.POLLIN}}
	for {
		n, err := unix.Poll(ended, int(most.Milliseconds()))
		if err != unix.EINTR {
			return n == 1 && err == nil
		}
	}
}

// EXT04-PROC-007, MAN-LAUNCH-008: a host that is killed, alone or with its group, takes everything along.
func TestGuard_hostIsKilled(t *testing.T) {
	for name, kill := range map[string]func(host int) error{
		"alone":          func(host int) error { return syscall.Kill(host, syscall.SIGKILL) },
		"with its group": func(host int) error { return syscall.Kill(-host, syscall.SIGKILL) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			p := gather(t, "wait")
			if err := kill(p.host.Process.Pid); err != nil {
				t.Fatal(err)
			}
			p.wantAllGone(t)
		})
	}
}

// A host that exits without ending anything has given up its last handles.
func TestGuard_hostExits(t *testing.T) {
	t.Parallel()
	p := gather(t, "exit")
	if err := p.input.Close(); err != nil { // all are known by now
		t.Fatal(err)
	}
	p.wantAllGone(t)
	if err := p.host.Wait(); p.host.ProcessState.ExitCode() != 7 {
		t.Error(err)
	}
}

// What was ended in order is off the list, and the guard goes with its host.
func TestGuard_hostEndsInOrder(t *testing.T) {
	t.Parallel()
	p := gather(t, "orderly")
	if err := p.input.Close(); err != nil {
		t.Fatal(err)
	}
	if got := p.line(t); got != "left 0" {
		t.Errorf("the host said %q", got)
	}
	// The one without tag and group would be missed by the host itself, so it has a group.
	p.wantAllGone(t)
	if err := p.host.Wait(); err != nil {
		t.Error(err)
	}
}

// A guard that hears every polite signal stays; one that is killed is replaced by one that knows all.
func TestGuard_isReplaced(t *testing.T) {
	t.Parallel()
	p := gather(t, "wait")
	first := p.handles[fmt.Sprint("guard ", p.guard)]
	for _, s := range []syscall.Signal{syscall.SIGTERM, syscall.SIGINT, syscall.SIGHUP, syscall.SIGQUIT} {
		if err := syscall.Kill(p.guard, s); err != nil {
			t.Fatal(err)
		}
	}
	if gone(first, 100*time.Millisecond) {
		t.Error("a polite signal has ended the guard")
	}
	if err := syscall.Kill(p.guard, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	second := childOf(t, p.host.Process.Pid, p.guard)
	handle, err := unix.PidfdOpen(second, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(handle) }()
	p.handles[fmt.Sprint("guard ", p.guard)] = handle
	if err := syscall.Kill(p.host.Process.Pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	p.wantAllGone(t)
}

// childOf waits for a guard of the host that is not the former one.
func childOf(t *testing.T, host, former int) int {
	t.Helper()
	for deadline := time.Now().Add(time.Minute); time.Now().Before(deadline); {
		for _, id := range children(t, host) {
			line, _ := os.ReadFile(fmt.Sprintf("/proc/%d/cmdline", id))
			if id != former && strings.HasSuffix(string(line), "\x00"+word+"\x00") {
				return id
			}
		}
	}
	t.Fatal("no other guard was started")
	return 0
}

// children of all threads: each thread has its own.
func children(t *testing.T, host int) []int {
	t.Helper()
	tasks, err := os.ReadDir(fmt.Sprintf("/proc/%d/task", host))
	if err != nil {
		t.Fatal(err)
	}
	var ids []int
	for _, task := range tasks {
		list, _ := os.ReadFile(fmt.Sprintf("/proc/%d/task/%s/children", host, task.Name()))
		for _, word := range strings.Fields(string(list)) {
			id, _ := strconv.Atoi(word)
			ids = append(ids, id)
		}
	}
	return ids
}

// A program that is no guard is not tried again.
func TestWatch_noHello(t *testing.T) {
	w := newWatch("/bin/true")
	w.tell(process.Tree{Key: 1})
	w.mu.Lock()
	gone := w.gone
	w.mu.Unlock()
	<-gone
	w.tell(process.Tree{Key: 2})
	w.mu.Lock()
	defer w.mu.Unlock()
	if w.err != errNoHello || w.pipe != nil || w.restarts != 1 {
		t.Errorf("%v, %d starts", w.err, w.restarts)
	}
}

// A program that cannot be started is not tried again either.
func TestWatch_noProgram(t *testing.T) {
	w := newWatch("/nowhere/guard")
	w.tell(process.Tree{Key: 1})
	w.tell(process.Tree{Key: 2})
	if w.err == nil || w.restarts != 1 {
		t.Errorf("%v, %d starts", w.err, w.restarts)
	}
}
