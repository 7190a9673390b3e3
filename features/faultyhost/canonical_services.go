package faultyhost

import (
	"encoding/json"
	"regexp"
	"slices"
	"strings"
	"time"
	"unicode"

	"github.com/octet-dev/octet/features/dialect"
	cw "github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/wirejson"
)

// granted is what the extension has of the services of the canonical wire.
type granted struct {
	binding   string
	topics    map[string][]cw.BusFieldSpec
	interests map[string]bool
	providers map[string]int // models by provider
	batches   int            // ends of them

	active, left, sulks bool     // kept by quirks
	held                [][]byte // answers that a quirk holds
}

// Answers to what a host does not grant.
const (
	invalid   = "invalid_params"
	mismatch  = "capability_mismatch"
	exhausted = "resource_exhausted"
)

// theme is the one that the host has.
const theme = "dark"

// attach tells an extension that selected the bus of its binding.
func (h *host) attach() error {
	if h.quirk.does == refusesAhead {
		select {
		case <-h.lines:
			return &failure{text: "a frame in front of the first call", broken: true}
		case <-time.After(grace / 4):
		}
	}
	h.granted = granted{providers: map[string]int{}}
	h.bind()
	return nil
}

// bind begins an incarnation of the bus: topics and interests are gone.
func (h *host) bind() {
	h.granted.topics, h.granted.interests = map[string][]cw.BusFieldSpec{}, map[string]bool{}
	if !slices.Contains(h.desk.methods, cw.MethodBusLifecycle) {
		return
	}
	if notice, is := h.desk.services.Bind().(cw.BusBindingNotice); is {
		h.granted.binding = notice.BindingID
		h.notify(cw.MethodBusLifecycle, json.RawMessage(notice.AppendJSON(nil)))
	}
}

// objection names the error that a request deserves; empty if it is served, and then what it asks for is noted.
func (h *host) objection(q question) string {
	bus := strings.HasPrefix(q.method, "bus/")
	if bus {
		if name := h.unbound(q); name != "" {
			return name
		}
	}
	shape := h.d.Shape(q.method)
	if v, broken := h.d.Violation(shape.Params, q.params); broken {
		return modelFault(q.method, v)
	}
	if judge := objections[q.method]; judge != nil {
		return judge(h, q.params)
	}
	return ""
}

// unbound judges the binding of a request of the bus, before anything else in it.
func (h *host) unbound(q question) string {
	var binding string
	if json.Unmarshal(q.at("binding_id"), &binding) != nil || binding == "" || len(binding) > cw.MaxSessionHookIDBytes {
		return invalid
	}
	if binding != h.granted.binding {
		return mismatch
	}
	return ""
}

// Places in a declaration of a topic.
var (
	insideField = regexp.MustCompile(`^/fields/\d+/`)
	fieldValues = regexp.MustCompile(`^/fields/\d+/values(/\d+)?$`)
)

// modelFault is the error for params that break their model. Inside a field of a topic only the number and the length
// of the alternatives count as too much.
func modelFault(method string, v *wirejson.Violation) string {
	if method != cw.MethodBusDeclare || !insideField.MatchString(v.Pointer) {
		return v.ErrorName
	}
	if fieldValues.MatchString(v.Pointer) && (v.Kind == wirejson.ItemCount || v.Kind == wirejson.ByteCount) {
		return exhausted
	}
	return invalid
}

// judging makes an objection of a function that takes the params as their model.
func judging[P any](decode func([]byte) (P, error), judge func(h *host, p P) string) func(*host, json.RawMessage) string {
	return func(h *host, params json.RawMessage) string {
		p, err := decode(params)
		if err != nil {
			return invalid
		}
		return judge(h, p)
	}
}

