package methods

import (
	"context"
	"errors"

	"github.com/octet-dev/octet/generated/oupwire"
	"github.com/octet-dev/octet/host/oup/live"
	"github.com/octet-dev/octet/host/oup/rpc"
)

func (r *Rows) steering() map[string]rpc.Handler {
	return map[string]rpc.Handler{oupwire.MethodTurnSteer: rpc.Handle(oupwire.DecodeTurnSteerParams, r.steer)}
}

// steer adds to a turn while it runs, or starts one where none runs.
//
// Rules: OUP-STEER-001, OUP-STEER-002, OUP-STEER-003.
func (r *Rows) steer(ctx context.Context, call *rpc.Call, p oupwire.TurnSteerParams) (oupwire.TurnSteerResult, error) {
	var none oupwire.TurnSteerResult
	s, err := r.House.Find(ctx, call.Scope.Session)
	if err != nil {
		return none, r.fail(call, err)
	}
	release, err := r.Lanes.Of(call.Connection).Hold(ctx, s.Key())
	if err != nil {
		return none, err
	}
	call.After(release)
	done, err := s.Steer(ctx, p.Input, p.ExpectedTurnID.Or(""))
	var other *live.OtherTurnError
	switch {
	case errors.As(err, &other):
		return none, invalid(call, "%v", other)
	case err != nil:
		return none, r.fail(call, err)
	}
	if started := done.Started; started != nil {
		call.After(func() { r.launch(call, s, started) })
	}
	return oupwire.TurnSteerResult{TurnID: done.Turn, Steered: done.Started == nil}, nil
}
