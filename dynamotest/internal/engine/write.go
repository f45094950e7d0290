package engine

import (
	"cmp"
	"time"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/bind"
	"github.com/homeops/ddbpatterns/dynamotest/internal/capacity"
	"github.com/homeops/ddbpatterns/dynamotest/internal/latch"
	"github.com/homeops/ddbpatterns/dynamotest/internal/stream"
)

// A write is the part of a request for one item, with its expressions bound.
type write struct {
	kind  api.ActionKind
	req   *api.Write
	table string
	size  int  // of a put's item
	entry bool // of a batch
	bind.Bound
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

// A change is the effect of a write on a table. Evaluating the write makes the
// change, and commit applies it.
type change struct {
	table    *table
	indexes  []*index // of the table
	key      string
	old, new *record // nil without an item
	entries  []entryChange
	cost     capacity.Consumed
	nested   *api.Error // of an update's path into a key, reported if the condition is met
	expired  bool       // the item was deleted by TTL, not by a request

	journalled bool   // a journal exists
	encoded    []byte // the journal entry of the change
}

// An entryChange is the effect of a change on one index. If the key stays the
// same, the entry is replaced. A nil record means no entry.
type entryChange struct {
	index          *index
	oldKey, newKey string
	old, new       *record
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
	if w.Change != nil {
		c.nested = t.def.CheckScalars(w.Change.Nested())
	}
	if w.Condition != nil {
		err = t.def.CheckScalars(w.Condition.Nested())
	}
	return c, err
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

func (c *change) id() latch.ID { return latch.ID{Table: c.table.name, Key: c.key} }

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

func itemOf(rec *record) attr.Map {
	if rec == nil {
		return nil
	}
	return rec.item
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
	if older := w.req.Legacy; err == nil || w.kind != api.Update || older != nil && older.Updates.Set {
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

// planEntries works out the effect of the change on the indexes.
func (c *change) planEntries() {
	if c.old == c.new || len(c.indexes) == 0 {
		return
	}
	c.entries = make([]entryChange, 0, len(c.indexes))
	for _, x := range c.indexes {
		en := entryChange{index: x}
		en.oldKey, en.old = x.entry(c.old)
		en.newKey, en.new = x.entry(c.new)
		if en.old != nil || en.new != nil {
			c.entries = append(c.entries, en)
		}
	}
}

// price works out the cost of the change. A refused write costs the same for
// the table as one that succeeds, and nothing for the indexes.
func (c *change) price() {
	c.cost = capacity.Consumed{Table: c.table.name, Base: capacity.WriteCost(max(sizeOf(c.old), sizeOf(c.new)))}
	for _, en := range c.entries {
		if u := en.cost(); u.Write > 0 {
			c.cost.Indexes = append(c.cost.Indexes, capacity.IndexUnits{Index: en.index.Name, Local: en.index.Local, Units: u})
		}
	}
}

// cost returns the units of an index: one entry if it is added, removed or
// changed in place, two if its key changes, zero if it stays equal.
func (en *entryChange) cost() capacity.Units {
	switch {
	case en.old == nil:
		return capacity.WriteCost(en.new.size)
	case en.new == nil:
		return capacity.WriteCost(en.old.size)
	case en.oldKey != en.newKey:
		u := capacity.WriteCost(en.old.size)
		u.Add(capacity.WriteCost(en.new.size))
		return u
	case en.old.item.Equal(en.new.item):
		return capacity.Units{}
	}
	return capacity.WriteCost(max(en.old.size, en.new.size))
}

// commit applies a change.
func (c *change) commit(at time.Time) {
	if c.old == nil && c.new == nil || c.old == c.new {
		return
	}
	c.table.items.put(c.key, c.new)
	for _, b := range c.table.builds {
		b.miss(c)
	}
	for _, en := range c.entries {
		if en.old != nil && (en.new == nil || en.oldKey != en.newKey) {
			en.index.items.put(en.oldKey, nil)
		}
		if en.new != nil {
			en.index.items.put(en.newKey, en.new)
		}
	}
	c.table.stream.Add(stream.Change{Old: itemOf(c.old), New: itemOf(c.new), Expired: c.expired}, at)
}

// apply plans and commits one write.
func (e *Engine) apply(w *write) (change, *api.Error) {
	for {
		if c, done, err := e.tryApply(w); done {
			return c, err
		}
	}
}

// tryApply is done unless something changed between plan and commit.
func (e *Engine) tryApply(w *write) (c change, done bool, err *api.Error) {
	e.mu.RLock()
	c, err = e.locate(w)
	e.mu.RUnlock()
	if err != nil {
		return c, true, err
	}
	held := e.latches.HoldOne(c.id())
	defer e.latches.Release(c.id(), held)
	e.read(&c)
	err = c.evaluate(w)

	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.current(&c) {
		return c, false, nil
	}
	if throttled := e.admitWrite(w, &c); throttled != nil {
		return change{}, true, throttled
	}
	if err == nil {
		e.commit(e.now(), []*change{&c})
	}
	return c, true, err
}

// commit applies changes that take effect together, at the given time.
func (e *Engine) commit(at time.Time, changes []*change) {
	for _, c := range changes {
		e.keepPast(c.table, at)
		c.commit(at)
	}
	if e.journal != nil && len(changes) > 0 {
		e.logChanges(at, changes)
	}
}

func pointers(changes []change) []*change {
	out := make([]*change, len(changes))
	for i := range changes {
		out[i] = &changes[i]
	}
	return out
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
