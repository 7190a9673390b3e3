package report

import (
	"fmt"
	"html"
	"math"
	"strings"
)

// chart is a set of horizontal bars on a logarithmic scale, in groups.
type chart struct {
	title, subtitle string
	unit            string
	groups          []group
}

type group struct {
	name string
	bars []bar
}

type bar struct {
	name string
	distribution
	ours, floor bool // what is ours, and what nobody can be better than
}

// The measures of a chart, in pixels.
const (
	chartWidth  = 920
	labelWidth  = 255
	valueWidth  = 120
	barHeight   = 16
	barStep     = 22
	groupStep   = 34
	chartHeader = 58
)

// style works on light and on dark pages: the colours follow the preference of whoever looks.
const style = `<style>
text{font:13px system-ui,-apple-system,"Segoe UI",sans-serif;fill:#24292f}
.title{font-size:16px;font-weight:600}.sub,.tick{fill:#57606a;font-size:12px}.group{font-weight:600}
.ours{fill:#1f6feb}.peer{fill:#8c959f}.floor{fill:#d0d7de}.grid{stroke:#d8dee4}.spread{stroke:#24292f;stroke-width:1.5}
@media (prefers-color-scheme:dark){text{fill:#e6edf3}.sub,.tick{fill:#9198a1}.ours{fill:#4493f8}.peer{fill:#767d86}
.floor{fill:#3d444d}.grid{stroke:#2f353d}.spread{stroke:#e6edf3}}
</style>`

// round takes off the digits that a power of ten does not have.
var round = strings.NewReplacer(".00 ", " ", ".0 ", " ")

// svg draws the chart: a bar is a median, the line on it reaches from p5 to p95.
func (c chart) svg() string {
	low, high := c.bounds()
	height := chartHeader + 30
	for _, g := range c.groups {
		height += groupStep + barStep*len(g.bars)
	}
	plot := float64(chartWidth - labelWidth - valueWidth)
	x := func(value float64) float64 {
		return labelWidth + plot*(math.Log10(math.Max(value, low))-math.Log10(low))/(math.Log10(high)-math.Log10(low))
	}
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" role="img" aria-label="%s">`, chartWidth, height, html.EscapeString(c.title))
	b.WriteString("\n" + style + "\n")
	fmt.Fprintf(&b, `<text class="title" x="8" y="22">%s</text><text class="sub" x="8" y="41">%s</text>`+"\n", html.EscapeString(c.title), html.EscapeString(c.subtitle))
	for tick := low; tick <= high*1.001; tick *= 10 {
		fmt.Fprintf(&b, `<line class="grid" x1="%.1f" y1="%d" x2="%.1f" y2="%d"/><text class="tick" x="%.1f" y="%d" text-anchor="middle">%s</text>`+"\n",
			x(tick), chartHeader, x(tick), height-24, x(tick), height-8, html.EscapeString(round.Replace(format(tick, c.unit))))
	}
	y := chartHeader
	for _, g := range c.groups {
		y += groupStep
		fmt.Fprintf(&b, `<text class="group" x="8" y="%d">%s</text>`+"\n", y-8, html.EscapeString(g.name))
		for _, one := range g.bars {
			class := "peer"
			if one.ours {
				class = "ours"
			} else if one.floor {
				class = "floor"
			}
			middle := float64(y) + barHeight/2
			fmt.Fprintf(&b, `<text x="%d" y="%.1f" text-anchor="end">%s</text>`, labelWidth-8, middle+4, html.EscapeString(one.name))
			fmt.Fprintf(&b, `<rect class="%s" x="%d" y="%d" width="%.1f" height="%d" rx="2"/>`, class, labelWidth, y, math.Max(1, x(one.median)-labelWidth), barHeight)
			if one.runs > 1 {
				fmt.Fprintf(&b, `<line class="spread" x1="%.1f" y1="%.1f" x2="%.1f" y2="%.1f"/>`, x(one.low), middle, x(one.high), middle)
			}
			fmt.Fprintf(&b, `<text x="%.1f" y="%.1f">%s</text>`+"\n", math.Max(x(one.high), x(one.median))+6, middle+4, html.EscapeString(format(one.median, c.unit)))
			y += barStep
		}
	}
	b.WriteString("</svg>\n")
	return b.String()
}

// bounds are the powers of ten around everything.
func (c chart) bounds() (low, high float64) {
	low, high = math.Inf(1), math.Inf(-1)
	for _, g := range c.groups {
		for _, one := range g.bars {
			low, high = math.Min(low, math.Max(one.low, 1e-3)), math.Max(high, one.high)
		}
	}
	low, high = math.Pow(10, math.Floor(math.Log10(low))), math.Pow(10, math.Ceil(math.Log10(high)))
	if low == high {
		high *= 10
	}
	return low, high
}
