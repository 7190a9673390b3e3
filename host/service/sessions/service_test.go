package sessions

import (
	"errors"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/extension/extensiontest"
)

var front = extension.Scope{Owner: extensiontest.DefaultFront}

// served plays an extension with the session services.
func served(t *testing.T, api string, f func(t *testing.T, rig *extensiontest.Rig, d *driver)) {
	t.Helper()
	in(t, func(t *testing.T, c *Controller, d *driver) {
		d.compaction = Compaction{"e-9", "Short.", "e-3"}
		f(t, extensiontest.Start(t, extensiontest.Setup{API: api, Options: extension.Options{
			Bindings: []extension.Binding{Control(c), Compact(c, d), Lifecycle(c)},
		}}), d)
	})
}

// EXT04-SESSION-002, EXT04-COMPACT-003, EXT03-SESSION-002
func TestBindings_offerWhatIsBound(t *testing.T) {
	for _, c := range []struct {
		api      string
		bindings func(c *Controller, d *driver) []extension.Binding
		want     map[string]bool
	}{
		{"0.4", func(*Controller, *driver) []extension.Binding { return nil }, map[string]bool{
			featurewire.FeatureSessionControlV1: false, featurewire.FeatureSessionCompactionV1: false,
		}},
		{"0.4", func(c *Controller, _ *driver) []extension.Binding { return []extension.Binding{Control(c)} }, map[string]bool{
			featurewire.FeatureSessionControlV1: true, featurewire.FeatureSessionCompactionV1: false,
		}},
		{"0.4", func(c *Controller, d *driver) []extension.Binding {
			return []extension.Binding{Control(c), Compact(c, d)}
		}, map[string]bool{
			featurewire.FeatureSessionControlV1: true, featurewire.FeatureSessionCompactionV1: true,
		}},
		{"0.2", func(c *Controller, d *driver) []extension.Binding {
			return []extension.Binding{Control(c), Compact(c, d)}
		}, map[string]bool{
			featurewire.FeatureSessionControlV1: false, featurewire.FeatureSessionCompactionV1: false,
		}},
		{"0.3", func(*Controller, *driver) []extension.Binding { return nil }, map[string]bool{canonicalwire.CapabilitySessionLifecycle: false}},
		{"0.3", func(c *Controller, _ *driver) []extension.Binding { return []extension.Binding{Lifecycle(c)} }, map[string]bool{canonicalwire.CapabilitySessionLifecycle: true}},
	} {
		in(t, func(t *testing.T, control *Controller, d *driver) {
			rig := extensiontest.Start(t, extensiontest.Setup{API: c.api, Options: extension.Options{Bindings: c.bindings(control, d)}})
			for name, want := range c.want {
				if got := strings.Contains(string(rig.Offer()), `"`+name+`"`); got != want {
					t.Errorf("%s: %s is offered: %v", c.api, name, got)
				}
			}
		})
	}
}

