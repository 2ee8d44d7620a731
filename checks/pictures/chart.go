package main

import (
	"fmt"
	"math"
	"strings"
)

// A chart has lines over two logarithmic axes.
type chart struct {
	title string
	x, y  axis
	lines []line
}

type axis struct {
	from, to float64
	ticks    []tick
}

type tick struct {
	at   float64
	text string
}

type line struct {
	name   string
	points []point
}

type point struct{ x, y float64 }

// place returns the share of the axis before v.
func (a axis) place(v float64) float64 {
	return (math.Log(v) - math.Log(a.from)) / (math.Log(a.to) - math.Log(a.from))
}

const (
	width, height = 800, 420
	left, right   = 60, 20
	top, bottom   = 70, 40
)

// style has the colours of light and dark pages.
const style = `<style>
text { fill: #1f2328; } .grid { stroke: #d1d9e0; } .a { stroke: #0969da; fill: #0969da; } .b { stroke: #bc4c00; fill: #bc4c00; }
.c { stroke: #1a7f37; fill: #1a7f37; } .line { fill: none; stroke-width: 2; } .other { fill: #8c959f; } .pale { fill-opacity: 0.5; }
@media (prefers-color-scheme: dark) {
text { fill: #e6edf3; } .grid { stroke: #3d444d; } .a { stroke: #4493f8; fill: #4493f8; } .b { stroke: #f0883e; fill: #f0883e; }
.c { stroke: #3fb950; fill: #3fb950; } .line { fill: none; } .other { fill: #9198a1; } }
.bar { stroke: none; }
</style>
`

// begin returns the beginning of a picture.
func begin(height int, title string) string {
	return fmt.Sprintf(`<svg xmlns="http://www.w3.org/2000/svg" width="%d" height="%d" viewBox="0 0 %[1]d %[2]d"
 font-family="system-ui, sans-serif" font-size="16">
%s<text x="0" y="20" font-weight="600">%s</text>
`, width, height, style, title)
}

func (c chart) svg() string {
	var b strings.Builder
	b.WriteString(begin(height, c.title))
	at := func(p point) (x, y float64) {
		return left + c.x.place(p.x)*(width-left-right), height - bottom - c.y.place(p.y)*(height-top-bottom)
	}
	for _, t := range c.x.ticks {
		x, y := at(point{t.at, c.y.from})
		fmt.Fprintf(&b, "<path class=\"grid\" d=\"M%.1f %d V%.1f\"/><text x=\"%.1f\" y=\"%.1f\" text-anchor=\"%s\">%s</text>\n", x, top, y,
			x, y+24, map[bool]string{true: "end", false: "middle"}[t.at == c.x.to], t.text)
	}
	for _, t := range c.y.ticks {
		x, y := at(point{c.x.from, t.at})
		fmt.Fprintf(&b, "<path class=\"grid\" d=\"M%.1f %.1f H%d\"/><text x=\"%.1f\" y=\"%.1f\" text-anchor=\"end\">%s</text>\n", x, y,
			width-right, x-8, y+5, t.text)
	}
	for i, l := range c.lines {
		class := string(rune('a' + i))
		fmt.Fprintf(&b, "<path class=\"%s line\" d=\"", class)
		for j, p := range l.points {
			x, y := at(p)
			fmt.Fprintf(&b, "%s%.1f %.1f", map[bool]string{true: "M", false: " L"}[j == 0], x, y)
		}
		x := left + 235*i
		fmt.Fprintf(&b, "\"/>\n<rect class=\"%s\" x=\"%d\" y=\"40\" width=\"20\" height=\"4\"/><text x=\"%d\" y=\"48\">%s</text>\n", class, x, x+28, l.name)
	}
	return b.String() + "</svg>\n"
}
