// Package status passes on what extensions want to show on the status, header and footer surfaces.
//
// A contribution is shown once and kept nowhere. A frontend that has such surfaces asks for them; a host
// need not ask at all.
//
// Rules: EXT04-STATUS. Sheet: feature 8.4, 11.4.
package status

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/octet-dev/octet/generated/featurewire"
	"github.com/octet-dev/octet/generated/manifestdoc"
	"github.com/octet-dev/octet/host/extension"
)

// Contribution is one text for a surface. It is plain.
type Contribution struct {
	Extension string
	Surface   featurewire.UiSurface
	Text      string
	StyleRole string // empty for none
	Priority  int64
}

// Binding passes contributions to show, which must not block.
func Binding(show func(Contribution)) extension.Binding {
	return extension.Binding{Notices: map[string]func(*extension.Incoming){
		featurewire.MethodStatusContribution: func(n *extension.Incoming) {
			decoded, err := featurewire.DecodeStatusContribution(n.Params)
			if err == nil && !slices.Contains(n.Extension.Source().Manifest.Contributes.UI, manifestdoc.UiSurface(decoded.Surface)) {
				err = fmt.Errorf("the surface %q is not declared; declare it in contributes.ui", decoded.Surface)
			}
			if err != nil {
				n.Extension.Diagnose("status is dropped: " + err.Error())
				return
			}
			show(Of(n.Extension.Name(), decoded))
		},
	}}
}

// Of is a contribution of an extension, unasked or asked for.
func Of(extension string, s featurewire.StatusContribution) Contribution {
	return Contribution{Extension: extension, Surface: s.Surface, Text: s.Text, StyleRole: s.StyleRole.Or(""), Priority: s.Priority.Or(0)}
}

// Fit keeps the contributions that have room, at most count: the higher priorities first, and of equal ones
// the earlier. Those kept stay in their order.
//
// Rule: EXT04-STATUS-005.
func Fit(list []Contribution, count int) []Contribution {
	order := make([]int, len(list))
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(list[b].Priority, list[a].Priority) })
	order = order[:min(len(order), max(count, 0))]
	slices.Sort(order)
	kept := make([]Contribution, len(order))
	for i, at := range order {
		kept[i] = list[at]
	}
	return kept
}
