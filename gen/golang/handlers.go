package golang

import "strconv"

// eventsFile writes the registration of what an extension hears.
func (s *services) eventsFile(t *source) []string {
	wire := s.wire.Module.Go
	t.p("// Event reads the params of a notification and returns the handling of it. The error is a")
	t.p("// *wirejson.SyntaxError or a *wirejson.Violation.")
	t.p("type Event func(params []byte) (func(ctx context.Context), error)")
	t.p("")
	t.p("// Events registers what an extension wants to hear, by the method that says it.")
	t.p("type Events struct { register func(method *wirejson.Method, event Event) }")
	t.p("")
	t.p("// NewEvents returns the registration of events with an SDK.")
	t.p("func NewEvents(register func(method *wirejson.Method, event Event)) Events { return Events{register} }")
	t.p("")
	t.p("func hear[P any](decode func([]byte) (P, error), handle func(context.Context, P)) Event {")
	t.p("return func(params []byte) (func(context.Context), error) {")
	t.p("event, err := decode(params)")
	t.p("if err != nil { return nil, err }")
	t.p("return func(ctx context.Context) { handle(ctx, event) }, nil")
	t.p("}")
	t.p("}")
	verbs := newScope(s.errs, "type Events")
	for _, m := range s.events() {
		at := m.At.Under("/x-service/verb")
		name := verbs.declare(goName(m.Service.Verb), "event "+strconv.Quote(m.Service.Verb), at)
		params := m.Shapes[0].Params.Name
		note := "Method " + m.Name + "."
		if m.Gate != "-" {
			note = "Method " + m.Name + ", opened by " + m.Gate + "."
		}
		t.p("")
		t.doc("", name+": "+m.Doc, note, m.sourceNote(s.wire))
		t.p("func (e Events) %s(handle func(ctx context.Context, event %s.%s)) {", name, wire, params)
		t.p("e.register(&%s.Methods[%d], hear(%s.Decode%s, handle))", wire, m.index, wire, params)
		t.p("}")
	}
	return []string{"context", "", s.wirePath(), supportPath}
}

// hooksFile writes the registration of what an extension is asked.
func (s *services) hooksFile(t *source) []string {
	wire := s.wire.Module.Go
	t.p("// Hook reads a payload and returns the answering of it in a scope. The error is a *wirejson.SyntaxError or a")
	t.p("// *wirejson.Violation.")
	t.p("type Hook[S any] func(payload []byte) (func(ctx context.Context, scope S) (wirejson.Encoder, error), error)")
	t.p("")
	t.p("// Hooks registers what an extension answers when the host asks. S is the scope of an answer in an SDK.")
	t.p("type Hooks[S any] struct { register func(row *wirejson.Hook, hook Hook[S]) }")
	t.p("")
	t.p("// NewHooks returns the registration of hooks with an SDK.")
	t.p("func NewHooks[S any](register func(row *wirejson.Hook, hook Hook[S])) Hooks[S] { return Hooks[S]{register} }")
	t.p("")
	t.p("func answer[S, P any, R wirejson.Encoder](decode func([]byte) (P, error), handle func(context.Context, S, P) (R, error)) Hook[S] {")
	t.p("return func(text []byte) (func(context.Context, S) (wirejson.Encoder, error), error) {")
	t.p("payload, err := decode(text)")
	t.p("if err != nil { return nil, err }")
	t.p("return func(ctx context.Context, scope S) (wirejson.Encoder, error) {")
	t.p("result, err := handle(ctx, scope, payload)")
	t.p("if err != nil { return nil, err }")
	t.p("return result, nil")
	t.p("}, nil")
	t.p("}")
	t.p("}")
	hooks := newScope(s.errs, "type Hooks")
	for i, h := range s.wire.Hooks {
		at := h.At.Under("/name")
		name := hooks.declare(goName(h.Name), "hook "+strconv.Quote(h.Name), at)
		t.p("")
		t.doc("", name+": "+h.Doc, hookNote(h), (&pkg{wire: s.wire}).sourceNote(h.Source, h.Versions))
		t.p("func (h Hooks[S]) %s(handle func(ctx context.Context, scope S, payload %s.%s) (%s.%s, error)) {", name, wire, h.Payload.Name, wire, h.Result.Name)
		t.p("h.register(&%s.Hooks[%d], answer(%s.Decode%s, handle))", wire, i, wire, h.Payload.Name)
		t.p("}")
	}
	return []string{"context", "", s.wirePath(), supportPath}
}
