package dynamotest

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"unicode/utf8"
)

// Limits is what one partition of DynamoDB can take in a second: a value for
// [Config].PartitionLimits.
var Limits = Units{RCU: 3000, WCU: 1000}

// Heat is the load on one partition of a table or of a global index. Each value
// of the partition key counts as one partition. Where the load requires it,
// DynamoDB splits its partitions down to one value each. If the table or index
// has no sort key, DynamoDB cannot split them further. A page of a Scan counts
// in every partition that it reads: each partition is charged for its share of
// the page's bytes. The page is refused if one of these partitions has no units
// left.
type Heat struct {
	Table, Index string // Index is "" for the table itself
	Partition    string // the value of the key; a comma joins the values of several attributes
	Units               // that the partition consumed in all
	Peak         Units  // the most that it consumed in one second of the server's clock
	Limit        Units  // [Config].PartitionLimits; a Peak may exceed it
	Throttled    int    // requests, and entries of batches and transactions, that PartitionLimits refused
}

// HeatMap lists partitions. The partition that was throttled most comes first;
// of partitions that were throttled equally, the one that consumed most comes
// first.
type HeatMap []Heat

// Heat returns the load on all partitions that had requests, since their table
// was made or restored, or since [OpenServer] read the table. A deleted table
// stays in the map, so that a test can look back on it, until a table of the
// same name is made. The new table begins without load, and each of its
// partitions can take one second's worth of units at once. The same holds for
// an index. The map is empty unless the [Config] sets PartitionLimits or
// ProvisionedLimits. Throttled does not count the requests that only
// ProvisionedLimits or a [Fault] refuses.
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

// Top returns the first n partitions, or all of them if the map has fewer.
func (m HeatMap) Top(n int) HeatMap {
	n = max(0, min(n, len(m)))
	return m[:n:n] // an append to it does not write into the map
}

// A drawing must fit on a screen.
const (
	barWidth = 20 // the longest bar
	drawn    = 20 // bars
	// A longer key is cut in the middle: keys often differ at their ends.
	keyWidth, keyHead = 60, 40
)

// String draws a bar for the units that each of the first 20 partitions consumed,
// and says how many more partitions the map has. Print the partitions one by one
// to see them all. String does not draw partitions without traffic, but says how
// many they are. Such a partition was not throttled, and its units round to 0.00.
// For example, if an index without units left refuses a write, the write's
// partition in the table is charged nothing. Long keys are shortened, and
// unprintable ones are quoted.
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

// String returns the partition's line in the drawing of [HeatMap.String],
// without the bar.
func (h Heat) String() string { return h.name() + " " + h.load() }

func (h Heat) name() string {
	if h.Index != "" {
		return h.Table + "/" + h.Index + " " + printed(h.Partition)
	}
	return h.Table + " " + printed(h.Partition)
}

// printed shortens a key to fit in a line.
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

// peak writes the units of a partition's worst second, and "" if it consumed none.
func peak(units, limit float64) string {
	switch {
	case cents(units) == 0:
		return ""
	case limit == 0 || math.IsInf(limit, 1):
		return fmt.Sprintf(" (peak %g)", cents(units))
	}
	return fmt.Sprintf(" (peak %g of %g)", cents(units), limit)
}

// idle reports whether a line would have only zeros.
func (h Heat) idle() bool { return h.Throttled == 0 && cents(h.RCU) == 0 && cents(h.WCU) == 0 }

// cents rounds to hundredths: the shares of a Scan are not round numbers.
func cents(units float64) float64 { return math.Round(100*units) / 100 }
