package engine

import (
	"context"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
)

// Hooks stand around every operation: here a server injects its faults and
// reads what calls cost. No lock is held while they run, so they may wait.
type Hooks interface {
	// Before is called with a request that is well-formed, before anything is
	// looked at. An error becomes the reply, and nothing happens.
	Before(ctx context.Context, call *Call) *api.Error

	// After is called when the request has taken effect or was refused, before
	// the reply leaves. An error takes the place of the reply.
	After(ctx context.Context, call *Call) *api.Error
}

// A Call is one request on its way through the engine.
type Call struct {
	Operation string
	Targets   []Target // filled for Hooks only
	past      bool     // no Hooks are to see it
	body      []byte   // the request

	// Refuse may be filled by Before, with one element for each target of a
	// batch: those that come back unprocessed.
	Refuse []bool
	// Late may be set by Before, for After to return.
	Late *api.Error

	// What follows is known after the operation.

	Cost Cost
	Err  *api.Error
}

// A Target is something that a request reads or writes.
type Target struct {
	Table string
	Index string   // of a Query or a Scan of an index
	Key   attr.Map // of an item; nil for a Query, a Scan and whole tables
}

// refuses tells whether the i-th target of a batch shall come back unprocessed.
func (c *Call) refuses(i int) bool { return i < len(c.Refuse) && c.Refuse[i] }

// targets lists what a request is about, in the order of the request.
func (e *Engine) targets(req api.Request) []Target {
	switch r := req.(type) {
	case *api.PutItem:
		return []Target{e.itemTarget(r.TableName.Value, r.Item.Map)}
	case *api.UpdateItem:
		return []Target{{Table: api.TableNameOf(r.TableName.Value), Key: r.Key.Map}}
	case *api.DeleteItem:
		return []Target{{Table: api.TableNameOf(r.TableName.Value), Key: r.Key.Map}}
	case *api.GetItem:
		return []Target{{Table: api.TableNameOf(r.TableName.Value), Key: r.Key.Map}}
	case *api.Query:
		return []Target{{Table: api.TableNameOf(r.TableName.Value), Index: r.IndexName.Value}}
	case *api.Scan:
		return []Target{{Table: api.TableNameOf(r.TableName.Value), Index: r.IndexName.Value}}
	case *api.BatchGetItem, *api.BatchWriteItem, *api.TransactWriteItems, *api.TransactGetItems:
		return e.manyTargets(req)
	case *api.ExecuteStatement:
		return e.statementTargets(r.Statement)
	case *api.BatchExecuteStatement:
		return e.statementTargets(r.Statements...)
	case *api.ExecuteTransaction:
		return e.statementTargets(r.Statements...)
	case interface{ Table() string }:
		return []Target{{Table: r.Table()}}
	}
	return nil
}

func (e *Engine) manyTargets(req api.Request) []Target {
	var out []Target
	add := func(table string, key attr.Map) {
		out = append(out, Target{Table: api.TableNameOf(table), Key: key})
	}
	switch r := req.(type) {
	case *api.BatchGetItem:
		for _, t := range r.Tables {
			for _, key := range t.Keys {
				add(t.Table, key.Map)
			}
		}
	case *api.BatchWriteItem:
		for _, t := range r.Tables {
			for _, w := range t.Writes {
				if w.Put != nil {
					out = append(out, e.itemTarget(t.Table, w.Put.Item.Map))
				} else {
					add(t.Table, w.Delete.Key.Map)
				}
			}
		}
	case *api.TransactGetItems:
		for _, g := range r.Gets {
			add(g.TableName.Value, g.Key.Map)
		}
	case *api.TransactWriteItems:
		for i := range r.Actions {
			a := &r.Actions[i]
			if a.Kind == api.Put {
				out = append(out, e.itemTarget(a.TableName.Value, a.Item.Map))
			} else {
				add(a.TableName.Value, a.Key.Map)
			}
		}
	}
	return out
}

// itemTarget names an item by the key attributes in it.
func (e *Engine) itemTarget(tableName string, item attr.Map) Target {
	target := Target{Table: api.TableNameOf(tableName)}
	e.mu.RLock()
	defer e.mu.RUnlock()
	if t := e.tables[target.Table]; t != nil {
		target.Key = t.key.pick(item)
	}
	return target
}
