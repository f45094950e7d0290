package browser

import (
	_ "embed"
	"fmt"
	"testing"

	"github.com/chromedp/chromedp"
	"github.com/google/go-cmp/cmp"
)

//go:embed measure.js
var measure string

// seen is what measure.js finds.
type seen struct {
	Width, Window float64
	Texts         []struct {
		Text                     string
		Size, Contrast           float64
		Left, Right, Top, Bottom float64
		Large, Scrolls           bool
	}
	Overlaps []string
}

// The least that texts must have. The contrasts are those of WCAG 2.2, 1.4.3.
const (
	leastContrast = 4.5
	leastOfLarge  = 3
	leastSize     = 11 // pixels
	leastTexts    = 100
)

// TestLooks measures what people see, on the page of the conversation and on the
// hostile one, with the tables closed and open.
func TestLooks(t *testing.T) {
	for name, url := range map[string]string{"conversation": conversation(t).url, "hostile": hostile(t)} {
		t.Run(name, func(t *testing.T) {
			inEach(t, func(t *testing.T, w window) {
				b := open(t, w, url)
				b.looksRight()
				if cut := ask[[]string](b, `[...document.querySelectorAll(".scroll")].filter(e => e.checkVisibility() && e.scrollWidth > e.clientWidth).map(e => e.getAttribute("aria-label"))`); len(cut) > 0 && name == "conversation" {
					t.Errorf("columns are cut: %q", cut)
				}
				b.shoot(name + "-" + w.name)
				ask[int](b, `document.querySelectorAll("details").forEach(d => d.open = true), 0`)
				b.looksRight()
				b.shoot(name + "-" + w.name + "-open")
			})
		})
	}
}

func (b *tab) looksRight() {
	b.t.Helper()
	s := ask[seen](b, measure)
	if s.Width > s.Window {
		b.t.Errorf("the page is %g wide in a window of %g", s.Width, s.Window)
	}
	if len(s.Texts) < leastTexts {
		b.t.Errorf("%d texts", len(s.Texts))
	}
	for _, text := range s.Texts {
		least := leastContrast
		if text.Large {
			least = leastOfLarge
		}
		switch {
		case text.Contrast < least:
			b.t.Errorf("%q has a contrast of %.2f", text.Text, text.Contrast)
		case text.Size < leastSize:
			b.t.Errorf("%q is %.1f pixels high", text.Text, text.Size)
		case !text.Scrolls && (text.Left < 0 || text.Right > s.Window):
			b.t.Errorf("%q reaches from %.0f to %.0f in a window of %.0f", text.Text, text.Left, text.Right, s.Window)
		}
	}
	for _, both := range s.Overlaps {
		b.t.Errorf("overlap: %s", both)
	}
}

// stop is an element that Tab reaches.
type stop struct {
	What     string
	Outlined bool
	Contrast bool
}

// TestFocus goes through the page by Tab. It must reach all that can be used, in
// reading order, and the focus must be visible.
func TestFocus(t *testing.T) {
	inEach(t, func(t *testing.T, w window) {
		b := open(t, w, conversation(t).url)
		ask[int](b, `document.querySelectorAll("details").forEach(d => d.open = true), 0`)
		what := `const what = e => e.tagName + " " + (e.getAttribute("aria-label") || e.textContent).slice(0, 40);`
		all := ask[[]string](b, `(() => {`+what+` return [...document.querySelectorAll("a[href], summary, button, input, [tabindex]")].filter(e => e.checkVisibility()).map(what); })()`)
		if len(all) < 6 {
			t.Errorf("all that can be used: %q", all)
		}
		var went []string
		for range all {
			b.do(chromedp.KeyEvent("\t"))
			at := ask[stop](b, `(() => {`+what+` const e = document.activeElement, s = getComputedStyle(e);
				return {what: what(e), outlined: s.outlineStyle !== "none" && parseFloat(s.outlineWidth) >= 2 && s.outlineColor !== getComputedStyle(document.body).backgroundColor}; })()`)
			if !at.Outlined {
				t.Errorf("%s has the focus, and does not show it", at.What)
			}
			went = append(went, at.What)
		}
		if diff := cmp.Diff(all, went); diff != "" {
			t.Error(diff)
		}
	})
}

