package oupserver

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/octet-dev/octet/generated/oupwire"
)

// llm is a model that a profile has configured.
type llm struct {
	family, model string
	route         object
}

func (m *llm) part(name string) string { return text(m.route, name) }

// same reports whether two models are one entry of a list.
func (m *llm) same(other *llm) bool {
	return m.family == other.family && m.model == other.model && m.part("route_id") == other.part("route_id") && m.part("base_url") == other.part("base_url")
}

// models are those of a profile: the one in use, nil for none, and those behind it. Keys are found by their variable.
type models struct {
	primary   *llm
	fallbacks []*llm
	keys      map[string]string
}

// modelHandlers carry out what is about models.
func modelHandlers() map[string]handler {
	return map[string]handler{
		oupwire.MethodProfileLlmCatalog:     (*Server).llmCatalog,
		oupwire.MethodProfileLlmList:        (*Server).llmList,
		oupwire.MethodProfileLlmUpsert:      (*Server).llmUpsert,
		oupwire.MethodProfileLlmSelect:      (*Server).llmSelect,
		oupwire.MethodProfileLlmDelete:      (*Server).llmDelete,
		oupwire.MethodProfileLlmTest:        (*Server).llmTest,
		oupwire.MethodProfileLlmFetchModels: (*Server).llmFetch,
	}
}

// modelsOf are the models of a profile.
func (s *Server) modelsOf(id string) *models {
	if s.book.models == nil {
		s.book.models = map[string]*models{}
	}
	if s.book.models[id] == nil {
		s.book.models[id] = &models{keys: map[string]string{}}
	}
	return s.book.models[id]
}

// owned are the models that a request is about.
func (s *Server) owned(c *conn, p object) (string, *models, *failure) {
	id := s.profileOf(c, p)
	if !s.knowsProfile(id) {
		return "", nil, failKind(oupwire.ErrInvalidParams, "profile_unresolved", "no profile "+id, object{"profile_id": id, "recoverable": true, "recovery": "create the profile"})
	}
	return id, s.modelsOf(id), nil
}

func (s *Server) stamp(id string) object {
	return object{"runtime_mode": s.runtimeMode(), "profile_id": id}
}

// describe tells a model, without its key.
func (s *Server) describe(of *models, m *llm) object {
	variable := m.part("api_key_env")
	key := of.keys[variable]
	route := maps.Clone(m.route)
	if s.does("tells keys") && key != "" {
		route["api_key"] = key
	}
	row := object{
		"provider": m.family, "model": m.model, "family_id": m.family, "model_id": m.model, "route": route, "route_id": nil, "base_url": nil, "api_key_env": variable,
		"has_api_key": key != "" || s.does("says that every key is there"), "selected": m == of.primary, "available": key != "",
	}
	for _, member := range []string{"route_id", "base_url"} {
		if v := m.part(member); v != "" {
			row[member] = v
		}
	}
	return row
}

// standing is how the models of a profile stand.
func (s *Server) standing(id string, of *models) object {
	fallbacks := []any{}
	for _, m := range of.fallbacks {
		fallbacks = append(fallbacks, s.describe(of, m))
	}
	var primary any
	if of.primary != nil {
		primary = s.describe(of, of.primary)
	}
	return object{
		"profile_id": id, "primary": primary, "fallbacks": fallbacks, "llm": object{"primary": primary, "fallbacks": fallbacks}, "runtime_policy_stamp": s.stamp(id),
	}
}

func (s *Server) status(of *models, m *llm) object {
	return object{
		"model": m.model, "provider": m.family, "title": m.model, "family": m.family, "route": m.route, "selected": m == of.primary,
		"available": of.keys[m.part("api_key_env")] != "", "queue_mode": nil, "qoe_policy": nil,
	}
}

func (of *models) all() []*llm {
	if of.primary == nil {
		return of.fallbacks
	}
	return append([]*llm{of.primary}, of.fallbacks...)
}

// promote puts a model in front; the one before moves behind it.
func (s *Server) promote(of *models, m *llm) {
	of.fallbacks = slices.DeleteFunc(of.fallbacks, m.same)
	if of.primary != nil && !of.primary.same(m) && !s.does("drops the model that was in use") {
		of.fallbacks = append([]*llm{of.primary}, of.fallbacks...)
	}
	of.primary = m
}

