// Command session-log is an example extension on API 0.3 with session hooks: it writes down when sessions start
// and end, and a tool shows the list.
package main

import (
	"context"
	"fmt"
	"strings"
	"sync"

	"github.com/octet-dev/octet/sdk-go/extension"
)

func main() { extension.Main(logger()) }

// sessionLog is the list of what happened.
type sessionLog struct {
	mu    sync.Mutex
	lines []string
}

func (l *sessionLog) write(format string, args ...any) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.lines = append(l.lines, fmt.Sprintf(format, args...))
}

func (l *sessionLog) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.lines) == 0 {
		return "nothing has happened yet"
	}
	return strings.Join(l.lines, "\n")
}

func logger() *extension.Extension {
	log := new(sessionLog)
	ext := extension.New(&extension.Options{API: extension.API03})
	ext.OnSessionStart(func(_ context.Context, session extension.SessionStart) {
		log.write("%s started", session.Owner.SessionID)
	})
	ext.OnSessionEnd(func(_ context.Context, session extension.SessionEnd) {
		log.write("%s ended after %s: %s (%s)", session.Owner.SessionID, session.Duration, session.Outcome, session.Reason)
	})
	extension.AddTool(ext, "session_log", "Shows when sessions started and ended.", func(context.Context, *extension.Call, struct{}) (*extension.Result, error) {
		return extension.Text(log.String()), nil
	})
	return ext
}
