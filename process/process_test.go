//go:build unix

package process

import (
	"bufio"
	"bytes"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"
)

// The test program is its own child: this variable selects what it plays.
const roleVariable = "PROCESS_TEST_ROLE"

func TestMain(m *testing.M) {
	if role := os.Getenv(roleVariable); role != "" {
		play(role)
	}
	os.Exit(m.Run())
}

func play(role string) {
	switch role {
	case "echo":
		_, _ = io.Copy(os.Stdout, os.Stdin)
		os.Exit(0)
	case "env":
		for _, entry := range os.Environ() {
			fmt.Println(entry)
		}
		wd, _ := os.Getwd()
		fmt.Println(wd, os.Args[1:])
		os.Exit(0)
	case "code":
		os.Exit(3)
	case "deaf":
		fmt.Println("ready")
		forever()
	case "stubborn":
		signal.Ignore(syscall.SIGTERM)
		fmt.Println("ready")
		forever()
	case "flood":
		line := strings.Repeat("x", 99) + "\n"
		for range 20_000 {
			_, _ = os.Stderr.WriteString(line)
		}
		os.Exit(0)
	case "diagnose":
		_, _ = os.Stderr.WriteString("first\r\n" + strings.Repeat("y", 50) + "\n\nbad \xff byte\nlast")
		os.Exit(0)
	case "host":
		playHost(os.Args[0])
	case "careless":
		playCareless()
	case "fork", "daemon":
		leaveBehind(role == "daemon")
	}
}

// forever blocks. An empty select would not: the runtime ends a program that nothing can wake.
func forever() {
	never := make(chan os.Signal, 1)
	signal.Notify(never, syscall.SIGUSR1)
	for range never {
	}
}

// leaveBehind starts a child that holds all three pipes, prints its process id and ends.
func leaveBehind(ownSession bool) {
	cmd := exec.Command(os.Args[0])
	cmd.Env = append(os.Environ(), roleVariable+"=stubborn")
	cmd.Stdout, cmd.Stderr = os.Stdout, os.Stderr
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: ownSession}
	if err := cmd.Start(); err != nil {
		os.Exit(9)
	}
	fmt.Println(cmd.Process.Pid)
	os.Exit(0)
}

// leftBehind reads the line of a child that leaves another one behind and that of the other, in any order, and returns
// the process id of the other.
func leftBehind(t *testing.T, p *Process) (pid int) {
	t.Helper()
	out := bufio.NewReader(p.Stdout())
	for range 2 {
		line, err := out.ReadString('\n')
		if err != nil {
			t.Fatalf("reading a line from the child: %v", err)
		}
		if n, err := strconv.Atoi(strings.TrimSpace(line)); err == nil {
			pid = n
		}
	}
	return pid
}

func start(t *testing.T, role string, change func(*Options)) *Process {
	t.Helper()
	opts := Options{Path: executable(t), Env: []string{roleVariable + "=" + role, "GORACE=atexit_sleep_ms=0"}}
	if change != nil {
		change(&opts)
	}
	p, err := Start(opts)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { p.End(Stages{Kill: time.Minute}) })
	return p
}

func executable(t *testing.T) string {
	t.Helper()
	path, err := os.Executable()
	if err != nil {
		t.Fatal(err)
	}
	return path
}

func readLine(t *testing.T, r io.Reader) string {
	t.Helper()
	line, err := bufio.NewReader(r).ReadString('\n')
	if err != nil {
		t.Fatalf("reading a line from the child: %v", err)
	}
	return strings.TrimSuffix(line, "\n")
}

// firing is a clock whose waits are over at once.
func firing(time.Duration) <-chan time.Time {
	c := make(chan time.Time, 1)
	c <- time.Time{}
	return c
}

func TestStart_environmentIsExact(t *testing.T) {
	t.Setenv("PROCESS_TEST_SECRET", "1")
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	p := start(t, "env", func(o *Options) {
		o.Env = append(o.Env, "A=b c")
		o.Dir = dir
		o.Args = []string{"one", "$HOME"}
	})
	got, err := io.ReadAll(p.Stdout())
	if err != nil {
		t.Fatal(err)
	}
	want := roleVariable + "=env\nGORACE=atexit_sleep_ms=0\nA=b c\n" + dir + " [one $HOME]\n"
	if string(got) != want {
		t.Errorf("child saw %q, want %q", got, want)
	}
}