// objections are what a host looks at beyond the models.
var objections = map[string]func(*host, json.RawMessage) string{
	cw.MethodBusDeclare:     judging(cw.DecodeBusDeclareParams, (*host).declares),
	cw.MethodBusSubscribe:   judging(cw.DecodeBusTopicParams, (*host).subscribes),
	cw.MethodBusUnsubscribe: judging(cw.DecodeBusTopicParams, (*host).unsubscribes),
	cw.MethodBusPublish:     judging(cw.DecodeBusPublishParams, (*host).utters),

	cw.MethodProvidersRegister: judging(cw.DecodeProviderRegisterParams, func(h *host, p cw.ProviderRegisterParams) string {
		if _, known := h.granted.providers[p.Provider.ID]; known {
			return invalid
		}
		return h.catalogues(p.Provider.ID, p.Models)
	}),
	cw.MethodProvidersUpdate: judging(cw.DecodeProviderUpdateParams, func(h *host, p cw.ProviderUpdateParams) string {
		if _, known := h.granted.providers[p.Provider.ID]; !known {
			return invalid
		}
		return h.catalogues(p.Provider.ID, p.Models)
	}),
	cw.MethodProvidersUnregister: judging(cw.DecodeProviderUnregisterParams, func(h *host, p cw.ProviderUnregisterParams) string {
		if _, known := h.granted.providers[p.ProviderID]; !known {
			return invalid
		}
		delete(h.granted.providers, p.ProviderID)
		return ""
	}),
	cw.MethodProviderAuthRequest: judging(cw.DecodeProviderAuthorizationRequest, (*host).authorizes),
	cw.MethodProviderAuthRevoke:  judging(cw.DecodeProviderAuthorizationRequest, (*host).revokes),
	cw.MethodThemeSelect: judging(cw.DecodeThemeSelectParams, func(h *host, p cw.ThemeSelectParams) string {
		switch {
		case p.Namespace != h.x.Name:
			return mismatch
		case p.ThemeID != theme:
			return invalid
		}
		return ""
	}),
	cw.MethodSessionSwitch: judging(cw.DecodeSessionSwitchParams, func(_ *host, p cw.SessionSwitchParams) string {
		if p.SessionID == "none" {
			return "internal_error" // there is no such session
		}
		return ""
	}),
}

// catalogues judges a provider with its models and notes it.
func (h *host) catalogues(id string, models []cw.ProviderModelDefinition) string {
	legal := func(id string) bool { return id != "" && !strings.Contains(id, "/") }
	seen := map[string]bool{}
	for _, m := range models {
		if !legal(m.ID) || seen[m.ID] || m.ContextWindow == 0 || m.MaxOutputTokens == 0 {
			return invalid
		}
		seen[m.ID] = true
	}
	if !legal(id) {
		return invalid
	}
	providers, all := 1, len(models)
	for other, n := range h.granted.providers {
		if other != id {
			providers++
			all += n
		}
	}
	if providers > cw.MaxProviders || all > cw.MaxProviderModels {
		return exhausted
	}
	h.granted.providers[id] = len(models)
	return ""
}

func (h *host) owns(id string) string {
	if _, known := h.granted.providers[id]; !known {
		return mismatch
	}
	return ""
}

func (h *host) authorizes(p cw.ProviderAuthorizationRequest) string {
	if p.Action == cw.ProviderAuthorizationActionRevoke {
		return invalid
	}
	return h.owns(p.ProviderID)
}

func (h *host) revokes(p cw.ProviderAuthorizationRequest) string {
	if p.Action != cw.ProviderAuthorizationActionRevoke {
		return invalid
	}
	return h.owns(p.ProviderID)
}

// ownerOf is whose topic a name is; empty for a name that is none.
func ownerOf(topic string) string {
	rest, found := strings.CutPrefix(topic, cw.TableBusTopicPrefix[0])
	owner, name, two := strings.Cut(rest, ".")
	if !found || !two || !dialect.BusIdentifier(owner) || !dialect.BusIdentifier(name) {
		return ""
	}
	return owner
}

func (h *host) declares(p cw.BusDeclareParams) string {
	switch ownerOf(p.Topic) {
	case "":
		return invalid
	case h.x.Name:
	default:
		return mismatch
	}
	seen := map[string]bool{}
	for _, field := range p.Fields {
		if seen[field.Name] || !dialect.BusIdentifier(field.Name) || forbidden(field.Name) {
			return invalid
		}
		seen[field.Name] = true
		if name := fieldObjection(field); name != "" {
			return name
		}
	}
	switch _, declared := h.granted.topics[p.Topic]; {
	case declared:
		return invalid
	case len(h.granted.topics) >= cw.MaxBusTopics:
		return exhausted
	}
	h.granted.topics[p.Topic] = p.Fields
	return ""
}

// forbidden reports a word in the name of a field that the bus does not carry.
func forbidden(name string) bool {
	letters := strings.Map(func(r rune) rune {
		if r < unicode.MaxASCII && (unicode.IsLetter(r) || unicode.IsDigit(r)) {
			return unicode.ToLower(r)
		}
		return -1
	}, name)
	return slices.ContainsFunc(cw.TableBusForbiddenWords, func(word string) bool { return strings.Contains(letters, word) })
}