func (s *Server) llmCatalog(c *conn, p object) (object, *failure, []func()) {
	_, _, f := s.owned(c, p)
	return object{"families": object{}}, f, nil
}

func (s *Server) llmList(c *conn, p object) (object, *failure, []func()) {
	id, of, f := s.owned(c, p)
	if f != nil {
		return nil, f, nil
	}
	key, there := p["session_id"]
	if !there {
		result := s.standing(id, of)
		if of.primary == nil {
			delete(result, "primary")
		}
		return result, nil, nil
	}
	rows := []any{}
	for _, m := range of.all() {
		rows = append(rows, s.status(of, m))
	}
	result := object{"session_id": key, "models": rows}
	if s.does("tells all of a profile with a session") {
		result["profile_id"] = id
	}
	return result, nil, nil
}

// selection reads a model and its key.
func (s *Server) selection(p object) (m *llm, key string, f *failure) {
	chosen := child(p, "selection")
	m = &llm{family: text(chosen, "family_id"), model: text(chosen, "model_id"), route: object{}}
	for name, v := range child(chosen, "route") {
		if v != nil {
			m.route[name] = v
		}
	}
	m.route["api_type"] = cmp.Or(m.part("api_type"), "openai")
	if s.does("has a kind of route of its own") && text(child(chosen, "route"), "api_type") == "" {
		m.route["api_type"] = "own"
	}
	m.route["api_key_env"] = cmp.Or(m.part("api_key_env"), strings.ToUpper(strings.ReplaceAll(m.family, "-", "_"))+"_API_KEY")
	switch given := p["api_key"].(type) {
	case nil:
	case string:
		key = given
	case object:
		if !s.does("takes no key in an object") {
			key = cmp.Or(text(given, "value"), text(given, "secret"), text(given, "api_key"))
		}
	default:
		f = fail(oupwire.ErrInvalidParams, "the key is none", nil)
	}
	return m, key, f
}

// nameless refuses a model without a name.
func (s *Server) nameless(m *llm, key string) *failure {
	switch {
	case m.model != "":
		return nil
	case s.does("puts keys into errors"):
		return fail(oupwire.ErrInvalidParams, "no model for the key "+key, nil)
	}
	return fail(oupwire.ErrInvalidParams, "model_id is missing", nil)
}

func (s *Server) llmUpsert(c *conn, p object) (object, *failure, []func()) {
	id, of, f := s.owned(c, p)
	if f != nil {
		return nil, f, nil
	}
	m, key, f := s.selection(p)
	if f == nil {
		f = s.nameless(m, key)
	}
	if f != nil {
		return nil, f, nil
	}
	s.keep(of, m, key, p["set_primary"] == true)
	result := s.standing(id, of)
	result["applied"] = true
	return result, nil, nil
}

// keep stores a model and its key.
func (s *Server) keep(of *models, m *llm, key string, first bool) {
	if key != "" {
		of.keys[m.part("api_key_env")] = key
	}
	at := slices.IndexFunc(of.fallbacks, m.same)
	switch {
	case of.primary == nil && s.does("has no model in use by itself") && !first:
		of.fallbacks = append(of.fallbacks, m)
	case of.primary == nil, first, s.does("puts every model in front"):
		s.promote(of, m)
	case of.primary.same(m):
		of.primary = m
	case at >= 0 && !s.does("adds a model again that it has"):
		of.fallbacks[at] = m
	default:
		of.fallbacks = append(of.fallbacks, m)
	}
}

func notFound(kind, id string) *failure {
	return failKind(oupwire.ErrResourceNotFound, "not_found", "there is none", object{"resource_type": kind, "identifier": id})
}

func (s *Server) llmSelect(c *conn, p object) (object, *failure, []func()) {
	id, of, f := s.owned(c, p)
	if f != nil {
		if !s.does("takes an unknown profile for a wrong request") {
			f = notFound("profile", text(p, "profile_id"))
		}
		return nil, f, nil
	}
	var fits []*llm
	for _, m := range of.all() {
		route, family := text(p, "route_id"), text(p, "family_id")
		if m.model == text(p, "model_id") && (family == "" || family == m.family) && (route == "" || route == m.part("route_id") || s.does("passes the route of a choice over")) {
			fits = append(fits, m)
		}
	}
	switch {
	case len(fits) == 0 && s.does("calls a missing model a resource"):
		return nil, notFound("resource", text(p, "model_id")), nil
	case len(fits) == 0:
		return nil, notFound("configured model", text(p, "model_id")), nil
	case len(fits) > 1 && !s.does("chooses the first that fits"):
		return nil, fail(oupwire.ErrInvalidParams, "more than one model fits", nil), nil
	case of.keys[fits[0].part("api_key_env")] == "" && !s.does("chooses a model without its key"):
		return nil, fail(oupwire.ErrInvalidParams, "the key of the model is missing", nil), nil
	}
	s.promote(of, fits[0])
	result := object{"session_id": p["session_id"], "selected": s.status(of, fits[0]), "applied": true, "runtime_policy_stamp": s.stamp(id), "restart_required": true}
	return result, nil, nil
}

