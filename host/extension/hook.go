package extension

import (
	"context"
	"encoding/json"
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"time"

	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/manifestdoc"
	"github.com/octet-dev/octet/generated/wirejson"
)

// HookRun is one hook to be run.
type HookRun struct {
	Hook    string
	Payload wirejson.Encoder
	Scope   Scope
	// Leaf is the private grant of a session-operation hook, nil for none.
	Leaf json.RawMessage
	// Value is handed to services in HostCall.Value.
	Value any
	// Timeout bounds the wait for the answer; 0 means what the hook table says.
	Timeout time.Duration
}

// Declares reports whether a hook of the feature wire may be run: the manifest declares it, the API version
// knows it, and the feature behind it was selected.
func (x *Extension) Declares(hook string) bool {
	h := featurewire.LookupHook(hook)
	return h != nil && slices.Contains(h.Versions, x.source.Manifest.API) &&
		slices.Contains(x.source.Manifest.Contributes.Hooks, manifestdoc.Hook(hook)) &&
		(featurewire.LookupFeature(h.Feature) == nil || x.Has(h.Feature))
}

// RunHook runs a hook and judges its result by the model of that hook: the member of another hook makes it
// a failure. It returns at the end of the context or the timeout at the latest, whatever the extension does.
// Notifications and context of the result have not been passed on: see AdmitNotifications and Admit.
func (x *Extension) RunHook(ctx context.Context, h HookRun) (*featurewire.HookRunResult, error) {
	if !x.Declares(h.Hook) {
		return nil, x.undeclared("the hook %q", h.Hook)
	}
	row := featurewire.LookupHook(h.Hook)
	if err := h.Payload.Validate(); err != nil {
		return nil, x.unsent(featurewire.MethodHookRun, err)
	}
	params := featurewire.HookRunParams{Hook: featurewire.HookName(h.Hook), Payload: h.Payload.AppendJSON(nil), Context: x.Context(h.Scope)}
	if h.Leaf != nil {
		params.SessionLeaf = wirejson.Some(h.Leaf)
	}
	a := Ask{Method: featurewire.MethodHookRun, Subject: h.Hook, Params: params, Scope: h.Scope, Value: h.Value, Timeout: h.Timeout, Detached: true}
	if x.legacy() {
		a.Params = featurewire.HookRunParamsV01{Hook: params.Hook, Payload: params.Payload, Context: x.contextV01(h.Scope)}
	}
	if a.Timeout == 0 {
		a.Timeout = max(time.Duration(row.DeadlineMS), time.Duration(row.AggregateMS)) * time.Millisecond
	}
	return answerOf(ctx, x, a, func(data []byte) (*featurewire.HookRunResult, error) {
		if err := featurewire.ValidateModel(row.Result, data); err != nil {
			return nil, err
		}
		r, err := featurewire.DecodeHookRunResult(data)
		if err != nil {
			return nil, err
		}
		if d, given := r.Disposition.Get(); given && row.Deny == denyInvalid {
			if _, denies := d.(featurewire.DispositionDeny); denies {
				return nil, fmt.Errorf("the hook %q cannot deny", h.Hook)
			}
		}
		return &r, checkForeign(&r, ownResults[row.Result])
	})
}

// denyInvalid is what the hook table says of hooks that must not deny.
const denyInvalid = "invalid"

// ownResults are the results of the hooks by the names of their models. To decode by such a name would keep the code of every
// model in the program.
var ownResults = func() map[string]reflect.Type {
	types := map[string]reflect.Type{}
	for _, t := range []reflect.Type{
		reflect.TypeFor[featurewire.AfterResponseHookResult](),
		reflect.TypeFor[featurewire.AfterToolCallHookResult](),
		reflect.TypeFor[featurewire.BeforePersistenceHookResult](),
		reflect.TypeFor[featurewire.BeforePromptHookResult](),
		reflect.TypeFor[featurewire.BeforeToolCallHookResult](),
		reflect.TypeFor[featurewire.CacheWarmingDecisionHookResult](),
		reflect.TypeFor[featurewire.CompactionStrategyHookResult](),
		reflect.TypeFor[featurewire.ModelTurnEndHookResult](),
		reflect.TypeFor[featurewire.ModelTurnStartHookResult](),
		reflect.TypeFor[featurewire.PostMutationHookResult](),
		reflect.TypeFor[featurewire.ProviderRetryHookResult](),
		reflect.TypeFor[featurewire.ResourcesDiscoverHookResult](),
		reflect.TypeFor[featurewire.SessionBeforeCompactHookResult](),
		reflect.TypeFor[featurewire.SessionCompactHookResult](),
	} {
		types[t.Name()] = t
	}
	return types
}()

// checkForeign refuses a result with a member that the model of its own hook does not have.
//
// Source: EXT04-HOOK-018.
func checkForeign(r *featurewire.HookRunResult, mine reflect.Type) error {
	all := reflect.ValueOf(r).Elem()
	for i := range all.NumField() {
		member, optional := all.Field(i).Interface().(interface{ IsAbsent() bool })
		field := all.Type().Field(i)
		if _, has := mine.FieldByName(field.Name); optional && !has && !member.IsAbsent() {
			return fmt.Errorf("the member %q belongs to another hook", field.Tag.Get("json"))
		}
	}
	return nil
}

// unsent reports params that break their model: the fault is the host's.
func (x *Extension) unsent(method string, err error) error {
	return &Failure{Kind: Unsent, Cause: err, Message: fmt.Sprintf("extension request `%s` was not sent: %v", method, err)}
}

// DeclaresSessionHooks reports whether the hooks of API 0.3 around a session are run.
func (x *Extension) DeclaresSessionHooks() bool {
	return x.source.Manifest.API == canonicalVersion && slices.Contains(x.source.Manifest.Contributes.Hooks, manifestdoc.HookSessionStart) &&
		x.opens(canonicalwire.MethodHookRun)
}

// SessionHook runs a session hook of API 0.3. It returns after 250 ms at the latest. A disposition is for the
// record: none holds anything up.
func (x *Extension) SessionHook(ctx context.Context, p canonicalwire.SessionHookParams) (canonicalwire.Disposition, error) {
	if !x.DeclaresSessionHooks() {
		return canonicalwire.Disposition{}, x.undeclared("session hooks")
	}
	if err := p.Validate(); err != nil {
		return canonicalwire.Disposition{}, x.unsent(canonicalwire.MethodHookRun, err)
	}
	a := Ask{Method: canonicalwire.MethodHookRun, Params: p, Timeout: sessionHookWait, Detached: true}
	r, err := answerOf(ctx, x, a, canonicalwire.DecodeSessionHookResult)
	return r.Disposition, err
}

// sessionHookWait is how long one session hook may take.
var sessionHookWait = func() time.Duration {
	for _, row := range canonicalwire.TableLifecycleDeadlines {
		if ms, err := strconv.Atoi(row.Milliseconds); row.Wait == "session_hook" && err == nil {
			return time.Duration(ms) * time.Millisecond
		}
	}
	panic("extension: the canonical wire has no deadline for session hooks")
}()
