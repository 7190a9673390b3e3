package load

import (
	"slices"

	"github.com/octet-dev/octet/gen/model"
)

func (w *wireLoader) loadLimits(roots []node) {
	for _, n := range rows(roots, "limits") {
		l := &model.Limit{
			At:         placeOf(n),
			Name:       n.text("name"),
			Value:      n.get("value").value.Int(),
			Unit:       n.text("unit"),
			Negotiable: n.flag("negotiable"),
			Doc:        n.text("description"),
			Source:     n.text("x-source"),
		}
		if w.limits[l.Name] != nil {
			w.addf(n.get("name"), "the limit %q comes twice; keep one", l.Name)
		}
		w.limits[l.Name] = l
		w.wire.Limits = append(w.wire.Limits, l)
	}
}

func (w *wireLoader) loadErrors(roots []node) {
	if len(roots) == 0 {
		return
	}
	if len(roots) > 1 {
		w.addf(roots[1], "the errors of %s stand in one file; move the rows to %s", w.wire.Name, roots[0].file)
	}
	root := roots[0]
	known := map[string]bool{}
	for _, n := range root.get("errors").items() {
		e := &model.ErrorCode{
			At:      placeOf(n),
			Name:    n.text("name"),
			Code:    n.get("code").value.Int(),
			Message: n.text("message"),
			Fixed:   n.flag("fixed"),
			Doc:     n.text("description"),
			Source:  n.text("x-source"),
		}
		if known[e.Name] {
			w.addf(n.get("name"), "the error %q comes twice; keep one", e.Name)
		}
		known[e.Name] = true
		w.wire.Errors = append(w.wire.Errors, e)
	}
	named := func(n node) {
		if name := n.value.Text(); !known[name] {
			w.addf(n, "%q is no row of the error table; add the row or correct the name", name)
		}
	}
	violations := root.get("violations")
	for _, n := range violations.members() {
		if !slices.Contains(model.Violations, model.Violation(n.name)) {
			w.addf(n.node, "%q is no violation; correct the name", n.name)
		}
		named(n.node)
	}
	for _, v := range model.Violations {
		n := violations.get(string(v))
		if !n.exists() {
			w.addf(violations, "the violation %q is reported as no error; add it", v)
		}
		w.wire.Violations = append(w.wire.Violations, model.ViolationError{Violation: v, Error: n.value.Text()})
	}
	named(root.get("envelope_violation"))
	w.wire.EnvelopeError = root.text("envelope_violation")
	if root.has("version_violation") {
		named(root.get("version_violation"))
		w.wire.VersionError = root.text("version_violation")
	}
}

func (w *wireLoader) loadFeatures(roots []node) {
	known := map[string]*model.Feature{}
	list := rows(roots, "features")
	for _, n := range list {
		f := &model.Feature{
			At:        placeOf(n),
			Name:      n.text("name"),
			Versions:  w.versions(n, "versions"),
			Required:  n.flag("required"),
			DependsOn: n.texts("depends_on"),
			Offered:   n.text("offered"),
			Sets:      n.texts("sets"),
			Origin:    n.text("origin"),
			Doc:       n.text("description"),
			Source:    n.text("x-source"),
		}
		if n.has("origin") != (w.wire.Family == model.ServerFamily) || n.has("sets") != n.has("origin") {
			w.addf(n, "origin and sets belong to every feature between a client and a server and to no other; add or remove them at %q", f.Name)
		}
		if known[f.Name] != nil {
			w.addf(n.get("name"), "the feature %q comes twice; keep one", f.Name)
		}
		known[f.Name] = f
		w.wire.Features = append(w.wire.Features, f)
	}
	for _, n := range list {
		f := known[n.text("name")]
		for _, d := range n.get("depends_on").items() {
			other := known[d.value.Text()]
			switch {
			case other == nil:
				w.addf(d, "%q is no feature; add the row or correct the name", d.value.Text())
			case other == f:
				w.addf(d, "the feature %q depends on itself; remove the name", f.Name)
			default:
				if v, bad := lacking(f.Versions, other.Versions); bad {
					w.addf(d, "%q does not exist in version %q of %q; align the versions", other.Name, v, f.Name)
				}
			}
		}
	}
}

func (w *wireLoader) loadCapabilities(roots []node) {
	known := map[string]bool{}
	for _, n := range rows(roots, "capabilities") {
		c := &model.Capability{
			At:     placeOf(n),
			Name:   n.text("name"),
			Offer:  n.text("offer"),
			Status: n.text("status"),
			Needs:  n.texts("needs"),
			Doc:    n.text("description"),
			Source: n.text("x-source"),
		}
		if known[c.Name] {
			w.addf(n.get("name"), "the capability %q comes twice; keep one", c.Name)
		}
		known[c.Name] = true
		for _, need := range n.get("needs").items() {
			name := need.value.Text()
			if !slices.ContainsFunc(w.wire.Methods, func(m *model.Method) bool { return m.Name == name }) {
				w.addf(need, "%q is no method; add the row or correct the name", name)
			}
		}
		w.wire.Capabilities = append(w.wire.Capabilities, c)
	}
}

func (w *wireLoader) loadTables(roots []node) {
	known := map[string]bool{}
	for _, n := range rows(roots, "tables") {
		t := &model.Table{
			At:      placeOf(n),
			Name:    n.text("name"),
			Doc:     n.text("description"),
			Source:  n.text("x-source"),
			Columns: n.texts("columns"),
		}
		if known[t.Name] {
			w.addf(n.get("name"), "the table %q comes twice; keep one", t.Name)
		}
		known[t.Name] = true
		if column, twice := repeated(t.Columns); twice {
			w.addf(n.get("columns"), "the column %q comes twice; keep one", column)
		}
		for _, row := range n.get("rows").items() {
			var cells []string
			for _, cell := range row.items() {
				cells = append(cells, cell.value.Text())
			}
			if len(cells) != len(t.Columns) {
				w.addf(row, "the row has %d cells, the table %d columns; make them agree", len(cells), len(t.Columns))
			}
			t.Rows = append(t.Rows, cells)
		}
		w.wire.Tables = append(w.wire.Tables, t)
	}
}

func repeated(names []string) (string, bool) {
	for i, name := range names {
		if slices.Contains(names[:i], name) {
			return name, true
		}
	}
	return "", false
}