func TestStart_noEnvironmentIsEmpty(t *testing.T) {
	path, err := exec.LookPath("env")
	if err != nil {
		t.Fatal(err)
	}
	p := start(t, "", func(o *Options) { o.Path, o.Env = path, nil })
	got, err := io.ReadAll(p.Stdout())
	if err != nil || len(got) != 0 {
		t.Errorf("environment %q, %v; want none", got, err)
	}
}

func TestStart_refusals(t *testing.T) {
	for _, opts := range []Options{
		{Path: "relative"},
		{Path: executable(t), Tag: "NOT=there"},
		{Path: filepath.Join(t.TempDir(), "absent")},
	} {
		if p, err := Start(opts); err == nil {
			p.End(Stages{Kill: time.Minute})
			t.Errorf("Start(%+v) succeeded", opts)
		}
	}
}

// TestStart_busyExecutableIsTriedAgain: MAN-LAUNCH-007.
func TestStart_busyExecutableIsTriedAgain(t *testing.T) {
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte("#!/bin/sh\nexit 0\n"), 0o700); err != nil {
		t.Fatal(err)
	}
	writer, err := os.OpenFile(script, os.O_WRONLY, 0)
	if err != nil {
		t.Fatal(err)
	}
	var waits []time.Duration
	clock := func(d time.Duration) <-chan time.Time {
		waits = append(waits, d)
		if len(waits) == 3 {
			_ = writer.Close()
		}
		return firing(d)
	}
	p, err := Start(Options{Path: script, After: clock})
	if err != nil {
		t.Fatal(err)
	}
	if want := busyWaits[:3]; !slices.Equal(waits, want) {
		t.Errorf("waited %v, want %v", waits, want)
	}
	<-p.Exited()
	p.after = time.After
	p.End(Stages{Kill: time.Minute})
}

func TestStart_busyExecutableGivesUp(t *testing.T) {
	script := filepath.Join(t.TempDir(), "script")
	writer, err := os.OpenFile(script, os.O_WRONLY|os.O_CREATE, 0o700)
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = writer.Close() }()
	waits := 0
	clock := func(d time.Duration) <-chan time.Time { waits++; return firing(d) }
	if _, err := Start(Options{Path: script, After: clock}); !busy(err) {
		t.Errorf("error %v, want a busy executable", err)
	}
	if waits != len(busyWaits) {
		t.Errorf("waited %d times, want %d", waits, len(busyWaits))
	}
}

func TestEnd_closingInputIsEnough(t *testing.T) {
	p := start(t, "echo", nil)
	if _, err := io.WriteString(p.Stdin(), "hello\n"); err != nil {
		t.Fatal(err)
	}
	if got := readLine(t, p.Stdout()); got != "hello" {
		t.Errorf("echoed %q", got)
	}
	got := p.End(Stages{Close: time.Minute, Kill: time.Minute})
	if want := (Report{Stage: StageClose}); got != want {
		t.Errorf("report %+v, want %+v", got, want)
	}
	if again := p.End(Stages{}); again != got {
		t.Errorf("second report %+v, want %+v", again, got)
	}
}

func TestEnd_exitCodeOfOneThatEndedByItself(t *testing.T) {
	p := start(t, "code", nil)
	<-p.Exited()
	got := p.End(Stages{Kill: time.Minute})
	if want := (Report{Stage: StageSelf, State: State{Code: 3}}); got != want {
		t.Errorf("report %+v, want %+v", got, want)
	}
	if got.State.String() != "exit code 3" {
		t.Errorf("state reads %q", got.State)
	}
}

func TestEnd_terminates(t *testing.T) {
	p := start(t, "deaf", nil)
	readLine(t, p.Stdout())
	got := p.End(Stages{Terminate: time.Minute, Kill: time.Minute})
	if want := (Report{Stage: StageTerminate, State: State{Code: -1, Signal: "terminated"}}); got != want {
		t.Errorf("report %+v, want %+v", got, want)
	}
}

