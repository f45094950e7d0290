package engine

import (
	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/bind"
	"github.com/homeops/ddbpatterns/dynamotest/internal/capacity"
	"github.com/homeops/ddbpatterns/dynamotest/internal/keys"
	"github.com/homeops/ddbpatterns/dynamotest/internal/partiql"
)

// checkMixed refuses reads among writes. An invalid statement is nil in the
// list.
func checkMixed(operation string, list []*partiql.Bound) *api.Error {
	reads, writes := false, false
	for _, b := range list {
		if b != nil {
			reads = reads || !b.Kind.Writes()
			writes = writes || b.Kind.Writes()
		}
	}
	if reads && writes {
		return api.Invalid("%s API does not support both read and write operations in the same request.", operation)
	}
	return nil
}

// checkParameters refuses a transaction if a value in any statement is invalid.
// In a batch such a value only spoils its own statement.
func checkParameters(list []api.Statement) *api.Error {
	for i := range list {
		if err := list[i].ParametersErr; err != nil {
			return api.Wrong(err)
		}
	}
	return nil
}

// An answer is the result of one statement of a batch.
type answer struct {
	table string // set once the table was found
	item  func(w *api.Writer)
	err   *api.Error
	cost  capacity.Consumed
}

func (e *Engine) batchExecuteStatement(call *Call, req *api.BatchExecuteStatement) (reply, *api.Error) {
	list := make([]*partiql.Bound, len(req.Statements))
	answers := make([]answer, len(req.Statements))
	for i := range req.Statements {
		list[i], answers[i].err = bind.Statement(&req.Statements[i], e.refuses)
		if err := call.refusal(i); err != nil {
			answers[i].err = err
			answers[i].table = call.Targets[i].Table
		}
	}

	if err := checkMixed("BatchExecuteStatement", list); err != nil {
		return nil, err
	}
	if e.repeats(list) {
		return nil, errDuplicates
	}

	costs := capacity.Report{Mode: req.ReturnCapacity.Or("NONE")}
	for i, b := range list {
		a := &answers[i]
		switch {
		case a.err != nil:
			continue
		case b.Kind.Writes():
			*a = e.answerWrite(b)
		default:
			*a = e.answerRead(b, req.Statements[i].ConsistentRead)
		}

		if a.cost.Table != "" {
			call.Cost.Add(a.cost)
			costs.Cost = append(costs.Cost, a.cost)
		}
	}

	return func(w *api.Writer) {
		w.Array("Responses", func() {
			for i := range answers {
				w.Element(func() { answers[i].writeTo(w) })
			}
		})
		costs.WriteAll(w)
	}, nil
}

// repeats reports whether two statements of a batch name the same item. An invalid
// statement is nil in the list.
func (e *Engine) repeats(list []*partiql.Bound) bool {
	seen := map[string]bool{}
	for _, b := range list {
		if b == nil {
			continue
		}
		name, ok := e.itemNamed(b)
		if ok && seen[name] {
			return true
		}
		seen[name] = ok
	}
	return false
}

// itemNamed returns a name for the one item that a statement is about, if it is
// about one.
func (e *Engine) itemNamed(b *partiql.Bound) (string, bool) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	t, refused := e.tableNamed(b.Table)
	if refused != nil || b.Index != "" {
		return "", false
	}
	item := pinned(b.Where, keys.Names(t.key.Parts()))
	if b.Kind == partiql.Insert {
		item = b.Item()
	}
	key, ok := t.key.Key(item)
	return t.name + string(key), ok
}

func (e *Engine) answerWrite(b *partiql.Bound) answer {
	if b.Kind == partiql.Exists {
		return answer{err: api.Invalid("EXISTS can only be used in ExecuteTransaction write requests.")}
	}

	w, err := e.statementWrite(b, api.Opt[string]{})
	if err != nil {
		return answer{err: err}
	}

	c, err := e.applyStatement(w)
	a := answer{table: api.TableNameOf(b.Table), err: err, cost: c.cost}
	if shown := w.returned(&c); err == nil && len(shown) > 0 {
		a.item = func(w *api.Writer) { w.Item("Item", shown) }
	}

	return a
}

