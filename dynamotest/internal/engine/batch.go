package engine

import (
	"maps"
	"slices"

	"github.com/homeops/ddbpatterns/dynamotest/internal/api"
	"github.com/homeops/ddbpatterns/dynamotest/internal/attr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/bind"
	"github.com/homeops/ddbpatterns/dynamotest/internal/capacity"
	"github.com/homeops/ddbpatterns/dynamotest/internal/expr"
	"github.com/homeops/ddbpatterns/dynamotest/internal/throughput"
)

// maxReply is the most bytes of items that a batch returns; the rest comes back
// as unprocessed.
const maxReply = 16 << 20

var errDuplicates = api.Invalid("Provided list of item keys contains duplicates")

// itemsOf are the items read from one table, and the keys that were not read.
type itemsOf struct {
	request *api.KeysOfTable
	read    *read // any of the reads: all show the same attributes
	records []*record
	left    []attr.Map
}

func (e *Engine) batchGetItem(call *Call, req *api.BatchGetItem) (reply, *api.Error) {
	reads, err := prepareBatch(req)
	if err != nil {
		return nil, err
	}

	e.mu.RLock()
	tables, cost, err := e.readBatch(call, req, reads)
	e.mu.RUnlock()
	if err != nil {
		return nil, err
	}

	call.Cost = cost
	report := capacity.ReportOf(req.ReturnCapacity, cost)
	return func(w *api.Writer) {
		w.Object("Responses", func() {
			for _, t := range tables {
				w.Array(t.request.Table, func() {
					for _, rec := range t.records {
						w.ItemElement(t.read.shown(rec))
					}
				})
			}
		})
		writeUnread(w, tables)
		report.WriteAll(w)
	}, nil
}

func prepareBatch(req *api.BatchGetItem) ([][]*read, *api.Error) {
	reads := make([][]*read, len(req.Tables))
	older, newer := false, false // as in refuseMixed, but for all tables together
	for i := range req.Tables {
		t := &req.Tables[i]
		var err *api.Error
		if reads[i], err = prepareReads(t.Table, t.Keys, t.Projection, &t.Expressions); err != nil {
			return nil, err
		}
		for _, r := range reads[i] {
			r.late = !t.ConsistentRead.Value
		}
		older = older || t.Older != nil
		newer = newer || t.Projection.Set
	}

	if older && newer {
		return nil, bind.Mixed([]string{expr.AttributesToGet}, []string{expr.ProjectionExpression})
	}
	return reads, nil
}

// checkBatch checks every key before the first is read.
func (e *Engine) checkBatch(reads [][]*read) *api.Error {
	for i := range reads {
		seen := map[string]bool{}
		for _, r := range reads[i] {
			t, _, err := e.get(r)
			if t == nil && repeats(reads) {
				return errDuplicates // this error comes before that of a missing table
			}
			if err != nil {
				return err
			}
			key, _ := t.key.Key(r.key.Map)
			if seen[string(key)] {
				return errDuplicates
			}
			seen[string(key)] = true
		}
	}
	return nil
}

func (e *Engine) readBatch(call *Call, req *api.BatchGetItem, reads [][]*read) ([]itemsOf, capacity.Cost, *api.Error) {
	if err := e.checkBatch(reads); err != nil {
		return nil, nil, err
	}

	var cost capacity.Cost
	var throttled []*api.Error
	out := make([]itemsOf, len(reads))
	bytes, nth := 0, 0

	for i := range reads {
		out[i].request = &req.Tables[i]
		at := capacity.RateOf(req.Tables[i].ConsistentRead.Value)
		for _, r := range reads[i] {
			t, rec, _ := e.get(r)
			refused := call.refusal(nth) != nil
			nth++

			if e.throughput != nil && !refused {
				if err := e.throughput.Admit([]throughput.Demand{r.demand(t, at.Cost(sizeOf(rec)))}); err != nil {
					refused, throttled = true, append(throttled, err)
				}
			}

			if bytes += sizeOf(rec); bytes > maxReply || refused {
				out[i].left = append(out[i].left, r.key.Map)
				continue
			}

			cost.Add(capacity.Consumed{Table: t.name, Base: at.Cost(sizeOf(rec))})
			if rec != nil {
				out[i].read, out[i].records = r, append(out[i].records, rec)
			}
		}
	}

	if err := throughput.Joined(throttled); err != nil && len(cost) == 0 { // nothing was read
		return nil, nil, err
	}
	return out, cost, nil
}

// repeats reports whether the reads of a table have the same key twice.
func repeats(reads [][]*read) bool {
	for _, of := range reads {
		for i, r := range of {
			if slices.ContainsFunc(of[:i], func(s *read) bool { return s.key.Equal(r.key.Map) }) {
				return true
			}
		}
	}
	return false
}

