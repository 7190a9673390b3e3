package diagnostic

import (
	"strings"
	"sync"
	"unicode/utf8"
)

// The bounds of a Log. Sheet: manifest 4.3.
const (
	MaxEntries    = 256
	MaxEntryBytes = 8 * 1024
	MaxBytes      = 256 * 1024
)

// cutMark ends a diagnostic that was too long.
const cutMark = "\n[… diagnostic truncated …]"

// Log keeps the newest diagnostics. The zero value is ready; it may be used from any goroutine.
type Log struct {
	mu      sync.Mutex
	entries []Diagnostic
	bytes   int
	dropped int
}

// Add keeps a diagnostic, cut to MaxEntryBytes, and drops the oldest ones that no longer fit.
func (l *Log) Add(list ...Diagnostic) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, d := range list {
		d = bounded(d)
		l.entries = append(l.entries, d)
		l.bytes += size(d)
		for len(l.entries) > MaxEntries || l.bytes > MaxBytes {
			l.bytes -= size(l.entries[0])
			l.entries = l.entries[1:]
			l.dropped++
		}
	}
}

// Entries returns a copy of what is kept, oldest first, and how many were dropped before it.
func (l *Log) Entries() (kept []Diagnostic, dropped int) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return append([]Diagnostic(nil), l.entries...), l.dropped
}

func size(d Diagnostic) int {
	return len(d.Level) + len(d.Path) + len(d.Rule) + len(d.Message) + len(d.Remedy)
}

// bounded cuts the remedy, then the path, then the message, so that the message survives longest.
func bounded(d Diagnostic) Diagnostic {
	for _, text := range []*string{&d.Remedy, &d.Path, &d.Message} {
		if over := size(d) - MaxEntryBytes; over > 0 {
			*text = cut(*text, max(0, len(*text)-over))
		}
	}
	// Kept texts share no memory with what they were cut from.
	d.Remedy, d.Path, d.Message = strings.Clone(d.Remedy), strings.Clone(d.Path), strings.Clone(d.Message)
	return d
}

// cut shortens a text to at most limit bytes, the mark included, between two characters. A text that
// cannot even hold the mark is left out.
func cut(text string, limit int) string {
	end := limit - len(cutMark)
	if end < 0 {
		return ""
	}
	for end > 0 && !utf8.RuneStart(text[end]) {
		end--
	}
	return text[:end] + cutMark
}
