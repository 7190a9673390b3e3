package edit

// past is what the history offers.
func (e *Editor) past() []string {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.recall != nil {
		return e.recall
	}
	return e.options.History.list()
}

// Text is what the person is composing, or will find in front of them with the next line.
func (e *Editor) Text() string {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.active && e.kept {
		return string(e.line.text)
	}
	return e.draft
}

// Replace replaces what the person is composing.
func (e *Editor) Replace(text string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.active || !e.kept {
		e.draft = text
		return
	}
	e.line.set(text)
	e.drawLocked()
}

// Insert inserts at the cursor, unless more than most bytes would stand there: then it reports false.
func (e *Editor) Insert(text string, most int) bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.active || !e.kept {
		if len(e.draft)+len(text) > most {
			return false
		}
		e.draft += text
		return true
	}
	if len(string(e.line.text))+len(text) > most {
		return false
	}
	e.line.insert(text)
	e.drawLocked()
	return true
}

// Recall replaces what the arrows go through from the next line on, the oldest first. The history file stays
// as it is.
func (e *Editor) Recall(entries []string) {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.recall = append([]string{}, entries...)
}

// Forget undoes Recall.
func (e *Editor) Forget() {
	e.mu.Lock()
	defer e.mu.Unlock()
	e.recall = nil
}
