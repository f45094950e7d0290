package engine

import (
	"cmp"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/bind"
	"github.com/homeops/ddbpatterns/dynamotest/internal/expr"
)

// A write is the part of a request for one item, with its expressions bound.
type write struct {
	kind  api.ActionKind
	req   *api.Write
	table string
	size  int  // of a put's item
	entry bool // of a batch
	expr.Bound
}

// prepare does what is possible without the table. The key or the item is checked
// before the expressions, but after them if the write is an action of a transaction.
func prepare(kind api.ActionKind, req *api.Write, table string, together bool) (*write, *api.Error) {
	w := &write{kind: kind, req: req, table: table}
	src, valued := bind.Sources{Condition: req.Condition}, ": ConditionExpression is null"
	if kind == api.Update {
		src.Update, valued = req.Update, ": UpdateExpression and ConditionExpression are null"
	}

	if together {
		src.Valued = valued
	}

	wrong, err := w.named().Wrong(), src.Check(&req.Expressions)
	if err == nil && !together {
		err = wrong
	}

	if err == nil {
		w.Bound, err = src.Bind(&req.Expressions)
	}

	if err = cmp.Or(err, wrong); err != nil {
		return nil, api.ByRequest(err)
	}
	return w, w.tooLarge()
}

// named returns what names the item: its key, or the whole item for a put.
func (w *write) named() *api.Item {
	if w.kind == api.Put {
		return &w.req.Item
	}
	return &w.req.Key
}

var errCondition = &api.Error{Code: api.ConditionalCheckFailed, Message: "The conditional request failed"}

// locate finds the table of a write and checks the key that it names.
func (e *Engine) locate(w *write) (change, *api.Error) {
	t, err := e.tableNamed(w.table)
	if err != nil {
		return change{}, err
	}

	c := change{table: t, journalled: e.journal != nil}
	named := w.named().Map
	switch {
	case w.kind != api.Put:
		err = t.key.CheckKey(named)
	case w.entry:
		err = t.key.CheckEntry(named)
	default:
		err = t.key.CheckItem(named)
	}

	if err != nil {
		return c, err
	}

	key, _ := t.key.Key(named)
	c.key = string(key)
	c.nested = t.def.CheckScalars(w.Change.Nested())
	return c, t.def.CheckScalars(w.Condition.Nested())
}

// changesKey returns the error of an update that would change a key attribute.
func (w *write) changesKey(t *table) *api.Error {
	for _, name := range w.Change.Heads() {
		if t.key.Has(name) {
			return api.InvalidParameter("Cannot update attribute %s. This attribute is part of the key", name)
		}
	}
	return nil
}

// evaluate applies the write to the stored item: new image, condition, rules,
// price. The item of a put is checked before its condition, the result of an
// update after it. It needs no lock. After an error the change has the cost of
// the refusal.
func (c *change) evaluate(w *write) *api.Error {
	before := itemOf(c.old)
	after, err := w.image(c, before)
	if err == nil && after != nil {
		c.new = c.old
		if w.kind != api.ConditionCheck {
			c.new = w.record(after)
			err = w.checkImage(c)
		}
	}

	if err != nil && w.kind == api.Put {
		return err
	}

	if w.Condition != nil && !w.Condition.Match(before) {
		c.price()
		return w.failed(before)
	}

	if err != nil {
		return err
	}

	c.planEntries()
	c.price()
	if c.journalled && c.old != c.new {
		c.encode()
	}

	return nil
}

// image returns the item after a write, or nil if it does not exist then.
func (w *write) image(c *change, before attr.Map) (attr.Map, *api.Error) {
	switch w.kind {
	case api.Put:
		return w.req.Item.Map, nil
	case api.Delete:
		return nil, nil
	case api.ConditionCheck:
		return before, nil
	}

	if w.Change == nil {
		if before == nil {
			return w.req.Key.Map, nil
		}
		return before, nil
	}

	if err := cmp.Or(w.changesKey(c.table), c.nested); err != nil {
		return nil, err
	}

	var after attr.Map
	var err error
	if before == nil {
		after, err = w.Change.Create(w.req.Key.Map)
		if w.Change.Clears() {
			after = nil // the item does not exist, so nothing is removed
		}
	} else {
		after, err = w.Change.Apply(before)
	}

	if err != nil {
		return nil, api.Wrong(err)
	}
	return after, nil
}

// checkImage checks the item after a write.
func (w *write) checkImage(c *change) *api.Error {
	if c.new.size > maxItem {
		if w.kind == api.Put { // only for a statement: other puts are refused before
			return errItemSize
		}
		return errUpdateSize
	}

	err := checkIndexes(c.indexes, c.new.item)
	if err == nil || w.kind != api.Update || w.Change != nil && w.Change.Origin() == expr.AttributeUpdates {
		return err
	}

	for _, x := range c.indexes {
		if told := x.CheckUpdated(c.new.item); told != nil {
			return told
		}
	}
	return err
}

// failed returns the error of a condition that was not met.
func (w *write) failed(before attr.Map) *api.Error {
	if w.req.ReturnOnFailure.Value != "ALL_OLD" || before == nil {
		return errCondition
	}
	err := *errCondition
	err.Item = before
	return &err
}

// returned returns the attributes that ReturnValues asks for.
func (w *write) returned(c *change) attr.Map {
	switch w.req.ReturnValues.Value {
	case "ALL_OLD":
		return itemOf(c.old)
	case "ALL_NEW":
		return itemOf(c.new)
	case "UPDATED_OLD":
		if w.Change != nil {
			return w.Change.Old(itemOf(c.old))
		}
	case "UPDATED_NEW":
		if w.Change != nil {
			return w.Change.New(itemOf(c.new))
		}
	}
	return nil
}

// maxItem is the most bytes of an item.
const maxItem = 400 * 1024

// The errors of items and updates that are too large.
var (
	errItemSize   = api.OfWhole(api.Invalid("Item size has exceeded the maximum allowed size"))
	errUpdateSize = api.Invalid("Item size to update has exceeded the maximum allowed size")
	errUpdateSays = api.OfWhole(api.Invalid("%s", errUpdateSize.Message))
)

// tooLarge refuses a write that is too large for any stored item: by its item
// to put, or by its expression. A transaction is refused for it as a whole.
func (w *write) tooLarge() *api.Error {
	switch {
	case w.kind == api.Put:
		if w.size = w.req.Item.Size(); w.size > maxItem {
			return errItemSize
		}
	case w.req.Update.Set && w.Change.Charge() > maxItem:
		return errUpdateSays
	}
	return nil
}

// record returns the item after a write as a record.
func (w *write) record(after attr.Map) *record {
	if w.kind == api.Put {
		return &record{item: after, size: w.size}
	}
	return newRecord(after)
}
