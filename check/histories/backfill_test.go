package histories_test

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"
)

// backfills gives a row of an older system what it lacks.
type backfills struct{}

func (backfills) String() string { return "Backfill" }

// backfill returns a call that completes the row of the key, if that lacks
// something when the call reads it.
func (c *caller) backfill(key string, make func(row) (*dynamodb.UpdateItemInput, bool, error)) *call {
	return &call{caller: c, key: key, in: backfills{}, do: func(ctx context.Context) any {
		update, needed, err := make(c.w.rows()[key])
		if err != nil || !needed {
			return nil
		}
		_, err = c.client.UpdateItem(ctx, update)
		if _, refused := errors.AsType[*types.ConditionalCheckFailedException](err); refused {
			return duplicate{}
		}
		if err != nil {
			return nil
		}
		return created{}
	}}
}

// olderDay is a count of an older system, without a TTL.
type olderDay struct{ used int64 }

func (o olderDay) String() string { return fmt.Sprintf("an older system counts %d", o.used) }

// backfilled is the row after a Backfill, and false if that must not write.
func (s *counterStory) backfilled(stood countedDay, m *move) (countedDay, bool) {
	if m.row == nil {
		return stood, m.out == duplicate{}
	}
	lacked := stood.bare
	stood.bare = false
	return stood, lacked && num(m.row, "ttl") == s.expiry(m.key).Unix() && num(m.row, "count") == stood.used
}

// count counts as an older system does, in a new row.
func (c *counterStory) count(key string) {
	in := olderDay{1 + c.w.rnd.Int64N(2)}
	_, err := c.w.raw.PutItem(context.Background(), &dynamodb.PutItemInput{
		TableName: aws.String("limits"), ConditionExpression: aws.String("attribute_not_exists(chatId)"),
		Item: row{"chatId": s("chat"), "date": s(c.windows[key].name), "count": n(in.used)},
	})
	if err == nil {
		c.bare = key
		c.w.happened(key, in, nil)
	}
}

// backfilled reports whether a Backfill may have turned one row into the other.
func (s *ledgerStory) backfilled(stood, left ledgerRow, m *move) bool {
	if m.row == nil {
		return m.out == duplicate{}
	}
	seen, err := time.Parse(time.RFC3339, str(m.row, "seenAt"))
	lacked := stood.state != "" && stood.owner == "" && stood.expires == 0
	return err == nil && lacked && left.owner == "" && left.expires == seen.Add(ledgerRetention).Unix()
}
