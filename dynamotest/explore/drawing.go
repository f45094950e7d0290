package explore

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
)

// lane is the width of a caller's column.
const lane = 26

// drawing is a schedule as a sequence diagram: a column for each caller, and what each
// step left in the tables.
type drawing struct {
	callers []string
	lines   []string
	at      string
	steps   int
	told    bool // the step before says which time it is
}

func newDrawing(w *world) *drawing {
	d := &drawing{}
	head := "     "
	for _, c := range w.schedule.callers {
		d.callers = append(d.callers, c.name)
		head += pad(c.name, lane)
	}
	d.lines = []string{head + "tables"}
	return d
}

// step adds a choice, before it happens.
func (d *drawing) step(c choice) {
	at := time.Now().UTC().Format("15:04:05.000")
	if at != d.at && d.at != "" && !d.told {
		d.row("", -1, "── it is "+at)
	}

	d.told = strings.HasPrefix(c.label, "@")
	d.at = at
	d.steps++
	n := fmt.Sprintf("%3d", d.steps)
	if c.caller < 0 {
		d.row(n, -1, "── "+c.text)
		return
	}

	about := ""
	if c.about != nil {
		about = c.about.String()
	}

	d.row(n, c.caller, strings.TrimSpace(about+" "+c.text))
}

// String says what the request is about.
func (q *request) String() string {
	switch {
	case q.begins:
		return "begins"
	case q.effect != "":
		return "Do " + q.effect
	}

	text := q.Op
	for _, t := range q.targets {
		key := shown(t.Key)
		if key == "" {
			key = t.Table
		}
		text += " " + key
	}

	return text
}

// shown is a key, by its values.
func shown(key attr.Map) string {
	var values map[string]map[string]any
	if json.Unmarshal(key.AppendJSON(nil), &values) != nil {
		return ""
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(values)) {
		parts = append(parts, plain(values[name]))
	}
	return strings.Join(parts, "/")
}

// plain is an attribute value without its type.
func plain(value map[string]any) string {
	for _, v := range value {
		switch v := v.(type) {
		case map[string]any:
			var parts []string
			for _, name := range slices.Sorted(maps.Keys(v)) {
				inner, _ := v[name].(map[string]any)
				parts = append(parts, name+"="+plain(inner))
			}
			return "{" + strings.Join(parts, " ") + "}"
		case []any:
			var parts []string
			for _, e := range v {
				if inner, ok := e.(map[string]any); ok {
					parts = append(parts, plain(inner))
				} else {
					parts = append(parts, fmt.Sprint(e))
				}
			}
			return "[" + strings.Join(parts, " ") + "]"
		default:
			return fmt.Sprint(v)
		}
	}
	return ""
}

// row adds a line with a text in a caller's column, or across.
func (d *drawing) row(n string, caller int, text string) {
	line := pad(n, 5)
	if caller < 0 {
		d.lines = append(d.lines, line+text)
		return
	}

	for i := range d.callers {
		switch {
		case i < caller:
			line += pad("│", lane)
		case i == caller:
			line += "├─ " + text + " "
		}
	}

	end := 5 + lane*len(d.callers)
	for next := 5 + lane*(caller+1); next < end; next += lane {
		if utf8.RuneCountInString(line) < next {
			line = pad(line, next) + "│"
		}
	}

	d.lines = append(d.lines, pad(line, end)+"│")
}

// change adds what a step changed in the tables.
func (d *drawing) change(before, after []byte) {
	stood := map[string]bool{}
	for line := range bytes.Lines(before) {
		stood[string(line)] = true
	}

	var changed []string
	for line := range bytes.Lines(after) {
		if stood[string(line)] {
			delete(stood, string(line))
		} else if item := itemOf(line); item != "" {
			changed = append(changed, item)
		}
	}

	if len(changed) == 0 {
		for line := range stood {
			if item := itemOf([]byte(line)); item != "" {
				changed = append(changed, "deleted "+item)
			}
		}
		slices.Sort(changed)
	}

	last := &d.lines[len(d.lines)-1]
	*last += " " + strings.Join(changed, " ")
}

// itemOf shows the item of a line of a dump, "" if the line is a table's.
func itemOf(line []byte) string {
	var entry struct{ Item map[string]any }
	if json.Unmarshal(line, &entry) != nil || entry.Item == nil {
		return ""
	}
	return plain(map[string]any{"M": entry.Item})
}

func pad(text string, to int) string {
	return text + strings.Repeat(" ", max(0, to-utf8.RuneCountInString(text)))
}

func (d *drawing) String() string {
	if d == nil {
		return ""
	}
	return strings.Join(d.lines, "\n") + "\n"
}
