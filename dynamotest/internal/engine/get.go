package engine

import (
	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/capacity"
)

func (e *Engine) getItem(call *Call, req *api.GetItem) (reply, *api.Error) {
	r, err := prepareRead(&req.Get)
	if err != nil {
		return nil, err
	}
	r.late = !req.ConsistentRead
	e.mu.RLock()
	t, rec, err := e.get(r)
	e.mu.RUnlock()
	if err != nil {
		return nil, err
	}
	cost := capacity.RateOf(req.ConsistentRead).Cost(sizeOf(rec))
	if err := e.admitRead(r, t, cost); err != nil {
		return nil, err
	}
	call.Cost = capacity.Cost{{Table: t.name, Base: cost}}
	report := capacity.ReportOf(req.ReturnCapacity, call.Cost)
	return func(w *api.Writer) {
		if rec != nil {
			w.Item("Item", r.shown(rec))
		}
		report.WriteOne(w)
	}, nil
}
