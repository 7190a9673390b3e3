package reference

import (
	"bytes"
	"fmt"
	"path"
	"strings"

	"github.com/octet-dev/octet/gen/emit"
)

const folder = "spec/reference"

// page is one Markdown document in the making.
type page struct {
	buf bytes.Buffer
}

func newPage(from, title string) *page {
	p := new(page)
	p.line("<!-- %s -->", emit.Marker(from))
	p.line("")
	p.line("# %s", title)
	return p
}

func (p *page) line(format string, args ...any) {
	fmt.Fprintf(&p.buf, format, args...)
	p.buf.WriteByte('\n')
}

// paragraphs adds each non-empty text behind a blank line.
func (p *page) paragraphs(texts ...string) {
	for _, text := range texts {
		if text = strings.TrimSpace(text); text != "" {
			p.line("")
			p.line("%s", text)
		}
	}
}

// heading adds a heading that links can reach by anchor, whatever a renderer makes of its text.
func (p *page) heading(level int, anchor, text string) {
	p.line("")
	p.line(`<a id="%s"></a>`, anchor)
	p.line("")
	p.line("%s %s", strings.Repeat("#", level), text)
}

// table adds a table; a header without rows adds nothing.
func (p *page) table(header []string, rows [][]string) {
	if len(rows) == 0 {
		return
	}
	p.line("")
	p.row(header)
	p.line("|%s", strings.Repeat(" --- |", len(header)))
	for _, cells := range rows {
		p.row(cells)
	}
}

func (p *page) row(cells []string) {
	for i, cell := range cells {
		if cells[i] = strings.Join(strings.Fields(cell), " "); cells[i] == "" {
			cells[i] = "-"
		}
	}
	p.line("| %s |", strings.Join(cells, " | "))
}

func (p *page) file(name string) emit.File {
	return emit.File{Path: path.Join(folder, name), Data: p.buf.Bytes()}
}

var proseEscapes = strings.NewReplacer("|", `\|`, "<", "&lt;", ">", "&gt;", "[", `\[`, "*", `\*`)

// text makes prose safe, inside a table cell too: nothing in it is taken for HTML, a link or emphasis.
// What stands between backticks stays a code span.
func text(s string) string {
	parts := strings.Split(s, "`")
	if len(parts)%2 == 0 {
		return proseEscapes.Replace(s)
	}
	for i, part := range parts {
		if i%2 == 0 {
			parts[i] = proseEscapes.Replace(part)
		} else {
			parts[i] = span(part)
		}
	}
	return strings.Join(parts, "")
}

var spanEscapes = strings.NewReplacer("&", "&amp;", "<", "&lt;", ">", "&gt;", "|", "&#124;", "[", "&#91;", "]", "&#93;", "*", "&#42;", `\`, "&#92;")

// span returns the code span of a text without backticks. A text that a simple reader could take for a
// link is written as HTML.
func span(s string) string {
	if strings.Contains(s, "](") {
		return "<code>" + spanEscapes.Replace(s) + "</code>"
	}
	return "`" + strings.ReplaceAll(s, "|", `\|`) + "`"
}

// code returns s as a code span, in table cells too.
func code(s string) string {
	if s == "" {
		return ""
	}
	fence := "`"
	for strings.Contains(s, fence) {
		fence += "`"
	}
	if strings.HasPrefix(s, "`") || strings.HasSuffix(s, "`") {
		s = " " + s + " "
	}
	return fence + strings.ReplaceAll(s, "|", `\|`) + fence
}

func codes(list []string) string {
	spans := make([]string, len(list))
	for i, s := range list {
		spans[i] = code(s)
	}
	return strings.Join(spans, ", ")
}

// anchor returns the anchor of a thing of some sort by name.
func anchor(sort, name string) string {
	return sort + "-" + strings.Trim(strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || '0' <= r && r <= '9' || 'A' <= r && r <= 'Z' || r == '_' {
			return r
		}
		return '-'
	}, name), "-")
}

func link(label, target string) string { return "[" + label + "](" + target + ")" }

func yes(b bool, word string) string {
	if b {
		return word
	}
	return ""
}
