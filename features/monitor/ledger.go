package monitor

import (
	"slices"

	"github.com/octet-dev/octet/features/wire"
	cw "github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/wirejson"
)

// ledger is what the optional services of the canonical wire have on record, as both lanes tell.
type ledger struct {
	bindings  []binding // of the bus, oldest first
	spoiled   int       // host requests sent before the first bus notice that broke its model; -1: none did
	topics    map[string]*topic
	providers map[string]*claim
	streams   map[string]*stream
}

func newLedger() ledger {
	return ledger{spoiled: -1, topics: map[string]*topic{}, providers: map[string]*claim{}, streams: map[string]*stream{}}
}

// contractPlaces has the rules of the params of what extensions send on the canonical wire.
var contractPlaces = map[string][]place{
	cw.MethodSessionCreate: all("EXT03-SESSION-001"),
	cw.MethodSessionFork:   all("EXT03-SESSION-001"),
	cw.MethodSessionSwitch: all("EXT03-SESSION-001"),
	cw.MethodSessionReload: all("EXT03-SESSION-001"),

	cw.MethodProvidersRegister:   all("EXT03-PROVIDER-001"),
	cw.MethodProvidersUpdate:     all("EXT03-PROVIDER-001"),
	cw.MethodProvidersUnregister: all("EXT03-PROVIDER-001"),
	cw.MethodProvidersComplete:   all("EXT03-PROVIDER-001"),
	cw.MethodProviderAuthRequest: all("EXT03-AUTH-001"),
	cw.MethodProviderAuthRevoke:  all("EXT03-AUTH-001"),
	cw.MethodProviderEvent:       all("EXT03-STREAM-002"),

	cw.MethodThemeSelect: all("EXT03-THEME-001"),

	cw.MethodBusDeclare: also("EXT03-BUS-001",
		place{"/topic", "EXT03-BUS-004", kinds(wirejson.ByteCount)},
		place{"/fields/*/name", "EXT03-BUS-005", kinds(wirejson.WrongClass, wirejson.ByteCount, wirejson.Duplicate)},
		place{"/fields/*/max_bytes", "EXT03-BUS-005", kinds(wirejson.OutOfRange)},
		place{"/fields/*", "EXT03-BUS-005", kinds(wirejson.Duplicate)}),
	cw.MethodBusSubscribe:   all("EXT03-BUS-001"),
	cw.MethodBusUnsubscribe: all("EXT03-BUS-001"),
	cw.MethodBusPublish:     all("EXT03-BUS-001"),
}

// contractChecks judge what those models cannot tell.
var contractChecks = map[string]func(*Monitor, wire.Frame, *owned){
	cw.MethodProvidersRegister:   registersProvider,
	cw.MethodProvidersUpdate:     updatesProvider,
	cw.MethodProvidersUnregister: unregistersProvider,
	cw.MethodProviderAuthRequest: authorizes,
	cw.MethodProviderAuthRevoke:  authorizes,
	cw.MethodProviderEvent:       streams,
	cw.MethodThemeSelect:         selectsTheme,
	cw.MethodBusDeclare:          declaresTopic,
	cw.MethodBusSubscribe:        subscribes,
	cw.MethodBusUnsubscribe:      subscribes,
	cw.MethodBusPublish:          publishes,
}

// answerPlaces has the rules of the results of what a host asks of an optional service.
var answerPlaces = map[string][]place{
	cw.MethodHookRun: also("EXT03-HOOK-001",
		place{"/disposition/reason", "EXT03-HOOK-002", nil},
		place{"/disposition", "EXT03-HOOK-002", kinds(wirejson.Unknown)}),
	cw.MethodMigrationDetect: all("EXT03-MIGRATE-001"),
	cw.MethodMigrationImport: all("EXT03-MIGRATE-002"),
	cw.MethodProviderStream:  all("EXT03-STREAM-001"),
}

// answerChecks judge what the models of those results cannot tell.
var answerChecks = map[string]func(m *Monitor, f wire.Frame, result tree, r *issued){
	cw.MethodHookRun:         disposes,
	cw.MethodMigrationDetect: pathsInside,
	cw.MethodMigrationImport: pathsInside,
	cw.MethodProviderStream:  accepts,
}

// contractRules lists the rules of the canonical wire beyond its core.
func contractRules() []string {
	out := []string{
		"EXT03-CONTRACT-023", "EXT03-MIGRATE-003", "EXT03-PROVIDER-002", "EXT03-PROVIDER-003", "EXT03-AUTH-002", "EXT03-STREAM-003",
		"EXT03-STREAM-004", "EXT03-STREAM-005", "EXT03-STREAM-007", "EXT03-STREAM-008", "EXT03-THEME-002", "EXT03-BUS-002", "EXT03-BUS-003", "EXT03-BUS-006",
		"EXT03-BUS-007", "EXT03-BUS-009",
	}
	for _, table := range []map[string][]place{contractPlaces, answerPlaces} {
		for _, places := range table {
			for _, p := range places {
				out = append(out, p.rule)
			}
		}
	}
	return out
}

