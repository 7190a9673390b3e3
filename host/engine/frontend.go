package engine

import (
	"github.com/octet-dev/octet/host/agent"
	"github.com/octet-dev/octet/host/diagnostic"
	"github.com/octet-dev/octet/host/permission"
	"github.com/octet-dev/octet/host/service/dialog"
	"github.com/octet-dev/octet/host/supervise"
)

// Frontend is the side of the person. Where there is nobody, its questions are denied.
type Frontend interface {
	permission.Asker
	dialog.Person
	// Show takes news: the events of a run, and those of this package. Those of one run come in order; those of
	// extensions may come between them, from other goroutines. Where conversations have frontends of their own (see
	// Opening), what belongs to none of them is shown to all of those too. It must not call the engine.
	Show(agent.Event)
}

// Diagnosed: there is something worth telling about an extension or the configuration.
type Diagnosed struct{ diagnostic.Diagnostic }

// ExtensionChanged: an extension has taken a step.
type ExtensionChanged struct {
	Name       string          `json:"name"`
	State      supervise.State `json:"state"`
	Generation int64           `json:"generation"`
	// Reason says why it is in backoff, degraded or parked.
	Reason string `json:"reason,omitempty"`
}

// StatusShown: an extension wants something shown on a surface. An empty value takes it away.
type StatusShown struct {
	Extension string `json:"extension"`
	Surface   string `json:"surface"`
	Label     string `json:"label,omitempty"`
	Text      string `json:"text,omitempty"`
	Progress  *int64 `json:"progress,omitempty"`
}

// Presented: what an extension presents has changed.
type Presented struct {
	Extension string `json:"extension"`
}

// SessionOpened: another conversation is in front.
type SessionOpened struct {
	Session  string `json:"session"`
	Name     string `json:"name,omitempty"`
	Resumed  bool   `json:"resumed"`
	Provider string `json:"provider"`
	Model    string `json:"model"`
	// ByExtension: it was not the person who wanted it.
	ByExtension bool `json:"by_extension,omitempty"`
}

// Type names the event.
func (Diagnosed) Type() string        { return "diagnostic" }
func (ExtensionChanged) Type() string { return "extension_changed" }
func (StatusShown) Type() string      { return "status" }
func (Presented) Type() string        { return "presentation_changed" }
func (SessionOpened) Type() string    { return "session_opened" }

// Rendered: an extension has drawn the result of a tool, in place of what the result says itself.
type Rendered struct {
	CallID    string `json:"call_id"`
	Extension string `json:"extension"`
	Text      string `json:"text"`
}

// Type names the event.
func (Rendered) Type() string { return "tool_rendered" }
