package engine

import (
	"time"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/capacity"
	"github.com/homeops/ddbpatterns/dynamotest/internal/latch"
	"github.com/homeops/ddbpatterns/dynamotest/internal/stream"
)

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

func (c *change) id() latch.ID { return latch.ID{Table: c.table.name, Key: c.key} }

func (c *change) read() {
	c.old, _ = c.table.items.Get(c.key)
	c.indexes = c.table.indexes
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

// planUnchecked plans a change whose item is not checked against the indexes,
// because it may be older than one of them. An index that the item does not fit
// leaves it out, as it did when the index was made.
func (c *change) planUnchecked() {
	c.planEntries()
	for i := range c.entries {
		if en := &c.entries[i]; en.new != nil && en.index.CheckItem(c.new.item) != nil {
			en.newKey, en.new = "", nil
		}
	}
}

// price works out the cost of the change. A refused write costs the same for
// the table as one that succeeds, and nothing for the indexes.
func (c *change) price() {
	c.cost = capacity.Consumed{Table: c.table.name, Base: capacity.WriteCost(max(sizeOf(c.old), sizeOf(c.new)))}
	for i := range c.entries {
		en, u := &c.entries[i], capacity.Units{}
		for _, p := range en.parts() {
			u.Add(p.Units)
		}
		if u.Write > 0 {
			c.cost.Indexes = append(c.cost.Indexes, capacity.IndexUnits{Index: en.index.Name, Local: en.index.Local, Units: u})
		}
	}
}

// A part of a change of an entry is what one record costs.
type part struct {
	record *record
	capacity.Units
}

// parts returns what the change of an entry costs: one part if the entry is added,
// removed or changed in place, two if its key changes, none if it stays equal.
func (en *entryChange) parts() []part {
	switch {
	case en.old == nil:
		return []part{{en.new, capacity.WriteCost(en.new.size)}}
	case en.new == nil:
		return []part{{en.old, capacity.WriteCost(en.old.size)}}
	case en.oldKey != en.newKey:
		return []part{{en.old, capacity.WriteCost(en.old.size)}, {en.new, capacity.WriteCost(en.new.size)}}
	case en.old.item.Equal(en.new.item):
		return nil
	}
	return []part{{en.new, capacity.WriteCost(max(en.old.size, en.new.size))}}
}

// commit applies a change.
func (c *change) commit(at time.Time) {
	if c.old == nil && c.new == nil || c.old == c.new {
		return
	}

	c.table.items.put(c.key, c.new)
	for _, b := range c.table.builds {
		b.miss(c.old, c.new)
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

func pointers(changes []change) []*change {
	out := make([]*change, len(changes))
	for i := range changes {
		out[i] = &changes[i]
	}
	return out
}

// encode writes the journal entry of the change. Records never change, so it
// needs no lock.
func (c *change) encode() {
	var w api.Writer
	w.Element(func() { c.log(&w) })
	c.encoded = w.Buf
}

func (c *change) log(w *api.Writer) {
	w.Text("Table", c.table.name)
	if c.new != nil {
		w.Item("Put", c.new.item)
	} else if c.old != nil {
		w.Item("Delete", c.table.key.Pick(c.old.item))
	}
}

// collection returns the key of the item collection that a change modified. Only
// tables with local indexes have item collections. A condition check and a
// delete of a missing item modify nothing.
func (c *change) collection(asked api.Opt[string]) attr.Map {
	if asked.Value != "SIZE" || len(c.indexes) == 0 || !c.indexes[0].Local || c.old == c.new {
		return nil
	}
	item := itemOf(c.new)
	if item == nil {
		item = itemOf(c.old)
	}
	return item.Pick(c.table.key.Hash[0].Name)
}
