package config

import (
	"bytes"
	"fmt"
	"strings"

	"github.com/octet-dev/octet/runtime/manifest/tomltree"
)

// quote writes a string as a TOML basic string.
func quote(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r < ' ' || r == 0x7f:
			fmt.Fprintf(&b, `\u%04x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// The functions below walk over a text that is known to be TOML.

// offset turns a position, which counts characters, into bytes.
func offset(text []byte, p tomltree.Position) int {
	at := 0
	for range p.Line - 1 {
		at += bytes.IndexByte(text[at:], '\n') + 1
	}
	for range p.Column - 1 {
		at++
		for at < len(text) && text[at]&0xc0 == 0x80 {
			at++
		}
	}
	return at
}

func lineStart(text []byte, at int) int { return bytes.LastIndexByte(text[:at], '\n') + 1 }

// lineRest is where the line of an offset ends, in front of its line end.
func lineRest(text []byte, at int) int {
	end := bytes.IndexByte(text[at:], '\n')
	switch {
	case end < 0:
		return len(text)
	case end > 0 && text[at+end-1] == '\r':
		return at + end - 1
	}
	return at + end
}

// skipString returns the offset behind the string that starts at an offset, of any of the four spellings;
// the offset itself if none starts there.
func skipString(text []byte, at int) int {
	if at >= len(text) || text[at] != '"' && text[at] != '\'' {
		return at
	}
	mark := text[at : at+1]
	if triple := bytes.Repeat(mark, 3); bytes.HasPrefix(text[at:], triple) {
		mark = triple
	}
	for i := at + len(mark); i < len(text); i++ {
		switch {
		case text[i] == '\\' && mark[0] == '"':
			i++
		case bytes.HasPrefix(text[i:], mark):
			end := i + len(mark)
			// Up to two marks more may stand in front of the closing ones.
			for len(mark) == 3 && end < len(text) && text[end] == mark[0] {
				end++
			}
			return end
		}
	}
	return len(text)
}

// element is one string of a list. Comma is the offset of the comma behind it, -1 if there is none.
type element struct{ start, end, comma int }

// array is a list of strings in the text.
type array struct {
	open     int // offset of the bracket
	elements []element
}

func readArray(text []byte, open int) array {
	a := array{open: open}
	for at := open + 1; at < len(text); {
		switch text[at] {
		case ']':
			return a
		case '#':
			at = lineRest(text, at)
		case ',':
			a.elements[len(a.elements)-1].comma = at
			at++
		case '"', '\'':
			end := skipString(text, at)
			a.elements = append(a.elements, element{at, end, -1})
			at = end
		default:
			at++
		}
	}
	return a
}

// topLevel returns the offset behind the line of the last key that stands in front of the first table, 0
// if there is no such key, and whether there is a table at all.
func topLevel(text []byte) (end int, header bool) {
	for at := 0; at < len(text); {
		switch text[at] {
		case ' ', '\t', '\r', '\n':
			at++
		case '#':
			at = lineRest(text, at)
		case '[':
			return end, true
		default:
			at = statement(text, at)
			end = min(len(text), at+1)
		}
	}
	return end, false
}

// statement returns the offset of the line end of the key and value that start at an offset.
func statement(text []byte, at int) int {
	depth := 0
	for at < len(text) {
		switch text[at] {
		case '"', '\'':
			at = skipString(text, at)
			continue
		case '#':
			at = lineRest(text, at)
			continue
		case '[', '{':
			depth++
		case ']', '}':
			depth--
		case '\n':
			if depth == 0 {
				return at
			}
		}
		at++
	}
	return at
}
