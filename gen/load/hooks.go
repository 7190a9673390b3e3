package load

import (
	"slices"

	"github.com/octet-dev/octet/gen/model"
)

func (w *wireLoader) loadHooks(roots []node) {
	for _, n := range rows(roots, "hooks") {
		h := &model.Hook{
			At:        placeOf(n),
			Name:      n.text("name"),
			Versions:  w.versions(n, "versions"),
			Feature:   n.text("feature"),
			Payload:   w.hookModel(n.get("payload")),
			Result:    w.hookModel(n.get("result")),
			Deadline:  w.hookLimit(n.get("deadline")),
			Aggregate: w.hookLimit(n.get("aggregate")),
			Order:     n.text("order"),
			Merge:     n.text("merge"),
			Failure:   n.text("failure"),
			Deny:      n.text("deny"),
			Doc:       n.text("description"),
			Source:    n.text("x-source"),
		}
		if slices.ContainsFunc(w.wire.Hooks, func(o *model.Hook) bool { return o.Name == h.Name }) {
			w.addf(n.get("name"), "the hook %q comes twice; keep one", h.Name)
		}
		w.checkHook(n, h)
		w.wire.Hooks = append(w.wire.Hooks, h)
	}
}

// checkHook holds a hook against the feature that opens it and the models it names.
func (w *wireLoader) checkHook(n node, h *model.Hook) {
	var known []string // versions of the opening feature or capability
	for _, f := range w.wire.Features {
		if f.Name == h.Feature {
			known = f.Versions
		}
	}
	for _, c := range w.wire.Capabilities {
		if c.Name == h.Feature {
			known = w.wire.Versions
		}
	}
	if h.Feature != "-" {
		if v, bad := lacking(h.Versions, known); bad {
			w.addf(n.get("feature"), "%q is no feature or capability of version %q; correct the name or the versions", h.Feature, v)
		}
	}
	for _, m := range []*model.Model{h.Payload, h.Result} {
		if m == nil {
			continue
		}
		if v, bad := lacking(h.Versions, m.Versions); bad {
			w.addf(n, "the hook %q uses %s in version %q, which does not know it; align the versions", h.Name, m.Name, v)
		}
	}
}

func (w *wireLoader) hookModel(n node) *model.Model {
	m := w.models[n.value.Text()]
	if m == nil {
		w.addf(n, "%q is no model; add it or correct the name", n.value.Text())
	}
	return m
}

func (w *wireLoader) hookLimit(n node) *model.Limit {
	name := n.value.Text()
	if name == "-" {
		return nil
	}
	l := w.limits[name]
	if l == nil {
		w.addf(n, "%q is no limit; add the row or correct the name", name)
	}
	return l
}
