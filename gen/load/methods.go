package load

import (
	"regexp"
	"slices"
	"strings"

	"github.com/octet-dev/octet/gen/model"
)

const deferredStatus = "deferred"

func (w *wireLoader) loadMethods(roots []node) {
	for _, n := range rows(roots, "methods") {
		m := &model.Method{
			At:           placeOf(n),
			Name:         n.text("name"),
			Doc:          prose(n.text("summary"), n.text("description"), n.flag("x-inferred")),
			Source:       n.text("x-source"),
			Versions:     w.versions(n, "x-versions"),
			Notification: n.flag("x-notification"),
			Direction:    model.Direction(n.text("x-direction")),
			Gate:         n.text("x-gate"),
			GateMode:     model.GateMode(n.text("x-gate-mode")),
			Transports:   n.texts("x-transports"),
			Durable:      n.text("x-durable"),
			Lane:         n.text("x-lane"),
			Inferred:     n.flag("x-inferred"),
			Offer:        n.text("x-offer"),
			Terminal:     n.text("x-terminal"),
			Status:       n.text("x-status"),
			Parent:       model.Parent(n.text("x-parent")),
			Service:      model.Service{Noun: n.get("x-service").text("noun"), Verb: n.get("x-service").text("verb")},
		}
		w.checkMethod(n, m)
		w.checkService(n, m)
		w.loadShapes(n, m)
		w.wire.Methods = append(w.wire.Methods, m)
	}
}

// checkMethod holds a method against its wire and against the methods before it. Between a client and a
// server a request and a notification the other way may share a name: the direction tells them apart.
func (w *wireLoader) checkMethod(n node, m *model.Method) {
	for _, other := range w.wire.Methods {
		paired := other.Notification != m.Notification && other.Direction != m.Direction && w.wire.Family == model.ServerFamily
		if other.Name == m.Name && !paired {
			w.addf(n.get("name"), "the method %q comes twice; keep one", m.Name)
		}
	}
	if !n.has("x-versions") && len(w.wire.Versions) > 1 {
		w.addf(n, "the method %q says not which versions know it; add x-versions", m.Name)
	}
	ways := []model.Direction{model.HostToExtension, model.ExtensionToHost, model.Both}
	if w.wire.Family == model.ServerFamily {
		ways = []model.Direction{model.ClientToServer, model.ServerToClient}
	}
	if !slices.Contains(ways, m.Direction) {
		w.addf(n.get("x-direction"), "%q is no direction of this wire; use one of %q", m.Direction, ways)
	}
	for _, keyword := range []string{"x-transports", "x-durable"} {
		if n.has(keyword) != (w.wire.Family == model.ServerFamily) {
			w.addf(n, "%s belongs to every method between a client and a server and to no other; add or remove it at %q", keyword, m.Name)
		}
	}
	if (m.GateMode != "") != (w.wire.Family == model.ServerFamily && m.Gate != "-") {
		w.addf(n, "x-gate-mode belongs to every gate between a client and a server and to nothing else; add or remove it at %q", m.Name)
	}
}

// checkService holds the name and the parent class of a method against its direction and its neighbours.
func (w *wireLoader) checkService(n node, m *model.Method) {
	if m.Parent != "" && m.Direction != model.ExtensionToHost {
		w.addf(n.get("x-parent"), "%q is not sent by extensions alone, so it has no parent class; remove x-parent", m.Name)
	}
	if m.Service == (model.Service{}) {
		return
	}
	if m.Direction == model.ExtensionToHost && m.Parent == "" {
		w.addf(n, "the service %q says not how it is tied to a request of the host; add x-parent", m.Name)
	}
	for _, other := range w.wire.Methods {
		if other.Service == m.Service {
			w.addf(n.get("x-service"), "%q has this name already; choose another noun or verb", other.Name)
		}
	}
}

func prose(summary, description string, inferred bool) string {
	text := summary
	if description != "" {
		text += "\n\n" + description
	}
	if inferred {
		text += inferredMark
	}
	return text
}

