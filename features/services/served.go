package services

import (
	"encoding/json"
	"slices"

	fw "github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
)

// served has the answer to every request that extensions of the feature wire may send. People are not there to
// be asked: they agree to nothing and say nothing.
var served = map[string]handler{
	fw.MethodConfirmationRequest: granting(fw.ConfirmationRequestResult{Confirmed: false}),
	fw.MethodInputRequest:        granting(fw.InputRequestResult{Value: wirejson.Null[string]()}),
	fw.MethodArtifactPublish: func(h *Host, _ []byte) (wirejson.Encoder, string) {
		return fw.ArtifactPublishResult{ArtifactID: h.next("artifact")}, ""
	},
	fw.MethodPolicyEvaluate: serving(fw.DecodePolicyEvaluateParams, (*Host).policy),
	fw.MethodSecretGet:      func(*Host, []byte) (wirejson.Encoder, string) { return nil, "secret_unavailable" },

	fw.MethodToolsRegister:   serving(fw.DecodeToolsRegisterParams, (*Host).registerTools),
	fw.MethodToolsUnregister: serving(fw.DecodeToolsUnregisterParams, (*Host).unregisterTools),
	fw.MethodToolsSetActive:  granting(fw.ToolsSetActiveResult{}),

	fw.MethodAgentSpawn:    serving(fw.DecodeAgentSpawnParams, (*Host).spawn),
	fw.MethodAgentMessage:  serving(fw.DecodeAgentMessageParams, (*Host).message),
	fw.MethodAgentFollowUp: serving(fw.DecodeAgentFollowUpParams, (*Host).followUp),
	fw.MethodAgentList:     func(h *Host, _ []byte) (wirejson.Encoder, string) { return h.records(), "" },
	fw.MethodAgentWait: func(h *Host, _ []byte) (wirejson.Encoder, string) {
		return fw.AgentWaitResult{Snapshot: h.records()}, ""
	},
	fw.MethodAgentInterrupt: serving(fw.DecodeAgentInterruptParams, (*Host).interrupt),
	fw.MethodAgentModels:    granting(models),
	fw.MethodAgentEvents:    serving(fw.DecodeAgentEventsParams, (*Host).agentEvents),
	fw.MethodAgentStop:      serving(fw.DecodeAgentStopParams, (*Host).stop),

	fw.MethodComposerGet: func(h *Host, _ []byte) (wirejson.Encoder, string) { return fw.ComposerGetResult{Text: h.composer}, "" },
	fw.MethodComposerSet: serving(fw.DecodeComposerSetParams, (*Host).setComposer),
	fw.MethodComposerInsert: serving(fw.DecodeComposerInsertParams, func(h *Host, p fw.ComposerInsertParams) (wirejson.Encoder, string) {
		h.composer += p.Text
		return fw.ComposerInsertResult{}, ""
	}),
	fw.MethodComposerHistory: granting(fw.ComposerHistoryResult{}),
	fw.MethodShortcutRegister: serving(fw.DecodeShortcutRegisterParams, func(h *Host, p fw.ShortcutRegisterParams) (wirejson.Encoder, string) {
		h.shortcuts = append(h.shortcuts, p.ID)
		return fw.ShortcutRegisterResult{}, ""
	}),

	fw.MethodSessionAppendEntry: func(h *Host, _ []byte) (wirejson.Encoder, string) {
		return fw.SessionAppendEntryResult{EntryID: h.next("entry")}, ""
	},
	fw.MethodSessionSetName:         granting(fw.SessionSetNameResult{}),
	fw.MethodSessionSetLabel:        granting(fw.SessionSetLabelResult{}),
	fw.MethodSessionSendMessage:     granting(fw.SessionSendMessageResult{}),
	fw.MethodSessionSendUserMessage: granting(fw.SessionSendUserMessageResult{}),
	fw.MethodSessionWaitForIdle: func(h *Host, _ []byte) (wirejson.Encoder, string) {
		return fw.SessionWaitForIdleResult{SessionID: h.session}, ""
	},
	fw.MethodSessionCreate: func(h *Host, _ []byte) (wirejson.Encoder, string) {
		return fw.SessionCreateResult{SessionID: h.next("session")}, ""
	},
	fw.MethodSessionFork: func(h *Host, _ []byte) (wirejson.Encoder, string) {
		return fw.SessionForkResult{SessionID: h.next("fork")}, ""
	},
	fw.MethodSessionSwitch: serving(fw.DecodeSessionSwitchParams, func(h *Host, p fw.SessionSwitchParams) (wirejson.Encoder, string) {
		h.session = p.SessionID
		return fw.SessionSwitchResult{SessionID: h.session}, ""
	}),
	fw.MethodSessionReload: func(h *Host, _ []byte) (wirejson.Encoder, string) {
		return fw.SessionReloadResult{SessionID: h.session}, ""
	},
	fw.MethodSessionCompact: func(h *Host, _ []byte) (wirejson.Encoder, string) {
		return fw.SessionCompactResult{EntryID: h.next("entry"), Summary: "Short summary.", FirstKept: "entry-0"}, ""
	},

	fw.MethodTerminalAcquire: func(h *Host, _ []byte) (wirejson.Encoder, string) {
		return fw.TerminalAcquireResult{GrantID: h.next("grant"), Columns: columns, Rows: rows}, ""
	},
	fw.MethodTerminalRelease: granting(fw.TerminalReleaseResult{}),
	fw.MethodUIAutocompleteRegister: func(h *Host, _ []byte) (wirejson.Encoder, string) {
		h.completes = true
		return fw.UiAutocompleteRegisterResult{Accepted: true}, ""
	},
	fw.MethodUIOpen:   serving(fw.DecodeUiOpenParams, (*Host).open),
	fw.MethodUIClose:  serving(fw.DecodeUiCloseParams, (*Host).close),
	fw.MethodUIChrome: granting(fw.UiChromeResult{ToolsExpanded: false}),

	fw.MethodCompositionContext: granting(composition),
	fw.MethodCompositionCall:    serving(fw.DecodeCompositionCallParams, (*Host).compose),
	fw.MethodCompositionStore:   granting(fw.CompositionStoreResult{}),
	fw.MethodResourceRegister:   serving(fw.DecodeResourceRegisterParams, (*Host).registerResource),
	fw.MethodResourceRelease:    serving(fw.DecodeResourceReleaseParams, (*Host).releaseResource),
	fw.MethodBulkWrite:          serving(fw.DecodeBulkWriteParams, (*Host).write),
	fw.MethodBulkCommit:         serving(fw.DecodeBulkCommitParams, (*Host).commit),
	fw.MethodBulkRead:           serving(fw.DecodeBulkReadParams, (*Host).read),
	fw.MethodBulkRelease:        granting(fw.BulkReleaseResult{Released: true}),
}

