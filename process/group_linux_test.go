package process

import (
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"golang.org/x/sys/unix"
)

// seesTags: environments of other processes can be read here.
const seesTags = true

// TestStart_childDiesWithItsHost: EXT04-PROC-007, MAN-LAUNCH-008.
func TestStart_childDiesWithItsHost(t *testing.T) {
	host := start(t, "host", nil)
	pid, err := strconv.Atoi(readLine(t, host.Stdout()))
	if err != nil {
		t.Fatal(err)
	}
	handle, err := unix.PidfdOpen(pid, 0)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = unix.Close(handle) }()
	if err := syscall.Kill(host.PID(), syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
	ended := []unix.PollFd{{Fd: int32(handle), Events: unix.POLLIN}}
	for {
		n, err := unix.Poll(ended, int(time.Minute.Milliseconds()))
		if err == unix.EINTR {
			continue
		}
		if n != 1 || err != nil {
			t.Fatalf("the child outlived its host (%d, %v)", n, err)
		}
		return
	}
}

// TestDescendants_theUnreapedDoNotCount has a child that does not wait for its own.
func TestDescendants_theUnreapedDoNotCount(t *testing.T) {
	p := start(t, "careless", nil)
	readLine(t, p.Stdout())
	if got := p.Descendants(); got != 0 {
		t.Errorf("%d descendants, want none", got)
	}
}

// TestRunDelay: whoever has been woken has stood in line for a processor, if only for a moment.
func TestRunDelay(t *testing.T) {
	account, err := os.ReadFile("/proc/self/schedstat")
	if err != nil || string(account) == "0 0 0\n" {
		t.Skip("the kernel keeps no account of run delays")
	}
	p := start(t, "careless", nil)
	readLine(t, p.Stdout())
	if got := p.RunDelay(); got <= 0 {
		t.Errorf("the run delay is %v behind the first line", got)
	}
	p.End(Stages{Kill: time.Minute})
	if got := p.RunDelay(); got != 0 {
		t.Errorf("the run delay is %v behind the end", got)
	}
}

// TestStderr_theRestIsReadBehindTheGrace: MAN-SUPER-004. Somebody else keeps the pipe open, and the reader was late.
func TestStderr_theRestIsReadBehindTheGrace(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = write.Close() }()
	busy, late := make(chan struct{}), make(chan time.Time)
	d := newDrain(read, StderrOptions{OnLine: func(Line) { <-busy }})
	const lines = 300
	if _, err := write.WriteString(strings.Repeat(strings.Repeat("x", 99)+"\n", lines)); err != nil {
		t.Fatal(err)
	}
	finished := make(chan struct{})
	go func() {
		defer close(finished)
		d.finish(late)
	}()
	late <- time.Time{}
	close(busy)
	<-finished
	if got := d.tail().Total; got != lines {
		t.Errorf("%d of %d lines were read", got, lines)
	}
}

// TestTagged_whileItBecomesAnother: a process that starts one program in place of another all the time is of its tree
// at every moment.
func TestTagged_whileItBecomesAnother(t *testing.T) {
	script := filepath.Join(t.TempDir(), "again")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nexec \"$0\"\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	tag := "PROCESS_TEST_TAG=" + t.Name()
	p, err := Start(Options{Path: script, Env: append(os.Environ(), tag), Tag: tag})
	if err != nil {
		t.Fatal(err)
	}
	defer p.End(Stages{Kill: time.Minute})
	g := &group{tag: p.tag}
	lost := 0
	const looks = 3000
	for range looks {
		if !g.tagged(p.PID()) {
			lost++
		}
	}
	if lost > 0 {
		t.Errorf("%d of %d looks found it no member", lost, looks)
	}
}

// TestEnviron_none: a process that has no environment is not waited for, and neither is a thread of the kernel.
func TestEnviron_none(t *testing.T) {
	p, err := Start(Options{Path: "/bin/sh", Args: []string{"-c", "echo; read -r line"}})
	if err != nil {
		t.Fatal(err)
	}
	defer p.End(Stages{Kill: time.Minute})
	readLine(t, p.Stdout())
	if env, err := Environ(p.PID()); err != nil || len(env) != 0 {
		t.Errorf("%q, %v", env, err)
	}
}

// A pipe that is read is waited for, one that nobody reads is not for ever.
func TestAwaitRead(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer closeFiles(read, write)
	if _, err := write.WriteString("rest"); err != nil {
		t.Fatal(err)
	}
	AwaitRead(read, nil, time.Millisecond)
	over := make(chan struct{})
	close(over)
	AwaitRead(read, over, time.Hour)
	waited := make(chan struct{})
	go func() {
		defer close(waited)
		AwaitRead(read, nil, time.Hour)
	}()
	select {
	case <-waited:
		t.Error("a pipe that holds something was not waited for")
	default:
	}
	if _, err := read.Read(make([]byte, 9)); err != nil {
		t.Fatal(err)
	}
	<-waited
}

// playCareless starts a child, lets it end and leaves it unreaped.
func playCareless() {
	child := exec.Command(os.Args[0])
	child.Env = []string{roleVariable + "=code", "GORACE=atexit_sleep_ms=0"}
	if err := child.Start(); err != nil {
		panic(err)
	}
	for {
		err := unix.Waitid(unix.P_PID, child.Process.Pid, nil, unix.WEXITED|unix.WNOWAIT, nil)
		if err != unix.EINTR {
			break
		}
	}
	fmt.Println("ready")
	forever()
}

// playHost starts a child that ends neither at EOF nor at SIGTERM, and waits to be killed.
func playHost(path string) {
	child, err := Start(Options{Path: path, Env: []string{roleVariable + "=stubborn"}})
	if err != nil {
		panic(err)
	}
	if _, err := io.ReadFull(child.Stdout(), make([]byte, 1)); err != nil {
		panic(err)
	}
	fmt.Println(child.PID())
	forever()
}
