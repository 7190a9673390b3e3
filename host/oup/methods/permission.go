package methods

import (
	"context"
	"errors"
	"fmt"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/oup/key"
	"github.com/octet-dev/octet/host/oup/pending"
	"github.com/octet-dev/octet/host/oup/rpc"
	"github.com/octet-dev/octet/host/permission"
)

func (r *Rows) permissions() map[string]rpc.Handler {
	return map[string]rpc.Handler{
		oupwire.MethodApprovalScopesList:    rpc.Handle(oupwire.DecodeApprovalScopesListParams, r.scopes),
		oupwire.MethodUserQuestionRespond:   rpc.Handle(oupwire.DecodeUserQuestionRespondParams, r.answer),
		oupwire.MethodPermissionProfileList: rpc.Handle(oupwire.DecodePermissionProfileListParams, r.profiles),
		oupwire.MethodPermissionProfileSet:  rpc.Handle(oupwire.DecodePermissionProfileSetParams, r.permit),
	}
}

// sprintf makes the text of a refusal.
func sprintf(format string, values ...any) string { return fmt.Sprintf(format, values...) }

// scopes lists what decisions are remembered.
func (r *Rows) scopes(ctx context.Context, call *rpc.Call, _ oupwire.ApprovalScopesListParams) (oupwire.ApprovalScopesListResult, error) {
	s, err := r.House.Find(ctx, call.Scope.Session)
	if err != nil {
		return oupwire.ApprovalScopesListResult{}, r.fail(call, err)
	}
	list := s.Pending().Remembered()
	if list == nil {
		list = []oupwire.ApprovalScopeEntry{}
	}
	return oupwire.ApprovalScopesListResult{Scopes: list}, nil
}

// answer answers questions.
//
// Rules: OUP-QUESTION-005, OUP-QUESTION-006, OUP-QUESTION-007.
func (r *Rows) answer(ctx context.Context, call *rpc.Call, p oupwire.UserQuestionRespondParams) (oupwire.UserQuestionRespondResult, error) {
	var none oupwire.UserQuestionRespondResult
	s, err := r.House.Find(ctx, call.Scope.Session)
	if err != nil {
		return none, r.fail(call, err)
	}
	resumed, err := s.Pending().Answer(p.QuestionID, p.Answers)
	if err != nil {
		return none, r.fail(call, err)
	}
	return oupwire.UserQuestionRespondResult{QuestionID: p.QuestionID, Accepted: true, RuntimeResumed: resumed}, nil
}

// question spells what is wrong with an answer.
func question(call *rpc.Call, err error) *rpc.Error {
	var missing *pending.UnknownError
	var stale *pending.StaleError
	var misfit *pending.InvalidError
	method, session := wirejson.Some(call.Method), wirejson.Some(call.Scope.Session.String())
	switch {
	case errors.As(err, &missing) && call.Method == oupwire.MethodUserQuestionRespond:
		return detailed(call, oupwire.ErrUserQuestionUnknown, err, oupwire.UserQuestionUnknownErrorData{Method: method, SessionID: session, QuestionID: missing.ID})
	case errors.As(err, &stale):
		data := oupwire.UserQuestionStaleErrorData{Method: method, SessionID: session, QuestionID: stale.Question, Reason: stale.Reason}
		if stale.Turn != "" {
			data.TurnID = wirejson.Some(stale.Turn)
		}
		return detailed(call, oupwire.ErrUserQuestionStale, err, data)
	case errors.As(err, &misfit):
		return detailed(call, oupwire.ErrUserQuestionInvalid, err, oupwire.UserQuestionInvalidErrorData{
			Method: method, SessionID: session, QuestionID: misfit.Question, Reason: wirejson.Some(misfit.Reason),
		})
	}
	return nil
}

// modes are the permissions, as the kernel has them.
var modes = map[oupwire.PermissionMode]permission.Mode{
	oupwire.PermissionModeReadOnly:         permission.ReadOnly,
	oupwire.PermissionModeWorkspaceWrite:   permission.WorkspaceWrite,
	oupwire.PermissionModeDangerFullAccess: permission.FullAccess,
}

// selection is a profile as clients read it. The network goes with the widest one alone.
func selection(p permission.Profile) oupwire.PermissionSelection {
	s := oupwire.PermissionSelection{Mode: oupwire.PermissionModeWorkspaceWrite, Network: oupwire.PermissionNetworkDeny}
	for wire, mode := range modes {
		if mode == p.Mode {
			s.Mode = wire
		}
	}
	if s.Mode == oupwire.PermissionModeDangerFullAccess {
		s.Network = oupwire.PermissionNetworkAllow
	}
	return s
}

// solo reports whether the server serves one person on their own machine, and the session is none of a tenant.
//
// Rule: OUP-PERMISSION-004.
func (r *Rows) solo(call *rpc.Call) bool {
	local := r.Gate.Local || call.Info().Transport == oupwire.TransportStdio
	return local && call.Scope.Profile == key.Default()
}