func (w *wireLoader) loadShapes(n node, m *model.Method) {
	general := model.MethodShape{Versions: slices.Clone(m.Versions)}
	for _, p := range n.get("params").items() {
		general.Params = w.resolve(p.get("schema").get("$ref"))
	}
	if r := n.get("result"); r.exists() {
		w.loadResult(r.get("schema"), &general)
	}
	var special []model.MethodShape
	for _, s := range n.get("x-shapes").items() {
		shape := model.MethodShape{Versions: s.texts("versions"), Params: general.Params, Result: general.Result, Nullable: general.Nullable}
		for _, v := range s.get("versions").items() {
			i := slices.Index(general.Versions, v.value.Text())
			if i < 0 {
				w.addf(v, "version %q is none of the method's, or has a shape already; correct it", v.value.Text())
				continue
			}
			general.Versions = slices.Delete(general.Versions, i, i+1)
		}
		if p := s.get("params"); p.exists() {
			shape.Params = w.resolve(p.get("$ref"))
		}
		if r := s.get("result"); r.exists() {
			w.loadResult(r, &shape)
		}
		w.checkShape(s, m, shape)
		special = append(special, shape)
	}
	if len(general.Versions) == 0 {
		w.addf(n.get("x-shapes"), "every version has a shape of its own; let one of them be the method's params and result")
	}
	w.checkShape(n, m, general)
	m.Shapes = append([]model.MethodShape{general}, special...)
}

func (w *wireLoader) loadResult(n node, shape *model.MethodShape) {
	shape.Nullable = n.flag("x-nullable")
	if n.text("type") == "array" {
		if elem := w.resolve(n.get("items").get("$ref")); elem != nil {
			shape.Result = &model.Type{Kind: model.Array, Elem: &model.Type{Kind: model.Ref, Ref: elem}}
		}
		return
	}
	if ref := w.resolve(n.get("$ref")); ref != nil {
		shape.Result = &model.Type{Kind: model.Ref, Ref: ref}
	}
}

// checkShape holds what a method says about itself against the models it names.
func (w *wireLoader) checkShape(n node, m *model.Method, shape model.MethodShape) {
	switch {
	case m.Status == deferredStatus && (shape.Params != nil || shape.Result != nil):
		w.addf(n, "the method %q is deferred and has params or a result; remove them", m.Name)
	case m.Notification && shape.Result != nil:
		w.addf(n, "the notification %q has a result; remove it or x-notification", m.Name)
	case m.Status != deferredStatus && !m.Notification && shape.Result == nil:
		w.addf(n, "the request %q has no result; add it or x-notification", m.Name)
	}
	if r := shape.Result; r != nil && w.wire.Family == model.ServerFamily && (shape.Nullable || r.Kind == model.Array) {
		w.addf(n, "the result of %q is a list or may be null, to which no member can be added; wrap it in a record", m.Name)
	}
	if p := shape.Params; p != nil && w.wire.Family == model.ServerFamily && p.Kind != model.Record {
		w.addf(n, "the params of %q are no record, and a client names their members; make %s one", m.Name, p.Name)
	}
	models := []*model.Model{shape.Params}
	if r := shape.Result; r != nil && r.Kind == model.Array {
		r = r.Elem
		models = append(models, r.Ref)
	} else if r != nil {
		models = append(models, r.Ref)
	}
	for _, used := range models {
		if used == nil {
			continue
		}
		if v, bad := lacking(shape.Versions, used.Versions); bad {
			w.addf(n, "the method %q uses %s in version %q, which does not know it; align the versions", m.Name, used.Name, v)
		}
	}
}

// declared are the first words of gates that the manifest or the catalog opens; behind them stands prose.
var declared = regexp.MustCompile(`^(-|base|contributes\.[a-z_]+|declared(/registered)?)$`)

// checkGates holds the gates of a contract wire against its capabilities, and those of a wire with features
// against these: the first word of such a gate is a feature, or says that a declaration opens it.
func (w *wireLoader) checkGates() {
	for i, n := range rows(w.part(w.wire.Files.Methods), "methods") {
		m := w.wire.Methods[i]
		if w.wire.Family == model.ServerFamily {
			for _, name := range m.Gates() {
				w.checkFeatureGate(n.get("x-gate"), m, name)
			}
			continue
		}
		if len(w.wire.Capabilities) > 0 {
			known := slices.ContainsFunc(w.wire.Capabilities, func(c *model.Capability) bool { return c.Name == m.Gate })
			if m.Gate != "-" && !known {
				w.addf(n.get("x-gate"), "%q is no capability; add the row or correct the name", m.Gate)
			}
			continue
		}
		if word, _, _ := strings.Cut(m.Gate, " "); len(w.wire.Features) > 0 && !declared.MatchString(word) {
			w.checkFeatureGate(n.get("x-gate"), m, word)
		}
	}
}

func (w *wireLoader) checkFeatureGate(n node, m *model.Method, name string) {
	at := slices.IndexFunc(w.wire.Features, func(f *model.Feature) bool { return f.Name == name })
	if at < 0 {
		w.addf(n, "%q is no feature; add the row, correct the name, or begin the gate with contributes., declared or base", name)
		return
	}
	if v, bad := lacking(m.Versions, w.wire.Features[at].Versions); bad {
		w.addf(n, "the feature %q does not exist in version %q of %q; align the versions", name, v, m.Name)
	}
}
