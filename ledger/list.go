package ledger

import (
	"context"
	"fmt"
	"iter"
	"maps"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/check"
	"github.com/homeops/ddbpatterns/internal/cursor"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
)

// Filter says which rows are listed: those that meet all of it, of which States
// and Stuck are one. The zero Filter is all that live.
type Filter struct {
	// States are those to list. Empty is every state, or Stuck alone. Rows that
	// MarkSeen or an older system wrote are Done.
	States []State

	// Source is the first part of the keys, as it was given to [Key].
	Source string

	// Stuck adds to States the claimed rows whose lease has lapsed, by the skew
	// budget too: their holder has crashed, or is slow. The next delivery takes
	// such a key over, if one comes and attempts are left. What an operator should
	// see is in one listing with the States Failed and Refused.
	Stuck bool

	// SeenBefore is when the key was first seen: earlier than this.
	SeenBefore time.Time

	// ReadAtMost is how many rows one request reads, whether they meet the
	// filter or not. Defaults to as many as there are in 1 MB.
	ReadAtMost int

	// Cursor is where an earlier page ended.
	Cursor string
}

// Page is a part of a listing.
type Page struct {
	// Records are those of the rows read that meet the filter: perhaps none,
	// though others follow.
	Records []Record

	// Cursor is where the next page begins, for Filter.Cursor; "" says that
	// this is the last. It is not encrypted: it discloses a key.
	Cursor string

	// Unreadable are the keys of rows that this version of the package cannot
	// read.
	Unreadable []string
}

// List reads the whole table and yields the rows that meet the filter, in no
// order: for people and monitors, and not for what answers requests. There is no
// index, which every Do would pay for. An error comes last; so does that of rows
// that cannot be read, which keep nothing from being listed. It begins at
// Filter.Cursor.
//
// The reads are eventually consistent. [Store.Reopen] and [Store.Forget] go by
// a record as it was seen, and are refused when it is so no longer.
//
// Price: 1 request, 0.5 RCU. For 4 KB of the table, whatever the filter: 0.5 RCU
// for each further 4 KB, and 1 request for each MB, or each Filter.ReadAtMost
// rows.
func (s *Store) List(ctx context.Context, f Filter) iter.Seq2[Record, error] {
	return func(yield func(Record, error) bool) {
		var unreadable []string
		for {
			page, err := s.list(ctx, "List", f)
			if err != nil {
				yield(Record{}, err)
				return
			}
			for _, r := range page.Records {
				if !yield(r, nil) {
					return
				}
			}
			unreadable = append(unreadable, page.Unreadable...)
			if f.Cursor = page.Cursor; f.Cursor == "" {
				break
			}
		}
		if n := len(unreadable); n > 0 {
			yield(Record{}, s.wrap("List", fmt.Errorf("%d rows cannot be read: ListPage names them", n)))
		}
	}
}

// ListPage is one request of a [Store.List].
//
// Price: 1 request, 0.5 RCU. 0.5 RCU for each 4 KB of the rows read, which are
// all in 1 MB of the table, or Filter.ReadAtMost.
func (s *Store) ListPage(ctx context.Context, f Filter) (Page, error) {
	return s.list(ctx, "ListPage", f)
}

func (s *Store) list(ctx context.Context, op string, f Filter) (Page, error) {
	in, err := s.scanInput(f, s.cfg.Now())
	if err != nil {
		return Page{}, err
	}
	out, err := s.api.Scan(ctx, in)
	if err != nil {
		return Page{}, s.wrap(op, err)
	}
	var page Page
	for _, it := range out.Items {
		r, err := s.decode(it)
		switch {
		case err != nil:
			page.Unreadable = append(page.Unreadable, item.Text(it, s.cfg.KeyAttr))
		case f.SeenBefore.IsZero() || r.SeenAt.Before(f.SeenBefore):
			page.Records = append(page.Records, r.Record)
		}
	}
	if last := item.Text(out.LastEvaluatedKey, s.cfg.KeyAttr); last != "" {
		page.Cursor = cursor.Encode(cursorName, []string{last})
	}
	return page, nil
}

// cursorName is what a cursor must have been made by. Those of one filter serve
// another: they are places in the table.
const cursorName = "List"

// The clauses of a listing. They are joined by AND, in this order.
const (
	lives    = "NOT (" + expiredRow + ")"
	sourced  = "(#pk = :source OR begins_with(#pk, :part))"
	stuck    = "attribute_exists(#claim) AND #state = :claimed AND #lease <= :lapsed"
	inStates = "attribute_exists(#claim) AND #state IN ("
	unstated = "attribute_not_exists(#claim)" // an older system's row, which is done
)

var livesNames = item.Names(attrClaim, attrExpiresAt)

func (s *Store) scanInput(f Filter, now time.Time) (*dynamodb.ScanInput, error) {
	in := &dynamodb.ScanInput{TableName: aws.String(s.table)}
	if err := s.startAt(in, f); err != nil {
		return nil, err
	}
	clauses := []string{lives}
	names := maps.Clone(s.names.lives)
	values := ddb.Item{":now": item.N(now.Unix()), ":graced": item.N(now.Add(Grace).Unix())}
	var states []string // one of them
	if len(f.States) > 0 {
		clause, err := inOneOf(f.States, values)
		if err != nil {
			return nil, err
		}
		states, names["#"+attrState] = append(states, clause), attrState
	}
	if f.Stuck {
		values[":claimed"] = item.S(string(Claimed))
		values[":lapsed"] = item.N(now.Add(-s.cfg.MaxSkew).UnixMilli())
		names["#"+attrState], names["#"+attrLease] = attrState, attrLease
		states = append(states, stuck)
	}
	if states != nil {
		clauses = append(clauses, "("+strings.Join(states, " OR ")+")")
	}
	if f.Source != "" {
		source := escaper.Replace(f.Source)
		values[":source"], values[":part"] = item.S(source), item.S(source+":")
		clauses, names["#"+attrKey] = append(clauses, sourced), s.cfg.KeyAttr
	}
	in.FilterExpression = aws.String(strings.Join(clauses, " AND "))
	in.ExpressionAttributeNames, in.ExpressionAttributeValues = names, values
	return in, nil
}

// startAt sets where a request of the listing begins, and how far it reads.
func (s *Store) startAt(in *dynamodb.ScanInput, f Filter) error {
	if f.ReadAtMost < 0 {
		return event.BadInput(pkg, "Filter.ReadAtMost", fmt.Sprintf("must not be negative, is %d", f.ReadAtMost))
	}
	if f.ReadAtMost > 0 {
		in.Limit = aws.Int32(int32(min(f.ReadAtMost, math.MaxInt32)))
	}
	if f.Cursor == "" {
		return nil
	}
	position, err := cursor.Decode(pkg, "Filter.Cursor", cursorName, f.Cursor, 1)
	if err != nil {
		return err
	}
	if check.PartitionKey(pkg, "Filter.Cursor", position[0]) != nil {
		return event.BadInput(pkg, "Filter.Cursor", "holds no position of this query")
	}
	in.ExclusiveStartKey = ddb.Item{s.cfg.KeyAttr: item.S(position[0])}
	return nil
}

// inOneOf is the clause of the states, whose values it adds.
func inOneOf(states []State, values ddb.Item) (string, error) {
	var in []string
	for i, state := range states {
		if !slices.Contains([]State{Claimed, Failed, Done, Refused}, state) {
			return "", event.BadInput(pkg, fmt.Sprintf("Filter.States[%d]", i), "is not a state")
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
