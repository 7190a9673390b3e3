package diff

import (
	"slices"
	"strconv"

	wirejson "github.com/octet-dev/octet/gen/golang/support"
	"github.com/octet-dev/octet/gen/model"
)

// aFrame is what a witness is that is a whole frame.
const aFrame = "a frame"

// Members of a JSON-RPC message.
const (
	idMember     = "id"
	methodMember = "method"
	paramsMember = "params"
)

// envelope returns the record that the wire holds requests or notifications against; nil if it has none.
func (t *tree) envelope(notification bool) *model.Model {
	for _, m := range t.wire.Models {
		if !m.Envelope || m.Kind != model.Record || !t.has(m.Versions) || t.field(m, methodMember) == nil {
			continue
		}
		if id := t.field(m, idMember); (id != nil && id.Required) != notification {
			return m
		}
	}
	return nil
}

// frame returns a smallest frame of a method.
func (t *tree) frame(c *call) (string, state) {
	params := "{}"
	if c.shape.Params != nil {
		var st state
		if params, st = newMaker().value(t.spotOf(c.shape.Params), spot{}); st != found {
			return "", st
		}
	}
	return t.frameAround(c, params)
}

// frameAround returns a frame of a method with given params.
func (t *tree) frameAround(c *call, params string) (string, state) {
	members := given{methodMember: quote(c.method.Name), paramsMember: params}
	envelope := t.envelope(c.method.Notification)
	if !c.method.Notification {
		members[idMember] = "1"
		if envelope != nil && t.field(envelope, idMember).Type.Kind == model.String {
			members[idMember] = quote("1")
		}
	}
	if envelope != nil {
		return newMaker().record(t.spotOf(envelope), spot{}, members)
	}
	return object(members), found
}

// selection returns the names that are negotiated where a gate is open: what is required, the gate, and
// what these need. A gate that nobody negotiates stands for itself.
func (t *tree) selection(gate string) []string {
	var list []string
	var add func(name string)
	add = func(name string) {
		if slices.Contains(list, name) {
			return
		}
		list = append(list, name)
		for _, f := range t.featureRows() {
			if f.Name == name {
				for _, d := range f.DependsOn {
					add(d)
				}
			}
		}
	}
	for _, name := range gatesOf(gate) {
		add(name)
	}
	for _, f := range t.featureRows() {
		if f.Required {
			add(f.Name)
		}
	}
	for _, c := range t.wire.Capabilities {
		if class(c) == required {
			add(c.Name)
		}
	}
	return list
}

// gatesOf returns the names that open a gate together.
func gatesOf(gate string) []string { return (&model.Method{Gate: gate}).Gates() }

func holdsAll(list, names []string) bool {
	return !slices.ContainsFunc(names, func(name string) bool { return !slices.Contains(list, name) })
}

// negotiates reports whether peers of this tree can agree on what opens a gate.
func (t *tree) negotiates(gate string) bool {
	names := gatesOf(gate)
	return len(names) > 0 && !slices.ContainsFunc(names, func(name string) bool { return !t.negotiatesName(name) })
}

func (t *tree) negotiatesName(name string) bool {
	return slices.ContainsFunc(t.featureRows(), func(f *model.Feature) bool { return f.Name == name }) ||
		slices.ContainsFunc(t.wire.Capabilities, func(c *model.Capability) bool { return c.Name == name && class(c) != "" })
}

// refuseFrame says why a frame is refused; "" if it is not.
func (t *tree) refuseFrame(text string, p party, negotiated []string) string {
	if limit := t.limit(frameLimit); limit != nil && int64(len(text)) > limit.Value {
		return "the frame has " + strconv.Itoa(len(text)) + " bytes, want at most " + model.Bound{Value: limit.Value, Limit: limit.Name}.String()
	}
	doc, err := wirejson.Parse([]byte(text), t.schema.MaxDepth)
	if err != nil {
		return err.Error()
	}
	defer doc.Release()
	name := doc.Root().Member(methodMember).Text()
	notification := doc.Root().Member(idMember).Kind() == wirejson.KindInvalid
	if envelope := t.envelope(notification); envelope != nil {
		if fault := t.schema.Validate(doc.Root(), t.models[envelope]); fault != nil {
			return fault.Error()
		}
	}
	dir := model.HostToExtension
	if p == fromExtension {
		dir = model.ExtensionToHost
	}
	call := find(t.calls(dir), name)
	switch {
	case call == nil:
		return "no method " + strconv.Quote(name) + " from " + string(t.role(p.writer))
	case call.method.Notification != notification:
		return strconv.Quote(name) + " is a " + messageKind(call.method)
	case call.method.Gate != noGate && !holdsAll(negotiated, call.method.Gates()):
		return strconv.Quote(name) + " needs " + strconv.Quote(call.method.Gate) + ", which is not negotiated"
	case call.shape.Params == nil:
		return ""
	}
	if fault := t.schema.Validate(doc.Root().Member(paramsMember), t.indexOf(t.spotOf(call.shape.Params))); fault != nil {
		return fault.Error()
	}
	return ""
}
