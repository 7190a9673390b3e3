package engine

import (
	"errors"
	"fmt"
	"strings"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/diagnostic"
	"github.com/octet-dev/octet/host/extension"
)

// maxLastWords bounds what a warning repeats of the standard error of an extension, in bytes.
const maxLastWords = 400

// openedByFailure warns, once for an extension and a hook, that the hook gave no answer. Whoever relies on it to
// hold something up must know that nothing was held up.
//
// Source: EXT04-HOOK-029.
func (e *Engine) openedByFailure(x *extension.Extension, hook string, err error) {
	var failure *extension.Failure
	if errors.As(err, &failure) && failure.Kind == extension.Cancelled || e.leaving() {
		return // the host gave it up
	}
	if hook == featurewire.MethodContextCollect {
		return // it adds, and decides nothing
	}
	if _, told := e.unanswered.LoadOrStore(x.Name()+"/"+hook, true); told {
		return
	}
	e.diagnose(diagnostic.Diagnostic{
		Level:   diagnostic.Warning,
		Message: fmt.Sprintf("extension %q: hook %q gave no answer that counts, and so holds nothing up: %s", x.Name(), hook, because(err)),
		Remedy:  "correct the extension; do not rely on this hook until then. It is told once",
	})
}

// because is an error in one line, with the last thing that the extension said where its end is the cause.
func because(err error) string {
	text := err.Error()
	var failure *extension.Failure
	if errors.As(err, &failure) && failure.Ended != nil && len(failure.Stderr.Lines) > 0 {
		last := failure.Stderr.Lines[len(failure.Stderr.Lines)-1].Text
		text += "; its last words: " + strings.ToValidUTF8(last[:min(len(last), maxLastWords)], "")
	}
	return oneLine(text)
}

// leaving reports whether the engine is being closed.
func (e *Engine) leaving() bool {
	e.mu.Lock()
	defer e.mu.Unlock()
	return e.closed
}