// contracted judges a message of an optional service that the extension selected.
func (m *Monitor) contracted(f wire.Frame, o *owned) {
	before := m.faults
	model := m.setup.Dialect.Shape(o.method).Params
	m.modelled(f, "the params of "+o.method, model, o.params, contractPlaces[o.method])
	if v, broken := m.setup.Dialect.Violation(model, given(o.params).raw); broken {
		m.refuse(f, v.ErrorName)
	}
	if check := contractChecks[o.method]; check != nil {
		check(m, f, o)
	}
	if m.faults > before {
		m.refuse(f, "invalid_params")
	}
}

// given is a value, null for one that is absent.
func given(v tree) tree {
	if v.absent() {
		return value([]byte("null"))
	}
	return v
}

// refuse notes with which error a sound host refuses a message. What it finds first counts.
func (m *Monitor) refuse(f wire.Frame, name string) {
	if m.refusals[f.Index] == "" {
		m.refusals[f.Index] = name
	}
}

// contractAnswer judges the result of a request to an optional service.
func (m *Monitor) contractAnswer(f wire.Frame, result tree, r *issued) {
	m.modelled(f, "the result of "+r.method, m.setup.Dialect.Shape(r.method).Result, result, answerPlaces[r.method])
	if check := answerChecks[r.method]; check != nil {
		check(m, f, result, r)
	}
}

// contractTold notes what a message of the host puts on record.
func (m *Monitor) contractTold(method string, params tree) {
	switch method {
	case cw.MethodBusLifecycle:
		m.busNotice(params)
	case cw.MethodProviderStream:
		if id := params.get("stream_id"); id.kind() == text {
			m.ledger.streams[id.text()] = &stream{}
		}
	case cw.MethodProviderCancel:
		if s := m.ledger.streams[params.get("stream_id").text()]; s != nil && !s.cancelled {
			s.cancelled, s.at = true, m.requests
		}
	}
}

// claim is something that the extension has asked its host for, and counts upon until it is refused.
type claim struct {
	asked   *owned
	refused bool
	at      int // host requests sent before the refusal
}

// stands reports whether the extension may still count upon a claim. That a refusal was read shows in the answer to
// a later request.
func (m *Monitor) stands(c *claim) bool { return c != nil && (!c.refused || m.heard <= c.at) }

// contractRefused takes back what a request that the host refused had put on record.
func (m *Monitor) contractRefused(o *owned) {
	var c *claim
	switch o.method {
	case cw.MethodBusDeclare:
		if t := m.ledger.topics[o.params.get("topic").text()]; t != nil {
			c = &t.claim
		}
	case cw.MethodProvidersRegister:
		c = m.ledger.providers[o.params.at("/provider/id").text()]
	}
	if c != nil && c.asked == o {
		c.refused, c.at = true, m.requests
	}
}

// disposes judges the reason of a disposition.
func disposes(m *Monitor, f wire.Frame, result tree, _ *issued) {
	d := result.get("disposition")
	reason := d.get("reason")
	wanted := slices.Contains([]string{string(cw.DispositionKindDeny), string(cw.DispositionKindDefer)}, d.get("kind").text())
	if reason.absent() && wanted || reason.kind() == text && reason.text() == "" {
		m.report("EXT03-HOOK-002", f, -1, "the disposition %s with the reason %s, want one that is not empty", orNothing(d.get("kind")), orNothing(reason))
	}
}

// foreign reports whether a name is not that of the extension.
func (m *Monitor) foreign(name string) bool {
	return !m.setup.Extension.Guessed && name != m.setup.Extension.Name
}

func selectsTheme(m *Monitor, f wire.Frame, o *owned) {
	namespace := o.params.get("namespace")
	if namespace.kind() == text && m.foreign(namespace.text()) {
		m.report("EXT03-THEME-002", f, -1, "the namespace is %s, want the extension's own name %q", orNothing(namespace), m.setup.Extension.Name)
		m.refuse(f, "capability_mismatch")
	}
}

// busPair judges that a selection with the bus can be told about it.
func (m *Monitor) busPair(f wire.Frame, capabilities, methods []string) {
	if slices.Contains(capabilities, cw.CapabilityEventBus) && !slices.Contains(methods, cw.MethodBusLifecycle) {
		m.report("EXT03-CONTRACT-023", f, -1, "%q is selected without %q", cw.CapabilityEventBus, cw.MethodBusLifecycle)
	}
}
