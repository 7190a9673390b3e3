package monitor

import (
	"slices"
	"strings"
	"unicode"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/features/wire"
	cw "github.com/octet-dev/octet/generated/canonicalwire"
)

// binding is one incarnation of the bus that a notice has told.
type binding struct {
	id string
	at int // host requests sent before the notice
}

// topic is one that the extension declared.
type topic struct {
	claim
	binding string
	fields  map[string]tree // by name
}

// busNotice notes a bus/lifecycle notice of the host.
func (m *Monitor) busNotice(params tree) {
	model := m.setup.Dialect.Shape(cw.MethodBusLifecycle).Params
	if _, broken := m.setup.Dialect.Violation(model, given(params).raw); broken {
		if m.ledger.spoiled < 0 {
			m.ledger.spoiled = m.requests
		}
		return
	}
	notice, err := cw.DecodeBusLifecycleParams(params.raw)
	if b, ok := notice.(cw.BusBindingNotice); ok && err == nil {
		m.ledger.bindings = append(m.ledger.bindings, binding{id: b.BindingID, at: m.requests})
	}
}

// bound reports whether the extension may take a binding for the present one. A request of the host that was
// answered shows that the notices in front of it were read; later ones may have been.
func (m *Monitor) bound(id string) bool {
	for _, b := range slices.Backward(m.ledger.bindings) {
		if b.id == id {
			return true
		}
		if b.at < m.heard {
			return false
		}
	}
	return false
}

// onBus judges what all requests of the bus have in common. It returns false for one that the host does not look
// into.
func (m *Monitor) onBus(f wire.Frame, o *owned) bool {
	id := o.params.get("binding_id")
	switch {
	case m.ledger.spoiled >= 0 && m.ledger.spoiled < m.heard:
		m.report("EXT03-BUS-009", f, -1, "%q behind a bus notice that breaks its model", o.method)
	case len(m.ledger.bindings) == 0:
		m.report("EXT03-BUS-002", f, -1, "%q before the first binding", o.method)
	case id.kind() != text:
		return false
	case !m.bound(id.text()):
		m.report("EXT03-BUS-003", f, -1, "%q with the binding_id %s, which is not that of the newest binding", o.method, orNothing(id))
	default:
		return true
	}
	m.refuse(f, "capability_mismatch")
	return false
}

func declaresTopic(m *Monitor, f wire.Frame, o *owned) {
	if !m.onBus(f, o) {
		return
	}
	name := o.params.get("topic").text()
	owner, well := topicOwner(name)
	switch {
	case o.params.get("topic").kind() != text:
	case !well:
		m.report("EXT03-BUS-004", f, -1, "the topic %q is not the prefix, an owner and a name, each a bus identifier", name)
	case m.foreign(owner):
		m.report("EXT03-BUS-004", f, -1, "the topic %q belongs to %q, the extension is %q", name, owner, m.setup.Extension.Name)
		m.refuse(f, "capability_mismatch")
	}
	fields := map[string]tree{}
	for _, field := range o.params.get("fields").items() {
		fields[field.get("name").text()] = field
		if fault := fieldFault(field); fault != "" {
			m.report("EXT03-BUS-005", f, -1, "the field %s: %s", orNothing(field.get("name")), fault)
		}
	}
	bound := o.params.get("binding_id").text()
	if t := m.ledger.topics[name]; t != nil && t.binding == bound && !t.refused {
		m.refuse(f, "invalid_params")
		return
	}
	m.ledger.topics[name] = &topic{claim: claim{asked: o}, binding: bound, fields: fields}
}

// topicOwner reads a topic.
func topicOwner(name string) (owner string, well bool) {
	rest, found := strings.CutPrefix(name, cw.TableBusTopicPrefix[0])
	owner, local, split := strings.Cut(rest, ".")
	return owner, found && split && dialect.BusIdentifier(owner) && dialect.BusIdentifier(local) && len(name) <= cw.MaxBusTopicBytes
}

// fieldFault names what is wrong with a declared field beyond its model.
func fieldFault(field tree) string {
	squeezed := strings.Map(func(r rune) rune {
		r = unicode.ToLower(r)
		if r >= 'a' && r <= 'z' || r >= '0' && r <= '9' {
			return r
		}
		return -1
	}, field.get("name").text())
	for _, word := range cw.TableBusForbiddenWords {
		if strings.Contains(squeezed, word) {
			return "the name contains " + word
		}
	}
	kind, values := cw.BusFieldKind(field.get("kind").text()), field.get("values")
	least, hasLeast := field.get("minimum").integer()
	most, hasMost := field.get("maximum").integer()
	switch {
	case values.kind() == array && (kind == cw.BusFieldKindEnum) != (len(values.items()) > 0):
		return "values are given exactly for kind " + string(cw.BusFieldKindEnum)
	case (hasLeast || hasMost) && kind != cw.BusFieldKindInteger:
		return "minimum and maximum are for kind " + string(cw.BusFieldKindInteger)
	case hasLeast && hasMost && most < least:
		return "maximum is below minimum"
	}
	for _, v := range values.texts() {
		if fault := screened(v, field); fault != "" {
			return "the alternative " + fault
		}
	}
	return ""
}

