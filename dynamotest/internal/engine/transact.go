package engine

import (
	"time"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/capacity"
	"github.com/homeops/ddbpatterns/dynamotest/internal/latch"
	"github.com/homeops/ddbpatterns/dynamotest/internal/throughput"
)

// maxTransaction is the most bytes that a transaction sends or reads.
const maxTransaction = 4 << 20

func (e *Engine) transactWriteItems(call *Call, req *api.TransactWriteItems) (reply, *api.Error) {
	writes := make([]*write, len(req.Actions))
	for i := range req.Actions {
		a := &req.Actions[i]
		w, err := prepare(a.Kind, &a.Write, a.TableName.Value, true)
		if err != nil {
			return nil, err
		}
		writes[i] = w
	}

	changes, err := e.applyTogether(call, req, writes)
	if err != nil {
		return nil, err
	}

	report := capacity.ReportOf(req.ReturnCapacity, call.Cost)
	report.Transactional = true
	return func(w *api.Writer) {
		report.WriteAll(w)
		writeCollections(w, req.ReturnItemSizeRange, changes)
	}, nil
}

// A tokened request may be sent again: its token identifies it.
type tokened interface {
	ClientToken() api.Opt[string]
	Fingerprint() api.Fingerprint
}

var errTwice = api.OfWhole(api.Invalid("Transaction request cannot include multiple operations on one item"))

var errAggregate = api.Invalid("Collection size exceeded: the aggregate size of the items in the transaction cannot exceed 4 MB")

// applyTogether commits all writes, or none of them. A transaction whose token
// was spent changes nothing and succeeds.
func (e *Engine) applyTogether(call *Call, req tokened, writes []*write) ([]change, *api.Error) {
	if said(writes) > maxTransaction {
		return nil, errAggregate
	}

	tk := token{Opt: req.ClientToken()}
	if tk.Set {
		tk.payload = req.Fingerprint()
	}

	for { // if something changes under a plan, it is made again
		if changes, done, err := e.tryTogether(call, tk, writes); done {
			return changes, err
		}
	}
}

// tryTogether is one try of applyTogether. It is done unless something changed
// between plan and commit.
func (e *Engine) tryTogether(call *Call, tk token, writes []*write) (changes []change, done bool, err *api.Error) {
	p := e.locateAll(writes, errTwice)
	if err = p.refused(); err == nil {
		defer p.hold(e)()
		p.evaluate()
	}

	e.mu.Lock()
	defer e.mu.Unlock()
	now := e.now()
	if spent, err := e.spent(call, tk, writes, now); spent {
		return nil, true, err
	}

	switch {
	case err != nil:
		return nil, true, err
	case !e.current(p.located()...):
		return nil, false, nil
	}

	if err := p.refused(); err != nil { // errors of the resulting items
		return nil, true, err
	}
	if err := e.admitPlan(call, p); err != nil {
		return nil, true, err
	}

	e.commit(now, pointers(p.changes))
	if tk.Set {
		e.tokens.spend(tk.Value, tk.payload, now)
	}

	return p.changes, true, nil
}

// A token is a client request token, with which a transaction takes effect
// once, and the payload that came with it. The text may be missing.
type token struct {
	api.Opt[string]
	payload api.Fingerprint
}

// spent reports whether a transaction has taken effect before, and returns the
// error of its repetition.
func (e *Engine) spent(call *Call, tk token, writes []*write, now time.Time) (bool, *api.Error) {
	if !tk.Set {
		return false, nil
	}
	first, ok := e.tokens.find(tk.Value, now)
	switch {
	case !ok:
		return false, nil
	case first != tk.payload:
		return true, &api.Error{Code: api.IdempotentMismatch, Message: "The request uses the same client token as a previous, but non-identical request"}
	}
	return true, e.replay(call, writes)
}

// refused returns the first error that concerns the request as a whole.
func (p *plan) refused() *api.Error {
	for _, err := range p.errs {
		if err != nil && err.WholeRequest {
			return err
		}
	}
	return nil
}

// said returns the bytes of the items, keys and values in a request. Stored
// items do not count: 50 items of 100 KB can be deleted together.
func said(writes []*write) int {
	bytes := 0
	for _, w := range writes {
		bytes += w.size + w.req.Key.Size() + w.req.Values.Size()
	}
	return bytes
}

