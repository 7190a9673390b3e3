package services

import (
	"context"
	"errors"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/oup/profile"
	"github.com/octet-dev/octet/host/oup/rpc"
)

func (r *Rows) people() map[string]rpc.Handler {
	return map[string]rpc.Handler{
		oupwire.MethodProfileLocalCreate: rpc.Handle(oupwire.DecodeProfileLocalCreateParams, r.create),
		oupwire.MethodAuthStatus:         rpc.Handle(oupwire.DecodeAuthStatusParams, r.authStatus),
	}
}

// The words for what is wrong with a new profile.
var faults = map[profile.Fault]string{
	profile.BadName: "profile_local_invalid_name", profile.BadUsername: "profile_local_invalid_username", profile.BadEmail: "profile_local_invalid_email",
}

// create makes a profile for somebody on this machine.
//
// Rules: OUP-PROFILE-001 to OUP-PROFILE-009.
func (r *Rows) create(_ context.Context, call *rpc.Call, p oupwire.ProfileLocalCreateParams) (oupwire.ProfileLocalCreateResult, error) {
	var none oupwire.ProfileLocalCreateResult
	set := call.Set()
	n := profile.New{Name: p.Name.Or(""), Username: p.Username.Or(""), Email: p.Email.Or("")}
	if set.Has(oupwire.FeatureProfileLocalCreateRequestedIDV1) {
		n.RequestedID = p.RequestedID.Or("")
	}
	if set.Has(oupwire.FeatureProfileLocalCreateDefaultV1) {
		n.MakeDefault = p.MakeDefault.Or(false)
	}
	made, created, err := r.Profiles.Create(n)
	var fault *profile.FaultError
	var collision *profile.CollisionError
	switch {
	case errors.As(err, &fault):
		return none, refuse(call, faults[fault.Fault], fault.Error())
	case errors.As(err, &collision):
		refusal := refuse(call, "profile_local_collision", collision.Error())
		refusal.Data = oupwire.ProfileLocalCollisionErrorData{ProfileID: wirejson.Some(collision.ID), Reason: wirejson.Some(collision.Which)}
		return none, refusal
	case err != nil:
		return none, r.fail(call, err)
	}
	result := oupwire.ProfileLocalCreateResult{
		ProfileID: made.ID, UserID: made.ID, Name: made.Name, Username: made.Username, Email: wirejson.Null[string](), Created: created,
		RuntimeMode: oupwire.RuntimeModeSolo,
	}
	if made.Email != "" {
		result.Email = wirejson.Some(made.Email)
	}
	return result, nil
}

// authStatus says how one gets in here: with the token of the server, or without any on this machine.
//
// Rule: OUP-AUTH-002.
func (r *Rows) authStatus(_ context.Context, call *rpc.Call, _ oupwire.AuthStatusParams) (oupwire.AuthStatusResult, error) {
	who := call.Info().Identity
	return oupwire.AuthStatusResult{
		AdminTokenLoginEnabled: r.Token, TokenLogin: r.Token, Authenticated: who.Known() || !r.Token, ProfileID: wirejson.Some(call.Scope.Profile),
	}, nil
}