// subscribes judges bus/subscribe and bus/unsubscribe.
func subscribes(m *Monitor, f wire.Frame, o *owned) {
	if !m.onBus(f, o) {
		return
	}
	if name := o.params.get("topic"); name.kind() == text {
		if _, well := topicOwner(name.text()); !well {
			m.refuse(f, "invalid_params")
		}
	}
	if o.method == cw.MethodBusSubscribe && !slices.Contains(m.result.at("/contract/methods").texts(), cw.MethodBusEvent) {
		m.refuse(f, "capability_mismatch")
	}
}

func publishes(m *Monitor, f wire.Frame, o *owned) {
	if !m.onBus(f, o) {
		return
	}
	name := o.params.get("topic")
	t := m.ledger.topics[name.text()]
	if t == nil || !m.stands(&t.claim) || t.binding != o.params.get("binding_id").text() {
		if name.kind() == text {
			m.report("EXT03-BUS-006", f, -1, "the topic %s is published and not declared under the binding", orNothing(name))
		}
		return
	}
	payload := o.params.get("payload")
	if payload.absent() || payload.kind() == null {
		return
	}
	if fault := payloadFault(payload, t.fields); fault != "" {
		m.report("EXT03-BUS-007", f, -1, "a payload of %s: %s", orNothing(name), fault)
	}
}

// payloadFault names what is wrong with a payload of declared fields.
func payloadFault(payload tree, fields map[string]tree) string {
	if payload.kind() != object {
		return "it is " + string(payload.kind()) + ", want an object"
	}
	for name, v := range payload.members() {
		field, declared := fields[name]
		if !declared {
			return "the member " + name + " is no declared field"
		}
		if fault := valueFault(v, field); fault != "" {
			return "the member " + name + " " + fault
		}
	}
	for name, field := range fields {
		if field.get("required").truth() && payload.get(name).absent() {
			return "the required member " + name + " is absent"
		}
	}
	return ""
}

func valueFault(v, field tree) string {
	switch kind := cw.BusFieldKind(field.get("kind").text()); kind {
	case cw.BusFieldKindBoolean:
		if v.kind() != boolean {
			return "is no boolean"
		}
	case cw.BusFieldKindInteger:
		n, whole := v.integer()
		least, hasLeast := field.get("minimum").integer()
		most, hasMost := field.get("maximum").integer()
		if !whole || hasLeast && n < least || hasMost && n > most {
			return "is no integer within its bounds"
		}
	default:
		if v.kind() != text {
			return "is no string"
		}
		if kind == cw.BusFieldKindEnum && !slices.Contains(field.get("values").texts(), v.text()) {
			return "is none of its values"
		}
		return screened(v.text(), field)
	}
	return ""
}

// screened names what a bus does not let through in a string of a field.
func screened(s string, field tree) string {
	if bound, ok := field.get("max_bytes").natural(); ok && int64(len(s)) > bound {
		return "is over max_bytes"
	}
	if controlled(s) {
		return "has a control character"
	}
	s = strings.TrimSpace(s)
	lower := strings.ToLower(s)
	switch {
	case strings.HasPrefix(s, "/"), strings.HasPrefix(s, "~/"), strings.HasPrefix(s, `~\`), drive(s):
		return "looks like a path"
	case strings.Contains(s, "@"):
		return "has an at sign"
	case dialled(s):
		return "looks like a telephone number"
	case slices.ContainsFunc(cw.TableBusSecretStems, func(stem string) bool { return stemmed(lower, stem) }):
		return "looks like a key"
	case slices.ContainsFunc(cw.TableBusSecretPrefixes, func(p string) bool { return strings.HasPrefix(lower, p) }):
		return "looks like a secret"
	case slices.ContainsFunc(cw.TableBusSecretWords, func(word string) bool {
		rest, found := strings.CutPrefix(lower, word)
		return found && strings.TrimLeftFunc(rest, unicode.IsSpace) != rest
	}):
		return "looks like an authorization"
	}
	return ""
}

// drive reports a drive letter at the start.
func drive(s string) bool {
	return len(s) >= 3 && unicode.IsLetter(rune(s[0])) && s[0] < unicode.MaxASCII && s[1] == ':' && (s[2] == '/' || s[2] == '\\')
}

// stemmed reports a stem, a hyphen or an underscore, and at least eight characters.
func stemmed(lower, stem string) bool {
	const secret = 8
	rest, found := strings.CutPrefix(lower, stem)
	return found && len(rest) > secret && (rest[0] == '-' || rest[0] == '_')
}

// dialled reports what people would dial: digits with something between them.
func dialled(s string) bool {
	const shortest = 8
	const between = " ()-."
	bare := strings.TrimLeft(s, "+")
	return len(s) >= shortest && bare != "" && bare[0] >= '0' && bare[0] <= '9' && strings.ContainsAny(s, between) &&
		!strings.ContainsFunc(s, func(r rune) bool { return !strings.ContainsRune("0123456789+"+between, r) })
}