func (s *Server) llmDelete(c *conn, p object) (object, *failure, []func()) {
	id, of, f := s.owned(c, p)
	if f != nil {
		return nil, f, nil
	}
	gone := func(m *llm) bool {
		return m.family == text(p, "family_id") && m.model == text(p, "model_id") && m.part("route_id") == text(p, "route_id")
	}
	left := slices.DeleteFunc(slices.Clone(of.all()), gone)
	applied := len(left) < len(of.all())
	of.primary, of.fallbacks = nil, nil
	if len(left) > 0 {
		of.primary, of.fallbacks = left[0], left[1:]
	}
	result := s.standing(id, of)
	result["applied"] = applied
	return result, nil, nil
}

// llmTest tries a model. None answers here.
func (s *Server) llmTest(c *conn, p object) (object, *failure, []func()) {
	id, of, f := s.owned(c, p)
	if f != nil {
		return nil, f, nil
	}
	m, key, f := s.selection(p)
	if f == nil {
		f = s.nameless(m, key)
	}
	switch {
	case f != nil:
		return nil, f, nil
	case s.does("fails where a try fails"):
		return nil, fail(oupwire.ErrInternalError, "the model does not answer", nil), nil
	case s.does("stores what it tries"):
		s.keep(of, m, key, false)
	}
	result := s.standing(id, of)
	result["applied"], result["error"] = s.does("says that every try went well"), "nobody answers"
	return result, nil, nil
}

func (s *Server) llmFetch(c *conn, p object) (object, *failure, []func()) {
	id, of, f := s.owned(c, p)
	if f != nil {
		return nil, f, nil
	}
	m, key, f := s.selection(p)
	switch {
	case f != nil:
		return nil, f, nil
	case s.does("fails where no list of models comes"):
		return nil, fail(oupwire.ErrInternalError, "nobody answers", nil), nil
	}
	result := object{"profile_id": id, "family_id": m.family, "models": []any{}, "reason": oupwire.LlmFetchReasonProviderUnavailable}
	if key == "" && of.keys[m.part("api_key_env")] == "" {
		result["reason"] = oupwire.LlmFetchReasonNoAPIKey
	}
	if s.does("gives no reason for a list without models") {
		delete(result, "reason")
	}
	return result, nil, nil
}

func modelFaults() []Fault {
	return []Fault{
		act("OUP-LLM-001", "puts keys into errors"),
		act("OUP-LLM-002", "tells keys"),
		act("OUP-LLM-002", "says that every key is there"),
		act("OUP-LLM-003", "has no model in use by itself"),
		act("OUP-LLM-003", "puts every model in front"),
		act("OUP-LLM-004", "adds a model again that it has"),
		act("OUP-LLM-005", "drops the model that was in use"),
		act("OUP-LLM-006", "stores what it tries"),
		act("OUP-LLM-006", "fails where a try fails"),
		act("OUP-LLM-006", "says that every try went well"),
		act("OUP-LLM-009", "chooses the first that fits"),
		act("OUP-LLM-009", "passes the route of a choice over"),
		act("OUP-LLM-010", "takes an unknown profile for a wrong request"),
		act("OUP-LLM-010", "calls a missing model a resource"),
		act("OUP-LLM-011", "chooses a model without its key"),
		act("OUP-LLM-012", "tells all of a profile with a session"),
		act("OUP-LLM-013", "fails where no list of models comes"),
		act("OUP-LLM-013", "gives no reason for a list without models"),
		act("OUP-LLM-014", "takes no key in an object"),
		act("OUP-LLM-014", "has a kind of route of its own"),
		act("OUP-LLM-015", "forgets models at a restart").over(sockets),
	}
}
