package monitor

import (
	"strings"

	"github.com/octet-dev/octet/features/wire"
	cw "github.com/octet-dev/octet/generated/canonicalwire"
)

// stream is one that the host has asked for.
type stream struct {
	accepted bool
	begun    bool
	next     int64 // the sequence of the next event
	ended    bool

	cancelled bool
	at        int // host requests sent before the cancellation
}

func registersProvider(m *Monitor, f wire.Frame, o *owned) {
	m.catalogued(f, o.params)
	if id := o.params.at("/provider/id").text(); id != "" {
		if c := m.ledger.providers[id]; c != nil && !c.refused {
			m.refuse(f, "invalid_params")
			return
		}
		m.ledger.providers[id] = &claim{asked: o}
	}
}

func updatesProvider(m *Monitor, f wire.Frame, o *owned) {
	m.catalogued(f, o.params)
	m.ownsProvider(f, o.method, o.params.at("/provider/id"))
}

func unregistersProvider(m *Monitor, f wire.Frame, o *owned) {
	m.ownsProvider(f, o.method, o.params.get("provider_id"))
	delete(m.ledger.providers, o.params.get("provider_id").text())
}

// ownsProvider judges that the process itself has registered a provider.
func (m *Monitor) ownsProvider(f wire.Frame, method string, id tree) {
	if id.kind() == text && !m.stands(m.ledger.providers[id.text()]) {
		m.report("EXT03-PROVIDER-003", f, -1, "%q of the provider %s, which the process has not registered", method, orNothing(id))
		m.refuse(f, "capability_mismatch")
	}
}

// catalogued judges the ids and windows of a provider with its models.
func (m *Monitor) catalogued(f wire.Frame, p tree) {
	nameable := func(what string, id tree) {
		if id.kind() == text && (id.text() == "" || strings.Contains(id.text(), "/")) {
			m.report("EXT03-PROVIDER-002", f, -1, "the id of %s is %s, want a string that is not empty and has no slash", what, orNothing(id))
		}
	}
	nameable("a provider", p.at("/provider/id"))
	var ids []string
	for _, model := range p.get("models").items() {
		nameable("a model", model.get("id"))
		ids = append(ids, model.get("id").text())
		for _, window := range []string{"context_window", "max_output_tokens"} {
			if n, ok := model.get(window).natural(); ok && n == 0 {
				m.report("EXT03-PROVIDER-002", f, -1, "the %s of the model %s is 0, want at least 1", window, orNothing(model.get("id")))
			}
		}
	}
	if twice := repeated(ids); len(twice) > 0 {
		m.report("EXT03-PROVIDER-002", f, -1, "two models have the id %s", named(twice))
	}
}

// authorizes judges that an action goes with its method.
func authorizes(m *Monitor, f wire.Frame, o *owned) {
	action := o.params.get("action")
	revokes := action.text() == string(cw.ProviderAuthorizationActionRevoke)
	if action.kind() == text && revokes != (o.method == cw.MethodProviderAuthRevoke) {
		m.report("EXT03-AUTH-002", f, -1, "%q with the action %s", o.method, orNothing(action))
	}
	if id := o.params.get("provider_id"); id.kind() == text && !m.stands(m.ledger.providers[id.text()]) {
		m.refuse(f, "capability_mismatch")
	}
}

// accepts judges the answer to a stream and opens it.
func accepts(m *Monitor, f wire.Frame, result tree, r *issued) {
	want, got := r.params.get("stream_id"), result.get("stream_id")
	if got.kind() == text && got.text() != want.text() {
		m.report("EXT03-STREAM-001", f, -1, "the stream_id is %s, want that of the request, %s", orNothing(got), orNothing(want))
	}
	if s := m.ledger.streams[want.text()]; s != nil {
		s.accepted = result.get("accepted").truth()
	}
}

// streams judges an event of a stream against those before it.
func streams(m *Monitor, f wire.Frame, o *owned) {
	id, kind := o.params.get("stream_id"), o.params.get("kind")
	s := m.ledger.streams[id.text()]
	switch {
	case id.kind() != text:
		return
	case s == nil || !s.accepted:
		m.report("EXT03-STREAM-007", f, -1, "an event of the stream %s, which the extension has not accepted", orNothing(id))
		return
	case s.ended:
		m.report("EXT03-STREAM-005", f, -1, "an event of the stream %s behind its last one", orNothing(id))
		return
	}
	last := kind.text() == string(cw.ProviderStreamEventKindFinished) || kind.text() == string(cw.ProviderStreamEventKindError)
	if s.cancelled && s.at < m.heard && !last {
		m.report("EXT03-STREAM-008", f, -1, "an event of the stream %s, which was cancelled", orNothing(id))
	}
	if n, ok := o.params.get("sequence").natural(); ok {
		if n != s.next {
			m.report("EXT03-STREAM-003", f, -1, "sequence %d of the stream %s, want %d", n, orNothing(id), s.next)
		}
		s.next = n + 1
	}
	if !s.begun && kind.text() != string(cw.ProviderStreamEventKindStarted) {
		m.report("EXT03-STREAM-004", f, -1, "the stream %s begins with %s", orNothing(id), orNothing(kind))
	}
	s.begun = true
	s.ended = last
}

// pathsInside judges that every path of an answer stays below the source.
func pathsInside(m *Monitor, f wire.Frame, result tree, r *issued) {
	judge := func(where string, path tree) {
		if path.kind() == text && !inside(path.text()) {
			m.report("EXT03-MIGRATE-003", f, -1, "%s of the result of %s has the path %s, want one relative to the source root", where, r.method, orNothing(path))
		}
	}
	for _, path := range result.get("config_paths").items() {
		judge("config_paths", path)
	}
	for _, list := range []string{"models", "skills", "mcp_servers", "diagnostics"} {
		for _, item := range result.get(list).items() {
			judge(list, item.get("path"))
		}
	}
}

// inside reports whether a path leads from a root to something below it.
func inside(path string) bool {
	if strings.ContainsAny(path, "\\\x00") || len(path) >= 2 && path[1] == ':' {
		return false
	}
	for segment := range strings.SplitSeq(path, "/") {
		if segment == "" || segment == "." || segment == ".." {
			return false
		}
	}
	return true
}
