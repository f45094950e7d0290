// Package target finds the tables, indexes and items that requests read or
// write.
package target

import (
	"strings"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/bind"
	"github.com/homeops/ddbpatterns/dynamotest/internal/partiql"
)

// A Target is something that a request reads or writes. A PartiQL statement is
// a target even if it is invalid.
type Target struct {
	Table string
	Index string // of a Query, a Scan or a SELECT of an index
	// Key is the key of an item; nil for a Query, a Scan and whole tables. For
	// a statement it has what WHERE says of the key by equality.
	Key  attr.Map
	Read bool // the request only reads items
}

// Decode returns a request of an operation, or nil if it is invalid.
func Decode(operation string, body []byte) api.Request {
	op := api.OperationNamed(operation)
	if op == nil {
		return nil
	}
	req := op.New()
	if api.Decode(body, req) != nil {
		return nil
	}
	return req
}

// Of lists what a request is about, in the order of the request. The function
// keys returns the key attributes of a table. If a table does not exist, a whole
// item stands for its key, and the keys of statements are unknown. A nil request
// is about nothing.
func Of(req api.Request, keys func(table string) []string) []Target {
	l := lister{keys: keys}
	l.list(req)
	return l.targets
}

// Elsewhere lists what a request to another backend is about, whose tables are
// not known. For an item to put, the given attributes stand for its key, or all
// of its attributes if none are given. For a statement, the key has the
// attributes that it compares with one value.
func Elsewhere(req api.Request, attributes ...string) []Target {
	l := lister{names: attributes}
	l.list(req)
	return l.targets
}

// A lister lists targets.
type lister struct {
	keys    func(table string) []string // nil when no table is known
	names   []string                    // instead of keys
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

// resourceOf returns the field that names the table of a request about tags or
// a stream.
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

// tableWithin returns the table of a name or an ARN. The ARN may be that of a
// table or of its stream. The text may also be a place in a stream: it is opaque
// to clients, but contains the ARN, as on AWS.
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

// item adds an item, by the key attributes in it.
func (l *lister) item(table string, item attr.Map) {
	if names := l.namesOf(table); names != nil {
		item = item.Pick(names...)
	}
	l.key(table, item, false)
}

// statements adds the items that statements name by WHERE or by the new item.
func (l *lister) statements(list ...api.Statement) {
	for i := range list {
		b, err := bind.Statement(&list[i], nil)
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
			for _, name := range l.namesOf(b.Table) {
				if part, _, err := b.Where.Key([]string{name}); err == nil {
					target.Key = target.Key.With(name, part[0].Value)
				}
			}
		}

		l.targets = append(l.targets, target)
	}
}

func (l *lister) namesOf(table string) []string {
	if l.keys == nil {
		return l.names
	}
	return l.keys(table)
}
