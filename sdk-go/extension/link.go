package extension

import (
	"context"
	"errors"
	"fmt"
	"io"
	"slices"
	"strconv"

	"github.com/octet-dev/octet/generated/canonicalservice"
	"github.com/octet-dev/octet/generated/featureservice"
	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/wirejson"
	"github.com/octet-dev/octet/runtime/negotiation"
	"github.com/octet-dev/octet/runtime/peer"
)

// featureLink is a Scope seen by the services of the feature wire, canonicalLink by those of the other.
type (
	featureLink   Scope
	canonicalLink Scope
)

// Tie implements featureservice.Link.
func (l *featureLink) Tie(m *wirejson.Method, owned bool) (tie featureservice.Tie, err error) {
	s := (*Scope)(l)
	tie.Version = string(s.server.ext.api)
	if err = s.may(m); err != nil || s.server.ext.api == API01 {
		return tie, err // API 0.1 ties nothing
	}
	parent, owner, err := s.bind(m, owned)
	if err != nil {
		return tie, err
	}
	if parent {
		id, numeric := s.request.ID.Wire().Int()
		if !numeric {
			return tie, &NoParentError{m.Name, "the host has given the request an id that is no number"}
		}
		tie.Parent = wirejson.Some(id)
	}
	if owner {
		tie.Owner = wirejson.Some(s.context.Owner.wire())
	}
	return tie, nil
}

// bind says whether a message carries the parent and the owner of the scope. Owned says that it cannot go
// without an owner.
func (s *Scope) bind(m *wirejson.Method, owned bool) (parent, owner bool, err error) {
	class := m.Parent
	lasting := s.session.has(featurewire.FeatureAgentSessionLifetimeV1)
	agent := isAgent(m)
	if agent && !lasting {
		class = wirejson.ParentRequired
	}
	has := s.context.Owner != nil
	live := s.Live()
	no := func(why string) (bool, bool, error) { return false, false, &NoParentError{m.Name, why} }
	switch class {
	case wirejson.ParentRequired:
		if !live {
			return no("it needs a request that runs; send it before the handler returns")
		}
		parent = true
	case wirejson.ParentToolCall:
		if !live || s.kind != toolScope {
			return no("it needs a tool call that runs; send it from the handler of a tool")
		}
		parent = true
	case wirejson.ParentInitialize:
		if !live || s.kind != initializeScope {
			return no("it belongs to initialize; register it with the extension before it serves")
		}
		parent = true
	case wirejson.ParentRetained:
		switch {
		case live:
			parent, owner = true, owned || agent && has
		case s.request == nil:
			return no("the scope of the session has no request; keep the scope of one")
		case !has:
			return no("the request has been answered and no session owns it")
		default:
			parent, owner = true, true
		}
	case wirejson.ParentSettled:
		switch {
		case s.request == nil || live:
			return no("it needs a request that has been answered; send it in Scope.After")
		case !has:
			return no("no session owns the request")
		}
		parent, owner = true, true
	case wirejson.ParentOptional:
		parent, owner = live, !live && s.request != nil && has
	case wirejson.ParentOwner:
		owner = true
	}
	if owner && !has {
		return no("no session owns the request")
	}
	return parent, owner, nil
}

// isAgent reports whether a method belongs to the child agents, whose owner goes along from the first message
// on.
func isAgent(m *wirejson.Method) bool {
	if m.Gate == featurewire.FeatureAgentSessions {
		return true
	}
	f := featurewire.LookupFeature(m.Gate)
	return f != nil && slices.Contains(f.DependsOn, featurewire.FeatureAgentSessions)
}

// Ask implements featureservice.Link.
func (l *featureLink) Ask(ctx context.Context, m *wirejson.Method, params []byte, accept func([]byte) error) error {
	if m.Name == featurewire.MethodToolsRegister || m.Name == featurewire.MethodToolsUnregister {
		return errors.New(strconv.Quote(m.Name) + " changes the catalog behind the back of this process: use Scope.DynamicTools")
	}
	return (*Scope)(l).ask(ctx, m, params, unfiled(m, accept))
}

// Tell implements featureservice.Link.
func (l *featureLink) Tell(ctx context.Context, m *wirejson.Method, params []byte) error {
	return (*Scope)(l).tell(ctx, m, params)
}

// Tie implements canonicalservice.Link.
func (l *canonicalLink) Tie(m *wirejson.Method, _ bool) (canonicalservice.Tie, error) {
	s := (*Scope)(l)
	tie := canonicalservice.Tie{Version: string(s.server.ext.api)}
	err := s.may(m)
	if err == nil && isBus(m) {
		tie.Binding, err = s.server.bus.force(m.Name)
	}
	return tie, err
}