// EXT04-SESSION-003, EXT04-SESSION-004, EXT04-SESSION-005, EXT04-SESSION-010
func TestControl_onTheWire(t *testing.T) {
	served(t, "0.4", func(t *testing.T, rig *extensiontest.Rig, d *driver) {
		rig.During(front, func(parent int64) {
			with := func(members string) string { return fmt.Sprintf(`{"parent_request_id":%d%s}`, parent, members) }
			for method, want := range map[string]string{
				featurewire.MethodSessionWaitForIdle: `{"session_id":"s1"}`, featurewire.MethodSessionReload: `{"session_id":"s1"}`,
			} {
				rig.Ask(method, with("")).OK(t, want)
				rig.Ask(method, with(`,"session_id":null`)).OK(t, want)
				rig.Ask(method, with(`,"session_id":"s1"`)).Refused(t, featurewire.CodeInvalidParams, "invalid_request ")
				rig.Ask(method, with(`,"stray":1`)).Refused(t, featurewire.CodeInvalidParams, "invalid_request ")
			}
			rig.Ask(featurewire.MethodSessionCreate, with("")).OK(t, `{"session_id":"new-1"}`)
			rig.Ask(featurewire.MethodSessionFork, with("")).OK(t, `{"session_id":"s1-fork-2"}`)
			rig.Ask(featurewire.MethodSessionCreate, with(`,"session_id":"s1"`)).Refused(t, featurewire.CodeInvalidParams, "invalid_request ")
			rig.Ask(featurewire.MethodSessionFork, with(`,"session_id":"s1"`)).Refused(t, featurewire.CodeInvalidParams, "invalid_request ")
			rig.Ask(featurewire.MethodSessionSwitch, with("")).Refused(t, featurewire.CodeInvalidParams, "invalid_request ")
			rig.Ask(featurewire.MethodSessionSwitch, with(`,"session_id":null`)).Refused(t, featurewire.CodeInvalidParams, "invalid_request ")
			rig.Ask(featurewire.MethodSessionSwitch, with(`,"session_id":"`+strings.Repeat("s", 257)+`"`)).Refused(t, featurewire.CodeInvalidParams, "bounds_exceeded ")
			longest := strings.Repeat("s", 256)
			rig.Ask(featurewire.MethodSessionSwitch, with(`,"session_id":"`+longest+`"`)).OK(t, `{"session_id":"`+longest+`"}`)
		})
		rig.During(extension.Scope{Owner: "session-2"}, func(parent int64) {
			rig.Ask(featurewire.MethodSessionCreate, fmt.Sprintf(`{"parent_request_id":%d}`, parent)).Refused(t, featurewire.CodeNotForegroundOwner, "not_foreground_owner ")
		})
	})
}

// EXT04-SESSION-008, EXT04-SESSION-009
func TestControl_refusals(t *testing.T) {
	served(t, "0.4", func(t *testing.T, rig *extensiontest.Rig, d *driver) {
		rig.During(front, func(parent int64) {
			params := fmt.Sprintf(`{"parent_request_id":%d}`, parent)
			d.err = errors.New("disk full")
			rig.Ask(featurewire.MethodSessionCreate, params).Refused(t, featurewire.CodeInternalError, "the session operation failed: disk full")
			d.err = nil
			d.busy = make(chan struct{})
			var waiting []*extensiontest.Pending
			for range queueMost + 1 {
				waiting = append(waiting, rig.Send(featurewire.MethodSessionWaitForIdle, params))
				synctest.Wait()
			}
			rig.Ask(featurewire.MethodSessionCreate, params).Refused(t, featurewire.CodeQueueExhausted, "too many")
			d.control.Rebind()
			close(d.busy)
			for _, p := range waiting {
				p.Wait().Refused(t, featurewire.CodeNotForegroundOwner, "not_foreground_owner ")
			}
			d.control.Close()
			rig.Ask(featurewire.MethodSessionCreate, params).Refused(t, featurewire.CodeInternalError, "the session operation failed")
		})
	})
}

// EXT04-COMPACT-004, EXT04-COMPACT-005, EXT04-COMPACT-006, EXT04-COMPACT-008
func TestCompact_behindTheParent(t *testing.T) {
	served(t, "0.4", func(t *testing.T, rig *extensiontest.Rig, d *driver) {
		var parent int64
		params := func(rest string) string {
			return fmt.Sprintf(`{"parent_request_id":%d,"resource_owner":%s%s}`, parent, rig.Owner(front.Owner), rest)
		}
		rig.During(front, func(id int64) {
			parent = id
			rig.Ask(featurewire.MethodSessionCompact, params("")).Refused(t, featurewire.CodeInvalidParams, "invalid_request ")
		})
		want := `{"entry_id":"e-9","summary":"Short.","first_kept":"e-3"}`
		rig.Ask(featurewire.MethodSessionCompact, params("")).OK(t, want)
		longest := strings.Repeat("x", featurewire.MaxCompactionInstructionsBytes)
		for _, instructions := range []string{`null`, `" \n\t "`, `"Keep names."`, `"` + longest + `"`} {
			rig.Ask(featurewire.MethodSessionCompact, params(`,"custom_instructions":`+instructions)).OK(t, want)
		}
		if told := strings.Join(d.told, "|"); told != "|||Keep names.|"+longest {
			t.Errorf("the compactor was told %.60q", told)
		}
		rig.Ask(featurewire.MethodSessionCompact, params(`,"custom_instructions":"`+longest+`x"`)).Refused(t, featurewire.CodeInvalidParams, "bounds_exceeded ")
		rig.Ask(featurewire.MethodSessionCompact, params(`,"custom_instructions":"\u0007"`)).Refused(t, featurewire.CodeInvalidParams, "invalid_request ")
		rig.Ask(featurewire.MethodSessionCompact, params(`,"stray":1`)).Refused(t, featurewire.CodeInvalidParams, "invalid_request ")
		rig.Ask(featurewire.MethodSessionCompact, fmt.Sprintf(`{"parent_request_id":%d}`, parent)).Refused(t, featurewire.CodeNotForegroundOwner, "not_foreground_owner ")
		d.compacting = true
		rig.Ask(featurewire.MethodSessionCompact, params("")).Refused(t, featurewire.CodeInvalidParams, "invalid_request ")
		if len(d.told) != 5 {
			t.Errorf("%d compactions were begun, want one for each answer", len(d.told))
		}
	})
}

