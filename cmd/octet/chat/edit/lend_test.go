package edit

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strings"
	"testing"
)

// keeper lends a terminal that it does not have.
type keeper struct {
	err   error
	calls []string
}

func (k *keeper) Stop(_ context.Context, group int) (columns, rows int, err error) {
	k.calls = append(k.calls, fmt.Sprint("stop ", group))
	return 80, 24, k.err
}

func (k *keeper) Resume() { k.calls = append(k.calls, "resume") }

// While the terminal is lent nothing is written to it and it is in its own mode; then the line goes on where it
// was, behind what was printed meanwhile.
func TestCede(t *testing.T) {
	k := &keeper{}
	modes := 0
	e, s, keyboard := typing(t, 80, Options{Lend: k})
	e.options.Raw = func() (func(), error) {
		modes++
		return func() { modes-- }, nil
	}
	type read struct {
		text string
		err  error
	}
	lines := make(chan read)
	go func() {
		for range 2 {
			text, err := e.Read(t.Context(), Ask{Prompt: "> ", Keep: true})
			lines <- read{text, err}
		}
	}()
	_, _ = io.WriteString(keyboard, "half")
	e.waitFor("half")
	if columns, rows, err := e.Cede(t.Context(), 7); columns != 80 || rows != 24 || err != nil || modes != 0 || s.String() != "" {
		t.Errorf("ceded %d by %d, %v; %d modes are set and the screen is %q", columns, rows, err, modes, s)
	}
	if _, _, err := e.Cede(t.Context(), 8); !errors.Is(err, ErrUnlendable) {
		t.Errorf("it was ceded again: %v", err)
	}
	e.Print("news\n")
	e.Status("status")
	e.Replace("whole")
	if s.String() != "" {
		t.Errorf("written was %q", s)
	}
	e.Reclaim()
	e.Reclaim()
	if s.String() != "news\n> whole" || modes != 1 || strings.Join(k.calls, ", ") != "stop 7, resume" {
		t.Errorf("%d modes are set, the lender was told %q, the screen is\n%s", modes, k.calls, s)
	}
	_, _ = io.WriteString(keyboard, "\r")
	if got := <-lines; got.text != "whole" || got.err != nil {
		t.Errorf("read %+v", got)
	}
	e.until(func() bool { return e.active })
	k.err = errors.New("it is in use")
	if _, _, err := e.Cede(t.Context(), 9); !errors.Is(err, k.err) || modes != 1 {
		t.Errorf("ceded with %v; %d modes are set", err, modes)
	}
	_, _ = io.WriteString(keyboard, "on\r")
	if got := <-lines; got.text != "on" || modes != 0 {
		t.Errorf("read %+v; %d modes are set", got, modes)
	}
}

// What is asked while the terminal is lent waits, and is given up with its context; a list in front of the
// person is not taken away.
func TestCede_others(t *testing.T) {
	k := &keeper{}
	e, _, keyboard := typing(t, 80, Options{Lend: k})
	modes := 0
	e.options.Raw = func() (func(), error) {
		modes++
		return func() {}, nil
	}
	if _, _, err := e.Cede(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	ctx, cancel := context.WithCancelCause(t.Context())
	given := errors.New("given up")
	cancel(given)
	if text, err := e.Read(ctx, Ask{Text: "kept"}); !errors.Is(err, given) || text != "kept" {
		t.Errorf("read %q, %v", text, err)
	}
	if _, err := e.Choose(ctx, "which?", []string{"one"}, 0); !errors.Is(err, given) {
		t.Errorf("chosen: %v", err)
	}
	if modes != 0 {
		t.Error("the mode of a lent terminal was changed")
	}
	chosen := make(chan error)
	go func() {
		_, err := e.Choose(t.Context(), "which?", []string{"one"}, 0)
		chosen <- err
	}()
	e.Reclaim()
	e.until(func() bool { return e.choosing })
	if _, _, err := e.Cede(t.Context(), 0); !errors.Is(err, ErrUnlendable) {
		t.Errorf("ceded under a list: %v", err)
	}
	_, _ = io.WriteString(keyboard, "\r")
	if err := <-chosen; err != nil {
		t.Error(err)
	}
	e.Recall([]string{"recalled"})
	e.Forget()
	if past := e.past(); len(past) != 0 {
		t.Errorf("recalled is %q", past)
	}
	e.options.Lend = nil
	if _, _, err := e.Cede(t.Context(), 0); !errors.Is(err, ErrUnlendable) || e.Lendable() {
		t.Errorf("ceded without a lender: %v", err)
	}
}

// A terminal keeps no more than a bound of what is printed while it is lent.
func TestCede_holdsBounded(t *testing.T) {
	e, s, _ := typing(t, 80, Options{Lend: &keeper{}})
	if _, _, err := e.Cede(t.Context(), 0); err != nil {
		t.Fatal(err)
	}
	e.Print(strings.Repeat("x", maxHeld-1) + "\n")
	e.Print("too much\n")
	e.Reclaim()
	if text := s.String(); strings.Contains(text, "too much") || strings.Count(text, "x") != maxHeld-1 {
		t.Errorf("shown were %d", len(text))
	}
}
