package engine

import (
	"slices"
	"strings"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/bind"
	"github.com/homeops/ddbpatterns/dynamotest/internal/expr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/keys"
)

func (e *Engine) query(call *Call, req *api.Query) (reply, *api.Error) {
	p := pager{req: &req.Page}
	src := bind.Sources{
		Keys: req.KeyCondition, Filter: req.Filter, Projection: req.Projection,
		Valued: ": FilterExpression and KeyConditionExpression are null",
	}
	if err := p.bind(&src); err != nil {
		return nil, err
	}
	if p.Keys == nil {
		return nil, api.Invalid("Either the KeyConditions or KeyConditionExpression parameter must be specified in the request.")
	}
	if err := p.checkSelect(); err != nil {
		return nil, err
	}

	pg, err := e.queryPage(&p, req.Forward.Or(true))
	if err != nil {
		return nil, err
	}

	return p.reply(call, pg), nil
}

func (e *Engine) queryPage(p *pager, forward bool) (page, *api.Error) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	if err := p.open(e); err != nil {
		return page{}, err
	}

	query, err := p.resolve()
	if err != nil {
		return page{}, err
	}

	from, to := bounds(query)
	start, err := p.start()
	if err != nil {
		return page{}, err
	}
	if start != "" && p.single() {
		return page{}, errRestarted(p.req.StartKey.Map)
	}
	if start != "" && (start < from || start >= to) {
		return page{}, api.Invalid("The provided starting key is outside query boundaries based on provided conditions")
	}

	if p.tally != nil {
		p.tally.hash = query.Hash
	}

	pg := p.read(p.within(from, to, start, forward))
	if p.single() {
		pg.last = nil
	}

	return pg, e.admitPage(p)
}

// single reports whether a partition has only one item. Nothing follows it, so a
// query cannot go on.
func (p *pager) single() bool { return p.index == nil && len(p.table.key.Range) == 0 }

// errRestarted returns the error of a start key in a query of one item.
func errRestarted(key attr.Map) *api.Error {
	return api.Invalid("The provided exclusive start key is invalid: ExclusiveStartKey: {%s=AttributeValue: {%s:%s}}",
		key[0].Name, key[0].Value.Kind(), key[0].Value.Str())
}

// resolve checks the key condition against the key of the table or index.
func (p *pager) resolve() (*expr.KeyQuery, *api.Error) {
	schema := p.schema()
	query, err := p.Keys.Resolve(keys.Names(schema.Hash), keys.Names(schema.Range))
	if err != nil {
		return nil, api.Wrong(err)
	}
	if err := checkOperands(schema, query); err != nil {
		return nil, err
	}
	return query, p.checkFilter(schema)
}

// checkOperands checks the values of a key condition against the key.
func checkOperands(schema *keys.Schema, query *expr.KeyQuery) *api.Error {
	for i, v := range query.Hash {
		if err := checkOperand(schema.Hash[i], v); err != nil {
			return err
		}
	}

	for i, v := range query.Equal {
		if err := checkOperand(schema.Range[i], v); err != nil {
			return err
		}
	}

	long := valueBytes(query.Equal...)
	if r := query.Range; r != nil {
		part := schema.Range[len(query.Equal)]
		if err := checkOperand(part, r.Value); err != nil {
			return err
		}
		if r.Op == expr.Between {
			if err := checkOperand(part, r.High); err != nil {
				return err
			}
		}
		long += max(valueBytes(r.Value), valueBytes(r.High))
	}

	return keys.CheckBytes(valueBytes(query.Hash...), long)
}

func valueBytes(values ...attr.Value) int {
	size := 0
	for _, v := range values {
		size += v.Size()
	}
	return size
}

// checkFilter refuses a filter on the key of the query, because the key
// condition does the same for less. It also refuses a filter on attributes that
// the index lacks.
func (p *pager) checkFilter(schema *keys.Schema) *api.Error {
	if p.Filter == nil {
		return nil
	}

	for _, name := range p.Filter.Heads() {
		if schema.Has(name) {
			filter := p.Filter.Origin()
			if filter == expr.FilterExpression {
				filter = "Filter Expression"
			}
			return api.Invalid("%s can only contain non-primary key attributes: Primary key attribute: %s", filter, name)
		}
	}

	if p.index == nil {
		return nil
	}

	lacks := slices.DeleteFunc(p.Filter.Heads(), p.index.Holds)
	if len(lacks) > 0 {
		slices.Sort(lacks)
		return api.InvalidParameter("Secondary index %s does not project one or more filter attributes: [%s]", p.index.Name, strings.Join(lacks, ", "))
	}

	return nil
}

func checkOperand(part keys.Part, v attr.Value) *api.Error {
	if v.Kind() != part.Kind {
		return api.InvalidParameter("Condition parameter type does not match schema type")
	}
	if part.Kind != attr.N && v.Str() == "" {
		return api.Invalid("One or more parameter values are not valid. The AttributeValue for a key attribute cannot contain an empty %s value. Key: %s", keys.KindName(part.Kind), part.Name)
	}
	return nil
}

// bounds returns the range of keys of the query: from ≤ key < to.
func bounds(q *expr.KeyQuery) (from, to string) {
	head := keys.Partition(q.Hash)
	for _, v := range q.Equal {
		head = attr.AppendKey(head, v)
	}

	from, to = string(head), keys.After(head)
	if q.Range == nil {
		return from, to
	}

	bound := func(v attr.Value) []byte { return attr.AppendKey(slices.Clip(head), v) }
	value := bound(q.Range.Value)
	switch q.Range.Op {
	case expr.Equal:
		from, to = string(value), keys.After(value)
	case expr.Less:
		to = string(value)
	case expr.LessOrEqual:
		to = keys.After(value)
	case expr.Greater:
		from = keys.After(value)
	case expr.GreaterOrEqual:
		from = string(value)
	case expr.Between:
		from, to = string(value), keys.After(bound(q.Range.High))
	case expr.BeginsWith:
		prefix := attr.AppendKeyPrefix(slices.Clip(head), q.Range.Value)
		from, to = string(prefix), keys.After(prefix)
	}

	return from, to
}
