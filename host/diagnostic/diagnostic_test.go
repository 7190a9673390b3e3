package diagnostic

import (
	"fmt"
	"strings"
	"testing"
	"unicode/utf8"
)

func TestDiagnostic_string(t *testing.T) {
	for _, c := range []struct {
		d    Diagnostic
		want string
	}{
		{Diagnostic{Level: Info, Message: "m"}, "info: m"},
		{Diagnostic{Level: Warning, Path: "/a", Message: "m", Rule: "R"}, "warning: /a: m (R)"},
		{Diagnostic{Level: Error, Path: "/a", Line: 3, Column: 4, Message: "m"}, "error: /a:3:4: m"},
	} {
		if got := c.d.String(); got != c.want {
			t.Errorf("%+v reads %q, want %q", c.d, got, c.want)
		}
	}
}

func TestAny(t *testing.T) {
	list := []Diagnostic{{Level: Info}, {Level: Error}}
	if !Any(list, Error) || Any(list, Warning) || Any(nil, Error) {
		t.Error("Any finds a level that is not there, or misses one that is")
	}
}

// MAN-DIAG-005.
func TestLog_keepsSoManyEntries(t *testing.T) {
	var l Log
	for i := range MaxEntries {
		l.Add(Diagnostic{Message: fmt.Sprint(i)})
	}
	if kept, dropped := l.Entries(); len(kept) != MaxEntries || dropped != 0 {
		t.Fatalf("at the limit: %d kept, %d dropped", len(kept), dropped)
	}
	l.Add(Diagnostic{Message: "one over"})
	kept, dropped := l.Entries()
	if len(kept) != MaxEntries || dropped != 1 || kept[0].Message != "1" || kept[len(kept)-1].Message != "one over" {
		t.Errorf("one over: %d kept from %q, %d dropped", len(kept), kept[0].Message, dropped)
	}
}

// MAN-DIAG-005.
func TestLog_keepsSoManyBytes(t *testing.T) {
	var l Log
	full := strings.Repeat("x", MaxEntryBytes)
	for range MaxBytes / MaxEntryBytes {
		l.Add(Diagnostic{Message: full})
	}
	if kept, dropped := l.Entries(); len(kept) != MaxBytes/MaxEntryBytes || dropped != 0 {
		t.Fatalf("at the limit: %d kept, %d dropped", len(kept), dropped)
	}
	l.Add(Diagnostic{Message: "x"})
	if kept, dropped := l.Entries(); len(kept) != MaxBytes/MaxEntryBytes || dropped != 1 {
		t.Errorf("one byte over: %d kept, %d dropped", len(kept), dropped)
	}
}

// MAN-DIAG-005, MAN-DIAG-006.
func TestLog_cutsBetweenCharacters(t *testing.T) {
	var l Log
	whole := strings.Repeat("é", MaxEntryBytes/2)
	l.Add(Diagnostic{Message: whole}, Diagnostic{Message: whole + "x"}, Diagnostic{Level: Info, Path: "/p", Message: whole, Remedy: "r"})
	kept, _ := l.Entries()
	if kept[0].Message != whole {
		t.Error("a diagnostic at the limit was cut")
	}
	for _, d := range kept[1:] {
		if size(d) > MaxEntryBytes || !utf8.ValidString(d.Message) || !strings.HasSuffix(d.Message, "é\n[… diagnostic truncated …]") {
			t.Errorf("cut to %d bytes, ending in %q", size(d), d.Message[max(0, len(d.Message)-40):])
		}
	}
}

func TestLog_entriesAreACopy(t *testing.T) {
	var l Log
	l.Add(Diagnostic{Message: "a"})
	kept, _ := l.Entries()
	kept[0].Message = "b"
	if again, _ := l.Entries(); again[0].Message != "a" {
		t.Error("a reader can change what is kept")
	}
}
