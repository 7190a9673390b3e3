package wirejson

import (
	"bytes"
	"errors"
	"strings"
	"testing"
	"unicode/utf8"
)

// everyPair calls f with sequences across the bounds of words, and with texts of up to three words in which each byte value stands at each offset, and one
// of the bytes that borrow or carry in front of it.
func everyPair(f func(text []byte)) {
	for _, text := range []string{
		"", "é", "01234567é", "0123456é01234567\"", "天地玄黄天\xe5\xa4", "😀😀\\", "\uFFFD\uFFFD\xed\xa0\x80",
		"\xe0\x80\x80", "\xe1\xc0\x80", "\xe1\x80\xc0", "\xe1\x80a", "\xe1a\x80", "\xf0\x80\x80\x80",
	} {
		f([]byte(text))
	}
	for _, lead := range []int{0, 80, 112} { // long runs are looked at in larger steps
		step := 1
		if lead > 0 {
			step = 23
		}
		for length := lead + 1; length <= lead+24; length += step {
			for at := lead; at < length; at++ {
				for c := range 256 {
					for _, before := range []byte{'a', '"', 0x1f, 0x20, 0x80, 0xff} {
						text := bytes.Repeat([]byte{'a'}, length)
						text[max(at-1, 0)] = before
						text[at] = byte(c)
						f(text)
					}
				}
			}
		}
	}
}

func TestPlainRun_agreesWithAWalkOverCharacters(t *testing.T) {
	everyPair(func(text []byte) {
		want := 0
		for want < len(text) && plain(text[want]) {
			r, size := utf8.DecodeRune(text[want:])
			if r == utf8.RuneError && size == 1 {
				break
			}
			want += size
		}
		if got := PlainRun(text); got != want {
			t.Fatalf("%q: got %d, want %d", text, got, want)
		}
	})
}

func TestAppendString_agreesWithAWalkOverCharacters(t *testing.T) {
	everyPair(func(text []byte) {
		want := []byte{'"'}
		for _, r := range string(text) {
			want = appendEscaped(want, r)
		}
		want = append(want, '"')
		if got := AppendString(nil, text); !bytes.Equal(got, want) {
			t.Fatalf("%q: got %s, want %s", text, got, want)
		}
	})
}

func TestAppendString_copiesNoString(t *testing.T) {
	type name string
	text, dst := strings.Repeat("é\n", 1000), make([]byte, 0, 1<<14)
	if n := testing.AllocsPerRun(100, func() { AppendString(AppendString(dst, text), name(text)) }); n != 0 {
		t.Errorf("%v allocations, want none", n)
	}
	w := NewWriter(dst, 1)
	if n := testing.AllocsPerRun(100, func() { w.buf = w.buf[:0]; w.String(text) }); n != 0 {
		t.Errorf("a writer makes %v allocations, want none", n)
	}
}

func TestParse_namesTheFirstWrongByte(t *testing.T) {
	for text, offset := range map[string]int{
		"\"0123456789 é \xff\"":         15,
		"\"0123456789 é \xe2\x82":       15,
		"\"é\\n0123456789\xc0\n\"":      15,
		"\"0123456789 é\n\xff\"":        14,
		"{\"0123456789\":\"é\x80\xff\"": 17,
	} {
		_, err := Parse([]byte(text), 4)
		var syntax *SyntaxError
		if !errors.As(err, &syntax) || syntax.Offset != offset {
			t.Errorf("%q: got %v, want byte %d", text, err, offset)
		}
	}
}
