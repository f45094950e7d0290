package message

import (
	"context"

	"github.com/aws/aws-sdk-go-v2/aws"
	"github.com/aws/aws-sdk-go-v2/service/dynamodb"

	"github.com/homeops/ddbpatterns/internal/check"
)

// Get returns one message, with a consistent read. It returns false if the
// message does not exist or has expired.
//
// Price: 1 request, 1 RCU. A message above 4 KB costs 1 RCU for each 4 KB.
func (s *Store) Get(ctx context.Context, scope string, seq int64) (Message, bool, error) {
	if err := check.Positional(checkKey(scope, seq)); err != nil {
		return Message{}, false, err
	}

	out, err := s.api.GetItem(ctx, &dynamodb.GetItemInput{
		TableName:      aws.String(s.table),
		Key:            s.key(scope, seq),
		ConsistentRead: aws.Bool(true),
	})
	if err != nil {
		return Message{}, false, s.wrap("Get", err)
	}
	if len(out.Item) == 0 || s.expired(out.Item) {
		return Message{}, false, nil
	}

	m, err := s.decode(out.Item)
	if err != nil {
		return Message{}, false, s.wrap("Get", err)
	}

	return m, true, nil
}
