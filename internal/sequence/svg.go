package sequence

import (
	"fmt"
	"html"
	"strings"
	"unicode/utf8"
)

// The picture's measures, in pixels at its own size.
const (
	cell      = 8.5 // the width of a character of the grid
	letter    = 7.1 // that of a letter in a note, at most as a rule
	top       = 62  // the first step
	rowHeight = 32
	pause     = 12 // between two steps of different times
)

// style is readable on both backgrounds, which the picture brings along: the page
// around it may have another scheme than the reader's system.
const style = `
svg{--paper:#fff;--ink:#1f2328;--faint:#59636e;--rule:#d1d9e0;--box:#ddf4ff;--edge:#54aeff;--bad:#cf222e}
@media (prefers-color-scheme:dark){svg{--paper:#0d1117;--ink:#f0f6fc;--faint:#9198a1;--rule:#3d444d;--box:#12263f;--edge:#1f6feb;--bad:#ff7b72}}
text{font:13px system-ui,-apple-system,"Segoe UI",sans-serif;fill:var(--ink)}
.label{paint-order:stroke;stroke:var(--paper);stroke-width:5px;stroke-linejoin:round}
.name{font-weight:600;text-anchor:middle}.time{fill:var(--faint);font-size:12px;font-variant-numeric:tabular-nums}
.note{font-size:12px;text-anchor:middle}.bad{fill:var(--bad)}
.paper{fill:var(--paper)}.box{fill:var(--box);stroke:var(--edge)}.card{fill:var(--paper);stroke:var(--rule)}
.life{stroke:var(--rule);stroke-width:1.5}.line{stroke:var(--ink);stroke-width:1.3}.dashed{stroke-dasharray:5 4}
.head{fill:var(--ink)}.cross{stroke:var(--bad);stroke-width:2.5;stroke-linecap:round}
`

func (l layout) svg() string {
	y, ends := float64(top), map[int]float64{}
	var body strings.Builder
	for i, s := range l.steps {
		if l.moments[i] != "" {
			y += pause
			fmt.Fprintf(&body, "<text class=\"time\" x=\"10\" y=\"%g\">%s</text>\n", y+4, html.EscapeString(l.moments[i]))
		}
		l.drawStep(&body, s, y)
		if s.kind == crash {
			ends[s.from] = y
		}
		y += rowHeight
		if s.kind == note {
			y += 4 // the next label must not touch the box
		}
	}
	total := width * cell
	var b strings.Builder
	fmt.Fprintf(&b, "<svg xmlns=\"http://www.w3.org/2000/svg\" viewBox=\"0 0 %g %g\" width=\"%g\" height=\"%g\" role=\"img\" aria-labelledby=\"title about\">\n",
		total, y, total, y)
	fmt.Fprintf(&b, "<title id=\"title\">%s</title>\n<desc id=\"about\">%s</desc>\n<style>%s</style>\n",
		html.EscapeString(l.Title), html.EscapeString(l.About), style)
	fmt.Fprintf(&b, "<rect class=\"paper\" width=\"%g\" height=\"%g\" rx=\"6\"/>\n", total, y)
	for i, name := range l.Lifelines {
		x, end := l.x(i), y-10
		if crashed, ok := ends[i]; ok {
			end = crashed
		}
		half := float64(utf8.RuneCountInString(name))*cell/2 + 11
		fmt.Fprintf(&b, "<path class=\"life\" d=\"M%g 38V%g\"/>\n", x, end)
		fmt.Fprintf(&b, "<rect class=\"card\" x=\"%g\" y=\"12\" width=\"%g\" height=\"26\" rx=\"5\"/>\n", x-half, 2*half)
		fmt.Fprintf(&b, "<text class=\"name\" x=\"%g\" y=\"29.5\">%s</text>\n", x, html.EscapeString(name))
	}
	return b.String() + body.String() + "</svg>\n"
}

func (l layout) x(lifeline int) float64 { return (float64(l.columns[lifeline]) + 0.5) * cell }

func (l layout) drawStep(b *strings.Builder, s step, y float64) {
	from, to := l.x(s.from), l.x(s.to)
	text, label := html.EscapeString(s.text), min(from, to)+14
	class := "label"
	switch s.kind {
	case note:
		half := float64(utf8.RuneCountInString(s.text))*letter/2 + 6
		middle := min(from, width*cell-half-6)
		fmt.Fprintf(b, "<rect class=\"box\" x=\"%.1f\" y=\"%g\" width=\"%.1f\" height=\"22\" rx=\"4\"/>\n", middle-half, y-11, 2*half)
		fmt.Fprintf(b, "<text class=\"note\" x=\"%.1f\" y=\"%g\">%s</text>\n", middle, y+4.5, text)
		return
	case crash:
		drawCross(b, from, y)
		fmt.Fprintf(b, "<text class=\"label bad\" x=\"%g\" y=\"%g\">%s</text>\n", from+14, y+4.5, text)
		return
	case lost:
		end := from + 0.85*(to-from)
		fmt.Fprintf(b, "<path class=\"line dashed\" d=\"M%g %gH%g\"/>\n", from, y, end)
		drawCross(b, end, y)
		class, label = "label bad", min(from, end)+14
	case request, reply:
		direction, dashed := 1.0, ""
		if to < from {
			direction = -1
		}
		if s.kind == reply {
			dashed = " dashed"
		}
		fmt.Fprintf(b, "<path class=\"line%s\" d=\"M%g %gH%g\"/>\n", dashed, from, y, to-7*direction)
		fmt.Fprintf(b, "<path class=\"head\" d=\"M%g %gl%g -4.5v9z\"/>\n", to-direction, y, -9*direction)
	}
	fmt.Fprintf(b, "<text class=\"%s\" x=\"%g\" y=\"%g\">%s</text>\n", class, label, y-7, text)
}

func drawCross(b *strings.Builder, x, y float64) {
	fmt.Fprintf(b, "<path class=\"cross\" d=\"M%g %gl11 11m0 -11l-11 11\"/>\n", x-5.5, y-5.5)
}
