package extension

import (
	"maps"
	"slices"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/manifestdoc"
	"github.com/octet-dev/octet/generated/wirejson"
)

// Contributes returns what the manifest has to declare for everything that is registered to work: names are
// ascending. What nothing is registered for, such as notifications, confirmations and presentation, is declared
// where the API version can.
func (e *Extension) Contributes() featurewire.Contributes {
	e.mu.Lock()
	defer e.mu.Unlock()
	p := &e.plan
	c := featurewire.Contributes{
		Tools: toolNames(p.tools), Commands: commandNames(p.commands), Hooks: slices.Sorted(maps.Keys(p.hooks)),
		UI: slices.Sorted(maps.Keys(p.statuses)), ToolRenderers: slices.Sorted(maps.Keys(p.renderers)),
		Context: p.context != nil, Notifications: e.api != API03, Confirmations: e.api != API03,
	}
	if p.sessions.start != nil || p.sessions.end != nil {
		c.Hooks = []string{string(manifestdoc.HookSessionEnd), string(manifestdoc.HookSessionStart)}
	}
	if e.api == API02 || e.api == API04 {
		c.Presentation = wirejson.Some(true)
		if p.menu != nil && len(p.commands) > 0 {
			c.Menu = wirejson.Some(true)
		}
	}
	return c
}
