package edit

import (
	"bytes"
	"errors"
	"io"
	"strings"
	"testing"
)

func TestChoose(t *testing.T) {
	lines := []string{"one", "two", "three"}
	for _, c := range []struct {
		keys []string
		want int
		err  error
	}{
		{[]string{"\r"}, 0, nil},
		{[]string{"\x1b[B", "\x1b[B", "\x1b[B", "\x1b[A", "\r"}, 1, nil},
		{[]string{"\x1b[F", "\r"}, 2, nil},
		{[]string{"\x1b"}, 0, ErrClosed},
		{[]string{"\x03"}, 0, ErrInterrupted},
	} {
		e, s, keyboard := typing(t, 80, Options{})
		go func() {
			for _, k := range c.keys {
				_, _ = io.WriteString(keyboard, k)
			}
		}()
		if got, err := e.Choose(t.Context(), "which?", lines, 0); got != c.want || !errors.Is(err, c.err) {
			t.Errorf("%q chose %d, %v, want %d, %v", c.keys, got, err, c.want, c.err)
		}
		if s.String() != "" {
			t.Errorf("%q left %q on the screen", c.keys, s)
		}
	}
	var out bytes.Buffer
	e := New(Options{In: strings.NewReader("nine\n2\n\n"), Out: &out})
	defer e.Close()
	if got, err := e.Choose(t.Context(), "which?", lines, 0); got != 1 || err != nil {
		t.Errorf("chose %d, %v", got, err)
	}
	if _, err := e.Choose(t.Context(), "which?", lines, 0); !errors.Is(err, ErrClosed) {
		t.Errorf("an empty line is %v", err)
	}
	if !strings.Contains(out.String(), "there is no \"nine\"; give a number from 1 to 3\n") {
		t.Errorf("shown %q", &out)
	}
}
