package extension

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

func TestEvents_orderAndFlush(t *testing.T) {
	var got []string
	e := newEvents(func(text string) { got = append(got, text) })
	e.post(func() { got = append(got, "a") })
	e.diagnostic("b")
	e.post(func() { got = append(got, "c") })
	e.flush()
	if want := []string{"a", "b", "c"}; !slices.Equal(got, want) {
		t.Errorf("delivered %q, want %q", got, want)
	}
	e.post(func() { got = append(got, "d") })
	e.close()
	e.close()
	e.flush()
	e.post(func() { got = append(got, "late") })
	if want := []string{"a", "b", "c", "d"}; !slices.Equal(got, want) {
		t.Errorf("delivered %q, want %q", got, want)
	}
}

// TestEvents_boundWhileOneBlocks: MAN-SUPER-001. While one event is being delivered 128 wait; what comes on
// top of them is dropped, and said to be.
func TestEvents_boundWhileOneBlocks(t *testing.T) {
	const bound = 128
	for posted, want := range map[int][]string{
		bound:     nil,
		bound + 1: {"1 events were dropped because too many waited"},
		bound + 3: {"3 events were dropped because too many waited"},
	} {
		running, release := make(chan struct{}), make(chan struct{})
		var delivered []int
		var diagnosed []string
		e := newEvents(func(text string) { diagnosed = append(diagnosed, text) })
		e.post(func() { close(running); <-release })
		<-running
		for n := range posted {
			e.post(func() { delivered = append(delivered, n) })
		}
		close(release)
		e.close()
		if len(delivered) != bound || delivered[0] != 0 || delivered[bound-1] != bound-1 {
			t.Errorf("of %d delivered %d (%v), want the first %d", posted, len(delivered), delivered, bound)
		}
		if !slices.Equal(diagnosed, want) {
			t.Errorf("of %d diagnosed %q, want %q", posted, diagnosed, want)
		}
	}
}

func TestEvents_boundedDiagnostics(t *testing.T) {
	var got []string
	e := newEvents(func(text string) { got = append(got, text) })
	for i := range maxDiagnostics + 50 {
		e.diagnostic(fmt.Sprint(i))
		e.flush()
	}
	e.close()
	if len(got) != maxDiagnostics || !strings.HasSuffix(got[len(got)-1], "further diagnostics are not shown") {
		t.Errorf("%d diagnostics, the last %q; want %d", len(got), got[len(got)-1], maxDiagnostics)
	}
}

func TestEvents_nobodyListens(t *testing.T) {
	e := newEvents(nil)
	e.diagnostic("a")
	e.close()
}
