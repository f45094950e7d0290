package engine

import (
	"slices"
	"strings"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
)

// The bytes that one unit pays for.
const (
	readUnit  = 4096
	writeUnit = 1024
)

// Units are consumed capacity units.
type Units struct{ Read, Write float64 }

// Total is what a request unit counts as, read or write.
func (u Units) Total() float64 { return u.Read + u.Write }

func (u *Units) add(v Units) {
	u.Read += v.Read
	u.Write += v.Write
}

// An IndexUnits is what one index consumed.
type IndexUnits struct {
	Index string
	Local bool
	Units
}

// A Capacity is what a request consumed of one table and its indexes.
type Capacity struct {
	Table   string
	Base    Units // the table's own, without its indexes
	Indexes []IndexUnits
}

// Sum is the capacity of the table and its indexes together.
func (c *Capacity) Sum() Units {
	sum := c.Base
	for _, x := range c.Indexes {
		sum.add(x.Units)
	}
	return sum
}

func (c *Capacity) addIndex(x IndexUnits) {
	for i := range c.Indexes {
		if c.Indexes[i].Index == x.Index {
			c.Indexes[i].add(x.Units)
			return
		}
	}
	c.Indexes = append(c.Indexes, x)
}

// A Cost is what a request consumed, by table.
type Cost []Capacity

// of returns the capacity of a table, which it adds when it is not there yet.
func (c *Cost) of(table string) *Capacity {
	for i := range *c {
		if (*c)[i].Table == table {
			return &(*c)[i]
		}
	}
	*c = append(*c, Capacity{Table: table})
	return &(*c)[len(*c)-1]
}

func (c *Cost) add(more Capacity) {
	into := c.of(more.Table)
	into.Base.add(more.Base)
	for _, x := range more.Indexes {
		into.addIndex(x)
	}
}

// unitsOf is how many units of the given size some bytes take: at least one.
func unitsOf(bytes, unit int) float64 {
	return float64(max(1, (bytes+unit-1)/unit))
}

// A rate is what a read unit costs by the kind of read.
type rate float64

const (
	eventual      rate = 0.5
	consistent    rate = 1
	transactional rate = 2
)

func rateOf(consistentRead bool) rate {
	if consistentRead {
		return consistent
	}
	return eventual
}

func (r rate) cost(bytes int) Units { return Units{Read: float64(r) * unitsOf(bytes, readUnit)} }

func writeCost(bytes int) Units { return Units{Write: unitsOf(bytes, writeUnit)} }

// reported is the part of a cost that a reply shows.
type reported struct {
	mode          string // NONE, TOTAL or INDEXES
	transactional bool   // a transaction also tells reads from writes
	cost          Cost
}

func report(mode api.Opt[string], cost Cost) reported {
	return reported{mode: mode.Or("NONE"), cost: cost}
}

// writeOne writes the capacity of a request to one table.
func (r reported) writeOne(w *api.Writer) {
	if r.mode == "NONE" || len(r.cost) == 0 {
		return
	}
	w.Key("ConsumedCapacity")
	r.writeTable(w, &r.cost[0])
}

// writeAll writes the capacity of a request to several tables.
func (r reported) writeAll(w *api.Writer) {
	if r.mode == "NONE" {
		return
	}
	w.Array("ConsumedCapacity", func() {
		for i := range r.cost {
			r.writeTable(w, &r.cost[i])
		}
	})
}

func (r reported) writeTable(w *api.Writer, c *Capacity) {
	w.Element(func() {
		w.Text("TableName", c.Table)
		r.writeUnits(w, c.Sum())
		if r.mode != "INDEXES" {
			return
		}
		w.Object("Table", func() { r.writeUnits(w, c.Base) })
		r.writeIndexes(w, "LocalSecondaryIndexes", c.Indexes, true)
		r.writeIndexes(w, "GlobalSecondaryIndexes", c.Indexes, false)
	})
}

func (r reported) writeUnits(w *api.Writer, u Units) {
	w.Float("CapacityUnits", u.Total())
	if !r.transactional {
		return
	}
	if u.Read > 0 {
		w.Float("ReadCapacityUnits", u.Read)
	}
	if u.Write > 0 {
		w.Float("WriteCapacityUnits", u.Write)
	}
}

func (r reported) writeIndexes(w *api.Writer, member string, indexes []IndexUnits, local bool) {
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
// all there is to know.
func (c Cost) AppendJSON(dst []byte) []byte {
	r := reported{mode: "INDEXES", transactional: true, cost: c}
	w := api.Writer{Buf: dst}
	w.Open('[')
	for i := range c {
		r.writeTable(&w, &c[i])
	}
	w.Close(']')
	return w.Buf
}
