package edit

import (
	"io"
	"strings"
	"testing"
)

// Others may write into the line that is composed, and into no other.
func TestEditor_isComposedTogether(t *testing.T) {
	e, s, keyboard := typing(t, 80, Options{})
	e.Replace("a draft")
	if !e.Insert(" of it", 20) || e.Insert("too much", 20) || e.Text() != "a draft of it" {
		t.Errorf("the draft is %q", e.Text())
	}
	e.Recall([]string{"older", "newer"})
	lines := make(chan string)
	go func() {
		for _, keep := range []bool{true, false, true} {
			text, _ := e.Read(t.Context(), Ask{Prompt: "> ", Keep: keep})
			lines <- text
		}
	}()
	e.waitFor("a draft of it")
	_, _ = io.WriteString(keyboard, "\x1b[D\x1b[D")
	e.waitFor("a draft of it")
	if !e.Insert("all ", 20) {
		t.Error("there was room")
	}
	_, _ = io.WriteString(keyboard, "\r")
	if got := <-lines; !strings.Contains(got, "all ") {
		t.Errorf("read %q; the screen is\n%s", got, s)
	}
	_, _ = io.WriteString(keyboard, "mine")
	e.waitFor("mine")
	e.Replace("not into a question")
	_, _ = io.WriteString(keyboard, "\r")
	if got := <-lines; got != "mine" {
		t.Errorf("read %q", got)
	}
	e.waitFor("not into a question")
	_, _ = io.WriteString(keyboard, "\x1b[A\r")
	if got := <-lines; got != "newer" {
		t.Errorf("recalled %q", got)
	}
}
