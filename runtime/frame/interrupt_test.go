package frame

import (
	"errors"
	"os"
	"strings"
	"testing"
)

func TestReader_interruption(t *testing.T) {
	read, write, err := os.Pipe()
	if err != nil {
		t.Fatal(err)
	}
	defer read.Close()
	defer write.Close()
	r := NewReader(read, Feature, Extension, 100)
	if !r.Interruptible() {
		t.Skip("pipes of this system have no deadlines")
	}
	send := func(text string) {
		if _, err := write.WriteString(text); err != nil {
			t.Fatal(err)
		}
	}
	interrupted := func() {
		t.Helper()
		if b, err := r.Next(); !errors.Is(err, ErrInterrupted) {
			t.Fatalf("got %q, %v, want an interruption", b, err)
		}
	}
	next := func(want string, slack Slack) {
		t.Helper()
		if b, err := r.Next(); err != nil || string(b) != want || r.Slack() != slack {
			t.Fatalf("got %q, %v, slack %b, want %q, slack %b", b, err, r.Slack(), want, slack)
		}
	}
	done := make(chan struct{})
	go func() {
		defer close(done)
		r.Interrupt()
	}()
	interrupted() // whether Next waits already or not
	<-done
	send("{}\n")
	next("{}", 0)

	send("\n{\"a\"")
	r.Interrupt()
	interrupted() // in front of the bytes
	go r.Interrupt()
	interrupted() // behind them
	send(":1}\n")
	next(`{"a":1}`, SlackBlank)

	send("1\n2\n")
	next("1", 0)
	r.Interrupt()
	next("2", 0) // needs no reading
	interrupted()
	write.Close()
	if b, err := r.Next(); err == nil || errors.Is(err, ErrInterrupted) {
		t.Errorf("got %q, %v, want the end", b, err)
	}
}

func TestReader_interruptionNeedsADeadline(t *testing.T) {
	r := NewReader(strings.NewReader("{}\n"), Feature, Extension, 100)
	if r.Interruptible() {
		t.Error("a text in memory can be interrupted")
	}
	r.Interrupt()
	if b, err := r.Next(); err != nil || string(b) != "{}" {
		t.Errorf("got %q, %v", b, err)
	}
}
