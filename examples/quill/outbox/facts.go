package outbox

import (
	"cmp"
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/examples/quill/fact"
	"github.com/homeops/ddbpatterns/record"
)

const (
	typeFact = "FACT"
	maxBatch = 256 // bytes of a batch's name
	// spare is the room for batch and postedAt in the row of a pending fact.
	spare = 512

	markers = 32 // how many requests MarkPosted sends side by side
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
	nonce := rand.Text()
	it["nonce"] = record.Text(nonce)
	it[attrReceived] = record.Time(s.cfg.Now())
	if err := checkSize("Row", it, spare); err != nil {
		return nil, err
	}
	put := types.TransactWriteItem{Put: &types.Put{
		TableName:                           aws.String(s.table),
		Item:                                it,
		ConditionExpression:                 aws.String("attribute_not_exists(pk)"),
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}}
	refused := func(row record.Item) (Put, error) {
		stored, err := decodeFact(row)
		if err != nil {
			s.cfg.Unreadable(f.Key, err)
			stored = Stored{Fact: fact.Fact{Key: f.Key}}
		}
		if record.Read(row).Text("nonce") == nonce {
			return Put{event.Created, stored}, nil
		}
		return Put{event.Duplicate, stored}, nil
	}
	return record.NewAction(put, Put{Outcome: event.Created}, refused, func(err error) error { return s.wrap("PutItem", err) }), nil
}

// checkFactKey refuses a key of another kind of row.
func checkFactKey(field, key string) error {
	if key == posterKey || strings.HasPrefix(key, knownPrefix) || strings.HasPrefix(key, refusedPrefix) {
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
		attrKey: record.Text(f.Key), "type": record.Text(typeFact), "table": record.Text(f.Table),
		"at": record.Time(f.At), attrOutbox: record.Text(pending + f.Table),
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
		Fact:       fact.Fact{Key: f.Text(attrKey), Table: f.Text("table"), At: f.Time("at"), Row: row},
		ReceivedAt: f.Time(attrReceived),
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
	it, err := s.one(ctx, key)
	if err != nil || it == nil {
		return Stored{}, false, s.wrap("Get", err)
	}
	stored, err := decodeFact(it)
	return stored, err == nil, s.wrap("Get", err)
}

// MarkPosted marks facts as posted in the batch. A fact that is already marked
// stays as it is, and a missing fact is left out. An error for one fact does not
// keep others from being marked. It is safe to repeat.
//
// Price: 1 request, 2 WCU. That is for each fact up to 1 KB. One of the two WCU is
// for the index. Up to 32 requests are under way at a time.
//
// Price (Again): 1 request, 1 WCU. That is for each fact that is marked
// already.
func (s *Store) MarkPosted(ctx context.Context, batch string, keys []string) error {
	if err := checkText("batch", batch); err != nil {
		return err
	}
	if len(batch) > maxBatch {
		return event.BadInput(pkg, "batch", fmt.Sprintf("must have at most %d bytes, has %d", maxBatch, len(batch)))
	}
	for _, key := range keys {
		if err := checkFactKey("keys", key); err != nil {
			return err
		}
	}
	now := s.cfg.Now()
	var group errgroup.Group // without a context: one error must not stop the others
	group.SetLimit(markers)
	for _, key := range keys {
		group.Go(func() error { return s.mark(ctx, batch, key, now) })
	}
	return s.wrap("MarkPosted", group.Wait())
}

func (s *Store) mark(ctx context.Context, batch, pk string, now time.Time) error {
	err := retry(ctx, func() error {
		_, err := s.api.UpdateItem(ctx, &dynamodb.UpdateItemInput{
			TableName:                aws.String(s.table),
			Key:                      key(pk),
			ConditionExpression:      aws.String("attribute_exists(pk) AND attribute_exists(#outbox)"),
			UpdateExpression:         aws.String("SET #batch = :batch, #postedAt = :now REMOVE #outbox"),
			ExpressionAttributeNames: map[string]string{"#outbox": attrOutbox, "#batch": "batch", "#postedAt": "postedAt"},
			ExpressionAttributeValues: record.Item{
				":batch": record.Text(batch), ":now": record.Time(now),
			},
		})
		return err
	})
	if _, marked := errors.AsType[*types.ConditionalCheckFailedException](err); marked {
		return nil
	}
	return err
}
