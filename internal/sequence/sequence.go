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
	Lifelines    []string // from left to right
	// Clock is asked for the time of each step, which is shown when it has changed.
	Clock func() string

	steps []step
	err   error // the first mistake
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
	from, to int    // lifelines; equal for a note and a crash
	text     string
}

// Request is a solid arrow.
func (d *Diagram) Request(from, to, text string) { d.add(request, from, to, text) }

// Reply is a dashed arrow.
func (d *Diagram) Reply(from, to, text string) { d.add(reply, from, to, text) }

// Lost is a message that breaks off on its way.
func (d *Diagram) Lost(from, to, text string) { d.add(lost, from, to, text) }

// Note is a box on a lifeline.
func (d *Diagram) Note(on, text string) { d.add(note, on, on, text) }

// Crash ends a lifeline.
func (d *Diagram) Crash(on, text string) { d.add(crash, on, on, text) }

func (d *Diagram) add(k kind, from, to, text string) {
	s := step{kind: k, at: d.Clock(), from: slices.Index(d.Lifelines, from), to: slices.Index(d.Lifelines, to), text: text}
	if (s.from < 0 || s.to < 0) && d.err == nil {
		d.err = fmt.Errorf("sequence: %q: from %q to %q, and one of them is not a lifeline", text, from, to)
	}
	d.steps = append(d.steps, s)
}

// width of the grid, in characters.
const width = 94

// layout is a diagram whose places are known.
type layout struct {
	*Diagram
	columns []int // of the lifelines
	moments []string
}

// Draw returns the diagram in both forms. It is an error if a text does not fit.
func (d *Diagram) Draw() (text, svg string, err error) {
	l := layout{Diagram: d}
	first, gap := 5, 22
	if len(d.Lifelines) > 3 {
		gap = 17
	}
	last := ""
	for _, s := range d.steps {
		moment := ""
		if s.at != last {
			moment, last = s.at, s.at
		}
		l.moments = append(l.moments, moment)
		first = max(first, utf8.RuneCountInString(s.at)+5)
	}
	for i := range d.Lifelines {
		l.columns = append(l.columns, first+i*gap)
	}
	l.columns[len(l.columns)-1] = width - 6
	for _, s := range d.steps {
		if d.err == nil && utf8.RuneCountInString(s.text) > l.room(s) {
			d.err = fmt.Errorf("sequence: %q has %d characters, and there is room for %d", s.text, utf8.RuneCountInString(s.text), l.room(s))
		}
	}
	if d.err != nil {
		return "", "", d.err
	}
	return l.text(), l.svg(), nil
}

// span returns the columns of a step, the left one first.
func (l layout) span(s step) (left, right int) {
	return min(l.columns[s.from], l.columns[s.to]), max(l.columns[s.from], l.columns[s.to])
}

// room is how many characters fit into a step.
func (l layout) room(s step) int {
	left, right := l.span(s)
	switch s.kind {
	case note:
		return width - l.columns[0]
	case crash:
		return width - right - 3
	case lost:
		return right - left - 7
	}
	return right - left - 5
}

// box is where a note begins and ends: around its lifeline, inside the grid.
func (l layout) box(s step) (left, right int) {
	n := utf8.RuneCountInString(s.text) + 2
	left = min(l.columns[s.from]-n/2, width-n)
	return left, left + n
}

func (l layout) text() string {
	var rows []string
	head := []rune(strings.Repeat(" ", width))
	for i, name := range l.Lifelines {
		copy(head[l.columns[i]-utf8.RuneCountInString(name)/2:], []rune(name))
	}
	rows = append(rows, string(head))
	dead := map[int]bool{}
	for i, s := range l.steps {
		if l.moments[i] != "" {
			rows = append(rows, string(l.blank(dead, "")))
		}
		row := l.blank(dead, l.moments[i])
		l.write(row, s)
		dead[s.from] = dead[s.from] || s.kind == crash
		rows = append(rows, string(row))
	}
	for i, row := range rows {
		rows[i] = strings.TrimRight(row, " ")
	}
	return strings.Join(rows, "\n") + "\n"
}

// blank is a row of lifelines.
func (l layout) blank(dead map[int]bool, moment string) []rune {
	row := []rune(strings.Repeat(" ", width))
	copy(row, []rune(moment))
	for i, column := range l.columns {
		if !dead[i] {
			row[column] = '│'
		}
	}
	return row
}

func (l layout) write(row []rune, s step) {
	left, right := l.span(s)
	at := left + 3
	switch s.kind {
	case note:
		at, _ = l.box(s)
		s.text = "[" + s.text + "]"
	case crash:
		row[left], at = '×', left+2
	case request, reply, lost:
		dash := map[kind]rune{request: '─', reply: '-', lost: '-'}[s.kind]
		for i := left + 1; i < right; i++ {
			row[i] = dash
		}
		s.text = " " + s.text + " "
		switch end := map[bool]int{true: right - 1, false: left + 1}[s.to > s.from]; {
		case s.kind == lost && s.to > s.from:
			row[end-1], row[end] = '×', ' '
		case s.kind == lost:
			row[end], row[end+1], at = ' ', '×', left+4
		case s.to > s.from:
			row[end], at = '►', left+2
		default:
			row[end], at = '◄', left+2
		}
	}
	copy(row[at:], []rune(s.text))
}