func TestEnd_kills(t *testing.T) {
	p := start(t, "stubborn", nil)
	readLine(t, p.Stdout())
	p.after = func(d time.Duration) <-chan time.Time {
		if d == time.Hour {
			return firing(d)
		}
		return time.After(d)
	}
	got := p.End(Stages{Close: time.Hour, Terminate: time.Hour, Kill: time.Minute})
	if want := (Report{Stage: StageKill, State: State{Code: -1, Signal: "killed"}}); got != want {
		t.Errorf("report %+v, want %+v", got, want)
	}
}

func TestKill_shortensEnd(t *testing.T) {
	p := start(t, "stubborn", nil)
	readLine(t, p.Stdout())
	ended := make(chan Report)
	go func() { ended <- p.End(Stages{Close: time.Hour, Terminate: time.Hour, Kill: time.Minute}) }()
	p.Kill()
	if got, want := <-ended, (Report{Stage: StageKill, State: State{Code: -1, Signal: "killed"}}); got != want {
		t.Errorf("report %+v, want %+v", got, want)
	}
	p.Kill()
}

// TestEnd_takesDescendantsDown: EXT04-PROC-007, MAN-LAUNCH-006.
func TestEnd_takesDescendantsDown(t *testing.T) {
	for _, role := range []string{"fork", "daemon"} {
		t.Run(role, func(t *testing.T) {
			p := start(t, role, func(o *Options) {
				o.Tag = "PROCESS_TEST_TAG=" + role + strconv.Itoa(os.Getpid())
				o.Env = append(o.Env, o.Tag)
			})
			if role == "daemon" && !seesTags {
				_, _ = io.Copy(io.Discard, p.Stdout())
				return
			}
			pid := leftBehind(t, p)
			<-p.Exited()
			if p.Descendants() != 1 {
				t.Errorf("%d descendants before End, want 1", p.Descendants())
			}
			got := p.End(Stages{Kill: time.Minute})
			if want := (Report{Stage: StageSelf, Left: 1}); got != want {
				t.Errorf("report %+v, want %+v", got, want)
			}
			if runs(pid) {
				t.Errorf("descendant %d still runs", pid)
			}
		})
	}
}

// TestEnd_neverWaitsForAHeldPipe: EXT04-PROC-007. It has a descendant that no signal of ours reaches and that keeps all
// pipes open.
func TestEnd_neverWaitsForAHeldPipe(t *testing.T) {
	p := start(t, "daemon", nil)
	pid := leftBehind(t, p)
	<-p.Exited()
	if got := p.End(Stages{Kill: time.Minute}); got.Stage != StageSelf || got.Alive != 0 {
		t.Errorf("report %+v", got)
	}
	if _, err := p.Stdout().Read(make([]byte, 1)); err == nil {
		t.Error("standard output is still open after End")
	}
	if !runs(pid) {
		t.Error("the escaped descendant is gone: this test proves nothing")
	}
	if err := syscall.Kill(pid, syscall.SIGKILL); err != nil {
		t.Fatal(err)
	}
}

func TestEnd_unblocksAWriter(t *testing.T) {
	p := start(t, "deaf", nil)
	readLine(t, p.Stdout())
	failed := make(chan error)
	go func() {
		_, err := p.Stdin().Write(make([]byte, 1<<20))
		failed <- err
	}()
	p.End(Stages{Terminate: time.Minute, Kill: time.Minute})
	if err := <-failed; err == nil {
		t.Error("a write of more than the pipe holds succeeded")
	}
}

func TestHangup_unblocksAReader(t *testing.T) {
	p := start(t, "deaf", nil)
	readLine(t, p.Stdout())
	failed := make(chan error)
	go func() {
		_, err := p.Stdout().Read(make([]byte, 1))
		failed <- err
	}()
	p.Hangup()
	if err := <-failed; err == nil {
		t.Error("a read succeeded after Hangup")
	}
	p.Hangup()
}

// TestStderr_floodIsDrainedAndBounded: EXT04-PROC-006, MAN-SUPER-004.
func TestStderr_floodIsDrainedAndBounded(t *testing.T) {
	p := start(t, "flood", func(o *Options) { o.Stderr = StderrOptions{TailLines: 10, TailBytes: 500} })
	<-p.Exited()
	p.End(Stages{Kill: time.Minute})
	tail := p.Stderr()
	if tail.Bytes != 2_000_000 || tail.Total != 20_000 {
		t.Errorf("drained %d bytes in %d lines, want 2000000 in 20000", tail.Bytes, tail.Total)
	}
	if len(tail.Lines) != 5 || tail.Dropped() != 19_995 {
		t.Errorf("kept %d lines and dropped %d, want 5 and 19995", len(tail.Lines), tail.Dropped())
	}
	if len(tail.First) != headLines {
		t.Errorf("kept %d of the first lines, want %d", len(tail.First), headLines)
	}
}

