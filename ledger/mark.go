package ledger

import (
	"context"
	"time"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb/types"

	"github.com/homeops/ddbpatterns/event"
	"github.com/homeops/ddbpatterns/internal/ddb"
	"github.com/homeops/ddbpatterns/internal/item"
)

const unseen = "attribute_not_exists(#pk) OR " + expiredRow

// MarkSeen returns event.Created if the key is seen for the first time or has expired,
// and event.Duplicate if it was marked, claimed or completed before. Until the key
// expires or is forgotten, only one caller gets Created.
//
// Work after MarkSeen is done at most once: the key counts as seen even if the caller
// dies before it does the work. Work that must happen needs [Do].
//
// MarkSeen recognizes its own row after a lost reply, except an erased one. If it fails
// and may have marked the key, the error is [event.ErrUnknownOutcome]. After any other
// error, the key is not marked.
//
// It sends a PutItem, which a fault in a test must name.
//
// Price: 1 request, 1 WCU. A larger row, because its key is long or because it was
// there before, costs 1 WCU for each KB.
func (s *Store) MarkSeen(ctx context.Context, key string) (event.Outcome, error) {
	nonce, err := s.nonceFor("MarkSeen", "key", key)
	if err != nil {
		return 0, err
	}

	var attempts ddb.Attempts
	err = ddb.Retry(ctx, func() error {
		_, err := s.api.PutItem(ctx, s.markInput(key, nonce, s.cfg.Now()), attempts.Watch)
		return err
	})
	if old, refused := ddb.Refused(err); refused {
		return markOutcome(old, nonce), nil
	}
	if err != nil {
		return 0, s.wrap("MarkSeen", attempts.Judge(err))
	}

	return event.Created, nil
}

// markOutcome is the outcome that a refusing row shows.
func markOutcome(old ddb.Item, nonce string) event.Outcome {
	if item.Text(old, attrClaim) == nonce { // an earlier try
		return event.Created
	}
	return event.Duplicate
}

func (s *Store) markInput(key, nonce string, now time.Time) *dynamodb.PutItemInput {
	return &dynamodb.PutItemInput{
		TableName: aws.String(s.table),
		Item: ddb.Item{
			attrKey:       item.S(key),
			attrSeenAt:    item.Time(now),
			attrExpiresAt: item.N(expiresAt(now, s.cfg.Retention)),
			attrSource:    item.S(sourceOf(key)),
			attrState:     item.S(string(Done)),
			attrClaim:     item.S(nonce),
		},
		ConditionExpression:      aws.String(unseen),
		ExpressionAttributeNames: item.NamesIn("", unseen),
		ExpressionAttributeValues: ddb.Item{
			":now":    item.N(now.Unix()),
			":graced": item.N(now.Add(grace).Unix()),
		},
		ReturnValuesOnConditionCheckFailure: types.ReturnValuesOnConditionCheckFailureAllOld,
	}
}
