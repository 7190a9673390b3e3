package subject_test

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/octet-dev/octet/features/subject"
	"github.com/octet-dev/octet/features/wire"
)

// TestMain makes this program play a subject when it is asked to.
func TestMain(m *testing.M) {
	if role := os.Getenv("SUBJECT_ROLE"); role != "" {
		play(role)
		return
	}
	os.Exit(m.Run())
}

func play(role string) {
	switch role {
	case "leave":
		child := exec.Command(os.Args[0])
		child.Env = append(os.Environ(), "SUBJECT_ROLE=hold")
		child.Stdout = os.Stdout
		if err := child.Start(); err != nil {
			panic(err)
		}
		fmt.Println(`{"id":1,"result":{}}`)
	case "hold":
		never := make(chan os.Signal, 1)
		signal.Notify(never, os.Interrupt)
		<-never
	case "exit":
		fmt.Fprintln(os.Stderr, "no mood")
		os.Exit(7)
	}
}

func command(role string) subject.Command {
	return subject.Command{Path: os.Args[0], Env: append(os.Environ(), "SUBJECT_ROLE="+role)}
}

type nobody struct{}

func (nobody) Observe(wire.Frame) {}
func (nobody) InputEnded()        {}

func converse(t *testing.T, s subject.Starter) (subject.Running, *subject.Conversation) {
	t.Helper()
	run, err := s.Start(subject.Start{})
	if err != nil {
		t.Fatal(err)
	}
	c := subject.Converse(run, wire.NewRecorder(nil), nobody{}, nil)
	t.Cleanup(func() { c.Close() })
	return run, c
}

const patience = 5 * time.Second

func TestConversation(t *testing.T) {
	echo := subject.Func(func(_ context.Context, _ []string, in io.Reader, out, _ io.Writer) int {
		s := bufio.NewScanner(in)
		for s.Scan() {
			fmt.Fprintf(out, "{\"id\":%q,\"result\":{}}\n", s.Text())
		}
		return 3
	})
	_, c := converse(t, echo)
	for _, line := range []string{"a", "b"} {
		if err := c.Send([]byte(line), patience); err != nil {
			t.Fatal(err)
		}
	}
	for _, id := range []string{`"b"`, `"a"`} {
		if m, err := c.Await(subject.Answers(id), patience); err != nil || !m.IsResponse() || m.IsError() {
			t.Errorf("answer %s: got %+v, %v", id, m, err)
		}
	}
	if _, err := c.Await(subject.Any, time.Nanosecond); !errors.Is(err, subject.ErrNoAnswer) {
		t.Errorf("with nothing to come: got %v", err)
	}
	c.CloseInput()
	if err := c.AwaitEnd(patience); err != nil {
		t.Fatal(err)
	}
	if _, err := c.Await(subject.Any, patience); !errors.Is(err, subject.ErrEnded) {
		t.Errorf("behind the end: got %v", err)
	}
	if ended := c.Close(); ended.Code != 3 || !ended.Self {
		t.Errorf("ended: got %+v", ended)
	}
}

func TestConversation_survives(t *testing.T) {
	forever := func(write func(out, log io.Writer) error) subject.Func {
		return func(_ context.Context, _ []string, _ io.Reader, out, log io.Writer) int {
			for write(out, log) == nil {
			}
			return 0
		}
	}
	noise := []byte(strings.Repeat("noise ", 10_000))
	tests := []struct {
		name string
		s    subject.Starter
		want error
	}{
		{"a flood of lines", forever(func(out, _ io.Writer) error { _, err := out.Write([]byte("{}\n{}\n")); return err }), subject.ErrNoAnswer},
		{"a line without end", forever(func(out, _ io.Writer) error { _, err := out.Write(noise); return err }), subject.ErrNoAnswer},
		{"a deaf subject", subject.Func(func(ctx context.Context, _ []string, _ io.Reader, _, _ io.Writer) int { <-ctx.Done(); return 0 }), subject.ErrNoAnswer},
		{"an early end", command("exit"), subject.ErrEnded},
		{"a pipe that a descendant holds", command("leave"), subject.ErrNoAnswer},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			_, c := converse(t, tt.s)
			if _, err := c.Await(subject.Answers("99"), 300*time.Millisecond); !errors.Is(err, tt.want) {
				t.Errorf("got %v, want %v", err, tt.want)
			}
			c.Close()
		})
	}
}

