package soak

import (
	"fmt"
	"strings"
	"time"
)

// The size of a plot and of its panels, in its own units.
const (
	plotWidth   = 860
	panelHeight = 150
	leftMargin  = 90
	topMargin   = 34
	panelGap    = 40
)

// panel is one quantity over time.
type panel struct {
	title string
	lines []line
	bytes bool
}

type line struct {
	name, class string
	of          func(Sample) int64
	settled     bool // through the settled samples alone
}

var panels = []panel{
	{"memory, MiB", []line{
		{"resident", "a", func(s Sample) int64 { return s.Resident }, false},
		{"live heap, settled", "b", func(s Sample) int64 { return s.Heap }, true},
	}, true},
	{"goroutines", []line{
		{"under load", "a", func(s Sample) int64 { return s.Goroutines }, false},
		{"settled", "b", func(s Sample) int64 { return s.Goroutines }, true},
	}, false},
	{"descriptors", []line{
		{"under load", "a", func(s Sample) int64 { return s.Descriptors }, false},
		{"settled", "b", func(s Sample) int64 { return s.Descriptors }, true},
	}, false},
	{"processes", []line{
		{"under load", "a", func(s Sample) int64 { return s.Processes }, false},
		{"settled", "b", func(s Sample) int64 { return s.Processes }, true},
	}, false},
}

// SVG plots a report. It is legible on light and on dark ground.
func (r *Report) SVG() string {
	var b strings.Builder
	height := topMargin + len(panels)*(panelHeight+panelGap)
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-label="Soak of %d extensions over %s">`, plotWidth, height, r.Extensions, r.Length)
	b.WriteString("\n<style>text{font:13px sans-serif;fill:#1f2328}.r{text-anchor:end}.m{text-anchor:middle}.g{stroke:#8c959f;stroke-opacity:.35}" +
		"polyline{fill:none;stroke-width:1.5}.a{stroke:#0969da;stroke-opacity:.6}.b{stroke:#bc4c00;stroke-width:2.5}text.a{fill:#0969da;stroke:none}text.b{fill:#bc4c00;stroke:none}" +
		"@media(prefers-color-scheme:dark){text{fill:#e6edf3}.a{stroke:#58a6ff}.b{stroke:#ffa657}text.a{fill:#58a6ff}text.b{fill:#ffa657}}</style>\n")
	for n, p := range panels {
		r.panel(&b, p, topMargin+n*(panelHeight+panelGap))
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func (r *Report) panel(b *strings.Builder, p panel, top int) {
	var most int64 = 1
	for _, s := range r.Samples {
		for _, l := range p.lines {
			most = max(most, l.of(s))
		}
	}
	ceiling := float64(most) * 1.1
	y := func(value float64) float64 { return float64(top) + panelHeight*(1-value/ceiling) }
	x := func(at time.Duration) float64 {
		return leftMargin + (plotWidth-leftMargin-20)*float64(at)/float64(max(r.Length, r.last()))
	}
	fmt.Fprintf(b, `<text x="%d" y="%d">%s</text>`, leftMargin, top-8, p.title)
	for i, l := range p.lines {
		fmt.Fprintf(b, `<text class="%s" x="%d" y="%d">%s</text>`, l.class, leftMargin+180+i*160, top-8, l.name)
	}
	for part := range 4 {
		value := ceiling * float64(part) / 3
		shown := value
		if p.bytes {
			shown /= 1 << 20
		}
		fmt.Fprintf(b, `<line class="g" x1="%d" x2="%d" y1="%.1f" y2="%.1f"/><text class="r" x="%d" y="%.1f">%.0f</text>`,
			leftMargin, plotWidth-20, y(value), y(value), leftMargin-8, y(value)+4, shown)
	}
	for part := range 4 {
		at := time.Duration(float64(r.Length) * float64(part) / 3)
		fmt.Fprintf(b, `<text class="m" x="%.1f" y="%d">%s</text>`, x(at), top+panelHeight+17, short(at.Round(time.Second)))
	}
	b.WriteString("\n")
	for _, l := range p.lines {
		fmt.Fprintf(b, `<polyline class="%s" points="`, l.class)
		for _, s := range r.Samples {
			if !l.settled || s.Settled {
				fmt.Fprintf(b, "%.1f,%.1f ", x(s.At), y(float64(l.of(s))))
			}
		}
		b.WriteString("\"/>\n")
	}
}

func (r *Report) last() time.Duration {
	if len(r.Samples) == 0 {
		return r.Length
	}
	return r.Samples[len(r.Samples)-1].At
}
