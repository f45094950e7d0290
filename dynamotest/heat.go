package dynamotest

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Limits are those of a partition of DynamoDB, for [Config].PartitionLimits.
var Limits = Units{RCU: 3000, WCU: 1000}

// Heat is what one partition of a table or of a global index has met. A
// partition is one value of the partition key: DynamoDB splits its partitions
// until that is true where the load wants it, and no further in a table without
// a sort key. A page of a Scan counts in every partition that it read, for the
// share of its bytes, and is refused when one of them has nothing left.
type Heat struct {
	Table, Index string // Index is "" for the table itself
	Partition    string // the key's value; several are joined by commas
	Units               // consumed in all
	Peak         Units  // the most in one second of the clock
	Limit        Units  // those of [Config].PartitionLimits, which a Peak may exceed
	Throttled    int    // requests, and entries of batches and transactions, that were refused
}

// HeatMap lists partitions, those that were throttled most first, then those
// that consumed most.
type HeatMap []Heat

// Heat returns what partitions have met since their table was made or restored.
// What was deleted stays in the map, so that a test can look back on it, until
// another table or index is made under its name: that one begins cold, and its
// partitions have all that they can take. The map is empty without
// [Config].PartitionLimits and ProvisionedLimits; what the latter refuses is not
// counted in it.
func (s *Server) Heat() HeatMap {
	var out HeatMap
	for _, load := range s.engine.Loads() {
		out = append(out, Heat{
			Table: load.Table, Index: load.Index, Partition: load.Partition, Throttled: load.Throttled,
			Units: Units{RCU: load.Consumed.Read, WCU: load.Consumed.Write},
			Peak:  Units{RCU: load.Peak.Read, WCU: load.Peak.Write},
			Limit: s.cfg.PartitionLimits,
		})
	}
	return out
}

// Top returns the first n partitions, or all of them when there are fewer.
func (m HeatMap) Top(n int) HeatMap {
	n = max(0, min(n, len(m)))
	return m[:n:n] // what is appended to it is not written into the map
}

// A drawing fits a screen.
const (
	barWidth = 20 // the longest bar
	drawn    = 20 // bars
	// A longer key is cut in the middle: keys often differ at their ends.
	keyWidth, keyHead = 60, 40
)

// String draws a bar for what each of the first 20 partitions consumed, and counts
// the others; print them one by one to see them all. Those that were not throttled
// and consumed less than a hundredth of a unit are counted apart: a write that is
// refused elsewhere, by a full index say, has met its own partition without a
// charge. Long keys are shortened, and those that cannot be printed are quoted.
func (m HeatMap) String() string {
	var busy HeatMap
	var most float64
	for _, h := range m {
		if !h.idle() {
			busy = append(busy, h)
			most = max(most, h.RCU+h.WCU)
		}
	}
	top := busy.Top(drawn)
	var b strings.Builder
	for _, h := range top {
		bar := 0
		if most > 0 {
			bar = int(barWidth * (h.RCU + h.WCU) / most)
		}
		fmt.Fprintf(&b, "%s |%s| %s\n", h.name(), strings.Repeat("#", bar), h.load())
	}
	if more := len(busy) - len(top); more > 0 {
		fmt.Fprintf(&b, "and %d more\n", more)
	}
	if idle := len(m) - len(busy); idle > 0 {
		fmt.Fprintf(&b, "and %d without traffic\n", idle)
	}
	return b.String()
}

// String is the line of a drawing without its bar.
func (h Heat) String() string { return h.name() + " " + h.load() }

func (h Heat) name() string {
	if h.Index != "" {
		return h.Table + "/" + h.Index + " " + printed(h.Partition)
	}
	return h.Table + " " + printed(h.Partition)
}

// printed is a key as it fits in a line.
func printed(key string) string {
	hidden := func(r rune) bool { return !strconv.IsPrint(r) }
	if !utf8.ValidString(key) || strings.ContainsFunc(key, hidden) {
		key = strconv.Quote(key)
	}
	if r := []rune(key); len(r) > keyWidth {
		return string(r[:keyHead]) + "…" + string(r[len(r)-(keyWidth-keyHead-1):])
	}
	return key
}

func (h Heat) load() string {
	return fmt.Sprintf("%g RCU%s, %g WCU%s, %d throttled",
		cents(h.RCU), peak(h.Peak.RCU, h.Limit.RCU), cents(h.WCU), peak(h.Peak.WCU, h.Limit.WCU), h.Throttled)
}

// peak says what a partition met in its worst second. Without units there was none.
func peak(units, limit float64) string {
	switch {
	case cents(units) == 0:
		return ""
	case limit == 0 || math.IsInf(limit, 1):
		return fmt.Sprintf(" (peak %g)", cents(units))
	}
	return fmt.Sprintf(" (peak %g of %g)", cents(units), limit)
}

// idle reports whether there is nothing to print but zeros.
func (h Heat) idle() bool { return h.Throttled == 0 && cents(h.RCU) == 0 && cents(h.WCU) == 0 }

// cents rounds to hundredths: the shares of a Scan are not round numbers.
func cents(units float64) float64 { return math.Round(100*units) / 100 }
