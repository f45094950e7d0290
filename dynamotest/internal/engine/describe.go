package engine

import (
	"time"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/catalog"
)

// description returns a reply with one member, the description of a table. It
// is written at once, because the engine's mutex guards the table.
func (e *Engine) description(member string, t *table, status string) reply {
	var w api.Writer
	w.Open('{')
	t.describe(&w, status)
	w.Close('}')
	return func(out *api.Writer) {
		out.Key(member)
		out.Buf = append(out.Buf, w.Buf...)
	}
}

func (e *Engine) describeTimeToLive(call *Call, req *api.DescribeTimeToLive) (reply, *api.Error) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	t, err := e.wholeTable(req.TableName.Value)
	if err != nil {
		return nil, err
	}
	def := t.def // the reply is written after the mutex was released
	return def.DescribeTimeToLive, nil
}

func (e *Engine) updateTimeToLive(call *Call, req *api.UpdateTimeToLive) (reply, *api.Error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	t, err := e.wholeTable(req.TableName.Value)
	if err != nil {
		return nil, err
	}
	if t.def, err = t.def.Expiring(req); err != nil {
		return nil, err
	}

	e.logRequest(call, e.at(call))
	return func(w *api.Writer) {
		w.Object("TimeToLiveSpecification", func() {
			w.Text("AttributeName", req.Attribute.Value)
			w.Bool("Enabled", req.Enabled.Value)
		})
	}, nil
}

func (e *Engine) describeContinuousBackups(call *Call, req *api.DescribeContinuousBackups) (reply, *api.Error) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	t, err := e.backedUp(req.TableName.Value)
	if err != nil {
		return nil, err
	}
	return describedBackups(t.def, e.at(call)), nil
}

func (e *Engine) updateContinuousBackups(call *Call, req *api.UpdateContinuousBackups) (reply, *api.Error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	t, err := e.backedUp(req.TableName.Value)
	if err != nil {
		return nil, err
	}
	now := e.at(call)
	t.def = t.def.BackedUp(req, now)
	e.logRequest(call, now)
	return describedBackups(t.def, now), nil
}

func (e *Engine) backedUp(name string) (*table, *api.Error) {
	name = api.TableNameOf(name)
	if t := e.tables[name]; t != nil {
		return t, nil
	}
	return nil, &api.Error{Code: api.TableNotFound, Message: "Table not found: " + name}
}

func describedBackups(t catalog.Table, latest time.Time) reply {
	return func(w *api.Writer) { t.DescribeBackups(w, latest) }
}

func (e *Engine) describeLimits(*Call, *api.Nothing) (reply, *api.Error) {
	return func(w *api.Writer) {
		w.Int("AccountMaxReadCapacityUnits", 80000)
		w.Int("AccountMaxWriteCapacityUnits", 80000)
		w.Int("TableMaxReadCapacityUnits", 40000)
		w.Int("TableMaxWriteCapacityUnits", 40000)
	}, nil
}

func (e *Engine) describeEndpoints(*Call, *api.Nothing) (reply, *api.Error) {
	return func(w *api.Writer) {
		w.Array("Endpoints", func() {
			w.Element(func() {
				w.Text("Address", "dynamodb."+e.opt.Region+".amazonaws.com")
				w.Int("CachePeriodInMinutes", 1440)
			})
		})
	}, nil
}
