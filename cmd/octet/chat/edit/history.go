package edit

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
)

// maxHistory is how many lines are kept, and maxHistoryFile how large the file may be that is read.
const (
	maxHistory     = 1000
	maxHistoryFile = 8 << 20
)

// History is what was typed before, the oldest first. Its file has one JSON string a line, for the user
// alone; a line that is none is passed over.
type History struct {
	path string

	mu    sync.Mutex
	lines []string
}

// OpenHistory reads a file, also through a link: some keep their files elsewhere. A missing one is an empty history;
// an empty path keeps nothing on disk.
func OpenHistory(path string) *History {
	h := &History{path: path}
	if path == "" {
		return h
	}
	info, err := os.Stat(path)
	if err != nil || !info.Mode().IsRegular() || info.Size() > maxHistoryFile {
		return h
	}
	file, err := os.Open(path)
	if err != nil {
		return h
	}
	defer func() { _ = file.Close() }()
	scanner := bufio.NewScanner(file)
	scanner.Buffer(nil, maxHistoryFile)
	for scanner.Scan() {
		var text string
		if json.Unmarshal(scanner.Bytes(), &text) == nil {
			h.lines = append(h.lines, text)
		}
	}
	h.lines = h.lines[max(0, len(h.lines)-maxHistory):]
	return h
}

// Add keeps a line, unless it is blank or the same as the last one. What cannot be written is kept for this
// process; the error says why.
func (h *History) Add(text string) error {
	h.mu.Lock()
	defer h.mu.Unlock()
	if strings.TrimSpace(text) == "" || len(h.lines) > 0 && h.lines[len(h.lines)-1] == text {
		return nil
	}
	h.lines = append(h.lines, text)
	rewrite := len(h.lines) > 2*maxHistory
	if rewrite {
		h.lines = append([]string(nil), h.lines[len(h.lines)-maxHistory:]...)
	}
	if h.path == "" {
		return nil
	}
	return h.write(text, rewrite)
}

func (h *History) write(text string, rewrite bool) error {
	if err := os.MkdirAll(filepath.Dir(h.path), 0o700); err != nil {
		return err
	}
	// A fifo would be waited for.
	if info, err := os.Stat(h.path); err == nil && !info.Mode().IsRegular() {
		return fmt.Errorf("history %s: it is no regular file; move it away", h.path)
	}
	lines, how := []string{text}, os.O_APPEND|os.O_CREATE|os.O_WRONLY
	if rewrite {
		lines, how = h.lines, os.O_TRUNC|os.O_CREATE|os.O_WRONLY
	}
	file, err := os.OpenFile(h.path, how, 0o600)
	if err != nil {
		return err
	}
	for _, line := range lines {
		encoded, _ := json.Marshal(line)
		if _, err = file.Write(append(encoded, '\n')); err != nil {
			break
		}
	}
	if closed := file.Close(); err == nil {
		err = closed
	}
	return err
}

// list is what there is now.
func (h *History) list() []string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return append([]string(nil), h.lines...)
}

// walk is a way through the history. What was typed last is at its end.
type walk struct {
	lines  []string
	at     int
	draft  string
	needle *string // of a search
}

func (w *walk) typed() { w.at, w.needle = len(w.lines), nil }

func (w *walk) step(l *line, direction name) {
	w.needle = nil
	if w.at == len(w.lines) {
		w.draft = string(l.text)
	}
	switch {
	case direction == up && w.at > 0:
		w.at--
	case direction == down && w.at < len(w.lines):
		w.at++
	default:
		return
	}
	if w.at == len(w.lines) {
		l.set(w.draft)
	} else {
		l.set(w.lines[w.at])
	}
}

// find goes to the next older line that holds what was typed.
func (w *walk) find(l *line) {
	if w.needle == nil {
		text := string(l.text)
		w.draft, w.needle, w.at = text, &text, len(w.lines)
	}
	for i := w.at - 1; i >= 0; i-- {
		if strings.Contains(w.lines[i], *w.needle) {
			w.at = i
			l.set(w.lines[i])
			return
		}
	}
}
