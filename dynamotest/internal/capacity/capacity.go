// Package capacity counts the units that requests consume, and writes them into
// replies.
package capacity

import (
	"slices"
	"strings"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
)

// The bytes that one unit covers.
const (
	ReadUnit  = 4096
	writeUnit = 1024
)

// Units are consumed capacity units.
type Units struct{ Read, Write float64 }

// Total is the sum of reads and writes.
func (u Units) Total() float64 { return u.Read + u.Write }

// Add adds other units.
func (u *Units) Add(v Units) {
	u.Read += v.Read
	u.Write += v.Write
}

// An IndexUnits is what one index consumed.
type IndexUnits struct {
	Index string
	Local bool
	Units
}

// A Consumed is what a request consumed of one table and its indexes.
type Consumed struct {
	Table   string
	Base    Units // the table's own, without its indexes
	Indexes []IndexUnits
}

// Sum is the capacity of the table and its indexes together.
func (c *Consumed) Sum() Units {
	sum := c.Base
	for _, x := range c.Indexes {
		sum.Add(x.Units)
	}
	return sum
}

func (c *Consumed) addIndex(x IndexUnits) {
	for i := range c.Indexes {
		if c.Indexes[i].Index == x.Index {
			c.Indexes[i].Add(x.Units)
			return
		}
	}
	c.Indexes = append(c.Indexes, x)
}

// A Cost is what a request consumed, by table.
type Cost []Consumed

// of returns the entry of a table, which it adds if it is missing.
func (c *Cost) of(table string) *Consumed {
	for i := range *c {
		if (*c)[i].Table == table {
			return &(*c)[i]
		}
	}
	*c = append(*c, Consumed{Table: table})
	return &(*c)[len(*c)-1]
}

// Add adds what was consumed of a table.
func (c *Cost) Add(more Consumed) {
	into := c.of(more.Table)
	into.Base.Add(more.Base)
	for _, x := range more.Indexes {
		into.addIndex(x)
	}
}

// unitsOf returns how many units of the given size some bytes take: at least
// one.
func unitsOf(bytes, unit int) float64 {
	return float64(max(1, (bytes+unit-1)/unit))
}

// A Rate is the price of a read unit for one kind of read.
type Rate float64

const (
	eventual      Rate = 0.5
	consistent    Rate = 1
	Transactional Rate = 2
)

// RateOf returns the Rate of a read outside of a transaction.
func RateOf(consistentRead bool) Rate {
	if consistentRead {
		return consistent
	}
	return eventual
}

// Cost returns the units of reading some bytes.
func (r Rate) Cost(bytes int) Units { return Units{Read: float64(r) * unitsOf(bytes, ReadUnit)} }

// WriteCost returns the units of writing some bytes.
func WriteCost(bytes int) Units { return Units{Write: unitsOf(bytes, writeUnit)} }

// Report is the part of a cost that a reply shows.
type Report struct {
	Mode          string // NONE, TOTAL or INDEXES
	Transactional bool   // a transaction also has reads and writes apart
	Cost          Cost
}

// ReportOf returns the part of a cost that a mode of ReturnConsumedCapacity shows.
func ReportOf(mode api.Opt[string], cost Cost) Report {
	return Report{Mode: mode.Or("NONE"), Cost: cost}
}

// WriteOne writes the capacity of a request to one table.
func (r Report) WriteOne(w *api.Writer) {
	if r.Mode == "NONE" || len(r.Cost) == 0 {
		return
	}
	w.Key("ConsumedCapacity")
	r.writeTable(w, &r.Cost[0])
}

// WriteAll writes the capacity of a request to several tables.
func (r Report) WriteAll(w *api.Writer) {
	if r.Mode == "NONE" {
		return
	}
	w.Array("ConsumedCapacity", func() {
		for i := range r.Cost {
			r.writeTable(w, &r.Cost[i])
		}
	})
}

func (r Report) writeTable(w *api.Writer, c *Consumed) {
	w.Element(func() {
		w.Text("TableName", c.Table)
		r.writeUnits(w, c.Sum())
		if r.Mode != "INDEXES" {
			return
		}
		w.Object("Table", func() { r.writeUnits(w, c.Base) })
		r.writeIndexes(w, "LocalSecondaryIndexes", c.Indexes, true)
		r.writeIndexes(w, "GlobalSecondaryIndexes", c.Indexes, false)
	})
}

func (r Report) writeUnits(w *api.Writer, u Units) {
	w.Float("CapacityUnits", u.Total())
	if !r.Transactional {
		return
	}
	if u.Read > 0 {
		w.Float("ReadCapacityUnits", u.Read)
	}
	if u.Write > 0 {
		w.Float("WriteCapacityUnits", u.Write)
	}
}

func (r Report) writeIndexes(w *api.Writer, member string, indexes []IndexUnits, local bool) {
	kind := slices.DeleteFunc(slices.Clone(indexes), func(x IndexUnits) bool { return x.Local != local })
	if len(kind) == 0 {
		return
	}
	slices.SortFunc(kind, func(a, b IndexUnits) int { return strings.Compare(a.Index, b.Index) })
	w.Object(member, func() {
		for _, x := range kind {
			w.Object(x.Index, func() { r.writeUnits(w, x.Units) })
		}
	})
}

// AppendJSON appends the cost as a list in the form of ConsumedCapacity, with
// all details.
func (c Cost) AppendJSON(dst []byte) []byte {
	r := Report{Mode: "INDEXES", Transactional: true, Cost: c}
	w := api.Writer{Buf: dst}
	w.Open('[')
	for i := range c {
		r.writeTable(&w, &c[i])
	}
	w.Close(']')
	return w.Buf
}
