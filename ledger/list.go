package ledger

import (
	"context"
	"fmt"
	"iter"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
	"github.com/homeops/ddbpatterns/internal/walk"
)

// Filter selects the rows that have not expired and meet every field that is set. It
// has no limit: to list ten at a time, leave the loop after ten records, and pass Next as
// the next Cursor.
type Filter struct {
	// States are the states to list. Empty means every state. A Claimed row whose Lease
	// is over for longer than Config.MaxSkew is stuck: its holder has crashed, or is
	// slow.
	States []State

	// Prefix is the first parts of the keys, as [Key] returns them: that of customer 17
	// does not list customer 170. An empty one lists all keys, so check Key's error.
	Prefix string

	// ReadAtMost is the most rows to read, including those that do not meet the filter.
	// It ends the listing without an error, and only Next says whether more may follow.
	// Defaults to the whole table.
	ReadAtMost int

	// Cursor is what an earlier listing wrote to Next.
	Cursor string

	// Next, if set, is where the listing writes the Cursor of a later one. If the loop
	// is left, that is after the last row that was yielded. If ReadAtMost or a failed
	// request ends the listing, it is after the last row that was read (if the first
	// request fails, Next is Cursor). If the listing found that no row follows, Next is
	// "". Bad input does not write it. Each loop begins at Cursor. A cursor discloses a
	// key.
	Next *string
}

// List reads the table, from Filter.Cursor on, and yields the rows that meet the
// filter, in no particular order. It is for people and monitors: the table has no index
// for it.
//
// A request that fails ends the listing with its error. A row that this version cannot
// read is yielded with an error, as a Record that has only the Key, and the listing
// goes on. Tell the two by the Key, which is "" at the end. The reads are eventually
// consistent: [Operators.Reopen] and [Operators.Forget] refuse a record that is out of
// date.
//
// Price: 1 request, 0.5 RCU. This is the price for a table up to 4 KB; each further 4
// KB costs 0.5 RCU, with any filter. A request reads up to 1 MB or, with
// Filter.ReadAtMost, up to that many rows; its price is rounded up to 4 KB.
func (s *Operators) List(ctx context.Context, f Filter) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		in, err := s.scanInput(f, s.cfg.Now())
		if err != nil {
			yield(Record{}, err)
			return
		}

		walk.Walk[Record]{
			ReadAtMost: f.ReadAtMost, First: walk.FullPage, Most: walk.FullPage,
			Page: func(rows int32) (*dynamodb.QueryOutput, error) {
				if f.ReadAtMost > 0 { // else as many rows as fit into 1 MB
					in.Limit = aws.Int32(rows)
				}
				out, err := s.api.Scan(ctx, in)
				if err != nil {
					return nil, s.wrap("List", err)
				}
				in.ExclusiveStartKey = out.LastEvaluatedKey
				return &dynamodb.QueryOutput{Items: out.Items, LastEvaluatedKey: out.LastEvaluatedKey, ScannedCount: out.ScannedCount}, nil
			},
			Show:   func(it ddb.Item) (Record, walk.Shown, error) { return s.show(it) },
			Cursor: f.Cursor, Next: f.Next,
			After: func(it ddb.Item) string {
				return check.EncodeCursor(cursorName, []string{item.Text(it, attrKey)})
			},
		}.Each(yield)
	}
}

// show reads a row of a listing.
func (s *Operators) show(it ddb.Item) (Record, walk.Shown, error) {
	r, err := s.decode(it)
	if err != nil {
		return Record{Key: item.Text(it, attrKey)}, walk.Part, s.wrap("List", err)
	}
	return r.Record, walk.Part, nil
}

// cursorName is the query that a cursor must come from. A cursor of one filter
// can be used with another: it is a place in the table.
const cursorName = "List"

// The clauses of a listing. They are joined by AND, in this order.
const (
	lives    = "NOT (" + expiredRow + ")"
	prefixed = "(#pk = :prefix OR begins_with(#pk, :part))"
	inStates = "attribute_exists(#claim) AND #state IN ("
	unstated = "attribute_not_exists(#claim)" // an older system's row, which is done
)

func (s *Operators) scanInput(f Filter, now time.Time) (*dynamodb.ScanInput, error) {
	in := &dynamodb.ScanInput{TableName: aws.String(s.table)}
	if err := s.startAt(in, f); err != nil {
		return nil, err
	}

	clauses := []string{lives}
	values := ddb.Item{":now": item.N(now.Unix()), ":graced": item.N(now.Add(grace).Unix())}
	if len(f.States) > 0 {
		clause, err := inOneOf(f.States, values)
		if err != nil {
			return nil, err
		}
		clauses = append(clauses, "("+clause+")")
	}

	if f.Prefix != "" {
		if err := check.PartitionKey(pkg, "Filter.Prefix", f.Prefix); err != nil {
			return nil, err
		}
		values[":prefix"], values[":part"] = item.S(f.Prefix), item.S(f.Prefix+":")
		clauses = append(clauses, prefixed)
	}

	filter := strings.Join(clauses, " AND ")
	in.FilterExpression = aws.String(filter)
	in.ExpressionAttributeNames, in.ExpressionAttributeValues = item.NamesIn("", filter), values
	return in, nil
}

// startAt sets where the listing begins.
func (s *Store) startAt(in *dynamodb.ScanInput, f Filter) error {
	if f.ReadAtMost < 0 {
		return event.BadInput(pkg, "Filter.ReadAtMost", fmt.Sprintf("must not be negative, is %d", f.ReadAtMost))
	}
	if f.Cursor == "" {
		return nil
	}

	position, err := check.DecodeCursor(pkg, "Filter.Cursor", cursorName, f.Cursor, 1)
	if err != nil {
		return err
	}
	if check.PartitionKey(pkg, "Filter.Cursor", position[0]) != nil {
		return event.BadInput(pkg, "Filter.Cursor", "is not a cursor of this query")
	}

	in.ExclusiveStartKey = ddb.Item{attrKey: item.S(position[0])}
	return nil
}

// inOneOf is the clause of the states, whose values it adds.
func inOneOf(states []State, values ddb.Item) (string, error) {
	var in []string
	for i, state := range states {
		if !slices.Contains([]State{Claimed, Failed, Done, Refused}, state) {
			return "", event.BadInput(pkg, fmt.Sprintf("Filter.States[%d]", i), fmt.Sprintf("must be Claimed, Failed, Done or Refused, is %q", state))
		}
		if slices.Contains(states[:i], state) {
			continue // DynamoDB takes 100 at most
		}
		value := ":" + string(state)
		values[value], in = item.S(string(state)), append(in, value)
	}

	clause := inStates + strings.Join(in, ", ") + ")"
	if slices.Contains(states, Done) {
		clause = unstated + " OR " + clause
	}

	return clause, nil
}
