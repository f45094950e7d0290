package dynamotest

import (
	"fmt"
	"math"
	"strings"
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
	Peak         Units  // the most in one second
	Throttled    int    // requests, and entries of batches and transactions, that were refused
}

// HeatMap lists partitions, those that were throttled most first, then those
// that consumed most.
type HeatMap []Heat

// Heat returns what partitions have met since their table was made or restored.
// What was deleted stays in the map, so that a test can look back on it, until
// another table or index is made under its name: that one begins cold, and its
// partitions have all that they can take. The map is empty without
// [Config].PartitionLimits.
func (s *Server) Heat() HeatMap {
	var out HeatMap
	for _, load := range s.engine.Loads() {
		out = append(out, Heat{
			Table: load.Table, Index: load.Index, Partition: load.Partition, Throttled: load.Throttled,
			Units: Units{RCU: load.Consumed.Read, WCU: load.Consumed.Write},
			Peak:  Units{RCU: load.Peak.Read, WCU: load.Peak.Write},
		})
	}
	return out
}

// barWidth is how long the longest bar is.
const barWidth = 20

// String draws a bar for each partition, for what it consumed. Those that were
// not throttled and consumed less than a hundredth of a unit are only counted: a
// write that is refused elsewhere, by a full index say, has met its own partition
// without a charge.
func (m HeatMap) String() string {
	var most float64
	idle := 0
	for _, h := range m {
		most = max(most, h.RCU+h.WCU)
	}
	var b strings.Builder
	for _, h := range m {
		if h.idle() {
			idle++
			continue
		}
		name := h.Table
		if h.Index != "" {
			name += "/" + h.Index
		}
		bar := 0
		if most > 0 {
			bar = int(barWidth * (h.RCU + h.WCU) / most)
		}
		fmt.Fprintf(&b, "%s %s |%s| %g RCU, %g WCU, %d throttled\n", name, h.Partition, strings.Repeat("#", bar), cents(h.RCU), cents(h.WCU), h.Throttled)
	}
	if idle > 0 {
		fmt.Fprintf(&b, "and %d without traffic\n", idle)
	}
	return b.String()
}

// idle tells whether there is nothing to print but zeros.
func (h Heat) idle() bool { return h.Throttled == 0 && cents(h.RCU) == 0 && cents(h.WCU) == 0 }

// cents rounds to hundredths: the shares of a Scan are no round numbers.
func cents(units float64) float64 { return math.Round(100*units) / 100 }
