package shortcut

import (
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/extension/extensiontest"
)

func registering(parent int64, id, key string) string {
	return fmt.Sprintf(`{"parent_request_id":%d,"id":"%s","key":"%s","description":"Shows it."}`, parent, id, key)
}

// start starts an extension that registers within initialize.
func start(t *testing.T, b *Book, setup extensiontest.Setup, early func(r *extensiontest.Rig, parent int64)) *extensiontest.Rig {
	t.Helper()
	setup.Options.Bindings = []extension.Binding{b.Binding()}
	if early != nil {
		setup.Early = func(r *extensiontest.Rig, id int64, _ json.RawMessage) { early(r, id) }
	}
	return extensiontest.Start(t, setup)
}

func (b *Book) text() string {
	var all []string
	for _, s := range b.List() {
		all = append(all, s.Extension+"/"+s.ID+"="+s.Key)
	}
	return strings.Join(all, " ")
}

// EXT04-SHORTCUT-004, EXT04-SHORTCUT-006, EXT04-SHORTCUT-007, EXT04-ORDER-013.
func TestBook(t *testing.T) {
	for _, api := range []string{featurewire.Version02, featurewire.Version04} {
		b := New(func(key string) error {
			if key == "ctrl+c" {
				return errors.New("the host needs it")
			}
			return nil
		})
		rig := start(t, b, extensiontest.Setup{API: api}, func(r *extensiontest.Rig, parent int64) {
			r.Ask(featurewire.MethodShortcutRegister, registering(parent, "demo:show", "ctrl+shift+t")).OK(t, `{}`)
			r.Ask(featurewire.MethodShortcutRegister, registering(parent, "demo:stop", "ctrl+c")).Refused(t, featurewire.CodeInvalidParams, "invalid_request")
			r.Ask(featurewire.MethodToolsRegister, `{"tools":[]}`).Refused(t, featurewire.CodeUnknownMethod, "unsupported_feature")
			if got := b.text(); got != "" {
				t.Errorf("pressed before it is there: %s", got)
			}
		})
		if got := b.text(); got != "demo/demo:show=ctrl+shift+t" {
			t.Errorf("API %s: %s", api, got)
		}
		if known, err := b.Press(t.Context(), "ctrl+shift+t"); !known || err != nil {
			t.Errorf("%t %v", known, err)
		}
		for _, key := range []string{"ctrl+c", "ctrl+x", ""} {
			if known, err := b.Press(t.Context(), key); known || err != nil {
				t.Errorf("%q: %t %v", key, known, err)
			}
		}
		rig.WaitTold(featurewire.MethodShortcutTrigger, 1)
		rig.Flush()
		if told := rig.Told(featurewire.MethodShortcutTrigger); len(told) != 1 || string(told[0].Params) != `{"id":"demo:show"}` {
			t.Errorf("API %s: told %s", api, told)
		}
	}
}

