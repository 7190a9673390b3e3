// Package policyintent answers extensions that ask whether an effect is allowed.
//
// The product denies every intent but one: octet-mcp may make the very call to an MCP server that the
// model is waiting for, under full access. An embedder may judge other intents itself, have a person
// approve, and give out single-use tokens for what was approved.
//
// Rules: EXT04-POLICY, MAN-GATE-003. Sheet: feature 11.9, manifest 9.7.
package policyintent

import (
	"context"
	"crypto/sha256"
	"sync"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/host/extension"
	"github.com/octet-dev/octet/host/policy"
	"github.com/octet-dev/octet/runtime/peer"
)

// Decision is what is said to an intent.
type Decision int

// The decisions. The zero value denies.
const (
	Deny Decision = iota
	Ask
	Allow
)

// Question is an intent that somebody has to decide about.
type Question struct {
	Extension string
	Owner     extension.Owner
	// On is the request of the host that the effect is for.
	On     *extension.HostCall
	Intent featurewire.PolicyIntent
}

// Options say who decides. The zero value denies everything.
type Options struct {
	// Settings are the policy in force. Nil: nothing is allowed to octet-mcp either.
	Settings func() policy.Settings
	// Judge decides about an intent that is not the host's own business. Nil: it is denied.
	Judge func(ctx context.Context, q Question) Decision
	// Approve asks a person about an intent for which Judge said Ask; nil gives out no tokens. It need not
	// be there for Judge to say Ask: then the extension learns no more than that.
	Approve func(ctx context.Context, q Question) bool
}

// Service answers. It may be used by several goroutines.
type Service struct {
	options Options

	mu     sync.Mutex
	issued map[*extension.Extension]*tokens // under mu
}

// New makes a service.
func New(o Options) *Service {
	return &Service{options: o, issued: map[*extension.Extension]*tokens{}}
}

// Bindings offer the service: intents to everybody, and approvals where tokens are given out.
func (s *Service) Bindings() []extension.Binding {
	intents := extension.Binding{
		Features: []string{featurewire.FeaturePolicyIntents},
		Requests: map[string]extension.Handler{featurewire.MethodPolicyEvaluate: s.evaluate},
		Started: func(x *extension.Extension) {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.issued[x] = &tokens{}
		},
		Ended: func(x *extension.Extension) {
			s.mu.Lock()
			defer s.mu.Unlock()
			delete(s.issued, x)
		},
	}
	if s.options.Approve == nil || s.options.Judge == nil {
		return []extension.Binding{intents}
	}
	return []extension.Binding{intents, {Features: []string{featurewire.FeatureApprovals}, Embedder: true}}
}

func (s *Service) evaluate(ctx context.Context, r *extension.Incoming) (peer.Value, error) {
	params, err := featurewire.DecodePolicyEvaluateParams(r.Params)
	if err != nil {
		return nil, err
	}
	presented, hasToken := params.ApprovalToken.Get()
	approvals := r.Extension.Has(featurewire.FeatureApprovals)
	switch {
	case hasToken && !approvals:
		return nil, extension.RefuseMalformed("approval_token needs the feature " + featurewire.FeatureApprovals)
	case r.Parent == nil:
		return nil, extension.RefuseService("the intent belongs to no active request")
	}
	q := Question{Extension: r.Extension.Source().Manifest.Name, Owner: r.Owner, On: r.Parent, Intent: params.Intent}
	g := grant{parent: r.Parent, owner: r.Owner, intent: sha256.Sum256(params.Intent.AppendJSON(nil))}
	issued := s.tokens(r.Extension)
	if hasToken {
		if issued != nil && issued.use(presented, g) {
			return featurewire.PolicyAllow{}, nil
		}
		return featurewire.PolicyDeny{}, nil
	}
	switch s.decide(ctx, r, q) {
	case Allow:
		return featurewire.PolicyAllow{}, nil
	case Ask:
		if !approvals || s.options.Approve == nil || issued == nil {
			return featurewire.PolicyAsk{}, nil
		}
		r.Waits()
		if !s.options.Approve(ctx, q) {
			return featurewire.PolicyDeny{}, nil
		}
		if text, has := issued.issue(g); has {
			return featurewire.PolicyAsk{ApprovalToken: wirejson.Some(text)}, nil
		}
		return featurewire.PolicyAsk{}, nil
	default:
		return featurewire.PolicyDeny{}, nil
	}
}

// decide says what becomes of an intent without a token. What an adapter hints at makes an answer only
// more careful.
func (s *Service) decide(ctx context.Context, r *extension.Incoming, q Question) Decision {
	if gated(q.Extension, q.Intent) {
		if s.options.Settings != nil && allowed(r, q.Intent, s.options.Settings()) {
			return Allow
		}
		return Deny
	}
	if s.options.Judge == nil {
		return Deny
	}
	decision := s.options.Judge(ctx, q)
	hints := q.Intent.AdapterHints.Or(featurewire.PolicyHints{})
	if decision == Allow && hints.Destructive.Or(false) {
		return Ask
	}
	return decision
}

// tokens returns those of a generation, nil once it is gone.
func (s *Service) tokens(x *extension.Extension) *tokens {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.issued[x]
}
