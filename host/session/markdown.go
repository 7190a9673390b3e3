package session

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"strings"

	"github.com/octet-dev/octet/host/conversation"
)

// writeMarkdown writes the conversation to the head.
func (h history) writeMarkdown(w io.Writer) error {
	var b strings.Builder
	name := h.info.Name
	if name == "" {
		name = h.info.Title
	}
	if name == "" {
		name = "Session " + h.info.ID
	}
	fmt.Fprintf(&b, "# %s\n\n", title(name))
	fmt.Fprintf(&b, "Session `%s`, started %s", h.info.ID, h.info.Created.Format("2006-01-02 15:04 UTC"))
	if h.info.Workspace != "" {
		fmt.Fprintf(&b, " in `%s`", h.info.Workspace)
	}
	b.WriteString(".\n")
	for _, rec := range h.branch {
		entry, err := rec.stored(h.labels[rec.seq])
		if err != nil {
			return err
		}
		writeEntry(&b, entry)
	}
	writeCosts(&b, h.info.Usage)
	if h.damage != nil {
		fmt.Fprintf(&b, "\n> **Damaged:** %d records of this session cannot be read. Of the conversation %s.\n", h.damage.Count, h.damage.whole("`"))
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func writeEntry(b *strings.Builder, entry Stored) {
	if entry.Label != "" {
		fmt.Fprintf(b, "\n*Label: %s*\n", oneLine(entry.Label))
	}
	switch value := entry.Value.(type) {
	case Message:
		writeMessage(b, value.Message, value.Display)
	case Injected:
		source := value.Source
		if source == "" {
			source = "the host"
		}
		fmt.Fprintf(b, "\n*Added by %s:*\n", source)
		writeMessage(b, value.Message, "")
	case Compaction:
		fmt.Fprintf(b, "\n## Compacted\n\nWhat stands above `%s` is given to the model as this summary:\n\n%s\n", value.FirstKept, quoteLines(value.Summary))
	case ModelChange:
		fmt.Fprintf(b, "\n*The model is `%s` from here on.*\n", value.Reference())
	}
}

var speakers = map[conversation.Role]string{
	conversation.User: "User", conversation.Assistant: "Assistant", conversation.System: "System", conversation.Tool: "Tool",
}

func writeMessage(b *strings.Builder, message conversation.Message, display string) {
	if message.Role != conversation.Tool {
		fmt.Fprintf(b, "\n## %s\n", speakers[message.Role])
	}
	if display != "" {
		fmt.Fprintf(b, "\n%s\n", display)
		return
	}
	for _, part := range message.Parts {
		writePart(b, part)
	}
}

func writePart(b *strings.Builder, part conversation.Part) {
	switch part.Kind {
	case conversation.Text:
		fmt.Fprintf(b, "\n%s\n", part.Text)
	case conversation.Reasoning:
		if part.Text != "" {
			fmt.Fprintf(b, "\n%s\n", quoteLines(part.Text))
		}
	case conversation.Image, conversation.Audio:
		text := part.Text
		if text != "" {
			text = ": " + oneLine(text)
		}
		fmt.Fprintf(b, "\n*[%s %s, %d bytes%s]*\n", part.Kind, part.MediaType, len(part.Data), text)
	case conversation.ToolCall:
		fmt.Fprintf(b, "\n**Calls `%s`**\n\n%s", part.Name, fenced("json", indented(part.Arguments)))
	case conversation.ToolResult:
		verdict := "answers"
		if part.IsError {
			verdict = "fails"
		}
		fmt.Fprintf(b, "\n**`%s` %s**\n", part.Name, verdict)
		if text := part.PlainText(); text != "" {
			fmt.Fprintf(b, "\n%s", fenced("", text))
		}
		for _, content := range part.Content {
			if content.Kind != conversation.Text {
				writePart(b, content)
			}
		}
	}
}

func writeCosts(b *strings.Builder, t Totals) {
	if t.Usage == (conversation.Usage{}) && !t.Uncertain {
		return
	}
	fmt.Fprintf(b, "\n---\n\n%s.\n", t.Text())
}

// Text says what was used in one line.
func (t Totals) Text() string {
	u := t.Usage
	text := fmt.Sprintf("%d tokens in, %d out", u.Input+u.CacheRead+u.CacheWrite, u.Output+u.Reasoning)
	if u.CostMicrodollars != nil {
		text += fmt.Sprintf(", $%.4f", float64(*u.CostMicrodollars)/1e6)
	}
	if t.Delegated.Tokens() > 0 {
		text += fmt.Sprintf(", of these %d tokens by delegated agents", t.Delegated.Tokens())
	}
	if t.Uncertain {
		text += "; these are known subtotals: something was used that nobody counted"
	}
	return text
}

// fenced puts a text between fences that are longer than any in it.
func fenced(language, text string) string {
	fence := "```"
	for strings.Contains(text, fence) {
		fence += "`"
	}
	return fence + language + "\n" + strings.TrimSuffix(text, "\n") + "\n" + fence + "\n"
}

func quoteLines(text string) string {
	return "> " + strings.ReplaceAll(strings.TrimSuffix(text, "\n"), "\n", "\n> ")
}

func oneLine(text string) string { return strings.Join(strings.Fields(text), " ") }

// indented is JSON to be read; what is no JSON stays as it is.
func indented(data json.RawMessage) string {
	var b bytes.Buffer
	if json.Indent(&b, data, "", "  ") != nil {
		return string(data)
	}
	return b.String()
}
