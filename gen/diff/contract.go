package diff

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/octet-dev/octet/gen/model"
)

// class returns "required" or "optional", or "" for a capability that may not be offered.
func class(c *model.Capability) string {
	if c.Status == deferred || c.Offer == unavailable {
		return ""
	}
	return c.Offer
}

// classOf is class for a method; a name without a row has none either.
func (t *tree) classOf(list, name string) string {
	if list == methodsList {
		for _, m := range t.wire.Methods {
			if m.Name == name && t.has(m.Versions) && m.Status != deferred && m.Offer != unavailable {
				return m.Offer
			}
		}
		return ""
	}
	for _, c := range t.wire.Capabilities {
		if c.Name == name {
			return class(c)
		}
	}
	return ""
}

const capabilitiesList = "capabilities"

// names is a part of an offer or a selection: capabilities and methods.
type names struct{ capabilities, methods []string }

func (n *names) list(which string) *[]string {
	if which == methodsList {
		return &n.methods
	}
	return &n.capabilities
}

func (n *names) add(which, name string) {
	if l := n.list(which); !slices.Contains(*l, name) {
		*l = append(*l, name)
	}
}

func (n *names) has(which, name string) bool { return slices.Contains(*n.list(which), name) }

func (n *names) text() string {
	return object(map[string]string{capabilitiesList: quotedList(n.capabilities), methodsList: quotedList(n.methods)})
}

// contract compares what may be offered and selected where capabilities and methods are negotiated by name.
// An offer names the exact required set and known optional names; a selection names everything required and
// what its own names need.
func (c *comparison) contract() {
	for _, side := range []struct{ t, other *tree }{{c.new, c.old}, {c.old, c.new}} {
		for _, m := range side.t.wire.Methods {
			if side.t.has(m.Versions) {
				place := rowPlace(side.t.side, m.At)
				c.offered(methodsList, m.Name, row{place: place, subject: "method " + m.Name, kind: KindOffer}, side.t == c.old)
			}
		}
		for _, b := range side.t.wire.Capabilities {
			place := rowPlace(side.t.side, b.At)
			r := row{place: place, subject: "capability " + b.Name, kind: KindCapability}
			c.offered(capabilitiesList, b.Name, r, side.t == c.old)
			if side.t == c.new {
				c.needs(b, r)
			}
		}
	}
}

// offered judges a name whose class differs. Names that both sides have are reported from NEW.
func (c *comparison) offered(list, name string, r row, fromOld bool) {
	a, b := c.old.classOf(list, name), c.new.classOf(list, name)
	if a == b || fromOld && c.new.hasRow(list, name) {
		return
	}
	r.reason = fmt.Sprintf("was %s, is %s", orNone(a, unavailable), orNone(b, unavailable))
	for _, d := range ways {
		from, to := c.sides(d)
		c.contractOffer(r, d, from, to, list, name)
		c.contractSelection(r, d, from, to, list, name)
	}
}

func (t *tree) hasRow(list, name string) bool {
	if list == methodsList {
		return slices.ContainsFunc(t.wire.Methods, func(m *model.Method) bool { return m.Name == name && t.has(m.Versions) })
	}
	return slices.ContainsFunc(t.wire.Capabilities, func(c *model.Capability) bool { return c.Name == name })
}

// offer is what a host proposes.
type offer struct{ must, may names }

func (o *offer) text() string {
	return object(map[string]string{required: o.must.text(), optional: o.may.text()})
}

// contractOffer judges the offer of a host: the required names, and this one where it may be offered.
func (c *comparison) contractOffer(r row, d way, from, to *tree, list, name string) {
	o := offer{must: from.requiredNames()}
	if from.classOf(list, name) == optional {
		o.may.add(list, name)
	}
	refusal := to.refuseOffer(&o, list, name)
	switch {
	case refusal == "":
		c.judge(r, fromHost, d, Compatible, "", nil)
	case from.refuseOffer(&o, list, name) != "":
		c.judge(r, fromHost, d, Unknown, noteLost, nil)
	default:
		c.judge(r, fromHost, d, Breaking, "", &Witness{Of: "the names of an offer", Text: o.text(), Refusal: refusal})
	}
}

// refuseOffer says why an offer is refused because of one name.
func (t *tree) refuseOffer(o *offer, list, name string) string {
	class := t.classOf(list, name)
	switch {
	case o.must.has(list, name) && class != required:
		return strconv.Quote(name) + " is none of the required names"
	case !o.must.has(list, name) && class == required:
		return strconv.Quote(name) + " is missing from the required names"
	case o.may.has(list, name) && class != optional:
		return strconv.Quote(name) + " may not be offered"
	default:
		return ""
	}
}

// requiredNames returns what every contract of a tree holds.
func (t *tree) requiredNames() names {
	var n names
	for _, c := range t.wire.Capabilities {
		if class(c) == required {
			n.add(capabilitiesList, c.Name)
		}
	}
	for _, m := range t.wire.Methods {
		if t.classOf(methodsList, m.Name) == required {
			n.add(methodsList, m.Name)
		}
	}
	return n
}

// contractSelection judges the selection of an extension: the required names, of what was offered.
func (c *comparison) contractSelection(r row, d way, from, to *tree, list, name string) {
	selected := from.requiredNames()
	refusal := to.refuseNames(&selected, list, name)
	if refusal == "" {
		c.judge(r, fromExtension, d, Compatible, "", nil)
		return
	}
	c.judge(r, fromExtension, d, Breaking, "", &Witness{Of: "the selected names", Text: selected.text(), Refusal: refusal})
}

// refuseNames says why a selection is refused because of one name that it does not hold.
func (t *tree) refuseNames(selected *names, list, name string) string {
	if t.classOf(list, name) == required && !selected.has(list, name) {
		return strconv.Quote(name) + " is required and not selected"
	}
	return ""
}

// needs compares which methods must be selected together with a capability.
func (c *comparison) needs(b *model.Capability, r row) {
	var a *model.Capability
	for _, known := range c.old.wire.Capabilities {
		if known.Name == b.Name {
			a = known
		}
	}
	if a == nil || slices.Equal(slices.Sorted(slices.Values(a.Needs)), slices.Sorted(slices.Values(b.Needs))) {
		return
	}
	r.kind = KindDepends
	r.reason = fmt.Sprintf("needed %s, needs %s", orNone(strings.Join(a.Needs, ", "), "nothing"), orNone(strings.Join(b.Needs, ", "), "nothing"))
	for _, d := range ways {
		c.judge(r, fromHost, d, Compatible, "", nil)
		writer, reader := a, b
		if d == backward {
			writer, reader = b, a
		}
		from, to := c.sides(d)
		selected := from.requiredNames()
		selected.add(capabilitiesList, b.Name)
		for _, m := range writer.Needs {
			selected.add(methodsList, m)
		}
		at := slices.IndexFunc(reader.Needs, func(m string) bool { return !selected.has(methodsList, m) })
		if at < 0 || class(writer) == "" || class(reader) == "" || to.classOf(methodsList, reader.Needs[at]) == "" {
			c.judge(r, fromExtension, d, Compatible, "", nil)
			continue
		}
		c.judge(r, fromExtension, d, Breaking, "", &Witness{
			Of: "the selected names", Text: selected.text(),
			Refusal: strconv.Quote(b.Name) + " needs " + strconv.Quote(reader.Needs[at]) + ", which is not selected",
		})
	}
}
