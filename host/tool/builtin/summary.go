package builtin

import (
	"encoding/json"
	"strings"

	"github.com/octet-dev/octet/host/tool"
)

// maxDetailBytes bounds what is shown of a change before it is made.
const maxDetailBytes = 16 << 10

// summarize describes a call by the path in its arguments.
func summarize[T any](w *workspace, arguments json.RawMessage, of func(T) (path, detail string)) tool.Summary {
	var a T
	if json.Unmarshal(arguments, &a) != nil {
		return tool.Summary{}
	}
	path, detail := of(a)
	if len(detail) > maxDetailBytes {
		detail = strings.ToValidUTF8(detail[:maxDetailBytes], "") + "\n...\n"
	}
	s := tool.Summary{Subject: oneLine(path), Detail: detail}
	real, shown, err := w.leads(path)
	s.Asked, s.External = real, err != nil || !w.holds(real)
	if err == nil && s.External {
		s.Target = oneLine(real)
	}
	if err == nil && w.own(real) {
		s.Refused = errOwn(shown, w.private).Error()
	}
	return s
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// lines puts a mark in front of every line.
func lines(mark, text string) string {
	var b strings.Builder
	for line := range strings.Lines(text) {
		b.WriteString(mark + strings.TrimSuffix(line, "\n") + "\n")
	}
	return b.String()
}

// preview is the difference that a write would make.
func (w *workspace) preview(path, content string) string {
	p, err := w.locate(path, "")
	if err != nil {
		return ""
	}
	defer p.close()
	old, info, err := p.before()
	if err != nil {
		return ""
	}
	return p.change(old, []byte(content), info != nil).Diff
}
