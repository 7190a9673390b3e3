package monitor

import (
	"maps"

	"github.com/octet-dev/octet/features/wire"
	fw "github.com/octet-dev/octet/generated/featurewire"
)

// holdings is what an extension has of its host on one connection, as both lanes tell.
type holdings struct {
	owners    map[ownerKey]bool
	artifacts map[string]string // media types by artifact id
	tokens    map[string]bool   // approval tokens
	resources map[string]bool   // resource tokens
	tickets   map[string]*ticket
	leases    map[string]bool
	shortcuts map[string]bool
	surfaces  map[string]*surface
	mounts    map[string]*mount
	terminal  grant
	snapshot  int64                     // the last revision of a snapshot; -1 before the first
	catalogs  map[int64]map[string]tree // tool definitions by revision and name
	newest    int64                     // the last of the revisions
}

func newHoldings() holdings {
	return holdings{
		owners: map[ownerKey]bool{}, artifacts: map[string]string{}, tokens: map[string]bool{}, resources: map[string]bool{},
		tickets: map[string]*ticket{}, leases: map[string]bool{}, shortcuts: map[string]bool{}, surfaces: map[string]*surface{},
		mounts: map[string]*mount{}, catalogs: map[int64]map[string]tree{}, snapshot: -1,
	}
}

// owns notes an owner that the host has given.
func (h *holdings) owns(owner tree) {
	if owner.kind() == object {
		h.owners[keyOf(owner)] = true
	}
}

// definition is that of the tool that the params of a call name, in the revision that they name.
func (h *holdings) definition(call tree) tree {
	revision, given := call.get("catalog_revision").natural()
	if !given {
		revision = h.newest
	}
	return h.catalogs[revision][call.get("name").text()]
}

// publish notes the catalog of a revision: the one before it with some tools added and some taken out.
func (h *holdings) publish(revision int64, added []tree, removed []string) {
	next := maps.Clone(h.catalogs[h.newest])
	if next == nil {
		next = map[string]tree{}
	}
	for _, t := range added {
		next[t.get("name").text()] = t
	}
	for _, name := range removed {
		delete(next, name)
	}
	h.catalogs[revision], h.newest = next, revision
}

// grant is where the right to the terminal stands.
type grant uint8

const (
	noGrant grant = iota
	askedGrant
	heldGrant
)

// ticket lets an extension write one bulk object.
type ticket struct {
	capacity int64
	locator  string
}

// surface is one that the host has opened.
type surface struct {
	revision int64 // of the last frame; -1 before the first
	gone     bool  // the host has closed it, and the extension may not know yet
}

// mount is an editor that the host has opened.
type mount struct {
	checkpoint, input int64 // of the last checkpoint; input is -1 before the first
	sent              int64 // the newest input revision of the host
}

