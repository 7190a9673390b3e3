package faultyhost

import (
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/generated/featurewire"
)

// kept is what the extension has of the host.
type kept struct {
	active        json.RawMessage // names of active tools; nil: all are
	published     []json.RawMessage
	revision      int // of what is published
	artifacts     int
	artifactBytes int
	approvals     map[string]string // intents and parents by token that is good
	agents        map[string]string // params by idempotency key
	answers       map[string]dialect.Object
	granted       bool // the terminal
	surfaces      []string
	shortcuts     []string
	registered    map[string]int   // resources by parent
	tickets       map[string]int64 // capacities
	leases        map[string]bool
	stored        map[string]bool // parents that have committed their store
	nested        map[string]int  // composed calls by parent
	stopped       map[string]bool // agents
	editor        bool            // an editor of the extension has the composer
	checkpoint    int64           // the last of it
}

func newKept() kept {
	return kept{
		approvals: map[string]string{}, agents: map[string]string{}, answers: map[string]dialect.Object{}, registered: map[string]int{},
		tickets: map[string]int64{}, leases: map[string]bool{}, stored: map[string]bool{}, nested: map[string]int{}, stopped: map[string]bool{},
	}
}

// The secret that the host has, its value, and what a person is asked who takes time.
const (
	secretName  = "peer_key"
	secretValue = "octet-secret"
	slowPrompt  = "Take your time."
)

// checks are what a host looks at beyond the model of the params: they refuse, answer, or leave the request to
// the services.
var checks = map[string]func(h *host, q question) (dialect.Object, refusal){
	featurewire.MethodInputRequest:        slowly,
	featurewire.MethodConfirmationRequest: slowly,
	featurewire.MethodArtifactPublish:     (*host).publishes,
	featurewire.MethodPolicyEvaluate:      (*host).evaluates,
	featurewire.MethodSecretGet: func(h *host, q question) (dialect.Object, refusal) {
		declared, _ := h.x.Capabilities["secrets"].([]any)
		switch name := q.text("name"); {
		case !slices.Contains(declared, any(name)):
			return nil, malformed
		case name == secretName:
			return dialect.Object{"value": secretValue}, served
		}
		return nil, noSecret
	},
	featurewire.MethodToolsRegister: (*host).registers,
	featurewire.MethodAgentSpawn:    (*host).spawns,
	featurewire.MethodComposerInsert: func(h *host, q question) (dialect.Object, refusal) {
		if q.at("editor_checkpoint") != nil || h.desk.kept.editor {
			return nil, malformed
		}
		return nil, served
	},
	featurewire.MethodComposerSet: (*host).setsComposer,
	featurewire.MethodToolsSetActive: func(h *host, q question) (dialect.Object, refusal) {
		if strings.Contains(string(q.at("names")), "no_such_tool") {
			return nil, malformed
		}
		h.desk.kept.active = q.at("names")
		return nil, served
	},
	featurewire.MethodTerminalAcquire: func(h *host, _ question) (dialect.Object, refusal) {
		if h.desk.kept.granted {
			return nil, malformed
		}
		h.desk.kept.granted = true
		return nil, served
	},
	featurewire.MethodTerminalRelease: func(h *host, _ question) (dialect.Object, refusal) {
		if !h.desk.kept.granted {
			return nil, malformed
		}
		h.desk.kept.granted = false
		return nil, served
	},
	featurewire.MethodShortcutRegister: func(h *host, q question) (dialect.Object, refusal) {
		k := &h.desk.kept
		if slices.Contains(k.shortcuts, q.text("id")) {
			return nil, malformed
		}
		if len(k.shortcuts) >= featurewire.MaxShortcuts {
			return nil, tooMuch
		}
		k.shortcuts = append(k.shortcuts, q.text("id"))
		return nil, served
	},
	featurewire.MethodAgentStop: func(h *host, q question) (dialect.Object, refusal) {
		h.desk.kept.stopped[q.text("target")] = true
		return nil, served
	},
	featurewire.MethodAgentFollowUp: func(h *host, q question) (dialect.Object, refusal) {
		if h.desk.kept.stopped[q.text("target")] {
			return nil, noOwner
		}
		return nil, served
	},
	featurewire.MethodAgentModels: func(_ *host, q question) (dialect.Object, refusal) {
		if query := q.text("query"); !strings.Contains("conform-model", query) {
			return dialect.Object{"models": []any{}, "truncated": false}, served
		}
		return nil, served
	},
	featurewire.MethodSessionCompact: func(h *host, _ question) (dialect.Object, refusal) {
		if h.barren != nil && h.barren() {
			return nil, refusal{name: "internal_error"}
		}
		return nil, served
	},
	featurewire.MethodSessionCreate:      sessionless,
	featurewire.MethodSessionFork:        sessionless,
	featurewire.MethodSessionReload:      sessionless,
	featurewire.MethodSessionWaitForIdle: sessionless,
	featurewire.MethodUIOpen:             (*host).mounts,
	featurewire.MethodUIClose:            (*host).unmounts,
	featurewire.MethodCompositionCall:    (*host).composes,
	featurewire.MethodCompositionStore:   (*host).stores,
	featurewire.MethodResourceRegister:   (*host).registersResource,
	featurewire.MethodResourceRelease:    (*host).releasesResource,
	featurewire.MethodBulkWrite:          (*host).writesBulk,
	featurewire.MethodBulkRelease:        (*host).releasesBulk,
}

