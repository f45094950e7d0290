// Package sequence draws what a test did as a sequence diagram, as text and as SVG.
//
// Both stand on one grid of characters. What fits into the text without touching
// its neighbour also fits into the picture, whose letters are narrower.
package sequence

import (
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"
)

// Diagram is a drawing that grows by a step with each call of its methods.
type Diagram struct {
	Title, About string   // the picture in words, for readers who do not see it
	Lifelines    []string // from left to right, two at least
	// Clock is asked for the time of each step, which is shown when it has changed.
	Clock func() string

	steps []step
	now   string // the time of the last step
}

type kind int

const (
	request kind = iota
	reply
	lost
	note
	crash
)

type step struct {
	kind
	at       string // the time, "" if it is that of the step before
	from, to int    // lifelines; in a drawing their columns
	text     string
}

// Request is a solid arrow.
func (d *Diagram) Request(from, to, text string) { d.add(request, from, to, text) }

// Reply is a dashed arrow.
func (d *Diagram) Reply(from, to, text string) { d.add(reply, from, to, text) }

// Lost is a reply, from the right to the left, that breaks off on its way.
func (d *Diagram) Lost(from, to, text string) { d.add(lost, from, to, text) }

// Note is a box on a lifeline.
func (d *Diagram) Note(on, text string) { d.add(note, on, on, text) }

// Crash ends a lifeline.
func (d *Diagram) Crash(on, text string) { d.add(crash, on, on, text) }

func (d *Diagram) add(k kind, from, to, text string) {
	s := step{kind: k, from: slices.Index(d.Lifelines, from), to: slices.Index(d.Lifelines, to), text: text}
	if at := d.Clock(); at != d.now {
		s.at, d.now = at, at
	}
	d.steps = append(d.steps, s)
}

// width of the grid, in characters.
const width = 94

// Draw returns the diagram in both forms.
func (d *Diagram) Draw() (text, svg string) {
	columns := d.columns()
	steps := slices.Clone(d.steps)
	for i, s := range steps {
		steps[i].from, steps[i].to = columns[s.from], columns[s.to]
	}
	return d.text(columns, steps), d.svg(columns, steps)
}

// columns are the places of the lifelines: beside the times, and the last at the edge.
func (d *Diagram) columns() []int {
	var first int
	for _, s := range d.steps {
		first = max(first, length(s.at)+5)
	}
	gap := 22
	if len(d.Lifelines) > 3 {
		gap = 17
	}
	var columns []int
	for i := range d.Lifelines {
		columns = append(columns, first+i*gap)
	}
	columns[len(columns)-1] = width - 6
	return columns
}

func (d *Diagram) text(columns []int, steps []step) string {
	head := []rune(strings.Repeat(" ", width))
	for i, name := range d.Lifelines {
		copy(head[columns[i]-length(name)/2:], []rune(name))
	}
	rows := []string{string(head)}
	live := slices.Clone(columns)
	for _, s := range steps {
		if s.at != "" {
			rows = append(rows, string(lines(live)))
		}
		row := lines(live)
		copy(row, []rune(s.at))
		s.write(row)
		if s.kind == crash {
			live = slices.DeleteFunc(live, func(column int) bool { return column == s.from })
		}
		rows = append(rows, string(row))
	}
	var b strings.Builder
	for _, row := range rows {
		fmt.Fprintln(&b, strings.TrimRight(row, " "))
	}
	return b.String()
}

// lines is a row of lifelines.
func lines(columns []int) []rune {
	row := []rune(strings.Repeat(" ", width))
	for _, column := range columns {
		row[column] = '│'
	}
	return row
}

// write puts the step into a row of lifelines.
func (s step) write(row []rune) {
	switch left, right := min(s.from, s.to), max(s.from, s.to); s.kind {
	case note:
		box := []rune("[" + s.text + "]")
		copy(row[max(0, min(s.from-len(box)/2, width-len(box))):], box)
	case crash:
		copy(row[s.from:], []rune("× "+s.text))
	default:
		start, dash, end := "─ ", "─", "►"
		if s.kind != request {
			dash, start = "-", "- "
		}
		if s.to < s.from {
			start, end = "◄ ", dash
		}
		if s.kind == lost {
			start = "× "
		}
		label := start + s.text + " "
		copy(row[left+1:], []rune(label+strings.Repeat(dash, right-left-2-length(label))+end))
	}
}

func length(text string) int { return utf8.RuneCountInString(text) }
