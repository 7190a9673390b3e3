package golang

import (
	"bytes"
	"fmt"
	"go/format"
	"strconv"
	"strings"

	"github.com/octet-dev/octet/gen/emit"
)

// source is one Go file in the making.
type source struct {
	buf bytes.Buffer
}

// p adds one line.
func (s *source) p(format string, args ...any) {
	fmt.Fprintf(&s.buf, format, args...)
	s.buf.WriteByte('\n')
}

// commentWidth is where comments wrap.
const commentWidth = 105

// doc adds a comment, one paragraph per argument; empty ones are left out.
func (s *source) doc(indent string, paragraphs ...string) {
	first := true
	for _, paragraph := range paragraphs {
		if paragraph = strings.TrimSpace(paragraph); paragraph == "" {
			continue
		}
		if !first {
			s.p("%s//", indent)
		}
		first = false
		for _, line := range wrap(paragraph, commentWidth-len(indent)-3) {
			s.p("%s// %s", indent, line)
		}
	}
}

func wrap(text string, width int) []string {
	var lines []string
	line := ""
	for _, word := range strings.Fields(text) {
		if line != "" && len(line)+1+len(word) > width {
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

// file returns the formatted file. from is the spec file it is made of, pkg the package clause's name.
func (s *source) file(path, from, pkg string, imports ...string) (emit.File, error) {
	var out bytes.Buffer
	fmt.Fprintf(&out, "// %s\n\npackage %s\n\n", emit.Marker(from), pkg)
	for len(imports) > 0 && imports[0] == "" {
		imports = imports[1:]
	}
	if len(imports) > 0 {
		out.WriteString("import (\n")
		for _, path := range imports {
			if path == "" {
				out.WriteString("\n")
				continue
			}
			fmt.Fprintf(&out, "\t%s\n", strconv.Quote(path))
		}
		out.WriteString(")\n\n")
	}
	out.Write(s.buf.Bytes())
	data, err := format.Source(out.Bytes())
	if err != nil {
		return emit.File{}, fmt.Errorf("go: %s is no legal Go source (%w)", path, err)
	}
	return emit.File{Path: path, Data: data}, nil
}

func quoted(list []string) string {
	q := make([]string, len(list))
	for i, s := range list {
		q[i] = strconv.Quote(s)
	}
	return "[]string{" + strings.Join(q, ", ") + "}"
}
