package assembly

import "github.com/octet-dev/octet/generated/oupwire"

// features are those that the server stands behind.
var features = []string{
	oupwire.FeatureApprovalTypedV1,
	oupwire.FeatureAuxiliaryRestToWsV1,
	oupwire.FeatureContextLifecycleV1,
	oupwire.FeatureEventTurnSteerDroppedV1,
	oupwire.FeatureHarnessTaskArtifactsV1,
	oupwire.FeatureHarnessTaskControlV1,
	oupwire.FeatureLedgerDurableV1,
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

// reasons say why a request is not served.
func reasons() map[string]string { return map[string]string{} }