// writeUnread writes the parts of the request that were not read.
func writeUnread(w *api.Writer, tables []itemsOf) {
	w.Object("UnprocessedKeys", func() {
		for _, t := range tables {
			if len(t.left) == 0 {
				continue
			}

			w.Object(t.request.Table, func() {
				w.Array("Keys", func() {
					for _, key := range t.left {
						w.ItemElement(key)
					}
				})

				if t.request.ConsistentRead.Set {
					w.Bool("ConsistentRead", t.request.ConsistentRead.Value)
				}

				if t.request.Projection.Set {
					w.Text("ProjectionExpression", t.request.Projection.Value)
				}

				if o := t.request.Older; o != nil {
					w.Array(expr.AttributesToGet, func() {
						for _, name := range o.Attributes {
							w.String(name)
						}
					})
				}

				if names := t.request.Names; names.Set {
					w.Object("ExpressionAttributeNames", func() {
						for _, placeholder := range slices.Sorted(maps.Keys(names.Value)) {
							w.Text(placeholder, names.Value[placeholder])
						}
					})
				}
			})
		}
	})
}

func (e *Engine) batchWriteItem(call *Call, req *api.BatchWriteItem) (reply, *api.Error) {
	var writes []*write
	for i := range req.Tables {
		t := &req.Tables[i]
		for j := range t.Writes {
			kind, w := api.Put, t.Writes[j].Put
			if w == nil {
				kind, w = api.Delete, t.Writes[j].Delete
			}
			prepared, err := prepare(kind, w, t.Table, false)
			if err != nil {
				return nil, err
			}
			prepared.entry = true
			writes = append(writes, prepared)
		}
	}

	changes, left, err := e.applyEach(call, writes)
	if err != nil {
		return nil, err
	}

	for i := range changes {
		call.Cost.Add(changes[i].cost)
	}

	report := capacity.ReportOf(req.ReturnCapacity, call.Cost)
	return func(w *api.Writer) {
		w.Object("UnprocessedItems", func() { writeLeft(w, left) })
		writeCollections(w, req.ReturnItemSizeRange, changes)
		report.WriteAll(w)
	}, nil
}

// applyEach plans all writes before it commits the first. It commits the writes
// that the call does not refuse and that are admitted. The others are left.
func (e *Engine) applyEach(call *Call, writes []*write) (changes []change, left []*write, err *api.Error) {
	for {
		if changes, left, done, err := e.tryEach(call, writes); done {
			return changes, left, err
		}
	}
}

// tryEach is one try of applyEach. It is done unless something changed between
// plan and commit.
func (e *Engine) tryEach(call *Call, writes []*write) (changes []change, left []*write, done bool, err *api.Error) {
	p := e.locateAll(writes, errDuplicates)
	defer p.hold(e)()
	p.evaluate()
	if i := slices.IndexFunc(p.errs, func(err *api.Error) bool { return err != nil }); i >= 0 {
		return nil, nil, true, p.errs[i]
	}

	e.mu.Lock()
	defer e.mu.Unlock()
	if !e.current(p.located()...) {
		return nil, nil, false, nil
	}

	kept := make([]*write, 0, len(writes))
	for i, w := range writes {
		if call.refusal(i) != nil {
			left = append(left, w)
			continue
		}
		changes = append(changes, p.changes[i])
		kept = append(kept, w)
	}

	if e.throughput != nil {
		var throttled *api.Error
		if changes, kept, throttled = e.admitEach(kept, changes); throttled != nil && len(changes) == 0 {
			return nil, nil, true, throttled
		}
		left = append(left, kept...)
		slices.SortStableFunc(left, func(a, b *write) int { return slices.Index(writes, a) - slices.Index(writes, b) })
	}

	e.commit(e.now(), pointers(changes))
	return changes, left, true, nil
}

// writeLeft writes the parts of the request that were not done. They are in the
// order of their tables.
func writeLeft(w *api.Writer, left []*write) {
	for len(left) > 0 {
		table := left[0].table
		w.Array(table, func() {
			for ; len(left) > 0 && left[0].table == table; left = left[1:] {
				w.Element(func() {
					if left[0].kind == api.Put {
						w.Object("PutRequest", func() { w.Item("Item", left[0].req.Item.Map) })
					} else {
						w.Object("DeleteRequest", func() { w.Item("Key", left[0].req.Key.Map) })
					}
				})
			}
		})
	}
}

// writeCollections describes the item collections that several changes touched,
// by table.
func writeCollections(w *api.Writer, asked api.Opt[string], changes []change) {
	if asked.Value != "SIZE" {
		return
	}

	var tables []string
	keys := map[string][]attr.Map{}
	for i := range changes {
		key := changes[i].collection(asked)
		if key == nil {
			continue
		}
		name := changes[i].table.name
		if keys[name] == nil {
			tables = append(tables, name)
		}
		keys[name] = append(keys[name], key)
	}

	w.Object("ItemCollectionMetrics", func() {
		for _, name := range tables {
			w.Array(name, func() {
				for _, key := range keys[name] {
					w.Element(func() { writeMetrics(w, key) })
				}
			})
		}
	})
}
