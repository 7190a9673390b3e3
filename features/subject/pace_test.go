package subject_test

import (
	"context"
	"io"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/octet-dev/octet/features/subject"
)

// reader is a subject that passes on what every read brings, and answers each as it is told.
func reader(reads chan<- string, answer string) subject.Func {
	return func(_ context.Context, _ []string, stdin io.Reader, stdout, _ io.Writer) int {
		defer close(reads)
		buf := make([]byte, 4096)
		for {
			n, err := stdin.Read(buf)
			if err != nil {
				return 0
			}
			reads <- string(buf[:n])
			if _, err := io.WriteString(stdout, answer); err != nil {
				return 0
			}
		}
	}
}

func TestConversation_cutsIntoReads(t *testing.T) {
	if runtime.GOOS != "linux" {
		t.Log("this system does not tell what is in a pipe: the pieces may arrive together")
	}
	reads := make(chan string, 10)
	_, conv := converse(t, reader(reads, ""))
	conv.Cut(func(b []byte) [][]byte { return [][]byte{b[:2], b[2:5], b[5:]} })
	if err := conv.Send([]byte("abcdefg"), time.Second); err != nil {
		t.Fatal(err)
	}
	conv.CloseInput()
	if err := conv.AwaitEnd(5 * time.Second); err != nil {
		t.Fatal(err)
	}
	var got []string
	for r := range reads {
		got = append(got, r)
	}
	if runtime.GOOS == "linux" && !slices.Equal(got, []string{"ab", "cde", "fg\n"}) || strings.Join(got, "") != "abcdefg\n" {
		t.Errorf("reads brought %q", got)
	}
}

func TestConversation_gathersUntilAWait(t *testing.T) {
	reads := make(chan string, 10)
	_, conv := converse(t, reader(reads, "{}\n"))
	conv.Gather()
	for _, frame := range []string{"a", "b", "c"} {
		if err := conv.Send([]byte(frame), time.Second); err != nil {
			t.Fatal(err)
		}
	}
	if len(reads) != 0 {
		t.Fatal("something was written before anybody waited")
	}
	if _, err := conv.Await(subject.Any, 5*time.Second); err != nil {
		t.Fatal(err)
	}
	if got := <-reads; got != "a\nb\nc\n" {
		t.Errorf("the first read brought %q", got)
	}
	if err := conv.Send([]byte("d"), time.Second); err != nil {
		t.Fatal(err)
	}
	if got := <-reads; got != "d\n" {
		t.Errorf("the read behind the wait brought %q", got)
	}
}

func TestConversation_closesBehindWhatItGathered(t *testing.T) {
	reads := make(chan string, 10)
	_, conv := converse(t, reader(reads, ""))
	conv.Gather()
	if err := conv.Send([]byte("a"), time.Second); err != nil {
		t.Fatal(err)
	}
	conv.CloseInput()
	if err := conv.AwaitEnd(5 * time.Second); err != nil {
		t.Fatal(err)
	}
	if got := <-reads; got != "a\n" {
		t.Errorf("the subject read %q", got)
	}
}

// The subject has written its first answer before the second frame is sent, and nobody has read it.
func TestConversation_readsLate(t *testing.T) {
	reads := make(chan string, 10)
	_, conv := converse(t, reader(reads, "{}\n"))
	conv.ReadLate(5 * time.Second)
	for _, frame := range []string{"a", "b"} {
		if err := conv.Send([]byte(frame), time.Second); err != nil {
			t.Fatal(err)
		}
	}
	if _, found := conv.Poll(subject.Any); found {
		t.Error("an answer was read before anybody waited")
	}
	for range 2 {
		if _, err := conv.Await(subject.Any, 5*time.Second); err != nil {
			t.Fatal(err)
		}
	}
	if first, second := <-reads, <-reads; first != "a\n" || second != "b\n" {
		t.Errorf("reads brought %q and %q", first, second)
	}
}
