package extension

import (
	"context"
	"fmt"
	"slices"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/runtime/peer"
)

// Shortcut is a key that starts something.
type Shortcut struct {
	// ID names the shortcut, such as "clock:show"; Key is the combination, such as "ctrl+shift+t"; Description
	// says in a line what it does.
	ID, Key, Description string
	// Run is called when the person presses the key, one shortcut or event at a time. The scope is that of the
	// session.
	Run func(ctx context.Context, session *Scope)
}

// AddShortcut adds a shortcut. The host admits it while it starts the extension; one that is refused is
// written to stderr and never runs. It needs API 0.2 or 0.4 and asks for the feature shortcuts. It panics on
// another API, if the shortcut has no Run or breaks a bound, if the ID is taken, and once the extension is
// serving.
func (e *Extension) AddShortcut(c Shortcut) {
	e.register(fmt.Sprintf("shortcut %q", c.ID), laterVersions, func(p *plan) {
		if c.Run == nil {
			panic(fmt.Sprintf("extension: shortcut %q: it has no Run", c.ID))
		}
		params := featurewire.ShortcutRegisterParams{ID: c.ID, Key: c.Key, Description: c.Description}
		if err := params.Validate(); err != nil {
			panic(fmt.Sprintf("extension: shortcut %q: %v", c.ID, err))
		}
		if slices.ContainsFunc(p.shortcuts, func(o Shortcut) bool { return o.ID == c.ID }) {
			panic(fmt.Sprintf("extension: shortcut %q: a shortcut of that id has been added", c.ID))
		}
		if len(p.shortcuts) >= featurewire.MaxShortcuts {
			panic(fmt.Sprintf("extension: shortcut %q: there are %d already, which is the most", c.ID, featurewire.MaxShortcuts))
		}
		p.shortcuts = append(p.shortcuts, c)
	})
}

// registerShortcuts asks the host for each shortcut while initialize is being answered.
func (s *server) registerShortcuts(ctx context.Context, r *peer.Request) {
	if len(s.plan.shortcuts) == 0 || !s.session.Load().has(featurewire.FeatureShortcuts) {
		return
	}
	scope := new(Scope)
	scope.init(s, initializeScope, r, ctx, Context{})
	for _, c := range s.plan.shortcuts {
		if err := scope.Shortcuts().Register(ctx, c.ID, c.Key, c.Description); err != nil {
			s.ext.log.printf("shortcut %q will not run: %v", c.ID, err)
			continue
		}
		s.shortcuts = append(s.shortcuts, c)
	}
}

// trigger returns the running of an admitted shortcut, or nil.
func (s *server) trigger(params []byte) func(context.Context) {
	pressed, err := featurewire.DecodeShortcutTriggerParams(params)
	if err != nil {
		return nil // the handlers of the event say so
	}
	for _, c := range s.shortcuts {
		if c.ID == pressed.ID {
			return func(ctx context.Context) { c.Run(ctx, s.own(ctx)) }
		}
	}
	s.ext.log.printf("%s: no shortcut %q has been admitted", featurewire.MethodShortcutTrigger, pressed.ID)
	return nil
}
