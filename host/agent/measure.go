package agent

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/conversation"
	"github.com/octet-dev/octet/host/model"
	"github.com/octet-dev/octet/host/session"
)

// Rough sizes, where nothing was measured.
const (
	bytesPerToken = 4
	mediaTokens   = 1600
	entryOverhead = 8
)

// measure is what the last request and its answer had in tokens.
type measure struct {
	entry  session.EntryID // the answer
	tokens int64
}

// full reports whether a request of so many tokens leaves too little room for an answer.
func (r *run) full(tokens int64) bool {
	window := r.Model.ContextWindow
	if r.Compaction.Off || window <= 0 {
		return false
	}
	return tokens > window-min(r.Compaction.Reserve, window/4)
}

// tokens estimates a request: what the last one had, and what has been said since. Where nothing was
// measured, everything is guessed; the request may be nil.
func (r *run) tokens(branch []session.Stored, request *model.Request) int64 {
	_, kept := since(branch, r.view().sees)
	if m := r.agent.measured; m.entry != "" {
		for i, stored := range kept {
			if stored.ID == m.entry {
				return m.tokens + entriesTokens(kept[i+1:])
			}
		}
	}
	if request == nil {
		return entriesTokens(kept)
	}
	tokens := int64(len(request.System)) / bytesPerToken
	for _, t := range request.Tools {
		tokens += int64(len(t.Name)+len(t.Description)+len(t.Parameters)) / bytesPerToken
	}
	for _, m := range request.Messages {
		tokens += partsTokens(m.Parts)
	}
	return tokens
}

func entriesTokens(entries []session.Stored) (tokens int64) {
	for _, e := range entries {
		tokens += entryTokens(e)
	}
	return tokens
}

func entryTokens(e session.Stored) int64 {
	m, ok := messageOf(e.Value)
	if !ok {
		return 0
	}
	return partsTokens(m.Parts)
}

func partsTokens(parts []conversation.Part) int64 {
	tokens := int64(entryOverhead)
	for _, p := range parts {
		switch p.Kind {
		case conversation.Image, conversation.Audio:
			tokens += mediaTokens
		case conversation.ToolResult:
			tokens += min(partsTokens(p.Content), maxResultText/bytesPerToken)
		default:
			tokens += int64(len(p.Text)+len(p.Name)+len(p.Arguments)) / bytesPerToken
		}
	}
	return tokens
}

// source is the text of what is summed up: everything before an entry. An earlier summary stands for what it
// has summed up; pictures do not, they cannot be read.
//
// EXT04-HOOK-085.
func source(branch []session.Stored, firstKept session.EntryID) string {
	var b strings.Builder
	earlier, entries := since(branch, false)
	if earlier != nil {
		fmt.Fprintf(&b, "[summary of what was before]\n%s\n\n", earlier.Summary)
	}
	for _, e := range entries {
		if e.ID == firstKept {
			break
		}
		m, ok := messageOf(e.Value)
		if !ok {
			continue
		}
		for _, p := range m.Parts {
			writePart(&b, m.Role, p)
		}
	}
	return strings.TrimSpace(b.String())
}

func writePart(b *strings.Builder, role conversation.Role, p conversation.Part) {
	switch p.Kind {
	case conversation.Text:
		fmt.Fprintf(b, "[%s]\n%s\n\n", role, p.Text)
	case conversation.ToolCall:
		fmt.Fprintf(b, "[call of %s]\n%s\n\n", p.Name, p.Arguments)
	case conversation.ToolResult:
		word := "result"
		if p.IsError {
			word = "error"
		}
		text := p.PlainText()
		for _, c := range p.Content {
			if c.Kind != conversation.Text {
				text += fmt.Sprintf("[%s: %s]", c.Kind, c.Text)
			}
		}
		fmt.Fprintf(b, "[%s of %s]\n%s\n\n", word, p.Name, firstCharacters(text, featurewire.MaxCompactionToolCharacters))
	case conversation.Image, conversation.Audio:
		fmt.Fprintf(b, "[%s]\n[%s: %s]\n\n", role, p.Kind, p.Text)
	}
}

func firstCharacters(text string, most int) string {
	if utf8.RuneCountInString(text) <= most {
		return text
	}
	const mark = "..."
	return string([]rune(text)[:most-len(mark)]) + mark
}