func (e *Engine) answerRead(b *partiql.Bound, consistentRead bool) answer {
	r, err := e.statementRead(b, "BatchExecuteStatement")
	if err != nil {
		return answer{err: err}
	}

	r.late = !consistentRead
	e.mu.RLock()
	t, rec, err := e.get(r)
	e.mu.RUnlock()
	if err != nil {
		return answer{err: err}
	}

	cost := capacity.RateOf(consistentRead).Cost(sizeOf(rec))
	if err := e.admitRead(r, t, cost); err != nil {
		return answer{table: t.name, err: err}
	}

	a := answer{table: t.name, cost: capacity.Consumed{Table: t.name, Base: cost}}
	if rec != nil {
		a.item = func(w *api.Writer) { w.Item("Item", r.shown(rec)) }
	}

	return a
}

func (a *answer) writeTo(w *api.Writer) {
	if a.err != nil {
		w.Object("Error", func() {
			w.Text("Code", api.ShortCode(a.err.Code))
			w.Text("Message", api.OperationNamed("BatchExecuteStatement").Told(a.err).Message)
		})
	}
	if a.table != "" {
		w.Text("TableName", a.table)
	}
	if a.item != nil {
		a.item(w)
	}
}

func (e *Engine) executeTransaction(call *Call, req *api.ExecuteTransaction) (reply, *api.Error) {
	if err := checkParameters(req.Statements); err != nil {
		return nil, err
	}

	list := make([]*partiql.Bound, len(req.Statements))
	for i := range req.Statements {
		var err *api.Error
		if list[i], err = bind.Statement(&req.Statements[i], e.refuses); err != nil {
			return nil, inTransaction(i, err)
		}
	}

	if err := checkMixed("ExecuteTransaction", list); err != nil {
		return nil, err
	}
	if list[0].Kind.Writes() {
		return e.transactStatements(call, req, list)
	}

	return e.transactSelects(call, req, list)
}

// inTransaction adds to an error which statement it is about. Only errors of a
// statement itself get that.
func inTransaction(i int, err *api.Error) *api.Error {
	if err.Code != api.ValidationException {
		return err
	}
	return api.Invalid("Validation failed in TransactStatements[%d]: %s", i, err.Message)
}

func (e *Engine) transactStatements(call *Call, req *api.ExecuteTransaction, list []*partiql.Bound) (reply, *api.Error) {
	writes := make([]*write, len(list))
	for i, b := range list {
		err := api.Invalid("RETURNING clause is not supported in ExecuteTransaction.")
		if b.Returning == partiql.ReturnNothing {
			writes[i], err = e.statementWrite(b, req.Statements[i].ReturnOnFailure)
		}
		if err != nil {
			return nil, inTransaction(i, err)
		}
	}

	if _, err := e.applyTogether(call, req, writes); err != nil {
		return nil, nameDuplicates(err, writes)
	}
	return transactionReply(call, req, func(*api.Writer) {}), nil
}

// nameDuplicates gives an INSERT of an existing item its own reason.
func nameDuplicates(err *api.Error, writes []*write) *api.Error {
	if err.Code != api.TransactionCanceled {
		return err
	}
	for i := range err.Reasons {
		if r := &err.Reasons[i]; r.Code == "ConditionalCheckFailed" && writes[i].kind == api.Put {
			r.Code, r.Message = api.ShortCode(errDuplicate.Code), errDuplicate.Message
		}
	}
	return api.Canceled(err.Reasons)
}

func (e *Engine) transactSelects(call *Call, req *api.ExecuteTransaction, list []*partiql.Bound) (reply, *api.Error) {
	reads := make([]*read, len(list))
	for i, b := range list {
		if b.Index != "" {
			return nil, inTransaction(i, api.Invalid("Reads on indices are not supported within transactions."))
		}
		r, err := e.statementRead(b, "ExecuteTransaction")
		if err != nil {
			return nil, inTransaction(i, err)
		}
		reads[i] = r
	}

	records, err := e.readTogether(call, reads)
	if err != nil {
		return nil, err
	}

	return transactionReply(call, req, func(w *api.Writer) { writeResponses(w, reads, records) }), nil
}

func transactionReply(call *Call, req *api.ExecuteTransaction, responses func(w *api.Writer)) reply {
	report := capacity.ReportOf(req.ReturnCapacity, call.Cost)
	report.Transactional = true
	return func(w *api.Writer) {
		w.Array("Responses", func() { responses(w) })
		report.WriteAll(w)
	}
}