func fieldObjection(field cw.BusFieldSpec) string {
	if (field.Kind == cw.BusFieldKindEnum) != (len(field.Values) > 0) {
		return invalid
	}
	for i, value := range field.Values {
		if slices.Contains(field.Values[:i], value) {
			return invalid
		}
		if name := textObjection(value, field.MaxBytes); name != "" {
			return name
		}
	}
	least, hasLeast := field.Minimum.Get()
	most, hasMost := field.Maximum.Get()
	if (hasLeast || hasMost) && field.Kind != cw.BusFieldKindInteger || hasLeast && hasMost && least > most {
		return invalid
	}
	return ""
}

// suspicious is what no string of the bus begins with, or is.
var suspicious = regexp.MustCompile(`^(/|~[/\\]|[A-Za-z]:[/\\])|@|^\+*\d[\d+ ().-]*[ ().-][\d+ ().-]*$`)

// textObjection holds a string against its length first, and then against what a bus does not carry.
func textObjection(s string, most int64) string {
	if int64(len(s)) > min(most, cw.MaxBusStringBytes) {
		return exhausted
	}
	trimmed := strings.TrimSpace(s)
	lower := strings.ToLower(trimmed)
	begins := func(list []string, goesOn func(rest string) bool) bool {
		return slices.ContainsFunc(list, func(prefix string) bool {
			rest, found := strings.CutPrefix(lower, prefix)
			return found && goesOn(rest)
		})
	}
	const secret = 8 // characters behind a stem
	switch {
	case strings.ContainsFunc(s, unicode.IsControl), suspicious.MatchString(trimmed),
		begins(cw.TableBusSecretPrefixes, func(string) bool { return true }),
		begins(cw.TableBusSecretStems, func(rest string) bool {
			return len(rest) > secret && (rest[0] == '-' || rest[0] == '_')
		}),
		begins(cw.TableBusSecretWords, func(rest string) bool { return strings.TrimLeftFunc(rest, unicode.IsSpace) != rest }):
		return invalid
	}
	return ""
}

func (h *host) subscribes(p cw.BusTopicParams) string {
	switch {
	case ownerOf(p.Topic) == "":
		return invalid
	case !slices.Contains(h.desk.methods, cw.MethodBusEvent):
		return mismatch
	case !h.granted.interests[p.Topic] && len(h.granted.interests) >= cw.MaxBusSubscriptions:
		return exhausted
	}
	h.granted.interests[p.Topic] = true
	return ""
}

func (h *host) unsubscribes(p cw.BusTopicParams) string {
	if ownerOf(p.Topic) == "" {
		return invalid
	}
	delete(h.granted.interests, p.Topic)
	return ""
}

// utters judges a publication.
func (h *host) utters(p cw.BusPublishParams) string {
	fields, declared := h.granted.topics[p.Topic]
	if !declared {
		return invalid
	}
	var payload map[string]json.RawMessage
	if json.Unmarshal(p.Payload, &payload) != nil || payload == nil {
		return invalid
	}
	if len(payload) > cw.MaxBusFields {
		return exhausted
	}
	for _, field := range fields {
		v, there := payload[field.Name]
		delete(payload, field.Name)
		if !there && field.Required {
			return invalid
		}
		if there {
			if name := valueObjection(v, field); name != "" {
				return name
			}
		}
	}
	if len(payload) > 0 {
		return invalid // undeclared keys
	}
	const envelope = 400 // of an event, without its payload
	if len(p.Payload)+envelope > cw.MaxBusMessageBytes {
		return exhausted
	}
	return ""
}

func valueObjection(v json.RawMessage, field cw.BusFieldSpec) string {
	var text string
	var number int64
	switch field.Kind {
	case cw.BusFieldKindBoolean:
		if s := string(v); s != "true" && s != "false" {
			return invalid
		}
	case cw.BusFieldKindInteger:
		if string(v) == "null" || json.Unmarshal(v, &number) != nil || number < field.Minimum.Or(number) || number > field.Maximum.Or(number) {
			return invalid
		}
	default:
		if v[0] != '"' || json.Unmarshal(v, &text) != nil {
			return invalid
		}
		if name := textObjection(text, field.MaxBytes); name != "" {
			return name
		}
		if field.Kind == cw.BusFieldKindEnum && !slices.Contains(field.Values, text) {
			return invalid
		}
	}
	return ""
}
