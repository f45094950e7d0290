package engine

import (
	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/bind"
	"github.com/homeops/ddbpatterns/dynamotest/internal/capacity"
	"github.com/homeops/ddbpatterns/dynamotest/internal/expr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/keys"
	"github.com/homeops/ddbpatterns/dynamotest/internal/partiql"
)

// A PartiQL statement is converted to the parts of other operations: INSERT,
// UPDATE and DELETE to a write, EXISTS to a condition check, SELECT to a read
// or a page. From then on it is executed like them.

// primaryKey returns the names of a table's key attributes, those of the hash
// part first.
func (e *Engine) primaryKey(table string) ([]string, *api.Error) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	t, err := e.tableNamed(table)
	if err != nil {
		return nil, err
	}
	return keys.Names(t.key.Parts()), nil
}

var errManyAttributes = api.Invalid("PartiQL statements cannot be executed on tables with multi-attribute HASH keys or multi-attribute RANGE keys.")

// refuses returns the error of reading an index whose partition key or sort key
// has several attributes.
func (e *Engine) refuses(stmt *partiql.Statement) *api.Error {
	if stmt.Index == "" {
		return nil
	}

	e.mu.RLock()
	defer e.mu.RUnlock()
	t, err := e.tableNamed(stmt.Table)
	if err != nil {
		return nil // other faults of the statement are reported first
	}
	if x := t.index(stmt.Index); x != nil && (len(x.Key.Hash) > 1 || len(x.Key.Range) > 1) {
		return errManyAttributes
	}

	return nil
}

func (e *Engine) executeStatement(call *Call, req *api.ExecuteStatement) (reply, *api.Error) {
	b, err := bind.Statement(&req.Statement, e.refuses)
	if err != nil {
		return nil, err
	}

	switch b.Kind {
	case partiql.Select:
		return e.selectPage(call, req, b)
	case partiql.Exists:
		return nil, api.Invalid("EXISTS can only be used in ExecuteTransaction write requests.")
	}

	w, err := e.statementWrite(b, req.ReturnOnFailure)
	if err != nil {
		return nil, err
	}

	c, err := e.applyStatement(w)
	if c.cost.Table != "" {
		call.Cost = capacity.Cost{c.cost}
	}

	if err != nil {
		return nil, err
	}

	report := capacity.ReportOf(req.ReturnCapacity, call.Cost)
	return func(rep *api.Writer) {
		rep.Array("Items", func() {
			if shown := w.returned(&c); len(shown) > 0 {
				rep.ItemElement(shown)
			}
		})
		report.WriteOne(rep)
	}, nil
}

// returnValues has the value of ReturnValues for each RETURNING.
var returnValues = map[partiql.Returning]string{
	partiql.AllOld:      "ALL_OLD",
	partiql.AllNew:      "ALL_NEW",
	partiql.ModifiedOld: "UPDATED_OLD",
	partiql.ModifiedNew: "UPDATED_NEW",
}

// statementWrite converts a statement to a write or a condition check.
func (e *Engine) statementWrite(b *partiql.Bound, onFailure api.Opt[string]) (*write, *api.Error) {
	names, refused := e.primaryKey(b.Table)
	if refused != nil {
		return nil, refused
	}

	w := &write{table: b.Table, req: &api.Write{ReturnOnFailure: onFailure}}
	if b.Returning != partiql.ReturnNothing {
		w.req.ReturnValues = api.Some(returnValues[b.Returning])
	}

	var err error
	if b.Kind == partiql.Insert {
		err = w.insert(b, names[0])
	} else {
		err = w.guard(b, names)
	}

	if err != nil {
		return nil, api.Wrong(err)
	}
	return w, nil
}

// insert makes w the put of an item that must not exist.
func (w *write) insert(b *partiql.Bound, hash string) error {
	w.kind, w.req.Item = api.Put, api.Item{Map: b.Item(), Set: true}
	w.size = w.req.Item.Size()
	var err error
	w.Condition, err = absent(hash).Predicate()
	return err
}

func present(name string) expr.Term {
	return expr.Apply("attribute_exists", expr.Attribute(expr.NewPath(name)))
}

func absent(name string) expr.Term {
	return expr.Apply("attribute_not_exists", expr.Attribute(expr.NewPath(name)))
}

// guard makes w the write to the one item that WHERE names. The rest of WHERE
// is its condition.
func (w *write) guard(b *partiql.Bound, names []string) error {
	key, rest, err := b.Where.Key(names)
	if err != nil {
		return err
	}

	w.req.Key = api.Item{Map: key, Set: true}
	condition := append([]expr.Term{present(names[0])}, rest...)
	switch b.Kind {
	case partiql.Update:
		w.kind = api.Update
		if w.Change, err = b.Change(); err != nil {
			return err
		}
	case partiql.Delete:
		w.kind = api.Delete
		if len(rest) == 0 {
			return nil
		}
		// A delete of a missing item succeeds with any condition.
		condition = []expr.Term{expr.Apply("OR", absent(names[0]), expr.Apply("AND", rest...))}
	case partiql.Exists:
		w.kind = api.ConditionCheck
		if len(rest) == 0 {
			return &partiql.Error{Message: "EXISTS() must contain a single item read with additional condition"}
		}
	}

	w.Condition, err = expr.Apply("AND", condition...).Predicate()
	return err
}

var errDuplicate = &api.Error{Code: api.DuplicateItem, Message: "Duplicate primary key exists in table"}

// applyStatement is apply for a statement. The error of an INSERT must not
// mention its condition, which is not the caller's.
func (e *Engine) applyStatement(w *write) (change, *api.Error) {
	c, err := e.apply(w)
	if err != nil && err.Code == api.ConditionalCheckFailed && w.kind == api.Put {
		err = errDuplicate
	}
	return c, err
}

// statementRead returns the read of the one item that a SELECT among others
// names. Its WHERE must be the key and nothing else. The error of another WHERE
// depends on the operation.
func (e *Engine) statementRead(b *partiql.Bound, operation string) (*read, *api.Error) {
	names, refused := e.primaryKey(b.Table)
	if refused != nil {
		return nil, refused
	}

	key, rest, err := b.Where.Key(names)
	if err != nil || b.Index != "" || len(rest) > 0 {
		return nil, api.Invalid("Select statements within %s must specify the primary key in the where clause.", operation)
	}

	r := &read{table: b.Table, key: api.Item{Map: key, Set: true}}
	if r.Selection, err = b.Selection(); err == nil && r.Selection != nil {
		// Only ExecuteStatement takes nested attributes out of their maps and
		// lists.
		r.Selection, err = r.Selection.InPlace()
	}

	if err != nil {
		return nil, api.Wrong(err)
	}
	return r, nil
}

// pinned returns the key that a condition pins, or nil if it does not pin one.
func pinned(w *partiql.Where, names []string) attr.Map {
	key, _, err := w.Key(names)
	if err != nil {
		return nil
	}
	return key
}
