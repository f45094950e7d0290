// Package backfill adds to rows of the older system what the packages would have
// written, and moves phrases in other spellings to where the packages look for
// them. It scans a table, asks the table's package what each row lacks, and sends the
// update or the transaction that the package returns. Both are conditional, so a run
// is safe beside live writes, and safe to repeat.
package backfill

import (
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
	"golang.org/x/sync/errgroup"
	"golang.org/x/time/rate"

	"github.com/homeops/ddbpatterns/schema"
)

// page is how many rows are read at once. After a crash that many of each segment are
// read again.
const page = 200

// Table is a table, and its package's Backfill, which returns what a row lacks. In
// place of Backfill it may have Moves, which are asked in turn.
type Table struct {
	schema.Table
	Backfill func(map[string]types.AttributeValue) (*dynamodb.UpdateItemInput, bool, error)
	Moves    []Move
}

// Move returns the transaction that moves a row to another key.
type Move = func(map[string]types.AttributeValue) (*dynamodb.TransactWriteItemsInput, bool, error)

// Options of a run. Units is how many capacity units it uses a second, reads
// and writes together, on average.
type Options struct {
	DB              *dynamodb.Client
	Where           string // which DynamoDB, for the checkpoint
	Tables          []Table
	Segments, Units int
	Write           bool
	Checkpoint      string // a file, with Write
	Log             io.Writer

	limit *rate.Limiter
}

// Counts says what became of the rows. Older rows lack something. With Write each
// of them is Written, or Changed by another writer meanwhile, or left alone because
// another row has its place; if the reply to the run's own update was lost, the row
// counts as Changed, too. LeftAlone are also rows that cannot be read. A row that
// moved may be read again, and then counts twice in Rows. Without Write, WCU is the
// most that all writes cost on rows up to 1 KB.
type Counts struct {
	Rows, Older, LeftAlone, Written, Changed int64
	RCU, WCU                                 float64
}

// Run goes through the tables and returns the Counts of each. With Write they
// include those of earlier runs, from the checkpoint.
//
// Price: 0.5 RCU for each 4 KB of a table, rounded up for each 200 rows. With Write 1
// WCU for each KB of an older row, in the table and in each index, and as much again
// for an index in which its key changes. A row that moves takes 4 WCU for each KB in
// the table, and 2 in each index.
func Run(ctx context.Context, o Options) (map[string]Counts, error) {
	at, err := openCheckpoint(o)
	if err != nil {
		return nil, err
	}
	o.limit = rate.NewLimiter(rate.Limit(o.Units), o.Units)
	for _, t := range o.Tables {
		about, err := o.DB.DescribeTable(ctx, &dynamodb.DescribeTableInput{TableName: &t.Name})
		if err != nil {
			return at.counts(), err
		}
		p := newProgress(o.Log, t.Name, aws.ToInt64(about.Table.ItemCount), at.counts()[t.Name].Rows)
		group, ctx := errgroup.WithContext(ctx)
		for i, s := range at.Tables[t.Name] {
			group.Go(func() error {
				for !s.Done {
					c, next, err := o.page(ctx, t, i, s.Next, p)
					if err != nil {
						return fmt.Errorf("%s: %w", t.Name, err)
					}
					if err := at.turn(s, c, next); err != nil {
						return err
					}
					p.add(c.Rows)
				}
				return nil
			})
		}
		err = group.Wait()
		if p.end(); err != nil {
			return at.counts(), err
		}
	}
	return at.counts(), nil
}