// EXT04-SHORTCUT-005.
func TestBook_refusals(t *testing.T) {
	b := New(nil)
	other := start(t, b, extensiontest.Setup{Name: "other"}, func(r *extensiontest.Rig, parent int64) {
		r.Ask(featurewire.MethodShortcutRegister, registering(parent, "x", "f1")).OK(t, `{}`)
	})
	var parent int64
	rig := start(t, b, extensiontest.Setup{}, func(r *extensiontest.Rig, id int64) {
		parent = id
		ask := func(id, key string) extensiontest.Answer {
			return r.Ask(featurewire.MethodShortcutRegister, registering(parent, id, key))
		}
		ask("x", "f2").OK(t, `{}`) // the same id in another extension is another one
		ask("x", "f3").Refused(t, featurewire.CodeInvalidParams, `invalid_request shortcut "x" is registered already`)
		ask("y", "f2").Refused(t, featurewire.CodeInvalidParams, `invalid_request key "f2" is taken`)
		ask("y", "f1").Refused(t, featurewire.CodeInvalidParams, `invalid_request key "f1" is taken`)
		ask("", "f4").Refused(t, featurewire.CodeInvalidParams, "invalid_request")
		ask("y", "").Refused(t, featurewire.CodeInvalidParams, "invalid_request")
		long := strings.Repeat("i", featurewire.MaxShortcutIDBytes)
		ask(long, "f5").OK(t, `{}`)
		ask(long+"i", "f6").Refused(t, featurewire.CodeInvalidParams, "bounds_exceeded")
		key := strings.Repeat("k", featurewire.MaxShortcutKeyBytes)
		ask("k", key).OK(t, `{}`)
		ask("l", key+"k").Refused(t, featurewire.CodeInvalidParams, "bounds_exceeded")
		describing := func(bytes int) string {
			return strings.Replace(registering(parent, fmt.Sprint("d", bytes), fmt.Sprint("d", bytes)), "Shows it.", strings.Repeat("d", bytes), 1)
		}
		r.Ask(featurewire.MethodShortcutRegister, describing(featurewire.MaxShortcutDescriptionBytes)).OK(t, `{}`)
		r.Ask(featurewire.MethodShortcutRegister, describing(featurewire.MaxShortcutDescriptionBytes+1)).Refused(t, featurewire.CodeInvalidParams, "bounds_exceeded")
		r.Ask(featurewire.MethodShortcutRegister, `{"parent_request_id":1,"id":"x"}`).Refused(t, featurewire.CodeInvalidParams, "invalid_request")
		r.Ask(featurewire.MethodShortcutRegister, registering(parent+1, "z", "f7")).Refused(t, featurewire.CodeInvalidParams, "invalid_request")
		for n := range featurewire.MaxShortcuts - 4 {
			ask(fmt.Sprint("n", n), fmt.Sprint("n", n)).OK(t, `{}`)
		}
		ask("over", "over").Refused(t, featurewire.CodeInvalidParams, "bounds_exceeded an extension has at most 64")
	})
	rig.Ask(featurewire.MethodShortcutRegister, registering(parent, "late", "f9")).Refused(t, featurewire.CodeInvalidParams, "invalid_request")
	if err := b.admit(other.X, Shortcut{Extension: "other", ID: "later", Key: "f9"}); err == nil {
		t.Error("the book takes a late registration")
	}
	if known, _ := b.Press(t.Context(), "f9"); known {
		t.Error("a late registration counts")
	}
	if got := len(b.List()); got != featurewire.MaxShortcuts+1 {
		t.Errorf("%d shortcuts", got)
	}
	if known, err := b.Press(t.Context(), "f1"); !known || err != nil || len(other.WaitTold(featurewire.MethodShortcutTrigger, 1)) != 1 || rig.Told(featurewire.MethodShortcutTrigger) != nil {
		t.Errorf("a key was told to the wrong extension: %t %v", known, err)
	}
	rig.X.Close()
	if got := b.text(); got != "other/x=f1" {
		t.Errorf("behind the end: %s", got)
	}
}

// A candidate has its keys next to those of the generation it replaces, and then in their place. One that
// fails leaves nothing.
func TestBook_generations(t *testing.T) {
	b := New(nil)
	registers := func(key string) func(r *extensiontest.Rig, parent int64) {
		return func(r *extensiontest.Rig, parent int64) {
			r.Ask(featurewire.MethodShortcutRegister, registering(parent, "x", key)).OK(t, `{}`)
		}
	}
	first := start(t, b, extensiontest.Setup{Options: extension.Options{Instance: "i", Generation: 1}}, registers("f1"))
	failing := extensiontest.Setup{
		Early:      func(r *extensiontest.Rig, id int64, _ json.RawMessage) { registers("f1")(r, id) },
		Initialize: func(result map[string]any) { result["tools"] = 7 },
		Options:    extension.Options{Instance: "i", Generation: 2, Bindings: []extension.Binding{b.Binding()}},
	}
	if _, err := extensiontest.TryStart(t, failing); err == nil {
		t.Fatal("a broken candidate was started")
	}
	if got := b.text(); got != "demo/x=f1" || len(b.pages) != 1 {
		t.Errorf("behind a failed candidate: %s, %d pages", got, len(b.pages))
	}
	second := start(t, b, extensiontest.Setup{Options: extension.Options{Instance: "i", Generation: 3}}, registers("f1"))
	for range 20 {
		if _, err := b.Press(t.Context(), "f1"); err != nil {
			t.Error(err)
		}
	}
	first.Flush()
	second.Flush()
	if got := second.Told(featurewire.MethodShortcutTrigger); len(got) != 20 {
		t.Errorf("the newer generation was told %d times", len(got))
	}
	if got := first.Told(featurewire.MethodShortcutTrigger); got != nil {
		t.Errorf("the older generation was told %s", got)
	}
	first.X.Close()
	if got := b.text(); got != "demo/x=f1" {
		t.Errorf("%s", got)
	}
}

func TestBook_unselected(t *testing.T) {
	b := New(nil)
	rig := start(t, b, extensiontest.Setup{Select: func(string) bool { return false }}, func(r *extensiontest.Rig, parent int64) {
		r.Ask(featurewire.MethodShortcutRegister, registering(parent, "x", "f1")).OK(t, `{}`) // not known yet
	})
	if known, err := b.Press(t.Context(), "f1"); known || err != nil || b.text() != "" {
		t.Errorf("an unselected shortcut is pressed: %t %v", known, err)
	}
	rig.Flush()
	if got := rig.Told(featurewire.MethodShortcutTrigger); got != nil {
		t.Errorf("told %s", got)
	}
}
