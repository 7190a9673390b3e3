package golang

import (
	"strconv"

	"github.com/octet-dev/octet/gen/model"
)

// callNames are the names that the calls of a client bring into the package of a wire of clients and servers.
var callNames = []string{"Caller", "Calls", "NewCalls", "DecodeNotification"}

// callsFile writes what a client calls and hears: a method a row, and the reader of notifications.
func (p *pkg) callsFile(s *source) []string {
	s.p("// Caller carries out what calls ask for: a client has one for each connection or scope.")
	s.p("type Caller interface {")
	s.p("// Call sends a request and gives its result to accept, whose error says how the result breaks its model.")
	s.p("Call(ctx context.Context, method string, params []byte, accept func(result []byte) error) error")
	s.p("// Tell sends a notification.")
	s.p("Tell(ctx context.Context, method string, params []byte) error")
	s.p("}")
	s.p("")
	s.p("// Calls are what a client sends, a method for each row of the table. They check what they send before they")
	s.p("// send it, and what comes back: the error is a *wirejson.Violation for params that break their model, and")
	s.p("// else what the Caller returns.")
	s.p("type Calls struct{ caller Caller }")
	s.p("")
	s.p("// NewCalls returns the calls that a caller carries out.")
	s.p("func NewCalls(caller Caller) Calls { return Calls{caller} }")
	s.p("")
	s.p("func call[R any](ctx context.Context, caller Caller, method string, params wirejson.Encoder, decode func([]byte) (R, error)) (result R, err error) {")
	s.p("if err := params.Validate(); err != nil { return result, err }")
	s.p("err = caller.Call(ctx, method, params.AppendJSON(nil), func(raw []byte) (err error) {")
	s.p("result, err = decode(raw)")
	s.p("return err")
	s.p("})")
	s.p("return result, err")
	s.p("}")
	s.p("")
	s.p("func tell(ctx context.Context, caller Caller, method string, params wirejson.Encoder) error {")
	s.p("if err := params.Validate(); err != nil { return err }")
	s.p("return caller.Tell(ctx, method, params.AppendJSON(nil))")
	s.p("}")
	verbs := newScope(p.errs, "type Calls")
	for _, m := range p.wire.Methods {
		if m.Direction == model.ClientToServer && m.Carries() {
			p.call(s, verbs, m)
		}
	}
	s.p("")
	p.heard(s)
	return []string{"context", "", supportPath}
}

func (p *pkg) call(s *source, verbs *scope, m *model.Method) {
	name := verbs.declare(goName(m.Name), "method "+strconv.Quote(m.Name), m.At.Under("/name"))
	constant, shape := "Method"+goName(m.Name), m.Shapes[0]
	note := "Method " + m.Name + "."
	if m.Gate != "-" {
		note = "Method " + m.Name + ", opened by " + m.Gate + "."
	}
	s.p("")
	s.doc("", name+": "+m.Doc, note, p.sourceNote(m.Source, m.Versions))
	if m.Notification {
		s.p("func (c Calls) %s(ctx context.Context, params %s) error {", name, shape.Params.Name)
		s.p("return tell(ctx, c.caller, %s, params)", constant)
		s.p("}")
		return
	}
	result := shape.Result.Ref.Name
	s.p("func (c Calls) %s(ctx context.Context, params %s) (%s, error) {", name, shape.Params.Name, result)
	s.p("return call(ctx, c.caller, %s, params, Decode%s)", constant, result)
	s.p("}")
}

// heard writes the reader of what a server tells.
func (p *pkg) heard(s *source) {
	s.p("// DecodeNotification reads the params of a notification of a server: the value has the type that is named for")
	s.p("// its model, so that a type switch tells them apart. It is nil for a method that no row has. The error is a")
	s.p("// *wirejson.SyntaxError or a *wirejson.Violation.")
	s.p("func DecodeNotification(method string, params []byte) (wirejson.Encoder, error) {")
	s.p("switch method {")
	for _, m := range p.wire.Methods {
		if m.Direction == model.ServerToClient && m.Carries() {
			s.p("case Method%s: return erase(Decode%s(params))", goName(m.Name), m.Shapes[0].Params.Name)
		}
	}
	s.p("}")
	s.p("return nil, nil")
	s.p("}")
}
