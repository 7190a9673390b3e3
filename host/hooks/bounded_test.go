package hooks

import (
	"strings"
	"testing"
	"unicode/utf8"
)

func TestBounded_cutsBetweenCharacters(t *testing.T) {
	text := bounded("x" + strings.Repeat("ü", maxDiagnosticBytes))
	if !utf8.ValidString(text) || !strings.HasSuffix(text, "ü…") || len(text) > maxDiagnosticBytes+len("…") {
		t.Errorf("the text has %d bytes and ends with %q", len(text), text[len(text)-8:])
	}
	if text := bounded("short"); text != "short" {
		t.Errorf("got %q", text)
	}
}
