package outbox

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"strconv"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/record"
)

const (
	typePoster = "POSTER"
	posterKey  = "POSTER"
)

// ErrFenced is returned by SavePoster and Learn: a poster with a higher fence has
// written the row, or this one has written it since.
var ErrFenced = errors.New("outbox: another poster has taken over")

// Poster is how far the poster is. It is one row, written before each post.
type Poster struct {
	Fence int64 // of the lease under which it was written

	// Batch and Table name what is being posted, or may have been posted, and
	// Rows is how many rows it has. They are "" after it is settled.
	Batch string
	Table string
	Rows  int

	PostAt time.Time        // of the last post, to the millisecond
	Hour   map[int64]Minute // posts of the last hour, by Unix minute
	Total  map[string]int64 // rows ever posted, by table
}

// Minute counts what was posted in a minute.
type Minute struct{ Rows, Posts int }

// LoadPoster returns the row, a zero Poster if it does not exist.
//
// Price: 1 request, 1 RCU.
func (s *Store) LoadPoster(ctx context.Context) (Poster, error) {
	it, err := s.one(ctx, posterKey)
	if err != nil || it == nil {
		return Poster{}, s.wrap("LoadPoster", err)
	}
	p, err := decodePoster(it)
	return p, s.wrap("LoadPoster", err)
}

// SavePoster writes the row if no poster with a higher fence has written it, and
// returns ErrFenced otherwise. The caller drops the minutes that are older than an
// hour: SavePoster writes all it is given. It is safe to repeat, so a lost reply
// does no harm. A request that arrives after a later one of this Store changes
// nothing, so only one Store may use a fence.
//
// Price: 1 request, 1 WCU. With all minutes of an hour the row has about 2 KB, and
// costs 2 WCU.
func (s *Store) SavePoster(ctx context.Context, p Poster) error {
	it, err := encodePoster(p)
	if err != nil {
		return err
	}
	return s.wrap("SavePoster", s.fenced(ctx, it))
}

// fenced puts the item unless the existing item has a higher fence, or was written
// later under the same fence: a delayed request undoes nothing.
func (s *Store) fenced(ctx context.Context, it record.Item) error {
	it["written"] = record.Int(s.written.Add(1))
	err := retry(ctx, func() error {
		_, err := s.api.PutItem(ctx, &dynamodb.PutItemInput{
			TableName: aws.String(s.table),
			Item:      it,
			ConditionExpression: aws.String("attribute_not_exists(#fence) OR #fence < :fence OR " +
				"(#fence = :fence AND #written <= :written)"),
			ExpressionAttributeNames:  map[string]string{"#fence": "fence", "#written": "written"},
			ExpressionAttributeValues: record.Item{":fence": it["fence"], ":written": it["written"]},
		})
		return err
	})
	if _, later := errors.AsType[*types.ConditionalCheckFailedException](err); later {
		return ErrFenced
	}
	return err
}

func checkFence(field string, fence int64) error {
	if fence < 1 {
		return event.BadInput(pkg, field, "must be positive, as the fence of every lease is")
	}
	return nil
}

func encodePoster(p Poster) (record.Item, error) {
	if err := checkFence("Fence", p.Fence); err != nil {
		return nil, err
	}
	it := key(posterKey)
	it["type"] = record.Text(typePoster)
	it["fence"] = record.Int(p.Fence)
	if p.Batch != "" {
		if err := cmp.Or(checkText("Batch", p.Batch), checkText("Table", p.Table)); err != nil {
			return nil, err
		}
		it["batch"], it["table"], it["rows"] = record.Text(p.Batch), record.Text(p.Table), record.Int(int64(p.Rows))
	}
	if !p.PostAt.IsZero() {
		if err := checkTime("PostAt", p.PostAt); err != nil {
			return nil, err
		}
		it["postAt"] = record.Time(p.PostAt)
	}
	hour := make(record.Item, len(p.Hour))
	for minute, m := range p.Hour {
		hour[strconv.FormatInt(minute, 10)] = mapOf(record.Item{"rows": record.Int(int64(m.Rows)), "posts": record.Int(int64(m.Posts))})
	}
	total := make(record.Item, len(p.Total))
	for table, rows := range p.Total {
		if err := checkText("Total", table); err != nil {
			return nil, err
		}
		total[table] = record.Int(rows)
	}
	if len(hour) > 0 {
		it["hour"] = mapOf(hour)
	}
	if len(total) > 0 {
		it["total"] = mapOf(total)
	}
	return it, checkSize("Hour", it, 0)
}

func decodePoster(it record.Item) (Poster, error) {
	if err := wantType(it, typePoster); err != nil {
		return Poster{}, err
	}
	f := record.Read(it)
	p := Poster{
		Fence: f.Int("fence"), Batch: f.Text("batch"), Table: f.Text("table"), Rows: int(f.Int("rows")), PostAt: f.Time("postAt"),
	}
	hour, err1 := decodeMap(it, "hour")
	total, err2 := decodeMap(it, "total")
	if err := cmp.Or(err1, err2, f.Err()); err != nil {
		return Poster{}, err
	}
	if len(hour) > 0 {
		p.Hour = make(map[int64]Minute, len(hour))
	}
	for name := range hour {
		minute, err := strconv.ParseInt(name, 10, 64)
		if err != nil {
			return Poster{}, fmt.Errorf("attribute hour has the entry %q, whose name is not the number of a minute", name)
		}
		of, err := decodeMap(hour, name)
		m := record.Read(of)
		p.Hour[minute] = Minute{Rows: int(m.Int("rows")), Posts: int(m.Int("posts"))}
		if err := cmp.Or(err, m.Err()); err != nil {
			return Poster{}, err
		}
	}
	if len(total) > 0 {
		p.Total = make(map[string]int64, len(total))
	}
	rows := record.Read(total)
	for table := range total {
		p.Total[table] = rows.Int(table)
	}
	if err := rows.Err(); err != nil {
		return Poster{}, err
	}
	return p, nil
}
