package extension

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"sync"
	"unicode/utf8"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/runtime/peer"
)

// Level is the weight of a notification.
type Level string

// The levels.
const (
	LevelInfo    = Level(featurewire.NotificationLevelInfo)
	LevelSuccess = Level(featurewire.NotificationLevelSuccess)
	LevelWarning = Level(featurewire.NotificationLevelWarning)
	LevelError   = Level(featurewire.NotificationLevelError)
)

// Stream names the stream that a piece of output came from.
type Stream string

// The streams.
const (
	Stdout = Stream(featurewire.OutputStreamStdout)
	Stderr = Stream(featurewire.OutputStreamStderr)
)

// Context says where and for whom a call runs.
type Context struct {
	// Workspace is the root of the workspace of this call, ExecutionScope the tool execution scope; empty if
	// the host names none.
	Workspace, ExecutionScope string
	// Owner fences everything an extension keeps for a session: use the whole value as the key. It is nil
	// when no session owns the call, and on API 0.1.
	Owner *Owner
	// SessionID, SessionName and Model tell about the session; empty if the host says nothing.
	SessionID, SessionName, Model string
	// JSON is the whole context as the host sent it. The caller must not change it.
	JSON json.RawMessage
}

// Owner names one binding of this process to a session.
type Owner struct {
	SessionID           string
	ExtensionInstanceID string
	ProcessGeneration   int64
}

// Flags holds the command-line flags that the manifest declares, each a bool, a string or an int64.
type Flags map[string]any

// Bool returns a boolean flag, false if there is none of that name.
func (f Flags) Bool(name string) bool { value, _ := f[name].(bool); return value }

// String returns a string flag, "" if there is none of that name.
func (f Flags) String(name string) string { value, _ := f[name].(string); return value }

// Int returns an integer flag, 0 if there is none of that name.
func (f Flags) Int(name string) int64 { value, _ := f[name].(int64); return value }

// Call is one call of a tool. Its methods may be used from any goroutine. Those that send return ErrCallOver
// once the call has been answered.
type Call struct {
	tool    string
	context Context
	session *session
	request *peer.Request
	ctx     context.Context // of the handler

	mu       sync.Mutex // held while progress is queued, so that sequences go out in order
	sequence int64      // of the last progress
}

// Tool returns the name the tool was called by.
func (c *Call) Tool() string { return c.tool }

// Context returns where and for whom the call runs.
func (c *Call) Context() Context { return c.context }

// Workspace returns the root of the workspace of the call.
func (c *Call) Workspace() string {
	if c.context.Workspace != "" {
		return c.context.Workspace
	}
	return c.session.workspace
}

// Flags returns the command-line flags of this process. The caller may keep and change the map.
func (c *Call) Flags() Flags { return maps.Clone(c.session.flags) }

// Progress shows the person where the work stands, such as Progress("reading", 3, 10, "files"). A total of 0
// or less is unknown and left out, then also a current of 0; an empty unit is left out. It returns
// ErrNotNegotiated where the host takes no progress, always on API 0.1 and 0.3.
func (c *Call) Progress(message string, current, total int64, unit string) error {
	status := featurewire.ProgressStatus{Message: plain(message)}
	if current > 0 || total > 0 {
		status.Current = wirejson.Some(portable(current))
	}
	if total > 0 {
		status.Total = wirejson.Some(portable(total))
	}
	if unit != "" {
		status.Unit = wirejson.Some(plain(unit))
	}
	return c.progress(status)
}

// portable brings a count into the range that the wire can carry.
func portable(n int64) int64 {
	return min(max(n, 0), featurewire.MaxPortableJSONInteger)
}

// Output shows the person output of the work as it appears, such as that of a program the tool runs. Long
// text goes out in pieces. Text that is not UTF-8 is sent as bytes. It returns ErrNotNegotiated as Progress
// does, and an error for a stream that is neither Stdout nor Stderr.
func (c *Call) Output(stream Stream, text string) error {
	if !featurewire.OutputStream(stream).Known() {
		return fmt.Errorf("stream %q is neither %q nor %q", stream, Stdout, Stderr)
	}
	for text != "" {
		piece := text[:pieceLength(text)]
		text = text[len(piece):]
		output := featurewire.ProgressOutput{
			Stream: featurewire.OutputStream(stream), Encoding: featurewire.OutputEncodingUtf8, Data: piece,
		}
		if !utf8.ValidString(piece) {
			output.Encoding = featurewire.OutputEncodingBase64
			output.Data = base64.StdEncoding.EncodeToString([]byte(piece))
		}
		if err := c.progress(output); err != nil {
			return err
		}
	}
	return nil
}

// pieceLength returns how much of the text goes into one chunk: the bound of the host, less what would cut
// a character in two.
func pieceLength(text string) int {
	if len(text) <= featurewire.MaxProgressOutputBytes {
		return len(text)
	}
	length := featurewire.MaxProgressOutputBytes
	for back := 0; back < utf8.UTFMax-1; back++ {
		if utf8.RuneStart(text[length-back]) {
			return length - back
		}
	}
	return length
}

func (c *Call) progress(event featurewire.ProgressEvent) error {
	if !c.session.progress {
		return ErrNotNegotiated
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	c.sequence++
	return c.send(featurewire.MethodProgress, featurewire.ProgressParams{RequestID: c.request.ID.Wire(), Sequence: c.sequence, Event: event})
}

// Notify shows the person a message. Title may be empty. Control characters and terminal escape sequences
// are removed. It returns ErrNotNegotiated where the manifest does not declare notifications, always on
// API 0.3, and an error for a level that is none of the four.
func (c *Call) Notify(level Level, title, message string) error {
	if !featurewire.NotificationLevel(level).Known() {
		return fmt.Errorf("level %q is none of %q, %q, %q and %q", level, LevelInfo, LevelSuccess, LevelWarning, LevelError)
	}
	if !c.session.notifications {
		return ErrNotNegotiated
	}
	params := featurewire.Notification{
		Level:   wirejson.Some(featurewire.NotificationLevel(level)),
		Message: plain(message),
	}
	if title != "" {
		params.Title = wirejson.Some(plain(title))
	}
	return c.send(featurewire.MethodNotification, params)
}

// send sends a notification in front of the answer, or not at all.
func (c *Call) send(method string, params wirejson.Encoder) error {
	err := c.request.Notify(c.ctx, method, params)
	select {
	case <-c.request.Conn().Done():
		return ErrCallOver
	default:
	}
	if errors.Is(err, peer.ErrAnswered) || errors.Is(err, peer.ErrClosed) {
		return ErrCallOver
	}
	return err
}
