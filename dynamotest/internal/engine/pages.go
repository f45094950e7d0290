package engine

import (
	"iter"
	"slices"
	"strings"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/bind"
	"github.com/homeops/ddbpatterns/dynamotest/internal/capacity"
	"github.com/homeops/ddbpatterns/dynamotest/internal/expr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/keys"
	"github.com/homeops/ddbpatterns/dynamotest/internal/throughput"
)

// pageBytes is the size that ends a page. The item that reaches it is still
// part of the page.
const pageBytes = 1 << 20

// usualPage is enough room for the items of most pages.
const usualPage = 32

// wireBytes is roughly what the JSON of an item adds to its bytes: a guess, for
// the size of a buffer.
const wireBytes = 80

// The values of Select.
const (
	selectAll       = "ALL_ATTRIBUTES"
	selectProjected = "ALL_PROJECTED_ATTRIBUTES"
	selectSpecific  = "SPECIFIC_ATTRIBUTES"
	selectCount     = "COUNT"
)

// A pager reads a page of a table or of one of its indexes.
type pager struct {
	req *api.Page
	expr.Bound
	table *table
	index *index // nil for the table itself
	data  *data  // what is read of the index or the table
	base  *data  // what is read of the table if the index lacks something
	// whole is true if items are read from the table, because the local index
	// lacks some of the attributes asked for.
	whole bool
	// records were read; after judge they are those that meet the filter.
	records []*record
	tally   *tally // nil unless partitions have limits
}

// A page is the result of a pager.
type page struct {
	scanned int
	bytes   int      // of what was read
	last    attr.Map // the key to go on from; nil at the end
	cost    capacity.Consumed
}

// bind binds the expressions of the request. The start key is checked last,
// after the values and the expressions.
func (p *pager) bind(src *bind.Sources) (err *api.Error) {
	if err = src.Check(&p.req.Expressions); err == nil {
		p.Bound, err = src.Bind(&p.req.Expressions)
	}
	if err == nil {
		err = p.req.StartKey.Wrong()
	}
	return err
}

// checkSelect checks Select as far as possible without a table.
func (p *pager) checkSelect() *api.Error {
	mode := p.req.Select.Value
	switch {
	case mode == selectSpecific && p.Selection == nil:
		return api.Invalid("Must specify the AttributesToGet or ProjectionExpression when choosing to get SPECIFIC_ATTRIBUTES")
	case mode != "" && mode != selectSpecific && p.Selection != nil:
		return api.Invalid("Cannot specify the %s when choosing to get %s", p.Selection.Origin, selectText(mode))
	case mode == selectProjected && !p.req.IndexName.Set: // a scan gets the same error
		return api.Invalid("ALL_PROJECTED_ATTRIBUTES can be used only when Querying using an IndexName")
	}
	return nil
}

func selectText(mode string) string {
	if mode == selectCount {
		return "only the Count"
	}
	return mode
}

// open finds the table and the index, and checks the request against them.
func (p *pager) open(e *Engine) *api.Error {
	t, err := e.tableNamed(p.req.TableName.Value)
	if err != nil {
		return err
	}

	p.table = t
	if e.throughput != nil {
		p.tally = &tally{}
	}

	if err := t.def.CheckScalars(p.Nested()); err != nil {
		return err
	}

	if !p.req.IndexName.Set {
		p.look(e)
		return nil
	}

	if p.index = t.index(p.req.IndexName.Value); p.index == nil {
		return api.Invalid("The table does not have the specified index: %s", p.req.IndexName.Value)
	}
	if !p.index.Local && p.req.ConsistentRead {
		return api.Invalid("Consistent reads are not supported on global secondary indexes")
	}

	p.look(e)
	return p.checkProjected()
}

// checkProjected checks that an index has the attributes asked for. A local
// index fetches missing ones from the table; a global one cannot.
func (p *pager) checkProjected() *api.Error {
	x := p.index
	if p.req.Select.Value == selectAll && !x.All {
		if !x.Local {
			return api.InvalidParameter("Select type ALL_ATTRIBUTES is not supported for global secondary index %s because its projection type is not ALL", x.Name)
		}
		p.whole = true
	}

	if p.Selection == nil {
		return nil
	}

	lacks := slices.DeleteFunc(slices.Clone(p.Selection.Heads()), x.Holds)
	switch {
	case len(lacks) == 0:
	case x.Local:
		p.whole = true
	default:
		return api.InvalidParameter("Global secondary index %s does not project [%s]", x.Name, strings.Join(lacks, ", "))
	}

	return nil
}

// schema returns the key in whose order the page is read.
func (p *pager) schema() *keys.Schema {
	if p.index != nil {
		return &p.index.Key
	}
	return &p.table.key
}

// look chooses the version of the data that the reader sees.
func (p *pager) look(e *Engine) {
	switch {
	case !p.req.ConsistentRead:
		p.base, p.data = e.views(p.table, p.index)
	case p.index != nil:
		p.base, p.data = &p.table.items, p.index.items
	default:
		p.base, p.data = &p.table.items, &p.table.items
	}
}

