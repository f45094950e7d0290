package engine

import (
	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/catalog"
)

func (e *Engine) updateTable(call *Call, req *api.UpdateTable) (reply, *api.Error) {
	if err := catalog.CheckUpdate(req); err != nil {
		return nil, err
	}
	b := e.startBuild(req)
	defer e.endBuild(b)
	if b != nil {
		b.fill()
		e.catchUp(b)
	}
	return e.finishUpdate(call, req, b)
}

// finishUpdate checks a request and executes it, with the index that was built
// for it.
func (e *Engine) finishUpdate(call *Call, req *api.UpdateTable, b *build) (reply, *api.Error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	t, def, err := e.judgeUpdate(req)
	if err != nil {
		return nil, err
	}
	now := e.at(call)
	e.throughput.Settle(&t.def, t.def.Created, now)
	t.define(def.Billed(&t.def, now))
	if made := catalog.Created(req); made != nil {
		if b == nil || b.table != t { // the table was replaced meanwhile
			b = newBuild(t, *t.def.Index(made.Name))
			b.fill()
		}
		t.index(made.Name).items = b.finish()
		e.throughput.ForgetIndex(t.name, made.Name)
	}
	e.throughput.Settle(&t.def, now, now)
	e.changeStream(t, req.Stream, now)
	e.logRequest(call, now)
	return e.description("TableDescription", t, "ACTIVE"), nil
}

// judgeUpdate returns the table and its new definition.
func (e *Engine) judgeUpdate(req *api.UpdateTable) (*table, catalog.Table, *api.Error) {
	t, err := e.wholeTable(req.TableName.Value)
	if err != nil {
		return nil, catalog.Table{}, err
	}
	def, err := t.def.Updated(req, t.stream.Open())
	return t, def, err
}
