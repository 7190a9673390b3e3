package diff

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	"github.com/octet-dev/octet/gen/model"
)

// featureRows returns the features of the version.
func (t *tree) featureRows() []*model.Feature {
	var list []*model.Feature
	for _, f := range t.wire.Features {
		if t.has(f.Versions) {
			list = append(list, f)
		}
	}
	return list
}

func (t *tree) feature(name string) *model.Feature {
	for _, f := range t.featureRows() {
		if f.Name == name {
			return f
		}
	}
	return nil
}

// featureRow returns the row of a difference between two features of one name; one may be nil.
func (c *comparison) featureRow(a, b *model.Feature, kind, reason string) row {
	t, f := c.new, b
	if b == nil {
		t, f = c.old, a
	}
	return row{place: rowPlace(t.side, f.At), subject: "feature " + f.Name, kind: kind, reason: reason}
}

// features compares what may be negotiated. A host offers what it requires and what else it has; an
// extension need not support more than what is required, and selects from what it knows of the offer.
func (c *comparison) features() {
	for _, b := range c.new.featureRows() {
		a := c.old.feature(b.Name)
		if a == nil {
			c.featureRequired(c.featureRow(nil, b, KindFeature, "the "+necessityOf(b)+" feature is new"), b.Name)
			continue
		}
		if a.Required != b.Required {
			c.featureRequired(c.featureRow(a, b, KindFeature, "was "+necessityOf(a)+", is "+necessityOf(b)), b.Name)
		}
		if !slices.Equal(slices.Sorted(slices.Values(a.DependsOn)), slices.Sorted(slices.Values(b.DependsOn))) {
			reason := fmt.Sprintf("needed %s, needs %s", orNone(strings.Join(a.DependsOn, ", "), "nothing"), orNone(strings.Join(b.DependsOn, ", "), "nothing"))
			c.featureNeeds(c.featureRow(a, b, KindDepends, reason), b.Name)
		}
		if !slices.Equal(a.Sets, b.Sets) || a.Origin != b.Origin {
			reason := fmt.Sprintf("was of the %s, in %s; is of the %s, in %s", orNone(a.Origin, "unnamed"), setsOf(a), orNone(b.Origin, "unnamed"), setsOf(b))
			c.all(c.featureRow(a, b, KindSets, reason), Unknown, "what a client relies on without naming it is prose")
		}
		if a.Offered != b.Offered {
			c.all(c.featureRow(a, b, KindOffered, fmt.Sprintf("was offered %q, is offered %q", a.Offered, b.Offered)), Unknown, "when a feature is offered is prose")
		}
	}
	for _, a := range c.old.featureRows() {
		if c.new.feature(a.Name) == nil {
			c.featureRequired(c.featureRow(a, nil, KindFeature, "the "+necessityOf(a)+" feature is gone"), a.Name)
		}
	}
}

func setsOf(f *model.Feature) string { return orNone(strings.Join(f.Sets, " and "), "no set") }

func necessityOf(f *model.Feature) string { return either(f.Required, required, optional) }

// featureRequired judges a feature that came, went, or is required on one side alone.
func (c *comparison) featureRequired(r row, name string) {
	for _, d := range ways {
		from, to := c.sides(d)
		f, g := from.feature(name), to.feature(name)
		// The host writes an offer, an extension that has no more than it must reads it.
		if f != nil && f.Required && (g == nil || !g.Required) {
			c.judge(r, fromHost, d, Breaking, "", &Witness{
				Of: "the required features of an offer", Text: quotedList(from.requiredFeatures(name)),
				Refusal: strconv.Quote(name) + " is required, and an extension need not support it",
			})
		} else {
			c.judge(r, fromHost, d, Compatible, "", nil)
		}
		// The extension writes a selection: what it must, of what both know.
		if g != nil && g.Required && (f == nil || !f.Required) {
			c.selection(r, d, nil, name)
		} else {
			c.judge(r, fromExtension, d, Compatible, "", nil)
		}
	}
}

// requiredFeatures returns the features an offer requires, this one last.
func (t *tree) requiredFeatures(last string) []string {
	var list []string
	for _, f := range t.featureRows() {
		if f.Required && f.Name != last {
			list = append(list, f.Name)
		}
	}
	return append(list, last)
}

// featureNeeds judges a feature that needs other features now.
func (c *comparison) featureNeeds(r row, name string) {
	for _, d := range ways {
		c.judge(r, fromHost, d, Compatible, "", nil)
		c.selection(r, d, []string{name}, name)
	}
}

// selection judges what an extension selects: what is required, some features more, and what these need.
// The difference is about one feature.
func (c *comparison) selection(r row, d way, more []string, about string) {
	from, to := c.sides(d)
	selected := from.selection(noGate)
	for _, name := range more {
		for _, needed := range from.selection(name) {
			if !slices.Contains(selected, needed) {
				selected = append(selected, needed)
			}
		}
	}
	// What the other side does not know is never offered.
	selected = slices.DeleteFunc(selected, func(name string) bool { return to.feature(name) == nil })
	refusal := to.refuseSelection(selected, about)
	if refusal == "" {
		c.judge(r, fromExtension, d, Compatible, "", nil)
		return
	}
	c.judge(r, fromExtension, d, Breaking, "", &Witness{Of: "the selected features", Text: quotedList(selected), Refusal: refusal})
}

// refuseSelection says why a selection is refused because of one feature.
func (t *tree) refuseSelection(selected []string, about string) string {
	f := t.feature(about)
	if f == nil {
		return ""
	}
	if !slices.Contains(selected, about) {
		return either(f.Required, strconv.Quote(about)+" is required and not selected", "")
	}
	for _, d := range f.DependsOn {
		if !slices.Contains(selected, d) {
			return strconv.Quote(about) + " needs " + strconv.Quote(d) + ", which is not selected"
		}
	}
	return ""
}

// quotedList writes a JSON array of strings.
func quotedList(names []string) string {
	list := make([]string, len(names))
	for i, name := range names {
		list[i] = quote(name)
	}
	return array(list)
}
