package composer

import (
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/extension/extensiontest"
)

// input is a composer with its cursor at the end.
type input struct {
	text   string
	recall []string
	err    error
}

func (i *input) Text() (string, error)      { return i.text, i.err }
func (i *input) Replace(text string) error  { i.text = text; return i.err }
func (i *input) Recall(list []string) error { i.recall = list; return i.err }
func (i *input) Insert(text string, most int) error {
	if len(i.text)+len(text) > most {
		return ErrFull
	}
	i.text += text
	return i.err
}

// remote is a remote editor that may own the composer.
type remote struct {
	owned bool
	err   error
	at    []featurewire.EditorCheckpoint
}

func (r *remote) Owned() bool { return r.owned }
func (r *remote) Checkpoint(_ *extension.Extension, owner extension.Owner, at featurewire.EditorCheckpoint, apply func() error) error {
	if r.err != nil || owner.SessionID != extensiontest.DefaultFront {
		return r.err
	}
	r.at = append(r.at, at)
	return apply()
}

// served runs f inside a tool call of the session in front.
func served(t *testing.T, c *input, checkpoints Checkpoints, f func(ask func(method, members string) extensiontest.Answer)) {
	t.Helper()
	rig := extensiontest.Start(t, extensiontest.Setup{Options: extension.Options{Bindings: []extension.Binding{Binding(c, checkpoints)}}})
	rig.During(extension.Scope{Owner: extensiontest.DefaultFront}, func(parent int64) {
		f(func(method, members string) extensiontest.Answer {
			return rig.Ask(method, fmt.Sprintf(`{"parent_request_id":%d,"resource_owner":%s%s}`, parent, rig.Owner(extensiontest.DefaultFront), members))
		})
	})
}

const (
	get     = featurewire.MethodComposerGet
	set     = featurewire.MethodComposerSet
	insert  = featurewire.MethodComposerInsert
	history = featurewire.MethodComposerHistory
)

func text(s string) string { return fmt.Sprintf(`,"text":"%s"`, s) }

// EXT04-COMPOSER-005, EXT04-COMPOSER-006, EXT04-COMPOSER-007
func TestComposer(t *testing.T) {
	c := &input{text: "old"}
	served(t, c, nil, func(ask func(method, members string) extensiontest.Answer) {
		ask(get, "").OK(t, `{"text":"old"}`)
		ask(set, text(`new\n\t`)).OK(t, `{}`)
		ask(insert, text("er")).OK(t, `{}`)
		ask(get, "").OK(t, `{"text":"new\n\ter"}`)
		most := strings.Repeat("x", 262144)
		ask(set, text(most)).OK(t, `{}`)
		for _, method := range []string{set, insert} {
			ask(method, text(most+"x")).Refused(t, featurewire.CodeInvalidParams, "bounds_exceeded ")
			for _, bad := range []string{`\u001b[2J`, `\u0007`, `\u009b`, `\u007f`, `\r`} {
				ask(method, text(bad)).Refused(t, featurewire.CodeInvalidParams, "invalid_request ")
			}
			ask(method, `,"text":null`).Refused(t, featurewire.CodeInvalidParams, "invalid_request ")
		}
		ask(insert, text("x")).Refused(t, featurewire.CodeInvalidParams, "bounds_exceeded ")
		ask(get, "").OK(t, `{"text":"`+most+`"}`)
	})
}

// EXT04-COMPOSER-007: no half of a surrogate pair either.
func TestComposer_loneSurrogate(t *testing.T) {
	c := &input{text: "old"}
	rig := extensiontest.Start(t, extensiontest.Setup{Options: extension.Options{Bindings: []extension.Binding{Binding(c, nil)}}})
	rig.During(extension.Scope{Owner: extensiontest.DefaultFront}, func(parent int64) {
		rig.Raw(fmt.Sprintf(`{"jsonrpc":"2.0","id":"raw","method":"%s","params":{"parent_request_id":%d,"text":"\ud800"}}`, set, parent))
		rig.Ask(get, fmt.Sprintf(`{"parent_request_id":%d}`, parent)).OK(t, `{"text":"old"}`)
	})
}

// EXT04-COMPOSER-008
func TestComposer_anotherOwner(t *testing.T) {
	rig := extensiontest.Start(t, extensiontest.Setup{Options: extension.Options{Bindings: []extension.Binding{Binding(&input{}, nil)}}})
	rig.During(extension.Scope{Owner: "session-2"}, func(parent int64) {
		for method, members := range map[string]string{get: "", set: text("x"), insert: text("x"), history: `,"entries":[],"resource_owner":` + rig.Owner("session-2")} {
			rig.Ask(method, fmt.Sprintf(`{"parent_request_id":%d%s}`, parent, members)).Refused(t, featurewire.CodeNotForegroundOwner, "not_foreground_owner ")
		}
	})
}

