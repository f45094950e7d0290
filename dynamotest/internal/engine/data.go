package engine

import (
	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/catalog"
	"github.com/homeops/ddbpatterns/dynamotest/internal/tree"
)

// A record is one stored version of an item. It is never changed.
type record struct {
	item attr.Map
	size int
}

func newRecord(item attr.Map) *record { return &record{item: item, size: item.Size()} }

// data are records in the order of their keys.
type data struct {
	tree.Tree[*record]
	bytes int64
}

// put replaces the record under key. A nil record removes it.
func (d *data) put(key string, rec *record) {
	var old *record
	if rec != nil {
		old, _ = d.Set(key, rec)
		d.bytes += int64(rec.size)
	} else {
		old, _ = d.Delete(key)
	}
	if old != nil {
		d.bytes -= int64(old.size)
	}
}

func (d *data) clone() data { return data{Tree: *d.Tree.Clone(), bytes: d.bytes} }

func (d *data) held() catalog.Held { return catalog.Held{Items: d.Len(), Bytes: d.bytes} }

func itemOf(rec *record) attr.Map {
	if rec == nil {
		return nil
	}
	return rec.item
}

func sizeOf(rec *record) int {
	if rec == nil {
		return 0
	}
	return rec.size
}

// Entries are weighed roughly by the bytes of items, so that a file can be
// compared with the present state.
const entryWeight = 100

func weight(rec *record) int64 { return int64(entryWeight + sizeOf(rec)) }

// bodyWeight returns the weight of a request for a table, or of its definition,
// by its bytes.
func bodyWeight(bytes int) int64 { return int64(entryWeight + bytes) }
