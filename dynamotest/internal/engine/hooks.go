package engine

import (
	"context"
	"strings"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/partiql"
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
	encoded   []byte   // the request, as the journal tells of it; see encode

	// Refuse may be filled by Before, with one element for each target of a
	// batch: those that come back unprocessed.
	Refuse []bool
	// Errors may be filled by Before, with one element for each statement of a
	// batch: what it meets instead of being performed, or nil.
	Errors []*api.Error
	// Late may be set by Before, for After to return.
	Late *api.Error
	// Refused may be set by Before, for After to call when the request was
	// refused, with the reason.
	Refused func(why *api.Error)

	// What follows is known after the operation.

	Cost Cost
	Err  *api.Error
}

// A Target is something that a request reads or writes. A PartiQL statement is
// one, even when it is none that can be understood.
type Target struct {
	Table string
	Index string // of a Query, a Scan or a SELECT of an index
	// Key is that of an item; nil for a Query, a Scan and whole tables. Of a
	// statement it is what WHERE says of it by equality.
	Key  attr.Map
	Read bool // of what only reads items
}

// refuses tells whether the i-th target of a batch shall come back unprocessed.
func (c *Call) refuses(i int) bool { return i < len(c.Refuse) && c.Refuse[i] }

// fails returns what the i-th statement of a batch shall meet.
func (c *Call) fails(i int) *api.Error {
	if i < len(c.Errors) {
		return c.Errors[i]
	}
	return nil
}

// targets lists what a request is about, in the order of the request.
func (e *Engine) targets(req api.Request) []Target {
	l := lister{keys: e.KeyNames}
	l.list(req)
	return l.targets
}

// TargetsOf lists what a request to any backend is about. It asks which
// attributes the key of a table has; where that is not known, which is no name,
// an item stands for its key, and nothing is known of statements. A request that
// cannot be understood is about nothing.
func TargetsOf(operation string, body []byte, keys func(table string) []string) []Target {
	op := api.OperationNamed(operation)
	if op == nil {
		return nil
	}
	req := op.New()
	if api.Decode(body, req) != nil {
		return nil
	}
	l := lister{keys: keys}
	l.list(req)
	return l.targets
}

// KeyNames returns the names of a table's key attributes, or none when there is
// no such table.
func (e *Engine) KeyNames(table string) []string {
	names, _ := e.primaryKey(table)
	return names
}

// KeyKinds returns the types of a table's key attributes, or none when there is
// no such table.
func (e *Engine) KeyKinds(table string) map[string]attr.Kind {
	e.mu.RLock()
	defer e.mu.RUnlock()
	t := e.tables[table]
	if t == nil {
		return nil
	}
	kinds := map[string]attr.Kind{}
	for _, part := range t.key.parts() {
		kinds[part.name] = part.kind
	}
	return kinds
}

// A lister lists targets.
type lister struct {
	keys    func(table string) []string
	targets []Target
}

func (l *lister) list(req api.Request) {
	switch r := req.(type) {
	case *api.PutItem:
		l.item(r.TableName.Value, r.Item.Map)
	case *api.UpdateItem:
		l.key(r.TableName.Value, r.Key.Map, false)
	case *api.DeleteItem:
		l.key(r.TableName.Value, r.Key.Map, false)
	case *api.GetItem:
		l.key(r.TableName.Value, r.Key.Map, true)
	case *api.Query:
		l.page(&r.Page)
	case *api.Scan:
		l.page(&r.Page)
	case *api.BatchGetItem, *api.BatchWriteItem, *api.TransactWriteItems, *api.TransactGetItems:
		l.several(req)
	case *api.ExecuteStatement:
		l.statements(r.Statement)
	case *api.BatchExecuteStatement:
		l.statements(r.Statements...)
	case *api.ExecuteTransaction:
		l.statements(r.Statements...)
	case interface{ Table() string }:
		l.table(r.Table())
	default:
		l.table(tableWithin(resourceOf(req)))
	}
}

// resourceOf is what names the table of a request about tags or a stream.
func resourceOf(req api.Request) string {
	switch r := req.(type) {
	case *api.TagResource:
		return r.Resource.Value
	case *api.UntagResource:
		return r.Resource.Value
	case *api.ListTagsOfResource:
		return r.Resource.Value
	case *api.ListStreams:
		return r.TableName.Value
	case *api.DescribeStream:
		return r.Stream.Value
	case *api.GetShardIterator:
		return r.Stream.Value
	case *api.GetRecords:
		return r.Iterator.Value
	}
	return ""
}

// tableWithin returns the table that a name or an ARN is about: that of a table,
// of its stream, or of a place in its stream, which clients are not to look into
// and which has the ARN in it on AWS, too.
func tableWithin(s string) string {
	name, _, _ := strings.Cut(api.TableNameOf(s), "/")
	return name
}

// table adds a table as a whole.
func (l *lister) table(name string) {
	if name != "" {
		l.targets = append(l.targets, Target{Table: name})
	}
}

func (l *lister) several(req api.Request) {
	switch r := req.(type) {
	case *api.BatchGetItem:
		for _, t := range r.Tables {
			for _, key := range t.Keys {
				l.key(t.Table, key.Map, true)
			}
		}
	case *api.BatchWriteItem:
		for _, t := range r.Tables {
			for _, w := range t.Writes {
				if w.Put != nil {
					l.item(t.Table, w.Put.Item.Map)
				} else {
					l.key(t.Table, w.Delete.Key.Map, false)
				}
			}
		}
	case *api.TransactGetItems:
		for _, g := range r.Gets {
			l.key(g.TableName.Value, g.Key.Map, true)
		}
	case *api.TransactWriteItems:
		for i := range r.Actions {
			a := &r.Actions[i]
			if a.Kind == api.Put {
				l.item(a.TableName.Value, a.Item.Map)
			} else {
				l.key(a.TableName.Value, a.Key.Map, false)
			}
		}
	}
}

func (l *lister) key(table string, key attr.Map, read bool) {
	l.targets = append(l.targets, Target{Table: api.TableNameOf(table), Key: key, Read: read})
}

func (l *lister) page(p *api.Page) {
	l.targets = append(l.targets, Target{Table: api.TableNameOf(p.TableName.Value), Index: p.IndexName.Value, Read: true})
}

// item names an item by the key attributes in it.
func (l *lister) item(table string, item attr.Map) {
	if names := l.keys(table); names != nil {
		item = item.Pick(names...)
	}
	l.key(table, item, false)
}

// statements name their items by what stands in WHERE, or in the new item.
func (l *lister) statements(list ...api.Statement) {
	for i := range list {
		b, err := bindStatement(&list[i])
		if err != nil {
			l.targets = append(l.targets, Target{})
			continue
		}
		if b.Kind == partiql.Insert {
			l.item(b.Table, b.Item())
			continue
		}
		target := Target{Table: api.TableNameOf(b.Table), Index: b.Index, Read: !b.Kind.Writes()}
		if b.Index == "" {
			for _, name := range l.keys(b.Table) {
				if part, _, err := b.Where.Key([]string{name}); err == nil {
					target.Key = target.Key.With(name, part[0].Value)
				}
			}
		}
		l.targets = append(l.targets, target)
	}
}
