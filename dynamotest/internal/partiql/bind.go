package partiql

import (
	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/expr"
)

// A Bound is a statement whose parameters are filled in.
type Bound struct {
	*Statement
	Where      *Where // nil without one
	parameters []attr.Value
}

// Bind fills in the parameters. Surplus parameters are ignored. The error may
// also be a part of the statement that DynamoDB does not support.
func (s *Statement) Bind(parameters []attr.Value) (*Bound, error) {
	if s.refused != nil {
		return nil, s.refused
	}
	if len(parameters) < s.parameters {
		return nil, invalid(textParameters)
	}

	b := &Bound{Statement: s, parameters: parameters}
	if s.where != nil {
		b.Where = &Where{root: s.where.bind(parameters)}
	}

	for _, a := range s.actions {
		if v := a.value.bind(parameters); a.notASet != nil && !v.value.Kind().Set() {
			return nil, a.notASet
		}
	}
	return b, nil
}

// Item returns the item of an INSERT.
func (b *Bound) Item() attr.Map {
	fields := make([]attr.Field, len(b.item))
	for i := range b.item {
		v := b.item[i].value.bind(b.parameters)
		fields[i] = attr.Field{Name: b.item[i].name, Value: v.value}
	}
	return attr.NewMap(fields...)
}

// Change returns what an UPDATE does to its item.
func (b *Bound) Change() (*expr.Change, error) {
	actions := make([]expr.Action, len(b.actions))
	for i, a := range b.actions {
		v := a.value.bind(b.parameters)
		switch a.verb {
		case verbSet:
			actions[i] = expr.SetTo(a.path, v.expr())
		case verbRemove:
			actions[i] = expr.RemoveAt(a.path)
		case verbAdd:
			actions[i] = expr.AddTo(a.path, v.value)
		case verbDelete:
			actions[i] = expr.DeleteFrom(a.path, v.value)
		}
	}

	return expr.NewChange(actions...)
}

// Selection returns the columns of a SELECT, nil for all attributes.
func (b *Bound) Selection() (*expr.Selection, error) {
	if len(b.Columns) == 0 {
		return nil, nil
	}
	return expr.NewColumns(b.Columns...)
}

// An Ordering is the order in which a SELECT reads.
type Ordering struct {
	ByHash         bool // partitions are read in the order of their keys
	HashDescending bool // or in the reverse of it
	SortDescending bool // items are read in the reverse order of their sort keys
}

// Order checks ORDER BY against the key in whose order a SELECT reads, and
// against the number of partitions that it reads.
func (b *Bound) Order(hash, sort string, partitions int) (Ordering, error) {
	if len(b.OrderBy) == 0 {
		return Ordering{}, nil
	}
	if b.Where == nil {
		return Ordering{}, invalid(textOrderNoWhere)
	}

	// DynamoDB reads backwards unless ORDER BY asks for rising sort keys.
	o := Ordering{SortDescending: true}
	for _, by := range b.OrderBy {
		switch {
		case by.Name == hash:
			o.ByHash, o.HashDescending = true, by.Descending
		case by.Name == sort:
			o.SortDescending = by.Descending
		default:
			return Ordering{}, invalid("Attribute %s in ORDER BY clause must be part of the primary key", by.Name)
		}
	}

	switch {
	case partitions == 0:
		return Ordering{}, invalid(textOrderNoHash)
	case partitions > 1 && !o.ByHash:
		return Ordering{}, invalid(textOrderByHash)
	}
	return o, nil
}
