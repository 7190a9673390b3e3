package fuzz

import (
	"bytes"
	"encoding/json"
	"slices"

	"github.com/octet-dev/octet/features/dialect"
	"github.com/octet-dev/octet/features/steps"
	"github.com/octet-dev/octet/features/vectors"
	"github.com/octet-dev/octet/generated/canonicalwire"
	"github.com/octet-dev/octet/generated/featurewire"
)

// Material is what conversations with one extension are made of.
type Material struct {
	setup   *steps.Setup
	traffic steps.Traffic
	values  []value            // of methods
	hooks   map[string][]value // payloads, by hook
}

// value are params that follow from a model of the wire: legal ones at a bound of it, or ones that break one fact.
type value struct {
	method string
	text   []byte
	broken string // the name of the error that the wire has for what is broken; empty where nothing is
	inner  bool   // what is broken is a member, not the whole
	notice bool   // of a notification
}

// widest is the longest value that is sent: every bound that can be selected lets it pass.
const widest = 32 << 10

// Gather collects what conversations are made of: what the extension with a certain result of initialize has, and
// those of the vectors that are params of what a host sends.
func Gather(setup *steps.Setup, result json.RawMessage, all []vectors.Vector) *Material {
	m := &Material{setup: setup, traffic: setup.Traffic(result), hooks: map[string][]value{}}
	d := setup.Dialect
	models := map[string][]value{}
	for _, v := range all {
		if v.Wire != wireOf(d) || v.Op != "model" || v.Want.Verdict == "malformed" {
			continue
		}
		model, text := v.Value()
		if spelled, ok := spell(d, text); ok && len(spelled) <= widest {
			models[model] = append(models[model], value{text: spelled, broken: v.Want.Error, inner: v.Want.Pointer != nil && *v.Want.Pointer != ""})
		}
	}
	for _, method := range d.HostMethods() {
		if method.Name == dialect.Initialize {
			continue // the second of two is a conversation of its own
		}
		for _, v := range models[d.Shape(method.Name).Params] {
			v.method, v.notice = method.Name, method.Notification
			m.values = append(m.values, v)
		}
	}
	if !d.Canonical() {
		for _, hook := range featurewire.Hooks {
			m.hooks[hook.Name] = models[hook.Payload]
		}
	}
	return m
}

func wireOf(d dialect.Dialect) string {
	if d.Canonical() {
		return canonicalwire.Wire
	}
	return featurewire.Wire
}

// spell writes a value on one line; on the canonical wire in the one spelling that it has, if it has one.
func spell(d dialect.Dialect, text string) ([]byte, bool) {
	if !d.Canonical() {
		return bytes.ReplaceAll([]byte(text), []byte("\n"), []byte(" ")), json.Valid([]byte(text)) // line feeds are white space alone
	}
	if !d.Spellable(text) {
		return nil, false
	}
	return dialect.Encode(json.RawMessage(text)), true
}

// derived sends params that follow from a model.
func (g *generator) derived() {
	if len(g.values) == 0 {
		g.unknown()
		return
	}
	if g.rng.IntN(4) == 0 && g.payload() {
		return
	}
	// Methods have as many values as their models are large: each has the same chance here.
	method := pick(g.rng, methodsOf(g.values)...)
	v := pick(g.rng, slices.DeleteFunc(slices.Clone(g.values), func(v value) bool { return v.method != method })...)
	if g.d.Canonical() {
		g.derivedCanonical(v)
		return
	}
	g.derivedFeature(v)
}

func methodsOf(values []value) []string {
	var out []string
	for _, v := range values {
		if !slices.Contains(out, v.method) {
			out = append(out, v.method)
		}
	}
	return out
}

// payload runs one of the extension's hooks with a payload that follows from its model.
func (g *generator) payload() bool {
	asked := slices.DeleteFunc(slices.Clone(g.traffic.Questions), func(q steps.Question) bool {
		name, _ := q.Params["hook"].(string)
		return q.Method != featurewire.MethodHookRun || len(g.hooks[name]) == 0
	})
	if len(asked) == 0 {
		return false
	}
	q := pick(g.rng, asked...)
	name, _ := q.Params["hook"].(string)
	v := pick(g.rng, g.hooks[name]...)
	params := dialect.Object{}
	for k, member := range q.Params {
		params[k] = member
	}
	if !g.d.Spellable(string(v.text)) {
		return false
	}
	params["payload"] = json.RawMessage(v.text)
	g.request(q.Method, params, Item{kind: answer, bent: true})
	return true
}