// The terminal of the host.
const (
	columns = 80
	rows    = 24
)

// policy asks once where approvals were negotiated, so that the answer to it is seen, and denies otherwise.
func (h *Host) policy(p fw.PolicyEvaluateParams) (wirejson.Encoder, string) {
	if _, approved := p.ApprovalToken.Get(); approved {
		return fw.PolicyAllow{}, ""
	}
	var r fw.InitializeResult
	// A result that cannot be read selects nothing.
	if json.Unmarshal(h.view.Result(), &r) != nil || !slices.Contains(r.Protocol.Features, fw.FeatureApprovals) {
		return fw.PolicyDeny{}, ""
	}
	return fw.PolicyAsk{ApprovalToken: wirejson.Some(digest([]byte(h.next("approval"))))}, ""
}

func (h *Host) registerTools(p fw.ToolsRegisterParams) (wirejson.Encoder, string) {
	revision, names := h.publish(func(catalog map[string]Tool) {
		for _, t := range p.Tools {
			catalog[string(t.Name)] = Tool{Name: string(t.Name), Parameters: t.Parameters}
		}
	})
	return fw.ToolsRegisterResult{Revision: revision, Tools: names}, ""
}

func (h *Host) unregisterTools(p fw.ToolsUnregisterParams) (wirejson.Encoder, string) {
	revision, names := h.publish(func(catalog map[string]Tool) {
		for _, name := range p.Names {
			delete(catalog, string(name))
		}
	})
	return fw.ToolsUnregisterResult{Revision: revision, Tools: names}, ""
}

func (h *Host) setComposer(p fw.ComposerSetParams) (wirejson.Encoder, string) {
	h.composer = p.Text
	var r fw.ComposerSetResult
	if c, ok := p.EditorCheckpoint.Get(); ok {
		r.InputRevision, r.CheckpointRevision = wirejson.Some(c.InputRevision), wirejson.Some(c.CheckpointRevision)
	}
	return r, ""
}

func (h *Host) open(p fw.UiOpenParams) (wirejson.Encoder, string) {
	if len(h.surfaces) >= fw.MaxUIMounts || slices.Contains(h.surfaces, p.SurfaceID) {
		return nil, "invalid_params"
	}
	h.surfaces = append(h.surfaces, p.SurfaceID)
	r := fw.UiOpenResult{Columns: columns, Rows: rows}
	if placement, _ := p.Placement.Get(); placement == fw.UiPlacementEditor {
		r.EditorMountID = wirejson.Some(h.next("mount"))
	}
	return r, ""
}

func (h *Host) close(p fw.UiCloseParams) (wirejson.Encoder, string) {
	h.surfaces = slices.DeleteFunc(h.surfaces, func(id string) bool { return id == p.SurfaceID })
	return fw.UiCloseResult{}, ""
}
