package python

import (
	"fmt"
	"strings"
)

const width = 110

// writer collects the lines of one module.
type writer struct {
	b strings.Builder
}

func (w *writer) line(format string, args ...any) {
	fmt.Fprintf(&w.b, format, args...)
	w.b.WriteByte('\n')
}

func (w *writer) blank(n int) { w.b.WriteString(strings.Repeat("\n", n)) }

// doc writes a docstring, wrapped, its paragraphs apart; nothing where there is no text.
func (w *writer) doc(indent string, paragraphs ...string) {
	var lines []string
	for _, text := range paragraphs {
		if text == "" {
			continue
		}
		if len(lines) > 0 {
			lines = append(lines, "")
		}
		lines = append(lines, wrap(text, width-len(indent))...)
	}
	if len(lines) == 0 {
		return
	}
	for i, line := range lines {
		lines[i] = strings.NewReplacer(`\`, `\\`, `"""`, `\"\"\"`).Replace(line)
	}
	if len(lines) == 1 {
		w.line(`%s"""%s"""`, indent, closed(lines[0]))
		return
	}
	w.line(`%s"""%s`, indent, lines[0])
	for _, line := range lines[1:] {
		if line == "" {
			w.blank(1)
		} else {
			w.line("%s%s", indent, line)
		}
	}
	w.line(`%s"""`, indent)
}

// closed keeps a quotation mark at the end of a text from joining the marks that end the docstring.
func closed(text string) string {
	if strings.HasSuffix(text, `"`) {
		return text[:len(text)-1] + `\"`
	}
	return text
}

func wrap(text string, columns int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > columns {
			lines = append(lines, line)
			line = ""
		}
		if line != "" {
			line += " "
		}
		line += word
	}
	return append(lines, line)
}

// quoted returns text as a Python string literal.
func quoted(text string) string {
	var b strings.Builder
	b.WriteByte('"')
	for _, r := range text {
		switch {
		case r == '"' || r == '\\':
			b.WriteByte('\\')
			b.WriteRune(r)
		case r == '\n':
			b.WriteString(`\n`)
		case r == '\t':
			b.WriteString(`\t`)
		case r < 0x20 || r == 0x7f:
			fmt.Fprintf(&b, `\x%02x`, r)
		default:
			b.WriteRune(r)
		}
	}
	b.WriteByte('"')
	return b.String()
}

// tuple returns a tuple literal of strings.
func tuple(items []string) string {
	if len(items) == 1 {
		return "(" + quoted(items[0]) + ",)"
	}
	out := make([]string, len(items))
	for i, item := range items {
		out[i] = quoted(item)
	}
	return "(" + strings.Join(out, ", ") + ")"
}

// boolean returns the Python spelling of a truth value.
func boolean(b bool) string {
	if b {
		return "True"
	}
	return "False"
}
