package methods

import (
	"context"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/host/oup/pending"
	"github.com/octet-dev/octet/host/oup/rpc"
)

func (r *Rows) approvals() map[string]rpc.Handler {
	return map[string]rpc.Handler{oupwire.MethodApprovalRespond: rpc.Handle(oupwire.DecodeApprovalRespondParams, r.respond)}
}

// respond settles a request for approval. That it is decided is on this connection before the answer.
//
// Rules: OUP-APPROVAL-003 to OUP-APPROVAL-010.
func (r *Rows) respond(ctx context.Context, call *rpc.Call, p oupwire.ApprovalRespondParams) (oupwire.ApprovalRespondResult, error) {
	var none oupwire.ApprovalRespondResult
	session, err := r.House.Find(ctx, call.Scope.Session)
	if err != nil {
		return none, r.fail(call, err)
	}
	decided, err := session.Pending().Decide(ctx, pending.Decision{
		Approval: p.ApprovalID, Decision: p.Decision, Scope: string(p.ApprovalScope.Or("")), Note: p.ClientNote.Or(""), By: call.Scope.Profile,
	})
	if err != nil {
		return none, r.fail(call, err)
	}
	r.Lanes.Of(call.Connection).Flush(ctx, session.Key(), decided.Event.Seq)
	return oupwire.ApprovalRespondResult{
		ApprovalID: p.ApprovalID, Accepted: true, Status: oupwire.ResponseStatusAccepted, RuntimeResumed: decided.Resumed,
	}, nil
}
