package task

import (
	"os"
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"

	"github.com/octet-dev/octet/generated/wirejson"
)

// TestOutput_readsWhatWasWritten writes bytes in pieces that cut characters, and reads stretches of any size from
// anywhere. Covers OUP-TASK-016, OUP-TASK-017 and OUP-TASK-021.
func TestOutput_readsWhatWasWritten(t *testing.T) {
	rapid.Check(t, func(rt *rapid.T) {
		directory, err := os.MkdirTemp(t.TempDir(), "o")
		if err != nil {
			rt.Fatal(err)
		}
		root, err := os.OpenRoot(directory)
		if err != nil {
			rt.Fatal(err)
		}
		defer func() { _ = root.Close() }()
		o, err := openOutput(root)
		if err != nil {
			rt.Fatal(err)
		}
		pieces := rapid.SliceOfN(rapid.SampledFrom([]string{"a", "ä", "€", "𝄞", "\xff", "\xe2\x82", "\x00", "\n"}), 0, 40).Draw(rt, "pieces")
		raw := []byte(strings.Join(pieces, ""))
		for rest := raw; len(rest) > 0; {
			n := rapid.IntRange(1, len(rest)).Draw(rt, "n")
			if _, err := o.Write(rest[:n]); err != nil {
				rt.Fatal(err)
			}
			rest = rest[n:]
		}
		if err := o.finish(); err != nil {
			rt.Fatal(err)
		}
		// Pieces that are no characters may be replaced one by one or together; everything else stays.
		all, err := o.read(0, 1000)
		if err != nil || !utf8.ValidString(all.Text) || all.Next != all.Total {
			rt.Fatalf("%+v, %v", all, err)
		}
		if got, want := strings.ReplaceAll(all.Text, "\uFFFD", ""), strings.ToValidUTF8(string(raw), ""); got != want {
			rt.Fatalf("read %q of %q", got, raw)
		}
		if o, err = openOutput(root); err != nil {
			rt.Fatal(err)
		}
		from := rapid.Int64Range(-2, all.Total+2).Draw(rt, "from")
		limit := rapid.Int64Range(0, 50).Draw(rt, "limit")
		s, err := o.read(from, limit)
		if err != nil {
			rt.Fatal(err)
		}
		start := min(max(from, 0), all.Total)
		for start < all.Total && !utf8.RuneStart(all.Text[start]) {
			start++
		}
		switch {
		case s.From != start || s.Next != s.From+int64(len(s.Text)) || int64(len(s.Text)) > limit || s.Total != all.Total:
			rt.Fatalf("%+v from %d, at most %d", s, from, limit)
		case all.Text[s.From:s.Next] != s.Text || !utf8.ValidString(s.Text):
			rt.Fatalf("%q stands at %d", s.Text, s.From)
		case int64(len(s.Text)) <= limit-utf8.UTFMax && s.Next < s.Total:
			rt.Fatalf("%+v could have been longer than with a limit of %d", s, limit)
		}
	})
}

func TestOutput_segmentsEndWithWholeCharacters(t *testing.T) {
	root, err := os.OpenRoot(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	defer func() { _ = root.Close() }()
	o, err := openOutput(root)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := o.Write([]byte("aa")); err != nil { // so that a segment has no room for all of a character
		t.Fatal(err)
	}
	for range 3 {
		if _, err := o.Write([]byte(strings.Repeat("€", 1<<20))); err != nil {
			t.Fatal(err)
		}
	}
	if err := o.finish(); err != nil {
		t.Fatal(err)
	}
	if len(o.segments) != 3 || o.segments[0].size == segmentBytes {
		t.Errorf("segments %+v", o.segments)
	}
	for _, seg := range o.segments {
		if s, err := o.read(seg.from, 4); err != nil || s.From != seg.from || !utf8.ValidString(s.Text) {
			t.Errorf("at %d: %+v, %v", seg.from, s, err)
		}
	}
	at := o.segments[0].size - 3
	if s, err := o.read(at, 6); err != nil || s.Text != "€€" {
		t.Errorf("over the border: %+v, %v", s, err)
	}
}

// TestWhole_fitsIntoAFrame covers S67 for text that JSON makes six times as long.
func TestWhole_fitsIntoAFrame(t *testing.T) {
	for _, letter := range []string{"\x01", "x", "𝄞", `"`} {
		text, from := whole([]byte(strings.Repeat(letter, 1<<20)), 7, 1<<20)
		if len(wirejson.AppendString(nil, text)) > maxEncodedText || len(text) > 512<<10 || len(text) < 100<<10 || from != 7 || len(text)%len(letter) != 0 {
			t.Errorf("%q: %d bytes from %d", letter, len(text), from)
		}
	}
}

// TestGrace_isLongWhereNobodyHoldsThePipe: what a busy machine reads late is not cut off.
func TestGrace_isLongWhereNobodyHoldsThePipe(t *testing.T) {
	if alone, held := grace(0), grace(1); alone < 4*held || grace(5) != held {
		t.Errorf("waited are %s where nobody holds it, and %s where somebody does", alone, held)
	}
}
