package sequence

import (
	"fmt"
	"html"
	"strings"
)

// The picture's measures, in pixels at its own size.
const (
	cell      = 8.5 // the width of a character of the grid
	letter    = 7.1 // that of a letter in a note, at most as a rule
	rowHeight = 32
	pause     = 12 // between two steps of different times
)

// style is readable on both backgrounds. The picture brings its own along, for the
// page around it may have another scheme than the reader's system.
const style = `
svg{--paper:#fff;--ink:#1f2328;--faint:#59636e;--rule:#d1d9e0;--box:#ddf4ff;--edge:#54aeff;--bad:#cf222e}
@media (prefers-color-scheme:dark){svg{--paper:#0d1117;--ink:#f0f6fc;--faint:#9198a1;--rule:#3d444d;--box:#12263f;--edge:#1f6feb;--bad:#ff7b72}}
text{font:13px system-ui,-apple-system,"Segoe UI",sans-serif;fill:var(--ink);paint-order:stroke;stroke:var(--paper);stroke-width:5px;stroke-linejoin:round}
.name{font-weight:600;text-anchor:middle}.time{fill:var(--faint);font-size:12px;font-variant-numeric:tabular-nums}
.note{font-size:12px;text-anchor:middle;stroke:none}.bad{fill:var(--bad)}
.paper{fill:var(--paper)}.box{fill:var(--box);stroke:var(--edge)}.card{fill:var(--paper);stroke:var(--rule)}
.life{stroke:var(--rule);stroke-width:1.5}.line{stroke:var(--ink);stroke-width:1.3}.dashed{stroke-dasharray:5 4}
.head{fill:var(--ink)}.cross{stroke:var(--bad);stroke-width:2.5;stroke-linecap:round}
`

func (d *Diagram) svg(columns []int, steps []step) string {
	var body, b strings.Builder
	y, ends := 62.0, map[int]float64{} // where lifelines end that do so early
	for _, s := range steps {
		if s.at != "" {
			y += pause
			fmt.Fprintf(&body, "<text class=\"time\" x=\"10\" y=\"%g\">%s</text>\n", y+4, html.EscapeString(s.at))
		}
		s.draw(&body, y)
		if s.kind == crash {
			ends[s.from] = y
		}
		y += rowHeight
		if s.kind == note {
			y += 4 // the next label must not touch the box
		}
	}
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" width=\"%[1]g\" height=\"%[2]g\" role=\"img\" aria-labelledby=\"title about\">\n", width*cell, y)
	fmt.Fprintf(&b, "<title id=\"title\">%s</title>\n<desc id=\"about\">%s</desc>\n<style>%s</style>\n", html.EscapeString(d.Title), html.EscapeString(d.About), style)
	fmt.Fprintf(&b, "<rect class=\"paper\" width=\"%g\" height=\"%g\" rx=\"6\"/>\n", width*cell, y)
	for i, name := range d.Lifelines {
		end, ok := ends[columns[i]]
		if !ok {
			end = y - 10
		}
		x, half := middle(columns[i]), float64(length(name))*cell/2+11
		fmt.Fprintf(&b, "<path class=\"life\" d=\"M%g 38V%g\"/>\n", x, end)
		fmt.Fprintf(&b, "<rect class=\"card\" x=\"%g\" y=\"12\" width=\"%g\" height=\"26\" rx=\"5\"/>\n", x-half, 2*half)
		fmt.Fprintf(&b, "<text class=\"name\" x=\"%g\" y=\"29.5\">%s</text>\n", x, html.EscapeString(name))
	}
	return b.String() + body.String() + "</svg>\n"
}

func middle(column int) float64 { return (float64(column) + 0.5) * cell }

func (s step) draw(b *strings.Builder, y float64) {
	from, to, text := middle(s.from), middle(s.to), html.EscapeString(s.text)
	left := min(from, to) + 14
	if s.kind == lost {
		left += 18 // beside the cross
	}
	label := fmt.Sprintf("x=\"%g\" y=\"%g\">%s</text>\n", left, y-7, text)
	switch s.kind {
	case note:
		half := float64(length(s.text))*letter/2 + 6
		x := max(half+6, min(from, width*cell-half-6))
		fmt.Fprintf(b, "<rect class=\"box\" x=\"%.1f\" y=\"%g\" width=\"%.1f\" height=\"22\" rx=\"4\"/>\n", x-half, y-11, 2*half)
		fmt.Fprintf(b, "<text class=\"note\" x=\"%.1f\" y=\"%g\">%s</text>\n", x, y+4.5, text)
	case crash:
		cross(b, from, y)
		fmt.Fprintf(b, "<text class=\"bad\" x=\"%g\" y=\"%g\">%s</text>\n", from+14, y+4.5, text)
	case lost:
		fmt.Fprintf(b, "<path class=\"line dashed\" d=\"M%g %gH%g\"/>\n", from, y, to+22)
		cross(b, to+22, y)
		fmt.Fprintf(b, "<text class=\"bad\" %s", label)
	default:
		direction, class := 1.0, "line"
		if to < from {
			direction = -1
		}
		if s.kind == reply {
			class = "line dashed"
		}
		fmt.Fprintf(b, "<path class=\"%s\" d=\"M%g %gH%g\"/>\n", class, from, y, to-7*direction)
		fmt.Fprintf(b, "<path class=\"head\" d=\"M%g %gl%g -4.5v9z\"/>\n", to-direction, y, -9*direction)
		fmt.Fprintf(b, "<text %s", label)
	}
}

func cross(b *strings.Builder, x, y float64) {
	fmt.Fprintf(b, "<path class=\"cross\" d=\"M%g %gl11 11m0 -11l-11 11\"/>\n", x-5.5, y-5.5)
}
