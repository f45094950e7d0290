package outbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/quill/fact"
	"github.com/homeops/ddbpatterns/examples/quill/queue"
	"github.com/homeops/ddbpatterns/record"
)

const (
	typeFact = "FACT"
	maxBatch = 256 // bytes of a batch's name
	// spare is the room for batch and postedAt in the row of a pending fact.
	spare = 512
)

// Stored is a stored fact. Its times are in UTC and precise to the millisecond.
type Stored struct {
	fact.Fact
	ReceivedAt time.Time
	Batch      string    // in which it was posted; "" while it is pending
	PostedAt   time.Time // zero while it is pending
}

// Put is what became of a PutItem in a transaction.
type Put struct {
	// Outcome is Created if the fact was written, by an earlier try, too: a nonce
	// identifies its own row. It is Duplicate if a fact with the key exists.
	Outcome event.Outcome
	// Stored is the existing fact. If its row is unreadable, only the Key is set:
	// the row still exists.
	Stored Stored
}

// PutItem returns the write of a fact that does not exist yet. It sends nothing.
// Bad input is an *event.InputError that names the field, such as Row.amount for a
// column, or Row if the fact's row would have over 400 KB. The table must be one
// of fact.FactTables, because no other is read, and the dimension's table one of
// fact.DimensionTables.
//
// Numbers keep their value, not their form: 1.50 comes back as 1.5.
//
// Price: 0 requests, 3 WCU. In a transaction each action costs 2 WCU for each KB,
// even if the transaction is cancelled. The index costs 1 WCU for each KB.
func (s *Store) PutItem(f fact.Fact) (*record.Action[Put], error) {
	it, err := encodeFact(f)
	if err != nil {
		return nil, err
	}
	exists := func(outcome event.Outcome, row record.Item) (Put, error) {
		stored, err := decodeFact(row)
		if err != nil {
			s.cfg.Unreadable(f.Key, err)
			stored = Stored{Fact: fact.Fact{Key: f.Key}}
		}
		return Put{outcome, stored}, nil
	}
	action := queue.Add(s.queue, queue.Message{Key: f.Key, Topic: f.Table, Body: it}, Put{Outcome: event.Created}, exists,
		func(err error) error { return s.wrap("PutItem", err) })
	if err := checkSize("Row", action.Item.Put.Item, spare); err != nil {
		return nil, err
	}
	return action, nil
}

// checkFactKey refuses a key of another kind of row.
func checkFactKey(field, key string) error {
	if key == posterKey || strings.HasPrefix(key, knownPrefix) || strings.HasPrefix(key, refusedPrefix) || strings.HasPrefix(key, latePrefix) {
		return event.BadInput(pkg, field, "must not be the key of another kind of row")
	}
	return checkKey(field, "", key)
}

func encodeFact(f fact.Fact) (record.Item, error) {
	err := cmp.Or(checkFactKey("Key", f.Key), checkTable("Table", f.Table, fact.FactTables), checkTime("At", f.At))
	if err != nil {
		return nil, err
	}
	it := record.Item{
		"type": record.Text(typeFact), "table": record.Text(f.Table), "at": record.Time(f.At),
	}
	if f.Row != nil {
		if it["row"], err = encodeRow("Row", f.Row); err != nil {
			return nil, err
		}
	}
	if d := f.Dimension; d != nil {
		if err := cmp.Or(checkKey("Dimension.Key", knownPrefix, d.Key), checkTable("Dimension.Table", d.Table, fact.DimensionTables)); err != nil {
			return nil, err
		}
		dimension := record.Item{"key": record.Text(d.Key), "table": record.Text(d.Table)}
		if d.Row != nil {
			if dimension["row"], err = encodeRow("Dimension.Row", d.Row); err != nil {
				return nil, err
			}
		}
		it["dimension"] = mapOf(dimension)
	}
	return it, nil
}