func TestStderr_lines(t *testing.T) {
	var mu sync.Mutex
	var seen []Line
	p := start(t, "diagnose", func(o *Options) {
		o.Stderr = StderrOptions{LineBytes: 10, OnLine: func(l Line) {
			mu.Lock()
			defer mu.Unlock()
			seen = append(seen, l)
		}}
	})
	<-p.Exited()
	p.End(Stages{Kill: time.Minute})
	want := []Line{{Text: "first"}, {Text: "yyyyyyyyyy", Cut: true}, {}, {Text: "bad \uFFFD byte"}, {Text: "last"}}
	mu.Lock()
	defer mu.Unlock()
	if !slices.Equal(seen, want) {
		t.Errorf("callback saw %+v, want %+v", seen, want)
	}
	if got := p.Stderr(); !slices.Equal(got.Lines, want) {
		t.Errorf("kept %+v, want %+v", got.Lines, want)
	}
}

// TestStderr_lineAtTheBound: MAN-SUPER-004. However a line is divided into writes, the bound is the same.
func TestStderr_lineAtTheBound(t *testing.T) {
	const bound = 64
	whole := strings.Repeat("x", bound)
	for _, c := range []struct {
		name, text string
		want       Line
	}{
		{"one byte under", whole[1:], Line{Text: whole[1:]}},
		{"at the bound", whole, Line{Text: whole}},
		{"one byte over", whole + "y", Line{Text: whole, Cut: true}},
	} {
		for _, size := range []int{1, bound, len(c.text) + 1} {
			t.Run(fmt.Sprintf("%s in pieces of %d", c.name, size), func(t *testing.T) {
				read, write, err := os.Pipe()
				if err != nil {
					t.Fatal(err)
				}
				d := newDrain(read, StderrOptions{LineBytes: bound})
				for piece := range slices.Chunk([]byte(c.text+"\nnext\n"), size) {
					if _, err := write.Write(piece); err != nil {
						t.Fatal(err)
					}
				}
				closeFiles(write)
				d.finish(nil)
				if want := []Line{c.want, {Text: "next"}}; !slices.Equal(d.tail().Lines, want) {
					t.Errorf("kept %+v, want %+v", d.tail().Lines, want)
				}
			})
		}
	}
}

// runs reports whether the process exists and is not merely waiting to be reaped.
func runs(pid int) bool {
	if err := syscall.Kill(pid, 0); err != nil {
		return false
	}
	out, err := exec.Command("ps", "-o", "stat=", "-p", strconv.Itoa(pid)).Output()
	return err == nil && !bytes.HasPrefix(bytes.TrimSpace(out), []byte("Z"))
}

// What a child has left behind outlives a tree that is given up.
func TestLeave_endsNothing(t *testing.T) {
	p := start(t, "fork", nil)
	pid := leftBehind(t, p)
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGKILL) })
	if state := p.Leave(); state != (State{}) {
		t.Errorf("it ended with %s", state)
	}
	if report := p.End(Stages{}); report.Stage != StageSelf || report.State != (State{}) {
		t.Errorf("%+v", report)
	}
	if err := syscall.Kill(pid, 0); err != nil {
		t.Errorf("what it left behind: %v, want it alive", err)
	}
}

func TestInterrupt_reachesTheChild(t *testing.T) {
	// A shell lets what it starts in the background ignore the interrupt, and so would the child; what is caught
	// becomes the default again in a new process.
	caught := make(chan os.Signal, 1)
	signal.Notify(caught, os.Interrupt)
	defer signal.Stop(caught)
	p := start(t, "deaf", nil)
	readLine(t, p.Stdout())
	p.Interrupt()
	if state := p.Leave(); state.Code == 0 {
		t.Errorf("it ended with %s, want the interrupt", state)
	}
	p.Interrupt()
}