// admitPlan prices a transaction whose plan is valid, and refuses it if any of
// its actions has an error or is too much for its partition.
func (e *Engine) admitPlan(call *Call, p *plan) *api.Error {
	if throttled := e.admitWrites(p.writes, p.changes); throttled != nil {
		return throttled
	}

	cancelled := false
	for i := range p.changes {
		cancelled = cancelled || p.errs[i] != nil
	}

	for i := range p.changes {
		if cost := p.changes[i].cost; cost.Table != "" {
			cost.Base.Write *= 2 // one to prepare, one to commit
			if cancelled {
				cost.Indexes = nil // they are only written at commit
			}
			call.Cost.Add(cost)
		}
	}

	if cancelled {
		return api.Canceled(reasonsOf(p.errs))
	}
	return nil
}

// reasonsOf converts the errors of actions to the reasons of a cancellation. It
// has every failed condition up to the first invalid action. The actions after
// that are not judged.
func reasonsOf(errs []*api.Error) []api.Reason {
	out := make([]api.Reason, len(errs))
	judged := true
	for i, err := range errs {
		if !judged {
			err = nil
		}
		out[i] = reasonOf(err)
		judged = judged && out[i].Code != api.InvalidReason
	}
	return out
}

// reasonOf converts the error of one action to a reason.
func reasonOf(err *api.Error) api.Reason {
	switch {
	case err == nil:
		return api.Reason{Code: api.NoReason}
	case err.Code == api.ConditionalCheckFailed:
		return api.Reason{Code: "ConditionalCheckFailed", Message: err.Message, Item: err.Item}
	}
	return api.Reason{Code: api.InvalidReason, Message: err.Message}
}

// replay prices a transaction that has taken effect before: DynamoDB reads the
// items again.
func (e *Engine) replay(call *Call, writes []*write) *api.Error {
	for _, w := range writes {
		c, err := e.locate(w)
		if err != nil {
			return err
		}
		c.read()
		call.Cost.Add(capacity.Consumed{Table: c.table.name, Base: capacity.Transactional.Cost(sizeOf(c.old))})
	}
	return nil
}

func (e *Engine) transactGetItems(call *Call, req *api.TransactGetItems) (reply, *api.Error) {
	reads := make([]*read, len(req.Gets))
	for i, g := range req.Gets {
		r, err := prepareRead(g)
		if err != nil {
			return nil, err
		}
		reads[i] = r
	}

	items, err := e.readTogether(call, reads)
	if err != nil {
		return nil, err
	}

	report := capacity.ReportOf(req.ReturnCapacity, call.Cost)
	report.Transactional = true
	return func(w *api.Writer) {
		w.Array("Responses", func() { writeResponses(w, reads, items) })
		report.WriteAll(w)
	}, nil
}

// writeResponses writes the items that a transaction has read. An item without
// any of the attributes asked for is shown like one that does not exist.
func writeResponses(w *api.Writer, reads []*read, items []*record) {
	for i, rec := range items {
		w.Element(func() {
			if rec == nil {
				return
			}
			if shown := reads[i].shown(rec); len(shown) > 0 {
				w.Item("Item", shown)
			}
		})
	}
}

func (e *Engine) readTogether(call *Call, reads []*read) ([]*record, *api.Error) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	items := make([]*record, len(reads))
	groups := make([][]throughput.Demand, len(reads))
	errs := make([]*api.Error, len(reads))
	seen := make(map[latch.ID]bool, len(reads))
	cancelled, bytes := false, 0

	for i, r := range reads {
		t, rec, err := e.get(r)
		if err != nil && err.WholeRequest {
			return nil, err
		}

		items[i], errs[i] = rec, err
		if err != nil {
			cancelled = true
			continue
		}

		key, _ := t.key.Key(r.key.Map)
		id := latch.ID{Table: t.name, Key: string(key)}
		if seen[id] {
			return nil, errTwice
		}

		seen[id] = true
		bytes += sizeOf(rec)
		cost := capacity.Transactional.Cost(sizeOf(rec))
		call.Cost.Add(capacity.Consumed{Table: t.name, Base: cost})

		if e.throughput != nil {
			groups[i] = []throughput.Demand{r.demand(t, cost)}
		}
	}

	if throttled := e.throughput.AdmitTogether(groups); throttled != nil {
		call.Cost = nil
		return nil, throttled
	}

	switch {
	case cancelled:
		return nil, api.Canceled(reasonsOf(errs))
	case bytes > maxTransaction:
		return nil, errAggregate
	}
	return items, nil
}