// keyNames lists the attributes of a start key: the table's and the index's.
func (p *pager) keyNames() []string {
	names := keys.Names(p.table.key.Parts())
	if p.index != nil {
		for _, part := range p.index.Key.Parts() {
			if !slices.Contains(names, part.Name) {
				names = append(names, part.Name)
			}
		}
	}
	return names
}

var errStartKey = api.Invalid("The provided starting key is invalid: The provided key element does not match the schema")

// start returns the key in the tree for ExclusiveStartKey, or "" without one.
// The item need not exist any more.
func (p *pager) start() (string, *api.Error) {
	given := p.req.StartKey
	if !given.Set {
		return "", nil
	}
	if len(given.Map) != len(p.keyNames()) {
		return "", errStartKey
	}

	base, ok := p.table.key.Key(given.Map)
	if !ok {
		return "", errStartKey
	}
	if err := p.table.key.CheckItem(given.Map); err != nil {
		return "", api.Invalid("The provided starting key is invalid: %s", err.Message)
	}
	if p.index == nil {
		return string(base), nil
	}

	key, entry := p.index.entry(&record{item: given.Map})
	if entry == nil {
		return "", errStartKey
	}

	return key, nil
}

// within returns the entries with from ≤ key < to, in the direction of reading, and only
// those behind start, which is empty or lies within these bounds. Forward, an empty to is
// the end.
func (p *pager) within(from, to, start string, forward bool) iter.Seq2[string, *record] {
	return func(yield func(string, *record) bool) {
		if forward {
			if start != "" {
				from = start + "\x00" // the next string after start
			}
			for key, rec := range p.data.Ascend(from) {
				if to != "" && key >= to || !yield(key, rec) {
					return
				}
			}
			return
		}

		if start != "" {
			to = start // Descend leaves its bound out
		}

		for key, rec := range p.data.Descend(to) {
			if key < from || !yield(key, rec) {
				return
			}
		}
	}
}

// read takes entries until the page is full. It does not filter them: that can
// take long, and records never change, so filtering needs no lock.
func (p *pager) read(entries iter.Seq2[string, *record]) page {
	var out page
	limit := int(p.req.Limit.Or(0))
	fetched := capacity.Units{}
	at := capacity.RateOf(p.req.ConsistentRead)

	for _, rec := range entries {
		out.scanned++
		out.bytes += rec.size
		if p.tally != nil {
			p.tally.count(p.schema(), rec)
		}

		if p.whole {
			key, _ := p.table.key.Key(rec.item)
			rec, _ = p.base.Get(string(key))
			fetched.Add(at.Cost(rec.size))
		}

		if p.records == nil {
			p.records = make([]*record, 0, usualPage)
		}

		p.records = append(p.records, rec)
		if out.scanned == limit || out.bytes >= pageBytes {
			out.last = rec.item.Pick(p.keyNames()...)
			break
		}
	}

	out.cost = p.cost(at.Cost(out.bytes), fetched)
	if p.tally != nil {
		p.tally.close(p.demand(out.cost.Sum()))
	}

	return out
}

// judge removes the records that do not meet the filter. No lock is held.
func (p *pager) judge() {
	if p.Filter != nil {
		p.records = slices.DeleteFunc(p.records, func(rec *record) bool { return !p.Filter.Match(rec.item) })
	}
}

// writeItems writes the records with the attributes to show.
func (p *pager) writeItems(w *api.Writer) {
	w.Array("Items", func() {
		for _, rec := range p.records {
			item := rec.item
			if p.Selection != nil {
				item = p.Selection.Apply(item)
			}
			w.ItemElement(item)
		}
	})
}

// cost assigns the units of a page: read to the table or the index that was read,
// and fetched to the table, for the items behind the entries of a local index.
func (p *pager) cost(read, fetched capacity.Units) capacity.Consumed {
	c := capacity.Consumed{Table: p.table.name, Base: fetched}
	if p.index == nil {
		c.Base.Add(read)
		return c
	}
	c.Indexes = []capacity.IndexUnits{{Index: p.index.Name, Local: p.index.Local, Units: read}}
	return c
}

// reply returns the reply to Query and Scan.
func (p *pager) reply(call *Call, pg page) reply {
	call.Cost = capacity.Cost{pg.cost}
	report := capacity.ReportOf(p.req.ReturnCapacity, call.Cost)
	p.judge()

	return func(w *api.Writer) {
		if p.req.Select.Value != selectCount {
			if p.Filter == nil && p.Selection == nil {
				w.Grow(pg.bytes + len(p.records)*wireBytes)
			}
			p.writeItems(w)
		}
		w.Int("Count", int64(len(p.records)))
		w.Int("ScannedCount", int64(pg.scanned))
		if pg.last != nil {
			w.Item("LastEvaluatedKey", pg.last)
		}
		report.WriteOne(w)
	}
}

// admitPage admits the page that a pager has read.
func (e *Engine) admitPage(p *pager) *api.Error {
	if p.tally == nil {
		return nil
	}
	return e.throughput.Admit(p.tally.demands)
}

// demand returns the demand of a page, without a partition. A local index is part
// of its table.
func (p *pager) demand(u capacity.Units) throughput.Demand {
	d := throughput.Demand{Table: &p.table.def, Units: u}
	if p.index != nil && !p.index.Local {
		d.Index = &p.index.Index
	}
	return d
}