const checkpoint = `,"editor_checkpoint":{"surface_id":"s","mount_id":"m","input_revision":3,"checkpoint_revision":4}`

// EXT04-COMPOSER-009, EXT04-COMPOSER-010, EXT04-COMPOSER-011, EXT04-COMPOSER-012
func TestComposer_remoteEditor(t *testing.T) {
	c, r := &input{text: "old"}, &remote{}
	served(t, c, r, func(ask func(method, members string) extensiontest.Answer) {
		ask(insert, text("x")+checkpoint).Refused(t, featurewire.CodeInvalidParams, "invalid_request ")
		ask(set, text("free")).OK(t, `{}`)
		r.owned = true
		ask(set, text("x")).Refused(t, featurewire.CodeInvalidParams, "invalid_request ")
		ask(insert, text("x")).Refused(t, featurewire.CodeInvalidParams, "invalid_request ")
		ask(set, text("kept")+checkpoint).OK(t, `{"input_revision":3,"checkpoint_revision":4}`)
		ask(get, "").OK(t, `{"text":"kept"}`)
		for _, bad := range []string{
			`{"surface_id":"s","mount_id":"m","input_revision":3,"checkpoint_revision":4,"stray":1}`,
			`{"surface_id":"s","input_revision":3,"checkpoint_revision":4}`, `{"surface_id":"s","mount_id":"m","input_revision":-1,"checkpoint_revision":4}`,
			`{"surface_id":"s","mount_id":"a b","input_revision":3,"checkpoint_revision":4}`, `{}`, `7`,
		} {
			ask(set, text("x")+`,"editor_checkpoint":`+bad).Refused(t, featurewire.CodeInvalidParams, "invalid_request ")
		}
		r.err = extension.RefuseInvalid("the revision goes back")
		ask(set, text("lost")+checkpoint).Refused(t, featurewire.CodeInvalidParams, "invalid_request the revision goes back")
		ask(get, "").OK(t, `{"text":"kept"}`)
	})
	served(t, c, nil, func(ask func(method, members string) extensiontest.Answer) {
		ask(set, text("x")+checkpoint).Refused(t, featurewire.CodeInvalidParams, "invalid_request ")
	})
	if len(r.at) != 1 || r.at[0].MountID != "m" {
		t.Errorf("checkpoints %v", r.at)
	}
}

// EXT04-COMPOSER-013
func TestComposer_history(t *testing.T) {
	c := &input{}
	entries := func(n int, entry string) string {
		list := strings.TrimSuffix(strings.Repeat(`"`+entry+`",`, n), ",")
		return `,"entries":[` + list + `]`
	}
	served(t, c, nil, func(ask func(method, members string) extensiontest.Answer) {
		ask(history, `,"entries":["b\n\t","a"]`).OK(t, `{}`)
		if len(c.recall) != 2 || c.recall[0] != "b\n\t" {
			t.Errorf("recalls %q", c.recall)
		}
		ask(history, entries(0, "")).OK(t, `{}`)
		ask(history, entries(100, "x")).OK(t, `{}`)
		ask(history, entries(101, "x")).Refused(t, featurewire.CodeInvalidParams, "bounds_exceeded ")
		ask(history, entries(64, strings.Repeat("x", 4096))).OK(t, `{}`)
		ask(history, entries(64, strings.Repeat("x", 4096))[:12]+`"y",`+entries(64, strings.Repeat("x", 4096))[12:]).Refused(t, featurewire.CodeInvalidParams, "bounds_exceeded ")
		ask(history, `,"entries":["\u001b"]`).Refused(t, featurewire.CodeInvalidParams, "invalid_request ")
		ask(history, ``).Refused(t, featurewire.CodeInvalidParams, "invalid_request ")
		if len(c.recall) != 64 {
			t.Errorf("a refused history was taken: %d entries", len(c.recall))
		}
	})
}

func TestComposer_unavailable(t *testing.T) {
	c := &input{err: fmt.Errorf("now: %w", ErrUnavailable)}
	served(t, c, nil, func(ask func(method, members string) extensiontest.Answer) {
		for method, members := range map[string]string{get: "", set: text("x"), insert: text("x"), history: `,"entries":[]`} {
			ask(method, members).Refused(t, featurewire.CodeNotForegroundOwner, "not_foreground_owner ")
		}
		c.err = errors.New("broken")
		ask(get, "").Refused(t, featurewire.CodeInternalError, "")
	})
}
