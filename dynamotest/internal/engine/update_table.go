package engine

import (
	"slices"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/catalog"
)

func (e *Engine) updateTable(call *Call, req *api.UpdateTable) (reply, *api.Error) {
	if err := catalog.CheckUpdate(req); err != nil {
		return nil, err
	}
	t, b := e.startBuild(req)
	if b != nil {
		defer e.endBuild(t, b)
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
		if !slices.Contains(t.builds, b) { // the table was replaced meanwhile
			b = newBuild(t.items.clone(), *t.def.Index(made.Name))
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

// startBuild begins to build the index that a request makes. It returns no build if
// the request makes no index, or will be refused.
func (e *Engine) startBuild(req *api.UpdateTable) (*table, *build) {
	made := catalog.Created(req)
	if made == nil {
		return nil, nil
	}

	e.mu.Lock()
	defer e.mu.Unlock()
	t, def, err := e.judgeUpdate(req)
	if err != nil {
		return nil, nil
	}

	b := newBuild(t.items.clone(), *def.Index(made.Name))
	t.builds = append(t.builds, b)
	return t, b
}

// few is how many changes a build may catch up with while others wait. rounds
// is how often it tries to come down to that, because new changes may come as
// fast.
const (
	few    = 100
	rounds = 20
)

// catchUp applies most of the missed changes, while others go on.
func (e *Engine) catchUp(b *build) {
	for range rounds {
		e.mu.Lock()
		missed := b.missed
		if len(missed) > few {
			b.missed = nil
		}
		e.mu.Unlock()
		if len(missed) <= few {
			return
		}
		b.makeUp(missed)
	}
}

// endBuild removes the build from its table.
func (e *Engine) endBuild(t *table, b *build) {
	e.mu.Lock()
	defer e.mu.Unlock()
	t.builds = slices.DeleteFunc(t.builds, func(other *build) bool { return other == b })
}