// grants notes what the host answers to a request of the extension.
var grants = map[string]func(m *Monitor, o *owned, result tree){
	fw.MethodArtifactPublish: func(m *Monitor, o *owned, result tree) {
		if id := result.get("artifact_id"); id.kind() == text {
			m.held.artifacts[id.text()] = o.params.get("mime_type").text()
		}
	},
	fw.MethodPolicyEvaluate: func(m *Monitor, _ *owned, result tree) {
		if token := result.get("approval_token"); token.kind() == text {
			m.held.tokens[token.text()] = true
		}
	},
	fw.MethodToolsRegister: func(m *Monitor, o *owned, result tree) {
		if revision, ok := result.get("revision").natural(); ok {
			m.held.publish(revision, o.params.get("tools").items(), nil)
		}
	},
	fw.MethodToolsUnregister: func(m *Monitor, o *owned, result tree) {
		if revision, ok := result.get("revision").natural(); ok {
			m.held.publish(revision, nil, o.params.get("names").texts())
		}
	},
	fw.MethodTerminalAcquire: func(m *Monitor, _ *owned, result tree) {
		m.held.terminal = noGrant
		if result.get("grant_id").kind() == text {
			m.held.terminal = heldGrant
		}
	},
	fw.MethodResourceRegister: func(m *Monitor, _ *owned, result tree) {
		if token := result.get("$resource"); token.kind() == text {
			m.held.resources[token.text()] = true
		}
	},
	fw.MethodBulkWrite: func(m *Monitor, _ *owned, result tree) {
		if id := result.get("ticket"); id.kind() == text {
			capacity, _ := result.get("capacity").natural()
			m.held.tickets[id.text()] = &ticket{capacity: capacity, locator: result.get("locator").text()}
		}
	},
	fw.MethodBulkRead: func(m *Monitor, _ *owned, result tree) {
		if id := result.get("lease"); id.kind() == text {
			m.held.leases[id.text()] = true
		}
	},
	fw.MethodUIOpen: func(m *Monitor, o *owned, result tree) {
		if result.kind() != object {
			return
		}
		m.held.surfaces[o.params.get("surface_id").text()] = &surface{revision: -1}
		if id := result.get("editor_mount_id"); id.kind() == text {
			m.held.mounts[id.text()] = &mount{input: -1}
		}
	},
	fw.MethodCompositionContext: func(m *Monitor, o *owned, result tree) { m.handedFile(o, result.get("context_file")) },
	fw.MethodCompositionCall:    func(m *Monitor, o *owned, result tree) { m.handedFile(o, result.get("value_file")) },
}

// told notes what a notification of the host changes.
func (m *Monitor) told(method string, params tree) {
	if m.setup.Dialect.Canonical() {
		m.contractTold(method, params)
		return
	}
	switch method {
	case fw.MethodUIClosed:
		if s := m.held.surfaces[params.get("surface_id").text()]; s != nil {
			s.gone = true
		}
	case fw.MethodTerminalGrantLost:
		m.held.terminal = noGrant
	case fw.MethodUIKey, fw.MethodUIEditorText:
		if mounted := m.held.mounts[params.at("/editor_input/mount_id").text()]; mounted != nil {
			revision, _ := params.at("/editor_input/input_revision").natural()
			mounted.sent = max(mounted.sent, revision)
		}
	}
}

// serviceChecks judge what the model of a method cannot tell.
var serviceChecks = map[string]func(m *Monitor, f wire.Frame, o *owned){
	fw.MethodPresentationUpdate: presented,
	fw.MethodArtifactPublish:    published,
	fw.MethodPolicyEvaluate:     asksPolicy,
	fw.MethodSecretGet:          asksSecret,
	fw.MethodToolsRegister:      registersTools,
	fw.MethodToolsUnregister:    unregistersTools,
	fw.MethodAgentSpawn:         spawns,
	fw.MethodAgentMessage:       agentCall,
	fw.MethodAgentFollowUp:      agentCall,
	fw.MethodAgentList:          agentCall,
	fw.MethodAgentWait:          agentCall,
	fw.MethodAgentInterrupt:     agentCall,
	fw.MethodAgentModels:        agentCall,
	fw.MethodAgentEvents:        agentCall,
	fw.MethodAgentStop:          agentCall,
	fw.MethodComposerSet:        writesComposer,
	fw.MethodComposerInsert:     writesComposer,
	fw.MethodComposerHistory:    setsHistory,
	fw.MethodShortcutRegister:   registersShortcut,
	fw.MethodTerminalAcquire:    acquires,
	fw.MethodTerminalRelease:    releases,
	fw.MethodCompositionCall:    composes,
	fw.MethodCompositionStore:   stores,
	fw.MethodResourceRelease:    releasesResource,
	fw.MethodBulkCommit:         commits,
	fw.MethodBulkRelease:        releasesBulk,
	fw.MethodSessionWaitForIdle: namesNoSession,
	fw.MethodSessionCreate:      namesNoSession,
	fw.MethodSessionFork:        namesNoSession,
	fw.MethodSessionReload:      namesNoSession,
	fw.MethodUIOpen:             opensSurface,
	fw.MethodUIFrame:            draws,
	fw.MethodUIClose:            closesSurface,
}
