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

// TestEvents_boundWhileOneBlocks: MAN-SUPER-001.
func TestEvents_boundWhileOneBlocks(t *testing.T) {
	running, release := make(chan struct{}), make(chan struct{})
	delivered := 0
	var diagnosed []string
	e := newEvents(func(text string) { diagnosed = append(diagnosed, text) })
	e.post(func() { close(running); <-release })
	<-running
	for range maxEvents + 3 {
		e.post(func() { delivered++ })
	}
	close(release)
	e.close()
	if delivered != maxEvents {
		t.Errorf("delivered %d, want %d", delivered, maxEvents)
	}
	if want := []string{"3 events were dropped because too many waited"}; !slices.Equal(diagnosed, want) {
		t.Errorf("diagnosed %q, want %q", diagnosed, want)
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
