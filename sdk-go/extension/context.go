package extension

import (
	"encoding/json"

	"github.com/octet-dev/octet/generated/featurewire"
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

// Context says where and for whom a request runs.
type Context struct {
	// Workspace is the root of the workspace of this request, ExecutionScope the tool execution scope; empty if
	// the host names none.
	Workspace, ExecutionScope string
	// Owner fences everything an extension keeps for a session: use the whole value as the key. It is nil
	// when no session owns the request, and on API 0.1.
	Owner *Owner
	// SessionID, SessionName and Model tell about the session; empty if the host says nothing.
	SessionID, SessionName, Model string
	// JSON is the whole context as the host sent it, nil for what has none. The caller must not change it.
	JSON json.RawMessage
}

// Host returns what the host says about itself and the session.
func (c Context) Host() featurewire.HostState {
	if c.JSON == nil {
		return featurewire.HostState{}
	}
	where, err := featurewire.DecodeExecutionContext(c.JSON)
	if err != nil {
		return featurewire.HostState{} // a canonical host may send any other shape
	}
	return where.Host
}

// Owner names one binding of this process to a session.
type Owner struct {
	SessionID           string
	ExtensionInstanceID string
	ProcessGeneration   int64
}

// wire returns the owner in the model of the feature wire.
func (o Owner) wire() featurewire.ResourceOwner {
	return featurewire.ResourceOwner{SessionID: o.SessionID, ExtensionInstanceID: o.ExtensionInstanceID, ProcessGeneration: o.ProcessGeneration}
}

// Flags holds the command-line flags that the manifest declares, each a bool, a string or an int64.
type Flags map[string]any

// Bool returns a boolean flag, false if there is none of that name.
func (f Flags) Bool(name string) bool { value, _ := f[name].(bool); return value }

// String returns a string flag, "" if there is none of that name.
func (f Flags) String(name string) string { value, _ := f[name].(string); return value }

// Int returns an integer flag, 0 if there is none of that name.
func (f Flags) Int(name string) int64 { value, _ := f[name].(int64); return value }