// Ask implements canonicalservice.Link.
func (l *canonicalLink) Ask(ctx context.Context, m *wirejson.Method, params []byte, accept func([]byte) error) error {
	if isBus(m) {
		return (*Scope)(l).askBus(ctx, m, params, accept)
	}
	return (*Scope)(l).ask(ctx, m, params, accept)
}

// Tell implements canonicalservice.Link.
func (l *canonicalLink) Tell(ctx context.Context, m *wirejson.Method, params []byte) error {
	return (*Scope)(l).tell(ctx, m, params)
}

// may returns why a method cannot be sent in this session, or nil.
func (s *Scope) may(m *wirejson.Method) error {
	api := s.server.ext.api
	refuse := func(needs, remedy string) error { return &NotNegotiatedError{m.Name, needs, remedy} }
	if !slices.Contains(m.Versions, string(api)) {
		return refuse("another API than "+string(api), "declare one of "+quotedList(m.Versions)+" in the manifest and in Options.API")
	}
	if api == API03 {
		if !s.session.opens(m.Name) {
			return refuse("the capability "+strconv.Quote(m.Gate), "list it in Options.Uses and run under a host that offers it")
		}
		return nil
	}
	if feature := negotiation.GateFeature(m.Gate); feature != "" && !s.session.has(feature) {
		return refuse("the feature "+strconv.Quote(feature), "list it in Options.Uses and run under a host that offers it")
	}
	if declared, isMember := declarationGate(m.Gate); isMember && !s.session.declared.has[declared] {
		return refuse(m.Gate, "declare it in the manifest")
	}
	return nil
}

// ask sends a request that belongs to the scope.
func (s *Scope) ask(ctx context.Context, m *wirejson.Method, params []byte, accept func([]byte) error) error {
	return s.askInstalling(ctx, m, params, accept, nil)
}

// askInstalling is ask with what takes the result on the reading goroutine; nil for nothing.
func (s *Scope) askInstalling(ctx context.Context, m *wirejson.Method, params []byte, accept func([]byte) error, install func([]byte)) error {
	live := s.Live()
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	stop := context.AfterFunc(s.alive(live), func() { cancel(errAnswered) })
	defer stop()
	call := peer.Call{
		Method: m.Name, Params: peer.Raw(params), Hasty: true,
		Moot: func() bool { return live && s.request.Answered() },
	}
	if install != nil {
		call.Install = func(result []byte) error {
			install(result)
			return nil
		}
	}
	result, err := s.server.conn.Do(ctx, call)
	if err != nil {
		return hostError(m.Name, err)
	}
	if err := accept(result); err != nil {
		return &ResultError{m.Name, err}
	}
	return nil
}

// hostError turns what became of a request into what an author meets.
func hostError(method string, err error) error {
	var answer *peer.Error
	var givenUp *peer.CancelledError
	switch {
	case errors.As(err, &answer) && answer.Code == featurewire.CodeRequestCancelled:
		return &cancelledError{method, err}
	case errors.As(err, &answer):
		return &HostError{Method: method, Code: answer.Code, Message: answer.Message, Data: answer.Data}
	case errors.As(err, &givenUp), errors.Is(err, peer.ErrNotSent), errors.Is(err, peer.ErrUnsettled),
		errors.Is(err, peer.ErrClosed), errors.Is(err, peer.ErrDraining), errors.Is(err, io.EOF):
		return &cancelledError{method, err}
	}
	return fmt.Errorf("%s: %w", method, err)
}

// tell sends a notification that belongs to no request.
func (s *Scope) tell(ctx context.Context, m *wirejson.Method, params []byte) error {
	if err := s.server.conn.Notify(ctx, m.Name, peer.Raw(params)); err != nil {
		return hostError(m.Name, err)
	}
	return nil
}

// Invoke calls a service by noun and verb, such as "composer.set", with the JSON object of its arguments, and
// returns its result as JSON, {} where there is none. It does what the typed service does; a service of
// another API version is not negotiated.
func (s *Scope) Invoke(ctx context.Context, service string, arguments []byte) ([]byte, error) {
	here, there := featureservice.MethodOf(service), canonicalservice.MethodOf(service)
	canonical := s.server.ext.api == API03
	switch {
	case canonical && there != nil:
		return canonicalservice.Invoke(ctx, (*canonicalLink)(s), service, arguments)
	case !canonical && here != nil:
		return featureservice.Invoke(ctx, (*featureLink)(s), service, arguments)
	case here != nil:
		return nil, s.may(here)
	case there != nil:
		return nil, s.may(there)
	}
	return nil, wirejson.UnknownServiceError(service)
}
