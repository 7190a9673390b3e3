package diff

import (
	"fmt"
	"slices"
	"strconv"

	"github.com/octet-dev/octet/gen/model"
)

// call is a method that may be used in one direction of one tree.
type call struct {
	method *model.Method
	shape  model.MethodShape
	place  Place
	result Place
}

const (
	noGate        = "-"
	deferred      = "deferred"
	unavailable   = "unavailable"
	required      = "required"
	optional      = "optional"
	kindRequest   = "request"
	kindNotice    = "notification"
	methodsList   = "methods"
	noteUnselect  = "never negotiated with such a peer"
	noteProseGate = "what opens the gate is prose"
)

// calls returns the methods that a direction may use, by name in table order.
func (t *tree) calls(dir model.Direction) []call {
	var list []call
	for _, m := range t.wire.Methods {
		usable := t.has(m.Versions) && m.Status != deferred && m.Offer != unavailable
		if !usable || partOf(m.Direction) != dir && m.Direction != model.Both {
			continue
		}
		c := call{method: m, place: rowPlace(t.side, m.At)}
		for j, shape := range m.Shapes {
			if t.has(shape.Versions) && (t.version != "" || j == 0) {
				c.shape, c.result = shape, c.place
				c.result.Pointer += "/result/schema"
				if j > 0 {
					c.result.Pointer = fmt.Sprintf("%s/x-shapes/%d/result", c.place.Pointer, j-1)
				}
			}
		}
		list = append(list, c)
	}
	return list
}

// partOf returns a direction as that of a host and an extension, whose parts a client and a server take.
func partOf(dir model.Direction) model.Direction {
	switch dir {
	case model.ClientToServer:
		return model.HostToExtension
	case model.ServerToClient:
		return model.ExtensionToHost
	default:
		return dir
	}
}

func find(list []call, name string) *call {
	for i := range list {
		if list[i].method.Name == name {
			return &list[i]
		}
	}
	return nil
}

// directions are the two ways a message can take, with who takes part.
var directions = []struct {
	dir   model.Direction
	party party
}{
	{model.HostToExtension, fromHost},
	{model.ExtensionToHost, fromExtension},
}

// methods compares the method tables of both directions.
func (c *comparison) methods() {
	for _, way := range directions {
		a, b := c.old.calls(way.dir), c.new.calls(way.dir)
		for i := range b {
			if before := find(a, b[i].method.Name); before != nil {
				c.method(before, &b[i], way.party)
			} else {
				c.lonely(nil, &b[i], way.party)
			}
		}
		for i := range a {
			if find(b, a[i].method.Name) == nil {
				c.lonely(&a[i], nil, way.party)
			}
		}
	}
}

func methodRow(c *call, kind, reason string) row {
	return row{place: c.place, subject: "method " + c.method.Name, kind: kind, reason: reason}
}

// lonely judges a method that only one side has. One that is offered by name is judged with the offer.
func (c *comparison) lonely(a, b *call, p party) {
	known, reason := b, "is new"
	if a != nil {
		known, reason = a, "is gone"
	}
	if known.method.Offer != "" {
		return
	}
	r := methodRow(known, KindMethod, fmt.Sprintf("the %s from %s %s", messageKind(known.method), c.new.role(p.writer), reason))
	for _, d := range ways {
		if (d == forward) != (a != nil) {
			c.judge(r, p, d, Compatible, "", nil)
			continue
		}
		from, to := c.sides(d)
		gate := known.method.Gate
		switch {
		case gate != noGate && from.negotiates(gate) && !to.negotiates(gate):
			c.judge(r, p, d, Compatible, fmt.Sprintf("%q is %s", gate, noteUnselect), nil)
		case gate != noGate && !from.negotiates(gate) && !to.hasGate(gate):
			c.judge(r, p, d, Unknown, noteProseGate, nil)
		default:
			c.frame(r, known, p, d, from.selection(gate))
		}
	}
}

func messageKind(m *model.Method) string { return either(m.Notification, kindNotice, kindRequest) }

// hasGate reports whether some method of the version has this gate.
func (t *tree) hasGate(gate string) bool {
	return slices.ContainsFunc(t.wire.Methods, func(m *model.Method) bool { return t.has(m.Versions) && m.Gate == gate })
}

// frame records that a frame is refused, after asking both sides.
func (c *comparison) frame(r row, known *call, p party, d way, negotiated []string) {
	from, to := c.sides(d)
	text, st := from.frame(known)
	if st != found || from.refuseFrame(text, p, negotiated) != "" {
		c.judge(r, p, d, Unknown, noteLost, nil)
		return
	}
	refusal := to.refuseFrame(text, p, negotiated)
	if refusal == "" {
		c.judge(r, p, d, Unknown, noteLost, nil)
		return
	}
	c.judge(r, p, d, Breaking, "", &Witness{Of: aFrame, Text: text, Given: from.givenNames(negotiated), Refusal: refusal})
}

// givenNames words what is negotiated beyond what always is.
func (t *tree) givenNames(negotiated []string) []string {
	always := t.selection(noGate)
	var list []string
	for _, name := range negotiated {
		switch {
		case slices.Contains(always, name):
		case t.negotiates(name):
			list = append(list, strconv.Quote(name)+" is negotiated")
		default:
			list = append(list, "the gate "+strconv.Quote(name)+" is open")
		}
	}
	return list
}