func TestConversation_stuckInput(t *testing.T) {
	_, c := converse(t, subject.Func(func(ctx context.Context, _ []string, _ io.Reader, _, _ io.Writer) int { <-ctx.Done(); return 0 }))
	if err := c.Send(make([]byte, 1<<20), 100*time.Millisecond); !errors.Is(err, subject.ErrStuck) {
		t.Errorf("got %v, want ErrStuck", err)
	}
}

func TestCommand_leavesNothing(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Log("the count of descendants is exact on Linux only")
	}
	run, c := converse(t, command("leave"))
	if _, err := c.Await(subject.Answers("1"), patience); err != nil {
		t.Fatal(err)
	}
	if err := c.AwaitEnd(patience); err != nil {
		t.Fatal(err)
	}
	ended := c.Close()
	if runtime.GOOS == "linux" && ended.Left != 1 {
		t.Errorf("left: got %d, want 1", ended.Left)
	}
	if ended.Alive != 0 || run.Descendants() != 0 {
		t.Errorf("%d alive, %d descendants", ended.Alive, run.Descendants())
	}
}

func TestConversation_answersRequests(t *testing.T) {
	asking := subject.Func(func(_ context.Context, _ []string, in io.Reader, out, _ io.Writer) int {
		fmt.Fprintln(out, `{"id":"q","method":"ask"}`)
		reply, _ := bufio.NewReader(in).ReadString('\n')
		fmt.Fprintf(out, "{\"id\":1,\"result\":%q}\n", reply)
		return 0
	})
	run, err := asking.Start(subject.Start{})
	if err != nil {
		t.Fatal(err)
	}
	c := subject.Converse(run, wire.NewRecorder(nil), nobody{}, func(m subject.Message) [][]byte { return [][]byte{[]byte("re:" + m.ID)} })
	defer c.Close()
	m, err := c.Await(subject.Answers("1"), patience)
	if err != nil || string(m.Fields["result"]) != `"re:\"q\"\n"` {
		t.Errorf("got %s, %v", m.Fields["result"], err)
	}
}

// onFrame is an observer that is told of every frame.
type onFrame func(wire.Frame)

func (f onFrame) Observe(frame wire.Frame) { f(frame) }
func (onFrame) InputEnded()                {}

// A question is seen by nobody before the host has taken it, whatever else came in the same read.
func TestConversation_showsWhatTheHostHasTaken(t *testing.T) {
	asking := subject.Func(func(_ context.Context, _ []string, in io.Reader, out, _ io.Writer) int {
		fmt.Fprint(out, "{\"id\":\"q\",\"method\":\"ask\"}\n{\"method\":\"notice\"}\n")
		_, _ = io.Copy(io.Discard, in)
		return 0
	})
	run, err := asking.Start(subject.Start{})
	if err != nil {
		t.Fatal(err)
	}
	var c *subject.Conversation
	begun, taken := make(chan struct{}), make(chan string, 2)
	c = subject.Converse(run, wire.NewRecorder(nil), onFrame(func(f wire.Frame) {
		<-begun
		if m, seen := c.Poll(subject.Any); seen {
			t.Errorf("%s is seen before it was answered, while %s is read", m.Frame.Bytes, f.Bytes)
		}
	}), func(m subject.Message) [][]byte {
		taken <- m.Method
		return nil
	})
	close(begun)
	defer c.Close()
	if m, err := c.Await(subject.Any, patience); err != nil || m.Method != "ask" {
		t.Fatalf("got %s, %v", m.Frame.Bytes, err)
	}
	if got := len(taken); got != 1 {
		t.Errorf("the host has taken %d questions, want the one that is seen", got)
	}
}

func TestEnvironment(t *testing.T) {
	got := subject.Environment([]string{"A=1", "AB=2", "C=3"}, []string{"A=9", "C", "D=4"})
	if want := "AB=2 A=9 D=4"; strings.Join(got, " ") != want {
		t.Errorf("got %v, want %s", got, want)
	}
}