// slowly leaves a question open that takes time.
func slowly(_ *host, q question) (dialect.Object, refusal) {
	if q.text("prompt") == slowPrompt {
		return nil, refusal{name: waits}
	}
	return nil, served
}

// sessionless refuses the name of a session where none belongs.
func sessionless(_ *host, q question) (dialect.Object, refusal) {
	if v := q.at("session_id"); v != nil && string(v) != "null" {
		return nil, malformed
	}
	return nil, served
}

// publishes holds an artifact against its bytes.
func (h *host) publishes(q question) (dialect.Object, refusal) {
	bad := refusal{name: "invalid_params"}
	var p struct {
		Size   int                    `json:"size"`
		Sha256 string                 `json:"sha256"`
		Mime   string                 `json:"mime_type"`
		Data   *struct{ Data string } `json:"data"`
		Path   string                 `json:"path"`
	}
	if json.Unmarshal(q.params, &p) != nil {
		return nil, bad
	}
	var content []byte
	var err error
	if p.Data != nil {
		content, err = base64.StdEncoding.Strict().DecodeString(p.Data.Data)
		if len(content) > featurewire.MaxArtifactInlineBytes {
			return nil, bad
		}
	} else {
		content, err = h.scratchFile(p.Path)
	}
	sum := sha256.Sum256(content)
	k := &h.desk.kept
	png := strings.HasPrefix(string(content), "\x89PNG\r\n\x1a\n")
	switch {
	case q.owner == "":
		return nil, noOwner
	case err != nil, len(content) != p.Size, hex.EncodeToString(sum[:]) != p.Sha256, p.Mime == "image/png" && !png:
		return nil, bad
	case h.quirk.does == countsNothing:
	case k.artifacts >= featurewire.MaxArtifacts, k.artifactBytes+p.Size > featurewire.MaxArtifactTotalBytes:
		return nil, bad
	}
	k.artifacts++
	k.artifactBytes += p.Size
	return nil, served
}

// scratchFile reads a regular file of the scratch directory.
func (h *host) scratchFile(path string) ([]byte, error) {
	name := filepath.Join(h.x.Scratch, filepath.FromSlash(path))
	info, err := os.Lstat(name)
	if err != nil || !info.Mode().IsRegular() || !filepath.IsLocal(path) {
		return nil, os.ErrInvalid
	}
	return os.ReadFile(name)
}

// evaluates asks for an approval, takes it once for the same intent, and denies what has another one.
func (h *host) evaluates(q question) (dialect.Object, refusal) {
	token := q.text("approval_token")
	approvals := slices.Contains(h.desk.selected, featurewire.FeatureApprovals)
	what := string(dialect.Encode(json.RawMessage(q.at("intent")))) + string(q.at("parent_request_id"))
	k := &h.desk.kept
	switch {
	case token != "" && !approvals:
		return nil, malformed
	case token == "" && approvals:
		sum := sha256.Sum256([]byte(strconv.Itoa(len(k.approvals)) + what))
		fresh := hex.EncodeToString(sum[:])
		k.approvals[fresh] = what
		return dialect.Object{"decision": "ask", "approval_token": fresh}, served
	case token == "":
		return dialect.Object{"decision": "deny"}, served
	}
	good := k.approvals[token] == what
	k.approvals[token] = ""
	if good {
		return dialect.Object{"decision": "allow"}, served
	}
	return dialect.Object{"decision": "deny"}, served
}

// registers judges definitions beyond their model.
func (h *host) registers(q question) (dialect.Object, refusal) {
	var tools []struct {
		Parameters  map[string]json.RawMessage `json:"parameters"`
		Snippet     json.RawMessage            `json:"prompt_snippet"`
		Guidelines  []string                   `json:"prompt_guidelines"`
		Composition json.RawMessage            `json:"composition"`
		Operation   struct {
			Inputs []json.RawMessage `json:"resource_inputs"`
		} `json:"operation"`
	}
	bad := refusal{name: "invalid_params"}
	_ = json.Unmarshal(q.at("tools"), &tools)
	has := func(feature string) bool { return slices.Contains(h.desk.selected, feature) }
	for _, t := range tools {
		hinted := t.Snippet != nil && string(t.Snippet) != "null" || len(t.Guidelines) > 0
		switch {
		case string(t.Parameters["type"]) != `"object"`,
			hinted && !has(featurewire.FeatureToolPromptMetadataV1),
			t.Composition != nil && !has(featurewire.FeatureToolCompositionV1),
			len(t.Operation.Inputs) > 0 && !(has(featurewire.FeatureOperationDescriptorsV1) && has(featurewire.FeatureResourceRefsV1)):
			return nil, bad
		}
	}
	h.desk.kept.revision++
	var published []json.RawMessage
	_ = json.Unmarshal(q.at("tools"), &published)
	h.desk.kept.published = append(h.desk.kept.published, published...)
	return nil, served
}

