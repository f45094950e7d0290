package histories_test

import (
	"fmt"
	"math"
)

// average is a row of ema.
type average struct {
	stands  bool
	value   float64
	samples int64
	ring    ring
}

func (a average) String() string { return fmt.Sprintf("%g of %d samples", a.value, a.samples) }

const alpha = 0.25

// valueOf returns the observed value of an event.
func valueOf(event int) float64 { return float64(event * event) }

// plus returns the average with one more value.
func (a average) plus(value float64) average {
	if a.samples == 0 {
		a.value = value
	} else {
		a.value = alpha*value + (1-alpha)*a.value
	}
	a.samples++
	a.stands = true
	return a
}

// near reports whether both are the same but for rounding.
func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*(1+math.Abs(b)) }

func (*emaStory) fresh() any { return average{} }

func (e *emaStory) apply(state any, m *move) (any, bool) {
	stood := state.(average)
	switch in := m.in.(type) {
	case erased:
		return average{}, stood.stands
	case olderBare:
		return average{stands: true}, !stood.stands
	case olderCount:
		return average{stands: true, value: in.value, samples: stood.samples + 1}, stood.ring.size == 0 // it does not touch a row with a version
	case fetches:
		out, ok := m.out.(average)
		return stood, ok && out.stands == stood.stands && out.samples == stood.samples && near(out.value, stood.value)
	case observes:
		if m.row == nil {
			return stood, m.out == stood.ring.judge(in.event)
		}
		next := stood.plus(valueOf(in.event))
		next.ring = stood.ring.plus(in.event)
		written := num(m.row, "samples") == next.samples && near(float(m.row, e.attr), next.value)
		return next, written && stood.ring.judge(in.event) == nil && (m.out == nil || m.out == created{})
	}
	return stood, false
}