func decodeFact(it record.Item) (Stored, error) {
	if err := wantType(it, typeFact); err != nil {
		return Stored{}, err
	}
	row, err := decodeRow(it, "row")
	if err != nil {
		return Stored{}, err
	}
	f := record.Read(it)
	stored := Stored{
		Fact:       fact.Fact{Key: f.Text(queue.Key), Table: f.Text("table"), At: f.Time("at"), Row: row},
		ReceivedAt: f.Time(queue.Received),
		Batch:      f.Text("batch"),
		PostedAt:   f.Time("postedAt"),
	}
	dimension, err := decodeMap(it, "dimension")
	if err == nil && dimension != nil {
		of := record.Read(dimension)
		stored.Dimension = &fact.Dimension{Key: of.Text("key"), Table: of.Text("table")}
		stored.Dimension.Row, err = decodeRow(dimension, "row")
		if stored.Dimension.Key == "" || stored.Dimension.Table == "" {
			err = cmp.Or(err, errors.New("attribute dimension lacks key or table"))
		}
	}
	if err := cmp.Or(err, f.Err()); err != nil {
		return Stored{}, err
	}
	if stored.Table == "" || stored.At.IsZero() {
		return Stored{}, errors.New("attribute table is missing, or attribute at")
	}
	return stored, nil
}

// Get returns a fact, posted or not, and false if it does not exist.
//
// Price: 1 request, 1 RCU. 1 RCU for each 4 KB.
func (s *Store) Get(ctx context.Context, key string) (Stored, bool, error) {
	if err := checkFactKey("key", key); err != nil {
		return Stored{}, false, err
	}
	it, err := s.queue.One(ctx, key)
	if err != nil || it == nil {
		return Stored{}, false, s.wrap("Get", err)
	}
	stored, err := decodeFact(it)
	return stored, err == nil, s.wrap("Get", err)
}

// MarkPosted marks facts as posted in the batch, and says how many are marked in it,
// and how many already were in another batch: the sink has those twice. A missing fact
// is left out. An error for one fact does not keep others from being marked. It is safe
// to repeat.
//
// Price: 1 request, 2 WCU. That is for each fact up to 1 KB. One of the two WCU is
// for the index. Up to 32 requests are under way at a time.
//
// Price (Again): 1 request, 1 WCU. That is for each fact that is marked
// already.
func (s *Store) MarkPosted(ctx context.Context, batch string, keys []string) (queue.Done, error) {
	if err := checkText("batch", batch); err != nil {
		return queue.Done{}, err
	}
	if len(batch) > maxBatch {
		return queue.Done{}, event.BadInput(pkg, "batch", fmt.Sprintf("must have at most %d bytes, has %d", maxBatch, len(batch)))
	}
	for _, key := range keys {
		if err := checkFactKey("keys", key); err != nil {
			return queue.Done{}, err
		}
	}
	done, err := s.queue.Done(ctx, batch, keys)
	return done, s.wrap("MarkPosted", err)
}

// Pending returns up to limit facts of the table that are not posted, beginning
// with those that wait longest, or nil. It returns fewer of them if they have over
// 16 MB together. The index may lag, but Pending reads each fact consistently: a
// marked fact is never returned, and a fact that was written just now may be
// missing until the next call. An unreadable row is left out: see
// Config.Unreadable.
//
// Price: 2 requests, 1.5 RCU. The index costs 0.5 RCU for each 4 KB of all facts
// together, and 1 request for each 1,000 facts or MB. Each fact costs 1 RCU for
// each 4 KB, and each 100 facts 1 request. A marked fact that the index still shows
// costs as much.
func (s *Store) Pending(ctx context.Context, table string, limit int) ([]Stored, error) {
	if err := checkTable("table", table, fact.FactTables); err != nil {
		return nil, err
	}
	if limit < 1 {
		return nil, event.BadInput(pkg, "limit", "must be positive")
	}
	var facts []Stored
	err := s.queue.Pending(ctx, table, limit, func(key string, row record.Item) bool {
		stored, err := decodeFact(row)
		if err == nil && stored.Table != table {
			err = fmt.Errorf("attribute table is %q, but attribute outbox names table %s", stored.Table, table)
		}
		if err != nil {
			s.cfg.Unreadable(key, err)
			return false
		}
		facts = append(facts, stored)
		return true
	})
	if err != nil {
		return nil, s.wrap("Pending", err)
	}
	return facts, nil
}

// Waiting counts the facts of the tables that are not posted, in the index, which
// may lag. With an error it returns how many it had counted.
//
// Price: 1 request, 0.5 RCU. For each table it is 0.5 RCU for each 4 KB of all the
// facts together, and 1 request for each MB.
func (s *Store) Waiting(ctx context.Context, tables ...string) (int, error) {
	for _, table := range tables {
		if err := checkTable("tables", table, fact.FactTables); err != nil {
			return 0, err
		}
	}
	all := 0
	for _, table := range tables {
		n, err := s.queue.Count(ctx, table)
		all += n
		if err != nil {
			return all, s.wrap("Waiting", err)
		}
	}
	return all, nil
}