// page goes through the rows of one Scan, and returns the key after which the next
// begins.
func (o *Options) page(ctx context.Context, t Table, segment int, after key, p *progress) (c Counts, next key, err error) {
	out, err := o.DB.Scan(ctx, &dynamodb.ScanInput{
		TableName: &t.Name, ExclusiveStartKey: after, Limit: aws.Int32(page),
		Segment: aws.Int32(int32(segment)), TotalSegments: aws.Int32(int32(o.Segments)),
		ReturnConsumedCapacity: types.ReturnConsumedCapacityTotal,
	})
	if err != nil {
		return c, nil, err
	}
	c = Counts{Rows: int64(len(out.Items)), RCU: aws.ToFloat64(out.ConsumedCapacity.CapacityUnits)}
	err = o.pay(ctx, c.RCU)
	for _, row := range out.Items {
		write, lacks, why := o.judge(t, row)
		if err != nil {
			return c, nil, err
		}
		if lacks {
			c.Older++
		}
		if lacks && o.Write {
			why, err = write(ctx, &c)
		}
		if why != nil {
			c.LeftAlone++
			p.say("%s: row %s is left alone: %v", t.Name, fingerprint(t, row), why)
		}
	}
	if !o.Write {
		each := 1 + 2*len(t.Indexes)
		if t.Moves != nil {
			each = 4 + 2*len(t.Indexes)
		}
		c.WCU = float64(c.Older) * float64(each)
	}
	return c, out.LastEvaluatedKey, err
}

// judge returns the write that the row needs, if it needs one, or why it is left
// alone. So does the write.
func (o *Options) judge(t Table, row key) (write func(context.Context, *Counts) (why, err error), lacks bool, why error) {
	for _, move := range t.Moves {
		if in, lacks, why := move(row); lacks || why != nil {
			return func(ctx context.Context, c *Counts) (why, err error) { return o.move(ctx, in, c) }, lacks, why
		}
	}
	if t.Backfill == nil {
		return nil, false, nil
	}
	in, lacks, why := t.Backfill(row)
	return func(ctx context.Context, c *Counts) (why, err error) { return nil, o.update(ctx, in, c) }, lacks, why
}

// move sends the transaction that puts a row under another key and deletes it under
// its own. A cancelled one is counted as the price for rows up to 1 KB.
func (o *Options) move(ctx context.Context, in *dynamodb.TransactWriteItemsInput, c *Counts) (why, err error) {
	in.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
	out, err := o.DB.TransactWriteItems(ctx, in)
	var wcu float64
	switch cancelled := (*types.TransactionCanceledException)(nil); {
	case errors.As(err, &cancelled):
		wcu = 4
		if aws.ToString(cancelled.CancellationReasons[0].Code) == "ConditionalCheckFailed" {
			why = errors.New("another row has its place: see what to do in alias.Store.Backfill")
		} else {
			c.Changed++
		}
	case err != nil:
		return nil, err
	default:
		c.Written++
		for _, table := range out.ConsumedCapacity {
			wcu += aws.ToFloat64(table.CapacityUnits)
		}
	}
	c.WCU += wcu
	return why, o.pay(ctx, wcu)
}

// update sends what a row lacks. DynamoDB does not say what a refused update costs:
// it is counted as a unit, the price for a row up to 1 KB.
func (o *Options) update(ctx context.Context, in *dynamodb.UpdateItemInput, c *Counts) error {
	in.ReturnConsumedCapacity = types.ReturnConsumedCapacityTotal
	out, err := o.DB.UpdateItem(ctx, in)
	wcu := 1.0
	switch refused := (*types.ConditionalCheckFailedException)(nil); {
	case errors.As(err, &refused):
		c.Changed++
	case err != nil:
		return err
	default:
		c.Written++
		wcu = aws.ToFloat64(out.ConsumedCapacity.CapacityUnits)
	}
	c.WCU += wcu
	return o.pay(ctx, wcu)
}

// pay waits until the rate allows what was just used.
func (o *Options) pay(ctx context.Context, used float64) error {
	for rest := int(math.Ceil(used)); rest > 0; rest -= o.Units {
		if err := o.limit.WaitN(ctx, min(rest, o.Units)); err != nil {
			return err
		}
	}
	return nil
}

// fingerprint names a row without its key, which may be personal data: the first 16
// digits that "printf '%s\n' PARTITION SORT | sha256sum" prints.
func fingerprint(t Table, row key) string {
	hash := sha256.New()
	for _, name := range []string{t.Key.Partition.Name, t.Key.Sort.Name} {
		if part, ok := row[name].(*types.AttributeValueMemberS); ok {
			fmt.Fprintln(hash, part.Value)
		}
	}
	return fmt.Sprintf("%.8x", hash.Sum(nil))
}
