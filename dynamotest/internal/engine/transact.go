package engine

import (
	"time"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/store"
)

// maxTransaction is the most bytes of the items of a transaction.
const maxTransaction = 4 << 20

// tokenLife is how long a client request token stands for its transaction.
const tokenLife = 10 * time.Minute

// tokens remember the transactions that have taken effect. An SDK sends a new
// token with every transaction, so the old ones are forgotten in passing.
type tokens struct {
	spent store.Tree[api.Fingerprint]
	queue []spent // in the order they were spent

	journal *journal // nil in memory
}

// spent is a token that was used.
type spent struct {
	token string
	until time.Time
}

// find returns the payload that a token stands for.
func (t *tokens) find(token string, now time.Time) (api.Fingerprint, bool) {
	for len(t.queue) > 0 && !now.Before(t.queue[0].until) {
		t.spent.Delete(t.queue[0].token)
		t.queue = t.queue[1:]
	}
	return t.spent.Get(token)
}

func (t *tokens) spend(token string, payload api.Fingerprint, now time.Time) {
	t.spent.Set(token, payload)
	t.queue = append(t.queue, spent{token, now.Add(tokenLife)})
	if t.journal != nil {
		t.journal.logToken(token, payload, now)
	}
}

func (e *Engine) transactWriteItems(call *Call, req *api.TransactWriteItems) (reply, *api.Error) {
	writes := make([]*write, len(req.Actions))
	for i := range req.Actions {
		a := &req.Actions[i]
		w, err := prepare(a.Kind, &a.Write, a.TableName.Value)
		if err != nil {
			return nil, err
		}
		writes[i] = w
	}
	changes, err := e.applyTogether(call, req, writes)
	if err != nil {
		return nil, err
	}
	capacity := report(req.ReturnCapacity, call.Cost)
	capacity.transactional = true
	return writeFunc(func(w *api.Writer) {
		capacity.writeAll(w)
		writeCollections(w, req.ReturnItemSizeRange, changes)
	}), nil
}

// A tokened request may be sent again: its token stands for it.
type tokened interface {
	ClientToken() api.Opt[string]
	Fingerprint() api.Fingerprint
}

// applyTogether commits all writes or none. A transaction whose token was spent
// changes nothing and succeeds.
func (e *Engine) applyTogether(call *Call, req tokened, writes []*write) ([]change, *api.Error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	var payload api.Fingerprint
	token, now := req.ClientToken(), e.now()
	if token.Set {
		payload = req.Fingerprint()
		if first, ok := e.tokens.find(token.Value, now); ok {
			if first != payload {
				return nil, &api.Error{Code: api.IdempotentMismatch, Message: "The request uses the same client token as a previous, but non-identical request"}
			}
			return nil, e.replay(call, writes)
		}
	}
	changes, err := e.planTogether(call, writes)
	if err != nil {
		return nil, err
	}
	e.commit(pointers(changes))
	if token.Set {
		e.tokens.spend(token.Value, payload, now)
	}
	return changes, nil
}

// planTogether plans every action and collects what each met.
func (e *Engine) planTogether(call *Call, writes []*write) ([]change, *api.Error) {
	changes := make([]change, len(writes))
	reasons := make([]api.Reason, len(writes))
	seen := make(map[itemID]bool, len(writes))
	cancelled, bytes := false, 0
	for i, w := range writes {
		c, err := e.plan(w)
		if err != nil && err.WholeRequest {
			return nil, err
		}
		if c.key != "" {
			if seen[c.id()] {
				return nil, api.Invalid("Transaction request cannot include multiple operations on one item")
			}
			seen[c.id()] = true
		}
		changes[i], reasons[i] = c, reasonOf(err)
		cancelled = cancelled || err != nil
		bytes += max(sizeOf(c.old), sizeOf(c.new))
	}
	if throttled := e.admitWrites(writes, changes); throttled != nil {
		return nil, throttled
	}
	for i := range changes {
		if cost := changes[i].cost; cost.Table != "" {
			cost.Base.Write *= 2 // one to prepare, one to commit
			if cancelled {
				cost.Indexes = nil // they are written at commit only
			}
			call.Cost.add(cost)
		}
	}
	switch {
	case cancelled:
		return nil, api.Canceled(reasons)
	case bytes > maxTransaction:
		return nil, api.Invalid("Collection size exceeded: the aggregate size of the items in the transaction cannot exceed 4 MB")
	}
	return changes, nil
}

// reasonOf is what an error of one action becomes in the list of reasons.
func reasonOf(err *api.Error) api.Reason {
	switch {
	case err == nil:
		return api.Reason{Code: api.NoReason}
	case err.Code == api.ConditionalCheckFailed:
		return api.Reason{Code: "ConditionalCheckFailed", Message: err.Message, Item: err.Item}
	}
	return api.Reason{Code: "ValidationError", Message: err.Message}
}

// replay prices a transaction that has taken effect already: DynamoDB reads the
// items again.
func (e *Engine) replay(call *Call, writes []*write) *api.Error {
	for _, w := range writes {
		c, err := e.locate(w)
		if err != nil {
			return err
		}
		call.Cost.add(Capacity{Table: c.table.name, Base: transactional.cost(sizeOf(c.old))})
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
	capacity := report(req.ReturnCapacity, call.Cost)
	capacity.transactional = true
	return writeFunc(func(w *api.Writer) {
		w.Array("Responses", func() {
			for i, rec := range items {
				w.Element(func() {
					if rec != nil {
						w.Item("Item", reads[i].shown(rec))
					}
				})
			}
		})
		capacity.writeAll(w)
	}), nil
}

func (e *Engine) readTogether(call *Call, reads []*read) ([]*record, *api.Error) {
	e.mu.RLock()
	defer e.mu.RUnlock()
	items := make([]*record, len(reads))
	groups := make([][]demand, len(reads))
	reasons := make([]api.Reason, len(reads))
	seen := make(map[itemID]bool, len(reads))
	cancelled, bytes := false, 0
	for i, r := range reads {
		t, rec, err := e.get(r)
		if err != nil && err.WholeRequest {
			return nil, err
		}
		items[i], reasons[i] = rec, reasonOf(err)
		if err != nil {
			cancelled = true
			continue
		}
		key, _ := t.key.key(r.key.Map)
		if seen[itemID{t, string(key)}] {
			return nil, api.Invalid("Transaction request cannot include multiple operations on one item")
		}
		seen[itemID{t, string(key)}] = true
		bytes += sizeOf(rec)
		cost := transactional.cost(sizeOf(rec))
		call.Cost.add(Capacity{Table: t.name, Base: cost})
		if e.opt.throughput != nil {
			groups[i] = []demand{r.demand(t, cost)}
		}
	}
	if throttled := e.admitTogether(groups); throttled != nil {
		call.Cost = nil
		return nil, throttled
	}
	switch {
	case cancelled:
		return nil, api.Canceled(reasons)
	case bytes > maxTransaction:
		return nil, api.Invalid("Collection size exceeded: the aggregate size of the items in the transaction cannot exceed 4 MB")
	}
	return items, nil
}