// EXT04-COMPACT-007
func TestCompact_failures(t *testing.T) {
	served(t, "0.4", func(t *testing.T, rig *extensiontest.Rig, d *driver) {
		var parent int64
		rig.During(front, func(id int64) { parent = id })
		params := fmt.Sprintf(`{"parent_request_id":%d,"resource_owner":%s}`, parent, rig.Owner(front.Owner))
		for _, why := range []string{"nothing to compact", "a hook vetoes", "a hook behind the commit failed"} {
			d.err = errors.New(why)
			rig.Ask(featurewire.MethodSessionCompact, params).Refused(t, featurewire.CodeInternalError, "the session operation failed: "+why)
		}
	})
}

// EXT03-SESSION-005, EXT03-SESSION-007, EXT03-SESSION-009, EXT03-SESSION-011
func TestLifecycle_onTheWire(t *testing.T) {
	served(t, "0.3", func(t *testing.T, rig *extensiontest.Rig, d *driver) {
		rig.Ask(canonicalwire.MethodSessionCreate, `{}`).OK(t, `{"session_id":"new-1"}`)
		rig.Ask(canonicalwire.MethodSessionFork, `{}`).OK(t, `{"session_id":"s1-fork-2"}`)
		rig.Ask(canonicalwire.MethodSessionSwitch, `{"session_id":"s2"}`).OK(t, `{"session_id":"s2"}`)
		rig.Ask(canonicalwire.MethodSessionReload, `{}`).OK(t, `{"session_id":"s2"}`)
		rig.Ask(canonicalwire.MethodSessionSwitch, `{}`).Refused(t, canonicalwire.CodeInvalidParams, "")
		rig.Ask(canonicalwire.MethodSessionCreate, `{"session_id":"s2"}`).Refused(t, canonicalwire.CodeInvalidParams, "")
		rig.Ask(canonicalwire.MethodSessionSwitch, `{"session_id":"`+strings.Repeat("s", 257)+`"}`).Refused(t, canonicalwire.CodeResourceExhausted, "")
		d.err = errors.New("disk full")
		rig.Ask(canonicalwire.MethodSessionFork, `{}`).Refused(t, canonicalwire.CodeInternalError, canonicalwire.ErrInternalError.Message)
		d.err = nil
		d.busy = make(chan struct{})
		var waiting []*extensiontest.Pending
		for range queueMost + 1 {
			waiting = append(waiting, rig.Send(canonicalwire.MethodSessionCreate, `{}`))
			synctest.Wait()
		}
		rig.Ask(canonicalwire.MethodSessionCreate, `{}`).Refused(t, canonicalwire.CodeResourceExhausted, canonicalwire.ErrResourceExhausted.Message)
		d.control.Rebind()
		close(d.busy)
		for _, p := range waiting {
			p.Wait().Refused(t, canonicalwire.CodeCapabilityMismatch, canonicalwire.ErrCapabilityMismatch.Message)
		}
		d.control.Close()
		rig.Ask(canonicalwire.MethodSessionCreate, `{}`).Refused(t, canonicalwire.CodeCapabilityMismatch, "")
	})
}