// method compares a method that both sides have in one direction.
func (c *comparison) method(a, b *call, p party) {
	m := b.method
	if a.method.Notification != m.Notification {
		r := methodRow(b, KindMessage, fmt.Sprintf("was a %s, is a %s", messageKind(a.method), messageKind(m)))
		c.frame(r, a, p, forward, c.old.selection(a.method.Gate))
		c.frame(r, b, p, backward, c.new.selection(m.Gate))
	}
	if a.method.Gate != m.Gate {
		r := methodRow(b, KindGate, fmt.Sprintf("the gate was %q, is %q", a.method.Gate, m.Gate))
		for _, d := range ways {
			c.gate(r, a, b, p, d)
		}
	}
	if a.method.Parent != m.Parent && p == fromExtension {
		c.parent(a, b, p)
	}
	c.delivery(a, b, p)
	if a.method.Terminal != m.Terminal {
		reason := fmt.Sprintf("it ended as %q, ends as %q", a.method.Terminal, m.Terminal)
		c.each(methodRow(b, KindTerminal, reason), []party{p}, Unknown, "how a method ends is prose")
	}
	c.shapes(a, b, p)
}

// shapes compares params and result.
func (c *comparison) shapes(a, b *call, p party) {
	name := b.method.Name
	switch before, after := a.shape.Params, b.shape.Params; {
	case before != nil && after != nil:
		c.position(position{of: paramsOf(name), pair: pair{c.old.spotOf(before), c.new.spotOf(after)}, parties: []party{p}, method: a})
	case before != nil || after != nil:
		reason := either(after != nil, "has params now", "has no params any more")
		c.each(methodRow(b, KindParams, reason), []party{p}, Unknown, "what a method without params accepts is prose")
	}
	before, after := a.shape.Result, b.shape.Result
	if before == nil || after == nil {
		return
	}
	back := answers([]party{p})
	c.nullable(resultOf(name), resultOf(name), b.result, a.shape.Nullable, b.shape.Nullable, back)
	spotOf := func(t *tree, c *call) spot {
		return spot{tree: t, place: c.result, subject: resultOf(name)}.within(c.shape.Result, "", "")
	}
	c.position(position{of: resultOf(name), pair: pair{spotOf(c.old, a), spotOf(c.new, b)}, parties: back})
}

// gate judges a method whose gate changed.
func (c *comparison) gate(r row, a, b *call, p party, d way) {
	writer, reader := a, b
	if d == backward {
		writer, reader = b, a
	}
	from, to := c.sides(d)
	gate := writer.method.Gate
	selected := from.selection(gate)
	switch {
	case reader.method.Gate == noGate || holdsAll(selected, reader.method.Gates()):
		c.judge(r, p, d, Compatible, "", nil)
	case gate != noGate && from.negotiates(gate) && !to.negotiates(gate):
		c.judge(r, p, d, Compatible, fmt.Sprintf("%q is %s", gate, noteUnselect), nil)
	case gate != noGate && !from.negotiates(gate) || !to.negotiates(reader.method.Gate):
		c.judge(r, p, d, Unknown, noteProseGate, nil)
	default:
		c.frame(r, writer, p, d, selected)
	}
}

// ties says to what a message of each parent class may be tied.
var ties = map[model.Parent][]string{
	model.ParentNone:       {"no request"},
	model.ParentRequired:   {"a live tool call", "another live request"},
	model.ParentInitialize: {"the initialize request"},
	model.ParentRetained:   {"a live tool call", "another live request", "a settled request and its owner"},
	model.ParentSettled:    {"a settled request and its owner"},
	model.ParentToolCall:   {"a live tool call"},
	model.ParentOptional:   {"a live tool call", "another live request", "an owner alone", "no request"},
	model.ParentOwner:      {"an owner alone"},
}

// parent judges a message that is tied to requests in another way now.
func (c *comparison) parent(a, b *call, p party) {
	name := func(p model.Parent) string { return strconv.Quote(orNone(string(p), "not said")) }
	r := methodRow(b, KindParent, "it was tied as "+name(a.method.Parent)+", is as "+name(b.method.Parent))
	for _, d := range ways {
		writer, reader := a, b
		if d == backward {
			writer, reader = b, a
		}
		legal, okWriter := ties[writer.method.Parent]
		allowed, okReader := ties[reader.method.Parent]
		at := slices.IndexFunc(legal, func(tie string) bool { return !slices.Contains(allowed, tie) })
		from, _ := c.sides(d)
		text, st := from.frame(writer)
		switch {
		case !okWriter || !okReader:
			c.judge(r, p, d, Unknown, "how it was tied is not said", nil)
		case at < 0:
			c.judge(r, p, d, Compatible, "", nil)
		case st != found:
			c.judge(r, p, d, Unknown, noteLost, nil)
		default:
			c.judge(r, p, d, Breaking, "", &Witness{
				Of: aFrame, Text: text, Given: []string{"it is tied to " + legal[at]},
				Refusal: writer.method.Name + " may not be tied to " + legal[at],
			})
		}
	}
}