// derivedFeature sends params on the wire that lets an extension answer broken ones as it likes.
func (g *generator) derivedFeature(v value) {
	if v.method == dialect.Shutdown {
		g.unknown() // whether a shutdown with odd params is one is up to the extension
		return
	}
	if v.notice {
		line := frame("", v.method, v.text)
		g.add(Item{Line: line, kind: silence, rule: "EXT04-ENV-007"})
		return
	}
	if g.has(v.text) {
		g.unknown() // what a tool or a command does with odd values says nothing about the wire
		return
	}
	g.requestText(v, Item{kind: answer, bent: true})
}

// derivedCanonical sends params on the wire that says how each is answered.
func (g *generator) derivedCanonical(v value) {
	row := canonicalwire.LookupMethod(v.method)
	selected := row.Offer == "required" || slices.Contains(g.traffic.Selected, v.method)
	item := Item{kind: answer, errors: []string{v.broken}}
	switch {
	case v.notice && (v.method == dialect.Cancel || !selected):
		item.rule = "EXT03-METHOD-004"
		if v.method == dialect.Cancel {
			item.rule = "EXT03-CANCEL-007"
		}
		g.add(Item{Line: frame("", v.method, v.text), kind: silence, rule: item.rule})
		return
	case v.notice:
		g.unknown() // a notice changes what the extension may send
		return
	case string(v.text) == "null":
		item.errors, item.rule = invalid, "EXT03-ENV-009"
	case !selected && v.broken != "" && !v.inner:
		g.unknown() // two rules speak about it
		return
	case !selected:
		item.errors, item.rule = []string{"unknown_method"}, "EXT03-METHOD-002"
	case v.method == dialect.ToolCall && v.broken == "":
		item.errors, item.rule = []string{"unknown_method", "invalid_params"}, "EXT03-TOOL-009"
	case v.method == dialect.ToolCall && v.broken == "resource_exhausted":
		item.rule = "EXT03-TOOL-012"
	case v.method == dialect.ToolCall:
		// A call of a tool that nobody has may be refused for that.
		item.errors, item.rule = []string{"unknown_method", "invalid_params"}, "EXT03-TOOL-011"
		if known, ok := g.named(v.text); ok {
			v.text, item.errors = known, []string{"invalid_params"}
		}
	case v.method == dialect.Shutdown && v.broken != "":
		item.rule = "EXT03-SHUT-007"
	case v.method == dialect.Shutdown:
		g.unknown()
		return
	case v.broken != "":
		item.errors, item.rule = []string{v.broken, "invalid_params", "resource_exhausted"}, "EXT03-METHOD-009"
	case v.method == canonicalwire.MethodMigrationDetect || v.method == canonicalwire.MethodMigrationImport:
		item.errors, item.rule = []string{"invalid_params"}, "EXT03-MIGRATE-004"
	case v.method == canonicalwire.MethodHookRun:
		item.errors = nil
	default:
		g.unknown() // a stream that nobody reads
		return
	}
	if v.method == dialect.ToolCall && g.has(v.text) && v.broken == "" {
		g.unknown()
		return
	}
	g.requestText(v, item)
}

// requestText adds a request whose params are a text.
func (g *generator) requestText(v value, i Item) {
	g.request(v.method, json.RawMessage(`{}`), i)
	last := &g.items[len(g.items)-1]
	last.Line = frame(last.id, v.method, v.text)
	last.Cut = min(last.Cut, len(last.Line)-1)
}

// frame writes a request, or without an id a notification, whose params are a text as it is.
func frame(id, method string, params []byte) []byte {
	var out []byte
	out = append(out, '{')
	if id != "" {
		out = append(append(append(out, `"id":`...), id...), ',')
	}
	out = append(append(append(out, `"jsonrpc":`...), dialect.Encode(dialect.RPCVersion)...), `,"method":`...)
	out = append(append(append(out, dialect.Encode(method)...), `,"params":`...), params...)
	return append(out, '}')
}

// has reports whether params name a tool or a command that the extension may have.
func (g *generator) has(params []byte) bool {
	var p struct {
		Name    json.RawMessage `json:"name"`
		Command json.RawMessage `json:"command"`
	}
	if json.Unmarshal(params, &p) != nil {
		return false
	}
	for _, spelled := range []json.RawMessage{p.Name, p.Command} {
		var name string
		if json.Unmarshal(spelled, &name) == nil && slices.Contains(g.traffic.Names, name) {
			return true
		}
	}
	return false
}

// named gives broken params the name of a tool that is safe to call, if the name that they have is legal.
func (g *generator) named(params []byte) ([]byte, bool) {
	var p map[string]json.RawMessage
	var name string
	if len(g.traffic.Calls) == 0 || json.Unmarshal(params, &p) != nil || p["name"] == nil || json.Unmarshal(p["name"], &name) != nil || string(p["name"]) == "null" {
		return nil, false
	}
	call := pick(g.rng, g.traffic.Calls...)
	p["name"] = dialect.Encode(call.Tool)
	return dialect.Encode(p), true
}