// spawns gives the same agent to the same key, and no more of them than one owner may have.
func (h *host) spawns(q question) (dialect.Object, refusal) {
	k := &h.desk.kept
	key := q.text("idempotency_key")
	var p map[string]any
	_ = json.Unmarshal(q.params, &p)
	delete(p, "parent_request_id")
	what := string(dialect.Encode(p))
	before, known := k.agents[key]
	selection := strings.Contains(what, "model_selection") && !strings.Contains(what, `"model_selection":null`)
	switch {
	case selection && !slices.Contains(h.desk.selected, featurewire.FeatureAgentModelSelectionV1),
		strings.Contains(what, `"provider":`) && !strings.Contains(what, `"model":`):
		return nil, malformed
	case known && before != what:
		return nil, noOwner
	case known:
		return k.answers[key], served
	case len(k.agents) >= featurewire.MaxAgentRecords:
		return nil, noOwner
	}
	k.agents[key] = what
	answer := h.desk.services.Answer(h.message(q))
	var m struct {
		Result dialect.Object `json:"result"`
	}
	_ = json.Unmarshal(answer[0], &m)
	if slices.Contains(h.desk.selected, featurewire.FeatureAgentModelSelectionV1) {
		m.Result["resolved_model"] = dialect.Object{"provider": "conform", "model": "conform-model", "reasoning": dialect.Object{"type": "off"}}
	}
	k.answers[key] = m.Result
	if h.spawned != nil {
		h.spawned(q.text("message"))
	}
	return m.Result, served
}

func (h *host) mounts(q question) (dialect.Object, refusal) {
	k := &h.desk.kept
	if len(k.surfaces) >= featurewire.MaxUIMounts || slices.Contains(k.surfaces, q.text("surface_id")) {
		return nil, malformed
	}
	k.surfaces = append(k.surfaces, q.text("surface_id"))
	k.editor = k.editor || q.text("placement") == string(featurewire.UiPlacementEditor)
	return nil, served
}

func (h *host) unmounts(q question) (dialect.Object, refusal) {
	k := &h.desk.kept
	i := slices.Index(k.surfaces, q.text("surface_id"))
	if i < 0 {
		return nil, malformed
	}
	k.surfaces = slices.Delete(k.surfaces, i, i+1)
	return nil, served
}

func (h *host) composes(q question) (dialect.Object, refusal) {
	parent := string(q.at("parent_request_id"))
	if h.desk.kept.nested[parent]++; h.desk.kept.nested[parent] > featurewire.MaxCompositionCalls {
		return nil, noOwner
	}
	return nil, served
}

func (h *host) stores(q question) (dialect.Object, refusal) {
	parent := string(q.at("parent_request_id"))
	if h.desk.kept.stored[parent] {
		return nil, noOwner
	}
	h.desk.kept.stored[parent] = true
	return nil, served
}

func (h *host) registersResource(q question) (dialect.Object, refusal) {
	parent := string(q.at("parent_request_id"))
	if h.desk.kept.registered[parent] >= featurewire.MaxResourceRegistrations {
		return nil, noOwner
	}
	h.desk.kept.registered[parent]++
	return nil, served
}

func (h *host) releasesResource(q question) (dialect.Object, refusal) {
	var p struct {
		Resource featurewire.ResourceRef `json:"resource"`
	}
	if json.Unmarshal(q.params, &p) != nil || !slices.Contains(h.desk.services.Resources(), p.Resource) {
		return nil, noOwner
	}
	return nil, served
}

func (h *host) writesBulk(q question) (dialect.Object, refusal) {
	var p struct {
		Capacity int64 `json:"capacity"`
	}
	_ = json.Unmarshal(q.params, &p)
	switch {
	case p.Capacity > featurewire.MaxBulkObjectBytes:
		return nil, tooMuch
	case len(h.desk.kept.tickets) >= featurewire.MaxBulkWriteTickets:
		return nil, noOwner
	}
	h.desk.kept.tickets[strconv.Itoa(len(h.desk.kept.tickets))] = p.Capacity
	return nil, served
}

func (h *host) releasesBulk(q question) (dialect.Object, refusal) {
	if !strings.HasPrefix(q.text("id"), "ticket-") && !strings.HasPrefix(q.text("id"), "lease-") {
		return nil, noOwner
	}
	return nil, served
}

// setsComposer takes the text of an editor with a checkpoint that goes on, and of everybody else without one.
func (h *host) setsComposer(q question) (dialect.Object, refusal) {
	var c *struct {
		Mount    string `json:"mount_id"`
		Input    int64  `json:"input_revision"`
		Revision int64  `json:"checkpoint_revision"`
	}
	if json.Unmarshal(q.at("editor_checkpoint"), &c) != nil {
		c = nil
	}
	k := &h.desk.kept
	switch {
	case (c != nil) != k.editor, c != nil && (c.Revision <= k.checkpoint || c.Input != 0 || c.Mount == ""):
		return nil, malformed // this host sends an editor no input
	case c != nil:
		k.checkpoint = c.Revision
	}
	return nil, served
}
