package diff

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/octet-dev/octet/gen/model"
)

// delivery compares what is said of a method between a client and a server alone: where it is spoken, what
// becomes of its gate where nobody named a feature, and what is kept.
func (c *comparison) delivery(a, b *call, p party) {
	old, new := a.method, b.method
	if !slices.Equal(old.Transports, new.Transports) {
		reason := fmt.Sprintf("was spoken over %s, is over %s", transportsOf(old), transportsOf(new))
		for _, d := range ways {
			c.transport(methodRow(b, KindTransport, reason), a, b, p, d)
		}
	}
	if old.GateMode != new.GateMode && old.Gate == new.Gate {
		reason := fmt.Sprintf("without features the gate was %s, is %s", gateMode(old), gateMode(new))
		for _, d := range ways {
			c.openGate(methodRow(b, KindGate, reason), a, b, p, d)
		}
	}
	if old.Durable != new.Durable {
		reason := fmt.Sprintf("durable was %q, is %q", old.Durable, new.Durable)
		c.each(methodRow(b, KindDurable, reason), []party{p}, Unknown, "what relies on its being kept is prose")
	}
	if old.Lane != new.Lane {
		reason := fmt.Sprintf("was for %s, is for %s", laneOf(old), laneOf(new))
		c.each(methodRow(b, KindLane, reason), []party{p}, Unknown, "which clients a server serves so is prose")
	}
}

func transportsOf(m *model.Method) string {
	return orNone(strings.Join(m.Transports, " and "), "nothing")
}

func laneOf(m *model.Method) string { return either(m.Lane == "", "every client", m.Lane+" clients") }

func gateMode(m *model.Method) string { return either(m.GateMode == model.OpenGate, "open", "closed") }

// transport judges a method that is spoken elsewhere now: a peer may use it wherever its own spec says.
func (c *comparison) transport(r row, a, b *call, p party, d way) {
	writer, reader := a, b
	if d == backward {
		writer, reader = b, a
	}
	at := slices.IndexFunc(writer.method.Transports, func(t string) bool { return !slices.Contains(reader.method.Transports, t) })
	if at < 0 {
		c.judge(r, p, d, Compatible, "", nil)
		return
	}
	transport := writer.method.Transports[at]
	c.refused(r, writer, p, d, "it is sent over "+transport, strconv.Quote(writer.method.Name)+" is not spoken over "+transport)
}

// openGate judges a gate that is open, or closed, now where a connection named no feature.
func (c *comparison) openGate(r row, a, b *call, p party, d way) {
	writer, reader := a, b
	if d == backward {
		writer, reader = b, a
	}
	if writer.method.GateMode != model.OpenGate || reader.method.GateMode == model.OpenGate {
		c.judge(r, p, d, Compatible, "", nil)
		return
	}
	c.refused(r, writer, p, d, "no feature is named", strconv.Quote(writer.method.Name)+" needs "+strconv.Quote(reader.method.Gate)+" by name")
}

// refused records that a reader refuses a frame for what surrounds it.
func (c *comparison) refused(r row, writer *call, p party, d way, given, refusal string) {
	from, _ := c.sides(d)
	text, st := from.frame(writer)
	if st != found {
		c.judge(r, p, d, Unknown, noteLost, nil)
		return
	}
	c.judge(r, p, d, Breaking, "", &Witness{Of: aFrame, Text: text, Given: []string{given}, Refusal: refusal})
}
