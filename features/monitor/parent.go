package monitor

import (
	"slices"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/features/wire"
	fw "github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
)

// parent judges what a message of the extension hangs on, by the class that the spec has for its method.
func (m *Monitor) parent(f wire.Frame, o *owned) {
	given, named := o.params.get("parent_request_id"), o.params.get("resource_owner")
	class := m.setup.Dialect.Parent(o.method)
	if given.kind() == number {
		o.parent = m.issued[given.spelled()]
	}
	if m.setup.Dialect.API() == dialect.FrozenAPI {
		m.frozenParent(f, o, class)
		return
	}
	live := o.parent != nil && o.parent.live()
	owner := named.kind() == object
	complain := func(rule, want string) {
		m.report(rule, f, -1, "%q with the parent %s%s, want %s", o.method, orNothing(given), withOwner(owner), want)
	}
	switch class {
	case wirejson.ParentNone:
		if !given.absent() && o.method != fw.MethodUIAutocompleteRegister {
			complain("EXT04-PARENT-004", "none")
		}
	case wirejson.ParentRequired:
		if !live {
			complain("EXT04-PARENT-001", "an unanswered request of the host")
		}
	case wirejson.ParentRetained:
		if !live && (o.parent == nil || !owner) {
			complain("EXT04-PARENT-002", "an unanswered request of the host, or an answered one together with resource_owner")
		}
	case wirejson.ParentToolCall:
		if !live || o.parent.method != dialect.ToolCall || !named.absent() {
			complain("EXT04-PARENT-003", "an unanswered tool call alone")
		}
	case wirejson.ParentInitialize:
		if m.phase != opening || given.spelled() != m.initID {
			complain("EXT04-SHORTCUT-001", "the unanswered initialize")
		}
	case wirejson.ParentSettled:
		if o.parent == nil || o.parent.live() || o.parent.failed {
			complain("EXT04-COMPACT-002", "a request that was answered with a result")
		}
	case wirejson.ParentOptional:
		if !given.absent() && !live {
			complain("EXT04-PRES-003", "an unanswered request of the host, or none")
		}
	}
}

func withOwner(owner bool) string {
	if owner {
		return " and an owner"
	}
	return ""
}

func (m *Monitor) frozenParent(f wire.Frame, o *owned, class wirejson.Parent) {
	if o.params.get("parent_request_id").absent() {
		return
	}
	rule := m.rules.frozenParent
	if class == wirejson.ParentNone {
		rule = "EXT04-PARENT-004"
	}
	m.report(rule, f, -1, "%q with a parent", o.method)
}

// ownerKey is an owner as the key of a table.
type ownerKey struct{ session, instance, generation string }

func keyOf(owner tree) ownerKey {
	return ownerKey{owner.get("session_id").text(), owner.get("extension_instance_id").text(), string(owner.get("process_generation").raw)}
}

// owner judges the owner that a message names.
func (m *Monitor) owner(f wire.Frame, params tree) {
	named := params.get("resource_owner")
	if named.absent() || named.kind() == null {
		return
	}
	if !m.held.owners[keyOf(named)] {
		m.report("EXT04-OWNER-001", f, -1, "the owner %s, which the host has not given", orNothing(named))
	}
}

// agentCall judges what the calls on child agents have in common.
func agentCall(m *Monitor, f wire.Frame, o *owned) {
	if !o.params.get("resource_owner").absent() && !m.selected(fw.FeatureAgentSessionLifetimeV1) {
		m.report("EXT04-AGENT-006", f, -1, "%q with resource_owner although %q was not selected", o.method, fw.FeatureAgentSessionLifetimeV1)
	}
	parents := []string{dialect.ToolCall, fw.MethodCommandExecute}
	if o.parent != nil && o.parent.live() && !slices.Contains(parents, o.parent.method) {
		m.report("EXT04-AGENT-007", f, -1, "%q with a parent of the method %q", o.method, o.parent.method)
	}
}
