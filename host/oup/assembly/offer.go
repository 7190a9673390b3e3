package assembly

import (
	"strings"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/oup/rpc"
)

// features are those that the server stands behind.
var features = []string{
	oupwire.FeatureApprovalTypedV1,
	oupwire.FeatureAuxiliaryRestToWsV1,
	oupwire.FeatureContextLifecycleV1,
	oupwire.FeatureEventTurnSteerDroppedV1,
	oupwire.FeatureHarnessTaskArtifactsV1,
	oupwire.FeatureHarnessTaskControlV1,
	oupwire.FeatureLedgerDurableV1,
	oupwire.FeaturePaneSnapshotsV1,
	oupwire.FeaturePermissionProfileV1,
	oupwire.FeatureOnboardingWorkspaceProbeV1,
	oupwire.FeatureProfileLocalCreateV1,
	oupwire.FeatureProfileLocalCreateRequestedIDV1,
	oupwire.FeatureProfileLocalCreateDefaultV1,
	oupwire.FeatureRuntimePolicyStampV1,
	oupwire.FeaturePlanTodosV1,
	oupwire.FeatureProjectionEnvelopeV2,
	oupwire.FeatureSessionWorkspaceCwdV1,
	oupwire.FeatureStateSessionHydrateV1,
	oupwire.FeatureStateThreadGraphV1,
	oupwire.FeatureStateTurnStateGetV1,
	oupwire.FeatureUserQuestionV1,
}

// missing says why requests are not served, by the beginning of their names.
var missing = []struct{ prefix, reason string }{
	{"agent/", "is not served: a child of a conversation is a tool call here, and there is nothing else to supervise"},
	{oupwire.MethodAuthSendCode, "is not served: nobody logs in by mail here; a client shows the token of the server"},
	{oupwire.MethodAuthVerify, "is not served: nobody logs in by mail here; a client shows the token of the server"},
	{oupwire.MethodAuthMe, "is not served: the token of the server stands for its owner, of whom no more is known"},
	{oupwire.MethodAuthLogout, "is not served: a token is not a login; withdraw it where the server was started"},
	{"content/", "is not served: no catalogue of files is kept; " + oupwire.MethodSessionFilesList + " tells those of a session"},
	{"cron/", "is not served: the server starts no work by the clock"},
	{"loop/", "is not served: the server starts no turns by itself"},
	{"memory/", "is not served: nothing is remembered beyond sessions"},
	{"monitor/", "is not served: the server starts no turns by itself"},
	{oupwire.MethodOnboardingWorkspaceList, "is not served: folders are named by the client; " + oupwire.MethodOnboardingWorkspaceProbe + " judges one"},
	{oupwire.MethodOnboardingWorkspaceCreate, "is not served: folders are made by whoever owns them; " + oupwire.MethodOnboardingWorkspaceProbe + " judges one"},
	{"peer/", "is not served: sessions do not host each other here"},
	{"profile/skills/", "is not served: skills come with extensions, which octet extension installs"},
	{"profile/sub_providers/", "is not served: there are no lanes beside the model of a session; " + oupwire.MethodProfileLlmUpsert + " adds models"},
	{oupwire.MethodReviewStart, "is not served: there is no reviewer beside the model; start a turn that asks for a review"},
	{oupwire.MethodRouterSetMode, "is not served: requests go to the one model that is chosen, so there is nothing to switch"},
	{oupwire.MethodServerInstanceGet, "is not served: one server has one data directory, and " + oupwire.MethodSystemStatusGet + " tells of it"},
	{"session/goal/", "is not served: the server keeps no goals; what is wanted is said in a turn"},
	{"session/tool_list/", "is not served: which tools there are is decided by the options of the server and its extensions"},
	{"skill/", "is not served: actions of skills are tools of extensions here"},
	{"smart_home/", "is not served: no devices are connected"},
	{oupwire.MethodTaskRestartFromNode, "is not served: a background task is one command, without steps to begin at"},
	{"voice/", "is not served: audio is neither heard nor spoken"},
}

// reasons say why a request is not served.
func reasons(served map[string]rpc.Handler) map[string]string {
	reasons := map[string]string{}
	for _, m := range oupwire.Methods {
		if m.Notification || m.Direction != wirejson.ClientToServer || served[m.Name] != nil {
			continue
		}
		for _, row := range missing {
			if strings.HasPrefix(m.Name, row.prefix) {
				reasons[m.Name] = row.reason
			}
		}
	}
	return reasons
}
