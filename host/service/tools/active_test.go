package tools

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/extension/extensiontest"
)

// chosen is a conversation with the tools read and work.
type chosen struct {
	session string
	names   []string
}

func (c *chosen) SetActive(_ context.Context, session string, names []string) error {
	for _, name := range names {
		if name != "read" && name != "work" {
			return fmt.Errorf("tool %q is unknown", name)
		}
	}
	c.session, c.names = session, names
	return nil
}

// EXT04-ACTIVE-002, EXT04-ACTIVE-003, EXT04-ACTIVE-004.
func TestActive(t *testing.T) {
	sessions := &chosen{}
	rig := extensiontest.Start(t, extensiontest.Setup{Options: extension.Options{Bindings: []extension.Binding{Active(sessions)}}})
	front := extension.Scope{Owner: extensiontest.DefaultFront}
	ask := func(parent int64, names string) extensiontest.Answer {
		return rig.Ask(featurewire.MethodToolsSetActive, fmt.Sprintf(`{"parent_request_id":%d,"names":%s}`, parent, names))
	}
	list := func(count, bytes int) string {
		all := make([]string, count)
		for i := range all {
			all[i] = fmt.Sprintf("%q", fmt.Sprint(i, strings.Repeat("x", bytes-len(fmt.Sprint(i)))))
		}
		return "[" + strings.Join(all, ",") + "]"
	}
	rig.During(front, func(parent int64) {
		ask(parent, `["read","work"]`).OK(t, `{}`)
		ask(parent, `["work"]`).OK(t, `{}`)
		ask(parent, `["work","other"]`).Refused(t, featurewire.CodeInvalidParams, `invalid_request tool "other" is unknown`)
		ask(parent, `["work","work"]`).Refused(t, featurewire.CodeInvalidParams, "invalid_request")
		ask(parent, `[7]`).Refused(t, featurewire.CodeInvalidParams, "invalid_request")
		ask(parent, `null`).Refused(t, featurewire.CodeInvalidParams, "invalid_request")
		ask(parent, list(featurewire.MaxActiveTools, 3)).Refused(t, featurewire.CodeInvalidParams, "invalid_request tool") // within its bound
		ask(parent, list(featurewire.MaxActiveTools+1, 3)).Refused(t, featurewire.CodeInvalidParams, "bounds_exceeded")
		ask(parent, list(1, featurewire.MaxToolNameBytes)).Refused(t, featurewire.CodeInvalidParams, "invalid_request tool")
		ask(parent, list(1, featurewire.MaxToolNameBytes+1)).Refused(t, featurewire.CodeInvalidParams, "bounds_exceeded")
		if sessions.session != extensiontest.DefaultFront || !slices.Equal(sessions.names, []string{"work"}) {
			t.Errorf("session %q has %q", sessions.session, sessions.names)
		}
		ask(parent, `[]`).OK(t, `{}`)
		if len(sessions.names) != 0 {
			t.Errorf("an empty set leaves %q", sessions.names)
		}
	})
	rig.During(extension.Scope{Owner: "session-2"}, func(parent int64) {
		ask(parent, `["read"]`).Refused(t, featurewire.CodeNotForegroundOwner, "not_foreground_owner")
	})
	rig.During(extension.Scope{}, func(parent int64) {
		ask(parent, `["read"]`).Refused(t, featurewire.CodeNotForegroundOwner, "not_foreground_owner")
	})
	if len(sessions.names) != 0 {
		t.Errorf("a session behind the foreground chose %q", sessions.names)
	}
}