// profiles lists what may be chosen.
func (r *Rows) profiles(ctx context.Context, call *rpc.Call, _ oupwire.PermissionProfileListParams) (oupwire.PermissionProfileListResult, error) {
	s, err := r.House.Find(ctx, call.Scope.Session)
	if err != nil {
		return oupwire.PermissionProfileListResult{}, r.fail(call, err)
	}
	offered := []oupwire.PermissionSelection{
		{Mode: oupwire.PermissionModeReadOnly, Network: oupwire.PermissionNetworkDeny},
		{Mode: oupwire.PermissionModeWorkspaceWrite, Network: oupwire.PermissionNetworkDeny},
	}
	if r.solo(call) {
		offered = append(offered, oupwire.PermissionSelection{Mode: oupwire.PermissionModeDangerFullAccess, Network: oupwire.PermissionNetworkAllow})
	}
	return oupwire.PermissionProfileListResult{SessionID: s.Key(), Current: selection(s.Profile()), Profiles: wirejson.Some(offered)}, nil
}

// spelled is the word that a spelling of a member means.
//
// Rule: OUP-PERMISSION-002.
func spelled(member, word string) string {
	for _, row := range oupwire.TableSpellings {
		if row.Member == member && row.Spelling == word {
			return row.Means
		}
	}
	return word
}

// permit chooses how far tools reach.
//
// Rules: OUP-PERMISSION-001 to OUP-PERMISSION-008.
func (r *Rows) permit(ctx context.Context, call *rpc.Call, p oupwire.PermissionProfileSetParams) (oupwire.PermissionProfileSetResult, error) {
	var none oupwire.PermissionProfileSetResult
	s, err := r.House.Find(ctx, call.Scope.Session)
	if err != nil {
		return none, r.fail(call, err)
	}
	wanted, err := r.wanted(call, s.Profile(), p)
	if err != nil {
		return none, err
	}
	changed := s.SetProfile(wanted)
	return oupwire.PermissionProfileSetResult{SessionID: s.Key(), Current: selection(wanted), Applied: changed}, nil
}

// wanted is the profile behind an update, or why it may not be had.
func (r *Rows) wanted(call *rpc.Call, now permission.Profile, p oupwire.PermissionProfileSetParams) (permission.Profile, error) {
	is := selection(now)
	mode := oupwire.PermissionMode(spelled("update.mode", string(p.Update.Mode.Or(is.Mode))))
	network, asked := p.Update.Network.Get()
	policy := oupwire.ApprovalPolicyOnRequest
	if now.Never {
		policy = oupwire.ApprovalPolicyNever
	}
	if word, has := p.Update.ApprovalPolicy.Get(); has {
		policy = oupwire.ApprovalPolicy(spelled("update.approval_policy", word))
		if !policy.Known() {
			e := invalid(call, "approval_policy %q does not exist", word)
			e.Data = oupwire.ApprovalPolicyInvalidErrorData{ApprovalPolicy: word}
			return now, e
		}
	}
	reach, known := modes[mode]
	if !known {
		return now, invalid(call, "update.mode %q does not exist", mode)
	}
	full := mode == oupwire.PermissionModeDangerFullAccess
	if !asked && full {
		network = oupwire.PermissionNetworkAllow
	} else if !asked {
		network = oupwire.PermissionNetworkDeny
	}
	solo := r.solo(call)
	if word, has := p.RuntimeMode.Get(); has && word != string(oupwire.RuntimeModeSolo) {
		solo = false
	}
	never := policy == oupwire.ApprovalPolicyNever
	if !solo && (full || network == oupwire.PermissionNetworkAllow || never) || solo && full != (network == oupwire.PermissionNetworkAllow) {
		return now, disallowed(call, solo, mode, network, policy)
	}
	return permission.Profile{Mode: reach, Never: never}, nil
}

// disallowed refuses permissions that are not on offer.
//
// Rule: OUP-PERMISSION-005.
func disallowed(call *rpc.Call, solo bool, mode oupwire.PermissionMode, network oupwire.PermissionNetwork, policy oupwire.ApprovalPolicy) *rpc.Error {
	runtime := oupwire.RuntimeModeMultiTenant
	if solo {
		runtime = oupwire.RuntimeModeSolo
	}
	e := rpc.Fail(oupwire.ErrPermissionDenied, sprintf("%s: %s with network %s and policy %s is not on offer here; choose one of %s",
		call.Method, mode, network, policy, oupwire.MethodPermissionProfileList))
	e.Data = oupwire.PermissionDisallowedErrorData{
		RuntimeMode: string(runtime), PermissionProfile: string(mode), Network: string(network), ApprovalPolicy: wirejson.Some(string(policy)),
	}
	return e
}