// TestStructure checks what assistive technology relies on.
func TestStructure(t *testing.T) {
	for name, url := range map[string]string{"conversation": conversation(t).url, "hostile": hostile(t)} {
		t.Run(name, func(t *testing.T) {
			b := open(t, windows[0], url)
			for what, script := range map[string]string{
				"a language":                      `document.documentElement.lang === "en"`,
				"a title":                         `document.title.length > 0`,
				"one main, header and h1":         `["main", "header", "h1"].every(e => document.querySelectorAll(e).length === 1)`,
				"no level of headings left out":   `(() => { let last = 0; return [...document.querySelectorAll("h1, h2, h3, h4")].every(h => { const n = Number(h.tagName[1]), ok = n <= last + 1; last = n; return ok; }); })()`,
				"tables with a name and headings": `[...document.querySelectorAll("table")].every(t => t.getAttribute("aria-label") && [...t.querySelectorAll("th")].every(h => h.scope) && [...t.tBodies[0].rows].every(r => r.cells[0].scope === "row"))`,
				"regions with a name":             `[...document.querySelectorAll(".scroll")].every(e => e.tabIndex === 0 && e.getAttribute("role") === "region" && e.getAttribute("aria-label"))`,
				"drawings that are not read":      `[...document.querySelectorAll("svg")].every(e => e.getAttribute("aria-hidden") === "true")`,
				"every number of a drawing read":  `document.querySelectorAll(".heat").length === 2 * document.querySelectorAll("details table").length && document.querySelectorAll("details table").length > 0`,
				"links that lead somewhere":       `[...document.querySelectorAll("nav a")].every(a => document.querySelector(a.getAttribute("href")))`,
				"ids that are one's own":          `(() => { const ids = [...document.querySelectorAll("[id]")].map(e => e.id); return new Set(ids).size === ids.length; })()`,
				"no script":                       `document.scripts.length === 0`,
				"a page that stays":               `!document.querySelector("meta[http-equiv=refresh]")`,
			} {
				if !ask[bool](b, "Boolean("+script+")") {
					t.Errorf("not so: %s", what)
				}
			}
		})
	}
}

// table is a table of the page, by the text of the headings of its rows and
// columns.
type table map[string]map[string]string

func (b *tab) tables() map[string]table {
	b.t.Helper()
	return ask[map[string]table](b, `Object.fromEntries([...document.querySelectorAll("table")].map(t => [t.getAttribute("aria-label"),
		Object.fromEntries([...t.tBodies[0].rows, ...t.tFoot.rows].map(r => [r.cells[0].textContent,
			Object.fromEntries([...r.cells].slice(1).map((c, i) => [t.tHead.rows[0].cells[i + 1].textContent, c.textContent]))]))]))`)
}

// drawn are the numbers of the visible drawing, by hour and weekday.
func (b *tab) drawn() [][]int {
	b.t.Helper()
	return ask[[][]int](b, `(() => {
		const svg = [...document.querySelectorAll(".heat")].find(e => e.checkVisibility());
		const texts = [...svg.querySelectorAll("text")].map(e => [e.getBoundingClientRect(), Number(e.textContent)]);
		const cells = [...svg.querySelectorAll("rect")].map(r => { const b = r.getBoundingClientRect();
			const on = texts.filter(([t]) => t.left >= b.left && t.right <= b.right && t.top >= b.top - 1 && t.bottom <= b.bottom + 1);
			if (on.length > 1) throw new Error("several numbers in a cell");
			return on.length ? on[0][1] : 0; });
		return Array.from({length: cells.length / 7}, (_, i) => cells.slice(7 * i, 7 * i + 7));
	})()`)
}

func counts(t table, hours int) [][]int {
	all := make([][]int, hours)
	for hour := range all {
		for _, day := range days {
			n := 0
			fmt.Sscan(t[fmt.Sprintf("%02d", hour)][day], &n)
			all[hour] = append(all[hour], n)
		}
	}
	return all
}
