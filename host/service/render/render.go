// Package render has the result of a tool drawn by the extension that declares to draw it.
//
// A drawing is a courtesy: one that is late or broken is no drawing, and the result is shown as it is.
//
// Rules: EXT04-RENDER. Sheet: feature 8.6.
package render

import (
	"context"
	"slices"

	"github.com/octet-dev/octet/host/extension"
)

// Segment is one run of text with the role that a theme colours; the role may be empty. It is plain text.
type Segment struct{ Text, StyleRole string }

// Find returns the first of the extensions that draws results of a tool, nil if none does.
func Find(running []*extension.Extension, tool string) *extension.Extension {
	for _, x := range running {
		if slices.Contains(x.Source().Manifest.Contributes.ToolRenderers, tool) {
			return x
		}
	}
	return nil
}

// Draw asks an extension for a drawing, for half a second. There is none where it gives none in time: the
// reason is a diagnostic.
func Draw(ctx context.Context, x *extension.Extension, r extension.Rendering) (segments []Segment, drawn bool) {
	answer, err := x.Render(ctx, r)
	if err != nil {
		x.Diagnose("result of tool is shown undrawn: " + err.Error())
		return nil, false
	}
	segments = make([]Segment, len(answer))
	for i, s := range answer {
		segments[i] = Segment{Text: s.Text, StyleRole: s.StyleRole.Or("")}
	}
	return segments, true
}
